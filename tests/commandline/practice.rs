//! What the practice agent shows of an engine, in the real binary.

use serde_json::json;

use crate::approvals::soon;
use crate::support::program::Place;

#[test]
fn the_practice_agent_reaches_a_daily_limit_and_its_session_is_held_with_an_alert() {
    let place = Place::new();
    place.write("config.toml", b"[spending]\nsession_tokens = 1000\nall_tokens = 5000\n");
    let _engine = place.serve(&[]);
    assert!(
        place.done(&["status"]).contains("today     0 of 5,000 tokens of everything together, until 00:00")
    );
    place.done(&["send", "--wait", "use 2,000 tokens"]);
    let row = soon(|| place.json(&["sessions"]).into_iter().find(|row| row["state"] == "held"));
    assert_eq!(row["session"]["hold"]["reason"], json!("spent"));
    let alerts = place.done(&["alerts"]);
    assert!(alerts.contains("the daily limit of 1000 tokens of this session"), "{alerts}");
    let queued = place.done(&["send", "say more"]);
    assert!(queued.contains("a daily limit is reached"), "{queued}");
    let status = place.done(&["status"]);
    assert!(!status.contains("today     0 of 5,000"), "{status}");
}

#[test]
fn the_practice_agents_plan_and_summary_are_kept_with_its_conversation() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "--wait", "work by a plan"]);
    place.done(&["send", "--wait", "compact"]);
    let log = place.done(&["events", "--level", "debug"]);
    for line in
        ["the plan of turn 1: 2 of 3 done, now: check what was done", "sends the conversation shorter"]
    {
        assert!(log.contains(line), "{log}");
    }
    let row = &place.json(&["sessions"])[0]["session"];
    assert_eq!(row["context"], json!({"tokens": 1200, "window": 8000}));
}
