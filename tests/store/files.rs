//! Files: what is opened, what is refused, and that a refused one is left as it was.

use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tokio_util::sync::CancellationToken;

use switchboard::domain::alert::{AlertKey, Subject};
use switchboard::domain::api::EventPage;
use switchboard::domain::event::{Event, Level};
use switchboard::domain::id::{SessionId, TurnId};
use switchboard::store::sqlite::{Database, ReadOnly};
use switchboard::store::{Queries, StoreError};

use crate::given::{message, run};

fn opened(path: &Path) -> StoreError {
    let by_reader = ReadOnly::open(path).err().expect("the reader refuses it too");
    let by_writer = Database::open(path).err().expect("the writer refuses it");
    assert_eq!(std::mem::discriminant(&by_reader), std::mem::discriminant(&by_writer));
    by_writer
}

fn examined(path: &Path) -> Vec<String> {
    ReadOnly::open(path).unwrap().quick_check(&CancellationToken::new()).unwrap()
}

fn refused_and_untouched(path: &Path) -> StoreError {
    let before = fs::read(path).unwrap();
    let error = opened(path);
    assert_eq!(fs::read(path).unwrap(), before, "the file was changed");
    let beside: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(beside, [path.file_name().unwrap()], "something was put beside it");
    error
}

#[test]
fn a_new_file_belongs_to_its_owner_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let mut database = Database::open(&path).unwrap();
    database.step(|t| t.open_run(&run(1, 0))).unwrap();
    for file in fs::read_dir(home.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.file_name());
    }
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    for content in ["a", &"my diary ".repeat(1000)] {
        fs::write(&path, content).unwrap();
        let error = refused_and_untouched(&path);
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        assert!(error.to_string().contains("no SQLite database"), "{error}");
    }
}

#[test]
fn an_empty_file_is_no_new_store_and_its_log_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    fs::write(&path, "").unwrap();
    let error = refused_and_untouched(&path);
    assert!(error.to_string().contains("state.db: it is empty"), "{error}");
    assert!(error.to_string().contains("left as it is: move it away or restore it"), "{error}");

    let log = home.path().join("state.db-wal");
    fs::write(&log, "what was kept last").unwrap();
    assert!(matches!(opened(&path), StoreError::Foreign { .. }));
    fs::remove_file(&path).unwrap();
    let error = opened(&path);
    assert!(error.to_string().contains("it is missing, but its log"), "{error}");
    assert!(!path.exists());
    assert_eq!(fs::read(&log).unwrap(), b"what was kept last");
}

#[test]
fn a_new_store_that_another_program_holds_is_told_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    drop(Database::open(&path).unwrap());
    let other = Connection::open(&path).unwrap();
    other.execute_batch("PRAGMA journal_mode = delete; BEGIN EXCLUSIVE").unwrap();
    let line = Database::open(&path).err().unwrap().to_string();
    assert!(
        line.contains("state.db: database is locked; another program holds it: end that program"),
        "{line}"
    );
}

#[test]
fn a_link_that_leads_nowhere_is_no_new_store() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    std::os::unix::fs::symlink(home.path().join("elsewhere.db"), &path).unwrap();
    let error = opened(&path);
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn a_start_that_was_cut_off_leaves_nothing_in_the_way_of_the_next() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    for leftover in ["state.db.new", "state.db.new-journal"] {
        fs::write(home.path().join(leftover), "half of a store").unwrap();
    }
    let mut database = Database::open(&path).unwrap();
    database.step(|t| t.accept_message(&message("a", "kept", 1))).unwrap();
    drop(database);
    let left: Vec<_> = fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["state.db"]);
}

#[test]
fn a_store_whose_tables_were_changed_is_refused_by_the_table_s_name() {
    let changes = [
        ("ALTER TABLE items DROP COLUMN note", "items"),
        ("DROP TABLE events", "events"),
        ("DROP INDEX slots", "slots"),
        ("CREATE TABLE mine (x)", "mine"),
        ("CREATE TRIGGER mine AFTER INSERT ON events BEGIN DELETE FROM drafts; END", "mine"),
    ];
    for (change, name) in changes {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.db");
        drop(Database::open(&path).unwrap());
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let error = opened(&path);
        assert!(matches!(error, StoreError::Foreign { .. }), "{change}: {error}");
        assert!(error.to_string().contains(&format!(" {name} ")), "{change}: {error}");
    }
}

#[test]
fn what_the_database_keeps_for_itself_and_a_search_index_made_anew_are_no_change() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let mut database = Database::open(&path).unwrap();
    database.step(|t| t.accept_message(&message("a", "kept", 1))).unwrap();
    database.index_anew().unwrap();
    drop(database);
    Connection::open(&path).unwrap().execute_batch("ANALYZE; DROP TABLE message_index").unwrap();
    ReadOnly::open(&path).unwrap();
    let mut database = Database::open(&path).unwrap();
    database.index_messages(10).unwrap();
    drop(database);
    ReadOnly::open(&path).unwrap();
}

/// Two sessions whose rows lie between each other, as the first schema kept them.
const OF_THE_FIRST_SCHEMA: &str = "
    INSERT INTO sessions (id, key, created_at, last_activity_at, rank) VALUES
        ('20261129_100000_0000000a', 'agent:main:local:dm:a', 0, 1, 4),
        ('20261129_100000_0000000b', 'agent:main:local:dm:b', 0, 2, 1);
    INSERT INTO items (id, session, lane, position, state, text, source, created_at) VALUES
        (1, '20261129_100000_0000000a', 'slot', 0, 'done', 'first of a', 'console', 0),
        (2, '20261129_100000_0000000b', 'slot', 0, 'running', 'first of b', 'console', 0),
        (3, '20261129_100000_0000000a', 'slot', 0, 'done', 'second of a', 'console', 0);
    INSERT INTO turns (id, session, item, state, probe, steerable, began_at, ended_at, ended_seq) VALUES
        (1, '20261129_100000_0000000a', 1, 'done', 0, 0, 0, 1, 2),
        (2, '20261129_100000_0000000b', 2, 'running', 0, 0, 0, NULL, NULL),
        (3, '20261129_100000_0000000a', 3, 'done', 0, 0, 0, 1, 5);
    UPDATE items SET turn = id;
    INSERT INTO messages (session, turn, at, role, text, produced) VALUES
        ('20261129_100000_0000000a', 1, 0, 'user', 'first of a', 0),
        ('20261129_100000_0000000b', 2, 0, 'user', 'first of b', 0),
        ('20261129_100000_0000000a', 1, 0, 'agent', 'answer to the first', 0),
        ('20261129_100000_0000000a', 3, 0, 'user', 'second of a', 0),
        ('20261129_100000_0000000a', 3, 0, 'agent', 'answer to the second', 0);
    INSERT INTO events (seq, at, session, level, kind) VALUES
        (1, 0, '20261129_100000_0000000a', 1, '{\"event\":\"titled\",\"title\":\"one\"}'),
        (2, 0, '20261129_100000_0000000b', 1, '{\"event\":\"titled\",\"title\":\"two\"}'),
        (3, 0, NULL, 1, '{\"event\":\"engine_released\"}'),
        (4, 0, '20261129_100000_0000000a', 1, '{\"event\":\"titled\",\"title\":\"three\"}');
    UPDATE house SET live_sessions = 2, all_sessions = 2, indexed_seq = 2, indexed_message = 1;
    INSERT INTO message_index (rowid, text) SELECT id, text FROM messages WHERE id = 1;
    PRAGMA application_id = 0x53574244;
    PRAGMA user_version = 1;
";

#[test]
fn a_store_of_the_first_schema_is_brought_up_to_date_with_all_that_it_holds() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let first = Connection::open(&path).unwrap();
    first.execute_batch(include_str!("../../src/store/sqlite/migrations/0001.sql")).unwrap();
    first.execute_batch(OF_THE_FIRST_SCHEMA).unwrap();
    drop(first);

    let mut database = Database::open(&path).unwrap();
    assert_eq!(database.index_messages(100).unwrap(), 4, "those of the ended turns");
    let a: SessionId = "20261129_100000_0000000a".parse().unwrap();
    let queries = database.queries();
    let page = queries.conversation(&a, None, 10).unwrap();
    let words: Vec<String> = page.entries.iter().map(|entry| format!("{:?}", entry.body)).collect();
    assert_eq!(words.len(), 4, "{words:?}");
    assert!(words[0].contains("first of a") && words[3].contains("answer to the second"), "{words:?}");
    let seqs = |events: Vec<Event>| events.iter().map(|event| event.seq.0).collect::<Vec<_>>();
    let events = queries.events(EventPage::Newest, Level::Debug, Some(&a), 10).unwrap();
    assert_eq!(seqs(events), [1, 4]);
    assert_eq!(queries.counts().unwrap().running, 1);
    assert_eq!(queries.search("answer", 10).unwrap().len(), 2);
    drop(queries);

    let (opened, _) = database.step(|t| t.open_run(&run(1, 0))).unwrap();
    assert_eq!(opened.cut_turns, [TurnId(2)]);
    let hidden = database.step(|t| t.hide_turns(&a, 5, chrono::DateTime::UNIX_EPOCH)).unwrap().0;
    assert_eq!(hidden, [TurnId(1), TurnId(3)]);
}

#[test]
fn sessions_that_needed_a_person_before_there_were_alerts_have_one() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let before = Connection::open(&path).unwrap();
    before.execute_batch(include_str!("../../src/store/sqlite/migrations/0001.sql")).unwrap();
    before.execute_batch(OF_THE_FIRST_SCHEMA).unwrap();
    before
        .execute(
            "UPDATE sessions SET hold_reason = 'backend_error', hold_since = 7000 WHERE key LIKE '%:a'",
            (),
        )
        .unwrap();
    drop(before);

    let database = Database::open(&path).unwrap();
    let alerts = database.queries().alerts(10).unwrap();
    let [alert] = &alerts[..] else { panic!("{alerts:?}") };
    let Subject::Session(session) = &alert.subject else { panic!("{alert:?}") };
    assert_eq!(alert.key, AlertKey::session(session));
    assert_eq!(alert.raised_at.timestamp(), 7);
    assert_eq!(database.queries().counts().unwrap().needs_you, 1);
}

#[test]
fn a_store_is_opened_while_another_program_writes_to_it() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let _first = Database::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut second = Database::open(&path).unwrap();
    let error = second.step(|t| t.open_run(&run(1, 0))).err().unwrap();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
}

#[test]
fn nothing_is_kept_in_a_file_that_was_removed_or_replaced() {
    for name in ["state.db", "state.db-wal"] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.db");
        let mut database = Database::open(&path).unwrap();
        database.step(|t| t.accept_message(&message("a", "before", 1))).unwrap();
        let (file, aside) = (home.path().join(name), home.path().join("aside"));
        fs::rename(&file, &aside).unwrap();
        let mut refused = || database.step(|t| t.accept_message(&message("a", "during", 2))).err().unwrap();
        let error = refused();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
        let told = format!("{name} was removed or replaced while the engine runs");
        assert!(error.to_string().contains(&told), "{error}");
        fs::copy(&aside, &file).unwrap();
        assert!(matches!(refused(), StoreError::Unavailable { .. }), "a copy is another file");
        fs::rename(&aside, &file).unwrap();
        database.step(|t| t.accept_message(&message("a", "after", 3))).unwrap();
    }
}

#[test]
fn another_programs_database_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    Connection::open(&path).unwrap().execute_batch("PRAGMA application_id = 7; CREATE TABLE t (x)").unwrap();
    let error = refused_and_untouched(&path);
    assert!(error.to_string().contains("another program's database"), "{error}");
}

#[test]
fn a_newer_schema_is_left_alone_in_the_file_and_in_its_log() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    drop(Database::open(&path).unwrap());
    // A newer program has migrated, and its change still stands in the log alone.
    let newer = Connection::open(&path).unwrap();
    newer.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 99").unwrap();
    let before = fs::read(&path).unwrap();
    let error = opened(&path);
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    drop(newer);
    let error = refused_and_untouched(&path);
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
}

#[test]
fn a_damaged_header_is_refused_and_a_damaged_page_is_found() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let mut database = Database::open(&path).unwrap();
    for n in 0..200 {
        database.step(|t| t.accept_message(&message("a", &"words ".repeat(50), n))).unwrap();
    }
    drop(database);
    assert_eq!(examined(&path), [""; 0]);
    let mut bytes = fs::read(&path).unwrap();
    let whole = bytes.clone();
    let middle = bytes.len() / 4096 / 2 * 4096;
    bytes[middle..middle + 4096].fill(0xab);
    fs::write(&path, &bytes).unwrap();
    assert!(!examined(&path).is_empty());
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    fs::write(&path, &whole[..50]).unwrap();
    assert!(matches!(refused_and_untouched(&path), StoreError::Foreign { .. }));
}

#[test]
fn a_place_that_cannot_be_written_is_told_in_one_line() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("file"), "x").unwrap();
    for place in ["missing/state.db", "file/state.db"] {
        let error = Database::open(&home.path().join(place)).err().unwrap();
        assert!(matches!(error, StoreError::Open { .. }), "{error}");
        let line = error.to_string();
        assert!(line.contains(place) && line.lines().count() == 1, "{line}");
    }
}

#[test]
fn a_store_that_is_not_there_yet_is_not_made_by_reading() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    assert!(matches!(ReadOnly::open(&path).err(), Some(StoreError::Open { .. })));
    assert!(!path.exists());
}

#[test]
fn what_was_committed_is_there_when_the_file_is_opened_again() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let mut database = Database::open(&path).unwrap();
    let accepted = database.step(|t| t.accept_message(&message("a", "kept", 1))).unwrap().0;
    drop(database);
    let database = Database::open(&path).unwrap();
    assert_eq!(database.queries().item(accepted.item).unwrap().unwrap().text, "kept");
    let mut reader = ReadOnly::open(&path).unwrap();
    assert_eq!(reader.read(|q| q.counts()).unwrap().sessions, 1);
}
