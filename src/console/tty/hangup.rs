//! Going on after the terminal vanished.
//!
//! The reader sees the hang-up in its poll the moment it happens, with or without SIGHUP; a write
//! that fails tells the same.

use std::fs::OpenOptions;

use rustix::event::{PollFd, PollFlags, Timespec};

use super::Screen;
use super::guard::{self, Errors};

impl Screen {
    /// Whether the terminal hung up.
    pub fn is_gone(&self) -> bool {
        let mut asked = [PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let asked_well = rustix::event::poll(&mut asked, Some(&at_once)).is_ok();
        asked_well && asked[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
    }

    /// The terminal is gone: forgets it without touching it, and leads the standard streams away
    /// from it, so that no later print meets a dead terminal. Standard error stays at the log if it
    /// was pointed there.
    pub fn abandon(self) {
        let errors = guard::forget();
        drop(self);
        lead_away(errors);
    }

    /// The terminal closes, or its owner wants it back for good: gives it back as far as it is still
    /// there, and leads the standard streams away from it.
    pub fn leave_for_good(self) {
        drop(self);
        lead_streams_away();
    }
}

/// Leads the standard streams away from a terminal that closes, while it is not held.
pub fn lead_streams_away() {
    lead_away(Errors::AsBefore);
}

fn lead_away(errors: Errors) {
    let nothing = match OpenOptions::new().read(true).write(true).open("/dev/null") {
        Ok(nothing) => nothing,
        Err(error) => {
            tracing::warn!(%error, "/dev/null can't be opened; standard streams still lead to the terminal");
            return;
        }
    };
    let _ = rustix::stdio::dup2_stdin(&nothing);
    let _ = rustix::stdio::dup2_stdout(&nothing);
    if errors == Errors::AsBefore {
        let _ = rustix::stdio::dup2_stderr(&nothing);
    }
}
