//! What there is to know about a thing, in labelled lines: why it waits, who holds it since when, what
//! frees it, what comes next. One set of labels for cards and details.

use super::action::Action;
use super::conversation::{Shown, ShownBody};
use super::items::ItemRow;
use super::log::{About, LogRow};
use super::recovery::Recovered;
use super::sessions::ListRow;
use super::typing::key_name;
use super::{Model, words};
use crate::domain::approval::answered_by;
use crate::domain::event::excerpt;
use crate::domain::id::SessionId;
use crate::domain::marker::{Clearing, Marker};
use crate::domain::queue::{Gate, ItemState, Lane, ordinal};
use crate::domain::recovery::{RecoveryState, Verdict};
use crate::domain::reset::Background;
use crate::domain::sanitize::one_line;
use crate::domain::session::{Hold, HoldReason, Usage};
use crate::domain::spending::{Today, money};
use crate::domain::turn::TurnState;
use crate::domain::{Time, api::RunningTurn};

/// A label with its words.
pub type Fact = (&'static str, String);

/// What there is to know about a session: for its card, and for the details beside it.
pub fn session(model: &Model, row: &ListRow) -> Vec<Fact> {
    let session = &row.row.session;
    let mut facts = vec![("state", row.row.state_words().to_owned())];
    facts.extend(alert(model, &session.id));
    facts.extend(asks(model, row));
    facts.extend(row.row.turn.iter().flat_map(|turn| turn_that_runs(model, turn)));
    facts.extend(marker(model, row));
    facts.extend(hold_of(row).iter().flat_map(|hold| queue_hold(model, hold, row.row.queued, Action::GoOn)));
    if let Some(spent) = &session.spent {
        facts.push(("limit", format!("{} is reached", spent.reached.words())));
    }
    facts.extend(today(model, row.row.today.as_ref()));
    facts.extend(engine_hold(model));
    if let Some(error) = &row.last_error {
        facts.push(("last error", error.clone()));
        if row.row.turn.is_none() && session.hold.is_none() && session.marker.is_none() {
            facts.push(("frees it", format!("{} runs the message again", key_name(model, Action::GoOn))));
        }
    }
    facts.push(("next", next(row)));
    facts.extend(background(model, &row.row.background).map(|words| ("background", words)));
    if let Some(forecast) = &row.row.forecast {
        facts.push(("reset", one_line(&forecast.words(model.as_of(), model.zone)).into_owned()));
    }
    let busy = session.busy_mode.map(|mode| mode.as_str().to_owned());
    let default = model.overview.as_ref().map(|overview| format!("{} (default)", overview.engine.busy_mode));
    facts.push(("busy mode", busy.or(default).unwrap_or_default()));
    facts.push(("key", one_line(session.key.as_str()).into_owned()));
    facts.push(("id", session.id.to_string()));
    if let Some(conversation) = &session.conversation {
        facts.push(("conversation", one_line(conversation).into_owned()));
    }
    facts.push(("began", words::clock(model, session.created_at)));
    facts.push(("last active", at(model, session.last_activity_at)));
    // A turn's number counts those of every session; this does not.
    facts.push(("turns", format!("{} in this memory", words::thousands(u64::from(session.turns)))));
    facts.push(("tokens", tokens(&session.usage)));
    if let Some(context) = &session.context {
        facts.push(("context", context.words()));
    }
    if session.usage.cost > 0 {
        facts.push(("cost", money(session.usage.cost)));
    }
    if let Some(agents) = model.overview.as_ref().map(|overview| &overview.engine.agents) {
        let chosen = if session.chosen_agent.is_some() { " (chosen)" } else { "" };
        facts.push(("agent", format!("{}{chosen}", agents.label(&session.next_agent(agents)))));
    }
    if let Some(name) = &session.chosen_model {
        facts.push(("asks for", format!("the model {}", one_line(name))));
    }
    if let Some(name) = &session.model {
        facts.push(("model", one_line(name).into_owned()));
    }
    if session.runtime.health.is_some() {
        facts.push(("handle", session.runtime.words(|at| words::clock(model, at))));
    }
    if let Some(previous) = &session.previous {
        let key = key_name(model, Action::PreviousMemory);
        facts.push(("before it", format!("{previous} ({key} brings it back)")));
    }
    if let Some(from) = model.alerts.left_for(&session.id) {
        let key = key_name(model, Action::CarryOver);
        facts.push(("left there", format!("what still waited in {from} at its reset; {key} moves it here")));
    }
    facts
}

/// What is used of the limits of a day.
pub(super) fn today(model: &Model, today: Option<&Today>) -> Option<Fact> {
    today.map(|today| ("today", today.words(|at| words::clock(model, at))))
}

/// What works in a session's background.
fn background(model: &Model, background: &Background) -> Option<String> {
    let words = match background {
        Background::None => return None,
        Background::Active { work } => {
            let works: Vec<String> = work.iter().map(|work| work.words(model.as_of())).collect();
            format!("{}; /kill N ends one", works.join(", "))
        }
        Background::Unknown { why } => format!("unknown, which counts as active: {why}"),
    };
    Some(one_line(&words).into_owned())
}

/// What there is to know about an item.
pub(super) fn item(model: &Model, row: &ItemRow) -> Vec<Fact> {
    let item = &row.row.item;
    let mut facts = vec![("text", row.excerpt.clone()), ("state", item.state.word().to_owned())];
    let session = session_row(model, &item.session);
    match item.state {
        ItemState::Waiting => facts.extend(waiting(model, row, session)),
        ItemState::Running => match session.and_then(|session| session.row.turn.as_ref()) {
            Some(turn) => facts.extend(turn_that_runs(model, turn)),
            None => facts.push(("frees it", "its turn's end; /stop stops it".to_owned())),
        },
        _ => {}
    }
    if let Some(note) = &row.note {
        facts.push(("put aside", note.clone()));
    }
    if row.was_put_aside() {
        let key = key_name(model, Action::PutBack);
        facts.push(("frees it", format!("{key} puts it back at the tail of the queue")));
    }
    if let Some(session) = session.filter(|_| item.state != ItemState::Waiting) {
        facts.push(("next", next(session)));
    }
    facts.push(("sent", format!("{} by {}", at(model, item.created_at), item.source.as_str())));
    facts.push(("session", row.session_name.clone()));
    facts.push(("session id", item.session.to_string()));
    facts.push(("item", item.id.to_string()));
    facts.extend(item.turn.map(|turn| ("turn", turn.to_string())));
    facts
}

/// What there is to know about an entry of the conversation.
pub(super) fn entry(model: &Model, entry: &Shown) -> Vec<Fact> {
    let mut facts = vec![("what", what(entry).to_owned())];
    match &entry.body {
        ShownBody::Tool { name, arguments, result, .. } => {
            facts.push(("tool", format!("{name}  {arguments}")));
            facts.push(match result {
                Some(result) => {
                    let word = result.how.word();
                    ("result", format!("{word} after {}", words::running(result.at - entry.at)))
                }
                None if entry.turn_state == TurnState::Running => ("result", "none yet: it runs".to_owned()),
                None => ("result", "none: cut, whatever it did is unknown".to_owned()),
            });
        }
        ShownBody::Plan(plan) => facts.push(("plan", plan.words(entry.turn_state, ", "))),
        _ => facts.extend(entry.texts().first().map(|text| ("text", excerpt(text)))),
    }
    facts.push(("when", at(model, entry.at)));
    let row = model.front_row.as_ref();
    let running = row.and_then(|row| row.row.turn.as_ref()).filter(|turn| Some(turn.turn) == entry.turn);
    match (running, entry.turn) {
        (Some(running), _) => facts.extend(turn_that_runs(model, running)),
        (None, Some(turn)) => facts.push(("turn", format!("{turn}, {}", ended(entry.turn_state)))),
        (None, None) => {}
    }
    if let Some(row) = row {
        facts.push(("next", next(row)));
        facts.push(("session", row.name.clone()));
        facts.push(("session id", row.row.session.id.to_string()));
    }
    facts
}

/// What there is to know about a session that a start looked at.
pub(super) fn recovered(model: &Model, row: &Recovered) -> Vec<Fact> {
    let recovery = &model.recovery;
    let mut facts = vec![("now", row.words.clone())];
    facts.extend(alert(model, row.session()));
    let verdict = match (row.row.verdict, row.row.marker) {
        (Some(verdict), _) => verdict_words(verdict, recovery.max_cuts),
        (None, Some(marker)) => marker.words(row.row.cuts, recovery.max_cuts),
        (None, None) => String::new(),
    };
    facts.push(("decided", verdict));
    facts.extend(row.row.since().map(|since| ("since", at(model, since))));
    let safe = |text: &String| one_line(text).into_owned();
    facts.extend(row.row.message.as_ref().map(|text| ("message", safe(text))));
    facts.extend(row.row.tool.as_ref().map(|tool| ("last call", format!("{}, effect unknown", safe(tool)))));
    facts.extend(row.row.last_error.as_ref().map(|error| ("last error", safe(error))));
    let key = |action| key_name(model, action);
    let (frees, next) = match &row.row.state {
        RecoveryState::Waits => (
            "room among the resumes, or an open engine".to_owned(),
            "its resume, then what waits in its queue".to_owned(),
        ),
        RecoveryState::Resuming { turn, .. } => (
            format!("a successful answer of turn {turn}"),
            "without one: nothing by itself before the next start".to_owned(),
        ),
        RecoveryState::Runs { turn, .. } => {
            (format!("a successful answer of turn {turn}"), "what waits in its queue".to_owned())
        }
        RecoveryState::NextStart { until } => (
            format!("a start until {}, by itself; after that /continue", words::clock(model, *until)),
            "its resume, then what waits in its queue".to_owned(),
        ),
        RecoveryState::Failed { .. } | RecoveryState::Stale | RecoveryState::HeldByBootGuard => (
            format!(
                "{} or /continue resumes it; an answer to a message of yours clears it",
                key(Action::ResumeNow)
            ),
            format!("{} gives it up", key(Action::GiveUp)),
        ),
        RecoveryState::GivenUp => (
            format!("{} or /unsuspend: the same session goes on", key(Action::Lift)),
            "its next message starts a new session; its queue is held".to_owned(),
        ),
        RecoveryState::Cleared { at: when, .. } => {
            (format!("freed {}", at(model, *when)), "nothing".to_owned())
        }
        RecoveryState::DecidedAnew => {
            ("nothing here".to_owned(), format!("{} goes to the later start", key(Action::LaterStart)))
        }
    };
    facts.push(("frees it", frees));
    facts.push(("next", next));
    facts.push(("key", one_line(row.row.key.as_str()).into_owned()));
    facts.push(("session id", row.row.session.to_string()));
    facts
}

fn verdict_words(verdict: Verdict, max_cuts: u32) -> String {
    match verdict {
        Verdict::Leave { why } => why.words().to_owned(),
        Verdict::OwesNothing => Clearing::NothingOwed.words().to_owned(),
        Verdict::Pending { mark, cuts } => Marker::ResumePending(mark).words(cuts, max_cuts),
        Verdict::Suspend { suspended, cuts } => Marker::Suspended(suspended).words(cuts, max_cuts),
    }
}

/// What there is to know about a row of the log.
pub(super) fn event(model: &Model, row: &LogRow) -> Vec<Fact> {
    let mut facts = vec![
        ("when", row.at.with_timezone(&model.zone).format("%-d %b %Y %H:%M:%S %Z").to_string()),
        ("level", row.level.as_str().to_owned()),
        ("what", row.words.clone()),
    ];
    let label = if matches!(row.about, Some(About::Job(_))) { "job" } else { "session" };
    facts.extend(row.name.clone().map(|name| (label, name)));
    if let Some(id) = row.session() {
        facts.push(("session id", id.to_string()));
        if let Some(session) = session_row(model, id) {
            facts.push(("state", format!("{} now", session.row.state_words())));
            facts.extend(alert(model, id));
            facts.extend(session.row.turn.iter().flat_map(|turn| turn_that_runs(model, turn)));
            facts.extend(
                session
                    .row
                    .session
                    .hold
                    .iter()
                    .flat_map(|hold| queue_hold(model, hold, session.row.queued, Action::GoOn)),
            );
            facts.push(("next", next(session)));
        }
    }
    facts.extend(engine_hold(model));
    facts
}

/// Everything that a waiting item waits for, each with what frees it, and its place after that.
fn waiting(model: &Model, row: &ItemRow, session: Option<&ListRow>) -> Vec<Fact> {
    let mut facts = engine_hold(model);
    let item = &row.row.item;
    if let Some(hold) = session.and_then(|session| session.row.session.hold.as_ref())
        && item.lane == Lane::Queue
    {
        facts.extend(queue_hold(model, hold, 1, Action::PutBack));
    }
    if let (true, Some(held)) = (facts.is_empty(), &row.held) {
        facts.push(("waits", held.clone()));
        facts.push(("frees it", format!("{} or /continue", key_name(model, Action::PutBack))));
    }
    facts.extend(session.and_then(|session| session.row.turn.as_ref()).iter().flat_map(|turn| {
        let running = running(model, turn);
        [("waits", format!("for the end of {running}")), ("frees it", "that end; /stop stops it".to_owned())]
    }));
    let slot = session.is_some_and(|session| session.row.slot.is_some());
    let before = row.row.position.map_or(0, |position| position - 1) + usize::from(slot);
    facts.push((
        "next",
        match (item.lane, row.row.position) {
            (Lane::Slot, _) => "this message: it is in the slot".to_owned(),
            (Lane::Queue, Some(position)) if before > 0 => {
                format!("{} before it, then this one, {} of the queue", before, ordinal(position))
            }
            (Lane::Queue, _) => "this item: it is the first of the queue".to_owned(),
        },
    ));
    facts
}

/// The alert about a session, how it was told, and what ends that.
fn alert(model: &Model, session: &SessionId) -> Vec<Fact> {
    let Some(alert) = model.alerts.of(session) else { return Vec::new() };
    let since = words::clock(model, alert.raised_at);
    match alert.acknowledged_at {
        Some(known) => {
            vec![(
                "alert",
                format!("since {since}, acknowledged {}: {}", words::clock(model, known), alert.words),
            )]
        }
        None => {
            let key = key_name(model, Action::Acknowledge);
            let told = alert.told.words(|at| words::clock(model, at));
            vec![
                ("needs you", format!("since {since}: {}", alert.words)),
                ("told", format!("{told}; {key} acknowledges it")),
            ]
        }
    }
}

/// The turn that runs, and what ends it.
fn turn_that_runs(model: &Model, turn: &RunningTurn) -> [Fact; 2] {
    [
        ("runs", running(model, turn)),
        ("frees it", format!("its end; {} or /stop stops it", key_name(model, Action::StopTurn))),
    ]
}

/// What its agent asks: its turn stands still until that is answered.
fn asks(model: &Model, row: &ListRow) -> Vec<Fact> {
    let (Some(asked), Some(line)) = (row.row.asks.first(), &row.asks) else { return Vec::new() };
    let key = key_name(model, Action::NextNeed);
    vec![
        ("asks", format!("{line}, since {}", words::clock(model, asked.asked_at))),
        ("frees it", format!("{key}, then an answer, or {}", answered_by(asked.id))),
        ("else", format!("denied by itself at {}", words::clock(model, asked.denies_at))),
    ]
}

/// `turn 42 since 14:02 (8 s), silent 1 s`.
fn running(model: &Model, turn: &RunningTurn) -> String {
    let silent = turn.last_output_at.map(|at| format!(", silent {}", words::running(model.as_of() - at)));
    let stopping = if turn.stopping { ", told to stop" } else { "" };
    let (since, age) = (words::clock(model, turn.since), words::running(model.as_of() - turn.since));
    format!("turn {} since {since} ({age}){}{stopping}", turn.turn, silent.unwrap_or_default())
}

/// The hold of a session's queue, in which so many items wait; `key` lets it go on.
fn queue_hold(model: &Model, hold: &Hold, queued: usize, key: Action) -> [Fact; 2] {
    let by_itself = match hold.probe_at {
        Some(at) if hold.reason == HoldReason::Spent => {
            format!("the next day, {}; ", words::clock(model, at))
        }
        Some(_) if queued == 0 => "nothing waits: the next message tries it; ".to_owned(),
        Some(at) => format!("tried again by itself at {}; ", words::clock(model, at)),
        None => String::new(),
    };
    [
        ("held", format!("since {}: {}", words::clock(model, hold.since), hold.reason.why())),
        ("frees it", format!("{by_itself}{} or /continue", key_name(model, key))),
    ]
}

/// What a session carries over from an earlier life of the engine, and what frees it.
fn marker(model: &Model, row: &ListRow) -> Vec<Fact> {
    let session = &row.row.session;
    let Some(marker) = session.marker else { return Vec::new() };
    let max_cuts = model.overview.as_ref().map_or(0, |overview| overview.max_cuts);
    let since = words::clock(model, marker.since());
    let tries = format!("attempts {}/{max_cuts}", session.cuts);
    let key = key_name(model, Action::GoOn);
    match marker {
        Marker::Suspended(given_up) => vec![
            ("suspended", format!("since {since}: {}, {tries}", given_up.reason.words())),
            ("frees it", format!("{key} or /unsuspend; a message starts a new session")),
        ],
        Marker::ResumePending(mark)
            if row.row.turn.as_ref().is_some_and(|turn| mark.awaits_drain_of(turn.since)) =>
        {
            let frees = "its end within the drain, or the stop called off";
            let marked = format!("{since}: the next start resumes it if the drain cuts it");
            vec![("marked", marked), ("frees it", frees.to_owned())]
        }
        Marker::ResumePending(mark) => {
            let frees = match (&row.row.turn, row.row.resume_place) {
                (Some(_), _) => "a successful answer".to_owned(),
                (None, Some(_)) => "it goes on by itself as soon as there is room".to_owned(),
                (None, None) => format!("{key} or /continue, or a successful answer to a message"),
            };
            vec![("cut off", format!("{since}: {}, {tries}", mark.reason.words())), ("frees it", frees)]
        }
    }
}

/// The hold of a session's queue. That of a suspended session is told by its marker.
fn hold_of(row: &ListRow) -> Option<&Hold> {
    row.row.session.hold.as_ref().filter(|hold| hold.reason != HoldReason::Suspended)
}

/// Why no turn begins anywhere, and what frees that.
fn engine_hold(model: &Model) -> Vec<Fact> {
    let Some(engine) = model.overview.as_ref().map(|overview| &overview.engine) else { return Vec::new() };
    let since = |at, why: &str| format!("since {}: {}", words::clock(model, at), one_line(why));
    let mut facts = Vec::new();
    if let Some(trouble) = &engine.store_trouble {
        let words = format!("can't write the store {}", since(trouble.since, &trouble.why));
        facts.push(("engine", words));
        facts.push(("frees it", "the store can be written again: it tries by itself".to_owned()));
    }
    match (engine.gate, &engine.held, &engine.drain) {
        (Gate::Held, held, _) => {
            let held = held.as_ref().map(|held| since(held.since, &held.why)).unwrap_or_default();
            facts.push(("engine", format!("on hold {held}").trim_end().to_owned()));
            facts.push(("frees it", key_name(model, Action::Release)));
        }
        (Gate::Stopping, _, drain) => {
            let drain = drain.as_ref().map(|drain| since(drain.since, &drain.why)).unwrap_or_default();
            facts.push(("engine", format!("stops {drain}").trim_end().to_owned()));
            facts.push(("frees it", "the next start: what waits runs then".to_owned()));
        }
        (Gate::Open, ..) => {}
    }
    facts
}

/// What comes next in a session.
fn next(row: &ListRow) -> String {
    let more = match row.row.queued {
        0 => String::new(),
        queued => format!(", then {} in the queue", words::count(queued, "item")),
    };
    match (&row.slot, row.row.queued) {
        (Some(slot), _) => format!("\"{slot}\"{more}"),
        (None, 0) => "nothing waits".to_owned(),
        (None, queued) => format!("{} in the queue", words::count(queued, "item")),
    }
}

/// `5,200 read, 920 written, 4,100 from cache`.
fn tokens(usage: &Usage) -> String {
    let cached = match usage.cache_read {
        0 => String::new(),
        cached => format!(", {} from cache", words::thousands(cached)),
    };
    format!("{} read, {} written{cached}", words::thousands(usage.input), words::thousands(usage.output))
}

fn session_row<'a>(model: &'a Model, id: &SessionId) -> Option<&'a ListRow> {
    let listed = model.front_row.iter().chain(&model.sessions.rows);
    listed.into_iter().find(|row| row.row.session.id == *id)
}

fn what(entry: &Shown) -> &'static str {
    match &entry.body {
        ShownBody::User { steered: false, .. } => "a message",
        ShownBody::User { steered: true, .. } => "a message that was handed to the running turn",
        ShownBody::PutAside { .. } => "a message that was put aside",
        ShownBody::Agent { .. } => "the agent's answer",
        ShownBody::Reasoning { .. } => "what the model thought before it answered",
        ShownBody::Plan(_) => "what the agent means to do in its turn",
        ShownBody::Tool { .. } => "a tool call of the agent",
        ShownBody::Notice { .. } => "a line of the system, which no agent reads",
        ShownBody::Told { .. } => "what the system told the agent",
        ShownBody::System { .. } => "how the turn ended",
    }
}

fn ended(state: TurnState) -> &'static str {
    match state {
        TurnState::Running => "it runs",
        TurnState::Done => "answered",
        TurnState::Failed => "failed",
        TurnState::Interrupted => "cut",
    }
}

/// `14:02 (5 min ago)`.
fn at(model: &Model, at: Time) -> String {
    let age = match words::age(model.as_of() - at).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    };
    format!("{} ({age})", words::clock(model, at))
}
