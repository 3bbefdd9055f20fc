//! A real engine on a real store, reached at its socket and busy at an exact pace. It runs in the
//! bench's process, so that what it costs is not the console's.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use switchboard::agent::{AgentError, AgentEvent, Agents, Backend, Handle, SessionContext, Turn};
use switchboard::config::{EngineConfig, Home, OnTerminalClose, QueueConfig, parse};
use switchboard::control::protocol::Hello;
use switchboard::control::{Client, InProcess, Server};
use switchboard::domain::api::{Command, Update};
use switchboard::domain::id::SessionKey;
use switchboard::domain::queue::{BusyMode, Intent, Source};
use switchboard::domain::recovery::FoundReceipt;
use switchboard::engine::{Engine, EngineHandle, Parts, StartUp, SystemClock};
use switchboard::store::{Patience, Store};
use tokio::runtime::Runtime;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

/// So many turns begin a second, in as many sessions in turn as are not in front.
const TURNS: u64 = 200;
/// What each of them makes: accepted, begun, a tool called and done, ended.
const COMMITTED_A_TURN: u64 = 5;
/// And so many pieces of its answer, over about a second.
const PIECES_A_TURN: u64 = 19;
const PIECE_EVERY: Duration = Duration::from_millis(50);
/// The session in front streams all the time, so many pieces a second.
const IN_FRONT: u64 = 200;
/// What comes of it: events a second.
pub(crate) const EVENTS: u64 = TURNS * (COMMITTED_A_TURN + PIECES_A_TURN) + IN_FRONT;

/// The message that makes a turn stream until it is stopped.
const ENDLESS: &str = "go on";

pub(crate) struct BusyEngine {
    runtime: Runtime,
    engine: EngineHandle,
    told: Arc<Told>,
    _server: Server,
}

/// What the engine told so far.
#[derive(Default)]
pub(crate) struct Told {
    committed: AtomicU64,
    pieces: AtomicU64,
}

impl BusyEngine {
    /// Starts the engine; it is idle until [`Self::begin`].
    pub(crate) fn start(home: &Path) -> Self {
        let runtime = Runtime::new().unwrap();
        let entered = runtime.enter();
        let home = Home::resolve(Some(home)).unwrap();
        home.create().unwrap();
        let (store, feed) = Store::open(&home.state_db(), Patience::default()).unwrap();
        let config = parse("", Path::new("config.toml")).unwrap().config;
        let parts = Parts {
            keys: config.keys(),
            spending: switchboard::config::SpendingConfig::default(),
            store,
            feed,
            agents: Agents::only(Arc::new(Paced)),
            clock: Arc::new(SystemClock),
            queue: QueueConfig { busy_mode: BusyMode::Queue, max_items: 500 },
            engine: EngineConfig {
                approval_timeout: Duration::from_secs(600),
                drain_timeout: Duration::from_secs(30),
                stop_grace: Duration::from_secs(5),
                keep_events_days: 30,
                on_terminal_close: OnTerminalClose::Serve,
            },
            recovery: config.recovery,
            handles: config.handles,
            session_reset: config.session_reset,
            alert_command: None,
            receipt: FoundReceipt::Nothing,
            timezone: chrono_tz::UTC,
            cron: config.cron,
            home: home.clone(),
            keeper: env!("CARGO_BIN_EXE_switchboard").into(),
        };
        let engine = runtime.block_on(Engine::start(parts, StartUp::Run)).unwrap();
        let for_clients = engine.clone();
        let server = Server::bind(&home.socket())
            .unwrap()
            .serve(Hello::of(&engine.run()), move || InProcess::new(for_clients.clone()) as Arc<dyn Client>);
        let told = Arc::new(Told::default());
        tokio::spawn(count(engine.clone(), Arc::clone(&told)));
        drop(entered);
        Self { runtime, engine, told, _server: server }
    }

    /// Begins: the session `front` streams, and the `others` have turns.
    pub(crate) fn begin(&self, front: u32, others: u32) {
        let engine = self.engine.clone();
        self.runtime.spawn(submit(engine.clone(), front, ENDLESS));
        self.runtime.spawn(async move {
            let mut beat = interval(Duration::from_secs(1) / TURNS as u32);
            for number in (0..others).cycle() {
                beat.tick().await;
                tokio::spawn(submit(engine.clone(), number, "What is new?"));
            }
        });
    }

    /// What it told so far: committed events, and pieces of what streams.
    pub(crate) fn told(&self) -> (u64, u64) {
        (self.told.committed.load(Ordering::Relaxed), self.told.pieces.load(Ordering::Relaxed))
    }
}

async fn submit(engine: EngineHandle, number: u32, text: &str) {
    let to = SessionKey::local(&format!("bench-{number}")).unwrap();
    let submit =
        Command::Submit { to, text: text.to_owned(), intent: Intent::Plain, source: Source::Console };
    engine.command(submit).await.unwrap();
}

async fn count(engine: EngineHandle, told: Arc<Told>) {
    let mut updates = engine.subscribe();
    loop {
        match updates.recv().await {
            Ok(Update::Event(_)) => told.committed.fetch_add(1, Ordering::Relaxed),
            Ok(Update::Stream(_)) => told.pieces.fetch_add(1, Ordering::Relaxed),
            Ok(Update::Doing(_) | Update::Engine(_) | Update::Lagged { .. }) => 0,
            Err(RecvError::Lagged(missed)) => panic!("{missed} updates were not counted"),
            Err(RecvError::Closed) => return,
        };
    }
}

/// An agent that speaks at an exact pace.
struct Paced;

impl Backend for Paced {
    fn label(&self) -> String {
        "bench".to_owned()
    }

    fn steerable(&self) -> bool {
        false
    }

    fn keeps_handles(&self) -> bool {
        true
    }

    fn open<'a>(&'a self, _: &'a SessionContext) -> BoxFuture<'a, Result<Box<dyn Handle>, AgentError>> {
        async { Ok(Box::new(Paced) as Box<dyn Handle>) }.boxed()
    }
}

impl Handle for Paced {
    fn run<'a>(
        &'a mut self,
        turn: Turn,
        output: mpsc::Sender<AgentEvent>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<(), AgentError>> {
        let speak = async move {
            if turn.message == ENDLESS { stream(&output).await } else { answer(&output).await }
        };
        async move { cancel.run_until_cancelled(speak).await.unwrap_or(Err(AgentError::Cancelled)) }.boxed()
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        async {}.boxed()
    }
}

async fn stream(output: &mpsc::Sender<AgentEvent>) -> Result<(), AgentError> {
    let mut beat = interval(Duration::from_secs(1) / IN_FRONT as u32);
    for piece in (1_u64..).map(word) {
        beat.tick().await;
        tell(output, AgentEvent::Text(piece)).await?;
    }
    Ok(())
}

async fn answer(output: &mpsc::Sender<AgentEvent>) -> Result<(), AgentError> {
    let mut beat = interval(PIECE_EVERY);
    for n in 1..=PIECES_A_TURN {
        beat.tick().await;
        if n == PIECES_A_TURN / 2 {
            let (call, name, arguments) =
                ("call_1".to_owned(), "search".to_owned(), r#"{"words":"news"}"#.to_owned());
            tell(output, AgentEvent::ToolCall { call: call.clone(), name, arguments }).await?;
            tell(output, AgentEvent::ToolResult { call, ok: true, output: "nothing new".to_owned() }).await?;
        }
        tell(output, AgentEvent::Text(word(n))).await?;
    }
    Ok(())
}

/// As long as a model's pieces are; a line has twelve of them.
fn word(n: u64) -> String {
    let end = if n.is_multiple_of(12) { '\n' } else { ' ' };
    format!("word{}{end}", n % 100)
}

async fn tell(output: &mpsc::Sender<AgentEvent>, event: AgentEvent) -> Result<(), AgentError> {
    output.send(event).await.map_err(|_| AgentError::Cancelled)
}
