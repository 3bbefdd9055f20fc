//! The header's counts, the operator's hold, and what composers hold.

use rusqlite::Row;

use super::super::columns::{background_process, time};
use super::super::sql::at_most;
use super::Reader;
use crate::domain::api::{AllowedRow, ComposerMemory, EngineHold, ProcessRow};
use crate::domain::approval::Allowed;
use crate::domain::background::BackgroundProcess;
use crate::domain::id::{SessionId, SessionKey, TurnId};
use crate::domain::process::{ChildProcess, ProcessIdentity};
use crate::domain::session::SessionState;
use crate::store::{Counts, Result};

macro_rules! processes_where {
    ($condition:literal, $limit:literal) => {
        concat!(
            "SELECT b.*, s.key, s.title FROM background b JOIN sessions s ON s.id = b.session WHERE ",
            $condition,
            " ORDER BY b.ended_at IS NOT NULL, b.ended_at DESC, b.began_at, b.session, b.number LIMIT ",
            $limit
        )
    };
}

/// A session has few of them, so that all that live are few among those that are kept.
const LIVE_BACKGROUND: &str = processes_where!("b.ended_at IS NULL", "-1");

impl Reader<'_> {
    pub(super) fn counts(&self) -> Result<Counts> {
        self.only(
            "SELECT live_sessions,
                 (SELECT count(*) FROM alerts WHERE needs_you = 1) AS needs_you,
                 (SELECT count(*) FROM sessions WHERE ended_at IS NULL AND rank = ?1) AS running,
                 (SELECT count(DISTINCT session) FROM approvals WHERE decision IS NULL) AS asking,
                 (SELECT count(*) FROM items WHERE state = 'waiting') AS waiting,
                 (SELECT count(*) FROM sessions WHERE marker IS NOT NULL AND ended_at IS NULL) AS marked,
                 max_cuts,
                 (SELECT max(seq) FROM events) AS last_event,
                 CASE WHEN stopping_why IS NOT NULL THEN 'stopping'
                      WHEN held_why IS NOT NULL THEN 'held' ELSE 'open' END AS gate
             FROM house",
            (SessionState::Runs.rank(),),
            |row| {
                Ok(Counts {
                    sessions: row.get("live_sessions")?,
                    needs_you: row.get("needs_you")?,
                    running: row.get("running")?,
                    asking: row.get("asking")?,
                    waiting: row.get("waiting")?,
                    marked: row.get("marked")?,
                    max_cuts: row.get("max_cuts")?,
                    last_event: row.get("last_event")?,
                    gate: row.get("gate")?,
                })
            },
        )
    }

    pub(super) fn engine_hold(&self) -> Result<Option<EngineHold>> {
        self.first("SELECT held_since, held_why FROM house WHERE held_why IS NOT NULL", (), |row| {
            Ok(EngineHold { since: time(row, "held_since")?, why: row.get("held_why")? })
        })
    }

    pub(super) fn processes(&self) -> Result<Vec<(SessionId, ChildProcess)>> {
        self.rows(
            "SELECT session, turn, program, process_group, boot, started FROM processes
             ORDER BY process_group, started, boot",
            (),
            |row| {
                let identity = ProcessIdentity {
                    pid: row.get("process_group")?,
                    boot: row.get("boot")?,
                    started: row.get("started")?,
                };
                let child = ChildProcess { turn: row.get("turn")?, program: row.get("program")?, identity };
                Ok((row.get("session")?, child))
            },
        )
    }

    pub(super) fn background(&self, session: Option<&SessionId>, limit: usize) -> Result<Vec<ProcessRow>> {
        let limit = at_most(limit);
        match session {
            Some(session) => {
                self.rows(processes_where!("b.session = ?1", "?2"), (session, limit), process_row)
            }
            None => self.rows(processes_where!("TRUE", "?1"), (limit,), process_row),
        }
    }

    pub(super) fn live_background(&self) -> Result<Vec<ProcessRow>> {
        self.rows(LIVE_BACKGROUND, (), process_row)
    }

    pub(super) fn told_in(&self, session: &SessionId, turn: TurnId) -> Result<Vec<BackgroundProcess>> {
        self.rows(
            "SELECT * FROM background WHERE session = ?1 AND told_in = ?2 ORDER BY number",
            (session, turn),
            background_process,
        )
    }

    pub(super) fn allowed(&self, session: Option<&SessionId>, limit: usize) -> Result<Vec<AllowedRow>> {
        self.rows(
            "SELECT a.*, s.key, s.title FROM allowed_commands a JOIN sessions s ON s.id = a.session
             WHERE iif(?1 IS NULL, s.ended_at IS NULL, a.session = ?1)
             ORDER BY a.session, a.prefix LIMIT ?2",
            (session, at_most(limit)),
            |row| {
                let (key, session_name) = key_and_name(row)?;
                let (session, prefix) = (row.get("session")?, row.get("prefix")?);
                let allowed = Allowed { session, prefix, since: time(row, "at")? };
                Ok(AllowedRow { allowed, key, session_name })
            },
        )
    }

    pub(super) fn composer(&self, key: &SessionKey) -> Result<ComposerMemory> {
        let draft = self.first("SELECT text FROM drafts WHERE key = ?1", (key,), |row| row.get(0))?;
        let history = self.rows(
            "SELECT text FROM remembered_drafts WHERE key = ?1 ORDER BY id LIMIT 200",
            (key,),
            |row| row.get(0),
        )?;
        Ok(ComposerMemory { draft: draft.unwrap_or_default(), history })
    }
}

fn process_row(row: &Row<'_>) -> rusqlite::Result<ProcessRow> {
    let (key, session_name) = key_and_name(row)?;
    Ok(ProcessRow { process: background_process(row)?, key, session_name })
}

/// The key of a session, and what a person calls it.
fn key_and_name(row: &Row<'_>) -> rusqlite::Result<(SessionKey, String)> {
    let (key, title): (SessionKey, Option<String>) = (row.get("key")?, row.get("title")?);
    let name = title.unwrap_or_else(|| key.parts().chat_id.to_owned());
    Ok((key, name))
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::LIVE_BACKGROUND;

    #[test]
    fn a_start_and_a_stop_read_the_background_processes_that_live_and_none_that_ended() {
        let plan = plan(LIVE_BACKGROUND);
        assert!(plan.contains("SCAN b USING INDEX live_background"), "{plan}");
    }
}
