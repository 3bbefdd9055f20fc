//! The store's steps and questions about scheduled tasks.
//!
//! The store keeps a copy of each job's record as the file had it, and what happened to the job. Jobs
//! fire by the stored copy, so that a file that can't be read stops nobody.

use std::collections::BTreeSet;

use chrono_tz::Tz;

use super::Result;
use super::transitions::NewMessage;
use crate::domain::Time;
use crate::domain::api::{EventPage, FileTrouble, JobFound, JobsPage, TimelineRow};
use crate::domain::cron::merge::Firing;
use crate::domain::cron::record::Imported;
use crate::domain::cron::{
    Claim, ClaimKey, Counting, CronEvent, Definition, Delivery, DeliveryState, Execution, ExecutionState,
    JobEvent, JobId, JobStanding, Owner, Said, SessionMode,
};
use crate::domain::event::{Event, Level};
use crate::domain::id::{ExecutionId, RunId, SessionId, SessionKey};
use crate::domain::spending::Reached;
use crate::domain::turn::Begun;

/// The engine's atomic steps with scheduled tasks. Each is one step with its events, as in
/// [`Transitions`](super::Transitions).
pub trait JobTransitions {
    /// Takes over what the file holds. A job that is new gets its anchor and its first slot; one whose
    /// schedule or zone is another gets its next slot computed from now; every other keeps its slot. One
    /// that is gone becomes a tombstone, one that is back takes its state up again. Run-time fields of a
    /// file that another program wrote count only at the first sight of a job.
    fn sync_jobs(&mut self, seen: &JobsSeen) -> Result<Synced>;

    /// Gives a job of the file another id: its executions, its state and its alerts go with it. Refuses an id
    /// that another job has, or had until a short time ago.
    fn rename_job(&mut self, from: &JobId, to: &JobId, at: Time) -> Result<()>;

    /// Records that the file can't be read. The stored copy stays.
    fn jobs_unreadable(&mut self, trouble: &FileTrouble, at: Time) -> Result<()>;

    /// Takes every slot that is due, the earliest first: by [`crate::domain::cron::plan`], a fire begins
    /// to wait for a worker, or the slots end as skipped or missed; the next slot moves on in the same
    /// step. At most `limit` jobs a call. Nothing is taken while the engine is on hold or stops.
    fn fire_due(&mut self, tick: &Tick) -> Result<Ticked>;

    /// Adds a run that an operator asked for, by the job's overlap rule. Refuses an unknown job, one in error,
    /// and one that has a run already if that rule is `skip`. No slot moves, and none is left out because the
    /// run waits. Where the run in its way only waits for a daily limit, that one is let go for the day instead.
    fn run_job_now(&mut self, job: &JobId, counting: Counting, at: Time) -> Result<RunAsked>;

    /// Ends an execution that waits, by the will of an operator: it never begins. Refuses one that does not
    /// wait.
    fn withdraw_execution(&mut self, execution: ExecutionId, at: Time) -> Result<()>;

    /// Gives the fire that waits longest to a worker, if fewer than `max_parallel` are claimed or run and
    /// its job's overlap rule lets it begin. Slots of a job that are due are taken before a run that was asked
    /// for begins.
    fn claim_execution(&mut self, claim: &NewClaim) -> Result<Option<Claimed>>;

    /// The run begins. Whatever is done from here on is never done again by itself.
    fn begin_execution(&mut self, claim: &ClaimKey, at: Time) -> Result<Held>;

    /// Lets the agent begin on a run's prompt, in the job's session or in a new memory of it. None if the
    /// claim is another's now.
    fn begin_run_turn(&mut self, turn: &RunTurn) -> Result<Option<Begun>>;

    /// Renews a claim.
    fn beat_execution(&mut self, claim: &ClaimKey, at: Time) -> Result<Held>;

    /// Ends a run with its result and what is to be delivered. Counts failures in a row, runs of `repeat`,
    /// and flags or clears the job.
    fn end_execution(&mut self, end: &ExecutionEnd) -> Result<Held>;

    /// What became of one delivery of a run that has ended. What is posted stands in its session from the same
    /// moment on, so that nobody reads it twice or misses it.
    fn settle_delivery(
        &mut self,
        execution: ExecutionId,
        place: usize,
        state: DeliveryState,
        words: Option<&str>,
        post: Option<&Post>,
        at: Time,
    ) -> Result<()>;

    /// Tells something of the ticker or of `jobs.json`, with what it does to their alerts.
    fn tell_cron(&mut self, what: CronEvent, at: Time) -> Result<()>;

    /// Frees executions whose owner is known to be dead, or whose claim has expired. One that had not
    /// begun waits again, once; one whose turn had ended with an answer is given to `heir`, to be settled;
    /// every other ends as interrupted or unknown when its owner was last known to live, and is delivered as
    /// a failure.
    fn free_executions(&mut self, dead: &BTreeSet<ClaimKey>, heir: &NewClaim) -> Result<Vec<Claimed>>;

    /// Takes no slot of a job any more. Known to the store alone until the file says the same.
    fn pause_job(&mut self, job: &JobId, why: Option<&str>, at: Time) -> Result<()>;

    /// Takes a job's slots again, from now on: what passed meanwhile is one row.
    fn resume_job(&mut self, job: &JobId, at: Time) -> Result<()>;

    /// Forgets tombstones older than `before`, and executions beyond the newest `keep` of each job.
    fn prune_jobs(&mut self, before: Time, keep: usize) -> Result<usize>;
}

/// What a screen and the engine read of scheduled tasks.
pub trait JobQueries {
    /// The jobs, most urgent first, then by their next slot. The ticker is the engine's to add.
    fn jobs(&self, filter: &str, limit: usize, at: Time) -> Result<JobsPage>;
    /// The job that an id, a unique prefix of one, or a name leads to. `zone` is the operator's.
    fn job(&self, wanted: &str, zone: Tz, at: Time) -> Result<JobFound>;
    /// Since when a job is gone whose state is still kept.
    fn gone_since(&self, job: &JobId) -> Result<Option<Time>>;
    /// The records of the stored copy, in the order of the file.
    fn stored_records(&self) -> Result<Vec<String>>;
    /// Jobs that were paused or go on by the will of an operator, and whose records don't say so yet.
    fn unwritten_switches(&self) -> Result<Vec<(JobId, Firing)>>;
    /// Executions, newest first.
    fn executions(
        &self,
        job: Option<&JobId>,
        before: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Execution>>;
    /// A page of the log of one job, oldest first within the page.
    fn events_of_job(&self, job: &JobId, page: EventPage, level: Level, limit: usize) -> Result<Vec<Event>>;
    /// One execution.
    fn execution(&self, id: ExecutionId) -> Result<Option<Execution>>;
    /// Executions that are claimed or run, with their claims.
    fn open_claims(&self) -> Result<Vec<(ClaimKey, Claim)>>;
    /// Deliveries that are still to be made.
    fn pending_deliveries(&self, limit: usize) -> Result<Vec<(ExecutionId, usize, Delivery)>>;
    /// Slots and executions of a span of time, by job.
    fn timeline(&self, from: Time, until: Time, limit: usize, zone: Tz) -> Result<Vec<TimelineRow>>;
    /// The newest execution of each of these jobs that succeeded and has an output document: its path.
    fn newest_outputs(&self, jobs: &[JobId]) -> Result<Vec<(JobId, String)>>;
    /// When the next slot is due, and whether a fire waits for a worker.
    fn next_due(&self) -> Result<NextDue>;
}

/// What the file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct JobsSeen {
    /// Its records, in order.
    pub records: Vec<SeenRecord>,
    /// Whether there is a file.
    pub file: SeenFile,
    /// The jobs that an operator took out of it: nobody is told that they vanished.
    pub removed: BTreeSet<JobId>,
    /// The zone of jobs that name none.
    pub zone: Tz,
    /// When.
    pub at: Time,
}

impl JobsSeen {
    /// What is told of a job that is gone from the file.
    pub fn news_of_gone(&self, job: &JobId, standing: &JobStanding) -> JobEvent {
        match self.file {
            _ if self.removed.contains(job) => JobEvent::Removed,
            _ if !standing.is_missed() => JobEvent::Gone,
            SeenFile::Missing => JobEvent::VanishedWithFile,
            SeenFile::Read => JobEvent::Vanished,
        }
    }
}

/// Whether there is a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenFile {
    /// There is.
    Read,
    /// There is none.
    Missing,
}

/// A record of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenRecord {
    /// Its text.
    pub text: String,
    /// The job's id, if it has one that can be used.
    pub id: Option<JobId>,
    /// What it means; none: it can't be understood.
    pub definition: Option<Box<Definition>>,
    /// What another scheduler wrote of its runs: it counts only at the first sight of the job.
    pub imported: Imported,
    /// What is wrong with it; empty: the job can be used, if its schedule and zone can.
    pub faults: Vec<String>,
}

impl SeenRecord {
    /// What it says of its job.
    pub fn said(&self) -> Said<'_> {
        match &self.definition {
            Some(definition) if self.faults.is_empty() => Ok(definition),
            _ => Err(&self.faults),
        }
    }
}

/// What a look at the file changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Synced {
    /// Jobs that are new, or back.
    pub appeared: usize,
    /// Jobs whose record is another.
    pub changed: usize,
    /// Jobs that are gone.
    pub vanished: usize,
}

/// A pass of the ticker.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Now, by the wall clock.
    pub at: Time,
    /// The zone of jobs that name none.
    pub zone: Tz,
    /// At most so many jobs.
    pub limit: usize,
}

/// What a pass did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticked {
    /// Fires that wait for a worker now.
    pub fired: usize,
    /// Jobs that were due, whatever became of them.
    pub due: usize,
    /// The runs that a newer fire replaces: they are to be stopped.
    pub replaced: Vec<ExecutionId>,
    /// When the next slot is due.
    pub next: Option<Time>,
}

/// A run that an operator asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunAsked {
    /// It.
    pub execution: ExecutionId,
    /// The runs that it replaces: they are to be stopped.
    pub replaced: Vec<ExecutionId>,
    /// The daily limit that does not hold its job any more today.
    pub lifts: Option<Reached>,
}

/// When something is due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NextDue {
    /// The earliest slot.
    pub slot: Option<Time>,
    /// Fires that wait for a worker.
    pub waiting: usize,
    /// Executions that are claimed or run.
    pub busy: usize,
}

/// A worker asks for work.
#[derive(Debug, Clone, PartialEq)]
pub struct NewClaim {
    /// Who.
    pub owner: Owner,
    /// The token of its writes.
    pub token: String,
    /// How many may be claimed or run at once, over all jobs.
    pub max_parallel: usize,
    /// Now.
    pub at: Time,
}

/// Work for a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The execution, claimed.
    pub execution: Execution,
    /// Its job, by the stored copy.
    pub definition: Definition,
}

/// Whether a claim is still its owner's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// It is: the write was kept.
    Ours,
    /// It is not: nothing was written.
    Lost,
}

/// The turn of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTurn {
    /// The run.
    pub claim: ClaimKey,
    /// The prompt, for the session of the run.
    pub message: NewMessage,
    /// Whether the session begins a new memory.
    pub session: SessionMode,
}

/// A line of the engine's own for the reader of a session; no agent reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Whose session it stands in.
    pub to: SessionKey,
    /// The session that is made where none is live there.
    pub fresh: SessionId,
    /// The line, or several. Foreign text in it is not sanitized yet.
    pub text: String,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionEnd {
    /// The run.
    pub claim: ClaimKey,
    /// How it ended.
    pub state: ExecutionState,
    /// Why, in one line, where it did not succeed; else what of its work was not done.
    pub why: Option<String>,
    /// Its output document, relative to the home.
    pub output: Option<String>,
    /// What is to be delivered, and what already is known of that.
    pub deliveries: Vec<Delivery>,
    /// The run of the engine, where its stop cut this one off.
    pub cut_with: Option<RunId>,
    /// When.
    pub at: Time,
}
