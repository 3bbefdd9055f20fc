//! What waits: an item, where it stands, and what became of it.

use serde::{Deserialize, Serialize};

use super::Refusal;
use crate::domain::Time;
use crate::domain::id::{ItemId, SessionId, TurnId};

/// The most bytes that one message may have.
pub const MAX_TEXT_BYTES: usize = 1024 * 1024;

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

    /// The word on screens and in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waits",
            Self::Running => "runs",
            Self::Superseded => "replaced",
            Self::Cleared => "dropped",
            Self::Done | Self::Interrupted | Self::Failed => self.as_str(),
        }
    }

    /// The word in the store.
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
    /// The engine itself, to go on with what was cut off.
    Recovery,
    /// A scheduled task: the prompt of a run.
    Job,
}

impl Source {
    /// The word on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::CommandLine => "send",
            Self::Recovery => "recovery",
            Self::Job => "job",
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

/// An item that was put aside, and where it goes back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutBack {
    /// The item.
    pub item: ItemId,
    /// Where to.
    pub to: Destination,
}

/// Where an item goes back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "snake_case")]
pub enum Destination {
    /// The tail of the overflow queue.
    Tail,
    /// The slot; its queue's head if the slot is taken meanwhile.
    Slot,
    /// The overflow queue, with so many before it.
    Queue {
        /// How many; the tail if there are fewer.
        ahead: usize,
    },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_neither_empty_nor_longer_than_a_mebibyte() {
        assert_eq!(check_text(" \n\t "), Err(Refusal::Empty));
        assert_eq!(check_text(&"x".repeat(MAX_TEXT_BYTES)), Ok(()));
        let bytes = MAX_TEXT_BYTES + 1;
        assert_eq!(check_text(&"x".repeat(bytes)), Err(Refusal::TooLong { bytes }));
    }
}
