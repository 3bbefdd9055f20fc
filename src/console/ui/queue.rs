//! The view of all queues: what waits anywhere, and what runs.

use ratatui::layout::Rect;

use super::layout::PaneArea;
use super::paint::{Focused, Paint, first_shown, to_cells};
use super::queue_pane::{beside, place};
use super::theme::Role;
use crate::console::app::focus::{Pane, Target};
use crate::console::app::items::{ItemList, ItemRow};
use crate::console::app::words::when;

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let list = &paint.model.backlog;
    let rows = usize::from(area.body.height.saturating_sub(1));
    let first = first_shown(list.top, list.selected, list.rows.len(), rows);
    let focused = paint.focused(Pane::List);
    paint.measured.list_rows = rows;
    paint.target(area.whole(), Target::Pane(Pane::List));
    let hidden = list.rows.len().saturating_sub(first + rows);
    let right = if hidden == 0 { String::new() } else { format!("{hidden} more below") };
    paint.title(area.title, focused, &title(list), &right);
    if list.rows.is_empty() {
        return draw_empty(paint, area.body, list);
    }
    let columns = Columns::of(area.body.width);
    draw_heads(paint, area.body, columns);
    for (at, item) in list.rows.iter().enumerate().skip(first).take(rows) {
        let row = Rect { y: area.body.y + 1 + to_cells(at - first), height: 1, ..area.body };
        // The session is named where it changes.
        let same = at > first && list.rows[at - 1].row.key == item.row.key;
        paint.target(row, Target::Item(item.id()));
        draw_item(paint, row, columns, item, if same { "" } else { &item.session_name });
        if at == list.selected {
            let role = if focused == Focused::Yes { Role::Selected } else { Role::Marked };
            paint.canvas.dress(row, role);
        }
    }
}

fn title(list: &ItemList) -> String {
    match list.filter.is_empty() {
        true => format!("Queue: {} wait, {} run", list.waiting(), list.rows.len() - list.waiting()),
        false => format!("Queue: {} of {}", list.rows.len(), list.total()),
    }
}

#[derive(Clone, Copy)]
struct Columns {
    session: usize,
    words: usize,
    sent: usize,
}

const PLACE: usize = 9;
const SOURCE: usize = 7;

impl Columns {
    fn of(width: u16) -> Self {
        let width = usize::from(width);
        let session = (width / 5).clamp(10, 28);
        let sent = 12;
        let rest = width.saturating_sub(1 + session + 1 + PLACE + 2 + 2 + sent + 2 + SOURCE + 2);
        Self { session, words: rest * 3 / 5, sent }
    }
}

fn draw_heads(paint: &mut Paint<'_>, area: Rect, columns: Columns) {
    let mut pen = paint.row(area, 0);
    pen.skip(1).column("session", columns.session, Role::Quiet).skip(1);
    pen.column_right("place", PLACE, Role::Quiet).skip(2).column("text", columns.words, Role::Quiet).skip(2);
    pen.column("sent", columns.sent, Role::Quiet).skip(2).column("by", SOURCE, Role::Quiet).skip(2);
    pen.put("why it waits", Role::Quiet);
}

fn draw_item(paint: &mut Paint<'_>, row: Rect, columns: Columns, item: &ItemRow, session: &str) {
    let model = paint.model;
    let (place, place_role) = place(item);
    let sent = when(model, item.row.item.created_at);
    let mut pen = paint.row(row, 0);
    pen.skip(1).column(session, columns.session, Role::Strong).skip(1);
    pen.column_right(&place, PLACE, place_role).skip(2);
    pen.column(&item.excerpt, columns.words, Role::Text).skip(2);
    pen.column(&sent, columns.sent, Role::Quiet).skip(2);
    pen.column(item.row.item.source.as_str(), SOURCE, Role::Quiet).skip(2);
    pen.put(beside(item), Role::Held);
}

fn draw_empty(paint: &mut Paint<'_>, area: Rect, list: &ItemList) {
    let filter = list.filter.text();
    if let Some(why) = &list.failed {
        paint.say(area, &[(&format!("The queues could not be read: {why}"), Role::Bad)]);
    } else if !list.loaded {
        paint.say(area, &[("reading the queues", Role::Quiet)]);
    } else if !filter.is_empty() {
        let hits = format!("0 of {} match \"{filter}\". esc clears.", list.total());
        paint.say(area, &[(&hits, Role::Text)]);
    } else {
        paint.say(area, &[("Nothing waits. /queue TEXT in a session adds work here.", Role::Text)]);
    }
}
