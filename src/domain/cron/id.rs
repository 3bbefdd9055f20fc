//! The name of a job.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::domain::id::{ChatType, KeyError, KeyParts, SessionKey};

/// Ids are folder names and parts of session keys.
const MAX_BYTES: usize = 120;

/// The name of a job: one path component of letters, digits, `.`, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobId(String);

impl JobId {
    /// Makes an id of what a job is for: its first words, small, with `-` between them, and a number
    /// behind them where that is `taken`.
    pub fn from_words(words: &str, taken: impl Fn(&Self) -> bool) -> Self {
        const MAX_STEM_BYTES: usize = 48;
        let mut stem = String::new();
        for word in words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let word = word.to_lowercase();
            if stem.len() + word.len() >= MAX_STEM_BYTES {
                break;
            }
            if !stem.is_empty() {
                stem.push('-');
            }
            stem.extend(word.chars().filter(|c| c.is_alphanumeric()));
        }
        if stem.is_empty() {
            stem.push_str("job");
        }
        let first = Self(stem);
        let numbered = |n: u32| Self(format!("{first}-{n}"));
        let mut number = 2;
        let mut id = first.clone();
        while taken(&id) {
            id = numbered(number);
            number += 1;
        }
        id
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for JobId {
    type Err = JobIdError;

    fn from_str(text: &str) -> Result<Self, JobIdError> {
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for JobId {
    type Error = JobIdError;

    fn try_from(text: String) -> Result<Self, JobIdError> {
        if text.is_empty() {
            return Err(JobIdError::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(JobIdError::TooLong(text.len()));
        }
        if text == "." || text.contains("..") {
            return Err(JobIdError::Dots);
        }
        match text.chars().find(|c| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-')) {
            Some(wrong) => Err(JobIdError::Letter(wrong)),
            None => Ok(Self(text)),
        }
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.0
    }
}

/// A text that can't be a job's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobIdError {
    /// Nothing at all.
    #[error("an id can't be empty: letters, digits, . _ - are allowed")]
    Empty,
    /// Something that no id has.
    #[error("an id can't have {0:?} in it: letters, digits, . _ - are allowed")]
    Letter(char),
    /// It could leave its folder.
    #[error("an id can't be . or have .. in it: it names a folder")]
    Dots,
    /// Longer than an id may be.
    #[error("an id of {0} bytes is too long: at most {MAX_BYTES}")]
    TooLong(usize),
}

impl JobId {
    /// The address of the sessions of its runs.
    pub fn session_key(&self) -> Result<SessionKey, KeyError> {
        SessionKey::build(KeyParts {
            platform: "cron",
            chat_type: ChatType::Job,
            chat_id: self.as_str(),
            thread_id: None,
            participant: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_is_one_path_component_of_letters_digits_and_three_marks() {
        for good in ["daily-news-summary", "a", "A.b_c-9", "3f2a90b1c4de", ".hidden", "每日", "größe"] {
            assert_eq!(good.parse::<JobId>().unwrap().as_str(), good);
        }
        for (wrong, why) in [
            ("", JobIdError::Empty),
            (".", JobIdError::Dots),
            ("..", JobIdError::Dots),
            ("a..b", JobIdError::Dots),
            ("a/b", JobIdError::Letter('/')),
            ("a b", JobIdError::Letter(' ')),
            ("a\nb", JobIdError::Letter('\n')),
            ("a\u{202e}b", JobIdError::Letter('\u{202e}')),
            ("a:b", JobIdError::Letter(':')),
        ] {
            assert_eq!(wrong.parse::<JobId>(), Err(why), "{wrong:?}");
        }
        assert_eq!("x".repeat(121).parse::<JobId>(), Err(JobIdError::TooLong(121)));
        assert!("x".repeat(120).parse::<JobId>().is_ok());
    }

    #[test]
    fn an_id_is_made_of_the_first_words_and_never_one_that_is_taken() {
        let free = |words: &str| JobId::from_words(words, |_| false).to_string();
        assert_eq!(free("Review the open pull requests"), "review-the-open-pull-requests");
        assert_eq!(free("  Größe: prüfen!  "), "größe-prüfen");
        assert_eq!(free("../.. \u{202e}"), "job");
        assert_eq!(free(&"x".repeat(200)), "job");
        let taken = |id: &JobId| ["disk", "disk-2"].contains(&id.as_str());
        assert_eq!(JobId::from_words("Disk", taken).as_str(), "disk-3");
    }

    #[test]
    fn an_id_is_checked_when_it_arrives() {
        assert_eq!(serde_json::from_str::<JobId>("\"a\"").unwrap().as_str(), "a");
        assert!(serde_json::from_str::<JobId>("\"../a\"").is_err());
    }

    proptest! {
        #[test]
        fn an_id_that_is_made_is_an_id(words in any::<String>()) {
            let made = JobId::from_words(&words, |_| false);
            prop_assert_eq!(made.as_str().parse::<JobId>(), Ok(made.clone()));
        }

        #[test]
        fn every_id_can_be_part_of_a_session_key(text in "\\PC{0,12}|[a-z._-]{1,12}") {
            if let Ok(id) = text.parse::<JobId>() {
                prop_assert!(id.session_key().is_ok());
            }
        }
    }
}
