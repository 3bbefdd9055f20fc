//! One piece of an answer, read leniently: fields may be missing, null, empty or of another kind.

use serde_json::Value;

use crate::agent::half_characters::from_json;
use crate::domain::session::Usage;

/// What one event of a stream, or a whole answer at once, says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chunk {
    pub(super) text: String,
    pub(super) reasoning: String,
    /// Parts of tool calls.
    pub(super) calls: Vec<Fragment>,
    /// Why the model stopped; none while it goes on.
    pub(super) finish: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) model: Option<String>,
    pub(super) error: Option<ServerError>,
    pub(super) form: Form,
}

/// A part of a tool call, or all of it. Which call it belongs to, `calls` decides.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Fragment {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    /// More of the arguments' JSON text.
    pub(super) arguments: String,
}

/// How an answer is cut.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A piece of it.
    #[default]
    Piece,
    /// All of it: the server does not stream.
    Whole,
}

/// A failure that a server tells, in the body of a refusal or in the middle of a stream.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct ServerError {
    pub(super) message: String,
    /// Its code or kind, as a word or a number.
    pub(super) code: String,
    /// How many tokens the model takes at once, where the failure is that more were sent.
    pub(super) window: Option<u64>,
}

impl Chunk {
    /// Whether there is anything of an answer in it but its end.
    pub(super) fn says_something(&self) -> bool {
        let of_a_call = |part: &Fragment| part.name.is_some() || !part.arguments.is_empty();
        !self.text.is_empty() || !self.reasoning.is_empty() || self.calls.iter().any(of_a_call)
    }
}

/// Reads a JSON text, with a mark for each half of a character; none where it is no JSON.
pub(super) fn read(text: &str) -> Option<Chunk> {
    let value: Value = from_json(text).ok()?;
    let value = only(&value);
    let choice = &value["choices"][0];
    let (said, form) = match (&choice["delta"], &choice["message"]) {
        (Value::Object(_), _) | (_, Value::Null) => (&choice["delta"], Form::Piece),
        (_, message) => (message, Form::Whole),
    };
    let mut text = words(&said["content"]);
    text.push_str(&words(&said["refusal"]));
    Some(Chunk {
        text,
        reasoning: Some(words(&said["reasoning_content"]))
            .filter(|words| !words.is_empty())
            .unwrap_or_else(|| words(&said["reasoning"])),
        calls: said["tool_calls"].as_array().into_iter().flatten().map(fragment).collect(),
        finish: filled(&choice["finish_reason"]),
        usage: usage(&value["usage"]),
        model: filled(&value["model"]),
        error: error(value),
        form,
    })
}

/// A value, or the one in a list: so some servers tell a failure.
fn only(value: &Value) -> &Value {
    match value {
        Value::Array(values) => values.first().unwrap_or(value),
        value => value,
    }
}

/// Reads the failure in a JSON value, in any of the shapes that servers give it.
pub(super) fn error(value: &Value) -> Option<ServerError> {
    let value = only(value);
    let error = &value["error"];
    match error {
        Value::Object(_) => {
            let message = [&error["message"], &error["type"], &error["code"]].into_iter().find_map(filled);
            let code = [&error["code"], &error["type"]].into_iter().find_map(filled);
            let message = message.unwrap_or_else(|| error.to_string());
            let window = error["n_ctx"].as_u64().or_else(|| window(&message));
            Some(ServerError { message, code: code.unwrap_or_default(), window })
        }
        Value::String(message) if !message.is_empty() => {
            Some(ServerError { message: message.clone(), window: window(message), ..ServerError::default() })
        }
        // Some servers send the failure itself.
        _ if value["object"] == "error" || value["type"] == "error" => {
            let message = filled(&value["message"])?;
            let code = [&value["code"], &value["type"]].into_iter().find_map(filled).unwrap_or_default();
            let window = window(&message);
            Some(ServerError { message, code, window })
        }
        _ => None,
    }
}

/// The number that a message names behind the word context: `maximum context length is 8192 tokens`.
fn window(message: &str) -> Option<u64> {
    let lower = message.to_lowercase();
    let (_, behind) = lower.split_once("context")?;
    let number = behind.split(|c: char| !c.is_ascii_digit() && c != ',').find(|part| part.len() > 2)?;
    number.replace(',', "").parse().ok()
}

/// Text, or the text in a list of parts.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn fragment(value: &Value) -> Fragment {
    let function = &value["function"];
    Fragment {
        index: value["index"].as_u64(),
        id: filled(&value["id"]),
        name: filled(&function["name"]),
        arguments: match &function["arguments"] {
            Value::String(text) => text.clone(),
            // Some servers give the object itself.
            object @ Value::Object(_) => object.to_string(),
            _ => String::new(),
        },
    }
}

/// A word or number that says something.
fn filled(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |value: &Value| {
        let float = || Some(value.as_f64()?.round() as u64);
        value.as_u64().or_else(float).unwrap_or_default()
    };
    let used = Usage {
        input: count(&value["prompt_tokens"]),
        output: count(&value["completion_tokens"]),
        cache_read: count(&value["prompt_tokens_details"]["cached_tokens"]),
        ..Usage::default()
    };
    // No request takes nothing: a server that says so does not count.
    (used.total() > 0).then_some(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(json: &str) -> String {
        read(json).unwrap().text
    }

    #[test]
    fn text_is_found_in_every_shape() {
        assert_eq!(text_of(r#"{"choices":[{"delta":{"content":"a"}}]}"#), "a");
        assert_eq!(text_of(r#"{"choices":[{"delta":{"content":null}}]}"#), "");
        assert_eq!(text_of(r#"{"choices":[{"delta":null,"finish_reason":"stop"}]}"#), "");
        assert_eq!(text_of(r#"{"choices":[{"delta":{"content":[{"type":"text","text":"b"}]}}]}"#), "b");
        assert_eq!(text_of(r#"{"choices":[{"delta":{"content":null,"refusal":"no"}}]}"#), "no");
        assert_eq!(text_of(r#"{"choices":[]}"#), "");
        assert_eq!(text_of(r#"{"choices":null}"#), "");
        assert_eq!(text_of("[1]"), "");
        assert_eq!(read("{\"choices\":[{\"del"), None);
    }

    #[test]
    fn tool_calls_are_found_in_every_shape() {
        let calls = |json: &str| read(json).unwrap().calls;
        let whole = Fragment {
            index: Some(1),
            id: Some("c".to_owned()),
            name: Some("f".to_owned()),
            arguments: r#"{"a":1}"#.to_owned(),
        };
        let delta = r#"{"choices":[{"delta":{"content":null,"tool_calls":[{"index":1,"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]}"#;
        assert_eq!(calls(delta), std::slice::from_ref(&whole));
        let message = r#"{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":{"a":1}}}]}}]}"#;
        assert_eq!(calls(message), [Fragment { index: None, ..whole }]);
        let more = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","function":{"name":null,"arguments":"x"}},{"index":2,"function":null}]}}]}"#;
        let bare = Fragment { index: Some(0), arguments: "x".to_owned(), ..Fragment::default() };
        assert_eq!(calls(more), [bare, Fragment { index: Some(2), ..Fragment::default() }]);
        for none in
            [r#"{"choices":[{"delta":{"tool_calls":null}}]}"#, r#"{"choices":[{"delta":{"tool_calls":[]}}]}"#]
        {
            assert_eq!(calls(none), []);
        }
    }

    #[test]
    fn a_character_that_was_cut_in_two_costs_no_more_than_itself() {
        assert_eq!(text_of(r#"{"choices":[{"delta":{"content":"us \ud83e"}}]}"#), "us \u{FFFD}");
        assert_eq!(read(r#"{"a":"\ud83e"#), None);
    }

    #[test]
    fn a_whole_answer_is_told_from_a_piece() {
        let whole = read(r#"{"choices":[{"message":{"content":"all"}}]}"#).unwrap();
        assert_eq!((whole.text.as_str(), whole.form), ("all", Form::Whole));
        let piece = read(r#"{"choices":[{"message":null,"delta":{"content":"a"}}]}"#).unwrap();
        assert_eq!((piece.text.as_str(), piece.form), ("a", Form::Piece));
    }

    #[test]
    fn reasoning_has_two_names() {
        for json in [
            r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"hm"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":null}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}"#,
        ] {
            assert_eq!(read(json).unwrap().reasoning, "hm", "{json}");
        }
    }

    #[test]
    fn an_empty_finish_reason_is_none() {
        for json in [r#""""#, "null", r#"" ""#] {
            let json = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":{json}}}]}}"#);
            assert_eq!(read(&json).unwrap().finish, None, "{json}");
        }
    }

    #[test]
    fn usage_comes_without_choices() {
        let json = r#"{"choices":[],"usage":{"prompt_tokens":31,"completion_tokens":8,
                       "prompt_tokens_details":{"cached_tokens":4}}}"#;
        let expected = Usage { input: 31, output: 8, cache_read: 4, ..Usage::default() };
        assert_eq!(read(json).unwrap().usage, Some(expected));
        assert_eq!(read(r#"{"usage":null}"#).unwrap().usage, None);
        let floats = r#"{"usage":{"prompt_tokens":12.0,"completion_tokens":7.6}}"#;
        assert_eq!(read(floats).unwrap().usage, Some(Usage { input: 12, output: 8, ..Usage::default() }));
        for nothing in ["{}", r#"{"prompt_tokens":0,"completion_tokens":0}"#, r#"{"prompt_tokens":-1.5}"#] {
            assert_eq!(read(&format!(r#"{{"usage":{nothing}}}"#)).unwrap().usage, None, "{nothing}");
        }
        let partial = r#"{"usage":{"prompt_tokens":5,"prompt_tokens_details":null}}"#;
        assert_eq!(read(partial).unwrap().usage.unwrap().input, 5);
    }

    #[test]
    fn failures_have_many_shapes() {
        for (json, message, code) in [
            (r#"{"error":{"message":"m","type":"t","code":"c"}}"#, "m", "c"),
            (r#"{"error":{"message":"m","type":"t","code":null}}"#, "m", "t"),
            (r#"{"error":{"code":503}}"#, "503", "503"),
            (r#"{"error":"m"}"#, "m", ""),
            (r#"{"error":{}}"#, "{}", ""),
            (r#"[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]"#, "m", "400"),
            (r#"{"object":"error","message":"m","type":"BadRequestError","code":400}"#, "m", "400"),
        ] {
            let expected = ServerError { message: message.to_owned(), code: code.to_owned(), window: None };
            assert_eq!(read(json).unwrap().error, Some(expected), "{json}");
        }
        assert_eq!(read(r#"{"error":null}"#).unwrap().error, None);
    }

    #[test]
    fn how_much_the_model_takes_is_read_from_a_refusal() {
        for (json, window) in [
            (
                r#"{"error":{"message":"too long","type":"exceed_context_size_error","n_ctx":4096}}"#,
                Some(4096),
            ),
            (
                r#"{"error":{"message":"request (8500 tokens) exceeds the available context size (8,192 tokens)"}}"#,
                Some(8192),
            ),
            (
                r#"{"error":"This model's maximum context length is 4096 tokens. You sent 5000 tokens."}"#,
                Some(4096),
            ),
            (r#"{"error":"the context is full"}"#, None),
        ] {
            assert_eq!(read(json).unwrap().error.unwrap().window, window, "{json}");
        }
    }
}
