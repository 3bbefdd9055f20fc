//! Lengths of time as people write them: `2h`, `15 minutes`, `1h30m`.

use std::fmt;

use chrono::TimeDelta;

use super::error::{Part, ScheduleError, refused};

const HOUR: u32 = 60;
const DAY: u32 = 24 * HOUR;
/// As far as the search for a slot of a cron expression goes.
const LONGEST: u32 = 146_097 * DAY;

/// A length of elapsed time: whole minutes, one or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    minutes: u32,
}

impl Length {
    /// A length in minutes. `text` is what the author wrote.
    pub(super) fn new(minutes: i64, text: &str) -> Result<Self, ScheduleError> {
        if minutes < 1 {
            return Err(wrong(text, "it is less than one minute", "write 1m or more"));
        }
        let within = u32::try_from(minutes).ok().filter(|&minutes| minutes <= LONGEST);
        within.map(|minutes| Self { minutes }).ok_or_else(|| too_long(text))
    }

    /// Reads numbers with units; a unit alone is one of it.
    pub(super) fn parse(text: &str) -> Result<Self, ScheduleError> {
        if text.is_empty() {
            return Err(wrong(text, "it is missing", "write for example 30m, 2h or 1d"));
        }
        let mut minutes = 0_i64;
        let mut rest = text;
        while !rest.is_empty() {
            let (number, unit);
            (number, rest) = split_while(rest, |c| !c.is_ascii_alphabetic());
            (unit, rest) = split_while(rest, |c| c.is_ascii_alphabetic());
            rest = rest.trim_ascii_start();
            let part = number_of(number, text)?.checked_mul(minutes_of(unit, text)?);
            minutes = part.and_then(|part| minutes.checked_add(part)).ok_or_else(|| too_long(text))?;
        }
        Self::new(minutes, text)
    }

    /// Whether a text is numbers with units and nothing else, so that it can mean nothing but a length.
    pub(super) fn is_written_in(text: &str) -> bool {
        let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
        let alike = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '\t' || c == '.';
        let (number, unit) = split_while(text, |c| c.is_ascii_digit() || c == '.');
        !number.is_empty()
            && unit.trim_ascii_start().starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(alike)
            && words.into_iter().all(|word| unit_minutes(word).is_some())
    }

    /// As a duration.
    pub fn duration(self) -> TimeDelta {
        TimeDelta::minutes(self.minutes.into())
    }

    /// In words; without the number where it is 1, as in "every hour".
    pub(super) fn words(self) -> String {
        match self.largest_unit() {
            (1, _, "day") => "24 hours".to_owned(),
            (1, _, unit) => unit.to_owned(),
            (count, _, unit) => format!("{count} {unit}s"),
        }
    }

    /// In words, with the number.
    pub(super) fn counted_words(self) -> String {
        match self.largest_unit() {
            (1, _, unit) => format!("1 {unit}"),
            (count, _, unit) => format!("{count} {unit}s"),
        }
    }

    /// Whether its slots come at the same times of each day, or of each so many days, until a clock change.
    pub(super) fn keeps_time_of_day(self) -> bool {
        self.minutes > HOUR && (DAY.is_multiple_of(self.minutes) || self.minutes.is_multiple_of(DAY))
    }

    fn largest_unit(self) -> (u32, char, &'static str) {
        match self.minutes {
            minutes if minutes % DAY == 0 => (minutes / DAY, 'd', "day"),
            minutes if minutes % HOUR == 0 => (minutes / HOUR, 'h', "hour"),
            minutes => (minutes, 'm', "minute"),
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, sign, _) = self.largest_unit();
        write!(f, "{count}{sign}")
    }
}

fn number_of(number: &str, text: &str) -> Result<i64, ScheduleError> {
    let number = number.trim_ascii();
    if number.is_empty() {
        return Ok(1);
    }
    if number.starts_with(['-', '+']) {
        return Err(wrong(text, "a length has no sign", "write for example 30m"));
    }
    if number.contains(['.', ',']) {
        return Err(wrong(text, "a length is counted in whole units", "write the smaller unit, as in 90m"));
    }
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong(text, format!("{number:?} is no number"), "write for example 30m, 2h or 1d"));
    }
    number.parse().map_err(|_| too_long(text))
}

fn minutes_of(unit: &str, text: &str) -> Result<i64, ScheduleError> {
    match unit_minutes(unit) {
        Some(Some(minutes)) => Ok(minutes.into()),
        Some(None) => Err(wrong(text, "the shortest unit is the minute", "write whole minutes, as in 1m")),
        None if unit.is_empty() => {
            Err(wrong(text, "the unit is missing", "write m, h or d behind the number"))
        }
        None if unit.starts_with("mo") || unit.starts_with('y') => {
            let hint = "write a cron expression, as in 0 9 1 * * for each month's first day at 9:00";
            Err(wrong(text, "months and years differ in length", hint))
        }
        None => {
            Err(wrong(text, format!("{unit:?} is no unit"), "write minutes, hours, days or weeks, as in 2h"))
        }
    }
}

/// The minutes of a unit; none of one that is shorter than a minute.
fn unit_minutes(unit: &str) -> Option<Option<u32>> {
    Some(match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => None,
        "m" | "min" | "mins" | "minute" | "minutes" => Some(1),
        "h" | "hr" | "hrs" | "hour" | "hours" => Some(HOUR),
        "d" | "day" | "days" => Some(DAY),
        "w" | "wk" | "wks" | "week" | "weeks" => Some(7 * DAY),
        _ => return None,
    })
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

fn too_long(text: &str) -> ScheduleError {
    wrong(text, "it is longer than 400 years", "write a shorter one")
}

fn wrong(text: &str, why: impl Into<String>, hint: &str) -> ScheduleError {
    refused(Part::Length, text, why, hint)
}
