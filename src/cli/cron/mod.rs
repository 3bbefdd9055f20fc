//! `switchboard cron`.

mod change;
pub(super) mod check;
mod fields;
mod look;
mod next;

use super::Exit;
use super::context::Context;
use super::output::Out;
use crate::control::Client;
use crate::domain::api::{Answer, JobAnswer, JobDetail, JobFound, JobQuery, Query};
use crate::domain::cron::JobId;

/// Scheduled tasks
///
/// A job is named by its id, by a unique beginning of it, or by its name.
#[derive(Debug, clap::Args)]
pub(super) struct Cron {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// The jobs, the most urgent first
    List(look::List),
    /// One job: its definition, its next slots, its runs
    Show(look::Show),
    /// Make a job
    Add(change::Add),
    /// Change fields of a job
    Edit(change::Edit),
    /// Take no slot of a job until it is resumed
    Pause(change::Pause),
    /// Take a job's slots again
    Resume(change::Resume),
    /// Run a job now, beside its slots
    Run(change::Run),
    /// Take a job out of jobs.json
    Remove(change::Remove),
    /// What became of the slots, newest first
    History(look::History),
    /// The output document of a run
    Output(look::Output),
    /// The next slots of a schedule, one a line; what it means and its traps on standard error
    Next(next::Next),
    /// Check a jobs.json: what is wrong with each job, and its next five slots
    Check(check::Check),
}

impl Cron {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        match self.what {
            What::List(list) => list.run(context, out).await,
            What::Show(show) => show.run(context, out).await,
            What::Add(add) => add.run(context, out).await,
            What::Edit(edit) => edit.run(context, out).await,
            What::Pause(pause) => pause.run(context, out).await,
            What::Resume(resume) => resume.run(context, out).await,
            What::Run(run) => run.run(context, out).await,
            What::Remove(remove) => remove.run(context, out).await,
            What::History(history) => history.run(context, out).await,
            What::Output(output) => output.run(context, out).await,
            What::Next(next) => next.run(context, out),
            What::Check(check) => check.run(context, out),
        }
    }
}

async fn ask(client: &dyn Client, query: JobQuery) -> anyhow::Result<JobAnswer> {
    match client.query(Query::Jobs(query)).await? {
        Answer::Jobs(answer) => Ok(answer),
        _ => Err(another_kind()),
    }
}

async fn find(client: &dyn Client, named: &str) -> anyhow::Result<JobDetail> {
    match ask(client, JobQuery::Detail { job: named.to_owned() }).await? {
        JobAnswer::Detail(found) => match *found {
            JobFound::One(detail) => Ok(*detail),
            JobFound::None => anyhow::bail!("there is no job {named:?}; `switchboard cron list` lists them"),
            JobFound::Several { candidates } => {
                let ids: Vec<&str> = candidates.iter().map(JobId::as_str).collect();
                anyhow::bail!("{named:?} fits several jobs: {}", ids.join(", "))
            }
        },
        _ => Err(another_kind()),
    }
}

async fn find_id(client: &dyn Client, named: &str) -> anyhow::Result<JobId> {
    let row = find(client, named).await?.row;
    let nameless =
        || anyhow::anyhow!("record {} of jobs.json has no id: give it one in the file", row.place + 1);
    row.id.clone().ok_or_else(nameless)
}

fn another_kind() -> anyhow::Error {
    anyhow::anyhow!("the engine gave an answer of another kind")
}
