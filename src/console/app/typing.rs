//! From keys to actions: the scope chain, sequences, text, and pastes that come as keys.

use chrono::TimeDelta;

use super::action::Action;
use super::focus::{Focus, Pane, View};
use super::key::{Code, Key, sequence_name};
use super::keymap::{Context, Resolved};
use super::model::Pastes;
use super::msg::{Effect, Timer, Tone};
use super::overlay::Overlay;
use super::text::TextField;
use super::{Model, acts, asking, cron, job_editor, picking, search, writing};
use crate::domain::Time;

/// Keys that follow each other faster than this may be a paste without brackets.
const BURST: TimeDelta = TimeDelta::milliseconds(10);
/// More printable keys than this in a burst are a paste.
const MOST_TYPED_AT_ONCE: usize = 5;

/// The contexts in which a key is looked up now, innermost first.
pub fn chain(model: &Model) -> &'static [Context] {
    let inner = match model.focus() {
        Focus::Overlay => match model.overlays.last() {
            Some(Overlay::Picker(_) | Overlay::NewSession(_) | Overlay::DenyWhy(_)) => Context::Picker,
            Some(Overlay::ItemEditor(_) | Overlay::JobEditor(_)) => Context::Editor,
            Some(Overlay::Viewer(_)) => Context::Viewer,
            Some(Overlay::Confirm(_)) | None => Context::Card,
        },
        Focus::Card => Context::Card,
        Focus::Pane(pane) => pane_context(model.view, pane),
    };
    chain_of(inner)
}

fn pane_context(view: View, pane: Pane) -> Context {
    match (pane, view) {
        (Pane::List, View::Sessions) => Context::Sessions,
        (Pane::List, View::Queue) | (Pane::Queue, _) => Context::Queue,
        (Pane::List, View::Cron) | (Pane::Detail, _) => Context::Cron,
        (Pane::List, View::Recovery) => Context::Recovery,
        (Pane::List, View::Log) => Context::Log,
        (Pane::Conversation, _) => Context::Conversation,
        (Pane::Composer, _) => Context::Composer,
        (Pane::Filter, _) => Context::Picker,
    }
}

fn chain_of(inner: Context) -> &'static [Context] {
    Context::CHAINS.iter().copied().find(|chain| chain[0] == inner).unwrap_or(&[])
}

/// Whether printable keys are text now.
pub fn in_text(model: &Model) -> bool {
    chain(model).first().is_some_and(|context| context.is_text())
}

/// The text field with the focus.
pub(super) fn field(model: &mut Model) -> Option<&mut TextField> {
    match model.focus() {
        Focus::Overlay => match model.overlays.last_mut()? {
            Overlay::Picker(picker) => Some(&mut picker.text),
            Overlay::ItemEditor(editor) => Some(&mut editor.text),
            Overlay::JobEditor(editor) => editor.field_mut(),
            Overlay::NewSession(prompt) => Some(&mut prompt.text),
            Overlay::DenyWhy(deny) => Some(&mut deny.text),
            Overlay::Confirm(_) | Overlay::Viewer(_) => None,
        },
        Focus::Card => None,
        Focus::Pane(Pane::Composer) => Some(&mut writing::composer(model).text),
        Focus::Pane(Pane::Filter) => Some(search::filter_field(model)),
        Focus::Pane(Pane::List | Pane::Detail | Pane::Conversation | Pane::Queue) => None,
    }
}

/// Does what must follow a change of the text field with the focus.
pub(super) fn field_changed(model: &mut Model) {
    match model.focus() {
        Focus::Overlay => picking::text_changed(model),
        Focus::Pane(Pane::Composer) => writing::text_changed(model),
        Focus::Pane(Pane::Filter) => search::filter_changed(model),
        Focus::Card | Focus::Pane(_) => {}
    }
}

/// A key was pressed.
pub(super) fn key(model: &mut Model, key: Key, at: Time) {
    let fast = model.memory.key_at.is_some_and(|before| at - before < BURST);
    model.memory.key_at = Some(at);
    if in_text(model) && model.memory.held.is_empty() {
        key_in_text(model, key, fast, at);
    } else {
        key_in_command(model, key, fast, at);
    }
}

/// A key on a screen that is too small to show anything: only what leaves it or draws it anew acts.
pub(super) fn key_unseen(model: &mut Model, key: Key) {
    model.pending.clear();
    match model.keymap.resolve(chain(model), &[key]) {
        Resolved::Action(Action::StepBack) => asking::leave_unseen(model),
        Resolved::Action(action @ (Action::Suspend | Action::Redraw)) => acts::run(model, action),
        Resolved::Action(_) | Resolved::Prefix | Resolved::Nothing => {}
    }
}

/// Printable keys came at once. In a field those behind the first are put in together.
pub(super) fn typed(model: &mut Model, text: &str, at: Time) {
    let mut letters = text.chars();
    if let Some(first) = letters.next() {
        key(model, Key::plain(Code::Char(first)), at);
    }
    let takes_text = in_text(model) && model.pending.is_empty() && model.memory.held.is_empty();
    match field(model).filter(|_| takes_text) {
        Some(field) => {
            field.insert(letters.as_str());
            field_changed(model);
            model.dirty = true;
        }
        None => letters.for_each(|letter| key(model, Key::plain(Code::Char(letter)), at)),
    }
}

/// In a command pane, printable keys that follow too fast are held back until it is known whether
/// they are a paste, where pastes come as keys: the keys of a person run without delay.
fn key_in_command(model: &mut Model, key: Key, fast: bool, at: Time) {
    let may_be_pasted = key.types().is_some() || (key.code == Code::Enter && !model.memory.held.is_empty());
    if fast && may_be_pasted && model.pastes == Pastes::AsKeys {
        model.memory.held.push(key);
        model.effects.push(Effect::Timer { timer: Timer::Burst, at: at + BURST });
        return;
    }
    release_held(model);
    if !cron::swallows(model, key) {
        press(model, key);
    }
}

/// In the composer, an Enter within a burst waits: if more keys follow it is a line of a paste.
fn key_in_text(model: &mut Model, key: Key, fast: bool, at: Time) {
    if model.memory.held_enter {
        model.memory.held_enter = false;
        if fast {
            model.memory.pasting = true;
            writing::insert(model, "\n");
        } else {
            press(model, Key::plain(Code::Enter));
        }
    }
    model.memory.pasting &= fast;
    if fast && key == Key::plain(Code::Enter) && model.focus() == Focus::Pane(Pane::Composer) {
        model.memory.held_enter = true;
        model.effects.push(Effect::Timer { timer: Timer::Burst, at: at + BURST });
        return;
    }
    press(model, key);
}

/// No more keys followed: what was held back is decided.
pub(super) fn burst_ended(model: &mut Model) {
    release_held(model);
    if std::mem::take(&mut model.memory.held_enter) {
        if std::mem::take(&mut model.memory.pasting) {
            writing::insert(model, "\n");
        } else {
            press(model, Key::plain(Code::Enter));
        }
    }
}

fn release_held(model: &mut Model) {
    let held = std::mem::take(&mut model.memory.held);
    if held.len() >= MOST_TYPED_AT_ONCE {
        let words =
            format!("{} keys came at once, like a paste: dropped; paste into the composer", held.len());
        model.tell(Tone::Warn, words);
        return;
    }
    for key in held {
        press(model, key);
    }
}

/// A paste: one draft, whatever it holds, and never keys.
pub(super) fn paste(model: &mut Model, text: &str) {
    if !in_text(model) {
        if model.focus() != Focus::Pane(model.pane) {
            model.tell(Tone::Warn, "a paste while a question is open is dropped: close it first");
            return;
        }
        acts::show_view(model, View::Sessions);
        model.pane = Pane::Composer;
    }
    match field(model) {
        Some(field) => {
            field.insert(text);
            field_changed(model);
        }
        None => job_editor::pasted(model, text),
    }
    model.dirty = true;
}

/// Looks a key up and runs what it means.
fn press(model: &mut Model, key: Key) {
    model.dirty = true;
    let text = in_text(model);
    if text
        && model.pending.is_empty()
        && let Some(typed) = key.types()
    {
        match field(model) {
            Some(field) => {
                field.type_char(typed);
                field_changed(model);
            }
            None => job_editor::typed(model, typed),
        }
        return;
    }
    let mut keys = std::mem::take(&mut model.pending);
    keys.push(key);
    match model.keymap.resolve(chain(model), &keys) {
        Resolved::Action(action) => acts::run(model, action),
        Resolved::Prefix => model.pending = keys,
        Resolved::Nothing if keys.len() > 1 && key.code == Code::Esc => {}
        // No printable key is ever lost in a text.
        Resolved::Nothing if keys.len() > 1 && text && key.types().is_some() => press(model, key),
        Resolved::Nothing if text && keys.len() == 1 && key.held.alt && !key.held.ctrl => torn(model, key),
        Resolved::Nothing => {
            let words =
                format!("{} does nothing here; {} shows what does", sequence_name(&keys), help_key(model));
            model.tell(Tone::Note, words);
        }
    }
}

/// Alt-KEY in a text field means what KEY means outside: Esc, and then KEY.
fn torn(model: &mut Model, key: Key) {
    // Out of a popup and a filter, too: the key must never become text.
    for _ in 0..4 {
        if in_text(model) {
            acts::run(model, Action::Out);
        }
    }
    if !in_text(model) {
        press(model, key.without_alt());
    }
}

fn help_key(model: &Model) -> String {
    model.keymap.keys_of(chain(model), Action::Help).unwrap_or_else(|| key_name(model, Action::Help))
}

/// The key of an action, for a sentence; the palette with its name if it has none: `:release`.
pub(super) fn key_name(model: &Model, action: Action) -> String {
    model.keymap.keys_anywhere(action).unwrap_or_else(|| {
        let palette = model.keymap.keys_of(&[Context::Global, Context::Always], Action::Palette);
        format!("{}{}", palette.unwrap_or_default(), action.spec().title)
    })
}
