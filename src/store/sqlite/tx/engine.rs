//! The engine: its runs, and the gate that all turns pass.

use super::super::columns::Millis;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::event::EventKind;
use crate::domain::id::{RunId, SessionId, TurnId};
use crate::domain::queue::Gate;
use crate::domain::session::SessionState;
use crate::domain::turn::StopCause;
use crate::store::{NewGate, NewRun, Opened, Result};

impl Tx<'_> {
    pub(super) fn open_run(&mut self, run: &NewRun) -> Result<Opened> {
        self.execute(
            "INSERT INTO runs (id, pid, version, started_at) VALUES (?1, ?2, ?3, ?4)",
            (&run.run, run.pid, &run.version, Millis(run.at)),
        )?;
        self.execute(
            "UPDATE house SET stopping_why = NULL, busy_mode = ?1, max_queued = ?2, steerable = ?3",
            (run.defaults.busy_mode, run.defaults.max_queued, run.defaults.steerable),
        )?;
        let cut: Vec<(TurnId, SessionId)> = self.rows(
            "SELECT running_turn, id FROM sessions WHERE ended_at IS NULL AND rank = ?1 ORDER BY running_turn",
            (SessionState::Runs.rank(),),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let waiting =
            self.only("SELECT count(*) FROM items WHERE state = 'waiting'", (), |row| row.get(0))?;
        let kind =
            EventKind::EngineStarted { run: run.run.clone(), pid: run.pid, cut_turns: cut.len(), waiting };
        self.tell(kind, run.at)?;
        for (_, session) in &cut {
            let mut standing = self.standing(session)?;
            if let Some(running) = standing.running {
                self.cut_turn(&mut standing, running, StopCause::Crash, run.at)?;
            }
            self.save(&standing)?;
        }
        self.begin_all(run.at)?;
        Ok(Opened { cut_turns: cut.into_iter().map(|(turn, _)| turn).collect(), waiting })
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
            NewGate::Stopping(why) => {
                self.execute("UPDATE house SET stopping_why = ?1", (why,))?;
                EventKind::EngineStopping { why: why.clone() }
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
        Ok(())
    }
}
