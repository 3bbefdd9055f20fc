//! What happens: the one owner of all running things.
//!
//! [`Engine::start`] takes a store and agents and gives an [`EngineHandle`]: commands in, queries
//! beside them, updates out. Behind it the conductor follows the store's feed of committed events
//! and is the only place that starts and stops turns.

mod alerts;
mod approvals;
mod background;
mod clock;
mod commands;
mod conductor;
mod cron;
mod export;
mod handles;
mod hiding;
mod leftovers;
mod live;
mod queries;
mod recorder;
mod shared;
mod slash;
mod texts;
mod turn;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, watch};

use crate::agent::{Agents, AlertCommand};
use crate::config::{
    CronConfig, EngineConfig, HandlesConfig, Home, Keys, QueueConfig, RecoveryConfig, SpendingConfig,
};
use crate::domain::api::{Answer, Command, EngineRun, Query, Reply, Update, Waited};
use crate::domain::event::{EventKind, Level};
use crate::domain::id::RunId;
use crate::domain::queue::Refusal;
use crate::domain::recovery::FoundReceipt;
use crate::domain::reset::ResetPolicies;
use crate::store::{Feed, NewGate, NewRun, Opened, Store, StoreError};

pub use clock::{Clock, SystemClock};
pub use cron::{
    answer_alone as answer_jobs_alone, change_alone as change_jobs_alone, missing as missing_parts,
};

use background::Place;
use conductor::Conductor;
use cron::Cron;
use shared::Shared;

/// What an engine is made of.
pub struct Parts {
    /// The home's store.
    pub store: Store,
    /// The store's feed of committed events.
    pub feed: mpsc::Receiver<Feed>,
    /// Who answers.
    pub agents: Agents,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// `[queue]`.
    pub queue: QueueConfig,
    /// `[engine]`.
    pub engine: EngineConfig,
    /// `[recovery]`.
    pub recovery: RecoveryConfig,
    /// `[session_reset]`.
    pub session_reset: ResetPolicies,
    /// `[handles]`.
    pub handles: HandlesConfig,
    /// `[alerts]`: what tells of an alert; none: only those who look see it.
    pub alert_command: Option<AlertCommand>,
    /// The daily limits.
    pub spending: SpendingConfig,
    /// `[cron]`.
    pub cron: CronConfig,
    /// The home: where jobs, skills, scripts and documents lie.
    pub home: Home,
    /// Where the keys of all agents are.
    pub keys: Keys,
    /// The program that can keep a background process: this one, and no older or newer.
    pub keeper: PathBuf,
    /// What the engine before left as its receipt.
    pub receipt: FoundReceipt,
    /// The operator's zone, for texts and for the hour of the daily reset.
    pub timezone: chrono_tz::Tz,
}

/// Whether an engine begins what waits as soon as it has started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartUp {
    /// It does.
    Run,
    /// The operator's hold comes first, with this reason.
    Hold(String),
}

/// The engine. It runs until it is told to stop.
pub struct Engine;

impl Engine {
    /// Starts an engine: kills what an earlier run's turns left running, takes over what was to go on in the
    /// background, records the run, ends what was
    /// left unfinished as interrupted, and begins what waits.
    pub async fn start(parts: Parts, start_up: StartUp) -> Result<EngineHandle, StoreError> {
        let now = parts.clock.now();
        let run = EngineRun {
            run: RunId(format!("{}-{:08x}", now.format("%Y%m%d_%H%M%S"), fastrand::u32(..))),
            pid: std::process::id(),
            since: now,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let held = parts.store.read(|queries| queries.engine_hold()).await?;
        let (orders, inbox) = mpsc::channel(16);
        let (stopped, has_stopped) = watch::channel(false);
        let feed = parts.feed;
        let background = Place { folder: parts.home.background(), keeper: parts.keeper };
        let cron = Cron::new(parts.cron, parts.home.clone(), run.run.clone());
        let shared = Arc::new(Shared::new(
            parts.store,
            parts.agents,
            parts.clock,
            shared::Settings {
                queue: parts.queue,
                engine: parts.engine,
                recovery: parts.recovery,
                session_reset: parts.session_reset,
                handles: parts.handles,
                spending: parts.spending.rules(parts.timezone),
                timezone: parts.timezone,
                exports: parts.home.exports(),
                background,
                keys: parts.keys,
            },
            run.clone(),
            held,
            cron,
        ));
        // The conductor follows the feed before the first transition, so that no event passes it by.
        let conductor = Conductor::new(Arc::clone(&shared), feed, inbox, orders.clone(), stopped);
        shared.tasks.spawn(conductor.run(parts.alert_command));
        let opened = open_run(&shared, run, parts.receipt, start_up).await?;
        shared.cron.start(&shared);
        shared.tasks.spawn(examine_store(Arc::clone(&shared)));
        tracing::info!(cut_turns = opened.cut_turns.len(), waiting = opened.waiting, "engine started");
        Ok(EngineHandle { shared, orders, stopped: has_stopped })
    }
}

async fn open_run(
    shared: &Arc<Shared>,
    run: EngineRun,
    receipt: FoundReceipt,
    start_up: StartUp,
) -> Result<Opened, StoreError> {
    let leftovers = leftovers::end(shared).await?;
    let left = background::find_left(shared).await?;
    let found = left.clone();
    let defaults = shared.defaults();
    let new = NewRun {
        run: run.run,
        pid: run.pid,
        version: run.version,
        at: run.since,
        defaults,
        agents: shared.agents.roster(),
        receipt,
        limits: shared.settings.recovery.limits,
        spending: shared.settings.spending,
    };
    let damage = shared.store.log_damage().cloned();
    if let Some(damage) = &damage {
        // Told at once: until it is in the store nothing else tells of it.
        tracing::error!("{}", damage.words());
    }
    let opened = shared
        .store
        .write(move |transitions| {
            if let StartUp::Hold(why) = &start_up {
                transitions.set_gate(&NewGate::Hold(why.clone()), new.at)?;
            }
            for (child, fate) in &leftovers {
                transitions.settle_process(child, fate, new.at)?;
            }
            for left in &found {
                left.keep(transitions, new.at)?;
            }
            if let Some(damage) = &damage {
                transitions.record(None, EventKind::LogDamaged(damage.clone()), new.at)?;
            }
            transitions.open_run(&new)
        })
        .await?;
    for process in left {
        process.take_over(shared);
    }
    Ok(opened)
}

/// An examination reads the whole file: whoever starts an engine sees the first screen before it begins.
const EXAMINE_AFTER: Duration = Duration::from_secs(1);

/// Looks once whether the store is damaged, beside all work. A store that closes gives it up.
async fn examine_store(shared: Arc<Shared>) {
    tokio::time::sleep(EXAMINE_AFTER).await;
    let text = match shared.store.readers().quick_check().await {
        Ok(damage) => match damage.first() {
            None => return,
            Some(first) => format!("state.db is damaged: {first}; stop the engine and restore a copy"),
        },
        Err(StoreError::Closed) => return,
        Err(error) => format!("state.db could not be examined: {error}"),
    };
    let (kind, at) = (EventKind::Notice { level: Level::Error, text: text.clone() }, shared.now());
    if let Err(error) = shared.store.write(move |t| t.record(None, kind.clone(), at)).await {
        tracing::error!(%error, "not in the store: {text}");
    }
}

/// The way to a running engine. Cheap to clone.
#[derive(Clone)]
pub struct EngineHandle {
    shared: Arc<Shared>,
    orders: mpsc::Sender<conductor::Order>,
    stopped: watch::Receiver<bool>,
}

impl EngineHandle {
    /// Carries a command out. What the reply tells is on disk. Dropping the future before it is
    /// ready leaves the command done or not done, never half done.
    pub async fn command(&self, command: Command) -> Result<Reply, Refusal> {
        commands::carry_out(&self.shared, &self.orders, command).await
    }

    /// Reads.
    pub async fn query(&self, query: Query) -> Result<Answer, StoreError> {
        queries::answer(&self.shared, query).await
    }

    /// Listens to updates from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Update> {
        self.shared.updates.subscribe()
    }

    /// Which life of the engine this is.
    pub fn run(&self) -> EngineRun {
        self.shared.run.clone()
    }

    /// What it cut at the end of its drain, by name.
    pub fn cut(&self) -> Vec<String> {
        let drain = self.shared.status().drain;
        drain.iter().flat_map(|drain| &drain.cut).map(Waited::name).collect()
    }

    /// Waits until the engine has stopped in order and let the store go.
    pub async fn stopped(&self) {
        let mut stopped = self.stopped.clone();
        // An error means that the conductor is gone, which is as stopped as can be.
        let _ = stopped.wait_for(|done| *done).await;
    }
}
