//! Refusals: why the engine did not do what was asked.

use serde::{Deserialize, Serialize};

use super::{ItemState, MAX_TEXT_BYTES};
use crate::domain::id::ItemId;

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
    /// Somebody else changed the item's text since it was read.
    #[error("refused: it was edited elsewhere meanwhile and says now: {now}")]
    ItemEdited {
        /// The beginning of its text.
        now: String,
    },
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
    /// A text that is no agent state.
    #[error("refused: {0}")]
    BadState(String),
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
