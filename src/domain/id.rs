//! Names of things: session keys, session ids and row ids, each its own type.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use super::Time;

macro_rules! row_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

row_id!(
    /// One row of a session's queue: a message or `/queue` item that waits, ran or was put aside.
    ItemId
);
row_id!(
    /// One full agent run for one message.
    TurnId
);
row_id!(
    /// One run of a scheduled task, or slots of it that were not run.
    ExecutionId
);
row_id!(
    /// One question of an agent to a person.
    ApprovalId
);
row_id!(
    /// A background process of a session, counted there from 1.
    ProcessNumber
);
row_id!(
    /// One row of a conversation's history.
    MessageId
);
row_id!(
    /// The place of an event in the one order of everything that happened in a home.
    Seq
);

/// One life of an engine on a home. A re-exec keeps the process id, so only this tells two lives apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One memory of a conversation: `YYYYMMDD_HHMMSS_` and eight hex digits. A reset makes a new one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Makes the id of a session that begins at `at`; `random` keeps two of one second apart.
    pub fn new(at: Time, random: u32) -> Self {
        Self(format!("{}_{random:08x}", at.format("%Y%m%d_%H%M%S")))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SessionId {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let well_formed = text.len() == 24
            && text.bytes().enumerate().all(|(i, b)| match i {
                8 | 15 => b == b'_',
                0..=14 => b.is_ascii_digit(),
                _ => b.is_ascii_hexdigit(),
            });
        if well_formed { Ok(Self(text.to_owned())) } else { Err(KeyError::NotASessionId(text.to_owned())) }
    }
}

/// What kind of place a conversation is held in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatType {
    /// Two parties.
    Dm,
    /// Many people in one room.
    Group,
    /// A thread within a room.
    Thread,
    /// The runs of one scheduled task.
    Job,
}

impl ChatType {
    /// The word in keys, filters and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dm => "dm",
            Self::Group => "group",
            Self::Thread => "thread",
            Self::Job => "job",
        }
    }
}

impl FromStr for ChatType {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        match text {
            "dm" => Ok(Self::Dm),
            "group" => Ok(Self::Group),
            "thread" => Ok(Self::Thread),
            "job" => Ok(Self::Job),
            _ => Err(KeyError::ChatType(text.to_owned())),
        }
    }
}

/// The stable address of a conversation:
/// `agent:main:<platform>:<chat_type>:<chat_id>[:<thread_id>][:<participant>]`.
///
/// Built and parsed only here. Every part is free of separators, `..` and control characters, so
/// a key can be part of a file name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionKey {
    text: String,
}

/// The parts of a session key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyParts<'a> {
    /// Where the conversation lives: `local`, `telegram`, `cron`, …
    pub platform: &'a str,
    /// What kind of place it is.
    pub chat_type: ChatType,
    /// The place itself.
    pub chat_id: &'a str,
    /// The thread in it; comes before the participant.
    pub thread_id: Option<&'a str>,
    /// The person, where each has a session of their own.
    pub participant: Option<&'a str>,
}

const PREFIX: &str = "agent:main:";
const MAX_KEY_BYTES: usize = 256;

impl SessionKey {
    /// Builds the key of `parts`, or says which part can't be in a key.
    pub fn build(parts: KeyParts<'_>) -> Result<Self, KeyError> {
        let tail = [parts.thread_id, parts.participant];
        let named = [parts.platform, parts.chat_id].into_iter().chain(tail.into_iter().flatten());
        for part in named {
            check_part(part)?;
        }
        let mut text = format!("{PREFIX}{}:{}:{}", parts.platform, parts.chat_type.as_str(), parts.chat_id);
        for part in tail.into_iter().flatten() {
            text.push(':');
            text.push_str(part);
        }
        if text.len() > MAX_KEY_BYTES {
            return Err(KeyError::TooLong(text.len()));
        }
        Ok(Self { text })
    }

    /// The key of a session that the operator makes by name; the console's own is `console`.
    pub fn local(name: &str) -> Result<Self, KeyError> {
        Self::build(KeyParts {
            platform: "local",
            chat_type: ChatType::Dm,
            chat_id: name,
            thread_id: None,
            participant: None,
        })
    }

    /// The console's own session.
    pub fn console() -> Self {
        Self { text: format!("{PREFIX}local:dm:console") }
    }

    /// Reads what an operator typed: a whole key, or the bare name of a local session.
    pub fn from_operator(text: &str) -> Result<Self, KeyError> {
        if text.starts_with("agent:") { text.parse() } else { Self::local(text) }
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The parts of the key.
    pub fn parts(&self) -> KeyParts<'_> {
        // Both ways in (build, parse) have checked the shape: the fallbacks are never taken.
        split(&self.text).unwrap_or(KeyParts {
            platform: "local",
            chat_type: ChatType::Dm,
            chat_id: &self.text,
            thread_id: None,
            participant: None,
        })
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for SessionKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        Self::build(split(text)?)
    }
}

impl TryFrom<String> for SessionKey {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        text.parse()
    }
}

impl From<SessionKey> for String {
    fn from(key: SessionKey) -> Self {
        key.text
    }
}

fn split(text: &str) -> Result<KeyParts<'_>, KeyError> {
    let shape = || KeyError::Shape(text.to_owned());
    let rest = text.strip_prefix(PREFIX).ok_or_else(shape)?;
    let parts: Vec<&str> = rest.split(':').collect();
    let [platform, chat_type, chat_id, tail @ ..] = parts.as_slice() else {
        return Err(shape());
    };
    let chat_type: ChatType = chat_type.parse()?;
    // One part behind the chat is the thread in threads and the person in groups.
    let (thread_id, participant) = match tail {
        [] => (None, None),
        [one] if chat_type == ChatType::Group => (None, Some(*one)),
        [one] => (Some(*one), None),
        [thread, person] => (Some(*thread), Some(*person)),
        _ => return Err(shape()),
    };
    Ok(KeyParts { platform, chat_type, chat_id, thread_id, participant })
}

fn check_part(part: &str) -> Result<(), KeyError> {
    let refused = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control() || c.is_whitespace();
    if part.is_empty() || part == "." || part.contains("..") || part.contains(refused) {
        return Err(KeyError::Part(part.to_owned()));
    }
    Ok(())
}

/// A text that can't be a session key or a session id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not of the shape of a key.
    #[error(
        "{0:?} is no session key: write agent:main:<platform>:<chat_type>:<chat_id>, or the bare name of a local session"
    )]
    Shape(String),
    /// A chat type that does not exist.
    #[error("{0:?} is no chat type: one of dm, group, thread, job")]
    ChatType(String),
    /// A part that could leave a folder or break the key.
    #[error("{0:?} can't be part of a session key: no spaces, no / \\ : , no .. and no control characters")]
    Part(String),
    /// Longer than a key may be.
    #[error("a session key of {0} bytes is too long: at most 256")]
    TooLong(usize),
    /// Not of the shape of a session id.
    #[error("{0:?} is no session id: YYYYMMDD_HHMMSS_ and eight hex digits")]
    NotASessionId(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str) -> Result<SessionKey, KeyError> {
        text.parse()
    }

    #[test]
    fn the_thread_comes_before_the_participant() {
        let parts = KeyParts {
            platform: "telegram",
            chat_type: ChatType::Group,
            chat_id: "-100",
            thread_id: Some("7"),
            participant: Some("ann"),
        };
        let built = SessionKey::build(parts).unwrap();
        assert_eq!(built.as_str(), "agent:main:telegram:group:-100:7:ann");
        assert_eq!(built.parts(), parts);
    }

    #[test]
    fn one_part_behind_the_chat_is_the_person_in_groups_and_the_thread_elsewhere() {
        let group = key("agent:main:telegram:group:g:ann").unwrap();
        assert_eq!((group.parts().thread_id, group.parts().participant), (None, Some("ann")));
        let thread = key("agent:main:telegram:thread:g:7").unwrap();
        assert_eq!((thread.parts().thread_id, thread.parts().participant), (Some("7"), None));
    }

    #[test]
    fn an_operator_names_a_local_session_or_writes_the_whole_key() {
        assert_eq!(SessionKey::from_operator("console"), Ok(SessionKey::console()));
        assert_eq!(SessionKey::from_operator(SessionKey::console().as_str()), Ok(SessionKey::console()));
        assert!(matches!(SessionKey::from_operator("agent:else"), Err(KeyError::Shape(_))));
    }

    #[test]
    fn parts_that_could_leave_a_folder_or_break_the_key_are_refused() {
        for part in [
            "",
            ".",
            "..",
            "a..b",
            "a/b",
            "a\\b",
            "a:b",
            "a b",
            "a\u{0}b",
            "a\u{1b}b",
            "a\u{85}b",
            "a\u{2028}b",
        ] {
            assert!(SessionKey::local(part).is_err(), "{part:?}");
        }
        assert!(SessionKey::local("a.b-c_ü").is_ok());
    }

    #[test]
    fn wrong_keys_are_refused_with_what_is_wrong() {
        assert!(matches!(key("agent:main:local"), Err(KeyError::Shape(_))));
        assert!(matches!(key("agent:other:local:dm:x"), Err(KeyError::Shape(_))));
        assert!(matches!(key("agent:main:local:room:x"), Err(KeyError::ChatType(_))));
        assert!(matches!(key("agent:main:local:dm:a:b:c:d"), Err(KeyError::Shape(_))));
        assert!(matches!(SessionKey::local(&"x".repeat(300)), Err(KeyError::TooLong(_))));
    }

    #[test]
    fn a_session_id_is_its_time_and_eight_hex_digits() {
        let id = SessionId::new(Time::UNIX_EPOCH, 0xab);
        assert_eq!(id.as_str(), "19700101_000000_000000ab");
        assert_eq!(id.as_str().parse(), Ok(id));
        for wrong in ["", "19700101_000000_000000a", "19700101-000000_000000ab", "1970010x_000000_000000ab"] {
            assert!(wrong.parse::<SessionId>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_key_travels_as_text_and_is_checked_when_it_arrives() {
        let json = serde_json::to_string(&SessionKey::console()).unwrap();
        assert_eq!(json, "\"agent:main:local:dm:console\"");
        assert_eq!(serde_json::from_str::<SessionKey>(&json).unwrap(), SessionKey::console());
        assert!(serde_json::from_str::<SessionKey>("\"agent:main:local:dm:../x\"").is_err());
    }

    proptest! {
        #[test]
        fn a_key_that_is_built_is_parsed_to_the_same_parts(
            platform in "[a-z]{1,8}",
            chat_id in "[a-zA-Z0-9_-]{1,12}",
            thread_id in proptest::option::of("[0-9]{1,5}"),
            participant in proptest::option::of("[a-z]{1,6}"),
            group in any::<bool>(),
        ) {
            let chat_type = if group { ChatType::Group } else { ChatType::Thread };
            // A lone thread in a group and a lone person in a thread have no form of their own.
            let ambiguous = if group {
                thread_id.is_some() && participant.is_none()
            } else {
                thread_id.is_none() && participant.is_some()
            };
            prop_assume!(!ambiguous);
            let (thread_id, participant) = (thread_id.as_deref(), participant.as_deref());
            let parts = KeyParts { platform: &platform, chat_type, chat_id: &chat_id, thread_id, participant };
            let built = SessionKey::build(parts).unwrap();
            let parsed: SessionKey = built.as_str().parse().unwrap();
            prop_assert_eq!(parsed.parts(), parts);
        }

        #[test]
        fn no_text_makes_a_key_that_could_leave_a_folder(text in any::<String>()) {
            if let Ok(key) = SessionKey::from_operator(&text) {
                prop_assert!(!key.as_str().contains(['/', '\\']) && !key.as_str().contains(".."));
                prop_assert!(!key.as_str().contains(char::is_control));
                prop_assert_eq!(key.as_str().parse::<SessionKey>(), Ok(key.clone()));
            }
        }
    }
}
