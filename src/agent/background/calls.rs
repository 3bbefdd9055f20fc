//! The way of an agent's calls about background processes to the engine, which owns them.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::domain::id::ProcessNumber;

/// Calls that wait to be taken; beyond that an agent waits to make one.
const CALLS: usize = 8;

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

/// Where an agent makes such calls on behalf of a turn.
#[derive(Debug, Clone)]
pub struct BackgroundCalls(mpsc::Sender<NewCall>);

/// A call whose agent waits.
#[derive(Debug)]
pub struct NewCall {
    /// The call.
    pub call: BackgroundCall,
    reply: oneshot::Sender<Result<String, String>>,
}

impl BackgroundCalls {
    /// The way, and its end.
    pub fn channel() -> (Self, mpsc::Receiver<NewCall>) {
        let (calls, made) = mpsc::channel(CALLS);
        (Self(calls), made)
    }

    /// Makes a call, and waits for what it gives.
    ///
    /// # Errors
    /// In words for the agent.
    pub async fn call(&self, call: BackgroundCall) -> Result<String, String> {
        let (reply, answer) = oneshot::channel();
        // Where nobody takes it, the answer's channel is closed at once.
        let _ = self.0.send(NewCall { call, reply }).await;
        answer.await.unwrap_or_else(|_| Err("the turn has ended".to_owned()))
    }
}

impl NewCall {
    /// Gives the agent what it waits for.
    pub fn answer(self, answer: Result<String, String>) {
        let _ = self.reply.send(answer);
    }
}
