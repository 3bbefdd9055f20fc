//! A question, with its harmless way out marked.

use ratatui::layout::Rect;

use super::card::{self, Button};
use super::layout::{from_bottom, from_left, from_top};
use super::paint::{Paint, to_cells};
use super::theme::Role;
use crate::console::app::overlay::{Confirm, SideLine};

const WIDTH: usize = 66;
/// Two versions side by side take more.
const SIDES_WIDTH: usize = 116;
/// Between the two.
const BETWEEN: u16 = 3;

pub(super) fn draw(paint: &mut Paint<'_>, screen: Rect, confirm: &Confirm) {
    let wanted = if confirm.sides.is_empty() { WIDTH } else { SIDES_WIDTH };
    let width = card::text_width(screen, wanted);
    let buttons: Vec<Button> =
        confirm.buttons.iter().map(|button| Button::new(paint.model, button.action, &button.title)).collect();
    let detail = if confirm.detail.is_empty() { 0 } else { card::rows(&confirm.detail, width) + 1 };
    let button_rows = card::button_rows(&buttons, width);
    let sides = if confirm.sides.is_empty() { 0 } else { confirm.sides.len() + 1 };
    let height = card::rows(&confirm.question, width) + detail + sides + 1 + button_rows;
    let inner = card::open(paint, screen, width, height, "");
    let (words, below) = from_bottom(inner, to_cells(button_rows));
    let mut rest = card::write(paint, words, &confirm.question, Role::Strong);
    if detail > 0 && rest.height > 1 {
        rest.y += 1;
        rest.height -= 1;
        rest = card::write(paint, rest, &confirm.detail, Role::Text);
    }
    if sides > 0 && rest.height > 1 {
        draw_sides(paint, from_top(rest, 1).1, &confirm.sides);
    }
    card::draw_buttons(paint, below, &buttons, Some(confirm.marked));
}

/// Two versions of a text. Where not all of it fits, what differs comes first.
fn draw_sides(paint: &mut Paint<'_>, area: Rect, sides: &[SideLine]) {
    // A blank row stays before the buttons.
    let rows = usize::from(area.height.saturating_sub(1));
    let mut lines: Vec<&SideLine> = sides.iter().collect();
    if lines.len() > rows {
        lines.sort_by_key(|line| !line.differs());
    }
    let column = area.width.saturating_sub(BETWEEN) / 2;
    for (y, line) in lines.into_iter().take(rows).enumerate() {
        let (row, y) = (Rect { y: area.y + to_cells(y), height: 1, ..area }, 0);
        let role = if line.differs() { Role::Warning } else { Role::Quiet };
        let (left, right) = (from_left(row, column).0, from_left(row, column + BETWEEN).1);
        paint.row(left, y).put(line.left.as_deref().unwrap_or_default(), role);
        paint.row(right, y).put(line.right.as_deref().unwrap_or_default(), role);
        let between = from_left(row, column).1;
        let vertical = paint.canvas.glyphs.vertical;
        paint.row(between, y).skip(1).put(vertical, Role::Rule);
    }
}
