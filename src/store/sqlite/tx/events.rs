//! Events: told in the same step as what they tell of.

use std::sync::Arc;

use super::super::columns::Millis;
use super::super::sql::at_most;
use super::Tx;
use crate::domain::Time;
use crate::domain::event::{Event, EventKind};
use crate::domain::id::{Seq, SessionId};
use crate::store::{Result, StoreError};

impl Tx<'_> {
    /// Writes an event. It reaches those who listen when the transaction is committed.
    pub(super) fn tell(&mut self, session: Option<&SessionId>, kind: EventKind, at: Time) -> Result<Seq> {
        let json = serde_json::to_string(&kind).map_err(|error| StoreError::Database(error.to_string()))?;
        let seq = Seq(self.insert(
            "INSERT INTO events (at, session, level, kind) VALUES (?1, ?2, ?3, ?4)",
            (Millis(at), session, kind.level() as u8, json),
        )?);
        self.told.push(Arc::new(Event { seq, at, session: session.cloned(), kind }));
        Ok(seq)
    }

    /// The oldest come first, and the newest always stays: the numbers go on from it.
    pub(super) fn prune_events(&mut self, before: Time, limit: usize) -> Result<usize> {
        self.execute(
            "DELETE FROM events WHERE seq IN (
                 SELECT seq FROM (SELECT seq, at FROM events ORDER BY seq LIMIT ?2)
                 WHERE at < ?1 AND seq < (SELECT max(seq) FROM events))",
            (Millis(before), at_most(limit)),
        )
    }
}
