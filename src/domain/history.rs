//! The history of a session: append-only entries, in the order they came.

use serde::{Deserialize, Serialize};

use super::Time;
use super::id::{MessageId, SessionId, TurnId};
use super::turn::{Outcome, TurnState};

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its row; entries are ordered by it.
    pub id: MessageId,
    /// Its session.
    pub session: SessionId,
    /// Its turn.
    pub turn: TurnId,
    /// When it was begun.
    pub at: Time,
    /// What it is.
    pub body: Body,
    /// How its turn stands: a failed or cut turn is marked in the conversation.
    pub turn_state: TurnState,
}

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Body {
    /// A person's words.
    User {
        /// The words.
        text: String,
        /// Whether they were handed to a turn that already ran.
        steered: bool,
    },
    /// The agent's answer, or a part of it between two tool calls. A long answer goes on in the next entry.
    Agent {
        /// The words.
        text: String,
        /// How many bytes of answer the turn had produced before this entry: the stream's pieces
        /// carry the same count, so a reader knows where they join.
        offset: u64,
    },
    /// What the model thought before it answered.
    Reasoning {
        /// The words.
        text: String,
        /// How many bytes of reasoning the turn had produced before this entry.
        offset: u64,
    },
    /// A tool call and, when it came, its result.
    Tool {
        /// The call's own id.
        call: String,
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: String,
        /// Its result; none while it runs.
        result: Option<ToolResult>,
    },
    /// How a turn ended, when not with an answer.
    Ended {
        /// How.
        outcome: Outcome,
    },
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Whether it did what it should.
    pub ok: bool,
    /// What it gave back.
    pub output: String,
    /// When it ended.
    pub at: Time,
}

/// One step of a conversation as a backend reads it: roles alternate, nothing is half-written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Step {
    /// What a person asked.
    User {
        /// The words.
        text: String,
    },
    /// What the agent answered, with a note where it was cut.
    Agent {
        /// The words.
        text: String,
    },
}

/// Makes the history that a backend reads from the entries before a turn.
///
/// Reasoning is left out, tool calls are told as the agent's words, a turn without an answer keeps
/// the question with a note of how it ended, so that the roles alternate whatever happened.
pub fn steps(entries: &[Entry]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for entry in entries {
        match &entry.body {
            Body::User { text, .. } => push_user(&mut steps, text),
            Body::Agent { text, .. } => push_agent(&mut steps, text, ""),
            Body::Reasoning { .. } => {}
            Body::Tool { name, arguments, result, .. } => {
                let result = match result {
                    Some(done) => done.output.as_str(),
                    None => "interrupted, effect unknown",
                };
                push_agent(&mut steps, &format!("[tool {name} {arguments} -> {result}]"), "\n");
            }
            Body::Ended { outcome: Outcome::Failed { error } } => {
                push_agent(&mut steps, &format!("[no answer: {error}]"), "\n");
            }
            Body::Ended { outcome: Outcome::Interrupted { cause } } => {
                push_agent(&mut steps, &format!("[{}]", cause.words()), "\n");
            }
            Body::Ended { outcome: Outcome::Done } => {}
        }
    }
    steps
}

fn push_user(steps: &mut Vec<Step>, more: &str) {
    match steps.last_mut() {
        Some(Step::User { text }) => append(text, more, "\n\n"),
        _ => steps.push(Step::User { text: more.to_owned() }),
    }
}

fn push_agent(steps: &mut Vec<Step>, more: &str, separator: &str) {
    match steps.last_mut() {
        Some(Step::Agent { text }) => append(text, more, separator),
        // A conversation begins with a person: an agent's words without a question are not history.
        None => {}
        Some(Step::User { .. }) => steps.push(Step::Agent { text: more.to_owned() }),
    }
}

fn append(text: &mut String, more: &str, separator: &str) {
    text.push_str(separator);
    text.push_str(more);
}
