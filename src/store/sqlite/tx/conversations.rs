//! Conversations of host applications: what stands beside the sessions of their keys.

use super::super::columns::optional_time;
use super::Tx;
use super::standing::Standing;
use crate::domain::Time;
use crate::domain::conversation::{RuntimeState, Writing, named_by, with_ours};
use crate::domain::id::SessionKey;
use crate::domain::queue::Refusal;
use crate::domain::session::Health;
use crate::store::Result;

impl Tx<'_> {
    /// Notes the conversation of a key, if it is one; returns the host's id of it.
    pub(super) fn note_conversation<'k>(&mut self, key: &'k SessionKey) -> Result<Option<&'k str>> {
        let Some((id, user)) = named_by(key) else { return Ok(None) };
        self.execute(
            "INSERT INTO conversations (id, user, key) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            (id, user.unwrap_or_default(), key),
        )?;
        Ok(Some(id))
    }

    pub(super) fn set_agent_state(&mut self, key: &SessionKey, state: &str) -> Result<()> {
        if self.note_conversation(key)?.is_none() {
            return Err(Refusal::BadKey(format!("{key} is no key of a host conversation")).into());
        }
        self.execute("UPDATE conversations SET agent_state = ?2 WHERE key = ?1", (key, state))?;
        Ok(())
    }

    /// Writes our part of the state that a session's host shares with its runtimes.
    pub(super) fn write_our_state(&mut self, standing: &Standing, writing: Writing, at: Time) -> Result<()> {
        if named_by(&standing.key).is_none() {
            return Ok(());
        }
        let state =
            self.first("SELECT agent_state FROM conversations WHERE key = ?1", (&standing.key,), |row| {
                row.get::<_, String>(0)
            })?;
        let ours = self.only(
            "SELECT health, restart_count, last_used_at FROM sessions WHERE id = ?1",
            (&standing.id,),
            |row| {
                Ok(RuntimeState {
                    session_id: standing.id.clone(),
                    last_used_at: optional_time(row, "last_used_at")?.unwrap_or(at),
                    restart_count: row.get("restart_count")?,
                    status: row.get::<_, Option<Health>>("health")?.unwrap_or(Health::Healthy),
                })
            },
        )?;
        // What is kept was checked when it came; a text that is none any more is the host's to mend.
        let Some(Ok(new)) = state.map(|state| with_ours(&state, &ours, writing)) else { return Ok(()) };
        self.execute("UPDATE conversations SET agent_state = ?2 WHERE key = ?1", (&standing.key, new))?;
        Ok(())
    }
}
