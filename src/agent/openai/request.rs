//! What is sent: strict, without a field that has no value.

use serde::Serialize;
use serde_json::Value;

use super::calls::is_object;
use crate::agent::tools::Tool;
use crate::config::OpenAiConfig;
use crate::domain::talk::{self, Message};

/// The longest name of a tool that servers take.
const NAME_CHARS: usize = 64;

/// A request for a streamed chat completion.
#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: Vec<Sent<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tools: &'a [Offered],
    stream: bool,
    stream_options: StreamOptions,
    /// About how many tokens it takes.
    #[serde(skip)]
    pub(super) tokens: u64,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl<'a> Body<'a> {
    /// Asks for the next message of a talk, in which the model may call these tools.
    pub(super) fn new(config: &'a OpenAiConfig, messages: &'a [Message], tools: &'a [Offered]) -> Self {
        Self {
            model: &config.model,
            messages: messages.iter().map(Sent::from).collect(),
            tools,
            stream: true,
            stream_options: StreamOptions { include_usage: true },
            tokens: tokens(messages, tools),
        }
    }
}

/// About how many tokens a request with these takes.
pub(super) fn tokens(messages: &[Message], tools: &[Offered]) -> u64 {
    messages.iter().map(Message::tokens).chain(tools.iter().map(Offered::tokens)).sum()
}

/// A message as a server takes it.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Sent<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Called<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Debug, Serialize)]
struct Called<'a> {
    id: &'a str,
    r#type: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Debug, Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> From<&'a Message> for Sent<'a> {
    fn from(message: &'a Message) -> Self {
        match message {
            Message::System { text } => Self::System { content: text },
            Message::User { text } => Self::User { content: text },
            Message::Agent { text, calls, .. } => Self::Assistant {
                content: Some(text.as_str()).filter(|text| !text.is_empty() || calls.is_empty()),
                tool_calls: calls.iter().map(Called::from).collect(),
            },
            Message::Result { call, text } => Self::Tool { tool_call_id: call, content: text },
        }
    }
}

impl<'a> From<&'a talk::Call> for Called<'a> {
    fn from(call: &'a talk::Call) -> Self {
        let function = CalledFunction { name: &call.name, arguments: &call.arguments };
        Self { id: &call.id, r#type: "function", function }
    }
}

/// A call as it is sent. Servers refuse a request, and so the rest of the turn, for a strange name or
/// arguments that are no JSON; the result says what they were.
pub(super) fn tame(id: String, name: &str, arguments: String) -> talk::Call {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let name: String = name.chars().map(allowed).take(NAME_CHARS).collect();
    let name = if name.is_empty() { "unnamed".to_owned() } else { name };
    let arguments = if is_object(&arguments) { arguments } else { "{}".to_owned() };
    talk::Call { id, name, arguments }
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

    fn tokens(&self) -> u64 {
        let OfferedFunction { name, description, parameters } = &self.function;
        [name, description, parameters.to_string().as_str()].into_iter().map(talk::tokens_of).sum()
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
            let called = tame("c".to_owned(), name, arguments.to_owned());
            let expected = json!({
                "id": "c", "type": "function",
                "function": {"name": sent_name, "arguments": sent_arguments},
            });
            assert_eq!(serde_json::to_value(Called::from(&called)).unwrap(), expected);
        }
        let result = Message::Result { call: "c".to_owned(), text: "r".to_owned() };
        let expected = json!({"role": "tool", "tool_call_id": "c", "content": "r"});
        assert_eq!(serde_json::to_value(Sent::from(&result)).unwrap(), expected);
        let long = tame(String::new(), &"x".repeat(100), String::new());
        assert_eq!(long.name.len(), NAME_CHARS);
    }
}
