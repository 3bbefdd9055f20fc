//! Why a schedule is refused.

use std::fmt;

/// A text that is no schedule, or a schedule that can't be kept: where, what, why, and what to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{part} {value:?}: {why}; {hint}")]
pub struct ScheduleError {
    /// The part of the schedule that is wrong.
    pub part: Part,
    /// What is written there.
    pub value: String,
    /// What is wrong with it.
    pub why: String,
    /// What to write instead.
    pub hint: String,
}

/// A part of a schedule, as an error names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The text as a whole.
    Schedule,
    /// The second of a Quartz expression.
    Second,
    /// The minute.
    Minute,
    /// The hour.
    Hour,
    /// The day of the month.
    DayOfMonth,
    /// The month.
    Month,
    /// The day of the week.
    DayOfWeek,
    /// The year of a Quartz expression.
    Year,
    /// The time of day of a spoken schedule.
    TimeOfDay,
    /// The length of an interval or a delay.
    Length,
    /// Date and time of a one-shot.
    Instant,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Schedule => "schedule",
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::DayOfWeek => "day of week",
            Self::Year => "year",
            Self::TimeOfDay => "time of day",
            Self::Length => "length",
            Self::Instant => "date and time",
        })
    }
}

/// More of a refused value than this is not repeated.
const SHOWN_CHARS: usize = 80;

/// An error about a part of the schedule.
pub(super) fn refused(
    part: Part,
    value: &str,
    why: impl Into<String>,
    hint: impl Into<String>,
) -> ScheduleError {
    let mut shown: String = value.chars().take(SHOWN_CHARS).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    ScheduleError { part, value: shown, why: why.into(), hint: hint.into() }
}
