//! The messages that carry the protocol: JSON-RPC 2.0, one object a line. Read leniently, written strictly.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::schema::{Error, JsonRpcMessage, Notification, Request, RequestId, Response};
use crate::agent::half_characters::from_json;
use crate::domain::event::excerpt;

/// A longer line is no sane message.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// What an agent sends.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// The answer to a request of ours.
    Reply {
        /// The request.
        id: i64,
        /// What came of it.
        result: Result<Value, Error>,
    },
    /// It wants an answer.
    Request {
        /// Its own number for it.
        id: RequestId,
        /// What it asks.
        method: String,
        /// With what.
        params: Value,
    },
    /// It wants an answer, by a number that is none.
    BadRequest {
        /// What it gives as the number.
        id: Value,
        /// Why it is no request, in words.
        why: String,
    },
    /// It tells something.
    Notification {
        /// What.
        method: String,
        /// With what.
        params: Value,
    },
}

/// Reads a line.
///
/// # Errors
/// Why it is no message, in words.
pub(super) fn read(line: &str) -> Result<Message, String> {
    let value = from_json(line).map_err(|_| format!("{:?} is no JSON", excerpt(line)))?;
    let Value::Object(mut fields) = value else {
        return Err(format!("{:?} is no JSON object", excerpt(line)));
    };
    let mut take = |name: &str| fields.remove(name).unwrap_or(Value::Null);
    let (id, params) = (take("id"), take("params"));
    let method = take("method");
    let Ok(number_or_text) = RequestId::deserialize(&id) else {
        let why = format!("{:?} has an id that is neither number nor text", excerpt(line));
        return if method.is_string() { Ok(Message::BadRequest { id, why }) } else { Err(why) };
    };
    match (method, number_or_text) {
        (Value::String(method), RequestId::Null) => Ok(Message::Notification { method, params }),
        (Value::String(method), id) => Ok(Message::Request { id, method, params }),
        (_, id) => {
            let id =
                number(&id).ok_or_else(|| format!("{:?} answers nothing that was asked", excerpt(line)))?;
            let result = match take("error") {
                Value::Null => Ok(take("result")),
                error => Err(fault(error)),
            };
            Ok(Message::Reply { id, result })
        }
    }
}

/// The number of a request; some agents give it back as text.
fn number(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Null => None,
        RequestId::Number(id) => Some(*id),
        RequestId::Str(id) => id.parse().ok(),
    }
}

/// An error that an agent answers, whatever is missing in it.
fn fault(error: Value) -> Error {
    let Value::Object(mut fields) = error else { return Error::new(0, plain(&error)) };
    let code = fields.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = fields.get("message").map(plain).unwrap_or_default();
    Error::new(code.unwrap_or_default(), message).data(fields.remove("data"))
}

/// What went wrong, in one line. The detail stands in `data`.
pub(super) fn words(error: &Error) -> String {
    let message = if error.message.is_empty() { "an error without words" } else { &error.message };
    let detail = error.data.as_ref().map(detail).unwrap_or_default();
    let detail = if detail.is_empty() { detail } else { format!(": {detail}") };
    format!("{} (error {}){}", excerpt(message), i32::from(error.code), excerpt_long(&detail))
}

/// A request of ours, as a line.
pub(super) fn request(id: i64, method: &str, params: &impl Serialize) -> serde_json::Result<String> {
    line(Request { id: RequestId::Number(id), method: Arc::from(method), params: Some(params) })
}

/// Something that we tell, as a line.
pub(super) fn notification(method: &str, params: &impl Serialize) -> serde_json::Result<String> {
    line(Notification { method: Arc::from(method), params: Some(params) })
}

/// The answer to a request of the agent, as a line.
pub(super) fn reply(id: RequestId, answer: Result<impl Serialize, Error>) -> serde_json::Result<String> {
    line(Response::new(id, answer))
}

/// The answer to a request whose number is none, as a line.
pub(super) fn refusal(id: &Value) -> serde_json::Result<String> {
    let answer = json!({"jsonrpc": "2.0", "id": id, "error": Error::invalid_request()});
    Ok(serde_json::to_string(&answer)? + "\n")
}

fn line(message: impl Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string(&JsonRpcMessage::wrap(message))? + "\n")
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

/// A value as a person reads it: nothing for none, a text without its marks.
pub(super) fn plain(value: &Value) -> String {
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
    use super::super::schema::ErrorCode;
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
                Ok(Message::Request {
                    id: "x".to_owned().into(),
                    method: "m".to_owned(),
                    params: json!([1]),
                }),
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
        assert!(read(r#"{"id":[1],"result":1}"#).unwrap_err().contains("neither number nor text"));
    }

    #[test]
    fn a_request_whose_number_is_none_is_refused_by_it() {
        for id in [json!(1.5), json!([1]), json!(true), json!(u64::MAX)] {
            let told = read(&json!({"id": id, "method": "m"}).to_string()).unwrap();
            let Message::BadRequest { id: same, why } = told else { panic!("{told:?}") };
            assert!(same == id && why.contains("neither number nor text"), "{same} {why}");
            let answer: Value = serde_json::from_str(&refusal(&id).unwrap()).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32600)));
        }
    }

    #[test]
    fn a_character_that_was_cut_in_two_costs_no_more_than_itself() {
        let told = read(r#"{"method":"m","params":"\ud83e\ud83e\udd80"}"#);
        let expected = Message::Notification { method: "m".to_owned(), params: json!("\u{FFFD}🦀") };
        assert_eq!(told, Ok(expected));
        assert!(read(r#"{"a":"\ud83e"#).is_err());
    }

    #[test]
    fn the_detail_of_an_error_stands_in_its_data() {
        let words = |error: Value| words(&fault(error));
        let told = |data: Value| words(json!({"code": -32603, "message": "Internal error", "data": data}));
        assert_eq!(told(Value::Null), "Internal error (error -32603)");
        assert_eq!(told(json!("no\nkey")), "Internal error (error -32603): no key");
        assert_eq!(told(json!({"details": "no key"})), "Internal error (error -32603): no key");
        assert_eq!(told(json!({"error": {"message": "deep"}})), "Internal error (error -32603): deep");
        assert_eq!(told(json!({"x": 1})), "Internal error (error -32603): {\"x\":1}");
        assert_eq!(words(json!("boom")), "boom (error 0)");
        assert_eq!(words(json!({"code": 1})), "an error without words (error 1)");
        assert_eq!(words(json!({"code": 1e30, "message": 7})), "7 (error 0)");
        assert_eq!(fault(json!({"code": -32000, "message": "Log in"})).code, ErrorCode::AuthRequired);
    }

    #[test]
    fn a_message_is_one_line() {
        let text = request(7, "session/prompt", &json!({"text": "two\nlines"})).unwrap();
        let expected = r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"text":"two\nlines"}}"#;
        assert_eq!(text, format!("{expected}\n"));
        let text = reply("a".to_owned().into(), Err::<(), _>(Error::method_not_found())).unwrap();
        assert!(text.contains("\"id\":\"a\",\"error\":{\"code\":-32601"), "{text}");
    }
}
