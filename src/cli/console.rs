//! `switchboard` alone: the console.

use super::Exit;
use super::context::Context;
use super::output::at_a_terminal;

pub(super) async fn run(_context: &Context) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        at_a_terminal(),
        "no terminal: the console needs one for input and output; `switchboard serve` runs the engine without, \
         `switchboard --help` lists what works in scripts"
    );
    anyhow::bail!("the console is not there yet")
}
