//! A clock that stands still until the test moves it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use switchboard::domain::Time;
use switchboard::engine::Clock;
use switchboard::failpoint::{HeldClock, hold_clock};
use tokio::time::Instant;

/// tokio's timers know no shorter time.
const TICK: Duration = Duration::from_millis(1);

/// The engine's clock in a test: wall clock and timers move together, only by [`StillClock::advance`].
///
/// The test's runtime is single-threaded and begins with a paused clock (`start_paused`): one that is
/// paused later stands between two ticks, where what is due at this very instant is not done yet.
pub struct StillClock {
    began_at: Time,
    began: Instant,
    held: Mutex<Option<HeldClock>>,
}

impl StillClock {
    /// Holds the paused time of the test's runtime at `began_at`.
    pub fn stop_at(began_at: Time) -> Arc<Self> {
        Arc::new(Self { began_at, began: Instant::now(), held: Mutex::new(Some(hold_clock())) })
    }

    /// Moves the time on, once nothing is left to do at the time as it is: whoever was woken has set
    /// its timers by then.
    pub async fn advance(&self, by: Duration) {
        let then = Instant::now() + by;
        if !by.is_zero() {
            self.come_to_rest().await;
        }
        tokio::time::advance(then - Instant::now()).await;
    }

    /// Waits until every task waits for another time and nobody works for one: only then a paused clock
    /// that nobody holds goes on by itself, to what is due a tick from now.
    async fn come_to_rest(&self) {
        self.hold(None);
        tokio::time::sleep(TICK).await;
        self.hold(Some(hold_clock()));
    }

    fn hold(&self, held: Option<HeldClock>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }
}

impl Clock for StillClock {
    fn now(&self) -> Time {
        self.began_at + self.began.elapsed()
    }
}
