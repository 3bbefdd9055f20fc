//! The conversation pane: its cursor, which walks entries, and where it looks.

use super::Model;
use super::action::Action;
use super::conversation::{Scroll, ShownBody};
use super::msg::{Anchor, Pace, Question};
use super::walk::Step;

pub(super) fn move_in_conversation(model: &mut Model, action: Action, step: Step) {
    match (action, step) {
        (Action::Up | Action::Down, Step::By(rows)) => move_cursor(model, rows),
        (_, Step::By(lines)) => scroll_by(model, lines),
        (_, Step::First) => scroll_to_first(model),
        (_, Step::Last) => follow(model),
    }
}

/// Moves the conversation's cursor by entries.
pub(super) fn move_cursor(model: &mut Model, by: i64) {
    let conversation = &mut model.conversation;
    let length = conversation.entries.len();
    let Some(last) = length.checked_sub(1) else { return };
    let to = match conversation.cursor_index() {
        Some(index) if index == last && by > 0 => return follow(model),
        Some(index) => index.saturating_add_signed(by as isize).min(last),
        None => last,
    };
    put_cursor(model, to);
}

/// Puts the conversation's cursor on an entry and shows it.
pub(super) fn put_cursor(model: &mut Model, index: usize) {
    let conversation = &mut model.conversation;
    let Some(entry) = conversation.entries.get(index) else { return };
    conversation.cursor = Some(entry.key);
    let top = model.measured.conversation_top.unwrap_or(Anchor { entry: entry.key, lines: 0 });
    conversation.scroll = Scroll::Reveal(top);
    if index == 0 && conversation.more_before {
        model.requests.mark(Question::Earlier, Pace::AtOnce);
    }
    model.dirty = true;
}

/// Scrolls the conversation by lines.
pub(super) fn scroll_by(model: &mut Model, lines: i64) {
    let Some(last) = model.conversation.entries.last() else { return };
    if lines > 0 && (model.conversation.follows() || model.measured.lines_below as i64 <= lines) {
        return follow(model);
    }
    if lines < 0 && model.measured.top_shown {
        if model.conversation.more_before {
            model.requests.mark(Question::Earlier, Pace::AtOnce);
        }
        return;
    }
    let here = match model.conversation.scroll {
        Scroll::At(anchor) => anchor,
        _ => model.measured.conversation_top.unwrap_or(Anchor { entry: last.key, lines: 0 }),
    };
    model.conversation.scroll = Scroll::At(Anchor { lines: here.lines + lines, ..here });
    model.dirty = true;
}

/// Goes to the first loaded line; more is loaded when it is shown.
pub(super) fn scroll_to_first(model: &mut Model) {
    let Some(first) = model.conversation.entries.first() else { return };
    let entry = first.key;
    model.conversation.cursor = Some(entry);
    model.conversation.scroll = Scroll::At(Anchor { entry, lines: 0 });
    if model.conversation.more_before {
        model.requests.mark(Question::Earlier, Pace::AtOnce);
    }
    model.dirty = true;
}

/// Follows the newest line again.
pub(super) fn follow(model: &mut Model) {
    model.conversation.scroll = Scroll::Follow;
    model.conversation.cursor = model.conversation.entries.last().map(|entry| entry.key);
    if model.conversation.more_after {
        model.memory.reload = true;
        model.requests.mark(Question::Conversation, Pace::AtOnce);
    }
    model.dirty = true;
}

/// Replaces a scroll place by where the drawing found it to be.
pub(super) fn settle_scroll(model: &mut Model) {
    let (Scroll::At(_) | Scroll::Reveal(_)) = model.conversation.scroll else { return };
    let Some(top) = model.measured.conversation_top else { return };
    let conversation = &mut model.conversation;
    let cursor_is_last = conversation.cursor.is_none()
        || conversation.cursor == conversation.entries.last().map(|entry| entry.key);
    let at_end = model.measured.lines_below == 0 && !conversation.more_after;
    conversation.scroll = match (at_end && cursor_is_last, conversation.scroll) {
        (true, _) => Scroll::Follow,
        (false, _) => Scroll::At(top),
    };
}

/// The turn before or behind the cursor: the person's words that began it.
pub(super) fn move_turn(model: &mut Model, direction: i64) {
    let entries = &model.conversation.entries;
    let begins = |index: &usize| matches!(entries[*index].body, ShownBody::User { .. });
    let here = model.conversation.cursor_index().unwrap_or(entries.len());
    let to = match direction {
        ..0 => (0..here).rev().find(begins),
        _ => (here.saturating_add(1)..entries.len()).find(begins),
    };
    match to {
        Some(index) => put_cursor(model, index),
        None if direction > 0 => follow(model),
        None => put_cursor(model, 0),
    }
}
