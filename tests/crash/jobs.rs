//! Scheduled tasks under `kill -9`, at each named point of a run's life.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::{TimeDelta, Utc};
use rusqlite::Connection;
use serde_json::json;

use crate::support::program::{Place, Serve};

/// The points of a fire's way to its delivery, in their order.
const POINTS: [&str; 7] = [
    "fire-taken",
    "run-claimed",
    "run-begun",
    "run-turn-begun",
    "run-output-written",
    "run-ended",
    "run-delivered",
];
const JOBS: usize = 4;
const LONGEST: Duration = Duration::from_secs(60);

/// Notes each turn by its prompt's first line, which names the job.
const AGENT: &str = r#"
[agent]
backend = "command"
[agent.command]
argv = ["sh", "-c", "read -r first; echo \"$first\" | sed 's/.*task \"\\([^\"]*\\)\".*/\\1/' >> ran.log; echo done"]
[engine]
drain_timeout_seconds = 0
stop_grace_seconds = 1
[cron]
max_parallel = 2
"#;

#[test]
fn each_slot_ends_in_one_row_and_no_run_begins_twice_wherever_the_engine_is_killed() {
    std::thread::scope(|threads| {
        for passes in 1..=2 {
            threads.spawn(move || POINTS.map(|point| life_and_rest(point, passes)));
        }
    });
}

fn life_and_rest(point: &str, passes: u32) {
    let place = prepared();
    kill_at(&place, point, passes);
    let answered = answered(&place);
    let states = come_to_rest(&place);
    check(&place, point, passes, &answered, &states);
}

/// A home with one-shots that are due in a moment: half of them with an agent, half with a script.
fn prepared() -> Place {
    let place = Place::new();
    place.write("config.toml", AGENT.as_bytes());
    let due = (Utc::now() + TimeDelta::seconds(2)).to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let job = |n: usize| match n % 2 {
        0 => {
            json!({"id": format!("agent-{n}"), "schedule": due, "prompt": "work", "deliver_to": "local,console"})
        }
        _ => json!({"id": format!("script-{n}"), "schedule": due, "script": "note.sh", "no_agent": true}),
    };
    let jobs: Vec<_> = (0..JOBS).map(job).collect();
    place.write("jobs.json", json!({ "jobs": jobs }).to_string().as_bytes());
    std::fs::create_dir_all(place.home().join("scripts")).unwrap();
    place.write("scripts/note.sh", b"#!/bin/sh\necho $SWITCHBOARD_JOB_ID >> ran.log\necho done\n");
    place
}

fn kill_at(place: &Place, point: &str, passes: u32) {
    let mut command = place.command(&["serve"]);
    command.env("SWITCHBOARD_FAILPOINTS", format!("{point}={passes}"));
    // `fire-taken` is passed once: all slots are taken in one step.
    let Ok(mut engine) = Serve::begin(command) else { return };
    let longest = if point == "fire-taken" && passes > 1 { Duration::from_secs(6) } else { LONGEST };
    engine.wait_at_most(longest);
    engine.kill();
}

/// The jobs whose agent had answered when the engine died, whether or not that was settled.
fn answered(place: &Place) -> Vec<String> {
    let store = Connection::open(place.home().join("state.db")).unwrap();
    let mut query = store
        .prepare("SELECT e.job FROM executions e JOIN turns t ON t.id = e.turn WHERE t.state = 'done'")
        .unwrap();
    query.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// How often each job has run.
fn runs(place: &Place) -> BTreeMap<String, usize> {
    let log = std::fs::read_to_string(place.home().join("ran.log")).unwrap_or_default();
    let mut runs = BTreeMap::new();
    for job in log.lines() {
        *runs.entry(job.to_owned()).or_default() += 1;
    }
    runs
}

/// Lets a second engine end what is left; gives the states of all executions by their jobs.
fn come_to_rest(place: &Place) -> BTreeMap<String, Vec<String>> {
    let engine = place.serve(&[]);
    let until = Instant::now() + LONGEST;
    let states = loop {
        let states = states(place);
        let open = |state: &String| ["waiting", "claimed", "running"].contains(&state.as_str());
        if states.len() == JOBS && !states.values().flatten().any(open) && pending(place) == 0 {
            break states;
        }
        assert!(Instant::now() < until, "it does not come to rest: {states:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    engine.kill();
    states
}

fn states(place: &Place) -> BTreeMap<String, Vec<String>> {
    let store = Connection::open(place.home().join("state.db")).unwrap();
    let mut query = store.prepare("SELECT job, state FROM executions ORDER BY id").unwrap();
    let mut states: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in query.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).unwrap() {
        let (job, state) = row.unwrap();
        states.entry(job).or_default().push(state);
    }
    states
}

fn pending(place: &Place) -> usize {
    let store = Connection::open(place.home().join("state.db")).unwrap();
    store.query_row("SELECT count(*) FROM deliveries WHERE state = 'pending'", (), |row| row.get(0)).unwrap()
}

fn check(
    place: &Place,
    point: &str,
    passes: u32,
    answered: &[String],
    states: &BTreeMap<String, Vec<String>>,
) {
    let runs = runs(place);
    for (job, states) in states {
        let told = format!("killed at {point}: {job} {states:?}, ran {:?} times", runs.get(job));
        let [state] = &states[..] else { panic!("more than one row: {told}") };
        let ran = runs.get(job).copied().unwrap_or_default();
        assert!(ran <= 1, "{told}");
        assert!(ran == 1 || state != "succeeded", "{told}");
        assert!(["succeeded", "interrupted", "unknown"].contains(&state.as_str()), "{told}");
        // Nothing had begun: all of it runs.
        if passes == 1 && ["fire-taken", "run-claimed"].contains(&point) {
            assert_eq!((state.as_str(), ran), ("succeeded", 1), "{told}");
        }
        if answered.contains(job) {
            assert_eq!(state, "succeeded", "an answer is never lost: {told}");
        }
    }
}
