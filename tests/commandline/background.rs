//! Background processes of the real binary: they outlive its engine, and the next one has them in hand.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::approvals::{model_calling, running, sleep_of_this_run, soon};
use crate::support::program::{Place, Serve};

/// An engine whose agent has started a command in the background, and the model behind it.
fn started(place: &Place, command: &str) -> (Serve, std::net::TcpListener) {
    let model = model_calling(place, "auto", &json!({"command": command, "background": true}));
    let engine = place.serve(&[]);
    let said = place.done(&["send", "work", "--wait"]);
    assert!(said.contains("done"), "{said}");
    (engine, model)
}

fn words(place: &Place) -> String {
    place.done(&["processes"])
}

#[test]
fn what_lives_when_its_engine_is_killed_is_listed_by_the_next_which_ends_all_of_it() {
    let place = Place::new();
    // It obeys no SIGTERM, and a part of it leaves its group.
    let sleep = sleep_of_this_run("60.0931");
    let command = format!("trap '' TERM; setsid {sleep} & {sleep} & while :; do {sleep}; done");
    let (engine, _model) = started(&place, &command);
    soon(|| (running(&sleep) >= 4).then_some(()));
    engine.kill();
    let alone = words(&place);
    assert!(alone.contains("runs") && alone.contains("trap '' TERM; setsid sleep"), "{alone}");
    let _next = place.serve(&[]);
    let events = place.done(&["events"]);
    assert!(events.contains("outlived its engine and goes on: process group"), "{events}");
    let rows = place.json(&["processes"]);
    assert_eq!(
        (&rows[0]["number"], &rows[0]["session_name"], &rows[0]["ended"]),
        (&json!(1), &json!("console"), &json!(null))
    );
    let status = place.done(&["send", "/status"]);
    assert!(status.contains("background   process 1 (trap"), "{status}");
    let none = place.run(&["send", "/kill 7"]);
    assert!(none.code == 1 && none.err.contains("no background process 7 runs here"), "{none:?}");

    let killed = place.done(&["send", "/kill 1"]);
    assert!(killed.contains("is told to end, with all that it started"), "{killed}");
    soon(|| (running(&sleep) == 0).then_some(()));
    let listed = soon(|| Some(words(&place)).filter(|words| words.contains("ended by signal 9 after")));
    assert!(!listed.contains("runs"), "{listed}");
    let events = place.done(&["events"]);
    assert!(events.contains("ended by the operator: ended by signal 9"), "{events}");
}

#[test]
fn a_stop_leaves_it_running_names_it_and_the_next_start_knows_how_it_ended() {
    let place = Place::new();
    let (_engine, _model) =
        started(&place, "echo begun; while ! test -e go; do sleep 0.05; done; echo over; exit 4");
    let folder = fs::read_dir(place.home().join("background")).unwrap().next().unwrap().unwrap().path();
    let log = folder.join("1.log");
    soon(|| fs::read_to_string(&log).ok().filter(|text| text == "begun\n"));
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(log.clone()), mode(folder)), (0o600, 0o700), "nobody else reads it");

    let stopped = place.run(&["stop"]);
    let told = "1 background process goes on, the next start takes it over: 1 (echo begun; while";
    assert!(stopped.code == 0 && stopped.err.contains(told), "{stopped:?}");
    place.write("go", b"");
    let end = log.with_extension("end");
    soon(|| end.exists().then_some(()));
    soon(|| words(&place).contains("exit 4 after").then_some(()));
    let _next = place.serve(&[]);
    assert!(words(&place).contains("exit 4 after"), "{}", words(&place));
    assert_eq!(fs::read_to_string(log).unwrap(), "begun\nover\n", "it went on writing");
}
