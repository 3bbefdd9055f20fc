//! The timers that the state asked for.

use std::collections::HashMap;
use std::time::Instant;

use chrono::Utc;

use crate::console::app::msg::Timer;
use crate::domain::Time;

/// Each timer with when it is due. A later one of the same timer takes the place of the earlier.
#[derive(Debug, Default)]
pub(super) struct Timers(HashMap<Timer, Instant>);

impl Timers {
    /// Sets a timer.
    pub(super) fn set(&mut self, timer: Timer, at: Time) {
        self.0.insert(timer, instant(at));
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.values().min().copied()
    }

    /// Takes those that are due.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Timer> {
        self.0.extract_if(|_, due| *due <= now).map(|(timer, _)| timer).collect()
    }

    /// Takes one, due or not; whether it was set.
    pub(super) fn take(&mut self, timer: Timer) -> Option<Timer> {
        self.0.remove(&timer).map(|_| timer)
    }
}

/// A time of the wall clock as an instant. A past one is now.
pub(super) fn instant(at: Time) -> Instant {
    Instant::now() + (at - Utc::now()).to_std().unwrap_or_default()
}
