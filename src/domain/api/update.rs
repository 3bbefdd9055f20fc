//! Updates: what an engine tells everyone who listens.

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::sync::Arc;

use super::query::{EngineStatus, StreamKind};
use crate::domain::event::Event;
use crate::domain::id::{SessionId, TurnId};

/// Something new. Updates come in order; one who lags too far behind gets `Lagged` and asks anew.
///
/// As JSON its kind comes first, so that the rest is read as what it is, without a copy of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "update", rename_all = "snake_case")]
pub enum Update {
    /// An event was committed.
    Event(Arc<Event>),
    /// A running turn says something; not a row of its own.
    Stream(Arc<Piece>),
    /// A running tool writes something; never kept.
    Doing(Arc<Doing>),
    /// The engine's state changed: hold, drain, store trouble.
    Engine(Box<EngineStatus>),
    /// So many updates were dropped: what is on the screen is old, ask again.
    Lagged {
        /// How many.
        missed: u64,
    },
}

/// A piece of what a running turn says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The session.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// Answer or reasoning.
    pub stream: StreamKind,
    /// Bytes of this kind that the turn had produced before it.
    pub offset: u64,
    /// The words.
    pub text: String,
}

/// What the running tool of a turn has written last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doing {
    /// The session.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// The end of what it has written; empty where no tool runs that writes.
    pub written: String,
}

impl<'de> Deserialize<'de> for Update {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KindFirst)
    }
}

struct KindFirst;

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Tag {
    Update,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Event,
    Stream,
    Doing,
    Engine,
    Lagged,
}

#[derive(Deserialize)]
struct Lagged {
    missed: u64,
}

impl<'de> Visitor<'de> for KindFirst {
    type Value = Update;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an update, its kind first")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Update, A::Error> {
        let Some((Tag::Update, kind)) = map.next_entry()? else {
            return Err(serde::de::Error::missing_field("update"));
        };
        let rest = MapAccessDeserializer::new(map);
        Ok(match kind {
            Kind::Event => Update::Event(Arc::deserialize(rest)?),
            Kind::Stream => Update::Stream(Arc::deserialize(rest)?),
            Kind::Doing => Update::Doing(Arc::deserialize(rest)?),
            Kind::Engine => Update::Engine(Box::deserialize(rest)?),
            Kind::Lagged => Update::Lagged { missed: Lagged::deserialize(rest)?.missed },
        })
    }
}
