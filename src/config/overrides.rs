//! Tables that the operator names: each sets some settings of a section anew, for one name alone.
//!
//! What such a setting takes is declared once, in [`TABLE`], for the section itself.

use super::setting::{Setting, Takes, is_platform_name};
use super::settings::Config;
use super::table::TABLE;
use crate::domain::agent::AgentName;
use crate::domain::nearest::nearest;

/// A section of tables that the operator names.
#[derive(Debug, Clone, Copy)]
pub struct Overrides {
    /// Its dotted key.
    pub key: &'static str,
    /// The section whose settings its tables set anew.
    pub of: &'static str,
    /// What it is for, in whole sentences.
    pub about: &'static str,
    /// What its tables are named by.
    pub names: Names,
    /// The settings that its tables can set; what one leaves out is as in the section.
    pub settings: Anew,
    /// A table for the documentation: its name and its value as TOML.
    pub example: (&'static str, &'static str),
    /// Keeps what applies to a name, out of the configuration as it would be if the name's table
    /// stood in the section itself; none for a name that does not exist.
    pub keep: fn(&mut Config, &str, &Config) -> Option<()>,
}

/// The settings of a section that a table can set anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anew {
    /// Those of these names.
    These(&'static [&'static str]),
    /// All in it and in the sections below, but one.
    AllBut(&'static str),
}

/// What tables are named by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Any platform.
    Platforms,
    /// Any model.
    Models,
    /// Any name but that of the default agent.
    Agents,
    /// A few words.
    Words(&'static [&'static str]),
}

/// Every section of tables that the operator names, in the order of the documentation.
pub const OVERRIDES: &[Overrides] = &[
    Overrides {
        key: "agent.openai.models",
        about: "What is so of one model, for /model and scheduled tasks that name it. Of one without a table only what the server tells is known. An agent of [agents] has these and those of its own, as [agents.NAME.openai.models].",
        of: "agent.openai",
        names: Names::Models,
        settings: Anew::These(&["context_tokens", "price_input", "price_output", "price_cached"]),
        example: ("\"qwen3:32b\"", "{ context_tokens = 32768, price_input = 0.2, price_output = 0.6 }"),
        keep: |config, model, special| {
            config.agent.openai.models.insert(model.to_owned(), special.agent.openai.facts);
            Some(())
        },
    },
    Overrides {
        key: "agents",
        of: "agent",
        about: "More agents by name, each whole, beside the default one that [agent] sets up: for a session (/agent NAME), for a platform (agent.platforms), for a scheduled task (its field agent).",
        names: Names::Agents,
        settings: Anew::AllBut("platforms"),
        example: ("coder", r#"{ backend = "acp", acp.argv = ["opencode", "acp"] }"#),
        keep: |config, name, special| {
            let name = name.parse().ok()?;
            let agent = special.agent.clone().named(&name);
            config.agents.insert(name, agent);
            Some(())
        },
    },
    Overrides {
        key: "session_reset.platforms",
        of: "session_reset",
        about: "The policy of one platform, which goes before all others.",
        names: Names::Platforms,
        settings: Anew::These(RESET_POLICY),
        example: ("telegram", r#"{ mode = "daily", at_hour = 6 }"#),
        keep: |config, platform, special| {
            config.session_reset.by_platform.insert(platform.to_owned(), special.session_reset.default);
            Some(())
        },
    },
    Overrides {
        key: "session_reset.chat_types",
        of: "session_reset",
        about: "The policy of one kind of chat, for platforms that have none of their own.",
        names: Names::Words(&["dm", "group", "thread"]),
        settings: Anew::These(RESET_POLICY),
        example: ("group", r#"{ mode = "idle", idle_minutes = 120 }"#),
        keep: |config, chat_type, special| {
            let chat_type = chat_type.parse().ok()?;
            config.session_reset.by_chat_type.insert(chat_type, special.session_reset.default);
            Some(())
        },
    },
];

const RESET_POLICY: &[&str] = &["mode", "idle_minutes", "at_hour"];

impl Overrides {
    /// The section that it stands in.
    pub fn section(&self) -> &'static str {
        self.key.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Its name within the section.
    pub fn name(&self) -> &'static str {
        self.key.rsplit_once('.').map_or(self.key, |(_, name)| name)
    }

    /// The settings of the section that its tables can set.
    pub fn overridden(&self) -> impl Iterator<Item = &'static Setting> {
        let overrides = *self;
        TABLE.iter().filter(move |setting| overrides.place_of(setting).is_some())
    }

    /// The section of tables that stands at a place within a table, as models do within an agent.
    pub fn named_at(&self, place: &str) -> Option<&'static Overrides> {
        let whole = matches!(self.settings, Anew::AllBut(_));
        OVERRIDES.iter().find(|inner| whole && inner.key == format!("{}.{place}", self.of))
    }

    /// Where a setting stands within a table: its key behind that of the section. None for one that tables can't set.
    pub fn place_of(&self, setting: &Setting) -> Option<&'static str> {
        let place = setting.key.strip_prefix(self.of)?.strip_prefix('.')?;
        let can_be_set = match self.settings {
            Anew::These(names) => names.contains(&place),
            Anew::AllBut(name) => place != name,
        };
        can_be_set.then_some(place)
    }

    /// What is allowed, in words that follow "takes".
    pub fn allowed(&self) -> String {
        let Self { of, names, .. } = self;
        let settings = match self.settings {
            Anew::These(names) => names.join(", "),
            Anew::AllBut(name) => format!("the settings of [{of}] and its sections but {name}"),
        };
        format!("tables named by {}, each with any of {settings}; the rest is as in [{of}]", names.allowed())
    }
}

impl Names {
    /// Whether a table can have the name.
    pub fn allow(&self, name: &str) -> bool {
        match self {
            Self::Platforms => is_platform_name(name),
            Self::Models => !name.trim().is_empty(),
            Self::Agents => name.parse::<AgentName>().is_ok() && name != AgentName::DEFAULT,
            Self::Words(words) => words.contains(&name),
        }
    }

    /// The name as it stands in a key.
    pub(super) fn written(&self, name: &str) -> String {
        match self {
            Self::Models => toml::Value::String(name.to_owned()).to_string(),
            Self::Platforms | Self::Agents | Self::Words(_) => name.to_owned(),
        }
    }

    /// The word that may be meant.
    pub(super) fn near(&self, name: &str) -> Option<&'static str> {
        match self {
            Self::Platforms | Self::Models | Self::Agents => None,
            Self::Words(words) => nearest(name, words.iter().copied()),
        }
    }

    /// What is allowed, in words that follow "named by".
    pub fn allowed(&self) -> String {
        match self {
            Self::Platforms => "a platform (letters, digits, _ and -)".to_owned(),
            Self::Models => "a model as the server knows it, in quotes".to_owned(),
            Self::Agents => {
                format!("an agent ({}; {} is that of [agent])", AgentName::ALLOWED, AgentName::DEFAULT)
            }
            Self::Words(words) => Takes::one_of(words),
        }
    }
}
