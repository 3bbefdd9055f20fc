//! The keys in the form.

use super::fields::{Field, Kind};
use super::{
    Fold, JobEditor, Outside, Showing, changed, edited, focus, form, front, front_mut, picking, record,
};
use crate::console::app::Model;
use crate::console::app::action::Action;
use crate::console::app::msg::Tone;
use crate::domain::cron::record as written;
use crate::domain::sanitize::one_line;

/// Does an action in the form. False if none is in front, or the action is none of its own.
pub(in crate::console::app) fn press(model: &mut Model, action: Action) -> bool {
    let Some(editor) = front_mut(model) else { return false };
    if action == Action::ShowRecord {
        editor.showing = match editor.showing {
            Showing::Form => Showing::Record { top: 0 },
            Showing::Record { .. } => Showing::Form,
        };
        return true;
    }
    if let Showing::Record { top } = &mut editor.showing {
        let last = editor.record.len().saturating_sub(1);
        match action {
            Action::TextUp => *top = top.saturating_sub(1),
            Action::TextDown => *top = (*top + 1).min(last),
            _ => return false,
        }
        return true;
    }
    match action {
        Action::EnterField => enter(model),
        Action::NewLine => return editor.field.kind() != Kind::Lines,
        Action::TextUp => vertical(model, action, -1),
        Action::TextDown if matches!(editor.field.kind(), Kind::PickOne | Kind::PickSome) => {
            picking::open(model, "");
        }
        Action::TextDown => vertical(model, action, 1),
        action => return in_list(model, action),
    }
    true
}

/// Enter: on to the next field, into a list, or a new line.
fn enter(model: &mut Model) {
    let Some(editor) = front_mut(model) else { return };
    match editor.field.kind() {
        Kind::Line => step(model, 1),
        Kind::Lines => {
            if let Some(field) = editor.field_mut() {
                field.new_line();
            }
            edited(model);
        }
        Kind::PickOne | Kind::PickSome => picking::open(model, ""),
        Kind::Choice(_) => turn(model, 1),
        Kind::Fold => fold(editor),
    }
}

fn fold(editor: &mut JobEditor) {
    editor.more = match editor.more {
        Fold::Folded => Fold::Open,
        Fold::Open => Fold::Folded,
    };
}

/// Up and down: in a text of several lines, and at its edges from field to field.
fn vertical(model: &mut Model, action: Action, direction: i64) {
    let Some(editor) = front_mut(model) else { return };
    let inside = editor.field_mut().is_some_and(|field| match direction {
        ..0 => !field.on_first_line(),
        _ => !field.on_last_line(),
    });
    match (inside, editor.field_mut()) {
        (true, Some(field)) => drop(field.act(action)),
        _ => step(model, direction),
    }
}

/// Keys in a field that is no text. False if the field is one.
fn in_list(model: &mut Model, action: Action) -> bool {
    let Some(editor) = front_mut(model) else { return false };
    let field = editor.field;
    match (field.kind(), action) {
        (Kind::Line | Kind::Lines, _) => return false,
        (Kind::Choice(_), Action::Left) => turn(model, -1),
        (Kind::Choice(_), Action::Right) => turn(model, 1),
        (Kind::PickOne | Kind::PickSome, Action::DeleteBack) => {
            let mut values = editor.form.picked(field).to_vec();
            values.pop();
            editor.form.set_picked(field, values);
            edited(model);
        }
        (Kind::PickOne | Kind::PickSome, Action::KillToStart) => {
            editor.form.set_picked(field, Vec::new());
            edited(model);
        }
        (_, Action::ExternalEditor | Action::Save) => return false,
        // The other keys of a text do nothing in a list.
        (_, action) => return action.spec().home == crate::console::app::keymap::Context::Text,
    }
    true
}

/// A printable key in a field that is no text: space toggles, a letter looks for what begins with it.
pub(in crate::console::app) fn typed(model: &mut Model, c: char) {
    let Some(editor) = front_mut(model).filter(|editor| editor.showing == Showing::Form) else { return };
    match (editor.field.kind(), c) {
        (Kind::Fold, ' ') => fold(editor),
        (Kind::Choice(_), ' ') => turn(model, 1),
        (Kind::Choice(words), c) => {
            if let Some(place) = words.iter().position(|word| word.starts_with(c.to_ascii_lowercase())) {
                editor.form.choose(editor.field, place);
                edited(model);
            }
        }
        (Kind::PickOne | Kind::PickSome, ' ') => picking::open(model, ""),
        (Kind::PickOne | Kind::PickSome, c) => picking::open(model, c.encode_utf8(&mut [0; 4])),
        _ => {}
    }
}

/// A paste in a field that is no text: it is looked for in the list.
pub(in crate::console::app) fn pasted(model: &mut Model, text: &str) {
    let Some(editor) = front(model) else { return };
    match editor.field.kind() {
        Kind::PickOne | Kind::PickSome => picking::open(model, text),
        _ => model.tell(Tone::Warn, "a paste needs a text: go to a field that takes one"),
    }
}

/// Goes on among the words of a choice.
fn turn(model: &mut Model, by: isize) {
    let Some(editor) = front_mut(model) else { return };
    let Kind::Choice(words) = editor.field.kind() else { return };
    let place = editor.form.chosen(editor.field) as isize + by;
    editor.form.choose(editor.field, place.rem_euclid(words.len() as isize).unsigned_abs());
    edited(model);
}

/// To the next field (1), or the one before (-1); round at the ends.
pub(in crate::console::app) fn step(model: &mut Model, direction: i64) {
    let Some(editor) = front(model).filter(|editor| editor.showing == Showing::Form) else { return };
    let fields = editor.fields();
    let here = fields.iter().position(|field| *field == editor.field).unwrap_or(0) as i64;
    focus(model, fields[(here + direction).rem_euclid(fields.len() as i64).unsigned_abs() as usize]);
}

/// A click on a field.
pub(in crate::console::app) fn go_to(model: &mut Model, field: Field) {
    let Some(editor) = front(model) else { return };
    let again = editor.field == field;
    focus(model, field);
    // A second click does what enter does where nothing is typed.
    if again && !matches!(field.kind(), Kind::Line | Kind::Lines) {
        enter(model);
    }
    model.dirty = true;
}

/// Esc while the record is shown: back to the form.
pub(in crate::console::app) fn back_to_form(model: &mut Model) -> bool {
    let Some(editor) = front_mut(model) else { return false };
    if editor.showing == Showing::Form {
        return false;
    }
    editor.showing = Showing::Form;
    model.dirty = true;
    true
}

/// What enter does in the field with the focus, for the footer.
pub(in crate::console::app) fn enter_title(model: &Model) -> &'static str {
    match front(model).map(|editor| editor.field.kind()) {
        Some(Kind::Line) => "next field",
        Some(Kind::PickOne | Kind::PickSome) => "list",
        Some(Kind::Choice(_)) => "change",
        Some(Kind::Fold) => "open, fold",
        Some(Kind::Lines) | None => "line",
    }
}

/// What F3 does, for the footer.
pub(in crate::console::app) fn record_title(model: &Model) -> &'static str {
    match front(model).map(|editor| editor.showing) {
        Some(Showing::Record { .. }) => "form",
        _ => "whole record",
    }
}

/// The text that the external editor gets: a text of several lines, else the whole record.
pub(in crate::console::app) fn text_to_edit(model: &mut Model) -> Option<String> {
    let editor = front_mut(model)?;
    if editor.showing == Showing::Form && editor.field.kind() == Kind::Lines {
        editor.outside = Some(Outside::Field(editor.field));
        return Some(editor.form.text(editor.field));
    }
    editor.outside = Some(Outside::Record);
    let rejected = editor.rejected.clone();
    Some(rejected.unwrap_or_else(|| record::text(editor.base.as_deref(), &editor.definition)))
}

/// What came back from the external editor.
pub(in crate::console::app) fn external_text(model: &mut Model, text: &str) {
    let Some(editor) = front_mut(model) else { return };
    match editor.outside.take() {
        Some(Outside::Field(field)) => editor.form.set_text(field, text),
        Some(Outside::Record) => return take_record(model, text),
        None => return,
    }
    edited(model);
}

fn take_record(model: &mut Model, text: &str) {
    let Some(editor) = front_mut(model) else { return };
    match written::read(text, None) {
        Ok(read) => {
            editor.form = form::Form::of(&read.definition, form::IdFrom::Author);
            (editor.failed, editor.rejected) = (None, None);
            let kept = record::text(editor.base.as_deref(), &read.definition);
            let lost = record::missing(text, &kept);
            changed(model);
            if !lost.is_empty() {
                let words = format!(
                    "not taken: {}, which the form does not know; write them into the file itself",
                    lost.join(", ")
                );
                model.tell(Tone::Warn, words);
            }
        }
        Err(faults) => {
            let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
            let words = format!("the record was not taken: {}", told.join("; "));
            editor.failed = Some(one_line(&words).into_owned());
            // It is opened again as it was left.
            editor.rejected = Some(text.to_owned());
        }
    }
    model.dirty = true;
}
