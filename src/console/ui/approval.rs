//! The card of what an agent asks: what it would do, whole, and where.

use ratatui::layout::Rect;

use super::card;
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

/// Draws the card at the bottom of `screen`.
pub(super) fn draw(paint: &mut Paint<'_>, screen: Rect, card: &Card, asked: &Asked) {
    let width = card::text_width(screen, WIDTH);
    let buttons = cards::buttons(paint, card);
    let lead = cards::lead(paint, card);
    let button_rows = card::button_rows(&buttons, width.saturating_sub(text::width(&lead)));
    let wrapped = text::wrap(&asked.what, 0, width.saturating_sub(LABEL).max(1), MOST_ROWS).0;
    let room = usize::from(screen.height).saturating_sub(2 + OTHER_ROWS + button_rows).max(1);
    let shown = wrapped.len().min(room);
    let (_, place) = from_bottom(screen, to_cells(shown + OTHER_ROWS + button_rows + 2));
    let title = format!("Allow this? 1 of {}", asked.waiting);
    let inner = card::open(paint, place, width, shown + OTHER_ROWS + button_rows, &title);
    let (inner, below) = from_bottom(inner, to_cells(button_rows));
    draw_tool(paint, inner, asked);
    let inner = from_top(inner, 1).1;
    paint.row(inner, 0).column("folder", LABEL, Role::Quiet).put(&asked.folder, Role::Text);
    let (rows, inner) = from_top(from_top(inner, 1).1, to_cells(shown));
    paint.row(rows, 0).put("does", Role::Quiet);
    let (_, rows) = from_left(rows, to_cells(LABEL));
    let first = asked.top.min(wrapped.len() - shown);
    for (y, row) in wrapped.iter().skip(first).take(shown).enumerate() {
        paint.row(rows, to_cells(y)).put(&asked.what[row.clone()], Role::Strong);
    }
    if paint.model.overlays.is_empty() {
        paint.measured.overlay_rows = shown;
        paint.measured.overlay_lines = wrapped.len();
    }
    draw_extent(paint, inner, asked, first, shown, wrapped.len());
    draw_always(paint, from_top(inner, 1).1, asked);
    cards::draw_buttons(paint, below, card, &buttons, &lead);
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
fn draw_extent(paint: &mut Paint<'_>, area: Rect, asked: &Asked, first: usize, shown: usize, all: usize) {
    let (words, role) = match shown < all {
        false => (format!("all of it is shown ({})", count(asked.characters, "character")), Role::Quiet),
        true => {
            let key = paint.model.keymap.keys_of(&[Context::Card], Action::CardDown).unwrap_or_default();
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
