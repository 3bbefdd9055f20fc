//! The log: everything the engine did, newest last.

use std::collections::VecDeque;

use super::text::{Lines, TextField};
use crate::domain::Time;
use crate::domain::event::Level;
use crate::domain::id::{Seq, SessionId};

/// How many rows are asked for at a time.
pub const PAGE: usize = 200;
/// How many rows are kept at most.
pub const MOST_ROWS: usize = 4000;

/// A row of the log; every text in it is safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRow {
    /// Its place in the order of everything: its identity.
    pub seq: Seq,
    /// When.
    pub at: Time,
    /// How much it matters.
    pub level: Level,
    /// The session it is about.
    pub session: Option<SessionId>,
    /// What a person calls that session.
    pub session_name: Option<String>,
    /// What happened, on one line.
    pub words: String,
}

/// The log.
#[derive(Debug, Clone)]
pub struct Log {
    /// The loaded rows, oldest first.
    pub rows: VecDeque<LogRow>,
    /// The place of the selected row.
    pub selected: usize,
    /// The first row that is shown.
    pub top: usize,
    /// Whether the newest row is always selected and shown.
    pub follow: Follow,
    /// Only at least this much is shown.
    pub level: Level,
    /// Only this session is shown.
    pub only: Option<SessionId>,
    /// What is searched for.
    pub search: TextField,
    /// Whether there may be rows before the loaded ones.
    pub more_before: bool,
    /// Why it could not be read.
    pub failed: Option<String>,
    /// Whether an answer has come yet.
    pub loaded: bool,
}

/// Whether a stream is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// The newest row is shown.
    On,
    /// The place is kept; so many rows came since.
    Paused {
        /// How many.
        new: usize,
    },
}

impl Default for Log {
    fn default() -> Self {
        Self {
            rows: VecDeque::new(),
            selected: 0,
            top: 0,
            follow: Follow::On,
            level: Level::Info,
            only: None,
            search: TextField::new(Lines::One),
            more_before: true,
            failed: None,
            loaded: false,
        }
    }
}

impl Log {
    /// The selected row.
    pub fn current(&self) -> Option<&LogRow> {
        self.rows.get(self.selected)
    }
}
