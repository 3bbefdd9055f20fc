//! An engine on a home, in this process: what `serve` and the console start.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

use super::client::Client;
use super::in_process::{InProcess, listen};
use super::owner;
use super::protocol::Hello;
use super::server::{Server, ServerError};
use crate::agent::{self, Agents, AlertCommand};
use crate::config::{Config, EngineLock, Home, HomeError, LockError, leave_receipt, take_receipt};
use crate::domain::Time;
use crate::domain::api::{EngineRun, Update};
use crate::domain::event::{Event, EventKind, Level};
use crate::domain::recovery::{AfterStop, FoundReceipt, Receipt};
use crate::engine::{Clock, Engine, EngineHandle, Parts, StartUp, SystemClock};
use crate::failpoint;
use crate::store::{Patience, Store, StoreError};

/// This program as it was started, whatever stands in its file's place now.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// An engine that owns a home and is reached at its socket.
pub struct Host {
    engine: EngineHandle,
    closing: JoinHandle<Ended>,
}

/// Why no engine was started. The home's store is as it was.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The home can't be used.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// Another engine owns it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Its store can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its store was opened but could not be written for as long as patience allows.
    #[error("{}: can't be written: {why}; mend that and start again", path.display())]
    Unwritable {
        /// The store.
        path: PathBuf,
        /// What the database said.
        why: String,
    },
    /// The configured agent can't be used.
    #[error(transparent)]
    Agent(#[from] agent::BuildError),
    /// Its socket can't be opened.
    #[error(transparent)]
    Socket(#[from] ServerError),
}

impl Host {
    /// Takes the home, makes what is missing in it, and starts its engine.
    ///
    /// The socket is there before the engine is: who connects meanwhile waits to be greeted.
    pub async fn start(home: &Home, config: &Config, start_up: StartUp) -> Result<Self, HostError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        home.create()?;
        let lock = match EngineLock::take(home, clock.now()) {
            Ok(lock) => lock,
            Err(error) => return Err(owner::named(home, error).await.into()),
        };
        if let Err(error) = home.clear_run() {
            tracing::warn!(%error, "{}: what an earlier engine left is not removed", home.run().display());
        }
        if let Err(error) = agent::hide_environment() {
            tracing::warn!(%error, "what agents run can read this process's environment under /proc");
        }
        let agents = Agents::build(config, home.root())?;
        let receipt = receipt_of(home, clock.now()).await?;
        failpoint::pass("start-without-receipt");
        let (store, feed) = Store::open(&home.state_db(), Patience::default())?;
        let socket = Server::bind(&home.socket())?;
        let parts = Parts {
            spending: config.spending,
            store,
            feed,
            agents,
            clock,
            queue: config.queue,
            engine: config.engine,
            recovery: config.recovery,
            session_reset: config.session_reset.clone(),
            handles: config.handles,
            alert_command: AlertCommand::new(config, home.root()),
            cron: config.cron,
            receipt,
            timezone: config.timezone,
            home: home.clone(),
            keys: config.keys(),
            keeper: PathBuf::from(THIS_PROGRAM),
        };
        let engine = Engine::start(parts, start_up).await.map_err(|error| match error {
            StoreError::Unavailable { why } => HostError::Unwritable { path: home.state_db(), why },
            other => other.into(),
        })?;
        failpoint::pass("start-recovered");
        let log = tokio::spawn(write_log(listen(&engine)));
        let (hello, for_clients) = (Hello::of(&engine.run()), engine.clone());
        let server = socket.serve(hello, move || InProcess::new(for_clients.clone()) as Arc<dyn Client>);
        let closing = tokio::spawn(close_after(home.clone(), engine.clone(), server, log, lock));
        Ok(Self { engine, closing })
    }

    /// A client of this engine, with an order of commands of its own.
    pub fn client(&self) -> Arc<dyn Client> {
        InProcess::new(self.engine.clone())
    }

    /// Tells, once the engine has stopped, what it cut at the end of its drain, by name.
    pub fn cut(&self) -> impl Fn() -> Vec<String> + use<> {
        let engine = self.engine.clone();
        move || engine.cut()
    }

    /// Waits until the engine has stopped and the socket and the home are free.
    pub async fn stopped(self) -> Ended {
        ended(self.closing.await)
    }
}

/// Lets the socket and the home go as soon as the engine has stopped, whoever stopped it.
async fn close_after(
    home: Home,
    engine: EngineHandle,
    server: Server,
    log: JoinHandle<Ended>,
    lock: EngineLock,
) -> Ended {
    engine.stopped().await;
    server.stop().await;
    let ended = ended(log.await);
    failpoint::pass("stop-before-receipt");
    if matches!(ended, Ended::InOrder(_)) {
        leave_receipt_of(home, &engine.run(), engine.cut()).await;
    }
    failpoint::pass("stop-with-receipt");
    drop(lock);
    ended
}

/// Reads the receipt of the engine before, and takes it away at once: it stands for one end only.
async fn receipt_of(home: &Home, now: Time) -> Result<FoundReceipt, HostError> {
    let home = home.clone();
    let taken = tokio::task::spawn_blocking(move || take_receipt(&home, now)).await;
    match taken {
        Ok(found) => Ok(found?),
        Err(error) => Ok(FoundReceipt::Broken { why: error.to_string() }),
    }
}

/// The last thing that an engine does before it lets the home go. Without it the next start counts as
/// one after a crash, which is safe.
async fn leave_receipt_of(home: Home, run: &EngineRun, cut: Vec<String>) {
    let receipt = Receipt { run: run.run.clone(), pid: run.pid, at: SystemClock.now(), cut };
    let left = tokio::task::spawn_blocking(move || leave_receipt(&home, &receipt)).await;
    match left {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(%error, "no receipt: the next start counts as one after a crash"),
        Err(error) => tracing::error!(%error, "no receipt: the next start counts as one after a crash"),
    }
}

fn ended(joined: Result<Ended, JoinError>) -> Ended {
    joined.unwrap_or_else(|error| {
        tracing::error!(%error, "a task of the engine's host failed");
        Ended::Broken
    })
}

/// How an engine ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// In order, and the store says so.
    InOrder(AfterStop),
    /// By a failure of its own, or without a store that could be written.
    Broken,
}

/// Writes every event into the log, so that its files tell what the store tells.
async fn write_log(mut updates: mpsc::Receiver<Update>) -> Ended {
    let (mut ended, mut after) = (Ended::Broken, AfterStop::End);
    while let Some(update) = updates.recv().await {
        match update {
            Update::Event(event) => {
                match event.kind {
                    EventKind::EngineStopping { then, .. } => after = then,
                    EventKind::EngineStopped { .. } => ended = Ended::InOrder(after),
                    _ => {}
                }
                write_event(&event);
            }
            Update::Lagged { missed } => {
                tracing::warn!("{missed} updates are missing here; `switchboard events` has all events");
            }
            Update::Stream(_) | Update::Doing(_) | Update::Engine(_) => {}
        }
    }
    ended
}

fn write_event(event: &Event) {
    let words = event.kind.words();
    let (seq, session) = (event.seq.0, event.session.as_ref().map(tracing::field::display));
    match event.kind.level() {
        Level::Debug => tracing::debug!(seq, session, "{words}"),
        Level::Info => tracing::info!(seq, session, "{words}"),
        Level::Warn => tracing::warn!(seq, session, "{words}"),
        Level::Error => tracing::error!(seq, session, "{words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::{RunId, Seq};

    async fn after_events(kinds: Vec<EventKind>) -> Ended {
        let (tell, updates) = mpsc::channel(8);
        for (kind, seq) in kinds.into_iter().zip(1..) {
            let at = chrono::DateTime::UNIX_EPOCH;
            let event = Event { seq: Seq(seq), at, session: None, kind };
            tell.send(Update::Event(Arc::new(event))).await.unwrap();
        }
        drop(tell);
        write_log(updates).await
    }

    #[tokio::test]
    async fn an_engine_ended_in_order_only_if_the_store_says_so() {
        let stopping = |then| EventKind::EngineStopping { why: "a test".to_owned(), then };
        let stopped = EventKind::EngineStopped { run: RunId("1".to_owned()) };
        assert_eq!(after_events(vec![]).await, Ended::Broken);
        let (end, restart) = (stopping(AfterStop::End), stopping(AfterStop::Restart));
        assert_eq!(after_events(vec![end.clone()]).await, Ended::Broken);
        for (last, after) in [(&end, AfterStop::End), (&restart, AfterStop::Restart)] {
            let told = vec![restart.clone(), last.clone(), stopped.clone()];
            assert_eq!(after_events(told).await, Ended::InOrder(after));
        }
    }
}
