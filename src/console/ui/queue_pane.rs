//! What waits in the session in front, under its conversation.

use ratatui::layout::Rect;

use super::layout::PaneArea;
use super::paint::{Focused, Paint, first_shown, to_cells};
use super::theme::Role;
use crate::console::app::Model;
use crate::console::app::focus::{Pane, Target};
use crate::console::app::items::ItemRow;
use crate::console::app::words::when;
use crate::domain::queue::ItemState;

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let model = paint.model;
    let list = &model.queue;
    let rows = usize::from(area.body.height);
    let first = first_shown(list.top, list.selected, list.rows.len(), rows);
    let focused = paint.focused(Pane::Queue);
    paint.measured.queue_rows = rows;
    paint.target(area.whole(), Target::Pane(Pane::Queue));
    let hidden = list.rows.len().saturating_sub(first + rows);
    let hold = model.front_row.as_ref().and_then(|row| row.row.session.hold);
    let (right, role) = match (hold, hidden) {
        (Some(hold), _) => (hold.reason.words().to_owned(), Role::Held),
        (None, 0) => (String::new(), Role::Quiet),
        (None, hidden) => (format!("{hidden} more below"), Role::Quiet),
    };
    paint.title_in(area.title, focused, &format!("waiting {}", list.waiting()), &right, role);
    for (at, item) in list.rows.iter().enumerate().skip(first).take(rows) {
        let row = Rect { y: area.body.y + to_cells(at - first), height: 1, ..area.body };
        paint.target(row, Target::Item(item.id()));
        draw_item(paint, row, item);
        if at == list.selected && focused == Focused::Yes {
            paint.canvas.dress(row, Role::Selected);
        }
    }
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
    let word = match item.row.item.state {
        ItemState::Superseded => "replaced".to_owned(),
        _ => item.place(),
    };
    (word, role)
}

/// What stands beside an item: why it does not move, or what became of it.
pub(super) fn beside(item: &ItemRow) -> &str {
    item.held.as_deref().or(item.note.as_deref()).unwrap_or_default()
}

/// How many rows the pane would show; none while nothing waits.
pub(super) fn rows(model: &Model) -> usize {
    if model.queue.waiting() == 0 { 0 } else { model.queue.rows.len() }
}
