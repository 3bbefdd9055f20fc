//! Looking after a run while it works: its claim is renewed, and it is stopped when it takes too long.
//!
//! This runs inside the run's own task: a run that hangs renews nothing, and the watchdog ends it.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::runs::{Halt, LiveRun};
use crate::domain::cron::Definition;
use crate::engine::shared::Shared;
use crate::store::Held;

/// A claim is renewed this often.
pub(super) const BEAT: Duration = Duration::from_secs(60);

/// How long a run may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Without any progress.
    idle: Duration,
    /// In all, where that is limited.
    total: Option<Duration>,
}

impl Limits {
    pub(super) fn of(job: &Definition, idle: Duration) -> Self {
        let total = job.timeout_minutes.map(|minutes| Duration::from_secs(u64::from(minutes) * 60));
        Self { idle, total }
    }
}

/// Looks after a run until it has ended: whoever awaits this drops it then.
pub(super) async fn look_after(shared: &Shared, run: &LiveRun, limits: Limits) -> Infallible {
    let began = Instant::now();
    let mut beat_at = began + BEAT;
    loop {
        run.note_look();
        let now = Instant::now();
        let idle_at = last_progress(shared, run) + limits.idle;
        let total_at = limits.total.map(|total| began + total);
        if run.halted().is_none() {
            if let Some(total) = limits.total.filter(|total| now >= began + *total) {
                run.halt(Halt::TimedOut(format!("it took longer than {} min in all", total.as_secs() / 60)));
            } else if now >= idle_at {
                run.halt(Halt::TimedOut(format!("no progress for {} s", limits.idle.as_secs())));
            }
        }
        if now >= beat_at {
            beat(shared, run).await;
            beat_at = Instant::now() + BEAT;
        }
        let wake = match run.halted() {
            Some(_) => beat_at,
            None => [Some(idle_at), total_at].into_iter().flatten().fold(beat_at, Instant::min),
        };
        sleep_until(wake).await;
    }
}

async fn beat(shared: &Shared, run: &LiveRun) {
    let (key, at) = (run.key.clone(), shared.now());
    match shared.store.write(move |store| store.beat_execution(&key, at)).await {
        Ok(Held::Ours) => {}
        Ok(Held::Lost) => run.halt(Halt::Lost),
        // Nobody else can have taken it meanwhile without writing what we could not.
        Err(error) => tracing::warn!(execution = %run.key.execution, %error, "a claim is not renewed yet"),
    }
}

/// Words and tools of its agent are progress, and output of its script.
fn last_progress(shared: &Shared, run: &LiveRun) -> Instant {
    let turn = run.turn().and_then(|turn| shared.live.of(turn));
    turn.map_or(run.last_progress(), |turn| turn.last_progress().max(run.last_progress()))
}
