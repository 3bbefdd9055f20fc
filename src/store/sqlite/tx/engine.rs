//! The engine: its runs, and the gate that all turns pass.

use super::super::columns::{Millis, json};
use super::spending::OTHER_LIMITS;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::event::EventKind;
use crate::domain::id::{RunId, SessionId, TurnId};
use crate::domain::queue::Gate;
use crate::domain::recovery::{AfterStop, LastExit, Plan};
use crate::domain::session::SessionState;
use crate::store::{NewGate, NewRun, Opened, Result};

impl Tx<'_> {
    pub(super) fn open_run(&mut self, run: &NewRun) -> Result<Opened> {
        let (exit, plan) = self.plan_recovery(run)?;
        self.keep_run(run, &exit, &plan)?;
        let cut_turns: Vec<TurnId> = self.rows(
            "SELECT running_turn FROM sessions
             WHERE ended_at IS NULL AND rank <= ?1 AND running_turn IS NOT NULL ORDER BY running_turn",
            (SessionState::Runs.rank(),),
            |row| row.get(0),
        )?;
        let waiting =
            self.only("SELECT count(*) FROM items WHERE state = 'waiting'", (), |row| row.get(0))?;
        let kind = EventKind::EngineStarted {
            run: run.run.clone(),
            pid: run.pid,
            exit: Some(exit.clone()),
            cut_turns: cut_turns.len(),
            waiting,
        };
        self.tell(kind, run.at)?;
        self.carry_out(&plan, run)?;
        self.forget_spent(run.at)?;
        self.judge_spent(None, OTHER_LIMITS, run.at)?;
        self.begin_all(run.at)?;
        Ok(Opened { exit, cut_turns, waiting })
    }

    fn keep_run(&mut self, run: &NewRun, exit: &LastExit, plan: &Plan) -> Result<()> {
        let n = self.insert(
            "INSERT INTO runs (id, pid, version, started_at, exit, to_resume, guard, in_row)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                &run.run,
                run.pid,
                &run.version,
                Millis(run.at),
                json(exit)?,
                plan.to_resume.len(),
                json(&plan.guard)?,
                plan.in_row,
            ),
        )?;
        self.execute(
            "UPDATE house SET stopping_why = NULL, run = ?1, busy_mode = ?2, max_queued = ?3, agents = ?4,
                 max_cuts = ?5, max_resumes = ?6, guard_starts = ?7, freshness_seconds = ?8, spending = ?9",
            (
                n,
                run.defaults.busy_mode,
                run.defaults.max_queued,
                json(&run.agents)?,
                run.limits.max_cuts,
                run.limits.max_parallel,
                run.limits.boot_guard_starts,
                i64::try_from(run.limits.freshness.as_secs()).unwrap_or(i64::MAX),
                json(&run.spending)?,
            ),
        )?;
        // Whoever read them in this step read those of the run before.
        self.rules.take();
        Ok(())
    }

    pub(super) fn close_run(&mut self, run: &RunId, at: Time) -> Result<()> {
        self.execute("UPDATE runs SET ended_at = ?2 WHERE id = ?1", (run, Millis(at)))?;
        self.tell(EventKind::EngineStopped { run: run.clone() }, at).map(|_| ())
    }

    pub(super) fn set_gate(&mut self, gate: &NewGate, at: Time) -> Result<()> {
        let kind = match gate {
            NewGate::Hold(why) => {
                self.execute("UPDATE house SET held_why = ?1, held_since = ?2", (why, Millis(at)))?;
                EventKind::EngineHeld { why: why.clone() }
            }
            NewGate::Release => {
                let held = "UPDATE house SET held_why = NULL, held_since = NULL WHERE held_why IS NOT NULL";
                if self.execute(held, ())? == 0 {
                    return Err(nothing_to("the engine is not on hold"));
                }
                EventKind::EngineReleased
            }
            NewGate::Stopping { why, mark } => {
                self.execute("UPDATE house SET stopping_why = ?1", (why,))?;
                EventKind::EngineStopping { why: why.clone(), then: AfterStop::of(*mark) }
            }
            NewGate::KeepRunning => {
                let stopping = "UPDATE house SET stopping_why = NULL WHERE stopping_why IS NOT NULL";
                if self.execute(stopping, ())? == 0 {
                    return Err(nothing_to("the engine does not stop"));
                }
                EventKind::EngineStopCalledOff
            }
        };
        self.tell(kind, at)?;
        match gate {
            NewGate::Stopping { mark, .. } => self.mark_running(*mark, at)?,
            NewGate::KeepRunning => self.unmark_running(at)?,
            NewGate::Hold(_) | NewGate::Release => {}
        }
        self.begin_all(at)
    }

    pub(super) fn gate(&self) -> Result<Gate> {
        self.only(
            "SELECT CASE WHEN stopping_why IS NOT NULL THEN 'stopping'
                         WHEN held_why IS NOT NULL THEN 'held' ELSE 'open' END FROM house",
            (),
            |row| row.get(0),
        )
    }

    /// Begins what the rules allow in every session, those that wait longest first.
    fn begin_all(&mut self, at: Time) -> Result<()> {
        if self.gate()? != Gate::Open {
            return Ok(());
        }
        let sessions: Vec<SessionId> = self.rows(
            "SELECT session FROM items WHERE state = 'waiting' GROUP BY session ORDER BY min(id)",
            (),
            |row| row.get(0),
        )?;
        for session in sessions {
            let mut standing = self.standing(&session)?;
            self.begin_next(&mut standing, at)?;
            self.save(&standing)?;
        }
        self.resume_due(at)
    }
}
