//! States of the screen, made as a person's are: through `update`, with an engine's answers.

use std::collections::{HashMap, VecDeque};

use chrono::TimeDelta;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use switchboard::console::app::key::Key;
use switchboard::console::app::keymap::KeyMap;
use switchboard::console::app::model::{Access, Pastes};
use switchboard::console::app::msg::{MouseOwner, Reach};
use switchboard::console::app::{Effect, Model, Msg, Start, start, update};
use switchboard::console::ui::Ui;
use switchboard::console::ui::glyphs::UNICODE;
use switchboard::console::ui::theme::Theme;
use switchboard::domain::Time;
use switchboard::domain::agent::{AgentName, KnownAgent, Roster};
use switchboard::domain::alert::Alert;
use switchboard::domain::api::{
    Answer, ComposerMemory, ConversationPage, EngineRun, EngineStatus, EventPage, LiveOutput, Overview,
    Query, QueueRow, RecoveryPage, Report, RunningTurn, SessionPage, SessionRow, StreamKind,
};
use switchboard::domain::approval::{Always, Approval, Question};
use switchboard::domain::event::{Event, EventKind};
use switchboard::domain::history::{Body, Entry, ToolResult};
use switchboard::domain::id::{
    ApprovalId, ChatType, ItemId, KeyParts, MessageId, RunId, Seq, SessionId, SessionKey, TurnId,
};
use switchboard::domain::plan::{Plan, PlanStatus};
use switchboard::domain::queue::{Ack, BusyMode, Gate, Item, ItemState, Lane, Source};
use switchboard::domain::reset::Background;
use switchboard::domain::session::{ContextUse, Hold, HoldReason, Session, SessionState, Usage};
use switchboard::domain::spending::{Most, Reached, SpentHold, Today, Used, Whose};
use switchboard::domain::turn::{Outcome, StopCause, TurnState};

use super::alerts::alerts_of;

use super::jobs::Jobs;

/// The instant at which the tests look: a Sunday, 14:02 in Berlin.
pub fn now() -> Time {
    "2026-11-29T13:02:20Z".parse().unwrap()
}

pub fn ago(seconds: i64) -> Time {
    now() - TimeDelta::seconds(seconds)
}

/// An engine that answers from what it holds and changes nothing.
#[derive(Clone)]
pub struct Engine {
    pub status: EngineStatus,
    pub sessions: Vec<SessionRow>,
    pub conversations: HashMap<SessionId, ConversationPage>,
    pub queue: Vec<QueueRow>,
    pub events: Vec<Event>,
    pub drafts: HashMap<SessionKey, ComposerMemory>,
    /// A page for each start, newest first; each knows the start that it is of.
    pub recovery: Vec<RecoveryPage>,
    pub report: Report,
    pub jobs: Jobs,
}

/// The default agent alone, by its label.
pub fn only_agent(label: &str) -> Roster {
    let known = KnownAgent { label: label.to_owned(), steerable: false };
    Roster { known: [(AgentName::default(), known)].into(), ..Roster::default() }
}

impl Engine {
    /// A home in which nothing has happened.
    pub fn fresh() -> Self {
        let status = EngineStatus {
            run: Some(EngineRun {
                run: RunId("run-1".to_owned()),
                pid: 4121,
                since: ago(3600),
                version: "0.1.0".to_owned(),
            }),
            gate: Gate::Open,
            held: None,
            drain: None,
            agents: only_agent("practice agent, offline"),
            busy_mode: BusyMode::Replace,
            max_queued: 100,
            store_trouble: None,
            cron: Default::default(),
        };
        Self {
            status,
            sessions: Vec::new(),
            conversations: HashMap::new(),
            queue: Vec::new(),
            events: Vec::new(),
            drafts: HashMap::new(),
            recovery: Vec::new(),
            report: Report::default(),
            jobs: Jobs::none(now()),
        }
    }

    fn answer(&self, query: &Query) -> Answer {
        match query {
            Query::Overview => Answer::Overview(Box::new(self.overview())),
            Query::Sessions { filter, after, limit } => {
                Answer::Sessions(self.page(filter, after.is_some(), *limit))
            }
            Query::History { limit } => Answer::Sessions(self.page("", false, *limit)),
            Query::SessionsNamed { .. } => Answer::Sessions(SessionPage::default()),
            Query::Session { session } => {
                let row = self.sessions.iter().find(|row| row.session.id == *session);
                Answer::Session(row.cloned().map(Box::new))
            }
            Query::SessionAt { key } => {
                let row = self.sessions.iter().find(|row| row.session.key == *key);
                Answer::Session(row.cloned().map(Box::new))
            }
            Query::Conversation { session, before: None, .. } => {
                Answer::Conversation(self.conversations.get(session).cloned().unwrap_or_default())
            }
            Query::Conversation { .. } => Answer::Conversation(ConversationPage::default()),
            Query::SessionQueue { session } => {
                let own = self.queue.iter().filter(|row| row.item.session == *session);
                Answer::Queue(own.cloned().collect())
            }
            Query::Backlog { .. } => {
                let alive =
                    |row: &&QueueRow| matches!(row.item.state, ItemState::Waiting | ItemState::Running);
                Answer::Queue(self.queue.iter().filter(alive).cloned().collect())
            }
            Query::Events { page: EventPage::Newest, level, .. } => {
                let told = self.events.iter().filter(|event| event.kind.level() >= *level);
                Answer::Events(told.cloned().collect())
            }
            Query::Events { .. } => Answer::Events(Vec::new()),
            Query::Search { .. } => Answer::Hits(Vec::new()),
            Query::Recovery { start, .. } => Answer::Recovery(Box::new(self.recovery_page(start.as_ref()))),
            Query::Report { .. } => Answer::Report(Box::new(self.report.clone())),
            Query::Processes { .. } => Answer::Processes(Vec::new()),
            Query::Allowed { .. } => Answer::Allowed(Vec::new()),
            Query::Alerts { .. } => Answer::Alerts(self.alerts()),
            Query::HostConversations { .. } => Answer::HostConversations(Vec::new()),
            Query::HostConversation { .. } => Answer::HostConversation(None),
            Query::Jobs(query) => Answer::Jobs(self.jobs.answer(query)),
            Query::Composer { key } => Answer::Composer(self.drafts.get(key).cloned().unwrap_or_default()),
            Query::Export { .. } => Answer::Document(String::new()),
        }
    }

    fn recovery_page(&self, start: Option<&RunId>) -> RecoveryPage {
        let page = match start {
            Some(run) => {
                self.recovery.iter().find(|page| page.chosen.as_ref().is_some_and(|row| row.run == *run))
            }
            None => self.recovery.first(),
        };
        RecoveryPage {
            starts: self.recovery.iter().filter_map(|page| page.chosen.clone()).collect(),
            ..page.cloned().unwrap_or_default()
        }
    }

    fn alerts(&self) -> Vec<Alert> {
        alerts_of(&self.sessions, &[])
    }

    fn overview(&self) -> Overview {
        let in_state = |state| self.sessions.iter().filter(|row| row.state == state).count();
        Overview {
            engine: self.status.clone(),
            sessions: self.sessions.len(),
            needs_you: self.alerts().iter().filter(|alert| alert.needs_you()).count(),
            running: in_state(SessionState::Runs),
            asking: self.sessions.iter().filter(|row| !row.asks.is_empty()).count(),
            waiting: self.queue.iter().filter(|row| row.item.state == ItemState::Waiting).count(),
            marked: self.sessions.iter().filter(|row| row.session.marker.is_some()).count(),
            max_cuts: 3,
            last_event: self.events.last().map(|event| event.seq),
            today: None,
        }
    }

    fn page(&self, filter: &str, further: bool, limit: usize) -> SessionPage {
        let fits = |row: &&SessionRow| filter.is_empty() || row.session.name().contains(filter);
        let all: Vec<_> = self.sessions.iter().filter(fits).cloned().collect();
        let rows = if further { Vec::new() } else { all.iter().take(limit).cloned().collect() };
        SessionPage { rows, hits: all.len(), total: self.sessions.len() }
    }

    /// The screen that looks at this engine for the first time, with every question answered.
    pub fn screen(&self, width: u16, height: u16) -> Model {
        let mut model = Model::new(Start {
            keymap: KeyMap::shipped(),
            zone: chrono_tz::Europe::Berlin,
            now: now(),
            reach: Reach::Here,
            access: Access::Full,
            mouse: MouseOwner::Console,
            pastes: Pastes::Marked,
            size: (width, height),
            config_path: "~/.switchboard/config.toml".to_owned(),
        });
        let asked = start(&mut model);
        self.answer_all(&mut model, asked);
        self.look(&mut model);
        model
    }

    /// Draws a frame and tells the screen what it measured, as the runtime does.
    pub fn look(&self, model: &mut Model) {
        let mut ui = Ui::new(Theme::plain(), &UNICODE);
        let (width, height) = model.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let measured = ui.draw(&mut terminal.get_frame(), model);
        self.happens(model, Msg::Drawn(measured));
    }

    /// Lets something happen to the screen, and answers what it asks.
    pub fn happens(&self, model: &mut Model, msg: Msg) {
        let asked = update(model, msg);
        self.answer_all(model, asked);
    }

    fn answer_all(&self, model: &mut Model, asked: Vec<Effect>) {
        let mut open = VecDeque::from(asked);
        while let Some(effect) = open.pop_front() {
            if let Effect::Query { ticket, query, .. } = effect {
                open.extend(update(model, Msg::Answered { ticket, result: Ok(self.answer(&query)) }));
            }
        }
    }

    /// Presses keys, by their names, slowly enough to be typing.
    pub fn press(&self, model: &mut Model, keys: &str) {
        for name in keys.split_whitespace() {
            let key: Key = name.parse().unwrap();
            let pressed = model.now + TimeDelta::milliseconds(20);
            self.happens(model, Msg::Key(key, pressed));
            self.look(model);
        }
    }

    /// Types a text, as a bracketed paste does.
    pub fn paste(&self, model: &mut Model, text: &str) {
        self.happens(model, Msg::Paste(text.to_owned(), model.now));
    }
}

/// The address of a chat.
pub fn key(platform: &str, chat_type: ChatType, chat_id: &str) -> SessionKey {
    SessionKey::build(KeyParts { platform, chat_type, chat_id, thread_id: None, participant: None }).unwrap()
}

/// An idle session of some turns; the number tells its id apart.
pub fn session(number: u32, key: SessionKey, title: &str, idle_seconds: i64) -> SessionRow {
    let session = Session {
        title: (!title.is_empty()).then(|| title.to_owned()),
        last_activity_at: ago(idle_seconds),
        turns: 14,
        usage: Usage { input: 5_200, output: 920, cost: 42_200, ..Usage::default() },
        context: Some(ContextUse { tokens: 6_120, window: Some(152_000) }),
        model: Some("qwen3".to_owned()),
        ..Session::new(SessionId::new(ago(86_400 + i64::from(number)), number), key, ago(86_400))
    };
    idle(session)
}

/// The row of a session in which nothing runs and nothing waits.
pub fn idle(session: Session) -> SessionRow {
    SessionRow {
        session,
        state: SessionState::Idle,
        turn: None,
        slot: None,
        queued: 0,
        resume_place: None,
        asks: Vec::new(),
        last_error: None,
        background: Background::None,
        forecast: None,
        today: None,
    }
}

/// The same session, whose running turn stands still: its agent asks.
pub fn asking(row: SessionRow, what: &str, seconds: i64) -> SessionRow {
    let approval = Approval {
        id: ApprovalId(7),
        session: row.session.id.clone(),
        turn: TurnId(44),
        question: Question {
            tool: "terminal".to_owned(),
            what: what.to_owned(),
            folder: "/srv/api".to_owned(),
            always: Always::of(what),
        },
        asked_at: ago(seconds),
        denies_at: ago(seconds) + TimeDelta::minutes(10),
        decision: None,
    };
    SessionRow {
        state: SessionState::NeedsYou,
        asks: vec![approval],
        ..running(row, 44, seconds + 5, seconds)
    }
}

/// A home at work in which an agent asks.
pub fn asks(what: &str) -> Engine {
    let mut engine = at_work();
    let deploy = &engine.sessions[0].session;
    let row = asking(idle(Session { hold: None, ..deploy.clone() }), what, 130);
    let said = [
        entry(1, &row, 44, 200, user("Deploy 0.9.0 to staging and tidy up old releases.")),
        entry(2, &row, 44, 135, agent("The service must be restarted.")),
        entry(3, &row, 44, 130, tool("call-1", "{\"command\":\"sudo systemctl restart api\"}", None)),
    ];
    let entries = said.map(|entry| Entry { turn_state: TurnState::Running, ..entry }).into();
    let page = ConversationPage { entries, ..ConversationPage::default() };
    engine.conversations.insert(row.session.id.clone(), page);
    engine.sessions[0] = row;
    engine
}

/// The same session with a turn that runs.
pub fn running(row: SessionRow, turn: i64, seconds: i64, silent_seconds: i64) -> SessionRow {
    let turn = RunningTurn {
        turn: TurnId(turn),
        since: ago(seconds),
        steerable: false,
        stopping: false,
        last_output_at: Some(ago(silent_seconds)),
    };
    SessionRow { state: SessionState::Runs, turn: Some(turn), ..row }
}

/// The same session with its queue on hold.
pub fn held(row: SessionRow, reason: HoldReason, seconds: i64, queued: usize) -> SessionRow {
    let hold = Hold { reason, since: ago(seconds), probe_at: None };
    let state = SessionState::of(0, 0, queued, Some(reason), None);
    SessionRow { session: Session { hold: Some(hold), ..row.session }, state, queued, ..row }
}

/// A home where a session has used up what its day allows.
pub fn spent() -> Engine {
    let mut engine = at_work();
    let row = session(7, key("telegram", ChatType::Dm, "7"), "translations", 60);
    let until = now() + TimeDelta::hours(10);
    let mut row = held(row, HoldReason::Spent, 60, 1);
    let reached = Reached { whose: Whose::Session, most: Most::Tokens(50_000) };
    row.session.spent = Some(SpentHold { reached, since: ago(60), until });
    row.session.hold = row.session.hold.map(|hold| Hold { probe_at: Some(until), ..hold });
    row.state = SessionState::of(0, 0, 1, Some(HoldReason::Spent), None);
    let used = vec![Used { whose: reached.whose, most: reached.most, used: 51_200 }];
    row.today = Some(Today { used, let_go: false, until });
    let item = item(20, &row, Lane::Queue, ItemState::Waiting, "and the last chapter");
    engine.queue.push(queue_row(item, &row, Some(1)));
    engine.sessions.insert(3, row);
    engine
}

/// An item of a session.
pub fn item(id: i64, session: &SessionRow, lane: Lane, state: ItemState, text: &str) -> Item {
    Item {
        id: ItemId(id),
        session: session.session.id.clone(),
        lane,
        state,
        text: text.to_owned(),
        source: Source::Console,
        created_at: ago(40 - id),
        turn: None,
        note: None,
    }
}

/// An item as a queue lists it.
pub fn queue_row(item: Item, session: &SessionRow, position: Option<usize>) -> QueueRow {
    QueueRow {
        item,
        key: session.session.key.clone(),
        session_name: session.session.name().to_owned(),
        position,
        held: None,
    }
}

/// An entry of a conversation.
pub fn entry(id: i64, session: &SessionRow, turn: i64, seconds: i64, body: Body) -> Entry {
    Entry {
        id: MessageId(id),
        session: session.session.id.clone(),
        turn: TurnId(turn),
        at: ago(seconds),
        body,
        turn_state: TurnState::Done,
    }
}

pub fn user(text: &str) -> Body {
    Body::User { text: text.to_owned(), steered: false }
}

pub fn agent(text: &str) -> Body {
    Body::Agent { text: text.to_owned(), offset: 0 }
}

fn tool(call: &str, arguments: &str, result: Option<ToolResult>) -> Body {
    Body::Tool { call: call.to_owned(), name: "terminal".to_owned(), arguments: arguments.to_owned(), result }
}

/// A home at work: six sessions in every state, one in front whose turn streams.
pub fn at_work() -> Engine {
    let group = |id| key("telegram", ChatType::Group, id);
    let deploy = held(session(1, group("-100890"), "deploy bot", 130), HoldReason::BackendError, 125, 1);
    let deploy =
        SessionRow { last_error: Some("connection refused: http://localhost:8080/v1".to_owned()), ..deploy };
    let notes = running(session(2, key("telegram", ChatType::Dm, "Ana"), "release notes", 8), 42, 8, 1);
    let report =
        running(session(3, key("telegram", ChatType::Dm, "report"), "nightly report", 200), 41, 200, 125);
    let scraper = held(
        session(4, key("discord", ChatType::Group, "77"), "scraper", 3700),
        HoldReason::Stopped,
        3600,
        2,
    );
    let console = session(5, SessionKey::console(), "", 300);
    let scratch = session(6, SessionKey::local("scratch").unwrap(), "", 2 * 86_400);
    let slot = item(11, &notes, Lane::Slot, ItemState::Waiting, "make it shorter");
    let notes = SessionRow { slot: Some(slot.clone()), queued: 2, ..notes };
    let mut replaced = item(10, &notes, Lane::Slot, ItemState::Superseded, "too long");
    replaced.note = Some("replaced by a newer message".to_owned());
    let first = item(12, &notes, Lane::Queue, ItemState::Waiting, "translate it into German");
    let second = item(13, &notes, Lane::Queue, ItemState::Waiting, "post it in #releases");
    let mut run = item(9, &notes, Lane::Slot, ItemState::Running, "And write the changelog entry.");
    run.turn = Some(TurnId(42));
    let held_row = |id, text, position| QueueRow {
        held: Some(HoldReason::Stopped.words()),
        ..queue_row(item(id, &scraper, Lane::Queue, ItemState::Waiting, text), &scraper, Some(position))
    };
    let queue = vec![
        queue_row(run, &notes, None),
        queue_row(slot, &notes, None),
        queue_row(first, &notes, Some(1)),
        queue_row(second, &notes, Some(2)),
        queue_row(replaced, &notes, None),
        held_row(14, "fetch the price list again", 1),
        held_row(15, "compare it with yesterday's", 2),
    ];
    let conversations = HashMap::from([(notes.session.id.clone(), streaming(&notes))]);
    let events = events(&notes, &report);
    Engine {
        sessions: vec![deploy, notes, report, scraper, console, scratch],
        conversations,
        queue,
        events,
        status: EngineStatus { agents: only_agent("openai qwen3"), ..Engine::fresh().status },
        ..Engine::fresh()
    }
}

/// A conversation with everything that an entry can be, and a turn that streams.
fn streaming(row: &SessionRow) -> ConversationPage {
    let ended = ToolResult { ok: true, output: "a1b2c3 parquet\nd4e5f6 limits".to_owned(), at: ago(6) };
    let mut entries = vec![
        entry(1, row, 39, 86_500, user("Is the exporter done?")),
        entry(
            2,
            row,
            39,
            86_490,
            Body::Ended { outcome: Outcome::Failed { error: "connection refused".to_owned() } },
        ),
        entry(3, row, 40, 260, user("Summarise what changed since 0.8")),
        entry(
            4,
            row,
            40,
            255,
            Body::Reasoning { text: "The log since the tag.\nThen group it.".to_owned(), offset: 0 },
        ),
        entry(
            5,
            row,
            40,
            250,
            agent(
                "Three things changed. The exporter writes Parquet, the scheduler holds its limits, and the console redraws only what moved.",
            ),
        ),
        entry(6, row, 41, 120, user("Which of them needs a migration?")),
        entry(7, row, 41, 110, Body::Ended { outcome: Outcome::Interrupted { cause: StopCause::Operator } }),
        entry(8, row, 42, 8, user("And write the changelog entry.")),
        entry(9, row, 42, 7, tool("call-1", "git log --oneline v0.8..HEAD", Some(ended))),
        entry(10, row, 42, 5, agent("## 0.9.0\n- The exporter writes ")),
    ];
    for entry in &mut entries {
        entry.turn_state = match entry.turn {
            TurnId(42) => TurnState::Running,
            TurnId(41) => TurnState::Interrupted,
            TurnId(39) => TurnState::Failed,
            _ => TurnState::Done,
        };
    }
    let live =
        LiveOutput { turn: TurnId(42), stream: StreamKind::Text, offset: 31, text: "Parquet".to_owned() };
    ConversationPage { entries, live: Some(live), ..ConversationPage::default() }
}

/// The home at work, where the turn that streams works by a plan, and one that was cut did.
pub fn planning() -> Engine {
    let steps = |statuses: [PlanStatus; 7]| {
        let steps = [
            "Read the log",
            "Group the changes",
            "Write the entry",
            "Check the links",
            "Run the tests",
            "Commit",
        ];
        let last = "Tell the team what changed and what they have to do about it";
        Body::Plan(Plan::of(steps.into_iter().chain([last]).zip(statuses)))
    };
    use PlanStatus::{Completed, InProgress, Pending};
    let mut engine = at_work();
    let row = engine.sessions.iter().find(|row| engine.conversations.contains_key(&row.session.id)).unwrap();
    let cut = [InProgress, Pending, Pending, Pending, Pending, Pending, Pending];
    let runs = [Completed, Completed, InProgress, Pending, Pending, Pending, Pending];
    let cut = Entry { turn_state: TurnState::Interrupted, ..entry(0, row, 41, 118, steps(cut)) };
    let runs = Entry { turn_state: TurnState::Running, ..entry(0, row, 42, 8, steps(runs)) };
    let page = engine.conversations.get_mut(&row.session.id).unwrap();
    if let Body::Plan(plan) = &runs.body {
        page.plan = Some(plan.clone());
    }
    page.entries.insert(8, runs);
    page.entries.insert(6, cut);
    for (entry, id) in page.entries.iter_mut().zip(1..) {
        entry.id = MessageId(id);
    }
    engine
}

/// The home at work, where the command of the turn in front runs.
pub fn running_a_command() -> Engine {
    let mut engine = at_work();
    let page = engine.conversations.values_mut().next().unwrap();
    page.live = None;
    let last = page.entries.last_mut().unwrap();
    let arguments = r#"{"command": "cargo test --locked\ncargo bench", "background": false}"#;
    last.body = tool("call-2", arguments, None);
    engine
}

fn events(notes: &SessionRow, report: &SessionRow) -> Vec<Event> {
    let notes = Some(notes.session.id.clone());
    let report = Some(report.session.id.clone());
    let accepted = EventKind::Accepted {
        item: ItemId(11),
        ack: Ack::Next { interrupts: false, gate: Gate::Open },
        excerpt: "make it shorter".to_owned(),
    };
    let kinds = [
        (
            3600,
            None,
            EventKind::EngineStarted {
                run: RunId("run-1".to_owned()),
                pid: 4121,
                exit: None,
                cut_turns: 1,
                waiting: 3,
            },
        ),
        (200, report.clone(), EventKind::TurnBegan { turn: TurnId(41), item: ItemId(8), probe: false }),
        (
            190,
            report,
            EventKind::BackendRetries {
                turn: TurnId(41),
                attempt: 2,
                wait_seconds: 4,
                why: "503 from the server".to_owned(),
            },
        ),
        (
            120,
            notes.clone(),
            EventKind::TurnEnded {
                turn: TurnId(40),
                item: ItemId(7),
                outcome: Outcome::Failed { error: "connection refused".to_owned() },
            },
        ),
        (30, notes.clone(), accepted),
        (
            29,
            notes.clone(),
            EventKind::Superseded { item: ItemId(10), by: ItemId(11), excerpt: "too long".to_owned() },
        ),
        (8, notes, EventKind::TurnBegan { turn: TurnId(42), item: ItemId(9), probe: false }),
    ];
    let event = |(at, (seconds, session, kind)): (usize, (i64, Option<SessionId>, EventKind))| Event {
        seq: Seq(at as i64 + 1),
        at: ago(seconds),
        session,
        kind,
    };
    kinds.into_iter().enumerate().map(event).collect()
}

/// So many sessions, most of them idle, the first in front with a long conversation that streams.
pub fn many(sessions: u32, entries: i64) -> Engine {
    let front = running(session(1, SessionKey::console(), "", 1), 42, 8, 1);
    let words = "The exporter writes Parquet, the scheduler holds its limits, and so it goes on. ".repeat(12);
    let mut kept: Vec<Entry> = (1..=entries)
        .map(|n| match n % 2 {
            1 => entry(n, &front, n / 2, entries - n + 10, user("And what else?")),
            _ => entry(n, &front, n / 2, entries - n + 10, agent(&words)),
        })
        .collect();
    kept.push(Entry { turn_state: TurnState::Running, ..entry(entries + 1, &front, 42, 5, agent(&words)) });
    let live = LiveOutput {
        turn: TurnId(42),
        stream: StreamKind::Text,
        offset: words.len() as u64,
        text: "and streams".to_owned(),
    };
    let page = ConversationPage {
        entries: kept,
        more_before: true,
        live: Some(live),
        ..ConversationPage::default()
    };
    let conversations = HashMap::from([(front.session.id.clone(), page)]);
    let others = (2..=sessions)
        .map(|n| session(n, SessionKey::local(&format!("session-{n}")).unwrap(), "", i64::from(n) * 60));
    Engine { sessions: std::iter::once(front).chain(others).collect(), conversations, ..Engine::fresh() }
}
