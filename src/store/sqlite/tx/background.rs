//! Background processes: kept before they work, told to end, and their end.

use rusqlite::params;

use super::super::columns::{self, Millis, json};
use super::super::sql::at_most;
use super::history::NewRow;
use super::standing::Standing;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::background::{BackgroundProcess, Ended, KEPT_ENDED, StoppedBy, Which, names, room, told};
use crate::domain::event::EventKind;
use crate::domain::id::{ProcessNumber, SessionId, TurnId};
use crate::store::{NewBackground, Result};

impl Tx<'_> {
    pub(super) fn keep_background(&mut self, new: &NewBackground, at: Time) -> Result<BackgroundProcess> {
        let mut standing = self
            .standing_in(new.turn)?
            .ok_or_else(|| nothing_to("the turn has ended; its process does not begin"))?;
        room(self.live_background_of(&standing.id)?.len(), new.most)?;
        self.execute(
            "DELETE FROM background WHERE session = ?1 AND ended_at IS NOT NULL AND number NOT IN
                 (SELECT number FROM background WHERE session = ?1 AND ended_at IS NOT NULL
                  ORDER BY number DESC LIMIT ?2)",
            (&standing.id, KEPT_ENDED),
        )?;
        let number = self.only(
            "SELECT coalesce(max(number), 0) + 1 FROM background WHERE session = ?1",
            (&standing.id,),
            |row| row.get::<_, ProcessNumber>(0),
        )?;
        let NewBackground { turn, command, folder, identity, .. } = new.clone();
        self.execute(
            "INSERT INTO background (session, number, turn, command, folder, process_group, started, boot,
                 began_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                standing.id,
                number,
                turn,
                command,
                folder,
                identity.pid,
                identity.started,
                identity.boot,
                Millis(at),
            ],
        )?;
        let process = BackgroundProcess {
            session: standing.id.clone(),
            number,
            turn,
            command,
            folder,
            identity,
            began_at: at,
            stopped_by: None,
            ended: None,
            told_in: None,
        };
        let (line, group) = (process.line(), process.identity.pid);
        self.tell_of(&mut standing, EventKind::BackgroundBegan { number, turn, line, group }, at)?;
        self.save(&standing)?;
        Ok(process)
    }

    pub(super) fn stop_background(
        &mut self,
        session: &SessionId,
        which: Which,
        by: StoppedBy,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>> {
        let mut standing = self.standing(session)?;
        let live = self.live_background_of(session)?;
        let chosen: Vec<BackgroundProcess> = match which {
            Which::All => live,
            Which::One(number) => {
                let existing = names(&live);
                let one: Vec<_> = live.into_iter().filter(|process| process.number == number).collect();
                if one.is_empty() {
                    let existing = if existing.is_empty() { "none".to_owned() } else { existing };
                    let why = format!("no background process {number} runs here; those that run: {existing}");
                    return Err(nothing_to(why));
                }
                one
            }
        };
        let stopped = self.stop_all(&mut standing, chosen, by, at)?;
        self.save(&standing)?;
        Ok(stopped)
    }

    /// Tells what lives of a session, which the caller saves, to end.
    pub(super) fn stop_live_background(
        &mut self,
        standing: &mut Standing,
        by: StoppedBy,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>> {
        let live = self.live_background_of(&standing.id)?;
        self.stop_all(standing, live, by, at)
    }

    /// The first who asks for an end stays the one who did; each asking is told, so that it is tried again.
    fn stop_all(
        &mut self,
        standing: &mut Standing,
        mut processes: Vec<BackgroundProcess>,
        by: StoppedBy,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>> {
        for process in &mut processes {
            process.stopped_by = process.stopped_by.or(Some(by));
            self.execute(
                "UPDATE background SET stopped_by = coalesce(stopped_by, ?3)
                 WHERE session = ?1 AND number = ?2",
                (&process.session, process.number, by),
            )?;
            let (number, line) = (process.number, process.line());
            self.tell_of(standing, EventKind::BackgroundStopping { number, line, by }, at)?;
        }
        Ok(processes)
    }

    pub(super) fn end_background(
        &mut self,
        session: &SessionId,
        number: ProcessNumber,
        ended: &Ended,
        at: Time,
    ) -> Result<bool> {
        let ending = self.first(
            "UPDATE background SET ended_at = ?3, exit = ?4
             WHERE session = ?1 AND number = ?2 AND ended_at IS NULL RETURNING *",
            (session, number, Millis(ended.at), json(&ended.exit)?),
            columns::background_process,
        )?;
        let Some(process) = ending else { return Ok(false) };
        let mut standing = self.standing(session)?;
        let kind = EventKind::BackgroundEnded {
            number,
            line: process.line(),
            exit: ended.exit.clone(),
            milliseconds: (ended.at - process.began_at).num_milliseconds().max(0),
            by: process.stopped_by,
        };
        self.tell_of(&mut standing, kind, at)?;
        self.save(&standing)?;
        Ok(true)
    }

    /// Tells the agent of a turn that begins which background processes ended since it was last told. The
    /// caller saves the session.
    pub(super) fn tell_ended_background(
        &mut self,
        standing: &mut Standing,
        turn: TurnId,
        at: Time,
    ) -> Result<()> {
        let mut ended = self.rows(
            "UPDATE background SET told_in = ?2
             WHERE session = ?1 AND ended_at IS NOT NULL AND told_in IS NULL RETURNING *",
            (&standing.id, turn),
            columns::background_process,
        )?;
        if ended.is_empty() {
            return Ok(());
        }
        ended.sort_by_key(|process| process.number);
        let text = told(&ended);
        self.add_message(standing, &NewRow { text: Some(&text), ..NewRow::of(turn, "told", at) })
    }

    pub(super) fn prune_background(&mut self, before: Time, limit: usize) -> Result<usize> {
        self.execute(
            "DELETE FROM background WHERE (session, number) IN
                 (SELECT session, number FROM background WHERE ended_at < ?1
                  ORDER BY session, number LIMIT ?2)",
            (Millis(before), at_most(limit)),
        )
    }

    pub(super) fn live_background_of(&self, session: &SessionId) -> Result<Vec<BackgroundProcess>> {
        self.rows(
            "SELECT * FROM background WHERE session = ?1 AND ended_at IS NULL ORDER BY number",
            (session,),
            columns::background_process,
        )
    }
}
