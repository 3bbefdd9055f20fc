//! The record that will be written, with what changes in it marked.

use ratatui::layout::Rect;

use crate::console::app::job_editor::JobEditor;
use crate::console::app::job_editor::record::{Change, RecordLine};
use crate::console::ui::card;
use crate::console::ui::layout::from_top;
use crate::console::ui::paint::{Focused, Paint, to_cells};
use crate::console::ui::theme::Role;

const TITLE: &str = "will be written to jobs.json";

fn changed(editor: &JobEditor) -> impl Iterator<Item = &RecordLine> {
    editor.record.iter().filter(|line| line.change != Change::Kept)
}

/// How many rows what changes would take, with its title.
pub(super) fn rows(editor: &JobEditor) -> u16 {
    to_cells(changed(editor).count().max(1) + 1)
}

/// What changes.
pub(super) fn draw(paint: &mut Paint<'_>, area: Rect, editor: &JobEditor) {
    let (title, body) = from_top(area, 1);
    let lines: Vec<&RecordLine> = changed(editor).collect();
    let hidden = lines.len().saturating_sub(usize::from(body.height));
    let right = if hidden == 0 { String::new() } else { format!("{hidden} more lines") };
    paint.title(title, Focused::No, TITLE, &right);
    if lines.is_empty() {
        paint.row(body, 0).skip(1).put("nothing is changed", Role::Quiet);
    }
    for (y, line) in lines.into_iter().take(usize::from(body.height)).enumerate() {
        let (mark, role) = dress(line.change);
        paint.row(body, to_cells(y)).skip(1).put(mark, role).put(" ", role).put(&line.text, role);
    }
}

/// The whole record.
pub(super) fn draw_whole(paint: &mut Paint<'_>, area: Rect, editor: &JobEditor, top: usize) {
    paint.cursor = None;
    let mut rest = area;
    for line in editor.record.iter().skip(top) {
        if rest.height == 0 {
            break;
        }
        let (mark, role) = dress(line.change);
        paint.row(rest, 0).skip(1).put(mark, role);
        let inner = Rect { x: rest.x + 3.min(rest.width), width: rest.width.saturating_sub(4), ..rest };
        let left = card::write(paint, inner, &line.text, role);
        rest = Rect { y: left.y, height: left.height, ..rest };
    }
}

fn dress(change: Change) -> (&'static str, Role) {
    match change {
        Change::Kept => (" ", Role::Text),
        Change::New => ("+", Role::Good),
        Change::Gone => ("-", Role::Bad),
    }
}
