//! The runs that go on in this engine: how each is stopped, and what tells that it lives.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::domain::api::Waited;
use crate::domain::cron::{ClaimKey, JobId};
use crate::domain::id::{ExecutionId, TurnId};

/// Why a run is to end before its work is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Halt {
    /// The operator stopped it.
    Operator,
    /// A newer run of its job takes its place.
    Replaced,
    /// It took too long, in these words.
    TimedOut(String),
    /// The engine stops and the drain has ended.
    Shutdown,
    /// Its claim is another's now: nothing of it counts any more.
    Lost,
}

/// All runs that go on.
pub(super) struct Runs {
    live: Mutex<HashMap<ExecutionId, Arc<LiveRun>>>,
    count: watch::Sender<usize>,
}

/// A run that goes on.
pub(super) struct LiveRun {
    pub(super) job: JobId,
    pub(super) key: ClaimKey,
    halt: watch::Sender<Option<Halt>>,
    turn: Mutex<Option<TurnId>>,
    /// Whether its script runs.
    in_script: AtomicBool,
    turn_ended: Notify,
    /// How often its own task has looked after it.
    looks: AtomicU64,
    progress: Mutex<Instant>,
    task: Mutex<Option<AbortHandle>>,
}

impl Runs {
    pub(super) fn new() -> Self {
        Self { live: Mutex::default(), count: watch::channel(0).0 }
    }

    pub(super) fn add(&self, job: JobId, key: ClaimKey) -> Arc<LiveRun> {
        let run = Arc::new(LiveRun {
            job,
            key: key.clone(),
            halt: watch::channel(None).0,
            turn: Mutex::default(),
            in_script: AtomicBool::new(false),
            turn_ended: Notify::new(),
            looks: AtomicU64::new(0),
            progress: Mutex::new(Instant::now()),
            task: Mutex::default(),
        });
        self.lock().insert(key.execution, Arc::clone(&run));
        self.tell_count();
        run
    }

    pub(super) fn remove(&self, execution: ExecutionId) {
        self.lock().remove(&execution);
        self.tell_count();
    }

    /// The run of an execution.
    pub(super) fn of(&self, execution: ExecutionId) -> Option<Arc<LiveRun>> {
        self.lock().get(&execution).cloned()
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Arc<LiveRun>> {
        self.lock().values().cloned().collect()
    }

    /// The script of a run begins.
    pub(super) fn script_begins(&self, run: &LiveRun) {
        run.in_script.store(true, Ordering::Relaxed);
        self.tell_count();
    }

    /// The script of a run has ended.
    pub(super) fn script_ended(&self, run: &LiveRun) {
        run.in_script.store(false, Ordering::Relaxed);
        self.tell_count();
    }

    /// The scripts that run.
    pub(super) fn scripts(&self) -> Vec<Waited> {
        let runs = self.lock();
        let in_script = runs.values().filter(|run| run.in_script.load(Ordering::Relaxed));
        in_script.map(|run| Waited::Script { job: run.job.clone() }).collect()
    }

    /// How many there are, and when that or what they do changes.
    pub(super) fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// Tells those to end whose place a newer one takes.
    pub(super) fn replace(&self, replaced: &[ExecutionId]) {
        replaced.iter().filter_map(|execution| self.of(*execution)).for_each(|run| run.halt(Halt::Replaced));
    }

    /// Tells all of them to end.
    pub(super) fn halt_all(&self, halt: &Halt) {
        self.lock().values().for_each(|run| run.halt(halt.clone()));
    }

    /// The end of a turn is kept: the run that waits for it goes on.
    pub(super) fn turn_ended(&self, turn: TurnId) {
        if let Some(run) = self.lock().values().find(|run| run.turn() == Some(turn)) {
            run.turn_ended.notify_one();
        }
    }

    fn tell_count(&self) {
        let count = self.lock().len();
        self.count.send_replace(count);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ExecutionId, Arc<LiveRun>>> {
        locked(&self.live)
    }
}

impl LiveRun {
    /// Tells the run to end; the first reason stays.
    pub(super) fn halt(&self, halt: Halt) {
        self.halt.send_if_modified(|current| match current {
            Some(_) => false,
            None => {
                *current = Some(halt);
                true
            }
        });
    }

    /// Why the run is to end, if it is.
    pub(super) fn halted(&self) -> Option<Halt> {
        self.halt.borrow().clone()
    }

    /// Waits until the run is to end.
    pub(super) async fn until_halted(&self) -> Halt {
        let mut halt = self.halt.subscribe();
        match halt.wait_for(Option::is_some).await.map(|halt| halt.clone()) {
            Ok(Some(halt)) => halt,
            // The sender is this run's own: it is there as long as anyone waits here.
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }

    /// The turn of its agent, from now on.
    pub(super) fn works_in(&self, turn: TurnId) {
        *locked(&self.turn) = Some(turn);
    }

    /// The turn of its agent.
    pub(super) fn turn(&self) -> Option<TurnId> {
        *locked(&self.turn)
    }

    /// Waits until the end of its turn is told. One that was told before counts.
    pub(super) async fn until_turn_ended(&self) {
        self.turn_ended.notified().await;
    }

    /// Something came of its work.
    pub(super) fn note_progress(&self) {
        *locked(&self.progress) = Instant::now();
    }

    /// When something came of its work last.
    pub(super) fn last_progress(&self) -> Instant {
        *locked(&self.progress)
    }

    /// Its own task looks after it.
    pub(super) fn note_look(&self) {
        self.looks.fetch_add(1, Ordering::Relaxed);
    }

    /// How often its own task has looked after it.
    pub(super) fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }

    /// The task that runs it.
    pub(super) fn run_by(&self, task: AbortHandle) {
        *locked(&self.task) = Some(task);
    }

    /// Ends its task, which does not listen any more.
    pub(super) fn abort(&self) {
        if let Some(task) = &*locked(&self.task) {
            task.abort();
        }
    }
}

/// What is locked is whole at every moment, so a panic elsewhere while it was locked spoils nothing.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
