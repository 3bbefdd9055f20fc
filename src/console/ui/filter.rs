//! The line that filters a list or searches: a text field above it.

use ratatui::layout::{Position, Rect};

use super::paint::{Focused, Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::focus::{Pane, Target, View};
use crate::console::app::text::TextField;
use crate::console::app::{Model, filter_pane};

/// The text that narrows the list of the open view.
pub(super) fn of_list(model: &Model) -> &TextField {
    match model.view {
        View::Sessions => &model.sessions.filter,
        View::Queue => &model.backlog.filter,
        View::Cron => &model.cron.filter,
        View::Recovery => &model.recovery.filter,
        View::Log => &model.log.search,
    }
}

/// What the filter of sessions takes.
const TERMS: &str = "words, state:runs, platform:telegram, !not";
/// What the filter of jobs takes.
const JOB_TERMS: &str = "words, state:paused, !not";

/// Draws the line that narrows `pane`.
pub(super) fn draw(paint: &mut Paint<'_>, area: Rect, field: &TextField, pane: Pane) {
    let model = paint.model;
    let name = match (pane, model.view) {
        (Pane::Conversation, _) | (_, View::Log) => "search ",
        _ => "filter ",
    };
    let focused = match paint.focused(Pane::Filter) {
        Focused::Yes if filter_pane(model) == pane => Focused::Yes,
        _ => Focused::No,
    };
    paint.target(area, Target::Pane(Pane::Filter));
    paint.row(area, 0).skip(1).put(name, Role::Quiet);
    let begin = to_cells(1 + name.len()).min(area.width);
    let field_area = Rect { x: area.x + begin, width: area.width - begin, ..area };
    let terms = match (pane, model.view) {
        (Pane::List, View::Sessions) => TERMS,
        (Pane::List, View::Cron) => JOB_TERMS,
        _ => "",
    };
    if field.is_empty() {
        paint.row(field_area, 0).put(terms, Role::Quiet);
    }
    draw_field(paint, field_area, field, focused);
}

/// A text field of one line. With the focus it is scrolled so that its cursor is seen; what is cut is marked.
pub(super) fn draw_field(paint: &mut Paint<'_>, area: Rect, field: &TextField, focused: Focused) {
    let line = field.lines().first().map_or("", String::as_str);
    if focused == Focused::No {
        paint.row(area, 0).put(line, Role::Input);
        return;
    }
    let before = &line[..text::byte_of_char(line, field.cursor().1)];
    let column = text::width(before);
    let room = usize::from(area.width).saturating_sub(1);
    let (shown, hidden) = text::skip(line, column.saturating_sub(room));
    paint.row(area, 0).put(shown, Role::Input);
    if hidden > 0 {
        let (ellipsis, rest) = (paint.canvas.glyphs.ellipsis, text::skip(shown, 1).0);
        paint.row(area, 0).put(ellipsis, Role::Quiet).put(rest, Role::Input);
    }
    if area.width > 0 {
        paint.cursor = Some(Position { x: area.x + to_cells(column - hidden), y: area.y });
    }
}
