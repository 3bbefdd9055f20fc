//! What waits in the session in front, under its conversation.

use ratatui::layout::Rect;

use super::layout::PaneArea;
use super::paint::{Focused, Paint, first_shown, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::action::Action;
use crate::console::app::focus::{Focus, Pane, Target};
use crate::console::app::items::{ItemList, ItemRow};
use crate::console::app::keymap::Context;
use crate::console::app::words::when;
use crate::console::app::{Model, has_queue};
use crate::domain::queue::ItemState;

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let focused = paint.focused(Pane::Queue);
    let rows = usize::from(area.body.height);
    let list = &paint.model.queue;
    paint.measured.queue_rows = rows;
    paint.target(area.whole(), Target::Pane(Pane::Queue));
    let first = match focused {
        Focused::Yes => first_shown(list.top, list.selected, list.rows.len(), rows),
        // Whoever looks at it in passing wants to know what runs next.
        Focused::No => 0,
    };
    let listed = listed(list, focused);
    draw_title(paint, area.title, focused, listed.saturating_sub(first + rows));
    for (at, item) in list.rows.iter().enumerate().take(listed).skip(first).take(rows) {
        let row = Rect { y: area.body.y + to_cells(at - first), height: 1, ..area.body };
        paint.target(row, Target::Item(item.id()));
        draw_item(paint, row, item);
        if at == list.selected && focused == Focused::Yes {
            paint.keep = Some(row);
            paint.canvas.dress(row, Role::Selected);
        }
    }
    if listed < list.rows.len() && listed < rows {
        draw_folded(paint, Rect { y: area.body.y + to_cells(listed), height: 1, ..area.body });
    }
}

/// How many rows stand in the pane each on its own; what was put aside is folded until it has the focus.
fn listed(list: &ItemList, focused: Focused) -> usize {
    match focused {
        Focused::Yes => list.rows.len(),
        Focused::No => list.waiting(),
    }
}

fn draw_title(paint: &mut Paint<'_>, area: Rect, focused: Focused, hidden: usize) {
    let model = paint.model;
    let hold = model.front_row.as_ref().and_then(|row| row.row.session.hold);
    let (right, role) = match (hold, hidden) {
        (Some(hold), _) => (hold.reason.words(), Role::Held),
        (None, 0) => (String::new(), Role::Quiet),
        (None, hidden) => (format!("{hidden} more below"), Role::Quiet),
    };
    let title = match (model.queue.waiting(), model.queue.put_aside().len()) {
        (0, aside) => format!("nothing waits, {aside} put aside"),
        (waiting, 0) => format!("waiting {waiting}"),
        (waiting, aside) => format!("waiting {waiting}, {aside} put aside"),
    };
    paint.title_in(area, focused, &title, &right, role);
}

/// What was put aside, in one line.
fn draw_folded(paint: &mut Paint<'_>, row: Rect) {
    let list = &paint.model.queue;
    let Some(newest) = list.put_aside().next() else { return };
    let key = paint.key_in(&[Context::Queue], Action::PutBack);
    let how = format!("{key} in this pane puts it back");
    let (place, role) = place(newest);
    let words = usize::from(row.width).saturating_sub(14 + text::width(&how));
    let mut pen = paint.row(row, 0);
    pen.skip(1).column_right(&place, 9, role).skip(2);
    pen.column(&newest.excerpt, text::width(&newest.excerpt).min(words), Role::Replaced).skip(2);
    pen.put(&how, Role::Quiet);
}

fn draw_item(paint: &mut Paint<'_>, row: Rect, item: &ItemRow) {
    let model = paint.model;
    let (place, place_role) = place(item);
    let sent = when(model, item.row.item.created_at);
    let beside = beside(item);
    let width = usize::from(row.width);
    let words = width.saturating_sub(14 + sent.len()) * 3 / 5;
    let role = if item.was_put_aside() { Role::Replaced } else { Role::Text };
    let mut pen = paint.row(row, 0);
    pen.skip(1).column_right(&place, 9, place_role).skip(2);
    pen.column(&item.excerpt, words, role).skip(2).put(&sent, Role::Quiet).skip(2);
    pen.put(beside, Role::Quiet);
}

/// Where an item stands, in a word, and how that is dressed.
pub(super) fn place(item: &ItemRow) -> (String, Role) {
    let role = match item.row.item.state {
        ItemState::Running => Role::Runs,
        ItemState::Waiting => Role::Strong,
        _ => Role::Quiet,
    };
    (item.place(), role)
}

/// What stands beside an item: why it does not move, or what became of it.
pub(super) fn beside(item: &ItemRow) -> &str {
    item.held.as_deref().or(item.note.as_deref()).unwrap_or_default()
}

/// How many rows the pane would show; none while it has nothing to show.
pub(super) fn rows(model: &Model) -> usize {
    let list = &model.queue;
    match model.focus() {
        _ if !has_queue(model) => 0,
        Focus::Pane(Pane::Queue) => list.rows.len(),
        _ => list.waiting() + usize::from(list.put_aside().len() > 0),
    }
}
