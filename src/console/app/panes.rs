//! From pane to pane: the ring of tab, and outward.

use super::focus::{Focus, Pane, View};
use super::items::ItemRow;
use super::search::{filter_changed, filter_field, filter_pane, held_filter};
use super::{Model, acts, asking, away, completing};

/// For so long after it was sent, a message that was put aside keeps the queue's pane open.
const LATELY: chrono::TimeDelta = chrono::TimeDelta::hours(1);

/// Whether the session in front has a pane for its queue: something waits, or was put aside lately
/// and can be put back.
pub fn has_queue(model: &Model) -> bool {
    let since = model.as_of() - LATELY;
    let lately = |row: &ItemRow| row.was_put_aside() && row.row.item.created_at > since;
    model.queue.rows.iter().any(|row| row.waits() || lately(row))
}

/// The panes of the ring, in order.
fn ring(model: &Model) -> Vec<Focus> {
    let mut ring = Vec::new();
    if model.card.as_ref().is_some_and(|card| !card.hidden) {
        ring.push(Focus::Card);
    }
    ring.push(Focus::Pane(Pane::List));
    if model.view == View::Cron {
        ring.push(Focus::Pane(Pane::Detail));
    }
    if model.view == View::Sessions {
        ring.push(Focus::Pane(Pane::Conversation));
        if has_queue(model) {
            ring.push(Focus::Pane(Pane::Queue));
        }
        ring.push(Focus::Pane(Pane::Composer));
    }
    ring
}

/// The next pane of the ring, or the one before.
pub(super) fn tab(model: &mut Model, direction: i64) {
    let ring = ring(model);
    let here = match model.focus() {
        // The filter belongs to its list.
        Focus::Pane(Pane::Filter) => Focus::Pane(filter_pane(model)),
        focus => focus,
    };
    let index = ring.iter().position(|focus| *focus == here).unwrap_or(0);
    let next = (index as i64 + direction).rem_euclid(ring.len() as i64) as usize;
    set_focus(model, ring[next]);
}

/// Gives the focus.
pub(super) fn set_focus(model: &mut Model, focus: Focus) {
    let now = model.now;
    if let Some(card) = &mut model.card {
        card.focused_at = (focus == Focus::Card).then_some(now);
        // Enter is always harmless at first.
        card.marked = 0;
    }
    if let Focus::Pane(pane) = focus {
        set_pane(model, pane);
    }
    model.dirty = true;
}

/// Makes a pane the one with the focus, once no overlay or card has it.
pub(super) fn set_pane(model: &mut Model, pane: Pane) {
    if pane == Pane::Queue && model.pane != pane {
        // Entered at what runs next.
        model.queue.selected = 0;
        model.queue.top = 0;
    }
    model.pane = pane;
    if pane == Pane::Conversation && model.conversation.cursor.is_none() {
        model.conversation.cursor = model.conversation.entries.last().map(|entry| entry.key);
    }
    model.dirty = true;
}

/// One step along the ring without going round.
pub(super) fn sideways(model: &mut Model, direction: i64) {
    let ring = ring(model);
    let Some(index) = ring.iter().position(|focus| *focus == model.focus()) else { return };
    if let Some(next) = index.checked_add_signed(direction as isize).and_then(|next| ring.get(next)) {
        set_focus(model, *next);
    }
}

/// Out by one step: popup, overlay, card, filter, pane. Never quits, stops or loses text.
pub(super) fn out(model: &mut Model) {
    if !model.pending.is_empty() {
        model.pending.clear();
        return;
    }
    match model.focus() {
        Focus::Overlay => asking::close(model),
        _ if away::close(model) => {}
        Focus::Card => hide_card(model),
        Focus::Pane(Pane::Composer) if completing::close(model) => {}
        Focus::Pane(Pane::Filter) => {
            filter_field(model).set("");
            filter_changed(model);
            model.pane = filter_pane(model);
        }
        Focus::Pane(Pane::List) => {
            if !held_filter(model).is_empty() {
                filter_field(model).set("");
                filter_changed(model);
            } else {
                model.zoomed = false;
            }
        }
        Focus::Pane(_) => model.pane = Pane::List,
    }
    model.dirty = true;
}

fn hide_card(model: &mut Model) {
    if let Some(card) = &mut model.card {
        card.focused_at = None;
        card.hidden = true;
    }
}

/// Back by one step; at the top the quit dialog.
pub(super) fn back(model: &mut Model) {
    match model.focus() {
        Focus::Pane(Pane::List) if model.zoomed || !held_filter(model).is_empty() => out(model),
        Focus::Pane(Pane::List) if model.view != View::Sessions => acts::show_view(model, View::Sessions),
        Focus::Pane(Pane::List) => asking::ask_quit(model),
        _ => out(model),
    }
}
