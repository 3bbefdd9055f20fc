//! Conversations of a host application: their keys, and the state that host and runtimes share.
//!
//! A host names a conversation, optionally with a user; that names one session key for ever. Beside it
//! stands a JSON object, `agent_state`, of which a runtime writes only its own part. Ours is
//! `runtime_state.switchboard`, and `runtime` when a turn of ours begins; every other byte stays.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Time;
use super::id::{ChatType, KeyError, KeyParts, SessionId, SessionKey};
use super::json::{members, offset};
use super::session::Health;

/// The platform in the keys of host conversations: its users read answers by a program.
pub const PLATFORM: &str = "api_server";
/// Our name among the runtimes.
pub const RUNTIME: &str = "switchboard";

/// A conversation of a host application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostConversation {
    /// The host's id of it.
    pub id: String,
    /// Whose, where each user has a session of his own.
    pub user: Option<String>,
    /// The key of its sessions.
    pub key: SessionKey,
    /// What is live there.
    pub session: Option<SessionId>,
    /// The state that host and runtimes share: a JSON object, as it was written.
    pub agent_state: String,
}

/// The key of a host's conversation: a room where each user has a session of his own, else a talk of two.
pub fn key_of(id: &str, user: Option<&str>) -> Result<SessionKey, KeyError> {
    let chat_type = if user.is_some() { ChatType::Group } else { ChatType::Dm };
    SessionKey::build(KeyParts {
        platform: PLATFORM,
        chat_type,
        chat_id: id,
        thread_id: None,
        participant: user,
    })
}

/// The host's id and user in a key; none if the key is no host conversation's.
pub fn named_by(key: &SessionKey) -> Option<(&str, Option<&str>)> {
    let parts = key.parts();
    (parts.platform == PLATFORM).then_some((parts.chat_id, parts.participant))
}

/// What we tell of ourselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuntimeState {
    /// The session that is live.
    pub session_id: SessionId,
    /// When a turn last used its agent.
    pub last_used_at: Time,
    /// How often a failing handle was replaced.
    pub restart_count: u32,
    /// How it fares.
    pub status: Health,
}

/// What our writing means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// A turn of ours begins: we are the runtime now.
    TurnBegins,
    /// Only what we know of ourselves; a host that switched away stays switched.
    Facts,
}

/// Why a text is no agent state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Not JSON.
    #[error("it is no JSON: {0}")]
    NotJson(String),
    /// Not an object, or its `runtime_state` is none.
    #[error("{0} must be a JSON object")]
    NotAnObject(&'static str),
}

/// Refuses a text that is no agent state.
pub fn check_state(text: &str) -> Result<(), StateError> {
    let whole: Value = serde_json::from_str(text).map_err(not_json)?;
    let object = whole.as_object().ok_or(StateError::NotAnObject("agent_state"))?;
    match object.get("runtime_state") {
        None | Some(Value::Object(_)) => Ok(()),
        Some(_) => Err(StateError::NotAnObject("runtime_state")),
    }
}

/// The state with our part written anew; all other bytes are as they were.
pub fn with_ours(text: &str, ours: &RuntimeState, writing: Writing) -> Result<String, StateError> {
    check_state(text)?;
    let object = serde_json::to_string(ours).map_err(not_json)?;
    let runtimes = member(text, "runtime_state")?.map_or("{}", |(runtimes, _)| runtimes);
    let text = with_member(text, "runtime_state", &with_member(runtimes, RUNTIME, &object)?)?;
    match writing {
        Writing::TurnBegins => with_member(&text, "runtime", &format!("{RUNTIME:?}")),
        Writing::Facts => Ok(text),
    }
}

/// Puts a member's value in place of the one before, or the member at the end.
fn with_member(object: &str, name: &str, value: &str) -> Result<String, StateError> {
    if let Some((before, at)) = member(object, name)? {
        let (head, tail) = (&object[..at], &object[at + before.len()..]);
        return Ok(format!("{head}{value}{tail}"));
    }
    let open = object.trim_end().strip_suffix('}').ok_or(StateError::NotAnObject("agent_state"))?;
    let (members, tail) = object.split_at(open.trim_end().len());
    let comma = if members.ends_with('{') { "" } else { "," };
    Ok(format!("{members}{comma}{name:?}:{value}{tail}"))
}

/// A member's value as it is written, and where it begins. Of several the last counts, as in JSON's use.
fn member<'a>(object: &'a str, name: &str) -> Result<Option<(&'a str, usize)>, StateError> {
    let found = members(object).map_err(not_json)?.into_iter().rev().find(|member| member.name == name);
    Ok(found.map(|member| (member.value, offset(object, member.value))))
}

fn not_json(error: serde_json::Error) -> StateError {
    StateError::NotJson(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = r#"{"session_id":"19700101_000000_00000007","last_used_at":"1970-01-01T00:00:00Z","restart_count":0,"status":"healthy"}"#;

    fn ours() -> RuntimeState {
        RuntimeState {
            session_id: SessionId::new(Time::UNIX_EPOCH, 7),
            last_used_at: Time::UNIX_EPOCH,
            restart_count: 0,
            status: Health::Healthy,
        }
    }

    #[test]
    fn only_our_object_and_the_runtime_are_written_and_every_other_byte_stays() {
        for (before, after) in [
            ("{}", r#"{"runtime_state":{"switchboard":OURS},"runtime":"switchboard"}"#),
            (" { } \n", " {\"runtime_state\":{\"switchboard\":OURS},\"runtime\":\"switchboard\" } \n"),
            (
                r#"{ "n" : 1.50e+3 , "runtime":"hermes", "runtime_state" : { "hermes": {"x":"\u00e9"} } , "z":[1, 2] }"#,
                r#"{ "n" : 1.50e+3 , "runtime":"switchboard", "runtime_state" : { "hermes": {"x":"\u00e9"},"switchboard":OURS } , "z":[1, 2] }"#,
            ),
            (
                r#"{"runtime_state":{"switchboard":  {"old":true} ,"a":1},"runtime" : null}"#,
                r#"{"runtime_state":{"switchboard":  OURS ,"a":1},"runtime" : "switchboard"}"#,
            ),
        ] {
            let written = with_ours(before, &ours(), Writing::TurnBegins).unwrap();
            assert_eq!(written, after.replace("OURS", OURS));
            assert_eq!(with_ours(&written, &ours(), Writing::TurnBegins).unwrap(), written);
        }
    }

    #[test]
    fn a_host_that_switched_away_stays_switched() {
        let written = with_ours(r#"{"runtime":"hermes"}"#, &ours(), Writing::Facts).unwrap();
        assert!(written.starts_with(r#"{"runtime":"hermes","runtime_state""#), "{written}");
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["", "[]", "1", "{", r#"{"runtime_state":null}"#, r#"{"runtime_state":[]}"#, "{} {}"] {
            assert!(check_state(text).is_err(), "{text:?}");
            assert!(with_ours(text, &ours(), Writing::Facts).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_key_names_its_conversation_and_ids_that_cannot_be_in_one_are_refused() {
        for (id, user, text) in [
            ("c1", None, "agent:main:api_server:dm:c1"),
            ("c1", Some("ann"), "agent:main:api_server:group:c1:ann"),
        ] {
            let key = key_of(id, user).unwrap();
            assert_eq!(key.as_str(), text);
            assert_eq!(named_by(&text.parse().unwrap()), Some((id, user)));
        }
        assert_eq!(named_by(&SessionKey::console()), None);
        for id in ["", "a/b", "..", "a:b", "a b", "a\n"] {
            assert!(key_of(id, None).is_err(), "{id:?}");
            assert!(key_of("c", Some(id)).is_err(), "{id:?}");
        }
    }
}
