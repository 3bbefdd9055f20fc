//! Resets by themselves: decided and carried out in the step that accepts a message.

use std::time::Duration;

use super::super::background::background;
use super::super::columns::{Millis, json};
use super::sessions::NewSession;
use super::standing::Standing;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::alert::{AlertKey, blocked_reset, left_waiting};
use crate::domain::event::EventKind;
use crate::domain::id::{ItemId, SessionId};
use crate::domain::marker::Clearing;
use crate::domain::queue::Lane;
use crate::domain::reset::{
    Block, Mark, Notice, ResetFacts, ResetMode, ResetReason, ToldBlock, TurnNow, Verdict, decide, forecast,
    left_waiting_notes, reset_notice,
};
use crate::domain::session::{Beginning, EndReason};
use crate::domain::turn::StopCause;
use crate::store::{NewMessage, Result};

/// What of a session only a reset looks at.
struct Times {
    began_at: Time,
    told: Option<ToldBlock>,
    freshness: Duration,
}

impl Tx<'_> {
    /// The session that a message is for: the one that is live, or a new one in its place.
    pub(super) fn reset_if_due(&mut self, mut standing: Standing, message: &NewMessage) -> Result<Standing> {
        if message.reset.policy.mode == ResetMode::None && standing.marker.is_none() {
            return Ok(standing);
        }
        let times = self.times(&standing.id)?;
        let background = background(self.connection, &standing.id)?;
        let facts = ResetFacts {
            began_at: times.began_at,
            last_activity_at: standing.last_activity_at,
            turn: if standing.running.is_some() { TurnNow::Running } else { TurnNow::None },
            mark: Mark::of(standing.marker, times.freshness, message.at),
            background: &background,
        };
        match decide(&message.reset, &facts, message.at) {
            Verdict::Keep => self.forget_block(&mut standing, times.told.as_ref(), message.at)?,
            Verdict::Blocked(block) => {
                self.tell_block(&mut standing, times.told.as_ref(), block, message.at)?
            }
            Verdict::Reset { reason } => {
                let forecast = forecast(&message.reset, &facts, message.at);
                let why = forecast.why(reason, message.at, message.reset.zone);
                return self.start_anew(standing, reason, why, message);
            }
        }
        Ok(standing)
    }

    /// Ends a session and makes the one that follows it under its key.
    fn start_anew(
        &mut self,
        mut old: Standing,
        reason: ResetReason,
        why: String,
        message: &NewMessage,
    ) -> Result<Standing> {
        let at = message.at;
        if let Some(running) = old.running {
            // Only in a suspended session, where it was told to stop.
            self.cut_turn(&mut old, running, StopCause::Operator, at)?;
        }
        let left = self.clear_waiting(&mut old, reason.left_waiting(), at)?.len();
        let clearing = match reason {
            ResetReason::Suspended => Clearing::NextMessage,
            ResetReason::Idle | ResetReason::Daily => Clearing::ResetByPolicy,
        };
        self.end_session(&mut old, EndReason::SessionReset, clearing, &message.fresh, at)?;
        let had_activity = old.last_turn.is_some();
        let notice = (had_activity && message.notice == Notice::Given).then(|| reset_notice(&why, &old.id));
        let new = NewSession {
            previous: Some(&old.id),
            beginning: Beginning::AutoReset { reason, had_activity },
            notice: notice.as_deref(),
            ..NewSession::of(&message.to, &message.fresh)
        };
        let mut standing = self.make_session(&new, at)?;
        let kind = EventKind::AutoReset { reason, why, previous: old.id.clone(), left };
        self.tell_of(&mut standing, kind, at)?;
        if left > 0 {
            let alert = left_waiting(&old.id, &standing.id, standing.name(), left);
            self.raise_of(&mut standing, &alert, at)?;
        }
        Ok(standing)
    }

    fn times(&self, session: &SessionId) -> Result<Times> {
        let (began_at, told, freshness) = self.only(
            "SELECT s.began_at, s.reset_block, h.freshness_seconds FROM house h CROSS JOIN sessions s
             WHERE s.id = ?1",
            (session,),
            |row| Ok((row.get::<_, Millis>(0)?.0, row.get::<_, Option<String>>(1)?, row.get::<_, u64>(2)?)),
        )?;
        // One that can't be read is told again.
        let told = told.and_then(|told| serde_json::from_str(&told).ok());
        Ok(Times { began_at, told, freshness: Duration::from_secs(freshness) })
    }

    fn tell_block(
        &mut self,
        standing: &mut Standing,
        told: Option<&ToldBlock>,
        block: Block,
        at: Time,
    ) -> Result<()> {
        let Some(news) = ToldBlock::news(told, block, at) else { return Ok(()) };
        self.execute("UPDATE sessions SET reset_block = ?2 WHERE id = ?1", (&standing.id, json(&news)?))?;
        let key = AlertKey::blocked_reset(&standing.id);
        let alert = news.is_alarming().then(|| blocked_reset(&standing.id, standing.name(), &news));
        self.tell_of(standing, EventKind::ResetBlocked(news), at)?;
        match alert {
            Some(alert) => self.raise_of(standing, &alert, at),
            // Something else stands against it, and not for long.
            None => self.resolve_of(standing, &key, at),
        }
    }

    fn forget_block(&mut self, standing: &mut Standing, told: Option<&ToldBlock>, at: Time) -> Result<()> {
        if told.is_none() {
            return Ok(());
        }
        self.execute("UPDATE sessions SET reset_block = NULL WHERE id = ?1", (&standing.id,))?;
        let key = AlertKey::blocked_reset(&standing.id);
        self.resolve_of(standing, &key, at)
    }

    /// The line that the first turn of a session begins with.
    pub(super) fn reset_notice(&self, session: &SessionId) -> Result<Option<String>> {
        self.only("SELECT reset_notice FROM sessions WHERE id = ?1", (session,), |row| row.get(0))
    }

    pub(super) fn carry_over(&mut self, from: &SessionId, at: Time) -> Result<Vec<ItemId>> {
        let old = self.standing(from)?;
        let items = self.left_waiting(from)?;
        if items.is_empty() {
            return Err(nothing_to(format!("nothing was left waiting in session {from}")));
        }
        let live = self.standing_at(&old.key)?.filter(|live| live.id != old.id);
        let Some(mut live) = live else {
            return Err(nothing_to(format!("no session follows {from}; its items can be put back there")));
        };
        live.situation().refuse_beyond_cap(items.len())?;
        for item in &items {
            self.wait_at_tail(&mut live, *item)?;
        }
        let kind = EventKind::CarriedOver { items: items.clone(), from: from.clone() };
        self.tell_of(&mut live, kind, at)?;
        self.resolve_of(&mut live, &AlertKey::left_waiting(from), at)?;
        self.begin_next(&mut live, at)?;
        self.save(&live)?;
        Ok(items)
    }

    /// Puts what was left waiting in a session that is taken up again to the end of its queue, which is held:
    /// it waited for a person's word then, too.
    pub(super) fn take_up_left(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        let left = self.left_waiting(&standing.id)?;
        for item in &left {
            self.wait_at_tail(standing, *item)?;
            self.tell_of(standing, EventKind::Restored { item: *item, lane: Lane::Queue }, at)?;
        }
        match left.is_empty() {
            true => Ok(()),
            false => self.hold_stopped(standing, at),
        }
    }

    /// Puts an item that was left waiting, perhaps in another session, at the end of a session's queue.
    fn wait_at_tail(&mut self, standing: &mut Standing, item: ItemId) -> Result<()> {
        let position = self.tail_position(&standing.id)?;
        self.execute(
            "UPDATE items SET session = ?2, state = 'waiting', lane = 'queue', position = ?3, note = NULL
             WHERE id = ?1",
            (item, &standing.id, position),
        )?;
        standing.queued += 1;
        Ok(())
    }

    fn left_waiting(&self, session: &SessionId) -> Result<Vec<ItemId>> {
        let [idle, daily, suspended, switch] = left_waiting_notes();
        self.rows(
            "SELECT id FROM items WHERE session = ?1 AND state = 'cleared' AND note IN (?2, ?3, ?4, ?5)
             ORDER BY lane DESC, position",
            (session, idle, daily, suspended, switch),
            |row| row.get(0),
        )
    }
}
