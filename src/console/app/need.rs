//! The next thing that needs a person: the card that opened by itself, else a session, wherever it stands
//! in the list.
//!
//! Those that need a person are at two places of the list: at its top, and behind what runs and resumes,
//! the given-up ones. Both are read, whatever of the list is loaded.

use super::focus::{Focus, Pane, View};
use super::msg::{Pace, Question};
use super::sessions::Coming;
use super::{Model, acts, panes, walk};
use crate::domain::api::SessionCursor;
use crate::domain::session::SessionState;

/// Goes to the next thing that needs a person.
pub(super) fn next(model: &mut Model) {
    if let Some(card) = &mut model.card
        && card.focused_at.is_none()
    {
        card.hidden = false;
        if acts::close_overlays(model) {
            panes::set_focus(model, Focus::Card);
        }
        return;
    }
    if !acts::close_overlays(model) {
        return;
    }
    acts::show_view(model, View::Sessions);
    match find(model, model.sessions.selected.saturating_add(1)) {
        Some(index) => select(model, index),
        None if has_given_up_behind(model) => ask_behind(model),
        None if !model.sessions.earlier.is_empty() => ask_at_top(model, Coming::SelectNeed),
        None => match find(model, 0) {
            Some(index) => select(model, index),
            None => ask_at_top(model, Coming::SelectNeed),
        },
    }
    panes::set_focus(model, Focus::Pane(Pane::List));
    walk::show_selection(model);
}

/// A window of the list has come in which the first session that needs a person is wanted.
pub(super) fn came(model: &mut Model) {
    let at_top = model.sessions.earlier.is_empty();
    match find(model, 0) {
        Some(index) => select(model, index),
        None if at_top && has_given_up_behind(model) => ask_behind(model),
        None if !model.sessions.filter.is_empty() => {
            model.sessions.filter.set("");
            ask_at_top(model, Coming::SelectNeed);
        }
        // It was taken care of meanwhile, or stands at the top again.
        None if !at_top => ask_at_top(model, Coming::SelectFirst),
        None => {}
    }
}

fn find(model: &Model, from: usize) -> Option<usize> {
    let rows = model.sessions.rows.iter().enumerate().skip(from);
    rows.map(|(index, row)| (index, row.row.state))
        .find(|(_, state)| state.needs_a_person())
        .map(|(at, _)| at)
}

fn select(model: &mut Model, index: usize) {
    model.sessions.selected = index;
    walk::show_selected_session(model);
}

/// Whether given-up sessions may stand behind the loaded ones.
fn has_given_up_behind(model: &Model) -> bool {
    let list = &model.sessions;
    list.after() > 0 && list.rows.last().is_some_and(|last| last.row.state <= SessionState::Suspended)
}

fn ask_behind(model: &mut Model) {
    let (list, now) = (&mut model.sessions, model.now);
    match list.rows.last().map(|last| last.row.state) {
        Some(SessionState::Suspended) => list.step_forward(list.rows.len()),
        _ => list.start_from(SessionCursor::before_all(SessionState::Suspended, now)),
    }
    list.coming = Some(Coming::SelectNeed);
    model.requests.mark(Question::Sessions, Pace::AtOnce);
}

fn ask_at_top(model: &mut Model, coming: Coming) {
    model.sessions.rewind();
    model.sessions.coming = Some(coming);
    model.requests.mark(Question::Sessions, Pace::AtOnce);
}
