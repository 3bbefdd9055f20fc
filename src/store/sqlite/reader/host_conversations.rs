//! Conversations of host applications.

use rusqlite::Row;

use super::super::sql::at_most;
use super::Reader;
use crate::domain::conversation::HostConversation;
use crate::domain::id::SessionKey;
use crate::store::Result;

macro_rules! conversation_where {
    ($rest:literal) => {
        concat!(
            "SELECT c.id, c.user, c.key, c.agent_state, s.id AS session FROM conversations c
             LEFT JOIN sessions s ON s.key = c.key AND s.ended_at IS NULL ",
            $rest
        )
    };
}

impl Reader<'_> {
    pub(super) fn host_conversations(&self, limit: usize) -> Result<Vec<HostConversation>> {
        self.rows(conversation_where!("ORDER BY c.id, c.user LIMIT ?1"), (at_most(limit),), conversation)
    }

    pub(super) fn host_conversation(&self, key: &SessionKey) -> Result<Option<HostConversation>> {
        self.first(conversation_where!("WHERE c.key = ?1"), (key,), conversation)
    }
}

fn conversation(row: &Row<'_>) -> rusqlite::Result<HostConversation> {
    let user: String = row.get("user")?;
    Ok(HostConversation {
        id: row.get("id")?,
        user: (!user.is_empty()).then_some(user),
        key: row.get("key")?,
        session: row.get("session")?,
        agent_state: row.get("agent_state")?,
    })
}
