//! Sessions named as a person names them: given up, taken back, gone on with; and what their next message meets.

use crate::support::program::{Place, Run};
use crate::until;

fn row(place: &Place, name: &str) -> serde_json::Value {
    place.json(&["sessions", name]).remove(0)
}

fn id(place: &Place, name: &str) -> String {
    row(place, name)["session"]["id"].as_str().unwrap().to_owned()
}

fn line(place: &Place, arguments: &[&str], of: &str) -> String {
    let printed = place.done(arguments);
    let line = printed.lines().find(|line| line.contains(of));
    line.unwrap_or_else(|| panic!("no line has {of:?}:\n{printed}")).to_owned()
}

fn refused(run: &Run, told: &str) {
    assert_eq!((run.code, run.err.as_str()), (1, format!("switchboard: {told}\n").as_str()));
}

#[test]
fn a_suspended_session_says_that_its_next_message_starts_anew_and_does_so() {
    let place = Place::new();
    let engine = place.serve(&[]);
    place.done(&["send", "--wait", "say one"]);
    let before = id(&place, "console");
    assert_eq!(place.done(&["suspend", "console"]), "suspended: its next message starts anew\n");
    refused(&place.run(&["suspend", "console"]), "refused: this session is suspended already");
    let foretold = "suspended: the next message starts anew";
    assert!(line(&place, &["sessions"], &before).contains(foretold));
    assert_eq!(line(&place, &["status"], "console"), format!("console   {foretold}"));
    engine.kill();
    assert_eq!(
        line(&place, &["status"], "console"),
        format!("console   {foretold}"),
        "without an engine too"
    );
    let run = place.run(&["unsuspend", "console"]);
    assert_eq!(run.code, 1);
    assert!(run.err.starts_with("switchboard: no engine runs for this home"), "{run:?}");
    let _engine = place.serve(&[]);
    place.done(&["send", "--wait", "say two"]);
    assert_ne!(id(&place, "console"), before);
    assert!(!line(&place, &["sessions"], "console").contains(foretold));
}

#[test]
fn a_suspension_is_taken_back_with_the_history_kept() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "--wait", "--session", "night", "say one"]);
    let before = id(&place, "night");
    place.done(&["suspend", "night"]);
    refused(
        &place.run(&["continue", "night"]),
        "refused: this session is suspended; /unsuspend lifts that, a message starts anew",
    );
    assert_eq!(place.done(&["unsuspend", "night"]), "no longer suspended\n");
    refused(&place.run(&["unsuspend", "night"]), "refused: this session is not suspended");
    place.done(&["send", "--wait", "--session", "night", "say two"]);
    assert_eq!(id(&place, "night"), before);
}

#[test]
fn continue_goes_on_with_what_a_stop_held() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "hang"]);
    place.done(&["send", "--queue", "say later"]);
    place.done(&["send", "/stop"]);
    until("the end of the turn", || place.json(&["queue"]).len() == 1);
    assert_eq!(place.done(&["continue", "console"]), "released\n");
    place.done(&["send", "--wait", "--queue", "say at the end"]);
    assert_eq!(place.done(&["queue"]), "nothing waits and nothing runs\n");
    refused(
        &place.run(&["continue", "console"]),
        "refused: this session's queue is not held; /retry runs a turn that failed again",
    );
}

#[test]
fn a_session_is_named_by_key_name_title_id_or_the_beginning_of_an_id() {
    let place = Place::new();
    let _engine = place.serve(&["--hold"]);
    place.done(&["send", "--session", "night", "one"]);
    place.done(&["send", "--session", "day", "two"]);
    place.done(&["send", "--session", "night", "/title the night shift"]);
    let (night, day) = (id(&place, "night"), id(&place, "day"));
    let same = night.chars().zip(day.chars()).take_while(|(a, b)| a == b).count();
    assert!(same > 0, "{night} and {day} begin alike: both are of today");
    for name in ["night", "agent:main:local:dm:night", "the night shift", &night, &night[..=same]] {
        let rows = place.json(&["queue", "--session", name]);
        assert_eq!(rows[0]["item"]["text"], "one", "{name}");
        place.done(&["suspend", name]);
        place.done(&["unsuspend", name]);
    }
    let run = place.run(&["suspend", &night[..same]]);
    assert_eq!(run.code, 1);
    let told = format!("switchboard: {:?} fits several sessions: ", &night[..same]);
    assert!(run.err.starts_with(&told) && run.err.contains(&night) && run.err.contains(&day), "{run:?}");
    let told = "there is no session \"dusk and dawn\"; `switchboard sessions` lists them";
    refused(&place.run(&["suspend", "dusk and dawn"]), told);
}

#[test]
fn the_list_tells_what_the_next_message_of_each_session_meets() {
    let place = Place::new();
    place.write("config.toml", b"[session_reset]\nmode = \"idle\"\nidle_minutes = 90\n");
    let _engine = place.serve(&[]);
    place.done(&["send", "--wait", "say one"]);
    let told = line(&place, &["sessions"], "agent:main:local:dm:console");
    assert!(told.contains("resets after ") && told.ends_with(" if idle till then"), "{told}");
}

#[test]
fn whoever_waits_for_an_answer_is_told_of_the_reset_before_it() {
    let place = Place::new();
    place.write("config.toml", b"[session_reset]\nmode = \"idle\"\nidle_minutes = 0\n");
    let _engine = place.serve(&[]);
    place.done(&["send", "--wait", "say one"]);
    let text = place.run(&["send", "--wait", "say two"]);
    assert_eq!(text.out, "two\n");
    assert!(text.err.contains("This is a new session: idle"), "{text:?}");
    let json = place.done(&["send", "--wait", "--json", "say three"]);
    let answered: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(answered["answer"], "three");
    assert!(answered["notice"].as_str().unwrap().contains("This is a new session: idle"), "{json}");
}

#[test]
fn a_filter_by_a_state_that_does_not_exist_is_wrong_usage_and_names_the_states() {
    let place = Place::new();
    let run = place.run(&["sessions", "night state:foo"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    let told = "there is no state \"foo\": needs_you, runs, resumes, suspended, held, waits, idle";
    assert!(run.err.contains(told), "{run:?}");
}
