//! An agent with a session of its own, over restarts of the real engine.

use std::fs;
use std::path::Path;

use crate::support::program::Place;

/// Settings by which the scripted agent of `tests/agents/` answers. It keeps the session that it is asked to load.
fn with_scripted_agent(place: &Place) {
    let prelude = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/acp_agent.sh");
    let script = format!(
        "JOURNAL=journal\n. '{}'\ncan='{{\"loadSession\":true}}'\n\
         on_load() {{ chunk agent_message_chunk hello; reply null; }}\nserve\n",
        prelude.display()
    );
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
    with_scripted_agent(&place);
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
