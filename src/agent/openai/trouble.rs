//! What can go wrong with a server, in one line for a person.

use std::error::Error;
use std::time::{Duration, SystemTime};

use chrono::TimeDelta;
use reqwest::header::{LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use tokio::time::timeout;

use super::chunk::{self, ServerError};
use super::key::Key;
use super::retry;
use super::server::Server;
use crate::agent::AgentError;
use crate::config::{OpenAiConfig, Secrets};
use crate::domain::event::excerpt_of;
use crate::domain::took::took;

const SHOWN_CHARS: usize = 300;
const READ_BYTES: usize = 64 * 1024;

/// Why a try gave no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Another try would end the same way, or part of the answer was passed on already.
    Lasting(String),
    /// What was sent is longer than what the model takes at once.
    TooLong {
        /// What the server said.
        why: String,
        /// How many tokens that is, where it says so.
        window: Option<u64>,
    },
    /// Another try may succeed.
    Passing {
        /// What happened.
        why: String,
        /// How long the server asks to wait.
        wait: Option<Duration>,
    },
}

impl Trouble {
    /// What happened, in one line.
    pub(super) fn why(self) -> String {
        let (Self::Lasting(why) | Self::TooLong { why, .. } | Self::Passing { why, .. }) = self;
        why
    }

    /// The failure of a turn. What is too long stays too long, so the way out is named.
    pub(super) fn failed(self) -> AgentError {
        AgentError::Failed(match self {
            Self::TooLong { why, .. } => format!("{why}; /new begins a shorter conversation"),
            other => other.why(),
        })
    }
}

/// No connection, or one that broke before the server said anything.
pub(super) fn unreachable(server: &Server, config: &OpenAiConfig, error: &reqwest::Error) -> Trouble {
    let why = if error.is_builder() {
        return Trouble::Lasting(format!("the request to {server} can't be made: {}", innermost(error)));
    } else if error.is_timeout() {
        format!(
            "no connection to {server} within {} s ({})",
            config.connect_timeout.as_secs_f64(),
            config.section.setting("connect_timeout_seconds")
        )
    } else if error.is_connect() {
        format!("can't reach {server} ({}): {}", config.section.setting("base_url"), innermost(error))
    } else {
        format!("the connection to {server} broke: {}", innermost(error))
    };
    Trouble::Passing { why, wait: None }
}

/// A server that took the request and then said nothing. It may still work on it, so it isn't asked twice.
pub(super) fn stalled(server: &Server, config: &OpenAiConfig) -> Trouble {
    Trouble::Lasting(format!(
        "{server} was silent for {} s ({})",
        config.stall_timeout.as_secs_f64(),
        config.section.setting("stall_timeout_seconds")
    ))
}

/// A server that does not even say in time which models it has.
pub(super) fn without_list(server: &Server, config: &OpenAiConfig) -> Trouble {
    Trouble::Lasting(format!(
        "{server} did not list its models within {} s ({})",
        config.connect_timeout.as_secs_f64(),
        config.section.setting("connect_timeout_seconds")
    ))
}

/// A server that only shows that it lives. It isn't asked twice either.
pub(super) fn says_nothing(server: &Server, config: &OpenAiConfig, patience: Duration) -> Trouble {
    Trouble::Lasting(format!(
        "{server} sent signs of life for {} s and nothing of an answer (ten times {})",
        patience.as_secs_f64(),
        config.section.setting("stall_timeout_seconds")
    ))
}

/// A server that asks for a longer pause than a turn makes: an earlier try would be refused as well.
pub(super) fn asks_for_patience(why: &str, wait: Duration) -> Trouble {
    Trouble::Lasting(format!(
        "{why}; it can be asked again in {} (a turn waits {} s at most)",
        took(TimeDelta::from_std(wait).unwrap_or(TimeDelta::MAX)),
        retry::LONGEST_ASKED.as_secs()
    ))
}

/// A server that answered with a refusal.
pub(super) async fn refused(
    server: &Server,
    config: &OpenAiConfig,
    key: Option<&Key>,
    response: Response,
) -> Trouble {
    let status = response.status();
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (wait, location) = (header(RETRY_AFTER), header(LOCATION));
    let wait = wait.and_then(|wait| retry::asked(&wait, SystemTime::now()));
    let error = read_refusal(response, config.stall_timeout).await;
    let said = told(&error.message, key);
    let because = if said.is_empty() { String::new() } else { format!(": {said}") };
    match status.as_u16() {
        300..=399 => Trouble::Lasting(format!(
            "{server} redirects to {}: set {} to where it is",
            told(location.as_deref().unwrap_or("nowhere"), key),
            config.section.setting("base_url")
        )),
        401 | 403 => Trouble::Lasting(format!(
            "{server} refuses {} ({status}){because}; {}",
            if key.is_some() { "the key" } else { "a request without a key" },
            key_places(config)
        )),
        404 => Trouble::Lasting(format!(
            "{server} knows no model {:?}, or {} is wrong ({status}){because}",
            config.model,
            config.section.setting("base_url")
        )),
        429 if error.code == "insufficient_quota" => {
            Trouble::Lasting(format!("the quota at {server} is used up ({status}){because}"))
        }
        408 | 429 | 500..=599 => {
            Trouble::Passing { why: format!("{server} can't answer now ({status}){because}"), wait }
        }
        _ => {
            let why = format!("{server} refuses the request ({status}){because}");
            match status.as_u16() {
                400 | 413 | 422 if too_long(&error) => Trouble::TooLong { why, window: error.window },
                _ => Trouble::Lasting(why),
            }
        }
    }
}

/// A failure in the middle of a stream.
pub(super) fn told_in_stream(server: &Server, key: Option<&Key>, error: &ServerError) -> Trouble {
    let why = format!("{server} failed while it answered: {}", told(&error.message, key));
    let status = error.code.parse().ok().and_then(|code| StatusCode::from_u16(code).ok());
    match status {
        Some(status) if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            Trouble::Passing { why, wait: None }
        }
        _ if too_long(error) => Trouble::TooLong { why, window: error.window },
        _ => Trouble::Lasting(why),
    }
}

/// Whether a server says that more was sent than the model takes at once.
fn too_long(error: &ServerError) -> bool {
    const CODES: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];
    const WORDS: [&str; 6] = [
        "context length",
        "context size",
        "context window",
        "context_length",
        "prompt is too long",
        "too many tokens",
    ];
    let message = error.message.to_lowercase();
    CODES.contains(&error.code.as_str()) || WORDS.iter().any(|words| message.contains(words))
}

/// The words at the bottom of a chain of errors; the ones above repeat the URL, which may hold a secret.
pub(super) fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// A text of the server for an error: one line, not long, without keys.
pub(super) fn told(text: &str, key: Option<&Key>) -> String {
    let text = key.map_or_else(|| text.to_owned(), |key| key.redact(text));
    excerpt_of(&Secrets::known().hide(text), SHOWN_CHARS)
}

fn key_places(config: &OpenAiConfig) -> String {
    let [variable, file] = ["api_key_env", "api_key_file"].map(|name| config.section.setting(name));
    let variable = format!("the environment variable {} ({variable})", config.api_key_env);
    match &config.api_key_file {
        Some(path) => format!("check {variable} or the file {} ({file})", path.display()),
        None => format!("check {variable}, or name a file with {file}"),
    }
}

/// Reads the beginning of a refusal's body, and no longer than the stall time.
async fn read_refusal(mut response: Response, stall: Duration) -> ServerError {
    let mut bytes = Vec::new();
    let read = async {
        while let Ok(Some(piece)) = response.chunk().await {
            bytes.extend_from_slice(&piece);
            if bytes.len() > READ_BYTES {
                break;
            }
        }
    };
    // A refusal that does not end is told with what came of it.
    let _ = timeout(stall, read).await;
    let text = String::from_utf8_lossy(&bytes);
    let value = serde_json::from_str(&text).unwrap_or(serde_json::Value::Null);
    let plain = ["message", "detail"].iter().find_map(|name| value[name].as_str());
    chunk::error(&value).unwrap_or_else(|| ServerError {
        message: match plain {
            Some(message) => message.to_owned(),
            None if text.trim_start().starts_with('<') => "a web page".to_owned(),
            None => text.into_owned(),
        },
        ..ServerError::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_one_short_line() {
        assert_eq!(told("a\n  b\tc ", None), "a b c");
        let long = told(&"ü".repeat(1000), None);
        assert_eq!(long.chars().count(), SHOWN_CHARS + 1);
        assert!(long.ends_with('…'));
    }
}
