//! An operator who comes back: what happened meanwhile, once, and a note for the next time.

use chrono::TimeDelta;

use super::Model;
use super::acts;
use super::model::{Access, Link};
use super::msg::{Pace, Question, Reach};
use super::overlay::{Card, CardKind};
use super::replies::Purpose;
use crate::domain::Time;
use crate::domain::api::{Command, Report};

/// Who did nothing for so long was away.
const AWAY: TimeDelta = TimeDelta::minutes(10);
/// How often the engine is told that the operator is here.
const NOTED_EVERY: TimeDelta = TimeDelta::minutes(5);

/// The operator does something: after an absence it is asked what happened in it.
pub(super) fn acts(model: &mut Model) {
    let now = model.now;
    if let Some(before) = model.memory.input_at.replace(now)
        && now - before >= AWAY
    {
        model.memory.away_since = Some(before);
        model.requests.mark(Question::Report, Pace::AtOnce);
    }
    note(model);
}

/// Takes in what happened; after an absence it opens as a card, which takes no focus.
pub(super) fn take(model: &mut Model, report: Report) {
    let away = report.since.is_some_and(|since: Time| model.now - since >= AWAY);
    if away && !report.is_quiet() && model.card.is_none() {
        let kind = CardKind::Away(Box::new(report));
        model.card = Some(Card::new(kind));
        model.dirty = true;
    }
    note(model);
}

/// Closes the card. False if it is not open.
pub(super) fn close(model: &mut Model) -> bool {
    let open = model.card.take_if(|card| matches!(card.kind, CardKind::Away(_)) && !card.hidden).is_some();
    model.dirty |= open;
    open
}

/// Tells the engine, now and then, that the operator is here.
fn note(model: &mut Model) {
    let engine = matches!(model.link, Link::Up(Reach::Here | Reach::Attached { .. }));
    let lately = model.memory.looked_at.is_some_and(|at| model.now - at < NOTED_EVERY);
    if !engine || model.access == Access::ReadOnly || lately {
        return;
    }
    model.memory.looked_at = Some(model.now);
    acts::command(model, Purpose::Look, Command::Looked);
}
