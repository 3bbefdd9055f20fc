//! Stops and holds: what keeps a turn from going on and a queue from moving.

use rusqlite::Row;

use super::super::columns::Millis;
use super::spending::OTHER_LIMITS;
use super::standing::Standing;
use super::turns::Purpose;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::event::EventKind;
use crate::domain::id::{SessionId, TurnId};
use crate::domain::marker::{Clearing, Marker};
use crate::domain::queue::{Gate, Lane, Refusal, hold_after_failures, probe_delay};
use crate::domain::session::{Hold, HoldReason};
use crate::domain::spending::Scope;
use crate::domain::turn::{Outcome, StopCause, TurnEnd};
use crate::store::{Result, Stopped};

/// The queues that a probe could try: something waits in them.
macro_rules! probes_where {
    ($what:literal, $condition:literal) => {
        concat!(
            $what,
            " FROM sessions s
             WHERE EXISTS (SELECT 1 FROM items
                 WHERE session = s.id AND state = 'waiting' AND lane = 'queue') AND ",
            $condition
        )
    };
}

impl Tx<'_> {
    pub(super) fn request_stop(
        &mut self,
        session: &SessionId,
        turn: Option<TurnId>,
        cause: StopCause,
        at: Time,
    ) -> Result<Stopped> {
        let mut standing = self.standing(session)?;
        let running = standing.running.ok_or(Refusal::NoTurn)?;
        if turn.is_some_and(|wanted| wanted != running.turn) {
            return Err(nothing_to("that turn has already ended; another one runs now"));
        }
        self.mark_stopping(&mut standing, cause, at)?;
        let slot = standing.slot;
        if cause == StopCause::Operator {
            self.clear_marker(&mut standing, Clearing::Stop, at)?;
            self.clear_slot(&mut standing, at)?;
            if standing.queued > 0 {
                self.hold_stopped(&mut standing, at)?;
            }
        }
        self.save(&standing)?;
        let cleared = slot.filter(|_| standing.slot.is_none());
        Ok(Stopped { turn: running.turn, cleared, hold: standing.hold.map(|hold| hold.reason) })
    }

    /// Marks the running turn as told to stop. Only the operator's word overrides an earlier one.
    pub(super) fn mark_stopping(
        &mut self,
        standing: &mut Standing,
        cause: StopCause,
        at: Time,
    ) -> Result<()> {
        let Some(running) = &mut standing.running else { return Ok(()) };
        let news = match running.stop_cause {
            None => true,
            Some(before) => cause == StopCause::Operator && before != StopCause::Operator,
        };
        if !news {
            return Ok(());
        }
        running.stop_cause = Some(cause);
        let turn = running.turn;
        self.execute("UPDATE turns SET stop_cause = ?2 WHERE id = ?1", (turn, cause))?;
        self.tell_of(standing, EventKind::StopRequested { turn, cause }, at)?;
        self.note_waiting_calls(standing, turn)?;
        self.cancel_approvals(standing, turn, "the turn was told to stop", at)
    }

    /// Holds the queue after `/stop`. The operator's word is stronger than a hold that ends by itself, a
    /// suspension than both.
    pub(super) fn hold_stopped(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        if standing
            .hold
            .is_some_and(|hold| matches!(hold.reason, HoldReason::Stopped | HoldReason::Suspended))
        {
            return Ok(());
        }
        self.hold(standing, Hold { reason: HoldReason::Stopped, since: at, probe_at: None }, at)
    }

    pub(super) fn hold(&mut self, standing: &mut Standing, hold: Hold, at: Time) -> Result<()> {
        standing.hold = Some(hold);
        let kind = EventKind::QueueHeld { hold, waiting: standing.waiting() };
        self.tell_of(standing, kind, at)?;
        self.settle_alarm(standing, at)
    }

    /// Counts dead turns, holds the queue of a dead backend and releases that of a living one.
    pub(super) fn judge_backend(&mut self, standing: &mut Standing, end: &TurnEnd) -> Result<()> {
        let failed = match &end.outcome {
            Outcome::Done => false,
            Outcome::Failed { .. } => !end.did_anything,
            Outcome::Interrupted { .. } => return Ok(()),
        };
        if !failed {
            standing.dead_turns = 0;
            return match standing.hold {
                Some(Hold { reason: HoldReason::BackendError, .. }) => {
                    self.release(standing, "the backend, which works again", end.at)
                }
                _ => Ok(()),
            };
        }
        standing.dead_turns = standing.dead_turns.saturating_add(1);
        let Some(new) = hold_after_failures(standing.dead_turns, end.at) else { return Ok(()) };
        match &mut standing.hold {
            None => self.hold(standing, new, end.at),
            Some(old) => {
                if old.reason == HoldReason::BackendError {
                    old.probe_at = new.probe_at;
                }
                Ok(())
            }
        }
    }

    /// Ends the queue's hold and tells by what.
    pub(super) fn release(&mut self, standing: &mut Standing, by: &str, at: Time) -> Result<()> {
        let Some(hold) = standing.hold.take() else { return Ok(()) };
        let kind = EventKind::QueueReleased { reason: hold.reason, by: by.to_owned() };
        self.tell_of(standing, kind, at)?;
        self.settle_alarm(standing, at)
    }

    pub(super) fn release_queue(&mut self, session: &SessionId, by: &str, at: Time) -> Result<()> {
        let mut standing = self.standing(session)?;
        standing.refuse_suspended()?;
        let was_spent = standing.spent.is_some();
        if let (true, Some(rules)) = (was_spent, self.spending()?) {
            self.let_go(&rules, &Scope::of(&standing.key), at)?;
            self.judge_spending(&mut standing, by, at)?;
        }
        match standing.marker {
            Some(Marker::ResumePending(_)) if standing.running.is_none() => {
                self.release(&mut standing, by, at)?;
                self.resume_now(&mut standing, at)?;
            }
            _ if standing.hold.is_none() && !was_spent => {
                return Err(nothing_to(
                    "this session's queue is not held; /retry runs a turn that failed again",
                ));
            }
            _ => self.release(&mut standing, by, at)?,
        }
        self.begin_next(&mut standing, at)?;
        self.save(&standing)
    }

    pub(super) fn probe_queues(&mut self, at: Time) -> Result<Option<Time>> {
        if self.gate()? != Gate::Open {
            return Ok(None);
        }
        self.judge_spent(Some(at), OTHER_LIMITS, at)?;
        let due: Vec<SessionId> = self.rows(
            probes_where!("SELECT id", "s.spent IS NULL AND s.probe_at <= ?1 ORDER BY probe_at, id"),
            (Millis(at),),
            |row| row.get(0),
        )?;
        for session in due {
            let mut standing = self.standing(&session)?;
            // Also where a turn runs or is to be resumed: what comes later must find a time that lies ahead.
            if let Some(hold) = &mut standing.hold {
                hold.probe_at = Some(at + probe_delay(standing.dead_turns));
            }
            self.judge_spending(&mut standing, OTHER_LIMITS, at)?;
            let free = standing.running.is_none() && standing.resume_place.is_none();
            if free && standing.spent.is_none() {
                self.begin_head(&mut standing, Lane::Queue, Purpose::Probe, at)?;
            }
            self.save(&standing)?;
        }
        let next = |row: &Row<'_>| row.get::<_, Option<Millis>>(0).map(|next| next.map(|next| next.0));
        let probe = self.only(
            probes_where!("SELECT min(probe_at)", "s.spent IS NULL AND s.probe_at IS NOT NULL"),
            (),
            next,
        )?;
        let spent =
            self.only("SELECT min(spent_until) FROM sessions WHERE spent_until IS NOT NULL", (), next)?;
        Ok([probe, spent, self.next_day_of_jobs(at)?].into_iter().flatten().min())
    }
}
