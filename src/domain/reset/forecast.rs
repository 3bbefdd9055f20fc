//! The forecast: what a screen says about a session's next reset.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::decision::{Moments, idle_since};
use super::{Block, Blocker, ResetFacts, ResetReason, ResetRule, Verdict, Work, decide};
use crate::domain::Time;

/// What will happen to a session by its reset policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forecast {
    /// What a message would meet now.
    pub next_message: Verdict,
    /// Since when it is idle.
    pub idle_since: Time,
    /// When it becomes due by idleness if nobody acts till then; none where idleness does not count.
    pub idle_after: Option<Time>,
    /// Its daily boundary, passed or to come; none where that does not count.
    pub boundary: Option<Time>,
}

/// Tells what will happen, without touching anything.
pub fn forecast(rule: &ResetRule, facts: &ResetFacts<'_>, now: Time) -> Forecast {
    let moments = Moments::of(&rule.policy, facts.began_at, facts.last_activity_at, rule.zone);
    Forecast {
        next_message: decide(rule, facts, now),
        idle_since: idle_since(facts.began_at, facts.last_activity_at),
        idle_after: moments.idle_after,
        boundary: moments.boundary,
    }
}

impl Forecast {
    /// When it is another by time alone; none where only what happens changes it.
    pub fn changes_at(&self, now: Time) -> Option<Time> {
        match self.next_message {
            Verdict::Keep => {
                [self.idle_after, self.boundary].into_iter().flatten().filter(|at| *at >= now).min()
            }
            Verdict::Reset { .. } | Verdict::Blocked(_) => None,
        }
    }

    /// The forecast in one line, on the wall clock of `zone`.
    pub fn words(&self, now: Time, zone: Tz) -> String {
        match &self.next_message {
            Verdict::Keep => self.later(now, zone),
            Verdict::Reset { reason: ResetReason::Suspended } => {
                "suspended: the next message starts anew".to_owned()
            }
            Verdict::Reset { reason } => {
                format!("resets on the next message: {}", self.why(*reason, now, zone))
            }
            Verdict::Blocked(block) => {
                format!("{}, no reset: {}", self.why(block.reason, now, zone), block.words(now))
            }
        }
    }

    fn later(&self, now: Time, zone: Tz) -> String {
        let clock = |at| clock(at, now, zone);
        match (self.idle_after, self.boundary) {
            (None, None) => "no reset by time".to_owned(),
            (Some(idle), None) => format!("resets after {} {zone} if idle till then", clock(idle)),
            (Some(idle), Some(boundary)) if idle < boundary => {
                format!("resets after {} if idle till then, else at {} {zone}", clock(idle), clock(boundary))
            }
            (_, Some(boundary)) => format!("resets at {} {zone}", clock(boundary)),
        }
    }

    /// Why a session is reset, in a few words: `idle 25 h`.
    pub fn why(&self, reason: ResetReason, now: Time, zone: Tz) -> String {
        match (reason, self.boundary) {
            (ResetReason::Idle, _) => format!("idle {}", lasted(self.idle_since, now)),
            (ResetReason::Daily, Some(boundary)) => {
                format!("{} {zone} has passed", clock(boundary, now, zone))
            }
            (ResetReason::Daily, None) => "the daily boundary has passed".to_owned(),
            (ResetReason::Suspended, _) => "it was suspended".to_owned(),
        }
    }
}

impl Block {
    /// Who blocks, and for how long.
    pub fn words(&self, now: Time) -> String {
        let who = match &self.by {
            Blocker::RunningTurn => "a turn runs".to_owned(),
            Blocker::ResumePending => "it was cut off and will be resumed".to_owned(),
            Blocker::Background { work } => {
                let told: Vec<String> = work.iter().map(|work| work.words(now)).collect();
                format!("background work: {}", told.join(", "))
            }
            Blocker::Unknown { why } => format!("background work is unknown and counts as active: {why}"),
        };
        format!("{who}; blocked for {}", lasted(self.since, now))
    }
}

impl Work {
    /// It, with its age.
    pub fn words(&self, now: Time) -> String {
        format!("{} ({})", self.what, lasted(self.since, now))
    }
}

/// A minute near now, as a person says it: `04:00 tomorrow`.
fn clock(at: Time, now: Time, zone: Tz) -> String {
    let (at, today) = (at.with_timezone(&zone), now.with_timezone(&zone).date_naive());
    let minute = at.format("%H:%M");
    match (at.date_naive() - today).num_days() {
        -1 => format!("{minute} yesterday"),
        0 => format!("{minute} today"),
        1 => format!("{minute} tomorrow"),
        _ => format!("{minute} on {}", at.format("%Y-%m-%d")),
    }
}

/// A time that has passed, in its largest unit.
fn lasted(from: Time, to: Time) -> String {
    let span = to - from;
    match span.num_minutes() {
        ..60 => format!("{} min", span.num_minutes().max(0)),
        60..2_880 => format!("{} h", span.num_hours()),
        _ => format!("{} d", span.num_days()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Background, Mark, ResetMode, ResetPolicy, TurnNow};
    use super::*;
    use chrono::DateTime;

    const BERLIN: Tz = Tz::Europe__Berlin;

    fn at(text: &str) -> Time {
        DateTime::parse_from_rfc3339(text).unwrap().to_utc()
    }

    fn told(mode: ResetMode, last: &str, background: &Background, now: &str) -> String {
        let policy = ResetPolicy { mode, idle_minutes: 1440, at_hour: 4 };
        let rule = ResetRule { policy, background_max_age: None, zone: BERLIN };
        let facts = ResetFacts {
            began_at: at("2026-05-17T12:00:00+02:00"),
            last_activity_at: at(last),
            turn: TurnNow::None,
            mark: Mark::None,
            background,
        };
        forecast(&rule, &facts, at(now)).words(at(now), BERLIN)
    }

    #[test]
    fn the_forecast_says_what_will_happen_and_why() {
        use ResetMode::{Both, Daily, Idle};
        let (noon, late) = ("2026-05-17T12:00:00+02:00", "2026-05-17T23:00:00+02:00");
        for (mode, last, now, words) in [
            (ResetMode::None, noon, "2026-06-30T00:00:00+02:00", "no reset by time"),
            (Daily, noon, late, "resets at 04:00 tomorrow Europe/Berlin"),
            (Daily, noon, "2026-05-18T03:59:00+02:00", "resets at 04:00 today Europe/Berlin"),
            (
                Daily,
                noon,
                "2026-05-18T04:00:00+02:00",
                "resets on the next message: 04:00 today Europe/Berlin has passed",
            ),
            (
                Daily,
                noon,
                "2026-05-19T04:00:00+02:00",
                "resets on the next message: 04:00 yesterday Europe/Berlin has passed",
            ),
            (
                Daily,
                noon,
                "2026-05-20T04:00:00+02:00",
                "resets on the next message: 04:00 on 2026-05-18 Europe/Berlin has passed",
            ),
            (Idle, noon, late, "resets after 12:00 tomorrow Europe/Berlin if idle till then"),
            (Idle, noon, "2026-05-18T13:00:00+02:00", "resets on the next message: idle 25 h"),
            (Idle, noon, "2026-05-20T13:00:00+02:00", "resets on the next message: idle 3 d"),
            (Both, noon, late, "resets at 04:00 tomorrow Europe/Berlin"),
        ] {
            assert_eq!(told(mode, last, &Background::None, now), words);
        }
    }

    #[test]
    fn with_both_the_idle_limit_is_told_where_it_comes_before_the_boundary() {
        let policy = ResetPolicy { mode: ResetMode::Both, idle_minutes: 60, at_hour: 4 };
        let rule = ResetRule { policy, background_max_age: None, zone: BERLIN };
        let now = at("2026-05-17T12:00:00+02:00");
        let facts = ResetFacts {
            began_at: now,
            last_activity_at: now,
            turn: TurnNow::None,
            mark: Mark::None,
            background: &Background::None,
        };
        let words = forecast(&rule, &facts, now).words(now, BERLIN);
        assert_eq!(words, "resets after 13:00 today if idle till then, else at 04:00 tomorrow Europe/Berlin");
    }

    #[test]
    fn a_block_says_who_and_for_how_long() {
        let noon = "2026-05-17T12:00:00+02:00";
        let work = vec![Work { what: "sleep 999999".to_owned(), since: at("2026-05-18T02:00:00+02:00") }];
        for (background, words) in [
            (
                Background::Active { work },
                "idle 36 h, no reset: background work: sleep 999999 (22 h); blocked for 12 h",
            ),
            (
                Background::Unknown { why: "the list can't be read".to_owned() },
                "idle 36 h, no reset: background work is unknown and counts as active: \
                 the list can't be read; blocked for 12 h",
            ),
        ] {
            assert_eq!(told(ResetMode::Idle, noon, &background, "2026-05-19T00:00:00+02:00"), words);
        }
        let block = |by| Block { reason: ResetReason::Idle, by, since: at(noon) }.words(at(noon));
        assert_eq!(block(Blocker::RunningTurn), "a turn runs; blocked for 0 min");
        assert_eq!(block(Blocker::ResumePending), "it was cut off and will be resumed; blocked for 0 min");
    }
}
