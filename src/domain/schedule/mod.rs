//! When a job is due: every form in which people write it, and its slots.
//!
//! A text becomes a [`Schedule`], which prints itself as a text that means the same. Slots are
//! instants; cron expressions mean the wall clock of the job's zone by the zone's rules at that date
//! (`clock` says how clock changes are met), intervals and delays mean elapsed time from an anchor.

mod clock;
mod cron;
mod days;
mod error;
mod hermes;
mod length;
mod moment;
mod quartz;
mod read;
mod set;
mod spoken;
mod warnings;
mod words;
mod zone;

use std::fmt;

use chrono::{NaiveDate, TimeDelta};
use chrono_tz::Tz;

pub(in crate::domain) use self::clock::first_pass;
pub use self::cron::Cron;
pub use self::error::{Part, ScheduleError};
pub use self::hermes::Hermes;
pub use self::length::Length;
pub use self::moment::Moment;
pub use self::warnings::{Passes, Warning};
pub use self::zone::{UnknownZone, parse_zone};
use crate::domain::Time;

/// When a job is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedule {
    /// At times on the wall clock: a cron or Quartz expression, or a spoken schedule.
    Cron(Cron),
    /// Again and again, this far from one slot to the next.
    Every(Length),
    /// Once, so long after the anchor.
    In(Length),
    /// Once, at this date and time.
    At(Moment),
}

/// Where the slots of a job lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lattice {
    /// The zone whose wall clock is meant.
    pub zone: Tz,
    /// The first sight of the job, from which intervals and delays count.
    pub anchor: Time,
}

/// Whether a job comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recurrence {
    /// It comes again and again.
    Recurring,
    /// It comes once.
    Once,
}

impl Schedule {
    /// What it means, in words: "at 08:00 on weekdays", "every 30 minutes".
    pub fn words(&self) -> String {
        match self {
            Self::Cron(cron) => cron.words(),
            Self::Every(length) => format!("every {}", length.words()),
            Self::In(length) => format!("once, after {}", length.counted_words()),
            Self::At(moment) => format!("once, on {}", moment.words()),
        }
    }

    /// Whether it comes again.
    pub fn recurrence(&self) -> Recurrence {
        match self {
            Self::Cron(_) | Self::Every(_) => Recurrence::Recurring,
            Self::In(_) | Self::At(_) => Recurrence::Once,
        }
    }

    /// Refuses a local time that the zone's clock never shows, and a cron expression that never comes
    /// after `from`.
    ///
    /// The search for the latter is the only long one: do it once, where a job is read or saved. A
    /// one-shot in the past is not refused here: how late it may be is the caller's rule.
    pub fn check(&self, zone: Tz, from: Time) -> Result<(), ScheduleError> {
        match self {
            Self::Cron(cron) => cron.check(zone, from),
            Self::At(moment) => moment.check(zone),
            Self::Every(_) | Self::In(_) => Ok(()),
        }
    }

    /// The first slot strictly later than an instant; none if there is none within 400 calendar years.
    pub fn next(&self, after: Time, at: &Lattice) -> Option<Time> {
        match self {
            Self::Cron(cron) => cron.next(after, at.zone),
            Self::Every(length) => next_of_interval(after, at.anchor, length.duration()),
            Self::In(length) => at.anchor.checked_add_signed(length.duration()).filter(|&slot| slot > after),
            Self::At(moment) => moment.instant(at.zone).filter(|&slot| slot > after),
        }
    }

    /// Its slots strictly later than an instant, one after the other.
    pub fn slots(&self, after: Time, at: &Lattice) -> impl Iterator<Item = Time> {
        std::iter::successors(self.next(after, at), move |&slot| self.next(slot, at))
    }

    /// How far the next slot is from this one; none for a one-shot.
    pub fn period(&self, slot: Time, at: &Lattice) -> Option<TimeDelta> {
        match self {
            Self::Cron(cron) => Some(cron.next(slot, at.zone)? - slot),
            Self::Every(length) => Some(length.duration()),
            Self::In(_) | Self::At(_) => None,
        }
    }

    /// The days that have no slot because the clock jumped over all that they should have had, where the
    /// jump lies in `(after, until]`. A job of fixed times runs at the end of the gap instead, so it only
    /// loses days that the zone skips as a whole.
    pub fn swallowed(&self, after: Time, until: Time, zone: Tz) -> Vec<NaiveDate> {
        match self {
            Self::Cron(cron) => cron.swallowed(after, until, zone),
            Self::Every(_) | Self::In(_) | Self::At(_) => Vec::new(),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cron(cron) => cron.fmt(f),
            Self::Every(length) => write!(f, "every {length}"),
            Self::In(length) => write!(f, "in {length}"),
            Self::At(moment) => moment.fmt(f),
        }
    }
}

/// The first of `anchor + n × period`, n ≥ 1, after an instant.
fn next_of_interval(after: Time, anchor: Time, period: TimeDelta) -> Option<Time> {
    let elapsed = (after - anchor).num_milliseconds().max(0);
    let past = elapsed.checked_div(period.num_milliseconds())?;
    let ahead = period.num_milliseconds().checked_mul(past.checked_add(1)?)?;
    anchor.checked_add_signed(TimeDelta::try_milliseconds(ahead)?)
}
