//! Commands: what changes something.

use serde::{Deserialize, Serialize};

use super::cron::JobCommand;
use crate::domain::alert::{Acknowledgement, AlertKey};
use crate::domain::approval::Answer;
use crate::domain::cron::JobId;
use crate::domain::id::{ApprovalId, ItemId, SessionId, SessionKey, TurnId};
use crate::domain::queue::{Ack, Intent, PutBack, Source};
use crate::domain::slash::Ask;

/// A request to change something. One client's commands are carried out in the order it gave them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// A draft as it was typed: a message or a slash command.
    Submit {
        /// For whom.
        to: SessionKey,
        /// What was typed.
        text: String,
        /// How a message asks to be treated; a slash command has its own way.
        intent: Intent,
        /// Who sends it.
        source: Source,
    },
    /// Make a session under a key, or find the one that is live there.
    OpenSession {
        /// The key.
        key: SessionKey,
    },
    /// Stop a running turn. With a turn named, only that one: a later one is left alone.
    StopTurn {
        /// The session.
        session: SessionId,
        /// The turn that was on the screen.
        turn: Option<TurnId>,
    },
    /// Answer what an agent asks.
    Answer {
        /// The question that was on the screen.
        approval: ApprovalId,
        /// The answer.
        answer: Answer,
    },
    /// Take an `always` back: the agent asks again.
    Disallow {
        /// The session.
        session: SessionId,
        /// The beginning that was allowed.
        prefix: String,
    },
    /// Go on with a session: with what was cut off, and with its held queue.
    Continue {
        /// The session.
        session: SessionId,
    },
    /// Give a session up: its next message starts anew.
    Suspend {
        /// The session.
        session: SessionId,
    },
    /// Take a suspension back.
    Unsuspend {
        /// The session.
        session: SessionId,
    },
    /// Make an ended session live again under the key that it had last; what is live there ends.
    BringBack {
        /// The ended session.
        session: SessionId,
    },
    /// Move what a reset by itself had left waiting to the queue of the session that came after.
    CarryOver {
        /// The session that was reset.
        from: SessionId,
    },
    /// Move a waiting `/queue` item by one place.
    MoveItem {
        /// The item.
        item: ItemId,
        /// Where to.
        direction: Direction,
    },
    /// Change a waiting item's text.
    EditItem {
        /// The item.
        item: ItemId,
        /// The text as it was read. An item that says something else by now is not changed.
        was: String,
        /// Its new text.
        text: String,
    },
    /// Take a waiting item out; it can be put back.
    DropItem {
        /// The item.
        item: ItemId,
    },
    /// Put items back that were superseded or cleared: to the tail of their session's queue, in this order.
    RestoreItems {
        /// The items.
        items: Vec<ItemId>,
    },
    /// Take a drop or a clearing back: the items go back to where they stood, in this order.
    UndoClear {
        /// The items, with their places.
        items: Vec<PutBack>,
    },
    /// Move a waiting message between the slot and the queue.
    SwitchLane {
        /// The item.
        item: ItemId,
    },
    /// Take out all that waits in a session.
    ClearQueue {
        /// The session.
        session: SessionId,
    },
    /// Show turns again that `/undo` hid.
    ShowTurns {
        /// The session.
        session: SessionId,
        /// The turns.
        turns: Vec<TurnId>,
    },
    /// Keep a draft that was not sent.
    SaveDraft {
        /// Whose composer.
        key: SessionKey,
        /// The draft; empty forgets it.
        text: String,
    },
    /// Keep a cleared draft in the composer's history.
    RememberDraft {
        /// Whose composer.
        key: SessionKey,
        /// The draft.
        text: String,
    },
    /// Note that a person uses a console now: the next one tells what happened since.
    Looked,
    /// Say that a person knows of an alert, or take that back.
    Acknowledge {
        /// The alert.
        alert: AlertKey,
        /// Which of the two.
        #[serde(default)]
        what: Acknowledgement,
    },
    /// Put a host conversation's state in place of the one before.
    SetAgentState {
        /// The conversation's key.
        key: SessionKey,
        /// The state: a JSON object, kept as it is written.
        state: String,
    },
    /// Change a scheduled task, or run one.
    Job(JobCommand),
    /// Nothing starts until `Release`.
    Hold {
        /// Why, for whoever finds it.
        why: String,
    },
    /// End the hold.
    Release,
    /// Stop the engine: no turn begins, running ones get the drain's time.
    Stop {
        /// Who asks, and how.
        why: String,
    },
    /// Stop the engine as `Stop` does; the same process then begins anew as the next engine.
    Restart {
        /// Who asks, and how.
        why: String,
        /// Whether to ask first if one more cut would give a running session up.
        ask: Ask,
    },
    /// Cut the turns that the drain still waits for.
    CutNow,
    /// Call a stop off while the drain still waits.
    KeepRunning,
}

/// A way to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Towards the head.
    Up,
    /// Towards the tail.
    Down,
}

/// What a command did. It is on disk when this is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// A message was accepted.
    Accepted {
        /// By which session.
        session: SessionId,
        /// As which item.
        item: ItemId,
        /// What happened to it.
        ack: Ack,
    },
    /// It is done.
    Done {
        /// What was done, in one line.
        words: String,
        /// The command that takes it back.
        undo: Option<Box<Command>>,
    },
    /// A text to show: `/status`, `/help`, `/search`, …
    Shown {
        /// Its title.
        title: String,
        /// Its lines.
        text: String,
    },
    /// Something would be lost: nothing was done, and this is how to do it.
    Asks {
        /// What would be lost, as a question.
        question: String,
        /// The draft that does it without asking.
        confirm: String,
    },
    /// `/cron add` and `/cron edit`: the screen opens the editor; the engine knows no screen and does nothing.
    JobEditor {
        /// The job; none: a new one.
        job: Option<JobId>,
    },
    /// A job was changed on disk since the edit began: nothing was written.
    JobConflict {
        /// Its record as the edit would have it.
        mine: String,
        /// Its record as it is on disk now; none: it is gone.
        theirs: Option<String>,
    },
    /// A session was opened, reset or resumed under the key.
    Session {
        /// The key.
        key: SessionKey,
        /// What is live there now.
        session: SessionId,
        /// What was done, in one line.
        words: String,
    },
    /// `/quit`: the screen leaves; the engine knows no screen and does nothing.
    Quit,
}
