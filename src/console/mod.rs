//! What is seen: the operator's screen.
//!
//! [`app`] is its state; [`ui`] draws it; [`tty`] is the terminal; [`run`] is the loop that ties
//! them.

pub mod app;
mod runtime;
pub mod tty;
pub mod ui;

pub use runtime::{ConsoleError, ConsoleOptions, Ended, Engines, run};
pub use tty::{Signal, Signals};
