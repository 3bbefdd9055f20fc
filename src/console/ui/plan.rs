//! The plan of the running turn, under its conversation: what its agent is at is seen without scrolling.

use ratatui::layout::Rect;

use super::entry::mark_matches;
use super::layout::{PaneArea, from_left};
use super::paint::{Focused, Paint, first_shown, to_cells};
use super::theme::Role;
use crate::console::app::Model;
use crate::console::app::focus::{Pane, Target};
use crate::domain::plan::{PlanEntry, PlanStatus};
use crate::domain::turn::TurnState;

/// The columns of an entry's mark and word.
const STATUS: u16 = 11;

/// How many rows its entries would take.
pub(super) fn rows(model: &Model) -> usize {
    model.conversation.plan.as_ref().map_or(0, |plan| plan.entries.len())
}

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let Some(plan) = &paint.model.conversation.plan else { return };
    let (rows, len) = (usize::from(area.body.height), plan.entries.len());
    let (title, hidden) = match rows {
        0 => (plan.words(TurnState::Running, &format!(" {} ", paint.canvas.glyphs.dot)), 0),
        rows => (plan.progress(), len.saturating_sub(rows)),
    };
    let right = if hidden == 0 { String::new() } else { format!("{hidden} more") };
    paint.target(area.whole(), Target::Pane(Pane::Conversation));
    paint.title(area.title, Focused::No, &format!("plan: {title}"), &right);
    let place = plan.place().unwrap_or(len.saturating_sub(1));
    // One that is done is left above what the agent is at.
    let first = first_shown(place.saturating_sub(1), place, len, rows);
    for (y, entry) in plan.entries.iter().skip(first).take(rows).enumerate() {
        let row = Rect { x: area.body.x + 1, y: area.body.y + to_cells(y), height: 1, ..area.body };
        draw_entry(paint, row.intersection(area.body), entry, TurnState::Running);
    }
}

/// An entry of a plan, whose turn stands so.
pub(super) fn draw_entry(paint: &mut Paint<'_>, area: Rect, entry: &PlanEntry, turn: TurnState) {
    let glyphs = paint.canvas.glyphs;
    let runs = turn == TurnState::Running;
    let (mark, status, words) = match entry.status {
        PlanStatus::Completed => (glyphs.done, Role::Good, Role::Quiet),
        PlanStatus::InProgress if runs => (glyphs.runs, Role::Runs, Role::Text),
        PlanStatus::InProgress => (glyphs.waits, Role::Warning, Role::Text),
        PlanStatus::Pending => (glyphs.waits, Role::Quiet, Role::Text),
    };
    let (left, right) = from_left(area, STATUS);
    paint.row(left, 0).put(mark, status).put(" ", status).put(entry.status.word(turn), status);
    paint.row(right, 0).put(&entry.content, words);
    mark_matches(paint, right, &entry.content);
}
