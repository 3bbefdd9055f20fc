//! `switchboard stop`.

use super::Exit;
use super::context::Context;
use super::feed::{Feed, News, Wanted};
use super::output::{Out, stderr_line};
use crate::domain::api::{Answer, Command, Query};
use crate::domain::event::{EventKind, Level};

/// Stop the engine: no turn begins, running ones get the drain's time
#[derive(Debug, clap::Args)]
pub(super) struct Stop {}

impl Stop {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.engine().await?;
        let everything = Wanted { level: Level::Debug, session: None };
        let mut feed = Feed::from_now(client.clone(), everything).await?;
        let Answer::Overview(before) = client.query(Query::Overview).await? else {
            anyhow::bail!("the engine gave an answer of another kind");
        };
        client.command(Command::Stop { why: "switchboard stop".to_owned() }).await?;
        if before.running > 0 {
            stderr_line(&format!("{} running; each gets the drain's time to end", before.running));
        }
        loop {
            match feed.next().await? {
                Some(News::Event(event)) => match event.kind {
                    EventKind::EngineStopped { .. } => break,
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
        out.line("stopped")?;
        Ok(Exit::Done)
    }
}
