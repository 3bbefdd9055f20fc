//! What a running turn says, put together by byte offset so that every byte is seen once.

use crate::domain::api::StreamKind;
use crate::domain::history::Entry;
use crate::domain::id::TurnId;

/// A kept entry with what the stream's rules need of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kept {
    /// The entry as it came.
    pub(super) entry: Entry,
    /// Its revision.
    pub(super) revision: u64,
}

/// What a turn says that is not kept yet, of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) turn: TurnId,
    pub(super) stream: StreamKind,
    /// Bytes of this kind before `raw`.
    pub(super) offset: u64,
    /// The words as they came.
    pub(super) raw: String,
    pub(super) revision: u64,
}
