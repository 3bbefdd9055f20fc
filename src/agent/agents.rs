//! The agents of a home, by name.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{Backend, BuildError, build};
use crate::config::Config;
use crate::domain::agent::{AgentName, KnownAgent, Roster};

/// The backends that the settings name, each made.
#[derive(Clone)]
pub struct Agents {
    by_name: BTreeMap<AgentName, Arc<dyn Backend>>,
    by_platform: BTreeMap<String, AgentName>,
}

impl Agents {
    /// Makes all that the settings name. `home` is where commands and tools work that name no folder.
    ///
    /// # Errors
    /// Where a setting that one of them needs is missing or can't be used.
    pub fn build(config: &Config, home: &Path) -> Result<Self, BuildError> {
        let keys = config.keys();
        let mut agents = Self::only(build(&config.agent, &keys, home)?);
        for (name, config) in &config.agents {
            agents.by_name.insert(name.clone(), build(config, &keys, home)?);
        }
        Ok(agents.on_platforms(config.agent_platforms.clone()))
    }

    /// The default one alone.
    pub fn only(backend: Arc<dyn Backend>) -> Self {
        Self { by_name: [(AgentName::default(), backend)].into(), by_platform: BTreeMap::new() }
    }

    /// These and another one.
    pub fn with(mut self, name: AgentName, backend: Arc<dyn Backend>) -> Self {
        self.by_name.insert(name, backend);
        self
    }

    /// The same, with those who work on some platforms.
    pub fn on_platforms(mut self, by_platform: BTreeMap<String, AgentName>) -> Self {
        self.by_platform = by_platform;
        self
    }

    /// The one of that name.
    pub fn get(&self, name: &AgentName) -> Option<&Arc<dyn Backend>> {
        self.by_name.get(name)
    }

    /// Each with its name.
    pub fn all(&self) -> impl Iterator<Item = (&AgentName, &Arc<dyn Backend>)> {
        self.by_name.iter()
    }

    /// What the rules and the screens know of them.
    pub fn roster(&self) -> Roster {
        let known = |backend: &Arc<dyn Backend>| KnownAgent {
            label: backend.label(),
            steerable: backend.steerable(),
        };
        Roster {
            known: self.by_name.iter().map(|(name, backend)| (name.clone(), known(backend))).collect(),
            by_platform: self.by_platform.clone(),
        }
    }
}
