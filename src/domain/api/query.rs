//! Queries: what is read. A query never changes anything, not even a time.

use std::time::Duration;

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::cron::{JobAnswer, JobQuery};
use super::recovery::RecoveryPage;
use super::report::Report;
use super::update::Doing;
use crate::domain::Time;
use crate::domain::agent::Roster;
use crate::domain::alert::Alert;
use crate::domain::approval::{Allowed, Approval};
use crate::domain::background::BackgroundProcess;
use crate::domain::conversation::HostConversation;
use crate::domain::cron::JobId;
use crate::domain::event::{Event, Level};
use crate::domain::history::Entry;
use crate::domain::id::{ChatType, MessageId, RunId, Seq, SessionId, SessionKey, TurnId};
use crate::domain::plan::Plan;
use crate::domain::queue::{BusyMode, Gate, Item};
use crate::domain::recovery::AfterStop;
use crate::domain::reset::{Background, Forecast, Mark, ResetFacts, ResetPolicies, TurnNow, forecast};
use crate::domain::session::{Session, SessionState};
use crate::domain::slash::ExportFormat;
use crate::domain::spending::Today;

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "query", rename_all = "snake_case")]
pub enum Query {
    /// How the engine stands, and the counts in the header.
    Overview,
    /// Live sessions, most urgent first, then the last active.
    Sessions {
        /// Which; empty for all. See [`crate::domain::filter`].
        filter: String,
        /// Only behind this place.
        after: Option<SessionCursor>,
        /// At most so many.
        limit: usize,
    },
    /// Sessions of every kind, ended ones too, the last active first.
    History {
        /// At most so many.
        limit: usize,
    },
    /// One session, by id.
    Session {
        /// The id.
        session: SessionId,
    },
    /// The session that is live under a key.
    SessionAt {
        /// The key.
        key: SessionKey,
    },
    /// The sessions that a word of a person's names: by id, title or the beginning of an id. More than one
    /// means that it is ambiguous.
    SessionsNamed {
        /// The word.
        name: String,
        /// At most so many.
        limit: usize,
    },
    /// A page of a conversation, oldest first within the page.
    Conversation {
        /// Whose.
        session: SessionId,
        /// Only before this entry; none: the newest page.
        before: Option<MessageId>,
        /// At most so many.
        limit: usize,
    },
    /// What waits in one session, with what was put aside lately.
    SessionQueue {
        /// Whose.
        session: SessionId,
    },
    /// What waits anywhere, with the running items, by session.
    Backlog {
        /// At most so many.
        limit: usize,
    },
    /// A page of the log, oldest first within the page.
    Events {
        /// Which side of which event.
        page: EventPage,
        /// Only at least this much.
        level: Level,
        /// Only of this session.
        session: Option<SessionId>,
        /// Only of this scheduled task.
        #[serde(default)]
        job: Option<JobId>,
        /// At most so many.
        limit: usize,
    },
    /// Messages that contain the words, best first.
    Search {
        /// The words.
        words: String,
        /// At most so many.
        limit: usize,
    },
    /// What restart recovery did: the history of starts, and the sessions of one of them.
    Recovery {
        /// Which start; none: the newest.
        start: Option<RunId>,
        /// At most so many starts, and so many sessions.
        limit: usize,
    },
    /// What happened since a time.
    Report {
        /// Since when; none: since a console was last used.
        since: Option<Time>,
    },
    /// Background processes: those that live first, then the last that ended.
    Processes {
        /// Of which session; none: of all.
        session: Option<SessionId>,
        /// At most so many.
        limit: usize,
    },
    /// What a person allowed for the rest of sessions, with `always`.
    Allowed {
        /// In which session; none: in all live ones.
        session: Option<SessionId>,
        /// At most so many.
        limit: usize,
    },
    /// The open alerts, acknowledged ones too, the last raised first.
    Alerts {
        /// At most so many.
        limit: usize,
    },
    /// The conversations of host applications, by id.
    HostConversations {
        /// At most so many.
        limit: usize,
    },
    /// One of them.
    HostConversation {
        /// Its key.
        key: SessionKey,
    },
    /// What the composer of a key holds and remembers.
    Composer {
        /// Whose.
        key: SessionKey,
    },
    /// Something about scheduled tasks.
    Jobs(JobQuery),
    /// A whole session as a document.
    Export {
        /// Whose.
        session: SessionId,
        /// In which form.
        format: ExportFormat,
    },
}

/// Which side of which event a page of the log is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventPage {
    /// The newest.
    Newest,
    /// Those right before it.
    Before(Seq),
    /// Those right after it.
    After(Seq),
}

/// A place in the list of live sessions, to read on from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCursor {
    /// The state's rank.
    pub rank: u8,
    /// The last activity.
    pub last_activity_at: Time,
    /// The session.
    pub session: SessionId,
}

/// An answer to a query, of the same name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", content = "value", rename_all = "snake_case")]
pub enum Answer {
    /// To [`Query::Overview`].
    Overview(Box<Overview>),
    /// To [`Query::Sessions`], [`Query::History`] and [`Query::SessionsNamed`].
    Sessions(SessionPage),
    /// To [`Query::Session`] and [`Query::SessionAt`]; none if there is none.
    Session(Option<Box<SessionRow>>),
    /// To [`Query::Conversation`].
    Conversation(ConversationPage),
    /// To [`Query::SessionQueue`] and [`Query::Backlog`].
    Queue(Vec<QueueRow>),
    /// To [`Query::Events`].
    Events(Vec<Event>),
    /// To [`Query::Search`].
    Hits(Vec<Hit>),
    /// To [`Query::Recovery`].
    Recovery(Box<RecoveryPage>),
    /// To [`Query::Report`].
    Report(Box<Report>),
    /// To [`Query::Processes`].
    Processes(Vec<ProcessRow>),
    /// To [`Query::Allowed`].
    Allowed(Vec<AllowedRow>),
    /// To [`Query::Alerts`].
    Alerts(Vec<Alert>),
    /// To [`Query::HostConversations`].
    HostConversations(Vec<HostConversation>),
    /// To [`Query::HostConversation`]; none if nobody has spoken in it.
    HostConversation(Option<Box<HostConversation>>),
    /// To [`Query::Composer`].
    Composer(ComposerMemory),
    /// To [`Query::Jobs`].
    Jobs(JobAnswer),
    /// To [`Query::Export`].
    Document(String),
}

/// How the engine stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The engine.
    pub engine: EngineStatus,
    /// Live sessions.
    pub sessions: usize,
    /// Open alerts that nobody acknowledged.
    pub needs_you: usize,
    /// Turns that run, without those that wait for a person.
    pub running: usize,
    /// Sessions whose agent asks a person: their turns stand still.
    #[serde(default)]
    pub asking: usize,
    /// Items that wait, in all sessions.
    pub waiting: usize,
    /// Live sessions that carry a marker: they go on, or need a person.
    pub marked: usize,
    /// At how many cuts in a row a session is given up.
    pub max_cuts: u32,
    /// The last event.
    pub last_event: Option<Seq>,
    /// What is used today of the limits of everything together; none where it is not limited.
    #[serde(default)]
    pub today: Option<Today>,
}

/// The engine as a screen shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineStatus {
    /// Whether an engine runs; none: the store was read without one.
    pub run: Option<EngineRun>,
    /// Whether turns begin.
    pub gate: Gate,
    /// Since when and why it is on hold.
    pub held: Option<EngineHold>,
    /// The drain, while it stops.
    pub drain: Option<Drain>,
    /// Who answers; nobody without an engine.
    pub agents: Roster,
    /// The default busy mode.
    pub busy_mode: BusyMode,
    /// The most items that may wait in one session's queue.
    pub max_queued: usize,
    /// Why the store can't be written now.
    pub store_trouble: Option<StoreTrouble>,
    /// How scheduled tasks fare.
    #[serde(default)]
    pub cron: CronHealth,
}

/// How scheduled tasks fare, in a header's few words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cron", rename_all = "snake_case")]
pub enum CronHealth {
    /// The ticker looks at the jobs when it should, and the file is read.
    #[default]
    Ok,
    /// The file can't be read: the stored copy fires.
    StoredCopy {
        /// Since when.
        since: Time,
    },
    /// No pass of the ticker succeeded for too long.
    Late {
        /// Since when.
        since: Time,
        /// Why, as far as it is known.
        why: String,
    },
}

/// The life of a running engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRun {
    /// Its run.
    pub run: RunId,
    /// Its process.
    pub pid: u32,
    /// Since when.
    pub since: Time,
    /// Its program's version.
    pub version: String,
}

/// The operator's hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineHold {
    /// Since when.
    pub since: Time,
    /// Why.
    pub why: String,
}

/// A stop in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    /// Who asked, and how.
    pub why: String,
    /// What comes after it.
    #[serde(default)]
    pub then: AfterStop,
    /// Since when.
    pub since: Time,
    /// When what still runs is cut.
    pub until: Time,
    /// What still runs.
    pub waits_for: Vec<Waited>,
    /// What was cut at its end.
    #[serde(default)]
    pub cut: Vec<Waited>,
    /// What lives in the background.
    #[serde(default)]
    pub background: Outliving,
}

/// The background processes that live when an engine stops, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outliving {
    /// They go on, and the next start takes them over.
    pub go_on: Vec<String>,
    /// They are told to end, or will be: with the run of a scheduled task that they work for.
    pub end: Vec<String>,
}

impl Outliving {
    /// What becomes of those that live.
    pub fn of(live: &[ProcessRow]) -> Self {
        let ends = |row: &&ProcessRow| {
            row.process.stopped_by.is_some() || row.key.parts().chat_type == ChatType::Job
        };
        let (end, go_on): (Vec<&ProcessRow>, Vec<&ProcessRow>) = live.iter().partition(ends);
        let names = |rows: Vec<&ProcessRow>| rows.into_iter().map(ProcessRow::name).collect();
        Self { go_on: names(go_on), end: names(end) }
    }
}

/// Something that a stop waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "waits_for", rename_all = "snake_case")]
pub enum Waited {
    /// A turn.
    Turn {
        /// Its session.
        session: SessionId,
        /// What the session is called. Foreign text in it is not sanitized yet.
        name: String,
    },
    /// The script of a scheduled task.
    Script {
        /// The task.
        job: JobId,
    },
}

impl Waited {
    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Self::Turn { name, .. } => name.clone(),
            Self::Script { job } => format!("job {job} (script)"),
        }
    }

    /// What several of them are called, in one line.
    pub fn names(waited: &[Self]) -> String {
        waited.iter().map(Self::name).collect::<Vec<_>>().join(", ")
    }
}

/// The store can't be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreTrouble {
    /// Since when.
    pub since: Time,
    /// Why.
    pub why: String,
}

/// A page of sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionPage {
    /// The rows.
    pub rows: Vec<SessionRow>,
    /// How many sessions match.
    pub hits: usize,
    /// How many there are.
    pub total: usize,
}

/// A session as a list and its details show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRow {
    /// The entry.
    pub session: Session,
    /// What it is doing.
    pub state: SessionState,
    /// Its running turn.
    pub turn: Option<RunningTurn>,
    /// The message in its slot.
    pub slot: Option<Item>,
    /// How many items wait in its overflow queue.
    pub queued: usize,
    /// Its place among those that are about to be resumed by themselves; what comes meanwhile waits.
    pub resume_place: Option<u32>,
    /// What its agent asks a person, oldest first: until that is answered its turn stands still.
    #[serde(default)]
    pub asks: Vec<Approval>,
    /// The last error of a turn since the last answer.
    pub last_error: Option<String>,
    /// What works in its background.
    pub background: Background,
    /// What its next message will meet by the reset policy; only of a live session, and only from who
    /// knows the policy.
    pub forecast: Option<Forecast>,
    /// What is used today of the limits that count for it; none where nothing is limited.
    #[serde(default)]
    pub today: Option<Today>,
}

impl SessionRow {
    /// What it is doing, in a word or two. A mark that is too old, whose resume failed or that the boot guard
    /// holds does not go on by itself.
    pub fn state_words(&self) -> &'static str {
        match (self.state, self.resume_place) {
            (SessionState::Resumes, None) => "cut off",
            (state, _) => state.word(),
        }
    }

    /// What the next message will meet by the policies, if the session is live; `zone` is the operator's.
    pub fn forecast_by(
        &self,
        policies: &ResetPolicies,
        zone: Tz,
        freshness: Duration,
        now: Time,
    ) -> Option<Forecast> {
        let rule = policies.rule_for(&self.session.key, zone);
        let live = self.session.ended.is_none();
        live.then(|| forecast(&rule, &self.reset_facts(freshness, now), now))
    }

    /// What the reset rules look at; a mark for resume is fresh up to the age `freshness`.
    fn reset_facts(&self, freshness: Duration, now: Time) -> ResetFacts<'_> {
        ResetFacts {
            began_at: self.session.began_at,
            last_activity_at: self.session.last_activity_at,
            turn: if self.turn.is_some() { TurnNow::Running } else { TurnNow::None },
            mark: Mark::of(self.session.marker, freshness, now),
            background: &self.background,
        }
    }

    /// The place to read on from behind this row.
    pub fn cursor(&self) -> SessionCursor {
        SessionCursor {
            rank: self.state.rank(),
            last_activity_at: self.session.last_activity_at,
            session: self.session.id.clone(),
        }
    }
}

/// A running turn as a screen shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunningTurn {
    /// The turn.
    pub turn: TurnId,
    /// Since when.
    pub since: Time,
    /// Whether it takes text while it runs.
    pub steerable: bool,
    /// Whether it was told to stop.
    pub stopping: bool,
    /// When it last said something; known while its engine runs.
    pub last_output_at: Option<Time>,
}

/// A page of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConversationPage {
    /// The entries, oldest first.
    pub entries: Vec<Entry>,
    /// Whether there are entries before them.
    pub more_before: bool,
    /// What the running turn has said that is not in the entries yet.
    pub live: Option<LiveOutput>,
    /// What its running tool has written last.
    pub doing: Option<Doing>,
    /// What the agent of the running turn means to do; its entry may be far before these.
    pub plan: Option<Plan>,
}

/// What a running turn says right now.
///
/// `text` begins where the turn's kept text ends: `offset` bytes of the turn's answer were kept
/// before it. Pieces of the stream carry their own offset, so a screen that asks and listens at
/// the same time sees every byte once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveOutput {
    /// The turn.
    pub turn: TurnId,
    /// Whether it is reasoning or answer that streams now.
    pub stream: StreamKind,
    /// Bytes of this kind that the turn had produced before `text`.
    pub offset: u64,
    /// The words.
    pub text: String,
}

/// What streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    /// The answer.
    Text,
    /// The reasoning.
    Reasoning,
}

/// An item with the session it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueueRow {
    /// The item.
    pub item: Item,
    /// The session's key.
    pub key: SessionKey,
    /// What a person calls the session.
    pub session_name: String,
    /// Its place in the overflow queue, from 1; none outside it.
    pub position: Option<usize>,
    /// Why it does not move, if something else than its turn holds it.
    pub held: Option<String>,
}

/// A background process with the session that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRow {
    /// The process.
    #[serde(flatten)]
    pub process: BackgroundProcess,
    /// The session's key.
    pub key: SessionKey,
    /// What a person calls the session.
    pub session_name: String,
}

impl ProcessRow {
    /// What it is called among those of all sessions: `3 (make test) of release notes`.
    pub fn name(&self) -> String {
        format!("{} of {}", self.process.name(), self.session_name)
    }
}

/// What a person allowed with the session that it holds for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedRow {
    /// What.
    #[serde(flatten)]
    pub allowed: Allowed,
    /// The session's key.
    pub key: SessionKey,
    /// What a person calls the session.
    pub session_name: String,
}

impl AllowedRow {
    /// What is said where there are none.
    pub const NONE: &str =
        "nothing but what the settings allow (agent.approvals); /approve always adds to it";
}

/// A message that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The message.
    pub message: MessageId,
    /// Its session.
    pub session: SessionId,
    /// What a person calls the session.
    pub session_name: String,
    /// When.
    pub at: Time,
    /// The words around the match; matches stand between U+0002 and U+0003.
    pub snippet: String,
}

/// What a composer holds and remembers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComposerMemory {
    /// The draft that was not sent.
    pub draft: String,
    /// What was sent or cleared before, oldest first.
    pub history: Vec<String>,
}
