//! What is seen: the operator's screen.
//!
//! [`app`] is its state; [`ui`] draws it; [`tty`] is the terminal.

pub mod app;
pub mod tty;
pub mod ui;
