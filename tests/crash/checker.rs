//! The checker: holds what is in the store against what was acknowledged, by rules of its own.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, Params, Row};
use switchboard::domain::queue::Intent;

/// A message of which the sender was told that it is kept.
#[derive(Debug, Clone)]
pub(crate) struct Acknowledged {
    pub(crate) item: i64,
    pub(crate) session: String,
    pub(crate) text: String,
    pub(crate) intent: Intent,
}

fn rows<T>(
    store: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let mut statement = store.prepare(sql).unwrap();
    statement.query_map(params, read).unwrap().collect::<Result<_, _>>().unwrap()
}

fn none(store: &Connection, sql: &str, rule: &str) {
    let broken = rows(store, sql, (), |row| row.get_ref(0).map(|value| format!("{value:?}")));
    assert!(broken.is_empty(), "{rule}: {broken:?}");
}

/// What holds after every kill.
pub(crate) fn check(path: &Path, acknowledged: &[Acknowledged]) {
    let store = Connection::open(path).unwrap();
    none(&store, "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "the store is whole");
    for kept in acknowledged {
        let found = rows(&store, "SELECT session, text FROM items WHERE id = ?1", (kept.item,), |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        });
        assert_eq!(found, [(kept.session.clone(), kept.text.clone())], "what was acknowledged is kept");
    }
    none(
        &store,
        "SELECT text FROM items WHERE source = 'send' GROUP BY text HAVING count(*) > 1",
        "no message is kept twice",
    );
    none(
        &store,
        "SELECT item FROM turns WHERE state = 'done' GROUP BY item HAVING count(*) > 1",
        "no item is run to its end twice",
    );
    none(
        &store,
        "SELECT session FROM turns WHERE state = 'running' GROUP BY session HAVING count(*) > 1",
        "a session has one running turn at most",
    );
    none(
        &store,
        "SELECT s.id FROM sessions s WHERE s.running_turn IS NOT
             (SELECT t.id FROM turns t WHERE t.session = s.id AND t.state = 'running')",
        "a session knows its running turn",
    );
    none(
        &store,
        "SELECT key FROM sessions WHERE ended_at IS NULL GROUP BY key HAVING count(*) > 1",
        "a key has one live session",
    );
    none(
        &store,
        "SELECT live_sessions FROM house
         WHERE live_sessions <> (SELECT count(*) FROM sessions WHERE ended_at IS NULL)
            OR all_sessions <> (SELECT count(*) FROM sessions)",
        "sessions are counted right",
    );
    for (table, id, last) in
        [("messages", "id", "last_message"), ("turns", "id", "last_turn"), ("events", "seq", "last_event")]
    {
        none(
            &store,
            &format!(
                "SELECT s.id FROM sessions s WHERE (SELECT count(*) FROM {table} WHERE session = s.id) <> (
                     WITH RECURSIVE walk (previous) AS (
                         SELECT previous FROM {table} WHERE {id} = s.{last}
                         UNION ALL
                         SELECT t.previous FROM walk JOIN {table} t ON t.{id} = walk.previous)
                     SELECT count(*) FROM walk)"
            ),
            &format!("every row of {table} is found from its session"),
        );
    }
    check_order(&store, acknowledged);
}

/// `/queue` items of one session begin in the order in which they were accepted.
fn check_order(store: &Connection, acknowledged: &[Acknowledged]) {
    let mut begun: BTreeMap<&str, Vec<(i64, i64)>> = BTreeMap::new();
    for kept in acknowledged.iter().filter(|kept| kept.intent == Intent::Queue) {
        let first = rows(store, "SELECT min(id) FROM turns WHERE item = ?1", (kept.item,), |row| row.get(0));
        if let [Some(turn)] = first[..] {
            begun.entry(&kept.session).or_default().push((kept.item, turn));
        }
    }
    for (session, mut turns) in begun {
        turns.sort_unstable();
        assert!(
            turns.is_sorted_by_key(|(_, turn)| *turn),
            "the queue of {session} keeps its order (item, turn): {turns:?}"
        );
    }
}

/// What holds when everything that waited has run.
pub(crate) fn check_rest(path: &Path, acknowledged: &[Acknowledged]) {
    let store = Connection::open(path).unwrap();
    for kept in acknowledged {
        let state: String =
            store.query_row("SELECT state FROM items WHERE id = ?1", (kept.item,), |row| row.get(0)).unwrap();
        assert!(
            ["done", "interrupted", "superseded", "cleared", "failed"].contains(&state.as_str()),
            "{kept:?} came to its end: {state}"
        );
    }
}

/// A live session as a dead engine left it.
#[derive(Debug, Clone)]
struct Left {
    /// A turn ran that nobody had told to stop: what a person ended owes nothing.
    running: bool,
    marker: Option<String>,
    cuts: u32,
}

/// What a dead engine left, to hold the next start against.
pub(crate) struct Before {
    sessions: BTreeMap<String, Left>,
    runs: u64,
}

fn left(store: &Connection) -> BTreeMap<String, Left> {
    let sql = "SELECT s.id, t.id IS NOT NULL, s.marker, s.cuts FROM sessions s
               LEFT JOIN turns t ON t.id = s.running_turn
                AND coalesce(t.stop_cause, '') NOT IN ('operator', 'new_message', 'reset')
               WHERE s.ended_at IS NULL";
    rows(store, sql, (), |row| {
        Ok((row.get(0)?, Left { running: row.get(1)?, marker: row.get(2)?, cuts: row.get(3)? }))
    })
    .into_iter()
    .collect()
}

fn runs(store: &Connection) -> u64 {
    store.query_row("SELECT count(*) FROM runs", (), |row| row.get(0)).unwrap()
}

impl Before {
    /// Reads it; none where there is no store yet.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        if !path.exists() {
            return None;
        }
        let store = Connection::open(path).unwrap();
        Some(Self { sessions: left(&store), runs: runs(&store) })
    }

    /// What the start that followed made of it: nothing begins yet, the engine is on hold.
    pub(crate) fn check_start(&self, path: &Path) {
        let store = Connection::open(path).unwrap();
        assert_eq!(runs(&store), self.runs + 1, "each start is a row");
        none(&store, "SELECT id FROM turns WHERE state = 'running'", "on hold nothing runs");
        let now = left(&store);
        for (session, before) in &self.sessions {
            let after = &now[session];
            let told = format!("{session}: {before:?} became {after:?}");
            if before.marker.as_deref() == Some("suspended") {
                assert_eq!((after.marker.as_deref(), after.cuts), (Some("suspended"), before.cuts), "{told}");
            } else if before.running && before.cuts + 1 >= 3 {
                assert_eq!(
                    (after.marker.as_deref(), after.cuts),
                    (Some("suspended"), before.cuts + 1),
                    "{told}"
                );
            } else if after.cuts == before.cuts + 1 {
                let marked = if after.cuts >= 3 { "suspended" } else { "resume_pending" };
                assert_eq!(after.marker.as_deref(), Some(marked), "{told}");
            } else {
                assert_eq!(after.cuts, before.cuts, "{told}");
                assert_ne!(after.marker.as_deref(), Some("suspended"), "{told}");
            }
            if before.running && before.marker.as_deref() != Some("suspended") {
                assert!(after.marker.is_some() || after.cuts == before.cuts, "{told}");
            }
        }
    }
}
