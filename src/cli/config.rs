//! `switchboard config`.

use serde::Serialize;

use super::Exit;
use super::context::Context;
use super::keymap;
use super::output::{AsJson, Form, Out, stderr_line};
use crate::config::{self, Effective, Origin};

/// The settings; without a command as `print`
#[derive(Debug, clap::Args)]
pub(super) struct Config {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Tell what is wrong in config.toml and keymap.toml, with file and line
    Check,
    /// Print where config.toml is
    Path,
    /// Print the values that apply, and which of them the file sets
    Print {
        #[command(flatten)]
        json: AsJson,
    },
}

#[derive(Serialize)]
struct Shown<'a> {
    key: &'a str,
    value: &'a Option<toml::Value>,
    /// The line of the file that sets it.
    line: Option<usize>,
}

impl Config {
    pub(super) fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let file = context.home.config_file();
        match self.what.unwrap_or(What::Print { json: AsJson::default() }) {
            What::Path => out.line(&file.display().to_string())?,
            What::Check => {
                config::load(&file)?;
                let state =
                    if file.exists() { "no problems" } else { "there is none yet, the defaults apply" };
                out.line(&format!("{}: {state}", file.display()))?;
                let (_, problems) = keymap::in_effect(&context.home)?;
                // What is wrong is left out; the rest holds, in the console too.
                problems.iter().for_each(|problem| stderr_line(&problem.to_string()));
                if !problems.is_empty() {
                    return Ok(Exit::Failed);
                }
                if context.home.keymap_file().exists() {
                    out.line(&format!("{}: no problems", context.home.keymap_file().display()))?;
                }
            }
            What::Print { json } => {
                let values = config::load(&file)?.values;
                match json.form() {
                    Form::Text => out.text(&config::effective(&values))?,
                    Form::Json => values.iter().try_for_each(|value| out.json(&shown(value)))?,
                }
            }
        }
        Ok(Exit::Done)
    }
}

fn shown(effective: &Effective) -> Shown<'_> {
    let line = match effective.origin {
        Origin::Default => None,
        Origin::Line(line) => Some(line),
    };
    Shown { key: &effective.key, value: &effective.value, line }
}
