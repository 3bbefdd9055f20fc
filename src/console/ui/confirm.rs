//! A question, with its harmless way out marked.

use ratatui::layout::Rect;

use super::card::{self, Button};
use super::layout::from_bottom;
use super::paint::{Paint, to_cells};
use super::theme::Role;
use crate::console::app::overlay::Confirm;

const WIDTH: usize = 66;

pub(super) fn draw(paint: &mut Paint<'_>, screen: Rect, confirm: &Confirm) {
    let width = card::text_width(screen, WIDTH);
    let buttons: Vec<Button> =
        confirm.buttons.iter().map(|button| Button::new(paint.model, button.action, &button.title)).collect();
    let detail = if confirm.detail.is_empty() { 0 } else { card::rows(&confirm.detail, width) + 1 };
    let button_rows = card::button_rows(&buttons, width);
    let height = card::rows(&confirm.question, width) + detail + 1 + button_rows;
    let inner = card::open(paint, screen, width, height, "");
    let (words, below) = from_bottom(inner, to_cells(button_rows));
    let mut rest = card::write(paint, words, &confirm.question, Role::Strong);
    if detail > 0 && rest.height > 1 {
        rest.y += 1;
        rest.height -= 1;
        card::write(paint, rest, &confirm.detail, Role::Text);
    }
    card::draw_buttons(paint, below, &buttons, Some(confirm.marked));
}
