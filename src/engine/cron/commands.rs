//! Commands about scheduled tasks: written to `jobs.json` first, then taken over.

use std::sync::Arc;

use super::edits::{Edits, broken, refused};
use super::files::{as_file, synced};
use super::runs::Halt;
use crate::domain::api::{Command, JobCommand, Reply};
use crate::domain::cron::merge::{Edit, Firing};
use crate::domain::cron::{Counting, CronEvent, JobId, begins};
use crate::domain::event::EventKind;
use crate::domain::id::ExecutionId;
use crate::domain::queue::Refusal;
use crate::engine::commands::{done, undoable};
use crate::engine::shared::{JOBS_WAIT, Shared, refusal};
use crate::engine::slash::read;
use crate::store::{RunAsked, StoreError, Transitions};

/// Carries out a command about scheduled tasks.
pub(in crate::engine) async fn carry_out(
    shared: &Arc<Shared>,
    command: JobCommand,
) -> Result<Reply, Refusal> {
    match command {
        JobCommand::Save { base, definition } => Edits::of(shared).save(base, *definition).await,
        JobCommand::Remove { job } => Edits::of(shared).remove(job).await,
        JobCommand::PutBack { removed } => Edits::of(shared).put_back(*removed).await,
        JobCommand::Pause { job, why } => pause(shared, job, why).await,
        JobCommand::Resume { job } => resume(shared, job).await,
        JobCommand::Run { job, counting } => run_now(shared, job, counting).await,
        JobCommand::StopRun { execution } => stop_run(shared, execution).await,
        JobCommand::TakeStoredCopy => take_stored_copy(shared).await,
    }
}

/// What is paused takes no slot from this moment on, whatever becomes of the file.
async fn pause(shared: &Arc<Shared>, job: JobId, why: Option<String>) -> Result<Reply, Refusal> {
    let _turn = shared.cron.files.turn().await;
    let (at, of) = (shared.now(), job.clone());
    write(shared, move |store| store.pause_job(&of, why.as_deref(), at)).await?;
    let note = switch(shared, &job, Firing::Paused).await?;
    let undo = Command::Job(JobCommand::Resume { job: job.clone() });
    Ok(undoable(&format!("job {job} paused{note}"), undo))
}

async fn resume(shared: &Arc<Shared>, job: JobId) -> Result<Reply, Refusal> {
    let _turn = shared.cron.files.turn().await;
    let (at, of) = (shared.now(), job.clone());
    write(shared, move |store| store.resume_job(&of, at)).await?;
    let note = switch(shared, &job, Firing::On).await?;
    let undo = Command::Job(JobCommand::Pause { job: job.clone(), why: None });
    Ok(undoable(&format!("job {job} goes on{note}"), undo))
}

/// Writes to the file whether a job fires. Where that can't be, it is written when the file is read next. The
/// caller has its turn.
async fn switch(shared: &Arc<Shared>, job: &JobId, to: Firing) -> Result<&'static str, Refusal> {
    match Edits::of(shared).edited(Edit::Switch { id: job.clone(), to }).await? {
        Ok(_) => taken_over(shared).await,
        Err(error) => {
            tracing::warn!(%job, %error, "jobs.json does not tell yet whether the job fires");
            Ok("; jobs.json says so when it can be written")
        }
    }
}

async fn run_now(shared: &Arc<Shared>, job: JobId, counting: Counting) -> Result<Reply, Refusal> {
    let (at, of) = (shared.now(), job.clone());
    let asked = write(shared, move |store| store.run_job_now(&of, counting, at)).await?;
    let RunAsked { execution, replaced, lifts } = asked;
    shared.cron.runs.replace(&replaced);
    let undo = Command::Job(JobCommand::StopRun { execution });
    let when = begins(shared.status().gate);
    let lifts = lifts.map(|reached| format!(" and is let go for today ({} is reached)", reached.words()));
    Ok(undoable(&format!("job {job} {when}{}: run {execution}", lifts.unwrap_or_default()), undo))
}

async fn stop_run(shared: &Arc<Shared>, execution: ExecutionId) -> Result<Reply, Refusal> {
    let found = read(shared, move |queries| queries.execution(execution)).await?;
    let Some(found) = found else { return Err(Refusal::NothingTo(format!("there is no run {execution}"))) };
    let why = match (&found.claim, shared.cron.runs.of(execution)) {
        _ if found.state.is_over() => format!("run {execution} has ended: {}", found.state),
        (_, Some(run)) => {
            run.halt(Halt::Operator);
            return Ok(done(&format!("run {execution} of job {} is told to stop", run.job)));
        }
        (Some(claim), None) => {
            format!("run {execution} is {}'s: only that engine can stop it", claim.holder())
        }
        (None, None) => {
            let at = shared.now();
            write(shared, move |store| store.withdraw_execution(execution, at)).await?;
            return Ok(done(&format!("run {execution} of job {} is withdrawn: it never begins", found.job)));
        }
    };
    Err(Refusal::NothingTo(why))
}

async fn take_stored_copy(shared: &Arc<Shared>) -> Result<Reply, Refusal> {
    let _turn = shared.cron.files.turn().await;
    let records = read(shared, |queries| queries.stored_records()).await?;
    let (file, at) = (shared.cron.files.file.clone(), shared.now());
    let taken = tokio::task::spawn_blocking(move || file.take_stored_copy(&as_file(&records), at)).await;
    let kept = taken.map_err(broken)?.map_err(|error| refused(&error))?;
    let words = match kept {
        Some(kept) => {
            let kept_as = kept.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let words = format!("the stored copy is jobs.json now; the unreadable one is kept as {kept_as}");
            let kind = EventKind::Cron(CronEvent::CopyTaken { kept_as });
            write(shared, move |store| store.record(None, kind.clone(), at)).await?;
            words
        }
        None => "the stored copy is jobs.json now".to_owned(),
    };
    let later = taken_over(shared).await?;
    Ok(done(&format!("{words}{later}")))
}

/// Makes one transition, or refuses it soon where the store can't be written.
async fn write<T, F>(shared: &Shared, transition: F) -> Result<T, Refusal>
where
    T: Send + 'static,
    F: FnMut(&mut dyn Transitions) -> Result<T, StoreError> + Send + 'static,
{
    shared.store.write_within(JOBS_WAIT, transition).await.map_err(refusal)
}

/// Takes over what was just written to the file. Where the store can't be written that is done later; the
/// words say so. The caller has the file's turn.
pub(super) async fn taken_over(shared: &Shared) -> Result<&'static str, Refusal> {
    match synced(shared).await {
        Ok(()) => Ok(""),
        Err(StoreError::Unavailable { why }) => {
            tracing::warn!(why, "jobs.json is written and not taken over yet");
            Ok("; it counts as soon as the store can be written")
        }
        Err(error) => Err(refusal(error)),
    }
}
