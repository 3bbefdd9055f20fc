//! Where the keys go: views, panes, and what a click can hit.

use super::action::Action;
use super::job_editor::Field;
use crate::domain::cron::JobId;
use crate::domain::event::Level;
use crate::domain::id::{ExecutionId, ItemId, Seq, SessionId, SessionKey};

/// What stands between header and footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum View {
    /// The list of sessions with one conversation.
    Sessions,
    /// The backlog of all sessions.
    Queue,
    /// Scheduled tasks.
    Cron,
    /// What the starts of the engine found and did.
    Recovery,
    /// Everything the engine did.
    Log,
}

impl View {
    /// Every view, in the order of the tabs.
    pub const ALL: [Self; 5] = [Self::Sessions, Self::Queue, Self::Cron, Self::Recovery, Self::Log];

    /// The number on its tab and its key.
    pub fn number(self) -> u8 {
        match self {
            Self::Sessions => 1,
            Self::Queue => 2,
            Self::Cron => 3,
            Self::Recovery => 4,
            Self::Log => 5,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sessions => "Sessions",
            Self::Queue => "Queue",
            Self::Cron => "Cron",
            Self::Recovery => "Recovery",
            Self::Log => "Log",
        }
    }
}

/// A part of a view that can have the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pane {
    /// The list of the open view: sessions, backlog, jobs, recovery or log.
    List,
    /// What is known of the selected job, with its runs.
    Detail,
    /// The line above the list that filters it, or searches; a text field.
    Filter,
    /// The conversation.
    Conversation,
    /// What waits in the session in front.
    Queue,
    /// Where the operator writes; a text field.
    Composer,
}

/// Who gets the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The overlay in front.
    Overlay,
    /// The card that opened by itself, after the operator went to it.
    Card,
    /// A pane of the view.
    Pane(Pane),
}

/// What a click can hit.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A pane, at no thing in it.
    Pane(Pane),
    /// A row of the session list.
    Session(SessionKey),
    /// An item of a queue, in the pane or in the view.
    Item(ItemId),
    /// A job.
    Job {
        /// Its id; none: its record has none that can be used.
        id: Option<JobId>,
        /// The place of its record.
        place: usize,
    },
    /// A run of the selected job.
    Run(ExecutionId),
    /// A field of the form in front.
    Field(Field),
    /// A session in the view of recovery.
    Recovered(SessionId),
    /// A row of the log.
    Event(Seq),
    /// An entry of the conversation.
    Entry(super::conversation::EntryKey),
    /// A tab.
    Tab(View),
    /// A key in the footer.
    Footer(Action),
    /// A level in the log's title.
    Level(Level),
    /// A button of the overlay in front, from 0.
    Button(usize),
    /// An entry of the overlay in front, from 0.
    PickerRow(usize),
    /// The overlay in front, at no thing in it.
    Overlay,
}
