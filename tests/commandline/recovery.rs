//! What a start after a crash did, read with an engine and without one.

use serde_json::Value;

use crate::support::program::Place;

fn page(place: &Place, arguments: &[&str]) -> Value {
    place.json(&[&["recovery"], arguments].concat()).remove(0)
}

#[test]
fn a_first_start_has_nothing_to_recover_and_a_clean_one_says_so() {
    let place = Place::new();
    assert_eq!(place.done(&["recovery"]), "this home was never started: nothing to recover\n");
    let engine = place.serve(&[]);
    let first = place.done(&["recovery"]);
    assert!(first.starts_with("First start of this home, "), "{first}");
    assert!(first.contains(". Nothing to recover.\n"), "{first}");
    place.done(&["stop"]);
    engine.ended();
    let _engine = place.serve(&[]);
    let clean = place.done(&["recovery"]);
    assert!(clean.starts_with("Stopped in order ") && clean.contains("Nothing was cut."), "{clean}");
}

#[test]
fn after_a_kill_the_cut_off_session_is_told_with_its_attempts_and_each_start_can_be_read_after_the_fact() {
    let place = Place::new();
    let engine = place.serve(&[]);
    place.done(&["send", "--session", "nightly", "hang"]);
    engine.kill();
    let engine = place.serve(&[]);
    let resumed = page(&place, &[]);
    assert_eq!(resumed["sessions"][0]["name"], "nightly");
    assert_eq!(resumed["sessions"][0]["message"], "hang");
    assert_eq!(resumed["sessions"][0]["cuts"], 1);
    assert_eq!(resumed["sessions"][0]["state"]["state"], "resuming");
    let told = place.done(&["recovery"]);
    assert!(told.contains("after a crash or a kill"), "{told}");
    assert!(told.contains("1 session was cut off or active: 1 resumed."), "{told}");
    assert!(told.contains("1st quick start of 5"), "{told}");
    let row = told.lines().find(|line| line.starts_with("nightly")).unwrap();
    assert!(row.contains("crash  cut off 1 of 3  resumes") && row.ends_with("\"hang\""), "{row}");
    engine.kill();
    // Without an engine the store says the same, and an earlier start is named by the beginning of its run.
    let kept = page(&place, &[]);
    assert_eq!(kept["chosen"]["run"], resumed["chosen"]["run"]);
    let first = kept["starts"][1]["run"].as_str().unwrap();
    assert_eq!(page(&place, &["--start", first])["sessions"], Value::Array(Vec::new()));
    let run = place.run(&["recovery", "--start", "nowhere"]);
    assert_eq!(run.code, 1);
    assert!(run.err.starts_with("switchboard: there is no start \"nowhere\""), "{run:?}");
}

#[test]
fn the_report_tells_what_went_wrong_first_and_takes_a_time_or_how_long_ago() {
    let place = Place::new();
    let engine = place.serve(&[]);
    assert_eq!(
        place.done(&["report"]),
        "no console was used here yet; --since 8h tells of the last 8 hours\n"
    );
    place.done(&["send", "--wait", "say one"]);
    assert_eq!(place.run(&["send", "--wait", "fail"]).code, 1);
    let told = place.done(&["report", "--since", "8h"]);
    let lines: Vec<&str> = told.lines().skip(1).collect();
    assert_eq!(lines[..2], ["failed    1 turn", "answered  1 turn"], "{told}");
    drop(engine);
    let kept = place.json(&["report", "--since", "2020-01-01T00:00:00Z"]).remove(0);
    assert_eq!((&kept["answered"], &kept["failed"], &kept["starts"]), (&1.into(), &1.into(), &1.into()));
    let run = place.run(&["report", "--since", "yesterday"]);
    assert_eq!(run.code, 2, "{run:?}");
}
