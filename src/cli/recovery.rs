//! `switchboard recovery`.

use std::io;

use super::Exit;
use super::context::{Clock, Context};
use super::output::{AsJson, Form, Out};
use super::table::Table;
use crate::control::Client;
use crate::domain::api::{Answer, Query, RecoveryPage, RecoveryRow, StartRow};
use crate::domain::id::RunId;

/// What the last start found and did, session by session, and the starts before it
#[derive(Debug, clap::Args)]
pub(super) struct Recovery {
    /// What this start did: its run, or the beginning of it
    #[arg(long, value_name = "RUN")]
    start: Option<String>,
    /// At most so many starts, and so many sessions
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    json: AsJson,
}

impl Recovery {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let mut page = ask(&*client, None, self.limit).await?;
        if let Some(wanted) = &self.start {
            let start = find(&page.starts, wanted)?;
            page = ask(&*client, Some(start), self.limit).await?;
        }
        match self.json.form() {
            Form::Json => out.json(&page)?,
            Form::Text => print(&page, &context.clock(), out)?,
        }
        Ok(Exit::Done)
    }
}

async fn ask(client: &dyn Client, start: Option<RunId>, limit: usize) -> anyhow::Result<RecoveryPage> {
    match client.query(Query::Recovery { start, limit }).await? {
        Answer::Recovery(page) => Ok(*page),
        _ => anyhow::bail!("the engine gave an answer of another kind"),
    }
}

/// Finds the start that a run, or the beginning of one, names.
fn find(starts: &[StartRow], wanted: &str) -> anyhow::Result<RunId> {
    if let Some(start) = starts.iter().find(|start| start.run.0 == wanted) {
        return Ok(start.run.clone());
    }
    let fits: Vec<&StartRow> = starts.iter().filter(|start| start.run.0.starts_with(wanted)).collect();
    match fits[..] {
        [start] => Ok(start.run.clone()),
        [] => anyhow::bail!("there is no start {wanted:?}; `switchboard recovery` lists them"),
        _ => anyhow::bail!("{} starts begin with {wanted:?}; `switchboard recovery` lists them", fits.len()),
    }
}

fn print(page: &RecoveryPage, clock: &Clock, out: &mut Out) -> io::Result<()> {
    let Some(chosen) = &page.chosen else {
        return out.line("this home was never started: nothing to recover");
    };
    if let Some(died) = &page.died {
        out.line(&died.words(|at| clock.full(at)))?;
    }
    out.line(&format!("{} {}", chosen.words(|at| clock.full(at)), chosen.result()))?;
    if let Some(in_row) = chosen.in_row_words(page.boot_guard_starts) {
        out.line(&in_row)?;
    }
    if !page.sessions.is_empty() {
        out.line("")?;
        print_sessions(&page.sessions, page.max_cuts, out)?;
    }
    out.line("")?;
    print_starts(page, chosen, clock, out)
}

fn print_sessions(rows: &[RecoveryRow], max_cuts: u32, out: &mut Out) -> io::Result<()> {
    let mut table = Table::new(&["name", "why", "attempts", "now", "key", "interrupted"]);
    for row in rows {
        table.row([
            row.name.clone(),
            row.why().to_owned(),
            row.attempts(max_cuts),
            row.state.words(),
            row.key.to_string(),
            row.interrupted().unwrap_or_default(),
        ]);
    }
    table.print(out)
}

fn print_starts(page: &RecoveryPage, chosen: &StartRow, clock: &Clock, out: &mut Out) -> io::Result<()> {
    let mut table = Table::new(&["", "started", "pid", "run", "before it", "cut off or active"]);
    for start in &page.starts {
        table.row([
            if start.run == chosen.run { ">" } else { "" }.to_owned(),
            clock.full(start.started_at),
            start.pid.to_string(),
            start.run.to_string(),
            start.after().to_owned(),
            start.found(),
        ]);
    }
    table.print(out)
}
