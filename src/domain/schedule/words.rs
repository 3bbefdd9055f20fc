//! A cron expression in words.

use super::cron::Cron;
use super::days::{DayOfMonth, DayOfWeek, Join};
use super::set::{HOUR, MONTH, Set, even_steps, runs};

/// So many times of a day are told one by one.
const TOLD_TIMES: u32 = 6;

const MONTH_NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAY_NAMES: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const WEEKDAYS: u64 = 0b011_1110;
const WEEKENDS: u64 = 0b100_0001;

impl Cron {
    pub(super) fn words(&self) -> String {
        let times = self.told_times();
        let days = self.day_words().or_else(|| times.is_some().then(|| "every day".to_owned()));
        let months = !self.months.is_full(&MONTH) && !self.day_words_name_months();
        let months = months.then(|| format!("in {}", month_words(&self.months)));
        let time = times.unwrap_or_else(|| self.often_words());
        let parts = [Some(time), days, months, self.years.listed().map(year_words)];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The times of the day one by one, if they are few.
    fn told_times(&self) -> Option<String> {
        let few = (self.minutes.bits.count_ones() * self.hours.bits.count_ones()) <= TOLD_TIMES;
        let times = self.hours.values().flat_map(|hour| {
            let of_hour = self.minutes.values().map(move |minute| (hour, minute));
            of_hour.map(|(hour, minute)| self.clock(hour, minute))
        });
        few.then(|| format!("at {}", list(times.collect())))
    }

    /// How often it comes, and in which hours.
    fn often_words(&self) -> String {
        let minutes: Vec<u8> = self.minutes.values().collect();
        let often = match minutes[..] {
            [minute] => self.hourly_words(minute),
            [0, step, ..] if self.minutes.bits == even_minutes(step) => self.even_words(step),
            _ if self.hours.is_full(&HOUR) => {
                format!("at minutes {} of every hour", number_list(&self.minutes))
            }
            _ => format!("at minutes {} of {}", number_list(&self.minutes), self.hour_list()),
        };
        let second = (self.second != 0).then(|| format!(" at second {}", self.second));
        often + &second.unwrap_or_default()
    }

    /// Minutes that are evenly far from each other.
    fn even_words(&self, step: u8) -> String {
        let often = if step == 1 { "every minute".to_owned() } else { format!("every {step} minutes") };
        let mut stretches = runs(self.hours.bits);
        match (stretches.next(), stretches.next()) {
            _ if self.hours.is_full(&HOUR) => often,
            (Some((first, last)), None) => {
                format!("{often} from {} to {}", self.clock(first, 0), self.clock(last, 60 - step))
            }
            _ => format!("{often} of {}", self.hour_list()),
        }
    }

    fn hour_list(&self) -> String {
        let hours = if self.hours.bits.count_ones() == 1 { "hour" } else { "hours" };
        format!("the {hours} {}", number_list(&self.hours))
    }

    /// One minute of many hours.
    fn hourly_words(&self, minute: u8) -> String {
        let at_minute = if minute == 0 { String::new() } else { format!(" at minute {minute}") };
        if self.hours.is_full(&HOUR) {
            return format!("every hour{at_minute}");
        }
        if let Some((first, last, step)) = even_steps(self.hours.bits) {
            return if first == 0 && u32::from(last) + u32::from(step) == 24 {
                format!("every {step} hours{at_minute}")
            } else {
                format!(
                    "every {step} hours from {} to {}",
                    self.clock(first, minute),
                    self.clock(last, minute)
                )
            };
        }
        let stretches = runs(self.hours.bits).map(|(first, last)| match last - first {
            0 => format!("at {}", self.clock(first, minute)),
            _ => format!("from {} to {}", self.clock(first, minute), self.clock(last, minute)),
        });
        format!("every hour {}", list(stretches.collect()))
    }

    fn clock(&self, hour: u8, minute: u8) -> String {
        match self.second {
            0 => format!("{hour:02}:{minute:02}"),
            second => format!("{hour:02}:{minute:02}:{second:02}"),
        }
    }

    fn day_words(&self) -> Option<String> {
        let months =
            if self.day_words_name_months() { month_words(&self.months) } else { "the month".to_owned() };
        let of_month =
            (!self.days.of_month.is_every()).then(|| day_of_month_words(&self.days.of_month, &months));
        let of_week = (!self.days.of_week.is_every()).then(|| day_of_week_words(&self.days.of_week, &months));
        match (of_month, of_week, self.days.join()) {
            (Some(of_month), Some(of_week), Join::Or) => Some(format!("{of_month} or {of_week}")),
            (Some(of_month), Some(of_week), Join::And) => Some(format!("{of_week}, but only {of_month}")),
            (of_month, of_week, _) => of_month.or(of_week),
        }
    }

    /// Whether the words of the days say "of January" instead of "of the month".
    fn day_words_name_months(&self) -> bool {
        let (of_month, of_week) = (&self.days.of_month, &self.days.of_week);
        let one_speaks = match (of_month.is_every(), of_week.is_every()) {
            (false, true) => true,
            (true, false) => of_week.set.bits == 0,
            _ => false,
        };
        one_speaks && !self.months.is_full(&MONTH)
    }
}

fn day_of_month_words(days: &DayOfMonth, months: &str) -> String {
    let mut told = match even_steps(days.set.bits) {
        Some((first, last, step)) if days.set.bits.count_ones() > 3 => {
            let until = if last + step > 31 { String::new() } else { format!(" to the {}", ordinal(last)) };
            vec![format!("every {} day from the {}{until}", ordinal(step), ordinal(first))]
        }
        _ => told_runs(&days.set, |first| format!("the {}", ordinal(first)), ordinal),
    };
    told.extend(days.last.then(|| "the last day".to_owned()));
    told.extend(days.last_weekday.then(|| "the last weekday".to_owned()));
    told.extend(
        Set::of(days.nearest.into()).values().map(|day| format!("the weekday nearest the {}", ordinal(day))),
    );
    format!("on {} of {months}", list(told))
}

fn day_of_week_words(days: &DayOfWeek, months: &str) -> String {
    let name = |day: u8| DAY_NAMES.get(usize::from(day)).copied().unwrap_or_default();
    let mut counted = Vec::new();
    for (index, nth) in days.nth.iter().enumerate() {
        counted.extend(
            Set::of((*nth).into())
                .values()
                .map(|day| format!("the {} {}", ordinal(index as u8 + 1), name(day))),
        );
    }
    counted.extend(Set::of(days.last.into()).values().map(|day| format!("the last {}", name(day))));
    let plain = match days.set.bits {
        0 => Vec::new(),
        WEEKDAYS => vec!["weekdays".to_owned()],
        WEEKENDS => vec!["weekends".to_owned()],
        _ => told_runs(&days.set, |day| format!("{}s", name(day)), |day| format!("{}s", name(day))),
    };
    let counted = (!counted.is_empty()).then(|| format!("{} of {months}", list(counted)));
    format!("on {}", list(plain.into_iter().chain(counted).collect()))
}

/// Values one by one, three neighbours or more as "first to last".
fn told_runs(set: &Set, alone: impl Fn(u8) -> String, last_of: impl Fn(u8) -> String) -> Vec<String> {
    let told = runs(set.bits).flat_map(|(first, last)| match last - first {
        0 => vec![alone(first)],
        1 => vec![alone(first), alone(last)],
        _ => vec![format!("{} to {}", alone(first), last_of(last))],
    });
    told.collect()
}

fn month_words(months: &Set) -> String {
    let name = |month: u8| MONTH_NAMES.get(usize::from(month) - 1).copied().unwrap_or_default().to_owned();
    list(told_runs(months, name, name))
}

/// The minutes that are evenly this far from each other through all hours; none if that can't be.
fn even_minutes(step: u8) -> u64 {
    let minutes = (0..60).step_by(usize::from(step));
    if 60 % step == 0 { minutes.fold(0, |bits, minute: u8| bits | 1 << minute) } else { 0 }
}

fn year_words(years: &[u16]) -> String {
    let told = years.chunk_by(|a, b| a + 1 == *b).flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first} to {last}")],
        years => years.iter().map(u16::to_string).collect(),
    });
    format!("in {}", list(told.collect()))
}

/// Numbers of a field, as a sentence lists them.
pub(super) fn number_list(set: &Set) -> String {
    list(told_runs(set, |value| value.to_string(), |value| value.to_string()))
}

pub(super) fn ordinal(number: u8) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// "a, b and c".
fn list(items: Vec<String>) -> String {
    match &items[..] {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
