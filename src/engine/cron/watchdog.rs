//! The watchdog: a ticker that died or hangs is started anew, and a run that hangs is ended, visibly.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep};
use tokio_util::task::AbortOnDropHandle;

use super::runs::LiveRun;
use super::{health, ticker, worker};
use crate::domain::cron::{CronEvent, ExecutionState};
use crate::domain::id::ExecutionId;
use crate::domain::turn::StopCause;
use crate::engine::shared::Shared;

/// It looks this often. It counts its own looks, not the clock, which may jump.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// After so many looks without a loop the ticker hangs; it sleeps no longer than one.
const HANGS_AFTER: u32 = 2;
/// After so many looks without a good pass it is late.
const LATE_AFTER: u32 = 2;
/// After so many looks without a sign of its own task a run hangs: a claim's whole life.
const RUN_HANGS_AFTER: u32 = 5;
/// A ticker that died is started anew after this long; one that dies again before a good pass, after longer.
const PAUSE: Duration = Duration::from_secs(1);

/// Something that must count up.
#[derive(Debug, Default)]
struct Counted {
    seen: u64,
    looks: u32,
}

impl Counted {
    /// How many looks in a row found the same count.
    fn look(&mut self, count: u64) -> u32 {
        self.looks = if count == self.seen { self.looks + 1 } else { 0 };
        self.seen = count;
        self.looks
    }
}

/// Keeps a ticker going for as long as the engine runs.
pub(super) async fn watch(shared: Arc<Shared>) {
    let (mut beats, mut good) = (Counted::default(), Counted::default());
    let mut runs: HashMap<ExecutionId, Counted> = HashMap::new();
    let mut looks = interval_at(Instant::now() + LOOK_EVERY, LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut pause = PAUSE;
    loop {
        let passes = shared.cron.ticker.good_passes();
        let mut task = AbortOnDropHandle::new(tokio::spawn(ticker::tick(Arc::clone(&shared))));
        let why = loop {
            tokio::select! {
                ended = &mut task => match ended {
                    Ok(()) => return,
                    Err(error) => {
                        let why = format!("its task failed: {error}");
                        health::failed(&shared, shared.now(), &why);
                        break why;
                    }
                },
                _ = looks.tick() => {}
            }
            look_at_runs(&shared, &mut runs).await;
            let hangs = beats.look(shared.cron.ticker.beats()) >= HANGS_AFTER;
            if hangs {
                health::failed(&shared, shared.now(), "it hung");
            }
            if good.look(shared.cron.ticker.good_passes()) >= LATE_AFTER {
                health::late(&shared).await;
            }
            if hangs {
                break "it hung".to_owned();
            }
        };
        drop(task);
        tracing::error!(why, "the ticker is started anew");
        health::tell(&shared, CronEvent::TickerRestarted { why }).await;
        beats = Counted::default();
        pause = if shared.cron.ticker.good_passes() == passes { LOOK_EVERY.min(pause * 2) } else { PAUSE };
        sleep(pause).await;
    }
}

/// A run whose own task does not look after it any more can't end itself.
async fn look_at_runs(shared: &Shared, seen: &mut HashMap<ExecutionId, Counted>) {
    let runs = shared.cron.runs.all();
    seen.retain(|execution, _| runs.iter().any(|run| run.key.execution == *execution));
    for run in runs {
        if seen.entry(run.key.execution).or_default().look(run.looks()) >= RUN_HANGS_AFTER {
            end_hung(shared, &run).await;
        }
    }
}

async fn end_hung(shared: &Shared, run: &LiveRun) {
    tracing::error!(execution = %run.key.execution, "a run hangs and is given up");
    run.abort();
    let why = "its worker gave no sign of life for 5 minutes and was given up";
    worker::end_without_it(shared, run, ExecutionState::Unknown, why).await;
    let Some(turn) = run.turn() else { return };
    let Some(session) = shared.live.of(turn).map(|live| live.session().clone()) else { return };
    let at = shared.now();
    let stop = move |store: &mut dyn crate::store::Transitions| {
        store.request_stop(&session, Some(turn), StopCause::TimedOut, at)
    };
    if let Err(error) = shared.store.write(stop).await {
        tracing::warn!(%turn, %error, "the turn of a run that hangs could not be told to stop");
    }
}
