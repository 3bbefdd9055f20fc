//! Traps in a schedule that is right but may not mean what its author thinks.

use chrono::{NaiveDateTime, TimeDelta};
use chrono_tz::Tz;

use super::Schedule;
use super::clock::{change_between, first_pass, wall_clock};
use super::cron::{Cron, Pace};
use super::days::Join;
use super::error::Part;
use super::set::{Begins, DAY_OF_MONTH, DAY_OF_WEEK, HOUR, Kind, MINUTE, MONTH, Set};
use super::words::{number_list, ordinal};
use crate::domain::Time;

/// Clock changes within this time are looked at.
const AHEAD_DAYS: i64 = 366;
/// The days of the months, February's in leap years.
const MONTH_LENGTHS: [u8; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// A trap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// Both day fields are restricted, and a day needs to fulfil only one.
    EitherDay,
    /// The minute is `*` in some hours only.
    EveryMinute {
        /// The hours, as a sentence lists them.
        hours: String,
        /// The expression for once in each of these hours.
        once: String,
    },
    /// The clock jumps over a slot.
    Gap {
        /// The time that is not shown.
        slot: NaiveDateTime,
        /// What the clock shows when it runs instead; none if it does not run.
        runs: Option<NaiveDateTime>,
    },
    /// The clock goes back, and the time of a slot comes twice.
    Twice {
        /// The time that is shown twice.
        slot: NaiveDateTime,
        /// In which passes it runs.
        passes: Passes,
    },
    /// A day that some of the months do not have.
    ShortMonths {
        /// The day of the month.
        day: u8,
    },
    /// 29 February.
    LeapYears,
    /// A step that does not divide its field evenly.
    UnevenStep {
        /// The field.
        part: Part,
        /// The step.
        step: u8,
    },
    /// An interval is elapsed time, so its time of day moves when the clocks change.
    TimeOfDayMoves {
        /// What the clock shows right after the next change.
        change: NaiveDateTime,
    },
}

/// In which passes of a time that comes twice a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passes {
    /// In the first one.
    First,
    /// In both.
    Both,
}

impl Warning {
    /// The warning as one sentence.
    pub fn words(&self) -> String {
        let time = |wall: &NaiveDateTime| wall.format("%H:%M").to_string();
        let date = |wall: &NaiveDateTime| wall.format("%-d %b %Y").to_string();
        match self {
            Self::EitherDay => "both day fields are set: cron takes this as OR".to_owned(),
            Self::EveryMinute { hours, once } => {
                format!("the minute is *: every minute of the hours {hours}; for once in each write {once}")
            }
            Self::Gap { slot, runs } => {
                let instead = match runs {
                    Some(at) if at.date() == slot.date() => format!("it runs at {} instead", time(at)),
                    Some(at) => format!("it runs on {} at {} instead", date(at), time(at)),
                    None => "this slot is left out".to_owned(),
                };
                format!("on {} the clocks jump over {}: {instead}", date(slot), time(slot))
            }
            Self::Twice { slot, passes } => {
                let runs = match passes {
                    Passes::First => "it runs the first time only",
                    Passes::Both => "it runs both times",
                };
                format!("on {} the clocks go back and {} comes twice: {runs}", date(slot), time(slot))
            }
            Self::ShortMonths { day } => {
                format!(
                    "months without a {} have no run on it; L is the last day of any month",
                    ordinal(*day)
                )
            }
            Self::LeapYears => "29 February comes in leap years only".to_owned(),
            Self::UnevenStep { part, step } => {
                let whole = match part {
                    Part::Minute => "hour",
                    Part::Hour => "day",
                    Part::DayOfMonth => "month",
                    Part::DayOfWeek => "week",
                    _ => "year",
                };
                format!("{part} */{step} begins anew each {whole}: the last step of the {whole} is shorter")
            }
            Self::TimeOfDayMoves { change } => {
                let on = date(change);
                format!("an interval is elapsed time: its time of day moves when the clocks change on {on}")
            }
        }
    }
}

impl Schedule {
    /// The traps in it, for a job in this zone from this instant on.
    pub fn warnings(&self, zone: Tz, from: Time) -> Vec<Warning> {
        match self {
            Self::Cron(cron) => cron.warnings(zone, from),
            Self::Every(length) if length.keeps_time_of_day() => {
                let change = changes(zone, from).into_iter().next();
                change.map(|change| Warning::TimeOfDayMoves { change: change.to }).into_iter().collect()
            }
            Self::At(moment) if moment.comes_twice(zone) => {
                vec![Warning::Twice { slot: moment.wall(), passes: Passes::First }]
            }
            Self::Every(_) | Self::In(_) | Self::At(_) => Vec::new(),
        }
    }
}

impl Cron {
    fn warnings(&self, zone: Tz, from: Time) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.days.join() == Join::Or {
            warnings.push(Warning::EitherDay);
        }
        warnings.extend(self.every_minute());
        warnings.extend(self.short_months());
        warnings.extend(self.uneven_steps());
        // A job that comes every hour of elapsed time meets no change.
        if self.pace() == Pace::Fixed || !self.hours.is_full(&HOUR) {
            warnings.extend(changes(zone, from).iter().filter_map(|change| self.in_change(change, zone)));
        }
        warnings
    }

    fn every_minute(&self) -> Option<Warning> {
        let trap = self.minutes.star_step(&MINUTE) == Some(1) && !self.hours.is_full(&HOUR);
        let once = Self { minutes: Set::one(0), ..self.clone() };
        trap.then(|| Warning::EveryMinute { hours: number_list(&self.hours), once: once.to_string() })
    }

    fn short_months(&self) -> Option<Warning> {
        let days = &self.days.of_month.set;
        if days.begins == Begins::Star || days.is_full(&DAY_OF_MONTH) {
            return None;
        }
        let longest = days.values().last()?;
        let lengths = self.months.values().filter_map(|month| MONTH_LENGTHS.get(usize::from(month) - 1));
        let (shortest, february) = (lengths.min().copied()?, self.months.bits == 1 << 2);
        match longest {
            29 if february => Some(Warning::LeapYears),
            _ if longest > shortest || longest == 29 && self.months.has(2) => {
                Some(Warning::ShortMonths { day: longest })
            }
            _ => None,
        }
    }

    fn uneven_steps(&self) -> impl Iterator<Item = Warning> {
        let fields: [(&Set, &Kind, u8); 5] = [
            (&self.minutes, &MINUTE, 60),
            (&self.hours, &HOUR, 24),
            (&self.days.of_month.set, &DAY_OF_MONTH, 31),
            (&self.months, &MONTH, 12),
            (&self.days.of_week.set, &DAY_OF_WEEK, 7),
        ];
        fields.into_iter().filter_map(|(set, kind, length)| {
            let step = set.star_step(kind).filter(|step| length % step != 0)?;
            Some(Warning::UnevenStep { part: kind.part, step })
        })
    }

    /// The trap of the first slot whose time a change leaves out or shows twice.
    fn in_change(&self, change: &Change, zone: Tz) -> Option<Warning> {
        let (first, end) = (change.from.min(change.to), change.from.max(change.to));
        let slot = self.next_wall(first - TimeDelta::nanoseconds(1)).filter(|&slot| slot < end)?;
        Some(match (change.from < change.to, self.pace()) {
            (true, Pace::Fixed) => {
                let runs = first_pass(slot, zone).and_then(|at| wall_clock(at, zone));
                Warning::Gap { slot, runs }
            }
            (true, Pace::Elapsed) => Warning::Gap { slot, runs: None },
            (false, Pace::Fixed) => Warning::Twice { slot, passes: Passes::First },
            (false, Pace::Elapsed) => Warning::Twice { slot, passes: Passes::Both },
        })
    }
}

/// A change of the clock: what it would show at that instant by the rule before, and what it shows.
struct Change {
    from: NaiveDateTime,
    to: NaiveDateTime,
}

/// The changes of the next year.
fn changes(zone: Tz, from: Time) -> Vec<Change> {
    let day = |number: i64| from.checked_add_signed(TimeDelta::days(number));
    let within = |number: i64| {
        let (begin, end) = (day(number)?, day(number + 1)?);
        let at = change_between(begin, end, zone)?;
        let before = wall_clock(at.checked_sub_signed(TimeDelta::seconds(1))?, zone)?;
        Some(Change { from: before.checked_add_signed(TimeDelta::seconds(1))?, to: wall_clock(at, zone)? })
    };
    (0..AHEAD_DAYS).filter_map(within).collect()
}
