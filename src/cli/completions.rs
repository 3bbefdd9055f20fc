//! `switchboard completions`.

use clap_complete::{Shell, generate};

use super::Exit;
use super::output::Out;

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, out: &mut Out) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        generate(self.shell, &mut super::command(), "switchboard", &mut script);
        // Unlike text, a script keeps its tabs.
        out.script(&String::from_utf8(script)?)?;
        Ok(Exit::Done)
    }
}
