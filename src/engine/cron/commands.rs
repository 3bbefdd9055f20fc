//! Commands about scheduled tasks: written to `jobs.json` first, then taken over.

use std::sync::Arc;

use chrono::TimeDelta;

use super::files::{as_file, synced};
use super::runs::Halt;
use crate::domain::Time;
use crate::domain::api::{Command, JobCommand, Reply};
use crate::domain::cron::document::Removed;
use crate::domain::cron::merge::{Edit, EditRefused, Firing, Merged};
use crate::domain::cron::record;
use crate::domain::cron::{Counting, CronEvent, Definition, Fault, Job, JobId};
use crate::domain::event::EventKind;
use crate::domain::id::ExecutionId;
use crate::domain::queue::{Gate, Refusal};
use crate::domain::schedule::{Lattice, Recurrence, Schedule};
use crate::domain::took::took;
use crate::engine::commands::{done, undoable};
use crate::engine::shared::{JOBS_WAIT, Shared, refusal};
use crate::engine::slash::read;
use crate::store::jobs_file::{ChangeError, JobsFile, Reading};
use crate::store::{RunAsked, StoreError, Transitions};

/// A one-shot may be so late when it is made.
const ONE_SHOT_GRACE: TimeDelta = TimeDelta::seconds(120);

/// Carries out a command about scheduled tasks.
pub(in crate::engine) async fn carry_out(
    shared: &Arc<Shared>,
    command: JobCommand,
) -> Result<Reply, Refusal> {
    match command {
        JobCommand::Save { base, definition } => save(shared, base, *definition).await,
        JobCommand::Remove { job } => remove(shared, job).await,
        JobCommand::PutBack { removed } => put_back(shared, *removed).await,
        JobCommand::Pause { job, why } => pause(shared, job, why).await,
        JobCommand::Resume { job } => resume(shared, job).await,
        JobCommand::Run { job, counting } => run_now(shared, job, counting).await,
        JobCommand::StopRun { execution } => stop_run(shared, execution).await,
        JobCommand::TakeStoredCopy => take_stored_copy(shared).await,
    }
}

async fn save(shared: &Arc<Shared>, base: Option<String>, definition: Definition) -> Result<Reply, Refusal> {
    let before = base.as_deref().map(|base| id_and_meaning(base, &definition.id));
    let unchanged = before.as_ref().and_then(|(_, was)| was.as_ref());
    let to = checked(shared, unchanged, definition)?;
    let edit = match (&base, &before) {
        (Some(base), Some((id, _))) => Edit::Change { id: id.clone(), base: base.clone(), to: to.clone() },
        _ => Edit::Add { job: to.clone() },
    };
    let later = match changed(shared, edit).await? {
        Changed::Done(_, later) => later,
        Changed::Conflict(reply) => return Ok(reply),
    };
    let job = to.id.clone();
    let undo = match before {
        None => Some(JobCommand::Remove { job: job.clone() }),
        Some((_, was)) => {
            let now = record_of(&shared.cron.files.file, &job).await?;
            was.zip(now).map(|(was, now)| JobCommand::Save { base: Some(now), definition: Box::new(was) })
        }
    };
    Ok(Reply::Done {
        words: format!("job {job} saved{later}"),
        undo: undo.map(|undo| Box::new(Command::Job(undo))),
    })
}

/// The job that a record is of, and what it meant, where that can be read.
fn id_and_meaning(base: &str, otherwise: &JobId) -> (JobId, Option<Definition>) {
    match record::read(base, Some(otherwise.as_str())) {
        Ok(record) => (record.definition.id.clone(), Some(record.definition)),
        Err(_) => (record::read_id(base, None).unwrap_or_else(|| otherwise.clone()), None),
    }
}

/// The job as it is written: one that never fires, or whose time has passed, is refused; a delay becomes an
/// instant.
fn checked(
    shared: &Shared,
    before: Option<&Definition>,
    definition: Definition,
) -> Result<Definition, Refusal> {
    let now = shared.now();
    let job = definition.check().map_err(|faults| faulty(&faults))?;
    let zone = job.zone_in_use(shared.settings.timezone, now).map_err(|fault| faulty(&[fault]))?;
    let Job { mut definition, schedule, .. } = job;
    let wrong = |why: &dyn std::fmt::Display| {
        faulty(&[Fault::new("schedule", &format!("{:?}", definition.schedule), why)])
    };
    if before.is_some_and(|before| {
        before.schedule == definition.schedule && before.timezone == definition.timezone
    }) {
        return Ok(definition);
    }
    if let Schedule::In(_) = schedule {
        let at = schedule.next(now, &Lattice { zone, anchor: now });
        let at = at.ok_or_else(|| wrong(&"is too far away"))?;
        definition.schedule = at.with_timezone(&zone).format("%Y-%m-%dT%H:%M:%S%:z").to_string();
    } else if schedule.recurrence() == Recurrence::Once {
        let at = schedule.next(Time::MIN_UTC, &Lattice { zone, anchor: now });
        if let Some(at) = at.filter(|at| now - at > ONE_SHOT_GRACE) {
            let (late, grace) = (took(now - at), took(ONE_SHOT_GRACE));
            return Err(wrong(&format!("is past, by {late}: a one-shot may be at most {grace} late")));
        }
    }
    Ok(definition)
}

async fn remove(shared: &Arc<Shared>, job: JobId) -> Result<Reply, Refusal> {
    let base = record_of(&shared.cron.files.file, &job).await?;
    let Some(base) = base else { return Err(no_such(&job)) };
    match changed(shared, Edit::Remove { id: job.clone(), base }).await? {
        Changed::Done(Merged { removed: Some(removed), .. }, later) => {
            let undo = Command::Job(JobCommand::PutBack { removed: Box::new(removed) });
            Ok(undoable(&format!("job {job} removed from jobs.json{later}"), undo))
        }
        Changed::Done(..) => Err(no_such(&job)),
        Changed::Conflict(reply) => Ok(reply),
    }
}

async fn put_back(shared: &Arc<Shared>, removed: Removed) -> Result<Reply, Refusal> {
    let job = removed.id.clone();
    match changed(shared, Edit::PutBack { removed }).await? {
        Changed::Conflict(reply) => Ok(reply),
        Changed::Done(_, later) => Ok(match job {
            Some(job) => undoable(
                &format!("job {job} is in jobs.json again{later}"),
                Command::Job(JobCommand::Remove { job }),
            ),
            None => done(&format!("the record is in jobs.json again{later}")),
        }),
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
    let (file, id) = (shared.cron.files.file.clone(), job.clone());
    match edited(file, Edit::Switch { id, to }).await? {
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
    let RunAsked { execution, replaced } = asked;
    shared.cron.runs.replace(&replaced);
    let undo = Command::Job(JobCommand::StopRun { execution });
    let when = match shared.status().gate {
        Gate::Open => "runs now",
        Gate::Held => "runs when the engine's hold is released",
        Gate::Stopping => "runs at the next start, as the engine stops",
    };
    Ok(undoable(&format!("job {job} {when}: run {execution}"), undo))
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

/// What came of a change.
enum Changed {
    /// The file is as it was to be; with words of what comes later.
    Done(Merged, &'static str),
    /// The job was changed on both sides: they are shown.
    Conflict(Reply),
}

/// Changes the file and takes it over.
async fn changed(shared: &Arc<Shared>, edit: Edit) -> Result<Changed, Refusal> {
    let _turn = shared.cron.files.turn().await;
    if let Some((_, to)) = edit.rename() {
        no_earlier_job(shared, to).await?;
    }
    let files = &shared.cron.files;
    match edited(files.file.clone(), edit.clone()).await? {
        Ok(merged) => {
            files.note(&edit);
            let later = taken_over(shared).await?;
            Ok(Changed::Done(merged, later))
        }
        Err(ChangeError::Refused(EditRefused::Conflict(conflict))) => {
            taken_over(shared).await?;
            let mine = conflict.mine.unwrap_or_default();
            Ok(Changed::Conflict(Reply::JobConflict { mine, theirs: conflict.theirs }))
        }
        Err(error) => Err(refused(&error)),
    }
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
async fn taken_over(shared: &Shared) -> Result<&'static str, Refusal> {
    match synced(shared).await {
        Ok(()) => Ok(""),
        Err(StoreError::Unavailable { why }) => {
            tracing::warn!(why, "jobs.json is written and not taken over yet");
            Ok("; it counts as soon as the store can be written")
        }
        Err(error) => Err(refusal(error)),
    }
}

/// Refuses an id under which the history of another job is kept.
async fn no_earlier_job(shared: &Arc<Shared>, id: &JobId) -> Result<(), Refusal> {
    let of = id.clone();
    match read(shared, move |queries| queries.gone_since(&of)).await? {
        None => Ok(()),
        Some(_) => Err(Refusal::NothingTo(format!(
            "there was another job {id} until a short time ago, and its history is kept: choose another id"
        ))),
    }
}

async fn edited(file: JobsFile, edit: Edit) -> Result<Result<Merged, ChangeError>, Refusal> {
    tokio::task::spawn_blocking(move || file.edit(&edit)).await.map_err(broken)
}

/// The record of a job as it stands in the file.
async fn record_of(file: &JobsFile, job: &JobId) -> Result<Option<String>, Refusal> {
    let (file, job) = (file.clone(), job.clone());
    let find = move || match file.read() {
        Reading::Read(document, _) => {
            Ok(document.find(&job).map(|entry| document.record_text(entry).to_owned()))
        }
        Reading::Missing => Ok(None),
        Reading::Unreadable(unreadable) => Err(refused(&ChangeError::Unreadable(unreadable))),
    };
    tokio::task::spawn_blocking(find).await.map_err(broken)?
}

fn broken(error: tokio::task::JoinError) -> Refusal {
    Refusal::NothingTo(format!("jobs.json could not be changed: {error}"))
}

fn refused(error: &ChangeError) -> Refusal {
    Refusal::NothingTo(error.to_string())
}

fn faulty(faults: &[Fault]) -> Refusal {
    let told: Vec<String> = faults.iter().map(Fault::to_string).collect();
    Refusal::NothingTo(told.join("; "))
}

fn no_such(job: &JobId) -> Refusal {
    Refusal::NothingTo(format!("there is no job {job} in jobs.json"))
}
