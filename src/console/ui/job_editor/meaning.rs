//! What the schedule means: in words, the traps in it, and its next slots.

use chrono::Datelike;
use ratatui::layout::Rect;

use crate::console::app::cron::words::{clock_of, fine_distance};
use crate::console::app::job_editor::insight::Insight;
use crate::console::app::job_editor::{Field, JobEditor};
use crate::console::ui::card;
use crate::console::ui::layout::{from_left, from_top};
use crate::console::ui::paint::Paint;
use crate::console::ui::text;
use crate::console::ui::theme::Role;

/// How many rows it would take, about.
pub(super) fn rows(editor: &JobEditor) -> usize {
    match &editor.insight {
        // That stands under the field then.
        Insight::Nothing | Insight::Fault(_) => 0,
        Insight::Due { warnings, next, written, .. } => {
            1 + warnings.len() + next.len() + usize::from(written.is_some())
        }
    }
}

pub(super) fn draw(paint: &mut Paint<'_>, area: Rect, editor: &JobEditor) {
    let Insight::Due { words, warnings, next, zone, written } = &editor.insight else {
        return draw_faults(paint, area, editor);
    };
    let mut rest = card::write(paint, area, words, Role::Strong);
    for warning in warnings {
        let mark = paint.canvas.glyphs.needs_you;
        paint.row(rest, 0).put(mark, Role::Warning);
        let left = card::write(paint, from_left(rest, 2).1, warning, Role::Warning);
        rest = Rect { y: left.y, height: left.height, ..rest };
    }
    if let Some(written) = written {
        rest = card::write(paint, rest, &format!("written as {written}"), Role::Quiet);
    }
    if next.is_empty() {
        card::write(paint, rest, "No slot of it is to come.", Role::Warning);
        return;
    }
    let model = paint.model;
    for (at, slot) in next.iter().enumerate() {
        let local = slot.with_timezone(zone);
        let this_year = local.year() == model.now.with_timezone(zone).year();
        let day = if this_year { "%a %e %b" } else { "%a %e %b %Y" };
        let day = format!("{} {}", local.format(day), local.format(clock_of(*slot)));
        let distance = fine_distance(model, *slot);
        let zone = local.format("%Z").to_string();
        let fits =
            text::width(&day) + text::width(&distance) + text::width(&zone) + 3 <= usize::from(rest.width);
        let zone = if at == 0 && fits && local.timezone() != model.zone { zone } else { String::new() };
        let mut pen = paint.row(rest, 0);
        pen.right(&zone, Role::Quiet).put(&day, Role::Text).put("  ", Role::Text).put(&distance, Role::Quiet);
        rest = from_top(rest, 1).1;
    }
}

/// What is wrong with the schedule, on its row.
fn draw_faults(paint: &mut Paint<'_>, area: Rect, editor: &JobEditor) {
    let mut rest = from_top(area, 1).1;
    for (_, words) in editor.faults.iter().filter(|(field, _)| *field == Field::Schedule) {
        let mark = paint.canvas.glyphs.needs_you;
        paint.row(rest, 0).put(mark, Role::Bad);
        let left = card::write(paint, from_left(rest, 2).1, words, Role::Bad);
        rest = Rect { y: left.y, height: left.height, ..rest };
    }
}
