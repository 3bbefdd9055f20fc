//! The mouse: a click focuses what it hits and does nothing else, except on tabs, footer and buttons.

use super::action::Action;
use super::focus::{Focus, Pane, Target, View};
use super::msg::{Mouse, MouseAct};
use super::overlay::Overlay;
use super::{
    Model, acts, approvals, asking, cron, front, item_acts, job_editor, panes, picking, recovery, scroll,
    walk,
};

/// How many lines or rows one step of the wheel is.
const WHEEL: i64 = 3;

pub(super) fn mouse(model: &mut Model, mouse: Mouse) {
    let Some(target) = mouse.target else { return };
    model.dirty = true;
    match mouse.act {
        MouseAct::Click => click(model, target),
        MouseAct::WheelUp => wheel(model, &target, -WHEEL),
        MouseAct::WheelDown => wheel(model, &target, WHEEL),
    }
}

fn click(model: &mut Model, target: Target) {
    let over =
        matches!(target, Target::Overlay | Target::Button(_) | Target::PickerRow(_) | Target::Field(_));
    match (model.focus(), &target) {
        (_, Target::Footer(action)) => return acts::run(model, *action),
        // What lies under an overlay is not hit through it.
        (Focus::Overlay, _) if !over => return,
        _ => {}
    }
    match target {
        Target::Pane(pane) => panes::set_focus(model, Focus::Pane(pane)),
        Target::Session(key) => {
            panes::set_focus(model, Focus::Pane(Pane::List));
            front::show(model, &key);
        }
        Target::Item(item) => item_acts::select(model, item),
        Target::Job { id, place } => {
            panes::set_focus(model, Focus::Pane(Pane::List));
            let is = |job: &cron::Job| job.row.id == id && job.row.place == place;
            if let Some(index) = model.cron.rows.iter().position(is) {
                model.cron.selected = index;
                cron::selection_changed(model);
                walk::show_selection(model);
            }
        }
        Target::Run(run) => {
            panes::set_focus(model, Focus::Pane(Pane::Detail));
            let runs = model.cron.current_detail().map(|detail| detail.runs.as_slice()).unwrap_or_default();
            if let Some(index) = runs.iter().position(|known| known.id == run) {
                model.cron.run = index;
                walk::show_selection(model);
            }
        }
        Target::Field(field) => job_editor::go_to(model, field),
        Target::Recovered(session) => {
            panes::set_focus(model, Focus::Pane(Pane::List));
            recovery::select(model, &session);
        }
        Target::Event(seq) => {
            panes::set_focus(model, Focus::Pane(Pane::List));
            if let Ok(index) = model.log.rows.binary_search_by_key(&seq, |row| row.seq) {
                walk::select_log_row(model, index);
            }
        }
        Target::Entry(key) => {
            panes::set_focus(model, Focus::Pane(Pane::Conversation));
            if let Some(index) = model.conversation.entries.iter().position(|entry| entry.key == key) {
                scroll::put_cursor(model, index);
            }
        }
        Target::Tab(view) => acts::show_view(model, view),
        Target::Footer(_) => {}
        Target::Level(level) => acts::choose_level(model, level),
        Target::Button(index) => press(model, index),
        Target::PickerRow(index) => picking::take_row(model, index),
        Target::Overlay => {
            if model.overlays.is_empty() && model.card.is_some() {
                panes::set_focus(model, Focus::Card);
            }
        }
    }
}

fn press(model: &mut Model, index: usize) {
    match (&model.overlays.last(), &model.card) {
        (Some(Overlay::Confirm(_)), _) => drop(asking::press_button(model, index)),
        (None, Some(card)) => {
            let action = asking::card_buttons(&card.kind).get(index).copied();
            if model.focus() != Focus::Card {
                panes::set_focus(model, Focus::Card);
            } else if let Some(action) = action {
                acts::run(model, action);
            }
        }
        _ => {}
    }
}

fn wheel(model: &mut Model, target: &Target, by: i64) {
    match (model.focus(), target) {
        (Focus::Overlay, _) => wheel_overlay(model, by),
        (_, Target::Overlay | Target::Button(_)) if approvals::asked(model).is_some() => {
            approvals::scroll_by(model, by);
        }
        (_, Target::Entry(_) | Target::Pane(Pane::Conversation | Pane::Composer)) => {
            scroll::scroll_by(model, by)
        }
        (_, Target::Session(_)) => shift(&mut model.sessions.top, by, model.sessions.rows.len()),
        (_, Target::Job { .. }) => shift(&mut model.cron.top, by, model.cron.rows.len()),
        (_, Target::Run(_) | Target::Pane(Pane::Detail)) => {
            let runs = model.cron.current_detail().map_or(0, |detail| detail.runs.len());
            shift(&mut model.cron.runs_top, by, runs);
        }
        (_, Target::Recovered(_)) => shift(&mut model.recovery.top, by, model.recovery.rows.len()),
        (_, Target::Event(_)) => walk::scroll_log(model, by),
        (_, Target::Item(_)) if model.view == View::Queue => {
            shift(&mut model.backlog.top, by, model.backlog.rows.len());
        }
        (_, Target::Item(_) | Target::Pane(Pane::Queue)) => {
            shift(&mut model.queue.top, by, model.queue.rows.len())
        }
        (_, Target::Pane(Pane::List)) => match model.view {
            View::Sessions => shift(&mut model.sessions.top, by, model.sessions.rows.len()),
            View::Queue => shift(&mut model.backlog.top, by, model.backlog.rows.len()),
            View::Cron => shift(&mut model.cron.top, by, model.cron.rows.len()),
            View::Recovery => shift(&mut model.recovery.top, by, model.recovery.rows.len()),
            View::Log => walk::scroll_log(model, by),
        },
        _ => {}
    }
}

fn wheel_overlay(model: &mut Model, by: i64) {
    for _ in 0..by.abs() {
        let (viewer, picker) = match by {
            ..0 => (Action::ViewerUp, Action::PickerUp),
            _ => (Action::ViewerDown, Action::PickerDown),
        };
        acts::scroll_viewer(model, viewer);
        picking::move_mark(model, picker);
    }
}

fn shift(top: &mut usize, by: i64, rows: usize) {
    *top = top.saturating_add_signed(by as isize).min(rows.saturating_sub(1));
}
