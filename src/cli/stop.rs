//! `switchboard stop` and `switchboard restart`.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use tokio::time::{Instant, sleep};

use super::Exit;
use super::context::Context;
use super::feed::{Feed, News, Wanted};
use super::output::{Out, stderr_line};
use crate::control::Client;
use crate::domain::api::{Answer, Command, Query, Reply, Waited};
use crate::domain::event::{EventKind, Level};
use crate::domain::slash::Ask;

/// An engine that begins anew is there within this, or does not come back.
const COMES_BACK: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Stop the engine: no turn begins, running ones get the drain's time
#[derive(Debug, clap::Args)]
pub(super) struct Stop {}

/// Restart the engine: its process begins anew after the drain; what that cuts is resumed
#[derive(Debug, clap::Args)]
pub(super) struct Restart {
    /// Don't ask, though one more cut would suspend a session that runs
    #[arg(long)]
    yes: bool,
}

impl Stop {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.engine().await?;
        let mut feed = listen(&client).await?;
        client.command(Command::Stop { why: "switchboard stop".to_owned() }).await?;
        until_gone(&client, &mut feed).await?;
        out.line("stopped")?;
        Ok(Exit::Done)
    }
}

impl Restart {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.engine().await?;
        let mut feed = listen(&client).await?;
        let ask = if self.yes { Ask::Never } else { Ask::First };
        let asked = Command::Restart { why: "switchboard restart".to_owned(), ask };
        if let Reply::Asks { question, .. } = client.command(asked).await? {
            anyhow::bail!("not restarted: {question}; `switchboard restart --yes` does it all the same");
        }
        until_gone(&client, &mut feed).await?;
        let pid = next_engine(context).await?;
        out.line(&format!("restarted, pid {pid}"))?;
        Ok(Exit::Done)
    }
}

/// Listens before anything is asked for, so that nothing of it is missed.
async fn listen(client: &Arc<dyn Client>) -> anyhow::Result<Feed> {
    let everything = Wanted { level: Level::Debug, session: None };
    Feed::from_now(Arc::clone(client), everything).await
}

/// Waits until the engine has let the home go.
async fn until_gone(client: &Arc<dyn Client>, feed: &mut Feed) -> anyhow::Result<()> {
    loop {
        match feed.next().await? {
            Some(News::Event(event)) => match &event.kind {
                EventKind::EngineStopped { .. } => break,
                EventKind::EngineStopping { .. } => tell_drain(client).await,
                left @ EventKind::BackgroundLeft { .. } => stderr_line(&left.words()),
                EventKind::EngineStopCalledOff => {
                    anyhow::bail!("the stop was called off; the engine goes on")
                }
                _ => {}
            },
            Some(News::Piece(_)) => {}
            None => anyhow::bail!("the engine is gone, but not in order; its log tells more"),
        }
    }
    // The engine lets the home go after its last event, and ends the connection with it.
    while feed.next().await?.is_some() {}
    Ok(())
}

/// Says what the stop waits for. An engine that has stopped meanwhile has nothing to tell any more.
async fn tell_drain(client: &Arc<dyn Client>) {
    if let Ok(Answer::Overview(now)) = client.query(Query::Overview).await
        && let Some(drain) = &now.engine.drain
        && !drain.waits_for.is_empty()
    {
        let names = Waited::names(&drain.waits_for);
        let left = (drain.until - Utc::now()).num_milliseconds().max(0);
        let most = left.unsigned_abs().div_ceil(1000);
        stderr_line(&format!("waits for {names}; what still runs after at most {most} s is cut"));
    }
}

/// The process of the engine that comes after the one that is gone.
async fn next_engine(context: &Context) -> anyhow::Result<u32> {
    let deadline = Instant::now() + COMES_BACK;
    loop {
        if let Ok(client) = context.engine().await
            && let Ok(Answer::Overview(overview)) = client.query(Query::Overview).await
            && let Some(run) = &overview.engine.run
        {
            return Ok(run.pid);
        }
        anyhow::ensure!(
            Instant::now() < deadline,
            "the engine stopped in order, but no other came within {} s; its log tells more",
            COMES_BACK.as_secs()
        );
        sleep(LOOK_AGAIN).await;
    }
}
