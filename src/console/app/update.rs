//! `update`: the one place where the screen's state changes.

use super::Model;
use super::msg::{Effect, Msg};

/// Changes the state by what happened, and returns what is to be done.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let _ = (model, msg);
    Vec::new()
}
