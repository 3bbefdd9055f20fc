//! Notices: what was just done or refused, over the last rows of the view, newest lowest.

use ratatui::layout::Rect;

use super::layout::{from_bottom, from_right};
use super::paint::{Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::action::Action;
use crate::console::app::msg::Tone;
use crate::console::app::notices::Notice;

pub(super) fn draw(paint: &mut Paint<'_>, main: Rect) {
    let model = paint.model;
    let mut above = main;
    for notice in model.notices.iter().rev() {
        let (rest, row) = from_bottom(above, 1);
        draw_notice(paint, row, notice);
        above = rest;
    }
}

fn draw_notice(paint: &mut Paint<'_>, row: Rect, notice: &Notice) {
    let glyphs = paint.canvas.glyphs;
    let (mark, role) = match notice.tone {
        Tone::Info => (glyphs.done, Role::Good),
        Tone::Warn => (glyphs.needs_you, Role::Warning),
        Tone::Error => (glyphs.failed, Role::Bad),
    };
    let undo = match notice.undo {
        Some(_) => format!("   {} undo", paint.key_here(Action::UndoAct)),
        None => String::new(),
    };
    let width = text::width(&notice.words) + text::width(&undo) + 4;
    let (_, area) = from_right(row, to_cells(width));
    paint.canvas.clear(area);
    let room = usize::from(area.width).saturating_sub(4 + text::width(&undo));
    let mut pen = paint.row(area, 0);
    pen.skip(1).put(mark, role).skip(1).column(&notice.words, room, role).put(&undo, Role::Key);
}
