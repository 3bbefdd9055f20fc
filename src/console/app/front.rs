//! The session in front: which it is, and what belongs to it.

use super::Model;
use super::conversation::{Conversation, Scroll};
use super::items::ItemList;
use super::msg::{Effect, Pace, Question, Timer};
use super::requests::mark_front;
use super::sessions::ListRow;
use super::writing;
use crate::domain::id::SessionKey;

/// How many scroll places are remembered.
const MOST_PLACES: usize = 256;

/// A forecast is asked for anew so long after its time has passed: then it is surely another.
const FORETOLD: chrono::TimeDelta = chrono::TimeDelta::seconds(1);

/// Puts the session of a key in front. Draft, scroll place and cursor of the one before are kept.
pub(super) fn show(model: &mut Model, key: &SessionKey) {
    if model.front == *key {
        return;
    }
    leave(model);
    model.front = key.clone();
    model.front_row = model.sessions.find(key).cloned();
    model.queue = ItemList::default();
    model.conversation = model.conversation.another(None);
    if let Some((scroll, cursor)) = model.memory.places.remove(key) {
        model.conversation.scroll = scroll;
        model.conversation.cursor = cursor;
    }
    model.armed = None;
    model.measured.conversation_top = None;
    model.measured.lines_below = 0;
    model.measured.top_shown = false;
    mark_front(model, Pace::AtOnce);
    if !writing::is_loaded(model) {
        model.requests.mark(Question::Composer, Pace::AtOnce);
    }
    if let Some(index) = model.sessions.rows.iter().position(|row| row.key() == key) {
        model.sessions.selected = index;
    }
    model.dirty = true;
}

/// Puts a session in front that was chosen elsewhere than in the list, and shows it there.
pub(super) fn go_to(model: &mut Model, key: &SessionKey) {
    if model.sessions.find(key).is_none() {
        // It is looked for from the top: a window that began at its place would lose it with its
        // next move.
        model.sessions.filter.set("");
        model.sessions.rewind();
        model.requests.mark(Question::Sessions, Pace::AtOnce);
        model.sessions.sought = Some(key.clone());
    }
    show(model, key);
}

fn leave(model: &mut Model) {
    writing::save_draft(model);
    writing::let_go(model);
    let conversation = &model.conversation;
    if conversation.scroll != Scroll::Follow && model.memory.places.len() < MOST_PLACES {
        let place = (conversation.scroll, conversation.cursor);
        model.memory.places.insert(model.front.clone(), place);
    }
}

/// Takes in a new row of the session in front. A reset has put another memory under the key: its
/// conversation and queue are asked for.
pub(super) fn set_row(model: &mut Model, mut row: Option<ListRow>) {
    if let (Some(row), Some(known)) = (&mut row, &model.front_row) {
        row.keep_last_output(known);
    }
    model.dirty |= model.front_row != row;
    let id = row.as_ref().map(|row| row.row.session.id.clone());
    if model.conversation.session != id {
        // A place that was kept is of the memory that is shown first, not of one that follows it.
        let (scroll, cursor) = match model.conversation.session {
            None => (model.conversation.scroll, model.conversation.cursor),
            Some(_) => (Scroll::Follow, None),
        };
        model.conversation = Conversation { scroll, cursor, ..model.conversation.another(id.clone()) };
        model.queue = ItemList::default();
        if id.is_some() {
            model.requests.mark(Question::Conversation, Pace::AtOnce);
            model.requests.mark(Question::Queue, Pace::AtOnce);
        }
    }
    if id.is_none() {
        // Nothing was ever said under this key: there is nothing to wait for.
        model.conversation.loaded = true;
        model.queue.loaded = true;
    }
    if let Some(forecast) = row.as_ref().and_then(|row| row.row.forecast.as_ref())
        && let Some(at) = forecast.changes_at(model.as_of())
    {
        model.effects.push(Effect::Timer { timer: Timer::Forecast, at: at + FORETOLD });
    }
    let idle = row.as_ref().is_some_and(|row| row.row.turn.is_none() && row.waiting() == 0);
    model.front_row = row;
    if idle {
        writing::outdate_ack(model);
    }
}

/// What a person calls the session in front.
pub(super) fn name(model: &Model) -> String {
    match &model.front_row {
        Some(row) => row.name.clone(),
        None => super::sessions::name_of(&model.front).into_owned(),
    }
}
