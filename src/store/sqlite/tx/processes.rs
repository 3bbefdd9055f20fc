//! Child processes of turns: kept before they work, forgotten when their turn ended.

use super::super::columns::Millis;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::event::EventKind;
use crate::domain::id::TurnId;
use crate::domain::process::{ChildProcess, Fate};
use crate::store::Result;

impl Tx<'_> {
    pub(super) fn keep_process(&mut self, child: &ChildProcess, at: Time) -> Result<()> {
        let ChildProcess { turn, program, identity } = child;
        let kept = self.execute(
            "INSERT OR REPLACE INTO processes (process_group, started, boot, session, turn, program, at)
             SELECT ?1, ?2, ?3, session, id, ?5, ?6 FROM turns WHERE id = ?4 AND state = 'running'",
            (identity.pid, identity.started, &identity.boot, turn, program, Millis(at)),
        )?;
        if kept == 0 { Err(nothing_to("the turn has ended; its process does not begin")) } else { Ok(()) }
    }

    /// Nothing of a turn's processes outlives its task, which ends with the turn.
    pub(super) fn forget_processes(&mut self, turn: TurnId) -> Result<()> {
        self.execute("DELETE FROM processes WHERE turn = ?1", (turn,)).map(|_| ())
    }

    pub(super) fn settle_process(&mut self, child: &ChildProcess, fate: &Fate, at: Time) -> Result<()> {
        let ChildProcess { turn, program, identity } = child;
        let forgotten = self.execute(
            "DELETE FROM processes WHERE process_group = ?1 AND started = ?2 AND boot = ?3",
            (identity.pid, identity.started, &identity.boot),
        )?;
        let failure = match fate {
            Fate::Gone => return Ok(()),
            Fate::Killed => None,
            Fate::Lives { why } => Some(why.clone()),
        };
        if forgotten == 0 {
            return Ok(());
        }
        let session = self.only("SELECT session FROM turns WHERE id = ?1", (turn,), |row| row.get(0))?;
        let mut standing = self.standing(&session)?;
        let (turn, program, group) = (*turn, program.clone(), identity.pid);
        let kind = EventKind::LeftoverFound { turn, program, group, failure };
        self.tell_of(&mut standing, kind, at)?;
        self.save(&standing)
    }
}
