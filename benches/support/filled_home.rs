//! A home with much in it, made in seconds.

use std::path::Path;

use chrono::{TimeDelta, Utc};
use rusqlite::{Connection, params};
use switchboard::domain::id::SessionId;
use switchboard::store::{Patience, Store};

/// How much.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Live sessions.
    pub(crate) sessions: u32,
    /// Turns in each: a question and an answer.
    pub(crate) turns: u32,
}

impl Size {
    /// What an operator has after a week.
    pub(crate) const SMALL: Self = Self { sessions: 10, turns: 5 };
    /// Enough for turns that come every second.
    pub(crate) const BUSY: Self = Self { sessions: 401, turns: 5 };
    /// What nobody should have, and what must work all the same: a million messages.
    pub(crate) const HUGE: Self = Self { sessions: 100_000, turns: 5 };
}

/// Fills the store of `home`. The rows are those that the engine would have written, apart from the
/// events, of which only the last is there.
pub(crate) fn fill(home: &Path, size: Size) {
    std::fs::create_dir_all(home).unwrap();
    let path = home.join("state.db");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // Dropped alone, it would still be closing when the filling begins.
    runtime.block_on(async { Store::open(&path, Patience::default()).unwrap().0.close().await });

    let mut connection = Connection::open(&path).unwrap();
    // In memory until it is whole: nothing of it needs to survive a crash.
    for (pragma, value) in
        [("foreign_keys", "OFF"), ("journal_mode", "OFF"), ("synchronous", "OFF"), ("cache_size", "-2000000")]
    {
        connection.pragma_update(None, pragma, value).unwrap();
    }
    let all = connection.transaction().unwrap();
    {
        let mut session = all
            .prepare(
                "INSERT INTO sessions (id, key, title, created_at, last_activity_at, turns, rank)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 4)",
            )
            .unwrap();
        let mut item = all
            .prepare(
                "INSERT INTO items (id, session, lane, position, state, text, source, created_at, turn)
                 VALUES (?1, ?2, 'slot', 0, 'done', ?3, 'console', ?4, ?1)",
            )
            .unwrap();
        let mut turn = all
            .prepare(
                "INSERT INTO turns (id, session, item, state, probe, steerable, began_at, ended_at, ended_seq)
                 VALUES (?1, ?2, ?1, 'done', 0, 0, ?3, ?4, ?1)",
            )
            .unwrap();
        let mut message = all
            .prepare("INSERT INTO messages (session, turn, at, role, text, produced, item) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
            .unwrap();
        let start = Utc::now() - TimeDelta::days(30);
        let mut number = 0_i64;
        for n in 0..size.sessions {
            let at = start + TimeDelta::seconds(i64::from(n) * 20);
            let id = SessionId::new(at, n);
            let key = format!("agent:main:local:dm:bench-{n}");
            let title = format!("session {n}: release notes");
            let millis = at.timestamp_millis();
            session.execute(params![id.as_str(), key, title, millis, millis, size.turns]).unwrap();
            for t in 0..size.turns {
                number += 1;
                let at = millis + i64::from(t) * 1000;
                let question = format!("What changed in part {t} since the last release?");
                let answer = format!(
                    "Part {t} has three changes.\n\n- The exporter writes Parquet.\n- Retries wait longer each time.\n- Errors name the file and the line, and say what to do about it ({n})."
                );
                item.execute(params![number, id.as_str(), question, at]).unwrap();
                turn.execute(params![number, id.as_str(), at, at + 900]).unwrap();
                message
                    .execute(params![id.as_str(), number, at, "user", question, None::<i64>, number])
                    .unwrap();
                message
                    .execute(params![id.as_str(), number, at + 800, "agent", answer, 0, None::<i64>])
                    .unwrap();
            }
        }
        all.execute(
            "UPDATE house SET live_sessions = ?1, all_sessions = ?1, indexed_seq = ?2, indexed_message = ?3",
            params![size.sessions, number + 1, number * 2],
        )
        .unwrap();
        all.execute(
            "INSERT INTO events (seq, at, session, level, kind) VALUES (?1, ?2, NULL, 1, ?3)",
            params![number + 1, Utc::now().timestamp_millis(), r#"{"event":"engine_released"}"#],
        )
        .unwrap();
    }
    all.commit().unwrap();
    // What is written back later would be waited for by whoever is measured.
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
}
