//! Visibility: turns taken out of the conversation and shown again. The rows stay.

use super::super::sql::at_most;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::event::{EventKind, Visibility};
use crate::domain::id::{SessionId, TurnId};
use crate::store::Result;

impl Tx<'_> {
    pub(super) fn hide_turns(&mut self, session: &SessionId, count: usize, at: Time) -> Result<Vec<TurnId>> {
        self.standing(session)?.refuse_during_turn()?;
        let mut turns: Vec<TurnId> = self.rows(
            "SELECT id FROM turns WHERE session = ?1 AND hidden = 0 ORDER BY id DESC LIMIT ?2",
            (session, at_most(count)),
            |row| row.get(0),
        )?;
        if turns.is_empty() {
            return Err(nothing_to("there is no turn to take back"));
        }
        turns.reverse();
        self.set_visibility(&turns, Visibility::Hidden)?;
        let kind = EventKind::TurnsHidden { turns: turns.clone(), hidden: Visibility::Hidden };
        self.tell(Some(session), kind, at)?;
        Ok(turns)
    }

    pub(super) fn show_turns(&mut self, session: &SessionId, turns: &[TurnId], at: Time) -> Result<()> {
        self.standing(session)?.refuse_during_turn()?;
        for turn in turns {
            let hidden: Option<bool> = self.first(
                "SELECT hidden FROM turns WHERE id = ?1 AND session = ?2",
                (turn, session),
                |row| row.get(0),
            )?;
            match hidden {
                Some(true) => {}
                Some(false) => return Err(nothing_to(format!("turn {turn} is shown already"))),
                None => return Err(nothing_to(format!("this session has no turn {turn}"))),
            }
        }
        self.set_visibility(turns, Visibility::Shown)?;
        let kind = EventKind::TurnsHidden { turns: turns.to_vec(), hidden: Visibility::Shown };
        self.tell(Some(session), kind, at).map(|_| ())
    }

    pub(super) fn set_visibility(&mut self, turns: &[TurnId], visibility: Visibility) -> Result<()> {
        for turn in turns {
            self.execute(
                "UPDATE turns SET hidden = ?2 WHERE id = ?1",
                (turn, visibility == Visibility::Hidden),
            )?;
        }
        Ok(())
    }
}
