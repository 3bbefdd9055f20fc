//! The view of the log: everything the engine did, newest last.

use ratatui::layout::Rect;

use super::layout::PaneArea;
use super::paint::{Focused, Paint, first_shown, to_cells};
use super::text;
use super::theme::Role;
use super::words;
use crate::console::app::focus::{Pane, Target};
use crate::console::app::log::{Follow, Log, LogRow};
use crate::console::app::words::{clock, thousands};
use crate::domain::event::Level;

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let log = &paint.model.log;
    let rows = usize::from(area.body.height);
    let first = match log.follow {
        Follow::On => log.rows.len().saturating_sub(rows),
        Follow::Paused { .. } => first_shown(log.top, log.selected, log.rows.len(), rows),
    };
    let focused = paint.focused(Pane::List);
    paint.measured.list_rows = rows;
    paint.target(area.whole(), Target::Pane(Pane::List));
    draw_title(paint, area.title, focused, log);
    if log.rows.is_empty() {
        return draw_empty(paint, area.body, log);
    }
    for (at, event) in log.rows.iter().enumerate().skip(first).take(rows) {
        let row = Rect { y: area.body.y + to_cells(at - first), height: 1, ..area.body };
        paint.target(row, Target::Event(event.seq));
        draw_event(paint, row, event);
        if at == log.selected {
            paint.keep = (focused == Focused::Yes).then_some(row);
            let role = if focused == Focused::Yes { Role::Selected } else { Role::Marked };
            paint.canvas.dress(row, role);
        }
    }
}

fn draw_title(paint: &mut Paint<'_>, area: Rect, focused: Focused, log: &Log) {
    let only = log.only.as_ref().map(|only| {
        let name = log.rows.iter().find_map(|row| row.name.clone());
        format!(", only {}", name.unwrap_or_else(|| only.to_string()))
    });
    let left = format!("Log{}", only.unwrap_or_default());
    let (right, role) = match log.follow {
        Follow::On => ("follows".to_owned(), Role::Quiet),
        Follow::Paused { new: 0 } => ("paused, G follows".to_owned(), Role::Warning),
        Follow::Paused { new } => {
            (format!("paused, {} new, G follows", thousands(new as u64)), Role::Warning)
        }
    };
    paint.title_in(area, focused, &left, &right, role);
    let from = area.x + to_cells(text::width(&left) + 4);
    let end = area.right().saturating_sub(to_cells(text::width(&right) + 4));
    draw_levels(paint, Rect { x: from, width: end.saturating_sub(from), ..area }, log.level);
}

/// The levels in the title; those that are shown stand in brackets. Where there is no room for all, the
/// least one that is shown.
fn draw_levels(paint: &mut Paint<'_>, area: Rect, least: Level) {
    let level_words = |level: Level| match level >= least {
        true => format!("[{level}]"),
        false => format!(" {level} "),
    };
    let all: usize = Level::ALL.iter().map(|level| text::width(&level_words(*level))).sum();
    if all > usize::from(area.width) {
        let words = format!("[{least}] and above");
        let width = text::width(&words).min(usize::from(area.width));
        paint.row(area, 0).column(&words, width, Role::Title).put(" ", Role::Rule);
        return;
    }
    let mut x = area.x;
    for level in Level::ALL {
        let words = level_words(level);
        let width = to_cells(text::width(&words));
        let role = if level >= least { Role::Title } else { Role::Quiet };
        paint.row(area, 0).to(x).put(&words, role);
        paint.target(Rect { x, width, ..area }, Target::Level(level));
        x += width;
        paint.row(area, 0).to(x).put(" ", Role::Rule);
    }
}

fn draw_event(paint: &mut Paint<'_>, row: Rect, event: &LogRow) {
    let model = paint.model;
    let today = model.now.with_timezone(&model.zone).date_naive();
    let at = match event.at.with_timezone(&model.zone).date_naive() == today {
        true => words::second(event.at, model.zone),
        false => clock(model, event.at),
    };
    let (role, words_role) = match event.level {
        Level::Debug => (Role::Quiet, Role::Quiet),
        Level::Info => (Role::Quiet, Role::Text),
        Level::Warn => (Role::Warning, Role::Text),
        Level::Error => (Role::Bad, Role::Text),
    };
    let name = event.name.as_deref().unwrap_or_default();
    let width = (usize::from(row.width) / 6).clamp(8, 24);
    let mut pen = paint.row(row, 0);
    pen.skip(1).column(&at, 12, Role::Quiet).skip(1).column(event.level.as_str(), 5, role).skip(1);
    pen.column(name, width, Role::Strong).skip(1).put(&event.words, words_role);
}

fn draw_empty(paint: &mut Paint<'_>, area: Rect, log: &Log) {
    if let Some(why) = &log.failed {
        paint.say(area, &[(&format!("The log could not be read: {why}"), Role::Bad)]);
    } else if !log.loaded {
        paint.say(area, &[("reading the log", Role::Quiet)]);
    } else {
        let words = format!("Nothing of level {} or above happened here yet.", log.level);
        paint.say(area, &[(&words, Role::Text)]);
    }
}
