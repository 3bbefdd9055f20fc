//! `switchboard report`.

use chrono::{DateTime, TimeDelta, Utc};

use super::Exit;
use super::context::Context;
use super::output::{AsJson, Form, Out};
use crate::control::Client;
use crate::domain::Time;
use crate::domain::api::{Answer, Query, Report as Told};

/// What happened since a time: what failed, was cut off, resumed, given up, answered, and what it used
#[derive(Debug, clap::Args)]
pub(super) struct Report {
    /// A time (2026-11-29T14:00:00Z) or how long ago (90s, 30min, 8h, 2d) [default: when a console was
    /// last used, or a day ago if it was used since]
    #[arg(long, value_name = "TIME|DURATION", value_parser = Since::parse)]
    since: Option<Since>,
    #[command(flatten)]
    json: AsJson,
}

/// Since when.
#[derive(Debug, Clone, Copy)]
enum Since {
    At(Time),
    Ago(TimeDelta),
}

impl Since {
    fn parse(text: &str) -> Result<Self, String> {
        if let Ok(at) = DateTime::parse_from_rfc3339(text) {
            return Ok(Self::At(at.with_timezone(&Utc)));
        }
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let seconds = match unit.trim() {
            "s" => 1,
            "m" | "min" => 60,
            "h" => 3600,
            "d" => 86_400,
            _ => return Err("a time like 2026-11-29T14:00:00Z, or 90s, 30min, 8h, 2d".to_owned()),
        };
        let span = number.parse::<i64>().ok().and_then(|number| number.checked_mul(seconds));
        let span = span.and_then(TimeDelta::try_seconds).filter(|span| *span < TimeDelta::days(36_500));
        span.map(Self::Ago).ok_or_else(|| "too long ago".to_owned())
    }
}

/// What happened since a console was last used. Who looked within the last day may have the look in mind that
/// found what is asked for now: then it is the last day.
async fn since_away(client: &dyn Client) -> anyhow::Result<Told> {
    let (looked, day_ago) = (ask(client, None).await?, Utc::now() - TimeDelta::days(1));
    match looked.since {
        Some(since) if since < day_ago => Ok(looked),
        _ => ask(client, Some(day_ago)).await,
    }
}

async fn ask(client: &dyn Client, since: Option<Time>) -> anyhow::Result<Told> {
    match client.query(Query::Report { since }).await? {
        Answer::Report(report) => Ok(*report),
        _ => anyhow::bail!("the engine gave an answer of another kind"),
    }
}

impl Report {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let report = match self.since {
            Some(Since::At(at)) => ask(&*client, Some(at)).await?,
            Some(Since::Ago(span)) => ask(&*client, Some(Utc::now() - span)).await?,
            None => since_away(&*client).await?,
        };
        if self.json.form() == Form::Json {
            out.json(&report)?;
            return Ok(Exit::Done);
        }
        if let Some(since) = report.since {
            out.line(&format!("since {}", context.clock().full(since)))?;
        }
        if report.is_quiet() {
            out.line("nothing happened")?;
        }
        for (label, words) in report.lines() {
            out.line(&format!("{label:<9} {words}"))?;
        }
        Ok(Exit::Done)
    }
}
