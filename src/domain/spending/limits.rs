//! Daily limits: what counts against which, when one is reached, and when the next day begins.

use chrono::{NaiveDate, NaiveTime};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::{Millionths, money};
use crate::domain::Time;
use crate::domain::cron::JobId;
use crate::domain::id::{ChatType, SessionKey};
use crate::domain::schedule::first_pass;
use crate::domain::session::Usage;

/// The most that may be used in a day; none: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// What they cost.
    pub cost: Option<Millionths>,
}

/// The limits, and the zone whose days they count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// That of each session. A new memory under the same key does not begin anew.
    pub session: Limit,
    /// That of each scheduled task.
    pub job: Limit,
    /// That of everything together.
    pub all: Limit,
    /// The operator's zone.
    #[serde(with = "zone_by_name")]
    pub zone: Tz,
}

mod zone_by_name {
    use chrono_tz::Tz;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(zone: &Tz, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(zone.name())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Tz, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// What was used in a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens, read and written.
    pub tokens: u64,
    /// What they cost.
    pub cost: Millionths,
}

impl From<&Usage> for Spent {
    fn from(usage: &Usage) -> Self {
        Self { tokens: usage.total(), cost: usage.cost }
    }
}

/// Whose use is counted together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The sessions under one key.
    Session(SessionKey),
    /// The runs of one scheduled task, and what is said in its session.
    Job(JobId),
}

impl Scope {
    /// The scope that a session's use counts in, besides everything.
    pub fn of(key: &SessionKey) -> Self {
        let parts = key.parts();
        let job = (parts.chat_type == ChatType::Job).then(|| parts.chat_id.parse().ok()).flatten();
        job.map_or_else(|| Self::Session(key.clone()), Self::Job)
    }

    /// The word that it is kept under.
    pub fn word(&self) -> String {
        match self {
            Self::Session(key) => format!("session:{key}"),
            Self::Job(job) => format!("job:{job}"),
        }
    }

    pub(super) fn limit(&self, rules: &Rules) -> (Limit, Whose) {
        match self {
            Self::Session(_) => (rules.session, Whose::Session),
            Self::Job(_) => (rules.job, Whose::Job),
        }
    }
}

/// The word that the use of everything is kept under.
pub const ALL: &str = "all";

/// Whose limit it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// A session's.
    Session,
    /// A scheduled task's.
    Job,
    /// Everything's.
    All,
}

/// A daily limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Most {
    /// So many tokens.
    Tokens(u64),
    /// So much money.
    Cost(Millionths),
}

/// A limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Whose.
    pub whose: Whose,
    /// How much it allows.
    pub most: Most,
}

impl Reached {
    /// `the daily limit of 50000 tokens of this session (spending.session_tokens)`.
    pub fn words(&self) -> String {
        let (of, key) = match self.whose {
            Whose::Session => ("this session", "session"),
            Whose::Job => ("this scheduled task", "job"),
            Whose::All => ("everything together", "all"),
        };
        match self.most {
            Most::Tokens(most) => format!("the daily limit of {most} tokens of {of} (spending.{key}_tokens)"),
            Most::Cost(most) => format!("the daily limit of {} of {of} (spending.{key}_cost)", money(most)),
        }
    }
}

/// A session that is held until the next day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentHold {
    /// The limit that is reached.
    pub reached: Reached,
    /// Since when it is held.
    pub since: Time,
    /// When the next day begins.
    pub until: Time,
}

impl Rules {
    /// No limits.
    pub fn none(zone: Tz) -> Self {
        Self { session: Limit::default(), job: Limit::default(), all: Limit::default(), zone }
    }

    /// Whether there is no limit at all.
    pub fn are_off(&self) -> bool {
        [self.session, self.job, self.all] == [Limit::default(); 3]
    }

    /// The day of an instant on the operator's calendar.
    pub fn day(&self, at: Time) -> NaiveDate {
        at.with_timezone(&self.zone).date_naive()
    }

    /// When the day after that of an instant begins: at midnight, or at the first instant after it where the
    /// clock jumps over it.
    pub fn next_day(&self, at: Time) -> Time {
        let days = std::iter::successors(self.day(at).succ_opt(), NaiveDate::succ_opt);
        let begins = |day: NaiveDate| first_pass(day.and_time(NaiveTime::MIN), self.zone);
        days.take(3).find_map(begins).filter(|begins| *begins > at).unwrap_or(at + chrono::TimeDelta::days(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BERLIN: Tz = chrono_tz::Europe::Berlin;

    fn at(text: &str) -> Time {
        text.parse().unwrap()
    }

    fn tokens(most: u64) -> Limit {
        Limit { tokens: Some(most), cost: None }
    }

    #[test]
    fn a_limit_is_reached_by_what_was_used_that_day_and_says_whose_it_is() {
        let rules = Rules { session: tokens(100), all: tokens(1_000), ..Rules::none(BERLIN) };
        let scope = Scope::of(&SessionKey::console());
        let of = |own, all| {
            let spent = |tokens| Spent { tokens, cost: 0 };
            rules.reached(&scope, spent(own), spent(all))
        };
        assert_eq!(of(99, 999), None);
        assert_eq!(of(100, 100), Some(Reached { whose: Whose::Session, most: Most::Tokens(100) }));
        assert_eq!(of(0, 1_000), Some(Reached { whose: Whose::All, most: Most::Tokens(1_000) }));
    }

    #[test]
    fn money_is_limited_like_tokens() {
        let limit = Limit { tokens: None, cost: Some(2_500_000) };
        let rules = Rules { all: limit, ..Rules::none(BERLIN) };
        let spent = |cost| Spent { tokens: 9_999, cost };
        let reached = |cost| rules.reached(&Scope::of(&SessionKey::console()), spent(cost), spent(cost));
        assert_eq!(reached(2_499_999), None);
        let words = reached(2_500_000).unwrap().words();
        assert_eq!(words, "the daily limit of 2.50 of everything together (spending.all_cost)");
    }

    #[test]
    fn a_scheduled_task_counts_as_itself() {
        let key: SessionKey = "agent:main:cron:job:nightly".parse().unwrap();
        assert_eq!(Scope::of(&key).word(), "job:nightly");
        let rules = Rules { job: tokens(1), ..Rules::none(BERLIN) };
        let reached = rules.reached(&Scope::of(&key), Spent { tokens: 1, cost: 0 }, Spent::default());
        assert_eq!(reached.map(|reached| reached.whose), Some(Whose::Job));
        let console = Scope::of(&SessionKey::console());
        assert_eq!(console.word(), format!("session:{}", SessionKey::console()));
    }

    #[test]
    fn a_day_is_the_operators_and_is_longer_or_shorter_where_the_clock_changes() {
        let rules = Rules::none(BERLIN);
        assert_eq!(rules.day(at("2026-11-29T22:59:59Z")).to_string(), "2026-11-29");
        assert_eq!(rules.day(at("2026-11-29T23:00:00Z")).to_string(), "2026-11-30");
        for (now, next) in [
            ("2026-11-30T12:00:00Z", "2026-11-30T23:00:00Z"),
            // 23 hours: the clock goes forward; 25: it goes back.
            ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
            ("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
        ] {
            assert_eq!(rules.next_day(at(now)), at(next), "{now}");
        }
        // Midnight itself does not exist: the day begins at one.
        let beirut = Rules::none(chrono_tz::Asia::Beirut);
        assert_eq!(beirut.next_day(at("2026-03-28T20:00:00Z")), at("2026-03-28T22:00:00Z"));
        // A whole day does not exist.
        let apia = Rules::none(chrono_tz::Pacific::Apia);
        assert_eq!(apia.next_day(at("2011-12-30T09:00:00Z")), at("2011-12-30T10:00:00Z"));
    }

    #[test]
    fn without_limits_nothing_is_reached() {
        let rules = Rules::none(BERLIN);
        assert!(rules.are_off());
        let all = Spent { tokens: u64::MAX, cost: u64::MAX };
        assert_eq!(rules.reached(&Scope::of(&SessionKey::console()), all, all), None);
    }
}
