//! `switchboard hold` and `switchboard release`.

use super::Exit;
use super::context::Context;
use super::output::Out;
use crate::domain::api::{Command, Reply};

/// Nothing starts until `release`; messages are accepted and wait
#[derive(Debug, clap::Args)]
pub(super) struct Hold {
    /// Why, for whoever finds it
    #[arg(default_value = "")]
    why: String,
}

/// End the hold
#[derive(Debug, clap::Args)]
pub(super) struct Release {}

impl Hold {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        give(context, Command::Hold { why: self.why }, out).await
    }
}

impl Release {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        give(context, Command::Release, out).await
    }
}

async fn give(context: &Context, command: Command, out: &mut Out) -> anyhow::Result<Exit> {
    if let Reply::Done { words, .. } = context.engine().await?.command(command).await? {
        out.line(&words)?;
    }
    Ok(Exit::Done)
}
