//! What the drawing says beside [`crate::console::app::words`]: durations and sizes.

use chrono_tz::Tz;

use crate::console::app::words as app;
use crate::domain::Time;
use crate::domain::event::short_number;
use crate::domain::session::ContextUse;

/// How long something took: `0.3 s`, `1 min 12 s`, `4 h 58 min`.
pub(super) fn took(from: Time, to: Time) -> String {
    app::took(to - from)
}

/// The second on the operator's clock: `14:02:19`.
pub(super) fn second(at: Time, zone: Tz) -> String {
    at.with_timezone(&zone).format("%H:%M:%S").to_string()
}

/// The minute on the operator's clock: `14:02`.
pub(super) fn minute(at: Time, zone: Tz) -> String {
    at.with_timezone(&zone).format("%H:%M").to_string()
}

/// The day on the operator's calendar: `Sat 28 Nov 2026`.
pub(super) fn day(at: Time, zone: Tz) -> String {
    at.with_timezone(&zone).format("%a %-d %b %Y").to_string()
}

/// Tokens, short: `812 tok`, `6.1k tok`, `2.3M tok`.
pub(super) fn tokens(n: u64) -> String {
    format!("{} tok", short_number(n))
}

/// How full the model's window was, short: `6.1k tok, 4 %`.
pub(super) fn context(context: ContextUse) -> String {
    let tokens = tokens(context.tokens);
    context.percent().map_or(tokens.clone(), |percent| format!("{tokens}, {percent} %"))
}

/// The same in whole words: `6.1k tokens, 4 % of context`.
pub(super) fn whole_context(context: ContextUse) -> String {
    let tokens = short_number(context.tokens);
    match context.percent() {
        Some(percent) => format!("{tokens} tokens, {percent} % of context"),
        None => format!("{tokens} tokens of context"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    #[test]
    fn durations_are_told_as_finely_as_they_matter() {
        let from: Time = "2026-11-29T14:00:00Z".parse().unwrap();
        assert_eq!(took(from, from + TimeDelta::milliseconds(312)), "0.3 s");
        assert_eq!(took(from, from + TimeDelta::seconds(72)), "1 min 12 s");
        assert_eq!(took(from, from + TimeDelta::minutes(298)), "4 h 58 min");
        assert_eq!(took(from, from - TimeDelta::minutes(1)), "0.0 s");
    }

    #[test]
    fn the_clock_is_the_operators() {
        let at: Time = "2026-11-28T23:30:05Z".parse().unwrap();
        let zone = chrono_tz::Europe::Berlin;
        assert_eq!(minute(at, zone), "00:30");
        assert_eq!(second(at, zone), "00:30:05");
        assert_eq!(day(at, zone), "Sun 29 Nov 2026");
    }

    #[test]
    fn tokens_are_short() {
        assert_eq!(tokens(999), "999 tok");
        assert_eq!(tokens(6_120), "6.1k tok");
        assert_eq!(tokens(2_300_000), "2.3M tok");
    }

    #[test]
    fn a_window_is_told_in_percent_where_it_is_known() {
        let known = ContextUse { tokens: 6_120, window: Some(152_000) };
        assert_eq!(context(known), "6.1k tok, 4 %");
        assert_eq!(whole_context(known), "6.1k tokens, 4 % of context");
        let unknown = ContextUse { window: None, ..known };
        assert_eq!(context(unknown), "6.1k tok");
        assert_eq!(whole_context(unknown), "6.1k tokens of context");
    }
}
