//! The log: everything the engine did, newest last.

use std::collections::VecDeque;
use std::fmt;

use super::text::{Lines, TextField};
use crate::domain::Time;
use crate::domain::api::{EventPage, Query};
use crate::domain::cron::JobId;
use crate::domain::event::{Event, Level};
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
    /// What it is about; none: the engine as a whole.
    pub about: Option<About>,
    /// What a person calls that.
    pub name: Option<String>,
    /// What happened, on one line.
    pub words: String,
}

/// What a row of the log is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// A session.
    Session(SessionId),
    /// A scheduled task.
    Job(JobId),
}

impl About {
    /// What an event is about.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let job = event.kind.job().cloned().map(Self::Job);
        job.or_else(|| event.session.clone().map(Self::Session))
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(id) => id.fmt(f),
            Self::Job(id) => id.fmt(f),
        }
    }
}

impl LogRow {
    /// The session that it is about.
    pub fn session(&self) -> Option<&SessionId> {
        match &self.about {
            Some(About::Session(session)) => Some(session),
            Some(About::Job(_)) | None => None,
        }
    }
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
    /// Only what is about this is shown.
    pub only: Option<About>,
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
    /// The question for a page of what is shown.
    pub(super) fn query(&self, page: EventPage) -> Query {
        let (session, job) = match self.only.clone() {
            Some(About::Session(session)) => (Some(session), None),
            Some(About::Job(job)) => (None, Some(job)),
            None => (None, None),
        };
        Query::Events { page, level: self.level, session, job, limit: PAGE }
    }

    /// The selected row.
    pub fn current(&self) -> Option<&LogRow> {
        self.rows.get(self.selected)
    }
}
