//! From the form to the file: saving, and what is done when the job was changed there meanwhile.

use super::form::{Form, IdFrom};
use super::{Fold, JobEditor, Strictness, anywhere_mut, changed, front_mut, insight, record};
use crate::console::app::action::Action;
use crate::console::app::msg::{Failure, Ticket, Tone};
use crate::console::app::overlay::{Confirm, Deed, Overlay};
use crate::console::app::replies::{self, Purpose};
use crate::console::app::{Model, acts, asking, words};
use crate::domain::api::{Command, JobCommand, Reply};
use crate::domain::cron::Definition;
use crate::domain::cron::record as written;
use crate::domain::sanitize::one_line;

/// Saves the job. The form closes when it is saved; with a fault it stays, at the field.
pub(in crate::console::app) fn save(model: &mut Model) {
    let Some(editor) = front_mut(model) else { return };
    if editor.base.is_some() && !editor.is_changed() && editor.theirs.is_none() {
        model.overlays.pop();
        return model.tell(Tone::Note, "nothing was changed: nothing is written");
    }
    editor.strictness = Strictness::WhatIsMissingToo;
    editor.form.id_left();
    changed(model);
    let Some(editor) = front_mut(model) else { return };
    if let Some((field, _)) = editor.faults.first() {
        let field = *field;
        let count = words::count(editor.faults.len(), "field");
        if field.is_rare() {
            editor.more = Fold::Open;
        }
        editor.field = field;
        let be = if editor.faults.len() == 1 { "is" } else { "are" };
        editor.failed = Some(format!("not saved: {count} {be} not right yet"));
        return;
    }
    let definition = insight::as_written(&editor.insight, &editor.definition);
    let base = editor.base.clone();
    give(model, base, definition);
}

fn give(model: &mut Model, base: Option<String>, definition: Definition) {
    let save = JobCommand::Save { base, definition: Box::new(definition) };
    let ticket = acts::command(model, Purpose::SaveJob, Command::Job(save));
    if let Some(editor) = anywhere_mut(model) {
        editor.saving = Some(ticket);
        editor.failed = None;
    }
}

/// What became of a save.
pub(in crate::console::app) fn saved(model: &mut Model, ticket: Ticket, result: Result<Reply, Failure>) {
    let ours =
        |overlay: &Overlay| matches!(overlay, Overlay::JobEditor(editor) if editor.saving == Some(ticket));
    let open = model.overlays.iter().position(ours);
    match (open, result) {
        (Some(_), Ok(Reply::JobConflict { mine, theirs })) => ask_which(model, &mine, theirs),
        (Some(index), Ok(reply)) => {
            if let Overlay::JobEditor(editor) = model.overlays.remove(index) {
                model.cron.sought = Some(editor.definition.id.clone());
            }
            replies::done(model, &model.front.clone(), reply);
        }
        (None, Ok(reply)) => replies::done(model, &model.front.clone(), reply),
        (Some(index), Err(failure)) => {
            if let Some(Overlay::JobEditor(editor)) = model.overlays.get_mut(index) {
                editor.failed = Some(one_line(failure.words()).into_owned());
                editor.saving = None;
            }
        }
        (None, Err(failure)) => replies::refuse(model, &failure),
    }
    model.dirty = true;
}

/// The job was changed on disk since the form was opened: both are shown, and the operator chooses.
fn ask_which(model: &mut Model, mine: &str, theirs: Option<String>) {
    let sides = Some(record::sides(mine, theirs.as_deref()));
    let Some(editor) = anywhere_mut(model) else { return };
    editor.saving = None;
    let id = editor.definition.id.to_string();
    let (question, keep, take) = match theirs {
        Some(_) => (
            format!("{id} was changed in jobs.json meanwhile. In this the two differ:"),
            "write mine",
            "take theirs",
        ),
        None => (format!("{id} was removed from jobs.json meanwhile."), "write it anew", "leave it removed"),
    };
    editor.theirs = Some(theirs);
    let buttons = vec![
        asking::button("back to the form", Action::No, Deed::Nothing),
        asking::button(keep, Action::KeepMine, Deed::KeepMine),
        asking::button(take, Action::TakeTheirs, Deed::TakeTheirs),
    ];
    let (detail, opened_at) = (String::new(), model.now);
    model.overlays.push(Overlay::Confirm(Confirm {
        question,
        detail,
        sides,
        top: 0,
        buttons,
        marked: 0,
        opened_at,
    }));
}

/// Writes the job as it is in the form over what is on disk now.
pub(in crate::console::app) fn keep_mine(model: &mut Model) {
    let Some(editor) = front_mut(model) else { return };
    let Some(theirs) = editor.theirs.take() else { return };
    editor.rebase(theirs.clone());
    let definition = insight::as_written(&editor.insight, &editor.definition);
    give(model, theirs, definition);
}

/// Goes on with the job as it is on disk now.
pub(in crate::console::app) fn take_theirs(model: &mut Model) {
    let Some(editor) = front_mut(model) else { return };
    match editor.theirs.take() {
        Some(Some(theirs)) => match written::read(&theirs, None) {
            Ok(read) => begin_anew(editor, theirs, read.definition),
            Err(faults) => {
                let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
                editor.failed = Some(format!("theirs can't be read into the form: {}", told.join("; ")));
                editor.theirs = Some(Some(theirs));
            }
        },
        Some(None) => {
            model.overlays.pop();
            return model.tell(Tone::Info, "left as it is on disk: the job is removed");
        }
        None => {}
    }
    changed(model);
}

fn begin_anew(editor: &mut JobEditor, theirs: String, definition: Definition) {
    editor.form = Form::of(&definition, IdFrom::Author);
    editor.before = editor.form.clone();
    editor.rebase(Some(theirs));
    let same =
        |was: &Definition| (&was.schedule, &was.timezone) == (&definition.schedule, &definition.timezone);
    let next = editor.was.take().filter(|(was, _)| same(was)).map(|(_, next)| next);
    editor.was = Some((definition, next.unwrap_or_default()));
    editor.failed = None;
}
