//! The rules of the queue: where a message goes, and what runs next.
//!
//! Two levels. A plain message for a busy session takes the single *slot*; a `/queue` item goes to
//! the tail of the session's *overflow queue*. When a turn ends, [`next`] is the one place that
//! chooses what runs: the slot first, then the head of the queue.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use super::Time;
use super::id::{ItemId, SessionId, TurnId};
use super::session::{Hold, HoldReason};

/// The most bytes that one message may have.
pub const MAX_TEXT_BYTES: usize = 1024 * 1024;

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

/// One of the two levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// The single place for the next plain message.
    Slot,
    /// The FIFO of `/queue` items behind it.
    Queue,
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// It will run.
    Waiting,
    /// Its turn runs, or it was handed to a running turn.
    Running,
    /// Its turn ended with an answer.
    Done,
    /// Its turn was cut.
    Interrupted,
    /// A newer message took its slot; can be put back.
    Superseded,
    /// Taken out before it ran; can be put back.
    Cleared,
    /// Its turn ended with an error.
    Failed,
}

impl ItemState {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Waiting,
        Self::Running,
        Self::Done,
        Self::Interrupted,
        Self::Superseded,
        Self::Cleared,
        Self::Failed,
    ];

    /// The word in the store and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::Superseded => "superseded",
            Self::Cleared => "cleared",
            Self::Failed => "failed",
        }
    }
}

/// Who sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Typed into a console.
    Console,
    /// `switchboard send`.
    CommandLine,
}

impl Source {
    /// The word on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::CommandLine => "send",
        }
    }
}

/// A message or `/queue` item, as it is kept. It belongs to the session it was made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Its row.
    pub id: ItemId,
    /// The session it was made for, whatever is on a screen when it runs.
    pub session: SessionId,
    /// Where it waits or waited.
    pub lane: Lane,
    /// What became of it.
    pub state: ItemState,
    /// What to do.
    pub text: String,
    /// Who sent it.
    pub source: Source,
    /// When it was accepted.
    pub created_at: Time,
    /// Its turn, once it has one.
    pub turn: Option<TurnId>,
    /// Why it was put aside, for a person.
    pub note: Option<String>,
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
        return place_without_turn(intent, now);
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
        // A hold of the queue never holds a plain message: it runs as its own turn and the hold stays.
        (Intent::Plain, Gate::Open) => Ok(Placement::Start),
        (_, Gate::Open) if now.queued == 0 && now.hold.is_none() => Ok(Placement::Start),
        // Nothing runs that a message could follow up on, so none replaces another here.
        (Intent::Plain, _) if now.slot.is_none() => Ok(Placement::Slot { replaces: None, interrupts: None }),
        _ => to_queue(now),
    }
}

fn to_queue(now: &Situation) -> Result<Placement, Refusal> {
    if now.queued >= now.max_queued {
        return Err(Refusal::QueueFull { max: now.max_queued });
    }
    Ok(Placement::Queue)
}

/// Decides which lane the next turn comes from when none runs: the slot, then the head of the queue.
pub fn next(now: &Situation) -> Option<Lane> {
    if now.gate != Gate::Open || now.running.is_some() {
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

/// What happened to an accepted message. Made from what was committed, never from the mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Ack {
    /// Its turn has begun.
    Running {
        /// The turn.
        turn: TurnId,
    },
    /// It waits in the slot and runs when the turn ends.
    Next {
        /// Whether the running turn was stopped for it.
        interrupts: bool,
        /// Why nothing runs now, if it is not a turn that is waited for.
        gate: Gate,
    },
    /// It waits in the slot in place of another message.
    Replaces {
        /// The message that was put aside.
        item: ItemId,
        /// When that one was sent.
        sent_at: Time,
        /// Whether the running turn was stopped for it.
        interrupts: bool,
    },
    /// It waits in the overflow queue.
    Queued {
        /// Its place, from 1.
        position: usize,
        /// How many wait there now.
        depth: usize,
        /// The session's hold, if its queue stands still.
        hold: Option<HoldReason>,
        /// The engine's gate.
        gate: Gate,
        /// Whether it was meant for the running turn, which can't take it.
        not_steerable: bool,
    },
    /// It was handed to the running turn.
    Steered {
        /// The turn.
        turn: TurnId,
    },
}

impl Ack {
    /// The acknowledgement in words; `clock` shows an instant as the operator reads it.
    pub fn words(&self, clock: impl Fn(Time) -> String) -> String {
        match self {
            Self::Running { .. } => "running".to_owned(),
            Self::Next { interrupts: true, .. } => "stops the running turn and runs next".to_owned(),
            Self::Next { gate: Gate::Open, .. } => "next, when this turn ends".to_owned(),
            Self::Next { gate, .. } => format!("next{}", gate_words(*gate)),
            Self::Replaces { sent_at, interrupts, .. } => format!(
                "replaces your message of {} (kept){}",
                clock(*sent_at),
                if *interrupts { "; stops the running turn" } else { "" }
            ),
            Self::Queued { position, depth, hold, gate, not_steerable } => {
                let steer = if *not_steerable { "this agent takes no text while it runs: " } else { "" };
                let hold = hold.map(|reason| format!(", {}", reason.words())).unwrap_or_default();
                format!("{steer}queued, {} of {depth}{hold}{}", ordinal(*position), gate_words(*gate))
            }
            Self::Steered { .. } => "handed to the running turn".to_owned(),
        }
    }
}

fn gate_words(gate: Gate) -> &'static str {
    match gate {
        Gate::Open => "",
        Gate::Held => ", the engine is on hold",
        Gate::Stopping => ", the engine stops: it runs after the next start",
    }
}

/// `1st`, `2nd`, `3rd`, `11th`, …
pub fn ordinal(n: usize) -> String {
    let suffix = match (n % 10, n % 100) {
        (1, h) if h != 11 => "st",
        (2, h) if h != 12 => "nd",
        (3, h) if h != 13 => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

/// Why the engine did not do what was asked. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "refused", content = "detail", rename_all = "snake_case")]
pub enum Refusal {
    /// The overflow queue is at its limit.
    #[error("refused: the queue is full ({max}); drop or run items first, or raise queue.max_items")]
    QueueFull {
        /// The limit.
        max: usize,
    },
    /// Nothing to do.
    #[error("refused: the message is empty")]
    Empty,
    /// Longer than a message may be.
    #[error(
        "refused: the message has {bytes} bytes, at most {MAX_TEXT_BYTES}; put it into a file and name the file"
    )]
    TooLong {
        /// Its size.
        bytes: usize,
    },
    /// A `/word` that is no command.
    #[error("refused: /{word} is no command{}; write //{word} to send it as text", near(.nearest))]
    NoSuchCommand {
        /// What was typed.
        word: String,
        /// The command with the nearest name.
        nearest: Option<String>,
    },
    /// A command with arguments that it does not take.
    #[error("refused: {problem}; usage: {usage}")]
    Usage {
        /// What is wrong.
        problem: String,
        /// How it is written.
        usage: String,
    },
    /// A busy mode that does not exist.
    #[error("refused: {0:?} is no busy mode: one of replace, queue, interrupt, steer")]
    NoSuchBusyMode(String),
    /// No session of that name.
    #[error("refused: no session matches {0:?}; /sessions lists them")]
    NoSuchSession(String),
    /// A prefix or title that several sessions share.
    #[error("refused: {wanted:?} fits several sessions: {}", .candidates.join(", "))]
    Ambiguous {
        /// What was typed.
        wanted: String,
        /// What it could mean.
        candidates: Vec<String>,
    },
    /// The session is live under another key.
    #[error("refused: that session is live as {0}; talk to it there")]
    LiveElsewhere(String),
    /// The session it names is already the one in front.
    #[error("refused: that session is already the current one")]
    AlreadyCurrent,
    /// Not while a turn runs.
    #[error("refused: a turn runs; /stop ends it first")]
    TurnRuns,
    /// No turn runs.
    #[error("refused: no turn runs in this session")]
    NoTurn,
    /// The item has begun to run, ended, or was taken out.
    #[error("refused: the item is {} and can't be changed any more", .0.as_str())]
    ItemNotWaiting(ItemState),
    /// The item does not wait where the operation needs it.
    #[error("refused: {0}")]
    ItemPlace(String),
    /// No such item.
    #[error("refused: there is no item {0}")]
    NoSuchItem(ItemId),
    /// Another session has this title.
    #[error("refused: the title {0:?} is taken; titles are unique")]
    TitleTaken(String),
    /// A title that can't be one.
    #[error("refused: a title has 1 to 100 characters")]
    BadTitle,
    /// Nothing there to do it to.
    #[error("refused: {0}")]
    NothingTo(String),
    /// The console was opened to look only.
    #[error("refused: read-only; start switchboard without --read-only to change things")]
    ReadOnly,
    /// A name that can't be in a session key.
    #[error("refused: {0}")]
    BadKey(String),
    /// Only a screen has this command.
    #[error("refused: /{0} belongs to a screen; switchboard stop stops an engine")]
    ScreenOnly(String),
    /// Something would be lost, and nobody was asked.
    #[error("refused: {loses}; repeat it as {confirm} to do it all the same")]
    WouldLose {
        /// What would be lost.
        loses: String,
        /// The text that does it without asking.
        confirm: String,
    },
    /// The store can't be written now.
    #[error("refused: nothing was kept, the store can't be written: {0}; try again when that is mended")]
    Store(String),
}

fn near(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean /{name}?)")).unwrap_or_default()
}

/// Checks the text of a message before anything is kept.
pub fn check_text(text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(Refusal::TooLong { bytes: text.len() });
    }
    Ok(())
}

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

    #[test]
    fn an_acknowledgement_tells_what_happened() {
        let words = |ack: Ack| ack.words(|at| at.format("%H:%M").to_string());
        let queued = |position, hold, gate, not_steerable| Ack::Queued {
            position,
            depth: 3,
            hold,
            gate,
            not_steerable,
        };
        assert_eq!(words(queued(3, None, Gate::Open, false)), "queued, 3rd of 3");
        assert_eq!(
            words(queued(2, Some(HoldReason::Stopped), Gate::Open, false)),
            "queued, 2nd of 3, held since /stop; /continue releases it"
        );
        assert_eq!(
            words(queued(1, None, Gate::Held, true)),
            "this agent takes no text while it runs: queued, 1st of 3, the engine is on hold"
        );
        let replaces = |interrupts| Ack::Replaces { item: OTHER, sent_at: Time::UNIX_EPOCH, interrupts };
        assert_eq!(words(replaces(false)), "replaces your message of 00:00 (kept)");
        assert_eq!(words(replaces(true)), "replaces your message of 00:00 (kept); stops the running turn");
        assert_eq!(words(Ack::Next { interrupts: false, gate: Gate::Open }), "next, when this turn ends");
    }

    #[test]
    fn ordinals_are_english() {
        let shown: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111, 113].map(ordinal).to_vec();
        let right = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th", "113th"];
        assert_eq!(shown, right);
    }

    #[test]
    fn a_text_is_neither_empty_nor_longer_than_a_mebibyte() {
        assert_eq!(check_text(" \n\t "), Err(Refusal::Empty));
        assert_eq!(check_text(&"x".repeat(MAX_TEXT_BYTES)), Ok(()));
        let bytes = MAX_TEXT_BYTES + 1;
        assert_eq!(check_text(&"x".repeat(bytes)), Err(Refusal::TooLong { bytes }));
    }
}
