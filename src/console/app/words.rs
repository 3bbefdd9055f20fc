//! Times and numbers in words.

use chrono::TimeDelta;

use super::Model;
use super::model::TimeStyle;
use crate::domain::Time;
pub use crate::domain::event::thousands;
pub use crate::domain::took::took;

/// An instant as the operator reads it: `14:02`, `28 Nov 14:02` on another day.
pub fn clock(model: &Model, at: Time) -> String {
    let (local, now) = (at.with_timezone(&model.zone), model.now.with_timezone(&model.zone));
    match local.date_naive() == now.date_naive() {
        true => local.format("%H:%M").to_string(),
        false => local.format("%-d %b %H:%M").to_string(),
    }
}

/// An instant to the second: `14:02:19`, `28 Nov 14:02:19` on another day.
pub fn second(model: &Model, at: Time) -> String {
    let (local, now) = (at.with_timezone(&model.zone), model.now.with_timezone(&model.zone));
    match local.date_naive() == now.date_naive() {
        true => local.format("%H:%M:%S").to_string(),
        false => local.format("%-d %b %H:%M:%S").to_string(),
    }
}

/// An instant in the style that is set: `14:02` or `5 min`.
pub fn when(model: &Model, at: Time) -> String {
    match model.times {
        TimeStyle::Absolute => clock(model, at),
        TimeStyle::Relative => age(model.as_of() - at),
    }
}

/// A span by the minute: `now`, `5 min`, `3 h`, `2 d`.
pub fn age(span: TimeDelta) -> String {
    match (span.num_minutes(), span.num_hours()) {
        (..1, _) => "now".to_owned(),
        (minutes @ ..60, _) => format!("{minutes} min"),
        (_, hours @ ..48) => format!("{hours} h"),
        (_, hours) => format!("{} d", hours / 24),
    }
}

/// A span that runs, by the second below two minutes: `8 s`, `12 min`, `3 h`.
pub fn running(span: TimeDelta) -> String {
    match span.num_seconds() {
        seconds @ ..120 => format!("{} s", seconds.max(0)),
        _ => age(span),
    }
}

/// `1 item`, `3 items`.
pub fn count(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{} {thing}s", thousands(number as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_numbers_read_as_on_the_drawings() {
        assert_eq!(age(TimeDelta::seconds(59)), "now");
        assert_eq!(age(TimeDelta::minutes(59)), "59 min");
        assert_eq!(age(TimeDelta::hours(47)), "47 h");
        assert_eq!(age(TimeDelta::hours(48)), "2 d");
        assert_eq!(running(TimeDelta::seconds(119)), "119 s");
        assert_eq!(running(TimeDelta::seconds(120)), "2 min");
        assert_eq!(running(TimeDelta::seconds(-3)), "0 s");
        assert_eq!(thousands(4812), "4,812");
        assert_eq!(thousands(1_000_000), "1,000,000");
        assert_eq!(count(1, "item"), "1 item");
        assert_eq!(count(1200, "item"), "1,200 items");
    }
}
