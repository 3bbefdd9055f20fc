//! The policies, and which of them a session falls under.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::domain::id::{ChatType, SessionKey};

/// What of the time resets a session on its next message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetMode {
    /// Nothing: never by time.
    #[default]
    None,
    /// More than the idle minutes have passed since the last activity.
    Idle,
    /// The wall clock has passed the hour since the id began.
    Daily,
    /// Either; idle is tested first.
    Both,
}

impl ResetMode {
    /// Every mode, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::None, Self::Idle, Self::Daily, Self::Both];

    /// The word in the configuration and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Idle => "idle",
            Self::Daily => "daily",
            Self::Both => "both",
        }
    }
}

impl fmt::Display for ResetMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ResetMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| format!("{text:?} is no reset mode: one of none, idle, daily, both"))
    }
}

/// When a session is reset by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResetPolicy {
    /// What counts.
    pub mode: ResetMode,
    /// With `idle` and `both`: so many minutes without activity are still no reason.
    pub idle_minutes: u32,
    /// With `daily` and `both`: the hour of the daily boundary, 0–23, on the operator's wall clock.
    pub at_hour: u8,
}

impl ResetPolicy {
    /// Whether idleness counts.
    pub fn tests_idle(&self) -> bool {
        matches!(self.mode, ResetMode::Idle | ResetMode::Both)
    }

    /// Whether the daily boundary counts.
    pub fn tests_daily(&self) -> bool {
        matches!(self.mode, ResetMode::Daily | ResetMode::Both)
    }
}

/// The policies of a home, and what applies to all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResetPolicies {
    /// Where nothing more special is set.
    pub default: ResetPolicy,
    /// For one kind of place.
    pub by_chat_type: BTreeMap<ChatType, ResetPolicy>,
    /// For one platform.
    pub by_platform: BTreeMap<String, ResetPolicy>,
    /// The platforms whose users get no notice of a reset.
    pub notify_exclude: BTreeSet<String>,
    /// Background work older than this stops blocking a reset, without being killed; none: no limit.
    pub background_max_age: Option<Duration>,
}

impl ResetPolicies {
    /// The policy of a session: the platform's override, then the chat type's, then the default.
    pub fn policy_for(&self, key: &SessionKey) -> ResetPolicy {
        let parts = key.parts();
        let special =
            self.by_platform.get(parts.platform).or_else(|| self.by_chat_type.get(&parts.chat_type));
        *special.unwrap_or(&self.default)
    }

    /// All that decides about a session but the session itself; `zone` is the operator's.
    pub fn rule_for(&self, key: &SessionKey, zone: Tz) -> ResetRule {
        ResetRule { policy: self.policy_for(key), background_max_age: self.background_max_age, zone }
    }

    /// Whether a session's user is told of a reset by the policy: not on the excluded platforms.
    pub fn notice_for(&self, key: &SessionKey) -> Notice {
        if self.notify_exclude.contains(key.parts().platform) { Notice::Withheld } else { Notice::Given }
    }
}

/// Whether a user is told that a session was reset by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// A line of its own stands before the next reply.
    Given,
    /// Nothing is said.
    Withheld,
}

/// The rule that a session's next message is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResetRule {
    /// When it is reset by time.
    pub policy: ResetPolicy,
    /// Background work older than this stops blocking; none: no limit.
    pub background_max_age: Option<Duration>,
    /// The operator's time zone, in which the daily hour is meant.
    pub zone: Tz,
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: ResetPolicy = ResetPolicy { mode: ResetMode::None, idle_minutes: 1440, at_hour: 4 };
    const OF_GROUPS: ResetPolicy = ResetPolicy { mode: ResetMode::Idle, idle_minutes: 30, at_hour: 4 };
    const OF_TELEGRAM: ResetPolicy = ResetPolicy { mode: ResetMode::Daily, idle_minutes: 1440, at_hour: 6 };

    fn policies() -> ResetPolicies {
        ResetPolicies {
            default: DEFAULT,
            by_chat_type: BTreeMap::from([(ChatType::Group, OF_GROUPS)]),
            by_platform: BTreeMap::from([("telegram".to_owned(), OF_TELEGRAM)]),
            notify_exclude: BTreeSet::from(["api_server".to_owned(), "webhook".to_owned()]),
            background_max_age: Some(Duration::from_secs(60)),
        }
    }

    fn key(text: &str) -> SessionKey {
        text.parse().unwrap()
    }

    #[test]
    fn the_platform_goes_before_the_chat_type_and_that_before_the_default() {
        for (text, policy) in [
            ("agent:main:telegram:group:g", OF_TELEGRAM),
            ("agent:main:telegram:dm:d", OF_TELEGRAM),
            ("agent:main:slack:group:g", OF_GROUPS),
            ("agent:main:slack:thread:g:7", DEFAULT),
            ("agent:main:local:dm:console", DEFAULT),
            ("agent:main:cron:job:nightly", DEFAULT),
        ] {
            assert_eq!(policies().policy_for(&key(text)), policy, "{text}");
        }
    }

    #[test]
    fn a_rule_is_the_policy_with_the_zone_and_the_age_limit() {
        let rule = policies().rule_for(&key("agent:main:slack:group:g"), Tz::Asia__Bangkok);
        assert_eq!(rule.policy, OF_GROUPS);
        assert_eq!(rule.background_max_age, Some(Duration::from_secs(60)));
        assert_eq!(rule.zone, Tz::Asia__Bangkok);
    }

    #[test]
    fn the_excluded_platforms_get_no_notice() {
        assert_eq!(policies().notice_for(&SessionKey::console()), Notice::Given);
        for excluded in ["agent:main:webhook:dm:w", "agent:main:api_server:dm:w"] {
            assert_eq!(policies().notice_for(&key(excluded)), Notice::Withheld);
        }
    }

    #[test]
    fn a_mode_is_read_back_from_its_word() {
        for mode in ResetMode::ALL {
            assert_eq!(mode.as_str().parse(), Ok(mode));
            assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{mode}\""));
        }
        assert!("Daily".parse::<ResetMode>().is_err());
    }
}
