//! Updates: what an engine tells everyone who listens.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::query::{EngineStatus, StreamKind};
use crate::domain::event::Event;
use crate::domain::id::{SessionId, TurnId};

/// Something new. Updates come in order; one who lags too far behind gets `Lagged` and asks anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "update", rename_all = "snake_case")]
pub enum Update {
    /// An event was committed.
    Event(Arc<Event>),
    /// A running turn says something; not a row of its own.
    Stream(Arc<Piece>),
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
