//! The texts of `/status`, `/queue`, `/sessions`, `/search` and `/help`. Pure.
//!
//! Foreign words in them are not sanitized here: that is done where they reach a screen or a
//! terminal.

use crate::domain::Time;
use crate::domain::agent::Roster;
use crate::domain::api::{AllowedRow, EngineStatus, Hit, Outliving, ProcessRow, QueueRow, Reply, SessionRow};
use crate::domain::approval::{Approval, answered_by};
use crate::domain::background::{BackgroundProcess, names};
use crate::domain::event::{count, excerpt};
use crate::domain::marker::Marker;
use crate::domain::queue::{BusyMode, Gate, ItemState, Lane, Refusal};
use crate::domain::reset::{Background, Work};
use crate::domain::session::{EndReason, Hold, HoldReason, Session};
use crate::domain::slash::{self, DuringTurn, TABLE};
use crate::domain::spending::money;
use crate::store::Stopped;

/// Shows an instant as the operator reads it.
pub(super) type Clock<'a> = &'a dyn Fn(Time) -> String;

pub(super) fn status(
    row: &SessionRow,
    engine: &EngineStatus,
    max_cuts: u32,
    reset: &str,
    now: Time,
    clock: Clock<'_>,
) -> String {
    let session = &row.session;
    let usage = &session.usage;
    let turn = match &row.turn {
        Some(turn) => {
            let silent = turn.last_output_at.map(|at| format!(", silent {}", age(now, at)));
            let stopping = if turn.stopping { ", told to stop" } else { "" };
            let (since, age) = (clock(turn.since), age(now, turn.since));
            format!("turn {} since {since} ({age}){}{stopping}", turn.turn, silent.unwrap_or_default())
        }
        None => "no turn".to_owned(),
    };
    let began = clock(session.created_at);
    let active = session.last_activity_at;
    let lines = [
        ("state", row.state_words().to_owned()),
        ("title", session.title.clone().unwrap_or_else(|| "none; /title NAME gives one".to_owned())),
        ("asks", asks(row, clock)),
        ("runs", turn),
        ("held", hold(session.hold.as_ref(), row.queued, clock)),
        ("limit", limit(session)),
        ("today", row.today.as_ref().map_or_else(|| "no limit".to_owned(), |today| today.words(clock))),
        ("marker", marker(session, max_cuts, now, clock)),
        ("engine", gate(engine, clock)),
        ("next", waiting(row)),
        ("background", background(&row.background)),
        ("reset", reset.to_owned()),
        ("busy mode", busy(session.busy_mode, engine.busy_mode)),
        ("agent", agent(row, &engine.agents)),
        ("model", model(Some(session))),
        ("handle", session.runtime.words(clock)),
        ("key", session.key.to_string()),
        ("id", session.id.to_string()),
        ("began", began),
        ("last active", format!("{} ({} ago)", clock(active), age(now, active))),
        ("turns", session.turns.to_string()),
        (
            "tokens",
            format!("{} read, {} written, {} from cache", usage.input, usage.output, usage.cache_read),
        ),
        ("cost", if usage.cost > 0 { money(usage.cost) } else { "not known".to_owned() }),
        ("context", session.context.map_or_else(|| "not known".to_owned(), |context| context.words())),
        ("last error", row.last_error.clone().unwrap_or_else(|| "none since the last answer".to_owned())),
        ("before it", session.previous.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)),
    ];
    lines.map(|(name, value)| format!("{name:<12} {value}")).join("\n")
}

fn background(background: &Background) -> String {
    match background {
        Background::None => "nothing works there".to_owned(),
        Background::Active { work: works } => work(works),
        Background::Unknown { why } => format!("unknown, which counts as active: {why}"),
    }
}

/// What works in the background, in one line.
pub(super) fn work(work: &[Work]) -> String {
    work.iter().map(|work| work.what.clone()).collect::<Vec<_>>().join(", ")
}

/// `2 background processes`.
pub(super) fn works(number: usize) -> String {
    match number {
        1 => "1 background process".to_owned(),
        many => format!("{many} background processes"),
    }
}

/// What ends with a session that is left by `/new`.
pub(super) fn end_with_it(processes: &[BackgroundProcess]) -> String {
    match processes {
        [] => String::new(),
        ended => {
            let end = if ended.len() == 1 { "ends" } else { "end" };
            format!("; {} {end} with it: {}", works(ended.len()), names(ended))
        }
    }
}

/// What becomes of background processes when the engine stops.
pub(super) fn outliving(background: &Outliving) -> String {
    let told = |processes: &[String], of_one: &str, of_many: &str| {
        let what = if processes.len() == 1 { of_one } else { of_many };
        match processes {
            [] => String::new(),
            all => format!("; {} {what}: {}", works(all.len()), all.join(", ")),
        }
    };
    let go_on = told(&background.go_on, "goes on without an engine", "go on without an engine");
    go_on + &told(&background.end, "ends with its run", "end with their runs")
}

pub(super) fn allowed(rows: &[AllowedRow], clock: Clock<'_>) -> String {
    if rows.is_empty() {
        return AllowedRow::NONE.to_owned();
    }
    let line = |row: &AllowedRow| format!("{}  since {}", row.allowed.prefix, clock(row.allowed.since));
    let lines: Vec<String> = rows.iter().map(line).collect();
    format!("{}\n/allowed remove COMMAND takes one back.", lines.join("\n"))
}

pub(super) fn processes(rows: &[ProcessRow], now: Time) -> String {
    match rows {
        [] => "None. An agent starts one by its tool terminal.".to_owned(),
        rows => rows.iter().map(|row| row.process.words(now)).collect::<Vec<_>>().join("\n"),
    }
}

fn asks(row: &SessionRow, clock: Clock<'_>) -> String {
    let words = |asked: &Approval| {
        let (line, answers, until) = (asked.question.line(), answered_by(asked.id), clock(asked.denies_at));
        format!("{line}; {answers} answers, denied by itself at {until}")
    };
    match row.asks.as_slice() {
        [] => "nothing".to_owned(),
        asks => asks.iter().map(words).collect::<Vec<_>>().join("; "),
    }
}

pub(super) fn stopped(stopped: &Stopped) -> String {
    let mut words = "stopping".to_owned();
    if stopped.cleared.is_some() {
        words.push_str("; the message that was next is put aside (kept)");
    }
    if let Some(reason) = stopped.hold {
        words.push_str(&format!("; the queue is {}", reason.words()));
    }
    words
}

fn waiting(row: &SessionRow) -> String {
    let slot = row.slot.as_ref().map(|item| format!("{:?}", excerpt(&item.text)));
    match (slot, row.queued) {
        (None, 0) => "nothing waits".to_owned(),
        (None, queued) => format!("{} in the queue", count(queued, "item")),
        (Some(slot), 0) => slot,
        (Some(slot), queued) => format!("{slot}, then {} in the queue", count(queued, "item")),
    }
}

fn limit(session: &Session) -> String {
    session
        .spent
        .map_or_else(|| "none holds it".to_owned(), |spent| format!("{} is reached", spent.reached.words()))
}

fn hold(hold: Option<&Hold>, queued: usize, clock: Clock<'_>) -> String {
    match hold {
        None => "none".to_owned(),
        Some(hold) => {
            let probe = match hold.probe_at {
                Some(at) if hold.reason == HoldReason::Spent => format!(", until {}", clock(at)),
                Some(_) if queued == 0 => ", nothing waits: the next message tries it".to_owned(),
                Some(at) => format!(", tried next at {}", clock(at)),
                None => String::new(),
            };
            format!("{} (since {}{probe})", hold.reason.words(), clock(hold.since))
        }
    }
}

fn marker(session: &Session, max_cuts: u32, now: Time, clock: Clock<'_>) -> String {
    match session.marker {
        None => "none".to_owned(),
        Some(marker) => {
            let (words, since) = (marker.words(session.cuts, max_cuts), marker.since());
            format!("{words} (since {}, {} ago)", clock(since), age(now, since))
        }
    }
}

/// What `/continue` did to a session with that marker.
pub(super) fn goes_on(marker: Option<Marker>) -> &'static str {
    match marker {
        Some(Marker::ResumePending(_)) => "goes on with what was cut off",
        Some(Marker::Suspended(_)) | None => "released",
    }
}

/// What to ask before a restart that may give sessions up: one more cut would suspend them.
pub(super) fn restart_would_suspend(sessions: &[SessionRow], max_cuts: u32) -> String {
    let names: Vec<String> = sessions
        .iter()
        .map(|row| format!("{} ({} of {max_cuts} cuts)", row.session.name(), row.session.cuts))
        .collect();
    format!("one more cut suspends {}, which runs now and may outlast the drain", names.join(", "))
}

fn gate(engine: &EngineStatus, clock: Clock<'_>) -> String {
    match (engine.gate, &engine.held, &engine.store_trouble) {
        (_, _, Some(trouble)) => format!("can't write since {}: {}", clock(trouble.since), trouble.why),
        (Gate::Stopping, _, _) => "stops".to_owned(),
        (_, Some(held), _) => format!("on hold since {}: {}", clock(held.since), held.why),
        _ => "runs".to_owned(),
    }
}

pub(super) fn busy(set: Option<BusyMode>, default: BusyMode) -> String {
    match set {
        Some(mode) => format!("{mode}, set for this session"),
        None => format!("{default} (default)"),
    }
}

/// The agent that works in a session from its next turn on, and the one of its newest turn where that is another.
pub(super) fn agent(row: &SessionRow, roster: &Roster) -> String {
    let session = &row.session;
    let next = session.next_agent(roster);
    let chosen = if session.chosen_agent.is_some() { ", chosen for this session" } else { "" };
    let before = session.agent.as_ref().filter(|before| **before != next);
    let before = before.map(|before| format!("; the newest turn was {before}'s")).unwrap_or_default();
    format!("{}{chosen}{before}", roster.label(&next))
}

/// That another agent was chosen.
pub(super) fn agent_chosen(row: &SessionRow, label: &str) -> String {
    let when = match &row.turn {
        Some(turn) => format!("turn {} goes on as it began; the next one is", turn.turn),
        None => "from the next turn on this session is".to_owned(),
    };
    let model = match &row.session.chosen_model {
        Some(model) => format!("; the model {model} is not asked for any more"),
        None => String::new(),
    };
    format!("{when} answered by {label}{model}")
}

/// The model that a session asks for, if there is one, and the one that answered last.
pub(super) fn model(session: Option<&Session>) -> String {
    let chosen = match session.and_then(|session| session.chosen_model.as_ref()) {
        Some(name) => format!("{name}, chosen for this session"),
        None => "of the settings".to_owned(),
    };
    match session.and_then(|session| session.model.as_ref()) {
        Some(last) => format!("{chosen}; the last answer came from {last}"),
        None => chosen,
    }
}

pub(super) fn queue(rows: &[QueueRow], held: Option<&Hold>, clock: Clock<'_>) -> String {
    let mut lines: Vec<String> = rows.iter().filter_map(|row| queue_line(row, clock)).collect();
    if lines.is_empty() {
        lines.push("Nothing waits. /queue TEXT adds work.".to_owned());
    }
    if held.is_some() {
        let queued = rows.iter().filter(|row| row.position.is_some()).count();
        lines.push(hold(held, queued, clock));
    }
    lines.join("\n")
}

fn queue_line(row: &QueueRow, clock: Clock<'_>) -> Option<String> {
    let place = match (row.item.state, row.item.lane, row.position) {
        (ItemState::Running, ..) => "runs".to_owned(),
        (ItemState::Waiting, Lane::Slot, _) => "next".to_owned(),
        (ItemState::Waiting, Lane::Queue, position) => position.unwrap_or_default().to_string(),
        _ => return None,
    };
    Some(format!("{place:>4}  {}  {}", clock(row.item.created_at), excerpt(&row.item.text)))
}

pub(super) fn sessions(rows: &[SessionRow], now: Time, clock: Clock<'_>) -> String {
    let lines: Vec<String> = rows.iter().map(|row| session_line(row, now, clock)).collect();
    if lines.is_empty() { "No sessions yet.".to_owned() } else { lines.join("\n") }
}

fn session_line(row: &SessionRow, now: Time, clock: Clock<'_>) -> String {
    let session = &row.session;
    let state = match session.ended {
        None => row.state_words().to_owned(),
        Some(ended) => {
            let why = match ended.reason {
                EndReason::SessionReset => "reset",
                EndReason::SessionSwitch => "left",
            };
            format!("{why} {}", clock(ended.at))
        }
    };
    format!(
        "{}  {state:<12} {:>10}  {:>8} ago  {}",
        session.id,
        count(session.turns as usize, "turn"),
        age(now, session.last_activity_at),
        session.name()
    )
}

pub(super) fn hits(hits: &[Hit], clock: Clock<'_>) -> String {
    if hits.is_empty() {
        return "No message has these words.".to_owned();
    }
    let line = |hit: &Hit| {
        let snippet = hit.snippet.replace('\u{2}', "»").replace('\u{3}', "«");
        format!("{}  {}  {}: {}", hit.session, clock(hit.at), hit.session_name, excerpt(&snippet))
    };
    hits.iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn help(word: Option<&str>) -> Result<Reply, Refusal> {
    let Some(word) = word else {
        let lines: Vec<String> =
            TABLE.iter().map(|spec| format!("{:<28} {}", spec.usage(), spec.help)).collect();
        return Ok(Reply::Shown { title: "commands".to_owned(), text: lines.join("\n") });
    };
    let word = word.trim_start_matches('/');
    let Some(spec) = slash::find(word) else {
        return Err(slash::unknown(word));
    };
    let mut lines = vec![spec.usage(), spec.help.to_owned()];
    if !spec.aliases.is_empty() {
        lines.push(format!("also: /{}", spec.aliases.join(", /")));
    }
    if spec.during_turn == DuringTurn::Refused {
        lines.push("refused while a turn runs; /stop ends it first".to_owned());
    }
    Ok(Reply::Shown { title: format!("/{}", spec.name), text: lines.join("\n") })
}

/// An age in its largest unit, as lists show it.
fn age(now: Time, then: Time) -> String {
    let seconds = (now - then).num_seconds().max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}
