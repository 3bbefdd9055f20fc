//! Updates: what the engine tells by itself. They mark what they concern as old; only streaming text
//! and the log are taken in as they come.

use super::action::Action;
use super::entries::Again;
use super::focus::View;
use super::model::Behind;
use super::msg::{Pace, Question, Tone};
use super::overlay::{Card, CardKind};
use super::requests::{mark_all, mark_front};
use super::typing::key_name;
use super::{Model, answers, cron, writing};
use crate::domain::api::{CronHealth, Doing, EngineStatus, Outliving, Piece, Update, Waited};
use crate::domain::cron::{CONSOLE, DeliveryState, JobEvent};
use crate::domain::event::{Event, EventKind, count};
use crate::domain::id::TurnId;
use crate::domain::sanitize::one_line;

pub(super) fn update(model: &mut Model, update: Update) {
    match update {
        Update::Event(event) => take_event(model, &event),
        Update::Stream(piece) => take_piece(model, &piece),
        Update::Doing(doing) => take_doing(model, &doing),
        Update::Engine(mut status) => {
            clean_status(&mut status);
            set_status(model, *status);
            model.requests.mark(Question::Overview, Pace::Gently);
        }
        Update::Lagged { missed } => {
            let before = model.behind.map_or(0, |behind| behind.missed);
            model.behind = Some(Behind { missed: before + missed, reloaded_at: model.now });
            model.memory.reload = true;
            mark_all(model, Pace::AtOnce);
            model.dirty = true;
        }
    }
}

fn take_event(model: &mut Model, event: &Event) {
    answers::add_to_log(model, event);
    model.requests.mark(Question::Overview, Pace::Gently);
    model.requests.mark(Question::Sessions, Pace::Gently);
    if is_of_alerts(&event.kind) {
        model.requests.mark(Question::Alerts, Pace::Soon);
    }
    model.memory.engine_stopped |= matches!(event.kind, EventKind::EngineStopped { .. });
    cron::note(model, &event.kind);
    tell_delivered(model, &event.kind);
    match model.view {
        View::Queue => model.requests.mark(Question::Backlog, Pace::Gently),
        View::Recovery => model.requests.mark(Question::Recovery, Pace::Gently),
        View::Sessions | View::Cron | View::Log => {}
    }
    let ours = event.session.is_some() && event.session == model.conversation.session;
    let reborn = matches!(&event.kind, EventKind::SessionCreated { key, .. } | EventKind::SessionResumed { key } if *key == model.front);
    if reborn || (ours && matches!(event.kind, EventKind::SessionEnded { .. })) {
        model.requests.mark(Question::Front, Pace::Soon);
    }
    if let EventKind::AutoReset { why, previous, left: left @ 1.., .. } = &event.kind
        && (ours || model.conversation.session.as_ref() == Some(previous))
    {
        let (key, them) = (key_name(model, Action::CarryOver), if *left == 1 { "it" } else { "them" });
        let left = count(*left, "message");
        model.tell(
            Tone::Warn,
            format!("reset by itself: {why}; {left} left waiting before: {key} moves {them} here"),
        );
    }
    if ours {
        if matches!(event.kind, EventKind::TurnEnded { .. }) {
            writing::outdate_ack(model);
        }
        model.memory.reload |= matches!(event.kind, EventKind::TurnsHidden { .. });
        mark_front(model, Pace::Soon);
    }
}

/// The result of a run that is delivered to the console.
fn tell_delivered(model: &mut Model, kind: &EventKind) {
    let EventKind::Job { job, what: JobEvent::Delivery { target, state, words, .. } } = kind else { return };
    if target.platform == CONSOLE && *state == DeliveryState::Delivered {
        let said = words.as_deref().filter(|words| !words.is_empty()).unwrap_or("it said nothing");
        model.tell(Tone::Note, format!("job {job}: {said}"));
    }
}

fn is_of_alerts(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::AlertRaised { .. }
            | EventKind::AlertAcknowledged { .. }
            | EventKind::AlertResolved { .. }
            | EventKind::AlertTold { .. }
            | EventKind::AlertNotTold { .. }
    )
}

/// A turn said something just now.
fn note_said(model: &mut Model, turn: TurnId) {
    let now = model.now;
    let listed = model.sessions.rows.iter_mut().chain(model.sessions.thawed.iter_mut().flatten());
    listed.chain(&mut model.front_row).for_each(|row| row.said(turn, now));
}

fn take_doing(model: &mut Model, doing: &Doing) {
    note_said(model, doing.turn);
    if model.conversation.session.as_ref() == Some(&doing.session) && model.conversation.loaded {
        model.conversation.take_doing(doing);
        model.dirty |= model.view == View::Sessions;
    }
}

fn take_piece(model: &mut Model, piece: &Piece) {
    note_said(model, piece.turn);
    if model.conversation.session.as_ref() != Some(&piece.session) {
        return;
    }
    if !model.conversation.loaded {
        // The answer on its way holds it, or the next piece shows a gap.
        return;
    }
    if model.conversation.take_piece(piece) == Again::Ask {
        model.requests.mark(Question::Conversation, Pace::Gently);
    }
    if model.conversation.follows() {
        model.conversation.cursor = model.conversation.entries.last().map(|entry| entry.key);
    }
    model.dirty |= model.view == View::Sessions;
}

/// Makes the texts of a status safe to show.
pub(super) fn clean_status(status: &mut EngineStatus) {
    let clean = |text: &mut String| *text = one_line(text).into_owned();
    status.agents.known.values_mut().for_each(|known| clean(&mut known.label));
    if let Some(hold) = &mut status.held {
        clean(&mut hold.why);
    }
    if let Some(trouble) = &mut status.store_trouble {
        clean(&mut trouble.why);
    }
    if let CronHealth::Late { why, .. } = &mut status.cron {
        clean(why);
    }
    if let Some(drain) = &mut status.drain {
        clean(&mut drain.why);
        for waited in drain.waits_for.iter_mut().chain(&mut drain.cut) {
            if let Waited::Turn { name, .. } = waited {
                clean(name);
            }
        }
        let Outliving { go_on, end } = &mut drain.background;
        go_on.iter_mut().chain(end).for_each(clean);
    }
}

/// Takes in a clean status: a drain opens its card, its end closes it.
pub(super) fn set_status(model: &mut Model, status: EngineStatus) {
    let drains = model.card.as_ref().is_some_and(|card| card.kind == CardKind::Drain);
    // A question that the operator went to meanwhile keeps its place.
    let opens = model.drain().is_none() || model.card.is_none();
    match (&status.drain, drains) {
        (Some(_), false) if opens => {
            // It takes the focus only if the operator asked for it here.
            let focused_at = model.memory.quitting.then_some(model.now);
            model.card = Some(Card { kind: CardKind::Drain, focused_at, marked: 0, hidden: false });
            model.dirty = true;
        }
        (None, true) => {
            model.card = None;
            model.memory.quitting = false;
            model.dirty = true;
        }
        _ => {}
    }
    note_drained(model, &status);
    if let Some(overview) = &mut model.overview
        && overview.engine != status
    {
        overview.engine = status;
        model.dirty = true;
    }
}

/// Remembers what ended since the drain began. An answer that was on its way may be older than what is
/// known: what is waited for has not ended, and what ended did so once.
fn note_drained(model: &mut Model, status: &EngineStatus) {
    let Some(drain) = &status.drain else { return model.drained.clear() };
    let before = model.drain().filter(|before| before.since == drain.since);
    let waited = before.map(|before| before.waits_for.clone());
    let Some(waited) = waited else { return model.drained.clear() };
    let known = std::mem::take(&mut model.drained).into_iter().chain(waited);
    for ended in known.filter(|waited| !drain.waits_for.contains(waited)) {
        if !model.drained.contains(&ended) {
            model.drained.push(ended);
        }
    }
}
