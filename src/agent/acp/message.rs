//! The messages of the protocol: JSON-RPC 2.0, one object a line. Read leniently, written strictly.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use crate::domain::event::excerpt;

/// A longer line is no sane message.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// JSON-RPC's code for a method that is not there.
const NO_METHOD: i64 = -32601;
/// The protocol's code for an agent that nobody has logged in to.
const LOG_IN: i64 = -32000;

/// What an agent sends.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// The answer to a request of ours.
    Reply {
        /// The request.
        id: u64,
        /// What came of it.
        result: Result<Value, Fault>,
    },
    /// It wants an answer.
    Request {
        /// Its own number for it.
        id: Value,
        /// What it asks.
        method: String,
        /// With what.
        params: Value,
    },
    /// It tells something.
    Notification {
        /// What.
        method: String,
        /// With what.
        params: Value,
    },
}

/// An error that an agent answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    code: i64,
    message: String,
    data: Value,
}

/// Reads a line.
///
/// # Errors
/// Why it is no message, in words.
pub(super) fn read(line: &str) -> Result<Message, String> {
    let value: Value = serde_json::from_str(line)
        .or_else(|_| serde_json::from_str(&with_whole_characters(line)))
        .map_err(|_| format!("{:?} is no JSON", excerpt(line)))?;
    let Value::Object(mut fields) = value else {
        return Err(format!("{:?} is no JSON object", excerpt(line)));
    };
    let mut take = |name: &str| fields.remove(name).unwrap_or(Value::Null);
    let (id, params) = (take("id"), take("params"));
    match (take("method"), id) {
        (Value::String(method), Value::Null) => Ok(Message::Notification { method, params }),
        (Value::String(method), id) => Ok(Message::Request { id, method, params }),
        (_, id) => {
            let id =
                number(&id).ok_or_else(|| format!("{:?} answers nothing that was asked", excerpt(line)))?;
            let result = match take("error") {
                Value::Null => Ok(take("result")),
                error => Err(Fault::read(&error)),
            };
            Ok(Message::Reply { id, result })
        }
    }
}

/// A line whose half characters are marked. Agents that count in UTF-16 cut an emoji between two messages, and
/// then each holds the escape of one half, which is no JSON.
fn with_whole_characters(line: &str) -> String {
    let mut whole = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let (length, is_half) = match (half(escape, 0xD800), half(escape, 0xDC00)) {
            (true, _) if escape.get(6..).is_some_and(|next| half(next, 0xDC00)) => (12, false),
            (false, false) => (escape.chars().take(2).map(char::len_utf8).sum(), false),
            _ => (6, true),
        };
        let (taken, behind) = escape.split_at(length);
        whole.push_str(if is_half { "\\ufffd" } else { taken });
        rest = behind;
    }
    whole.push_str(rest);
    whole
}

/// Whether a text begins with the escape of a half character of the kind that begins at `first`.
fn half(text: &str, first: u32) -> bool {
    let code = text.strip_prefix("\\u").and_then(|text| text.get(..4));
    let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    code.is_some_and(|code| (first..first + 0x400).contains(&code))
}

/// The number of a request; some agents give it back as text.
fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: Value) -> String {
    line([("id", json!(id)), ("method", json!(method)), ("params", params)])
}

/// Something that we tell.
pub(super) fn notification(method: &str, params: Value) -> String {
    line([("method", json!(method)), ("params", params)])
}

/// The answer to a request of the agent.
pub(super) fn reply(id: Value, result: Value) -> String {
    line([("id", id), ("result", result)])
}

/// The answer to a request that we don't know: without one the agent would wait for ever.
pub(super) fn no_such_method(id: Value, method: &str) -> String {
    let error = json!({"code": NO_METHOD, "message": format!("no such method: {method}")});
    line([("id", id), ("error", error)])
}

fn line<const N: usize>(fields: [(&str, Value); N]) -> String {
    let version = std::iter::once(("jsonrpc", json!("2.0")));
    let object: Map<String, Value> =
        version.chain(fields).map(|(name, value)| (name.to_owned(), value)).collect();
    format!("{}\n", Value::Object(object))
}

impl Fault {
    fn read(error: &Value) -> Self {
        let Value::Object(fields) = error else {
            return Self { code: 0, message: plain(error), data: Value::Null };
        };
        let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
        Self {
            code: field("code").as_i64().unwrap_or_default(),
            message: plain(&field("message")),
            data: field("data"),
        }
    }

    /// Whether a person has to log in to the agent first.
    pub(super) fn asks_to_log_in(&self) -> bool {
        self.code == LOG_IN
    }

    /// What went wrong, in one line. The detail stands in `data`.
    pub(super) fn words(&self) -> String {
        let message = if self.message.is_empty() { "an error without words" } else { &self.message };
        let detail = detail(&self.data);
        let detail = if detail.is_empty() { detail } else { format!(": {detail}") };
        format!("{} (error {}){}", excerpt(message), self.code, excerpt_long(&detail))
    }
}

/// The part of an error's data that says most.
fn detail(data: &Value) -> String {
    const NAMES: [&str; 5] = ["details", "detail", "message", "error", "reason"];
    match data {
        Value::Null => String::new(),
        Value::Object(fields) => {
            let said = NAMES.iter().find_map(|name| fields.get(*name)).filter(|said| !said.is_null());
            said.map_or_else(|| data.to_string(), detail)
        }
        other => plain(other),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn excerpt_long(text: &str) -> String {
    const MOST_CHARS: usize = 400;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST_CHARS) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line,
    }
}

/// Puts lines together from bytes that may be cut anywhere.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
    whole: VecDeque<String>,
}

/// A line without an end.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("wrote a line of more than {} MiB", MOST_BYTES / 1024 / 1024)]
pub(super) struct TooLong;

impl Lines {
    /// Takes more bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, behind) = rest.split_at(end);
            self.begun.extend_from_slice(line);
            self.finish();
            rest = behind.get(1..).unwrap_or_default();
        }
        self.begun.extend_from_slice(rest);
        if self.begun.len() > MOST_BYTES { Err(TooLong) } else { Ok(()) }
    }

    /// Ends the line that has begun.
    pub(super) fn finish(&mut self) {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.begun)).trim().to_owned();
        if !line.is_empty() {
            self.whole.push_back(line);
        }
    }

    /// The next line that is whole and not blank.
    pub(super) fn next(&mut self) -> Option<String> {
        self.whole.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        pieces.iter().for_each(|piece| lines.push(piece).unwrap());
        lines.finish();
        std::iter::from_fn(|| lines.next()).collect()
    }

    #[test]
    fn lines_are_whole_however_they_are_cut() {
        let bytes = "{\"ü\":1}\r\n\n  two 🦀\nthree".as_bytes();
        for cut in 0..bytes.len() {
            assert_eq!(all(&[&bytes[..cut], &bytes[cut..]]), ["{\"ü\":1}", "two 🦀", "three"], "{cut}");
        }
        assert_eq!(all(&[b"a\xf0\x9f\nb"]), ["a\u{FFFD}", "b"]);
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; MOST_BYTES];
        assert_eq!(lines.push(&piece), Ok(()));
        assert!(lines.push(b"y").unwrap_err().to_string().contains("32 MiB"));
    }

    #[test]
    fn what_an_agent_sends_is_told_apart() {
        let table = [
            (r#"{"id":3,"result":{"a":1}}"#, Ok(Message::Reply { id: 3, result: Ok(json!({"a": 1})) })),
            (r#"{"jsonrpc":"2.0","id":"3"}"#, Ok(Message::Reply { id: 3, result: Ok(Value::Null) })),
            (r#"{"id":3,"result":null,"error":null}"#, Ok(Message::Reply { id: 3, result: Ok(Value::Null) })),
            (
                r#"{"method":"m","id":"x","params":[1]}"#,
                Ok(Message::Request { id: json!("x"), method: "m".to_owned(), params: json!([1]) }),
            ),
            (
                r#"{"method":"m","id":null}"#,
                Ok(Message::Notification { method: "m".to_owned(), params: Value::Null }),
            ),
        ];
        for (line, expected) in table {
            assert_eq!(read(line), expected, "{line}");
        }
        assert!(read("Loading model...").unwrap_err().contains("is no JSON"));
        assert!(read("[1]").unwrap_err().contains("no JSON object"));
        assert!(read(r#"{"id":null,"result":1}"#).unwrap_err().contains("answers nothing"));
    }

    #[test]
    fn a_character_that_was_cut_in_two_costs_no_more_than_itself() {
        let table = [
            (r"a\ud83e", "a\u{FFFD}"),
            (r"\udd80 b", "\u{FFFD} b"),
            (r"\ud83e\ud83e\udd80\n", "\u{FFFD}🦀\n"),
            (r"\\ud83e \ud83e", "\\ud83e \u{FFFD}"),
        ];
        for (escaped, text) in table {
            let told = read(&format!(r#"{{"method":"m","params":"{escaped}"}}"#));
            let expected = Message::Notification { method: "m".to_owned(), params: json!(text) };
            assert_eq!(told, Ok(expected), "{escaped}");
        }
        for broken in [r#"{"a":"\ud83e"#, r#"{"a":"\ud8"}"#, "\\", "\\ü"] {
            assert!(read(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_detail_of_an_error_stands_in_its_data() {
        let words = |error: Value| Fault::read(&error).words();
        let told = |data: Value| words(json!({"code": -32603, "message": "Internal error", "data": data}));
        assert_eq!(told(Value::Null), "Internal error (error -32603)");
        assert_eq!(told(json!("no\nkey")), "Internal error (error -32603): no key");
        assert_eq!(told(json!({"details": "no key"})), "Internal error (error -32603): no key");
        assert_eq!(told(json!({"error": {"message": "deep"}})), "Internal error (error -32603): deep");
        assert_eq!(told(json!({"x": 1})), "Internal error (error -32603): {\"x\":1}");
        assert_eq!(words(json!("boom")), "boom (error 0)");
        assert_eq!(words(json!({"code": 1})), "an error without words (error 1)");
        assert!(Fault::read(&json!({"code": -32000, "message": "Authentication required"})).asks_to_log_in());
    }

    #[test]
    fn a_message_is_one_line() {
        let text = request(7, "session/prompt", json!({"text": "two\nlines"}));
        let expected = r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"text":"two\nlines"}}"#;
        assert_eq!(text, format!("{expected}\n"));
        let text = no_such_method(json!("a"), "fs/read_text_file");
        assert!(text.contains("\"id\":\"a\",\"error\":{\"code\":-32601"), "{text}");
    }
}
