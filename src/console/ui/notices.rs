//! Notices: what was just done or refused, the newest first. They lie over what matters least, never
//! over the composer, its acknowledgement, or the row with the focus.

use ratatui::layout::Rect;
use std::ops::Range;

use super::layout::{Layout, from_bottom, from_right, from_top};
use super::paint::{Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::action::Action;
use crate::console::app::msg::Tone;
use crate::console::app::notices::Notice;

/// The most rows that notices take.
const MOST_ROWS: usize = 5;
/// The cells before a notice's words, and behind them.
const MARK: usize = 3;
const MARGIN: usize = 1;

pub(super) fn draw(paint: &mut Paint<'_>, layout: &Layout) {
    let model = paint.model;
    if model.notices.is_empty() {
        return;
    }
    let region = region(layout);
    let words = usize::from(region.width).saturating_sub(MARK + MARGIN).max(1);
    let most = usize::from(region.height / 2).clamp(1, MOST_ROWS);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for notice in model.notices.iter().rev() {
        let lines = text::wrap(&notice.words, 0, words, most).0;
        if !rows.is_empty() && rows.len() + lines.len() > most {
            break;
        }
        let last = lines.len().saturating_sub(1);
        rows.extend(lines.into_iter().enumerate().map(|(at, bytes)| Row {
            notice,
            bytes,
            first: at == 0,
            last: at == last,
        }));
    }
    let wanted = rows.iter().map(|row| width(paint, row)).max().unwrap_or(0);
    let area = place(paint, layout, region, to_cells(wanted), to_cells(rows.len()));
    paint.canvas.clear(area);
    for (y, row) in rows.iter().enumerate() {
        draw_row(paint, area, to_cells(y), row);
    }
}

/// A row of a notice.
struct Row<'m> {
    notice: &'m Notice,
    bytes: Range<usize>,
    first: bool,
    last: bool,
}

/// What notices lie over: the oldest words of the conversation, what is known of a job beside its row, the timeline, or the list.
fn region(layout: &Layout) -> Rect {
    let pane = layout.conversation.or(layout.job).or(layout.timeline).or(layout.list).or(layout.queue);
    pane.map(|pane| pane.body).filter(|body| body.height > 0).unwrap_or(layout.tabs)
}

/// Where there is room: the lowest rows in which nothing stands, else the first place that covers nothing that
/// must be seen.
fn place(paint: &Paint<'_>, layout: &Layout, region: Rect, width: u16, height: u16) -> Rect {
    let top = |area| from_right(from_top(area, height).0, width).1;
    let bottom = from_right(from_bottom(region, height).1, width).1;
    let covers = |area: &Rect| {
        let kept = [layout.composer.map(|pane| pane.whole()), layout.acknowledgement, paint.keep];
        let kept = kept.iter().flatten().chain(&paint.covered);
        kept.into_iter().any(|kept| area.intersects(*kept))
    };
    // Whole rows: a gap behind some words is there only until the next word comes.
    let is_blank = |area: &Rect| {
        let cell = |at| paint.canvas.buffer.cell(at).is_none_or(|cell| cell.symbol() == " ");
        Rect { x: region.x, width: region.width, ..*area }.positions().all(cell)
    };
    let blank = (region.y..=bottom.y).rev().map(|y| Rect { y, ..bottom }).filter(is_blank);
    let places = blank.chain([top(region), bottom, top(layout.main)]);
    places.into_iter().find(|area| !covers(area)).unwrap_or_else(|| top(layout.tabs))
}

fn width(paint: &Paint<'_>, row: &Row<'_>) -> usize {
    MARK + text::width(&row.notice.words[row.bytes.clone()]) + text::width(&undo(paint, row)) + MARGIN
}

/// The key that takes it back, behind its last words.
fn undo(paint: &Paint<'_>, row: &Row<'_>) -> String {
    match row.notice.undo {
        Some(_) if row.last => format!("   {} undo", paint.key_here(Action::UndoAct)),
        _ => String::new(),
    }
}

fn draw_row(paint: &mut Paint<'_>, area: Rect, y: u16, row: &Row<'_>) {
    let glyphs = paint.canvas.glyphs;
    let (mark, role) = match row.notice.tone {
        Tone::Info => (glyphs.done, Role::Good),
        Tone::Note => (glyphs.waits, Role::Text),
        Tone::Warn => (glyphs.needs_you, Role::Warning),
        Tone::Error => (glyphs.failed, Role::Bad),
    };
    let undo = undo(paint, row);
    let words = &row.notice.words[row.bytes.clone()];
    let mut pen = paint.row(area, y);
    pen.skip(1).put(if row.first { mark } else { " " }, role).skip(1);
    let room = pen.room().saturating_sub(text::width(&undo) + MARGIN);
    pen.column(words, room.min(text::width(words)), role).put(&undo, Role::Key);
}
