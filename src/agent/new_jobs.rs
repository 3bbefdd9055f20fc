//! The way of an agent's new scheduled tasks to the engine.

use tokio::sync::{mpsc, oneshot};

use crate::domain::cron::Definition;

/// Tasks that wait to be made; beyond that an agent waits.
const JOBS: usize = 8;

/// Where a backend has scheduled tasks made, on behalf of a turn.
#[derive(Debug, Clone)]
pub struct Jobs(mpsc::Sender<NewJob>);

/// A scheduled task that is to be made. Dropping it tells the agent that nobody makes it.
#[derive(Debug)]
pub struct NewJob {
    /// The task; its id is still to be made.
    pub definition: Definition,
    reply: oneshot::Sender<Result<String, String>>,
}

impl Jobs {
    /// The way, and its end.
    pub fn channel() -> (Self, mpsc::Receiver<NewJob>) {
        let (jobs, new) = mpsc::channel(JOBS);
        (Self(jobs), new)
    }

    /// Has a task made. Returns what came of it, or why it was not made, in words for the agent.
    ///
    /// # Errors
    /// It was refused, or the turn has ended.
    pub async fn make(&self, definition: Definition) -> Result<String, String> {
        let (reply, answer) = oneshot::channel();
        // Where nobody takes it, the answer's channel is closed at once.
        let _ = self.0.send(NewJob { definition, reply }).await;
        answer.await.unwrap_or_else(|_| Err("the turn has ended".to_owned()))
    }
}

impl NewJob {
    /// Tells the agent what came of it.
    pub fn answer(self, made: Result<String, String>) {
        let _ = self.reply.send(made);
    }
}
