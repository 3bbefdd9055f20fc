//! Texts made from the table of settings: the commented `config.toml`, the effective values, and
//! the README's table.

use std::fmt::Write;

use super::load::{Effective, Origin};
use super::table::{Setting, TABLE};

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
    let mut section = "";
    for setting in TABLE {
        if setting.section() != section {
            section = setting.section();
            let _ = write!(text, "\n[{section}]\n");
        }
        text.push('\n');
        for line in wrapped(&about(setting)) {
            let _ = writeln!(text, "# {line}");
        }
        let _ = writeln!(text, "#{} = {}", setting.name(), shown_value(setting));
    }
    text
}

/// Writes the values that apply, as TOML, with where each came from.
pub fn effective(values: &[Effective]) -> String {
    let mut text = String::new();
    let mut section = "";
    for (setting, effective) in TABLE.iter().zip(values) {
        if setting.section() != section {
            section = setting.section();
            let _ = write!(text, "\n[{section}]\n");
        }
        let name = setting.name();
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
    for setting in TABLE {
        let default = setting.takes.default_value().map(|value| format!("`{value}`")).unwrap_or_default();
        let _ = writeln!(text, "| `{}` | {default} | {} |", setting.key, about(setting));
    }
    text
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
