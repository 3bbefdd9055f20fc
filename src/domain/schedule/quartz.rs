//! Cron expressions as Quartz writes them: six or seven fields, seconds first, the year last.

use std::fmt;

use super::cron::Cron;
use super::days::{DayOfMonth, DayOfWeek, Days, Dialect};
use super::error::{Part, ScheduleError, refused};
use super::set::{HOUR, MINUTE, MONTH, SECOND, Set};

const FIRST_YEAR: u16 = 1970;
const LAST_YEAR: u16 = 2099;

/// The years of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Years(Option<Box<[u16]>>);

impl Cron {
    /// Reads what follows the prefix `quartz:`.
    pub(super) fn parse_quartz(text: &str) -> Result<Self, ScheduleError> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let (second, minute, hour, day, month, weekday, year) = match fields[..] {
            [second, minute, hour, day, month, weekday] => (second, minute, hour, day, month, weekday, None),
            [second, minute, hour, day, month, weekday, year] => {
                (second, minute, hour, day, month, weekday, Some(year))
            }
            _ => {
                let why = format!("{} fields found where Quartz has six or seven", fields.len());
                let hint = "write second, minute, hour, day of month, month, day of week and, if need be, year, as in quartz: 0 0 8 * * ?";
                return Err(refused(Part::Schedule, text, why, hint));
            }
        };
        one_question_mark(day, weekday)?;
        Ok(Self {
            dialect: Dialect::Quartz,
            second: only_second(second)?,
            minutes: Set::parse(minute, &MINUTE)?,
            hours: Set::parse(hour, &HOUR)?,
            days: Days::new(
                DayOfMonth::parse(day, Dialect::Quartz)?,
                DayOfWeek::parse(weekday, Dialect::Quartz)?,
            )?,
            months: Set::parse(month, &MONTH)?,
            years: year.map_or(Ok(Years::every()), Years::parse)?,
        })
    }

    pub(super) fn fmt_quartz(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (minutes, hours, months) =
            (self.minutes.shown(&MINUTE), self.hours.shown(&HOUR), self.months.shown(&MONTH));
        write!(f, "quartz: {} {minutes} {hours} ", self.second)?;
        if self.days.of_week.is_every() {
            write!(f, "{} {months} ?", self.days.of_month)?;
        } else {
            write!(f, "? {months} {}", self.days.of_week.shown(Dialect::Quartz))?;
        }
        write!(f, "{}", self.years)
    }
}

fn one_question_mark(day: &str, weekday: &str) -> Result<(), ScheduleError> {
    let hint = "write `?` in the day field that says nothing";
    match (day, weekday) {
        ("?", "?") => {
            Err(refused(Part::DayOfWeek, weekday, "both day fields are `?`", "write `*` in one of them"))
        }
        ("?", _) | (_, "?") => Ok(()),
        _ => Err(refused(Part::DayOfWeek, weekday, "Quartz reads one day field only", hint)),
    }
}

/// One second of the minute: with two, slots would be less than a minute apart.
fn only_second(text: &str) -> Result<u8, ScheduleError> {
    let set = Set::parse(text, &SECOND)?;
    let mut seconds = set.values();
    match (seconds.next(), seconds.next()) {
        (Some(second), None) if second == 0 || !text.contains(['*', '/']) => Ok(second),
        _ => Err(refused(
            Part::Second,
            text,
            "slots must be at least a minute apart",
            "write one second, as in 0",
        )),
    }
}

impl Years {
    pub(super) fn every() -> Self {
        Self(None)
    }

    pub(super) fn parse(text: &str) -> Result<Self, ScheduleError> {
        if text == "*" {
            return Ok(Self::every());
        }
        let mut years = Vec::new();
        for item in text.split(',') {
            let wrong = || {
                let why = format!("{item:?} is no year, range of years or step of years");
                refused(
                    Part::Year,
                    text,
                    why,
                    format!("write {FIRST_YEAR} to {LAST_YEAR}, as in 2027 or 2027-2030"),
                )
            };
            let (first, last, step) = item_years(item).ok_or_else(wrong)?;
            years.extend((first..=last).step_by(step));
        }
        years.sort_unstable();
        years.dedup();
        Ok(Self(Some(years.into())))
    }

    pub(super) fn have(&self, year: i32) -> bool {
        self.listed().is_none_or(|years| years.iter().any(|&listed| i32::from(listed) == year))
    }

    /// The first of them from this one on.
    pub(super) fn from(&self, year: i32) -> Option<i32> {
        match self.listed() {
            None => Some(year),
            Some(years) => years.iter().map(|&listed| i32::from(listed)).find(|&listed| listed >= year),
        }
    }

    /// The years, where not all are meant.
    pub(super) fn listed(&self) -> Option<&[u16]> {
        self.0.as_deref()
    }
}

impl fmt::Display for Years {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(years) = self.listed() else { return Ok(()) };
        for (index, run) in years.chunk_by(|a, b| a + 1 == *b).enumerate() {
            let between = if index == 0 { " " } else { "," };
            match run {
                [first, _, .., last] => write!(f, "{between}{first}-{last}")?,
                [first, rest @ ..] => {
                    write!(f, "{between}{first}")?;
                    rest.iter().try_for_each(|year| write!(f, ",{year}"))?;
                }
                [] => {}
            }
        }
        Ok(())
    }
}

/// First, last and step of `2027`, `2027-2030`, `2027-2040/2`, `2027/2`, `*/2`.
fn item_years(item: &str) -> Option<(u16, u16, usize)> {
    let year = |text: &str| {
        let digits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
        let year = digits.then(|| text.parse().ok()).flatten();
        year.filter(|year| (FIRST_YEAR..=LAST_YEAR).contains(year))
    };
    let (range, step) = match item.split_once('/') {
        Some((range, step)) => (range, Some(years_step(step)?)),
        None => (item, None),
    };
    let (first, last) = match (range.split_once('-'), step) {
        _ if range == "*" => (FIRST_YEAR, LAST_YEAR),
        (Some((first, last)), _) => (year(first)?, year(last)?),
        (None, Some(_)) => (year(range)?, LAST_YEAR),
        (None, None) => (year(range)?, year(range)?),
    };
    (first <= last).then_some((first, last, step.unwrap_or(1)))
}

fn years_step(text: &str) -> Option<usize> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().filter(|&step| step > 0)
}
