//! Background processes: commands that go on after their turns, and after their engine.
//!
//! An agent asks for one by [`super::BackgroundCalls`]; the engine starts and owns it. What runs is a *keeper*,
//! this program itself: it waits until the process is kept, runs the command in its own process group,
//! keeps the newest of its output in a file, and at its end writes how it ended beside that, so that this
//! is known whether an engine runs or not.

mod call;
mod hold;
mod keeper;
mod log;

pub use call::BackgroundCall;
pub use hold::{Held, LONGEST_END, Watched};
pub use keeper::{Orders, keep};
pub use log::newest_lines;

use std::path::{Path, PathBuf};

use super::process::{BACKGROUND, end_members};
use crate::domain::Time;
use crate::domain::background::{BackgroundProcess, Ended, Exit};
use crate::domain::id::{ProcessNumber, SessionId};

/// The one argument with which this program is a keeper.
pub const KEEPER: &str = "keep-background";

/// The value of the mark of one background process.
fn mark(session: &SessionId, number: ProcessNumber) -> String {
    format!("{session}/{number}")
}

/// A mark as it stands in an environment.
fn marked(mark: &str) -> String {
    format!("{BACKGROUND}={mark}")
}

/// Ends what is left of a background process whose keeper is gone: what has its mark.
pub fn end_rest(session: &SessionId, number: ProcessNumber) {
    end_members(None, &marked(&mark(session, number)));
}

/// The file beside an output in which a keeper leaves how its command ended.
fn end_file(log: &Path) -> PathBuf {
    log.with_extension("end")
}

/// The output of a background process, in the folder of them all.
pub fn log_of(folder: &Path, process: &BackgroundProcess) -> PathBuf {
    folder.join(process.session.as_str()).join(format!("{}.log", process.number))
}

/// How a process ended that is gone, as its keeper saw it, or else for what reason nobody did.
pub fn how_it_ended(process: &BackgroundProcess, log: &Path, or_why: &str, now: Time) -> Ended {
    match left_end(log) {
        Some(ended) => Ended { at: ended.at.min(now).max(process.began_at), ..ended },
        None => Ended { at: now, exit: Exit::Unknown { why: or_why.to_owned() } },
    }
}

/// Why nobody saw how a process ended.
pub const ENDED_ALONE: &str = "it ended while no engine ran";

fn left_end(log: &Path) -> Option<Ended> {
    serde_json::from_slice(&std::fs::read(end_file(log)).ok()?).ok()
}
