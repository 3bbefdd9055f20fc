//! Moving in lists: the selection, the windows of long lists, and the order that stands still.

use super::action::Action;
use super::focus::{Focus, Pane, View};
use super::log::Follow;
use super::msg::{Effect, Pace, Question, Timer};
use super::sessions::{Coming, PAGE};
use super::{Model, cron, front, scroll};
use crate::domain::id::SessionKey;

/// How long the order of a list stays as it is after a key in it.
pub(super) const FROZEN: chrono::TimeDelta = chrono::TimeDelta::seconds(3);
/// The window of the session list is moved on when the selection comes this near its edge.
const NEAR_EDGE: usize = 50;
/// The most rows that the window of the session list holds.
const WINDOW: usize = 3 * PAGE;
/// The window while it walks to the end of a long list.
const WALKING_WINDOW: usize = 1000;

/// A list that has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    Sessions,
    Backlog,
    Queue,
    Jobs,
    Runs,
    Recovery,
    Log,
}

/// The list with the focus; none in the conversation and in text fields.
pub(super) fn rows(model: &Model) -> Option<Rows> {
    match (model.pane, model.view) {
        (Pane::List, View::Sessions) => Some(Rows::Sessions),
        (Pane::List, View::Queue) => Some(Rows::Backlog),
        (Pane::List, View::Cron) => Some(Rows::Jobs),
        (Pane::Detail, _) => Some(Rows::Runs),
        (Pane::List, View::Recovery) => Some(Rows::Recovery),
        (Pane::List, View::Log) => Some(Rows::Log),
        (Pane::Queue, _) => Some(Rows::Queue),
        (Pane::Conversation | Pane::Composer | Pane::Filter, _) => None,
    }
}

/// Moves within the pane with the focus. False if the action is no movement.
pub(super) fn move_by(model: &mut Model, action: Action) -> bool {
    let page = page_height(model);
    let step = match action {
        Action::Down => Step::By(1),
        Action::Up => Step::By(-1),
        Action::PageDown => Step::By(page),
        Action::PageUp => Step::By(-page),
        Action::HalfDown => Step::By((page / 2).max(1)),
        Action::HalfUp => Step::By(-(page / 2).max(1)),
        Action::First => Step::First,
        Action::Last => Step::Last,
        _ => return false,
    };
    match rows(model) {
        Some(list) => move_in_list(model, list, step),
        None => scroll::move_in_conversation(model, action, step),
    }
    true
}

/// How far a movement goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    By(i64),
    First,
    Last,
}

impl Step {
    fn from(self, index: usize, length: usize) -> usize {
        let last = length.saturating_sub(1);
        match self {
            Self::By(rows) => index.saturating_add_signed(rows as isize).min(last),
            Self::First => 0,
            Self::Last => last,
        }
    }
}

fn page_height(model: &Model) -> i64 {
    let measured = &model.measured;
    let rows = match rows(model) {
        Some(Rows::Queue) => measured.queue_rows,
        Some(Rows::Runs) => measured.run_rows,
        Some(_) => measured.list_rows,
        None => measured.conversation_lines,
    };
    rows.saturating_sub(1).max(1) as i64
}

fn move_in_list(model: &mut Model, list: Rows, step: Step) {
    match list {
        Rows::Sessions => move_in_sessions(model, step),
        Rows::Backlog => model.backlog.selected = step.from(model.backlog.selected, model.backlog.rows.len()),
        Rows::Queue => model.queue.selected = step.from(model.queue.selected, model.queue.rows.len()),
        Rows::Jobs => {
            model.cron.selected = step.from(model.cron.selected, model.cron.rows.len());
            cron::selection_changed(model);
        }
        Rows::Runs => {
            let runs = model.cron.current_detail().map_or(0, |detail| detail.runs.len());
            model.cron.run = step.from(model.cron.run, runs);
            cron::run_changed(model);
        }
        Rows::Recovery => {
            model.recovery.selected = step.from(model.recovery.selected, model.recovery.rows.len());
            model.alerts.visited = None;
        }
        Rows::Log => move_in_log(model, step),
    }
    show_selection(model);
}

fn move_in_sessions(model: &mut Model, step: Step) {
    let list = &mut model.sessions;
    list.walks_to_end = false;
    match step {
        Step::First if !list.earlier.is_empty() => {
            list.rewind();
            list.coming = Some(Coming::SelectFirst);
            model.requests.mark(Question::Sessions, Pace::AtOnce);
            return;
        }
        Step::Last if list.after() > 0 => {
            list.walks_to_end = true;
            list.limit = WALKING_WINDOW;
            model.requests.mark(Question::Sessions, Pace::AtOnce);
        }
        _ => {}
    }
    list.selected = step.from(list.selected, list.rows.len());
    shift_window(model);
    show_selected_session(model);
}

/// Puts the selected session in front: moving in the list shows the conversation at once.
pub(super) fn show_selected_session(model: &mut Model) {
    let key: Option<SessionKey> = model.sessions.current().map(|row| row.key().clone());
    if let Some(key) = key {
        front::show(model, &key);
    }
}

/// Moves the window of the session list on when the selection comes near its edge.
fn shift_window(model: &mut Model) {
    let list = &mut model.sessions;
    if list.coming.is_some() {
        return;
    }
    let near_end = list.selected + NEAR_EDGE >= list.rows.len() && list.after() > 0;
    if near_end && !list.walks_to_end {
        match list.limit + PAGE <= WINDOW {
            true => list.limit += PAGE,
            false => list.step_forward(PAGE),
        }
        list.coming = Some(Coming::Shift);
        model.requests.mark(Question::Sessions, Pace::AtOnce);
    } else if list.selected < NEAR_EDGE && !list.earlier.is_empty() {
        list.step_back();
        list.limit = WINDOW;
        model.requests.mark(Question::Sessions, Pace::AtOnce);
    }
}

fn move_in_log(model: &mut Model, step: Step) {
    let log = &mut model.log;
    log.selected = step.from(log.selected, log.rows.len());
    let at_end = log.selected + 1 >= log.rows.len();
    match (step, at_end, log.follow) {
        (Step::Last, _, Follow::Paused { .. }) | (Step::By(1..), true, Follow::Paused { new: 1.. }) => {
            log.follow = Follow::On;
            model.requests.mark(Question::Log, Pace::AtOnce);
        }
        (Step::Last, ..) | (_, true, Follow::Paused { new: 0 }) => log.follow = Follow::On,
        (_, false, Follow::On) => log.follow = Follow::Paused { new: 0 },
        _ => {}
    }
    if log.selected < NEAR_EDGE && log.more_before && log.loaded {
        model.requests.mark(Question::LogEarlier, Pace::AtOnce);
    }
}

/// Moves the shown part of every list as little as needed to show its selected row.
pub(super) fn show_selection(model: &mut Model) {
    let fit = |top: &mut usize, selected: usize, rows: usize| {
        let lowest = (selected + 1).saturating_sub(rows.max(1));
        *top = (*top).clamp(lowest, selected.max(lowest));
    };
    let (list_rows, queue_rows) = (model.measured.list_rows, model.measured.queue_rows);
    fit(&mut model.sessions.top, model.sessions.selected, list_rows);
    fit(&mut model.backlog.top, model.backlog.selected, list_rows);
    fit(&mut model.cron.top, model.cron.selected, list_rows);
    fit(&mut model.cron.runs_top, model.cron.run, model.measured.run_rows);
    fit(&mut model.recovery.top, model.recovery.selected, list_rows);
    fit(&mut model.log.top, model.log.selected, list_rows);
    fit(&mut model.queue.top, model.queue.selected, queue_rows);
}

/// A key came in a list that has the focus: its order stands still for a while.
pub(super) fn freeze(model: &mut Model) {
    if model.focus() == Focus::Pane(Pane::List) {
        model.memory.list_key_at = Some(model.now);
        model.effects.push(Effect::Timer { timer: Timer::Thaw, at: model.now + FROZEN });
    }
}

/// Whether the order of the list stands still.
pub(super) fn is_frozen(model: &Model) -> bool {
    model.focus() == Focus::Pane(Pane::List)
        && model.memory.list_key_at.is_some_and(|at| model.now - at < FROZEN)
}

/// Selects a row of the log.
pub(super) fn select_log_row(model: &mut Model, index: usize) {
    move_in_log(model, Step::By(index as i64 - model.log.selected as i64));
    show_selection(model);
}

/// Moves in the log by rows.
pub(super) fn scroll_log(model: &mut Model, rows: i64) {
    move_in_log(model, Step::By(rows));
    show_selection(model);
}
