//! Scheduled tasks over SQLite: slots are taken once, by whoever looks, and what was cut off is told.

use std::collections::BTreeSet;

use chrono_tz::Tz;

use switchboard::domain::Time;
use switchboard::domain::api::JobState;
use switchboard::domain::cron::record::Imported;
use switchboard::domain::cron::{ClaimKey, Definition, ExecutionState, How, Misfire, Overlap, Owner, Slots};
use switchboard::domain::id::RunId;
use switchboard::domain::process::ProcessIdentity;
use switchboard::store::sqlite::Database;
use switchboard::store::{
    Claimed, ExecutionEnd, Held, JobQueries, JobsSeen, NewClaim, SeenFile, SeenRecord, Tick,
};

use crate::given::run;

pub(crate) fn when(text: &str) -> Time {
    text.parse().unwrap()
}

/// A job that is due by `schedule`.
pub(crate) fn job(id: &str, schedule: &str) -> Definition {
    let job = Definition::new(id.parse().unwrap(), schedule.to_owned());
    Definition { prompt: Some("look".to_owned()), ..job }
}

/// A record as the file would have it.
pub(crate) fn record(definition: &Definition) -> SeenRecord {
    SeenRecord {
        text: serde_json::to_string(definition).unwrap(),
        id: Some(definition.id.clone()),
        definition: Some(Box::new(definition.clone())),
        imported: Imported::default(),
        faults: Vec::new(),
    }
}

pub(crate) fn seen(jobs: &[Definition], at: Time) -> JobsSeen {
    JobsSeen { records: jobs.iter().map(record).collect(), file: SeenFile::Read, zone: Tz::UTC, at }
}

pub(crate) fn tick(at: Time) -> Tick {
    Tick { at, zone: Tz::UTC, limit: 10_000 }
}

pub(crate) fn claim(token: &str, at: Time) -> NewClaim {
    let process = ProcessIdentity { pid: 7, boot: "b".to_owned(), started: 1 };
    let owner = Owner { run: RunId("run-1".to_owned()), host: "anvil".to_owned(), process };
    NewClaim { owner, token: token.to_owned(), max_parallel: 4, at }
}

pub(crate) fn key(claimed: &Claimed, token: &str) -> ClaimKey {
    ClaimKey { execution: claimed.execution.id, token: token.to_owned() }
}

pub(crate) fn ended(claim: ClaimKey, state: ExecutionState, at: Time) -> ExecutionEnd {
    ExecutionEnd { claim, state, why: None, output: None, deliveries: Vec::new(), at }
}

struct Home {
    _home: tempfile::TempDir,
    store: Database,
}

impl Home {
    fn with(jobs: &[Definition], at: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut store = Database::open(&home.path().join("state.db")).unwrap();
        store.step(|t| t.open_run(&run(1, 0))).unwrap();
        store.step(|t| t.sync_jobs(&seen(jobs, when(at)))).unwrap();
        Self { _home: home, store }
    }

    fn sync(&mut self, jobs: &[Definition], at: &str) {
        self.store.step(|t| t.sync_jobs(&seen(jobs, when(at)))).unwrap();
    }

    /// Takes what is due; returns how many fires wait then.
    fn tick(&mut self, at: &str) -> usize {
        self.store.step(|t| t.fire_due(&tick(when(at)))).unwrap().0.fired
    }

    fn claim(&mut self, token: &str, at: &str) -> Option<Claimed> {
        self.store.step(|t| t.claim_execution(&claim(token, when(at)))).unwrap().0
    }

    fn next(&self, id: &str) -> Option<Time> {
        self.row(id).next
    }

    fn row(&self, id: &str) -> switchboard::domain::api::JobRow {
        let page = self.store.queries().jobs("", 100, when("2026-08-22T00:00:00Z")).unwrap();
        page.rows.into_iter().find(|row| row.name == id).unwrap()
    }

    /// The executions of a job, oldest first: slots, state and how.
    fn history(&self, id: &str) -> Vec<(Option<Slots>, ExecutionState, How)> {
        let found = self.store.queries().executions(Some(&id.parse().unwrap()), None, 100).unwrap();
        found.into_iter().rev().map(|it| (it.slots, it.state, it.how)).collect()
    }
}

#[test]
fn a_slot_is_fired_claimed_run_and_ended_and_the_next_one_is_strictly_later() {
    let mut home = Home::with(&[job("news", "0 13 * * *")], "2026-08-21T12:00:00Z");
    assert_eq!(home.next("news"), Some(when("2026-08-21T13:00:00Z")));
    assert_eq!(home.tick("2026-08-21T12:59:59Z"), 0);
    assert_eq!(home.tick("2026-08-21T13:00:00.014Z"), 1);
    assert_eq!(home.row("news").state, JobState::Waiting);
    for millis in 15..30 {
        assert_eq!(home.tick(&format!("2026-08-21T13:00:00.{millis:03}Z")), 0, "the slot is taken");
    }
    assert_eq!(home.next("news"), Some(when("2026-08-22T13:00:00Z")));
    let claimed = home.claim("t", "2026-08-21T13:00:00.020Z").unwrap();
    assert_eq!(claimed.definition.prompt.as_deref(), Some("look"));
    let key = key(&claimed, "t");
    let now = when("2026-08-21T13:00:00.023Z");
    assert_eq!(home.store.step(|t| t.begin_execution(&key, now)).unwrap().0, Held::Ours);
    assert_eq!(home.row("news").state, JobState::Running);
    let end = ended(key, ExecutionState::Succeeded, now);
    assert_eq!(home.store.step(|t| t.end_execution(&end)).unwrap().0, Held::Ours);
    assert_eq!(home.row("news").state, JobState::Scheduled);
    let slot = Slots::one(when("2026-08-21T13:00:00Z"));
    assert_eq!(home.history("news"), [(Some(slot), ExecutionState::Succeeded, How::OnTime)]);
}

#[test]
fn an_edited_schedule_is_computed_from_now_and_the_old_time_does_not_fire() {
    let mut home = Home::with(&[job("a", "0 7 * * *")], "2026-08-21T12:00:00Z");
    assert_eq!(home.next("a"), Some(when("2026-08-22T07:00:00Z")), "Saturday");
    home.sync(&[job("a", "0 7 * * 1-5")], "2026-08-21T18:00:00Z");
    assert_eq!(home.tick("2026-08-22T07:00:30Z"), 0);
    assert_eq!(home.next("a"), Some(when("2026-08-24T07:00:00Z")), "Monday");
    assert_eq!(home.history("a"), []);
}

#[test]
fn what_was_missed_is_one_run_with_its_count() {
    let mut home = Home::with(&[job("a", "* * * * *")], "2026-08-21T08:00:00Z");
    assert_eq!(home.tick("2026-08-21T10:30:20Z"), 1);
    let slots = Slots { first: when("2026-08-21T08:01:00Z"), last: when("2026-08-21T10:30:00Z"), count: 150 };
    assert_eq!(home.history("a"), [(Some(slots), ExecutionState::Waiting, How::CatchUp)]);
    let skips = Definition { misfire: Misfire::Skip, ..job("b", "0 16 * * 5") };
    let mut home = Home::with(&[skips], "2026-08-21T08:00:00Z");
    assert_eq!(home.tick("2026-08-23T10:06:00Z"), 0);
    let friday = Slots::one(when("2026-08-21T16:00:00Z"));
    assert_eq!(home.history("b"), [(Some(friday), ExecutionState::Skipped, How::Late)]);
}

#[test]
fn no_more_run_at_once_than_the_limit_and_no_job_beside_itself() {
    let mut jobs: Vec<Definition> = (0..6).map(|n| job(&format!("j{n}"), "0 9 * * *")).collect();
    jobs[1].misfire = Misfire::All(2);
    jobs[1].overlap = Overlap::Queue;
    let mut home = Home::with(&jobs, "2026-08-19T12:00:00Z");
    assert_eq!(home.tick("2026-08-21T09:00:00Z"), 7);
    let claimed: Vec<String> = (0..8)
        .map_while(|n| home.claim(&n.to_string(), "2026-08-21T09:00:00Z"))
        .map(|claimed| claimed.execution.job.to_string())
        .collect();
    assert_eq!(claimed, ["j0", "j1", "j2", "j3"], "the second run of j1 waits for the first");
}

#[test]
fn a_write_with_a_stale_token_is_dropped() {
    let mut home = Home::with(&[job("a", "0 9 * * *")], "2026-08-21T08:00:00Z");
    home.tick("2026-08-21T09:00:00Z");
    let first = home.claim("old", "2026-08-21T09:00:00Z").unwrap();
    let old = key(&first, "old");
    let dead = BTreeSet::from([old.clone()]);
    let heir = claim("heir", when("2026-08-21T09:00:05Z"));
    assert!(home.store.step(|t| t.free_executions(&dead, &heir)).unwrap().0.is_empty());
    let second = home.claim("new", "2026-08-21T09:00:06Z").unwrap();
    assert_eq!((second.execution.id, second.execution.attempt), (first.execution.id, 2));
    let now = when("2026-08-21T09:00:07Z");
    let stale = ended(old.clone(), ExecutionState::Failed, now);
    assert_eq!(home.store.step(|t| t.end_execution(&stale)).unwrap().0, Held::Lost);
    assert_eq!(home.store.step(|t| t.beat_execution(&old, now)).unwrap().0, Held::Lost);
    assert_eq!(home.store.step(|t| t.begin_execution(&old, now)).unwrap().0, Held::Lost);
    assert_eq!(home.history("a")[0].1, ExecutionState::Claimed);
}
