//! What is kept: the engine's atomic transitions and the screen's queries.
//!
//! [`Transitions`] is the interface that a database implements: each method is one atomic step of
//! the engine, says what it guarantees and writes its own events. [`Queries`] is what a screen
//! reads. [`Store`] runs transitions on one writer thread that groups those that wait into one
//! commit, and queries on read-only connections beside it.

mod answer;
mod error;
mod job_transitions;
pub mod jobs_file;
mod readers;
pub mod sqlite;
mod transitions;
mod writer;

pub use answer::answer;
pub use error::StoreError;
pub use job_transitions::*;
pub use readers::Readers;
pub use transitions::*;
pub use writer::{Feed, Patience, Store};
