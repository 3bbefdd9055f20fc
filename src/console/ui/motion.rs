//! What moves by itself. Nothing else on the screen does.

use std::time::Duration;

use super::glyphs::GlyphSet;
use crate::domain::Time;

/// How long a spinner shows a frame: eight frames a second at most.
const FRAME: Duration = Duration::from_millis(125);
/// How long a second is shown.
const SECOND: Duration = Duration::from_secs(1);

/// Draws what moves, as it stands at one instant, and remembers how soon it moves again.
#[derive(Debug, Clone, Copy)]
pub struct Motion {
    now: Time,
    stands_still: bool,
    pace: Option<Duration>,
}

impl Motion {
    /// What moves, as it stands `now`.
    pub fn at(now: Time) -> Self {
        Self { now, stands_still: false, pace: None }
    }

    /// What moved, as it stood `then`, and moves no more.
    pub fn still(then: Time) -> Self {
        Self { now: then, stands_still: true, pace: None }
    }

    /// The mark of a turn that runs.
    pub fn spinner(&mut self, glyphs: &GlyphSet) -> &'static str {
        self.pace = Some(FRAME);
        let frames = glyphs.spinner;
        let step = self.now.timestamp_millis() / FRAME.as_millis() as i64;
        frames[step.rem_euclid(frames.len() as i64) as usize]
    }

    /// Tells that a count of seconds is shown.
    pub fn counts_seconds(&mut self) {
        self.pace = Some(self.pace.unwrap_or(SECOND));
    }

    /// How soon what was drawn moves again by itself; none: not before the minute changes.
    pub fn pace(&self) -> Option<Duration> {
        self.pace.filter(|_| !self.stands_still)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::ui::glyphs::{ASCII, UNICODE};
    use chrono::TimeDelta;

    fn noon() -> Time {
        "2026-11-29T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_spinner_turns_with_the_given_time_at_most_eight_times_a_second() {
        for glyphs in [&UNICODE, &ASCII] {
            let frame = |ms| Motion::at(noon() + TimeDelta::milliseconds(ms)).spinner(glyphs);
            assert_eq!(frame(0), frame(124));
            assert_ne!(frame(0), frame(125));
            let changes = (0..1000).filter(|ms| frame(*ms) != frame(ms + 1)).count();
            assert_eq!(changes, 8);
        }
    }

    #[test]
    fn what_stands_still_asks_for_no_other_frame() {
        let mut motion = Motion::still(noon());
        motion.spinner(&UNICODE);
        motion.counts_seconds();
        assert_eq!(motion.pace(), None);
    }

    #[test]
    fn nothing_moves_unless_it_was_drawn() {
        let mut motion = Motion::at(noon());
        assert_eq!(motion.pace(), None);
        motion.counts_seconds();
        assert_eq!(motion.pace(), Some(Duration::from_secs(1)));
        motion.spinner(&UNICODE);
        motion.counts_seconds();
        assert_eq!(motion.pace(), Some(Duration::from_millis(125)));
    }
}
