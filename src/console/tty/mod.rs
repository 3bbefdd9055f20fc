//! The terminal: entering and leaving, input, frames, clipboard, signals, hang-up.
//!
//! In reading order: [`Screen`] takes the terminal and gives it back, exactly once, whatever
//! happens; [`Reader`] turns its bytes into keys and pastes on a thread of its own; [`Limiter`]
//! says when the next frame may be drawn, [`Canvas`] turns it into bytes and [`Output`] writes
//! them, again on a thread of its own, so that neither a flood of output nor a slow terminal can
//! delay a key or the engine.

mod canvas;
pub mod clipboard;
mod decode;
pub mod editor;
mod frames;
mod guard;
mod hangup;
mod output;
mod pastes;
mod reader;
pub mod ring;
mod sequences;
mod signals;
mod tail;

pub use canvas::Canvas;
pub use decode::{Focus, Input};
pub use frames::{Limiter, Reason};
pub use guard::{Screen, ScreenOptions, owning_panics};
pub use hangup::lead_streams_away;
pub use output::Output;
pub use pastes::pastes_of_terminal;
pub use reader::{Arrived, Reader};
pub use signals::{Signal, Signals, stop_this_process};

use std::io;

/// Why the terminal can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TtyError {
    /// A standard stream leads elsewhere.
    #[error(
        "the console needs a terminal, and {0} is none; `switchboard serve` runs without one, `switchboard --help` lists the rest"
    )]
    NotATerminal(&'static str),
    /// The console has the terminal already.
    #[error("the terminal is taken by this process already")]
    Taken,
    /// The operating system refused a step.
    #[error("the terminal can't be set up: {step}: {source}")]
    Setup {
        /// Which step.
        step: &'static str,
        /// What it said.
        source: io::Error,
    },
    /// A frame could not be written.
    #[error("the terminal can't be written to: {0}")]
    Write(io::Error),
    /// It vanished.
    #[error("the terminal is gone")]
    Gone,
}

impl TtyError {
    /// Makes an error out of a refused step.
    fn setup<E: Into<io::Error>>(step: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Setup { step, source: source.into() }
    }
}
