//! The history of a session: append-only entries, in the order they came.

use serde::{Deserialize, Serialize};

use super::Time;
use super::id::{MessageId, SessionId, TurnId};
use super::recovery::EFFECT_UNKNOWN;
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
    /// What the engine told the agent so that it goes on with what was cut off: no person's words.
    Resume {
        /// What it was told.
        text: String,
    },
    /// A line of the engine for the person, which no agent reads: a resume, a reset.
    Notice {
        /// The line.
        text: String,
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
            Body::User { text, .. } | Body::Resume { text } => push_user(&mut steps, text),
            Body::Notice { .. } => {}
            Body::Agent { text, .. } => push_agent(&mut steps, text, ""),
            Body::Reasoning { .. } => {}
            Body::Tool { name, arguments, result, .. } => {
                let result = match result {
                    Some(done) => done.output.as_str(),
                    None => EFFECT_UNKNOWN,
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
    if let Some(Step::User { .. }) = steps.last() {
        push_agent(&mut steps, "[no answer]", "");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::turn::StopCause;
    use proptest::prelude::*;

    fn entry(body: Body) -> Entry {
        Entry {
            id: MessageId(1),
            session: SessionId::new(Time::UNIX_EPOCH, 1),
            turn: TurnId(1),
            at: Time::UNIX_EPOCH,
            body,
            turn_state: TurnState::Done,
        }
    }

    fn user(text: &str) -> Body {
        Body::User { text: text.to_owned(), steered: false }
    }

    fn agent(text: &str) -> Body {
        Body::Agent { text: text.to_owned(), offset: 0 }
    }

    fn tool(result: Option<&str>) -> Body {
        Body::Tool {
            call: "c".to_owned(),
            name: "ls".to_owned(),
            arguments: "/".to_owned(),
            result: result.map(|output| ToolResult {
                ok: true,
                output: output.to_owned(),
                at: Time::UNIX_EPOCH,
            }),
        }
    }

    fn told(bodies: Vec<Body>) -> Vec<(char, String)> {
        let entries: Vec<Entry> = bodies.into_iter().map(entry).collect();
        let told = steps(&entries).into_iter().map(|step| match step {
            Step::User { text } => ('u', text),
            Step::Agent { text } => ('a', text),
        });
        told.collect()
    }

    fn pairs(expected: &[(char, &str)]) -> Vec<(char, String)> {
        expected.iter().map(|(who, text)| (*who, (*text).to_owned())).collect()
    }

    #[test]
    fn a_long_answer_in_several_entries_is_one_answer() {
        let bodies = vec![user("q"), agent("first "), agent("second")];
        assert_eq!(told(bodies), pairs(&[('u', "q"), ('a', "first second")]));
    }

    #[test]
    fn a_tool_call_without_a_result_says_that_its_effect_is_unknown() {
        let bodies = vec![user("q"), tool(Some("two files")), tool(None), agent("ok")];
        let told = told(bodies);
        assert!(told[1].1.contains("[tool ls / -> two files]"), "{told:?}");
        assert!(told[1].1.contains("[tool ls / -> interrupted, effect unknown]"), "{told:?}");
    }

    #[test]
    fn a_turn_without_an_answer_keeps_its_question_and_says_how_it_ended() {
        let failed = Body::Ended { outcome: Outcome::Failed { error: "no route".to_owned() } };
        let cut = Body::Ended { outcome: Outcome::Interrupted { cause: StopCause::Crash } };
        assert_eq!(told(vec![user("q"), failed])[1].1, "[no answer: no route]");
        let told = told(vec![user("q"), agent("half"), cut]);
        assert_eq!(told[1].1, format!("half\n[{}]", StopCause::Crash.words()));
    }

    #[test]
    fn reasoning_is_not_read_again() {
        let thought = Body::Reasoning { text: "hm".to_owned(), offset: 0 };
        assert_eq!(told(vec![user("q"), thought, agent("a")]), pairs(&[('u', "q"), ('a', "a")]));
    }

    #[test]
    fn a_turn_that_said_nothing_still_ends_with_the_agent() {
        assert_eq!(told(vec![user("q")]), pairs(&[('u', "q"), ('a', "[no answer]")]));
        assert_eq!(told(Vec::new()), []);
    }

    proptest! {
        #[test]
        fn roles_alternate_from_a_person_to_the_agent(kinds in proptest::collection::vec(0..6_u8, 0..20)) {
            let bodies = kinds.iter().map(|kind| match kind {
                0 | 1 => user("q"),
                2 => agent("a"),
                3 => tool(None),
                4 => Body::Reasoning { text: "r".to_owned(), offset: 0 },
                _ => Body::Ended { outcome: Outcome::Failed { error: "e".to_owned() } },
            });
            let told = told(bodies.collect());
            for (index, (who, _)) in told.iter().enumerate() {
                prop_assert_eq!(*who, if index % 2 == 0 { 'u' } else { 'a' });
            }
            prop_assert!(told.len().is_multiple_of(2), "it ends with the agent");
        }
    }
}
