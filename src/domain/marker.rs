//! Markers: what a session carries from one life of the engine to the next.
//!
//! A session is marked to continue by itself, or it is given up, and never both. *Suspended wins*:
//! marking for resume never touches a suspended session. Looking a session up never clears a marker;
//! what does is the table in [`Marker::cleared_by`].

use serde::{Deserialize, Serialize};

use super::Time;

/// What a session carries over restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "marker", rename_all = "snake_case")]
pub enum Marker {
    /// It was cut off and continues by itself, with the same id and history.
    ResumePending(ResumePending),
    /// It was given up: the next message starts a new session id.
    Suspended(Suspended),
}

/// A session that was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumePending {
    /// By what.
    pub reason: ResumeReason,
    /// When it was marked; a cut of a later turn moves it.
    pub since: Time,
}

impl ResumePending {
    /// Whether a drain made it while a turn ran that began then: only if that turn is cut, it goes on.
    pub fn awaits_drain_of(&self, turn_began: Time) -> bool {
        self.reason != ResumeReason::RestartInterrupted && self.since >= turn_began
    }
}

/// What cut a session off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeReason {
    /// A crash, a kill or a power loss.
    RestartInterrupted,
    /// A stop whose drain ended.
    ShutdownTimeout,
    /// A restart whose drain ended.
    RestartTimeout,
}

/// A session that was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspended {
    /// Why.
    pub reason: SuspendReason,
    /// Since when.
    pub since: Time,
}

/// Why a session was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspendReason {
    /// It was cut off at too many starts in a row without a successful answer.
    StuckLoop,
    /// The operator gave it up.
    Operator,
}

/// Something that may clear a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clearing {
    /// A turn of the session ended with a successful answer, whoever asked.
    Answered,
    /// The session's last message is a finished answer already, or a person ended its last turn or
    /// took it back.
    NothingOwed,
    /// The turn finished within the drain.
    FinishedInDrain,
    /// The stop that had marked it was called off while the turn still ran.
    CalledOff,
    /// `/stop`.
    Stop,
    /// `/new`.
    New,
    /// `/reset`.
    Reset,
    /// A reset by policy.
    ResetByPolicy,
    /// The session is given up.
    Suspension,
    /// A message to a suspended session starts a new session id.
    NextMessage,
    /// `/unsuspend`.
    Unsuspend,
}

impl Marker {
    /// The marker of a session that is marked for resume: suspended wins, and a mark that exists
    /// keeps its reason and time.
    pub fn for_resume(now: Option<Self>, reason: ResumeReason, at: Time) -> Self {
        now.unwrap_or(Self::ResumePending(ResumePending { reason, since: at }))
    }

    /// The marker of a session that is given up: a mark for resume goes, an earlier suspension stays.
    pub fn for_suspension(now: Option<Self>, reason: SuspendReason, at: Time) -> Self {
        match now {
            Some(Self::Suspended(earlier)) => Self::Suspended(earlier),
            _ => Self::Suspended(Suspended { reason, since: at }),
        }
    }

    /// What is left of this marker after something that may clear it.
    pub fn after(self, what: Clearing) -> Option<Self> {
        (!self.cleared_by(what)).then_some(self)
    }

    /// Whether this marker is cleared by that.
    pub fn cleared_by(self, what: Clearing) -> bool {
        match what {
            Clearing::Answered
            | Clearing::NothingOwed
            | Clearing::FinishedInDrain
            | Clearing::CalledOff
            | Clearing::Stop
            | Clearing::Suspension => matches!(self, Self::ResumePending(_)),
            // The key gets a new session id, which carries nothing.
            Clearing::New | Clearing::Reset | Clearing::ResetByPolicy => true,
            Clearing::NextMessage | Clearing::Unsuspend => matches!(self, Self::Suspended(_)),
        }
    }

    /// Since when the session carries it.
    pub fn since(self) -> Time {
        match self {
            Self::ResumePending(mark) => mark.since,
            Self::Suspended(suspended) => suspended.since,
        }
    }

    /// The marker as it is shown, with its reason, the attempts of so many, and what comes next.
    pub fn words(self, cuts: u32, max_cuts: u32) -> String {
        match self {
            Self::ResumePending(mark) => {
                format!("resume pending: {}, attempts {cuts}/{max_cuts}", mark.reason.words())
            }
            Self::Suspended(Suspended { reason: SuspendReason::StuckLoop, .. }) => {
                let why = SuspendReason::StuckLoop.words();
                format!(
                    "suspended: {why}, attempts {cuts}/{max_cuts}; the next message starts anew, /unsuspend lifts it"
                )
            }
            Self::Suspended(Suspended { reason: SuspendReason::Operator, .. }) => {
                let why = SuspendReason::Operator.words();
                format!("suspended: {why}; the next message starts anew, /unsuspend lifts it")
            }
        }
    }
}

impl ResumeReason {
    /// Every reason.
    pub const ALL: [Self; 3] = [Self::RestartInterrupted, Self::ShutdownTimeout, Self::RestartTimeout];

    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RestartInterrupted => "restart_interrupted",
            Self::ShutdownTimeout => "shutdown_timeout",
            Self::RestartTimeout => "restart_timeout",
        }
    }

    /// The reason in a word or two, for a column.
    pub fn short(self) -> &'static str {
        match self {
            Self::RestartInterrupted => "crash",
            Self::ShutdownTimeout => "stop",
            Self::RestartTimeout => "restart",
        }
    }

    /// What did it: `cut off by …`.
    pub fn by(self) -> &'static str {
        match self {
            Self::RestartInterrupted => "a crash",
            Self::ShutdownTimeout => "a stop",
            Self::RestartTimeout => "a restart",
        }
    }

    /// The reason as it is shown.
    pub fn words(self) -> &'static str {
        match self {
            Self::RestartInterrupted => "cut off when the engine died",
            Self::ShutdownTimeout => "cut off at the end of a stop's drain",
            Self::RestartTimeout => "cut off at the end of a restart's drain",
        }
    }
}

impl SuspendReason {
    /// Every reason.
    pub const ALL: [Self; 2] = [Self::StuckLoop, Self::Operator];

    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StuckLoop => "stuck_loop",
            Self::Operator => "operator",
        }
    }

    /// The reason in a word, for a column.
    pub fn short(self) -> &'static str {
        match self {
            Self::StuckLoop => "stuck",
            Self::Operator => "operator",
        }
    }

    /// The reason as it is shown.
    pub fn words(self) -> &'static str {
        match self {
            Self::StuckLoop => "cut off at one start after another without a successful answer",
            Self::Operator => "given up by the operator",
        }
    }
}

impl Clearing {
    /// Every one.
    pub const ALL: [Self; 11] = [
        Self::Answered,
        Self::NothingOwed,
        Self::FinishedInDrain,
        Self::CalledOff,
        Self::Stop,
        Self::New,
        Self::Reset,
        Self::ResetByPolicy,
        Self::Suspension,
        Self::NextMessage,
        Self::Unsuspend,
    ];

    /// Why a marker was cleared, as it is shown.
    pub fn words(self) -> &'static str {
        match self {
            Self::Answered => "a turn ended with a successful answer",
            Self::NothingOwed => {
                "nothing is owed: the last turn was answered, failed, or was ended by a person"
            }
            Self::FinishedInDrain => "finished within the drain",
            Self::CalledOff => "the stop was called off",
            Self::Stop => "/stop",
            Self::New => "/new",
            Self::Reset => "/reset",
            Self::ResetByPolicy => "reset by policy",
            Self::Suspension => "given up",
            Self::NextMessage => "a message started a new session",
            Self::Unsuspend => "/unsuspend",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Clearing::*;

    fn at(second: i64) -> Time {
        Time::UNIX_EPOCH + chrono::TimeDelta::seconds(second)
    }

    fn pending(reason: ResumeReason) -> Marker {
        Marker::ResumePending(ResumePending { reason, since: at(1) })
    }

    fn suspended(reason: SuspendReason) -> Marker {
        Marker::Suspended(Suspended { reason, since: at(1) })
    }

    #[test]
    fn suspended_wins_and_a_mark_that_exists_keeps_its_reason_and_time() {
        for reason in ResumeReason::ALL {
            assert_eq!(
                Marker::for_resume(None, reason, at(2)),
                Marker::ResumePending(ResumePending { reason, since: at(2) })
            );
            for kept in ResumeReason::ALL.map(pending).into_iter().chain(SuspendReason::ALL.map(suspended)) {
                assert_eq!(Marker::for_resume(Some(kept), reason, at(2)), kept);
            }
        }
    }

    #[test]
    fn giving_up_replaces_a_mark_for_resume_and_keeps_an_earlier_suspension() {
        let given_up = Marker::Suspended(Suspended { reason: SuspendReason::Operator, since: at(2) });
        let mark = pending(ResumeReason::ShutdownTimeout);
        assert_eq!(Marker::for_suspension(None, SuspendReason::Operator, at(2)), given_up);
        assert_eq!(Marker::for_suspension(Some(mark), SuspendReason::Operator, at(2)), given_up);
        let stuck = suspended(SuspendReason::StuckLoop);
        assert_eq!(Marker::for_suspension(Some(stuck), SuspendReason::Operator, at(2)), stuck);
    }

    #[test]
    fn each_marker_is_cleared_by_what_its_table_says_and_nothing_else() {
        let resume =
            [Answered, NothingOwed, FinishedInDrain, CalledOff, Stop, New, Reset, ResetByPolicy, Suspension];
        let lifted = [New, Reset, ResetByPolicy, NextMessage, Unsuspend];
        for what in Clearing::ALL {
            for mark in ResumeReason::ALL.map(pending) {
                assert_eq!(mark.after(what).is_none(), resume.contains(&what), "{mark:?} {what:?}");
            }
            for mark in SuspendReason::ALL.map(suspended) {
                assert_eq!(mark.after(what).is_none(), lifted.contains(&what), "{mark:?} {what:?}");
            }
        }
    }

    #[test]
    fn a_marker_is_told_with_its_reason_and_attempts() {
        assert_eq!(
            pending(ResumeReason::RestartInterrupted).words(2, 3),
            "resume pending: cut off when the engine died, attempts 2/3"
        );
        assert_eq!(
            suspended(SuspendReason::StuckLoop).words(3, 3),
            "suspended: cut off at one start after another without a successful answer, attempts 3/3; \
             the next message starts anew, /unsuspend lifts it"
        );
        assert_eq!(
            suspended(SuspendReason::Operator).words(0, 3),
            "suspended: given up by the operator; the next message starts anew, /unsuspend lifts it"
        );
    }

    #[test]
    fn the_words_in_files_are_the_words_of_the_manual() {
        for reason in ResumeReason::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
            let text = serde_json::to_string(&pending(reason)).unwrap();
            assert_eq!(
                text,
                format!(
                    r#"{{"marker":"resume_pending","reason":"{}","since":"1970-01-01T00:00:01Z"}}"#,
                    reason.as_str()
                )
            );
            assert_eq!(serde_json::from_str::<Marker>(&text).unwrap(), pending(reason));
        }
        for reason in SuspendReason::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
            let text = serde_json::to_string(&suspended(reason)).unwrap();
            assert_eq!(serde_json::from_str::<Marker>(&text).unwrap(), suspended(reason));
        }
    }
}
