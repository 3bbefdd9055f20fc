//! Where the operator writes. The border says to whom, and what Enter will do.

use ratatui::layout::{Position, Rect};
use std::ops::Range;

use super::layout::PaneArea;
use super::paint::{Focused, Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::Model;
use crate::console::app::border::{Weight, border};
use crate::console::app::composer::AckState;
use crate::console::app::focus::{Pane, Target};
use crate::console::app::text::TextField;

/// The cells before the draft: the prompt.
const PROMPT: u16 = 3;

/// How many rows the draft in front takes in a pane of `width` cells, counted to `most`.
pub(super) fn draft_rows(model: &Model, width: u16, most: usize) -> usize {
    let Some(composer) = model.composer() else { return 1 };
    let words = draft_width(width);
    let mut rows = 0;
    for line in composer.text.lines() {
        rows += text::wrap(line, 0, words, most - rows).0.len();
        if rows >= most {
            return most;
        }
    }
    rows
}

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let model = paint.model;
    let focused = paint.focused(Pane::Composer);
    let border = border(model);
    let completes = model.composer().is_some_and(|composer| composer.popup.is_some());
    let (enter, role) = match border.weight {
        _ if completes => ("enter: completes".to_owned(), Role::Quiet),
        Weight::Normal => (format!("enter: {}", border.enter), Role::Quiet),
        Weight::Strong => (format!("enter: {}", border.enter), Role::Warning),
        Weight::Refused => (border.enter, Role::Bad),
    };
    paint.target(area.whole(), Target::Pane(Pane::Composer));
    paint.title_in(area.title, focused, &format!("to: {}", border.to), &enter, role);
    let prompt = paint.canvas.glyphs.prompt;
    let prompt_role = if focused == Focused::Yes { Role::Strong } else { Role::Quiet };
    paint.row(area.body, 0).skip(1).put(prompt, prompt_role);
    let margin = PROMPT.min(area.body.width);
    let body = Rect { x: area.body.x + margin, width: area.body.width - margin, ..area.body };
    match model.composer() {
        Some(composer) => draw_field(paint, body, &composer.text, focused),
        None => place_cursor(paint, body, 0, 0, focused),
    }
}

/// The row under the draft: what became of the last message.
pub(super) fn draw_acknowledgement(paint: &mut Paint<'_>, area: Rect) {
    let model = paint.model;
    let Some(ack) = model.composer().and_then(|composer| composer.ack.as_ref()) else { return };
    let glyphs = paint.canvas.glyphs;
    let (mark, role) = match ack.state {
        AckState::Sending => (glyphs.waits, Role::Quiet),
        AckState::Kept => (glyphs.done, Role::Good),
        AckState::Refused => (glyphs.failed, Role::Bad),
    };
    let words = if ack.state == AckState::Refused { role } else { Role::Text };
    paint.row(area, 0).skip(1).put(mark, role).put(" ", role).put(&ack.words, words);
}

/// A text field of several lines, wrapped, with the cursor's row among those that are shown.
pub(super) fn draw_field(paint: &mut Paint<'_>, area: Rect, field: &TextField, focused: Focused) {
    let height = usize::from(area.height);
    if height == 0 {
        return;
    }
    let (cursor_line, cursor_char) = field.cursor();
    let width = draft_width(area.width + PROMPT);
    let lines = field.lines();
    let line = lines.get(cursor_line).map_or("", String::as_str);
    let cursor_byte = text::byte_of_char(line, cursor_char);
    let in_line = rows_near(line, cursor_byte, width);
    let cursor_row = in_line.iter().rposition(|row| row.start <= cursor_byte).unwrap_or(0);
    let row = in_line.get(cursor_row).cloned().unwrap_or(0..0);
    let column = text::width(&line[row.start..cursor_byte.min(row.end).max(row.start)]);

    // The rows above the cursor, nearest first, then the rest below until the pane is full.
    let mut above: Vec<(usize, Range<usize>)> =
        in_line[..cursor_row].iter().rev().take(height - 1).map(|row| (cursor_line, row.clone())).collect();
    for index in (0..cursor_line).rev() {
        if above.len() + 1 >= height {
            break;
        }
        let rows = rows_near(&lines[index], usize::MAX, width);
        above.extend(rows.into_iter().rev().take(height - 1 - above.len()).map(|row| (index, row)));
    }
    let cursor_y = above.len();
    let mut shown: Vec<(usize, Range<usize>)> = above.into_iter().rev().collect();
    shown.extend(in_line[cursor_row..].iter().map(|row| (cursor_line, row.clone())));
    for (index, line) in lines.iter().enumerate().skip(cursor_line + 1) {
        if shown.len() >= height {
            break;
        }
        let rows = text::wrap(line, 0, width, height - shown.len()).0;
        shown.extend(rows.into_iter().map(|row| (index, row)));
    }
    for (y, (index, row)) in shown.into_iter().take(height).enumerate() {
        paint.row(area, to_cells(y)).put(&lines[index][row], Role::Input);
    }
    place_cursor(paint, area, column, cursor_y, focused);
}

/// The rows of a line around byte `near`: a line that is very long is wrapped only there.
fn rows_near(line: &str, near: usize, width: usize) -> Vec<Range<usize>> {
    const STEP: usize = 4096;
    let near = near.min(line.len());
    let from = match near / STEP {
        0 | 1 => 0,
        steps => text::floor_char(line, (steps - 1) * STEP),
    };
    let most = 2 * STEP / width.max(1) + 64;
    text::wrap(line, from, width, most).0
}

/// One cell stays free for the cursor behind the last letter.
fn draft_width(pane: u16) -> usize {
    usize::from(pane.saturating_sub(PROMPT + 1)).max(1)
}

fn place_cursor(paint: &mut Paint<'_>, area: Rect, column: usize, row: usize, focused: Focused) {
    if focused == Focused::Yes && area.width > 0 && area.height > 0 {
        let x = area.x + to_cells(column).min(area.width - 1);
        let y = area.y + to_cells(row).min(area.height - 1);
        paint.cursor = Some(Position { x, y });
    }
}
