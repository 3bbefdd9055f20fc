//! What is used of a day's limits so far.

use serde::{Deserialize, Serialize};

use super::limits::{Limit, Most, Reached, Rules, Scope, Spent, Whose};
use super::money;
use crate::domain::Time;
use crate::domain::event::thousands;

/// The limits that count for something today, with what is used of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Today {
    /// Its own first, then those of everything together.
    pub used: Vec<Used>,
    /// Whether a person let it go for the day, whatever its limits.
    pub let_go: bool,
    /// When the next day begins.
    pub until: Time,
}

/// What is used of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Whose limit it is.
    pub whose: Whose,
    /// How much it allows.
    pub most: Most,
    /// How much is used: tokens, or money.
    pub used: u64,
}

impl Rules {
    /// What is used of the limits of a scope and of everything together, or of the latter alone; none where there is
    /// no limit.
    pub fn today(&self, scope: Option<(&Scope, Spent)>, all: Spent, at: Time) -> Option<Today> {
        let used = self.used(scope, all);
        (!used.is_empty()).then(|| Today { used, let_go: false, until: self.next_day(at) })
    }

    /// The limit that a scope has reached, where so much was used today in it and in everything.
    pub fn reached(&self, scope: &Scope, own: Spent, all: Spent) -> Option<Reached> {
        self.used(Some((scope, own)), all).iter().find_map(Used::reached)
    }

    fn used(&self, scope: Option<(&Scope, Spent)>, all: Spent) -> Vec<Used> {
        let own = scope.map(|(scope, own)| (scope.limit(self), own));
        let all = ((self.all, Whose::All), all);
        let of = |((limit, whose), spent): ((Limit, Whose), Spent)| {
            let tokens =
                limit.tokens.map(|most| Used { whose, most: Most::Tokens(most), used: spent.tokens });
            let cost = limit.cost.map(|most| Used { whose, most: Most::Cost(most), used: spent.cost });
            tokens.into_iter().chain(cost)
        };
        own.into_iter().chain([all]).flat_map(of).collect()
    }
}

impl Today {
    /// The limit that is reached; none where nothing is held by one.
    pub fn reached(&self) -> Option<Reached> {
        self.used.iter().find_map(Used::reached).filter(|_| !self.let_go)
    }

    /// `41,200 of 100,000 tokens, until 00:00`.
    pub fn words(&self, clock: impl Fn(Time) -> String) -> String {
        let used: Vec<String> = self.used.iter().map(Used::words).collect();
        let let_go = if self.let_go { ", let go for today" } else { "" };
        format!("{}{let_go}, until {}", used.join(", "), clock(self.until))
    }
}

impl Used {
    fn reached(&self) -> Option<Reached> {
        let Self { whose, most, used } = *self;
        let (Most::Tokens(limit) | Most::Cost(limit)) = most;
        (used >= limit).then_some(Reached { whose, most })
    }

    fn words(&self) -> String {
        let (used, most) = match self.most {
            Most::Tokens(most) => (thousands(self.used), format!("{} tokens", thousands(most))),
            Most::Cost(most) => (money(self.used), money(most)),
        };
        let of = if self.whose == Whose::All { " of everything together" } else { "" };
        format!("{used} of {most}{of}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::SessionKey;

    const LIMITED: Limit = Limit { tokens: Some(100_000), cost: Some(2_500_000) };

    fn today(rules: &Rules, tokens: u64, cost: u64) -> Option<Today> {
        let (scope, own) = (Scope::of(&SessionKey::console()), Spent { tokens, cost });
        rules.today(Some((&scope, own)), Spent { tokens: tokens + 1_000, cost }, Time::UNIX_EPOCH)
    }

    #[test]
    fn what_is_used_of_each_limit_is_told_and_until_when() {
        let rules = Rules { session: LIMITED, ..Rules::none(chrono_tz::UTC) };
        let told = |today: Today| today.words(|at| at.format("%H:%M").to_string());
        let words = told(today(&rules, 41_200, 1_250_000).unwrap());
        assert_eq!(words, "41,200 of 100,000 tokens, 1.25 of 2.50, until 00:00");
        let all = Rules { all: Limit { cost: None, ..LIMITED }, ..Rules::none(chrono_tz::UTC) };
        let words = told(Today { let_go: true, ..today(&all, 200_000, 0).unwrap() });
        assert_eq!(words, "201,000 of 100,000 tokens of everything together, let go for today, until 00:00");
        assert_eq!(today(&Rules::none(chrono_tz::UTC), 9, 9), None, "nothing is limited");
        assert_eq!(rules.today(None, Spent::default(), Time::UNIX_EPOCH), None, "all together is not");
    }

    #[test]
    fn what_is_used_tells_which_limit_is_reached_unless_it_was_let_go() {
        let rules = Rules { session: LIMITED, ..Rules::none(chrono_tz::UTC) };
        assert_eq!(today(&rules, 99_999, 2_499_999).unwrap().reached(), None);
        let reached = today(&rules, 0, 2_500_000).unwrap();
        let most = Most::Cost(2_500_000);
        assert_eq!(reached.reached(), Some(Reached { whose: Whose::Session, most }));
        assert_eq!(Today { let_go: true, ..reached }.reached(), None);
    }
}
