//! Alerts from the command line: listed, told by a program, acknowledged.

use crate::support::program::Place;

/// An engine whose agent always fails, and whose alert command keeps what it is given.
const SETTINGS: &[u8] = br#"
[agent]
backend = "command"
[agent.command]
argv = ["false"]
[alerts]
command = ["/bin/sh", "-c", "cat > told.new; mv told.new told"]
"#;

#[test]
fn an_alert_is_listed_told_and_acknowledged_by_its_key_or_with_all_others() {
    let place = Place::new();
    place.write("config.toml", SETTINGS);
    let engine = place.serve(&[]);
    assert_eq!(place.done(&["alerts"]), "nothing needs you\n");
    assert!(place.done(&["status"]).contains("alerts    nothing needs you\n"));
    for session in ["one", "two"] {
        for _ in 0..3 {
            assert_eq!(place.run(&["send", "--session", session, "--wait", "hello"]).code, 1);
        }
    }
    let listed = place.json(&["alerts"]);
    assert_eq!(listed.len(), 2);
    let key = listed[0]["key"].as_str().unwrap().to_owned();
    assert!(listed[0]["words"].as_str().unwrap().starts_with("two: the agent's backend fails"));
    let told = place.done(&["alerts"]);
    assert!(told.contains(&key) && told.contains("needs you"), "{told}");
    assert!(place.done(&["status"]).contains("alerts    2 need you; `switchboard alerts` tells what\n"));

    assert_eq!(place.done(&["alerts", "acknowledge", &key]), "acknowledged, 1 left\n");
    let run = place.run(&["alerts", "acknowledge", &key]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("is acknowledged already"), "{run:?}");
    let all = place.done(&["alerts", "acknowledge", "all"]);
    assert!(all.starts_with("one: ") && all.ends_with("acknowledged, none left\n"), "{all}");
    assert_eq!(place.done(&["alerts", "acknowledge", "all"]), "nothing needs you\n");
    engine.kill();
    // Without an engine the store tells, and nothing can be acknowledged.
    assert_eq!(place.json(&["alerts"]).len(), 2);
    assert_eq!(place.run(&["alerts", "acknowledge", "all"]).code, 1);
}

#[test]
fn a_text_that_is_no_key_and_a_key_of_no_alert_are_refused() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    let run = place.run(&["alerts", "acknowledge", "two words"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.contains("\"two words\" is no alert's key"), "{run:?}");
    let run = place.run(&["alerts", "acknowledge", "session:nobody"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("there is no alert session:nobody"), "{run:?}");
}
