//! A text field over a list: help, palette, history search.

use ratatui::layout::Rect;

use super::card;
use super::filter;
use super::layout::from_top;
use super::paint::{Focused, Paint, first_shown, to_cells};
use super::theme::Role;
use crate::console::app::focus::Target;
use crate::console::app::overlay::{Picker, PickerEntry, PickerKind};
use crate::console::app::words::thousands;

const WIDTH: usize = 92;

pub(super) fn draw(paint: &mut Paint<'_>, screen: Rect, picker: &Picker) {
    let width = card::text_width(screen, WIDTH);
    let most = usize::from(screen.height.saturating_sub(7)).max(1);
    // The box keeps its height while what is typed narrows the list.
    let inner = card::open(paint, screen, width, most + 2, title(picker.kind));
    let (field, list) = from_top(inner, 1);
    draw_typed(paint, field, picker);
    let list = from_top(list, 1).1;
    let rows = usize::from(list.height);
    paint.measured.overlay_rows = rows;
    if picker.entries.is_empty() {
        return paint.say(list, &[("Nothing fits what is typed.", Role::Quiet)]);
    }
    let first = first_shown(picker.top, picker.marked, picker.entries.len(), rows.max(1));
    for (at, entry) in picker.entries.iter().enumerate().skip(first).take(rows) {
        let row = Rect { y: list.y + to_cells(at - first), height: 1, ..list };
        paint.target(row, Target::PickerRow(at));
        draw_entry(paint, row, picker.kind, entry);
        if at == picker.marked {
            paint.canvas.dress(row, Role::Selected);
        }
    }
}

fn title(kind: PickerKind) -> &'static str {
    match kind {
        PickerKind::Help => "Help: what the keys do here",
        PickerKind::Palette => "Commands and sessions",
        PickerKind::History => "What was sent before",
    }
}

fn draw_typed(paint: &mut Paint<'_>, area: Rect, picker: &Picker) {
    let prompt = paint.canvas.glyphs.prompt;
    let fit = format!("{} fit", thousands(picker.entries.len() as u64));
    let mut pen = paint.row(area, 0);
    pen.right(&fit, Role::Quiet).put(prompt, Role::Strong);
    let taken = to_cells(fit.len() + 1);
    let field = Rect {
        x: area.x.saturating_add(2).min(area.right()),
        width: area.width.saturating_sub(2 + taken),
        ..area
    };
    filter::draw_field(paint, field, &picker.text, Focused::Yes);
}

fn draw_entry(paint: &mut Paint<'_>, row: Rect, kind: PickerKind, entry: &PickerEntry) {
    let mut pen = paint.row(row, 0);
    let room = pen.room();
    match kind {
        PickerKind::Help => pen.column(&entry.keys, 14, Role::Key).skip(1),
        PickerKind::Palette | PickerKind::History => pen.right(&entry.keys, Role::Key),
    };
    let title = match kind {
        PickerKind::History => room,
        PickerKind::Help => 16,
        PickerKind::Palette => (room / 3).clamp(12, 30),
    };
    let usable = if entry.why_not.is_none() { Role::Strong } else { Role::Quiet };
    pen.column(&entry.title, title, usable).skip(1);
    match &entry.why_not {
        Some(why) => pen.put("not now: ", Role::Quiet).put(why, Role::Quiet),
        None => pen.put(&entry.detail, Role::Text),
    };
}
