//! The conversation in front: kept entries by page, what streams, folding, cursor and scroll place.

use std::collections::HashSet;

use super::msg::Anchor;
use super::stream::{KeptEntry, Live, Written};
use super::text::{Lines, TextField};
use crate::domain::Time;
use crate::domain::api::StreamKind;
use crate::domain::id::{ItemId, MessageId, SessionId, TurnId};
use crate::domain::plan::Plan;
use crate::domain::turn::TurnState;

/// How many entries are asked for at a time.
pub const PAGE: usize = 100;

/// Names one shown entry for as long as it is shown; a cache of wrapped lines can be keyed by it
/// together with the entry's revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKey {
    /// A kept entry.
    Message(MessageId),
    /// What a running turn says that is not kept yet.
    Live(TurnId, StreamKind),
    /// A message that was put aside before it ran.
    PutAside(ItemId),
}

/// An entry as it is shown; every text in it is safe to show.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Its name.
    pub key: EntryKey,
    /// Changes whenever its text changes in any way but growing at its end; key a cache by its fold,
    /// too.
    pub revision: u64,
    /// When it was begun.
    pub at: Time,
    /// Its turn.
    pub turn: Option<TurnId>,
    /// How its turn stands.
    pub turn_state: TurnState,
    /// What it is.
    pub body: ShownBody,
    /// Whether it is open or folded to one line.
    pub fold: Fold,
    /// About how many lines are missing before its text: it streams faster than is shown.
    pub lines_missing: usize,
}

/// What an entry shows.
#[derive(Debug, Clone, PartialEq)]
pub enum ShownBody {
    /// A person's words.
    User {
        /// The words.
        text: String,
        /// Whether they were handed to a turn that already ran.
        steered: bool,
    },
    /// The agent's words.
    Agent {
        /// The words.
        text: String,
    },
    /// What the model thought before it answered.
    Reasoning {
        /// The words.
        text: String,
    },
    /// What the agent means to do in its turn.
    Plan(Plan),
    /// A tool call.
    Tool {
        /// The tool.
        name: String,
        /// Its arguments, on one line.
        arguments: String,
        /// All of its arguments, a line or more each.
        called: String,
        /// What is seen when it is opened: all its arguments, and below them what it gave back or writes.
        opened: String,
        /// How it ended; none while it runs.
        result: Option<ShownResult>,
        /// What it has written last while it runs, a few lines.
        written: String,
    },
    /// A line of the system for the operator: a resume, a reset.
    Notice {
        /// The words.
        text: String,
    },
    /// What the system told the agent so that it goes on: no person's words.
    Told {
        /// The words.
        text: String,
    },
    /// A line of the system: how a turn ended, when not with an answer.
    System {
        /// The words.
        text: String,
        /// Whether it failed rather than was cut.
        failed: bool,
    },
    /// A message that was put aside: struck through.
    PutAside {
        /// The words.
        text: String,
        /// What became of it: `replaced (kept)`, `dropped by the operator (kept)`.
        note: String,
    },
}

/// The end of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownResult {
    /// How.
    pub how: CallEnd,
    /// When it ended.
    pub at: Time,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// It did what it should.
    Ok,
    /// It did not.
    Failed,
    /// It was not allowed to.
    Denied,
    /// It was cut off, and nobody knows what it did.
    Cut,
}

impl CallEnd {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Cut => "cut, effect unknown",
        }
    }
}

/// Whether an entry is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fold {
    /// All of it is shown.
    Open,
    /// One line of it is shown.
    Folded,
}

/// Where the conversation pane looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scroll {
    /// At the end, whatever comes.
    Follow,
    /// The pane's first line is this one. Lines may lie outside the entry, and the anchor may lie
    /// outside what is loaded: the drawing goes to the nearest there is and reports it.
    At(Anchor),
    /// As it is, moved as little as needed to show the cursor's entry from its first line.
    Reveal(Anchor),
}

/// The conversation in front.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Whose; none until it is known.
    pub session: Option<SessionId>,
    /// What is shown, oldest first: kept entries, messages put aside, and last what streams.
    pub entries: Vec<Shown>,
    /// Whether there are entries before the loaded ones.
    pub more_before: bool,
    /// Whether newer entries were let go while scrolling far back.
    pub more_after: bool,
    /// Where the cursor is; none: nowhere yet.
    pub cursor: Option<EntryKey>,
    /// Where the pane looks.
    pub scroll: Scroll,
    /// What is searched for; empty: nothing.
    pub search: TextField,
    /// Why it could not be read.
    pub failed: Option<String>,
    /// Whether an answer has come yet.
    pub loaded: bool,
    /// What the agent of the running turn means to do; safe to show.
    pub plan: Option<Plan>,
    pub(super) kept: Vec<KeptEntry>,
    pub(super) live: Vec<Live>,
    /// What its running tool has written last.
    pub(super) doing: Option<Written>,
    pub(super) put_aside: Vec<Shown>,
    pub(super) toggled: HashSet<EntryKey>,
    pub(super) all: Fold,
    pub(super) revisions: u64,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            session: None,
            entries: Vec::new(),
            more_before: false,
            more_after: false,
            cursor: None,
            scroll: Scroll::Follow,
            search: TextField::new(Lines::One),
            failed: None,
            loaded: false,
            plan: None,
            kept: Vec::new(),
            live: Vec::new(),
            doing: None,
            put_aside: Vec::new(),
            toggled: HashSet::new(),
            all: Fold::Folded,
            revisions: 0,
        }
    }
}

impl Conversation {
    /// The entry under the cursor, by its place in `entries`.
    pub fn cursor_index(&self) -> Option<usize> {
        let key = self.cursor?;
        // The cursor is most often near the end.
        self.entries.iter().rposition(|entry| entry.key == key)
    }

    /// Another session's or memory's, of which nothing is known yet. Revisions go on: a cache may know
    /// both.
    pub(super) fn another(&self, session: Option<SessionId>) -> Self {
        Self { session, revisions: self.revisions, ..Self::default() }
    }

    /// Whether the newest line is always shown.
    pub fn follows(&self) -> bool {
        matches!(self.scroll, Scroll::Follow)
    }
}

impl Shown {
    /// Whether it contains a text, given in lower case.
    pub fn contains(&self, wanted: &str) -> bool {
        self.texts().iter().any(|text| text.to_lowercase().contains(wanted))
    }

    /// Its texts, for copying and searching.
    pub fn texts(&self) -> Vec<&str> {
        match &self.body {
            ShownBody::User { text, .. }
            | ShownBody::Agent { text }
            | ShownBody::Reasoning { text }
            | ShownBody::Notice { text }
            | ShownBody::Told { text }
            | ShownBody::System { text, .. } => vec![text],
            ShownBody::PutAside { text, note } => vec![text, note],
            ShownBody::Plan(plan) => plan.entries.iter().map(|entry| entry.content.as_str()).collect(),
            ShownBody::Tool { name, opened, .. } => vec![name, opened],
        }
    }
}
