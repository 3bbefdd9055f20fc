//! An agent with a session of its own, over restarts of the real engine.

use std::fs;
use std::path::Path;

use crate::approvals::asks;
use crate::secrets::holding;
use crate::support::program::Place;

/// Settings by which the scripted agent of `tests/agents/` answers, with what is different in it.
fn with_scripted_agent(place: &Place, different: &str) {
    let prelude = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/acp_agent.sh");
    let script = format!("JOURNAL=journal\n. '{}'\n{different}\nserve\n", prelude.display());
    place.write("agent.sh", script.as_bytes());
    let settings = "[agent]\nbackend = \"acp\"\n[agent.acp]\nargv = [\"sh\", \"agent.sh\"]\n";
    place.write("config.toml", settings.as_bytes());
}

/// What the agent was asked since the last time, by the names of the methods.
fn asked(place: &Place) -> Vec<String> {
    let journal = place.home().join("journal");
    let lines = fs::read_to_string(&journal).unwrap();
    fs::remove_file(journal).unwrap();
    let method = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        message["method"].as_str().unwrap().to_owned()
    };
    lines.lines().map(method).collect()
}

#[test]
fn an_agents_own_session_goes_on_after_a_stop_and_after_a_kill_of_the_engine() {
    let place = Place::new();
    let keeps_its_session = r#"can='{"loadSession":true}'
        on_load() { chunk agent_message_chunk hello; reply null; }"#;
    with_scripted_agent(&place, keeps_its_session);
    let engine = place.serve(&[]);
    assert!(place.done(&["send", "--wait", "one"]).contains("hello"));
    assert_eq!(asked(&place), ["initialize", "session/new", "session/prompt"]);
    place.done(&["stop"]);
    engine.ended();
    let engine = place.serve(&[]);
    assert_eq!(place.done(&["send", "--wait", "two"]).matches("hello").count(), 1);
    assert_eq!(asked(&place), ["initialize", "session/load", "session/prompt"]);
    engine.kill();
    let _next = place.serve(&[]);
    place.done(&["send", "--wait", "three"]);
    assert_eq!(asked(&place), ["initialize", "session/load", "session/prompt"]);
    place.done(&["send", "/new!"]);
    place.done(&["send", "--wait", "four"]);
    assert_eq!(asked(&place), ["initialize", "session/new", "session/prompt"]);
}

#[test]
fn an_agent_that_dies_before_its_first_word_is_started_anew_and_answers_and_its_last_words_are_in_the_log() {
    let place = Place::new();
    let dies_once = r#"on_prompt() {
        test -e died || { : > died; echo "out of memory" >&2; exit 7; }
        say hello; stop end_turn
    }"#;
    with_scripted_agent(&place, dies_once);
    let _engine = place.serve(&[]);
    assert!(place.done(&["send", "--wait", "one"]).contains("hello"));
    let life = ["initialize", "session/new", "session/prompt"];
    assert_eq!(asked(&place), [life, life].concat());
    let events = place.done(&["events"]);
    let told = "lost its agent's handle (sh ended with exit code 7: out of memory): a new one runs it again";
    assert!(events.contains(told), "{events}");
    assert!(!holding(&place.home().join("logs"), "stderr: out of memory").is_empty(), "not in the log");
}

#[test]
fn what_an_agent_asks_permission_for_waits_for_a_person_and_goes_on_with_the_answer() {
    let place = Place::new();
    let asks_first = r#"on_prompt() { ask_to_run "git push" allow_once reject_once; }
        on_answer() {
            case $line in *"<allow_once>"*) say pushed ;; *"<reject_once>"*) say "left alone" ;; esac
            id=$prompt; stop end_turn
        }"#;
    with_scripted_agent(&place, asks_first);
    let _engine = place.serve(&[]);
    for (answer, said) in [("/approve", "pushed"), ("/deny not today", "left alone")] {
        let waiting = std::thread::scope(|scope| {
            let answered = scope.spawn(|| place.done(&["send", "--wait", "push"]));
            let row = asks(&place);
            assert_eq!(
                (&row["state"], &row["asks"][0]["question"]["what"]),
                (&"needs_you".into(), &"git push".into())
            );
            place.done(&["send", answer]);
            answered.join().unwrap()
        });
        assert!(waiting.contains(said), "{waiting}");
    }
}
