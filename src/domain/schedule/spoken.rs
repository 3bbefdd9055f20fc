//! Schedules as people say them: `daily at 7am`, `weekdays at 9:30`, `monday, wednesday 21:00`.

use super::cron::Cron;
use super::days::Days;
use super::error::{Part, ScheduleError, refused};

const DAY_NAMES: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Days of the week, Sunday lowest.
const EVERY_DAY: u64 = 0b111_1111;
const WEEKDAYS: u64 = 0b011_1110;
const WEEKENDS: u64 = 0b100_0001;

/// Reads a text in lower case; none if it is not of this form.
pub(super) fn read(text: &str) -> Option<Result<Cron, ScheduleError>> {
    let spaced = text.replace(',', " ");
    let words: Vec<&str> = spaced.split_ascii_whitespace().collect();
    let words = match words[..] {
        ["every" | "on", ref rest @ ..] => rest,
        ref all => all,
    };
    let mut days = days_of(words.first()?)?;
    let mut rest = &words[1..];
    while let [word, others @ ..] = rest {
        match days_of(word) {
            Some(more) => days |= more,
            None if *word == "and" => {}
            None => break,
        }
        rest = others;
    }
    let time = match rest {
        ["at", time @ ..] | time => time,
    };
    // `every day` is an interval.
    if time.is_empty() && text == "every day" {
        return None;
    }
    Some(time_of(&time.join(" "), text).map(|(hour, minute)| on(days, hour, minute)))
}

fn on(days: u64, hour: u8, minute: u8) -> Cron {
    let days = if days == EVERY_DAY { Days::every() } else { Days::of_week(days) };
    Cron { days, ..Cron::daily(hour, minute) }
}

fn days_of(word: &str) -> Option<u64> {
    match word {
        "daily" | "day" | "everyday" => return Some(EVERY_DAY),
        "weekday" | "weekdays" => return Some(WEEKDAYS),
        "weekend" | "weekends" => return Some(WEEKENDS),
        _ => {}
    }
    let name = word.strip_suffix('s').filter(|name| name.ends_with("day")).unwrap_or(word);
    let short = |day: &str| name.len() >= 3 && name.len() <= 5 && day.starts_with(name);
    DAY_NAMES.iter().position(|day| *day == name || short(day)).map(|day| 1 << day)
}

/// Hour and minute of `noon`, `7am`, `7:30 pm`, `21:00`.
fn time_of(time: &str, text: &str) -> Result<(u8, u8), ScheduleError> {
    let wrong = |why: &str, hint: &str| refused(Part::TimeOfDay, time, why, hint);
    match time {
        "" => {
            return Err(refused(
                Part::TimeOfDay,
                text,
                "it is missing",
                format!("write for example {text} at 9:00"),
            ));
        }
        "noon" => return Ok((12, 0)),
        "midnight" => return Ok((0, 0)),
        _ => {}
    }
    let half =
        ["am", "pm"].into_iter().find_map(|half| Some((half, time.strip_suffix(half)?.trim_ascii_end())));
    let clock = half.map_or(time, |(_, clock)| clock);
    let (hour, minute) = clock.split_once(':').map_or((clock, None), |(hour, minute)| (hour, Some(minute)));
    let number = |text: &str| {
        let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u8>().ok()).flatten()
    };
    let minute = minute.map(|minute| number(minute).filter(|&number| minute.len() == 2 && number < 60));
    let (Some(hour), false) = (number(hour), minute == Some(None)) else {
        return Err(wrong(
            "this is no time of day",
            "write one time as in 9:30, 7am or noon; several as cron: 0 9,17 * * *",
        ));
    };
    let minute = minute.flatten();
    match (half, hour) {
        (Some(("am", _)), 1..=12) => Ok((hour % 12, minute.unwrap_or(0))),
        (Some(_), 1..=12) => Ok((hour % 12 + 12, minute.unwrap_or(0))),
        (Some(_), _) => Err(wrong("the hours of am and pm are 1 to 12", "write for example 1pm or 13:00")),
        (None, 0..24) => minute.map(|minute| (hour, minute)).ok_or_else(|| match hour {
            1..=12 => wrong(
                "is it in the morning or the evening",
                &format!("write {hour}:00, {hour}am or {hour}pm"),
            ),
            _ => wrong("the minutes are missing", &format!("write {hour}:00")),
        }),
        (None, _) => {
            Err(wrong("the day has the hours 0 to 23", "write midnight or 0:00 for the day's beginning"))
        }
    }
}
