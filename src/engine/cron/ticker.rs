//! The ticker: takes the slots that are due, by the wall clock as it is at each pass.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use super::health;
use super::takeover;
use crate::domain::Time;
use crate::domain::api::TickerState;
use crate::domain::queue::Gate;
use crate::engine::clock::LOOK_AGAIN;
use crate::engine::shared::Shared;
use crate::failpoint;
use crate::store::{StoreError, Tick, Ticked};

/// Two passes that find nothing lie at least so far apart, however often the ticker is woken.
const FLOOR: Duration = Duration::from_millis(100);
/// A slot that is due and was not taken is looked at again after this long.
const NOT_TAKEN: Duration = Duration::from_secs(1);
/// After an error the next pass comes so much later.
const AFTER_ERROR: Duration = Duration::from_secs(5);
/// So many jobs are taken in one step.
const AT_ONCE: usize = 64;
/// Old rows are forgotten this often: tombstones after so many days, executions beyond so many of a job.
const PRUNE_EVERY: Duration = Duration::from_secs(24 * 60 * 60);
const TOMBSTONE_DAYS: i64 = 30;
const KEPT_EXECUTIONS: usize = 1_000;

/// What is known of the ticker from outside.
#[derive(Default)]
pub(super) struct Ticker {
    state: Mutex<TickerState>,
    told: Mutex<Told>,
    beats: AtomicU64,
    good: AtomicU64,
}

/// What the store was told last of how the ticker fares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Told {
    /// Nothing yet by this engine: an alert of one before may be open.
    #[default]
    Unknown,
    /// That it is late.
    Late,
    /// That it works.
    Good,
}

impl Ticker {
    /// How it stands.
    pub(super) fn state(&self) -> TickerState {
        self.lock().clone()
    }

    /// How often it looped.
    pub(super) fn beats(&self) -> u64 {
        self.beats.load(Ordering::Relaxed)
    }

    /// How often a pass succeeded.
    pub(super) fn good_passes(&self) -> u64 {
        self.good.load(Ordering::Relaxed)
    }

    /// Something went wrong with it.
    pub(super) fn note_error(&self, at: Time, why: &str) {
        self.lock().last_error = Some((at, why.to_owned()));
    }

    /// What the store was told last of it.
    pub(super) fn told(&self) -> Told {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store was told this of it.
    pub(super) fn set_told(&self, told: Told) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }

    fn note_beat(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    fn note_pass(&self, at: Time, next: Option<Time>) {
        self.good.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        (state.last_pass, state.next) = (Some(at), next);
    }

    fn lock(&self) -> MutexGuard<'_, TickerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ticks for as long as the engine runs.
pub(super) async fn tick(shared: Arc<Shared>) {
    let ticker = &shared.cron.ticker;
    let mut prune_at = Instant::now();
    loop {
        ticker.note_beat();
        let (began, at) = (Instant::now(), shared.now());
        match pass(&shared, at).await {
            Ok(ticked) => {
                ticker.note_pass(at, ticked.next);
                health::good(&shared).await;
                if ticked.due == 0 {
                    wait(&shared, began, at, ticked.next).await;
                }
            }
            Err(StoreError::Closed) => return,
            Err(error) => {
                health::failed(&shared, at, &error.to_string());
                tracing::warn!(%error, "a pass of the ticker failed");
                sleep(AFTER_ERROR).await;
            }
        }
        if Instant::now() >= prune_at {
            prune_at = Instant::now() + PRUNE_EVERY;
            prune(&shared).await;
        }
    }
}

async fn pass(shared: &Arc<Shared>, at: Time) -> Result<Ticked, StoreError> {
    failpoint::tick(&shared.cron.home.state_db()).await;
    let tick = Tick { at, zone: shared.settings.timezone, limit: AT_ONCE };
    let ticked = shared.store.write(move |store| store.fire_due(&tick)).await?;
    if ticked.fired > 0 {
        failpoint::pass("fire-taken");
    }
    shared.cron.runs.replace(&ticked.replaced);
    if ticked.due > 0 {
        shared.cron.fires.notify_one();
    }
    takeover::free_expired(shared).await?;
    Ok(ticked)
}

/// Waits for the next slot after the pass of `at`, for a change, or for a look at the clock.
async fn wait(shared: &Shared, began: Instant, at: Time, next: Option<Time>) {
    let until_next = match next {
        _ if shared.status().gate != Gate::Open => LOOK_AGAIN,
        Some(next) if next <= at => NOT_TAKEN,
        Some(next) => (next - shared.now()).to_std().unwrap_or_default().min(LOOK_AGAIN),
        None => LOOK_AGAIN,
    };
    if until_next.is_zero() {
        return;
    }
    tokio::select! {
        () = sleep(until_next) => {}
        () = shared.cron.changes.notified() => sleep_until(began + FLOOR).await,
    }
}

async fn prune(shared: &Shared) {
    let before = shared.now() - chrono::TimeDelta::days(TOMBSTONE_DAYS);
    let pruned = shared.store.write(move |store| store.prune_jobs(before, KEPT_EXECUTIONS)).await;
    if let Err(error) = pruned {
        tracing::warn!(%error, "old executions were not forgotten");
    }
}
