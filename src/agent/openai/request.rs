//! What is sent: strict, without a field that has no value.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::calls::is_object;
use crate::agent::tools::Tool;
use crate::config::OpenAiConfig;
use crate::domain::history::Step;

/// The longest name of a tool that servers take.
const NAME_CHARS: usize = 64;

/// A request for a streamed chat completion.
#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: &'a [Message<'a>],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tools: &'a [Offered],
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl<'a> Body<'a> {
    /// Asks for the next answer in a talk, in which the model may call these tools.
    pub(super) fn new(config: &'a OpenAiConfig, talk: &'a Talk<'a>, tools: &'a [Offered]) -> Self {
        Self {
            model: &config.model,
            messages: &talk.messages,
            tools,
            stream: true,
            stream_options: StreamOptions { include_usage: true },
        }
    }
}

/// What was said: the system prompt, the history, the turn's message, and the turn's own steps.
#[derive(Debug)]
pub(super) struct Talk<'a> {
    messages: Vec<Message<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Cow<'a, str>,
    },
    Assistant {
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Called>,
    },
    Tool {
        tool_call_id: String,
        content: String,
    },
}

#[derive(Debug, Serialize)]
struct Called {
    id: String,
    r#type: &'static str,
    function: CalledFunction,
}

#[derive(Debug, Serialize)]
struct CalledFunction {
    name: String,
    arguments: String,
}

/// A tool call that was carried out, or refused.
#[derive(Debug)]
pub(super) struct Done {
    /// The call's id.
    pub(super) id: String,
    /// The tool, as the model named it.
    pub(super) name: String,
    /// The arguments, as the model wrote them.
    pub(super) arguments: String,
    /// What the model is told of it.
    pub(super) result: String,
}

impl<'a> Talk<'a> {
    /// The talk at the beginning of a turn.
    pub(super) fn new(config: &'a OpenAiConfig, history: &'a [Step], message: &'a str) -> Self {
        let system = config.system_prompt.as_deref().map(|content| Message::System { content });
        let before = history.iter().map(|step| match step {
            Step::User { text } => Message::User { content: text.into() },
            Step::Agent { text } => Message::Assistant { content: Some(text.into()), tool_calls: vec![] },
        });
        let now = Message::User { content: message.into() };
        Self { messages: system.into_iter().chain(before).chain([now]).collect() }
    }

    /// Adds an answer with tool calls, and their results.
    pub(super) fn add(&mut self, text: String, calls: Vec<Done>) {
        let (calls, results): (Vec<_>, Vec<_>) = calls.into_iter().map(Done::split).unzip();
        let content = Some(text).filter(|text| !text.is_empty()).map(Cow::from);
        self.messages.push(Message::Assistant { content, tool_calls: calls });
        self.messages.extend(results);
    }

    /// Adds what the model is told within the turn: by a person who steers it, or by the engine.
    pub(super) fn hear(&mut self, text: String) {
        self.messages.push(Message::User { content: text.into() });
    }
}

impl Done {
    /// The call and its result, as they are sent. Servers refuse a request, and so the rest of the
    /// turn, for a strange name or arguments that are no JSON; the result says what they were.
    fn split(self) -> (Called, Message<'static>) {
        let allowed = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
        let name: String = self.name.chars().map(allowed).take(NAME_CHARS).collect();
        let name = if name.is_empty() { "unnamed".to_owned() } else { name };
        let arguments = if is_object(&self.arguments) { self.arguments } else { "{}".to_owned() };
        let function = CalledFunction { name, arguments };
        let called = Called { id: self.id.clone(), r#type: "function", function };
        (called, Message::Tool { tool_call_id: self.id, content: self.result })
    }
}

/// A tool that the model may call.
#[derive(Debug, Serialize)]
pub(super) struct Offered {
    r#type: &'static str,
    function: OfferedFunction,
}

#[derive(Debug, Serialize)]
struct OfferedFunction {
    name: &'static str,
    description: &'static str,
    parameters: Value,
}

impl Offered {
    /// A tool, as the model is told of it.
    pub(super) fn new(tool: &Tool) -> Self {
        let function =
            OfferedFunction { name: tool.name.word(), description: tool.about, parameters: tool.schema() };
        Self { r#type: "function", function }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_server_would_refuse_is_sent_tame() {
        for (name, arguments, sent_name, sent_arguments) in [
            ("read_file", r#"{"path":"a"}"#, "read_file", r#"{"path":"a"}"#),
            ("read file!", "[1]", "read_file_", "{}"),
            ("", "", "unnamed", "{}"),
            ("x", r#"{"path":"#, "x", "{}"),
        ] {
            let done = Done {
                id: "c".to_owned(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                result: "r".to_owned(),
            };
            let (called, result) = done.split();
            let expected = json!({
                "id": "c", "type": "function",
                "function": {"name": sent_name, "arguments": sent_arguments},
            });
            assert_eq!(serde_json::to_value(called).unwrap(), expected);
            let expected = json!({"role": "tool", "tool_call_id": "c", "content": "r"});
            assert_eq!(serde_json::to_value(result).unwrap(), expected);
        }
        let long = Done {
            id: String::new(),
            name: "x".repeat(100),
            arguments: String::new(),
            result: String::new(),
        };
        assert_eq!(long.split().0.function.name.len(), NAME_CHARS);
    }
}
