//! The days of a cron expression: two fields, their marks `L`, `W` and `#`, and how they are joined.

use std::fmt;
use std::sync::Arc;

use chrono::{Datelike, NaiveDate};
use croner::parser::CronParser;

use super::error::{Part, ScheduleError, refused};
use super::set::{Begins, DAY_OF_MONTH, DAY_OF_WEEK, Kind, QUARTZ_DAY_OF_WEEK, Set, WEEKDAYS, value};

/// How a cron expression is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Five fields, as crontab(5) has them.
    Crontab,
    /// Six or seven fields, seconds first, as Quartz has them.
    Quartz,
}

/// The two day fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Days {
    pub(super) of_month: DayOfMonth,
    pub(super) of_week: DayOfWeek,
    /// What decides where a field has marks.
    marked: Option<Arc<croner::Cron>>,
}

/// Days of the month, and those that are counted from its end or moved to a weekday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DayOfMonth {
    pub(super) set: Set,
    /// `L`: the last day.
    pub(super) last: bool,
    /// `LW`: the last day from Monday to Friday.
    pub(super) last_weekday: bool,
    /// `15W`: the days whose nearest day from Monday to Friday is meant.
    pub(super) nearest: u32,
}

/// Days of the week (0 is Sunday), and those that are counted within the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DayOfWeek {
    pub(super) set: Set,
    /// `5#2`: at index 1 the days whose second one in the month is meant.
    pub(super) nth: [u8; 5],
    /// `5L`: the days whose last one in the month is meant.
    pub(super) last: u8,
}

const NONE: Set = Set::of(0);

impl Days {
    /// Every day.
    pub(super) fn every() -> Self {
        Self { of_month: DayOfMonth::every(), of_week: DayOfWeek::every(), marked: None }
    }

    /// These days of the week (0 is Sunday).
    pub(super) fn of_week(days: u64) -> Self {
        let of_week = DayOfWeek { set: Set::of(days), ..DayOfWeek::every() };
        Self { of_week, ..Self::every() }
    }

    pub(super) fn new(of_month: DayOfMonth, of_week: DayOfWeek) -> Result<Self, ScheduleError> {
        let marked = (of_month.is_marked() || of_week.is_marked()).then(|| marked(&of_month, &of_week));
        Ok(Self { of_month, of_week, marked: marked.transpose()? })
    }

    /// Whether a day is one of them.
    pub(super) fn have(&self, day: NaiveDate) -> bool {
        if let Some(marked) = &self.marked {
            let weekday = croner::Weekday::from_days_from_sunday(day.weekday().num_days_from_sunday());
            let matches = marked.pattern.day_match(day.year(), day.month(), day.day(), weekday);
            return matches.unwrap_or(false);
        }
        let of_month = self.of_month.set.has(day.day());
        let of_week = self.of_week.set.has(day.weekday().num_days_from_sunday());
        match self.join() {
            Join::And => of_month && of_week,
            Join::Or => of_month || of_week,
        }
    }

    /// How the two fields are joined.
    pub(super) fn join(&self) -> Join {
        join(&self.of_month, &self.of_week)
    }
}

/// How the two day fields are joined, as crontab(5) has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// One of them begins with `*`: a day fulfils both.
    And,
    /// Both are restricted: a day fulfils one of them.
    Or,
}

fn join(of_month: &DayOfMonth, of_week: &DayOfWeek) -> Join {
    let star = [of_month.set.begins, of_week.set.begins].contains(&Begins::Star);
    if star { Join::And } else { Join::Or }
}

/// The two fields for croner, in a year of no meaning: only its days are asked for.
fn marked(of_month: &DayOfMonth, of_week: &DayOfWeek) -> Result<Arc<croner::Cron>, ScheduleError> {
    let text = format!("0 0 0 {of_month} * {} 1", of_week.shown(Dialect::Crontab));
    let both = join(of_month, of_week) == Join::And;
    let cron = CronParser::builder().dom_and_dow(both).build().parse(&text);
    let days = format!("{of_month} * {}", of_week.shown(Dialect::Crontab));
    let refuse = |error: croner::errors::CronError| {
        refused(Part::DayOfMonth, &days, error.to_string(), "write the days without L, W or #")
    };
    cron.map(Arc::new).map_err(refuse)
}

impl DayOfMonth {
    pub(super) fn every() -> Self {
        Self { set: Set::all(&DAY_OF_MONTH), last: false, last_weekday: false, nearest: 0 }
    }

    pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Self, ScheduleError> {
        if text == "?" {
            return Ok(Self::every());
        }
        let none = Self { set: NONE, last: false, last_weekday: false, nearest: 0 };
        if !text.bytes().any(|byte| b"LlWw".contains(&byte)) {
            return Ok(Self { set: Set::parse(text, &DAY_OF_MONTH)?, ..none });
        }
        let mut days = none;
        if text.starts_with('*') {
            days.set.begins = Begins::Star;
        }
        for item in text.split(',') {
            days.add(item, text, dialect)?;
        }
        if days.last && days.last_weekday {
            let why = "L and LW in one list are not supported";
            return Err(refused(Part::DayOfMonth, text, why, "make two jobs"));
        }
        Ok(days)
    }

    fn add(&mut self, item: &str, field: &str, dialect: Dialect) -> Result<(), ScheduleError> {
        let wrong = |why: &str, hint: String| Err(refused(Part::DayOfMonth, field, why, hint));
        let mark = item.to_ascii_uppercase();
        if mark == "L" {
            self.last = true;
        } else if mark.contains('W') && dialect == Dialect::Crontab {
            let hint = format!("write it as Quartz does: quartz: 0 0 9 {mark} * ?");
            return wrong("W is no part of five-field cron", hint);
        } else if mark == "LW" {
            self.last_weekday = true;
        } else if let Some(day) = mark.strip_suffix('W') {
            self.nearest |= 1 << value(day, field, &DAY_OF_MONTH)?;
        } else if mark.contains('L') {
            return wrong("days before the last one can't be counted", "write L for the last day".to_owned());
        } else {
            self.set.bits |= Set::parse(item, &DAY_OF_MONTH)?.bits;
        }
        Ok(())
    }

    /// Whether it is `*`.
    pub(super) fn is_every(&self) -> bool {
        !self.is_marked() && self.set.star_step(&DAY_OF_MONTH) == Some(1)
    }

    pub(super) fn is_marked(&self) -> bool {
        self.last || self.last_weekday || self.nearest != 0
    }
}

impl fmt::Display for DayOfMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = List { f, empty: true };
        if self.set.bits != 0 {
            list.item(self.set.shown(&DAY_OF_MONTH))?;
        }
        if self.last {
            list.item("L")?;
        }
        if self.last_weekday {
            list.item("LW")?;
        }
        Set::of(self.nearest.into()).values().try_for_each(|day| list.item(format_args!("{day}W")))
    }
}

impl DayOfWeek {
    pub(super) fn every() -> Self {
        Self { set: Set::all(&DAY_OF_WEEK), nth: [0; 5], last: 0 }
    }

    pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Self, ScheduleError> {
        if text == "?" {
            return Ok(Self::every());
        }
        let none = Self { set: NONE, nth: [0; 5], last: 0 };
        if !text.bytes().any(|byte| b"Ll#".contains(&byte)) {
            return Ok(Self { set: week_set(text, dialect)?, ..none });
        }
        let mut days = none;
        if text.starts_with('*') {
            days.set.begins = Begins::Star;
        }
        for item in text.split(',') {
            days.add(item, text, dialect)?;
        }
        if days.last != 0 && days.nth != [0; 5] {
            let why = "# and L in one list are read in different ways by different programs";
            return Err(refused(Part::DayOfWeek, text, why, "make two jobs"));
        }
        Ok(days)
    }

    fn add(&mut self, item: &str, field: &str, dialect: Dialect) -> Result<(), ScheduleError> {
        let wrong = |why: &str, hint: String| Err(refused(Part::DayOfWeek, field, why, hint));
        let kind = week_kind(dialect);
        let bit =
            |text: &str| Ok::<_, ScheduleError>(from_dialect(1 << value(text, field, kind)?, dialect) as u8);
        let mark = item.to_ascii_uppercase();
        if let Some((day, nth)) = mark.split_once('#') {
            let &[digit @ b'1'..=b'5'] = nth.as_bytes() else {
                return wrong("after # stands which one of the month", "write 1 to 5, as in 1#2".to_owned());
            };
            self.nth[usize::from(digit - b'1')] |= bit(day)?;
        } else if mark == "L" && dialect == Dialect::Quartz {
            self.set.bits |= 1 << 6;
        } else if let Some(day) = mark.strip_suffix('L') {
            if day.is_empty() {
                return wrong(
                    "L needs the day whose last one is meant",
                    "write 5L for the last Friday".to_owned(),
                );
            }
            self.last |= bit(day)?;
        } else if let Some(day) = mark.strip_prefix('L') {
            return wrong("L stands behind the day", format!("write {day}L"));
        } else {
            self.set.bits |= week_set(item, dialect)?.bits;
        }
        Ok(())
    }

    /// Whether it is `*`.
    pub(super) fn is_every(&self) -> bool {
        !self.is_marked() && self.set.star_step(&DAY_OF_WEEK) == Some(1)
    }

    pub(super) fn is_marked(&self) -> bool {
        self.last != 0 || self.nth != [0; 5]
    }

    /// The field as this dialect writes it.
    pub(super) fn shown(&self, dialect: Dialect) -> impl fmt::Display {
        fmt::from_fn(move |f| {
            let mut list = List { f, empty: true };
            if self.set.bits != 0 {
                let shift = first_day(dialect);
                let set = Set { bits: self.set.bits << shift, begins: self.set.begins };
                list.item(set.shown(week_kind(dialect)))?;
            }
            for (index, nth) in self.nth.iter().enumerate() {
                for day in Set::of((*nth).into()).values() {
                    list.item(format_args!("{}#{}", day + first_day(dialect), index + 1))?;
                }
            }
            let mut last = Set::of(self.last.into()).values();
            last.try_for_each(|day| list.item(format_args!("{}L", day + first_day(dialect))))
        })
    }
}

fn week_kind(dialect: Dialect) -> &'static Kind {
    match dialect {
        Dialect::Crontab => &DAY_OF_WEEK,
        Dialect::Quartz => &QUARTZ_DAY_OF_WEEK,
    }
}

/// The number of Sunday.
fn first_day(dialect: Dialect) -> u8 {
    week_kind(dialect).first_name
}

fn week_set(text: &str, dialect: Dialect) -> Result<Set, ScheduleError> {
    let set = Set::parse(text, week_kind(dialect))?;
    Ok(Set { bits: from_dialect(set.bits, dialect), ..set })
}

/// Days as a dialect counts them, to days with Sunday as 0.
fn from_dialect(bits: u64, dialect: Dialect) -> u64 {
    match dialect {
        Dialect::Crontab => bits & !(1 << WEEKDAYS.len()) | bits >> WEEKDAYS.len() & 1,
        Dialect::Quartz => bits >> 1,
    }
}

/// Items with commas between them.
struct List<'l, 'f> {
    f: &'l mut fmt::Formatter<'f>,
    empty: bool,
}

impl List<'_, '_> {
    fn item(&mut self, item: impl fmt::Display) -> fmt::Result {
        let comma = if std::mem::replace(&mut self.empty, false) { "" } else { "," };
        write!(self.f, "{comma}{item}")
    }
}
