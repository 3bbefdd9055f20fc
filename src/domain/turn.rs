//! Turns: how one ends, and what an agent leaves behind while it runs.

use serde::{Deserialize, Serialize};

use super::Time;
use super::id::{ItemId, MessageId, SessionId, TurnId};
use super::plan::Plan;
use super::session::{AgentSession, ContextUse, HandleUse, Usage};

/// A turn that has begun, as the engine needs it to run it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// The turn.
    pub turn: TurnId,
    /// The session whose history it extends.
    pub session: SessionId,
    /// The item that it works on.
    pub item: ItemId,
    /// When it began.
    pub at: Time,
    /// Whether it only tries if a dead backend lives again: a failure puts the item back.
    pub probe: bool,
}

/// How a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// It runs.
    Running,
    /// It ended with an answer.
    Done,
    /// It ended with an error.
    Failed,
    /// It was cut.
    Interrupted,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// With an answer.
    Done,
    /// With an error.
    Failed {
        /// What, where and what to do, in one line.
        error: String,
    },
    /// It was cut; what it had said is kept.
    Interrupted {
        /// By what.
        cause: StopCause,
    },
}

impl Outcome {
    /// The state that this outcome leaves.
    pub fn state(&self) -> TurnState {
        match self {
            Self::Done => TurnState::Done,
            Self::Failed { .. } => TurnState::Failed,
            Self::Interrupted { .. } => TurnState::Interrupted,
        }
    }
}

/// What cut a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// `/stop`.
    Operator,
    /// A newer message in busy mode `interrupt`.
    NewMessage,
    /// `/new`, `/reset` or `/resume`.
    Reset,
    /// The engine stopped and the drain ended.
    Shutdown,
    /// The engine died.
    Crash,
    /// The agent's process or connection was lost after it had begun to act.
    HandleLost,
    /// The run of a scheduled task made no progress for too long, or took too long in all.
    TimedOut,
    /// A newer run of the same scheduled task took its place.
    Replaced,
}

impl StopCause {
    /// The cause in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Operator => "stopped by the operator",
            Self::NewMessage => "stopped for a newer message",
            Self::Reset => "ended by a new session",
            Self::Shutdown => "cut when the engine stopped",
            Self::Crash => "cut off: the engine died",
            Self::HandleLost => "cut off: the agent's handle was lost",
            Self::TimedOut => "stopped: it took too long",
            Self::Replaced => "stopped for a newer run of its job",
        }
    }
}

/// A piece of what an agent produced, in the order it was produced, to be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Output {
    /// More of the answer.
    Text {
        /// The words.
        text: String,
    },
    /// More of the reasoning before it.
    Reasoning {
        /// The words.
        text: String,
    },
    /// What the agent means to do in the turn, in the place of what it meant before.
    Plan(Plan),
    /// A tool is called; recorded before the tool acts. Told again before its end, it is known better.
    ToolCall {
        /// The call's own id.
        call: String,
        /// The tool.
        name: String,
        /// Its arguments, as they were given.
        arguments: String,
    },
    /// The call ended.
    ToolResult {
        /// The call.
        call: String,
        /// Whether it did what it should.
        ok: bool,
        /// What it gave back.
        output: String,
    },
    /// What was used since the last one. Nothing of it is said to anyone.
    Used(Usage),
    /// The agent's own session in which the turn runs, with what it has told of its use: in one step with what that
    /// adds. Nothing of it is said to anyone.
    Session(AgentSession),
    /// The conversation is sent shorter from here on. Nothing of it is said to anyone.
    Shortened {
        /// How many results of tools are left out.
        results: usize,
        /// The summary that is sent in the place of what it stands for, and how far that reaches.
        summary: Option<(Reach, String)>,
        /// About how many tokens were to be sent.
        before: u64,
        /// About how many are.
        after: u64,
    },
}

/// How far a summary reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// To an entry of an earlier turn.
    Entry(MessageId),
    /// Into the turn that it was made in, as far as so many of its calls of tools.
    Calls(usize),
}

/// The end of a turn, to be kept in one step with whatever runs next.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnd {
    /// The turn.
    pub turn: TurnId,
    /// How it ended.
    pub outcome: Outcome,
    /// The last output that is not kept yet.
    pub tail: Vec<Output>,
    /// What its tool that still worked had written last.
    pub written: String,
    /// How full its model's window was when it was asked last, where that was told.
    pub context: Option<ContextUse>,
    /// The model that answered.
    pub model: Option<String>,
    /// The steered items that the agent took in.
    pub steered: Vec<ItemId>,
    /// Whether the agent did anything before it ended.
    pub did_anything: bool,
    /// How the kept handle fared that it used; none where none is kept.
    pub handle: Option<HandleUse>,
    /// The agent's own session in which it ran; none where the agent keeps none.
    pub agent_session: Option<AgentSession>,
    /// When it ended.
    pub at: Time,
}
