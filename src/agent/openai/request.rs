//! What is sent: strict, without a field that has no value.

use serde::Serialize;

use crate::config::OpenAiConfig;
use crate::domain::history::Step;

/// A request for a streamed chat completion.
#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// Makes the request: the system prompt, what was said before, and what is said now.
pub(super) fn body<'a>(config: &'a OpenAiConfig, history: &'a [Step], message: &'a str) -> Body<'a> {
    let system = config.system_prompt.as_deref().map(|content| Message { role: "system", content });
    let before = history.iter().map(|step| match step {
        Step::User { text } => Message { role: "user", content: text },
        Step::Agent { text } => Message { role: "assistant", content: text },
    });
    let now = Message { role: "user", content: message };
    Body {
        model: &config.model,
        messages: system.into_iter().chain(before).chain([now]).collect(),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
    }
}
