//! Scheduled tasks: what fires, who runs it, and what is known of both.
//!
//! [`files`] takes `jobs.json` over, the [`ticker`] takes slots that are due, [`worker`] claims what fired
//! and gives each [`run`] a task. All they share is [`Cron`]; what has happened is in the store.

mod alone;
mod by_agent;
mod commands;
mod delivery;
mod edits;
mod files;
mod guard;
mod health;
mod output;
mod owner;
mod preflight;
mod prompt;
mod queries;
mod run;
mod runs;
mod skill;
mod slash;
mod takeover;
mod ticker;
mod turns;
mod watchdog;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use self::files::Files;
use self::runs::{Halt, Runs};
use self::ticker::Ticker;
use super::shared::Shared;
use crate::config::{CronConfig, Home};
use crate::domain::api::{TickerState, Waited};
use crate::domain::cron::{Execution, JobEvent, Owner};
use crate::domain::event::{Event, EventKind, Level};
use crate::domain::id::{ExecutionId, RunId};
use crate::domain::session::HoldReason;

pub use alone::change as change_alone;
pub(super) use by_agent::make as make_by_agent;
pub(super) use commands::carry_out;
pub use preflight::missing;
pub(super) use queries::answer;
pub use queries::answer_alone;
pub(super) use slash::slash;

/// A part that failed is started anew after this long.
const PAUSE: Duration = Duration::from_secs(1);

/// What the parts of the scheduled tasks share.
pub(super) struct Cron {
    config: CronConfig,
    home: Home,
    /// This engine, as its claims name it.
    owner: Owner,
    runs: Runs,
    ticker: Ticker,
    files: Files,
    /// A job's next slot may be another now.
    changes: Notify,
    /// Something waits for a worker, or a worker is free.
    fires: Notify,
    /// The engine ends.
    ending: CancellationToken,
}

impl Cron {
    pub(super) fn new(config: CronConfig, home: Home, run: RunId) -> Self {
        let files = Files::new(&home);
        Self {
            config,
            home,
            owner: owner::this_engine(run),
            runs: Runs::new(),
            ticker: Ticker::default(),
            files,
            changes: Notify::new(),
            fires: Notify::new(),
            ending: CancellationToken::new(),
        }
    }

    /// Begins to take over what an earlier engine left, to follow the file, to tick and to run.
    pub(super) fn start(&self, shared: &Arc<Shared>) {
        let (shared, ending) = (Arc::clone(shared), self.ending.clone());
        let tasks = shared.tasks.clone();
        tasks.spawn(async move { ending.run_until_cancelled(live(shared)).await });
    }

    /// Nothing is read, taken or claimed any more.
    pub(super) fn end(&self) {
        self.ending.cancel();
    }

    /// The drain has ended: what still runs is cut.
    pub(super) fn cut(&self) {
        self.runs.halt_all(&Halt::Shutdown);
    }

    /// The scripts that run.
    pub(super) fn scripts(&self) -> Vec<Waited> {
        self.runs.scripts()
    }

    /// How many runs go on, and when that or what they do changes.
    pub(super) fn running(&self) -> tokio::sync::watch::Receiver<usize> {
        self.runs.count()
    }

    /// The home that it works in.
    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// How the ticker stands.
    pub(super) fn ticker(&self) -> TickerState {
        self.ticker.state()
    }

    /// What waits for a new day may be claimed now.
    pub(super) fn claim_again(&self) {
        self.fires.notify_one();
    }

    /// What was committed may be something to act on.
    pub(super) fn follow(&self, event: &Event) {
        match &event.kind {
            EventKind::TurnEnded { turn, .. } => self.runs.turn_ended(*turn),
            EventKind::EngineReleased | EventKind::EngineStopCalledOff => {
                self.changes.notify_one();
                self.fires.notify_one();
            }
            EventKind::QueueReleased { reason: HoldReason::Spent, .. } => self.claim_again(),
            EventKind::Job { what, .. } => match what {
                JobEvent::Fired { .. }
                | JobEvent::LetGo { .. }
                | JobEvent::Restored { .. }
                | JobEvent::RunEnded { .. } => {
                    self.fires.notify_one();
                }
                // What waits behind a slot that is due may begin where that slot moves.
                JobEvent::Appeared { .. }
                | JobEvent::Changed { .. }
                | JobEvent::Paused { .. }
                | JobEvent::Resumed { .. } => {
                    self.changes.notify_one();
                    self.fires.notify_one();
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// What a script finds in its environment, beside the engine's own without secrets.
    fn marks(&self, execution: &Execution) -> Vec<(&'static str, String)> {
        let slot = execution.slots.map(|slots| ("SWITCHBOARD_SLOT", slots.first.to_rfc3339()));
        let home = self.home.root().display().to_string();
        [
            ("SWITCHBOARD_JOB_ID", execution.job.to_string()),
            ("SWITCHBOARD_HOME", home),
            (EXECUTION, execution.id.to_string()),
            (RUN, self.owner.run.0.clone()),
        ]
        .into_iter()
        .chain(slot)
        .collect()
    }

    /// What tells that a process belongs to the script of an execution, as its engine started it.
    fn marks_of(execution: ExecutionId, run: &RunId) -> [String; 2] {
        [format!("{EXECUTION}={execution}"), format!("{RUN}={}", run.0)]
    }
}

const EXECUTION: &str = "SWITCHBOARD_EXECUTION";
const RUN: &str = "SWITCHBOARD_RUN";

/// The dead are settled and the file is read before anything fires.
async fn live(shared: Arc<Shared>) {
    if let Err(error) = takeover::free_dead(&shared).await {
        tracing::error!(%error, "runs of the engine before are not settled: they are when their claims expire");
    }
    files::read(&shared).await;
    delivery::deliver_pending(&shared, &shared.cron).await;
    tokio::join!(
        kept_up(&shared, "the reader of jobs.json", files::follow),
        kept_up(&shared, "the workers", worker::work),
        kept_up(&shared, "the ticker's watchdog", watchdog::watch),
    );
}

/// Keeps a part going: one that fails inside is told and started anew.
async fn kept_up<F>(shared: &Arc<Shared>, name: &str, part: fn(Arc<Shared>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        match AbortOnDropHandle::new(tokio::spawn(part(Arc::clone(shared)))).await {
            Ok(()) => return,
            Err(error) => {
                let text = format!("{name} failed inside (a bug) and begins anew: {error}");
                tracing::error!("{text}");
                let (kind, at) = (EventKind::Notice { level: Level::Error, text }, shared.now());
                let _ = shared.store.write(move |store| store.record(None, kind.clone(), at)).await;
                sleep(PAUSE).await;
            }
        }
    }
}
