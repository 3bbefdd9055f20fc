//! The values that one cron field allows, and how they are written.

use std::fmt;

use super::error::{Part, ScheduleError, refused};

/// What a field may hold and how its values are written.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) part: Part,
    pub(super) min: u8,
    pub(super) max: u8,
    /// Names of the values from `first_name` on, in capitals.
    pub(super) names: &'static [&'static str],
    pub(super) first_name: u8,
    /// The value that `max` stands for a second time, as 7 does for Sunday.
    pub(super) max_is_also: Option<u8>,
}

pub(super) const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
pub(super) const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const fn plain(part: Part, min: u8, max: u8) -> Kind {
    Kind { part, min, max, names: &[], first_name: 0, max_is_also: None }
}

pub(super) static SECOND: Kind = plain(Part::Second, 0, 59);
pub(super) static MINUTE: Kind = plain(Part::Minute, 0, 59);
pub(super) static HOUR: Kind = plain(Part::Hour, 0, 23);
pub(super) static DAY_OF_MONTH: Kind = plain(Part::DayOfMonth, 1, 31);
pub(super) static MONTH: Kind = Kind { names: &MONTHS, first_name: 1, ..plain(Part::Month, 1, 12) };
/// As crontab(5) counts them: 0 and 7 are Sunday.
pub(super) static DAY_OF_WEEK: Kind =
    Kind { names: &WEEKDAYS, max_is_also: Some(0), ..plain(Part::DayOfWeek, 0, 7) };
/// As Quartz counts them: 1 is Sunday.
pub(super) static QUARTZ_DAY_OF_WEEK: Kind =
    Kind { names: &WEEKDAYS, first_name: 1, ..plain(Part::DayOfWeek, 1, 7) };

/// How a field begins. It decides how clock changes are met and how the day fields are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    Star,
    Value,
}

/// A set of allowed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) begins: Begins,
    pub(super) bits: u64,
}

impl Set {
    pub(super) const fn one(value: u8) -> Self {
        Self { begins: Begins::Value, bits: 1 << value }
    }

    pub(super) const fn of(bits: u64) -> Self {
        Self { begins: Begins::Value, bits }
    }

    pub(super) fn all(kind: &Kind) -> Self {
        Self { begins: Begins::Star, bits: stepped(kind, 1) }
    }

    pub(super) fn parse(text: &str, kind: &Kind) -> Result<Self, ScheduleError> {
        let begins = if text.starts_with('*') { Begins::Star } else { Begins::Value };
        let mut bits = 0;
        for item in text.split(',') {
            bits |= item_bits(item, text, kind)?;
        }
        Ok(Self { begins, bits })
    }

    pub(super) fn has(&self, value: u32) -> bool {
        self.bits >> value & 1 == 1
    }

    /// Whether no value is left out.
    pub(super) fn is_full(&self, kind: &Kind) -> bool {
        self.bits == stepped(kind, 1)
    }

    /// The lowest value from this one on.
    pub(super) fn from(&self, value: u32) -> Option<u32> {
        let rest = self.bits.checked_shr(value).unwrap_or(0);
        (rest != 0).then(|| value + rest.trailing_zeros())
    }

    pub(super) fn values(&self) -> impl Iterator<Item = u8> + Clone + use<> {
        let bits = self.bits;
        (0..64).filter(move |value| bits >> value & 1 == 1)
    }

    /// The `n` of a field that is nothing but `*/n`; 1 for `*`.
    pub(super) fn star_step(&self, kind: &Kind) -> Option<u8> {
        let (step, rest) = self.star_part(kind)?;
        (rest == 0).then_some(step)
    }

    /// The field as text that parses to the same set.
    pub(super) fn shown<'s>(&'s self, kind: &'s Kind) -> impl fmt::Display + 's {
        fmt::from_fn(move |f| {
            let Some((step, rest)) = self.star_part(kind) else { return write_values(f, self.bits) };
            f.write_str("*")?;
            if step > 1 {
                write!(f, "/{step}")?;
            }
            if rest != 0 {
                f.write_str(",")?;
                write_values(f, rest)?;
            }
            Ok(())
        })
    }

    /// The smallest step that a leading star can have, and the values that it leaves.
    fn star_part(&self, kind: &Kind) -> Option<(u8, u64)> {
        let steps = 1..=kind.max - kind.min + 1;
        let fits = |&step: &u8| stepped(kind, step) & !self.bits == 0;
        let step = (self.begins == Begins::Star).then(|| steps.into_iter().find(fits)).flatten()?;
        Some((step, self.bits & !stepped(kind, step)))
    }
}

/// The value that stands at the beginning and the end of a range, or alone.
pub(super) fn value(text: &str, field: &str, kind: &Kind) -> Result<u8, ScheduleError> {
    let wrong = |why: String| refused(kind.part, field, why, range_hint(kind));
    if text.is_empty() {
        return Err(wrong("a value is missing".to_owned()));
    }
    if let Some(index) = kind.names.iter().position(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(kind.first_name + index as u8);
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong(format!("{text:?} is no value of this field")));
    }
    let number = text.parse::<u8>().ok().filter(|number| (kind.min..=kind.max).contains(number));
    number.ok_or_else(|| wrong(format!("{text} is out of range")))
}

fn range_hint(kind: &Kind) -> String {
    let (min, max) = (kind.min, kind.max);
    match (kind.part, kind.first_name) {
        (Part::Hour, _) => "write 0 to 23, midnight is 0".to_owned(),
        (Part::Month, _) => "write 1 to 12 or JAN to DEC".to_owned(),
        (Part::DayOfWeek, 0) => "write 0 to 7 (0 and 7 are Sunday) or SUN to SAT".to_owned(),
        (Part::DayOfWeek, _) => "write 1 to 7 (1 is Sunday) or SUN to SAT".to_owned(),
        _ => format!("write {min} to {max}"),
    }
}

fn item_bits(item: &str, field: &str, kind: &Kind) -> Result<u64, ScheduleError> {
    if item.is_empty() {
        let why = if field.is_empty() { "the field is empty" } else { "an item of the list is empty" };
        return Err(refused(kind.part, field, why, "write one value between two commas, as in 1,2"));
    }
    let (range, step) = match item.split_once('/') {
        Some((range, step)) => (range, Some(parse_step(step, field, kind)?)),
        None => (item, None),
    };
    if range == "*" {
        return Ok(stepped(kind, step.unwrap_or(1)));
    }
    if range.is_empty() {
        return Err(refused(kind.part, field, "a step needs a range before it", format!("write *{item}")));
    }
    if range.contains('*') {
        return Err(refused(kind.part, field, "`*` stands alone or before a step", "write * or */2"));
    }
    let (first, last) = match (range.split_once('-'), step) {
        (Some((first, last)), _) => (value(first, field, kind)?, value(last, field, kind)?),
        (None, Some(_)) => (value(range, field, kind)?, kind.max),
        (None, None) => {
            let only = value(range, field, kind)?;
            (only, only)
        }
    };
    range_bits(first, last, step, field, kind)
}

fn parse_step(text: &str, field: &str, kind: &Kind) -> Result<u8, ScheduleError> {
    let most = kind.max - kind.min + 1 - u8::from(kind.max_is_also.is_some());
    let wrong = |why: &str, hint: String| refused(kind.part, field, why, hint);
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong("a step is one number", "write it as in */5".to_owned()));
    }
    match text.parse() {
        Ok(0) => Err(wrong("a step of 0 stands still", "write 1 or more".to_owned())),
        Ok(step) if step <= most => Ok(step),
        // The author means something else than cron does: once an hour, not every 90 minutes.
        _ if kind.part == Part::Minute => {
            Err(wrong("a step of minutes begins anew each hour", format!("write an interval: every {text}m")))
        }
        _ if kind.part == Part::Hour => {
            Err(wrong("a step of hours begins anew each day", format!("write an interval: every {text}h")))
        }
        _ => Err(wrong("the step is longer than the field", format!("write at most {most}"))),
    }
}

fn range_bits(first: u8, last: u8, step: Option<u8>, field: &str, kind: &Kind) -> Result<u64, ScheduleError> {
    // The week may end with Sunday: FRI-SUN is 5-7.
    let last = if kind.max_is_also == Some(last) && first > last { kind.max } else { last };
    let by = step.unwrap_or(1);
    if first <= last {
        return Ok(folded(between(first, last, by), kind));
    }
    if by > 1 {
        let hint =
            format!("write two items: {first}-{max}/{by},{min}-{last}/{by}", max = kind.max, min = kind.min);
        let why = "where a step goes on after the wrap is not defined";
        return Err(refused(kind.part, field, why, hint));
    }
    Ok(folded(between(first, kind.max, 1) | between(kind.min, last, 1), kind))
}

fn between(first: u8, last: u8, step: u8) -> u64 {
    (first..=last).step_by(usize::from(step)).fold(0, |bits, value| bits | 1 << value)
}

/// The values of `*/step`.
fn stepped(kind: &Kind, step: u8) -> u64 {
    folded(between(kind.min, kind.max, step), kind)
}

fn folded(bits: u64, kind: &Kind) -> u64 {
    match kind.max_is_also {
        Some(value) if bits >> kind.max & 1 == 1 => bits & !(1 << kind.max) | 1 << value,
        _ => bits,
    }
}

/// Values as a list; runs and even steps as ranges.
pub(super) fn write_values(f: &mut fmt::Formatter<'_>, bits: u64) -> fmt::Result {
    if let Some((first, last, step)) = even_steps(bits) {
        return write!(f, "{first}-{last}/{step}");
    }
    for (index, (first, last)) in runs(bits).enumerate() {
        let comma = if index == 0 { "" } else { "," };
        match last - first {
            0 => write!(f, "{comma}{first}")?,
            1 => write!(f, "{comma}{first},{last}")?,
            _ => write!(f, "{comma}{first}-{last}")?,
        }
    }
    Ok(())
}

/// First, last and step of three or more values that are equally far from each other, but not neighbours.
pub(super) fn even_steps(bits: u64) -> Option<(u8, u8, u8)> {
    let mut values = Set::of(bits).values();
    let (first, second) = (values.next()?, values.next()?);
    let last = values.last()?;
    let step = second - first;
    (step > 1 && between(first, last, step) == bits).then_some((first, last, step))
}

/// The runs of neighbours, each with its first and last value.
pub(super) fn runs(bits: u64) -> impl Iterator<Item = (u8, u8)> {
    let set = Set::of(bits);
    let ends = set.values().filter(move |&value| !set.has(u32::from(value) + 1));
    set.values().filter(move |&value| value == 0 || !set.has(u32::from(value) - 1)).zip(ends)
}
