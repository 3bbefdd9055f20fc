//! `switchboard keymap`.

use std::io;

use serde::Serialize;

use super::Exit;
use super::context::Context;
use super::output::{AsJson, Form, Out, stderr_line};
use crate::config::Home;
use crate::console::app::key::sequence_name;
use crate::console::app::keymap::{Context as Where, KeyMap, Problem};

/// The key map in effect: the shipped one with the changes of the home's keymap.toml
#[derive(Debug, clap::Args)]
pub(super) struct Keymap {
    #[command(flatten)]
    json: AsJson,
}

#[derive(Serialize)]
struct Shown {
    context: &'static str,
    keys: String,
    action: &'static str,
    help: &'static str,
}

impl Keymap {
    pub(super) fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let (map, problems) = in_effect(&context.home)?;
        for place in Where::ALL {
            let lines = bindings(&map, place);
            match self.json.form() {
                Form::Json => lines.iter().try_for_each(|line| out.json(line))?,
                Form::Text => print(place, &lines, out)?,
            }
        }
        // What is wrong is left out; the rest holds, here as in the console.
        problems.iter().for_each(|problem| stderr_line(&problem.to_string()));
        Ok(if problems.is_empty() { Exit::Done } else { Exit::Failed })
    }
}

/// The key map in effect, and what is wrong with the operator's changes: the rest holds.
pub(super) fn in_effect(home: &Home) -> anyhow::Result<(KeyMap, Vec<Problem>)> {
    let file = home.keymap_file();
    match std::fs::read_to_string(&file) {
        Ok(changes) => Ok(KeyMap::with_changes(&file.display().to_string(), &changes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((KeyMap::shipped(), Vec::new())),
        Err(error) => Err(anyhow::anyhow!("{}: {error}", file.display())),
    }
}

fn bindings(map: &KeyMap, place: Where) -> Vec<Shown> {
    let bound = map.of(place).iter();
    bound
        .map(|binding| {
            let spec = binding.action.spec();
            let keys = sequence_name(&binding.keys);
            Shown { context: place.name(), keys, action: spec.name, help: spec.help }
        })
        .collect()
}

fn print(place: Where, lines: &[Shown], out: &mut Out) -> io::Result<()> {
    out.line(&format!("# {}\n[{}]", place.about(), place.name()))?;
    for line in lines {
        out.line(&format!("{:<14} = {:<28} # {}", quoted(&line.keys), quoted(line.action), line.help))?;
    }
    out.line("")
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
