//! A text field over a list: help, palette, history search.

use ratatui::layout::Rect;

use super::card;
use super::filter;
use super::layout::{from_bottom, from_top};
use super::paint::{Focused, Paint, first_shown, to_cells};
use super::theme::Role;
use crate::console::app::focus::Target;
use crate::console::app::overlay::{Picker, PickerEntry, PickerKind};
use crate::console::app::words::thousands;

const WIDTH: usize = 92;
/// From so many columns an entry has room for more than its name.
const WIDE: usize = 60;
/// A blank row, and the marked entry in full.
const ABOUT_ROWS: u16 = 4;

pub(super) fn draw(paint: &mut Paint<'_>, screen: Rect, picker: &Picker) {
    let width = card::text_width(screen, WIDTH);
    let most = usize::from(screen.height.saturating_sub(7)).max(1);
    // The box keeps its height while what is typed narrows the list.
    let inner = card::open(paint, screen, width, most + 2, title(picker.kind));
    let (field, list) = from_top(inner, 1);
    draw_typed(paint, field, picker);
    let list = from_top(list, 1).1;
    let about_rows = if picker.kind == PickerKind::History || list.height < 8 { 0 } else { ABOUT_ROWS };
    let (list, about) = from_bottom(list, about_rows);
    let rows = usize::from(list.height);
    paint.measured.overlay_rows = rows;
    if picker.entries.is_empty() {
        return paint.say(list, &[(nothing_fits(picker), Role::Quiet)]);
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
    if let Some(entry) = picker.entries.get(picker.marked) {
        draw_about(paint, about, entry);
    }
}

/// What is said in the place of an empty list.
fn nothing_fits(picker: &Picker) -> &'static str {
    match picker.kind {
        PickerKind::Field(_) if picker.text.is_empty() => "There is nothing to choose from: type one.",
        PickerKind::Field(_) => "Nothing in the list fits: enter takes it as it is typed.",
        PickerKind::Help | PickerKind::Palette | PickerKind::History => "Nothing fits what is typed.",
    }
}

/// The marked entry in full: what it does, and why not now.
fn draw_about(paint: &mut Paint<'_>, area: Rect, entry: &PickerEntry) {
    let area = from_top(area, 1).1;
    let detail = sentence(&entry.detail);
    let rest = if detail.is_empty() { area } else { card::write(paint, area, &detail, Role::Text) };
    if let Some(why) = &entry.why_not {
        card::write(paint, rest, &format!("Not now: {why}."), Role::Warning);
    }
}

/// With a capital letter and a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let Some(first) = letters.next() else { return String::new() };
    format!("{}{}.", first.to_uppercase(), letters.as_str())
}

fn title(kind: PickerKind) -> &'static str {
    match kind {
        PickerKind::Help => "Help: what the keys do here",
        PickerKind::Palette => "Commands, sessions and jobs",
        PickerKind::History => "What was sent before",
        PickerKind::Field(field) => field.offer(),
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
        PickerKind::Palette | PickerKind::History | PickerKind::Field(_) => pen.right(&entry.keys, Role::Key),
    };
    if entry.why_not.is_some() && room >= WIDE {
        pen.right("not now", Role::Quiet);
    }
    let title = match kind {
        PickerKind::History => room,
        PickerKind::Help => 16,
        PickerKind::Palette | PickerKind::Field(_) if room < WIDE => room * 2 / 3,
        PickerKind::Palette | PickerKind::Field(_) => (room / 3).clamp(12, 30),
    };
    let (name, detail) = match entry.why_not {
        None => (Role::Strong, Role::Text),
        Some(_) => (Role::Quiet, Role::Quiet),
    };
    pen.column(&entry.title, title, name).skip(1).put(&entry.detail, detail);
}
