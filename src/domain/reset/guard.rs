//! What stands against a reset.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::Time;
use crate::domain::marker::Marker;
use crate::domain::recovery::Freshness;

/// What is known of a session's background work. *A session with active background work is never
/// reset*, and the guard fails closed: when it can't tell, it counts as active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "background", rename_all = "snake_case")]
pub enum Background {
    /// There is none.
    None,
    /// Something works.
    Active {
        /// What.
        work: Vec<Work>,
    },
    /// Nobody can tell.
    Unknown {
        /// Why not, in one line.
        why: String,
    },
}

impl Background {
    /// What of it stands against a reset at `now`. Work older than `max_age` doesn't; it is not killed.
    pub(super) fn blocker(&self, max_age: Option<Duration>, now: Time) -> Option<Blocker> {
        match self {
            Self::None => None,
            Self::Active { work } => {
                let blocking: Vec<Work> =
                    work.iter().filter(|work| !work.is_older_than(max_age, now)).cloned().collect();
                (!blocking.is_empty()).then_some(Blocker::Background { work: blocking })
            }
            Self::Unknown { why } => Some(Blocker::Unknown { why: why.clone() }),
        }
    }
}

/// Something that works in the background of a session, as a process that a tool has started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// What a person recognises it by, in one line.
    pub what: String,
    /// When it began.
    pub since: Time,
}

impl Work {
    fn is_older_than(&self, max_age: Option<Duration>, now: Time) -> bool {
        // A beginning that lies in the future, by a clock set back, is no age.
        max_age.is_some_and(|max| (now - self.since).to_std().is_ok_and(|age| age > max))
    }
}

/// What a session carries from an earlier life of the engine, as the reset rules see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// There is none.
    None,
    /// It will be resumed: blocks time policies.
    Fresh,
    /// Too old to be resumed by itself: the policy decides.
    Stale,
    /// The session was given up: its next message starts anew, whatever the policy says.
    Suspended,
}

impl Mark {
    /// The mark of a session; one for resume is fresh up to the age `freshness`.
    pub fn of(marker: Option<Marker>, freshness: Duration, now: Time) -> Self {
        match marker {
            None => Self::None,
            Some(Marker::Suspended(_)) => Self::Suspended,
            Some(Marker::ResumePending(mark)) => match Freshness::of(&mark, freshness, now) {
                Freshness::Fresh => Self::Fresh,
                Freshness::Stale => Self::Stale,
            },
        }
    }
}

/// Whether a turn of the session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnNow {
    /// None.
    None,
    /// One does: it is never cut by a policy.
    Running,
}

/// What stands against a reset that is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "blocker", rename_all = "snake_case")]
pub enum Blocker {
    /// A running turn.
    RunningTurn,
    /// A fresh mark: the turn that was cut off will be resumed.
    ResumePending,
    /// Background work, each that is young enough to block.
    Background {
        /// What works; never empty.
        work: Vec<Work>,
    },
    /// Nobody can tell whether there is background work.
    Unknown {
        /// Why not, in one line.
        why: String,
    },
}
