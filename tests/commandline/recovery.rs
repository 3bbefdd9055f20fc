//! What a start after a crash did, read with an engine and without one.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use serde_json::Value;

use crate::support::program::{Place, Serve};
use crate::until;

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
    assert!(first.contains(". It found nothing to recover.\n"), "{first}");
    place.done(&["stop"]);
    engine.ended();
    let _engine = place.serve(&[]);
    let clean = place.done(&["recovery"]);
    assert!(clean.starts_with("Stopped in order ") && clean.contains("It found nothing cut off."), "{clean}");
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
fn after_a_stop_that_cut_a_turn_the_store_says_that_the_next_start_resumes_it() {
    let place = Place::new();
    place.write("config.toml", b"[engine]\ndrain_timeout_seconds = 1\n");
    let engine = place.serve(&[]);
    place.done(&["send", "--session", "nightly", "hang"]);
    place.done(&["stop"]);
    engine.ended();
    let told = place.done(&["recovery"]);
    let row = told.lines().find(|line| line.starts_with("nightly")).unwrap();
    assert!(row.contains("the next start resumes it") && row.ends_with("\"hang\""), "{told}");
}

#[test]
fn the_report_tells_what_went_wrong_first_and_takes_a_time_or_how_long_ago() {
    let place = Place::new();
    let engine = place.serve(&[]);
    let told = place.done(&["report"]);
    assert!(told.starts_with("since ") && told.ends_with("\nnothing happened\n"), "{told}");
    place.done(&["send", "--wait", "say one"]);
    assert_eq!(place.run(&["send", "--wait", "fail"]).code, 1);
    let told = place.done(&["report", "--since", "8h"]);
    let lines: Vec<&str> = told.lines().skip(1).collect();
    assert_eq!(lines[..2], ["failed    1 turn", "answered  1 turn"], "{told}");
    let of_the_last_day = place.done(&["report"]);
    assert_eq!(of_the_last_day.lines().skip(1).collect::<Vec<_>>(), lines, "{of_the_last_day}");
    drop(engine);
    let kept = place.json(&["report", "--since", "2020-01-01T00:00:00Z"]).remove(0);
    assert_eq!((&kept["answered"], &kept["failed"], &kept["starts"]), (&1.into(), &1.into(), &1.into()));
    let run = place.run(&["report", "--since", "yesterday"]);
    assert_eq!(run.code, 2, "{run:?}");
}

#[test]
fn where_no_engine_runs_it_is_told_that_the_last_one_died_and_what_it_cut_off() {
    let place = Place::new();
    let engine = place.serve(&[]);
    place.done(&["send", "--session", "nightly", "hang"]);
    engine.kill();
    let report = place.done(&["report"]);
    assert!(
        report.contains("\ndied      the last engine, with 1 turn cut off, and none runs since\n"),
        "{report}"
    );
    let recovery = place.done(&["recovery"]);
    assert!(recovery.starts_with("The engine that started "), "{recovery}");
    assert!(
        recovery.contains(" died, and none runs since: 1 turn cut off, which the next start looks at.\n"),
        "{recovery}"
    );
    let sessions = place.done(&["sessions"]);
    assert!(
        sessions.lines().any(|line| line.starts_with("cut off") && line.contains("nightly")),
        "{sessions}"
    );
    let queue = place.done(&["queue"]);
    assert!(queue.contains("cut off") && !queue.contains("runs"), "{queue}");
    // What stopped in order did not die.
    let engine = place.serve(&[]);
    place.done(&["stop"]);
    engine.ended();
    assert!(!place.done(&["report"]).contains("died"));
    assert!(!place.done(&["recovery"]).contains("died"));
}

#[test]
fn what_a_killed_engine_left_of_a_conversation_lies_in_the_home_and_goes_with_the_next_start() {
    let place = Place::new();
    let agent = "[agent]\nbackend = \"command\"\n[agent.command]\n\
                 argv = [\"sh\", \"-c\", \"[ -e go ] || sleep 1000; echo done\", \"sh\", \"{history}\"]\n";
    place.write("config.toml", agent.as_bytes());
    let engine = place.serve(&[]);
    place.done(&["send", "a secret"]);
    let run = place.home().join("run");
    let histories = || std::fs::read_dir(&run).map_or(0, Iterator::count);
    until("the agent's start", || histories() == 1);
    engine.kill();
    assert_eq!(histories(), 1);
    place.write("go", b"");
    let _engine = place.serve(&[]);
    until("the resume's end", || place.json(&["status"]).remove(0)["running"] == 0);
    assert_eq!(histories(), 0, "what the dead engine left is gone, and the turns keep nothing");
}

/// An agent that in one session always kills the engine that runs it, once the test lets it; in the other it is
/// cut off once, and answers when it is asked again.
const KILLER: &str = r#"
[agent]
backend = "command"
[agent.command]
argv = ["sh", "-c", """
words=$(cat)
case "$words" in *restart*the*service*) echo "$SWITCHBOARD_SESSION" > poisoned;; esac
if [ "$(cat poisoned 2>/dev/null)" = "$SWITCHBOARD_SESSION" ]; then
  echo >> killed
  while [ ! -e may-kill ]; do sleep 0.02; done
  kill -9 $PPID
fi
[ -e may-kill ] || sleep 1000
echo answered
"""]
"#;

fn killed_itself(mut engine: Serve) {
    until("the engine's end", || engine.has_ended().is_some());
    assert_eq!(engine.has_ended().and_then(|end| end.signal()), Some(9));
}

fn session(place: &Place, name: &str) -> Value {
    place.json(&["sessions", name]).remove(0)
}

fn may_kill(place: &Place, allowed: &str) {
    let file = place.home().join("may-kill");
    match allowed {
        "yes" => std::fs::write(file, "").unwrap(),
        _ => std::fs::remove_file(file).unwrap(),
    }
}

fn times_run(home: &Path) -> usize {
    std::fs::read_to_string(home.join("killed")).unwrap_or_default().lines().count()
}

#[test]
fn an_agent_that_kills_its_own_engine_is_given_up_after_three_starts_and_the_others_go_on() {
    let place = Place::new();
    place.write("config.toml", KILLER.as_bytes());
    let engine = place.serve(&[]);
    place.done(&["send", "--session", "good", "translate the manual"]);
    place.done(&["send", "--session", "deploy", "restart the service"]);
    place.done(&["send", "--session", "deploy", "--queue", "and then the next one"]);
    until("the agent", || times_run(&place.home()) == 1);
    may_kill(&place, "yes");
    killed_itself(engine);
    // Two starts resume it, and it kills each of them as soon as it may.
    for start in 1..=2 {
        may_kill(&place, "no");
        if start == 1 {
            // The other one is to answer at its first resume, before the engine is killed again.
            place.write("config.toml", KILLER.replace("[ -e may-kill ] || sleep 1000", "").as_bytes());
        }
        let engine = place.serve(&[]);
        until("the agent", || times_run(&place.home()) == start + 1);
        let deploy = session(&place, "deploy");
        assert_eq!((&deploy["session"]["cuts"], &deploy["state"]), (&start.into(), &"runs".into()));
        until("the other's answer", || session(&place, "good")["state"] == "idle");
        may_kill(&place, "yes");
        killed_itself(engine);
    }
    let _engine = place.serve(&[]);
    let deploy = session(&place, "deploy");
    assert_eq!(deploy["state"], "suspended");
    assert_eq!(deploy["session"]["marker"]["reason"], "stuck_loop", "{deploy}");
    assert_eq!((&deploy["session"]["cuts"], &deploy["queued"]), (&3.into(), &1.into()), "its queue is held");
    assert_eq!(place.done(&["send", "--wait", "--session", "good", "and now the index"]), "answered\n");
    assert_eq!(times_run(&place.home()), 3, "what was given up ran no more");
    let told = place.done(&["recovery"]);
    let row = told.lines().find(|line| line.starts_with("deploy")).unwrap();
    assert!(row.contains("3 of 3") && row.contains("restart the service"), "{told}");
}
