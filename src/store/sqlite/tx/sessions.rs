//! Sessions: made, ended, taken up again, named.

use rusqlite::params;

use super::super::columns::{Millis, json};
use super::Tx;
use super::standing::Standing;
use crate::domain::Time;
use crate::domain::agent::AgentName;
use crate::domain::alert::{AlertKey, left_waiting};
use crate::domain::background::{BackgroundProcess, StoppedBy};
use crate::domain::event::EventKind;
use crate::domain::id::{SessionId, SessionKey};
use crate::domain::marker::Clearing;
use crate::domain::queue::{BusyMode, Refusal};
use crate::domain::reset::LEFT_BY_SWITCH;
use crate::domain::session::{AgentSession, Beginning, EndReason, SessionState};
use crate::domain::turn::StopCause;
use crate::store::{LeftBehind, Result};

/// A session that is to be made.
pub(super) struct NewSession<'a> {
    pub(super) key: &'a SessionKey,
    pub(super) id: &'a SessionId,
    pub(super) previous: Option<&'a SessionId>,
    pub(super) title: Option<&'a str>,
    pub(super) beginning: Beginning,
    /// The line that its first turn begins with.
    pub(super) notice: Option<&'a str>,
}

impl<'a> NewSession<'a> {
    /// The first session of its key.
    pub(super) fn of(key: &'a SessionKey, id: &'a SessionId) -> Self {
        Self { key, id, previous: None, title: None, beginning: Beginning::New, notice: None }
    }
}

impl Tx<'_> {
    pub(super) fn open_session(
        &mut self,
        key: &SessionKey,
        fresh: &SessionId,
        at: Time,
    ) -> Result<SessionId> {
        if let Some(standing) = self.standing_at(key)? {
            return Ok(standing.id);
        }
        Ok(self.make_session(&NewSession::of(key, fresh), at)?.id)
    }

    pub(super) fn reset_session(
        &mut self,
        key: &SessionKey,
        fresh: &SessionId,
        title: Option<&str>,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>> {
        let old = self.standing_at(key)?;
        let previous = old.as_ref().map(|old| old.id.clone());
        let mut stopped = Vec::new();
        if let Some(mut old) = old {
            if let Some(running) = old.running {
                self.cut_turn(&mut old, running, StopCause::Reset, at)?;
            }
            self.clear_waiting(&mut old, "cleared by /new", at)?;
            stopped = self.stop_live_background(&mut old, StoppedBy::Reset, at)?;
            self.end_session(&mut old, EndReason::SessionReset, Clearing::New, fresh, at)?;
        }
        if let Some(title) = title {
            self.refuse_taken(title, fresh)?;
        }
        let new = NewSession {
            previous: previous.as_ref(),
            title,
            beginning: Beginning::Fresh,
            ..NewSession::of(key, fresh)
        };
        self.make_session(&new, at)?;
        Ok(stopped)
    }

    pub(super) fn switch_session(
        &mut self,
        key: &SessionKey,
        wanted: &SessionId,
        at: Time,
    ) -> Result<Option<LeftBehind>> {
        let mut chosen = self.standing(wanted)?;
        if chosen.live {
            return Err(if chosen.key == *key {
                Refusal::AlreadyCurrent.into()
            } else {
                Refusal::LiveElsewhere(chosen.key.to_string()).into()
            });
        }
        self.resolve_alert(&AlertKey::left_waiting(wanted), at)?;
        let left = match self.standing_at(key)? {
            Some(mut current) => {
                current.refuse_during_turn()?;
                let items = self.clear_waiting(&mut current, LEFT_BY_SWITCH, at)?.len();
                self.end_session(&mut current, EndReason::SessionSwitch, Clearing::Reset, wanted, at)?;
                Some(LeftBehind { session: current.id, items })
            }
            None => {
                self.execute("UPDATE house SET live_sessions = live_sessions + 1", ())?;
                None
            }
        };
        if let Some(title) = &chosen.title {
            self.refuse_taken(title, wanted)?;
        }
        self.execute(
            "UPDATE sessions SET key = ?2, ended_at = NULL, end_reason = NULL, began_at = ?3 WHERE id = ?1",
            (wanted, key, Millis(at)),
        )?;
        chosen.live = true;
        self.tell_of(&mut chosen, EventKind::SessionResumed { key: key.clone() }, at)?;
        self.take_up_left(&mut chosen, at)?;
        if let Some(LeftBehind { session, items: items @ 1.. }) = &left {
            let alert = left_waiting(session, wanted, chosen.name(), *items);
            self.raise_of(&mut chosen, &alert, at)?;
        }
        self.save(&chosen)?;
        Ok(left)
    }

    /// What was said under a key goes on under another, unless another session is live there.
    pub(super) fn move_sessions(&mut self, from: &SessionKey, to: &SessionKey) -> Result<()> {
        if self.standing_at(to)?.is_some() {
            return Ok(());
        }
        self.execute("UPDATE sessions SET key = ?2 WHERE key = ?1", (from, to))?;
        self.execute("UPDATE OR REPLACE drafts SET key = ?2 WHERE key = ?1", (from, to))?;
        self.execute("UPDATE remembered_drafts SET key = ?2 WHERE key = ?1", (from, to))?;
        Ok(())
    }

    pub(super) fn set_title(&mut self, session: &SessionId, title: &str, at: Time) -> Result<Option<String>> {
        let mut standing = self.standing(session)?;
        let title = (!title.is_empty()).then(|| title.to_owned());
        if let Some(title) = &title
            && standing.live
        {
            self.refuse_taken(title, session)?;
        }
        self.execute("UPDATE sessions SET title = ?2 WHERE id = ?1", (session, &title))?;
        self.tell_of(&mut standing, EventKind::Titled { title }, at)?;
        self.save(&standing)?;
        Ok(standing.title)
    }

    pub(super) fn set_busy_mode(
        &mut self,
        session: &SessionId,
        mode: Option<BusyMode>,
        at: Time,
    ) -> Result<()> {
        let mut standing = self.standing(session)?;
        self.execute("UPDATE sessions SET busy_mode = ?2 WHERE id = ?1", (session, mode))?;
        self.tell_of(&mut standing, EventKind::BusyModeSet { mode }, at)?;
        self.save(&standing)
    }

    pub(super) fn choose_model(&mut self, session: &SessionId, model: Option<&str>, at: Time) -> Result<()> {
        let mut standing = self.standing(session)?;
        self.execute("UPDATE sessions SET chosen_model = ?2 WHERE id = ?1", (session, model))?;
        self.tell_of(&mut standing, EventKind::ModelChosen { model: model.map(str::to_owned) }, at)?;
        self.save(&standing)
    }

    pub(super) fn choose_agent(
        &mut self,
        session: &SessionId,
        agent: Option<&AgentName>,
        at: Time,
    ) -> Result<()> {
        let mut standing = self.standing(session)?;
        self.execute(
            "UPDATE sessions SET chosen_agent = ?2, chosen_model = iif(chosen_agent IS ?2, chosen_model, NULL)
             WHERE id = ?1",
            (session, agent),
        )?;
        self.tell_of(&mut standing, EventKind::AgentChosen { agent: agent.cloned() }, at)?;
        self.save(&standing)
    }

    pub(super) fn set_agent_session(&self, session: &SessionId, kept: Option<&AgentSession>) -> Result<()> {
        let (id, of) = kept.map(|kept| (&kept.id, &kept.agent)).unzip();
        let told = kept.map(|kept| json(&kept.told)).transpose()?;
        self.execute(
            "UPDATE sessions SET agent_session = ?2, agent_session_of = ?3, agent_session_told = ?4
             WHERE id = ?1 AND (agent_session IS NOT ?2 OR agent_session_of IS NOT ?3
                 OR agent_session_told IS NOT ?4)",
            (session, id, of, told),
        )
        .map(|_| ())
    }

    /// Makes the session that is live under its key from now on.
    pub(super) fn make_session(&mut self, new: &NewSession<'_>, at: Time) -> Result<Standing> {
        let &NewSession { key, id, previous, title, beginning, notice } = new;
        let (reason, had_activity) = match beginning {
            Beginning::AutoReset { reason, had_activity } => (Some(reason), had_activity),
            Beginning::New | Beginning::Fresh => (None, false),
        };
        let conversation = self.note_conversation(key)?;
        self.execute(
            "INSERT INTO sessions (id, key, title, created_at, began_at, last_activity_at, previous, rank,
                 is_fresh_reset, auto_reset_reason, reset_had_activity, reset_notice, conversation)
             VALUES (?1, ?2, ?3, ?4, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                id,
                key,
                title,
                Millis(at),
                previous,
                SessionState::Idle.rank(),
                beginning == Beginning::Fresh,
                reason,
                had_activity,
                notice,
                conversation,
            ],
        )?;
        self.execute(
            "UPDATE house SET live_sessions = live_sessions + ?1, all_sessions = all_sessions + 1",
            (usize::from(previous.is_none()),),
        )?;
        let kind = EventKind::SessionCreated { key: key.clone(), previous: previous.cloned() };
        let mut standing = self.standing(id)?;
        self.tell_of(&mut standing, kind, at)?;
        self.save(&standing)?;
        Ok(standing)
    }

    pub(super) fn end_session(
        &mut self,
        standing: &mut Standing,
        reason: EndReason,
        clearing: Clearing,
        successor: &SessionId,
        at: Time,
    ) -> Result<()> {
        standing.live = false;
        standing.hold = None;
        standing.spent = None;
        self.clear_marker(standing, clearing, at)?;
        self.settle_alarm(standing, at)?;
        let blocked = AlertKey::blocked_reset(&standing.id);
        self.resolve_of(standing, &blocked, at)?;
        self.tell_of(standing, EventKind::SessionEnded { reason, successor: successor.clone() }, at)?;
        self.save(standing)?;
        self.execute(
            "UPDATE sessions SET ended_at = ?2, end_reason = ?3 WHERE id = ?1",
            (&standing.id, Millis(at), reason),
        )?;
        self.hand_on_alerts(&standing.id, successor)
    }

    fn refuse_taken(&self, title: &str, by: &SessionId) -> Result<()> {
        let owner: Option<SessionId> = self.first(
            "SELECT id FROM sessions WHERE title = ?1 AND title IS NOT NULL AND ended_at IS NULL AND id <> ?2",
            (title, by),
            |row| row.get(0),
        )?;
        match owner {
            Some(_) => Err(Refusal::TitleTaken(title.to_owned()).into()),
            None => Ok(()),
        }
    }
}
