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
    wanted: Option<Wanted>,
    last: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Wanted {
    reason: Reason,
    since: Instant,
}

impl Limiter {
    /// Asks for a frame. The more urgent of two reasons counts.
    pub fn request(&mut self, reason: Reason, now: Instant) {
        let wanted = self.wanted.get_or_insert(Wanted { reason, since: now });
        wanted.reason = wanted.reason.max(reason);
    }

    /// When the frame that was asked for may be drawn; none if none was.
    pub fn due(&self) -> Option<Instant> {
        let Wanted { reason, since } = self.wanted?;
        let apart = match reason {
            Reason::Key => AFTER_A_KEY,
            Reason::Event => AFTER_AN_EVENT,
        };
        Some(self.last.map_or(since, |last| (last + apart).max(since)))
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
    fn the_first_frame_is_due_when_it_is_asked_for() {
        let mut limiter = Limiter::default();
        assert_eq!(limiter.due(), None);
        let start = Instant::now();
        limiter.request(Reason::Event, start);
        assert_eq!(limiter.due(), Some(start));
        limiter.drawn(start);
        assert_eq!(limiter.due(), None);
    }

    #[test]
    fn a_key_is_shown_sooner_than_an_event() {
        let mut limiter = Limiter::default();
        let start = Instant::now();
        limiter.drawn(start);
        limiter.request(Reason::Event, start);
        assert_eq!(limiter.due(), Some(start + AFTER_AN_EVENT));
        limiter.request(Reason::Key, start);
        assert_eq!(limiter.due(), Some(start + AFTER_A_KEY));
        limiter.request(Reason::Event, start);
        assert_eq!(limiter.due(), Some(start + AFTER_A_KEY));
    }

    #[test]
    fn what_is_asked_for_after_a_pause_is_due_at_once() {
        let mut limiter = Limiter::default();
        let start = Instant::now();
        limiter.drawn(start);
        let later = start + AFTER_AN_EVENT * 2;
        limiter.request(Reason::Event, later);
        assert_eq!(limiter.due(), Some(later));
    }
}
