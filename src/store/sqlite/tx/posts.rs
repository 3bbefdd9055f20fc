//! Lines of the engine's own in a session, for its reader: what a scheduled task delivers there.

use rusqlite::params;

use super::super::columns::Millis;
use super::Tx;
use super::history::NewRow;
use super::sessions::NewSession;
use super::standing::Standing;
use crate::domain::Time;
use crate::domain::event::EventKind;
use crate::domain::id::{ItemId, TurnId};
use crate::domain::queue::{ItemState, Lane, Source};
use crate::domain::turn::TurnState;
use crate::store::{Post, Result};

impl Tx<'_> {
    /// Writes a line into the session that is live at its address, and tells of it there. It is no activity of
    /// the session: no reset waits for it, and no turn begins.
    pub(super) fn post(&mut self, post: &Post, news: EventKind, at: Time) -> Result<()> {
        let mut standing = match self.standing_at(&post.to)? {
            Some(standing) => standing,
            None => self.make_session(&NewSession::of(&post.to, &post.fresh), at)?,
        };
        let turn = match standing.running {
            Some(running) => running.turn,
            None => self.add_place(&standing, at)?,
        };
        self.add_message(
            &mut standing,
            &NewRow { text: Some(&post.text), ..NewRow::of(turn, "notice", at) },
        )?;
        self.tell_of(&mut standing, news, at)?;
        self.save(&standing)
    }

    /// Where a line stands between two turns: every row of a conversation is a turn's. This one is over, and
    /// beside the session's chain of turns: nothing is undone, retried or recovered by it.
    fn add_place(&mut self, standing: &Standing, at: Time) -> Result<TurnId> {
        let item = ItemId(self.insert(
            "INSERT INTO items (session, lane, position, state, text, source, created_at)
             VALUES (?1, ?2, 0, ?3, '', ?4, ?5)",
            (&standing.id, Lane::Queue, ItemState::Done, Source::Job, Millis(at)),
        )?);
        let turn = TurnId(self.insert(
            "INSERT INTO turns (session, item, state, probe, steerable, began_at, ended_at)
             VALUES (?1, ?2, ?3, 0, 0, ?4, ?4)",
            params![standing.id, item, TurnState::Done, Millis(at)],
        )?);
        self.execute("UPDATE items SET turn = ?2 WHERE id = ?1", (item, turn))?;
        Ok(turn)
    }
}
