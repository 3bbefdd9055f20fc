//! The screen's state: pure. In reading order:
//!
//! - [`model`]: the state; [`msg`]: what can happen to it, and what it asks the runtime to do.
//! - [`update()`]: (state, message) → effects. Nothing else changes the state.
//! - [`key`], [`action`], [`keymap`]: what a key is, what can be done, which key does it.
//! - [`focus`]: where the keys go.
//! - [`sessions`], [`conversation`], [`items`], [`cron`], [`recovery`], [`log`], [`composer`], [`overlay`],
//!   [`job_editor`], [`notices`]: the panes' and overlays' state.
//! - [`header`], [`footer`], [`border`], [`facts`], [`words`]: what the frame around them says.
//!
//! Behind `update`: `typing` turns keys into actions and `acts` runs them: `walk` and `scroll` move,
//! `panes` moves the focus, `search` filters, `writing` and `completing` are the composer, `item_acts` the queue,
//! `picking` and `asking` the overlays. `requests` asks, `answers`, `replies` and `updates` take in
//! what comes, `entries` and `stream` make the conversation of it.
//!
//! The drawing reads [`Model`]'s fields. Texts that are marked safe to show have passed
//! [`crate::domain::sanitize`]; the rows as they came from the engine have not.

pub mod action;
mod acts;
pub mod alerts;
mod answers;
pub mod approvals;
mod asking;
mod availability;
mod away;
pub mod border;
mod called;
mod completing;
pub mod composer;
pub mod conversation;
pub mod cron;
mod docs;
mod entries;
pub mod facts;
pub mod focus;
pub mod footer;
mod front;
mod fuzzy;
pub mod header;
mod item_acts;
pub mod items;
pub mod job_editor;
pub mod key;
pub mod keymap;
pub mod log;
pub mod model;
mod mouse;
pub mod msg;
mod need;
pub mod notices;
pub mod overlay;
mod panes;
mod picking;
pub mod recovery;
mod replies;
mod requests;
mod scroll;
mod search;
pub mod sessions;
mod stream;
pub mod text;
mod typing;
mod update;
mod updates;
mod walk;
mod why;
pub mod words;
mod writing;

pub use asking::{WITH_ALWAYS, WITHOUT_ALWAYS, card_buttons, card_title};
pub use availability::why_not;
pub use completing::enter_completes;
pub use docs::{keymap_toml, keys_markdown};
pub use model::{Model, Start};
pub use msg::{Effect, Msg};
pub use panes::has_queue;
pub use search::{filter_offers, filter_pane};
pub use typing::{chain, in_text};
pub use update::{start, update};
