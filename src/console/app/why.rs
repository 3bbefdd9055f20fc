//! The selected thing: its card, which says why it waits, and what of it can be copied.

use super::conversation::{EntryKey, Shown};
use super::cron::Job;
use super::focus::{Focus, Pane, View};
use super::items::ItemRow;
use super::log::LogRow;
use super::overlay::Overlay;
use super::recovery::Recovered;
use super::sessions::ListRow;
use super::{Model, cron, facts, item_acts, words};
use crate::domain::cron::Execution;

/// The title and text of the card about the selected thing.
pub(super) fn card(model: &Model) -> Option<(String, String)> {
    let (title, facts) = match subject(model)? {
        Subject::Session(row) => (row.name.clone(), facts::session(model, row)),
        Subject::Item(row) => (format!("{} in {}", row.place(), row.session_name), facts::item(model, row)),
        Subject::Entry(entry) => {
            (format!("said at {}", words::clock(model, entry.at)), facts::entry(model, entry))
        }
        Subject::Job(job) => (job.row.name.clone(), cron::facts::job(model, job)),
        Subject::Run(run) => {
            (format!("{} due {}", run.job, cron::words::due(model, run)), cron::facts::run(model, run))
        }
        Subject::Recovered(row) => (row.name.clone(), facts::recovered(model, row)),
        Subject::Event(row) => (format!("event {}", row.seq), facts::event(model, row)),
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
    Some(match subject(model)? {
        Subject::Session(_) if model.focus() == Focus::Pane(Pane::Conversation) => return None,
        Subject::Session(row) => row.name.clone(),
        Subject::Entry(entry) => entry.texts().join("\n"),
        Subject::Item(row) => row.row.item.text.clone(),
        Subject::Job(job) => match model.cron.current_detail() {
            Some(detail) => detail.record.clone(),
            None => job.row.name.clone(),
        },
        Subject::Run(run) => cron::words::outcome(model, run),
        Subject::Recovered(row) => row.name.clone(),
        Subject::Event(row) => row.words.clone(),
    })
}

/// The id or key of the selected thing.
pub(super) fn subject_id(model: &Model) -> Option<String> {
    Some(match subject(model)? {
        Subject::Session(row) if model.pane == Pane::List => row.key().to_string(),
        Subject::Session(row) => row.row.session.id.to_string(),
        Subject::Entry(_) => model.front_row.as_ref()?.row.session.id.to_string(),
        Subject::Item(row) => row.id().to_string(),
        Subject::Job(job) => job.row.id.as_ref()?.to_string(),
        Subject::Run(run) => run.id.to_string(),
        Subject::Recovered(row) => row.session().to_string(),
        Subject::Event(row) => row.about.as_ref().map_or_else(|| row.seq.to_string(), ToString::to_string),
    })
}

enum Subject<'a> {
    Session(&'a ListRow),
    Item(&'a ItemRow),
    Entry(&'a Shown),
    Job(&'a Job),
    Run(&'a Execution),
    Recovered(&'a Recovered),
    Event(&'a LogRow),
}

/// The thing that is selected where the focus is.
fn subject(model: &Model) -> Option<Subject<'_>> {
    match (model.pane, model.view) {
        (Pane::List | Pane::Filter, View::Log) => model.log.current().map(Subject::Event),
        (Pane::List | Pane::Filter, View::Cron) => model.cron.current().map(Subject::Job),
        (Pane::Detail, _) => {
            model.cron.current_run().map(Subject::Run).or(model.cron.current().map(Subject::Job))
        }
        (Pane::List | Pane::Filter, View::Recovery) => model.recovery.current().map(Subject::Recovered),
        (Pane::Queue, _) | (Pane::List | Pane::Filter, View::Queue) => {
            item_acts::item(model).map(Subject::Item)
        }
        (Pane::Conversation, _) => entry(model).or(model.front_row.as_ref().map(Subject::Session)),
        _ => model.front_row.as_ref().map(Subject::Session),
    }
}

/// What is under the conversation's cursor: an entry, or a message that was put aside.
fn entry(model: &Model) -> Option<Subject<'_>> {
    let entry = &model.conversation.entries[model.conversation.cursor_index()?];
    let aside = match entry.key {
        EntryKey::PutAside(item) => model.queue.all.iter().find(|row| row.id() == item),
        EntryKey::Message(_) | EntryKey::Live(..) => None,
    };
    Some(aside.map_or(Subject::Entry(entry), Subject::Item))
}
