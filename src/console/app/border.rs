//! The composer's border: to whom, and what Enter will do. Decided by the same rule as the engine's.

use super::Model;
use super::action::Action;
use super::keymap::Context;
use super::model::{Access, End, Link};
use super::msg::Reach;
use super::sessions::{ListRow, name_of};
use super::typing::key_name;
use crate::domain::api::SessionRow;
use crate::domain::marker::Marker;
use crate::domain::queue::{Gate, Intent, Placement, Refusal, Running, Situation, ordinal, place};
use crate::domain::reset::Verdict;
use crate::domain::session::HoldReason;
use crate::domain::slash::{self, Draft};

/// What stands on the composer's border.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Border {
    /// To whom: the session's name.
    pub to: String,
    /// What Enter will do: `runs at once`, `REPLACES "make it shorter"`, `queued, 3rd`.
    pub enter: String,
    /// How much it matters.
    pub weight: Weight,
}

/// How much the border's words matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The normal course.
    Normal,
    /// A message that waits is put aside by it.
    Replaces,
    /// The running turn is stopped by it.
    Stops,
    /// Nothing can be sent.
    Refused,
}

/// The border of the composer in front.
pub fn border(model: &Model) -> Border {
    let to = match &model.front_row {
        Some(row) => row.name.clone(),
        None => name_of(&model.front).into_owned(),
    };
    let (enter, weight) = enter(model);
    Border { to, enter, weight }
}

/// Why nothing can be changed now; none: it can.
pub(super) fn locked(model: &Model) -> Option<String> {
    let why = match (&model.link, model.access) {
        (Link::Gone { .. }, _) => return Some(gone(model)),
        (_, Access::ReadOnly) => "read-only: start switchboard without --read-only to change things",
        (Link::Up(Reach::StoreOnly), _) => "no engine runs: only the store is shown",
        (Link::Up(_), Access::Full) => return None,
    };
    Some(why.to_owned())
}

/// That the engine is gone, and the way out: its keys are the card's, which never takes the focus.
fn gone(model: &Model) -> String {
    let on_card = |action| model.keymap.keys_of(&[Context::Card], action).unwrap_or_default();
    let how = match model.link {
        Link::Gone { end: End::Stopped, .. } => "stopped",
        _ => "gone",
    };
    format!(
        "engine {how}: {}, then {} reconnects, {} starts it here",
        key_name(model, Action::NextNeed),
        on_card(Action::CardReconnect),
        on_card(Action::CardStartHere),
    )
}

fn enter(model: &Model) -> (String, Weight) {
    if let Some(why) = locked(model) {
        return (why, Weight::Refused);
    }
    let text = model.composer().map(|composer| composer.text.lines()).unwrap_or_default();
    let command = match text {
        [line] if line.trim_start().starts_with('/') => Some(slash::parse(line)),
        _ => None,
    };
    let intent = match command {
        Some(Err(Refusal::NoSuchCommand { word, .. })) => {
            return (format!("refused, /{word} is no command"), Weight::Refused);
        }
        Some(Err(Refusal::Usage { usage, .. })) => {
            return (format!("refused, write {usage}"), Weight::Refused);
        }
        Some(Err(refusal)) => return (refusal.to_string(), Weight::Refused),
        Some(Ok(Draft::Command(slash::Slash::Queue(_), _))) => Intent::Queue,
        Some(Ok(Draft::Command(slash::Slash::Steer(_), _))) => Intent::Steer,
        Some(Ok(Draft::Command(_, spec))) => {
            return (format!("/{}: {}", spec.name, spec.help), Weight::Normal);
        }
        Some(Ok(Draft::Text(_))) | None => Intent::Plain,
    };
    match starts_anew(model) {
        // A fresh memory is still empty: only the engine's gate or a daily limit can keep the message from running.
        Some(why) => {
            let (words, weight) = words(intent, &situation(model, None), None);
            let behind = match model.front_row.as_ref().map_or(0, ListRow::waiting) {
                0 => String::new(),
                1 => ", 1 waiting message stays behind".to_owned(),
                left => format!(", {left} waiting messages stay behind"),
            };
            (format!("STARTS ANEW ({why}), {words}{behind}"), weight)
        }
        None => {
            let row = model.front_row.as_ref();
            let (words, weight) = words(
                intent,
                &situation(model, row.map(|row| &row.row)),
                row.and_then(|row| row.slot.as_deref()),
            );
            match row.is_some_and(|row| row.asks.is_some()) {
                true => (format!("is no answer, {words}"), weight),
                false => (words, weight),
            }
        }
    }
}

/// Why the next message will find a new memory here; none: it will not.
fn starts_anew(model: &Model) -> Option<String> {
    let row = &model.front_row.as_ref()?.row;
    if matches!(row.session.marker, Some(Marker::Suspended(_))) {
        return Some("suspended".to_owned());
    }
    let forecast = row.forecast.as_ref()?;
    match forecast.next_message {
        Verdict::Reset { reason } => Some(forecast.why(reason, model.as_of(), model.zone)),
        Verdict::Keep | Verdict::Blocked(_) => None,
    }
}

/// What sending with `intent` would do, in words, of which the end may be cut: what matters comes first. `slot` is
/// the message that is next now.
fn words(intent: Intent, now: &Situation, slot: Option<&str>) -> (String, Weight) {
    let waits = match now.gate {
        Gate::Open => None,
        Gate::Held => Some("the engine is on hold"),
        Gate::Stopping => Some("the engine stops"),
    };
    let behind = |words: String| match waits {
        Some(why) => format!("{words}: {why}"),
        None => words,
    };
    match place(intent, now) {
        Ok(Placement::Start) => ("runs at once".to_owned(), Weight::Normal),
        Ok(Placement::Slot { replaces: None, interrupts: None }) => {
            (behind("runs next".to_owned()), Weight::Normal)
        }
        Ok(Placement::Slot { replaces: None, interrupts: Some(_) }) => {
            ("STOPS the turn, runs next".to_owned(), Weight::Stops)
        }
        Ok(Placement::Slot { replaces: Some(_), interrupts }) => {
            let slot = slot.unwrap_or("the one before");
            match interrupts {
                None => (format!("REPLACES \"{slot}\""), Weight::Replaces),
                Some(_) => (format!("STOPS the turn, REPLACES \"{slot}\""), Weight::Stops),
            }
        }
        Ok(Placement::Queue) => {
            let held = now.hold.map_or("", |_| ", held");
            (behind(format!("queued, {}{held}", ordinal(now.queued + 1))), Weight::Normal)
        }
        Ok(Placement::Steer(_)) => ("handed to the running turn".to_owned(), Weight::Normal),
        Err(refusal) => (refusal.to_string(), Weight::Refused),
    }
}

/// A daily limit that is reached, of the key in front or of all. It holds a fresh memory too.
fn spent(model: &Model) -> Option<HoldReason> {
    let today = match &model.front_row {
        Some(row) => row.row.today.as_ref(),
        None => model.overview.as_ref().and_then(|overview| overview.today.as_ref()),
    };
    let reached = today.filter(|today| model.now < today.until)?.reached();
    reached.map(|_| HoldReason::Spent)
}

/// A session, as the queue's rules see it; none: one that nothing was ever said in.
fn situation(model: &Model, row: Option<&SessionRow>) -> Situation {
    let engine = model.overview.as_ref().map(|overview| &overview.engine);
    let running = row.and_then(|row| row.turn.as_ref()).map(|turn| Running {
        turn: turn.turn,
        steerable: turn.steerable,
        stopping: turn.stopping,
    });
    Situation {
        running,
        slot: row.and_then(|row| row.slot.as_ref()).map(|item| item.id),
        queued: row.map_or(0, |row| row.queued),
        resumes: row.is_some_and(|row| row.resume_place.is_some()),
        hold: spent(model).or(row.and_then(|row| row.session.hold).map(|hold| hold.reason)),
        gate: engine.map_or(Gate::Open, |engine| engine.gate),
        busy_mode: row
            .and_then(|row| row.session.busy_mode)
            .or(engine.map(|engine| engine.busy_mode))
            .unwrap_or_default(),
        max_queued: engine.map_or(usize::MAX, |engine| engine.max_queued),
    }
}
