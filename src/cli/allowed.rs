//! `switchboard allowed`: what agents may run without asking, since somebody said `always`.

use std::io;

use super::Exit;
use super::context::{Clock, Context};
use super::named::session_named;
use super::output::{AsJson, Form, Out};
use super::table::Table;
use crate::domain::api::{AllowedRow, Answer, Command, Query, Reply};

/// What agents may run without asking for the rest of their sessions, since somebody said `always`
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Allowed {
    #[command(subcommand)]
    act: Option<Act>,
    /// Only in this session: a key, a name, a title, an id or the beginning of one
    #[arg(long)]
    session: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    json: AsJson,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Take one back: the agent asks again
    Remove {
        /// The session: a key, a name, a title, an id or the beginning of one
        session: String,
        /// What it may run, as the list shows it
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}

impl Allowed {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        match &self.act {
            None => self.list(context, out).await,
            Some(Act::Remove { session, command }) => remove(context, session, command.join(" "), out).await,
        }
    }

    async fn list(&self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let session = match &self.session {
            Some(named) => Some(session_named(&*client, named).await?),
            None => None,
        };
        let Answer::Allowed(rows) = client.query(Query::Allowed { session, limit: self.limit }).await? else {
            anyhow::bail!("the engine gave an answer of another kind")
        };
        match self.json.form() {
            Form::Json => rows.iter().try_for_each(|row| out.json(row))?,
            Form::Text => print(&rows, &context.clock(), out)?,
        }
        Ok(Exit::Done)
    }
}

async fn remove(context: &Context, named: &str, prefix: String, out: &mut Out) -> anyhow::Result<Exit> {
    let client = context.engine().await?;
    let session = session_named(&*client, named).await?;
    let Reply::Done { words, .. } = client.command(Command::Disallow { session, prefix }).await? else {
        anyhow::bail!("the engine gave a reply of another kind")
    };
    out.line(&words)?;
    Ok(Exit::Done)
}

fn print(rows: &[AllowedRow], clock: &Clock, out: &mut Out) -> io::Result<()> {
    if rows.is_empty() {
        return out.line(AllowedRow::NONE);
    }
    let mut table = Table::new(&["since", "session", "command"]);
    for AllowedRow { allowed, session_name, .. } in rows {
        table.row([clock.full(allowed.since), session_name.clone(), allowed.prefix.clone()]);
    }
    table.print(out)
}
