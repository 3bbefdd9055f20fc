//! Visibility: turns taken out of the conversation and shown again. The rows stay.

use super::super::sql::at_most;
use super::standing::Standing;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::event::{EventKind, Visibility};
use crate::domain::id::{SessionId, TurnId};
use crate::domain::marker::Clearing;
use crate::store::Result;

impl Tx<'_> {
    pub(super) fn hide_turns(&mut self, session: &SessionId, count: usize, at: Time) -> Result<Vec<TurnId>> {
        let mut standing = self.standing(session)?;
        standing.refuse_during_turn()?;
        let mut turns = self.last_shown(&standing, count)?;
        if turns.is_empty() {
            return Err(nothing_to("there is no turn to take back"));
        }
        turns.reverse();
        self.hide(&mut standing, &turns, at)?;
        self.begin_next(&mut standing, at)?;
        self.save(&standing)?;
        Ok(turns)
    }

    pub(super) fn show_turns(&mut self, session: &SessionId, turns: &[TurnId], at: Time) -> Result<()> {
        let mut standing = self.standing(session)?;
        standing.refuse_during_turn()?;
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
        self.set_visibility(&mut standing, turns, Visibility::Shown, at)?;
        self.save(&standing)
    }

    /// The newest `count` shown turns that were asked for, with the resumes that went on with them; the newest
    /// first.
    pub(super) fn last_shown(&self, standing: &Standing, count: usize) -> Result<Vec<TurnId>> {
        self.rows(
            "WITH RECURSIVE walk (id, previous, hidden, counts, newer) AS (
                 SELECT t.id, t.previous, t.hidden, t.hidden = 0 AND i.source <> 'recovery', 0
                 FROM turns t JOIN items i ON i.id = t.item WHERE t.id = ?1 AND ?2 > 0
                 UNION ALL
                 SELECT t.id, t.previous, t.hidden, t.hidden = 0 AND i.source <> 'recovery', w.newer + w.counts
                 FROM walk w CROSS JOIN turns t ON t.id = w.previous CROSS JOIN items i ON i.id = t.item
                 WHERE w.newer + w.counts < ?2)
             SELECT id FROM walk WHERE hidden = 0",
            (standing.last_turn, at_most(count)),
            |row| row.get(0),
        )
    }

    /// Takes turns out of the conversation. Where the newest was cut off nobody wants it to go on any more.
    pub(super) fn hide(&mut self, standing: &mut Standing, turns: &[TurnId], at: Time) -> Result<()> {
        if standing.last_turn.is_some_and(|newest| turns.contains(&newest)) {
            self.clear_marker(standing, Clearing::NothingOwed, at)?;
        }
        self.set_visibility(standing, turns, Visibility::Hidden, at)
    }

    fn set_visibility(
        &mut self,
        standing: &mut Standing,
        turns: &[TurnId],
        visibility: Visibility,
        at: Time,
    ) -> Result<()> {
        for turn in turns {
            self.execute(
                "UPDATE turns SET hidden = ?2 WHERE id = ?1",
                (turn, visibility == Visibility::Hidden),
            )?;
        }
        self.set_agent_session(&standing.id, None)?;
        // A summary of what is no more, or is again, stands for something else than the conversation.
        self.execute(
            "DELETE FROM summaries WHERE session = ?1 AND turn >= ?2",
            (&standing.id, turns.iter().min()),
        )?;
        let kind = EventKind::TurnsHidden { turns: turns.to_vec(), hidden: visibility };
        self.tell_of(standing, kind, at).map(|_| ())
    }
}
