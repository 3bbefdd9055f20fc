//! The next thing that needs a person: the card that opened by itself, else what the next alert is about.

use super::focus::{Focus, Pane, View};
use super::msg::{Pace, Question, Tone};
use super::overlay::{Card, CardKind, Overlay};
use super::sessions::ListRow;
use super::{Model, acts, alerts, approvals, asking, cron, front, panes, walk};
use crate::domain::alert::Subject;
use crate::domain::id::{SessionId, SessionKey};

/// Goes to the next thing that needs a person.
pub(super) fn next(model: &mut Model) {
    if let Some(card) = &mut model.card
        && card.focused_at.is_none()
    {
        card.hidden = false;
        if matches!(card.kind, CardKind::Gone { .. })
            && model.overlays.last().is_some_and(Overlay::is_changed)
        {
            return asking::ask_way_back(model);
        }
        if acts::close_overlays(model) {
            panes::set_focus(model, Focus::Card);
        }
        return;
    }
    let front = || model.front_row.as_ref().map(|row| Subject::Session(row.row.session.id.clone()));
    if model.drain().is_some() && approvals::asked(model).is_some() {
        // From a question on to the stop, which has no place of its own.
        model.card = Some(Card { focused_at: Some(model.now), ..Card::new(CardKind::Drain) });
        return;
    }
    let here = alerts::subject_of_view(model).or_else(front);
    let Some(alert) = model.alerts.after(here.as_ref()) else {
        // The count is newer than the list.
        return if counted(model) {
            alerts::await_next(model)
        };
    };
    match alert.subject.clone() {
        Subject::Session(session) => go_to_session(model, session),
        Subject::Job(job) => {
            acts::show_view(model, View::Cron);
            if !cron::select(model, &job) {
                model.tell(Tone::Warn, format!("job {job} is not listed any more"));
            }
            model.pane = Pane::List;
            model.alerts.visited = Some(Subject::Job(job));
        }
        subject @ (Subject::JobsFile | Subject::Ticker) => visit(model, View::Cron, subject),
        subject @ Subject::BootGuard => visit(model, View::Recovery, subject),
    }
}

fn visit(model: &mut Model, view: View, subject: Subject) {
    acts::show_view(model, view);
    model.pane = Pane::List;
    model.alerts.visited = Some(subject);
}

/// The session on whose alert the operator is has been found, or not.
pub(super) fn found(model: &mut Model, row: Option<&ListRow>) {
    let Some(wanted) = model.alerts.wanted.take() else { return };
    match row.filter(|row| row.row.session.ended.is_none()) {
        Some(row) => show(model, &row.key().clone()),
        None => model.tell(Tone::Warn, format!("session {wanted} has ended")),
    }
}

fn counted(model: &Model) -> bool {
    model.overview.as_ref().is_some_and(|overview| overview.needs_you > model.alerts.open.len())
}

fn go_to_session(model: &mut Model, session: SessionId) {
    match model.memory.names.get(&session) {
        Some((key, _)) => show(model, &key.clone()),
        None => {
            model.alerts.wanted = Some(session);
            model.requests.mark(Question::Need, Pace::AtOnce);
        }
    }
}

fn show(model: &mut Model, key: &SessionKey) {
    if !acts::close_overlays(model) {
        return;
    }
    acts::show_view(model, View::Sessions);
    front::go_to(model, key);
    panes::set_focus(model, Focus::Pane(Pane::List));
    walk::show_selection(model);
    approvals::focus(model);
}
