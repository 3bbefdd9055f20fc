//! The form of a job: its fields, beside them what the schedule means, below them what will be written.

mod fields;
mod meaning;
mod record;

use ratatui::layout::Rect;

use self::fields::ScheduleFault;
use super::layout::{from_bottom, from_left, from_right, from_top};
use super::paint::{Focused, Paint, to_cells};
use super::theme::Role;
use crate::console::app::focus::Target;
use crate::console::app::job_editor::{JobEditor, Showing};
use crate::console::app::words::count;

/// From so many columns what the schedule means stands beside the fields.
const BESIDE_FROM_WIDTH: u16 = 72;
/// The columns of what the schedule means, at least.
const MEANING_WIDTH: u16 = 36;
/// Below so many rows there is no room for what will be written.
const RECORD_FROM_HEIGHT: u16 = 16;
const RECORD_ROWS: u16 = 6;

pub(super) fn draw(paint: &mut Paint<'_>, screen: Rect, editor: &JobEditor) {
    paint.canvas.clear(screen);
    paint.covered.push(screen);
    paint.target(screen, Target::Overlay);
    let (title, body) = from_top(screen, 1);
    paint.title_in(title, Focused::Yes, &name(editor), &faults(editor), Role::Bad);
    let (body, failed) = from_bottom(body, u16::from(editor.failed.is_some()));
    if let Some(why) = &editor.failed {
        let mark = paint.canvas.glyphs.failed;
        paint.row(failed, 0).skip(1).put(mark, Role::Bad).put(" ", Role::Bad).put(why, Role::Bad);
    }
    let (disk, body) = from_top(body, u16::from(editor.on_disk.words().is_some()));
    if let Some(words) = editor.on_disk.words() {
        let mark = paint.canvas.glyphs.needs_you;
        paint.row(disk, 0).skip(1).put(mark, Role::Warning).put(" ", Role::Warning).put(words, Role::Warning);
    }
    if let Showing::Record { top } = editor.showing {
        return record::draw_whole(paint, body, editor, top);
    }
    let rows = if body.height < RECORD_FROM_HEIGHT { 0 } else { record::rows(editor) };
    let (form, below) = from_bottom(body, rows.min(body.height / 3).min(RECORD_ROWS + body.height / 8));
    record::draw(paint, below, editor);
    if form.width < BESIDE_FROM_WIDTH {
        let lines = meaning::rows(editor).min(usize::from(form.height / 3));
        let (fields, meaning) = from_bottom(form, to_cells(lines));
        fields::draw(paint, fields, editor, ScheduleFault::Under);
        return meaning::draw(paint, from_left(meaning, 1).1, editor);
    }
    let (left, right) = from_right(form, (form.width * 2 / 5).clamp(MEANING_WIDTH, 60));
    fields::draw(paint, left, editor, ScheduleFault::Beside);
    meaning::draw(paint, from_left(right, 2).1, editor);
}

fn name(editor: &JobEditor) -> String {
    format!("{}{}", editor.title, if editor.is_changed() { ", changed" } else { "" })
}

fn faults(editor: &JobEditor) -> String {
    match editor.faults.len() {
        0 => String::new(),
        faults => count(faults, "fault"),
    }
}
