//! Notices: what was just done or refused, with the way back.

use super::msg::Tone;
use crate::domain::Time;
use crate::domain::api::Command;

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
const SHOWN_FOR: chrono::TimeDelta = chrono::TimeDelta::seconds(10);

/// At most so many notices are shown at once; an older one gives way.
const MOST: usize = 3;

pub(super) fn tell(model: &mut super::Model, tone: Tone, words: &str) {
    push(model, tone, words, None);
}

pub(super) fn push(model: &mut super::Model, tone: Tone, words: &str, undo: Option<Command>) {
    let words = crate::domain::sanitize::one_line(words).into_owned();
    // The same words again only last longer.
    model.notices.retain(|notice| notice.words != words || notice.undo.is_some());
    model.notices.push(Notice { words, tone, undo, until: model.now + SHOWN_FOR });
    if model.notices.len() > MOST {
        model.notices.remove(0);
    }
    model.dirty = true;
}
