//! Where a job's result is delivered.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::JobId;
use crate::domain::sanitize::one_line;

/// A delivery target: a platform, and where it needs one a chat and a thread in it.
///
/// Its text form is `platform[:chat[:thread]]`, as in `local` or `telegram:-100123:7`. `all` is every
/// platform that is set up; `origin` is where the job was made, where its record does not tell where that was.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// `local`, `console`, `telegram`, …
    pub platform: String,
    /// The chat on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<String>,
    /// The thread in the chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

/// The word for "where the job was made".
pub const ORIGIN: &str = "origin";
/// The output document, which every run has.
pub const LOCAL: &str = "local";
/// A notice in the console, and the text in a session of it.
pub const CONSOLE: &str = "console";
/// Every place that is set up here.
pub const ALL: &str = "all";

impl Target {
    /// A target that is a platform alone.
    pub fn platform(name: &str) -> Self {
        Self { platform: name.to_owned(), chat_id: None, thread_id: None }
    }

    /// Reads targets from their text form, several with commas between them.
    pub fn list(text: &str) -> Result<Vec<Self>, TargetError> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        text.split(',').map(Self::one).collect()
    }

    fn one(text: &str) -> Result<Self, TargetError> {
        let mut parts = text.splitn(3, ':').map(str::trim);
        let platform = parts.next().unwrap_or_default();
        let mut optional = || match parts.next() {
            Some("") => Err(TargetError::EmptyPart(text.trim().to_owned())),
            part => Ok(part.map(str::to_owned)),
        };
        let (chat_id, thread_id) = (optional()?, optional()?);
        Self { platform: platform.to_owned(), chat_id, thread_id }.checked()
    }

    /// The target, if it is one: its platform is a word, and it has no thread without a chat.
    pub fn checked(self) -> Result<Self, TargetError> {
        if self.platform.is_empty() {
            return Err(TargetError::NoPlatform);
        }
        if !self.platform.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            return Err(TargetError::Platform(self.platform));
        }
        if self.thread_id.is_some() && self.chat_id.is_none() {
            return Err(TargetError::ThreadWithoutChat);
        }
        Ok(self)
    }

    /// Whether what is sent there arrives.
    pub fn is_set_up(&self) -> bool {
        [LOCAL, CONSOLE, ALL, ORIGIN].contains(&self.platform.as_str())
    }

    /// What to know of a place that a job delivers to: none if what is sent there arrives.
    pub fn warning(&self, job: &JobId) -> Option<String> {
        let name = one_line(&self.platform);
        (!self.is_set_up()).then(|| format!("{name} is not configured: the text stays in output/{job}/"))
    }

    /// Whether the text form reads back as this target.
    pub fn has_text_form(&self) -> bool {
        Self::list(&self.to_string()).is_ok_and(|read| read == [self.clone()])
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.platform)?;
        for part in [&self.chat_id, &self.thread_id].into_iter().flatten() {
            write!(f, ":{part}")?;
        }
        Ok(())
    }
}

/// A text that names no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Nothing where the platform must be.
    #[error(
        "names no platform: write local, console, telegram:CHAT or telegram:CHAT:THREAD, several with commas"
    )]
    NoPlatform,
    /// Something that no platform is called.
    #[error("{0:?} is no platform: a word like local, console or telegram")]
    Platform(String),
    /// A colon with nothing behind it.
    #[error("{0:?} has nothing behind a colon: write platform:CHAT or platform:CHAT:THREAD")]
    EmptyPart(String),
    /// A thread is in a chat.
    #[error("a thread_id needs the chat_id that it is in")]
    ThreadWithoutChat,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn target(platform: &str, chat: Option<&str>, thread: Option<&str>) -> Target {
        let owned = |part: Option<&str>| part.map(str::to_owned);
        Target { platform: platform.to_owned(), chat_id: owned(chat), thread_id: owned(thread) }
    }

    #[test]
    fn targets_are_read_from_text() {
        for (text, targets) in [
            ("", vec![]),
            ("local", vec![Target::platform("local")]),
            ("telegram:-100123:7", vec![target("telegram", Some("-100123"), Some("7"))]),
            (" local , telegram:1 ", vec![Target::platform("local"), target("telegram", Some("1"), None)]),
        ] {
            assert_eq!(Target::list(text), Ok(targets), "{text:?}");
        }
        for (text, why) in [
            (",", TargetError::NoPlatform),
            ("local,", TargetError::NoPlatform),
            (":1", TargetError::NoPlatform),
            ("telegram:", TargetError::EmptyPart("telegram:".to_owned())),
            ("telegram:1:", TargetError::EmptyPart("telegram:1:".to_owned())),
            ("a b", TargetError::Platform("a b".to_owned())),
        ] {
            assert_eq!(Target::list(text), Err(why), "{text:?}");
        }
        assert_eq!(target("x", None, Some("7")).checked(), Err(TargetError::ThreadWithoutChat));
    }

    #[test]
    fn a_chat_with_a_colon_has_no_text_form_of_its_own() {
        assert!(target("telegram", Some("1"), Some("2")).has_text_form());
        assert!(!target("matrix", Some("!room:host"), None).has_text_form());
        assert!(!target("irc", Some("#a,#b"), None).has_text_form());
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(platform in "[a-z]{1,8}", chat in "[a-z0-9-]{1,8}", thread in "[0-9]{1,4}") {
            let shown = target(&platform, Some(&chat), Some(&thread));
            prop_assert_eq!(Target::list(&shown.to_string()), Ok(vec![shown]));
        }
    }
}
