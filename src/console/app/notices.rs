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
    /// How long it is true.
    pub(super) lasts: Lasts,
    /// How many inputs of the operator came before it.
    pub(super) inputs: u64,
}

/// How long the words of a notice are true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasts {
    /// As long as it is shown.
    Shown,
    /// As long as another ctrl-c stops the turn.
    WhileArmed,
}

/// An act that can be taken back, whose notice gave way to a newer one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Undo {
    /// What takes it back.
    pub(super) command: Command,
    /// What was done, in words.
    pub(super) words: String,
    /// Until when.
    pub(super) until: Time,
}

/// How long a notice is shown and can be taken back.
pub(super) const SHOWN_FOR: TimeDelta = TimeDelta::seconds(10);
/// At most so many are shown at once; the oldest gives way.
const MOST: usize = 3;
/// At most so many acts can be taken back at a time.
const MOST_UNDOS: usize = 50;

/// So many notices can be read again.
const MOST_TOLD: usize = 200;

/// Everything that was told lately, the newest first.
pub(super) fn told(model: &Model) -> String {
    let line = |(at, words): &(Time, String)| {
        format!("{}  {words}", at.with_timezone(&model.zone).format("%H:%M:%S"))
    };
    model.memory.told.iter().rev().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn push(model: &mut Model, tone: Tone, words: &str, undo: Option<Command>) {
    push_lasting(model, tone, words, undo, Lasts::Shown);
}

/// Tells what is true only for a while. What was told before the operator's last input gives way.
pub(super) fn push_lasting(model: &mut Model, tone: Tone, words: &str, undo: Option<Command>, lasts: Lasts) {
    let words = one_line(words).into_owned();
    let inputs = model.memory.inputs;
    model.memory.told.push_back((model.now, words.clone()));
    let surplus = model.memory.told.len().saturating_sub(MOST_TOLD);
    model.memory.told.drain(..surplus);
    // The same words again only last longer.
    model.notices.retain(|notice| notice.words != words || notice.undo.is_some());
    let surplus = (model.notices.len() + 1).saturating_sub(MOST);
    let old = model.notices.iter().take_while(|notice| notice.inputs < inputs).count();
    give_way(model, old.max(surplus));
    model.notices.push(Notice { words, tone, undo, until: model.now + SHOWN_FOR, lasts, inputs });
    plan_expiry(model);
    model.dirty = true;
}

/// The operator acts: what was told before gives way. It can be taken back as long as ever.
pub(super) fn operator_acts(model: &mut Model) {
    give_way(model, model.notices.len());
}

fn give_way(model: &mut Model, oldest: usize) {
    for notice in model.notices.drain(..oldest) {
        if let Some(command) = notice.undo {
            let Notice { words, until, .. } = notice;
            model.memory.undos.push(Undo { command, words, until });
        }
        model.dirty = true;
    }
    let surplus = model.memory.undos.len().saturating_sub(MOST_UNDOS);
    model.memory.undos.drain(..surplus);
}

/// Takes away what was shown long enough.
pub(super) fn expire(model: &mut Model) {
    let now = model.now;
    let before = model.notices.len();
    model.notices.retain(|notice| notice.until > now);
    model.memory.undos.retain(|undo| undo.until > now);
    model.dirty |= model.notices.len() != before;
    plan_expiry(model);
}

/// Takes away what is not true any more.
pub(super) fn outdate(model: &mut Model) {
    let before = model.notices.len();
    let armed = model.armed.is_some();
    model.notices.retain(|notice| armed || notice.lasts != Lasts::WhileArmed);
    model.dirty |= model.notices.len() != before;
}

/// Whether an act can be taken back.
pub(super) fn can_undo(model: &Model) -> bool {
    let shown = model.notices.iter().filter(|notice| notice.undo.is_some()).map(|notice| notice.until);
    shown.chain(model.memory.undos.iter().map(|undo| undo.until)).any(|until| until > model.now)
}

/// Takes the newest act that can be taken back.
pub(super) fn take_undo(model: &mut Model) -> Option<Undo> {
    expire(model);
    operator_acts(model);
    model.memory.undos.pop()
}

fn plan_expiry(model: &mut Model) {
    if let Some(at) = model.notices.iter().map(|notice| notice.until).min() {
        model.effects.push(Effect::Timer { timer: Timer::Notices, at });
    }
}
