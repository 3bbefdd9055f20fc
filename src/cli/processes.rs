//! `switchboard processes`: what works in the background of sessions.

use std::io;

use super::Exit;
use super::context::{Clock, Context};
use super::output::{AsJson, Form, Out};
use super::table::Table;
use crate::domain::api::{Answer, ProcessRow, Query};
use crate::domain::took::took;

/// Background processes that agents started: those that run, then the last that ended
#[derive(Debug, clap::Args)]
pub(super) struct Processes {
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    json: AsJson,
}

impl Processes {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let query = Query::Processes { session: None, limit: self.limit };
        let Answer::Processes(rows) = context.client().await?.query(query).await? else {
            anyhow::bail!("the engine gave an answer of another kind")
        };
        match self.json.form() {
            Form::Json => rows.iter().try_for_each(|row| out.json(row))?,
            Form::Text => print(&rows, &context.clock(), out)?,
        }
        Ok(Exit::Done)
    }
}

fn print(rows: &[ProcessRow], clock: &Clock, out: &mut Out) -> io::Result<()> {
    if rows.is_empty() {
        return out.line("no session has background processes");
    }
    let mut table = Table::new(&["began", "session", "n", "group", "state", "command"]);
    for ProcessRow { process, session_name, .. } in rows {
        table.row([
            clock.full(process.began_at),
            session_name.clone(),
            process.number.to_string(),
            process.identity.pid.to_string(),
            match (&process.ended, process.stopped_by) {
                (None, None) => "runs".to_owned(),
                (None, Some(by)) => format!("told to end {}", by.words()),
                (Some(ended), _) => {
                    format!("{} after {}", ended.exit.words(), took(ended.at - process.began_at))
                }
            },
            process.line(),
        ]);
    }
    table.print(out)
}
