//! What the footer says: the keys that matter for the focus, from the key map.

use super::Model;
use super::action::Action;

/// A key in the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The keys.
    pub keys: String,
    /// What they do here, in a word or two.
    pub title: String,
    /// The action, for a click.
    pub action: Action,
    /// Why it does nothing now; none: it works.
    pub why_not: Option<String>,
}

/// The footer's keys, most important first; the drawing shows as many as fit. The last one is help.
pub fn footer(model: &Model) -> Vec<Hint> {
    let _ = model;
    Vec::new()
}
