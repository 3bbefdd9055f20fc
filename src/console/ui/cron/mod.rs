//! The view of scheduled tasks: the jobs, the selected one with its runs, the timeline, and what is wrong
//! with their file.

pub(super) mod banner;
pub(super) mod detail;
pub(super) mod list;
pub(super) mod timeline;

use super::paint::Paint;
use super::theme::Role;
use crate::domain::api::JobState;
use crate::domain::cron::ExecutionState;

/// The mark of a job's state; the one of a job that runs turns.
fn job_mark(paint: &mut Paint<'_>, state: &JobState) -> (&'static str, Role) {
    let glyphs = paint.canvas.glyphs;
    match state {
        JobState::Error { .. } | JobState::Flagged => (glyphs.needs_you, Role::NeedsYou),
        JobState::Running | JobState::RunsOn { .. } => (paint.motion.spinner(glyphs), Role::Runs),
        JobState::Waiting => (glyphs.waits, Role::Waits),
        JobState::Scheduled => (glyphs.idle, Role::Idle),
        JobState::Paused => (glyphs.held, Role::Held),
        JobState::Completed { .. } => (glyphs.done, Role::Good),
        JobState::Vanished { .. } => (glyphs.suspended, Role::Warning),
    }
}

/// The mark of a run's state where nothing turns.
fn run_mark(paint: &Paint<'_>, state: ExecutionState) -> (&'static str, Role) {
    let glyphs = paint.canvas.glyphs;
    match state {
        ExecutionState::Waiting => (glyphs.waits, Role::Waits),
        ExecutionState::Claimed | ExecutionState::Running => (glyphs.runs, Role::Runs),
        ExecutionState::Succeeded => (glyphs.done, Role::Good),
        ExecutionState::Failed | ExecutionState::TimedOut | ExecutionState::BlockedConfig => {
            (glyphs.failed, Role::Bad)
        }
        ExecutionState::Interrupted | ExecutionState::Unknown => (glyphs.suspended, Role::Warning),
        ExecutionState::Skipped | ExecutionState::Missed => (glyphs.skipped, Role::Held),
    }
}
