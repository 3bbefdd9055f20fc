//! `switchboard stop`.

use super::Exit;
use super::context::Context;
use super::feed::{Feed, News, Wanted};
use super::output::{Out, stderr_line};
use crate::domain::api::{Answer, Command, Query};
use crate::domain::event::{EventKind, Level, count};

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
            // An engine that has stopped meanwhile has nothing to tell any more.
            if let Ok(Answer::Overview(now)) = client.query(Query::Overview).await
                && let Some(drain) = &now.engine.drain
            {
                let most = (drain.until - drain.since).num_seconds();
                stderr_line(&format!(
                    "{} running; what still runs after at most {most} s is cut, its text is kept",
                    count(before.running, "turn")
                ));
            }
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
