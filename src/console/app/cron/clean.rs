//! Foreign texts made safe to show, where they come in.

use crate::domain::api::{JobDetail, JobRow, JobState, JobsFileState, TimelineRow};
use crate::domain::cron::{Delivery, Execution};
use crate::domain::sanitize::one_line;

fn text(text: &mut String) {
    if let std::borrow::Cow::Owned(clean) = one_line(text) {
        *text = clean;
    }
}

pub(super) fn row(row: &mut JobRow) {
    [&mut row.name, &mut row.schedule, &mut row.words, &mut row.zone].into_iter().for_each(text);
    state(&mut row.state);
    row.paused.iter_mut().filter_map(|paused| paused.why.as_mut()).for_each(text);
    row.last.iter_mut().chain(&mut row.last_run).for_each(execution);
}

fn state(state: &mut JobState) {
    match state {
        JobState::Error { faults } => faults.iter_mut().for_each(text),
        JobState::Flagged
        | JobState::Running
        | JobState::RunsOn { .. }
        | JobState::Waiting
        | JobState::Scheduled
        | JobState::Paused
        | JobState::Completed { .. }
        | JobState::Vanished { .. } => {}
    }
}

pub(super) fn execution(run: &mut Execution) {
    run.why.iter_mut().chain(&mut run.output).for_each(text);
    run.claim.iter_mut().for_each(|claim| text(&mut claim.owner.host));
    run.deliveries.iter_mut().for_each(delivery);
}

fn delivery(delivery: &mut Delivery) {
    let target = &mut delivery.target;
    text(&mut target.platform);
    target.chat_id.iter_mut().chain(&mut target.thread_id).chain(&mut delivery.why).for_each(text);
}

pub(super) fn detail(detail: &mut JobDetail) {
    detail.warnings.iter_mut().for_each(text);
    detail.history.iter_mut().for_each(execution);
}

pub(super) fn lane(lane: &mut TimelineRow) {
    text(&mut lane.name);
    state(&mut lane.state);
}

pub(super) fn file(file: &mut JobsFileState) {
    if let JobsFileState::Unreadable { trouble, .. } = file {
        text(&mut trouble.why);
        trouble.hint.iter_mut().for_each(text);
        // Tabs and blanks stay: a mark points at a column.
        trouble.excerpt.iter_mut().for_each(|(_, line)| text(line));
    }
}
