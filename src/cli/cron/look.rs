//! What shows jobs and their runs.

use std::io;

use chrono::Utc;

use super::{another_kind, ask, find, find_id};
use crate::cli::Exit;
use crate::cli::context::{Clock, Context};
use crate::cli::output::{AsJson, Form, Out, stderr_line};
use crate::cli::status::cron_words;
use crate::cli::table::Table;
use crate::control::{Client, Reach};
use crate::domain::api::{
    Answer, JobAnswer, JobDetail, JobQuery, JobRow, JobState, JobsFileState, JobsPage, Query,
};
use crate::domain::cron::{Definition, Execution, Paused};
use crate::domain::id::ExecutionId;

#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// Only those whose id, name or state contain it
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,
    #[command(flatten)]
    json: AsJson,
}

#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// The job
    job: String,
    #[command(flatten)]
    json: AsJson,
}

#[derive(Debug, clap::Args)]
pub(super) struct History {
    /// The job; without one, those of all
    job: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    json: AsJson,
}

#[derive(Debug, clap::Args)]
pub(super) struct Output {
    /// The run's number, as `switchboard cron history` lists it
    run: i64,
}

impl List {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let query = JobQuery::List { filter: self.filter, limit: self.limit };
        let JobAnswer::List(page) = ask(&*client, query).await? else { return Err(another_kind()) };
        if client.reach() == Reach::StoreOnly {
            stderr_line(
                "no engine runs: these are the jobs as one last read them; `switchboard cron check` reads jobs.json",
            );
        }
        tell_file(&page, &context.clock());
        tell_ticker(&*client, &context.clock()).await?;
        match self.json.form() {
            Form::Json => print_rows(&page, out)?,
            Form::Text => list(&page, &context.clock(), out)?,
        }
        Ok(Exit::Done)
    }
}

impl Show {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let detail = find(&*client, &self.job).await?;
        if client.reach() == Reach::StoreOnly {
            stderr_line(
                "no engine runs: this is the job as jobs.json has it, with the runs of the last engine",
            );
        }
        match self.json.form() {
            Form::Json => out.json(&detail)?,
            Form::Text => show(&detail, &context.clock(), out)?,
        }
        Ok(Exit::Done)
    }
}

impl History {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let job = match &self.job {
            Some(named) => Some(find_id(&*client, named).await?),
            None => None,
        };
        let query = JobQuery::History { job, before: None, limit: self.limit };
        let JobAnswer::History(executions) = ask(&*client, query).await? else { return Err(another_kind()) };
        match self.json.form() {
            Form::Json => executions.iter().try_for_each(|execution| out.json(execution))?,
            Form::Text => history(&executions, &context.clock(), out)?,
        }
        Ok(Exit::Done)
    }
}

impl Output {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let query = JobQuery::Output { execution: ExecutionId(self.run) };
        let JobAnswer::Output(document) = ask(&*client, query).await? else { return Err(another_kind()) };
        let Some(document) = document else {
            anyhow::bail!("run {} has no output document: it wrote none, or it is no longer kept", self.run);
        };
        out.line(document.trim_end())?;
        Ok(Exit::Done)
    }
}

/// What stands beside the list: the file can't be read, and the stored copy is shown.
fn tell_file(page: &JobsPage, clock: &Clock) {
    if let JobsFileState::Unreadable { since, trouble, .. } = &page.file {
        let place = trouble.place.map(|(line, column)| format!("line {line} column {column}: "));
        let since = clock.full(*since);
        let (place, why) = (place.unwrap_or_default(), &trouble.why);
        stderr_line(&format!("jobs.json is unreadable since {since}: {place}{why}; this is the stored copy"));
    }
}

/// A job with how the file stands that it is written in.
#[derive(serde::Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    row: Option<&'a JobRow>,
    jobs_file: &'a JobsFileState,
}

/// Prints a line for each job; that the file can't be read is told even where there is no job.
fn print_rows(page: &JobsPage, out: &mut Out) -> io::Result<()> {
    let jobs_file = &page.file;
    if page.rows.is_empty() && matches!(jobs_file, JobsFileState::Unreadable { .. }) {
        return out.json(&Listed { row: None, jobs_file });
    }
    page.rows.iter().try_for_each(|row| out.json(&Listed { row: Some(row), jobs_file }))
}

/// What stands beside the list: nothing fires as it should.
async fn tell_ticker(client: &dyn Client, clock: &Clock) -> anyhow::Result<()> {
    let Answer::Overview(overview) = client.query(Query::Overview).await? else { return Err(another_kind()) };
    if let Some(words) = cron_words(&overview.engine.cron, clock) {
        stderr_line(&words);
    }
    Ok(())
}

fn list(page: &JobsPage, clock: &Clock, out: &mut Out) -> io::Result<()> {
    if page.total == 0 {
        return out.line("no jobs; `switchboard cron add` makes one, or copy a jobs.json to the home");
    }
    let mut table = Table::new(&["job", "state", "schedule", "next", "last", "failures", "why"]);
    for row in &page.rows {
        table.row([
            row.id.as_ref().map_or_else(|| row.name.clone(), ToString::to_string),
            row.state_words(),
            meaning(row).unwrap_or(&row.schedule).to_owned(),
            row.next.map_or_else(|| "-".to_owned(), |at| row.slot_words(at, Utc::now())),
            row.last.as_ref().map_or_else(|| "-".to_owned(), |last| last.words(Utc::now())),
            if row.failures == 0 { "-".to_owned() } else { format!("{} in a row", row.failures) },
            why(row, clock),
        ]);
    }
    table.print(out)?;
    if page.rows.len() < page.hits {
        out.line(&format!("{} of {}; --limit shows more", page.rows.len(), page.hits))?;
    }
    Ok(())
}

/// Its schedule in words; none: it has none, or is broken, and what it meant before is no meaning of it.
fn meaning(row: &JobRow) -> Option<&str> {
    let broken = matches!(row.state, JobState::Error { .. });
    Some(row.words.as_str()).filter(|words| !broken && !words.is_empty())
}

/// Why a job stands as it does.
fn why(row: &JobRow, clock: &Clock) -> String {
    match (&row.state, &row.paused) {
        (JobState::Error { faults }, _) => faults.join("; "),
        (JobState::RunsOn { at }, _) => format!("gone from jobs.json since {}", clock.full(*at)),
        (JobState::Completed { at } | JobState::Vanished { at }, _) => format!("since {}", clock.full(*at)),
        (JobState::Waiting, _) if row.held().is_some() => row.held().unwrap_or_default().to_owned(),
        (_, Some(Paused { why: Some(why), .. })) => why.clone(),
        _ => {
            let missing = row.missing_sources.iter().map(Definition::missing_source);
            row.failed_before().map(str::to_owned).into_iter().chain(missing).collect::<Vec<_>>().join("; ")
        }
    }
}

fn show(detail: &JobDetail, clock: &Clock, out: &mut Out) -> io::Result<()> {
    let row = &detail.row;
    let why = Some(why(row, clock)).filter(|why| !why.is_empty());
    let why = why.map(|why| format!(", {why}")).unwrap_or_default();
    out.line(&format!("{}: {}{why}", row.name, row.state_words()))?;
    let words = meaning(row).filter(|words| *words != row.schedule);
    let words = words.map(|words| format!(" ({words})")).unwrap_or_default();
    out.line(&format!("schedule  {}{words}, {}", row.schedule, row.zone))?;
    for warning in &detail.warnings {
        out.line(&format!("          ! {warning}"))?;
    }
    for slot in &detail.next {
        out.line(&format!("next      {}", row.slot_words(*slot, Utc::now())))?;
    }
    if let Some(left) = row.runs_left {
        out.line(&format!("runs left {left}"))?;
    }
    if let Some(today) = &detail.today {
        out.line(&format!("today     {}", today.words(|at| clock.short(at))))?;
    }
    out.line("")?;
    out.line(&dedented(&detail.record))?;
    out.line("")?;
    history(&detail.history, clock, out)
}

/// A record without the indent that it has in its file: its first line stands behind that.
fn dedented(record: &str) -> String {
    let Some((first, rest)) = record.split_once('\n') else { return record.to_owned() };
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = rest.lines().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let lines = rest.lines().map(|line| line.get(common..).unwrap_or_default());
    std::iter::once(first).chain(lines).collect::<Vec<_>>().join("\n")
}

fn history(executions: &[Execution], clock: &Clock, out: &mut Out) -> io::Result<()> {
    if executions.is_empty() {
        return out.line("nothing has fired yet");
    }
    let mut table = Table::new(&["run", "job", "slot", "result", "delivered", "session"]);
    for execution in executions {
        let delivered: Vec<String> = execution
            .deliveries
            .iter()
            .map(|delivery| format!("{} {}", delivery.target, delivery.state.as_str()))
            .collect();
        table.row([
            execution.id.to_string(),
            execution.job.to_string(),
            execution.slots.map_or_else(|| "run now".to_owned(), |slots| clock.full(slots.first)),
            execution.words(Utc::now()),
            if delivered.is_empty() { "-".to_owned() } else { delivered.join(", ") },
            execution.session.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        ]);
    }
    table.print(out)
}

#[cfg(test)]
mod tests {
    use super::dedented;

    #[test]
    fn a_record_is_shown_without_the_indent_of_its_file() {
        let in_file = "{\n      \"id\": \"a\",\n      \"deliver\": [\n        \"local\"\n      ]\n    }";
        let shown = "{\n  \"id\": \"a\",\n  \"deliver\": [\n    \"local\"\n  ]\n}";
        assert_eq!(dedented(in_file), shown);
        assert_eq!(dedented(shown), shown);
        assert_eq!(dedented("{ \"id\": \"a\" }"), "{ \"id\": \"a\" }");
        assert_eq!(dedented("{\n\n\t\t\"id\": 1\n\t}"), "{\n\n\t\"id\": 1\n}");
    }
}
