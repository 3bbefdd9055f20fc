//! Restart recovery: what a start decides, in one step of the store.
//!
//! [`last_exit`] says how the engine before ended, [`judge`] what becomes of each session,
//! [`boot_guard`] whether anything may be resumed by itself, and [`plan`] puts them together. What a
//! resumed agent is told stands in [`resume_message`], what became of a session in [`RecoveryState`].

mod aftermath;
mod boot_guard;
mod exit;
mod plan;
mod resume;
mod verdict;

use std::time::Duration;

pub use aftermath::*;
pub use boot_guard::*;
pub use exit::*;
pub use plan::*;
pub use resume::*;
pub use verdict::*;

use super::Time;

/// The limits of restart recovery, as they are configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long before the dead engine's last sign of life a session may have been active to be marked.
    pub recent: Duration,
    /// At how many starts in a row a session may be found cut off until it is suspended.
    pub max_cuts: u32,
    /// How old a mark may be to be resumed by itself.
    pub freshness: Duration,
    /// How many sessions are resumed at a time.
    pub max_parallel: usize,
    /// At which unclean start in a row nothing is resumed by itself.
    pub boot_guard_starts: u32,
    /// Starts are in a row if each is less than this after the one before.
    pub boot_guard_gap: Duration,
}

/// The age at `now` of something that was at `then`; where the clock was set back, none.
fn age(then: Time, now: Time) -> Duration {
    (now - then).to_std().unwrap_or_default()
}

#[cfg(test)]
mod given {
    //! What the tests of recovery share.

    use super::*;
    use crate::domain::id::{RunId, SessionId};

    pub(super) const LIMITS: Limits = Limits {
        recent: Duration::from_secs(120),
        max_cuts: 3,
        freshness: Duration::from_secs(3600),
        max_parallel: 4,
        boot_guard_starts: 5,
        boot_guard_gap: Duration::from_secs(300),
    };

    pub(super) fn at(second: i64) -> Time {
        Time::UNIX_EPOCH + chrono::TimeDelta::seconds(second)
    }

    pub(super) fn session(number: u32) -> SessionId {
        SessionId::new(at(0), number)
    }

    pub(super) fn run(name: &str) -> RunId {
        RunId(name.to_owned())
    }
}
