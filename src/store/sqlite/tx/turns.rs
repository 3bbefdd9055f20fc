//! Turns: how each begins, what it leaves behind, and how it ends with what comes next.

use rusqlite::params;

use super::super::columns::{Millis, from_json};
use super::Tx;
use super::history::NewRow;
use super::recovery::Resume;
use super::spending::OTHER_LIMITS;
use super::standing::{RunningTurn, Standing};
use crate::domain::Time;
use crate::domain::agent::{AgentName, Roster};
use crate::domain::conversation::Writing;
use crate::domain::event::EventKind;
use crate::domain::id::{ChatType, ItemId, KeyParts, SessionKey, TurnId};
use crate::domain::queue::{ItemState, Lane, next};
use crate::domain::turn::{Begun, Outcome, StopCause, TurnEnd};
use crate::store::Result;

/// How long a turn is its run's without a renewal.
pub(super) const LEASE: chrono::TimeDelta = chrono::TimeDelta::seconds(30);

/// What a turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The work itself.
    Work,
    /// To find out if a dead backend lives again: a failure puts the item back.
    Probe,
    /// To go on with what was cut off.
    Resume,
}

impl Tx<'_> {
    /// Writes the rows of a turn that begins. The caller tells of it.
    pub(super) fn start_turn(
        &mut self,
        standing: &mut Standing,
        item: ItemId,
        text: &str,
        purpose: Purpose,
        at: Time,
    ) -> Result<Begun> {
        let (agent, steerable) = self.agent_of_next_turn(standing)?;
        standing.gained.agent = Some(agent);
        let probe = purpose == Purpose::Probe;
        let role = if purpose == Purpose::Resume { "resume" } else { "user" };
        let turn = TurnId(self.insert(
            "INSERT INTO turns (session, previous, item, state, probe, steerable, began_at, owner, lease_until)
             SELECT ?1, ?2, ?3, 'running', ?4, ?5, ?6, run, ?7 FROM house",
            (&standing.id, standing.last_turn, item, probe, steerable, Millis(at), Millis(at + LEASE)),
        )?);
        let notice = if standing.last_turn.is_none() { self.reset_notice(&standing.id)? } else { None };
        standing.last_turn = Some(turn);
        self.execute("UPDATE items SET state = 'running', turn = ?2 WHERE id = ?1", (item, turn))?;
        let notice = if purpose == Purpose::Resume { self.resume_notice(standing)? } else { notice };
        if let Some(line) = &notice {
            self.add_message(standing, &NewRow { text: Some(line), ..NewRow::of(turn, "notice", at) })?;
        }
        self.tell_ended_background(standing, turn, at)?;
        self.add_message(
            standing,
            &NewRow { text: Some(text), item: Some(item), ..NewRow::of(turn, role, at) },
        )?;
        self.write_our_state(standing, Writing::TurnBegins, at)?;
        standing.running = Some(RunningTurn { turn, item, steerable, probe, stop_cause: None, began_at: at });
        standing.gained.turns += 1;
        Ok(Begun { turn, session: standing.id.clone(), item, at, probe })
    }

    /// Who works on what begins now, and whether it takes text while it does.
    fn agent_of_next_turn(&self, standing: &Standing) -> Result<(AgentName, bool)> {
        let (roster, chosen): (Roster, Option<AgentName>) = self.only(
            "SELECT h.agents, s.chosen_agent FROM house h CROSS JOIN sessions s WHERE s.id = ?1",
            (&standing.id,),
            |row| Ok((from_json(row, "agents")?, row.get("chosen_agent")?)),
        )?;
        let agent =
            roster.agent_of(&standing.key, self.agent_of_job(&standing.key)?.as_ref(), chosen.as_ref());
        let steerable = roster.is_steerable(&agent);
        Ok((agent, steerable))
    }

    /// The agent that a job's record names, where the session is one of its runs.
    fn agent_of_job(&self, key: &SessionKey) -> Result<Option<AgentName>> {
        let KeyParts { chat_type: ChatType::Job, chat_id, .. } = key.parts() else { return Ok(None) };
        let named = self.first(
            "SELECT json_extract(r.definition, '$.agent') FROM jobs j CROSS JOIN job_records r ON r.n = j.record
             WHERE j.id = ?1",
            (chat_id,),
            |row| row.get::<_, Option<String>>(0),
        )?;
        Ok(named.flatten().and_then(|name| name.parse().ok()))
    }

    pub(super) fn tell_begun(&mut self, standing: &mut Standing, begun: &Begun) -> Result<()> {
        let kind = EventKind::TurnBegan { turn: begun.turn, item: begun.item, probe: begun.probe };
        self.tell_of(standing, kind, begun.at).map(|_| ())
    }

    /// Begins what comes next, if the rules allow it.
    pub(super) fn begin_next(&mut self, standing: &mut Standing, at: Time) -> Result<()> {
        if next(&standing.situation()).is_none() {
            return Ok(());
        }
        self.judge_spending(standing, OTHER_LIMITS, at)?;
        match next(&standing.situation()) {
            Some(lane) => self.begin_head(standing, lane, Purpose::Work, at),
            None => Ok(()),
        }
    }

    /// Begins the first item of a lane.
    pub(super) fn begin_head(
        &mut self,
        standing: &mut Standing,
        lane: Lane,
        purpose: Purpose,
        at: Time,
    ) -> Result<()> {
        let (item, text) = self.only(
            "SELECT id, text FROM items
             WHERE session = ?1 AND state = 'waiting' AND lane = ?2 ORDER BY position LIMIT 1",
            (&standing.id, lane),
            |row| Ok((row.get::<_, ItemId>(0)?, row.get::<_, String>(1)?)),
        )?;
        match lane {
            Lane::Slot => standing.slot = None,
            Lane::Queue => standing.queued -= 1,
        }
        let begun = self.start_turn(standing, item, &text, purpose, at)?;
        self.tell_begun(standing, &begun)
    }

    pub(super) fn finish_turn(&mut self, end: &TurnEnd) -> Result<bool> {
        self.forget_processes(end.turn)?;
        let Some(mut standing) = self.standing_in(end.turn)? else { return Ok(false) };
        let Some(running) = standing.running else { return Ok(false) };
        self.append(&mut standing, end.turn, &end.tail, end.at)?;
        self.end_turn(&mut standing, running, &end.outcome, end.model.as_deref(), &end.written, end.at)?;
        standing.gained.context = end.context;
        standing.gained.model = end.did_anything.then(|| end.model.clone());
        standing.gained.handle = end.handle;
        standing.last_activity_at = end.at;
        if end.agent_session.is_some() || end.did_anything {
            self.set_agent_session(&standing.id, end.agent_session.as_ref())?;
        }
        match &end.outcome {
            Outcome::Done => standing.last_error = None,
            Outcome::Failed { error } => standing.last_error = Some(error.clone()),
            Outcome::Interrupted { .. } => {}
        }
        self.settle_steered(&mut standing, running, end)?;
        self.settle_own_item(&mut standing, running, end)?;
        let resume = self.settle_marker(&mut standing, running, &end.outcome, end.at)?;
        self.judge_backend(&mut standing, end)?;
        self.judge_spending(&mut standing, OTHER_LIMITS, end.at)?;
        self.begin_next(&mut standing, end.at)?;
        self.save(&standing)?;
        self.write_our_state(&standing, Writing::Facts, end.at)?;
        if resume == Resume::Ended {
            self.resume_due(end.at)?;
        }
        Ok(true)
    }

    /// Ends the running turn's rows; its items are the caller's to settle.
    pub(super) fn end_turn(
        &mut self,
        standing: &mut Standing,
        running: RunningTurn,
        outcome: &Outcome,
        model: Option<&str>,
        written: &str,
        at: Time,
    ) -> Result<()> {
        let questions = standing.asks;
        self.cancel_approvals(standing, running.turn, "the turn has ended", at)?;
        if *outcome != Outcome::Done {
            self.close_calls(standing, running.turn, questions, written, at)?;
            self.add_message(standing, &NewRow::of(running.turn, "ended", at))?;
        }
        let kind = EventKind::TurnEnded { turn: running.turn, item: running.item, outcome: outcome.clone() };
        let seq = self.tell_of(standing, kind, at)?;
        let (error, cause) = match outcome {
            Outcome::Done => (None, None),
            Outcome::Failed { error } => (Some(error.as_str()), None),
            Outcome::Interrupted { cause } => (None, Some(*cause)),
        };
        self.execute(
            "UPDATE turns SET state = ?2, ended_at = ?3, ended_seq = ?4, error = ?5, end_cause = ?6,
                 model = ?7, last_message = ?8
             WHERE id = ?1",
            params![
                running.turn,
                outcome.state(),
                Millis(at),
                seq,
                error,
                cause,
                model,
                standing.last_message,
            ],
        )?;
        standing.running = None;
        Ok(())
    }

    /// Cuts the running turn from outside: its own item and those handed to it end with it.
    pub(super) fn cut_turn(
        &mut self,
        standing: &mut Standing,
        running: RunningTurn,
        cause: StopCause,
        at: Time,
    ) -> Result<()> {
        self.end_turn(standing, running, &Outcome::Interrupted { cause }, None, "", at)?;
        for item in self.steered_items(running.turn)?.into_iter().chain([running.item]) {
            self.settle(item, ItemState::Interrupted, Some(cause.words()))?;
        }
        Ok(())
    }

    /// Those that the agent took in end with the turn; the others wait again, first of all.
    fn settle_steered(&mut self, standing: &mut Standing, running: RunningTurn, end: &TurnEnd) -> Result<()> {
        let (taken, left): (Vec<ItemId>, Vec<ItemId>) =
            self.steered_items(running.turn)?.into_iter().partition(|item| end.steered.contains(item));
        for item in taken {
            self.settle(item, settled(&end.outcome), note(&end.outcome))?;
        }
        for item in left.iter().rev() {
            self.execute(
                "UPDATE messages SET role = 'withdrawn' WHERE turn = ?1 AND role = 'steered' AND item = ?2",
                (running.turn, item),
            )?;
            self.put_back(standing, *item, end.at)?;
        }
        let stopped = matches!(end.outcome, Outcome::Interrupted { cause: StopCause::Operator });
        if stopped && !left.is_empty() {
            self.hold_stopped(standing, end.at)?;
        }
        Ok(())
    }

    /// The items whose text was handed to a running turn, in their order.
    pub(super) fn steered_items(&self, turn: TurnId) -> Result<Vec<ItemId>> {
        self.rows(
            "SELECT item FROM messages WHERE turn = ?1 AND role = 'steered' ORDER BY item",
            (turn,),
            |row| row.get(0),
        )
    }

    /// A failed probe proves nothing about its item: it waits again unless the agent began to act on it.
    fn settle_own_item(
        &mut self,
        standing: &mut Standing,
        running: RunningTurn,
        end: &TurnEnd,
    ) -> Result<()> {
        let failed = matches!(end.outcome, Outcome::Failed { .. });
        if running.probe && failed && !end.did_anything {
            return self.put_back(standing, running.item, end.at);
        }
        self.settle(running.item, settled(&end.outcome), note(&end.outcome))
    }

    /// Makes an item that ran the head of the queue again.
    fn put_back(&mut self, standing: &mut Standing, item: ItemId, at: Time) -> Result<()> {
        let position = self.head_position(&standing.id)?;
        self.execute(
            "UPDATE items SET state = 'waiting', lane = 'queue', position = ?2, turn = NULL WHERE id = ?1",
            (item, position),
        )?;
        standing.queued += 1;
        self.tell_of(standing, EventKind::Restored { item, lane: Lane::Queue }, at).map(|_| ())
    }
}

fn settled(outcome: &Outcome) -> ItemState {
    match outcome {
        Outcome::Done => ItemState::Done,
        Outcome::Failed { .. } => ItemState::Failed,
        Outcome::Interrupted { .. } => ItemState::Interrupted,
    }
}

fn note(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Done => None,
        Outcome::Failed { error } => Some(error),
        Outcome::Interrupted { cause } => Some(cause.words()),
    }
}
