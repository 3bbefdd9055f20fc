//! What became of a session that a start looked at.

use serde::{Deserialize, Serialize};

use crate::domain::Time;
use crate::domain::id::TurnId;
use crate::domain::marker::{Clearing, Marker};
use crate::domain::session::HoldReason;
use crate::domain::turn::{Outcome, StopCause};

/// How a session that a start looked at stands now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RecoveryState {
    /// It waits until fewer sessions are resumed at once, or until turns may begin.
    Waits,
    /// The turn that goes on with what was cut off runs.
    Resuming {
        /// The turn.
        turn: TurnId,
        /// Since when.
        since: Time,
    },
    /// Another turn of it runs: its answer clears the mark.
    Runs {
        /// The turn.
        turn: TurnId,
        /// Since when.
        since: Time,
    },
    /// The turn that went on ended without an answer; nothing is tried again by itself before the next start.
    Failed {
        /// The turn.
        turn: TurnId,
        /// How it ended.
        outcome: Outcome,
    },
    /// It was marked after the start, by a drain: the next start resumes it.
    NextStart {
        /// Until when the mark is young enough for that.
        until: Time,
    },
    /// The mark is too old to be resumed by itself.
    Stale,
    /// The boot guard holds it for this start.
    HeldByBootGuard,
    /// It was given up: its next message starts anew.
    GivenUp,
    /// Its marker is gone.
    Cleared {
        /// By what.
        by: Clearing,
        /// When.
        at: Time,
    },
    /// A later start decided anew.
    DecidedAnew,
}

/// What a store knows of a session that a start looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Aftermath {
    /// The turn that went on with what was cut off, and how it ended; nothing is read from that while it runs.
    pub resume: Option<(TurnId, Outcome)>,
    /// The turn that runs in it now, and since when.
    pub running: Option<(TurnId, Time)>,
    /// What took its marker away, and when; without a clearing a later start decided anew.
    pub ended: Option<(Option<Clearing>, Time)>,
    /// Its marker now.
    pub marker: Option<Marker>,
    /// Whether it has a place among those that are resumed by themselves.
    pub due: Due,
    /// Why its queue stands still.
    pub hold: Option<HoldReason>,
    /// Until when its mark is young enough to be resumed, if no start has judged it yet.
    pub unjudged_until: Option<Time>,
}

/// Whether a session is resumed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// As soon as others have made room.
    Yes,
    /// Not before the next start.
    No,
}

impl RecoveryState {
    /// Decides it from the facts of a session that was marked, given up, or found to owe nothing.
    pub fn of(facts: &Aftermath) -> Self {
        match facts.ended {
            Some((Some(by), at)) => return Self::Cleared { by, at },
            Some((None, _)) => return Self::DecidedAnew,
            None => {}
        }
        if matches!(facts.marker, Some(Marker::Suspended(_))) {
            return Self::GivenUp;
        }
        match (&facts.resume, facts.running) {
            (Some((resume, _)), Some((turn, since))) if *resume == turn => Self::Resuming { turn, since },
            (_, Some((turn, since))) => Self::Runs { turn, since },
            (_, None) if facts.due == Due::Yes => Self::Waits,
            (Some((turn, outcome)), None) => Self::Failed { turn: *turn, outcome: outcome.clone() },
            (None, None) if facts.hold == Some(HoldReason::BootGuard) => Self::HeldByBootGuard,
            (None, None) => facts.unjudged_until.map_or(Self::Stale, |until| Self::NextStart { until }),
        }
    }

    /// The state at `now`: a mark that waits for the next start may have grown too old.
    pub fn at(self, now: Time) -> Self {
        match self {
            Self::NextStart { until } if until < now => Self::Stale,
            state => state,
        }
    }

    /// Whether it needs a person: nothing happens by itself here before the next start.
    pub fn needs_a_person(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Stale | Self::HeldByBootGuard | Self::GivenUp)
    }

    /// The state in a few words.
    pub fn words(&self) -> String {
        match self {
            Self::Waits => "waits for its turn".to_owned(),
            Self::Resuming { .. } => "resumes".to_owned(),
            Self::Runs { .. } => "a turn runs".to_owned(),
            Self::Failed { outcome: Outcome::Failed { error }, .. } => format!("failed: {error}"),
            Self::Failed { outcome: Outcome::Interrupted { cause }, .. } => match cause {
                StopCause::Crash | StopCause::Shutdown => format!("cut again: {}", cause.words()),
                _ => cause.words().to_owned(),
            },
            Self::Failed { outcome: Outcome::Done, .. } => "ended".to_owned(),
            Self::NextStart { .. } => "the next start resumes it".to_owned(),
            Self::Stale => "too old to go on by itself".to_owned(),
            Self::HeldByBootGuard => "held by the boot guard".to_owned(),
            Self::GivenUp => "suspended".to_owned(),
            Self::Cleared { by: Clearing::Answered, .. } => "answered".to_owned(),
            Self::Cleared { by: Clearing::NothingOwed, .. } => "left as it is".to_owned(),
            Self::Cleared { by, .. } => format!("cleared: {}", by.words()),
            Self::DecidedAnew => "a later start decided anew".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::given::at;
    use super::*;
    use crate::domain::marker::{ResumePending, ResumeReason, SuspendReason, Suspended};

    fn marked() -> Aftermath {
        let mark = ResumePending { reason: ResumeReason::RestartInterrupted, since: at(0) };
        Aftermath {
            resume: None,
            running: None,
            ended: None,
            marker: Some(Marker::ResumePending(mark)),
            due: Due::No,
            hold: None,
            unjudged_until: None,
        }
    }

    #[test]
    fn a_marked_session_waits_goes_on_fails_or_stands_still_and_the_state_says_which() {
        let failed = Outcome::Failed { error: "no answer".to_owned() };
        let (resume, running) = (Some((TurnId(4), failed.clone())), Some((TurnId(4), at(1))));
        let other = Some((TurnId(5), at(1)));
        let table = [
            (Aftermath { due: Due::Yes, ..marked() }, RecoveryState::Waits),
            (
                Aftermath { resume: resume.clone(), running, ..marked() },
                RecoveryState::Resuming { turn: TurnId(4), since: at(1) },
            ),
            (
                Aftermath { resume: resume.clone(), running: other, ..marked() },
                RecoveryState::Runs { turn: TurnId(5), since: at(1) },
            ),
            (Aftermath { running: other, ..marked() }, RecoveryState::Runs { turn: TurnId(5), since: at(1) }),
            (
                Aftermath { resume: resume.clone(), ..marked() },
                RecoveryState::Failed { turn: TurnId(4), outcome: failed },
            ),
            (Aftermath { due: Due::Yes, resume, ..marked() }, RecoveryState::Waits),
            (Aftermath { hold: Some(HoldReason::BootGuard), ..marked() }, RecoveryState::HeldByBootGuard),
            (Aftermath { hold: Some(HoldReason::Stopped), ..marked() }, RecoveryState::Stale),
            (marked(), RecoveryState::Stale),
        ];
        for (facts, state) in table {
            assert_eq!(RecoveryState::of(&facts), state, "{facts:?}");
        }
    }

    #[test]
    fn what_a_drain_marked_is_resumed_by_the_next_start_while_the_mark_is_young() {
        let state = RecoveryState::of(&Aftermath { unjudged_until: Some(at(60)), ..marked() });
        assert_eq!(state, RecoveryState::NextStart { until: at(60) });
        assert!(!state.needs_a_person());
        assert_eq!(state.clone().at(at(60)), state);
        assert_eq!(state.at(at(61)), RecoveryState::Stale);
    }

    #[test]
    fn what_cleared_the_marker_is_told_whatever_the_session_carries_since() {
        let by = Clearing::Answered;
        let facts = Aftermath { ended: Some((Some(by), at(9))), ..marked() };
        assert_eq!(RecoveryState::of(&facts), RecoveryState::Cleared { by, at: at(9) });
        let facts = Aftermath { ended: Some((None, at(9))), ..marked() };
        assert_eq!(RecoveryState::of(&facts), RecoveryState::DecidedAnew);
    }

    #[test]
    fn suspended_wins_also_over_the_turn_that_is_being_stopped() {
        let suspended = Suspended { reason: SuspendReason::Operator, since: at(2) };
        let marker = Some(Marker::Suspended(suspended));
        let facts = Aftermath { marker, running: Some((TurnId(4), at(1))), ..marked() };
        assert_eq!(RecoveryState::of(&facts), RecoveryState::GivenUp);
    }
}
