//! Cron expressions: reading, printing, and the search on the wall clock.

use std::fmt;

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use chrono_tz::Tz;

use super::clock::wall_clock;
use super::days::{DayOfMonth, DayOfWeek, Days, Dialect};
use super::error::{Part, ScheduleError, refused};
use super::quartz::Years;
use super::set::{Begins, HOUR, MINUTE, MONTH, MONTHS, Set, WEEKDAYS};
use crate::domain::Time;

/// So many calendar years are searched for a slot. The calendar repeats itself after them.
const SEARCHED_YEARS: i32 = 400;

/// A cron expression: the wall-clock times at which a job is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    pub(super) dialect: Dialect,
    pub(super) second: u8,
    pub(super) minutes: Set,
    pub(super) hours: Set,
    pub(super) days: Days,
    pub(super) months: Set,
    pub(super) years: Years,
}

/// How a job meets a clock change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Its minute or hour begins with `*`: it follows elapsed time.
    Elapsed,
    /// It has fixed times of the day, each of which comes once a day.
    Fixed,
}

impl Cron {
    /// Every day at a time.
    pub(super) fn daily(hour: u8, minute: u8) -> Self {
        Self {
            dialect: Dialect::Crontab,
            second: 0,
            minutes: Set::one(minute),
            hours: Set::one(hour),
            days: Days::every(),
            months: Set::all(&MONTH),
            years: Years::every(),
        }
    }

    /// Reads five fields or a nickname.
    pub(super) fn parse(text: &str) -> Result<Self, ScheduleError> {
        if text.starts_with('@') {
            return nickname(text);
        }
        let mut fields = text.split_ascii_whitespace();
        let mut field = || fields.next().ok_or_else(|| wrong_count(text));
        let (minute, hour, day, month, weekday) = (field()?, field()?, field()?, field()?, field()?);
        if fields.next().is_some() {
            return Err(wrong_count(text));
        }
        Ok(Self {
            dialect: Dialect::Crontab,
            second: 0,
            minutes: Set::parse(minute, &MINUTE)?,
            hours: Set::parse(hour, &HOUR)?,
            days: Days::new(
                DayOfMonth::parse(day, Dialect::Crontab)?,
                DayOfWeek::parse(weekday, Dialect::Crontab)?,
            )?,
            months: Set::parse(month, &MONTH)?,
            years: Years::every(),
        })
    }

    /// Refuses an expression whose days never come.
    pub(super) fn check(&self, zone: Tz, from: Time) -> Result<(), ScheduleError> {
        if wall_clock(from, zone).and_then(|wall| self.next_wall(wall)).is_some() {
            return Ok(());
        }
        let text = self.to_string();
        Err(match self.years.listed() {
            Some(_) => refused(Part::Year, &text, "its dates are over or never come", "write a year to come"),
            None => {
                refused(Part::DayOfMonth, &text, "this date never comes", "write a day that its months have")
            }
        })
    }

    /// How it meets a clock change.
    pub(super) fn pace(&self) -> Pace {
        let star = [self.minutes.begins, self.hours.begins].contains(&Begins::Star);
        if star { Pace::Elapsed } else { Pace::Fixed }
    }

    /// The first time on the wall clock after this one; none within 400 calendar years.
    pub(super) fn next_wall(&self, after: NaiveDateTime) -> Option<NaiveDateTime> {
        let day = after.date();
        let later = self.has_day(day).then(|| self.time_after(after.time())).flatten();
        later.map(|time| day.and_time(time)).or_else(|| {
            let next = self.next_day(day.succ_opt()?)?;
            Some(next.and_time(self.first_time()?))
        })
    }

    /// The first day with slots from this one on.
    pub(super) fn next_day(&self, from: NaiveDate) -> Option<NaiveDate> {
        let last_year = from.year().checked_add(SEARCHED_YEARS)?;
        let mut day = from;
        while day.year() <= last_year {
            if !self.years.have(day.year()) {
                day = NaiveDate::from_ymd_opt(self.years.from(day.year())?, 1, 1)?;
            } else if !self.months.has(day.month()) {
                day = first_of_next_month(day)?;
            } else if self.days.have(day) {
                return Some(day);
            } else {
                day = day.succ_opt()?;
            }
        }
        None
    }

    fn has_day(&self, day: NaiveDate) -> bool {
        self.years.have(day.year()) && self.months.has(day.month()) && self.days.have(day)
    }

    fn first_time(&self) -> Option<NaiveTime> {
        self.time(self.hours.from(0)?, self.minutes.from(0)?)
    }

    /// The first time of a day after this one.
    fn time_after(&self, after: NaiveTime) -> Option<NaiveTime> {
        let (hour, minute, second) = (after.hour(), after.minute(), u32::from(self.second));
        let this_hour = || {
            let from = if after.second() < second { minute } else { minute + 1 };
            self.time(hour, self.minutes.from(from)?)
        };
        let later_hour = || self.time(self.hours.from(hour + 1)?, self.minutes.from(0)?);
        self.hours.has(hour).then(this_hour).flatten().or_else(later_hour)
    }

    fn time(&self, hour: u32, minute: u32) -> Option<NaiveTime> {
        NaiveTime::from_hms_opt(hour, minute, self.second.into())
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dialect == Dialect::Quartz {
            return self.fmt_quartz(f);
        }
        let (minutes, hours, months) =
            (self.minutes.shown(&MINUTE), self.hours.shown(&HOUR), self.months.shown(&MONTH));
        let weekdays = self.days.of_week.shown(Dialect::Crontab);
        write!(f, "{minutes} {hours} {} {months} {weekdays}", self.days.of_month)
    }
}

fn first_of_next_month(day: NaiveDate) -> Option<NaiveDate> {
    let (year, month) = if day.month() == 12 { (day.year() + 1, 1) } else { (day.year(), day.month() + 1) };
    NaiveDate::from_ymd_opt(year, month, 1)
}

fn nickname(text: &str) -> Result<Cron, ScheduleError> {
    let fields = match text.to_ascii_lowercase().as_str() {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        "@reboot" => {
            let hint = "write a time, or `in 1m` for once, soon";
            return Err(refused(Part::Schedule, text, "a start of the machine is no time", hint));
        }
        _ => {
            let hint = "write @hourly, @daily, @weekly, @monthly or @yearly";
            return Err(refused(Part::Schedule, text, "this nickname is not known", hint));
        }
    };
    Cron::parse(fields)
}

fn wrong_count(text: &str) -> ScheduleError {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let count = fields.len();
    if count < 5 && !fields.iter().all(|field| is_cron_like(field)) {
        let hint = "write for example daily at 7am, every 2h, in 30m, 2026-12-24T18:00 or 0 8 * * *";
        return refused(Part::Schedule, text, "this is no schedule", hint);
    }
    let found = if count == 1 { "1 field".to_owned() } else { format!("{count} fields") };
    let hint = match count {
        0..=4 => "write minute, hour, day of month, month and day of week, as in 0 8 * * *",
        6 | 7 if fields.iter().all(|field| is_cron_like(field)) => {
            "write `quartz: …` if it is a Quartz expression, or drop the seconds"
        }
        _ => "keep the five fields and drop the user and the command behind them",
    };
    refused(Part::Schedule, text, format!("{found} found where cron has five"), hint)
}

/// Whether a text could be a field: signs, numbers, and the words that fields know.
fn is_cron_like(field: &str) -> bool {
    let known =
        |word: &str| ["L", "W", "LW"].contains(&word) || MONTHS.contains(&word) || WEEKDAYS.contains(&word);
    let words = field.split(|sign: char| !sign.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let mut signs = field.bytes().filter(|byte| !byte.is_ascii_alphanumeric());
    signs.all(|sign| b"*/,-#?".contains(&sign)) && words.map(str::to_ascii_uppercase).all(|word| known(&word))
}
