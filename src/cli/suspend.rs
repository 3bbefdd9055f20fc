//! `switchboard suspend`, `unsuspend` and `continue`: what a person decides about one session.

use super::Exit;
use super::context::Context;
use super::named::session_named;
use super::output::Out;
use crate::domain::api::{Command, Reply};
use crate::domain::id::SessionId;

/// Give a session up: its turn is stopped, its queue held, and its next message starts anew
#[derive(Debug, clap::Args)]
pub(super) struct Suspend {
    #[command(flatten)]
    which: Which,
}

/// Take a suspension back: the session goes on with its history and its queue
#[derive(Debug, clap::Args)]
pub(super) struct Unsuspend {
    #[command(flatten)]
    which: Which,
}

/// Go on with a session: with what was cut off, and with its held queue
#[derive(Debug, clap::Args)]
pub(super) struct Continue {
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, clap::Args)]
struct Which {
    /// The session: a key, a name, a title, an id or the beginning of one
    session: String,
}

impl Suspend {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        give(context, &self.which, |session| Command::Suspend { session }, out).await
    }
}

impl Unsuspend {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        give(context, &self.which, |session| Command::Unsuspend { session }, out).await
    }
}

impl Continue {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        give(context, &self.which, |session| Command::Continue { session }, out).await
    }
}

async fn give(
    context: &Context,
    which: &Which,
    command: fn(SessionId) -> Command,
    out: &mut Out,
) -> anyhow::Result<Exit> {
    let client = context.engine().await?;
    let session = session_named(&*client, &which.session).await?;
    if let Reply::Done { words, .. } = client.command(command(session)).await? {
        out.line(&words)?;
    }
    Ok(Exit::Done)
}
