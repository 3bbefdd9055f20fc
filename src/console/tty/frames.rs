//! When the next frame may be drawn.

use std::time::{Duration, Instant};

/// After a key, frames are at least so far apart.
const AFTER_A_KEY: Duration = Duration::from_millis(8);
/// After anything else, so far.
const AFTER_AN_EVENT: Duration = Duration::from_millis(33);

/// Why the screen is old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The engine or a clock.
    Event,
    /// The operator did something and waits for the answer.
    Key,
}

/// Says when the next frame is due. A frame is asked for, never timed: without a request there is
/// none.
#[derive(Debug, Default)]
pub struct Limiter {
    wanted: Option<Reason>,
    last: Option<Instant>,
}

impl Limiter {
    /// Asks for a frame. The more urgent of two reasons counts.
    pub fn request(&mut self, reason: Reason) {
        self.wanted = self.wanted.max(Some(reason));
    }

    /// When the frame that was asked for may be drawn; none if none was.
    pub fn due(&self) -> Option<Instant> {
        let apart = match self.wanted? {
            Reason::Key => AFTER_A_KEY,
            Reason::Event => AFTER_AN_EVENT,
        };
        Some(self.last.map_or_else(Instant::now, |last| last + apart))
    }

    /// The frame was drawn.
    pub fn drawn(&mut self, now: Instant) {
        self.wanted = None;
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_request_no_frame_is_due() {
        let mut limiter = Limiter::default();
        assert_eq!(limiter.due(), None);
        limiter.request(Reason::Event);
        limiter.drawn(Instant::now());
        assert_eq!(limiter.due(), None);
    }

    #[test]
    fn a_key_is_shown_sooner_than_an_event() {
        let mut limiter = Limiter::default();
        let start = Instant::now();
        limiter.drawn(start);
        limiter.request(Reason::Event);
        assert_eq!(limiter.due(), Some(start + AFTER_AN_EVENT));
        limiter.request(Reason::Key);
        assert_eq!(limiter.due(), Some(start + AFTER_A_KEY));
        limiter.request(Reason::Event);
        assert_eq!(limiter.due(), Some(start + AFTER_A_KEY));
    }
}
