//! An engine that owes an answer and says nothing: its process is stopped or stuck, and not gone.

use std::time::{Duration, Instant};

/// An engine that answers takes less than this, or says something else meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long the engine has owed an answer without a word.
#[derive(Debug, Default)]
pub(super) struct Silence {
    since: Option<Instant>,
    told: bool,
}

/// What there is to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// It has not answered for so long.
    Silent(Duration),
    /// It answers again.
    Heard,
}

impl Silence {
    /// It said something.
    pub(super) fn heard(&mut self) -> Option<News> {
        self.since = None;
        std::mem::take(&mut self.told).then_some(News::Heard)
    }

    /// Whether it owes an answer now.
    pub(super) fn look(&mut self, owes: bool, now: Instant) -> Option<News> {
        if !owes {
            self.since = None;
            return None;
        }
        let silent = now - *self.since.get_or_insert(now);
        let news = silent >= PATIENCE && !self.told;
        self.told |= news;
        news.then_some(News::Silent(silent))
    }

    /// When to look again if nothing happens.
    pub(super) fn due(&self) -> Option<Instant> {
        self.since.filter(|_| !self.told).map(|since| since + PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_silent_once_it_owes_an_answer_for_long_and_has_said_nothing_else() {
        let (start, mut silence) = (Instant::now(), Silence::default());
        let second = Duration::from_secs(1);
        assert_eq!(silence.look(false, start), None);
        assert_eq!(silence.look(true, start + second), None);
        assert_eq!(silence.heard(), None);
        assert_eq!(silence.look(true, start + 4 * second), None);
        assert_eq!(silence.due(), Some(start + 9 * second));
        assert_eq!(silence.look(true, start + 9 * second), Some(News::Silent(5 * second)));
        assert_eq!((silence.look(true, start + 20 * second), silence.due()), (None, None), "told once");
        assert_eq!(silence.heard(), Some(News::Heard));
        assert_eq!(silence.heard(), None);
    }
}
