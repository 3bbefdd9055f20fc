//! What is seen: the operator's screen.
//!
//! [`app`] is its state; [`tty`] is the terminal.

pub mod app;
pub mod tty;
