//! The card of what an agent asks: what it would do, whole, and where.

use std::ops::Range;

use ratatui::layout::Rect;

use super::card::{self, Button};
use super::cards;
use super::layout::{from_bottom, from_left, from_top};
use super::paint::{Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::action::Action;
use crate::console::app::approvals::Asked;
use crate::console::app::keymap::Context;
use crate::console::app::overlay::Card;
use crate::console::app::words::{age, clock, count};

const WIDTH: usize = 92;
const LABEL: usize = 10;
/// Rows beside the question's own: tool, folder, what is shown of it, the word on `always`.
const OTHER_ROWS: usize = 4;
/// The most rows that are counted of a question.
const MOST_ROWS: usize = 9_999;

/// How much room a card takes, and what of the question it shows.
struct Size {
    width: usize,
    /// The rows of the question, wrapped.
    wrapped: Vec<Range<usize>>,
    /// How many of them are shown.
    shown: usize,
    buttons: Vec<Button>,
    lead: String,
    button_rows: usize,
}

impl Size {
    fn of(paint: &Paint<'_>, screen: Rect, card: &Card, asked: &Asked) -> Self {
        let width = card::text_width(screen, WIDTH);
        let (buttons, lead) = (cards::buttons(paint, card), cards::lead(paint, card));
        let button_rows = card::button_rows(&buttons, width.saturating_sub(text::width(&lead)));
        let wrapped = text::wrap(&asked.what, 0, width.saturating_sub(LABEL).max(1), MOST_ROWS).0;
        let room = usize::from(screen.height).saturating_sub(2 + OTHER_ROWS + button_rows).max(1);
        let shown = wrapped.len().min(room);
        Self { width, wrapped, shown, buttons, lead, button_rows }
    }

    /// The rows inside the frame.
    fn rows(&self) -> usize {
        self.shown + OTHER_ROWS + self.button_rows
    }
}

/// The bottom of `screen`, as much of it as the card takes, and what is left above.
pub(super) fn place(paint: &Paint<'_>, screen: Rect, card: &Card, asked: &Asked) -> (Rect, Rect) {
    from_bottom(screen, to_cells(Size::of(paint, screen, card, asked).rows() + 2))
}

/// Draws the card where it was placed.
pub(super) fn draw(paint: &mut Paint<'_>, place: Rect, card: &Card, asked: &Asked) {
    let size = Size::of(paint, place, card, asked);
    let title = format!("Allow this? 1 of {}", asked.waiting);
    let inner = card::open(paint, place, size.width, size.rows(), &title);
    let (inner, below) = from_bottom(inner, to_cells(size.button_rows));
    draw_tool(paint, inner, asked);
    let inner = from_top(inner, 1).1;
    paint.row(inner, 0).column("folder", LABEL, Role::Quiet).put(&asked.folder, Role::Text);
    let (rows, inner) = from_top(from_top(inner, 1).1, to_cells(size.shown));
    paint.row(rows, 0).put("does", Role::Quiet);
    let (_, rows) = from_left(rows, to_cells(LABEL));
    let first = asked.top.min(size.wrapped.len() - size.shown);
    for (y, row) in size.wrapped.iter().skip(first).take(size.shown).enumerate() {
        paint.row(rows, to_cells(y)).put(&asked.what[row.clone()], Role::Strong);
    }
    if paint.model.overlays.is_empty() {
        paint.measured.overlay_rows = size.shown;
        paint.measured.overlay_lines = size.wrapped.len();
    }
    draw_extent(paint, inner, asked, first, &size);
    draw_always(paint, from_top(inner, 1).1, asked);
    cards::draw_buttons(paint, below, card, &size.buttons, &size.lead);
}

fn draw_tool(paint: &mut Paint<'_>, area: Rect, asked: &Asked) {
    let model = paint.model;
    let left = age(asked.denies_at - model.as_of());
    let denies = format!("denied by itself at {} (in {left})", clock(model, asked.denies_at));
    let mut pen = paint.row(area, 0);
    pen.right(&denies, Role::Warning);
    pen.column("tool", LABEL, Role::Quiet).put(&asked.tool, Role::Strong);
}

/// Whether all of it is seen, and how the rest is reached.
fn draw_extent(paint: &mut Paint<'_>, area: Rect, asked: &Asked, first: usize, size: &Size) {
    let (shown, all) = (size.shown, size.wrapped.len());
    let (words, role) = match shown < all {
        false => (format!("all of it is shown ({})", count(asked.characters, "character")), Role::Quiet),
        true => {
            let more = if first + shown < all { Action::CardDown } else { Action::CardUp };
            let key = paint.model.keymap.keys_of(&[Context::Card], more).unwrap_or_default();
            let rows = format!("rows {} to {} of {all}", first + 1, first + shown);
            (format!("NOT ALL of it is shown: {rows}, {key} shows more"), Role::Warning)
        }
    };
    paint.row(area, 0).skip(LABEL).put(&words, role);
}

fn draw_always(paint: &mut Paint<'_>, area: Rect, asked: &Asked) {
    let words = match &asked.always {
        Ok(prefix) => format!("in this session, all that begins with: {prefix}"),
        Err(why) => format!("not offered, {why}"),
    };
    paint.row(area, 0).column("always", LABEL, Role::Quiet).put(&words, Role::Quiet);
}
