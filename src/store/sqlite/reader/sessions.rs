//! Sessions: lists by pages, one by name.

use rusqlite::Row;

use super::super::background::background;
use super::super::columns::{Millis, approval, item, kept_json, named_marker, optional_time, time};
use super::super::sql::at_most;
use super::super::tx::{hold, spent};
use super::Reader;
use crate::domain::Time;
use crate::domain::api::{RunningTurn, SessionCursor, SessionPage, SessionRow};
use crate::domain::filter::{Filter, Subject};
use crate::domain::id::{ItemId, SessionId, SessionKey, TurnId};
use crate::domain::reset::Background;
use crate::domain::session::{
    AgentSession, Beginning, ContextUse, Ended, Runtime, Session, SessionState, Usage,
};
use crate::store::Result;

macro_rules! session_where {
    ($condition:literal) => {
        concat!(
            "SELECT s.*, t.began_at AS turn_began_at, t.steerable, t.stop_cause IS NOT NULL AS stopping,
                 (SELECT id FROM items WHERE session = s.id AND state = 'waiting' AND lane = 'slot') AS slot,
                 (SELECT count(*) FROM items
                  WHERE session = s.id AND state = 'waiting' AND lane = 'queue') AS queued,
                 EXISTS (SELECT 1 FROM processes
                         WHERE session = s.id AND turn IS NOT s.running_turn)
                 OR EXISTS (SELECT 1 FROM background
                            WHERE session = s.id AND ended_at IS NULL) AS has_work
             FROM sessions s LEFT JOIN turns t ON t.id = s.running_turn
             WHERE ",
            $condition
        )
    };
}

/// Behind a place of the list: the rest of its rank, then the ranks below. Each part is a range of the index.
const BEHIND: &str = "
    SELECT id FROM (
        SELECT id FROM sessions
        WHERE ended_at IS NULL AND rank = ?1 AND (last_activity_at, id) < (?2, ?3)
        ORDER BY last_activity_at DESC, id DESC LIMIT ?4)
    UNION ALL
    SELECT id FROM (
        SELECT id FROM sessions
        WHERE ended_at IS NULL AND rank > ?1
        ORDER BY rank, last_activity_at DESC, id DESC LIMIT ?4)
    LIMIT ?4";

impl Reader<'_> {
    pub(super) fn sessions(
        &self,
        filter: &Filter,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Result<SessionPage> {
        if !filter.is_empty() {
            return self.filtered_sessions(filter, after, limit);
        }
        let total = self.only("SELECT live_sessions FROM house", (), |row| row.get(0))?;
        let ids = match after {
            None => self.rows(
                "SELECT id FROM sessions WHERE ended_at IS NULL
                 ORDER BY rank, last_activity_at DESC, id DESC LIMIT ?1",
                (at_most(limit),),
                |row| row.get(0),
            )?,
            Some(place) => self.rows(
                BEHIND,
                (place.rank, Millis(place.last_activity_at), &place.session, at_most(limit)),
                |row| row.get(0),
            )?,
        };
        Ok(SessionPage { rows: self.load(&ids)?, hits: total, total })
    }

    /// Looks at every live session's name, key and state; keeps no more than a page.
    fn filtered_sessions(
        &self,
        filter: &Filter,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Result<SessionPage> {
        let mut statement = self.connection.prepare_cached(
            "SELECT rank, last_activity_at, id, key, title FROM sessions WHERE ended_at IS NULL
             ORDER BY rank, last_activity_at DESC, id DESC",
        )?;
        let mut rows = statement.query(())?;
        let mut page: Vec<SessionId> = Vec::new();
        let (mut hits, mut total) = (0, 0);
        while let Some(row) = rows.next()? {
            total += 1;
            let rank: u8 = row.get(0)?;
            let key = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
            // The parts that a filter looks at; building a checked key for each row would cost more.
            let mut parts = key.split(':').skip(2);
            let platform = parts.next().unwrap_or_default();
            let chat = parts.nth(1).unwrap_or_default();
            let title = row.get_ref(4)?.as_str_or_null().map_err(rusqlite::Error::from)?;
            let name = title.unwrap_or(chat);
            let subject = Subject { name, key, platform, state: SessionState::from_rank(rank) };
            if !filter.matches(&subject) {
                continue;
            }
            hits += 1;
            if page.len() < limit && after.map_or(Ok(true), |place| is_behind(row, rank, place))? {
                page.push(row.get(2)?);
            }
        }
        Ok(SessionPage { rows: self.load(&page)?, hits, total })
    }

    pub(super) fn session_history(&self, limit: usize) -> Result<SessionPage> {
        let total = self.only("SELECT all_sessions FROM house", (), |row| row.get(0))?;
        let place = |row: &Row<'_>| Ok((row.get::<_, Millis>(0)?.0, row.get(1)?));
        // The last active of each rank and of the ended ones: none needs an index of its own.
        let mut places: Vec<(Time, SessionId)> = self.rows(
            "SELECT last_activity_at, id FROM sessions WHERE ended_at IS NOT NULL
             ORDER BY last_activity_at DESC, id DESC LIMIT ?1",
            (at_most(limit),),
            place,
        )?;
        for state in SessionState::ALL {
            places.extend(self.rows(
                "SELECT last_activity_at, id FROM sessions WHERE ended_at IS NULL AND rank = ?2
                 ORDER BY last_activity_at DESC, id DESC LIMIT ?1",
                (at_most(limit), state.rank()),
                place,
            )?);
        }
        places.sort_unstable_by(|a, b| b.cmp(a));
        places.truncate(limit);
        let ids: Vec<SessionId> = places.into_iter().map(|(_, id)| id).collect();
        Ok(SessionPage { rows: self.load(&ids)?, hits: total, total })
    }

    pub(super) fn session(&self, id: &SessionId) -> Result<Option<SessionRow>> {
        let found = self.first(session_where!("s.id = ?1"), (id,), session_row)?;
        found.map(|found| self.whole(found)).transpose()
    }

    pub(super) fn live_session(&self, key: &SessionKey) -> Result<Option<SessionId>> {
        self.first("SELECT id FROM sessions WHERE key = ?1 AND ended_at IS NULL", (key,), |row| row.get(0))
    }

    pub(super) fn session_at(&self, key: &SessionKey) -> Result<Option<SessionRow>> {
        let found = self.first(session_where!("s.key = ?1 AND s.ended_at IS NULL"), (key,), session_row)?;
        found.map(|found| self.whole(found)).transpose()
    }

    pub(super) fn resolve_session(&self, wanted: &str, limit: usize) -> Result<Vec<SessionId>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let exact = self.first(
            "SELECT id FROM sessions WHERE id = ?1
             UNION ALL
             SELECT id FROM sessions WHERE title = ?1 AND title IS NOT NULL AND ended_at IS NULL LIMIT 1",
            (wanted,),
            |row| row.get(0),
        )?;
        if let Some(id) = exact {
            return Ok(vec![id]);
        }
        self.rows(
            "SELECT id FROM sessions WHERE title = ?1 AND title IS NOT NULL
             UNION
             SELECT id FROM sessions WHERE id >= ?1 AND id < ?1 || char(0x10ffff)
             ORDER BY id DESC LIMIT ?2",
            (wanted, at_most(limit)),
            |row| row.get(0),
        )
    }

    fn load(&self, ids: &[SessionId]) -> Result<Vec<SessionRow>> {
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            rows.extend(self.session(id)?);
        }
        Ok(rows)
    }

    fn whole(&self, Found { mut row, slot, has_work, asks }: Found) -> Result<SessionRow> {
        if let Some(id) = slot {
            row.slot = self.first("SELECT * FROM items WHERE id = ?1", (id,), item)?;
        }
        if has_work {
            row.background = background(self.connection, &row.session.id)?;
        }
        if asks > 0 {
            row.asks = self.rows(
                "SELECT * FROM approvals WHERE session = ?1 AND decision IS NULL ORDER BY id",
                (&row.session.id,),
                approval,
            )?;
        }
        Ok(row)
    }
}

/// Whether a row of the list comes behind `place`.
fn is_behind(row: &Row<'_>, rank: u8, place: &SessionCursor) -> rusqlite::Result<bool> {
    let last_activity_at: Time = time(row, "last_activity_at")?;
    let session: SessionId = row.get("id")?;
    let behind = (last_activity_at, session) < (place.last_activity_at, place.session.clone());
    Ok(rank > place.rank || (rank == place.rank && behind))
}

/// A row, and what of it stands in other tables.
struct Found {
    row: SessionRow,
    slot: Option<ItemId>,
    has_work: bool,
    asks: usize,
}

fn session_row(row: &Row<'_>) -> rusqlite::Result<Found> {
    let turn = row.get::<_, Option<TurnId>>("running_turn")?.map(|turn| {
        Ok::<_, rusqlite::Error>(RunningTurn {
            turn,
            since: time(row, "turn_began_at")?,
            steerable: row.get("steerable")?,
            stopping: row.get("stopping")?,
            last_output_at: None,
        })
    });
    let found = SessionRow {
        session: session(row)?,
        state: SessionState::from_rank(row.get("rank")?),
        turn: turn.transpose()?,
        slot: None,
        queued: row.get("queued")?,
        resume_place: row.get("resume_place")?,
        asks: Vec::new(),
        last_error: row.get("last_error")?,
        background: Background::None,
        forecast: None,
        today: None,
    };
    Ok(Found { row: found, slot: row.get("slot")?, has_work: row.get("has_work")?, asks: row.get("asks")? })
}

fn beginning(row: &Row<'_>) -> rusqlite::Result<Beginning> {
    let had_activity = row.get("reset_had_activity")?;
    Ok(match (row.get("auto_reset_reason")?, row.get("is_fresh_reset")?) {
        (Some(reason), _) => Beginning::AutoReset { reason, had_activity },
        (None, true) => Beginning::Fresh,
        (None, false) => Beginning::New,
    })
}

fn session(row: &Row<'_>) -> rusqlite::Result<Session> {
    let ended = match optional_time(row, "ended_at")? {
        Some(at) => Some(Ended { at, reason: row.get("end_reason")? }),
        None => None,
    };
    Ok(Session {
        id: row.get("id")?,
        key: row.get("key")?,
        conversation: row.get("conversation")?,
        title: row.get("title")?,
        created_at: time(row, "created_at")?,
        last_activity_at: time(row, "last_activity_at")?,
        ended,
        previous: row.get("previous")?,
        turns: row.get("turns")?,
        usage: Usage {
            input: row.get("input_tokens")?,
            output: row.get("output_tokens")?,
            cache_read: row.get("cache_read_tokens")?,
            cache_write: row.get("cache_write_tokens")?,
            cost: row.get("cost")?,
        },
        context: context(row)?,
        agent: row.get("agent")?,
        chosen_agent: row.get("chosen_agent")?,
        model: row.get("model")?,
        chosen_model: row.get("chosen_model")?,
        busy_mode: row.get("busy_mode")?,
        hold: hold(row)?,
        spent: spent(row)?,
        dead_turns: row.get("dead_turns")?,
        began_at: time(row, "began_at")?,
        beginning: beginning(row)?,
        marker: named_marker(row)?,
        cuts: row.get("cuts")?,
        runtime: Runtime {
            health: row.get("health")?,
            restart_count: row.get("restart_count")?,
            last_used_at: optional_time(row, "last_used_at")?,
        },
        agent_session: agent_session(row)?,
    })
}

fn context(row: &Row<'_>) -> rusqlite::Result<Option<ContextUse>> {
    let Some(tokens) = row.get("context_tokens")? else { return Ok(None) };
    Ok(Some(ContextUse { tokens, window: row.get("context_window")? }))
}

fn agent_session(row: &Row<'_>) -> rusqlite::Result<Option<AgentSession>> {
    let Some(id) = row.get("agent_session")? else { return Ok(None) };
    let told = kept_json(row, "agent_session_told")?.unwrap_or_default();
    Ok(Some(AgentSession { agent: row.get("agent_session_of")?, id, told }))
}
