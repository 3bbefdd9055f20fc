//! Drawing: the screen's state to cells. Pure. In reading order:
//!
//! - [`Ui`] draws a frame: header, tabs, the panes of the open view, footer, and what lies over them.
//! - [`layout`]: where everything stands at which size.
//! - `paint` and [`canvas`]: what every pane draws with. [`theme`], [`glyphs`]: how it is dressed.
//! - [`text`], [`wraps`]: widths, cutting, wrapping. [`motion`]: what moves.
//! - One file a pane and overlay.
//!
//! What is drawn has passed the sanitizer in the state; a pane asks for no more than it shows.

mod approval;
pub mod canvas;
mod card;
mod cards;
mod composer;
mod confirm;
mod conversation;
mod cron;
mod details;
mod editor;
mod entry;
mod filter;
mod first_start;
mod footer;
pub mod glyphs;
mod header;
mod job_editor;
pub mod layout;
mod log;
pub mod motion;
mod notices;
mod paint;
mod picker;
mod plan;
mod popup;
mod queue;
mod queue_pane;
mod recovery;
mod root;
mod sessions;
mod tabs;
pub mod text;
pub mod theme;
mod viewer;
mod words;
pub mod wraps;

pub use root::Ui;
