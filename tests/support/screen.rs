//! An operator before a screen whose engine is a few tables: keys in, state and commands out.

use std::collections::HashMap;

use chrono::TimeDelta;
use switchboard::console::app::approvals::{Seen, asked};
use switchboard::console::app::key::{Code, Key, sequence};
use switchboard::console::app::keymap::KeyMap;
use switchboard::console::app::model::{Access, Model, Pastes, Start};
use switchboard::console::app::msg::{Effect, Failure, Measured, MouseOwner, Msg, Reach, Ticket, Timer};
use switchboard::console::app::overlay::Overlay;
use switchboard::console::app::{start, update};
use switchboard::domain::Time;
use switchboard::domain::alert::{Alert, AlertKey};
use switchboard::domain::api::*;
use switchboard::domain::event::{Event, EventKind};
use switchboard::domain::filter::{Filter, Subject};
use switchboard::domain::history::{Body, Entry};
use switchboard::domain::id::*;
use switchboard::domain::queue::{BusyMode, Gate, Item, ItemState, Lane, Source};
use switchboard::domain::session::{Session, SessionState};
use switchboard::domain::spending::{Most, Today, Used, Whose};
use switchboard::domain::turn::TurnState;

use super::alerts::alerts_of;
use super::jobs::Jobs;
use super::models::idle;

/// The tables that answer the screen's questions.
pub struct Tables {
    pub sessions: Vec<SessionRow>,
    pub conversations: HashMap<SessionId, Vec<Entry>>,
    pub live: HashMap<SessionId, LiveOutput>,
    pub items: Vec<QueueRow>,
    pub composers: HashMap<SessionKey, ComposerMemory>,
    pub events: Vec<Event>,
    /// A page for each start, newest first.
    pub recovery: Vec<RecoveryPage>,
    pub report: Report,
    pub jobs: Jobs,
    pub engine: EngineStatus,
    /// What is used of the limits of everything together.
    pub today: Option<Today>,
    /// The alerts about jobs and their file.
    pub other_alerts: Vec<Alert>,
    /// The alerts that somebody acknowledged.
    pub acknowledged: Vec<AlertKey>,
    pub asked: Vec<Query>,
}

/// A daily limit of 100 tokens of which so many are used.
pub fn today(whose: Whose, used: u64) -> Today {
    let used = vec![Used { whose, most: Most::Tokens(100), used }];
    Today { used, let_go: false, until: noon() + TimeDelta::hours(11) }
}

/// An operator, the screen's state, and what the screen asked for.
pub struct Screen {
    pub model: Model,
    pub tables: Tables,
    /// Commands without a reply yet, in order.
    pub commands: Vec<(Ticket, Command)>,
    /// How often it was noted that the operator is here.
    pub looks: usize,
    /// All other effects, in order.
    pub effects: Vec<Effect>,
    pub now: Time,
    /// Whether questions are answered at once.
    pub answers: Answering,
    waiting: Vec<(Ticket, Query)>,
    timers: HashMap<Timer, Time>,
    measured: Measured,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Answering {
    AtOnce,
    WhenTold,
}

pub fn noon() -> Time {
    "2026-03-02T12:00:00Z".parse().unwrap()
}

pub fn key(name: &str) -> SessionKey {
    SessionKey::local(name).unwrap()
}

pub fn id(number: u32) -> SessionId {
    SessionId::new(noon() - TimeDelta::days(1), number)
}

/// An idle session; the higher its number, the longer it is idle.
pub fn session(name: &str, number: u32) -> SessionRow {
    let session = Session {
        last_activity_at: noon() - TimeDelta::minutes(i64::from(number) + 1),
        turns: 3,
        ..Session::new(id(number), key(name), noon() - TimeDelta::days(1))
    };
    idle(session)
}

pub fn running(mut row: SessionRow, turn: i64) -> SessionRow {
    row.state = SessionState::Runs;
    row.turn = Some(RunningTurn {
        turn: TurnId(turn),
        since: noon() - TimeDelta::seconds(8),
        steerable: false,
        stopping: false,
        last_output_at: None,
    });
    row
}

pub fn item(row: &SessionRow, number: i64, lane: Lane, state: ItemState, text: &str) -> QueueRow {
    let item = Item {
        id: ItemId(number),
        session: row.session.id.clone(),
        lane,
        state,
        text: text.to_owned(),
        source: Source::Console,
        created_at: noon(),
        turn: None,
        note: None,
    };
    QueueRow {
        item,
        key: row.session.key.clone(),
        session_name: row.session.name().to_owned(),
        position: None,
        held: None,
    }
}

pub fn entry(row: &SessionRow, number: i64, body: Body) -> Entry {
    Entry {
        id: MessageId(number),
        session: row.session.id.clone(),
        turn: TurnId(number),
        at: noon() - TimeDelta::minutes(30) + TimeDelta::seconds(number),
        body,
        turn_state: TurnState::Done,
    }
}

pub fn said(row: &SessionRow, number: i64, text: &str) -> Entry {
    entry(row, number, Body::User { text: text.to_owned(), steered: false })
}

impl Screen {
    /// A screen on an engine with these sessions, after its first answers.
    pub fn on(sessions: Vec<SessionRow>) -> Self {
        Self::reached(sessions, Reach::Here, Access::Full)
    }

    pub fn reached(sessions: Vec<SessionRow>, reach: Reach, access: Access) -> Self {
        Self::built(sessions, reach, access, Answering::AtOnce)
    }

    pub fn built(sessions: Vec<SessionRow>, reach: Reach, access: Access, answers: Answering) -> Self {
        let model = Model::new(Start {
            keymap: KeyMap::shipped(),
            zone: chrono_tz::Europe::Berlin,
            now: noon(),
            reach,
            access,
            mouse: MouseOwner::Console,
            pastes: Pastes::Marked,
            size: (80, 24),
            config_path: "/home/ana/.switchboard/config.toml".to_owned(),
        });
        let engine = EngineStatus {
            run: None,
            gate: Gate::Open,
            held: None,
            drain: None,
            agents: super::models::only_agent("practice agent, offline"),
            busy_mode: BusyMode::Replace,
            max_queued: 500,
            store_trouble: None,
            cron: Default::default(),
        };
        let tables = Tables {
            sessions,
            conversations: HashMap::new(),
            live: HashMap::new(),
            items: Vec::new(),
            composers: HashMap::new(),
            events: Vec::new(),
            recovery: Vec::new(),
            report: Report::default(),
            jobs: Jobs::none(noon()),
            other_alerts: Vec::new(),
            engine,
            today: None,
            acknowledged: Vec::new(),
            asked: Vec::new(),
        };
        let mut screen = Self {
            model,
            tables,
            commands: Vec::new(),
            looks: 0,
            effects: Vec::new(),
            now: noon(),
            answers,
            waiting: Vec::new(),
            timers: HashMap::new(),
            measured: Measured::default(),
        };
        let effects = start(&mut screen.model);
        screen.take(effects);
        screen.draws();
        screen
    }

    /// The drawing measured a usual 80×24 terminal.
    pub fn draws(&mut self) {
        let measured = Measured {
            list_rows: 6,
            queue_rows: 3,
            conversation_lines: 8,
            overlay_rows: 10,
            overlay_lines: 40,
            acknowledgement_shown: true,
            ..Measured::default()
        };
        self.tell(Msg::Drawn(measured));
    }

    pub fn tell(&mut self, msg: Msg) {
        if let Msg::Drawn(measured) = &msg {
            self.measured = *measured;
        }
        let effects = update(&mut self.model, msg);
        self.take(effects);
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Query { ticket, query, .. } => {
                    self.tables.asked.push(query.clone());
                    self.waiting.push((ticket, query));
                }
                Effect::Command { command: Command::Looked, .. } => self.looks += 1,
                Effect::Command { ticket, command } => self.commands.push((ticket, command)),
                Effect::Timer { timer, at } => drop(self.timers.insert(timer, at)),
                effect => self.effects.push(effect),
            }
        }
        if self.answers == Answering::AtOnce {
            self.answer();
        }
    }

    /// Answers every question that waits, and those that follow from the answers.
    pub fn answer(&mut self) {
        while !self.waiting.is_empty() {
            let (ticket, query) = self.waiting.remove(0);
            let answer = self.tables.answer(&query);
            let effects = update(&mut self.model, Msg::Answered { ticket, result: Ok(answer) });
            self.take(effects);
        }
    }

    pub fn waits_for(&self) -> Vec<&Query> {
        self.waiting.iter().map(|(_, query)| query).collect()
    }

    /// Presses keys, one after the other, at a person's pace.
    pub fn press(&mut self, keys: &str) -> &mut Self {
        for key in sequence(keys).unwrap() {
            self.wait(TimeDelta::milliseconds(500));
            self.reads_the_card();
            self.tell(Msg::Key(key, self.now));
        }
        self
    }

    /// A question on a card was drawn whole.
    fn reads_the_card(&mut self) {
        if let Some(asked) = asked(&self.model) {
            let question = Some(Seen { approval: asked.approval, prefix: true });
            self.tell(Msg::Drawn(Measured { question, ..self.measured }));
        }
    }

    /// Types a text, as fast as a person can.
    pub fn types(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.wait(TimeDelta::milliseconds(20));
            self.tell(Msg::Key(Key::plain(Code::Char(c)), self.now));
        }
        self
    }

    /// The same bytes as a paste without brackets: a character a millisecond, CR as Enter.
    pub fn pours(&mut self, text: &str) -> &mut Self {
        self.wait(TimeDelta::seconds(1));
        for c in text.chars() {
            self.now += TimeDelta::milliseconds(1);
            let code = if c == '\r' { Code::Enter } else { Code::Char(c) };
            self.tell(Msg::Key(Key::plain(code), self.now));
        }
        self.wait(TimeDelta::milliseconds(100));
        self
    }

    pub fn pastes(&mut self, text: &str) -> &mut Self {
        self.wait(TimeDelta::milliseconds(500));
        self.tell(Msg::Paste(text.to_owned(), self.now));
        self
    }

    /// Time passes; timers that are due fire.
    pub fn wait(&mut self, span: TimeDelta) -> &mut Self {
        let until = self.now + span;
        while let Some((timer, at)) = self
            .timers
            .iter()
            .filter(|(_, at)| **at <= until)
            .min_by_key(|(_, at)| **at)
            .map(|(t, at)| (*t, *at))
        {
            self.timers.remove(&timer);
            self.now = self.now.max(at);
            self.tell(Msg::Fired(timer, self.now));
        }
        self.now = until;
        self
    }

    /// The engine replies to the oldest command; to those about drafts only where nothing else waits.
    pub fn replies(&mut self, result: Result<Reply, Failure>) {
        let first = self.commands.iter().position(|(_, command)| !about_drafts(command)).unwrap_or(0);
        let (ticket, _) = self.commands.remove(first);
        self.tell(Msg::Replied { ticket, result });
    }

    /// An event of a session happened; the tables tell what is true since.
    pub fn happens(&mut self, session: Option<&SessionId>, kind: EventKind) {
        let seq = Seq(self.tables.events.len() as i64 + 1);
        let event = Event { seq, at: self.now, session: session.cloned(), kind };
        self.tables.events.push(event.clone());
        self.tell(Msg::Update(Update::Event(event.into())));
    }

    /// The commands that would change something, without those about drafts.
    pub fn acts(&self) -> Vec<&Command> {
        self.commands.iter().map(|(_, command)| command).filter(|command| !about_drafts(command)).collect()
    }

    pub fn draft(&self) -> String {
        self.model.composer().map(|composer| composer.text.text()).unwrap_or_default()
    }

    pub fn border(&self) -> String {
        switchboard::console::app::border::border(&self.model).enter
    }

    pub fn ack(&self) -> String {
        let ack = self.model.composer().and_then(|composer| composer.ack.as_ref());
        ack.map(|ack| ack.words.clone()).unwrap_or_default()
    }

    /// The text that is open.
    pub fn card(&self) -> &str {
        match self.model.overlays.last() {
            Some(Overlay::Viewer(viewer)) => &viewer.text,
            other => panic!("{other:?}"),
        }
    }

    /// What was just told.
    pub fn told(&self) -> String {
        self.model.notices.last().map(|notice| notice.words.clone()).unwrap_or_default()
    }
}

fn about_drafts(command: &Command) -> bool {
    matches!(command, Command::SaveDraft { .. } | Command::RememberDraft { .. })
}

impl Tables {
    fn row(&self, session: &SessionId) -> Option<&SessionRow> {
        self.sessions.iter().find(|row| row.session.id == *session)
    }

    fn alerts(&self) -> Vec<Alert> {
        let mut alerts = alerts_of(&self.sessions, &self.acknowledged);
        alerts.extend(self.other_alerts.iter().cloned());
        alerts
    }

    /// Changes a session.
    pub fn change(&mut self, name: &str, change: impl FnOnce(&mut SessionRow)) {
        let row = self.sessions.iter_mut().find(|row| row.session.key == key(name)).unwrap();
        change(row);
    }

    pub fn answer(&self, query: &Query) -> Answer {
        match query {
            Query::Overview => Answer::Overview(Box::new(Overview {
                engine: self.engine.clone(),
                sessions: self.sessions.len(),
                needs_you: self.alerts().iter().filter(|alert| alert.needs_you()).count(),
                running: self.sessions.iter().filter(|row| row.turn.is_some()).count(),
                asking: self.sessions.iter().filter(|row| !row.asks.is_empty()).count(),
                waiting: self.items.len(),
                marked: self.sessions.iter().filter(|row| row.session.marker.is_some()).count(),
                max_cuts: 3,
                last_event: None,
                today: self.today.clone(),
            })),
            Query::Sessions { filter, after, limit } => {
                let filter = Filter::parse(filter);
                let mut rows: Vec<&SessionRow> = self
                    .sessions
                    .iter()
                    .filter(|row| {
                        filter.matches(&Subject {
                            name: row.session.name(),
                            key: row.session.key.as_str(),
                            platform: row.session.key.parts().platform,
                            state: row.state,
                        })
                    })
                    .collect();
                let order = |row: &SessionRow| {
                    (
                        row.state.rank(),
                        std::cmp::Reverse(row.session.last_activity_at),
                        row.session.id.clone(),
                    )
                };
                rows.sort_by_key(|row| order(row));
                let hits = rows.len();
                let after = after
                    .as_ref()
                    .map(|at| (at.rank, std::cmp::Reverse(at.last_activity_at), at.session.clone()));
                let page =
                    rows.into_iter().filter(|row| after.as_ref().is_none_or(|after| order(row) > *after));
                let rows = page.take(*limit).cloned().collect();
                Answer::Sessions(SessionPage { rows, hits, total: self.sessions.len() })
            }
            Query::SessionAt { key } => {
                let row = self.sessions.iter().find(|row| row.session.key == *key);
                Answer::Session(row.cloned().map(Box::new))
            }
            Query::Conversation { session, before, limit } => {
                let all = self.conversations.get(session).cloned().unwrap_or_default();
                let plan = all.iter().find_map(|entry| match (&entry.body, entry.turn_state, before) {
                    (Body::Plan(plan), TurnState::Running, None) => Some(plan.clone()),
                    _ => None,
                });
                let page: Vec<Entry> =
                    all.into_iter().filter(|entry| before.is_none_or(|before| entry.id < before)).collect();
                let skip = page.len().saturating_sub(*limit);
                let live = if before.is_none() { self.live.get(session).cloned() } else { None };
                Answer::Conversation(ConversationPage {
                    more_before: skip > 0,
                    entries: page.into_iter().skip(skip).collect(),
                    live,
                    doing: None,
                    plan,
                })
            }
            Query::SessionQueue { session } => {
                Answer::Queue(self.items.iter().filter(|row| row.item.session == *session).cloned().collect())
            }
            Query::Backlog { .. } => Answer::Queue(
                self.items
                    .iter()
                    .filter(|row| matches!(row.item.state, ItemState::Waiting | ItemState::Running))
                    .cloned()
                    .collect(),
            ),
            Query::Events { page, level, session, job, limit } => {
                let fits = |event: &&Event| {
                    event.kind.level() >= *level
                        && session.as_ref().is_none_or(|session| event.session.as_ref() == Some(session))
                        && job.as_ref().is_none_or(|job| event.kind.job() == Some(job))
                        && match page {
                            EventPage::Newest => true,
                            EventPage::Before(seq) => event.seq < *seq,
                            EventPage::After(seq) => event.seq > *seq,
                        }
                };
                let events: Vec<Event> = self.events.iter().filter(fits).cloned().collect();
                let skip = events.len().saturating_sub(*limit);
                Answer::Events(events.into_iter().skip(skip).collect())
            }
            Query::Recovery { start, .. } => {
                let is = |page: &&RecoveryPage| match start {
                    Some(run) => page.chosen.as_ref().is_some_and(|chosen| chosen.run == *run),
                    None => true,
                };
                let page = self.recovery.iter().find(is).cloned().unwrap_or_default();
                let starts = self.recovery.iter().filter_map(|page| page.chosen.clone()).collect();
                Answer::Recovery(Box::new(RecoveryPage { starts, ..page }))
            }
            Query::Report { .. } => Answer::Report(Box::new(self.report.clone())),
            Query::Alerts { .. } => Answer::Alerts(self.alerts()),
            Query::Jobs(query) => Answer::Jobs(self.jobs.answer(query)),
            Query::Export { .. } => Answer::Document("a document".to_owned()),
            Query::HostConversations { .. } => Answer::HostConversations(Vec::new()),
            Query::HostConversation { .. } => Answer::HostConversation(None),
            Query::Composer { key } => Answer::Composer(self.composers.get(key).cloned().unwrap_or_default()),
            Query::Session { session } => Answer::Session(self.row(session).cloned().map(Box::new)),
            query => panic!("the screen never asks {query:?}"),
        }
    }
}
