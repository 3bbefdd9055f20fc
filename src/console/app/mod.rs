//! The screen's state: pure. In reading order:
//!
//! - [`model`]: the state; [`msg`]: what can happen to it, and what it asks the runtime to do.
//! - [`update()`]: (state, message) → effects. Nothing else changes the state.
//! - [`key`], [`action`], [`keymap`]: what a key is, what can be done, which key does it.
//! - [`focus`]: where the keys go.
//! - [`sessions`], [`conversation`], [`items`], [`log`], [`composer`], [`overlay`], [`notices`]: the
//!   panes' and overlays' state.
//! - [`header`], [`footer`], [`border`], [`words`]: what the frame around them says.
//!
//! The drawing reads [`Model`]'s fields. Texts that are marked safe to show have passed
//! [`crate::domain::sanitize`]; the rows as they came from the engine have not.

#![allow(dead_code)]

pub mod action;
pub mod border;
pub mod composer;
pub mod conversation;
pub mod focus;
pub mod footer;
pub mod header;
pub mod items;
pub mod key;
pub mod keymap;
pub mod log;
pub mod model;
pub mod msg;
pub mod notices;
pub mod overlay;
mod replies;
mod requests;
pub mod sessions;
mod stream;
pub mod text;
mod update;
pub mod words;

pub use model::{Model, Start};
pub use msg::{Effect, Msg};
pub use update::update;
