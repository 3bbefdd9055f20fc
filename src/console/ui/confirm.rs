//! A question, with its harmless way out marked.

use ratatui::layout::Rect;

use super::card::{self, Button};
use super::layout::{from_bottom, from_left, from_top};
use super::paint::{Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::action::Action;
use crate::console::app::keymap::Context;
use crate::console::app::overlay::{Confirm, Sides};

const WIDTH: usize = 66;
/// Two versions side by side take more.
const SIDES_WIDTH: usize = 116;
/// Between the two.
const BETWEEN: u16 = 3;
/// What stands for a member that one of them has not.
const ABSENT: &str = "(not there)";
/// What two versions have around their rows: a blank, their heads, what is the same, a blank.
const AROUND_SIDES: usize = 4;
/// The most rows that a member takes.
const MOST_ROWS: usize = 200;

pub(super) fn draw(paint: &mut Paint<'_>, screen: Rect, confirm: &Confirm) {
    let wanted = if confirm.sides.is_some() { SIDES_WIDTH } else { WIDTH };
    let width = card::text_width(screen, wanted);
    let buttons: Vec<Button> =
        confirm.buttons.iter().map(|button| Button::new(paint.model, button.action, &button.title)).collect();
    let detail = if confirm.detail.is_empty() { 0 } else { card::rows(&confirm.detail, width) + 1 };
    let button_rows = card::button_rows(&buttons, width);
    let rows = confirm.sides.as_ref().map(|sides| side_rows(sides, column(width)));
    let sides = rows.as_ref().map_or(1, |rows| rows.len() + AROUND_SIDES);
    let height = card::rows(&confirm.question, width) + detail + sides + button_rows;
    let inner = card::open(paint, screen, width, height, "");
    let (words, below) = from_bottom(inner, to_cells(button_rows));
    let mut rest = card::write(paint, words, &confirm.question, Role::Strong);
    if detail > 0 && rest.height > 1 {
        rest.y += 1;
        rest.height -= 1;
        rest = card::write(paint, rest, &confirm.detail, Role::Text);
    }
    if let (Some(sides), Some(rows)) = (&confirm.sides, rows) {
        // A blank row stays before the buttons.
        let area = from_bottom(from_top(rest, 1).1, 1).0;
        draw_sides(paint, area, confirm.top, sides, &rows);
    }
    card::draw_buttons(paint, below, &buttons, Some(confirm.marked));
}

/// The cells of each of two columns.
fn column(width: usize) -> usize {
    width.saturating_sub(usize::from(BETWEEN)) / 2
}

/// The rows in which two versions differ, each member wrapped into its column.
fn side_rows(sides: &Sides, width: usize) -> Vec<[String; 2]> {
    let wrapped = |member: &Option<String>| -> Vec<String> {
        let words = member.as_deref().unwrap_or(ABSENT);
        let rows = text::wrap(words, 0, width.max(1), MOST_ROWS).0;
        rows.into_iter().map(|row| words[row].to_owned()).collect()
    };
    let mut rows = Vec::new();
    for line in &sides.differ {
        let (left, right) = (wrapped(&line.left), wrapped(&line.right));
        let at = |rows: &[String], place: usize| rows.get(place).cloned().unwrap_or_default();
        rows.extend((0..left.len().max(right.len())).map(|place| [at(&left, place), at(&right, place)]));
    }
    rows
}

/// Where two versions of a record differ, side by side, and what is the same in both.
fn draw_sides(paint: &mut Paint<'_>, area: Rect, top: usize, sides: &Sides, rows: &[[String; 2]]) {
    let (heads, rest) = from_top(area, 1);
    let (body, below) = from_bottom(rest, 1);
    let shown = usize::from(body.height);
    paint.measured.overlay_rows = shown;
    paint.measured.overlay_lines = rows.len();
    draw_pair(paint, heads, ["yours", "in jobs.json"], Role::Quiet);
    let top = top.min(rows.len().saturating_sub(shown));
    for (y, [left, right]) in rows.iter().skip(top).take(shown).enumerate() {
        let row = Rect { y: body.y + to_cells(y), height: 1, ..body };
        draw_pair(paint, row, [left, right], Role::Warning);
    }
    let model = paint.model;
    let mut pen = paint.row(below, 0);
    if rows.len() > shown {
        let more = if top + shown < rows.len() { Action::CardDown } else { Action::CardUp };
        let key = model.keymap.keys_of(&[Context::Card], more).unwrap_or_default();
        let place = format!("rows {} to {} of {}, {key} shows more", top + 1, top + shown, rows.len());
        pen.right(&place, Role::Warning);
    }
    if !sides.same.is_empty() {
        pen.put("the same in both: ", Role::Quiet).put(&sides.same.join(", "), Role::Quiet);
    }
}

fn draw_pair(paint: &mut Paint<'_>, row: Rect, [left, right]: [&str; 2], role: Role) {
    let column = to_cells(column(usize::from(row.width)));
    let (left_area, behind) = from_left(row, column);
    let right_area = from_left(behind, BETWEEN).1;
    paint.row(left_area, 0).put(left, role);
    paint.row(right_area, 0).put(right, role);
    let vertical = paint.canvas.glyphs.vertical;
    paint.row(behind, 0).skip(1).put(vertical, Role::Rule);
}
