//! Notices: what was just done or refused, with the way back.

use chrono::TimeDelta;

use super::Model;
use super::msg::{Effect, Timer, Tone};
use crate::domain::Time;
use crate::domain::api::Command;
use crate::domain::sanitize::one_line;

/// A line that says what was just done or why it was not.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// The words; safe to show.
    pub words: String,
    /// How it is meant.
    pub tone: Tone,
    /// The command that takes it back.
    pub undo: Option<Command>,
    /// Until when it is shown, and can be taken back.
    pub until: Time,
}

/// How long a notice is shown and can be taken back.
const SHOWN_FOR: TimeDelta = TimeDelta::seconds(10);
/// At most so many are shown at once; the oldest that can't be taken back gives way.
const MOST: usize = 3;

pub(super) fn push(model: &mut Model, tone: Tone, words: &str, undo: Option<Command>) {
    let words = one_line(words).into_owned();
    // The same words again only last longer.
    model.notices.retain(|notice| notice.words != words || notice.undo.is_some());
    if model.notices.len() == MOST {
        let gives_way = model.notices.iter().position(|notice| notice.undo.is_none()).unwrap_or(0);
        model.notices.remove(gives_way);
    }
    model.notices.push(Notice { words, tone, undo, until: model.now + SHOWN_FOR });
    plan_expiry(model);
    model.dirty = true;
}

/// Takes away what was shown long enough.
pub(super) fn expire(model: &mut Model) {
    let now = model.now;
    let before = model.notices.len();
    model.notices.retain(|notice| notice.until > now);
    model.dirty |= model.notices.len() != before;
    plan_expiry(model);
}

/// Takes the newest act that can be taken back.
pub(super) fn take_undo(model: &mut Model) -> Option<Command> {
    expire(model);
    let index = model.notices.iter().rposition(|notice| notice.undo.is_some())?;
    model.notices.remove(index).undo
}

fn plan_expiry(model: &mut Model) {
    if let Some(at) = model.notices.iter().map(|notice| notice.until).min() {
        model.effects.push(Effect::Timer { timer: Timer::Notices, at });
    }
}
