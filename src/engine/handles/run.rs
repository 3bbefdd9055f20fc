//! An agent's work on a turn: by the handle that was kept, or by a new one.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::failure::Ending;
use crate::agent::{AgentError, AgentEvent, Backend, Handle, SessionContext, Turn};

/// An agent's work that has ended.
pub(in crate::engine) struct Ran {
    /// How.
    pub(in crate::engine) ending: Ending,
    /// The handle, as it was left.
    pub(in crate::engine) had: Had,
}

/// A handle after its use.
pub(in crate::engine) enum Had {
    /// The turn was stopped before there was one.
    NotYet,
    /// None could be opened.
    None,
    /// It can run the next turn.
    Whole(Box<dyn Handle>),
    /// It failed, and is gone.
    Broken,
    /// It ignored a stop, and is gone.
    Killed,
}

impl Had {
    /// How often a failing handle was replaced, where this came in its place.
    pub(in crate::engine) fn restarts(&self) -> u32 {
        match self {
            Self::NotYet | Self::None => 0,
            Self::Whole(_) | Self::Broken | Self::Killed => 1,
        }
    }
}

impl Ran {
    fn unopened(error: AgentError) -> Self {
        let had = if error == AgentError::Cancelled { Had::NotYet } else { Had::None };
        Self { ending: Some(Err(error)), had }
    }

    /// An agent that did not listen when it was told to stop.
    pub(in crate::engine) fn killed() -> Self {
        Self { ending: None, had: Had::Killed }
    }

    /// An agent that said more than so many bytes in a turn, and is gone.
    pub(in crate::engine) fn without_end(most: u64) -> Self {
        let why = format!("it said more than {} MiB, so it was ended", most >> 20);
        Self { ending: Some(Err(AgentError::Failed(why))), had: Had::Killed }
    }
}

/// Runs a turn on `kept`, else on a new handle.
pub(in crate::engine) async fn run(
    backend: Arc<dyn Backend>,
    context: SessionContext,
    kept: Option<Box<dyn Handle>>,
    turn: Turn,
    output: mpsc::Sender<AgentEvent>,
    cancel: CancellationToken,
) -> Ran {
    let mut handle = match kept {
        Some(handle) => handle,
        None => match open_handle(backend, context, &cancel).await {
            Ok(handle) => handle,
            Err(error) => return Ran::unopened(error),
        },
    };
    let end = caught(handle.run(turn, output, cancel)).await;
    let had = if matches!(end, Err(AgentError::Broken(_))) { Had::Broken } else { Had::Whole(handle) };
    Ran { ending: Some(end), had }
}

/// Opens a handle for the next turn.
pub(in crate::engine) async fn open(
    backend: Arc<dyn Backend>,
    context: SessionContext,
    cancel: CancellationToken,
) -> Ran {
    match open_handle(backend, context, &cancel).await {
        Ok(handle) => Ran { ending: Some(Ok(())), had: Had::Whole(handle) },
        Err(error) => Ran::unopened(error),
    }
}

async fn open_handle(
    backend: Arc<dyn Backend>,
    context: SessionContext,
    cancel: &CancellationToken,
) -> Result<Box<dyn Handle>, AgentError> {
    tokio::select! {
        opened = caught(backend.open(&context)) => opened,
        () = cancel.cancelled() => Err(AgentError::Cancelled),
    }
}

/// A panic of a backend breaks a handle, not the engine.
async fn caught<T>(work: impl Future<Output = Result<T, AgentError>>) -> Result<T, AgentError> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
        Err(AgentError::Broken("the backend failed inside (a bug): the log has its message".to_owned()))
    })
}
