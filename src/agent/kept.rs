//! How much of what a turn has told is on disk: nothing acts before its record.

use tokio::sync::watch;

use super::AgentError;

/// Where a backend waits until what it has told is kept.
#[derive(Debug, Clone)]
pub struct StepsKept(watch::Receiver<u64>);

impl StepsKept {
    /// The way: what is sent is how many steps of the turn are kept, and what gets to know it.
    pub fn channel() -> (watch::Sender<u64>, Self) {
        let (kept, seen) = watch::channel(0);
        (kept, Self(seen))
    }

    /// Waits until so many steps of the turn are kept: tool calls, their results, what was made shorter.
    ///
    /// # Errors
    /// [`AgentError::Cancelled`] where the turn ends before.
    pub async fn up_to(&mut self, steps: u64) -> Result<(), AgentError> {
        match self.0.wait_for(|kept| *kept >= steps).await {
            Ok(_) => Ok(()),
            Err(_) => Err(AgentError::Cancelled),
        }
    }
}
