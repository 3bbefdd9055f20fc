//! Overlays: what lies over a view. Those the operator opened form a stack and have the focus; the
//! cards that open by themselves (engine gone, drain) never take it.

use super::action::Action;
use super::approvals::Asked;
use super::job_editor::{Field, JobEditor};
use super::model::End;
use super::msg::Ticket;
use super::text::TextField;
use crate::domain::Time;
use crate::domain::api::{Command, Report};
use crate::domain::cron::JobId;
use crate::domain::id::{ApprovalId, ItemId, SessionKey};

/// An overlay that the operator opened.
#[derive(Debug, Clone)]
pub enum Overlay {
    /// Help, palette or history search: a text field over a list.
    Picker(Picker),
    /// A question with a way out.
    Confirm(Confirm),
    /// A text to read: an answer of the engine, or the why card.
    Viewer(Viewer),
    /// A queue item's text.
    ItemEditor(ItemEditor),
    /// The form of a job.
    JobEditor(Box<JobEditor>),
    /// The name of a new session.
    NewSession(Prompt),
    /// Why an agent may not do what it asks.
    DenyWhy(DenyWhy),
}

impl Overlay {
    /// Whether closing it would lose what was written in it.
    pub(super) fn is_changed(&self) -> bool {
        match self {
            Self::ItemEditor(editor) => editor.is_changed(),
            Self::JobEditor(editor) => editor.is_changed(),
            Self::DenyWhy(deny) => !deny.text.is_empty(),
            Self::Picker(_) | Self::Confirm(_) | Self::Viewer(_) | Self::NewSession(_) => false,
        }
    }
}

/// A text field over a list of entries.
#[derive(Debug, Clone)]
pub struct Picker {
    /// Which.
    pub kind: PickerKind,
    /// What is typed.
    pub text: TextField,
    /// The entries that fit, best first.
    pub entries: Vec<PickerEntry>,
    /// The marked one.
    pub marked: usize,
    /// The first that is shown.
    pub top: usize,
    /// Every entry, before what is typed narrows them.
    pub(super) all: Vec<PickerEntry>,
}

/// The pickers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickerKind {
    /// `?`: what the keys do here.
    Help,
    /// `:`: everything that can be done, every session.
    Palette,
    /// ctrl-r: what was sent before.
    History,
    /// What a field of a job's form takes.
    Field(Field),
}

/// An entry of a picker; every text in it is safe to show.
#[derive(Debug, Clone, PartialEq)]
pub struct PickerEntry {
    /// What it is: its first column.
    pub title: String,
    /// What it does.
    pub detail: String,
    /// The keys that do the same, as they are now.
    pub keys: String,
    /// Why it can't be run now.
    pub why_not: Option<String>,
    /// What running it does.
    pub run: Run,
}

/// What running a picker's entry does.
#[derive(Debug, Clone, PartialEq)]
pub enum Run {
    /// An action.
    Action(Action),
    /// Go to a session.
    Session(SessionKey),
    /// Go to a job.
    Job(JobId),
    /// Put a value into the field of the form behind.
    Pick(String),
    /// Put a text into the composer: a slash command, or a message of the history.
    Draft(String),
}

/// A question. It holds the identities of the moment it opened.
#[derive(Debug, Clone)]
pub struct Confirm {
    /// The question, naming the thing and the count.
    pub question: String,
    /// More about it; may be empty.
    pub detail: String,
    /// Two versions of a record.
    pub sides: Option<Sides>,
    /// The first row of them that is shown, as wrapped by the drawing.
    pub top: usize,
    /// The buttons; the first is the harmless one.
    pub buttons: Vec<Button>,
    /// The marked button; the first at opening.
    pub marked: usize,
    /// When it got the focus: it takes keys 400 ms later.
    pub opened_at: Time,
}

/// Two versions of a record; safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// The members in which they differ.
    pub differ: Vec<SideLine>,
    /// The names of the members that are the same.
    pub same: Vec<String>,
}

/// A member in which two versions differ. Of long values there is what differs, with a little around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideLine {
    /// The member in one; none: it is only in the other.
    pub left: Option<String>,
    /// The member in the other.
    pub right: Option<String>,
}

/// A button of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Button {
    /// Its words.
    pub title: String,
    /// Its key in the key map, for its label: an action of the card context.
    pub action: Action,
    /// What it does.
    pub does: Deed,
}

/// What a button does.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    /// Nothing: the question closes.
    Nothing,
    /// Gives a command.
    Command(Box<Command>),
    /// Sends a text to a session.
    Submit {
        /// The session.
        key: SessionKey,
        /// The text.
        text: String,
    },
    /// Closes the editor behind the question without saving.
    CloseEditor,
    /// Writes the job as it is in the form over what is on disk.
    KeepMine,
    /// Goes on with what is on disk.
    TakeTheirs,
    /// Stops the engine in this window with the drain, and leaves when it has stopped.
    StopAndQuit,
    /// Cuts what a stopping engine still waits for.
    CutNow,
    /// Calls the stop of the engine off.
    KeepRunning,
    /// Leaves the engine of this window to itself, without a screen.
    LeaveRunning,
    /// Leaves an engine that runs elsewhere.
    Detach,
    /// Leaves a screen without an engine.
    Leave,
    /// Tries to reach the engine again.
    Reconnect,
    /// Starts the engine in this window.
    StartHere,
}

/// A text to read.
#[derive(Debug, Clone)]
pub struct Viewer {
    /// Its title.
    pub title: String,
    /// Its lines; safe to show.
    pub text: String,
    /// The first shown line, as wrapped by the drawing.
    pub top: usize,
}

/// A queue item's text, being edited.
#[derive(Debug, Clone)]
pub struct ItemEditor {
    /// The item.
    pub item: ItemId,
    /// What a person calls its session.
    pub session_name: String,
    /// The text.
    pub text: TextField,
    /// The text before, as the field shows it.
    pub(super) before: String,
    /// The text before, as it is kept.
    pub(super) was: String,
    /// Why it could not be saved.
    pub failed: Option<String>,
    /// The save that is on its way.
    pub(super) saving: Option<Ticket>,
}

impl ItemEditor {
    /// Whether the text was changed.
    pub fn is_changed(&self) -> bool {
        self.text.text() != self.before
    }
}

/// A single line that is asked for.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// What is typed.
    pub text: TextField,
    /// Why it can't be taken.
    pub failed: Option<String>,
}

/// Why an agent may not do what it asks, while it is written.
#[derive(Debug, Clone)]
pub struct DenyWhy {
    /// The question that was on the card.
    pub approval: ApprovalId,
    /// Its session's key.
    pub(super) key: SessionKey,
    /// What a person calls its session.
    pub session: String,
    /// What is typed.
    pub text: TextField,
    /// Whether it can still be answered.
    pub stands: Stands,
}

/// Whether a question can still be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// It can.
    Open,
    /// It was settled meanwhile.
    Settled,
}

/// A card that opened by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// Which.
    pub kind: CardKind,
    /// When it got the focus: it takes keys 400 ms later. None: it does not have it.
    pub focused_at: Option<Time>,
    /// The marked button.
    pub marked: usize,
    /// Whether the operator hid it; the header goes on saying it.
    pub hidden: bool,
}

impl Card {
    /// A card that opens now: without the focus.
    pub(super) fn new(kind: CardKind) -> Self {
        Self { kind, focused_at: None, marked: 0, hidden: false }
    }
}

/// The cards that open by themselves.
#[derive(Debug, Clone, PartialEq)]
pub enum CardKind {
    /// The engine is gone; the screen is old.
    Gone {
        /// Why.
        reason: String,
        /// Since when.
        at: Time,
        /// How it went.
        end: End,
        /// A way back that is being tried, in words.
        trying: Option<&'static str>,
    },
    /// The engine stops: see the drain in its status.
    Drain,
    /// What happened while the operator was away.
    Away(Box<Report>),
    /// What the agent in front asks.
    Asks(Box<Asked>),
}
