//! The rules: where a message goes, what runs next, when a queue is held.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use super::{Lane, Refusal};
use crate::domain::Time;
use crate::domain::id::{ItemId, TurnId};
use crate::domain::session::{Hold, HoldReason};

/// What a plain message does while a turn runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusyMode {
    /// Takes the slot; what was there is kept as superseded.
    #[default]
    Replace,
    /// Goes to the tail of the overflow queue.
    Queue,
    /// Stops the running turn and runs next.
    Interrupt,
    /// Is handed to the running agent where its backend can take it, else queued.
    Steer,
}

impl BusyMode {
    /// Every mode, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Replace, Self::Queue, Self::Interrupt, Self::Steer];

    /// The word in the configuration and in `/busy`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Queue => "queue",
            Self::Interrupt => "interrupt",
            Self::Steer => "steer",
        }
    }
}

impl fmt::Display for BusyMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for BusyMode {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| Refusal::NoSuchBusyMode(text.to_owned()))
    }
}

/// How a message asks to be treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// A plain message: the busy mode decides.
    Plain,
    /// `/queue`: a full turn of its own, in order.
    Queue,
    /// `/steer`: for the running turn, else as `/queue`.
    Steer,
}

/// Whether the engine may begin turns at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Turns begin.
    #[default]
    Open,
    /// The operator's hold: messages wait.
    Held,
    /// The engine stops: messages wait for the next start.
    Stopping,
}

/// A session as the rules see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Situation {
    /// The turn that runs.
    pub running: Option<Running>,
    /// The waiting message in the slot.
    pub slot: Option<ItemId>,
    /// How many items wait in the overflow queue.
    pub queued: usize,
    /// Whether it was cut off and is about to go on by itself: what comes meanwhile waits behind that.
    pub resumes: bool,
    /// The session's own hold.
    pub hold: Option<HoldReason>,
    /// The engine's gate.
    pub gate: Gate,
    /// What a plain message does while a turn runs.
    pub busy_mode: BusyMode,
    /// The most items that may wait in the overflow queue.
    pub max_queued: usize,
}

/// A running turn as the rules see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running {
    /// Which.
    pub turn: TurnId,
    /// Whether its backend takes text while it runs.
    pub steerable: bool,
    /// Whether it was already told to stop.
    pub stopping: bool,
}

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Its turn begins at once.
    Start,
    /// Into the slot; what was there is superseded; the running turn is stopped if asked.
    Slot {
        /// What it replaces.
        replaces: Option<ItemId>,
        /// The turn to stop for it.
        interrupts: Option<TurnId>,
    },
    /// To the tail of the overflow queue.
    Queue,
    /// To the running turn.
    Steer(TurnId),
}

/// Decides where a message goes (20-queue: two levels, busy modes, holds).
pub fn place(intent: Intent, now: &Situation) -> Result<Placement, Refusal> {
    let Some(running) = now.running else {
        return if now.resumes { place_behind_resume(intent, now) } else { place_without_turn(intent, now) };
    };
    let steer = (running.steerable && !running.stopping).then_some(Placement::Steer(running.turn));
    match (intent, now.busy_mode) {
        (Intent::Queue, _) | (Intent::Plain, BusyMode::Queue) => to_queue(now),
        (Intent::Steer, _) | (Intent::Plain, BusyMode::Steer) => steer.map_or_else(|| to_queue(now), Ok),
        (Intent::Plain, BusyMode::Replace) => Ok(Placement::Slot { replaces: now.slot, interrupts: None }),
        (Intent::Plain, BusyMode::Interrupt) => Ok(Placement::Slot {
            replaces: now.slot,
            interrupts: (!running.stopping).then_some(running.turn),
        }),
    }
}

fn place_without_turn(intent: Intent, now: &Situation) -> Result<Placement, Refusal> {
    match (intent, now.gate) {
        // A daily limit holds every message.
        (_, Gate::Open) if now.hold == Some(HoldReason::Spent) => to_queue(now),
        // A hold of the queue never holds a plain message: it runs as its own turn and the hold stays.
        (Intent::Plain, Gate::Open) => Ok(Placement::Start),
        (_, Gate::Open) if now.queued == 0 && now.hold.is_none() => Ok(Placement::Start),
        // Nothing runs that a message could follow up on, so none replaces another here.
        (Intent::Plain, _) if now.slot.is_none() => Ok(Placement::Slot { replaces: None, interrupts: None }),
        _ => to_queue(now),
    }
}

/// As behind a running turn that takes no text and can't be stopped yet.
fn place_behind_resume(intent: Intent, now: &Situation) -> Result<Placement, Refusal> {
    match (intent, now.busy_mode) {
        (Intent::Plain, BusyMode::Replace | BusyMode::Interrupt) => {
            Ok(Placement::Slot { replaces: now.slot, interrupts: None })
        }
        _ => to_queue(now),
    }
}

fn to_queue(now: &Situation) -> Result<Placement, Refusal> {
    now.refuse_beyond_cap(1).map(|()| Placement::Queue)
}

impl Situation {
    /// Refuses so many more items in the overflow queue, where they don't all fit.
    pub fn refuse_beyond_cap(&self, more: usize) -> Result<(), Refusal> {
        match self.queued + more > self.max_queued {
            true => Err(Refusal::QueueFull { max: self.max_queued }),
            false => Ok(()),
        }
    }
}

/// Decides which lane the next turn comes from when none runs: the slot, then the head of the queue.
pub fn next(now: &Situation) -> Option<Lane> {
    let held = now.hold.is_some_and(HoldReason::holds_slot);
    if now.gate != Gate::Open || now.running.is_some() || now.resumes || held {
        return None;
    }
    match (now.slot, now.queued, now.hold) {
        (Some(_), _, _) => Some(Lane::Slot),
        (None, 1.., None) => Some(Lane::Queue),
        _ => None,
    }
}

/// The delay before a held queue of a dead backend is tried again: 30 s, doubled each time, at most 15 minutes.
pub fn probe_delay(dead_turns: u32) -> chrono::TimeDelta {
    let doublings = dead_turns.saturating_sub(DEAD_TURNS_TO_HOLD).min(5);
    chrono::TimeDelta::seconds((30_i64 << doublings).min(900))
}

/// How many turns in a row may fail before the agent did anything until the queue is held.
pub const DEAD_TURNS_TO_HOLD: u32 = 3;

/// The hold that a queue gets after a failed turn, if it is time for one.
pub fn hold_after_failures(dead_turns: u32, at: Time) -> Option<Hold> {
    (dead_turns >= DEAD_TURNS_TO_HOLD).then(|| Hold {
        reason: HoldReason::BackendError,
        since: at,
        probe_at: Some(at + probe_delay(dead_turns)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: ItemId = ItemId(7);
    const TURN: TurnId = TurnId(3);

    fn idle() -> Situation {
        Situation {
            running: None,
            slot: None,
            queued: 0,
            resumes: false,
            hold: None,
            gate: Gate::Open,
            busy_mode: BusyMode::Replace,
            max_queued: 3,
        }
    }

    fn busy(busy_mode: BusyMode) -> Situation {
        Situation {
            running: Some(Running { turn: TURN, steerable: true, stopping: false }),
            busy_mode,
            ..idle()
        }
    }

    fn slot(replaces: Option<ItemId>, interrupts: Option<TurnId>) -> Result<Placement, Refusal> {
        Ok(Placement::Slot { replaces, interrupts })
    }

    #[test]
    fn when_a_session_is_idle_a_message_starts_a_turn_at_once() {
        for intent in [Intent::Plain, Intent::Queue, Intent::Steer] {
            assert_eq!(place(intent, &idle()), Ok(Placement::Start), "{intent:?}");
        }
    }

    #[test]
    fn while_a_turn_runs_a_plain_message_goes_where_the_busy_mode_says() {
        let taken = |mode| Situation { slot: Some(OTHER), ..busy(mode) };
        assert_eq!(place(Intent::Plain, &busy(BusyMode::Replace)), slot(None, None));
        assert_eq!(place(Intent::Plain, &taken(BusyMode::Replace)), slot(Some(OTHER), None));
        assert_eq!(place(Intent::Plain, &busy(BusyMode::Queue)), Ok(Placement::Queue));
        assert_eq!(place(Intent::Plain, &busy(BusyMode::Interrupt)), slot(None, Some(TURN)));
        assert_eq!(place(Intent::Plain, &taken(BusyMode::Interrupt)), slot(Some(OTHER), Some(TURN)));
        assert_eq!(place(Intent::Plain, &busy(BusyMode::Steer)), Ok(Placement::Steer(TURN)));
    }

    #[test]
    fn a_turn_that_stops_already_is_not_stopped_again_and_takes_no_text() {
        let stopping = |mode| Situation {
            running: Some(Running { turn: TURN, steerable: true, stopping: true }),
            ..busy(mode)
        };
        assert_eq!(place(Intent::Plain, &stopping(BusyMode::Interrupt)), slot(None, None));
        assert_eq!(place(Intent::Plain, &stopping(BusyMode::Steer)), Ok(Placement::Queue));
        assert_eq!(place(Intent::Steer, &stopping(BusyMode::Replace)), Ok(Placement::Queue));
    }

    #[test]
    fn queue_items_go_to_the_tail_in_every_mode() {
        for mode in BusyMode::ALL {
            assert_eq!(place(Intent::Queue, &busy(mode)), Ok(Placement::Queue), "{mode}");
        }
    }

    #[test]
    fn steering_goes_to_the_turn_where_the_backend_can_else_as_queue() {
        for mode in BusyMode::ALL {
            assert_eq!(place(Intent::Steer, &busy(mode)), Ok(Placement::Steer(TURN)), "{mode}");
            let deaf = Situation {
                running: Some(Running { turn: TURN, steerable: false, stopping: false }),
                ..busy(mode)
            };
            assert_eq!(place(Intent::Steer, &deaf), Ok(Placement::Queue), "{mode}");
        }
    }

    #[test]
    fn the_cap_refuses_what_would_wait_and_nothing_else() {
        let full = |mode| Situation { queued: 3, ..busy(mode) };
        let refused = Err(Refusal::QueueFull { max: 3 });
        assert_eq!(place(Intent::Queue, &full(BusyMode::Replace)), refused);
        assert_eq!(place(Intent::Plain, &full(BusyMode::Queue)), refused);
        assert_eq!(place(Intent::Plain, &full(BusyMode::Replace)), slot(None, None));
        assert_eq!(place(Intent::Steer, &full(BusyMode::Replace)), Ok(Placement::Steer(TURN)));
        let almost = Situation { queued: 2, ..busy(BusyMode::Queue) };
        assert_eq!(place(Intent::Plain, &almost), Ok(Placement::Queue));
    }

    #[test]
    fn on_a_held_queue_a_plain_message_runs_and_an_item_waits() {
        for hold in [HoldReason::Stopped, HoldReason::BackendError] {
            let held = Situation { hold: Some(hold), queued: 1, ..idle() };
            assert_eq!(place(Intent::Plain, &held), Ok(Placement::Start));
            assert_eq!(place(Intent::Queue, &held), Ok(Placement::Queue));
            let empty = Situation { queued: 0, ..held };
            assert_eq!(place(Intent::Queue, &empty), Ok(Placement::Queue));
        }
    }

    #[test]
    fn a_daily_limit_holds_every_message_in_its_order() {
        let held = Situation { hold: Some(HoldReason::Spent), ..idle() };
        for intent in [Intent::Plain, Intent::Queue, Intent::Steer] {
            assert_eq!(place(intent, &held), Ok(Placement::Queue), "{intent:?}");
        }
        assert_eq!(next(&Situation { slot: Some(OTHER), queued: 1, ..held }), None);
    }

    #[test]
    fn behind_a_closed_gate_all_wait_and_none_replaces_another() {
        for gate in [Gate::Held, Gate::Stopping] {
            let closed = Situation { gate, ..idle() };
            assert_eq!(place(Intent::Plain, &closed), slot(None, None));
            assert_eq!(place(Intent::Queue, &closed), Ok(Placement::Queue));
            let taken = Situation { slot: Some(OTHER), ..closed };
            assert_eq!(place(Intent::Plain, &taken), Ok(Placement::Queue));
        }
    }

    #[test]
    fn next_comes_the_slot_then_the_head_of_the_queue() {
        let both = Situation { slot: Some(OTHER), queued: 2, ..idle() };
        assert_eq!(next(&both), Some(Lane::Slot));
        assert_eq!(next(&Situation { slot: None, ..both }), Some(Lane::Queue));
        assert_eq!(next(&idle()), None);
    }

    #[test]
    fn a_hold_keeps_the_queue_and_not_the_slot() {
        let held = Situation { hold: Some(HoldReason::Stopped), queued: 2, ..idle() };
        assert_eq!(next(&held), None);
        assert_eq!(next(&Situation { slot: Some(OTHER), ..held }), Some(Lane::Slot));
    }

    #[test]
    fn nothing_comes_next_during_a_turn_or_behind_a_closed_gate() {
        let both = Situation { slot: Some(OTHER), queued: 2, ..idle() };
        assert_eq!(next(&Situation { running: busy(BusyMode::Replace).running, ..both }), None);
        assert_eq!(next(&Situation { gate: Gate::Held, ..both }), None);
        assert_eq!(next(&Situation { gate: Gate::Stopping, ..both }), None);
        for hold in [HoldReason::Suspended, HoldReason::BootGuard] {
            assert_eq!(next(&Situation { hold: Some(hold), ..both }), None, "{hold:?} holds the slot too");
        }
    }

    #[test]
    fn three_dead_turns_hold_the_queue_and_probes_back_off_to_a_quarter_hour() {
        let at = Time::UNIX_EPOCH;
        assert_eq!(hold_after_failures(2, at), None);
        let hold = hold_after_failures(3, at).unwrap();
        assert_eq!((hold.reason, hold.since), (HoldReason::BackendError, at));
        assert_eq!(hold.probe_at, Some(at + probe_delay(3)));
        let seconds: Vec<i64> = (3..10).map(|dead| probe_delay(dead).num_seconds()).collect();
        assert_eq!(seconds, [30, 60, 120, 240, 480, 900, 900]);
        assert_eq!(probe_delay(u32::MAX).num_seconds(), 900);
    }
}
