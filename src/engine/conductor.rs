//! The conductor: the one owner of all running things.
//!
//! It follows the store's feed of committed events, in order. `TurnBegan` makes it start a turn's
//! task, `StopRequested` makes it stop one, `EngineStopping` makes it drain. It never waits for the
//! store, so the writer can always hand it the next events.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::task::AbortOnDropHandle;

use super::alerts;
use super::background;
use super::clock::LOOK_AGAIN;
use super::shared::{STOP_WAITS, Shared};
use super::turn::{self, Running};
use crate::agent::AlertCommand;
use crate::domain::Time;
use crate::domain::api::{Drain, EngineHold, Outliving, Update, Waited};
use crate::domain::cron::JobEvent;
use crate::domain::event::{Event, EventKind};
use crate::domain::id::TurnId;
use crate::domain::queue::{Ack, Gate, Lane};
use crate::domain::recovery::AfterStop;
use crate::domain::session::HoldReason;
use crate::domain::turn::{Begun, StopCause};
use crate::failpoint;
use crate::store::{Feed, StoreError, Transitions};

/// How long after the drain's end a turn may take to be kept as cut before the engine goes without it.
const LAST_WRITES: Duration = Duration::from_secs(10);
/// Old events are deleted this often, so many at a time.
const PRUNE_EVERY: Duration = Duration::from_secs(24 * 60 * 60);
const PRUNE_AT_ONCE: usize = 500;
/// Messages reach the search index this long after the turn that brought them, so many at a time.
const INDEX_AFTER: Duration = Duration::from_secs(2);
const INDEX_AT_ONCE: usize = 200;

/// What the conductor is told beside the feed.
pub(super) enum Order {
    /// Stop, though the store can't tell of it.
    Stop {
        /// Who asked.
        why: String,
        /// What comes after it.
        then: AfterStop,
    },
    /// Cut what the drain still waits for.
    CutNow,
    /// The stop is about to be called off; answers whether it still can be.
    CallOff(oneshot::Sender<bool>),
    /// The stop was not called off.
    NotCalledOff,
    /// When the next held queue of a dead backend is due.
    ProbeAt(Option<Time>),
    /// The last write was made or given up.
    Closed,
}

pub(super) struct Conductor {
    shared: Arc<Shared>,
    feed: mpsc::Receiver<Feed>,
    inbox: mpsc::Receiver<Order>,
    orders: mpsc::Sender<Order>,
    stopped: watch::Sender<bool>,
    turns: HashMap<TurnId, Running>,
    probe_at: Option<Time>,
    prune_at: Instant,
    index_at: Option<Instant>,
    alert_news: Arc<Notify>,
    stopping: Stopping,
    /// Finds out what lives in the background while the engine stops.
    outliving: Option<AbortOnDropHandle<()>>,
}

/// How far the engine is on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopping {
    /// It stays.
    No,
    /// It waits for running turns until then.
    Draining { until: Instant },
    /// It was about to drain until then, and waits for the store to keep that it does not stop.
    CallingOff { until: Instant },
    /// What still ran was cut; it waits for that to be kept until then.
    Cutting { until: Instant },
    /// The last write is on its way.
    Closing,
}

impl Conductor {
    pub(super) fn new(
        shared: Arc<Shared>,
        feed: mpsc::Receiver<Feed>,
        inbox: mpsc::Receiver<Order>,
        orders: mpsc::Sender<Order>,
        stopped: watch::Sender<bool>,
    ) -> Self {
        Self {
            shared,
            feed,
            inbox,
            orders,
            stopped,
            turns: HashMap::new(),
            probe_at: None,
            prune_at: Instant::now(),
            index_at: Some(Instant::now() + INDEX_AFTER),
            alert_news: Arc::default(),
            stopping: Stopping::No,
            outliving: None,
        }
    }

    /// Conducts until the engine has stopped.
    pub(super) async fn run(mut self, alert_command: Option<AlertCommand>) {
        let signs = AbortOnDropHandle::new(tokio::spawn(stamp_signs_of_life(Arc::clone(&self.shared))));
        let alerts = alert_command.map(|command| self.tell_alerts(command));
        let mut runs = self.shared.cron.running();
        self.probe();
        loop {
            let due = self.next_due();
            tokio::select! {
                biased;
                feed = self.feed.recv() => match feed {
                    Some(feed) => self.follow(feed),
                    None => break,
                },
                Some(order) = self.inbox.recv() => match order {
                    Order::Stop { why, then } => self.drain(&why, then, self.shared.now()),
                    Order::CutNow => self.cut(),
                    Order::CallOff(answer) => drop(answer.send(self.call_off())),
                    Order::NotCalledOff => self.drain_after_all(),
                    Order::ProbeAt(at) => self.plan_probe(at),
                    Order::Closed => break,
                },
                Ok(()) = runs.changed() => self.note_runs(),
                () = sleep_until(due) => self.act_on_time(),
            }
            self.close_if_drained();
        }
        drop((signs, alerts));
        self.shared.store.close().await;
        let _ = self.stopped.send(true);
    }

    fn tell_alerts(&self, command: AlertCommand) -> AbortOnDropHandle<()> {
        let telling = alerts::tell_alerts(Arc::clone(&self.shared), command, Arc::clone(&self.alert_news));
        AbortOnDropHandle::new(tokio::spawn(telling))
    }

    fn follow(&mut self, feed: Feed) {
        match feed {
            Feed::Committed(events) => {
                for event in events {
                    self.act_on(&event);
                    self.shared.cron.follow(&event);
                    self.shared.tell(Update::Event(event));
                }
            }
            Feed::Trouble(trouble) => {
                tracing::warn!(why = trouble.why, "the store can't be written");
                self.shared.change_status(|status| status.store_trouble = Some(trouble));
            }
            Feed::Recovered => self.shared.change_status(|status| status.store_trouble = None),
        }
    }

    fn act_on(&mut self, event: &Event) {
        if alerts::concerns(&event.kind) {
            self.alert_news.notify_one();
        }
        match &event.kind {
            EventKind::TurnBegan { turn, item, probe } => {
                failpoint::pass("turn-before-start");
                if let Some(session) = &event.session {
                    self.start(Begun {
                        turn: *turn,
                        session: session.clone(),
                        item: *item,
                        at: event.at,
                        probe: *probe,
                    });
                }
            }
            EventKind::StopRequested { turn, cause } => {
                failpoint::pass("stop-before-turn-knows");
                if let Some(running) = self.turns.get(turn) {
                    running.stop(*cause);
                }
            }
            EventKind::Steered { turn, item } => {
                if let Some(running) = self.turns.get(turn) {
                    running.steer(*turn, *item);
                }
            }
            EventKind::ApprovalSettled { approval, verdict, .. } => {
                self.shared.asking.settled(*approval, verdict);
            }
            EventKind::BackgroundBegan { .. } => self.note_background(),
            EventKind::BackgroundStopping { number, .. } => {
                if let Some(session) = &event.session {
                    self.shared.background.end(session, *number);
                }
                self.note_background();
            }
            EventKind::BackgroundEnded { number, .. } => {
                if let Some(session) = &event.session {
                    self.shared.background.ended(session, *number);
                }
                self.note_background();
            }
            EventKind::TurnEnded { turn, .. } => {
                failpoint::pass("turn-after-end");
                self.ended(*turn);
            }
            // The next turn opens a handle of its own, of the agent and with the model that was chosen, which remembers
            // no more than what is shown.
            EventKind::SessionEnded { .. }
            | EventKind::TurnsHidden { .. }
            | EventKind::ModelChosen { .. }
            | EventKind::AgentChosen { .. } => {
                if let Some(session) = &event.session {
                    self.shared.handles.forget(session);
                }
            }
            EventKind::QueueHeld { hold, .. }
                if matches!(hold.reason, HoldReason::BackendError | HoldReason::Spent) =>
            {
                self.plan_probe(hold.probe_at);
            }
            EventKind::Job { what: JobEvent::Held { until, .. }, .. } => self.plan_probe(Some(*until)),
            // Something came to wait, perhaps where nothing did and no probe was planned.
            EventKind::Accepted { ack: Ack::Queued { hold: Some(HoldReason::BackendError), .. }, .. }
            | EventKind::Restored { .. }
            | EventKind::Moved { lane: Lane::Queue, position: 1, .. }
            | EventKind::CarriedOver { .. } => self.plan_probe(Some(self.shared.now())),
            EventKind::EngineHeld { why } => {
                let held = EngineHold { since: event.at, why: why.clone() };
                self.shared.change_status(|status| {
                    status.held = Some(held);
                    if status.gate == Gate::Open {
                        status.gate = Gate::Held;
                    }
                });
            }
            EventKind::EngineReleased => {
                self.shared.change_status(|status| {
                    status.held = None;
                    if status.gate == Gate::Held {
                        status.gate = Gate::Open;
                    }
                });
                // No queue was tried while nothing could begin.
                self.probe();
            }
            EventKind::EngineStopping { why, then } => {
                failpoint::pass("stop-before-drain");
                self.drain(why, *then, event.at);
            }
            EventKind::EngineStopCalledOff => self.go_on(),
            _ => {}
        }
    }

    fn start(&mut self, begun: Begun) {
        let (running, control) = Running::new();
        self.turns.insert(begun.turn, running);
        let live = self.shared.live.add(begun.turn, begun.session.clone(), begun.at);
        let shared = Arc::clone(&self.shared);
        self.shared.tasks.spawn(turn::run(shared, begun, live, control));
    }

    /// The turn's end is kept. Its task may still run where `/new` ended it from outside.
    fn ended(&mut self, turn: TurnId) {
        if let Some(running) = self.turns.remove(&turn) {
            running.stop(StopCause::Reset);
        }
        self.shared.live.remove(turn);
        self.index_at.get_or_insert_with(|| Instant::now() + INDEX_AFTER);
        self.note_runs();
    }

    /// Begins to wait for what runs. Who asks for another end meanwhile changes that, and no time.
    fn drain(&mut self, why: &str, then: AfterStop, at: Time) {
        if self.stopping != Stopping::No {
            self.shared.change_status(|status| {
                if let Some(drain) = &mut status.drain {
                    (drain.why, drain.then) = (why.to_owned(), then);
                }
            });
            return;
        }
        let timeout = self.shared.settings.engine.drain_timeout;
        self.stopping = Stopping::Draining { until: Instant::now() + timeout };
        let drain = Drain {
            why: why.to_owned(),
            then,
            since: at,
            until: at + timeout,
            waits_for: self.waits_for(),
            cut: vec![],
            background: Outliving::default(),
        };
        self.shared.change_status(|status| {
            status.gate = Gate::Stopping;
            status.drain = Some(drain);
        });
        self.note_background();
    }

    /// Something began or ended in the background: whoever watches a stop is told what lives.
    fn note_background(&mut self) {
        if self.stopping == Stopping::No {
            return;
        }
        let shared = Arc::clone(&self.shared);
        self.outliving = Some(AbortOnDropHandle::new(tokio::spawn(async move {
            let found = background::outliving(&shared).await;
            let news = shared.status().drain.is_some_and(|drain| drain.background != found);
            if news {
                shared.change_status(|status| {
                    if let Some(drain) = &mut status.drain {
                        drain.background = found;
                    }
                });
            }
        })));
    }

    /// A run began, ended, or does something else.
    fn note_runs(&self) {
        if self.stopping != Stopping::No {
            self.tell_drain();
        }
    }

    fn tell_drain(&self) {
        let waits_for = self.waits_for();
        self.shared.change_status(|status| {
            if let Some(drain) = &mut status.drain {
                drain.waits_for = waits_for;
            }
        });
    }

    fn waits_for(&self) -> Vec<Waited> {
        let mut waits_for = self.shared.live.waited();
        waits_for.extend(self.shared.cron.scripts());
        waits_for.sort();
        waits_for
    }

    /// Nothing is cut from now on, if nothing was; where the engine does not stop the store says so.
    fn call_off(&mut self) -> bool {
        if let Stopping::Draining { until } = self.stopping {
            self.stopping = Stopping::CallingOff { until };
        }
        matches!(self.stopping, Stopping::No | Stopping::CallingOff { .. })
    }

    fn drain_after_all(&mut self) {
        if let Stopping::CallingOff { until } = self.stopping {
            self.stopping = Stopping::Draining { until };
        }
    }

    fn go_on(&mut self) {
        self.stopping = Stopping::No;
        self.shared.change_status(|status| {
            status.drain = None;
            status.gate = if status.held.is_some() { Gate::Held } else { Gate::Open };
        });
        self.probe();
    }

    fn cut(&mut self) {
        if !matches!(self.stopping, Stopping::Draining { .. }) {
            return;
        }
        let until = Instant::now() + self.shared.settings.engine.stop_grace + LAST_WRITES;
        self.stopping = Stopping::Cutting { until };
        let cut = self.waits_for();
        self.shared.change_status(|status| {
            if let Some(drain) = &mut status.drain {
                drain.cut = cut;
            }
        });
        for running in self.turns.values() {
            running.stop(StopCause::Shutdown);
        }
        self.shared.cron.cut();
    }

    fn close_if_drained(&mut self) {
        let idle = || self.turns.is_empty() && *self.shared.cron.running().borrow() == 0;
        let drained = match self.stopping {
            Stopping::No | Stopping::CallingOff { .. } | Stopping::Closing => false,
            Stopping::Draining { .. } => idle(),
            Stopping::Cutting { until } => idle() || Instant::now() >= until,
        };
        if drained {
            self.close();
        }
    }

    fn close(&mut self) {
        self.stopping = Stopping::Closing;
        self.shared.cron.end();
        let (shared, orders) = (Arc::clone(&self.shared), self.orders.clone());
        self.shared.tasks.spawn(async move {
            shared.handles.close_all().await;
            shared.background.let_go();
            let processes = background::outliving(&shared).await.go_on;
            let (run, at) = (shared.run.run.clone(), shared.now());
            let closed = shared.store.write_within(STOP_WAITS, move |store| {
                if !processes.is_empty() {
                    let processes = processes.clone();
                    store.record(None, EventKind::BackgroundLeft { processes }, at)?;
                }
                store.close_run(&run, at)
            });
            let closed = closed.await;
            if let Err(error) = closed {
                tracing::error!(%error, "the orderly stop is not in the store");
            }
            let _ = orders.send(Order::Closed).await;
        });
    }

    fn next_due(&self) -> Instant {
        let mut due = self.index_at.map_or(self.prune_at, |at| at.min(self.prune_at));
        if let Stopping::Draining { until } | Stopping::Cutting { until } = self.stopping {
            due = due.min(until);
        }
        if let Some(at) = self.shared.handles.next_due() {
            due = due.min(at);
        }
        if let Some(at) = self.probe_at {
            let wait = (at - self.shared.now()).to_std().unwrap_or_default().min(LOOK_AGAIN);
            due = due.min(Instant::now() + wait);
        }
        due
    }

    fn act_on_time(&mut self) {
        let now = Instant::now();
        if matches!(self.stopping, Stopping::Draining { until } if now >= until) {
            self.cut();
        }
        if self.probe_at.is_some_and(|at| at <= self.shared.now()) {
            self.probe();
        }
        self.shared.handles.recycle();
        if now >= self.prune_at {
            self.prune_at = now + PRUNE_EVERY;
            self.prune();
        }
        if self.index_at.is_some_and(|at| now >= at) {
            self.index_at = None;
            self.index();
        }
    }

    /// Queues are tried at a time, or before it if that is planned already.
    fn plan_probe(&mut self, at: Option<Time>) {
        self.probe_at = match (self.probe_at, at) {
            (Some(planned), Some(at)) => Some(planned.min(at)),
            (planned, at) => planned.or(at),
        };
    }

    /// Tries the queues whose backend is due, and learns when the next one is.
    fn probe(&mut self) {
        self.probe_at = None;
        let (shared, orders) = (Arc::clone(&self.shared), self.orders.clone());
        self.shared.tasks.spawn(async move {
            let at = shared.now();
            match shared.store.write(move |transitions| transitions.probe_queues(at)).await {
                Ok(next) => {
                    shared.cron.claim_again();
                    drop(orders.send(Order::ProbeAt(next)).await);
                }
                Err(error) => {
                    tracing::warn!(%error, "held queues could not be tried, again in a minute");
                    sleep(LOOK_AGAIN).await;
                    let _ = orders.send(Order::ProbeAt(Some(shared.now()))).await;
                }
            }
        });
    }

    /// Takes new messages into the search index, behind the messages' own way.
    fn index(&self) {
        let shared = Arc::clone(&self.shared);
        self.shared.tasks.spawn(async move {
            loop {
                match shared.store.index_messages(INDEX_AT_ONCE).await {
                    Ok(INDEX_AT_ONCE) => tokio::task::yield_now().await,
                    Ok(_) => return,
                    Err(error) => {
                        return tracing::warn!(%error, "new messages are not in the search index yet");
                    }
                }
            }
        });
    }

    fn prune(&self) {
        let shared = Arc::clone(&self.shared);
        self.shared.tasks.spawn(async move {
            let days = i64::from(shared.settings.engine.keep_events_days);
            let before = shared.now() - chrono::TimeDelta::days(days);
            if let Err(error) = shared.store.write(move |transitions| transitions.prune_alerts(before)).await
            {
                tracing::warn!(%error, "resolved alerts were not forgotten");
            }
            let (events, approvals, processes) = (
                prune_all(&shared, move |store, most| store.prune_events(before, most)).await,
                prune_all(&shared, move |store, most| store.prune_approvals(before, most)).await,
                prune_all(&shared, move |store, most| store.prune_background(before, most)).await,
            );
            for (what, pruned) in [
                ("old events", events),
                ("settled questions", approvals),
                ("background processes that ended", processes),
                ("outputs of background processes", background::sweep_all(&shared).await),
            ] {
                if let Err(error) = pruned {
                    tracing::warn!(%error, "{what} were not all deleted");
                }
            }
        });
    }
}

/// Deletes what is old, so little at once that nobody waits for it.
async fn prune_all<F>(shared: &Shared, prune: F) -> Result<(), StoreError>
where
    F: Fn(&mut dyn Transitions, usize) -> Result<usize, StoreError> + Copy + Send + 'static,
{
    while shared.store.write(move |store| prune(store, PRUNE_AT_ONCE)).await? == PRUNE_AT_ONCE {
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Stamps that this engine is alive, one stamp at a time: the next start learns from it when this one
/// died. That it began is a sign already.
async fn stamp_signs_of_life(shared: Arc<Shared>) {
    loop {
        sleep(shared.settings.recovery.sign_of_life).await;
        let at = shared.now();
        match shared.store.write(move |transitions| transitions.stamp_run(at)).await {
            Ok(()) => {}
            Err(StoreError::Closed) => return,
            Err(error) => tracing::warn!(%error, "the sign of life is not in the store"),
        }
    }
}
