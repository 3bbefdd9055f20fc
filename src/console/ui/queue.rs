//! The view of all queues: what waits anywhere, and what runs.

use ratatui::layout::Rect;

use super::layout::PaneArea;
use super::paint::{Focused, Paint, first_shown, to_cells};
use super::queue_pane::{beside, place};
use super::text;
use super::theme::Role;
use crate::console::app::Model;
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
    let end = list.rows.len().min(first + rows);
    let columns = Columns::of(paint.model, area.body.width, &list.rows[first..end]);
    draw_heads(paint, area.body, columns);
    for (at, item) in list.rows.iter().enumerate().skip(first).take(rows) {
        let row = Rect { y: area.body.y + 1 + to_cells(at - first), height: 1, ..area.body };
        // The session is named where it changes.
        let same = at > first && list.rows[at - 1].row.key == item.row.key;
        paint.target(row, Target::Item(item.id()));
        draw_item(paint, row, columns, item, if same { "" } else { &item.session_name });
        if at == list.selected {
            paint.keep = (focused == Focused::Yes).then_some(row);
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

/// How wide the columns are: what no shown row needs takes no room.
#[derive(Clone, Copy)]
struct Columns {
    session: usize,
    words: usize,
    sent: usize,
    source: usize,
}

const PLACE: usize = 8;
const GAP: usize = 2;

impl Columns {
    fn of(model: &Model, width: u16, shown: &[ItemRow]) -> Self {
        let width = usize::from(width);
        let session = (width / 5).clamp(10, 28);
        let widths = shown.iter().map(|item| text::width(&when(model, item.row.item.created_at)));
        let sent = widths.max().unwrap_or(0).max("sent".len());
        let source = if width < 100 { 0 } else { "console".len() + GAP };
        let fixed = 1 + session + 1 + PLACE + GAP + GAP + sent + GAP + source;
        let rest = width.saturating_sub(fixed);
        let words = shown.iter().map(|item| text::width(&item.excerpt)).max().unwrap_or(0);
        let stands_still = shown.iter().any(|item| !beside(item).is_empty());
        let words = if stands_still { words.clamp(4, (rest * 3 / 5).max(4)) } else { rest };
        Self { session, words, sent, source }
    }
}

fn draw_heads(paint: &mut Paint<'_>, area: Rect, columns: Columns) {
    let mut pen = paint.row(area, 0);
    pen.skip(1).column("session", columns.session, Role::Quiet).skip(1);
    pen.column_right("place", PLACE, Role::Quiet).skip(GAP).column("text", columns.words, Role::Quiet);
    pen.skip(GAP).column("sent", columns.sent, Role::Quiet).skip(GAP);
    pen.column("by", columns.source, Role::Quiet).put("why it waits", Role::Quiet);
}

fn draw_item(paint: &mut Paint<'_>, row: Rect, columns: Columns, item: &ItemRow, session: &str) {
    let model = paint.model;
    let (place, place_role) = place(item);
    let sent = when(model, item.row.item.created_at);
    let source = item.row.item.source.as_str();
    let mut pen = paint.row(row, 0);
    pen.skip(1).column(session, columns.session, Role::Strong).skip(1);
    pen.column_right(&place, PLACE, place_role).skip(GAP).column(&item.excerpt, columns.words, Role::Text);
    pen.skip(GAP).column(&sent, columns.sent, Role::Quiet).skip(GAP);
    pen.column(source, columns.source, Role::Quiet).put(beside(item), Role::Held);
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
        let lines = [
            ("Nothing waits. /queue TEXT in a session adds work here.", Role::Text),
            ("What was replaced or cleared stands in its session: under the conversation,", Role::Quiet),
            ("and in it, struck through. r there puts it back.", Role::Quiet),
        ];
        paint.say(area, &lines);
    }
}
