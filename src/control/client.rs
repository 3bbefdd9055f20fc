//! The interface to an engine.

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use crate::domain::api::{Answer, Command, Query, Reply, Update};
use crate::domain::queue::Refusal;

/// An engine, reached in one of three ways.
pub trait Client: Send + Sync {
    /// How it is reached, for the header.
    fn reach(&self) -> Reach;

    /// Carries a command out. What the reply tells is on disk. Commands of one client that are
    /// given one after the other are carried out in that order.
    fn command(&self, command: Command) -> BoxFuture<'_, Result<Reply, ClientError>>;

    /// Reads. Never waits for a command.
    fn query(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>>;

    /// Listens to updates from now on. The channel is bounded; a listener who lags gets
    /// [`Update::Lagged`]. It closes when the engine is gone.
    fn updates(&self) -> BoxFuture<'_, Result<mpsc::Receiver<Update>, ClientError>>;
}

/// How an engine is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// It runs in this process.
    Here,
    /// It runs in another process.
    Attached {
        /// Which.
        pid: u32,
    },
    /// None runs: only the store is read.
    StoreOnly,
}

/// Why a command or query has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The engine said no, and why.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// No engine runs, and this needs one.
    #[error("no engine runs for this home; start one with `switchboard` or `switchboard serve`")]
    NoEngine,
    /// The engine is gone: its process ended or the connection broke.
    #[error("the engine is gone: {0}")]
    Gone(String),
    /// The engine is there and says nothing.
    #[error("{}", silent(*.pid))]
    Silent {
        /// Its process, where that is known.
        pid: Option<u32>,
    },
    /// The engine failed to answer.
    #[error("{0}")]
    Failed(String),
    /// The other side speaks another version.
    #[error(
        "the engine speaks version {theirs} of the protocol, this program {ours}; run the same switchboard on both sides"
    )]
    Version {
        /// Theirs.
        theirs: u32,
        /// Ours.
        ours: u32,
    },
}

fn silent(pid: Option<u32>) -> String {
    let (process, pid) = match pid {
        Some(pid) => (format!("process {pid}"), pid.to_string()),
        None => ("its process".to_owned(), "PID".to_owned()),
    };
    format!(
        "the engine is there ({process}) and does not answer: it is stopped or stuck; `kill -CONT {pid}` lets a \
         stopped one go on, `kill -KILL {pid}` ends a stuck one"
    )
}
