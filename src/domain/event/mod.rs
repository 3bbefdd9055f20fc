//! Events: the one ordered record of everything that happened in a home.
//!
//! Every transition of the store writes its events in the same transaction, so the log shows after
//! a restart exactly what was committed, in order.

mod words;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use super::Time;
use super::agent::AgentName;
use super::alert::{Acknowledgement, AlertKey};
use super::approval::{Decision, answered_by};
use super::background::{Exit, StoppedBy, end_words, named};
use super::cron::{CronEvent, JobEvent, JobId};
use super::damage::{LogDamage, Lost};
use super::id::{ApprovalId, ItemId, ProcessNumber, RunId, Seq, SessionId, SessionKey, TurnId};
use super::marker::{Clearing, Marker, ResumeReason};
use super::queue::{Ack, BusyMode, Lane};
use super::recovery::{AfterStop, Closed, LastExit};
use super::reset::{ResetReason, ToldBlock};
use super::session::{EndReason, Hold, HoldReason};
use super::turn::{Outcome, StopCause};

pub(crate) use self::words::count;
pub use self::words::{excerpt, excerpt_of, short_number, some_of, thousands};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its place in the order.
    pub seq: Seq,
    /// When.
    pub at: Time,
    /// To which session.
    pub session: Option<SessionId>,
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// How much an event matters to an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Details of the normal course.
    Debug,
    /// The normal course.
    Info,
    /// Something was put aside, cut or refused.
    Warn,
    /// Something failed.
    Error,
}

impl Level {
    /// Every level, least first.
    pub const ALL: [Self; 4] = [Self::Debug, Self::Info, Self::Warn, Self::Error];

    /// The word in filters and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or_else(|| format!("{text:?} is no level: one of debug, info, warn, error"))
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// An engine took this home.
    EngineStarted {
        /// Its run.
        run: RunId,
        /// Its process.
        pid: u32,
        /// How the run before ended.
        #[serde(default)]
        exit: Option<LastExit>,
        /// How many turns the run before left unfinished.
        cut_turns: usize,
        /// How many items waited.
        waiting: usize,
    },
    /// A session was marked: it was cut off and goes on, or it was given up.
    SessionMarked {
        /// The marker.
        marker: Marker,
        /// At how many starts in a row it was cut off.
        cuts: u32,
    },
    /// A session's marker is gone.
    MarkerCleared {
        /// By what.
        by: Clearing,
    },
    /// A session that was cut off goes on.
    Resumed {
        /// The turn that goes on.
        turn: TurnId,
        /// Why it was cut off.
        reason: ResumeReason,
        /// At how many starts in a row it was cut off.
        cuts: u32,
    },
    /// The turn that went on with what was cut off has ended.
    ResumeEnded {
        /// The turn.
        turn: TurnId,
        /// Whether it ended with an answer; if not, it is not tried again by itself before the next start.
        answered: bool,
    },
    /// Tool calls without a result were closed.
    CallsClosed {
        /// Their turn.
        turn: TurnId,
        /// How many.
        calls: usize,
        /// As what.
        #[serde(default)]
        closed: Closed,
    },
    /// A child process had outlived its engine.
    LeftoverFound {
        /// Its turn.
        turn: TurnId,
        /// Its program.
        program: String,
        /// Its process group.
        group: u32,
        /// Why it could not be killed; none: it was, with its whole group.
        failure: Option<String>,
    },
    /// A background process began; it goes on after its turn.
    BackgroundBegan {
        /// Its number in the session.
        number: ProcessNumber,
        /// The turn that started it.
        turn: TurnId,
        /// The command in one line.
        line: String,
        /// Its process group.
        group: u32,
    },
    /// A background process is to end.
    BackgroundStopping {
        /// Its number in the session.
        number: ProcessNumber,
        /// The command in one line.
        line: String,
        /// Who asked.
        by: StoppedBy,
    },
    /// A background process ended.
    BackgroundEnded {
        /// Its number in the session.
        number: ProcessNumber,
        /// The command in one line.
        line: String,
        /// How.
        exit: Exit,
        /// How long it had lived.
        milliseconds: i64,
        /// Who had asked for it.
        by: Option<StoppedBy>,
    },
    /// A background process had outlived its engine, and is this one's now.
    BackgroundAdopted {
        /// Its number in the session.
        number: ProcessNumber,
        /// The command in one line.
        line: String,
        /// Its process group.
        group: u32,
    },
    /// The engine ends, and background processes go on without it.
    BackgroundLeft {
        /// They, with their sessions.
        processes: Vec<String>,
    },
    /// Nothing is resumed by itself at this start.
    BootGuardHeld {
        /// How many unclean starts came in a row.
        starts: u32,
        /// How many sessions are held.
        sessions: usize,
    },
    /// The engine began to stop: no turn begins any more.
    EngineStopping {
        /// Who asked.
        why: String,
        /// What comes after it.
        #[serde(default)]
        then: AfterStop,
    },
    /// The stop was called off.
    EngineStopCalledOff,
    /// The engine let this home go in order.
    EngineStopped {
        /// Its run.
        run: RunId,
    },
    /// Nothing starts until `release`.
    EngineHeld {
        /// Why, in the operator's words.
        why: String,
    },
    /// The hold ended.
    EngineReleased,
    /// A session was made.
    SessionCreated {
        /// Under this key.
        key: SessionKey,
        /// After this one.
        previous: Option<SessionId>,
    },
    /// A session ended.
    SessionEnded {
        /// Why.
        reason: EndReason,
        /// What is live under its key now.
        successor: SessionId,
    },
    /// A session was made by a reset policy, or because the one before was given up.
    AutoReset {
        /// Why.
        reason: ResetReason,
        /// The same in a few words: `idle 25 h`.
        why: String,
        /// The one before.
        previous: SessionId,
        /// How many items still waited there: one command moves them here.
        left: usize,
    },
    /// A reset is due, and something stands against it. Told once, and once more when it alarms.
    ResetBlocked(ToldBlock),
    /// Items that a reset had left in the session before wait here now.
    CarriedOver {
        /// The items.
        items: Vec<ItemId>,
        /// The session before.
        from: SessionId,
    },
    /// An earlier session is live again.
    SessionResumed {
        /// Under this key.
        key: SessionKey,
    },
    /// A session got a title.
    Titled {
        /// The title; none: taken away.
        title: Option<String>,
    },
    /// What a plain message does while a turn runs was set.
    BusyModeSet {
        /// The mode; none: back to the default.
        mode: Option<BusyMode>,
    },
    /// Another agent works in a session from its next turn on.
    AgentChosen {
        /// It; none: the setting's.
        agent: Option<AgentName>,
    },
    /// A session asks for another model from its next turn on.
    ModelChosen {
        /// It; none: the setting's.
        model: Option<String>,
    },
    /// A message was accepted.
    Accepted {
        /// Its item.
        item: ItemId,
        /// What happened to it.
        ack: Ack,
        /// Its first words.
        excerpt: String,
    },
    /// A message was refused.
    Refused {
        /// What was asked, its first words.
        excerpt: String,
        /// Why.
        reason: String,
    },
    /// A newer message took the slot.
    Superseded {
        /// The message put aside.
        item: ItemId,
        /// The newer one.
        by: ItemId,
        /// Its first words.
        excerpt: String,
    },
    /// An item that was put aside waits again.
    Restored {
        /// The item.
        item: ItemId,
        /// Where.
        lane: Lane,
    },
    /// A waiting item's text was changed.
    Edited {
        /// The item.
        item: ItemId,
    },
    /// A waiting item has another place.
    Moved {
        /// The item.
        item: ItemId,
        /// Its lane now.
        lane: Lane,
        /// Its place in the overflow queue, from 1.
        position: usize,
    },
    /// Waiting items were taken out.
    Cleared {
        /// The items.
        items: Vec<ItemId>,
        /// Why.
        reason: String,
    },
    /// A turn began.
    TurnBegan {
        /// The turn.
        turn: TurnId,
        /// The item it works on.
        item: ItemId,
        /// Whether it only tries if a dead backend lives again.
        probe: bool,
    },
    /// The running turn was told to stop.
    StopRequested {
        /// The turn.
        turn: TurnId,
        /// By what.
        cause: StopCause,
    },
    /// Text was handed to a running turn.
    Steered {
        /// The turn.
        turn: TurnId,
        /// The item that holds the text.
        item: ItemId,
    },
    /// A tool is called.
    ToolCalled {
        /// The turn.
        turn: TurnId,
        /// The tool.
        name: String,
        /// The call.
        call: String,
    },
    /// A tool call ended.
    ToolEnded {
        /// The turn.
        turn: TurnId,
        /// The call.
        call: String,
        /// Whether it did what it should.
        ok: bool,
    },
    /// What the agent means to do is another than before.
    Planned {
        /// The turn.
        turn: TurnId,
        /// How far it is and what it is at, in one line.
        line: String,
    },
    /// An agent asks a person whether it may do something; its turn stands still.
    ApprovalAsked {
        /// The turn.
        turn: TurnId,
        /// The question.
        approval: ApprovalId,
        /// What it wants to do, in one line.
        line: String,
        /// When it denies itself.
        denies_at: Time,
    },
    /// What an agent asked was decided.
    ApprovalSettled {
        /// The turn.
        turn: TurnId,
        /// The question.
        approval: ApprovalId,
        /// What it wanted to do, in one line.
        line: String,
        /// What was decided.
        verdict: Decision,
    },
    /// A person took an `always` back: the agent asks again.
    Disallowed {
        /// The beginning.
        prefix: String,
    },
    /// A backend tries again after a failure.
    BackendRetries {
        /// The turn.
        turn: TurnId,
        /// Which try comes next, from 2.
        attempt: u32,
        /// Seconds until then.
        wait_seconds: u64,
        /// What failed.
        why: String,
    },
    /// A conversation is sent shorter than it is, since it fills the model's window.
    Shortened {
        /// The turn.
        turn: TurnId,
        /// How many results of tools are left out.
        results: usize,
        /// Whether a summary stands for the middle.
        middle: Middle,
        /// About how many tokens were to be sent.
        before: u64,
        /// About how many are.
        after: u64,
    },
    /// A turn ended.
    TurnEnded {
        /// The turn.
        turn: TurnId,
        /// The item it worked on.
        item: ItemId,
        /// How.
        outcome: Outcome,
    },
    /// A session's queue stands still.
    QueueHeld {
        /// The hold.
        hold: Hold,
        /// How many items wait behind it.
        waiting: usize,
    },
    /// A session's queue moves again.
    QueueReleased {
        /// What held it.
        reason: HoldReason,
        /// By what.
        by: String,
    },
    /// User turns were hidden or shown again.
    TurnsHidden {
        /// The turns.
        turns: Vec<TurnId>,
        /// Whether they are hidden now.
        hidden: Visibility,
    },
    /// Something happened to a scheduled task.
    Job {
        /// The job.
        job: JobId,
        /// What.
        #[serde(flatten)]
        what: JobEvent,
    },
    /// Something happened to `jobs.json` or the ticker.
    Cron(CronEvent),
    /// The store could not be written for a while, and works again.
    StoreWaited {
        /// For how long.
        milliseconds: u64,
        /// Why.
        why: String,
    },
    /// Something blocks on a person.
    AlertRaised {
        /// The alert.
        alert: AlertKey,
        /// What is wrong, and what helps.
        words: String,
        /// How often it was raised since it was last resolved.
        raises: u32,
    },
    /// A person said that they know of an alert, or took that back.
    AlertAcknowledged {
        /// The alert.
        alert: AlertKey,
        /// Which of the two.
        what: Acknowledgement,
    },
    /// What an alert told of was put right.
    AlertResolved {
        /// The alert.
        alert: AlertKey,
    },
    /// The alert command told an alert.
    AlertTold {
        /// The alert.
        alert: AlertKey,
        /// How often since it was raised.
        times: u32,
    },
    /// The alert command failed.
    AlertNotTold {
        /// The alert.
        alert: AlertKey,
        /// Why.
        why: String,
    },
    /// The store's log was damaged when it was opened.
    LogDamaged(LogDamage),
    /// Something outside a session that the operator should know.
    Notice {
        /// How much it matters.
        level: Level,
        /// What, in one line.
        text: String,
    },
}

/// What is sent of what stands between a conversation's first message and its newest ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Middle {
    /// All but the results that are left out.
    Sent,
    /// A summary.
    Summarised,
}

/// Whether turns are part of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// They are shown and read by the agent.
    Shown,
    /// `/undo` or `/retry` took them out; the rows stay.
    Hidden,
}

impl EventKind {
    /// The scheduled task that it is about.
    pub fn job(&self) -> Option<&JobId> {
        match self {
            Self::Job { job, .. } => Some(job),
            _ => None,
        }
    }

    /// How much it matters.
    pub fn level(&self) -> Level {
        match self {
            Self::Notice { level, .. } => *level,
            Self::Job { what, .. } => what.level(),
            Self::Cron(what) => what.level(),
            Self::TurnEnded { outcome: Outcome::Failed { .. }, .. } | Self::AutoReset { left: 1.., .. } => {
                Level::Error
            }
            Self::ResetBlocked(told) if told.is_alarming() => Level::Error,
            Self::TurnEnded { outcome: Outcome::Interrupted { .. }, .. }
            | Self::Refused { .. }
            | Self::Superseded { .. }
            | Self::Cleared { .. }
            | Self::QueueHeld { .. }
            | Self::BackendRetries { .. }
            | Self::ApprovalAsked { .. }
            | Self::EngineHeld { .. }
            | Self::SessionMarked { .. }
            | Self::ResumeEnded { answered: false, .. }
            | Self::CallsClosed { .. }
            | Self::LeftoverFound { failure: None, .. }
            | Self::BackgroundEnded {
                exit: Exit::Code { code: 1.. } | Exit::Unknown { .. }, by: None, ..
            }
            | Self::BackgroundEnded { exit: Exit::Signal { .. }, by: None, .. }
            | Self::BootGuardHeld { .. }
            | Self::ResetBlocked(_)
            | Self::StoreWaited { .. }
            | Self::LogDamaged(LogDamage { lost: Lost::PerhapsOne, .. }) => Level::Warn,
            Self::LeftoverFound { failure: Some(_), .. }
            | Self::LogDamaged(LogDamage { lost: Lost::AtLeast(_), .. })
            | Self::AlertRaised { raises: ..=1, .. }
            | Self::AlertNotTold { .. } => Level::Error,
            Self::EngineStarted { cut_turns: 1.., .. } => Level::Warn,
            Self::ApprovalSettled { verdict, .. } if !verdict.allows() => Level::Warn,
            Self::ToolCalled { .. }
            | Self::ToolEnded { .. }
            | Self::Planned { .. }
            | Self::Edited { .. }
            | Self::Moved { .. }
            | Self::AlertRaised { .. } => Level::Debug,
            _ => Level::Info,
        }
    }

    /// The event in one line of words. Foreign text in it is not sanitized yet.
    pub fn words(&self) -> String {
        match self {
            Self::EngineStarted { pid, exit, cut_turns, waiting, .. } => {
                let (cut, wait) = (count(*cut_turns, "turn"), count(*waiting, "item"));
                let exit = exit.as_ref().map_or_else(String::new, |exit| format!("{}; ", exit.words()));
                format!("engine started, pid {pid}: {exit}{cut} cut off before, {wait} waiting")
            }
            // Before it was ever cut: a drain begins.
            Self::SessionMarked { marker: Marker::ResumePending(_), cuts: 0 } => {
                "marked: the next start resumes it if the drain cuts it".to_owned()
            }
            Self::SessionMarked { marker: Marker::ResumePending(mark), cuts } => {
                format!("to be resumed: {}, {} in a row", mark.reason.words(), count(*cuts as usize, "start"))
            }
            Self::SessionMarked { marker: Marker::Suspended(suspended), .. } => {
                format!(
                    "suspended: {}; the next message starts anew, /unsuspend lifts it",
                    suspended.reason.words()
                )
            }
            Self::MarkerCleared { by } => format!("marker cleared: {}", by.words()),
            Self::Resumed { turn, reason, cuts } => {
                let starts = count(*cuts as usize, "start");
                format!("resumed with turn {turn}: {}, {starts} in a row", reason.words())
            }
            Self::ResumeEnded { turn, answered: true } => format!("the resume ended: turn {turn} answered"),
            Self::ResumeEnded { turn, answered: false } => {
                format!("the resume failed with turn {turn}; /continue or the next start tries again")
            }
            Self::CallsClosed { turn, calls, closed } => {
                format!("{} of turn {turn} closed: {}", count(*calls, "tool call"), closed.words())
            }
            Self::LeftoverFound { turn, program, group, failure: None } => {
                format!(
                    "{program} of turn {turn} had outlived its engine: process group {group} was killed, with what \
                     had left it"
                )
            }
            Self::LeftoverFound { turn, program, group, failure: Some(why) } => format!(
                "{program} of turn {turn} outlived its engine: process group {group} can't be killed: {why}"
            ),
            Self::BackgroundBegan { number, turn, line, group } => format!(
                "background process {} began in turn {turn}: process group {group}",
                named(*number, line)
            ),
            Self::BackgroundStopping { number, line, by } => {
                format!("background process {} is to end {}", named(*number, line), by.words())
            }
            Self::BackgroundEnded { number, line, exit, milliseconds, by } => {
                let length = TimeDelta::milliseconds(*milliseconds);
                format!("background process {}", end_words(*number, line, exit, length, *by))
            }
            Self::BackgroundAdopted { number, line, group } => format!(
                "background process {} outlived its engine and goes on: process group {group}",
                named(*number, line)
            ),
            Self::BackgroundLeft { processes } => format!(
                "{}: {}",
                match processes.len() {
                    1 => "1 background process goes on, the next start takes it over".to_owned(),
                    many => format!("{many} background processes go on, the next start takes them over"),
                },
                processes.join(", ")
            ),
            Self::BootGuardHeld { starts, sessions } => format!(
                "boot guard: {starts} unclean starts in a row; {} not resumed by itself, /continue goes on",
                count(*sessions, "session")
            ),
            Self::EngineStopping { why, then: AfterStop::End } => format!("engine stops: {why}"),
            Self::EngineStopping { why, then: AfterStop::Restart } => format!("engine restarts: {why}"),
            Self::EngineStopCalledOff => "the stop was called off".to_owned(),
            Self::EngineStopped { .. } => "engine stopped in order".to_owned(),
            Self::EngineHeld { why } if why.is_empty() => "engine on hold".to_owned(),
            Self::EngineHeld { why } => format!("engine on hold: {why}"),
            Self::EngineReleased => "engine released".to_owned(),
            Self::SessionCreated { key, previous: None } => format!("new session {key}"),
            Self::SessionCreated { key, previous: Some(old) } => format!("new session {key} after {old}"),
            Self::SessionEnded { reason: EndReason::SessionReset, successor } => {
                format!("session reset, goes on as {successor}")
            }
            Self::SessionEnded { reason: EndReason::SessionSwitch, successor } => {
                format!("session left for {successor}")
            }
            Self::AutoReset { why, previous, left: 0, .. } => {
                format!("reset by itself: {why}; /resume {previous} brings the memory before back")
            }
            Self::AutoReset { why, previous, left, .. } => format!(
                "reset by itself: {why}; {} left waiting in {previous} (kept, can be moved here)",
                count(*left, "item")
            ),
            Self::ResetBlocked(told) => {
                format!("reset due ({}) and not done: {}", told.block.reason.as_str(), told.words())
            }
            Self::CarriedOver { items, from } => format!("{} moved here from {from}", item_list(items)),
            Self::SessionResumed { key } => format!("session resumed under {key}"),
            Self::Titled { title: Some(title) } => format!("titled {title:?}"),
            Self::Titled { title: None } => "title taken away".to_owned(),
            Self::BusyModeSet { mode: Some(mode) } => format!("busy mode {mode}"),
            Self::BusyModeSet { mode: None } => "busy mode back to the default".to_owned(),
            Self::AgentChosen { agent: Some(agent) } => {
                format!("the agent {agent} works from the next turn on")
            }
            Self::AgentChosen { agent: None } => {
                "the agent of the settings works again from the next turn on".to_owned()
            }
            Self::ModelChosen { model: Some(model) } => {
                format!("asks for the model {model} from the next turn on")
            }
            Self::ModelChosen { model: None } => "asks for the model of the settings again".to_owned(),
            Self::Accepted { item, ack, excerpt } => {
                format!("item {item} {}: {excerpt}", ack.words(|at| at.format("%H:%M UTC").to_string()))
            }
            Self::Refused { excerpt, reason } => format!("{reason}: {excerpt}"),
            Self::Superseded { item, by, excerpt } => {
                format!("item {item} replaced by {by} (kept): {excerpt}")
            }
            Self::Restored { item, .. } => format!("item {item} waits again"),
            Self::Edited { item } => format!("item {item} edited"),
            Self::Moved { item, lane: Lane::Slot, .. } => format!("item {item} moved to the slot"),
            Self::Moved { item, lane: Lane::Queue, position } => {
                format!("item {item} moved to place {position}")
            }
            Self::Cleared { items, reason } => format!("{} {reason} (kept)", item_list(items)),
            Self::TurnBegan { turn, item, probe: false } => format!("turn {turn} began with item {item}"),
            Self::TurnBegan { turn, item, probe: true } => {
                format!("turn {turn} tries with item {item} whether the backend lives again")
            }
            Self::StopRequested { turn, cause } => format!("turn {turn} told to stop: {}", cause.words()),
            Self::Steered { turn, item } => format!("item {item} handed to turn {turn}"),
            Self::ToolCalled { turn, name, .. } => format!("turn {turn} calls {name}"),
            Self::ToolEnded { turn, ok: true, .. } => format!("turn {turn}: the tool call ended"),
            Self::ToolEnded { turn, ok: false, .. } => format!("turn {turn}: the tool call failed"),
            Self::Planned { turn, line } => format!("the plan of turn {turn}: {line}"),
            Self::ApprovalAsked { turn, approval, line, .. } => {
                format!("turn {turn} asks: {line}; {} answers", answered_by(*approval))
            }
            Self::ApprovalSettled { line, verdict, .. } => format!("{}: {line}", verdict.words()),
            Self::Disallowed { prefix } => format!("not allowed without asking any more: {prefix}"),
            Self::BackendRetries { turn, attempt, wait_seconds, why } => {
                format!("turn {turn}: try {attempt} in {wait_seconds} s: {why}")
            }
            Self::Shortened { turn, results, middle, before, after } => {
                let summary = (*middle == Middle::Summarised).then(|| "its middle as a summary".to_owned());
                let results =
                    (*results > 0).then(|| format!("{} left out", count(*results, "old tool result")));
                let how = summary.into_iter().chain(results).collect::<Vec<_>>().join(", ");
                format!(
                    "turn {turn} sends the conversation shorter: {how}; about {} tokens in place of {} (nothing is lost here)",
                    short_number(*after),
                    short_number(*before)
                )
            }
            Self::TurnEnded { turn, outcome: Outcome::Done, .. } => format!("turn {turn} answered"),
            Self::TurnEnded { turn, outcome: Outcome::Failed { error }, .. } => {
                format!("turn {turn} failed: {error}")
            }
            Self::TurnEnded { turn, outcome: Outcome::Interrupted { cause }, .. } => {
                format!("turn {turn} interrupted: {}", cause.words())
            }
            Self::QueueHeld { hold, waiting } => {
                let wait = match waiting {
                    0 => String::new(),
                    1 => " (1 waits)".to_owned(),
                    more => format!(" ({more} wait)"),
                };
                format!("queue {}{wait}", hold.reason.words())
            }
            Self::QueueReleased { by, .. } => format!("queue released by {by}"),
            Self::TurnsHidden { turns, hidden: Visibility::Hidden } => {
                format!("{} hidden", count(turns.len(), "turn"))
            }
            Self::TurnsHidden { turns, hidden: Visibility::Shown } => {
                format!("{} shown again", count(turns.len(), "turn"))
            }
            Self::StoreWaited { milliseconds, why } => {
                format!("the store works again after {:.1} s: {why}", *milliseconds as f64 / 1000.0)
            }
            Self::Job { job, what } => what.words(job),
            Self::Cron(what) => what.words(),
            Self::AlertRaised { words, raises: ..=1, .. } => format!("needs you: {words}"),
            Self::AlertRaised { words, raises, .. } => format!("still needs you, time {raises}: {words}"),
            Self::AlertAcknowledged { alert, what: Acknowledgement::Given } => {
                format!("alert {alert} acknowledged: nobody is told again")
            }
            Self::AlertAcknowledged { alert, what: Acknowledgement::TakenBack } => {
                format!("alert {alert} counts again")
            }
            Self::AlertResolved { alert } => format!("alert {alert} resolved"),
            Self::AlertTold { alert, times } => {
                format!("alert {alert} told by the alert command, {}", count(*times as usize, "time"))
            }
            Self::AlertNotTold { alert, why } => {
                format!("alert {alert} NOT told: the alert command failed: {why}")
            }
            Self::LogDamaged(damage) => damage.words(),
            Self::Notice { text, .. } => text.clone(),
        }
    }
}

fn item_list(items: &[ItemId]) -> String {
    match items {
        [one] => format!("item {one}"),
        many => format!("{} items", many.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_aside_cut_or_refused_is_a_warning_and_a_failure_an_error() {
        let ended = |outcome| EventKind::TurnEnded { turn: TurnId(1), item: ItemId(1), outcome };
        assert_eq!(ended(Outcome::Done).level(), Level::Info);
        assert_eq!(ended(Outcome::Failed { error: "e".to_owned() }).level(), Level::Error);
        assert_eq!(ended(Outcome::Interrupted { cause: StopCause::Crash }).level(), Level::Warn);
        let cleared = EventKind::Cleared { items: vec![ItemId(1)], reason: "r".to_owned() };
        assert_eq!(cleared.level(), Level::Warn);
        let started = |cut_turns| EventKind::EngineStarted {
            run: RunId("r".to_owned()),
            pid: 1,
            exit: None,
            cut_turns,
            waiting: 0,
        };
        assert_eq!((started(0).level(), started(1).level()), (Level::Info, Level::Warn));
    }

    #[test]
    fn an_event_is_the_same_after_it_was_kept_as_text() {
        let event = Event {
            seq: Seq(4),
            at: Time::UNIX_EPOCH,
            session: None,
            kind: EventKind::TurnsHidden { turns: vec![TurnId(1)], hidden: Visibility::Hidden },
        };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
    }
}
