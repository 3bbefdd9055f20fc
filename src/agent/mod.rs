//! Who works: the interface to agent backends, and the backends.
//!
//! The engine runs turns through [`Backend`] and knows no backend by name. A backend opens a
//! [`Handle`] for a session; the handle runs turns, one at a time. The engine keeps it between them,
//! unless the backend says that it is for one turn.

mod acp;
mod agents;
mod alert_command;
mod ask;
pub mod background;
mod command;
mod doing;
mod half_characters;
mod kept;
mod lines;
mod openai;
mod own_program;
mod practice;
mod process;
mod program;
mod script;
mod tools;
mod utf8;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::config::{AgentConfig, BackendKind, Keys, Secrets, Section};
use crate::domain::Time;
use crate::domain::history::{Asker, Step};
use crate::domain::id::{ItemId, SessionId, SessionKey, TurnId};
use crate::domain::plan::{Plan, PlanEntry};
use crate::domain::session::{AgentSession, ContextUse, Usage};
use crate::domain::talk::Shortened;

pub use agents::Agents;
pub use alert_command::{AlertCommand, NotTold};
pub use ask::{
    Approvals, Ask, Asked, BackgroundCalls, Jobs, Limits, NewCall, NewJob, NewQuestion, Unanswered,
    WhetherReached,
};
pub use doing::Doing;
pub use kept::StepsKept;
pub use lines::{AgentEnds, EngineEnds, STEER_TEXTS, lines};
pub use own_program::{refuse_without_program, this_program};
pub use process::{
    Children, Life, NewChild, end_leftover, end_marked, hide_environment, host_name, life, this_process,
};
pub use script::{ScriptCall, ScriptError, ScriptOutput, run_script};
pub use tools::no_task_with_key;

/// Makes the backend that the settings of an agent name. `home` is where commands and tools work that name no
/// folder; nothing that works for it gets to see the `keys`.
///
/// # Errors
/// Where a setting that the backend needs is missing or can't be used.
pub fn build(config: &AgentConfig, keys: &Keys, home: &Path) -> Result<Arc<dyn Backend>, BuildError> {
    match config.backend {
        BackendKind::Practice => Ok(Arc::new(practice::Practice::new(config))),
        BackendKind::Acp => Ok(Arc::new(acp::AcpBackend::new(config, keys, home)?)),
        BackendKind::Command => Ok(Arc::new(command::CommandBackend::new(config, keys, home)?)),
        BackendKind::OpenAi => Ok(Arc::new(openai::OpenAiBackend::new(config, keys, home)?)),
    }
}

/// A kind of agent, configured.
pub trait Backend: Send + Sync {
    /// The backend and model as the header shows it: `practice agent, offline`, `qwen3 at localhost`.
    fn label(&self) -> String;

    /// Whether its turns take text while they run.
    fn steerable(&self) -> bool;

    /// Why no session can choose a model of it; none where it can be asked for one.
    fn refuses_models(&self) -> Option<String> {
        None
    }

    /// Whether its handles are kept between turns. Where not, one is opened for each turn: the one-shot
    /// way, for a backend that holds nothing which would be lost.
    fn keeps_handles(&self) -> bool;

    /// Whether it could answer now, without running a turn: for `doctor`.
    fn check(&self) -> BoxFuture<'_, Result<Found, AgentError>> {
        Box::pin(async { Ok(Found::Good(self.label())) })
    }

    /// Ends what the handles of an engine that died have left, those at rest between turns too. Only whoever
    /// holds the home may call it. Returns how many process groups were ended.
    fn end_leftovers(&self) -> usize {
        0
    }

    /// Opens a handle for a session.
    fn open<'a>(&'a self, session: &'a SessionContext) -> BoxFuture<'a, Result<Box<dyn Handle>, AgentError>>;
}

/// What a backend that could answer found when it looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing speaks against it.
    Good(String),
    /// Its turns may fail all the same.
    Doubtful(String),
}

/// A live agent of one session.
pub trait Handle: Send {
    /// Runs one turn to its end. What the agent does goes to `output` as it happens; a full
    /// channel slows the agent down. When `cancel` fires the turn ends soon, with all its child
    /// processes; the engine drops the future if it does not.
    fn run<'a>(
        &'a mut self,
        turn: Turn,
        output: mpsc::Sender<AgentEvent>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<(), AgentError>>;

    /// Ends the agent in order. Dropping the handle, or the future, ends it at once.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// The session that a handle works for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionContext {
    /// The session.
    pub id: SessionId,
    /// Its key.
    pub key: SessionKey,
    /// The model that it asks for; else the setting's. A backend without a choice of models has none to give.
    pub model: Option<String>,
    /// The folder that its commands run in; else the setting's.
    pub workdir: Option<PathBuf>,
    /// The agent's own session in which its last turn ran, as the backend told it; perhaps another agent's.
    pub agent_session: Option<AgentSession>,
}

impl SessionContext {
    /// A session that asks for nothing of its own.
    pub fn new(id: SessionId, key: SessionKey) -> Self {
        Self { id, key, model: None, workdir: None, agent_session: None }
    }
}

/// One turn, as a backend gets it.
#[derive(Debug)]
pub struct Turn {
    /// The turn.
    pub id: TurnId,
    /// What was said before, well-formed: roles alternate and it ends with the agent.
    pub history: Vec<Step>,
    /// What is asked now.
    pub message: String,
    /// Who asks it.
    pub asked_by: Asker,
    /// What no text that it is given may hold.
    pub secrets: Secrets,
    /// When the turn began.
    pub began_at: Time,
    /// Where it reaches the engine, and is reached.
    pub engine: AgentEnds,
}

/// Something an agent does.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// More of the answer.
    Text(String),
    /// More of the reasoning.
    Reasoning(String),
    /// What the agent means to do in the turn, whole, in the place of what it meant before.
    Plan(Plan),
    /// A tool is called; sent, and where the tool is ours kept, before the tool acts. Sent again before its end, it is
    /// known better: what was told before is replaced.
    ToolCall {
        /// The call's own id.
        call: String,
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: String,
    },
    /// A tool call ended.
    ToolResult {
        /// The call.
        call: String,
        /// Whether it did what it should.
        ok: bool,
        /// What it gave back.
        output: String,
    },
    /// Steered text was taken in.
    Steered(ItemId),
    /// Tokens were used; added up over the turn.
    Usage(Usage),
    /// How full the model's window was with the last request.
    Context(ContextUse),
    /// The model that answers.
    Model(String),
    /// The agent's own session in which the turn runs: its next handle is given it.
    Session(AgentSession),
    /// The conversation is sent shorter from here on.
    Shortened(Shortened),
    /// Something of the agent that a person should know and that is no part of the answer: it follows
    /// the words `turn 7 …`.
    Notice(String),
    /// A failed try will be repeated.
    Retrying {
        /// Which try comes next, from 2.
        attempt: u32,
        /// How long until then.
        wait: std::time::Duration,
        /// What failed, in one line.
        why: String,
    },
}

impl AgentEvent {
    /// The event without keys in what it tells.
    pub fn hide(self, secrets: &Secrets) -> Self {
        let hide = |text| secrets.hide(text);
        match self {
            Self::Text(text) => Self::Text(hide(text)),
            Self::Reasoning(text) => Self::Reasoning(hide(text)),
            Self::Plan(Plan { entries }) => Self::Plan(Plan {
                entries: entries
                    .into_iter()
                    .map(|entry| PlanEntry { content: hide(entry.content), ..entry })
                    .collect(),
            }),
            Self::ToolCall { call, name, arguments } => {
                Self::ToolCall { call: hide(call), name: hide(name), arguments: hide(arguments) }
            }
            Self::ToolResult { call, ok, output } => {
                Self::ToolResult { call: hide(call), ok, output: hide(output) }
            }
            Self::Shortened(mut shortened) => {
                shortened.summary = shortened.summary.map(|(covers, text)| (covers, hide(text)));
                Self::Shortened(shortened)
            }
            Self::Notice(what) => Self::Notice(hide(what)),
            Self::Retrying { attempt, wait, why } => Self::Retrying { attempt, wait, why: hide(why) },
            Self::Model(model) => Self::Model(hide(model)),
            Self::Session(session) => Self::Session(AgentSession { id: hide(session.id), ..session }),
            Self::Steered(_) | Self::Usage(_) | Self::Context(_) => self,
        }
    }
}

/// Why a turn has no answer. The text is one line for a person: what, where, and what to do.
/// It never holds a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// The turn was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The agent failed, could not be reached, or refused. Its handle can run the next turn.
    #[error("{0}")]
    Failed(String),
    /// The handle is of no more use: its process died, its connection was lost, or it broke the
    /// protocol. A new one may do better.
    #[error("{0}")]
    Broken(String),
}

/// Why a backend can't be made from its settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The backend has no program to run.
    #[error(
        "{section}.argv is empty: name the program and its arguments, as in argv = [\"./agent.sh\"], or choose another backend"
    )]
    EmptyArgv {
        /// The backend's section of the settings.
        section: Section,
    },
    /// The openai backend has no server that it could reach.
    #[error(
        "{section}.base_url is {url:?}: {why}; write the server's address, as in http://localhost:11434/v1"
    )]
    BaseUrl {
        /// The backend's section of the settings.
        section: Section,
        /// The setting's value.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The openai backend has no model.
    #[error("{section}.model is empty: name a model as the server knows it")]
    NoModel {
        /// The backend's section of the settings.
        section: Section,
    },
    /// The HTTP client can't be made.
    #[error("the HTTP client of the openai backend can't be made: {0}")]
    Http(String),
}
