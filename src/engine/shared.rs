//! What all parts of a running engine share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::broadcast;
use tokio_util::task::TaskTracker;

use super::approvals::Asking;
use super::background::{Background, Place};
use super::clock::Clock;
use super::cron::Cron;
use super::handles::Handles;
use super::live::LiveTurns;
use crate::agent::Agents;
use crate::config::{EngineConfig, HandlesConfig, Keys, QueueConfig, RecoveryConfig};
use crate::domain::Time;
use crate::domain::api::{EngineHold, EngineRun, EngineStatus, SessionRow, Update};
use crate::domain::id::{SessionId, SessionKey};
use crate::domain::queue::{Gate, Intent, Refusal, Source};
use crate::domain::reset::{Forecast, ResetPolicies};
use crate::domain::spending::Rules;
use crate::store::{Defaults, NewMessage, Store, StoreError};

/// How long the writes of a stop are repeated while the store can't be written: whoever stops an engine
/// because of that must not wait as long as one who goes on.
pub(super) const STOP_WAITS: Duration = Duration::from_secs(5);
/// How long a command about scheduled tasks, and a reading of their file, wait for a store that can't be
/// written: what stands in the file is taken over later anyway, and nobody else gets at it meanwhile.
pub(super) const JOBS_WAIT: Duration = Duration::from_secs(2);
/// How many updates a listener may lag behind before it loses some.
const UPDATES: usize = 4096;

/// The settings that the engine works by.
pub(super) struct Settings {
    pub(super) queue: QueueConfig,
    pub(super) engine: EngineConfig,
    pub(super) recovery: RecoveryConfig,
    pub(super) session_reset: ResetPolicies,
    pub(super) handles: HandlesConfig,
    pub(super) spending: Rules,
    pub(super) timezone: chrono_tz::Tz,
    pub(super) exports: PathBuf,
    pub(super) background: Place,
    /// Where the keys are that nothing which works here gets to see.
    pub(super) keys: Keys,
}

/// What all parts of a running engine share. What runs is the conductor's alone.
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) agents: Agents,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) settings: Settings,
    pub(super) run: EngineRun,
    pub(super) updates: broadcast::Sender<Update>,
    pub(super) live: LiveTurns,
    pub(super) asking: Asking,
    pub(super) handles: Arc<Handles>,
    pub(super) tasks: TaskTracker,
    pub(super) cron: Cron,
    pub(super) background: Background,
    status: Mutex<EngineStatus>,
}

impl Shared {
    pub(super) fn new(
        store: Store,
        agents: Agents,
        clock: Arc<dyn Clock>,
        settings: Settings,
        run: EngineRun,
        held: Option<EngineHold>,
        cron: Cron,
    ) -> Self {
        let status = EngineStatus {
            run: Some(run.clone()),
            gate: if held.is_some() { Gate::Held } else { Gate::Open },
            held,
            drain: None,
            agents: agents.roster(),
            busy_mode: settings.queue.busy_mode,
            max_queued: settings.queue.max_items,
            store_trouble: None,
            cron: Default::default(),
        };
        let tasks = TaskTracker::new();
        let handles = Handles::new(settings.handles, tasks.clone(), settings.engine.stop_grace);
        Self {
            store,
            agents,
            clock,
            settings,
            run,
            updates: broadcast::channel(UPDATES).0,
            live: LiveTurns::default(),
            asking: Asking::default(),
            tasks,
            cron,
            background: Background::default(),
            handles: Arc::new(handles),
            status: Mutex::new(status),
        }
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// What a session without a choice of its own goes by.
    pub(super) fn defaults(&self) -> Defaults {
        Defaults { busy_mode: self.settings.queue.busy_mode, max_queued: self.settings.queue.max_items }
    }

    /// A message that arrives now, with the reset rule of its session.
    pub(super) fn message(&self, to: SessionKey, text: String, intent: Intent, source: Source) -> NewMessage {
        let (policies, zone) = (&self.settings.session_reset, self.settings.timezone);
        NewMessage {
            reset: policies.rule_for(&to, zone),
            notice: policies.notice_for(&to),
            fresh: self.fresh_session(),
            at: self.now(),
            to,
            text,
            intent,
            source,
        }
    }

    /// A new session id for something that happens now.
    pub(super) fn fresh_session(&self) -> SessionId {
        SessionId::new(self.now(), fastrand::u32(..))
    }

    pub(super) fn status(&self) -> EngineStatus {
        self.lock_status().clone()
    }

    /// Changes the status and tells everyone who listens.
    pub(super) fn change_status(&self, change: impl FnOnce(&mut EngineStatus)) {
        let status = {
            let mut status = self.lock_status();
            change(&mut status);
            status.clone()
        };
        self.tell(Update::Engine(Box::new(status)));
    }

    /// Tells everyone who listens; nobody may.
    pub(super) fn tell(&self, update: Update) {
        let _ = self.updates.send(update);
    }

    /// An instant as the operator reads it.
    pub(super) fn show_time(&self, at: Time) -> String {
        at.with_timezone(&self.settings.timezone).format("%H:%M").to_string()
    }

    /// What the next message of a live session will meet by the reset policy.
    pub(super) fn forecast(&self, row: &SessionRow) -> Option<Forecast> {
        let Settings { session_reset, recovery, timezone, .. } = &self.settings;
        row.forecast_by(session_reset, *timezone, recovery.limits.freshness, self.now())
    }

    /// The status is whole at every moment, so a panic elsewhere while it was locked spoils nothing.
    fn lock_status(&self) -> MutexGuard<'_, EngineStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a caller is told when the store did not do it.
pub(super) fn refusal(error: StoreError) -> Refusal {
    match error {
        StoreError::Refused(refusal) => refusal,
        other => Refusal::Store(other.to_string()),
    }
}
