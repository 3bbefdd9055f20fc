//! Texts made from the table of settings: the commented `config.toml`, the effective values, and
//! the README's table.

use std::fmt::Write;

use super::load::{Effective, Origin};
use super::overrides::{OVERRIDES, Overrides};
use super::setting::Setting;
use super::table::TABLE;

/// The `config.toml` of a new home: every setting with its documentation, commented out.
pub const DEFAULT_FILE: &str = include_str!("../../assets/config.toml");

const COMMENT_WIDTH: usize = 96;

/// Writes the commented `config.toml`. `assets/config.toml` is this text, kept fresh by a test.
pub fn default_file() -> String {
    let mut text = "\
# The settings of this Switchboard home. Each line that begins with #name = shows a default or an
# example: take the # away to change it. `switchboard config check` tells what is wrong here,
# `switchboard config print` what applies. Changes count from the next start of the engine.
"
    .to_owned();
    for section in TABLE.chunk_by(|a, b| a.section() == b.section()) {
        let Some(name) = section.first().map(Setting::section) else { continue };
        if !name.is_empty() {
            let _ = write!(text, "\n[{name}]\n");
        }
        for setting in section {
            entry(&mut text, &about(setting), setting.name(), &shown_value(setting));
        }
        for overrides in overrides_in(name) {
            let (of, value) = overrides.example;
            entry(&mut text, &about_overrides(overrides), &format!("{}.{of}", overrides.name()), value);
        }
    }
    text
}

/// A commented setting with what it is for.
fn entry(text: &mut String, about: &str, name: &str, value: &str) {
    text.push('\n');
    for line in wrapped(about) {
        let _ = writeln!(text, "# {line}");
    }
    let _ = writeln!(text, "#{name} = {value}");
}

/// Writes the values that apply, as TOML, with where each came from.
pub fn effective(values: &[Effective]) -> String {
    let mut text = String::new();
    let mut section = "";
    for effective in values {
        if effective.section() != section {
            section = effective.section();
            let _ = write!(text, "\n[{section}]\n");
        }
        let name = effective.name();
        let _ = match (&effective.value, effective.origin) {
            (Some(value), Origin::Default) => writeln!(text, "{name} = {value}"),
            (Some(value), Origin::Line(line)) => writeln!(text, "{name} = {value}  # set in line {line}"),
            (None, _) => writeln!(text, "# {name} is not set"),
        };
    }
    text
}

/// Writes the README's table of settings.
pub fn markdown_table() -> String {
    let mut text = "| setting | default | what it is for |\n| --- | --- | --- |\n".to_owned();
    for section in TABLE.chunk_by(|a, b| a.section() == b.section()) {
        for setting in section {
            let default = setting.takes.default_value().map(|value| format!("`{value}`")).unwrap_or_default();
            let _ = writeln!(text, "| `{}` | {default} | {} |", setting.key, about(setting));
        }
        for overrides in section.first().into_iter().flat_map(|first| overrides_in(first.section())) {
            let _ = writeln!(text, "| `{}.NAME` |  | {} |", overrides.key, about_overrides(overrides));
        }
    }
    text
}

fn overrides_in(section: &str) -> impl Iterator<Item = &'static Overrides> {
    OVERRIDES.iter().filter(move |overrides| overrides.section() == section)
}

fn about_overrides(overrides: &Overrides) -> String {
    format!("{} Takes {}.", overrides.about, overrides.allowed())
}

fn about(setting: &Setting) -> String {
    let needed = setting.needed_by.map(|backend| format!(" Needed by the {backend} backend."));
    format!("{} Takes {}.{}", setting.about, setting.takes.allowed(), needed.unwrap_or_default())
}

fn shown_value(setting: &Setting) -> String {
    let value = setting.takes.default_value().or_else(|| setting.takes.example());
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= COMMENT_WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
