//! What work costs, and how much of it a day allows. Amounts are whole millionths of the currency that the operator's prices are in, which
//! is never named: it is theirs.

mod limits;
mod today;

use serde::{Deserialize, Serialize};

use super::session::Usage;

pub use limits::{ALL, Limit, Most, Reached, Rules, Scope, Spent, SpentHold, Whose};
pub use today::{Today, Used};

/// An amount of money, in millionths.
pub type Millionths = u64;

/// What a million tokens cost. Nothing is known unless the operator says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Those that the model reads.
    pub input: Millionths,
    /// Those that it writes.
    pub output: Millionths,
    /// Those of the first that came from a cache; none: as the others.
    pub cached: Option<Millionths>,
}

impl Price {
    /// What a use costs, rounded up.
    pub fn of(&self, usage: &Usage) -> Millionths {
        let cached = usage.cache_read.min(usage.input);
        let parts = [
            (usage.input - cached, self.input),
            (cached, self.cached.unwrap_or(self.input)),
            (usage.output, self.output),
        ];
        let sum: u128 = parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// An amount as a person reads it: `12.34`, `0.0042`.
pub fn money(amount: Millionths) -> String {
    match amount {
        0 => "0".to_owned(),
        1..=999_900 => format!("0.{:04}", amount.div_ceil(100)),
        _ => {
            let cents = amount.saturating_add(5_000) / 10_000;
            format!("{}.{:02}", cents / 100, cents % 100)
        }
    }
}

/// Reads an amount: digits, and at most six behind a point.
pub fn read_money(text: &str) -> Option<Millionths> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !digits(whole) || !digits(part) {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_costs_what_its_tokens_cost_rounded_up() {
        let price = Price { input: 2_500_000, output: 10_000_000, cached: Some(250_000) };
        let usage = Usage { input: 1_000, output: 100, cache_read: 400, ..Usage::default() };
        assert_eq!(price.of(&usage), 1_500 + 100 + 1_000);
        assert_eq!(Price { cached: None, ..price }.of(&usage), 2_500 + 1_000);
        assert_eq!(Price { input: 1, ..Price::default() }.of(&usage), 1, "a part counts as one");
        assert_eq!(Price::default().of(&usage), 0);
        let all = Usage { input: u64::MAX, output: u64::MAX, ..Usage::default() };
        assert_eq!(price.of(&all), u64::MAX, "it never wraps");
    }

    #[test]
    fn amounts_are_read_and_shown() {
        let cases = [
            ("0", 0),
            ("2.5", 2_500_000),
            ("0.075", 75_000),
            ("3", 3_000_000),
            ("0.000001", 1),
            ("10.", 10_000_000),
        ];
        for (text, amount) in cases {
            assert_eq!(read_money(text), Some(amount), "{text}");
        }
        for text in ["", ".5", "-1", "1e3", "0.0000001", "1.2.3", "99999999999999999999"] {
            assert_eq!(read_money(text), None, "{text}");
        }
        let shown = [(0, "0"), (1, "0.0001"), (4_200, "0.0042"), (999_999, "1.00"), (12_344_000, "12.34")];
        for (amount, text) in shown {
            assert_eq!(money(amount), text, "{amount}");
        }
    }
}
