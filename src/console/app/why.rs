//! Why: what a thing waits for, who holds it since when, what frees it, what comes next.

use super::action::Action;
use super::focus::{Focus, Pane, View};
use super::items::ItemRow;
use super::log::LogRow;
use super::overlay::Overlay;
use super::sessions::ListRow;
use super::typing::key_name;
use super::{Model, item_acts, words};
use crate::domain::Time;
use crate::domain::queue::{Gate, ItemState, Lane};
use crate::domain::sanitize::one_line;
use crate::domain::session::HoldReason;

/// A label with its words.
pub type Fact = (&'static str, String);

/// The title and text of the card about the selected thing.
pub(super) fn card(model: &Model) -> Option<(String, String)> {
    let (title, facts) = match subject(model)? {
        Subject::Session(row) => (row.name.clone(), session(model, row)),
        Subject::Item(row) => (format!("{} in {}", row.place(), row.session_name), item(model, row)),
        Subject::Event(row) => (format!("event {}", row.seq), event(model, row)),
    };
    let width = facts.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let lines: Vec<String> = facts.iter().map(|(label, words)| format!("{label:width$}  {words}")).collect();
    Some((title, lines.join("\n")))
}

/// The text of the selected thing, for the clipboard, as it came.
pub(super) fn subject_text(model: &Model) -> Option<String> {
    if let Some(Overlay::Viewer(viewer)) = model.overlays.last() {
        return Some(viewer.text.clone());
    }
    if model.focus() == Focus::Pane(Pane::Conversation) {
        let entry = &model.conversation.entries[model.conversation.cursor_index()?];
        return Some(entry.texts().join("\n"));
    }
    Some(match subject(model)? {
        Subject::Session(row) => row.name.clone(),
        Subject::Item(row) => row.row.item.text.clone(),
        Subject::Event(row) => row.words.clone(),
    })
}

/// The id or key of the selected thing.
pub(super) fn subject_id(model: &Model) -> Option<String> {
    Some(match subject(model)? {
        Subject::Session(row) if model.pane == Pane::List => row.key().to_string(),
        Subject::Session(row) => row.row.session.id.to_string(),
        Subject::Item(row) => row.id().to_string(),
        Subject::Event(row) => row.session.as_ref().map_or_else(|| row.seq.to_string(), ToString::to_string),
    })
}

enum Subject<'a> {
    Session(&'a ListRow),
    Item(&'a ItemRow),
    Event(&'a LogRow),
}

/// The thing that is selected where the focus is.
fn subject(model: &Model) -> Option<Subject<'_>> {
    match (model.pane, model.view) {
        (Pane::List | Pane::Filter, View::Log) => model.log.current().map(Subject::Event),
        (Pane::Queue, _) | (Pane::List | Pane::Filter, View::Queue) => {
            item_acts::item(model).map(Subject::Item)
        }
        _ => model.front_row.as_ref().map(Subject::Session),
    }
}

/// What there is to know about a session: for its card, and for the details beside it.
pub fn session(model: &Model, row: &ListRow) -> Vec<Fact> {
    let session = &row.row.session;
    let clock = |at| words::clock(model, at);
    let mut facts = vec![("state", row.row.state.word().to_owned())];
    facts.extend(stands(model, row));
    if let Some(error) = &row.last_error {
        facts.push(("last error", error.clone()));
        if row.row.turn.is_none() && session.hold.is_none() {
            facts.push(("frees it", format!("{} runs the message again", key_name(model, Action::GoOn))));
        }
    }
    facts.push(("next", next(row)));
    let busy = session.busy_mode.map(|mode| mode.as_str().to_owned());
    let default = model.overview.as_ref().map(|overview| format!("{} (default)", overview.engine.busy_mode));
    facts.push(("busy mode", busy.or(default).unwrap_or_default()));
    facts.push(("key", one_line(session.key.as_str()).into_owned()));
    facts.push(("id", session.id.to_string()));
    if let Some(conversation) = &session.conversation {
        facts.push(("conversation", one_line(conversation).into_owned()));
    }
    facts.push(("began", clock(session.created_at)));
    facts.push((
        "last active",
        format!("{} ({})", clock(session.last_activity_at), ago(model, session.last_activity_at)),
    ));
    facts.push(("turns", words::thousands(u64::from(session.turns))));
    let usage = session.usage;
    facts.push((
        "tokens",
        format!("{} read, {} written", words::thousands(usage.input), words::thousands(usage.output)),
    ));
    if let Some(name) = &session.model {
        facts.push(("model", one_line(name).into_owned()));
    }
    if let Some(previous) = &session.previous {
        facts.push((
            "before it",
            format!("{previous} ({} brings it back)", key_name(model, Action::PreviousMemory)),
        ));
    }
    facts
}

/// What runs, what holds it since when, and what frees it.
fn stands(model: &Model, row: &ListRow) -> Vec<Fact> {
    let clock = |at| words::clock(model, at);
    let mut facts = Vec::new();
    if let Some(turn) = &row.row.turn {
        let stopping = if turn.stopping { ", told to stop" } else { "" };
        let silent = turn.last_output_at.map(|at| format!(", silent {}", words::running(model.as_of() - at)));
        let age = words::running(model.as_of() - turn.since);
        let silent = silent.unwrap_or_default();
        facts.push((
            "runs",
            format!("turn {} since {} ({age}){silent}{stopping}", turn.turn, clock(turn.since)),
        ));
        facts.push(("frees it", format!("its end; {} or /stop stops it", key_name(model, Action::StopTurn))));
    }
    if let Some(hold) = row.row.session.hold {
        facts.push(("held", format!("since {}: {}", clock(hold.since), hold.reason.words())));
        let by_itself = match (hold.reason, hold.probe_at) {
            (HoldReason::BackendError, Some(at)) => format!("tried again by itself at {}; ", clock(at)),
            _ => String::new(),
        };
        facts.push(("frees it", format!("{by_itself}{} or /continue", key_name(model, Action::GoOn))));
    }
    let engine = model.overview.as_ref().map(|overview| &overview.engine);
    match engine.map(|engine| (engine.gate, &engine.held)) {
        Some((Gate::Held, Some(held))) => {
            facts.push(("engine", format!("on hold since {}: {}", clock(held.since), held.why)));
            facts.push(("frees it", "release, in the palette".to_owned()));
        }
        Some((Gate::Held, None)) => facts.push(("engine", "on hold".to_owned())),
        Some((Gate::Stopping, _)) => {
            facts.push(("engine", "stops: what waits runs after the next start".to_owned()))
        }
        Some((Gate::Open, _)) | None => {}
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

/// What there is to know about an item.
pub fn item(model: &Model, row: &ItemRow) -> Vec<Fact> {
    let item = &row.row.item;
    let mut facts = vec![("text", row.excerpt.clone()), ("state", item.state.as_str().to_owned())];
    let waits = match (item.state, item.lane, row.row.position) {
        (ItemState::Waiting, Lane::Slot, _) => Some("for the running turn to end: it is next".to_owned()),
        (ItemState::Waiting, Lane::Queue, Some(1)) => {
            Some("for the running turn and the next message: it is the first of the queue".to_owned())
        }
        (ItemState::Waiting, Lane::Queue, Some(position)) => {
            Some(format!("for {} before it in the queue", words::count(position - 1, "item")))
        }
        _ => None,
    };
    facts.extend(waits.map(|words| ("waits", words)));
    if let Some(held) = &row.held {
        facts.push(("held", held.clone()));
        facts.push(("frees it", format!("{} or /continue", key_name(model, Action::PutBack))));
    }
    if let Some(note) = &row.note {
        facts.push(("put aside", note.clone()));
    }
    if row.was_put_aside() {
        let key = key_name(model, Action::PutBack);
        facts.push(("frees it", format!("{key} puts it back at the tail of the queue")));
    }
    facts.push((
        "sent",
        format!(
            "{} ({}) by {}",
            words::clock(model, item.created_at),
            ago(model, item.created_at),
            item.source.as_str()
        ),
    ));
    facts.push(("session", row.session_name.clone()));
    facts.push(("session id", item.session.to_string()));
    facts.push(("item", item.id.to_string()));
    facts.extend(item.turn.map(|turn| ("turn", turn.to_string())));
    facts
}

fn event(model: &Model, row: &LogRow) -> Vec<Fact> {
    let mut facts = vec![
        ("when", row.at.with_timezone(&model.zone).format("%-d %b %Y %H:%M:%S %Z").to_string()),
        ("level", row.level.as_str().to_owned()),
        ("what", row.words.clone()),
    ];
    facts.extend(row.session_name.clone().map(|name| ("session", name)));
    facts.extend(row.session.as_ref().map(|id| ("session id", id.to_string())));
    facts
}

fn ago(model: &Model, at: Time) -> String {
    match words::age(model.as_of() - at).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    }
}
