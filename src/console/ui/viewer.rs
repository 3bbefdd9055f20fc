//! A text to read: an answer of the engine, or why something waits.

use ratatui::layout::Rect;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::card;
use super::layout::from_bottom;
use super::paint::{Paint, to_cells};
use super::text;
use super::theme::Role;
use super::wraps::{Shape, TextId, WrappedRow, hang};
use crate::console::app::model::LongLines;
use crate::console::app::overlay::Viewer;
use crate::console::app::words::thousands;

const WIDTH: usize = 96;

pub(super) fn draw(paint: &mut Paint<'_>, screen: Rect, viewer: &Viewer) {
    let width = card::text_width(screen, WIDTH);
    let shape = match paint.model.long_lines {
        LongLines::Wrap => Shape::Hanging(width),
        LongLines::Cut => Shape::Lines,
    };
    let lines = paint.wraps.get(TextId::Viewer, revision(&viewer.text), &viewer.text, shape).len();
    let most = usize::from(screen.height.saturating_sub(6)).max(1);
    let rows = lines.min(most);
    let inner = card::open(paint, screen, width, rows + 1, &viewer.title);
    let (body, below) = from_bottom(inner, 1);
    let rows = usize::from(body.height);
    let top = viewer.top.min(lines.saturating_sub(rows));
    paint.measured.overlay_rows = rows;
    paint.measured.overlay_lines = lines;
    for y in 0..rows.min(lines - top) {
        draw_row(paint, body, viewer, shape, top + y, to_cells(y));
    }
    if lines > rows {
        let place =
            format!("lines {} to {} of {}", top + 1, (top + rows).min(lines), thousands(lines as u64));
        paint.row(below, 0).right(&place, Role::Quiet);
    }
}

fn draw_row(paint: &mut Paint<'_>, body: Rect, viewer: &Viewer, shape: Shape, row: usize, y: u16) {
    let wrapped = paint.wraps.get(TextId::Viewer, revision(&viewer.text), &viewer.text, shape);
    match wrapped.row(row) {
        Some(WrappedRow::Shown(range)) => {
            let indent = indent(&viewer.text, range.start, usize::from(body.width), shape);
            let shown = viewer.text.get(range).unwrap_or_default();
            paint.row(body, y).skip(indent).put(shown, Role::Text);
        }
        Some(WrappedRow::LinesCut(lines)) => {
            let words = format!("about {} lines cut", thousands(lines as u64));
            paint.row(body, y).put(&words, Role::Warning);
        }
        None => {}
    }
}

/// How far a row that begins at byte `at` stands to the right: see [`hang`].
fn indent(text: &str, at: usize, width: usize, shape: Shape) -> usize {
    let begin = text[..at].rfind('\n').map_or(0, |before| before + 1);
    match shape {
        Shape::Hanging(_) if begin < at => hang(text[begin..].split('\n').next().unwrap_or_default(), width),
        _ => 0,
    }
}

/// Tells two texts of one length apart by their ends: answers differ there, and a long one is not read.
fn revision(words: &str) -> u64 {
    const END: usize = 2048;
    let mut hasher = DefaultHasher::new();
    words[..text::floor_char(words, END)].hash(&mut hasher);
    words[text::floor_char(words, words.len().saturating_sub(END))..].hash(&mut hasher);
    hasher.finish()
}
