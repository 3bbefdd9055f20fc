//! Executions: the one record of what became of each slot, and of each "run now".

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use super::{JobId, Target};
use crate::domain::Time;
use crate::domain::id::{ExecutionId, RunId, SessionId, TurnId};
use crate::domain::process::ProcessIdentity;

/// The record of one fire of a job, or of slots that were not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// Its number.
    pub id: ExecutionId,
    /// The job.
    pub job: JobId,
    /// The slots that it stands for; none: an operator ran the job now.
    pub slots: Option<Slots>,
    /// How it came to be.
    pub how: How,
    /// How it stands.
    pub state: ExecutionState,
    /// When the fire was taken, or the slots were given up.
    pub taken_at: Time,
    /// When its run began.
    pub began_at: Option<Time>,
    /// When it ended.
    pub ended_at: Option<Time>,
    /// Why it stands as it does, in one line: why it failed, was skipped, waits; of one that ended with a result, what
    /// of its work was not done.
    pub why: Option<String>,
    /// Which try at beginning it is, from 1. A fire whose run never began is restored once.
    pub attempt: u32,
    /// Who runs it.
    pub claim: Option<Claim>,
    /// The session of its run.
    pub session: Option<SessionId>,
    /// The turn of its run; a run without an agent has none.
    pub turn: Option<TurnId>,
    /// Its output document, relative to the home.
    pub output: Option<String>,
    /// What became of its result, one a target.
    pub deliveries: Vec<Delivery>,
    /// The run of the engine with which it was cut off.
    pub cut_with: Option<RunId>,
}

impl Execution {
    /// The daily limit that it waits for, while it has not begun.
    pub fn held(&self) -> Option<&str> {
        self.why.as_deref().filter(|_| self.state == ExecutionState::Waiting)
    }

    /// What of its work was not done, though it ended with a result.
    pub fn undone(&self) -> Option<&str> {
        self.why.as_deref().filter(|_| self.state == ExecutionState::Succeeded)
    }

    /// How long its run took, or has taken until `now`; none before it began.
    pub fn took(&self, now: Time) -> Option<TimeDelta> {
        Some((self.ended_at.unwrap_or(now) - self.began_at?).max(TimeDelta::zero()))
    }

    /// How it stands, in a few words: `ok, 1 min 12 s`, `failed, 3 s: exit 2`, `skipped 4 slots: paused`.
    pub fn words(&self, now: Time) -> String {
        let mut words = self.state.word().to_owned();
        match self.how {
            _ if matches!(self.state, ExecutionState::Skipped | ExecutionState::Missed) => {}
            How::Late => words.push_str(", late"),
            How::CatchUp => words.push_str(", to catch up"),
            How::RunNow => words.push_str(", run now"),
            How::OnTime => {}
        }
        if let Some(slots) = self.slots.filter(|slots| slots.count > 1) {
            words.push_str(&format!(" {} slots", slots.count));
        }
        if let Some(took) = self.took(now) {
            words.push_str(&format!(", {}", crate::domain::took::took(took)));
        }
        if let Some(why) = &self.why {
            words.push_str(&format!(": {why}"));
        }
        words
    }
}

/// Slots in a row: one, or those that one run or one refusal stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slots {
    /// The first.
    pub first: Time,
    /// The last; the same for one slot.
    pub last: Time,
    /// How many.
    pub count: u32,
}

impl Slots {
    /// One slot.
    pub fn one(slot: Time) -> Self {
        Self { first: slot, last: slot, count: 1 }
    }
}

/// How an execution came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Its slot was due.
    OnTime,
    /// Its slot had passed, by no more than the grace.
    Late,
    /// One run for all slots that had passed.
    CatchUp,
    /// An operator asked for it: no slot moves.
    RunNow,
}

/// Whether a run that an operator asked for counts for the job's `repeat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// It is one of them.
    Counts,
    /// It is beside them.
    Beside,
}

/// How an execution stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionState {
    /// Its slot is taken; it waits for a worker.
    Waiting,
    /// A worker has it, and has not begun.
    Claimed,
    /// Its run goes on.
    Running,
    /// It ended with a result.
    Succeeded,
    /// It ended with an error.
    Failed,
    /// It was stopped: no progress for too long, or too long in all.
    TimedOut,
    /// It was cut off before it ended.
    Interrupted,
    /// Nobody knows how far it came.
    Unknown,
    /// Its slots were not run, by a rule.
    Skipped,
    /// Its slot passed too long ago to be run at all.
    Missed,
    /// Something that the job needs is not there: no agent was asked.
    BlockedConfig,
}

impl ExecutionState {
    /// Every state, in the order of a life.
    pub const ALL: [Self; 11] = [
        Self::Waiting,
        Self::Claimed,
        Self::Running,
        Self::Succeeded,
        Self::Failed,
        Self::TimedOut,
        Self::Interrupted,
        Self::Unknown,
        Self::Skipped,
        Self::Missed,
        Self::BlockedConfig,
    ];

    /// The word in the store and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Claimed => "claimed",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
            Self::Unknown => "unknown",
            Self::Skipped => "skipped",
            Self::Missed => "missed",
            Self::BlockedConfig => "blocked_config",
        }
    }

    /// The word on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waits",
            Self::Claimed => "begins",
            Self::Running => "runs",
            Self::Succeeded => "ok",
            Self::TimedOut => "timed out",
            Self::BlockedConfig => "blocked",
            Self::Failed | Self::Interrupted | Self::Unknown | Self::Skipped | Self::Missed => self.as_str(),
        }
    }

    /// Whether it stands for slots that no run was made of.
    pub fn was_not_run(self) -> bool {
        matches!(self, Self::Skipped | Self::Missed)
    }

    /// Whether nothing more will happen to it.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Claimed | Self::Running)
    }

    /// What it says of the job's health: whether a run failed, or worked. Slots that were not run, and runs
    /// that were cut off with the engine, say nothing.
    pub fn verdict(self) -> Option<RunVerdict> {
        match self {
            Self::Succeeded => Some(RunVerdict::Worked),
            Self::Failed | Self::TimedOut | Self::BlockedConfig => Some(RunVerdict::Failed),
            Self::Waiting
            | Self::Claimed
            | Self::Running
            | Self::Interrupted
            | Self::Unknown
            | Self::Skipped
            | Self::Missed => None,
        }
    }
}

/// What a run says of its job's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunVerdict {
    /// The streak of failures ends.
    Worked,
    /// The streak of failures grows.
    Failed,
}

impl fmt::Display for ExecutionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ExecutionState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| format!("{text:?} is no state of an execution"))
    }
}

/// How long a claim counts without a renewal.
pub const CLAIM_LIFE: TimeDelta = TimeDelta::seconds(300);

/// The expiring record of who runs an execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Who.
    pub owner: Owner,
    /// What its writes carry: a later claim has another one, and those of this one are dropped then.
    pub token: String,
    /// When it was taken.
    pub since: Time,
    /// When it was last renewed.
    pub beat_at: Time,
    /// Until when it counts without a renewal.
    pub expires_at: Time,
}

impl Claim {
    /// `run 20261129_031204-1f2e3d4c, pid 4121 on anvil`.
    pub fn holder(&self) -> String {
        let Owner { run, host, process } = &self.owner;
        format!("run {run}, pid {} on {host}", process.pid)
    }
}

/// An engine's process, as others may have to find out whether it lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The engine's run.
    pub run: RunId,
    /// The host that it runs on.
    pub host: String,
    /// Its process there.
    pub process: ProcessIdentity,
}

/// The one claim that a write belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClaimKey {
    /// The execution.
    pub execution: ExecutionId,
    /// The claim's token.
    pub token: String,
}

/// What became of a result at one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Where to.
    pub target: Target,
    /// How it stands.
    pub state: DeliveryState,
    /// Since when.
    pub at: Time,
    /// Why, where it is not delivered.
    pub why: Option<String>,
}

/// How a delivery stands. It is not the run's status: a run may succeed and not be delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is still to be made.
    Pending,
    /// It was made.
    Delivered,
    /// The run said `[SILENT]`.
    Suppressed,
    /// The target is not set up here: the text is kept in the output document.
    NotConfigured,
    /// It could not be made.
    Failed,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Delivered, Self::Suppressed, Self::NotConfigured, Self::Failed];

    /// The word in the store and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Suppressed => "suppressed",
            Self::NotConfigured => "not_configured",
            Self::Failed => "failed",
        }
    }
}

impl FromStr for DeliveryState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| format!("{text:?} is no state of a delivery"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution(state: ExecutionState, how: How) -> Execution {
        Execution {
            id: ExecutionId(1),
            job: "a".parse().unwrap(),
            slots: Some(Slots::one(Time::UNIX_EPOCH)),
            how,
            state,
            taken_at: Time::UNIX_EPOCH,
            began_at: None,
            ended_at: None,
            why: None,
            attempt: 1,
            claim: None,
            session: None,
            turn: None,
            output: None,
            deliveries: Vec::new(),
            cut_with: None,
        }
    }

    #[test]
    fn an_execution_says_how_it_stands_in_a_few_words() {
        let at = |seconds| Time::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let waits = execution(ExecutionState::Waiting, How::OnTime);
        assert_eq!(waits.words(at(9)), "waits");
        let runs = Execution { began_at: Some(at(1)), ..execution(ExecutionState::Running, How::Late) };
        assert_eq!(runs.words(at(73)), "runs, late, 1 min 12 s");
        let failed = Execution {
            began_at: Some(at(1)),
            ended_at: Some(at(4)),
            why: Some("exit 2".to_owned()),
            ..execution(ExecutionState::Failed, How::RunNow)
        };
        assert_eq!(failed.words(at(99)), "failed, run now, 3.0 s: exit 2");
        let range = Slots { count: 4, ..Slots::one(at(0)) };
        let skipped = Execution {
            slots: Some(range),
            why: Some("paused".to_owned()),
            ..execution(ExecutionState::Skipped, How::OnTime)
        };
        assert_eq!(skipped.words(at(9)), "skipped 4 slots: paused");
    }

    #[test]
    fn only_runs_that_ended_by_themselves_say_something_of_a_jobs_health() {
        use ExecutionState::{
            BlockedConfig, Failed, Interrupted, Missed, Skipped, Succeeded, TimedOut, Unknown,
        };
        assert_eq!(Succeeded.verdict(), Some(RunVerdict::Worked));
        for failed in [Failed, TimedOut, BlockedConfig] {
            assert_eq!(failed.verdict(), Some(RunVerdict::Failed), "{failed}");
        }
        for neither in [Interrupted, Unknown, Skipped, Missed] {
            assert_eq!((neither.verdict(), neither.is_over()), (None, true), "{neither}");
        }
    }

    #[test]
    fn states_are_kept_as_words_and_read_back() {
        for state in ExecutionState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        for state in DeliveryState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
    }
}
