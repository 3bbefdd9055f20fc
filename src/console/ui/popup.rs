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
    let rows = popup.entries.len().min(MOST).min(room);
    let first = first_shown(0, popup.marked, popup.entries.len(), rows.max(1));
    let y = composer.y - to_cells(rows);
    let area = Rect { y, height: to_cells(rows), ..composer };
    paint.canvas.clear(area);
    for (at, spec) in popup.entries.iter().enumerate().skip(first).take(rows) {
        let row = Rect { y: y + to_cells(at - first), height: 1, ..area };
        paint.target(row, Target::PickerRow(at));
        let chosen = at == popup.marked;
        let pointer = if chosen { paint.canvas.glyphs.chosen } else { " " };
        let usage = spec.usage();
        let mut pen = paint.row(row, 0);
        pen.skip(1).put(pointer, Role::Strong).put(" ", Role::Text);
        pen.column(&usage, 26, Role::Strong).put(" ", Role::Text).put(spec.help, Role::Text);
        if chosen {
            paint.canvas.dress(row, Role::Selected);
        }
    }
}
