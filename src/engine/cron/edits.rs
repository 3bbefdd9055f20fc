//! Changes of `jobs.json`: by an engine, which takes each over at once, or where none runs, by the file's own
//! rules alone.

use std::sync::Arc;

use chrono::TimeDelta;
use chrono_tz::Tz;

use super::commands::taken_over;
use crate::config::Home;
use crate::domain::Time;
use crate::domain::api::{Command, JobCommand, Reply};
use crate::domain::cron::document::Removed;
use crate::domain::cron::merge::{Edit, EditRefused, Merged};
use crate::domain::cron::record;
use crate::domain::cron::{Definition, Fault, Job, JobId};
use crate::domain::queue::Refusal;
use crate::domain::schedule::{Lattice, Recurrence, Schedule};
use crate::domain::took::took;
use crate::engine::commands::{done, undoable};
use crate::engine::shared::Shared;
use crate::engine::slash::read;
use crate::store::jobs_file::{ChangeError, JobsFile, Reading};

/// A one-shot may be so late when it is made.
const ONE_SHOT_GRACE: TimeDelta = TimeDelta::seconds(120);

/// Who changes the file, and when.
pub(super) struct Edits<'a> {
    /// The file.
    pub(super) file: &'a JobsFile,
    /// The zone of jobs that name none.
    pub(super) zone: Tz,
    /// Now.
    pub(super) at: Time,
    /// Who takes each change over.
    pub(super) taker: Taker<'a>,
}

/// Who takes a change of the file over.
#[derive(Clone, Copy)]
pub(super) enum Taker<'a> {
    /// This engine, at once.
    Engine(&'a Arc<Shared>),
    /// The next engine of this home: none runs.
    Next(&'a Home),
}

/// What came of a change.
enum Changed {
    /// The file is as it was to be; with words of what comes later.
    Done(Merged, &'static str),
    /// The job was changed on both sides: they are shown.
    Conflict(Reply),
}

impl<'a> Edits<'a> {
    /// The changes that an engine makes.
    pub(super) fn of(shared: &'a Arc<Shared>) -> Self {
        let (zone, at) = (shared.settings.timezone, shared.now());
        Self { file: &shared.cron.files.file, zone, at, taker: Taker::Engine(shared) }
    }

    pub(super) async fn save(&self, base: Option<String>, definition: Definition) -> Result<Reply, Refusal> {
        let before = base.as_deref().map(|base| id_and_meaning(base, &definition.id));
        let unchanged = before.as_ref().and_then(|(_, was)| was.as_ref());
        let to = self.checked(unchanged, definition)?;
        let edit = match (&base, &before) {
            (Some(base), Some((id, _))) => {
                Edit::Change { id: id.clone(), base: base.clone(), to: to.clone() }
            }
            _ => Edit::Add { job: to.clone() },
        };
        let later = match self.changed(edit).await? {
            Changed::Done(_, later) => later,
            Changed::Conflict(reply) => return Ok(reply),
        };
        let job = to.id.clone();
        let undo = match before {
            None => Some(JobCommand::Remove { job: job.clone() }),
            Some((_, was)) => {
                let now = self.record_of(&job).await?;
                was.zip(now).map(|(was, now)| JobCommand::Save { base: Some(now), definition: Box::new(was) })
            }
        };
        Ok(Reply::Done {
            words: format!("job {job} saved{later}"),
            undo: undo.map(|undo| Box::new(Command::Job(undo))),
        })
    }

    pub(super) async fn remove(&self, job: JobId) -> Result<Reply, Refusal> {
        let Some(base) = self.record_of(&job).await? else { return Err(no_such(&job)) };
        match self.changed(Edit::Remove { id: job.clone(), base }).await? {
            Changed::Done(Merged { removed: Some(removed), .. }, later) => {
                let undo = Command::Job(JobCommand::PutBack { removed: Box::new(removed) });
                Ok(undoable(&format!("job {job} removed from jobs.json{later}"), undo))
            }
            Changed::Done(..) => Err(no_such(&job)),
            Changed::Conflict(reply) => Ok(reply),
        }
    }

    pub(super) async fn put_back(&self, removed: Removed) -> Result<Reply, Refusal> {
        let job = removed.id.clone();
        match self.changed(Edit::PutBack { removed }).await? {
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

    /// Carries one change out on the file. Nobody has taken it over then.
    pub(super) async fn edited(&self, edit: Edit) -> Result<Result<Merged, ChangeError>, Refusal> {
        if let (Taker::Next(home), Edit::Add { .. }) = (self.taker, &edit) {
            home.create().map_err(|error| Refusal::NothingTo(error.to_string()))?;
        }
        let file = self.file.clone();
        tokio::task::spawn_blocking(move || file.edit(&edit)).await.map_err(broken)
    }

    /// The record of a job as it stands in the file.
    pub(super) async fn record_of(&self, job: &JobId) -> Result<Option<String>, Refusal> {
        let (file, job) = (self.file.clone(), job.clone());
        let find = move || match file.read() {
            Reading::Read(document, _) => {
                Ok(document.find(&job).map(|entry| document.record_text(entry).to_owned()))
            }
            Reading::Missing => Ok(None),
            Reading::Unreadable(unreadable) => Err(refused(&ChangeError::Unreadable(unreadable))),
        };
        tokio::task::spawn_blocking(find).await.map_err(broken)?
    }

    /// Changes the file; an engine takes it over.
    async fn changed(&self, edit: Edit) -> Result<Changed, Refusal> {
        let _turn = match self.taker {
            Taker::Engine(shared) => Some(shared.cron.files.turn().await),
            Taker::Next(_) => None,
        };
        if let Some((_, to)) = edit.rename() {
            self.may_be_renamed(to).await?;
        }
        let edited = self.edited(edit.clone()).await?;
        if let (Ok(_), Taker::Engine(shared)) = (&edited, self.taker) {
            shared.cron.files.note(&edit);
        }
        match edited {
            Ok(merged) => Ok(Changed::Done(merged, self.taken_over().await?)),
            Err(ChangeError::Refused(EditRefused::Conflict(conflict))) => {
                self.taken_over().await?;
                let mine = conflict.mine.unwrap_or_default();
                Ok(Changed::Conflict(Reply::JobConflict { mine, theirs: conflict.theirs }))
            }
            Err(error) => Err(refused(&error)),
        }
    }

    /// When the change counts, in words.
    pub(super) async fn taken_over(&self) -> Result<&'static str, Refusal> {
        match self.taker {
            Taker::Engine(shared) => taken_over(shared).await,
            Taker::Next(_) => Ok("; no engine runs: it counts from the next start"),
        }
    }

    /// Refuses an id under which the history of another job is kept, and a rename that would leave it behind.
    async fn may_be_renamed(&self, to: &JobId) -> Result<(), Refusal> {
        let Taker::Engine(shared) = self.taker else {
            return Err(Refusal::NothingTo(
                "a job gets another id only while an engine runs, so that its history goes with it"
                    .to_owned(),
            ));
        };
        let of = to.clone();
        match read(shared, move |queries| queries.gone_since(&of)).await? {
            None => Ok(()),
            Some(_) => Err(Refusal::NothingTo(format!(
                "there was another job {to} until a short time ago, and its history is kept: choose another id"
            ))),
        }
    }

    /// The job as it is written: one that never fires, or whose time has passed, is refused; a delay becomes an
    /// instant.
    fn checked(&self, before: Option<&Definition>, definition: Definition) -> Result<Definition, Refusal> {
        let now = self.at;
        let job = definition.check().map_err(|faults| faulty(&faults))?;
        let zone = job.zone_in_use(self.zone, now).map_err(|fault| faulty(&[fault]))?;
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
}

/// The job that a record is of, and what it meant, where that can be read.
fn id_and_meaning(base: &str, otherwise: &JobId) -> (JobId, Option<Definition>) {
    match record::read(base, Some(otherwise.as_str())) {
        Ok(record) => (record.definition.id.clone(), Some(record.definition)),
        Err(_) => (record::read_id(base, None).unwrap_or_else(|| otherwise.clone()), None),
    }
}

pub(super) fn broken(error: tokio::task::JoinError) -> Refusal {
    Refusal::NothingTo(format!("jobs.json could not be changed: {error}"))
}

pub(super) fn refused(error: &ChangeError) -> Refusal {
    Refusal::NothingTo(error.to_string())
}

fn faulty(faults: &[Fault]) -> Refusal {
    let told: Vec<String> = faults.iter().map(Fault::to_string).collect();
    Refusal::NothingTo(told.join("; "))
}

fn no_such(job: &JobId) -> Refusal {
    Refusal::NothingTo(format!("there is no job {job} in jobs.json"))
}
