//! Messages: where each goes, by the rules, and what it is told.

use super::super::columns::{Millis, time};
use super::history::NewRow;
use super::sessions::NewSession;
use super::spending::OTHER_LIMITS;
use super::standing::Standing;
use super::turns::Purpose;
use super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::event::{EventKind, excerpt};
use crate::domain::id::{ItemId, SessionId, TurnId};
use crate::domain::queue::{Ack, BusyMode, Intent, ItemState, Lane, Placement, Situation, Source, place};
use crate::domain::turn::StopCause;
use crate::store::{Accepted, NewMessage, Result};

/// A message on its way to its place.
struct Submission<'a> {
    text: &'a str,
    intent: Intent,
    source: Source,
    at: Time,
}

impl Tx<'_> {
    pub(super) fn accept_message(&mut self, message: &NewMessage) -> Result<Accepted> {
        let mut standing = match self.standing_at(&message.to)? {
            Some(standing) => self.reset_if_due(standing, message)?,
            None => self.make_session(&NewSession::of(&message.to, &message.fresh), message.at)?,
        };
        let submission = Submission {
            text: &message.text,
            intent: message.intent,
            source: message.source,
            at: message.at,
        };
        self.submit(&mut standing, &submission)
    }

    pub(super) fn retry(&mut self, session: &SessionId, source: Source, at: Time) -> Result<Accepted> {
        let mut standing = self.standing(session)?;
        standing.refuse_ended()?;
        standing.refuse_during_turn()?;
        standing.refuse_suspended()?;
        let mut turns = self.last_shown(&standing, 1)?;
        turns.reverse();
        let text: Option<String> = self.first(
            "SELECT i.text FROM turns t JOIN items i ON i.id = t.item WHERE t.id = ?1 AND i.source <> 'recovery'",
            (turns.first(),),
            |row| row.get(0),
        )?;
        let Some(text) = text else { return Err(nothing_to("there is no turn to run again")) };
        self.hide(&mut standing, &turns, at)?;
        self.submit(&mut standing, &Submission { text: &text, intent: Intent::Plain, source, at })
    }

    fn submit(&mut self, standing: &mut Standing, message: &Submission<'_>) -> Result<Accepted> {
        // A run of a scheduled task was judged when it was claimed.
        if standing.running.is_none() && (message.source != Source::Job || standing.spent.is_some()) {
            let was_held = standing.spent.is_some();
            self.judge_spending(standing, OTHER_LIMITS, message.at)?;
            if was_held {
                self.go_on_after_spending(standing, message.at)?;
            }
        }
        let situation = standing.situation();
        let accepted = match place(message.intent, &situation)? {
            Placement::Start => self.start_at_once(standing, message)?,
            Placement::Slot { replaces, interrupts } => {
                self.put_into_slot(standing, message, replaces, interrupts)?
            }
            Placement::Queue => self.put_into_queue(standing, message, &situation)?,
            Placement::Steer(turn) => self.hand_to_turn(standing, message, turn)?,
        };
        standing.last_activity_at = message.at;
        self.save(standing)?;
        Ok(accepted)
    }

    fn start_at_once(&mut self, standing: &mut Standing, message: &Submission<'_>) -> Result<Accepted> {
        let lane = if message.intent == Intent::Plain { Lane::Slot } else { Lane::Queue };
        let item = self.add_item(standing, message, lane, 0, ItemState::Running, None)?;
        let begun = self.start_turn(standing, item, message.text, Purpose::Work, message.at)?;
        let accepted = self.acknowledge(standing, message, item, Ack::Running { turn: begun.turn })?;
        self.tell_begun(standing, &begun)?;
        Ok(Accepted { begun: Some(begun), ..accepted })
    }

    fn put_into_slot(
        &mut self,
        standing: &mut Standing,
        message: &Submission<'_>,
        replaces: Option<ItemId>,
        interrupts: Option<TurnId>,
    ) -> Result<Accepted> {
        let replaced = match replaces {
            Some(old) => Some((old, self.supersede(old)?)),
            None => None,
        };
        let item = self.add_item(standing, message, Lane::Slot, 0, ItemState::Waiting, None)?;
        standing.slot = Some(item);
        let ack = match &replaced {
            Some((old, old_message)) => {
                Ack::Replaces { item: *old, sent_at: old_message.sent_at, interrupts: interrupts.is_some() }
            }
            None => Ack::Next { interrupts: interrupts.is_some(), gate: standing.gate },
        };
        let accepted = self.acknowledge(standing, message, item, ack)?;
        if let Some((old, old_message)) = replaced {
            let kind = EventKind::Superseded { item: old, by: item, excerpt: excerpt(&old_message.text) };
            self.tell_of(standing, kind, message.at)?;
        }
        if interrupts.is_some() {
            self.mark_stopping(standing, StopCause::NewMessage, message.at)?;
        }
        Ok(accepted)
    }

    fn put_into_queue(
        &mut self,
        standing: &mut Standing,
        message: &Submission<'_>,
        situation: &Situation,
    ) -> Result<Accepted> {
        let position = self.tail_position(&standing.id)?;
        let item = self.add_item(standing, message, Lane::Queue, position, ItemState::Waiting, None)?;
        standing.queued += 1;
        let meant_for_turn = match message.intent {
            Intent::Steer => true,
            Intent::Plain => situation.busy_mode == BusyMode::Steer,
            Intent::Queue => false,
        };
        let ack = Ack::Queued {
            position: standing.queued,
            depth: standing.queued,
            hold: situation.hold,
            gate: situation.gate,
            not_steerable: meant_for_turn && situation.running.is_some(),
        };
        self.acknowledge(standing, message, item, ack)
    }

    fn hand_to_turn(
        &mut self,
        standing: &mut Standing,
        message: &Submission<'_>,
        turn: TurnId,
    ) -> Result<Accepted> {
        let item = self.add_item(standing, message, Lane::Queue, 0, ItemState::Running, Some(turn))?;
        let words =
            NewRow { text: Some(message.text), item: Some(item), ..NewRow::of(turn, "steered", message.at) };
        self.add_message(standing, &words)?;
        let accepted = self.acknowledge(standing, message, item, Ack::Steered { turn })?;
        self.tell_of(standing, EventKind::Steered { turn, item }, message.at)?;
        Ok(accepted)
    }

    fn add_item(
        &mut self,
        standing: &Standing,
        message: &Submission<'_>,
        lane: Lane,
        position: i64,
        state: ItemState,
        turn: Option<TurnId>,
    ) -> Result<ItemId> {
        self.insert(
            "INSERT INTO items (session, lane, position, state, text, source, created_at, turn)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (&standing.id, lane, position, state, message.text, message.source, Millis(message.at), turn),
        )
        .map(ItemId)
    }

    fn acknowledge(
        &mut self,
        standing: &mut Standing,
        message: &Submission<'_>,
        item: ItemId,
        ack: Ack,
    ) -> Result<Accepted> {
        let kind = EventKind::Accepted { item, ack: ack.clone(), excerpt: excerpt(message.text) };
        self.tell_of(standing, kind, message.at)?;
        Ok(Accepted { session: standing.id.clone(), item, ack, begun: None })
    }

    fn supersede(&mut self, item: ItemId) -> Result<Replaced> {
        let replaced = self.only("SELECT created_at, text FROM items WHERE id = ?1", (item,), |row| {
            Ok(Replaced { sent_at: time(row, "created_at")?, text: row.get("text")? })
        })?;
        self.settle(item, ItemState::Superseded, Some("replaced by a newer message"))?;
        Ok(replaced)
    }
}

/// A message that a newer one replaces in the slot.
struct Replaced {
    sent_at: Time,
    text: String,
}
