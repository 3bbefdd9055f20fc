//! Schedules as Hermes keeps them in its file.

use super::Schedule;
use super::error::{Part, ScheduleError, refused};
use super::length::Length;
use super::moment::Moment;

/// What Hermes keeps of a schedule: its kind with the field that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hermes<'h> {
    /// `cron`.
    Cron {
        /// Five fields.
        expr: &'h str,
    },
    /// `interval`.
    Interval {
        /// From one slot to the next.
        minutes: i64,
    },
    /// `once`.
    Once {
        /// Date and time, with or without an offset.
        run_at: &'h str,
    },
}

impl Schedule {
    /// Reads what Hermes wrote. An interval of less than a minute is refused, as it would never rest.
    pub fn from_hermes(kept: Hermes<'_>) -> Result<Self, ScheduleError> {
        match kept {
            Hermes::Cron { expr } => match expr.parse()? {
                Self::Cron(cron) => Ok(Self::Cron(cron)),
                _ => Err(refused(
                    Part::Schedule,
                    expr,
                    "this is no cron expression",
                    "write for example 0 8 * * *",
                )),
            },
            Hermes::Interval { minutes } => Length::new(minutes, &minutes.to_string()).map(Self::Every),
            Hermes::Once { run_at } => Moment::parse(run_at.trim_ascii()).map(Self::At),
        }
    }
}
