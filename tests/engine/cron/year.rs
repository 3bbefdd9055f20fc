//! A year of slots, through both changes of the clock: the plan and the store, at the speed of the disk.

use std::fs;

use chrono::{Datelike, NaiveTime, TimeDelta, Weekday};
use chrono_tz::Europe::Berlin;
use pretty_assertions::assert_eq;
use switchboard::domain::Time;
use switchboard::domain::cron::document::Document;
use switchboard::domain::cron::plan::{Open, Row};
use switchboard::domain::cron::record::Imported;
use switchboard::domain::cron::{ClaimKey, Execution, ExecutionState, How, JobId, JobStanding, Owner};
use switchboard::domain::id::RunId;
use switchboard::domain::process::ProcessIdentity;
use switchboard::store::{ExecutionEnd, Held, NewClaim, Patience, Store, Tick, Transitions};

use crate::support::files::repository;
use crate::support::world::{Setup, World, monday_noon};

/// So many passes of the ticker are kept in one commit.
const TOGETHER: usize = 250;

fn sample(name: &str) -> String {
    fs::read_to_string(repository("tests/jobs_file/samples").join(name)).unwrap()
}

/// Lets the jobs of a file fire for a year, and gives the executions of each, oldest first.
async fn a_year_of(text: String, jobs: &[&str]) -> Vec<Vec<Execution>> {
    let written = text.clone();
    let mut world =
        World::prepared(Setup::default(), |home| fs::write(home.join("jobs.json"), written).unwrap()).await;
    if world.jobs().await.total == 0 {
        world.file_read().await;
    }
    let (store, mut feed) = Store::open(&world.path("state.db"), Patience::default()).unwrap();
    tokio::spawn(async move { while feed.recv().await.is_some() {} });
    let end = monday_noon() + TimeDelta::days(365);
    let mut next = store.read(|queries| queries.next_due()).await.unwrap().slot;
    while let Some(at) = next.filter(|at| *at < end) {
        next = store.write(move |transitions| fire(transitions, at, end)).await.unwrap();
    }
    let mut found = Vec::new();
    for job in jobs {
        let job: JobId = job.parse().unwrap();
        let mut executions =
            store.read(move |queries| queries.executions(Some(&job), None, 20_000)).await.unwrap();
        executions.reverse();
        found.push(executions);
    }
    assert_eq!(fs::read_to_string(world.path("jobs.json")).unwrap(), text, "the file is as it was");
    found
}

/// Some passes of the ticker, each with the runs that it lets begin.
fn fire(store: &mut dyn Transitions, first: Time, end: Time) -> switchboard::store::Result<Option<Time>> {
    let mut next = Some(first);
    for _ in 0..TOGETHER {
        let Some(at) = next.filter(|at| *at < end) else { break };
        next = store.fire_due(&Tick { at, zone: Berlin, limit: 64 })?.next;
        while let Some(claimed) = store.claim_execution(&claim(at))? {
            let key = ClaimKey { execution: claimed.execution.id, token: "token".to_owned() };
            assert_eq!(store.begin_execution(&key, at)?, Held::Ours);
            let end = ExecutionEnd {
                claim: key,
                state: ExecutionState::Succeeded,
                why: None,
                output: None,
                deliveries: Vec::new(),
                cut_with: None,
                at,
            };
            assert_eq!(store.end_execution(&end)?, Held::Ours);
        }
    }
    Ok(next)
}

fn claim(at: Time) -> NewClaim {
    let process = ProcessIdentity { pid: 1, boot: String::new(), started: 0 };
    let owner = Owner { run: RunId("year".to_owned()), host: "host".to_owned(), process };
    NewClaim { owner, token: "token".to_owned(), max_parallel: 4, at }
}

fn slots(executions: &[Execution]) -> Vec<Time> {
    let one = |run: &Execution| {
        let slots = run.slots.unwrap();
        assert_eq!((slots.count, run.state), (1, ExecutionState::Succeeded), "{run:?}");
        slots.first
    };
    executions.iter().map(one).collect()
}

/// Whether these are all days of the year that fit, each at an hour of the wall clock.
fn assert_daily(slots: &[Time], hour: u32, fits: impl Fn(Weekday) -> bool) {
    let first = monday_noon().with_timezone(&Berlin).date_naive();
    let days = (1..=365).map(|n| first + TimeDelta::days(n)).filter(|day| fits(day.weekday()));
    let expected: Vec<_> =
        days.map(|day| day.and_time(NaiveTime::from_hms_opt(hour, 0, 0).unwrap())).collect();
    let found: Vec<_> = slots.iter().map(|slot| slot.with_timezone(&Berlin).naive_local()).collect();
    assert_eq!(found, expected);
}

#[tokio::test(start_paused = true)]
async fn our_own_jobs_fire_at_each_slot_of_a_year_once() {
    let jobs = ["daily-news-summary", "weekly-code-review", "health-check"];
    // Every half hour is the test after this one.
    let text = sample("ours.json").replace("*/30 * * * *", "@monthly");
    let [daily, weekly, monthly] = &a_year_of(text, &jobs).await[..] else { panic!("three jobs") };
    assert_daily(&slots(daily), 8, |_| true);
    assert_daily(&slots(weekly), 10, |day| day == Weekday::Mon);
    assert_eq!(slots(monthly).len(), 12);
}

#[tokio::test(start_paused = true)]
#[ignore = "takes minutes: cargo test --test engine whole_year -- --ignored"]
async fn our_own_jobs_fire_for_a_whole_year_as_they_are() {
    let jobs = ["daily-news-summary", "weekly-code-review", "health-check"];
    let [daily, weekly, half_hours] = &a_year_of(sample("ours.json"), &jobs).await[..] else {
        panic!("three jobs")
    };
    assert_daily(&slots(daily), 8, |_| true);
    assert_daily(&slots(weekly), 10, |day| day == Weekday::Mon);
    let half_hours = slots(half_hours);
    assert_eq!(half_hours.len(), 17_520 - 1);
    assert!(half_hours.windows(2).all(|pair| pair[1] - pair[0] == TimeDelta::minutes(30)));
}

#[test]
fn each_half_hour_of_a_year_is_planned_once_through_both_changes_of_the_clock() {
    let document = Document::parse(sample("ours.json")).unwrap();
    let entry = document.find(&"health-check".parse().unwrap()).unwrap();
    let definition = entry.record.as_ref().unwrap().definition.clone();
    assert_eq!(definition.schedule, "*/30 * * * *");
    let begin = monday_noon();
    let (mut job, _) = JobStanding::first_seen(Ok(&definition), &Imported::default(), Berlin, begin);
    let mut slots = Vec::new();
    while let Some(due) = job.ahead.due.filter(|due| *due < begin + TimeDelta::days(365)) {
        for row in job.fire(&definition, Open::default(), due).unwrap().rows {
            let Row::Fire { slots: taken, how: How::OnTime } = row else { panic!("{row:?}") };
            assert_eq!((taken.count, taken.first), (1, due));
            slots.push(due);
        }
    }
    assert_eq!(slots.len(), 17_520 - 1);
    assert!(slots.windows(2).all(|pair| pair[1] - pair[0] == TimeDelta::minutes(30)));
}

#[tokio::test(start_paused = true)]
async fn the_jobs_of_a_hermes_file_fire_for_a_year_from_now_on() {
    let jobs = ["3f2a90b1c4de", "9b01c7e5aa10", "c0ffee00d00d"];
    let text = sample("hermes.json");
    let [weekdays, paused, once] = &a_year_of(text, &jobs).await[..] else { panic!("three jobs") };
    assert_daily(&slots(weekdays), 7, |day| day.number_from_monday() <= 5);
    assert!(paused.is_empty(), "{paused:?}");
    let once: Vec<String> = slots(once).iter().map(ToString::to_string).collect();
    assert_eq!(once, ["2026-12-24 17:00:00 UTC"]);
}
