//! A host application's conversations from the command line.

use serde_json::Value;

use crate::support::program::Place;

fn show(place: &Place, arguments: &[&str]) -> Value {
    place.json(&[&["conversation", "show"], arguments].concat()).remove(0)
}

#[test]
fn a_conversation_has_one_session_for_ever_over_a_kill_too() {
    let place = Place::new();
    assert_eq!(place.done(&["conversation", "list"]), "no conversations\n");
    let engine = place.serve(&[]);
    place.done(&["send", "--conversation", "ticket-7", "--wait", "say one"]);
    let before = show(&place, &["ticket-7"]);
    engine.kill();
    assert_eq!(show(&place, &["ticket-7"]), before, "the store tells the same without an engine");
    let _engine = place.serve(&[]);
    place.done(&["send", "--conversation", "ticket-7", "--wait", "say two"]);
    let after = show(&place, &["ticket-7"]);
    assert_eq!(after["session"], before["session"]);
    let ours = &after["agent_state"]["runtime_state"]["switchboard"];
    assert_eq!(ours["session_id"], after["session"], "{after}");
    assert_eq!(ours["status"], "healthy", "{after}");
}

#[test]
fn each_user_of_a_conversation_has_a_session_of_its_own_and_the_list_tells_them_apart() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    for user in [&["--user", "ana"][..], &["--user", "ben"], &[]] {
        place.done(&[&["send", "--conversation", "room", "--wait"], user, &["say hello"]].concat());
    }
    let rows = place.json(&["conversation", "list"]);
    let users: Vec<&Value> = rows.iter().map(|row| &row["user"]).collect();
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(
        users.contains(&&"ana".into()) && users.contains(&&"ben".into()) && users.contains(&&Value::Null)
    );
    let ana = show(&place, &["room", "--user", "ana"]);
    assert!(rows.contains(&ana), "list and show say the same of one conversation");
    assert_ne!(ana["session"], show(&place, &["room"])["session"]);
    let printed = place.done(&["conversation", "list"]);
    let of_ana = printed.lines().find(|line| line.starts_with("room  ") && line.contains("  ana  "));
    assert!(of_ana.is_some_and(|line| line.contains(ana["session"].as_str().unwrap())), "{printed}");
    assert_eq!(place.json(&["conversation", "list", "--limit", "2"]).len(), 2);
}

#[test]
fn the_hosts_state_is_kept_byte_for_byte_and_a_turn_changes_only_what_is_ours() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    let state = "{\"runtime\": \"other\",  \"cart\": [1, 2.50],\n \"note\": \"ä\\u00e4\"}";
    place.write("state.json", state.as_bytes());
    let file = place.home().join("state.json");
    let file = file.to_str().unwrap();
    let told = place.done(&["conversation", "state", "ticket-7", "--set", file]);
    assert_eq!(told, "agent state kept\n");
    let shown = place.done(&["conversation", "show", "ticket-7"]);
    assert!(shown.ends_with(&format!("{state}\n")), "{shown}");
    assert!(shown.contains("session   none\n"), "nobody has spoken in it: {shown}");
    let line = place.done(&["conversation", "show", "ticket-7", "--json"]);
    assert!(line.contains(&state.replace('\n', " ")) && line.lines().count() == 1, "{line}");
    place.done(&["send", "--conversation", "ticket-7", "--wait", "say one"]);
    let after = place.done(&["conversation", "show", "ticket-7"]);
    assert!(after.contains("\"cart\": [1, 2.50],\n \"note\": \"ä\\u00e4\""), "{after}");
    assert_eq!(show(&place, &["ticket-7"])["agent_state"]["runtime"], "switchboard", "a turn of ours began");
}

#[test]
fn what_is_no_state_and_what_is_no_conversation_is_refused_with_nothing_changed() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.write("bad.json", b"[1, 2]");
    let home = place.home();
    let (bad, none) = (home.join("bad.json"), home.join("none.json"));
    for file in [&bad, &none] {
        let run = place.run(&["conversation", "state", "ticket-7", "--set", file.to_str().unwrap()]);
        assert_eq!((run.code, run.out.as_str(), run.err.lines().count()), (1, "", 1), "{run:?}");
    }
    let run = place.run(&["conversation", "show", "ticket-7"]);
    let told =
        "switchboard: there is no conversation \"ticket-7\"; `switchboard conversation list` lists them\n";
    assert_eq!((run.code, run.err.as_str()), (1, told));
}
