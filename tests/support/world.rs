//! An engine over a real store in a temporary home, with a scripted agent and a clock that stands still.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeZone, Utc};
use switchboard::agent::{Agents, AlertCommand, Backend};
use switchboard::config::{
    CronConfig, EngineConfig, HandlesConfig, Home, Keys, OnTerminalClose, QueueConfig, SpendingConfig, parse,
};
use switchboard::domain::Time;
use switchboard::domain::api::{
    Answer, Command, ConversationPage, Overview, Query, QueueRow, Reply, SessionRow, Update,
};
use switchboard::domain::event::{Event, EventKind, Level};
use switchboard::domain::history::Body;
use switchboard::domain::id::{ItemId, SessionId, SessionKey};
use switchboard::domain::queue::{Ack, BusyMode, Intent, ItemState, Refusal, Source};
use switchboard::domain::recovery::{FoundReceipt, Receipt};
use switchboard::domain::reset::ResetPolicies;
use switchboard::domain::slash::Ask;
use switchboard::domain::turn::TurnState;
use switchboard::engine::{Engine, EngineHandle, Parts, StartUp};
use switchboard::store::{Patience, Store};
use tokio::sync::broadcast;

use super::clock::StillClock;
use super::scripted::{Keeping, Played, Scripted, Steering};

/// How a test's engine is set up.
#[derive(Clone)]
pub struct Setup {
    pub busy_mode: BusyMode,
    pub max_items: usize,
    pub steering: Steering,
    pub handles: HandlesConfig,
    pub cron: CronConfig,
    pub keeping: Keeping,
    /// Other agents by name.
    pub others: Vec<(&'static str, Arc<dyn Backend>)>,
    /// Who of them works on a platform.
    pub platforms: Vec<(&'static str, &'static str)>,
    pub start_up: StartUp,
    pub patience: Patience,
    pub session_reset: ResetPolicies,
    pub spending: SpendingConfig,
    /// What stands in `config.toml` under `[alerts]`.
    pub alerts: String,
    pub timezone: chrono_tz::Tz,
    /// Where the clock stands at first.
    pub begins: Time,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            busy_mode: BusyMode::Replace,
            max_items: 500,
            steering: Steering::TakesNone,
            handles: HandlesConfig { idle: Duration::from_secs(3600), max: 128 },
            cron: parse("", Path::new("config.toml")).unwrap().config.cron,
            keeping: Keeping::BetweenTurns,
            others: Vec::new(),
            platforms: Vec::new(),
            start_up: StartUp::Run,
            patience: Patience::default(),
            session_reset: parse("", Path::new("config.toml")).unwrap().config.session_reset,
            spending: SpendingConfig::default(),
            alerts: String::new(),
            timezone: chrono_tz::Europe::Berlin,
            begins: monday_noon(),
        }
    }
}

/// A running engine and everything a test holds of it.
pub struct World {
    pub engine: EngineHandle,
    pub agent: Scripted,
    pub clock: Arc<StillClock>,
    updates: broadcast::Receiver<Update>,
    home: tempfile::TempDir,
}

/// The command that restarts an engine.
pub fn restart(ask: Ask) -> Command {
    Command::Restart { why: "test".to_owned(), ask }
}

fn alert_command(settings: &str, home: &Path) -> Option<AlertCommand> {
    let text = format!("[alerts]\n{settings}");
    AlertCommand::new(&parse(&text, &home.join("config.toml")).unwrap().config, home)
}

/// The instant at which every test begins.
pub fn monday_noon() -> Time {
    Utc.with_ymd_and_hms(2026, 11, 30, 12, 0, 0).unwrap()
}

impl World {
    pub async fn new(setup: Setup) -> Self {
        let clock = StillClock::stop_at(setup.begins);
        Self::start(setup, clock, tempfile::tempdir().unwrap(), FoundReceipt::Nothing).await
    }

    /// Starts on a home in which `prepare` has put something before.
    pub async fn prepared(setup: Setup, prepare: impl FnOnce(&Path)) -> Self {
        let home = tempfile::tempdir().unwrap();
        prepare(home.path());
        let clock = StillClock::stop_at(setup.begins);
        Self::start(setup, clock, home, FoundReceipt::Nothing).await
    }

    async fn start(
        setup: Setup,
        clock: Arc<StillClock>,
        home: tempfile::TempDir,
        receipt: FoundReceipt,
    ) -> Self {
        let (store, feed) = Store::open(&home.path().join("state.db"), setup.patience).unwrap();
        let (agent, backend) = Scripted::new(setup.steering, setup.keeping);
        let agents = setup.others.iter().fold(Agents::only(backend), |agents, (name, backend)| {
            agents.with(name.parse().unwrap(), Arc::clone(backend))
        });
        let platforms = setup.platforms.iter();
        let platforms = platforms.map(|(platform, name)| ((*platform).to_owned(), name.parse().unwrap()));
        let parts = Parts {
            store,
            feed,
            agents: agents.on_platforms(platforms.collect()),
            clock: Arc::clone(&clock) as Arc<dyn switchboard::engine::Clock>,
            queue: QueueConfig { busy_mode: setup.busy_mode, max_items: setup.max_items },
            engine: EngineConfig {
                approval_timeout: Duration::from_secs(600),
                drain_timeout: Duration::from_secs(30),
                stop_grace: Duration::from_secs(5),
                keep_events_days: 30,
                on_terminal_close: OnTerminalClose::Serve,
            },
            recovery: parse("", Path::new("config.toml")).unwrap().config.recovery,
            session_reset: setup.session_reset,
            handles: setup.handles,
            spending: setup.spending,
            alert_command: alert_command(&setup.alerts, home.path()),
            receipt,
            timezone: setup.timezone,
            cron: setup.cron,
            home: Home::resolve(Some(home.path())).unwrap(),
            keys: Keys { files: vec![home.path().join("key")], ..Keys::default() },
            keeper: PathBuf::from(env!("CARGO_BIN_EXE_switchboard")),
        };
        let engine = Engine::start(parts, setup.start_up).await.unwrap();
        let updates = engine.subscribe();
        Self { engine, agent, clock, updates, home }
    }

    /// Stops the engine in order and starts another on the same home.
    pub async fn restart(self, setup: Setup) -> Self {
        self.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
        self.next_start(setup).await
    }

    /// Lets the engine, which stops already, end in order, and starts another on the same home.
    pub async fn next_start(mut self, setup: Setup) -> Self {
        self.engine.stopped().await;
        self.start_again(setup).await;
        self
    }

    /// Starts another engine on the same home, after this one has stopped in order.
    pub async fn start_again(&mut self, setup: Setup) {
        let run = self.engine.run();
        let receipt = Receipt { run: run.run, pid: run.pid, at: run.since, cut: self.engine.cut() };
        let home = std::mem::replace(&mut self.home, tempfile::tempdir().unwrap());
        *self = Self::start(setup, Arc::clone(&self.clock), home, FoundReceipt::Whole(receipt)).await;
    }

    /// Starts another engine on a copy of what is committed in this home, as after a power cut.
    pub async fn copy(&self, setup: Setup) -> Self {
        self.start_on(self.copy_of_files(), setup).await
    }

    /// Starts another engine on such a copy.
    pub async fn start_on(&self, copy: tempfile::TempDir, setup: Setup) -> Self {
        Self::start(setup, Arc::clone(&self.clock), copy, FoundReceipt::Nothing).await
    }

    /// A home with what is committed in this one.
    pub fn copy_of_files(&self) -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        let between_commits = rusqlite::Connection::open(self.path("state.db")).unwrap();
        between_commits.busy_timeout(Duration::from_secs(10)).unwrap();
        between_commits.execute_batch("BEGIN IMMEDIATE").unwrap();
        for file in ["state.db", "state.db-wal"] {
            std::fs::copy(self.path(file), copy.path().join(file)).unwrap();
        }
        between_commits.execute_batch("ROLLBACK").unwrap();
        copy
    }

    /// Restarts the engine while a turn runs, and cuts it at the drain's end.
    pub async fn cut_by_a_restart(mut self, turn: Played) -> Self {
        self.engine.command(restart(Ask::Never)).await.unwrap();
        self.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
        self.advance(31).await;
        turn.obey_stop().await;
        self.next_start(Setup::default()).await
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub async fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds)).await;
    }

    /// Lets a moment pass, on this clock and on the machine's, for what the machine itself must do.
    pub async fn a_moment(&self) {
        let pause = || std::thread::sleep(Duration::from_millis(2));
        tokio::task::spawn_blocking(pause).await.unwrap();
        self.clock.advance(Duration::from_millis(20)).await;
    }

    /// What the clock shows.
    pub fn now(&self) -> Time {
        switchboard::engine::Clock::now(&*self.clock)
    }

    /// Moves the clock on to an instant.
    pub async fn advance_to(&self, at: Time) {
        let ahead = at - self.now();
        self.clock.advance(ahead.to_std().expect("the clock goes forward only")).await;
    }

    /// Types a draft into a local session.
    pub async fn type_into(&self, session: &str, text: &str) -> Result<Reply, Refusal> {
        self.engine
            .command(Command::Submit {
                to: SessionKey::local(session).unwrap(),
                text: text.to_owned(),
                intent: Intent::Plain,
                source: Source::Console,
            })
            .await
    }

    /// Types a draft that must be accepted as a message.
    pub async fn send(&self, session: &str, text: &str) -> (ItemId, Ack) {
        match self.type_into(session, text).await {
            Ok(Reply::Accepted { item, ack, .. }) => (item, ack),
            other => panic!("{text:?} was not accepted as a message: {other:?}"),
        }
    }

    /// Types a draft and gives its acknowledgement in words.
    pub async fn ack(&self, session: &str, text: &str) -> String {
        let (_, ack) = self.send(session, text).await;
        ack.words(|at| at.with_timezone(&chrono_tz::Europe::Berlin).format("%H:%M").to_string())
    }

    /// The next turn, which must be for this message.
    pub async fn turn_for(&self, message: &str) -> Played {
        let turn = self.agent.next_turn().await;
        assert_eq!(turn.message, message);
        turn
    }

    /// Lets a number of turns run, and gives their messages in order.
    pub async fn run_turns(&self, count: usize) -> Vec<String> {
        let mut messages = Vec::new();
        for _ in 0..count {
            let turn = self.agent.next_turn().await;
            messages.push(turn.message.clone());
            turn.answer("done").await;
        }
        messages
    }

    /// Reads updates until an event fits.
    pub async fn event(&mut self, fits: impl Fn(&EventKind) -> bool) -> Arc<Event> {
        loop {
            if let Update::Event(event) = self.updates.recv().await.unwrap()
                && fits(&event.kind)
            {
                return event;
            }
        }
    }

    /// Waits until the engine has taken in what a turn said.
    pub async fn heard(&mut self) {
        while !matches!(self.updates.recv().await.unwrap(), Update::Stream(_)) {}
    }

    pub async fn turn_ended(&mut self) -> Arc<Event> {
        self.event(|kind| matches!(kind, EventKind::TurnEnded { .. })).await
    }

    pub async fn row(&self, session: &str) -> SessionRow {
        let key = SessionKey::local(session).unwrap();
        match self.engine.query(Query::SessionAt { key }).await.unwrap() {
            Answer::Session(Some(row)) => *row,
            other => panic!("no session {session}: {other:?}"),
        }
    }

    pub async fn id(&self, session: &str) -> SessionId {
        self.row(session).await.session.id
    }

    pub async fn queue(&self, session: &str) -> Vec<QueueRow> {
        let session = self.id(session).await;
        match self.engine.query(Query::SessionQueue { session }).await.unwrap() {
            Answer::Queue(rows) => rows,
            other => panic!("{other:?}"),
        }
    }

    /// The texts that wait, in the order they will run.
    pub async fn waiting(&self, session: &str) -> Vec<String> {
        let rows = self.queue(session).await;
        rows.into_iter().filter(|row| row.item.state == ItemState::Waiting).map(|row| row.item.text).collect()
    }

    pub async fn conversation(&self, session: &SessionId) -> ConversationPage {
        let query = Query::Conversation { session: session.clone(), before: None, limit: 200 };
        match self.engine.query(query).await.unwrap() {
            Answer::Conversation(page) => page,
            other => panic!("{other:?}"),
        }
    }

    /// The words of a conversation, one line an entry.
    pub async fn transcript(&self, session: &str) -> Vec<String> {
        let page = self.conversation(&self.id(session).await).await;
        let line = |body: &Body| match body {
            Body::User { text, .. } => format!("you: {text}"),
            Body::Agent { text, .. } => format!("agent: {text}"),
            Body::Reasoning { text, .. } => format!("thinks: {text}"),
            Body::Plan(plan) => format!("plan: {}", plan.words(TurnState::Done, ", ")),
            Body::Tool { name, result, .. } => format!("tool: {name} {}", result.is_some()),
            Body::Resume { .. } => "told to go on".to_owned(),
            Body::Told { text } => format!("told: {text}"),
            Body::Notice { text } => format!("notice: {text}"),
            Body::Ended { outcome } => format!("ended: {:?}", outcome.state()),
        };
        page.entries.iter().map(|entry| line(&entry.body)).collect()
    }

    pub async fn overview(&self) -> Overview {
        match self.engine.query(Query::Overview).await.unwrap() {
            Answer::Overview(overview) => *overview,
            other => panic!("{other:?}"),
        }
    }

    /// All events so far, as words.
    pub async fn log(&self) -> Vec<String> {
        self.events().await.iter().map(|event| event.kind.words()).collect()
    }

    /// All events so far.
    pub async fn events(&self) -> Vec<Event> {
        let query = Query::Events {
            page: switchboard::domain::api::EventPage::Newest,
            level: Level::Debug,
            session: None,
            job: None,
            limit: 1_000,
        };
        match self.engine.query(query).await.unwrap() {
            Answer::Events(events) => events,
            other => panic!("{other:?}"),
        }
    }
}
