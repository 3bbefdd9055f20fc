//! Going on after the terminal vanished.
//!
//! The reader sees the hang-up in its poll the moment it happens, with or without SIGHUP; a write
//! that fails tells the same.

use std::fs::OpenOptions;

use super::Screen;
use super::guard::{self, Errors};

impl Screen {
    /// The terminal is gone: forgets it without touching it and points the standard streams at
    /// nothing, so that no later print meets a dead terminal. Standard error stays at the log if it
    /// was pointed there.
    pub fn abandon(self) {
        let errors = guard::forget();
        drop(self);
        let nothing = match OpenOptions::new().read(true).write(true).open("/dev/null") {
            Ok(nothing) => nothing,
            Err(error) => {
                tracing::warn!(%error, "/dev/null can't be opened; standard streams still lead to a dead terminal");
                return;
            }
        };
        let _ = rustix::stdio::dup2_stdin(&nothing);
        let _ = rustix::stdio::dup2_stdout(&nothing);
        if errors == Errors::AsBefore {
            let _ = rustix::stdio::dup2_stderr(&nothing);
        }
    }
}
