//! Events: told in the same step as what they tell of.

use std::sync::Arc;

use super::super::columns::{Millis, json};
use super::super::sql::at_most;
use super::Tx;
use super::standing::Standing;
use crate::domain::Time;
use crate::domain::event::{Event, EventKind};
use crate::domain::id::{Seq, SessionId};
use crate::store::Result;

impl Tx<'_> {
    /// Writes an event that is no session's. It reaches those who listen when the transaction is committed.
    pub(super) fn tell(&mut self, kind: EventKind, at: Time) -> Result<Seq> {
        self.write_event(None, None, kind, at)
    }

    /// Writes an event of a session, which the caller saves.
    pub(super) fn tell_of(&mut self, standing: &mut Standing, kind: EventKind, at: Time) -> Result<Seq> {
        let seq = self.write_event(Some(&standing.id), standing.last_event, kind, at)?;
        standing.last_event = Some(seq);
        Ok(seq)
    }

    fn write_event(
        &mut self,
        session: Option<&SessionId>,
        previous: Option<Seq>,
        kind: EventKind,
        at: Time,
    ) -> Result<Seq> {
        let text = json(&kind)?;
        let seq = Seq(self.insert(
            "INSERT INTO events (at, session, previous, level, kind, job) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (Millis(at), session, previous, kind.level() as u8, text, kind.job()),
        )?);
        self.told.push(Arc::new(Event { seq, at, session: session.cloned(), kind }));
        Ok(seq)
    }

    pub(super) fn record(&mut self, session: Option<&SessionId>, kind: EventKind, at: Time) -> Result<()> {
        let Some(session) = session else { return self.tell(kind, at).map(|_| ()) };
        let mut standing = self.standing(session)?;
        self.tell_of(&mut standing, kind, at)?;
        self.save(&standing)
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
