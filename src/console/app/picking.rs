//! Pickers: help, palette and history search; and the name of a new session.

use super::action::{Action, Spec, TABLE};
use super::cron::Job;
use super::focus::{Pane, View};
use super::keymap::Context;
use super::msg::{Pace, Question, Tone};
use super::overlay::{Overlay, Picker, PickerEntry, PickerKind, Prompt, Run};
use super::replies::Purpose;
use super::sessions::ListRow;
use super::text::{Lines, TextField};
use super::{Model, acts, approvals, availability, cron, front, fuzzy, job_editor, typing, writing};
use crate::domain::api::Command;
use crate::domain::id::SessionKey;
use crate::domain::slash;

/// An entry without keys that can always be run. Its texts must be safe to show.
pub(super) fn entry(title: impl Into<String>, detail: impl Into<String>, run: Run) -> PickerEntry {
    PickerEntry { title: title.into(), detail: detail.into(), keys: String::new(), why_not: None, run }
}

/// Opens a picker.
pub(super) fn open(model: &mut Model, kind: PickerKind, all: Vec<PickerEntry>) {
    let text = TextField::new(Lines::One);
    model.overlays.push(Overlay::Picker(Picker { kind, text, entries: all.clone(), marked: 0, top: 0, all }));
    model.dirty = true;
}

/// Opens the help for the focus: what each key does here, innermost first.
pub(super) fn open_help(model: &mut Model) {
    let mut entries: Vec<PickerEntry> = Vec::new();
    let chain = typing::chain(model);
    for context in chain {
        for binding in model.keymap.of(*context) {
            let keys = super::key::sequence_name(&binding.keys);
            match entries.iter_mut().find(|entry| entry.run == Run::Action(binding.action)) {
                Some(entry) => entry.keys = format!("{}, {keys}", entry.keys),
                None => entries.push(PickerEntry { keys, ..action_entry(model, binding.action) }),
            }
        }
    }
    open(model, PickerKind::Help, entries);
}

/// Opens the palette: every action of a view, every slash command, the sessions and the jobs.
pub(super) fn open_palette(model: &mut Model) {
    let inner = |home: Context| {
        use Context::{Card, Editor, Picker, Text, Viewer};
        matches!(home, Card | Editor | Picker | Text | Viewer)
    };
    let action = |spec: &Spec| PickerEntry {
        keys: model.keymap.keys_anywhere(spec.action).unwrap_or_default(),
        ..action_entry(model, spec.action)
    };
    // Moving about is what keys are for: it comes last.
    let actions = TABLE.iter().filter(|spec| !inner(spec.home));
    let (moves, acts): (Vec<&Spec>, Vec<&Spec>) =
        actions.partition(|spec| matches!(spec.home, Context::List | Context::Composer));
    let commands = slash::TABLE.iter().map(|spec| {
        let space = if spec.args.is_empty() { "" } else { " " };
        entry(spec.usage(), spec.help, Run::Draft(format!("/{}{space}", spec.name)))
    });
    let sessions = model.sessions.rows.iter().take(100).map(session_entry);
    let jobs = model.cron.all.iter().filter_map(job_entry);
    let (acts, moves) = (acts.into_iter().map(action), moves.into_iter().map(action));
    let mut entries: Vec<PickerEntry> =
        acts.chain(sessions).chain(jobs).chain(commands).chain(moves).collect();
    entries.sort_by_key(|entry| entry.why_not.is_some());
    open(model, PickerKind::Palette, entries);
}

fn action_entry(model: &Model, action: Action) -> PickerEntry {
    let spec = action.spec();
    PickerEntry {
        why_not: availability::why_not(model, action),
        ..entry(spec.name.replace('-', " "), spec.help, Run::Action(action))
    }
}

fn session_entry(row: &ListRow) -> PickerEntry {
    let detail = format!("session, {}, {}", row.row.state_words(), row.place);
    entry(row.name.clone(), detail, Run::Session(row.key().clone()))
}

fn job_entry(job: &Job) -> Option<PickerEntry> {
    let detail = format!("job, {}, {}", job.row.state_words(), job.row.words);
    Some(entry(job.row.name.clone(), detail, Run::Job(job.row.id.clone()?)))
}

/// What is typed into the palette; none if it is not open or nothing is typed.
pub(super) fn palette_text(model: &Model) -> Option<String> {
    match model.overlays.last() {
        Some(Overlay::Picker(Picker { kind: PickerKind::Palette, text, .. })) if !text.is_empty() => {
            Some(text.text())
        }
        _ => None,
    }
}

/// Adds sessions that the store found for what is typed into the palette.
pub(super) fn add_sessions(model: &mut Model, rows: Vec<ListRow>) {
    let Some(Overlay::Picker(picker)) = model.overlays.last_mut() else { return };
    if picker.kind != PickerKind::Palette {
        return;
    }
    for row in &rows {
        let entry = session_entry(row);
        if !picker.all.iter().any(|known| known.run == entry.run) {
            picker.all.push(entry);
        }
    }
    narrow(picker);
    model.dirty = true;
}

/// Does what must follow a change of an overlay's text.
pub(super) fn text_changed(model: &mut Model) {
    match model.overlays.last_mut() {
        Some(Overlay::Picker(picker)) => {
            narrow(picker);
            if picker.kind == PickerKind::Palette {
                model.requests.mark(Question::PaletteSessions, Pace::AtOnce);
            }
        }
        Some(Overlay::NewSession(prompt)) => prompt.failed = None,
        Some(Overlay::JobEditor(_)) => job_editor::typed_into(model),
        _ => {}
    }
    model.dirty = true;
}

/// Narrows the entries to those that fit what is typed, best first.
fn narrow(picker: &mut Picker) {
    let typed = picker.text.text();
    let wanted = typed.trim().to_lowercase();
    let mut fitting: Vec<(i64, &PickerEntry)> = picker
        .all
        .iter()
        .filter_map(|entry| {
            let title = fuzzy::score(&typed, &entry.title);
            // A title says more than a detail, in which only whole words count.
            let detail = || entry.detail.to_lowercase().contains(&wanted).then_some(i64::MIN);
            title.or_else(detail).map(|score| (score, entry))
        })
        .collect();
    if !typed.is_empty() {
        fitting.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    }
    picker.entries = fitting.into_iter().map(|(_, entry)| entry.clone()).collect();
    picker.marked = 0;
    picker.top = 0;
}

/// Moves the mark of the picker in front.
pub(super) fn move_mark(model: &mut Model, action: Action) {
    let page = model.measured.overlay_rows.max(1);
    let Some(Overlay::Picker(picker)) = model.overlays.last_mut() else { return };
    let last = picker.entries.len().saturating_sub(1);
    picker.marked = match action {
        Action::PickerUp => picker.marked.saturating_sub(1),
        Action::PickerPageUp => picker.marked.saturating_sub(page),
        Action::PickerPageDown => picker.marked + page,
        _ => picker.marked + 1,
    }
    .min(last);
    show_mark(model);
}

/// Scrolls so that the marked entry is seen.
pub(super) fn show_mark(model: &mut Model) {
    let page = model.measured.overlay_rows.max(1);
    let Some(Overlay::Picker(picker)) = model.overlays.last_mut() else { return };
    let lowest = (picker.marked + 1).saturating_sub(page);
    picker.top = picker.top.clamp(lowest, picker.marked.max(lowest));
}

/// Enter in a text field of an overlay: takes the marked entry, or what is typed.
pub(super) fn accept(model: &mut Model) {
    match model.overlays.last() {
        Some(Overlay::Picker(picker)) => match picker.entries.get(picker.marked) {
            // A slash command typed with its arguments is taken as it is typed.
            _ if picker.kind == PickerKind::Palette && picker.text.text().starts_with('/') => {
                let run = Run::Draft(picker.text.text());
                model.overlays.pop();
                take(model, run);
            }
            Some(entry) => {
                let run = entry.run.clone();
                if let (PickerKind::Field(_), Run::Pick(value)) = (picker.kind, &run) {
                    return job_editor::pick(model, value);
                }
                model.overlays.pop();
                take(model, run);
            }
            None if matches!(picker.kind, PickerKind::Field(_)) => {
                let typed = picker.text.text();
                job_editor::pick(model, typed.trim());
            }
            None => take_argument(model),
        },
        Some(Overlay::NewSession(_)) => make_session(model),
        Some(Overlay::DenyWhy(_)) => approvals::deny(model),
        _ => {}
    }
}

/// Takes the entry at a place of the picker in front.
pub(super) fn take_row(model: &mut Model, index: usize) {
    if let Some(Overlay::Picker(picker)) = model.overlays.last_mut()
        && index < picker.entries.len()
    {
        picker.marked = index;
        accept(model);
    }
}

fn take(model: &mut Model, run: Run) {
    match run {
        Run::Action(action) => acts::run(model, action),
        Run::Session(key) => {
            acts::show_view(model, View::Sessions);
            front::go_to(model, &key);
            model.pane = Pane::Composer;
        }
        Run::Job(job) => cron::go_to(model, &job),
        Run::Pick(value) => job_editor::pick(model, &value),
        Run::Draft(text) => {
            acts::show_view(model, View::Sessions);
            model.pane = Pane::Composer;
            writing::set_draft(model, &text);
        }
    }
}

/// `hold REASON` in the palette: the one action with an argument.
fn take_argument(model: &mut Model) {
    let Some(typed) = palette_text(model) else { return };
    let hold = Action::Hold.spec().name;
    match typed.trim().strip_prefix(hold).and_then(|rest| rest.strip_prefix(' ')) {
        Some(why) => {
            model.overlays.pop();
            match availability::why_not(model, Action::Hold) {
                Some(refusal) => model.tell(Tone::Warn, refusal),
                None => {
                    let why = why.trim().to_owned();
                    acts::act(model, Command::Hold { why });
                }
            }
        }
        None => model.tell(Tone::Note, format!("nothing fits {typed:?}")),
    }
}

/// Asks for the name of a new session.
pub(super) fn ask_name(model: &mut Model) {
    model.overlays.push(Overlay::NewSession(Prompt { text: TextField::new(Lines::One), failed: None }));
}

fn make_session(model: &mut Model) {
    let Some(Overlay::NewSession(prompt)) = model.overlays.last_mut() else { return };
    match SessionKey::from_operator(prompt.text.text().trim()) {
        Ok(key) => {
            model.overlays.pop();
            acts::command(model, Purpose::Open { key: key.clone() }, Command::OpenSession { key });
        }
        Err(error) => prompt.failed = Some(error.to_string()),
    }
}
