//! The protocol of `control.sock`: one JSON object a line, in UTF-8.
//!
//! The engine speaks first, with a [`Hello`] that names the protocol's version. Then the other side
//! sends [`Request`]s, each with an id of its choice, as many at a time as it likes, and the engine
//! sends a [`Response`] with that id to each, in whatever order they are ready. Commands of one
//! connection are carried out in the order they came; queries run beside them. After `subscribe`
//! the engine also sends every [`Update`], in order; pieces of one text that come right after each
//! other may be joined. An update's kind is its first field.
//!
//! ```text
//! {"hello":{"protocol":1,"program":"0.1.0","pid":4711,"since":"2026-01-05T08:00:00Z"}}
//! {"id":1,"query":{"query":"overview"}}
//! {"response":{"id":1,"answer":{"answer":"overview","value":{…}}}}
//! {"id":2,"subscribe":null}
//! {"response":{"id":2,"subscribed":null}}
//! {"update":{"update":"event","seq":7,…}}
//! ```
//!
//! A line that is no request is answered with a failure without an id, and the connection goes on.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, LinesCodec, LinesCodecError};

use crate::domain::Time;
use crate::domain::api::{Answer, Command, EngineRun, Query, Reply, Update};
use crate::domain::queue::Refusal;

/// The version that this program speaks. It changes when an older program would misunderstand.
pub const PROTOCOL: u32 = 1;

/// The longest line that an engine reads: the longest message, each byte of it escaped, and some more.
pub const MAX_REQUEST_BYTES: usize = 8 * 1024 * 1024;

/// The longest line that an engine writes.
pub const MAX_RESPONSE_BYTES: usize = 64 * 1024 * 1024;

/// A line from the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromEngine {
    /// The first line.
    Hello(Hello),
    /// To a request.
    Response(Box<Response>),
    /// Something new, after `subscribe`.
    Update(Update),
}

/// Who speaks. Of another version's only `protocol` need be understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The protocol's version.
    pub protocol: u32,
    /// The program's version.
    #[serde(default)]
    pub program: String,
    /// The engine's process.
    #[serde(default)]
    pub pid: u32,
    /// Since when it runs.
    #[serde(default)]
    pub since: Time,
}

impl Hello {
    /// The hello of an engine's run.
    pub fn of(run: &EngineRun) -> Self {
        Self { protocol: PROTOCOL, program: run.version.clone(), pid: run.pid, since: run.since }
    }
}

/// A line to the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Chosen by whoever asks; the response has it too.
    pub id: u64,
    /// What is asked.
    #[serde(flatten)]
    pub ask: Ask,
}

/// What a request asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// To change something.
    Command(Command),
    /// To read something.
    Query(Query),
    /// To be told what is new from now on.
    Subscribe,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Response {
    /// The request's id; none to a line that was no request.
    pub id: Option<u64>,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The command is carried out.
    Reply(Reply),
    /// The query is answered.
    Answer(Answer),
    /// Updates follow.
    Subscribed,
    /// The engine said no, and why.
    Refused(Refusal),
    /// The engine could not answer, or did not understand.
    Failed(String),
}

/// Read field by field: a flattened enum is copied whole before it is looked at, and a page of
/// sessions is long.
impl<'de> Deserialize<'de> for Response {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Fields { id, reply, answer, subscribed, refused, failed } = Fields::deserialize(deserializer)?;
        let outcome = reply
            .map(Outcome::Reply)
            .or(answer.map(Outcome::Answer))
            .or(subscribed.map(|()| Outcome::Subscribed))
            .or(refused.map(Outcome::Refused))
            .or(failed.map(Outcome::Failed))
            .ok_or_else(|| D::Error::custom("a response without an outcome"))?;
        Ok(Self { id, outcome })
    }
}

/// The fields of a response. It has one of the outcomes.
#[derive(Deserialize)]
struct Fields {
    id: Option<u64>,
    reply: Option<Reply>,
    answer: Option<Answer>,
    #[serde(default, deserialize_with = "even_null")]
    subscribed: Option<()>,
    refused: Option<Refusal>,
    failed: Option<String>,
}

fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<()>, D::Error> {
    <()>::deserialize(deserializer).map(Some)
}

/// A line as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A whole line.
    Text(String),
    /// A line longer than allowed; it was skipped to its end.
    TooLong,
    /// A line that is not UTF-8; it was skipped.
    NotUtf8,
}

/// Splits a stream into lines. A line that is too long or no text is told and skipped, and the
/// stream goes on.
#[derive(Debug)]
pub struct Lines {
    codec: LinesCodec,
}

impl Lines {
    /// Lines of at most `max_bytes`.
    pub fn up_to(max_bytes: usize) -> Self {
        Self { codec: LinesCodec::new_with_max_length(max_bytes) }
    }
}

impl Decoder for Lines {
    type Item = Line;
    type Error = std::io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> std::io::Result<Option<Line>> {
        told(self.codec.decode(bytes))
    }

    fn decode_eof(&mut self, bytes: &mut BytesMut) -> std::io::Result<Option<Line>> {
        told(self.codec.decode_eof(bytes))
    }
}

fn told(decoded: Result<Option<String>, LinesCodecError>) -> std::io::Result<Option<Line>> {
    match decoded {
        Ok(line) => Ok(line.map(Line::Text)),
        Err(LinesCodecError::MaxLineLengthExceeded) => Ok(Some(Line::TooLong)),
        Err(LinesCodecError::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
            Ok(Some(Line::NotUtf8))
        }
        Err(LinesCodecError::Io(error)) => Err(error),
    }
}
