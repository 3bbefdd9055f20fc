//! The footer: the keys that matter for the focus, as many as fit.

use ratatui::layout::Rect;

use super::paint::{Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::focus::Target;
use crate::console::app::footer::{Hint, footer};
use crate::console::app::key::sequence_name;

pub(super) fn draw(paint: &mut Paint<'_>, area: Rect) {
    let hints = footer(paint.model);
    let Some((help, keys)) = hints.split_last() else { return };
    let begin = area.right().saturating_sub(to_cells(width(help) + 1)).max(area.x);
    draw_hint(paint, area, begin, help);
    let mut x = area.x + 1;
    if !paint.model.pending.is_empty() {
        let ellipsis = paint.canvas.glyphs.ellipsis;
        let begun = sequence_name(&paint.model.pending);
        let mut pen = paint.row(area, 0);
        pen.to(x).put(&begun, Role::Warning).put(" ", Role::Text).put(ellipsis, Role::Warning);
        x = pen.x() + 3;
    }
    for hint in keys {
        let end = x + to_cells(width(hint));
        if end + 1 >= begin {
            return;
        }
        draw_hint(paint, area, x, hint);
        x = end + 3;
    }
}

fn width(hint: &Hint) -> usize {
    text::width(&hint.keys) + 1 + text::width(&hint.title)
}

/// A key that does nothing now is not bold; pressing it says why.
fn draw_hint(paint: &mut Paint<'_>, area: Rect, x: u16, hint: &Hint) {
    let (key, title) = match hint.why_not {
        None => (Role::Key, Role::Text),
        Some(_) => (Role::Quiet, Role::Quiet),
    };
    paint.row(area, 0).to(x).put(&hint.keys, key).put(" ", title).put(&hint.title, title);
    let hit = Rect { x, width: to_cells(width(hint)), ..area };
    paint.target(hit.intersection(area), Target::Footer(hint.action));
}
