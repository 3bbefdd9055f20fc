//! Scheduled tasks over SQLite: slots are taken once, by whoever looks, and what was cut off is told.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use chrono_tz::Tz;

use switchboard::domain::Time;
use switchboard::domain::alert::{Acknowledgement, AlertKey};
use switchboard::domain::api::{EventPage, FileTrouble, JobFound, JobState};
use switchboard::domain::cron::record::Imported;
use switchboard::domain::cron::{
    ClaimKey, Counting, Definition, Delivery, DeliveryState, ExecutionState, How, Misfire, Overlap, Owner,
    SessionMode, Slots, Target,
};
use switchboard::domain::event::Level;
use switchboard::domain::history::Body;
use switchboard::domain::id::{RunId, SessionId};
use switchboard::domain::process::ProcessIdentity;
use switchboard::domain::queue::Source;
use switchboard::domain::session::EndReason;
use switchboard::domain::turn::{Outcome, Output, TurnEnd};
use switchboard::store::sqlite::Database;
use switchboard::store::{
    Claimed, ExecutionEnd, Held, JobQueries, JobsSeen, NewClaim, NewGate, NewMessage, NewRun, Post, Queries,
    RunTurn, SeenFile, SeenRecord, Tick,
};

use crate::given::{end, message, run};

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
    JobsSeen {
        records: jobs.iter().map(record).collect(),
        file: SeenFile::Read,
        removed: BTreeSet::new(),
        zone: Tz::UTC,
        at,
    }
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
    ExecutionEnd { claim, state, why: None, output: None, deliveries: Vec::new(), cut_with: None, at }
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

#[test]
fn two_tickers_on_one_file_run_each_of_a_thousand_slots_once() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let jobs: Vec<Definition> = (0..1000).map(|n| job(&format!("j{n}"), "0 9 * * *")).collect();
    let mut first = Database::open(&path).unwrap();
    first.step(|t| t.open_run(&run(1, 0))).unwrap();
    first.step(|t| t.sync_jobs(&seen(&jobs, when("2026-08-21T08:00:00Z")))).unwrap();
    let second = Database::open(&path).unwrap();
    let ticker = |mut store: Database, name: &'static str| {
        move || {
            let (now, mut fired, mut claims) = (when("2026-08-21T09:00:00Z"), 0, Vec::new());
            // Small steps, so that each meets the other in the middle of its work.
            let look = |store: &mut Database| {
                patiently(store, &mut |t| t.fire_due(&Tick { limit: 7, ..tick(now) })).due
            };
            loop {
                let due = look(&mut store);
                fired += due;
                let token = format!("{name}-{fired}-{}", claims.len());
                let new = NewClaim { max_parallel: usize::MAX, ..claim(&token, now) };
                let claimed = patiently(&mut store, &mut |t| t.claim_execution(&new));
                if due == 0 && claimed.is_none() {
                    return claims;
                }
                claims.extend(claimed.map(|claimed| claimed.execution.id));
            }
        }
    };
    let one = std::thread::spawn(ticker(first, "one"));
    let two = std::thread::spawn(ticker(second, "two"));
    let mut claims = one.join().unwrap();
    claims.extend(two.join().unwrap());
    let distinct: BTreeSet<_> = claims.iter().collect();
    assert_eq!((claims.len(), distinct.len()), (1000, 1000), "each runs once");
    let store = Database::open(&path).unwrap();
    let all = store.queries().executions(None, None, 2000).unwrap();
    let slots: BTreeSet<_> = all.iter().map(|it| (it.job.clone(), it.slots.unwrap().first)).collect();
    assert_eq!((all.len(), slots.len()), (1000, 1000));
}

/// Tries again while the other store holds the file.
fn patiently<T>(
    store: &mut Database,
    step: &mut dyn FnMut(&mut dyn switchboard::store::Transitions) -> switchboard::store::Result<T>,
) -> T {
    loop {
        match store.step(&mut *step) {
            Ok((value, _)) => return value,
            Err(switchboard::store::StoreError::Unavailable { .. }) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn an_interval_does_not_drift_and_outlives_restarts() {
    let mut home = Home::with(&[job("a", "every 15m")], "2026-08-21T00:00:00Z");
    let mut now = when("2026-08-21T00:00:00Z");
    for _ in 0..96 {
        let next = home.next("a").unwrap();
        assert!(next > now);
        now = next;
        assert_eq!(home.tick(&now.to_rfc3339()), 1);
        let claimed = home.store.step(|t| t.claim_execution(&claim("t", now))).unwrap().0.unwrap();
        let finish = now + chrono::TimeDelta::seconds(330);
        let end = ended(key(&claimed, "t"), ExecutionState::Succeeded, finish);
        home.store.step(|t| t.end_execution(&end)).unwrap();
    }
    assert_eq!(now, when("2026-08-22T00:00:00Z"), "96 runs in a day");
    // A start reads the same file: the anchor and the next slot stay.
    home.sync(&[job("a", "every 15m")], "2026-08-22T00:07:00Z");
    assert_eq!(home.next("a"), Some(when("2026-08-22T00:15:00Z")));
}

#[test]
fn a_one_shot_runs_once_or_ends_as_missed_and_is_completed_either_way() {
    let once = [job("now", "2026-08-21T04:22"), job("past", "2026-08-14T09:00")];
    let mut home = Home::with(&once, "2026-08-21T04:22:03Z");
    assert_eq!(home.tick("2026-08-21T04:22:03Z"), 1);
    assert_eq!(home.history("past")[0].1, ExecutionState::Missed);
    assert!(matches!(home.row("past").state, JobState::Completed { .. }));
    let claimed = home.claim("t", "2026-08-21T04:22:03Z").unwrap();
    assert_eq!(home.row("now").state, JobState::Running);
    let end = ended(key(&claimed, "t"), ExecutionState::Failed, when("2026-08-21T04:23:00Z"));
    home.store.step(|t| t.end_execution(&end)).unwrap();
    assert!(matches!(home.row("now").state, JobState::Completed { .. }));
    home.sync(&once, "2026-08-21T05:00:00Z");
    assert_eq!(home.tick("2026-08-21T05:00:00Z"), 0, "ran once, never again");
    home.sync(&[job("now", "2026-08-21T06:00"), once[1].clone()], "2026-08-21T05:00:01Z");
    assert_eq!(home.next("now"), Some(when("2026-08-21T06:00:00Z")), "another time is another run");
}

#[test]
fn run_now_moves_no_slot_and_counts_for_repeat_only_if_asked() {
    let weekdays = Definition { overlap: Overlap::Allow, repeat: Some(3), ..job("a", "30 7 * * 1-5") };
    let mut home = Home::with(&[weekdays], "2026-08-20T12:00:00Z");
    let next = Some(when("2026-08-21T07:30:00Z"));
    for (counting, at, left) in
        [(Counting::Beside, "2026-08-20T16:58:00Z", 3), (Counting::Counts, "2026-08-20T17:00:00Z", 2)]
    {
        home.store.step(|t| t.run_job_now(&"a".parse().unwrap(), counting, when(at))).unwrap();
        assert_eq!((home.next("a"), home.row("a").runs_left), (next, Some(left)));
    }
    assert_eq!(home.tick("2026-08-21T07:30:00Z"), 1);
    let slot = Slots::one(when("2026-08-21T07:30:00Z"));
    let slots: Vec<_> = home.history("a").into_iter().map(|(slots, ..)| slots).collect();
    assert_eq!(slots, [None, None, Some(slot)]);
}

#[test]
fn a_run_that_is_asked_for_waits_behind_slots_that_are_due_and_leaves_none_out() {
    let mut home = Home::with(&[job("a", "0 * * * *")], "2026-08-21T08:30:00Z");
    let a = "a".parse().unwrap();
    home.store.step(|t| t.run_job_now(&a, Counting::Beside, when("2026-08-21T08:31:00Z"))).unwrap();
    assert!(home.claim("t", "2026-08-21T09:00:00Z").is_none(), "a slot is due, and not taken yet");
    assert_eq!(home.tick("2026-08-21T09:00:00Z"), 1);
    let asked = home.claim("t", "2026-08-21T09:00:00Z").unwrap();
    assert_eq!(asked.execution.how, How::RunNow);
    let end = ended(key(&asked, "t"), ExecutionState::Succeeded, when("2026-08-21T09:00:05Z"));
    home.store.step(|t| t.end_execution(&end)).unwrap();
    assert_eq!(home.claim("u", "2026-08-21T09:00:05Z").unwrap().execution.how, How::OnTime);
}

#[test]
fn a_run_that_is_asked_for_replaces_the_others_where_that_is_the_rule() {
    let replaces = Definition { overlap: Overlap::Replace, ..job("a", "0 9 * * *") };
    let mut home = Home::with(&[replaces], "2026-08-21T08:00:00Z");
    let a = "a".parse().unwrap();
    let ask = |home: &mut Home| {
        home.store.step(|t| t.run_job_now(&a, Counting::Beside, when("2026-08-21T08:01:00Z"))).unwrap().0
    };
    let first = ask(&mut home).execution;
    home.claim("t", "2026-08-21T08:01:00Z").unwrap();
    assert_eq!(ask(&mut home).replaced, [first]);
    assert_eq!(ask(&mut home).replaced, [first], "it was told to stop, and has not ended");
    let states: Vec<_> = home.history("a").into_iter().map(|(_, state, _)| state).collect();
    assert_eq!(states, [ExecutionState::Claimed, ExecutionState::Skipped, ExecutionState::Waiting]);
}

#[test]
fn an_execution_is_withdrawn_only_while_it_waits() {
    let mut home = Home::with(&[job("a", "0 9 * * *")], "2026-08-21T08:00:00Z");
    home.tick("2026-08-21T09:00:00Z");
    let fire = home.store.queries().executions(None, None, 1).unwrap()[0].id;
    let withdraw = |home: &mut Home| {
        home.store.step(|t| t.withdraw_execution(fire, when("2026-08-21T09:00:01Z"))).map(|_| ())
    };
    withdraw(&mut home).unwrap();
    assert_eq!(home.row("a").state, JobState::Scheduled);
    let again = withdraw(&mut home).unwrap_err().to_string();
    assert_eq!(again, "refused: run 1 does not wait any more");
    assert!(home.claim("t", "2026-08-21T09:00:02Z").is_none());
}

#[test]
fn run_now_beside_a_run_is_refused_with_its_owner_and_age() {
    let mut home = Home::with(&[job("a", "0 9 * * *")], "2026-08-21T08:00:00Z");
    let run_now = |home: &mut Home, at: &str| {
        home.store
            .step(|t| t.run_job_now(&"a".parse().unwrap(), Counting::Beside, when(at)))
            .map(|(id, _)| id)
    };
    run_now(&mut home, "2026-08-21T08:00:00Z").unwrap();
    let claimed = home.claim("t", "2026-08-21T08:00:00Z").unwrap();
    let refused = run_now(&mut home, "2026-08-21T08:00:05Z").unwrap_err().to_string();
    assert!(refused.contains("run 1 already, claimed by run run-1, pid 7 on anvil 5 s ago"), "{refused}");
    // The owner is known to be dead: it waits again at once, and runs.
    let dead = BTreeSet::from([key(&claimed, "t")]);
    let heir = claim("h", when("2026-08-21T08:00:06Z"));
    home.store.step(|t| t.free_executions(&dead, &heir)).unwrap();
    assert!(home.claim("u", "2026-08-21T08:00:06Z").is_some());
}

#[test]
fn a_claim_of_another_host_is_freed_only_after_its_expiry() {
    let mut home = Home::with(&[job("a", "0 9 * * *")], "2026-08-21T08:00:00Z");
    home.tick("2026-08-21T09:00:00Z");
    let claimed = home.claim("t", "2026-08-21T09:00:00Z").unwrap();
    let begun = key(&claimed, "t");
    home.store.step(|t| t.begin_execution(&begun, when("2026-08-21T09:00:01Z"))).unwrap();
    let free = |home: &mut Home, at: &str| {
        let heir = claim("h", when(at));
        home.store.step(|t| t.free_executions(&BTreeSet::new(), &heir)).unwrap();
        home.history("a")[0].1
    };
    assert_eq!(free(&mut home, "2026-08-21T09:04:59Z"), ExecutionState::Running);
    let beat = home.store.step(|t| t.beat_execution(&begun, when("2026-08-21T09:04:59Z"))).unwrap().0;
    assert_eq!(beat, Held::Ours);
    assert_eq!(free(&mut home, "2026-08-21T09:09:58Z"), ExecutionState::Running, "it lives");
    assert_eq!(free(&mut home, "2026-08-21T09:09:59Z"), ExecutionState::Unknown);
    assert_eq!(home.row("a").state, JobState::Scheduled, "the job is free again");
    let end = ended(begun, ExecutionState::Succeeded, when("2026-08-21T09:10:00Z"));
    assert_eq!(home.store.step(|t| t.end_execution(&end)).unwrap().0, Held::Lost);
}

#[test]
fn a_run_whose_engine_died_ends_at_its_last_sign_of_life_and_is_delivered_as_a_failure() {
    let somewhere =
        Definition { deliver_to: Target::list("local,console").unwrap(), ..job("a", "0 9 * * *") };
    let mut home = Home::with(&[somewhere], "2026-08-21T08:00:00Z");
    home.tick("2026-08-21T09:00:00Z");
    let claimed = home.claim("t", "2026-08-21T09:00:00Z").unwrap();
    let begun = key(&claimed, "t");
    home.store.step(|t| t.begin_execution(&begun, when("2026-08-21T09:00:01Z"))).unwrap();
    home.store.step(|t| t.beat_execution(&begun, when("2026-08-21T09:00:31Z"))).unwrap();
    let heir = claim("h", when("2026-08-21T09:30:00Z"));
    home.store.step(|t| t.free_executions(&BTreeSet::from([begun.clone()]), &heir)).unwrap();
    let run = home.store.queries().execution(claimed.execution.id).unwrap().unwrap();
    assert_eq!((run.state, run.why.as_deref()), (ExecutionState::Unknown, Some("the engine died")));
    assert_eq!(run.ended_at, Some(when("2026-08-21T09:00:31Z")));
    let states: Vec<_> = run.deliveries.iter().map(|it| (it.target.to_string(), it.state)).collect();
    let [local, console] = ["local", "console"].map(str::to_owned);
    assert_eq!(states, [(local, DeliveryState::Failed), (console, DeliveryState::Pending)]);
}

#[test]
fn a_run_that_ends_between_found_dead_and_freed_keeps_its_end() {
    let mut home = Home::with(&[job("a", "0 9 * * *")], "2026-08-21T08:00:00Z");
    home.tick("2026-08-21T09:00:00Z");
    let claimed = home.claim("t", "2026-08-21T09:00:00Z").unwrap();
    let dead = BTreeSet::from([key(&claimed, "t")]);
    let end = ended(key(&claimed, "t"), ExecutionState::Succeeded, when("2026-08-21T09:00:03Z"));
    home.store.step(|t| t.end_execution(&end)).unwrap();
    let heir = claim("h", when("2026-08-21T09:00:04Z"));
    let (freed, told) = home.store.step(|t| t.free_executions(&dead, &heir)).unwrap();
    assert!(freed.is_empty() && told.is_empty());
    assert_eq!(home.history("a")[0].1, ExecutionState::Succeeded);
}

#[test]
fn a_fire_that_never_began_is_restored_once() {
    let mut home = Home::with(&[job("a", "0 9 * * *")], "2026-08-21T08:00:00Z");
    home.tick("2026-08-21T09:00:00Z");
    for (token, state) in [("t", ExecutionState::Waiting), ("u", ExecutionState::Interrupted)] {
        let claimed = home.claim(token, "2026-08-21T09:00:00Z").unwrap();
        let heir = claim("h", when("2026-08-21T09:00:01Z"));
        home.store.step(|t| t.free_executions(&BTreeSet::from([key(&claimed, token)]), &heir)).unwrap();
        assert_eq!(home.history("a")[0].1, state);
    }
    assert!(home.claim("v", "2026-08-21T09:00:02Z").is_none());
}

#[test]
fn a_job_is_told_no_more_slots_than_it_has_runs_left() {
    let twice = Definition { repeat: Some(2), ..job("a", "0 9 * * *") };
    let home = Home::with(&[twice], "2026-08-21T08:30:00Z");
    let now = when("2026-08-21T08:30:00Z");
    let JobFound::One(detail) = home.store.queries().job("a", Tz::UTC, now).unwrap() else { panic!() };
    assert_eq!(detail.next, [when("2026-08-21T09:00:00Z"), when("2026-08-22T09:00:00Z")]);
    let on = |day: &str| {
        let from = when(&format!("2026-08-{day}T00:00:00Z"));
        home.store.queries().timeline(from, from + TimeDelta::days(1), 9, Tz::UTC).unwrap().remove(0).slots
    };
    assert_eq!(on("22"), [when("2026-08-22T09:00:00Z")]);
    assert!(on("23").is_empty());
}

#[test]
fn slots_that_pass_during_a_pause_are_one_row_and_never_caught_up() {
    let mut home = Home::with(&[job("a", "0 * * * *")], "2026-08-21T08:30:00Z");
    let id = "a".parse().unwrap();
    home.store.step(|t| t.pause_job(&id, Some("holiday"), when("2026-08-21T08:31:00Z"))).unwrap();
    assert_eq!((home.tick("2026-08-21T12:10:00Z"), home.next("a")), (0, None));
    // The file that says nothing of it is read again: the pause stays.
    home.sync(&[Definition { repeat: Some(9), ..job("a", "0 * * * *") }], "2026-08-21T12:20:00Z");
    assert!(matches!(home.row("a").state, JobState::Paused));
    home.store.step(|t| t.resume_job(&id, when("2026-08-21T12:30:00Z"))).unwrap();
    let slots = Slots { first: when("2026-08-21T09:00:00Z"), last: when("2026-08-21T12:00:00Z"), count: 4 };
    assert_eq!(home.history("a"), [(Some(slots), ExecutionState::Skipped, How::Late)]);
    assert_eq!(home.next("a"), Some(when("2026-08-21T13:00:00Z")));
    let why = home.store.queries().executions(Some(&id), None, 1).unwrap()[0].why.clone();
    assert_eq!(why.as_deref(), Some("paused: holiday"));
}

#[test]
fn a_job_that_vanishes_keeps_its_state_and_is_taken_up_again() {
    let often = || Definition { repeat: Some(5), ..job("a", "0 * * * *") };
    let mut home = Home::with(&[often(), job("b", "0 * * * *")], "2026-08-21T08:30:00Z");
    home.tick("2026-08-21T09:00:00Z");
    home.sync(&[job("b", "0 * * * *")], "2026-08-21T09:30:00Z");
    assert!(matches!(home.row("a").state, JobState::Vanished { .. }));
    let alerts = home.store.queries().alerts(9).unwrap();
    assert_eq!(alerts[0].words, "job a is gone from jobs.json; its state is kept for 30 days");
    assert_eq!(home.history("a")[0].1, ExecutionState::Skipped, "what waited never begins");
    home.sync(&[often(), job("b", "0 * * * *")], "2026-08-21T11:30:00Z");
    assert_eq!(home.store.queries().alerts(9).unwrap(), []);
    assert_eq!((home.next("a"), home.row("a").runs_left), (Some(when("2026-08-21T12:00:00Z")), Some(4)));
    let away = Slots { first: when("2026-08-21T10:00:00Z"), last: when("2026-08-21T11:00:00Z"), count: 2 };
    assert_eq!(home.history("a")[1].0, Some(away));
}

#[test]
fn a_job_that_is_gone_stands_before_those_that_need_nobody() {
    let mut home = Home::with(&[job("a", "@daily"), job("z", "@daily")], "2026-08-21T12:00:00Z");
    home.sync(&[job("a", "@daily")], "2026-08-21T12:01:00Z");
    let page = home.store.queries().jobs("", 100, when("2026-08-21T12:02:00Z")).unwrap();
    let names: Vec<&str> = page.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["z", "a"]);
}

#[test]
fn a_file_that_is_gone_has_one_alert_and_what_is_not_in_the_next_one_has_its_own() {
    let jobs = [job("a", "0 * * * *"), job("b", "0 9 * * *"), job("past", "2026-08-14T09:00")];
    let mut home = Home::with(&jobs, "2026-08-21T08:30:00Z");
    home.tick("2026-08-21T08:30:00Z");
    assert!(matches!(home.row("past").state, JobState::Completed { .. }));
    let alerts = |home: &Home| {
        home.store.queries().alerts(9).unwrap().into_iter().map(|it| it.words).collect::<Vec<_>>()
    };
    let missing = JobsSeen { file: SeenFile::Missing, ..seen(&[], when("2026-08-21T08:40:00Z")) };
    home.store.step(|t| t.sync_jobs(&missing)).unwrap();
    assert_eq!(alerts(&home), ["jobs.json is gone, and with it 2 jobs; their state is kept for 30 days"]);
    home.store.step(|t| t.sync_jobs(&missing)).unwrap();
    assert_eq!(alerts(&home).len(), 1, "it is told once");
    home.sync(&jobs[..1], "2026-08-21T08:50:00Z");
    assert_eq!(alerts(&home), ["job b is gone from jobs.json; its state is kept for 30 days"]);
    home.sync(&jobs[..2], "2026-08-21T08:51:00Z");
    assert_eq!(alerts(&home), Vec::<String>::new());
}

#[test]
fn a_job_that_went_with_the_file_is_missed_in_the_next_one_also_where_that_was_unreadable_at_first() {
    let jobs = [job("a", "0 * * * *"), job("b", "0 9 * * *")];
    let mut home = Home::with(&jobs, "2026-08-21T08:30:00Z");
    let alerts = |home: &Home| {
        home.store.queries().alerts(9).unwrap().into_iter().map(|it| it.key.to_string()).collect::<Vec<_>>()
    };
    let missing = |at| JobsSeen { file: SeenFile::Missing, ..seen(&[], when(at)) };
    let unreadable = |home: &mut Home, at: &str| {
        let trouble =
            FileTrouble { place: None, why: "no comma".to_owned(), excerpt: Vec::new(), hint: None };
        home.store.step(|t| t.jobs_unreadable(&trouble, when(at))).unwrap();
    };
    home.store.step(|t| t.sync_jobs(&missing("2026-08-21T08:40:00Z"))).unwrap();
    unreadable(&mut home, "2026-08-21T08:41:00Z");
    home.store.step(|t| t.sync_jobs(&missing("2026-08-21T08:42:00Z"))).unwrap();
    unreadable(&mut home, "2026-08-21T08:43:00Z");
    assert_eq!(alerts(&home), ["jobs.json"], "the file has the alert as long as nothing can be read");
    home.sync(&[], "2026-08-21T08:44:00Z");
    assert_eq!(alerts(&home), ["gone:a", "gone:b"]);
    home.sync(&[], "2026-08-21T08:45:00Z");
    home.sync(&jobs, "2026-08-21T08:46:00Z");
    assert_eq!(alerts(&home), [""; 0]);
}

#[test]
fn a_program_that_writes_again_and_again_that_it_ran_jobs_is_another_scheduler() {
    let mut home = Home::with(&[job("a", "0 * * * *"), job("b", "0 9 * * *")], "2026-08-21T08:30:00Z");
    let ran = |id: &str, at: &str| {
        let record = record(&job(id, "0 * * * *"));
        SeenRecord { text: record.text.replacen('{', &format!("{{\"last_run_at\":\"{at}\","), 1), ..record }
    };
    let mut look = |day: u32, others: Vec<SeenRecord>| {
        let at = format!("2026-08-{day}T09:00:00Z");
        let records = [vec![ran("a", &at)], others].concat();
        let seen = JobsSeen { records, ..seen(&[], when(&at)) };
        home.store.step(|t| t.sync_jobs(&seen)).unwrap();
        let alerts = home.store.queries().alerts(9).unwrap();
        let alert = alerts.into_iter().find(|alert| alert.key == AlertKey::other_scheduler());
        alert.map(|alert| alert.words)
    };
    let same = || vec![record(&job("b", "0 9 * * *"))];
    assert_eq!((look(21, same()), look(22, same())), (None, None), "a file may be copied");
    let told = look(23, vec![ran("b", "2026-08-23T09:00:00Z")]).unwrap();
    assert!(
        told.starts_with("another program wrote into jobs.json that it ran job a and 1 other, as it"),
        "{told}"
    );
    assert!(look(24, vec![ran("b", "2026-08-23T09:00:00Z")]).is_some());
    let at = when("2026-09-02T09:00:00Z");
    let quiet = JobsSeen { records: vec![ran("a", "2026-08-24T09:00:00Z")], ..seen(&[], at) };
    home.store.step(|t| t.sync_jobs(&quiet)).unwrap();
    let open = home.store.queries().alerts(9).unwrap();
    assert!(open.iter().all(|alert| alert.key != AlertKey::other_scheduler()), "a week without one");
}

#[test]
fn a_run_that_is_asked_for_says_in_the_log_what_it_waits_for() {
    let mut home = Home::with(&[job("a", "0 9 * * *")], "2026-08-21T08:30:00Z");
    let id = "a".parse().unwrap();
    let now = when("2026-08-21T08:31:00Z");
    let hold = NewGate::Hold("quiet".to_owned());
    home.store.step(|t| t.set_gate(&hold, now)).unwrap();
    home.store.step(|t| t.run_job_now(&id, Counting::Beside, now)).unwrap();
    let log = home.store.queries().events_of_job(&id, EventPage::Newest, Level::Info, 1).unwrap();
    assert_eq!(log[0].kind.words(), "job a runs when the engine's hold is released: run 1");
}

#[test]
fn nobody_is_told_that_a_job_is_gone_of_which_nothing_was_to_come() {
    let broken = SeenRecord {
        definition: None,
        faults: vec!["schedule: missing".to_owned()],
        ..record(&job("broken", "0 9 * * *"))
    };
    let mut home = Home::with(&[job("past", "2026-08-14T09:00")], "2026-08-21T08:30:00Z");
    home.tick("2026-08-21T08:30:00Z");
    let at = when("2026-08-21T08:31:00Z");
    let both = JobsSeen { records: vec![record(&job("past", "2026-08-14T09:00")), broken], ..seen(&[], at) };
    home.store.step(|t| t.sync_jobs(&both)).unwrap();
    assert_eq!(home.store.queries().alerts(9).unwrap().len(), 1, "the broken record");
    home.sync(&[], "2026-08-21T08:32:00Z");
    assert_eq!(home.store.queries().alerts(9).unwrap(), []);
}

#[test]
fn a_job_that_is_gone_is_listed_until_somebody_knows_of_it_and_a_removed_one_not_at_all() {
    let at = "2026-08-21T08:30:00Z";
    let mut home =
        Home::with(&[job("disk", "0 * * * *"), job("dish", "0 9 * * *"), job("b", "0 9 * * *")], at);
    let names = |home: &Home| {
        let page = home.store.queries().jobs("", 9, when(at)).unwrap();
        assert_eq!((page.total, page.hits), (page.rows.len(), page.rows.len()));
        page.rows.into_iter().map(|row| row.name).collect::<Vec<_>>()
    };
    let found = |home: &Home, name: &str| match home.store.queries().job(name, Tz::UTC, when(at)).unwrap() {
        JobFound::One(detail) => Some(detail.row.name),
        _ => None,
    };
    let removed = JobsSeen {
        removed: BTreeSet::from(["dish".parse().unwrap()]),
        ..seen(&[job("disk", "0 * * * *"), job("b", "0 9 * * *")], when(at))
    };
    home.store.step(|t| t.sync_jobs(&removed)).unwrap();
    assert_eq!(names(&home), ["b", "disk"]);
    assert_eq!(found(&home, "dis").as_deref(), Some("disk"), "a removed job stands in nobody's way");
    assert_eq!(found(&home, "dish").as_deref(), Some("dish"), "what it did is told");
    home.sync(&[job("b", "0 9 * * *")], at);
    assert_eq!(names(&home), ["disk", "b"]);
    let alert = AlertKey::vanished_job(&"disk".parse().unwrap());
    home.store.step(|t| t.acknowledge_alert(&alert, Acknowledgement::Given, when(at))).unwrap();
    assert_eq!(names(&home), ["b"]);
    assert_eq!(found(&home, "dis"), None);
}

#[test]
fn a_removed_job_is_listed_until_its_run_has_ended() {
    let mut home = Home::with(&[job("disk", "0 * * * *"), job("b", "0 10 * * *")], "2026-08-21T08:30:00Z");
    let names = |home: &Home| {
        let page = home.store.queries().jobs("", 9, when("2026-08-21T09:00:00Z")).unwrap();
        assert_eq!((page.total, page.hits), (page.rows.len(), page.rows.len()));
        page.rows.into_iter().map(|row| row.state_words()).collect::<Vec<_>>()
    };
    home.tick("2026-08-21T09:00:00Z");
    let claimed = home.claim("t", "2026-08-21T09:00:01Z").unwrap();
    let key = key(&claimed, "t");
    home.store.step(|t| t.begin_execution(&key, when("2026-08-21T09:00:01Z"))).unwrap();
    let gone = BTreeSet::from(["disk".parse().unwrap()]);
    let seen = JobsSeen { removed: gone, ..seen(&[job("b", "0 10 * * *")], when("2026-08-21T09:00:02Z")) };
    home.store.step(|t| t.sync_jobs(&seen)).unwrap();
    assert_eq!(names(&home), ["removed, still runs", "scheduled"]);
    assert!(matches!(home.row("disk").state, JobState::RunsOn { .. }));
    let end = ended(key, ExecutionState::Succeeded, when("2026-08-21T09:01:00Z"));
    home.store.step(|t| t.end_execution(&end)).unwrap();
    assert_eq!(names(&home), ["scheduled"]);
}

#[test]
fn one_bad_record_harms_no_other_job_and_does_not_fire() {
    let bad = SeenRecord {
        text: "{\"id\":\"bad\",\"schedule\":7}".to_owned(),
        id: Some("bad".parse().unwrap()),
        definition: None,
        imported: Imported::default(),
        faults: vec!["schedule 7: must be a text".to_owned()],
    };
    let nobody = SeenRecord { id: None, text: "7".to_owned(), ..bad.clone() };
    let double = record(&job("good", "* * * * *"));
    let records =
        vec![nobody, record(&job("good", "0 9 * * *")), bad, record(&job("never", "0 0 30 2 *")), double];
    let mut home = Home::with(&[], "2026-08-21T08:00:00Z");
    let seen = JobsSeen { records, ..seen(&[], when("2026-08-21T08:00:00Z")) };
    home.store.step(|t| t.sync_jobs(&seen)).unwrap();
    for minute in 0..3 {
        assert_eq!(home.tick(&format!("2026-08-21T09:{minute:02}:00Z")), usize::from(minute == 0));
    }
    let page = home.store.queries().jobs("state:error", 9, when("2026-08-21T09:00:00Z")).unwrap();
    let names: Vec<_> = page.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!((names, page.total), (vec!["record 1", "record 5", "bad", "never"], 5));
    assert_eq!(home.store.queries().stored_records().unwrap().len(), 5);
}

#[test]
fn a_record_that_is_broken_has_an_alert_until_it_is_whole_or_gone() {
    let bad = |id: &str| SeenRecord {
        definition: None,
        faults: vec!["schedule 7: must be a text".to_owned()],
        ..record(&job(id, "7"))
    };
    let nobody =
        |why: &str| SeenRecord { id: None, text: why.to_owned(), faults: vec![why.to_owned()], ..bad("x") };
    let mut home = Home::with(&[], "2026-08-21T08:00:00Z");
    let mut alerts = |records: Vec<SeenRecord>| {
        let seen = JobsSeen { records, ..seen(&[], when("2026-08-21T08:00:00Z")) };
        home.store.step(|t| t.sync_jobs(&seen)).unwrap();
        let open = home.store.queries().alerts(9).unwrap();
        open.into_iter().map(|alert| (alert.words, alert.raises)).collect::<Vec<_>>()
    };
    let of_record = |id: &str| (format!("job {id} can't be used: schedule 7: must be a text"), 1);
    let whole = || record(&job("a", "0 9 * * *"));
    assert_eq!(alerts(vec![bad("a"), bad("b")]), [of_record("a"), of_record("b")]);
    assert_eq!(alerts(vec![bad("b"), whole()]), [of_record("b")], "one that moved is the same");
    assert_eq!(alerts(vec![whole()]), [], "gone, and it could never be used");
    assert_eq!(alerts(vec![whole(), bad("b")]), [of_record("b")], "back, and as broken as before");
    assert_eq!(alerts(vec![whole(), record(&job("b", "0 9 * * *"))]), []);

    let words = |n, more: &str| format!("record {n} of jobs.json can't be used: id: missing{more}");
    let b = || record(&job("b", "0 9 * * *"));
    assert_eq!(alerts(vec![whole(), nobody("id: missing"), b()]), [(words(2, ""), 1)]);
    let two = vec![nobody("id: missing"), whole(), b(), nobody("no object")];
    assert_eq!(alerts(two), [(words(1, "; and 1 more"), 2)]);
    assert_eq!(alerts(vec![whole(), b()]), []);
}

#[test]
fn a_job_is_flagged_at_the_third_failure_in_a_row_until_it_works() {
    let mut home = Home::with(&[job("a", "0 * * * *")], "2026-08-21T08:30:00Z");
    let mut run_to = |hour: u32, state| {
        home.tick(&format!("2026-08-21T{hour:02}:00:00Z"));
        let now = format!("2026-08-21T{hour:02}:00:01Z");
        let claimed = home.claim("t", &now).unwrap();
        home.store.step(|t| t.end_execution(&ended(key(&claimed, "t"), state, when(&now)))).unwrap();
        let alerts = home.store.queries().alerts(9).unwrap();
        let words: Vec<String> = alerts.iter().map(|alert| alert.words.clone()).collect();
        assert_eq!(
            home.store.queries().counts().unwrap().needs_you,
            alerts.iter().filter(|it| it.needs_you()).count()
        );
        (home.row("a").state, alerts.iter().filter(|alert| alert.needs_you()).count(), words.join(", "))
    };
    let (fails, cut) = (ExecutionState::Failed, ExecutionState::Interrupted);
    for (hour, state, expected) in [
        (9, fails, (JobState::Scheduled, 0, "job a failed once")),
        (10, fails, (JobState::Scheduled, 0, "job a failed 2 times in a row")),
        (11, cut, (JobState::Scheduled, 0, "job a failed 2 times in a row")),
        (12, ExecutionState::TimedOut, (JobState::Flagged, 1, "job a failed 3 times in a row")),
        (13, fails, (JobState::Flagged, 1, "job a failed 4 times in a row")),
        (14, ExecutionState::Succeeded, (JobState::Scheduled, 0, "")),
    ] {
        let (row, needs, words) = run_to(hour, state);
        assert_eq!((row, needs, words.as_str()), expected, "{hour}");
    }
}

#[test]
fn slots_that_a_clock_stranded_ahead_are_computed_anew() {
    let mut home = Home::with(&[job("a", "0 9 * * *")], "2026-08-21T08:00:00Z");
    home.tick("2027-08-21T09:30:00Z");
    assert_eq!(home.next("a"), Some(when("2027-08-22T09:00:00Z")));
    assert_eq!(home.tick("2026-08-21T09:30:00Z"), 0);
    assert_eq!(home.next("a"), Some(when("2026-08-22T09:00:00Z")));
    // Back by less than a minute: nothing is computed anew, nothing is taken twice.
    home.tick("2026-08-22T09:00:00Z");
    assert_eq!(home.tick("2026-08-22T08:59:30Z"), 0);
    assert_eq!(home.next("a"), Some(when("2026-08-23T09:00:00Z")));
}

#[test]
fn an_interval_that_a_wrong_clock_saw_first_counts_from_the_right_time() {
    let mut home = Home::with(&[job("a", "every 2m")], "2027-11-30T03:00:00Z");
    home.tick("2027-11-30T03:00:30Z");
    home.tick("2026-11-30T03:00:00Z");
    assert_eq!(home.next("a"), Some(when("2026-11-30T03:02:00Z")));
}

#[test]
fn a_backlog_whose_first_slot_has_a_row_from_before_the_clock_went_back_is_kept_without_it() {
    let mut home = Home::with(&[job("a", "0 * * * *")], "2026-10-24T10:30:00Z");
    assert_eq!(home.tick("2026-10-24T11:00:00Z"), 1);
    home.tick("2026-10-24T10:30:00Z");
    home.tick("2026-10-25T09:40:00Z");
    let slots: Vec<_> = home.history("a").into_iter().filter_map(|(slots, ..)| slots).collect();
    let backlog =
        Slots { first: when("2026-10-24T12:00:00Z"), last: when("2026-10-25T09:00:00Z"), count: 22 };
    assert_eq!(slots, [Slots::one(when("2026-10-24T11:00:00Z")), backlog]);
}

#[test]
fn no_slot_that_a_row_stands_for_runs_again_when_the_clock_is_set_back_into_its_range() {
    let mut home = Home::with(&[job("a", "0 * * * *")], "2026-10-24T10:30:00Z");
    assert_eq!(home.tick("2026-10-24T15:40:00Z"), 1);
    let range = Slots { first: when("2026-10-24T11:00:00Z"), last: when("2026-10-24T15:00:00Z"), count: 5 };
    for back in ["2026-10-24T12:30:00Z", "2026-10-24T10:00:00Z"] {
        home.tick("2026-10-24T15:41:00Z");
        assert_eq!(home.tick(back), 0);
        assert_eq!(home.next("a"), Some(when("2026-10-24T16:00:00Z")), "{back}");
    }
    for hour in 11..16 {
        assert_eq!(home.tick(&format!("2026-10-24T{hour}:00:00Z")), 0);
    }
    let claimed = home.claim("t", "2026-10-24T15:00:01Z").unwrap();
    let end = ended(key(&claimed, "t"), ExecutionState::Succeeded, when("2026-10-24T15:00:02Z"));
    home.store.step(|t| t.end_execution(&end)).unwrap();
    assert_eq!(home.tick("2026-10-24T16:00:00Z"), 1);
    let slots: Vec<_> = home.history("a").into_iter().filter_map(|(slots, ..)| slots).collect();
    assert_eq!(slots, [range, Slots::one(when("2026-10-24T16:00:00Z"))]);
}

#[test]
fn a_job_goes_on_when_a_clock_that_was_wrong_by_more_than_a_day_took_its_slots() {
    let mut home = Home::with(&[job("a", "0 * * * *")], "2026-10-24T10:30:00Z");
    home.tick("2027-10-24T15:40:00Z");
    home.tick("2026-10-24T11:30:00Z");
    assert_eq!(home.next("a"), Some(when("2026-10-24T12:00:00Z")));
    // Nor does that row hold when the clock goes back once more, by a little.
    home.tick("2026-10-24T11:50:00Z");
    home.tick("2026-10-24T11:40:00Z");
    assert_eq!(home.next("a"), Some(when("2026-10-24T12:00:00Z")));
}

#[test]
fn what_another_scheduler_wrote_counts_once_and_never_makes_a_run() {
    let imported = Imported {
        next_run_at: Some(when("2026-08-20T09:00:00Z")),
        last_run_at: Some(when("2026-08-19T09:00:00Z")),
        completed: Some(2),
        ..Imported::default()
    };
    let daily = Definition { repeat: Some(5), ..job("a", "0 9 * * *") };
    let records = |completed| {
        let imported = Imported { completed: Some(completed), ..imported.clone() };
        let text = format!("{completed}");
        vec![SeenRecord { imported, text, ..record(&daily) }]
    };
    let mut home = Home::with(&[], "2026-08-21T08:00:00Z");
    for (completed, at) in [(2, "2026-08-21T10:00:00Z"), (4, "2026-08-21T10:00:05Z")] {
        let seen = JobsSeen { records: records(completed), ..seen(&[], when(at)) };
        home.store.step(|t| t.sync_jobs(&seen)).unwrap();
        assert_eq!(home.tick(at), 0);
        assert_eq!((home.row("a").runs_left, home.next("a")), (Some(3), Some(when("2026-08-22T09:00:00Z"))));
    }
}

#[test]
fn each_run_has_an_empty_memory_and_one_beside_another_has_a_thread_of_its_own() {
    let often = Definition { overlap: Overlap::Allow, ..job("a", "* * * * *") };
    let mut home = Home::with(&[often], "2026-08-21T08:00:00Z");
    let mut begin = |minute: u32, session| {
        let now = when(&format!("2026-08-21T08:{minute:02}:00Z"));
        home.tick(&now.to_rfc3339());
        let token = format!("t{minute}");
        let claimed = home.store.step(|t| t.claim_execution(&claim(&token, now))).unwrap().0.unwrap();
        let key = key(&claimed, &token);
        home.store.step(|t| t.begin_execution(&key, now)).unwrap();
        let message = NewMessage {
            to: "agent:main:cron:job:a".parse().unwrap(),
            source: Source::Job,
            fresh: SessionId::new(now, minute),
            at: now,
            ..message("a", "look", 0)
        };
        let turn = RunTurn { claim: key.clone(), message, session };
        let begun = home.store.step(|t| t.begin_run_turn(&turn)).unwrap().0.unwrap();
        let session = home.store.queries().session(&begun.session).unwrap().unwrap().session;
        let (turn, id) = (begun.turn, begun.session.clone());
        let finish = |home: &mut Home| {
            home.store.step(|t| t.finish_turn(&TurnEnd { at: now, ..end(turn, Outcome::Done, 0) })).unwrap();
            home.store
                .step(|t| t.end_execution(&ended(key.clone(), ExecutionState::Succeeded, now)))
                .unwrap();
        };
        if minute != 3 {
            finish(&mut home);
        }
        (session.key.to_string(), id)
    };
    let (first_key, first) = begin(1, SessionMode::Fresh);
    let (second_key, second) = begin(2, SessionMode::Fresh);
    assert_eq!((first_key.as_str(), &first_key), ("agent:main:cron:job:a", &second_key));
    assert_ne!(first, second);
    let (_, third) = begin(3, SessionMode::Keep);
    assert_eq!(third, second, "the memory is kept");
    let (beside, _) = begin(4, SessionMode::Fresh);
    assert_eq!(beside, "agent:main:cron:job:a:4");
    let ended = home.store.queries().session(&first).unwrap().unwrap().session.ended.unwrap();
    assert_eq!(ended.reason, EndReason::SessionReset);

    // A crash cuts the turn: no session of a job is resumed, and its run ends as interrupted.
    let now = when("2026-08-21T09:00:00Z");
    home.store.step(|t| t.open_run(&NewRun { at: now, ..run(3, 0) })).unwrap();
    let claims = home.store.queries().open_claims().unwrap();
    let dead = claims.into_iter().map(|(key, _)| key).collect();
    home.store.step(|t| t.free_executions(&dead, &claim("h", now))).unwrap();
    assert_eq!(home.history("a")[2].1, ExecutionState::Interrupted);
    assert_eq!(home.store.queries().counts().unwrap().running, 0);
}

#[test]
fn a_result_is_posted_once_and_an_answer_that_goes_on_meanwhile_joins_without_a_gap() {
    let mut home = Home::with(&[job("news", "0 13 * * *")], "2026-08-21T12:00:00Z");
    home.tick("2026-08-21T13:00:00Z");
    let key = key(&home.claim("t", "2026-08-21T13:00:00Z").unwrap(), "t");
    let (execution, now) = (key.execution, when("2026-08-21T13:00:01Z"));
    let begun = home.store.step(|t| t.accept_message(&message("a", "tell me", 1))).unwrap().0.begun.unwrap();
    let say = |home: &mut Home, text: &str| {
        let output = [Output::Text { text: text.to_owned() }];
        home.store.step(|t| t.append_turn(begun.turn, &output, now)).unwrap();
    };
    say(&mut home, "one ");
    let delivery =
        Delivery { target: Target::platform("console"), state: DeliveryState::Pending, at: now, why: None };
    let end = ExecutionEnd { deliveries: vec![delivery], ..ended(key, ExecutionState::Succeeded, now) };
    home.store.step(|t| t.end_execution(&end)).unwrap();
    let to = crate::given::key("a");
    let post = Post { to, fresh: SessionId::new(now, 9), text: "the result".to_owned() };
    let settle = |home: &mut Home| {
        let state = DeliveryState::Delivered;
        home.store.step(|t| t.settle_delivery(execution, 0, state, Some("the result"), Some(&post), now))
    };
    settle(&mut home).unwrap();
    settle(&mut home).unwrap_err();
    say(&mut home, "two");
    let entries = home.store.queries().conversation(&begun.session, None, 10).unwrap().entries;
    let bodies: Vec<Body> = entries.into_iter().skip(1).map(|entry| entry.body).collect();
    let agent = |text: &str, offset| Body::Agent { text: text.to_owned(), offset };
    let notice = Body::Notice { text: "the result".to_owned() };
    assert_eq!(bodies, [agent("one ", 0), notice, agent("two", 4)]);
}

#[test]
fn a_turn_that_had_ended_when_its_engine_died_is_settled_by_the_next() {
    let mut home = Home::with(&[job("a", "0 9 * * *")], "2026-08-21T08:00:00Z");
    let now = when("2026-08-21T09:00:00Z");
    home.tick("2026-08-21T09:00:00Z");
    let claimed = home.claim("t", "2026-08-21T09:00:00Z").unwrap();
    let old = key(&claimed, "t");
    home.store.step(|t| t.begin_execution(&old, now)).unwrap();
    let to = "agent:main:cron:job:a".parse().unwrap();
    let message = NewMessage { to, source: Source::Job, ..message("a", "look", 0) };
    let turn = RunTurn { claim: old.clone(), message, session: SessionMode::Fresh };
    let begun = home.store.step(|t| t.begin_run_turn(&turn)).unwrap().0.unwrap();
    home.store.step(|t| t.finish_turn(&end(begun.turn, Outcome::Done, 0))).unwrap();
    let heir = claim("heir", when("2026-08-21T09:00:30Z"));
    let (inherited, _) =
        home.store.step(|t| t.free_executions(&BTreeSet::from([old.clone()]), &heir)).unwrap();
    assert_eq!(inherited[0].execution.turn, Some(begun.turn));
    assert_eq!(inherited[0].execution.state, ExecutionState::Running);
    for (token, held) in [("t", Held::Lost), ("heir", Held::Ours)] {
        let end = ended(key(&inherited[0], token), ExecutionState::Succeeded, now);
        assert_eq!(home.store.step(|t| t.end_execution(&end)).unwrap().0, held, "{token}");
    }
}

#[test]
fn nothing_is_fired_or_claimed_while_the_engine_is_on_hold() {
    let mut home = Home::with(&[job("a", "0 9 * * *")], "2026-08-21T08:00:00Z");
    let hold = NewGate::Hold("quiet".to_owned());
    home.store.step(|t| t.set_gate(&hold, when("2026-08-21T08:30:00Z"))).unwrap();
    assert_eq!(home.tick("2026-08-21T09:00:00Z"), 0);
    home.store.step(|t| t.set_gate(&NewGate::Release, when("2026-08-21T09:10:00Z"))).unwrap();
    assert_eq!(home.tick("2026-08-21T09:10:00Z"), 1);
    assert_eq!(home.history("a")[0].2, How::Late);
    home.store.step(|t| t.set_gate(&hold, when("2026-08-21T09:11:00Z"))).unwrap();
    assert!(home.claim("t", "2026-08-21T09:11:00Z").is_none());
}
