//! Messages: everything that can happen to the screen's state. Effects: everything it asks for.

use super::action::Action;
use super::focus::Target;
use super::key::Key;
use crate::domain::Time;
use crate::domain::api::{Answer, Command, Query, Reply, Update};

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Msg {
    /// A key was pressed. The time tells a paste without brackets from typing: give it as exactly
    /// as the terminal was read.
    Key(Key, Time),
    /// Printable keys that were read at once.
    Typed(String, Time),
    /// A bracketed paste, as it came.
    Paste(String, Time),
    /// The mouse did something.
    Mouse(Mouse, Time),
    /// The terminal has another size.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// The view was drawn: what it measured. Send it after each frame in which it changed.
    Drawn(Measured),
    /// The engine tells something.
    Update(Update),
    /// The answer to [`Effect::Query`].
    Answered {
        /// The ticket of the question.
        ticket: Ticket,
        /// What came.
        result: Result<Answer, Failure>,
    },
    /// The reply to [`Effect::Command`].
    Replied {
        /// The ticket of the command.
        ticket: Ticket,
        /// What came.
        result: Result<Reply, Failure>,
    },
    /// An engine (or a store) is reached: at the start, or after a reconnect.
    Connected(Reach),
    /// The engine's updates ended.
    EngineGone {
        /// Why, in words.
        reason: String,
        /// When.
        at: Time,
    },
    /// Since when the engine has owed an answer without a word; none: it answers again.
    EngineSilent(Option<Time>),
    /// Another minute, or the next step of something that moves (see [`super::Model::pace`]).
    Tick(Time),
    /// A timer that was asked for is due.
    Fired(Timer, Time),
    /// Questions are answered by the store that the engine left.
    StoreReached,
    /// The external editor closed, with the text or why there is none.
    EditorClosed(Result<String, String>),
    /// The external editor closed that `jobs.json` was opened in.
    FileEdited(Result<(), String>),
    /// Something to tell that the runtime found out: a copy was sent, a key map has a problem.
    Notice(Tone, String),
}

/// What the mouse did, and to what: the runtime looks the place up in the last frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Mouse {
    /// What.
    pub act: MouseAct,
    /// What stands at that place.
    pub target: Option<Target>,
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseAct {
    /// The left button was pressed.
    Click,
    /// The wheel turned up.
    WheelUp,
    /// The wheel turned down.
    WheelDown,
}

/// What a frame measured: the state's way to know sizes that only drawing can tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    /// Rows of things that fit into the list of the open view.
    pub list_rows: usize,
    /// Rows of runs that fit into the detail of a job.
    pub run_rows: usize,
    /// Rows of things that fit into the queue pane under the conversation.
    pub queue_rows: usize,
    /// Lines that fit into the conversation pane.
    pub conversation_lines: usize,
    /// Where the conversation's first shown line is, once drawn.
    pub conversation_top: Option<Anchor>,
    /// How many lines of the conversation are below the pane.
    pub lines_below: usize,
    /// Whether the first loaded line of the conversation is shown.
    pub top_shown: bool,
    /// Whether the line under the composer is shown.
    pub acknowledgement_shown: bool,
    /// Lines or rows that fit into the overlay in front.
    pub overlay_rows: usize,
    /// How many lines the overlay's text has when wrapped.
    pub overlay_lines: usize,
    /// The question of an agent that can be read on its card.
    pub question: Option<super::approvals::Seen>,
}

impl Measured {
    /// The first shown line of a card's text after a page up or down from `top`.
    pub(super) fn turned(&self, top: usize, action: Action) -> usize {
        let last = self.overlay_lines.saturating_sub(self.overlay_rows);
        let page = self.overlay_rows.saturating_sub(1).max(1);
        match action {
            Action::CardUp => top.min(last).saturating_sub(page),
            _ => (top + page).min(last),
        }
    }
}

/// A line of the conversation: so many lines below the first line of an entry (above, if negative).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The entry.
    pub entry: super::conversation::EntryKey,
    /// Lines from its first.
    pub lines: i64,
}

/// Names one question or command, so that its answer finds back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Why there is no answer or reply. The words say what, why and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The engine said no; nothing was changed.
    Refused(String),
    /// The engine is gone.
    Gone(String),
    /// Anything else.
    Failed(String),
}

impl Failure {
    /// The words.
    pub fn words(&self) -> &str {
        match self {
            Self::Refused(words) | Self::Gone(words) | Self::Failed(words) => words,
        }
    }
}

/// How an engine is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It runs in this process.
    Here,
    /// It runs in another process.
    Attached {
        /// Which.
        pid: u32,
    },
    /// None runs: only the store is read.
    StoreOnly,
}

/// How a notice is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Something was done.
    Info,
    /// Nothing was done, and nothing is wrong.
    Note,
    /// Something could not be done.
    Warn,
    /// Something failed.
    Error,
}

/// Something the runtime does for the state.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Give a command to the engine and answer with [`Msg::Replied`]. In order.
    Command {
        /// To answer with.
        ticket: Ticket,
        /// The command.
        command: Command,
    },
    /// Ask the engine and answer with [`Msg::Answered`]. At most one of a kind is on its way.
    Query {
        /// To answer with.
        ticket: Ticket,
        /// What kind of question: the pace is kept by kind.
        kind: Question,
        /// The question.
        query: Query,
        /// How soon.
        pace: Pace,
    },
    /// Put a text into the terminal's clipboard.
    Copy(String),
    /// Have the terminal tell of a new alert, as far as the settings want that. The words are safe.
    Ring(String),
    /// Open a text in the operator's editor and answer with [`Msg::EditorClosed`].
    OpenEditor(String),
    /// Open `jobs.json` itself in the operator's editor and answer with [`Msg::FileEdited`].
    EditJobsFile(FilePlace),
    /// Send [`Msg::Fired`] at that time. A later one of the same timer takes its place.
    Timer {
        /// Which.
        timer: Timer,
        /// When.
        at: Time,
    },
    /// Take the mouse, or give it back to the terminal.
    Mouse(MouseOwner),
    /// Draw everything anew, whatever the terminal is thought to show.
    Redraw,
    /// Give the terminal back and stop this process until it is continued.
    Suspend,
    /// Try to reach the engine again: [`Msg::Connected`] or [`Msg::Notice`] answers.
    Reconnect,
    /// Reach the engine that restarts, as soon as it is back: [`Msg::Connected`] or [`Msg::Notice`] answers.
    AwaitRestart,
    /// Read the store that an engine left in order, to show what became of all: [`Msg::StoreReached`] answers.
    ReadStore,
    /// Start the engine in this process: [`Msg::Connected`] or [`Msg::Notice`] answers.
    StartHere,
    /// Leave the screen. It is the last effect.
    Quit(Leave),
}

/// A place in `jobs.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePlace {
    /// A line, from 1.
    Line(usize),
    /// The line in which a record begins, by its place among the records, from 0.
    Record(usize),
}

/// The kinds of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Question {
    /// The header's counts and the engine's state.
    Overview,
    /// The window of the session list.
    Sessions,
    /// The session in front.
    Front,
    /// The newest page of the conversation in front.
    Conversation,
    /// A page before the loaded ones.
    Earlier,
    /// The queue of the session in front.
    Queue,
    /// The backlog of all sessions.
    Backlog,
    /// The jobs, how their file stands and how the ticker.
    Jobs,
    /// All that is known of the selected job.
    Job,
    /// Runs of the selected job before the loaded ones.
    JobEarlier,
    /// The slots and runs of a span of time.
    Timeline,
    /// A text to read: a run's document, the file beside the stored copy.
    Reading,
    /// What the form of a job offers to pick from.
    Parts,
    /// What the job in the form names and that is not there.
    MissingParts,
    /// A start with its sessions, and the history of starts.
    Recovery,
    /// The open alerts.
    Alerts,
    /// The session that an alert is about.
    Need,
    /// The newest page of the log.
    Log,
    /// A page of the log before the loaded ones.
    LogEarlier,
    /// What happened while the operator was away.
    Report,
    /// Draft and history of the composer in front.
    Composer,
    /// Sessions that match what is typed into the palette.
    PaletteSessions,
}

impl Question {
    /// Every kind.
    pub const ALL: [Self; 22] = [
        Self::Overview,
        Self::Sessions,
        Self::Front,
        Self::Conversation,
        Self::Earlier,
        Self::Queue,
        Self::Backlog,
        Self::Jobs,
        Self::Job,
        Self::JobEarlier,
        Self::Timeline,
        Self::Reading,
        Self::Parts,
        Self::MissingParts,
        Self::Recovery,
        Self::Alerts,
        Self::Need,
        Self::Log,
        Self::LogEarlier,
        Self::Report,
        Self::Composer,
        Self::PaletteSessions,
    ];
}

/// How soon a question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    /// Something changed by itself: as soon as this kind has rested, the longer the dearer it is.
    Gently,
    /// Something changed by itself where the operator looks: as soon as this kind has rested a moment.
    Soon,
    /// The operator waits for it.
    AtOnce,
}

/// The timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Timer {
    /// The order of the list is free again.
    Thaw,
    /// The oldest notice has been shown long enough.
    Notices,
    /// The draft is to be saved.
    SaveDraft,
    /// ctrl-c stops no turn any more.
    Disarm,
    /// No more keys followed so fast that they could be a paste.
    Burst,
    /// What is foretold of the session in front is not so any more.
    Forecast,
    /// What was said under the composer has stood long enough.
    Acknowledgement,
}

/// Who has the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseOwner {
    /// The console: clicks and wheel.
    Console,
    /// The terminal: its own selection.
    Terminal,
}

/// How the screen is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leave {
    /// The engine in this process has stopped, or there was none.
    Stopped,
    /// The engine in this process goes on without a screen.
    EngineGoesOn,
    /// The engine runs elsewhere and is left alone.
    Detached,
}
