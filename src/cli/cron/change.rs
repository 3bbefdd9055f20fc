//! What changes a job, or runs one.

use std::io::Read;
use std::sync::Arc;

use super::fields::Fields;
use super::{check, find, find_id};
use crate::cli::Exit;
use crate::cli::context::Context;
use crate::cli::feed::{Feed, News, Wanted};
use crate::cli::output::{Out, stderr_line};
use crate::control::{Client, Reach};
use crate::domain::api::{Command, JobAnswer, JobCommand, JobQuery, Reply};
use crate::domain::cron::{Counting, Definition, ExecutionState, JobEvent, JobId};
use crate::domain::event::{EventKind, Level};

#[derive(Debug, clap::Args)]
pub(super) struct Add {
    /// When it is due: "0 8 * * *", "weekdays at 9:30", "every 2h", "in 30m", "2026-12-24T18:00"
    #[arg(id = "schedule", value_name = "SCHEDULE", allow_hyphen_values = true)]
    schedule: String,
    /// What the agent is told; - reads it from standard input
    #[arg(id = "prompt", value_name = "PROMPT")]
    prompt: Option<String>,
    #[command(flatten)]
    fields: Fields,
}

#[derive(Debug, clap::Args)]
pub(super) struct Edit {
    /// The job
    job: String,
    #[command(flatten)]
    fields: Fields,
}

#[derive(Debug, clap::Args)]
pub(super) struct Pause {
    /// The job
    job: String,
    /// Why, for whoever finds it
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Resume {
    /// The job
    job: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct Run {
    /// The job
    job: String,
    /// Count the run for the job's repeat
    #[arg(long)]
    count: bool,
    /// Wait for the run's end; a run that does not succeed exits with 1
    #[arg(long)]
    wait: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Remove {
    /// The job
    job: String,
}

impl Add {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let prompt = match self.prompt.as_deref() {
            Some("-") => Some(standard_input()?),
            other => other.map(str::to_owned),
        };
        let id = match self.fields.get("id") {
            Some(id) => id.parse()?,
            None => {
                let words = self.fields.get("description").or(prompt.as_deref());
                id_from(&*client, context, words.unwrap_or_default()).await?
            }
        };
        let mut definition = Definition { prompt, ..Definition::new(id, self.schedule) };
        self.fields.set(&mut definition).map_err(|fault| anyhow::anyhow!("{fault}"))?;
        save(&*client, None, definition, out).await
    }
}

impl Edit {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        anyhow::ensure!(
            !self.fields.is_empty(),
            "nothing to change: name a field, as in --schedule \"0 8 * * *\"; `switchboard cron edit --help` lists them"
        );
        let client = context.client().await?;
        let found = find(&*client, &self.job).await?;
        let Some(mut definition) = found.definition else {
            anyhow::bail!(
                "the record of {} can't be used: repair it in jobs.json; `switchboard cron check` says what is wrong",
                found.row.name
            );
        };
        self.fields.set(&mut definition).map_err(|fault| anyhow::anyhow!("{fault}"))?;
        save(&*client, Some(found.record), *definition, out).await
    }
}

impl Pause {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let job = find_id(&*client, &self.job).await?;
        give(&*client, JobCommand::Pause { job, why: self.why }, out).await
    }
}

impl Resume {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let job = find_id(&*client, &self.job).await?;
        give(&*client, JobCommand::Resume { job }, out).await
    }
}

impl Run {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.engine().await?;
        let job = find_id(&*client, &self.job).await?;
        let counting = if self.count { Counting::Counts } else { Counting::Beside };
        // Listening begins before the run, so that no part of it is missed.
        let wanted = Wanted { level: Level::Info, session: None };
        let feed = Feed::from_now(Arc::clone(&client), wanted).await?;
        give(&*client, JobCommand::Run { job: job.clone(), counting }, out).await?;
        out.flush()?;
        if self.wait { end_of_run(feed, &job, out).await } else { Ok(Exit::Done) }
    }
}

async fn end_of_run(mut feed: Feed, wanted: &JobId, out: &mut Out) -> anyhow::Result<Exit> {
    let mut run = None;
    while let Some(news) = feed.next().await? {
        let News::Event(event) = news else { continue };
        let EventKind::Job { job, what } = &event.kind else { continue };
        match what {
            JobEvent::Fired { execution, slots: None, .. } if job == wanted => run = Some(*execution),
            JobEvent::RunEnded { execution, state, .. } if Some(*execution) == run => {
                out.line(&what.words(job))?;
                return Ok(if *state == ExecutionState::Succeeded { Exit::Done } else { Exit::Failed });
            }
            _ => {}
        }
    }
    anyhow::bail!("the engine is gone; `switchboard cron history {wanted}` tells what became of the run")
}

impl Remove {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let job = find_id(&*client, &self.job).await?;
        give(&*client, JobCommand::Remove { job }, out).await
    }
}

async fn save(
    client: &dyn Client,
    base: Option<String>,
    definition: Definition,
    out: &mut Out,
) -> anyhow::Result<Exit> {
    let job = definition.id.clone();
    let exit = give(client, JobCommand::Save { base, definition: Box::new(definition) }, out).await?;
    let saved = find(client, job.as_str()).await?;
    saved.warnings.iter().for_each(|warning| stderr_line(&format!("! {warning}")));
    Ok(exit)
}

async fn give(client: &dyn Client, command: JobCommand, out: &mut Out) -> anyhow::Result<Exit> {
    match client.command(Command::Job(command)).await? {
        Reply::Done { words, .. } => out.line(&words)?,
        Reply::JobConflict { theirs: Some(_), .. } => {
            anyhow::bail!(
                "the job was changed on disk at the same moment: nothing was written; look at it and try again"
            )
        }
        Reply::JobConflict { theirs: None, .. } => {
            anyhow::bail!("the job was taken out of jobs.json at the same moment: nothing was written")
        }
        other => anyhow::bail!("unexpected reply: {other:?}"),
    }
    Ok(Exit::Done)
}

/// An id of the first words of what the job is for, that no job has.
async fn id_from(client: &dyn Client, context: &Context, words: &str) -> anyhow::Result<JobId> {
    let every = JobQuery::List { filter: String::new(), limit: usize::MAX };
    let JobAnswer::List(page) = super::ask(client, every).await? else { return Err(super::another_kind()) };
    // What no engine has read yet is known to the file alone.
    let unread = match client.reach() {
        Reach::StoreOnly => check::document(&context.home.jobs_file())?,
        Reach::Here | Reach::Attached { .. } => None,
    };
    Ok(JobId::from_words(words, |id| {
        page.rows.iter().any(|row| row.id.as_ref() == Some(id))
            || unread.as_ref().is_some_and(|document| document.find(id).is_some())
    }))
}

fn standard_input() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| anyhow::anyhow!("standard input is not readable as text: {error}"))?;
    Ok(text.trim_end().to_owned())
}
