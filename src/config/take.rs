//! What a setting takes: checking a value and keeping it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::de::DeValue;

use super::setting::{Takes, is_platform_name};
use super::settings::Config;
use crate::domain::agent::AgentName;
use crate::domain::approval::begins_with;
use crate::domain::nearest::nearest;
use crate::domain::schedule::parse_zone;
use crate::domain::spending::read_money;

/// A value that a setting does not take.
pub(super) struct Wrong {
    /// The allowed word that looks most like it.
    pub(super) nearest: Option<&'static str>,
}

const WRONG: Wrong = Wrong { nearest: None };

impl Takes {
    /// Checks a value and keeps it; returns it as it was kept. Relative paths begin in `folder`.
    pub(super) fn put(
        self,
        value: &DeValue<'_>,
        folder: &Path,
        config: &mut Config,
    ) -> Result<toml::Value, Wrong> {
        match self {
            Self::Whole { min, max, put, .. } => {
                let digits = value.as_integer().ok_or(WRONG)?;
                let number = i64::from_str_radix(digits.as_str(), digits.radix()).map_err(|_| WRONG)?;
                let whole = u64::try_from(number).map_err(|_| WRONG)?;
                if !(min..=max).contains(&whole) {
                    return Err(WRONG);
                }
                put(config, whole);
                Ok(toml::Value::Integer(number))
            }
            Self::Amount { put } => {
                let digits = match (value.as_integer(), value.as_float()) {
                    (Some(whole), _) if whole.radix() == 10 => whole.as_str(),
                    (_, Some(number)) => number.as_str(),
                    _ => return Err(WRONG),
                };
                put(config, read_money(digits).ok_or(WRONG)?);
                Ok(toml::Value::Float(digits.parse().map_err(|_| WRONG)?))
            }
            Self::Switch { put, .. } => {
                let on = value.as_bool().ok_or(WRONG)?;
                put(config, on);
                Ok(toml::Value::Boolean(on))
            }
            Self::Choice { words, put, .. } => {
                let word = value.as_str().ok_or(WRONG)?;
                put(config, word).ok_or_else(|| Wrong { nearest: nearest(word, words.iter().copied()) })?;
                Ok(word.into())
            }
            Self::Words { words, put, .. } => {
                let given = texts(value)?;
                let unknown = given.iter().find(|word| !words.contains(&word.as_str()));
                let nearest = unknown.and_then(|word| nearest(word, words.iter().copied()));
                let twice = given.iter().enumerate().any(|(index, word)| given[..index].contains(word));
                let kept = if twice { None } else { put(config, &given) };
                kept.ok_or(Wrong { nearest })?;
                Ok(given.into())
            }
            Self::Text { put, .. } => {
                let text = some_text(value)?;
                put(config, text.to_owned());
                Ok(text.into())
            }
            Self::Url { put, .. } => {
                let url = reqwest::Url::parse(some_text(value)?).map_err(|_| WRONG)?;
                let open = url.username().is_empty() && url.password().is_none();
                if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !open {
                    return Err(WRONG);
                }
                let text = url.as_str().trim_end_matches('/').to_owned();
                put(config, text.clone());
                Ok(text.into())
            }
            Self::Variable { put, .. } => {
                let name = some_text(value)?;
                let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if !letters || name.starts_with(|c: char| c.is_ascii_digit()) {
                    return Err(WRONG);
                }
                put(config, name.to_owned());
                Ok(name.into())
            }
            Self::Path { put, .. } => {
                let text = some_text(value)?;
                put(config, absolute(text, folder));
                Ok(text.into())
            }
            Self::Argv { put, .. } => {
                let words = texts(value)?;
                if words.first().is_none_or(|program| program.trim().is_empty()) {
                    return Err(WRONG);
                }
                put(config, words.clone());
                Ok(words.into())
            }
            Self::Commands { put, .. } => {
                let beginnings = texts(value)?;
                if !beginnings.iter().all(|beginning| begins_with(beginning, beginning)) {
                    return Err(WRONG);
                }
                put(config, beginnings.clone());
                Ok(beginnings.into())
            }
            Self::Platforms { put, .. } => {
                let names = texts(value)?;
                if !names.iter().all(|name| is_platform_name(name)) {
                    return Err(WRONG);
                }
                put(config, names.clone());
                Ok(names.into())
            }
            Self::AgentOfPlatform { put, .. } => {
                let table = value.as_table().ok_or(WRONG)?;
                let agents = table.iter().map(|(platform, agent)| {
                    let name = agent.get_ref().as_str().and_then(|name| name.parse::<AgentName>().ok());
                    let platform = Some(platform.get_ref()).filter(|platform| is_platform_name(platform));
                    Some((platform?.to_string(), name?))
                });
                let agents: BTreeMap<_, _> = agents.collect::<Option<_>>().ok_or(WRONG)?;
                let shown = agents.iter().map(|(platform, name)| (platform.clone(), name.as_str().into()));
                let shown = toml::Value::Table(shown.collect());
                put(config, agents);
                Ok(shown)
            }
            Self::Zone { put, .. } => {
                let name = value.as_str().ok_or(WRONG)?;
                let zone = parse_zone(name).map_err(|unknown| Wrong { nearest: unknown.nearest })?;
                put(config, zone);
                Ok(name.into())
            }
        }
    }

    /// Keeps what applies where nothing is set.
    pub(super) fn put_default(self, config: &mut Config) {
        match self {
            Self::Whole { default, put, .. } => put(config, default),
            Self::Amount { put } => put(config, 0),
            Self::Switch { default, put, .. } => put(config, default),
            Self::Choice { default, put, .. } => put(config, default).unwrap_or_default(),
            Self::Words { default, put, .. } => put(config, &owned(default)).unwrap_or_default(),
            Self::Variable { default, put, .. } => put(config, default.to_owned()),
            Self::Platforms { default, put } => put(config, owned(default)),
            Self::Text { .. }
            | Self::Url { .. }
            | Self::Path { .. }
            | Self::Argv { .. }
            | Self::Commands { .. }
            | Self::AgentOfPlatform { .. }
            | Self::Zone { .. } => {}
        }
    }
}

fn some_text<'v>(value: &'v DeValue<'_>) -> Result<&'v str, Wrong> {
    value.as_str().filter(|text| !text.trim().is_empty()).ok_or(WRONG)
}

fn texts(value: &DeValue<'_>) -> Result<Vec<String>, Wrong> {
    let list = value.as_array().ok_or(WRONG)?;
    list.iter().map(|text| text.get_ref().as_str().map(str::to_owned).ok_or(WRONG)).collect()
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn absolute(text: &str, folder: &Path) -> PathBuf {
    match (text.strip_prefix("~/"), etcetera::home_dir()) {
        (Some(rest), Ok(user)) => user.join(rest),
        _ => folder.join(text),
    }
}
