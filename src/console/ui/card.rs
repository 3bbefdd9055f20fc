//! The box that an overlay stands in.

use ratatui::layout::Rect;

use super::layout;
use super::paint::{Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::Model;
use crate::console::app::action::Action;
use crate::console::app::focus::Target;
use crate::console::app::keymap::Context;

/// What stands around a card's text: a line and a blank at each side.
const FRAME: u16 = 4;

/// How wide the text of a card may be on this screen.
pub(super) fn text_width(screen: Rect, wanted: usize) -> usize {
    wanted.min(usize::from(screen.width.saturating_sub(FRAME + 2))).max(1)
}

/// Draws the box in the middle of `screen` for a text of this size, and returns where the text stands.
pub(super) fn open(paint: &mut Paint<'_>, screen: Rect, width: usize, height: usize, title: &str) -> Rect {
    let area =
        layout::card(screen, to_cells(width).saturating_add(FRAME), to_cells(height).saturating_add(2));
    paint.canvas.clear(area);
    paint.covered.push(area);
    paint.target(area, Target::Overlay);
    let [top_left, top_right, bottom_left, bottom_right] = paint.canvas.glyphs.corners;
    if area.width < FRAME || area.height < 2 {
        return Rect { width: 0, height: 0, ..area };
    }
    let vertical = paint.canvas.glyphs.vertical;
    for y in 0..area.height {
        let (left, right) = match y {
            0 => (top_left, top_right),
            y if y + 1 == area.height => (bottom_left, bottom_right),
            _ => (vertical, vertical),
        };
        let mut pen = paint.row(area, y);
        pen.put(left, Role::Rule);
        if y == 0 || y + 1 == area.height {
            pen.rule();
        }
        paint.row(area, y).to(area.right() - 1).put(right, Role::Rule);
    }
    if !title.is_empty() {
        let shown = text::width(title).min(usize::from(area.width).saturating_sub(6));
        let mut pen = paint.row(area, 0);
        pen.skip(2).put(" ", Role::Title).column(title, shown, Role::Title).put(" ", Role::Title);
    }
    Rect { x: area.x + 2, y: area.y + 1, width: area.width - FRAME, height: area.height - 2 }
}

/// Writes a text wrapped from the top of `area`, and returns what is left of it.
pub(super) fn write(paint: &mut Paint<'_>, area: Rect, words: &str, role: Role) -> Rect {
    let mut rest = area;
    let rows = text::wrap(words, 0, usize::from(area.width), usize::from(area.height)).0;
    for row in rows {
        if rest.height == 0 {
            break;
        }
        paint.row(rest, 0).put(&words[row], role);
        rest = layout::from_top(rest, 1).1;
    }
    rest
}

/// Writes a text wrapped into `area`; what does not fit is cut with an ellipsis.
pub(super) fn write_cut(paint: &mut Paint<'_>, area: Rect, words: &str, role: Role) {
    let (rows, end) = text::wrap(words, 0, usize::from(area.width), usize::from(area.height));
    let last = rows.len().saturating_sub(1);
    for (y, row) in rows.into_iter().enumerate() {
        let shown = if y == last && end < words.len() { &words[row.start..] } else { &words[row] };
        paint.row(area, to_cells(y)).put(shown, role);
    }
}

/// How many rows a text takes in a card.
pub(super) fn rows(words: &str, width: usize) -> usize {
    const MOST: usize = 200;
    text::wrap(words, 0, width, MOST).0.len()
}

/// A button: its key and its words. The marked one is reversed and stands in brackets.
pub(super) struct Button {
    pub words: String,
}

impl Button {
    pub(super) fn new(model: &Model, action: Action, title: &str) -> Self {
        let keys = model.keymap.keys_of(&[Context::Card, Context::Always], action);
        let words = match keys {
            Some(keys) => format!("{keys} {title}"),
            None => title.to_owned(),
        };
        Self { words }
    }
}

/// How many rows buttons take in a card.
pub(super) fn button_rows(buttons: &[Button], width: usize) -> usize {
    places(buttons, width).last().map_or(0, |(_, row)| row + 1)
}

/// Draws buttons from the top of `area`, in as many rows as they need.
pub(super) fn draw_buttons(paint: &mut Paint<'_>, area: Rect, buttons: &[Button], marked: Option<usize>) {
    for (index, (x, y)) in places(buttons, usize::from(area.width)).into_iter().enumerate() {
        let words = &buttons[index].words;
        let chosen = marked == Some(index);
        let (left, right) = if chosen { ("[", "]") } else { (" ", " ") };
        let role = if chosen { Role::Selected } else { Role::Key };
        let mut pen = paint.row(area, to_cells(y));
        pen.skip(x).put(left, role).put(words, role).put(right, role);
        let hit = Rect {
            x: area.x.saturating_add(to_cells(x)),
            y: area.y.saturating_add(to_cells(y)),
            width: to_cells(text::width(words) + 2),
            height: 1,
        };
        paint.target(hit.intersection(area), Target::Button(index));
    }
}

/// Where each button stands: column and row.
fn places(buttons: &[Button], width: usize) -> Vec<(usize, usize)> {
    let (mut x, mut y) = (0, 0);
    let mut places = Vec::with_capacity(buttons.len());
    for button in buttons {
        let taken = text::width(&button.words) + 2;
        if x > 0 && x + taken > width {
            (x, y) = (0, y + 1);
        }
        places.push((x, y));
        x += taken + 2;
    }
    places
}
