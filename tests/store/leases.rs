//! A turn belongs to the run that began it: no other run's task writes into it.

use rusqlite::Connection;

use switchboard::domain::turn::{Outcome, Output, TurnEnd};
use switchboard::store::Queries;
use switchboard::store::sqlite::Database;

use crate::given::{at, end, message, run};

#[test]
fn a_turn_that_another_run_owns_takes_no_output_and_is_not_ended() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let mut database = Database::open(&path).unwrap();
    database.step(|t| t.open_run(&run(1, 0))).unwrap();
    let (first, _) = database.step(|t| t.accept_message(&message("a", "hello", 1))).unwrap();
    let turn = first.begun.unwrap().turn;
    let late = Output::Text { text: "too late".to_owned() };
    let finish = |database: &mut Database| {
        database
            .step(|t| {
                t.append_turn(turn, std::slice::from_ref(&late), at(3))?;
                t.finish_turn(&TurnEnd { tail: vec![late.clone()], ..end(turn, Outcome::Done, 4) })
            })
            .unwrap()
    };

    // No transition leaves a turn like this: a new run cuts what runs in the step that begins it.
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch(
            "INSERT INTO runs (id, pid, version, started_at) VALUES ('other', 1, '0', 0);
             UPDATE house SET run = (SELECT n FROM runs WHERE id = 'other')",
        )
        .unwrap();
    let (ended, told) = finish(&mut database);
    assert!(!ended && told.is_empty());
    let page = database.queries().conversation(&first.session, None, 10).unwrap();
    assert_eq!(page.entries.len(), 1, "the message alone");

    other.execute_batch("UPDATE house SET run = (SELECT n FROM runs WHERE id = 'run-1')").unwrap();
    assert!(finish(&mut database).0, "its own run ends it");
}
