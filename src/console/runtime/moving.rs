//! When what moves by itself moves next.

use std::time::{Duration, Instant};

/// The next motion of what is on the screen; none while nothing moves.
#[derive(Debug, Default)]
pub(super) struct Moving(Option<Instant>);

impl Moving {
    /// When it moves next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0
    }

    /// A frame was drawn whose moving parts move at `pace`. A frame that comes before the motion does not
    /// put it off: an answer that streams draws many, and the time goes on beside it.
    pub(super) fn drawn(&mut self, now: Instant, pace: Option<Duration>) {
        let paced = pace.map(|pace| now + pace);
        self.0 = paced.map(|next| self.0.map_or(next, |due| due.min(next)));
    }

    /// Whether it moves now.
    pub(super) fn take_due(&mut self, now: Instant) -> bool {
        self.0.take_if(|next| *next <= now).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Duration = Duration::from_millis(125);

    #[test]
    fn frames_that_come_faster_than_the_motion_do_not_put_it_off() {
        let start = Instant::now();
        let mut moving = Moving::default();
        let motions = (0..100)
            .map(|frame| start + Duration::from_millis(20) * frame)
            .filter(|now| {
                let moved = moving.take_due(*now);
                moving.drawn(*now, Some(PACE));
                moved
            })
            .count();
        // Two seconds of an answer that streams: a motion with the first frame behind each 125 ms.
        assert_eq!(motions, 14);
    }

    #[test]
    fn what_stopped_moving_wakes_nobody_and_what_moves_slower_now_keeps_no_faster_pace() {
        let now = Instant::now();
        let mut moving = Moving::default();
        moving.drawn(now, Some(PACE));
        moving.drawn(now, None);
        assert_eq!(moving.next(), None);
        moving.drawn(now, Some(Duration::from_secs(1)));
        moving.drawn(now, Some(PACE));
        assert_eq!(moving.next(), Some(now + PACE));
        assert!(moving.take_due(now + PACE) && moving.next().is_none());
    }
}
