//! The composer: draft, history, completion and acknowledgement, kept per session key.

use super::msg::Ticket;
use super::text::TextField;
use crate::domain::Time;
use crate::domain::id::SessionKey;

/// How many texts of a history are kept here.
const MOST_HISTORY: usize = 200;

/// The composer of one session.
#[derive(Debug, Clone, Default)]
pub struct Composer {
    /// What is being written.
    pub text: TextField,
    /// What became of the last message: shown under the composer.
    pub ack: Option<AckLine>,
    /// The completion of a slash command.
    pub popup: Option<Popup>,
    /// What was sent or cleared before, oldest first.
    pub(super) history: Vec<String>,
    /// The place in the history that is shown, and the draft that stood here before.
    pub(super) browsing: Option<(usize, String)>,
    /// Whether the store's draft and history have come.
    pub(super) loaded: bool,
    /// The draft as the store has it.
    pub(super) saved: String,
    /// Whether a timer runs that has it saved.
    pub(super) saves_soon: bool,
    /// The first words of the texts that came back unanswered since something was written or sent.
    pub(super) came_back: Vec<String>,
}

impl Composer {
    /// The draft: what was begun, also while the history is looked through.
    pub(super) fn draft(&self) -> String {
        match &self.browsing {
            Some((_, draft)) if !draft.is_empty() => draft.clone(),
            _ => self.text.text(),
        }
    }

    /// Keeps a text as the history's newest.
    pub(super) fn keep(&mut self, text: String) {
        self.history.retain(|kept| *kept != text);
        self.history.push(text);
        let surplus = self.history.len().saturating_sub(MOST_HISTORY);
        self.history.drain(..surplus);
    }
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AckLine {
    /// In words: `sending…`, `queued, 2nd of 2`.
    pub words: String,
    /// How it stands.
    pub state: AckState,
    /// How long the words are true.
    pub(super) lasts: Lasts,
}

/// How long the words of an acknowledgement are true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasts {
    /// Until something else is written.
    UntilTyping,
    /// So long, or until something else is written.
    Till(Time),
    /// Until a turn ends: then `next` and `queued, 2nd` are so no more.
    UntilTurnEnds,
}

/// How an acknowledgement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckState {
    /// On its way.
    Sending,
    /// On disk.
    Kept,
    /// Nothing was done yet: a question is open.
    Asks,
    /// Nothing was kept: the words say why, and the text is back in the draft or its history.
    Refused,
}

/// The completion of a slash command, or of a word that it takes.
#[derive(Debug, Clone)]
pub struct Popup {
    /// What fits, best first; never empty.
    pub entries: Vec<Completion>,
    /// The marked one.
    pub marked: usize,
}

/// What a completion offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// How it is written: `/queue [TEXT]`, `interrupt`.
    pub title: String,
    /// What it does, in one line.
    pub help: String,
    /// The draft when it is taken.
    pub(super) text: String,
}

/// What is on its way to the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) ticket: Ticket,
    pub(super) key: SessionKey,
    pub(super) text: String,
}
