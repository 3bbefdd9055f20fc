//! The view of restart recovery: a start in words, the sessions it looked at, the starts before it.

use ratatui::layout::Rect;

use super::card;
use super::layout::{PaneArea, from_bottom, from_left, from_top};
use super::paint::{Focused, Paint, first_shown, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::Model;
use crate::console::app::focus::{Pane, Target};
use crate::console::app::recovery::{Recovered, Recovery};
use crate::console::app::words::{age, clock, running, second};
use crate::domain::api::StartRow;
use crate::domain::marker::Clearing;
use crate::domain::recovery::{BootGuard, LastExit, RecoveryState};

/// From so many columns a session has one row; below, two.
const ONE_ROW_FROM_WIDTH: u16 = 110;
/// The cells before a name: selection and state.
const MARKS: usize = 5;
/// The most rows of the history.
const MOST_STARTS: usize = 8;

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let recovery = &paint.model.recovery;
    let focused = paint.focused(Pane::List);
    paint.target(area.whole(), Target::Pane(Pane::List));
    let right = place_words(recovery);
    paint.title(area.title, focused, &title(recovery), &right);
    let Some(start) = &recovery.chosen else { return draw_empty(paint, area.body, recovery) };
    let body = draw_start(paint, area.body, recovery, start);
    let starts = history_rows(recovery, body.height);
    let (list, history) = from_bottom(body, if starts == 0 { 0 } else { starts + 1 });
    let hidden = draw_sessions(paint, list, recovery, focused);
    if hidden > 0 && body.y > area.body.y {
        let above = Rect { y: body.y - 1, height: 1, ..body };
        paint.row(above, 0).right(&format!("{hidden} more below"), Role::Quiet);
    }
    if starts > 0 {
        draw_history(paint, history, recovery);
    }
}

fn title(recovery: &Recovery) -> String {
    match (recovery.place(), recovery.filter.is_empty()) {
        (_, false) => format!("Recovery: {} of {}", recovery.rows.len(), recovery.total()),
        (Some(0) | None, true) => "Recovery: the newest start".to_owned(),
        (Some(_), true) => "Recovery: an earlier start".to_owned(),
    }
}

fn place_words(recovery: &Recovery) -> String {
    match (recovery.place(), recovery.starts.len()) {
        (Some(place), starts @ 2..) => format!("start {} of the last {starts}", starts - place),
        _ => String::new(),
    }
}

/// The start in words; returns what is left of the area.
fn draw_start(paint: &mut Paint<'_>, area: Rect, recovery: &Recovery, start: &StartRow) -> Rect {
    let model = paint.model;
    let (_, inner) = from_left(area, 1);
    let words = start.words(|at| second(model, at));
    let how = match start.exit {
        Some(LastExit::Unclean { .. }) => Role::Warning,
        _ => Role::Text,
    };
    let calm = start.sessions() == 0 && !matches!(start.exit, Some(LastExit::Unclean { .. }));
    let in_row = start.in_row_words(recovery.boot_guard_starts);
    if calm {
        let rest = card::write(paint, inner, &format!("{words} {}", start.result()), how);
        return below(area, rest);
    }
    let rest = card::write(paint, inner, &words, how);
    let rest = card::write(paint, rest, &start.result(), Role::Text);
    let guard = if start.guard == BootGuard::Open { Role::Quiet } else { Role::Held };
    let rest = in_row.iter().fold(rest, |rest, words| card::write(paint, rest, words, guard));
    below(area, rest)
}

/// What of `area` is below the text, with one blank row between.
fn below(area: Rect, rest: Rect) -> Rect {
    let used = rest.y - area.y + 1;
    from_top(area, used).1
}

/// How many rows the history takes: what the sessions leave, at least two, at most some.
fn history_rows(recovery: &Recovery, height: u16) -> u16 {
    let starts = recovery.starts.len().min(MOST_STARTS);
    if starts < 2 || height < 4 {
        return 0;
    }
    to_cells(starts).min((height / 2).saturating_sub(1))
}

/// Draws the sessions; returns how many are hidden below.
fn draw_sessions(paint: &mut Paint<'_>, area: Rect, recovery: &Recovery, focused: Focused) -> usize {
    let height: u16 = if area.width >= ONE_ROW_FROM_WIDTH { 1 } else { 2 };
    let rows = usize::from(area.height / height);
    paint.measured.list_rows = rows;
    let first = first_shown(recovery.top, recovery.selected, recovery.rows.len(), rows);
    let model = paint.model;
    let states = recovery.rows.iter().map(|row| text::width(&now_words(model, row))).max().unwrap_or(0);
    if recovery.rows.is_empty() && !recovery.filter.is_empty() {
        let filter = recovery.filter.text();
        let words = format!("0 of {} match \"{filter}\". esc clears.", recovery.total());
        paint.say(area, &[(&words, Role::Text)]);
    }
    for (at, row) in recovery.rows.iter().enumerate().skip(first).take(rows) {
        let y = area.y + to_cells(at - first) * height;
        let row_area = Rect { y, height, ..area };
        paint.target(row_area, Target::Recovered(row.session().clone()));
        let chosen = at == recovery.selected;
        let pointer = if chosen { paint.canvas.glyphs.chosen } else { " " };
        paint.row(row_area, 0).skip(1).put(pointer, Role::Strong);
        match height {
            1 => draw_on_one_row(paint, row_area, recovery, row, states),
            _ => draw_on_two_rows(paint, row_area, recovery, row),
        }
        match (chosen, focused) {
            (true, Focused::Yes) => {
                paint.keep = Some(row_area);
                paint.canvas.dress(row_area, Role::Selected);
            }
            (true, Focused::No) => paint.canvas.dress(row_area, Role::Marked),
            _ => {}
        }
    }
    recovery.rows.len().saturating_sub(first + rows)
}

/// The columns that every row has: why, and how often.
const WHY: usize = 9;
const ATTEMPTS: usize = 15;

/// `states` is how wide the widest state of all rows is: the column behind it stands in one line.
fn draw_on_one_row(paint: &mut Paint<'_>, area: Rect, recovery: &Recovery, row: &Recovered, states: usize) {
    let width = usize::from(area.width);
    let (mark, role) = mark(paint, &row.row.state);
    let now = now(paint, row);
    let name = (width / 6).clamp(14, 28);
    let mut pen = paint.row(area, 0);
    pen.skip(3).put(mark, role).skip(1).column(&row.name, name, Role::Strong).skip(1);
    pen.column(row.row.why(), WHY, Role::Text);
    pen.column(&row.row.attempts(recovery.max_cuts), ATTEMPTS, Role::Text).skip(1);
    let rest = pen.room();
    let state = states.min(rest / 2).max(rest / 3);
    pen.column(&now, state, role).skip(2).put(&row.interrupted, Role::Quiet);
}

fn draw_on_two_rows(paint: &mut Paint<'_>, area: Rect, recovery: &Recovery, row: &Recovered) {
    let width = usize::from(area.width);
    let (mark, role) = mark(paint, &row.row.state);
    let now = now(paint, row);
    let name = (width / 4).clamp(10, 22);
    let attempts = row.row.attempts(recovery.max_cuts);
    let mut pen = paint.row(area, 0);
    pen.skip(3).put(mark, role).skip(1).column(&row.name, name, Role::Strong).skip(1);
    if width >= 70 {
        pen.column(row.row.why(), WHY, Role::Text).column(&attempts, ATTEMPTS, Role::Text).skip(1);
    }
    pen.put(&now, role);
    let mut pen = paint.row(area, 1);
    pen.skip(MARKS);
    if width < 70 {
        pen.put(&attempts, Role::Text).put("  ", Role::Text);
    }
    pen.put(&row.interrupted, Role::Quiet);
}

fn mark(paint: &mut Paint<'_>, state: &RecoveryState) -> (&'static str, Role) {
    let glyphs = paint.canvas.glyphs;
    match state {
        RecoveryState::Resuming { .. } | RecoveryState::Runs { .. } => {
            (paint.motion.spinner(glyphs), Role::Runs)
        }
        RecoveryState::Waits | RecoveryState::NextStart { .. } => (glyphs.resumes, Role::Waits),
        RecoveryState::Failed { .. } => (glyphs.failed, Role::Bad),
        RecoveryState::Stale | RecoveryState::HeldByBootGuard => (glyphs.held, Role::Held),
        RecoveryState::GivenUp => (glyphs.suspended, Role::Bad),
        RecoveryState::Cleared { by: Clearing::Answered, .. } => (glyphs.done, Role::Good),
        RecoveryState::Cleared { .. } | RecoveryState::DecidedAnew => (glyphs.idle, Role::Idle),
    }
}

/// How a session that is drawn stands now: while it runs its time moves by the second.
fn now(paint: &mut Paint<'_>, row: &Recovered) -> String {
    if let RecoveryState::Resuming { .. } | RecoveryState::Runs { .. } = row.row.state {
        paint.motion.counts_seconds();
    }
    now_words(paint.model, row)
}

/// How a session stands now, with its time.
fn now_words(model: &Model, row: &Recovered) -> String {
    let now = model.as_of();
    let words = &row.words;
    match &row.row.state {
        RecoveryState::Resuming { since, .. } | RecoveryState::Runs { since, .. } => {
            format!("{words}, {}", running(now - *since))
        }
        RecoveryState::GivenUp | RecoveryState::Stale => match row.row.since() {
            Some(since) if (now - since).num_minutes() > 0 => format!("{words}, {}", age(now - since)),
            Some(_) | None => words.clone(),
        },
        RecoveryState::Cleared { by: Clearing::NothingOwed, .. } => words.clone(),
        RecoveryState::Cleared { at, .. } => format!("{words} {}", clock(model, *at)),
        _ => words.clone(),
    }
}

/// The starts, newest first, so that the shown one is seen.
fn draw_history(paint: &mut Paint<'_>, area: Rect, recovery: &Recovery) {
    let (title, body) = from_top(area, 1);
    let rows = usize::from(body.height);
    let place = recovery.place().unwrap_or(0);
    let first = first_shown(place.saturating_sub(rows / 2), place, recovery.starts.len(), rows);
    let hidden = recovery.starts.len().saturating_sub(first + rows);
    let right = if hidden == 0 { String::new() } else { format!("{hidden} earlier below") };
    paint.title(title, Focused::No, "starts", &right);
    for (at, start) in recovery.starts.iter().enumerate().skip(first).take(rows) {
        let row = Rect { y: body.y + to_cells(at - first), height: 1, ..body };
        let (pointer, role) = match at == place {
            true => (paint.canvas.glyphs.chosen, Role::Strong),
            false => (" ", Role::Text),
        };
        paint.row(row, 0).skip(1).put(pointer, role);
        draw_past(paint, from_left(row, 3).1, start, role);
    }
}

fn draw_past(paint: &mut Paint<'_>, area: Rect, start: &StartRow, role: Role) {
    let model = paint.model;
    let killed = matches!(start.exit, Some(LastExit::Unclean { .. }));
    let after = match &start.exit {
        Some(LastExit::First) | None => start.after().to_owned(),
        _ => format!("after: {}", start.after()),
    };
    let found = start.found();
    let result = if found.is_empty() { "nothing was cut" } else { &found };
    let mut pen = paint.row(area, 0);
    pen.column(&second(model, start.started_at), 16, role).skip(1);
    pen.column(&after, 16, if killed { Role::Warning } else { Role::Quiet }).skip(1);
    pen.put(result, Role::Text);
    if start.guard != BootGuard::Open {
        pen.put(", held by the boot guard", Role::Held);
    }
}

fn draw_empty(paint: &mut Paint<'_>, area: Rect, recovery: &Recovery) {
    if let Some(why) = &recovery.failed {
        paint.say(area, &[(&format!("The starts could not be read: {why}"), Role::Bad)]);
    } else if !recovery.loaded {
        paint.say(area, &[("reading the starts", Role::Quiet)]);
    } else {
        paint.say(area, &[("This home was never started: nothing to recover.", Role::Text)]);
    }
}
