//! What happened since a time: one look for whoever was away.

use serde::{Deserialize, Serialize};

use crate::domain::Time;
use crate::domain::event::count;
use crate::domain::session::Usage;

/// What ended, and what went wrong, since a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Since when; none: nobody looked before, and nothing is counted.
    pub since: Option<Time>,
    /// Turns that ended with an answer.
    pub answered: usize,
    /// Turns that failed.
    pub failed: usize,
    /// Turns that a person stopped, or a newer message, or a new session.
    pub stopped: usize,
    /// Turns that a crash or a stop of the engine cut off.
    pub cut_off: usize,
    /// Of all these turns, those that went on with what had been cut off.
    pub resumed: usize,
    /// Sessions that were given up.
    pub given_up: usize,
    /// Messages that a newer one replaced.
    pub replaced: usize,
    /// Messages and commands that were refused.
    pub refused: usize,
    /// Times that waiting messages were taken out.
    pub cleared: usize,
    /// Times that a queue was put on hold.
    pub held: usize,
    /// Starts of the engine.
    pub starts: usize,
    /// Of these, those after a crash or a kill.
    pub after_crash: usize,
    /// What the turns used.
    pub usage: Usage,
}

impl Report {
    /// Whether nothing happened that anyone would want to know.
    pub fn is_quiet(&self) -> bool {
        self.lines().is_empty()
    }

    /// Each number that is not 0, with a label; what went wrong comes first.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let starts = match self.after_crash {
            0 => String::new(),
            n => format!("{} of the engine after a crash or a kill", count(n, "start")),
        };
        let tokens = match self.usage.total() {
            0 => String::new(),
            _ => format!("{} read, {} written", self.usage.input, self.usage.output),
        };
        let of = |n: usize, thing: &str| if n == 0 { String::new() } else { count(n, thing) };
        let lines = [
            ("crashed", starts),
            ("failed", of(self.failed, "turn")),
            ("cut off", of(self.cut_off, "turn")),
            ("given up", of(self.given_up, "session")),
            ("refused", of(self.refused, "message")),
            ("held", of(self.held, "queue")),
            ("resumed", of(self.resumed, "turn")),
            ("answered", of(self.answered, "turn")),
            ("stopped", of(self.stopped, "turn")),
            ("replaced", of(self.replaced, "message")),
            ("cleared", of(self.cleared, "time")),
            ("tokens", tokens),
        ];
        lines.into_iter().filter(|(_, words)| !words.is_empty()).collect()
    }
}
