//! Date and time of a one-shot, with an offset from UTC or on the wall clock of the job's zone.

use std::fmt;

use chrono::{FixedOffset, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Timelike};
use chrono_tz::Tz;

use super::clock;
use super::error::{Part, ScheduleError, refused};
use crate::domain::Time;

/// Date and time as the author wrote them, to the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    wall: NaiveDateTime,
    offset: Option<FixedOffset>,
}

impl Moment {
    /// Whether a text begins as a date does.
    pub(super) fn is_written_in(text: &str) -> bool {
        let &[a, b, c, d, b'-', ..] = text.as_bytes() else { return false };
        [a, b, c, d].iter().all(u8::is_ascii_digit)
    }

    pub(super) fn parse(text: &str) -> Result<Self, ScheduleError> {
        let wrong = |why: &str| refused(Part::Instant, text, why, "write it as in 2026-12-24T18:00");
        if !Self::is_written_in(text) {
            return Err(wrong("a date begins with the year"));
        }
        let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, ""));
        let date = NaiveDate::parse_from_str(date, "%Y-%m-%d").map_err(|_| wrong("there is no such date"))?;
        if time.is_empty() {
            return Err(wrong("the time of day is missing"));
        }
        let (time, offset) = split_offset(time.trim_ascii());
        let time = time_of(time).ok_or_else(|| wrong("there is no such time of day"))?;
        let offset =
            offset.map(|offset| offset_of(offset).ok_or_else(|| wrong("the offset from UTC is wrong")));
        Ok(Self { wall: date.and_time(time), offset: offset.transpose()? })
    }

    /// The instant. Where the clock of the zone jumps over it, the first one after the gap; where it
    /// comes twice, the first.
    pub(super) fn instant(&self, zone: Tz) -> Option<Time> {
        match self.offset {
            Some(offset) => offset.from_local_datetime(&self.wall).single().map(|at| at.to_utc()),
            None => clock::first_pass(self.wall, zone).or_else(|| Some(clock::gap(self.wall, zone)?.end)),
        }
    }

    /// Refuses a time that the clock of the zone never shows.
    pub(super) fn check(&self, zone: Tz) -> Result<(), ScheduleError> {
        let gap = if self.offset.is_none() { clock::gap(self.wall, zone) } else { None };
        let Some(gap) = gap else { return Ok(()) };
        let why = format!("the clocks of {zone} jump over this time");
        let hint = match clock::wall_clock(gap.end, zone) {
            Some(end) => format!("write {} or later", end.format("%Y-%m-%dT%H:%M")),
            None => "write another time".to_owned(),
        };
        Err(refused(Part::Instant, &self.to_string(), why, hint))
    }

    /// What a wall clock shows at it.
    pub(super) fn wall(&self) -> NaiveDateTime {
        self.wall
    }

    /// Whether the clock of the zone shows it twice.
    pub(super) fn comes_twice(&self, zone: Tz) -> bool {
        let twice = || matches!(zone.from_local_datetime(&self.wall), LocalResult::Ambiguous(..));
        self.offset.is_none() && twice()
    }

    pub(super) fn words(&self) -> String {
        let form = if self.wall.second() == 0 { "%-d %b %Y at %H:%M" } else { "%-d %b %Y at %H:%M:%S" };
        let offset = self.offset.map(|offset| format!(" {offset}")).unwrap_or_default();
        format!("{}{offset}", self.wall.format(form))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole_minute = self.wall.second() == 0 && self.wall.nanosecond() == 0;
        let form = if whole_minute { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S%.f" };
        write!(f, "{}", self.wall.format(form))?;
        self.offset.map_or(Ok(()), |offset| write!(f, "{offset}"))
    }
}

/// Splits the offset from a time of day.
fn split_offset(time: &str) -> (&str, Option<&str>) {
    match time.find(['+', '-', 'Z', 'z']) {
        Some(at) => (time[..at].trim_ascii_end(), Some(&time[at..])),
        None => (time, None),
    }
}

fn time_of(text: &str) -> Option<NaiveTime> {
    let form = if text.matches(':').count() == 1 { "%H:%M" } else { "%H:%M:%S%.f" };
    let time = NaiveTime::parse_from_str(text, form).ok()?;
    // The store keeps milliseconds; there are no leap seconds in it.
    let millis = time.nanosecond() / 1_000_000;
    (millis < 1_000).then(|| time.with_nanosecond(millis * 1_000_000)).flatten()
}

fn offset_of(text: &str) -> Option<FixedOffset> {
    if text.eq_ignore_ascii_case("z") {
        return FixedOffset::east_opt(0);
    }
    let (sign, digits) = (if text.starts_with('-') { -1 } else { 1 }, text[1..].replace(':', ""));
    let number = |range: std::ops::Range<usize>| digits.get(range)?.parse::<i32>().ok();
    let (hours, minutes) = match digits.len() {
        2 => (number(0..2)?, 0),
        4 => (number(0..2)?, number(2..4)?),
        _ => return None,
    };
    let in_range = digits.bytes().all(|byte| byte.is_ascii_digit()) && hours < 24 && minutes < 60;
    in_range.then(|| FixedOffset::east_opt(sign * (hours * 60 + minutes) * 60)).flatten()
}
