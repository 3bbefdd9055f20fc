//! The queue: what waits, the rules that say where a message goes and what runs next, and what
//! whoever sent it is told.
//!
//! Two levels. A plain message for a busy session takes the single *slot*; a `/queue` item goes to
//! the tail of the session's *overflow queue*. When a turn ends, [`next`] is the one place that
//! chooses what runs: the slot first, then the head of the queue.

mod ack;
mod item;
mod refusal;
mod rules;

pub use ack::*;
pub use item::*;
pub use refusal::*;
pub use rules::*;
