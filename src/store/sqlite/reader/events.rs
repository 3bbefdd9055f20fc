//! The log, read by pages.

use rusqlite::Row;

use super::super::columns::{from_json, time};
use super::super::sql::at_most;
use super::Reader;
use crate::domain::api::EventPage;
use crate::domain::cron::JobId;
use crate::domain::event::{Event, Level};
use crate::domain::id::{Seq, SessionId};
use crate::store::Result;

macro_rules! events_where {
    ($condition:literal) => {
        concat!(
            "SELECT seq, at, session, kind FROM events WHERE level >= ?1 AND seq > ?2 AND seq < ?3 AND ",
            $condition
        )
    };
}

/// Walks back from a session's newest event; one that was deleted as too old ends the walk.
macro_rules! events_of_session {
    ($order:literal) => {
        concat!(
            "WITH RECURSIVE walk (seq, at, session, previous, level, kind) AS (
                 SELECT seq, at, session, previous, level, kind FROM events WHERE seq = coalesce(
                     (SELECT previous FROM events WHERE seq = ?3 AND session = ?4),
                     (SELECT last_event FROM sessions WHERE id = ?4))
                 UNION ALL
                 SELECT e.seq, e.at, e.session, e.previous, e.level, e.kind
                 FROM walk w CROSS JOIN events e ON e.seq = w.previous WHERE w.previous > ?2)
             SELECT seq, at, session, kind FROM walk WHERE level >= ?1 AND seq > ?2 AND seq < ?3 ",
            $order
        )
    };
}

impl Reader<'_> {
    pub(super) fn events(
        &self,
        page: EventPage,
        level: Level,
        session: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<Event>> {
        let (after, before) = match page {
            EventPage::Newest => (Seq(0), Seq(i64::MAX)),
            EventPage::Before(seq) => (Seq(0), seq),
            EventPage::After(seq) => (seq, Seq(i64::MAX)),
        };
        let forwards = matches!(page, EventPage::After(_));
        // The second condition names the index that holds only what matters.
        let sql = match (session, level >= Level::Warn, forwards) {
            (None, false, true) => events_where!("?4 IS NULL ORDER BY seq LIMIT ?5"),
            (None, false, false) => events_where!("?4 IS NULL ORDER BY seq DESC LIMIT ?5"),
            (None, true, true) => events_where!("?4 IS NULL AND level >= 2 ORDER BY seq LIMIT ?5"),
            (None, true, false) => events_where!("?4 IS NULL AND level >= 2 ORDER BY seq DESC LIMIT ?5"),
            (Some(_), _, true) => events_of_session!("ORDER BY seq LIMIT ?5"),
            (Some(_), _, false) => events_of_session!("LIMIT ?5"),
        };
        let mut found = self.rows(sql, (level as u8, after, before, session, at_most(limit)), read)?;
        if !forwards {
            found.reverse();
        }
        Ok(found)
    }

    pub(super) fn events_of_job(
        &self,
        job: &JobId,
        page: EventPage,
        level: Level,
        limit: usize,
    ) -> Result<Vec<Event>> {
        let limit = at_most(limit);
        let mut found = match page {
            EventPage::After(seq) => {
                return self.rows(
                    events_where!("job = ?4 ORDER BY seq LIMIT ?5"),
                    (level as u8, seq, Seq(i64::MAX), job, limit),
                    read,
                );
            }
            EventPage::Newest | EventPage::Before(_) => {
                let before = if let EventPage::Before(seq) = page { seq } else { Seq(i64::MAX) };
                self.rows(
                    events_where!("job = ?4 ORDER BY seq DESC LIMIT ?5"),
                    (level as u8, Seq(0), before, job, limit),
                    read,
                )?
            }
        };
        found.reverse();
        Ok(found)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        seq: row.get("seq")?,
        at: time(row, "at")?,
        session: row.get("session")?,
        kind: from_json(row, "kind")?,
    })
}
