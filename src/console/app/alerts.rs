//! Alerts on the screen: which there are, which one is at hand, and that somebody knows.

use super::focus::{Pane, View};
use super::msg::{Effect, Pace, Question};
use super::{Model, acts, item_acts, need};
use crate::domain::alert::{Acknowledgement, Alert, Subject};
use crate::domain::api::Command;
use crate::domain::id::SessionId;
use crate::domain::sanitize::one_line;

/// How many alerts are looked at; the badge counts them all.
pub(super) const MOST: usize = 500;

/// The open alerts, the last raised first; their texts are safe to show.
#[derive(Debug, Clone, Default)]
pub struct Alerts {
    /// All of them, acknowledged ones too.
    pub open: Vec<Alert>,
    /// What, other than a session, the operator went to last.
    pub(super) visited: Option<Subject>,
    /// The session that the operator is on the way to, while its address is asked for.
    pub(super) wanted: Option<SessionId>,
    loaded: bool,
    /// Whether the operator waits for them, to go to the next one.
    awaited: bool,
}

impl Alerts {
    /// The alert about a session; of several one that nobody acknowledged.
    pub fn of(&self, session: &SessionId) -> Option<&Alert> {
        self.about(&Subject::Session(session.clone()))
    }

    /// The memory in which a reset left messages that can be moved to a session; the last one first.
    pub(super) fn left_for(&self, session: &SessionId) -> Option<SessionId> {
        let subject = Subject::Session(session.clone());
        self.open.iter().filter(|alert| alert.subject == subject).find_map(|alert| alert.key.left_in())
    }

    fn about(&self, subject: &Subject) -> Option<&Alert> {
        let about = || self.open.iter().filter(|alert| alert.subject == *subject);
        about().find(|alert| alert.needs_you()).or_else(|| about().next())
    }

    /// The one that comes after those about a thing, round again; none if nothing needs the operator.
    pub(super) fn after(&self, subject: Option<&Subject>) -> Option<&Alert> {
        let here = |alert: &Alert| subject == Some(&alert.subject);
        let next = self.open.iter().rposition(here).map_or(0, |last| last + 1);
        let round = self.open[next..].iter().chain(&self.open[..next]);
        round.into_iter().find(|alert| alert.needs_you())
    }
}

/// Takes in the open alerts. What was not there before rings.
pub(super) fn take(model: &mut Model, mut open: Vec<Alert>) {
    for alert in &mut open {
        alert.words = one_line(&alert.words).into_owned();
        alert.told.failure = alert.told.failure.as_deref().map(|why| one_line(why).into_owned());
    }
    let known = |new: &Alert| {
        let same = |old: &&Alert| (&old.key, old.raised_at) == (&new.key, new.raised_at);
        model.alerts.open.iter().filter(same).any(|old| old.acknowledged_at.is_some() || old.news == new.news)
    };
    if model.alerts.loaded
        && let Some(new) = open.iter().find(|alert| alert.acknowledged_at.is_none() && !known(alert))
    {
        model.effects.push(Effect::Ring(new.words.clone()));
    }
    model.dirty |= model.alerts.open != open;
    model.alerts.open = open;
    model.alerts.loaded = true;
    if std::mem::take(&mut model.alerts.awaited) {
        need::next(model);
    }
}

/// Asks for them anew; goes to the next one when they have come.
pub(super) fn await_next(model: &mut Model) {
    model.alerts.awaited = true;
    model.requests.mark(Question::Alerts, Pace::AtOnce);
}

/// The alert about what is selected, if nobody acknowledged it.
pub(super) fn at_hand(model: &Model) -> Option<&Alert> {
    model.alerts.about(&subject_at_hand(model)?).filter(|alert| alert.needs_you())
}

/// Says that the operator knows of the alert at hand.
pub(super) fn acknowledge(model: &mut Model) {
    if let Some(alert) = at_hand(model).map(|alert| alert.key.clone()) {
        acts::act(model, Command::Acknowledge { alert, what: Acknowledgement::Given });
    }
}

/// What an alert about the selected thing would be about.
fn subject_at_hand(model: &Model) -> Option<Subject> {
    subject_of_view(model).or_else(|| session_at_hand(model).cloned().map(Subject::Session))
}

/// What an alert about the view itself, and no session in it, would be about.
pub(super) fn subject_of_view(model: &Model) -> Option<Subject> {
    match model.view {
        View::Cron => subject_of_jobs(model),
        View::Recovery => model.alerts.visited.clone().filter(|visited| *visited == Subject::BootGuard),
        View::Sessions | View::Queue | View::Log => None,
    }
}

/// The file of the jobs where the operator was led to it, else the selected job.
fn subject_of_jobs(model: &Model) -> Option<Subject> {
    match model.alerts.visited {
        Some(Subject::JobsFile) => Some(Subject::JobsFile),
        Some(Subject::Ticker) => Some(Subject::Ticker),
        _ => model.cron.current()?.row.id.clone().map(Subject::Job),
    }
}

/// The session that the selected thing is, or is about.
fn session_at_hand(model: &Model) -> Option<&SessionId> {
    match (model.pane, model.view) {
        (Pane::List | Pane::Filter, View::Log) => model.log.current()?.session(),
        (Pane::List | Pane::Filter, View::Recovery) => Some(model.recovery.current()?.session()),
        (Pane::List | Pane::Filter, View::Queue) => Some(&item_acts::item(model)?.row.item.session),
        _ => Some(&model.front_row.as_ref()?.row.session.id),
    }
}
