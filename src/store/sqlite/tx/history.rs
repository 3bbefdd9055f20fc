//! The rows of a conversation: each knows the one before it in its session.

use rusqlite::params;

use super::super::columns::Millis;
use super::Tx;
use super::standing::Standing;
use crate::domain::Time;
use crate::domain::id::{ItemId, MessageId, TurnId};
use crate::store::Result;

/// A row that is added to a session's conversation.
pub(super) struct NewRow<'a> {
    pub(super) turn: TurnId,
    pub(super) at: Time,
    pub(super) role: &'a str,
    pub(super) text: Option<&'a str>,
    pub(super) produced: Option<usize>,
    pub(super) item: Option<ItemId>,
    pub(super) call: Option<&'a str>,
    pub(super) tool: Option<&'a str>,
    pub(super) arguments: Option<&'a str>,
    pub(super) ok: Option<bool>,
    pub(super) result_at: Option<Time>,
}

impl<'a> NewRow<'a> {
    /// A row of `turn` that says nothing but its role.
    pub(super) fn of(turn: TurnId, role: &'a str, at: Time) -> Self {
        Self {
            turn,
            at,
            role,
            text: None,
            produced: None,
            item: None,
            call: None,
            tool: None,
            arguments: None,
            ok: None,
            result_at: None,
        }
    }
}

impl Tx<'_> {
    /// Adds a row behind the newest one of a session, which the caller saves.
    pub(super) fn add_message(&mut self, standing: &mut Standing, row: &NewRow<'_>) -> Result<()> {
        let id = self.insert(
            "INSERT INTO messages (session, turn, previous, at, role, text, produced, item, call, tool,
                 arguments, ok, result_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                standing.id,
                row.turn,
                standing.last_message,
                Millis(row.at),
                row.role,
                row.text,
                row.produced,
                row.item,
                row.call,
                row.tool,
                row.arguments,
                row.ok,
                row.result_at.map(Millis),
            ],
        )?;
        standing.last_message = Some(MessageId(id));
        Ok(())
    }
}
