//! What can be asked of an engine and what it tells: commands, queries and updates.
//!
//! The console and the command line know the engine only by these; over the socket they travel as
//! JSON.

mod command;
mod cron;
mod query;
mod recovery;
mod report;
mod update;

pub use command::*;
pub use cron::*;
pub use query::*;
pub use recovery::*;
pub use report::*;
pub use update::*;
