//! What a setting takes: checking a value and keeping it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
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
    /// Where in the file that stands of a list or table which is not allowed in it.
    pub(super) part: Option<Range<usize>>,
    /// The allowed word that looks most like it.
    pub(super) nearest: Option<&'static str>,
}

const WRONG: Wrong = Wrong { part: None, nearest: None };

impl Wrong {
    fn part<T>(part: &Spanned<T>) -> Self {
        Self { part: Some(part.span()), nearest: None }
    }
}

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
                put(config, word)
                    .ok_or_else(|| Wrong { part: None, nearest: nearest(word, words.iter().copied()) })?;
                Ok(word.into())
            }
            Self::Words { words, put, .. } => {
                let mut given = Vec::new();
                for (part, word) in texts(value)? {
                    if !words.contains(&&*word) || given.contains(&word) {
                        let nearest = nearest(&word, words.iter().copied()).filter(|near| *near != word);
                        return Err(Wrong { nearest, ..Wrong::part(part) });
                    }
                    given.push(word);
                }
                put(config, &given).ok_or(WRONG)?;
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
                let words = texts_if(value, |_| true)?;
                if words.first().is_none_or(|program| program.trim().is_empty()) {
                    return Err(WRONG);
                }
                put(config, words.clone());
                Ok(words.into())
            }
            Self::Commands { put, .. } => {
                let beginnings = texts_if(value, |beginning| begins_with(beginning, beginning))?;
                put(config, beginnings.clone());
                Ok(beginnings.into())
            }
            Self::Platforms { put, .. } => {
                let names = texts_if(value, is_platform_name)?;
                put(config, names.clone());
                Ok(names.into())
            }
            Self::AgentOfPlatform { put, .. } => {
                let table = value.as_table().ok_or(WRONG)?;
                let agents = table.iter().map(|(platform, agent)| {
                    if !is_platform_name(platform.get_ref()) {
                        return Err(Wrong::part(platform));
                    }
                    let name = agent.get_ref().as_str().and_then(|name| name.parse::<AgentName>().ok());
                    Ok((platform.get_ref().to_string(), name.ok_or(Wrong::part(agent))?))
                });
                let agents = agents.collect::<Result<BTreeMap<_, _>, _>>()?;
                let shown = agents.iter().map(|(platform, name)| (platform.clone(), name.as_str().into()));
                let shown = toml::Value::Table(shown.collect());
                put(config, agents);
                Ok(shown)
            }
            Self::Zone { put, .. } => {
                let name = value.as_str().ok_or(WRONG)?;
                let zone =
                    parse_zone(name).map_err(|unknown| Wrong { part: None, nearest: unknown.nearest })?;
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

/// The texts of a list, each with its place.
fn texts<'v>(value: &'v DeValue<'v>) -> Result<Vec<(&'v Spanned<DeValue<'v>>, String)>, Wrong> {
    let list = value.as_array().ok_or(WRONG)?;
    let text = |part: &'v Spanned<DeValue<'v>>| part.get_ref().as_str().map(|text| (part, text.to_owned()));
    list.iter().map(|part| text(part).ok_or(Wrong::part(part))).collect()
}

/// The texts of a list where each is allowed.
fn texts_if(value: &DeValue<'_>, is_allowed: impl Fn(&str) -> bool) -> Result<Vec<String>, Wrong> {
    let allowed = |(part, text): (&Spanned<_>, String)| match is_allowed(&text) {
        true => Ok(text),
        false => Err(Wrong::part(part)),
    };
    texts(value)?.into_iter().map(allowed).collect()
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
