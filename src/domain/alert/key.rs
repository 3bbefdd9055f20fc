//! Keys of alerts: one a subject and a cause, so that the same trouble is one alert.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::domain::cron::JobId;
use crate::domain::id::SessionId;

/// The most bytes of a key.
const MAX_LENGTH: usize = 200;

/// What an alert is about and why, in one word that a person can type: `session:20260131_093000_0badcafe`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AlertKey(String);

/// A text that is no alert's key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no alert's key; `switchboard alerts` lists them")]
pub struct BadAlertKey(String);

impl AlertKey {
    /// A session that does not go on without a person.
    pub fn session(session: &SessionId) -> Self {
        Self(format!("session:{session}"))
    }

    const ASKS: &str = "asks:";

    /// A session whose agent asks a person.
    pub fn approval(session: &SessionId) -> Self {
        Self(format!("{}{session}", Self::ASKS))
    }

    /// Whether it is a session's whose agent asks a person.
    pub fn is_approval(&self) -> bool {
        self.0.starts_with(Self::ASKS)
    }

    /// A session whose reset is due and has been blocked for too long.
    pub fn blocked_reset(session: &SessionId) -> Self {
        Self(format!("reset:{session}"))
    }

    /// What the key of a failing job begins with; its id follows.
    const FAILING_JOB: &str = "job:";

    /// A scheduled task whose last run failed.
    pub fn failing_job(job: &JobId) -> Self {
        Self(format!("{}{job}", Self::FAILING_JOB))
    }

    /// Whether what it is about happens often, so that not every time is told.
    pub fn is_folded(&self) -> bool {
        self.0.starts_with(Self::FAILING_JOB)
    }

    /// A scheduled task whose record can't be used.
    pub fn broken_record(job: &JobId) -> Self {
        Self(format!("record:{job}"))
    }

    /// A scheduled task whose run waits because a daily limit is reached.
    pub fn held_job(job: &JobId) -> Self {
        Self(format!("limit:{job}"))
    }

    /// Each key that an alert about a job may have.
    pub const OF_JOBS: [fn(&JobId) -> Self; 4] =
        [Self::failing_job, Self::vanished_job, Self::broken_record, Self::held_job];

    /// Records of `jobs.json` that are no job's.
    pub fn nobodys_records() -> Self {
        Self("records".to_owned())
    }

    /// What the key of a vanished job begins with; its id follows.
    pub const VANISHED_JOB: &str = "gone:";

    /// A scheduled task that is gone from `jobs.json`.
    pub fn vanished_job(job: &JobId) -> Self {
        Self(format!("{}{job}", Self::VANISHED_JOB))
    }

    /// A `jobs.json` that can't be read.
    pub fn jobs_file() -> Self {
        Self("jobs.json".to_owned())
    }

    /// Another scheduler that fires the jobs of the same `jobs.json`.
    pub fn other_scheduler() -> Self {
        Self("scheduler".to_owned())
    }

    /// A ticker that is late.
    pub fn ticker() -> Self {
        Self("ticker".to_owned())
    }

    const LEFT_WAITING: &str = "left:";

    /// A session that was reset by itself while items waited in it.
    pub fn left_waiting(from: &SessionId) -> Self {
        Self(format!("{}{from}", Self::LEFT_WAITING))
    }

    /// The session in which items were left waiting, if that is what it is about.
    pub fn left_in(&self) -> Option<SessionId> {
        self.0.strip_prefix(Self::LEFT_WAITING)?.parse().ok()
    }

    /// A boot guard that holds.
    pub fn boot_guard() -> Self {
        Self("boot-guard".to_owned())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AlertKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for AlertKey {
    type Err = BadAlertKey;

    fn from_str(text: &str) -> Result<Self, BadAlertKey> {
        let in_a_word = |c: char| c.is_ascii_graphic() || c.is_alphanumeric();
        let well_formed = (1..=MAX_LENGTH).contains(&text.len()) && text.chars().all(in_a_word);
        if well_formed { Ok(Self(text.to_owned())) } else { Err(BadAlertKey(text.to_owned())) }
    }
}

impl TryFrom<String> for AlertKey {
    type Error = BadAlertKey;

    fn try_from(text: String) -> Result<Self, BadAlertKey> {
        text.parse()
    }
}

impl From<AlertKey> for String {
    fn from(key: AlertKey) -> Self {
        key.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Time;

    #[test]
    fn a_key_is_one_word_and_is_the_same_after_it_was_kept_as_text() {
        let session = SessionId::new(Time::UNIX_EPOCH, 7);
        let key = AlertKey::session(&session);
        assert_eq!(key.as_str(), "session:19700101_000000_00000007");
        assert_eq!(key.as_str().parse(), Ok(key.clone()));
        assert_ne!(key, AlertKey::blocked_reset(&session));
        for bad in ["", "two words", "line\nbreak", "\u{1b}[2J", &"x".repeat(201)] {
            assert_eq!(bad.parse::<AlertKey>(), Err(BadAlertKey(bad.to_owned())));
        }
    }
}
