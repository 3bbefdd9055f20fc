//! What is told of resets: the notice to the user, and a block once, not at each message.

use serde::{Deserialize, Serialize};

use super::{Block, ResetReason};
use crate::domain::Time;
use crate::domain::id::SessionId;

/// The line before the next reply of a session that was reset by itself; `why` in a few words.
pub fn reset_notice(why: &str, previous: &SessionId) -> String {
    format!("This is a new session: {why}. The one before is kept; /resume {previous} brings it back.")
}

impl ResetReason {
    /// The note of an item that still waited in the session which was reset.
    pub fn left_waiting(self) -> &'static str {
        match self {
            Self::Idle => "left waiting when the session was reset: idle",
            Self::Daily => "left waiting when the session was reset: daily",
            Self::Suspended => "left waiting when the session was reset: suspended",
        }
    }

    /// Every reason.
    const ALL: [Self; 3] = [Self::Idle, Self::Daily, Self::Suspended];
}

/// The note of an item that still waited when `/resume` went to another session.
pub const LEFT_BY_SWITCH: &str = "left waiting when /resume went to another session";

/// The notes of items that were left waiting in a session when another took its place.
pub fn left_waiting_notes() -> [&'static str; 4] {
    let [idle, daily, suspended] = ResetReason::ALL.map(ResetReason::left_waiting);
    [idle, daily, suspended, LEFT_BY_SWITCH]
}

/// A block that was told, and how it stood then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldBlock {
    /// The block.
    pub block: Block,
    /// When it was told.
    pub told_at: Time,
}

impl ToldBlock {
    /// What there is to tell of a block at `now`: that it stands, and once more when it alarms. A block
    /// by the same as before goes on since then.
    pub fn news(before: Option<&Self>, block: Block, now: Time) -> Option<Self> {
        let Some(before) = before.filter(|before| before.block.by == block.by) else {
            return Some(Self { block, told_at: now });
        };
        let since = block.since.min(before.block.since);
        let news = Self { block: Block { since, ..block }, told_at: now };
        (news.is_alarming() && !before.is_alarming()).then_some(news)
    }

    /// Whether it had lasted so long when it was told that the operator must be alerted.
    pub fn is_alarming(&self) -> bool {
        self.block.is_alarming(self.told_at)
    }

    /// Who blocked, and for how long.
    pub fn words(&self) -> String {
        self.block.words(self.told_at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Blocker, Work};
    use super::*;
    use chrono::TimeDelta;

    fn at(hour: i64) -> Time {
        Time::UNIX_EPOCH + TimeDelta::hours(hour)
    }

    fn by_work(what: &str, since: i64) -> Block {
        let work = vec![Work { what: what.to_owned(), since: at(0) }];
        Block { reason: ResetReason::Daily, by: Blocker::Background { work }, since: at(since) }
    }

    #[test]
    fn a_block_is_told_once_and_once_more_when_it_alarms() {
        let first = ToldBlock::news(None, by_work("sleep", 6), at(6)).unwrap();
        assert_eq!(ToldBlock::news(Some(&first), by_work("sleep", 6), at(29)), None);
        let alarm = ToldBlock::news(Some(&first), by_work("sleep", 6), at(30)).unwrap();
        assert!(!first.is_alarming() && alarm.is_alarming());
        assert_eq!(ToldBlock::news(Some(&alarm), by_work("sleep", 6), at(99)), None);
    }

    #[test]
    fn the_same_blocker_goes_on_since_it_was_told_and_another_one_is_news() {
        let first = ToldBlock::news(None, by_work("sleep", 6), at(6)).unwrap();
        // Activity has moved what is due; what blocks has not moved.
        let alarm = ToldBlock::news(Some(&first), by_work("sleep", 28), at(30)).unwrap();
        assert_eq!(alarm.block.since, at(6));
        let other = ToldBlock::news(Some(&first), by_work("make", 28), at(30)).unwrap();
        assert_eq!(other, ToldBlock { block: by_work("make", 28), told_at: at(30) });
    }

    #[test]
    fn the_notice_says_why_and_how_to_get_the_memory_back() {
        let previous = SessionId::new(at(0), 7);
        let line = reset_notice("idle 25 h", &previous);
        assert!(line.contains("idle 25 h") && line.contains(&format!("/resume {previous} ")), "{line}");
    }
}
