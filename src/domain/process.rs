//! Child processes of turns: what is kept of them, so that a start finds those that outlived their engine.

use serde::{Deserialize, Serialize};

use super::id::TurnId;

/// A child of a turn. It leads its own process group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildProcess {
    /// Its turn.
    pub turn: TurnId,
    /// Its program, as the settings name it.
    pub program: String,
    /// Which process it is.
    pub identity: ProcessIdentity,
}

/// What names one process and never another: its number may be given to others after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its number, which is that of its group too.
    pub pid: u32,
    /// The machine's boot that it belongs to.
    pub boot: String,
    /// When it began, in the clock ticks of that boot.
    pub started: u64,
}

/// What became of a child that its engine did not see end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It had ended, with its whole group.
    Gone,
    /// Its group still ran and was killed.
    Killed,
    /// Its group still runs.
    Lives {
        /// Why it could not be killed.
        why: String,
    },
}
