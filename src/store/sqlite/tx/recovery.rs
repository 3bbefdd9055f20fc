//! Recovery: what a start finds, marks, gives up and resumes, and what takes a mark away.

use rusqlite::{Row, params};
use std::collections::{BTreeMap, HashMap};

use super::super::columns::{Millis, json, marker};
use super::super::sql::at_most;
use super::spending::OTHER_LIMITS;
use super::standing::{RunningTurn, Standing};
use super::turns::{LEASE, Purpose};
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::alert::{AlertKey, boot_guard};
use crate::domain::event::{EventKind, excerpt};
use crate::domain::id::{ChatType, ItemId, RunId, SessionId, SessionKey, TurnId};
use crate::domain::marker::{Clearing, Marker, ResumeReason, SuspendReason};
use crate::domain::queue::{Gate, ItemState, Source};
use crate::domain::recovery::{
    ANSWERED_BY_RESUME, After, BootGuard, Closed, Facts, LastExit, LastRun, NewestTurn, Owed, Plan, Start,
    Verdict, last_exit, plan, resume_line, resume_message, room,
};
use crate::domain::session::{Hold, HoldReason, SessionState};
use crate::domain::turn::{Outcome, StopCause};
use crate::store::{NewRun, Result};

/// Whether a turn that ended had gone on with what was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resume {
    /// It had: another session may be resumed in its place.
    Ended,
    /// It was a turn like any other.
    None,
}

/// The run before, as this start finds it.
struct Before {
    run: LastRun,
    exit: LastExit,
}

macro_rules! facts_where {
    ($condition:literal) => {
        concat!(
            "SELECT s.id, s.key, s.last_activity_at, s.cuts, s.marker, s.marker_reason, s.marker_since,
                 t.state, coalesce(t.end_cause, t.stop_cause), t.began_at
             FROM sessions s LEFT JOIN turns t ON t.id = s.last_turn WHERE ",
            $condition
        )
    };
}

impl Tx<'_> {
    /// Decides what the run before left behind, before anything of it is touched.
    pub(super) fn plan_recovery(&mut self, run: &NewRun) -> Result<(LastExit, Plan)> {
        let last =
            self.first("SELECT id, started_at, stamped_at FROM runs ORDER BY n DESC LIMIT 1", (), |row| {
                Ok(LastRun {
                    run: RunId(row.get(0)?),
                    started_at: row.get::<_, Millis>(1)?.0,
                    stamped_at: row.get::<_, Option<Millis>>(2)?.map(|stamp| stamp.0),
                })
            })?;
        let exit = last_exit(run.receipt.clone(), last.as_ref());
        let Some(last) = last else {
            return Ok((exit.clone(), plan(&[], &exit, &[], &run.limits, run.at)));
        };
        let before = Before { run: last, exit };
        let facts = self.recovery_facts(&before, run)?;
        let earlier = self.earlier_starts(run.limits.boot_guard_starts)?;
        let plan = plan(&facts, &before.exit, &earlier, &run.limits, run.at);
        Ok((before.exit, plan))
    }

    /// The sessions that a start looks at: those whose turn was cut, the marked ones, and after a crash
    /// those that acted last.
    fn recovery_facts(&self, before: &Before, run: &NewRun) -> Result<Vec<Facts>> {
        let began = before.run.started_at;
        let facts = |row: &Row<'_>| facts(row, began);
        let cut = self.rows(
            facts_where!("s.ended_at IS NULL AND s.rank <= ?1 AND s.running_turn IS NOT NULL"),
            (SessionState::Runs.rank(),),
            facts,
        )?;
        let marked = self.rows(facts_where!("s.marker IS NOT NULL AND s.ended_at IS NULL"), (), facts)?;
        let mut recent = Vec::new();
        if let LastExit::Unclean { last_sign_of_life, .. } = before.exit {
            let since = Millis(last_sign_of_life - run.limits.recent);
            for state in SessionState::ALL {
                recent.extend(self.rows(
                    facts_where!("s.ended_at IS NULL AND s.rank = ?1 AND s.last_activity_at >= ?2"),
                    (state.rank(), since),
                    facts,
                )?);
            }
        }
        let all = cut.into_iter().chain(marked).chain(recent);
        let found: BTreeMap<SessionId, Facts> = all.map(|facts| (facts.session.clone(), facts)).collect();
        Ok(found.into_values().collect())
    }

    fn earlier_starts(&self, limit: u32) -> Result<Vec<Start>> {
        self.rows("SELECT started_at, exit, to_resume FROM runs ORDER BY n DESC LIMIT ?1", (limit,), |row| {
            let exit: Option<String> = row.get(1)?;
            let exit = exit.and_then(|exit| serde_json::from_str::<LastExit>(&exit).ok());
            Ok(Start {
                at: row.get::<_, Millis>(0)?.0,
                after: exit.as_ref().map_or(After::CleanExit, After::from),
                to_resume: row.get(2)?,
            })
        })
    }

    /// Carries the plan out: what was cut ends as interrupted, and each session gets what was decided.
    pub(super) fn carry_out(&mut self, plan: &Plan, run: &NewRun) -> Result<()> {
        self.execute("UPDATE sessions SET resume_place = NULL WHERE resume_place IS NOT NULL", ())?;
        if plan.guard == BootGuard::Open {
            self.let_guarded_go(run.at)?;
        }
        let places: HashMap<&SessionId, u32> = plan.to_resume.iter().zip(0..).collect();
        for (session, verdict) in &plan.verdicts {
            let mut standing = self.standing(session)?;
            if let Some(running) = standing.running {
                self.cut_turn(&mut standing, running, StopCause::Crash, run.at)?;
            }
            self.apply(&mut standing, verdict, run)?;
            match (places.get(session), plan.guard) {
                (Some(place), BootGuard::Open) => {
                    self.let_stale_go(&mut standing, run.at)?;
                    standing.resume_place = Some(*place);
                }
                (Some(_), BootGuard::Hold { .. }) => {
                    self.hold_resume(&mut standing, HoldReason::BootGuard, run.at)?;
                }
                (None, _) if matches!(verdict, Verdict::Pending { .. }) && standing.waiting() > 0 => {
                    self.hold_resume(&mut standing, HoldReason::StaleMark, run.at)?;
                }
                (None, _) => {}
            }
            self.save(&standing)?;
        }
        if let BootGuard::Hold { starts, .. } = plan.guard {
            let sessions = plan.to_resume.len();
            self.tell(EventKind::BootGuardHeld { starts, sessions }, run.at)?;
            self.raise_alert(&boot_guard(starts, sessions), run.at)?;
        }
        Ok(())
    }

    /// What the boot guard of an earlier start holds goes on.
    fn let_guarded_go(&mut self, at: Time) -> Result<()> {
        for session in self.guarded_sessions()? {
            let mut standing = self.standing(&session)?;
            self.release(&mut standing, "a new start", at)?;
            self.save(&standing)?;
        }
        // Also where all that was to be resumed was held by something else.
        self.resolve_alert(&AlertKey::boot_guard(), at).map(|_| ())
    }

    fn apply(&mut self, standing: &mut Standing, verdict: &Verdict, run: &NewRun) -> Result<()> {
        // Asked before a marker is cleared: the row of the start before tells what a resume went on with.
        let cut_off = self.cut_off(standing)?;
        match *verdict {
            Verdict::Leave { .. } => return Ok(()),
            Verdict::OwesNothing => {
                self.clear_marker(standing, Clearing::NothingOwed, run.at)?;
            }
            Verdict::Pending { mark, cuts } => {
                let marker = Marker::ResumePending(mark);
                let news = (standing.marker, standing.cuts) != (Some(marker), cuts);
                standing.cuts = cuts;
                if news {
                    self.mark(standing, marker, run.at)?;
                }
            }
            Verdict::Suspend { suspended, cuts } => {
                self.clear_marker(standing, Clearing::Suspension, run.at)?;
                standing.cuts = cuts;
                self.mark(standing, Marker::Suspended(suspended), run.at)?;
                self.hold_suspended(standing, run.at)?;
            }
        }
        self.keep_verdict(standing, verdict, cut_off)
    }

    /// The row that the recovery view shows of this session and this start. One of an earlier start that
    /// is still open ends here.
    fn keep_verdict(
        &mut self,
        standing: &Standing,
        verdict: &Verdict,
        (message, tool): (Option<String>, Option<String>),
    ) -> Result<()> {
        self.execute(
            "UPDATE recoveries SET ended_at = (SELECT started_at FROM runs JOIN house ON runs.n = house.run)
             WHERE session = ?1 AND ended_at IS NULL",
            (&standing.id,),
        )?;
        let verdict_text = json(verdict)?;
        let cleared = matches!(verdict, Verdict::OwesNothing).then_some(Clearing::NothingOwed);
        self.insert(
            "INSERT INTO recoveries (run, session, verdict, cuts, message, tool, cleared, ended_at)
             SELECT run, ?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN ?6 IS NOT NULL THEN started_at END
             FROM house JOIN runs ON runs.n = house.run",
            params![
                standing.id,
                verdict_text,
                standing.cuts,
                message.as_deref().map(excerpt),
                tool.as_deref().map(excerpt),
                cleared.as_ref().map(json).transpose()?,
            ],
        )?;
        Ok(())
    }

    /// The message and the last tool call of what was cut off. A resume that was cut off again is told by
    /// what it went on with.
    fn cut_off(&self, standing: &Standing) -> Result<(Option<String>, Option<String>)> {
        let cut = self.first(
            "WITH RECURSIVE walk (turn, role, tool, arguments, previous) AS (
                 SELECT turn, role, tool, arguments, previous FROM messages WHERE id = ?2
                 UNION ALL
                 SELECT m.turn, m.role, m.tool, m.arguments, m.previous
                 FROM walk w CROSS JOIN messages m ON m.id = w.previous WHERE m.turn = ?1)
             SELECT i.source, i.text, (SELECT tool || ' ' || arguments FROM walk
                 WHERE turn = ?1 AND role = 'tool' LIMIT 1)
             FROM turns t JOIN items i ON i.id = t.item WHERE t.id = ?1 AND t.state <> 'done'",
            (standing.last_turn, standing.last_message),
            |row| Ok((row.get::<_, Source>(0)?, row.get(1)?, row.get::<_, Option<String>>(2)?)),
        )?;
        let Some((source, text, tool)) = cut else { return Ok((None, None)) };
        if source != Source::Recovery {
            return Ok((Some(text), tool));
        }
        let before = self.first(
            "SELECT message, tool FROM recoveries WHERE session = ?1 AND ended_at IS NULL
             ORDER BY id DESC LIMIT 1",
            (&standing.id,),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let (message, earlier_tool) = before.unwrap_or_default();
        Ok((message, tool.or(earlier_tool)))
    }

    /// Holds what waits behind a resume that does not begin by itself.
    fn hold_resume(&mut self, standing: &mut Standing, reason: HoldReason, at: Time) -> Result<()> {
        if standing.hold.is_some() {
            return Ok(());
        }
        self.hold(standing, Hold { reason, since: at, probe_at: None }, at)
    }

    /// What was cut off goes on, or is owed no more: nothing waits behind it.
    fn let_stale_go(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        match standing.hold {
            Some(hold) if hold.reason == HoldReason::StaleMark => {
                self.release(standing, "the work that it waited for", at)
            }
            _ => Ok(()),
        }
    }

    fn hold_suspended(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        self.hold(standing, Hold { reason: HoldReason::Suspended, since: at, probe_at: None }, at)
    }

    /// Begins as many of the resumes that are due as may run at once, in their order.
    pub(super) fn resume_due(&mut self, at: Time) -> Result<()> {
        if self.gate()? != Gate::Open {
            return Ok(());
        }
        let (running, limit): (usize, usize) = self.only(
            "SELECT (SELECT count(*) FROM recoveries r JOIN turns t ON t.id = r.turn
                     WHERE r.run = house.run AND t.state = 'running'), max_resumes FROM house",
            (),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let due: Vec<SessionId> = self.rows(
            "SELECT id FROM sessions WHERE resume_place IS NOT NULL ORDER BY resume_place, id LIMIT ?1",
            (at_most(room(running, limit)),),
            |row| row.get(0),
        )?;
        for session in due {
            let mut standing = self.standing(&session)?;
            self.resume_now(&mut standing, at)?;
            self.save(&standing)?;
        }
        Ok(())
    }

    /// Goes on with what was cut off, by a message of the engine that runs as a turn.
    pub(super) fn resume_now(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        standing.resume_place = None;
        let Some(Marker::ResumePending(mark)) = standing.marker else { return Ok(()) };
        if standing.gate != Gate::Open {
            standing.resume_place = Some(0);
            return Ok(());
        }
        self.judge_spending(standing, OTHER_LIMITS, at)?;
        if standing.spent.is_some() {
            return Ok(());
        }
        let text = resume_message(mark.reason);
        let item = ItemId(self.insert(
            "INSERT INTO items (session, lane, position, state, text, source, created_at)
             VALUES (?1, 'queue', 0, 'running', ?2, 'recovery', ?3)",
            (&standing.id, &text, Millis(at)),
        )?);
        let begun = self.start_turn(standing, item, &text, Purpose::Resume, at)?;
        self.execute(
            "UPDATE recoveries SET turn = ?2 WHERE session = ?1 AND ended_at IS NULL",
            (&standing.id, begun.turn),
        )?;
        let kind = EventKind::Resumed { turn: begun.turn, reason: mark.reason, cuts: standing.cuts };
        self.tell_of(standing, kind, at)?;
        self.tell_begun(standing, &begun)
    }

    /// The line that a person sees where a session goes on.
    pub(super) fn resume_notice(&self, standing: &Standing) -> Result<Option<String>> {
        let Some(Marker::ResumePending(mark)) = standing.marker else { return Ok(None) };
        let max_cuts = self.only("SELECT max_cuts FROM house", (), |row| row.get(0))?;
        Ok(Some(resume_line(mark.reason, standing.cuts, max_cuts)))
    }

    /// What the end of a turn does to its session's marker.
    pub(super) fn settle_marker(
        &mut self,
        standing: &mut Standing,
        ended: RunningTurn,
        outcome: &Outcome,
        at: Time,
    ) -> Result<Resume> {
        let resume = if standing.marker.is_some() { self.resume_of(ended)? } else { Resume::None };
        let answered = *outcome == Outcome::Done;
        if resume == Resume::Ended {
            self.tell_of(standing, EventKind::ResumeEnded { turn: ended.turn, answered }, at)?;
        }
        if answered && resume == Resume::Ended {
            self.settle_answered(ended.turn)?;
        }
        if answered {
            standing.cuts = 0;
            self.clear_marker(standing, Clearing::Answered, at)?;
        } else if made_by_drain(standing, ended) && !cut_by_drain(outcome) {
            self.clear_marker(standing, Clearing::FinishedInDrain, at)?;
        }
        Ok(resume)
    }

    /// What was cut right before an answered resume is done: the resume answered it. Resumes between that
    /// failed were tries at the same.
    fn settle_answered(&mut self, resume: TurnId) -> Result<()> {
        const BEFORE: &str = "SELECT t.id, t.item, t.end_cause, i.source = 'recovery' AND t.state <> 'done'
             FROM turns t JOIN items i ON i.id = t.item WHERE t.id = (SELECT previous FROM turns WHERE id = ?1)";
        let mut turn = resume;
        loop {
            let before = self.first(BEFORE, (turn,), |row| {
                let cause = row.get::<_, Option<StopCause>>(2)?;
                Ok((row.get(0)?, row.get::<_, ItemId>(1)?, cause, row.get::<_, bool>(3)?))
            })?;
            turn = match before {
                Some((cut, item, Some(StopCause::Shutdown | StopCause::Crash), _)) => {
                    for item in self.steered_items(cut)?.into_iter().chain([item]) {
                        self.settle(item, ItemState::Done, Some(ANSWERED_BY_RESUME))?;
                    }
                    cut
                }
                Some((tried, _, _, true)) => tried,
                _ => return Ok(()),
            };
        }
    }

    fn resume_of(&self, ended: RunningTurn) -> Result<Resume> {
        let source =
            self.first("SELECT 1 FROM items WHERE id = ?1 AND source = 'recovery'", (ended.item,), |_| {
                Ok(())
            })?;
        Ok(if source.is_some() { Resume::Ended } else { Resume::None })
    }

    /// Takes a marker away, if this is something that does.
    pub(super) fn clear_marker(&mut self, standing: &mut Standing, by: Clearing, at: Time) -> Result<()> {
        let Some(marker) = standing.marker else { return Ok(()) };
        standing.marker = marker.after(by);
        if standing.marker.is_some() {
            return Ok(());
        }
        standing.resume_place = None;
        self.execute(
            "UPDATE recoveries SET ended_at = ?2, cleared = ?3 WHERE session = ?1 AND ended_at IS NULL",
            (&standing.id, Millis(at), json(&by)?),
        )?;
        self.tell_of(standing, EventKind::MarkerCleared { by }, at)?;
        self.let_stale_go(standing, at)?;
        self.settle_alarm(standing, at)
    }

    /// Notes that no call of a turn that has no result has begun to act, where that is so: what it waits for is not
    /// answered any more. The turn's end goes by it.
    pub(super) fn note_waiting_calls(&mut self, standing: &Standing, turn: TurnId) -> Result<()> {
        if standing.asks == 0 {
            return Ok(());
        }
        let (_, begun) = self.open_calls(turn)?;
        if Closed::of(begun, standing.asks) == Closed::NotDone {
            let up_to = standing.last_message;
            self.execute("UPDATE turns SET waited_up_to = ?2 WHERE id = ?1", (turn, up_to))?;
        }
        Ok(())
    }

    /// How many calls of a turn have no result, and of how many it is not known that they only waited for an answer.
    fn open_calls(&self, turn: TurnId) -> Result<(usize, usize)> {
        self.only(
            "SELECT count(*), count(*) FILTER (WHERE m.id > coalesce(t.waited_up_to, 0))
             FROM messages m JOIN turns t ON t.id = m.turn
             WHERE m.turn = ?1 AND m.role = 'tool' AND m.result_at IS NULL",
            (turn,),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Closes the calls of a turn that have no result: they may have run, and are never made again.
    pub(super) fn close_calls(
        &mut self,
        standing: &mut Standing,
        turn: TurnId,
        questions: usize,
        written: &str,
        at: Time,
    ) -> Result<()> {
        let (calls, begun) = self.open_calls(turn)?;
        if calls == 0 {
            return Ok(());
        }
        let closed = Closed::of(begun, questions);
        self.execute(
            "UPDATE messages SET ok = 0, text = ?2, result_at = ?3
             WHERE turn = ?1 AND role = 'tool' AND result_at IS NULL",
            (turn, closed.result(calls, written), Millis(at)),
        )?;
        self.tell_of(standing, EventKind::CallsClosed { turn, calls, closed }, at).map(|_| ())
    }

    /// Marks what runs before a stop waits for it: a crash during the drain then finds it marked.
    pub(super) fn mark_running(&mut self, reason: ResumeReason, at: Time) -> Result<()> {
        for session in self.running_sessions()? {
            let mut standing = self.standing(&session)?;
            if standing.key.parts().chat_type == ChatType::Job || standing.marker.is_some() {
                continue;
            }
            // The clock may have been set back since the turn began.
            let since = standing.running.map_or(at, |running| at.max(running.began_at));
            self.mark(&mut standing, Marker::for_resume(None, reason, since), at)?;
            self.save(&standing)?;
        }
        Ok(())
    }

    fn mark(&mut self, standing: &mut Standing, marker: Marker, at: Time) -> Result<()> {
        standing.marker = Some(marker);
        let kind = EventKind::SessionMarked { marker, cuts: standing.cuts };
        self.tell_of(standing, kind, at)?;
        self.settle_alarm(standing, at)
    }

    /// Takes the marks away that a stop made which was called off.
    pub(super) fn unmark_running(&mut self, at: Time) -> Result<()> {
        for session in self.running_sessions()? {
            let mut standing = self.standing(&session)?;
            if standing.running.is_some_and(|running| made_by_drain(&standing, running)) {
                self.clear_marker(&mut standing, Clearing::CalledOff, at)?;
                self.save(&standing)?;
            }
        }
        Ok(())
    }

    fn running_sessions(&self) -> Result<Vec<SessionId>> {
        self.rows(
            "SELECT id FROM sessions
             WHERE ended_at IS NULL AND rank <= ?1 AND running_turn IS NOT NULL ORDER BY running_turn",
            (SessionState::Runs.rank(),),
            |row| row.get(0),
        )
    }

    pub(super) fn suspend_session(&mut self, session: &SessionId, at: Time) -> Result<()> {
        let mut standing = self.standing(session)?;
        standing.refuse_ended()?;
        if matches!(standing.marker, Some(Marker::Suspended(_))) {
            return Err(nothing_to("this session is suspended already"));
        }
        self.mark_stopping(&mut standing, StopCause::Operator, at)?;
        self.clear_marker(&mut standing, Clearing::Suspension, at)?;
        self.mark(&mut standing, Marker::for_suspension(None, SuspendReason::Operator, at), at)?;
        self.hold_suspended(&mut standing, at)?;
        self.save(&standing)
    }

    pub(super) fn unsuspend_session(&mut self, session: &SessionId, at: Time) -> Result<usize> {
        let mut standing = self.standing(session)?;
        if !matches!(standing.marker, Some(Marker::Suspended(_))) {
            return Err(nothing_to("this session is not suspended"));
        }
        self.clear_marker(&mut standing, Clearing::Unsuspend, at)?;
        standing.cuts = 0;
        if standing.hold.is_some_and(|hold| hold.reason == HoldReason::Suspended) {
            self.release(&mut standing, "/unsuspend", at)?;
        }
        if let Some(item) = standing.slot {
            self.put_slot_first(&mut standing, item, at)?;
        }
        if standing.queued > 0 {
            self.hold_stopped(&mut standing, at)?;
        }
        self.save(&standing)?;
        Ok(standing.queued)
    }

    pub(super) fn stamp_run(&mut self, at: Time) -> Result<()> {
        self.execute("UPDATE runs SET stamped_at = ?1 WHERE n = (SELECT run FROM house)", (Millis(at),))?;
        self.execute(
            "UPDATE turns SET lease_until = ?1 WHERE id IN
                 (SELECT running_turn FROM sessions
                  WHERE ended_at IS NULL AND rank <= ?2 AND running_turn IS NOT NULL)",
            (Millis(at + LEASE), SessionState::Runs.rank()),
        )?;
        Ok(())
    }
}

/// Whether the mark is one that a stop made while this turn ran.
fn made_by_drain(standing: &Standing, running: RunningTurn) -> bool {
    matches!(standing.marker, Some(Marker::ResumePending(mark)) if mark.awaits_drain_of(running.began_at))
}

fn cut_by_drain(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Interrupted { cause: StopCause::Shutdown | StopCause::Crash })
}

/// Reads the columns of [`facts_where`].
fn facts(row: &Row<'_>, engine_began: Time) -> rusqlite::Result<Facts> {
    let key: SessionKey = row.get(1)?;
    let newest = match row.get::<_, Option<_>>(7)? {
        Some(state) => Some(NewestTurn { state, cut_by: row.get(8)?, began_at: row.get::<_, Millis>(9)?.0 }),
        None => None,
    };
    Ok(Facts {
        session: row.get(0)?,
        chat_type: key.parts().chat_type,
        last_activity_at: row.get::<_, Millis>(2)?.0,
        owed: Owed::of(newest.as_ref(), engine_began),
        marker: marker(row, 4)?,
        cuts: row.get(3)?,
    })
}
