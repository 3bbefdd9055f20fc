//! A store that another process keeps locked.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::support::program::Place;

/// So long the other process keeps the lock: the fault, not a measure of ours.
const LOCKED_FOR: Duration = Duration::from_secs(12);
/// A message that waits longer is refused.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn while_another_process_locks_the_store_messages_wait_are_told_why_and_go_on_by_themselves() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "--wait", "say before"]);

    let other = Connection::open(place.home().join("state.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let locked_at = Instant::now();
    let sent: Vec<_> = ["one", "two", "three"]
        .map(|name| place.command(&["send", "--session", name, "--wait", "say during"]).spawn().unwrap())
        .into();
    while !place.done(&["status"]).contains("store     can't be written since") {
        assert!(locked_at.elapsed() < PATIENCE, "the trouble was never told");
    }
    std::thread::sleep(LOCKED_FOR.saturating_sub(locked_at.elapsed()));
    other.execute_batch("ROLLBACK").unwrap();

    for send in sent {
        let run = send.wait_with_output().unwrap();
        let told = String::from_utf8(run.stderr).unwrap();
        assert!(run.status.success(), "{told}");
        assert_eq!(String::from_utf8(run.stdout).unwrap(), "during\n");
        assert!(told.contains("waits: the store can't be written since"), "{told}");
    }
    assert_eq!(place.done(&["send", "--wait", "say after"]), "after\n");
    assert!(!place.done(&["status"]).contains("can't be written"));
    let told = place.done(&["events"]);
    assert!(told.contains("the store works again after"), "{told}");
}
