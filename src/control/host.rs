//! An engine on a home, in this process: what `serve` and the console start.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::client::Client;
use super::in_process::{InProcess, listen};
use super::protocol::Hello;
use super::server::{Server, ServerError};
use crate::agent;
use crate::config::{Config, EngineLock, Home, HomeError, LockError};
use crate::domain::api::Update;
use crate::domain::event::{Event, Level};
use crate::engine::{Clock, Engine, EngineHandle, Parts, StartUp, SystemClock};
use crate::store::{Patience, Store, StoreError};

/// An engine that owns a home and is reached at its socket.
pub struct Host {
    engine: EngineHandle,
    server: Server,
    log: JoinHandle<()>,
    lock: EngineLock,
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
        let lock = EngineLock::take(home, clock.now())?;
        let backend = agent::build(&config.agent, home.root())?;
        let (store, feed) = Store::open(&home.state_db(), Patience::default())?;
        let socket = Server::bind(&home.socket())?;
        let parts = Parts {
            store,
            feed,
            backend,
            clock,
            queue: config.queue,
            engine: config.engine,
            timezone: config.timezone,
            exports: home.exports(),
        };
        let engine = Engine::start(parts, start_up).await?;
        let log = tokio::spawn(write_log(listen(&engine)));
        let (hello, for_clients) = (Hello::of(&engine.run()), engine.clone());
        let server = socket.serve(hello, move || InProcess::new(for_clients.clone()) as Arc<dyn Client>);
        Ok(Self { engine, server, log, lock })
    }

    /// A client of this engine, with an order of commands of its own.
    pub fn client(&self) -> Arc<dyn Client> {
        InProcess::new(self.engine.clone())
    }

    /// Waits until the engine has stopped, then lets the socket and the home go.
    pub async fn stopped(self) {
        self.engine.stopped().await;
        self.server.stop().await;
        if let Err(error) = self.log.await {
            tracing::error!(%error, "events were not written to the log");
        }
        drop(self.lock);
    }
}

/// Writes every event into the log, so that its files tell what the store tells.
async fn write_log(mut updates: mpsc::Receiver<Update>) {
    while let Some(update) = updates.recv().await {
        match update {
            Update::Event(event) => write_event(&event),
            Update::Lagged { missed } => {
                tracing::warn!("{missed} updates are missing here; `switchboard events` has all events");
            }
            Update::Stream(_) | Update::Engine(_) => {}
        }
    }
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
