//! Why an action can't be done now: a disabled key says why.

use super::action::Action;
use super::border::locked;
use super::keymap::Context;
use super::log::About;
use super::model::Link;
use super::msg::Reach;
use super::overlay::{CardKind, Overlay};
use super::{Model, alerts, approvals, cron, item_acts, recovery, typing, why};
use crate::domain::queue::Gate;

/// Why `action` can't be done now, with what would free it; none: it can.
pub fn why_not(model: &Model, action: Action) -> Option<String> {
    if changes_something(action)
        && let Some(why) = locked(model)
    {
        return Some(why);
    }
    match action {
        action if action.spec().home == Context::Queue => item_acts::why_not(model, action),
        action if action.spec().home == Context::Cron => cron::act::why_not(model, action),
        action if action.spec().home == Context::Recovery => recovery::why_not(model, action),
        Action::Yes | Action::No | Action::AllowAlways | Action::DenyWhy => approvals::why_not(model, action),
        Action::StopTurn => stop(model),
        Action::GoOn => go_on(model),
        Action::PreviousMemory => {
            let row = model.front_row.as_ref();
            missing(
                row.and_then(|row| row.row.session.previous.as_ref()),
                "there is no memory before this one",
            )
        }
        Action::CarryOver => {
            let session = model.front_row.as_ref().map(|row| &row.row.session.id);
            missing(
                session.and_then(|session| model.alerts.left_for(session)),
                "no reset by itself left anything waiting for this session",
            )
        }
        Action::UndoAct => {
            let words = "nothing was done in the last 10 s that can be taken back";
            (!super::notices::can_undo(model)).then(|| words.to_owned())
        }
        Action::Suspend => matches!(model.link, Link::Up(Reach::Here)).then(|| {
            let key = typing::key_name(model, Action::Back);
            format!("the engine runs in this window and would stand still; {key} offers to leave it running")
        }),
        Action::Reconnect | Action::StartHere => gone_or_none(model),
        Action::CardReconnect | Action::CardStartHere => card(model, CardKindName::Gone),
        Action::CutNow | Action::KeepRunning if model.drain().is_some_and(|drain| !drain.cut.is_empty()) => {
            Some("what still ran was cut already".to_owned())
        }
        Action::CutNow => card(model, CardKindName::Drain),
        Action::KeepRunning if !matches!(model.overlays.last(), Some(Overlay::Confirm(_))) => {
            card(model, CardKindName::Drain)
        }
        Action::Notices => model.memory.told.is_empty().then(|| "nothing was told yet".to_owned()),
        Action::Hold => gate(model, Gate::Open, "the engine does not begin turns now anyway"),
        Action::Release => gate(model, Gate::Held, "the engine is not on hold"),
        Action::NextNeed => {
            let needs = model.overview.as_ref().is_some_and(|overview| overview.needs_you > 0);
            (!needs && model.card.is_none()).then(|| "nothing now".to_owned())
        }
        Action::Acknowledge => missing(alerts::at_hand(model), "nothing that needs you is selected"),
        Action::Copy => missing(why::subject_text(model), "nothing is selected"),
        Action::CopyId => missing(why::subject_id(model), "nothing is selected"),
        Action::Why => missing(why::card(model), "nothing is selected"),
        Action::OnlySession if model.log.only.is_none() => {
            missing(log_subject(model), "this row is about no session and no job")
        }
        Action::OpenSubject => match log_subject(model) {
            None => Some("this row is about no session and no job".to_owned()),
            Some(About::Job(_)) => None,
            Some(About::Session(session)) => {
                missing(model.memory.names.get(session), "this row is about no session that is live")
            }
        },
        Action::Fold => missing(model.conversation.cursor_index(), "the cursor is on no entry"),
        _ => None,
    }
}

fn changes_something(action: Action) -> bool {
    use Action as A;
    match action {
        // Going on with an engine that is gone means reaching it again.
        A::StopTurn | A::PreviousMemory | A::CarryOver | A::NewSession => true,
        A::Hold | A::Release | A::Acknowledge | A::UndoAct => true,
        A::EditItem | A::DropItem | A::MoveUp | A::MoveDown | A::SwitchLane | A::PutBack | A::ClearQueue => {
            true
        }
        A::AddJob | A::EditJob | A::DuplicateJob | A::PauseJob | A::RunNow | A::StopRun | A::RemoveJob => {
            true
        }
        A::TakeCopy | A::KeepMine | A::RunCounting => true,
        A::ResumeNow | A::GiveUp | A::Lift => true,
        A::Save | A::CutNow | A::Send | A::SendQueued => true,
        _ => false,
    }
}

fn missing<T>(thing: Option<T>, why: &str) -> Option<String> {
    thing.is_none().then(|| why.to_owned())
}

fn stop(model: &Model) -> Option<String> {
    let Some(row) = &model.front_row else { return Some("nothing was ever said here".to_owned()) };
    match &row.row.turn {
        None => Some(format!("no turn runs in {}", row.name)),
        Some(turn) if turn.stopping => Some("the turn was told to stop already".to_owned()),
        Some(_) => None,
    }
}

fn go_on(model: &Model) -> Option<String> {
    if matches!(model.link, Link::Gone { .. }) {
        return None;
    }
    if let Some(why) = locked(model) {
        return Some(why);
    }
    if item_acts::put_aside_under_cursor(model).is_some() {
        return None;
    }
    let Some(row) = model.front_row.as_ref().map(|row| &row.row) else {
        return Some("nothing was ever said here".to_owned());
    };
    match (row.session.hold, &row.turn, &row.last_error) {
        _ if row.session.marker.is_some() && row.turn.is_none() => None,
        (Some(_), ..) => None,
        (None, Some(_), _) => Some("its turn runs".to_owned()),
        (None, None, Some(_)) => None,
        (None, None, None) => Some("its queue is not held and its last turn did not fail".to_owned()),
    }
}

fn gone_or_none(model: &Model) -> Option<String> {
    match model.link {
        Link::Gone { .. } | Link::Up(Reach::StoreOnly) => None,
        Link::Up(_) => Some("the engine is reached".to_owned()),
    }
}

enum CardKindName {
    Gone,
    Drain,
}

fn card(model: &Model, wanted: CardKindName) -> Option<String> {
    match (model.card.as_ref().map(|card| &card.kind), wanted) {
        (Some(CardKind::Gone { .. }), CardKindName::Gone) | (Some(CardKind::Drain), CardKindName::Drain) => {
            None
        }
        (_, CardKindName::Gone) => Some("the engine is not gone".to_owned()),
        (_, CardKindName::Drain) => Some("the engine does not stop".to_owned()),
    }
}

fn gate(model: &Model, wanted: Gate, why: &str) -> Option<String> {
    let gate = model.overview.as_ref().map(|overview| overview.engine.gate);
    (gate != Some(wanted)).then(|| why.to_owned())
}

fn log_subject(model: &Model) -> Option<&About> {
    model.log.current()?.about.as_ref()
}
