//! From text to a schedule. The forms are tried in this order: spoken, interval, delay, instant, cron, Quartz.

use std::str::FromStr;

use super::cron::Cron;
use super::error::{Part, ScheduleError, refused};
use super::length::Length;
use super::moment::Moment;
use super::{Schedule, spoken};

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let text = text.trim_ascii();
        only_plain_characters(text)?;
        let lower = text.to_ascii_lowercase();
        if lower.starts_with(|c: char| c.is_ascii_alphabetic())
            && let Some(read) = worded(text, &lower)
        {
            return read;
        }
        if Length::is_written_in(&lower) {
            return Length::parse(&lower).map(Self::Every);
        }
        if Moment::is_written_in(&lower) {
            return Moment::parse(text).map(Self::At);
        }
        no_sign(text)?;
        Cron::parse(text).map(Self::Cron)
    }
}

/// Reads what begins with a word of ours; `lower` is the text in lower case.
fn worded(text: &str, lower: &str) -> Option<Result<Schedule, ScheduleError>> {
    if let Some(spoken) = spoken::read(lower) {
        return Some(spoken.map(Schedule::Cron));
    }
    let (word, rest) = lower.split_once([' ', '\t']).unwrap_or((lower, ""));
    let rest = rest.trim_ascii_start();
    match word {
        "every" => Some(Length::parse(rest).map(Schedule::Every)),
        "in" => Some(Length::parse(rest).map(Schedule::In)),
        "once" => Some(one_shot(rest)),
        _ => {
            let (prefix, expression) = text.split_once([':', '='])?;
            match prefix.to_ascii_lowercase().as_str() {
                "quartz" => Some(Cron::parse_quartz(expression).map(Schedule::Cron)),
                "cron_tz" | "tz" => Some(Err(zone_prefix(text, expression))),
                _ => None,
            }
        }
    }
}

/// `once at …`, `once in …`, `once …`.
fn one_shot(rest: &str) -> Result<Schedule, ScheduleError> {
    if let Some(delay) = rest.strip_prefix("in ") {
        return Length::parse(delay.trim_ascii_start()).map(Schedule::In);
    }
    let moment = rest.strip_prefix("at ").map_or(rest, str::trim_ascii_start);
    Moment::parse(moment).map(Schedule::At)
}

fn zone_prefix(text: &str, expression: &str) -> ScheduleError {
    let zone = expression.split_ascii_whitespace().next().unwrap_or("");
    let hint = format!("drop {zone:?} here and set the job's \"timezone\" to it");
    refused(Part::Schedule, text, "the time zone is no part of the schedule", hint)
}

fn no_sign(text: &str) -> Result<(), ScheduleError> {
    match text.strip_prefix(['+', '-']) {
        Some(length) if Length::is_written_in(&length.to_ascii_lowercase()) => {
            let hint = format!("write `in {length}` for once, `every {length}` for again and again");
            Err(refused(Part::Length, text, "a length has no sign", hint))
        }
        _ => Ok(()),
    }
}

/// Refuses characters that look like those of a schedule but are others, and what can't be seen.
fn only_plain_characters(text: &str) -> Result<(), ScheduleError> {
    let plain = |c: char| c == '\t' || c == ' ' || c.is_ascii_graphic();
    let Some((at, odd)) = text.char_indices().find(|&(_, c)| !plain(c)) else { return Ok(()) };
    let code = u32::from(odd);
    let (why, hint) = match odd {
        '\u{ff01}'..='\u{ff5e}' => {
            let plain = char::from_u32(code - 0xfee0).unwrap_or('*');
            (format!("{odd} is the full-width form of a sign"), format!("write the plain {plain}"))
        }
        '\u{2010}'..='\u{2015}' | '\u{2212}' => {
            (format!("{odd} is a dash (U+{code:04X})"), "write the plain -".to_owned())
        }
        '∗' | '⁎' | '×' => {
            (format!("{odd} looks like a star (U+{code:04X})"), "write the plain *".to_owned())
        }
        _ if odd.is_whitespace() && !odd.is_ascii() => {
            (format!("a blank of another kind is in it (U+{code:04X})"), "type plain blanks".to_owned())
        }
        '\n' | '\r' => ("it has more than one line".to_owned(), "write one schedule in one line".to_owned()),
        _ => (format!("a character that no schedule has is in it (U+{code:04X})"), "retype it".to_owned()),
    };
    let (part, value) = field_at(text, at);
    Err(refused(part, value, why, hint))
}

/// The cron field in which a character stands, if the text has five.
fn field_at(text: &str, at: usize) -> (Part, &str) {
    const PARTS: [Part; 5] = [Part::Minute, Part::Hour, Part::DayOfMonth, Part::Month, Part::DayOfWeek];
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let index = text[..at].split_ascii_whitespace().count();
    // A character in the middle of a field has the field's beginning before it.
    let begins_field = text[..at].is_empty() || text[..at].ends_with([' ', '\t']);
    let index = if begins_field { index } else { index.saturating_sub(1) };
    match (fields.len(), fields.get(index)) {
        (5, Some(field)) => (PARTS[index], field),
        _ => (Part::Schedule, text),
    }
}
