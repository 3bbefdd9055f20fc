//! The interface of the store: the engine's atomic transitions, and the queries beside them.

use super::{JobQueries, JobTransitions, StoreError};
use crate::domain::Time;
use crate::domain::agent::{AgentName, Roster};
use crate::domain::alert::{Acknowledgement, Alert, AlertKey, NewAlert};
use crate::domain::api::{
    AllowedRow, ComposerMemory, ConversationPage, Direction, EngineHold, EventPage, Hit, ProcessRow,
    QueueRow, RecoveryPage, Report, SessionCursor, SessionPage, SessionRow,
};
use crate::domain::approval::{Approval, Ending, Question};
use crate::domain::background::{BackgroundProcess, Ended, StoppedBy, Which};
use crate::domain::conversation::HostConversation;
use crate::domain::event::{Event, EventKind, Level};
use crate::domain::filter::Filter;
use crate::domain::history::{Excerpt, Summary};
use crate::domain::id::{
    ApprovalId, ItemId, MessageId, ProcessNumber, RunId, Seq, SessionId, SessionKey, TurnId,
};
use crate::domain::marker::ResumeReason;
use crate::domain::process::{ChildProcess, Fate, ProcessIdentity};
use crate::domain::queue::{Ack, BusyMode, Gate, Intent, Item, PutBack, Source};
use crate::domain::recovery::{FoundReceipt, LastExit, Limits};
use crate::domain::reset::{Notice, ResetRule};
use crate::domain::session::HoldReason;
use crate::domain::spending::{Reached, Rules, Scope, Today};
use crate::domain::turn::{Begun, Output, StopCause, TurnEnd};

/// The result of a transition or a query.
pub type Result<T> = std::result::Result<T, StoreError>;

/// The engine's atomic transitions.
///
/// Each is one step: all of it is kept or nothing. Each writes the events that tell of it in the
/// same step, and applies the rules of [`crate::domain::queue`] to what is kept at that moment, so
/// no two callers can decide on the same state. A turn that a transition begins is told by its
/// `TurnBegan` event; whoever follows the events in order runs it.
pub trait Transitions: JobTransitions {
    /// Records a new run of the engine and decides, by [`crate::domain::recovery`], what the run before
    /// left behind. Cut turns end as `interrupted` with cause `crash` and their items as `interrupted`,
    /// calls without a result are closed; sessions are marked, counted, given up or found to owe
    /// nothing, each with a row of its own; waiting items keep their order; the gate is open unless the
    /// operator's hold is kept. Then begins, for every session where the rules allow it, what waits, and
    /// as many resumes as may run at once; the end of each begins the next.
    fn open_run(&mut self, run: &NewRun) -> Result<Opened>;

    /// Records that the run ended in order.
    fn close_run(&mut self, run: &RunId, at: Time) -> Result<()>;

    /// Finds the session that is live under `key`, or makes it with the id `fresh`.
    fn open_session(&mut self, key: &SessionKey, fresh: &SessionId, at: Time) -> Result<SessionId>;

    /// Accepts a message: makes its session if there is none, or a new one in its place if the rules of
    /// [`crate::domain::reset`] say so by the times that are kept; places the message by the rules, begins
    /// its turn in the same step where it may run at once.
    fn accept_message(&mut self, message: &NewMessage) -> Result<Accepted>;

    /// Keeps output of a running turn of this run. A summary takes the place of the session's summary before;
    /// it is forgotten when a turn that it stands for is hidden or shown again. The agent's own session is said again
    /// by the end of the turn, so that one of an agent without a session leaves none; what is hidden or shown again
    /// leaves none either: the agent remembers something else than is shown. Dropped without an error when the turn has
    /// ended or belongs to another run. The session's last activity moves with the turn's end, so that running sessions
    /// keep their places in a list.
    fn append_turn(&mut self, turn: TurnId, output: &[Output], at: Time) -> Result<()>;

    /// Ends a turn with its last output, settles its item and its steered items (those the agent
    /// did not take in wait again at the head of the queue), counts failures, holds or releases
    /// the queue by the rules, and begins what comes next. What is known of the session's handle goes
    /// with it. False if the turn had already ended (`/new` was faster) or belongs to another run of
    /// the engine: nothing was changed.
    fn finish_turn(&mut self, end: &TurnEnd) -> Result<bool>;

    /// Tells the running turn to stop. For `StopCause::Operator` also clears the slot's message
    /// (it can be put back) and holds the queue if items wait, so that a crash right after revives
    /// nothing. With `turn` given, refuses if another one runs. Refuses if none runs.
    fn request_stop(
        &mut self,
        session: &SessionId,
        turn: Option<TurnId>,
        cause: StopCause,
        at: Time,
    ) -> Result<Stopped>;

    /// Ends the session that is live under `key` and makes `fresh` its successor there. Its running
    /// turn ends as interrupted (`StopCause::Reset`), all that waits is cleared, and its background processes,
    /// which it returns, are told to end.
    fn reset_session(
        &mut self,
        key: &SessionKey,
        fresh: &SessionId,
        title: Option<&str>,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>>;

    /// Moves the items that were left waiting in `from` to the tail of the queue of the session
    /// that is live under its key now, in their order. Refuses if there is none of either, or no room for all.
    fn carry_over(&mut self, from: &SessionId, at: Time) -> Result<Vec<ItemId>>;

    /// Makes `wanted` live under `key` again and ends what was live there (`SessionSwitch`), which it
    /// returns; what still waited there is cleared with the reason and an alert. What was left waiting in
    /// `wanted` waits again, held. Refuses during a turn, if `wanted` is live under another key, or if it already is the current one.
    fn switch_session(
        &mut self,
        key: &SessionKey,
        wanted: &SessionId,
        at: Time,
    ) -> Result<Option<LeftBehind>>;

    /// Goes on with a session: with what was cut off, if it is marked for that, and with its held queue. One
    /// that a daily limit holds is let go for the day. Refuses if it is neither, or suspended.
    fn release_queue(&mut self, session: &SessionId, by: &str, at: Time) -> Result<()>;

    /// Begins one item of every queue whose backend is due to be probed, and lets those go on that a daily
    /// limit held until now. Returns when the next one is due: where nothing waits for it, no probe is.
    fn probe_queues(&mut self, at: Time) -> Result<Option<Time>>;

    /// Sets the engine's gate: hold, release, stop, or the stop called off. Opening it begins, for
    /// every session where the rules allow it, what waits. A stop marks every session whose turn runs as
    /// `resume_pending` before anyone waits for it; sessions of jobs and marked ones stay as they are.
    fn set_gate(&mut self, gate: &NewGate, at: Time) -> Result<()>;

    /// Moves a waiting item by one place within the overflow queue.
    fn move_item(&mut self, item: ItemId, direction: Direction, at: Time) -> Result<()>;

    /// Changes a waiting item's text, if it still says what it `was`.
    fn edit_item(&mut self, item: ItemId, was: &str, text: &str, at: Time) -> Result<()>;

    /// Takes a waiting item out as `cleared`. Returns what puts it back where it stood.
    fn drop_item(&mut self, item: ItemId, at: Time) -> Result<PutBack>;

    /// Puts superseded or cleared items back, in this order, and begins what may run. An item that
    /// waits, ran, is gone or does not fit into the queue is refused with the whole step.
    fn restore_items(&mut self, items: &[PutBack], at: Time) -> Result<()>;

    /// Moves a waiting item from the slot to the head of a queue with room, or from the queue to an empty slot.
    fn switch_lane(&mut self, item: ItemId, at: Time) -> Result<()>;

    /// Takes out all that waits in a session, as `cleared`. Returns what puts it back, in order.
    fn clear_queue(&mut self, session: &SessionId, at: Time) -> Result<Vec<PutBack>>;

    /// Names a session. The title is already cleaned; refuses one that another live session has.
    fn set_title(&mut self, session: &SessionId, title: &str, at: Time) -> Result<Option<String>>;

    /// Sets the session's busy mode; none: the default of the run counts again.
    fn set_busy_mode(&mut self, session: &SessionId, mode: Option<BusyMode>, at: Time) -> Result<()>;

    /// Chooses the model that a session's turns ask for from the next one on; none: the setting's.
    fn choose_model(&mut self, session: &SessionId, model: Option<&str>, at: Time) -> Result<()>;

    /// Chooses the agent that works in a session from its next turn on; none: the setting's. Its own choice of a
    /// model ends with that: it was one of the agent's before.
    fn choose_agent(&mut self, session: &SessionId, agent: Option<&AgentName>, at: Time) -> Result<()>;

    /// Hides the last `count` shown turns and returns them. Refuses during a turn or if there is none.
    fn hide_turns(&mut self, session: &SessionId, count: usize, at: Time) -> Result<Vec<TurnId>>;

    /// Shows hidden turns again. Refuses during a turn.
    fn show_turns(&mut self, session: &SessionId, turns: &[TurnId], at: Time) -> Result<()>;

    /// Hides the last shown turn and accepts its message again as a new item whose turn begins at
    /// once. It names a turn of this memory, so no reset policy is asked. Refuses during a turn, if there
    /// is none, and in a suspended session.
    fn retry(&mut self, session: &SessionId, source: Source, at: Time) -> Result<Accepted>;

    /// Keeps the draft of a key's composer; an empty one is forgotten.
    fn save_draft(&mut self, key: &SessionKey, text: &str, at: Time) -> Result<()>;

    /// Adds a text to a key's composer history; the newest 200 are kept.
    fn remember_draft(&mut self, key: &SessionKey, text: &str, at: Time) -> Result<()>;

    /// Keeps the state that a host shares with its runtimes; it is already checked. Refuses a key that is
    /// no host conversation's.
    fn set_agent_state(&mut self, key: &SessionKey, state: &str) -> Result<()>;

    /// Records an event that no other transition tells of.
    fn record(&mut self, session: Option<&SessionId>, kind: EventKind, at: Time) -> Result<()>;

    /// Gives a session up: its turn is told to stop, its queue is held, its next message starts anew.
    fn suspend_session(&mut self, session: &SessionId, at: Time) -> Result<()>;

    /// Takes a suspension back: the same session is usable again, and its count of cuts is 0. What waits in
    /// it, the slot's message first, stays held as after `/stop`; returns how many that are.
    fn unsuspend_session(&mut self, session: &SessionId, at: Time) -> Result<usize>;

    /// Records a sign of life of the run that has this home, and renews the leases of its turns.
    fn stamp_run(&mut self, at: Time) -> Result<()>;

    /// Notes that a person uses a console now.
    fn note_look(&mut self, at: Time) -> Result<()>;

    /// Keeps a child of a running turn, before it works. Refuses if the turn has ended: then the child
    /// must not begin. The end of the turn forgets it.
    fn keep_process(&mut self, child: &ChildProcess, at: Time) -> Result<()>;

    /// Keeps a background process of a running turn, before it works; it outlives the turn. Refuses if the
    /// turn has ended, or if as many of its session live as may: then it must not begin.
    fn keep_background(&mut self, new: &NewBackground, at: Time) -> Result<BackgroundProcess>;

    /// Tells background processes that live to end, and returns them. Refuses a number that none has.
    fn stop_background(
        &mut self,
        session: &SessionId,
        which: Which,
        by: StoppedBy,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>>;

    /// Keeps the end of a background process: from then on it does not stand against a reset, and the next
    /// turn's agent is told. False if that was kept before.
    fn end_background(
        &mut self,
        session: &SessionId,
        number: ProcessNumber,
        ended: &Ended,
        at: Time,
    ) -> Result<bool>;

    /// Forgets at most `limit` background processes that ended before a time; returns how many.
    fn prune_background(&mut self, before: Time, limit: usize) -> Result<usize>;

    /// Keeps what an agent asks, until [`Transitions::settle_approval`], a stop or the end of its turn settles
    /// it; or decides it at once by [`Question::decided_before`]. Refuses if the turn has ended.
    fn ask_approval(&mut self, new: &NewApproval, at: Time) -> Result<Approval>;

    /// Settles a question that waits; returns it with what was decided. `always` holds for its session from
    /// then on. Refuses if it is settled already.
    fn settle_approval(&mut self, approval: ApprovalId, ending: &Ending, at: Time) -> Result<Approval>;

    /// Takes an `always` back: what begins so is asked about again. Refuses a beginning that was not allowed.
    fn disallow(&mut self, session: &SessionId, prefix: &str, at: Time) -> Result<()>;

    /// Forgets a child whose engine died, and tells what became of it, unless it was gone.
    fn settle_process(&mut self, child: &ChildProcess, fate: &Fate, at: Time) -> Result<()>;

    /// Raises an alert, by the rules of [`crate::domain::alert`]. That of a session which was given up, or
    /// whose backend is dead, is raised and resolved by the transitions that change that.
    fn raise_alert(&mut self, new: &NewAlert, at: Time) -> Result<()>;

    /// Resolves an alert; false if it is not open.
    fn resolve_alert(&mut self, key: &AlertKey, at: Time) -> Result<bool>;

    /// Notes that a person knows of an open alert, or takes that back. Returns it as it is now.
    fn acknowledge_alert(&mut self, key: &AlertKey, what: Acknowledgement, at: Time) -> Result<Alert>;

    /// Notes that the alert command was run for the alert that was raised at `raised_at`, and what failed.
    /// One that was raised anew since then is left as it is.
    fn alert_told(
        &mut self,
        key: &AlertKey,
        raised_at: Time,
        news: u32,
        failure: Option<&str>,
        at: Time,
    ) -> Result<()>;

    /// Forgets alerts that were resolved before a time; returns how many.
    fn prune_alerts(&mut self, before: Time) -> Result<usize>;

    /// Deletes at most `limit` questions that were settled before a time, the oldest first; returns how many.
    fn prune_approvals(&mut self, before: Time, limit: usize) -> Result<usize>;

    /// Deletes at most `limit` events older than `before`; returns how many.
    fn prune_events(&mut self, before: Time, limit: usize) -> Result<usize>;
}

/// What a screen and the engine read. None of it changes anything.
pub trait Queries: JobQueries {
    /// The counts in the header.
    fn counts(&self) -> Result<Counts>;
    /// Live sessions, most urgent first, then the last active.
    fn sessions(&self, filter: &Filter, after: Option<&SessionCursor>, limit: usize) -> Result<SessionPage>;
    /// All sessions, ended ones too, the last active first.
    fn session_history(&self, limit: usize) -> Result<SessionPage>;
    /// One session.
    fn session(&self, id: &SessionId) -> Result<Option<SessionRow>>;
    /// Which session is live under a key, without anything else of it.
    fn live_session(&self, key: &SessionKey) -> Result<Option<SessionId>>;
    /// The session that is live under a key.
    fn session_at(&self, key: &SessionKey) -> Result<Option<SessionRow>>;
    /// The sessions that an id, an id's prefix or a title names, at most `limit`; an exact match alone.
    fn resolve_session(&self, wanted: &str, limit: usize) -> Result<Vec<SessionId>>;
    /// A page of a conversation without its hidden turns, oldest first within the page.
    fn conversation(
        &self,
        session: &SessionId,
        before: Option<MessageId>,
        limit: usize,
    ) -> Result<ConversationPage>;
    /// What an agent reads before it works on `turn`: of the shown entries of the session's earlier turns the
    /// newest `limit`, and what was asked of it in what they begin in the midst of, back to the question.
    fn history_before(&self, turn: TurnId, limit: usize) -> Result<Excerpt>;
    /// What is sent in the place of a session's first entries.
    fn summary(&self, session: &SessionId) -> Result<Option<Summary>>;
    /// The daily limit that a session has reached.
    fn limit_reached(&self, session: &SessionId, at: Time) -> Result<Option<Reached>>;
    /// What is used today of the limits that count for each of these; none where nothing is limited.
    fn today_of(&self, scopes: &[Scope], at: Time) -> Result<Vec<Option<Today>>>;
    /// What is used today of the limits of everything together; none where it is not limited.
    fn today_of_all(&self, at: Time) -> Result<Option<Today>>;
    /// An item.
    fn item(&self, id: ItemId) -> Result<Option<Item>>;
    /// What waits in a session (the slot first), its running item, and the newest 20 put aside.
    fn session_queue(&self, session: &SessionId) -> Result<Vec<QueueRow>>;
    /// What waits or runs anywhere, by session.
    fn backlog(&self, limit: usize) -> Result<Vec<QueueRow>>;
    /// A page of the log, oldest first within the page.
    fn events(
        &self,
        page: EventPage,
        level: Level,
        session: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<Event>>;
    /// Messages that contain the words, best first.
    fn search(&self, words: &str, limit: usize) -> Result<Vec<Hit>>;
    /// What restart recovery did: at most `limit` starts, newest first, and at most so many sessions of
    /// `start`, or of the newest one.
    fn recovery(&self, start: Option<&RunId>, limit: usize) -> Result<RecoveryPage>;
    /// What happened since a time, or since a console was last used.
    fn report(&self, since: Option<Time>) -> Result<Report>;
    /// The conversations of host applications, by id and user, at most `limit`.
    fn host_conversations(&self, limit: usize) -> Result<Vec<HostConversation>>;
    /// One of them, by its key.
    fn host_conversation(&self, key: &SessionKey) -> Result<Option<HostConversation>>;
    /// The open alerts, acknowledged ones too, the last raised first.
    fn alerts(&self, limit: usize) -> Result<Vec<Alert>>;
    /// The alerts that nobody acknowledged: those that were never told first, then by the last try.
    fn alerts_to_tell(&self, limit: usize) -> Result<Vec<Alert>>;
    /// What the composer of a key holds and remembers: the draft, and what was sent or cleared, oldest first.
    fn composer(&self, key: &SessionKey) -> Result<ComposerMemory>;
    /// A question of an agent.
    fn approval(&self, id: ApprovalId) -> Result<Option<Approval>>;
    /// The questions of a turn that were denied, in the order in which they were asked.
    fn denied_in(&self, turn: TurnId) -> Result<Vec<Approval>>;
    /// What a person allowed for the rest of a session, or of all live ones, by session and beginning.
    fn allowed(&self, session: Option<&SessionId>, limit: usize) -> Result<Vec<AllowedRow>>;
    /// The children of turns that were not seen to end, each with its session, by their numbers.
    fn processes(&self) -> Result<Vec<(SessionId, ChildProcess)>>;
    /// The background processes of a session, or of all: those that live first, then the last that ended,
    /// at most `limit`.
    fn background(&self, session: Option<&SessionId>, limit: usize) -> Result<Vec<ProcessRow>>;
    /// The background processes that live, in the order in which they began.
    fn live_background(&self) -> Result<Vec<ProcessRow>>;
    /// The background processes of whose end a turn's agent was told, by their numbers.
    fn told_in(&self, session: &SessionId, turn: TurnId) -> Result<Vec<BackgroundProcess>>;
    /// The operator's hold, if it is on.
    fn engine_hold(&self) -> Result<Option<EngineHold>>;
}

/// A run of the engine that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// Its id.
    pub run: RunId,
    /// Its process.
    pub pid: u32,
    /// Its program's version.
    pub version: String,
    /// When.
    pub at: Time,
    /// What holds for the whole run: kept with it, applied by every later transition.
    pub defaults: Defaults,
    /// Who works where; kept with each turn that begins.
    pub agents: Roster,
    /// What the run before left as its receipt.
    pub receipt: FoundReceipt,
    /// The limits of recovery.
    pub limits: Limits,
    /// The daily limits, kept with the run and applied by every later transition.
    pub spending: Rules,
}

/// What a new run found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// How the run before ended.
    pub exit: LastExit,
    /// Turns that the run before left unfinished; ended as interrupted now.
    pub cut_turns: Vec<TurnId>,
    /// Items that waited.
    pub waiting: usize,
}

/// A message that arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// For whom.
    pub to: SessionKey,
    /// The words; already checked by [`crate::domain::queue::check_text`].
    pub text: String,
    /// How it asks to be treated.
    pub intent: Intent,
    /// Who sends it.
    pub source: Source,
    /// The id of its session if one must be made.
    pub fresh: SessionId,
    /// The rule that its session is reset by.
    pub reset: ResetRule,
    /// Whether its user is told of a reset.
    pub notice: Notice,
    /// When it arrived.
    pub at: Time,
}

/// What the configuration says where a session says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defaults {
    /// The busy mode.
    pub busy_mode: BusyMode,
    /// The most items that may wait in one session's queue.
    pub max_queued: usize,
}

/// An accepted message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Its session.
    pub session: SessionId,
    /// Its item.
    pub item: ItemId,
    /// What happened to it.
    pub ack: Ack,
    /// The turn that began with it.
    pub begun: Option<Begun>,
}

/// A turn that was told to stop, and what that did to the rest of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// The turn.
    pub turn: TurnId,
    /// The slot's message, which was cleared.
    pub cleared: Option<ItemId>,
    /// What the queue stands still for now.
    pub hold: Option<HoldReason>,
}

/// A session that another took the place of, by `/resume`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftBehind {
    /// The session.
    pub session: SessionId,
    /// How many items still waited in it.
    pub items: usize,
}

/// A background process that is to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBackground {
    /// The turn that starts it.
    pub turn: TurnId,
    /// The command, whole.
    pub command: String,
    /// Where it is started.
    pub folder: String,
    /// Which process it is.
    pub identity: ProcessIdentity,
    /// How many of its session may live.
    pub most: usize,
}

/// What an agent asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApproval {
    /// The turn that waits for it.
    pub turn: TurnId,
    /// The question.
    pub question: Question,
    /// When it denies itself.
    pub denies_at: Time,
}

/// A change of the engine's gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewGate {
    /// The operator's hold, with the reason.
    Hold(String),
    /// The hold ends.
    Release,
    /// The engine stops; `Hold` stays underneath.
    Stopping {
        /// Who asked, and how.
        why: String,
        /// The mark of what the drain may have to cut.
        mark: ResumeReason,
    },
    /// The stop is called off.
    KeepRunning,
}

/// The counts in the header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Live sessions.
    pub sessions: usize,
    /// Open alerts that nobody acknowledged.
    pub needs_you: usize,
    /// Turns that run, without those that wait for a person.
    pub running: usize,
    /// Sessions whose agent asks a person.
    pub asking: usize,
    /// Items that wait.
    pub waiting: usize,
    /// Live sessions that carry a marker.
    pub marked: usize,
    /// At how many cuts in a row a session is given up.
    pub max_cuts: u32,
    /// The last event.
    pub last_event: Option<Seq>,
    /// The gate.
    pub gate: Gate,
}
