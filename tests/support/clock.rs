//! A clock that stands still until the test moves it.

use std::sync::Arc;
use std::time::Duration;

use switchboard::domain::Time;
use switchboard::engine::Clock;
use tokio::time::Instant;

/// The engine's clock in a test: wall clock and timers move together, only by [`StillClock::advance`].
///
/// tokio's paused clock runs ahead as soon as every task waits, and the store's threads are no
/// tasks: a blocking task that waits for the end of the test keeps the clock from doing so.
pub struct StillClock {
    began_at: Time,
    began: Instant,
    _held: std::sync::mpsc::Sender<()>,
}

impl StillClock {
    /// Stops the time of the test's runtime, which must be single-threaded, at `began_at`.
    pub fn stop_at(began_at: Time) -> Arc<Self> {
        tokio::time::pause();
        let (held, release) = std::sync::mpsc::channel();
        tokio::task::spawn_blocking(move || release.recv().is_err());
        Arc::new(Self { began_at, began: Instant::now(), _held: held })
    }

    /// Moves the time on.
    pub async fn advance(&self, by: Duration) {
        tokio::time::advance(by).await;
    }
}

impl Clock for StillClock {
    fn now(&self) -> Time {
        self.began_at + self.began.elapsed()
    }
}
