//! Where the engine's time comes from.

use std::time::Duration;

use chrono::{SubsecRound, Utc};

use crate::domain::Time;

/// The wall clock may jump: a wait for one of its instants looks at it again after this long.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// What the store could not keep is tried again after this long.
pub(super) const TRY_AGAIN: Duration = Duration::from_secs(5);

/// The wall clock, injected so that a test can hold it.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Time;
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        // What is told at once is what is read back later.
        Utc::now().trunc_subsecs(3)
    }
}
