//! Scheduled tasks as a screen asks for them and changes them.

use chrono::{Datelike, Timelike};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::domain::Time;
use crate::domain::cron::document::Removed;
use crate::domain::cron::merge::Firing;
use crate::domain::cron::unreadable::Unreadable;
use crate::domain::cron::{Counting, Definition, Execution, Fault, JobId, Paused};
use crate::domain::id::ExecutionId;
use crate::domain::spending::Today;

/// A request to change a scheduled task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job_command", rename_all = "snake_case")]
pub enum JobCommand {
    /// Write a job to `jobs.json`: a new one, or another record in place of one.
    Save {
        /// The record's text as the edit found it; none: a new job.
        base: Option<String>,
        /// The job as it is to be.
        definition: Box<Definition>,
    },
    /// Take a job out of `jobs.json`; it can be put back.
    Remove {
        /// The job.
        job: JobId,
    },
    /// Put a job back that was taken out.
    PutBack {
        /// The record as it was taken out.
        removed: Box<Removed>,
    },
    /// Take no slot of a job until it is resumed.
    Pause {
        /// The job.
        job: JobId,
        /// Why, for whoever finds it.
        why: Option<String>,
    },
    /// Take a job's slots again.
    Resume {
        /// The job.
        job: JobId,
    },
    /// Run a job now, beside its slots.
    Run {
        /// The job.
        job: JobId,
        /// Whether it counts for the job's `repeat`.
        counting: Counting,
    },
    /// Stop a run.
    StopRun {
        /// The execution.
        execution: ExecutionId,
    },
    /// Write the stored copy over an unreadable `jobs.json`, which is kept beside it.
    TakeStoredCopy,
}

/// A question about scheduled tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job_query", rename_all = "snake_case")]
pub enum JobQuery {
    /// The jobs: those that need a person first, then by their next slot.
    List {
        /// Only those whose id, name or state contain it; empty for all.
        filter: String,
        /// At most so many.
        limit: usize,
    },
    /// One job with all that is known of it.
    Detail {
        /// An id, a unique prefix of one, or a name.
        job: String,
    },
    /// Executions, newest first.
    History {
        /// Only of this job.
        job: Option<JobId>,
        /// Only before this one.
        before: Option<ExecutionId>,
        /// At most so many.
        limit: usize,
    },
    /// The output document of a run.
    Output {
        /// The execution.
        execution: ExecutionId,
    },
    /// The slots and the executions of a span of time, by job.
    Timeline {
        /// From then on.
        from: Time,
        /// Until then.
        until: Time,
        /// At most so many jobs, and so many marks of each.
        limit: usize,
    },
    /// What an editor offers to pick from.
    Parts,
    /// What of its agent, its skills, its script and its folder a job names that is not there.
    Missing {
        /// The job; it need not be written yet.
        definition: Box<Definition>,
    },
    /// The file as it stands and the stored copy, to compare them.
    Compare,
}

/// An answer to a question about scheduled tasks, of the same name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job_answer", content = "value", rename_all = "snake_case")]
pub enum JobAnswer {
    /// To [`JobQuery::List`].
    List(Box<JobsPage>),
    /// To [`JobQuery::Detail`].
    Detail(Box<JobFound>),
    /// To [`JobQuery::History`].
    History(Vec<Execution>),
    /// To [`JobQuery::Output`]; none where the document is gone or was never written.
    Output(Option<String>),
    /// To [`JobQuery::Timeline`].
    Timeline(Vec<TimelineRow>),
    /// To [`JobQuery::Parts`].
    Parts(Box<Parts>),
    /// To [`JobQuery::Missing`].
    Missing(Vec<Fault>),
    /// To [`JobQuery::Compare`].
    Compare(Box<FileAndCopy>),
}

/// The jobs and how their file and their ticker stand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobsPage {
    /// The jobs.
    pub rows: Vec<JobRow>,
    /// How many match.
    pub hits: usize,
    /// How many there are.
    pub total: usize,
    /// The file.
    pub file: JobsFileState,
    /// The ticker.
    pub ticker: TickerState,
}

/// How `jobs.json` stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "file", rename_all = "snake_case")]
pub enum JobsFileState {
    /// There is none: no jobs.
    #[default]
    Missing,
    /// It was read.
    Read {
        /// When.
        at: Time,
    },
    /// It can't be read: the stored copy goes on firing, and nothing is written.
    Unreadable {
        /// Since when.
        since: Time,
        /// What is wrong, and where.
        trouble: FileTrouble,
        /// When the stored copy was read; none: there is none.
        stored_at: Option<Time>,
    },
}

/// What is wrong with an unreadable file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTrouble {
    /// The place, from 1: line and column; none where the file can't even be opened.
    pub place: Option<(usize, usize)>,
    /// What is wrong, in one line.
    pub why: String,
    /// Lines around the place, with their numbers.
    pub excerpt: Vec<(usize, String)>,
    /// What may help.
    pub hint: Option<String>,
}

impl From<&Unreadable> for FileTrouble {
    fn from(unreadable: &Unreadable) -> Self {
        let Unreadable { place, why, hint, excerpt, .. } = unreadable;
        Self {
            place: place.map(|place| (place.line, place.column)),
            why: why.clone(),
            excerpt: excerpt.iter().map(|line| (line.number, line.text.clone())).collect(),
            hint: hint.clone(),
        }
    }
}

/// How the ticker stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickerState {
    /// When it last looked at the jobs without an error.
    pub last_pass: Option<Time>,
    /// Its last error, and when.
    pub last_error: Option<(Time, String)>,
    /// The earliest slot that it waits for.
    pub next: Option<Time>,
}

/// A job in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobRow {
    /// Its id; none: its record has none that can be used.
    pub id: Option<JobId>,
    /// Its place among the records of the file, from 0.
    pub place: usize,
    /// What a person calls it: its name, else its id, else its place.
    pub name: String,
    /// How it stands.
    pub state: JobState,
    /// Since when no slot of it is taken, and why: it may fail, run or wait all the same.
    pub paused: Option<Paused>,
    /// Its schedule as typed.
    pub schedule: String,
    /// The same in words.
    pub words: String,
    /// Its zone.
    pub zone: String,
    /// Its next slot.
    pub next: Option<Time>,
    /// Since when it runs.
    pub running_since: Option<Time>,
    /// Its newest execution.
    pub last: Option<Execution>,
    /// Its newest run that ended with a result or an error.
    pub last_run: Option<Execution>,
    /// Failures in a row.
    pub failures: u32,
    /// How many runs are left of its `repeat`.
    pub runs_left: Option<u32>,
    /// How long its newest runs took, oldest first, in milliseconds: at most 12.
    pub durations: Vec<u64>,
    /// The jobs of its `context_from` that are not there.
    pub missing_sources: Vec<JobId>,
}

impl JobRow {
    /// The daily limit that its next run waits for, which has not begun.
    pub fn held(&self) -> Option<&str> {
        self.last.as_ref().and_then(Execution::held)
    }

    /// Why its runs fail, where its newest execution is no run, and so does not say it.
    pub fn failed_before(&self) -> Option<&str> {
        let run = self.last_run.as_ref().filter(|_| self.failures > 0)?;
        run.why.as_deref().filter(|_| self.last.as_ref().is_some_and(|last| last.id != run.id))
    }

    /// One of its slots on the clock of its zone: `Tue 1 Dec 02:30 CET`.
    pub fn slot_words(&self, at: Time, now: Time) -> String {
        slot_words(at, self.zone.parse().unwrap_or(Tz::UTC), now)
    }

    /// How it stands in words: `fails, paused`.
    pub fn state_words(&self) -> String {
        match (&self.state, &self.paused) {
            (JobState::RunsOn { .. }, _) => "removed, still runs".to_owned(),
            (JobState::Paused, _) | (_, None) => self.state.word().to_owned(),
            (state, Some(_)) => format!("{}, paused", state.word()),
        }
    }
}

/// A slot on the clock of a zone, with its day, its year where that is another, and the zone: `Tue 1 Dec 02:30 CET`.
pub fn slot_words(at: Time, zone: Tz, now: Time) -> String {
    let (local, now) = (at.with_timezone(&zone), now.with_timezone(&zone));
    let year = if local.year() == now.year() { "" } else { " %Y" };
    let seconds = if at.second() == 0 { "" } else { ":%S" };
    local.format(&format!("%a %-d %b{year} %H:%M{seconds} %Z")).to_string()
}

/// How a job stands, most urgent first; a list sorts by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum JobState {
    /// Its record can't be used.
    Error {
        /// What is wrong with it: field, value, and what is allowed.
        faults: Vec<String>,
    },
    /// It failed three times or more in a row.
    Flagged,
    /// It runs.
    Running,
    /// It fired and waits for a worker.
    Waiting,
    /// It waits for its next slot.
    Scheduled,
    /// It is paused, and that is all there is to say of it.
    Paused,
    /// All its runs are done.
    Completed {
        /// When.
        at: Time,
    },
    /// It is gone from the file, and a run of it goes on.
    RunsOn {
        /// Since when it is gone.
        at: Time,
    },
    /// It is gone from the file; its state is kept for a while.
    Vanished {
        /// When.
        at: Time,
    },
}

impl JobState {
    /// The word for filters (`state:paused`) and screens.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Error { .. } => "error",
            Self::Flagged => "fails",
            Self::Running | Self::RunsOn { .. } => "runs",
            Self::Waiting => "waits",
            Self::Scheduled => "scheduled",
            Self::Paused => "paused",
            Self::Completed { .. } => "completed",
            Self::Vanished { .. } => "vanished",
        }
    }

    /// Its place in a list: lower is shown first.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Error { .. } => 0,
            Self::Flagged => 1,
            Self::Vanished { .. } => 2,
            Self::Running | Self::RunsOn { .. } => 3,
            Self::Waiting => 4,
            Self::Scheduled => 5,
            Self::Paused => 6,
            Self::Completed { .. } => 7,
        }
    }
}

/// What a name of a job led to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "found", rename_all = "snake_case")]
pub enum JobFound {
    /// One job.
    One(Box<JobDetail>),
    /// None.
    None,
    /// Several: their ids.
    Several {
        /// The candidates.
        candidates: Vec<JobId>,
    },
}

/// One job with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobDetail {
    /// Its row.
    pub row: JobRow,
    /// The job as it is written; none: its record can't be used.
    pub definition: Option<Box<Definition>>,
    /// Its record's text, as it stands in the file.
    pub record: String,
    /// Its next five slots.
    pub next: Vec<Time>,
    /// What to know about its schedule, in words.
    pub warnings: Vec<String>,
    /// Its newest executions, newest first: at most 50.
    pub history: Vec<Execution>,
    /// What is used today of the limits that count for it; none where nothing is limited.
    #[serde(default)]
    pub today: Option<Today>,
}

/// A job in a timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimelineRow {
    /// The job.
    pub job: JobId,
    /// What a person calls it.
    pub name: String,
    /// How it stands.
    pub state: JobState,
    /// Whether its slots are taken when they come.
    pub firing: Firing,
    /// Its slots in the span that are still to come.
    pub slots: Vec<Time>,
    /// Its executions in the span, oldest first: when they were taken, and how they stand.
    pub past: Vec<(Time, crate::domain::cron::ExecutionState)>,
}

/// What an editor offers to pick from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// The skills in `skills/`: name and description.
    pub skills: Vec<(String, String)>,
    /// The scripts in `scripts/`, relative to it.
    pub scripts: Vec<String>,
    /// The agents of the settings: name and label.
    #[serde(default)]
    pub agents: Vec<(String, String)>,
    /// Delivery targets: the text form, and what is to be known of each.
    pub targets: Vec<(String, String)>,
    /// The zone of jobs that name none.
    pub zone: String,
}

/// `jobs.json` as it stands, and the stored copy as it would be written in its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAndCopy {
    /// The file's text; what is no UTF-8 in it is replaced. None: it can't be opened.
    pub file: Option<String>,
    /// The stored copy; none: there is none.
    pub stored: Option<String>,
}
