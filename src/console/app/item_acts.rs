//! What can be done with the items of a queue.

use super::action::Action;
use super::acts::{act, show_view};
use super::conversation::EntryKey;
use super::focus::{Pane, View};
use super::items::ItemRow;
use super::overlay::{Deed, ItemEditor, Overlay};
use super::replies::Purpose;
use super::text::{Lines, TextField};
use super::walk::{self, Rows};
use super::{Model, acts, asking, front, typing, words};
use crate::domain::api::{Command, Direction};
use crate::domain::id::ItemId;
use crate::domain::queue::{ItemState, Lane};

/// The item that an action would act on: the selected one of the queue with the focus.
pub(super) fn item(model: &Model) -> Option<&ItemRow> {
    match walk::rows(model)? {
        Rows::Queue => model.queue.current(),
        Rows::Backlog => model.backlog.current(),
        Rows::Sessions | Rows::Jobs | Rows::Runs | Rows::Recovery | Rows::Log => None,
    }
}

/// The message that was put aside and is under the conversation's cursor.
pub(super) fn put_aside_under_cursor(model: &Model) -> Option<ItemId> {
    match model.conversation.cursor {
        Some(EntryKey::PutAside(item)) if model.pane == Pane::Conversation => Some(item),
        _ => None,
    }
}

/// Why an action on the selected item can't be done.
pub(super) fn why_not(model: &Model, action: Action) -> Option<String> {
    let Some(row) = item(model) else {
        return Some("no queue item is selected: go to a queue first".to_owned());
    };
    let waits = match row.row.item.state {
        ItemState::Waiting => None,
        ItemState::Running => Some("it runs already: /stop ends its turn".to_owned()),
        state => {
            let key = typing::key_name(model, Action::PutBack);
            Some(format!("it is {}; {key} puts it back", state.word()))
        }
    };
    let in_queue = || match row.row.item.lane {
        Lane::Queue => None,
        Lane::Slot => {
            let key = typing::key_name(model, Action::SwitchLane);
            Some(format!("it is the next message: only /queue items move ({key} makes it one)"))
        }
    };
    match action {
        Action::EditItem | Action::DropItem | Action::SwitchLane => waits,
        Action::MoveUp => waits.or_else(in_queue).or_else(|| {
            (row.row.position == Some(1)).then(|| "it is the first of its queue already".to_owned())
        }),
        Action::MoveDown => waits.or_else(in_queue),
        Action::PutBack if row.was_put_aside() || row.held.is_some() => None,
        Action::PutBack => Some("it was not put aside, and its queue is not held".to_owned()),
        Action::ClearQueue => (waiting_beside(model, row) == 0).then(|| "nothing waits there".to_owned()),
        _ => None,
    }
}

/// How many items wait in the session of an item, as far as it is listed.
fn waiting_beside(model: &Model, row: &ItemRow) -> usize {
    let list = if model.view == View::Queue { &model.backlog.all } else { &model.queue.all };
    list.iter().filter(|other| other.waits() && other.row.item.session == row.row.item.session).count()
}

/// Does an action on the selected item.
pub(super) fn perform(model: &mut Model, action: Action) {
    let Some(row) = item(model).cloned() else { return };
    let item = row.id();
    let session = row.row.item.session.clone();
    match action {
        Action::EditItem => edit(model, &row),
        Action::DropItem => act(model, Command::DropItem { item }),
        Action::MoveUp => act(model, Command::MoveItem { item, direction: Direction::Up }),
        Action::MoveDown => act(model, Command::MoveItem { item, direction: Direction::Down }),
        Action::SwitchLane => act(model, Command::SwitchLane { item }),
        Action::PutBack if row.was_put_aside() => act(model, Command::RestoreItems { items: vec![item] }),
        Action::PutBack => act(model, Command::Continue { session }),
        Action::ClearQueue => {
            let waiting = words::count(waiting_beside(model, &row), "waiting message");
            let question = format!("Clear the queue of {}: {waiting}?", row.session_name);
            let deed = Deed::Command(Box::new(Command::ClearQueue { session }));
            asking::ask(model, &question, "They are kept and can be put back.", "clear", deed);
        }
        Action::GoToSession => {
            let key = row.row.key.clone();
            show_view(model, View::Sessions);
            front::go_to(model, &key);
            model.pane = Pane::Conversation;
        }
        _ => {}
    }
}

fn edit(model: &mut Model, row: &ItemRow) {
    let text = TextField::with(&row.row.item.text, Lines::Many);
    let before = text.text();
    model.overlays.push(Overlay::ItemEditor(ItemEditor {
        item: row.id(),
        session_name: row.session_name.clone(),
        text,
        before,
        was: row.row.item.text.clone(),
        failed: None,
        saving: None,
    }));
}

/// Saves the item's text that is being edited. The editor closes when it is saved.
pub(super) fn save(model: &mut Model) {
    let Some(Overlay::ItemEditor(editor)) = model.overlays.last() else { return };
    if !editor.is_changed() {
        model.overlays.pop();
        return;
    }
    // Who was told that it was edited elsewhere, and to what, means it.
    let now = editor.failed.as_ref().and_then(|_| listed(model, editor.item));
    let was = now.unwrap_or_else(|| editor.was.clone());
    let (item, text) = (editor.item, editor.text.text());
    let ticket = acts::command(model, Purpose::EditItem, Command::EditItem { item, was, text });
    if let Some(Overlay::ItemEditor(editor)) = model.overlays.last_mut() {
        editor.saving = Some(ticket);
        editor.failed = None;
    }
}

/// The text of an item as the lists have it now.
fn listed(model: &Model, item: ItemId) -> Option<String> {
    let rows = model.backlog.rows.iter().chain(&model.queue.rows);
    rows.rev().find(|row| row.id() == item).map(|row| row.row.item.text.clone())
}

/// Selects an item in the list that shows it.
pub(super) fn select(model: &mut Model, item: ItemId) {
    let backlog = model.view == View::Queue;
    let list = if backlog { &mut model.backlog } else { &mut model.queue };
    if let Some(index) = list.rows.iter().position(|row| row.id() == item) {
        list.selected = index;
        model.pane = if backlog { Pane::List } else { Pane::Queue };
    }
}

/// The text field's own movement in the item editor.
pub(super) fn text_key(model: &mut Model, action: Action) {
    if let Some(field) = typing::field(model) {
        match action {
            Action::NewLine => field.new_line(),
            action => drop(field.act(action)),
        }
    }
    typing::field_changed(model);
}
