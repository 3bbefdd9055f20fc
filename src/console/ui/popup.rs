//! The completion of a slash command, above the composer.

use ratatui::layout::Rect;

use super::paint::{Paint, first_shown, to_cells};
use super::theme::Role;
use crate::console::app::focus::Target;

/// The most commands that are shown at once.
const MOST: usize = 8;

/// Draws over the rows above `composer`.
pub(super) fn draw(paint: &mut Paint<'_>, above: Rect, composer: Rect) {
    let model = paint.model;
    let Some(popup) = model.composer().and_then(|composer| composer.popup.as_ref()) else { return };
    let room = usize::from(composer.y.saturating_sub(above.y));
    let more_row = usize::from(popup.entries.len() > MOST.min(room));
    let rows = popup.entries.len().min(MOST).min(room.saturating_sub(more_row));
    let first = first_shown(0, popup.marked, popup.entries.len(), rows.max(1));
    let y = composer.y - to_cells(rows + more_row);
    let area = Rect { y, height: to_cells(rows + more_row), ..composer };
    paint.canvas.clear(area);
    for (at, entry) in popup.entries.iter().enumerate().skip(first).take(rows) {
        let row = Rect { y: y + to_cells(at - first), height: 1, ..area };
        paint.target(row, Target::PickerRow(at));
        let chosen = at == popup.marked;
        let pointer = if chosen { paint.canvas.glyphs.chosen } else { " " };
        let mut pen = paint.row(row, 0);
        pen.skip(1).put(pointer, Role::Strong).put(" ", Role::Text);
        pen.column(&entry.title, 26, Role::Strong).put(" ", Role::Text).put(&entry.help, Role::Text);
        if chosen {
            paint.canvas.dress(row, Role::Selected);
        }
    }
    let (above, below) = (first, popup.entries.len() - first - rows);
    if more_row > 0 && rows > 0 {
        let words = match (above, below) {
            (0, below) => format!("{below} more below"),
            (above, 0) => format!("{above} more above"),
            (above, below) => format!("{above} more above, {below} below"),
        };
        paint.row(area, to_cells(rows)).skip(3).put(&words, Role::Quiet);
    }
}
