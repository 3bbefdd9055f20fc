//! Where the operator writes. The border says to whom, and what Enter will do.

use ratatui::layout::{Position, Rect};
use std::ops::Range;

use super::card;
use super::layout::{PaneArea, from_left};
use super::paint::{Focused, Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::border::{Weight, border};
use crate::console::app::composer::AckState;
use crate::console::app::focus::{Pane, Target};
use crate::console::app::text::TextField;
use crate::console::app::{Model, enter_completes};

/// The cells before the draft: the prompt.
const PROMPT: u16 = 3;
/// The cells that the border keeps for whom it is to.
const LEAST_NAME: usize = 10;
/// A border of fewer cells has shorter words.
const WIDE: u16 = 60;

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
    let completes = enter_completes(model);
    let what = what_is_sent(model, area.title.width);
    let (enter, role) = match border.weight {
        _ if completes => ("enter: completes".to_owned(), Role::Quiet),
        Weight::Normal => (format!("{what}: {}", border.enter), Role::Quiet),
        Weight::Replaces | Weight::Stops => (format!("{what}: {}", border.enter), Role::Warning),
        Weight::Refused => (border.enter, Role::Bad),
    };
    paint.target(area.whole(), Target::Pane(Pane::Composer));
    let to = format!("to: {}", border.to);
    // What Enter does matters more than the end of a long name.
    let kept = usize::from(area.title.width / 4).max(LEAST_NAME);
    paint.title_keeping(area.title, focused, &to, &enter, role, kept);
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

/// What the border's words are about. Beside an acknowledgement, which is about the message before,
/// that is said in full.
fn what_is_sent(model: &Model, width: u16) -> &'static str {
    let told = model.composer().filter(|composer| composer.text.is_empty());
    match told.and_then(|composer| composer.ack.as_ref()).map(|ack| ack.state) {
        Some(AckState::Kept | AckState::Sending) if width < WIDE => "next",
        Some(AckState::Kept | AckState::Sending) => "next message",
        _ => "enter",
    }
}

/// How many rows what became of the last message takes.
pub(super) fn acknowledgement_rows(model: &Model, width: u16) -> usize {
    let ack = model.composer().and_then(|composer| composer.ack.as_ref());
    ack.map_or(1, |ack| card::rows(&ack.words, usize::from(width.saturating_sub(PROMPT)).max(1)))
}

/// The rows under the draft: what became of the last message.
pub(super) fn draw_acknowledgement(paint: &mut Paint<'_>, area: Rect) {
    let model = paint.model;
    paint.measured.acknowledgement_shown = area.height > 0;
    let Some(ack) = model.composer().and_then(|composer| composer.ack.as_ref()) else { return };
    let glyphs = paint.canvas.glyphs;
    let (mark, role) = match ack.state {
        AckState::Sending | AckState::Asks => (glyphs.waits, Role::Quiet),
        AckState::Kept => (glyphs.done, Role::Good),
        AckState::Refused => (glyphs.failed, Role::Bad),
    };
    let words = if ack.state == AckState::Refused { role } else { Role::Text };
    paint.row(area, 0).skip(1).put(mark, role);
    card::write_cut(paint, from_left(area, PROMPT).1, &ack.words, words);
}

/// A row of a field: a part of one of its lines.
struct Row {
    line: usize,
    bytes: Range<usize>,
}

/// A text field of several lines, wrapped, with the cursor's row among those that are shown.
pub(super) fn draw_field(paint: &mut Paint<'_>, area: Rect, field: &TextField, focused: Focused) {
    let height = usize::from(area.height);
    if height == 0 {
        return;
    }
    let width = draft_width(area.width + PROMPT);
    let lines = field.lines();
    let (line, character) = field.cursor();
    let words = lines.get(line).map_or("", String::as_str);
    let cursor = text::byte_of_char(words, character);
    let around = rows_near(words, cursor, width);
    let at = around.iter().rposition(|row| row.start <= cursor).unwrap_or(0);
    let column = around.get(at).map_or(0, |row| text::width(&words[row.start..cursor.min(row.end)]));
    let in_line = |bytes: &Range<usize>| Row { line, bytes: bytes.clone() };

    let mut shown: Vec<Row> = around[..at].iter().rev().take(height - 1).map(in_line).collect();
    add_above(&mut shown, lines, line, width, height - 1);
    shown.reverse();
    let cursor_row = shown.len();
    shown.extend(around[at..].iter().map(in_line));
    add_below(&mut shown, lines, line, width, height);
    for (y, row) in shown.into_iter().take(height).enumerate() {
        paint.row(area, to_cells(y)).put(&lines[row.line][row.bytes], Role::Input);
    }
    place_cursor(paint, area, column, cursor_row, focused);
}

/// Adds the rows of the lines before `line`, the nearest first, until there are `most`.
fn add_above(shown: &mut Vec<Row>, lines: &[String], line: usize, width: usize, most: usize) {
    for index in (0..line).rev() {
        let room = most.saturating_sub(shown.len());
        if room == 0 {
            return;
        }
        let rows = rows_near(&lines[index], usize::MAX, width).into_iter().rev();
        shown.extend(rows.take(room).map(|bytes| Row { line: index, bytes }));
    }
}

/// Adds the rows of the lines behind `line`, until there are `most`.
fn add_below(shown: &mut Vec<Row>, lines: &[String], line: usize, width: usize, most: usize) {
    for (index, words) in lines.iter().enumerate().skip(line + 1) {
        let room = most.saturating_sub(shown.len());
        if room == 0 {
            return;
        }
        let rows = text::wrap(words, 0, width, room).0;
        shown.extend(rows.into_iter().map(|bytes| Row { line: index, bytes }));
    }
}

/// The rows of a line around byte `near`: a line that is very long is wrapped only there.
fn rows_near(line: &str, near: usize, width: usize) -> Vec<Range<usize>> {
    const STEP: usize = 4096;
    let near = near.min(line.len());
    let from = match near / STEP {
        0 | 1 => 0,
        steps => text::floor_char(line, (steps - 1) * STEP),
    };
    let end = text::floor_char(line, near.saturating_add(STEP));
    text::wrap(&line[..end], from, width, usize::MAX).0
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
