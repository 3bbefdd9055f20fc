//! The watchdog: a ticker that died or hangs is started anew, and a run that hangs is ended, visibly.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::runs::LiveRun;
use super::{ticker, worker};
use crate::domain::api::CronHealth;
use crate::domain::cron::{CronEvent, ExecutionState};
use crate::domain::event::EventKind;
use crate::domain::id::ExecutionId;
use crate::domain::turn::StopCause;
use crate::engine::shared::Shared;

/// It looks this often. It counts its own looks, not the clock, which may jump.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// After so many looks without a loop the ticker hangs; it sleeps no longer than one.
const HANGS_AFTER: u32 = 2;
/// After so many looks without a good pass it is late.
const LATE_AFTER: u32 = 3;
/// After so many looks without a sign of its own task a run hangs: a claim's whole life.
const RUN_HANGS_AFTER: u32 = 5;
/// A ticker that died is started anew after this long.
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
    loop {
        let mut task = AbortOnDropHandle::new(tokio::spawn(ticker::tick(Arc::clone(&shared))));
        let why = loop {
            tokio::select! {
                ended = &mut task => match ended {
                    Ok(()) => return,
                    Err(error) => break format!("its task failed: {error}"),
                },
                () = sleep(LOOK_EVERY) => {}
            }
            look_at_runs(&shared, &mut runs).await;
            look_at_passes(&shared, &mut good).await;
            if beats.look(shared.cron.ticker.beats()) >= HANGS_AFTER {
                break "it hung".to_owned();
            }
        };
        drop(task);
        tracing::error!(why, "the ticker is started anew");
        shared.cron.ticker.note_error(shared.now(), &why);
        late(&shared, why).await;
        beats = Counted::default();
        sleep(PAUSE).await;
    }
}

async fn look_at_passes(shared: &Shared, good: &mut Counted) {
    let looks = good.look(shared.cron.ticker.good_passes());
    let is_late = matches!(shared.status().cron, CronHealth::Late { .. });
    if looks == 0 && is_late {
        shared.change_status(|status| status.cron = CronHealth::default());
        tell(shared, CronEvent::TickerRecovered).await;
    } else if looks >= LATE_AFTER {
        let error = shared.cron.ticker.state().last_error;
        late(shared, error.map_or("no pass succeeded".to_owned(), |(_, why)| why)).await;
    }
}

/// Tells once that the ticker is late.
async fn late(shared: &Shared, why: String) {
    if matches!(shared.status().cron, CronHealth::Late { .. }) {
        return;
    }
    let since = shared.cron.ticker.state().last_pass.unwrap_or_else(|| shared.now());
    shared.change_status(|status| status.cron = CronHealth::Late { since, why: why.clone() });
    tell(shared, CronEvent::TickerLate { why }).await;
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

/// The log may be what can't be written: the status tells it all the same.
async fn tell(shared: &Shared, event: CronEvent) {
    let at = shared.now();
    let kind = EventKind::Cron(event);
    if let Err(error) = shared.store.write(move |store| store.record(None, kind.clone(), at)).await {
        tracing::warn!(%error, "something about the ticker is not in the log");
    }
}
