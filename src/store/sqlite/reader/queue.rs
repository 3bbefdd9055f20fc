//! Queues: one session's, and all that waits or runs anywhere.

use rusqlite::Row;
use std::collections::HashMap;

use super::super::columns::item;
use super::super::sql::at_most;
use super::Reader;
use crate::domain::api::QueueRow;
use crate::domain::id::{ItemId, SessionId, SessionKey};
use crate::domain::queue::{Item, ItemState, Lane};
use crate::domain::session::{HoldReason, SessionState};
use crate::store::Result;

/// How many of the items that were put aside a session's queue shows.
const ASIDE: usize = 20;

macro_rules! queue_rows {
    ($items:literal) => {
        concat!(
            "SELECT i.*, s.key, s.title, h.stopping_why, h.held_why, ",
            held_by!(),
            " FROM (",
            $items,
            ") i JOIN sessions s ON s.id = i.session JOIN house h"
        )
    };
}

impl Reader<'_> {
    pub(super) fn item(&self, id: ItemId) -> Result<Option<Item>> {
        self.first("SELECT * FROM items WHERE id = ?1", (id,), item)
    }

    pub(super) fn session_queue(&self, session: &SessionId) -> Result<Vec<QueueRow>> {
        let mut found = self.rows(
            queue_rows!(
                "SELECT * FROM items WHERE session = ?1 AND state = 'waiting' ORDER BY lane DESC, position"
            ),
            (session,),
            queue_row,
        )?;
        found.extend(self.rows(
            queue_rows!(
                "SELECT items.* FROM sessions JOIN turns ON turns.id = running_turn
                     JOIN items ON items.id = turns.item OR items.id IN
                         (SELECT item FROM messages WHERE turn = turns.id AND role = 'steered')
                 WHERE sessions.id = ?1 ORDER BY items.id"
            ),
            (session,),
            queue_row,
        )?);
        found.extend(self.rows(
            queue_rows!(
                "SELECT * FROM items WHERE session = ?1 AND state IN ('superseded', 'cleared')
                 ORDER BY id DESC LIMIT ?2"
            ),
            (session, ASIDE),
            queue_row,
        )?);
        number(&mut found);
        Ok(found)
    }

    pub(super) fn backlog(&self, limit: usize) -> Result<Vec<QueueRow>> {
        let mut found = self.rows(
            queue_rows!(
                "SELECT * FROM (SELECT * FROM items WHERE state = 'waiting'
                                ORDER BY session, lane DESC, position LIMIT ?1)
                 UNION ALL
                 SELECT * FROM (
                     SELECT items.* FROM sessions JOIN turns ON turns.id = running_turn
                         JOIN items ON items.id = turns.item OR items.id IN
                             (SELECT item FROM messages WHERE turn = turns.id AND role = 'steered')
                     WHERE sessions.ended_at IS NULL AND rank <= ?2 ORDER BY sessions.id, items.id LIMIT ?1)"
            ),
            (at_most(limit), SessionState::Runs.rank()),
            queue_row,
        )?;
        // What runs comes first in its session, then what waits in its order.
        found.sort_by(|a, b| {
            let runs = |row: &QueueRow| row.item.state != ItemState::Running;
            a.item.session.cmp(&b.item.session).then(runs(a).cmp(&runs(b)))
        });
        found.truncate(limit);
        number(&mut found);
        Ok(found)
    }
}

fn queue_row(row: &Row<'_>) -> rusqlite::Result<QueueRow> {
    let item = item(row)?;
    let key: SessionKey = row.get("key")?;
    let title: Option<String> = row.get("title")?;
    let session_name = title.unwrap_or_else(|| key.parts().chat_id.to_owned());
    let held = if item.state == ItemState::Waiting { held(row, item.lane)? } else { None };
    Ok(QueueRow { item, key, session_name, position: None, held })
}

fn held(row: &Row<'_>, lane: Lane) -> rusqlite::Result<Option<String>> {
    if let Some(why) = row.get::<_, Option<String>>("stopping_why")? {
        return Ok(Some(format!("the engine stops: {why}; it runs after the next start")));
    }
    if let Some(why) = row.get::<_, Option<String>>("held_why")? {
        return Ok(Some(format!("the engine is on hold: {why}")));
    }
    let hold: Option<HoldReason> = row.get("hold_reason")?;
    Ok(hold.filter(|_| lane == Lane::Queue).map(HoldReason::words))
}

/// Gives the items of overflow queues their places; the rows come in order from each queue's head.
fn number(rows: &mut [QueueRow]) {
    let mut places: HashMap<SessionId, usize> = HashMap::new();
    for row in rows {
        if row.item.state == ItemState::Waiting && row.item.lane == Lane::Queue {
            let place = places.entry(row.item.session.clone()).or_default();
            *place += 1;
            row.position = Some(*place);
        }
    }
}
