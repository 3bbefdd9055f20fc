//! What an agent can ask about background processes.

use std::path::PathBuf;
use std::time::Duration;

use crate::domain::id::ProcessNumber;

/// What an agent can ask for. All of it is about its own session's processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackgroundCall {
    /// Start a command.
    Start {
        /// It, for /bin/sh.
        command: String,
        /// Where.
        folder: PathBuf,
        /// How many of the session may live.
        most: usize,
    },
    /// Which there are, and how they stand.
    List,
    /// The newest of a process's output.
    Read(ProcessNumber),
    /// How a process ended, once it did, but not longer than this.
    Wait(ProcessNumber, Duration),
    /// End a process.
    End(ProcessNumber),
}
