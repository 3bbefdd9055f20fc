//! `switchboard alerts`: what needs a person, and that somebody knows.

use std::io;

use super::Exit;
use super::context::{Clock, Context};
use super::output::{AsJson, Form, Out};
use super::table::Table;
use crate::control::Client;
use crate::domain::alert::{Acknowledgement, Alert, AlertKey};
use crate::domain::api::{Answer, Command, Query, Reply};

/// What stands for every alert that nobody acknowledged.
const ALL: &str = "all";
/// So many alerts are acknowledged together at most.
const AT_ONCE: usize = 10_000;

/// What needs a person: open alerts, the last raised first
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Alerts {
    #[command(subcommand)]
    act: Option<Act>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    json: AsJson,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Say that you know: the alert stays open, but is not counted and not told again
    Acknowledge {
        /// The alert's key, or `all`
        key: String,
    },
}

impl Alerts {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        match &self.act {
            None => self.list(context, out).await,
            Some(Act::Acknowledge { key }) if key == ALL => acknowledge_all(context, out).await,
            Some(Act::Acknowledge { key }) => {
                let words = acknowledge(&*context.engine().await?, key.parse()?).await?;
                out.line(&words)?;
                Ok(Exit::Done)
            }
        }
    }

    async fn list(&self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let alerts = open(&*context.client().await?, self.limit).await?;
        match self.json.form() {
            Form::Json => alerts.iter().try_for_each(|alert| out.json(alert))?,
            Form::Text => print(&alerts, &context.clock(), out)?,
        }
        Ok(Exit::Done)
    }
}

async fn open(client: &dyn Client, limit: usize) -> anyhow::Result<Vec<Alert>> {
    match client.query(Query::Alerts { limit }).await? {
        Answer::Alerts(alerts) => Ok(alerts),
        _ => anyhow::bail!("the engine gave an answer of another kind"),
    }
}

async fn acknowledge_all(context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
    let client = context.engine().await?;
    let alerts = open(&*client, AT_ONCE).await?;
    let mut words = "nothing needs you".to_owned();
    for alert in alerts.into_iter().filter(Alert::needs_you) {
        out.line(&alert.words)?;
        words = acknowledge(&*client, alert.key).await?;
    }
    out.line(&words)?;
    Ok(Exit::Done)
}

async fn acknowledge(client: &dyn Client, alert: AlertKey) -> anyhow::Result<String> {
    match client.command(Command::Acknowledge { alert, what: Acknowledgement::Given }).await? {
        Reply::Done { words, .. } => Ok(words),
        _ => anyhow::bail!("the engine gave a reply of another kind"),
    }
}

fn print(alerts: &[Alert], clock: &Clock, out: &mut Out) -> io::Result<()> {
    if alerts.is_empty() {
        return out.line("nothing needs you");
    }
    let mut table = Table::new(&["raised", "state", "told", "key", "what"]);
    for alert in alerts {
        table.row([
            clock.full(alert.raised_at),
            match alert.acknowledged_at {
                Some(_) => "acknowledged",
                None if alert.needs_you() => "needs you",
                None => "may pass",
            }
            .to_owned(),
            alert.told.words(|at| clock.full(at)),
            alert.key.to_string(),
            alert.words.clone(),
        ]);
    }
    table.print(out)
}
