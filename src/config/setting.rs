//! A setting: its key, what it is for, and what it takes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::settings::Config;
use crate::domain::agent::AgentName;

/// A setting's declaration.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its dotted key. A duration's key names its unit.
    pub key: &'static str,
    /// What it is for, in whole sentences.
    pub about: &'static str,
    /// What it takes, its default, and where its value goes.
    pub takes: Takes,
    /// The agent backend that can't do without it.
    pub needed_by: Option<&'static str>,
}

/// What a setting takes.
#[derive(Debug, Clone, Copy)]
pub enum Takes {
    /// A whole number within limits.
    Whole {
        /// Where nothing is set.
        default: u64,
        /// The least.
        min: u64,
        /// The most.
        max: u64,
        /// Keeps it.
        put: fn(&mut Config, u64),
    },
    /// An amount of money, by default 0.
    Amount {
        /// Keeps it, in millionths.
        put: fn(&mut Config, u64),
    },
    /// `true` or `false`.
    Switch {
        /// Where nothing is set.
        default: bool,
        /// Keeps it.
        put: fn(&mut Config, bool),
    },
    /// One of a few words.
    Choice {
        /// Where nothing is set.
        default: &'static str,
        /// All of them.
        words: &'static [&'static str],
        /// Keeps it; none for a word that is none of them.
        put: fn(&mut Config, &str) -> Option<()>,
    },
    /// A list of some of a few words, each once.
    Words {
        /// Where nothing is set.
        default: &'static [&'static str],
        /// All of them.
        words: &'static [&'static str],
        /// Keeps them; none where one is none of them.
        put: fn(&mut Config, &[String]) -> Option<()>,
    },
    /// Any text but an empty one.
    Text {
        /// For the documentation: nothing is set by default.
        example: &'static str,
        /// Keeps it.
        put: fn(&mut Config, String),
    },
    /// An `http` or `https` address without a password in it.
    Url {
        /// For the documentation: nothing is set by default.
        example: &'static str,
        /// Keeps it.
        put: fn(&mut Config, String),
    },
    /// The name of an environment variable.
    Variable {
        /// Where nothing is set.
        default: &'static str,
        /// Keeps it.
        put: fn(&mut Config, String),
    },
    /// A path; `~/` is the user's folder, a relative one begins in the home.
    Path {
        /// For the documentation: nothing is set by default.
        example: &'static str,
        /// Keeps it.
        put: fn(&mut Config, PathBuf),
    },
    /// A program and its arguments.
    Argv {
        /// For the documentation: nothing is set by default.
        example: &'static [&'static str],
        /// Keeps it.
        put: fn(&mut Config, Vec<String>),
    },
    /// A list of beginnings of simple shell commands.
    Commands {
        /// For the documentation: nothing is set by default.
        example: &'static [&'static str],
        /// Keeps it.
        put: fn(&mut Config, Vec<String>),
    },
    /// A list of platforms' names.
    Platforms {
        /// Where nothing is set.
        default: &'static [&'static str],
        /// Keeps it.
        put: fn(&mut Config, Vec<String>),
    },
    /// A table from platforms to the names of agents.
    AgentOfPlatform {
        /// For the documentation: nothing is set by default.
        example: (&'static str, &'static str),
        /// Keeps it.
        put: fn(&mut Config, BTreeMap<String, AgentName>),
    },
    /// The IANA name of a time zone; the system's where nothing is set.
    Zone {
        /// For the documentation.
        example: &'static str,
        /// Keeps it.
        put: fn(&mut Config, chrono_tz::Tz),
    },
}

impl Setting {
    /// The section it stands in; empty at the top of the file.
    pub fn section(&self) -> &'static str {
        self.key.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Its name within the section.
    pub fn name(&self) -> &'static str {
        self.key.rsplit_once('.').map_or(self.key, |(_, name)| name)
    }
}

impl Takes {
    /// What is allowed, in words that follow "takes".
    pub fn allowed(&self) -> String {
        match self {
            Self::Whole { min, max, .. } => format!("a whole number from {min} to {max}"),
            Self::Amount { .. } => "a number from 0, with at most six digits behind the point".to_owned(),
            Self::Switch { .. } => "true or false".to_owned(),
            Self::Choice { words, .. } => Self::one_of(words),
            Self::Words { words, .. } => format!("a list with any of {}, each once", Self::quoted(words)),
            Self::Text { .. } => "a text that is not empty".to_owned(),
            Self::Url { .. } => "an http or https address without a user or password in it".to_owned(),
            Self::Variable { .. } => {
                "the name of an environment variable: letters, digits and _, no digit first".to_owned()
            }
            Self::Path { .. } => "a path as text".to_owned(),
            Self::Argv { .. } => "a list of texts, the program first".to_owned(),
            Self::Commands { .. } => {
                "a list of beginnings of single simple commands, without any of ; & | ( ) $ ` < > \\"
                    .to_owned()
            }
            Self::Platforms { .. } => {
                "a list of platforms' names, each of letters, digits, _ and -".to_owned()
            }
            Self::AgentOfPlatform { .. } => {
                format!("a table from platforms to names of agents ({})", AgentName::ALLOWED)
            }
            Self::Zone { .. } => "the IANA name of a time zone".to_owned(),
        }
    }

    pub(super) fn one_of(words: &[&str]) -> String {
        format!("one of {}", Self::quoted(words))
    }

    fn quoted(words: &[&str]) -> String {
        let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        quoted.join(", ")
    }

    /// The value where nothing is set, as TOML; none where nothing is set by default.
    pub fn default_value(&self) -> Option<toml::Value> {
        match *self {
            Self::Whole { default, .. } => i64::try_from(default).ok().map(toml::Value::Integer),
            Self::Amount { .. } => Some(toml::Value::Integer(0)),
            Self::Switch { default, .. } => Some(toml::Value::Boolean(default)),
            Self::Choice { default, .. } | Self::Variable { default, .. } => {
                Some(toml::Value::String(default.to_owned()))
            }
            Self::Words { default, .. } | Self::Platforms { default, .. } => Some(texts(default)),
            Self::Text { .. }
            | Self::Url { .. }
            | Self::Path { .. }
            | Self::Argv { .. }
            | Self::Commands { .. }
            | Self::AgentOfPlatform { .. }
            | Self::Zone { .. } => None,
        }
    }

    /// A value to show where nothing is set by default, as TOML.
    pub fn example(&self) -> Option<toml::Value> {
        match *self {
            Self::Text { example, .. }
            | Self::Url { example, .. }
            | Self::Path { example, .. }
            | Self::Zone { example, .. } => Some(toml::Value::String(example.to_owned())),
            Self::Argv { example, .. } | Self::Commands { example, .. } => Some(texts(example)),
            Self::AgentOfPlatform { example: (platform, agent), .. } => {
                let table = [(platform.to_owned(), agent.into())];
                Some(toml::Value::Table(table.into_iter().collect()))
            }
            Self::Whole { .. }
            | Self::Amount { .. }
            | Self::Switch { .. }
            | Self::Choice { .. }
            | Self::Words { .. }
            | Self::Variable { .. }
            | Self::Platforms { .. } => None,
        }
    }
}

/// Whether a platform can have the name: what stands in a session key and needs no quotes in TOML.
pub(super) fn is_platform_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn texts(words: &[&str]) -> toml::Value {
    toml::Value::Array(words.iter().map(|&word| word.into()).collect())
}
