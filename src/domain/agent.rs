//! Agents by name, and which of them works in a session.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::id::SessionKey;
use super::nearest::nearest;

/// The name of an agent in the settings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentName(String);

impl AgentName {
    /// The name of the one that `[agent]` sets up.
    pub const DEFAULT: &str = "default";
    /// What a name is made of, in words.
    pub const ALLOWED: &str = "letters, digits, _ and -";

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for AgentName {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for AgentName {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let whole = !text.is_empty() && text.len() <= MOST_BYTES && text.chars().all(fits);
        if whole { Ok(Self(text.to_owned())) } else { Err(NotAName(text.to_owned())) }
    }
}

const MOST_BYTES: usize = 64;

/// What can't be the name of an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no name of an agent: it takes at most 64 letters, digits, _ and -")]
pub struct NotAName(String);

/// The agents of a home, and who works where nobody chose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roster {
    /// Each by its name; the default one is among them.
    pub known: BTreeMap<AgentName, KnownAgent>,
    /// Who works on a platform where its session has chosen none; else the default one.
    pub by_platform: BTreeMap<String, AgentName>,
}

/// What is known of an agent by its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownAgent {
    /// Its backend and model as a screen shows it: `practice agent, offline`.
    pub label: String,
    /// Whether its turns take text while they run.
    pub steerable: bool,
}

impl Roster {
    /// Who works in a session: the one that its job names, else the one that was chosen for it, else the one of
    /// its platform, else the default one. It may be one that is not known.
    pub fn agent_of(
        &self,
        key: &SessionKey,
        job: Option<&AgentName>,
        chosen: Option<&AgentName>,
    ) -> AgentName {
        let platform = || self.by_platform.get(key.parts().platform);
        job.or(chosen).or_else(platform).cloned().unwrap_or_default()
    }

    /// Whether turns of an agent take text while they run.
    pub fn is_steerable(&self, name: &AgentName) -> bool {
        self.known.get(name).is_some_and(|known| known.steerable)
    }

    /// What a screen calls an agent: the label of the default one, else with its name: `coder: ACP agent x`.
    pub fn label(&self, name: &AgentName) -> String {
        match self.known.get(name) {
            Some(known) if name.as_str() == AgentName::DEFAULT => known.label.clone(),
            Some(known) => format!("{name}: {}", known.label),
            None if self.known.is_empty() => "no engine".to_owned(),
            None => format!("{name}: not in config.toml"),
        }
    }

    /// The agent of that name, among those that are known.
    pub fn find(&self, name: &AgentName) -> Result<&KnownAgent, UnknownAgent> {
        self.known.get(name).ok_or_else(|| self.unknown(name.as_str()))
    }

    /// All of them, in words.
    pub fn there_are(&self) -> String {
        let known: Vec<&str> = self.known.keys().map(AgentName::as_str).collect();
        format!("there are {}", known.join(", "))
    }

    /// That there is none of that name.
    pub fn unknown(&self, name: &str) -> UnknownAgent {
        let known: Vec<&str> = self.known.keys().map(AgentName::as_str).collect();
        let near = nearest(name, known.iter().copied()).map(str::to_owned);
        UnknownAgent { name: name.to_owned(), near, known: known.join(", ") }
    }
}

/// An agent that the settings don't know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAgent {
    name: String,
    near: Option<String>,
    known: String,
}

impl std::error::Error for UnknownAgent {}

impl fmt::Display for UnknownAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, near, known } = self;
        write!(f, "there is no agent {name:?}")?;
        if let Some(near) = near {
            write!(f, "; did you mean {near:?}?")?;
        }
        write!(f, " (there are {known}; [agents.NAME] in config.toml sets one up)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> AgentName {
        text.parse().unwrap()
    }

    fn roster() -> Roster {
        let known = |label: &str| KnownAgent { label: label.to_owned(), steerable: label == "b" };
        Roster {
            known: [("default", "a"), ("coder", "b")].map(|(of, label)| (name(of), known(label))).into(),
            by_platform: [("telegram".to_owned(), name("coder"))].into(),
        }
    }

    #[test]
    fn the_job_comes_first_then_the_session_then_the_platform() {
        let (here, there) = ("agent:main:local:dm:console", "agent:main:telegram:dm:7");
        let (job, chosen) = (name("j"), name("c"));
        let table = [
            (here, None, None, "default"),
            (there, None, None, "coder"),
            (there, None, Some(&chosen), "c"),
            (there, Some(&job), Some(&chosen), "j"),
            (here, Some(&job), None, "j"),
        ];
        for (key, job, chosen, expected) in table {
            assert_eq!(roster().agent_of(&key.parse().unwrap(), job, chosen), name(expected));
        }
    }

    #[test]
    fn an_agent_is_called_by_name_unless_it_is_the_default_one() {
        let labels = ["default", "coder", "gone"].map(|of| roster().label(&name(of)));
        assert_eq!(labels, ["a", "coder: b", "gone: not in config.toml"]);
        assert_eq!([true, false], ["coder", "gone"].map(|of| roster().is_steerable(&name(of))));
        let refused = roster().find(&name("codr")).unwrap_err().to_string();
        let expected = "there is no agent \"codr\"; did you mean \"coder\"? (there are coder, default; [agents.NAME] in config.toml sets one up)";
        assert_eq!(refused, expected);
    }

    #[test]
    fn names_are_short_and_need_no_quotes() {
        for wrong in ["", "a b", "a.b", "ä", &"x".repeat(65)] {
            assert!(wrong.parse::<AgentName>().is_err(), "{wrong}");
        }
    }
}
