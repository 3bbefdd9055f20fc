//! Another scheduler on the same `jobs.json`: it writes there that it ran jobs, and each of them runs twice.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::record::read_imported;
use crate::domain::Time;

/// From so many looks at the file on at which another program had run jobs since the one before, it is a
/// scheduler at work: a file that is copied or taken out of a repository says so once.
pub const SCHEDULER_FROM: usize = 3;

/// What lies so far back says nothing any more.
fn counts_for() -> TimeDelta {
    TimeDelta::days(7)
}

/// The looks at the file at which another program had run jobs since the one before, newest last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RanElsewhere(Vec<Time>);

impl RanElsewhere {
    /// Such a look; returns how many count.
    pub fn note(&mut self, at: Time) -> usize {
        self.0.push(at);
        let surplus = self.0.len().saturating_sub(SCHEDULER_FROM);
        self.0.drain(..surplus);
        self.0.len()
    }

    /// Forgets what lies too far back.
    pub fn pass_to(&mut self, at: Time) {
        self.0.retain(|look| at - *look <= counts_for());
    }

    /// Whether another scheduler is at work.
    pub fn is_a_scheduler(&self) -> bool {
        self.0.len() >= SCHEDULER_FROM
    }
}

/// Whether a record says that its job ran since it was written as `before`. We never write that.
pub fn ran_elsewhere(before: &str, now: &str) -> bool {
    let (before, now) = (read_imported(before), read_imported(now));
    now.last_run_at > before.last_run_at || now.completed > before.completed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: i64) -> Time {
        Time::UNIX_EPOCH + TimeDelta::days(day)
    }

    #[test]
    fn a_job_ran_elsewhere_when_its_record_says_that_it_ran_again() {
        let record = |more: &str| format!("{{\"id\": \"a\", \"schedule\": \"@daily\"{more}}}");
        let ran = |at: &str| record(&format!(", \"last_run_at\": \"2026-11-{at}T08:00:00+01:00\""));
        assert!(ran_elsewhere(&record(""), &ran("29")));
        assert!(ran_elsewhere(&ran("29"), &ran("30")));
        assert!(!ran_elsewhere(&ran("30"), &ran("29")), "a file of a repository has an older one");
        assert!(!ran_elsewhere(&ran("29"), &record(", \"prompt\": \"x\"")), "it was cleared");
        assert!(!ran_elsewhere(&record(""), &record(", \"next_run_at\": \"2026-11-30T08:00:00Z\"")));
        let counted = |n: u32| record(&format!(", \"repeat\": {{\"times\": 5, \"completed\": {n}}}"));
        assert!(ran_elsewhere(&counted(1), &counted(2)));
        assert!(!ran_elsewhere(&ran("29"), "no record"), "it tells of no run");
        assert!(ran_elsewhere("no record", &ran("29")), "it told of none before");
    }

    #[test]
    fn several_looks_within_a_week_are_a_scheduler_and_a_week_without_one_is_none() {
        let mut ran = RanElsewhere::default();
        assert_eq!((ran.note(at(0)), ran.note(at(5))), (1, 2));
        assert!(!ran.is_a_scheduler(), "a file was copied twice");
        ran.pass_to(at(8));
        assert_eq!(ran.note(at(8)), 2, "the first lies too far back");
        assert_eq!(ran.note(at(9)), 3);
        assert!(ran.is_a_scheduler());
        assert_eq!(ran.note(at(10)), 3, "no more are kept than count");
        ran.pass_to(at(18));
        assert_eq!(ran, RanElsewhere::default());
    }
}
