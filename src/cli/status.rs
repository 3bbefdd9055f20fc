//! `switchboard status`.

use std::io;

use chrono::Utc;

use super::Exit;
use super::context::{Clock, Context};
use super::output::{AsJson, Form, Out};
use crate::domain::api::{Answer, CronHealth, EngineStatus, Overview, Query, Waited};
use crate::domain::id::SessionKey;
use crate::domain::queue::Gate;
use crate::domain::reset::Forecast;
use crate::domain::sanitize::one_line;
use crate::domain::took::took;

/// How the engine stands, and the counts
#[derive(Debug, clap::Args)]
pub(super) struct Status {
    #[command(flatten)]
    json: AsJson,
}

impl Status {
    pub(super) async fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let Answer::Overview(overview) = client.query(Query::Overview).await? else {
            anyhow::bail!("the engine gave an answer of another kind");
        };
        match self.json.form() {
            Form::Json => out.json(&overview)?,
            Form::Text => {
                let Answer::Session(console) =
                    client.query(Query::SessionAt { key: SessionKey::console() }).await?
                else {
                    anyhow::bail!("the engine gave an answer of another kind");
                };
                let forecast = console.and_then(|row| row.forecast);
                print(&overview, forecast.as_ref(), &context.clock(), out)?;
            }
        }
        Ok(Exit::Done)
    }
}

/// `console` is what a message without a session named, to the console's own, will meet.
fn print(overview: &Overview, console: Option<&Forecast>, clock: &Clock, out: &mut Out) -> io::Result<()> {
    let engine = &overview.engine;
    let mut line = |name: &str, text: String| out.line(&format!("{name:<9} {text}"));
    line("engine", engine_words(engine, clock))?;
    line("turns", turns_words(engine, clock))?;
    if engine.run.is_some() {
        for name in engine.agents.known.keys() {
            line("agent", one_line(&engine.agents.label(name)).into_owned())?;
        }
    }
    line("alerts", alerts_words(overview.needs_you))?;
    line("sessions", format!("{} live", overview.sessions))?;
    let cut_off = if engine.run.is_some() { "running" } else { "cut off" };
    let asking = match overview.asking {
        0 => String::new(),
        asking => format!(", {asking} asking you"),
    };
    line("work", format!("{} {cut_off}{asking}, {} waiting", overview.running, overview.waiting))?;
    if let Some(today) = &overview.today {
        line("today", today.words(|at| clock.short(at)))?;
    }
    if let Some(forecast) = console {
        line("console", clock.forecast(forecast))?;
    }
    line("queue", format!("busy mode {}, at most {} a session", engine.busy_mode, engine.max_queued))?;
    if let Some(trouble) = &engine.store_trouble {
        line("store", format!("can't be written since {}: {}", clock.full(trouble.since), trouble.why))?;
    }
    if let Some(words) = cron_words(&engine.cron, clock) {
        line("cron", words)?;
    }
    Ok(())
}

/// What is wrong with the ticker, and how old its last good pass is.
pub(super) fn cron_words(cron: &CronHealth, clock: &Clock) -> Option<String> {
    let CronHealth::Late { since, why } = cron else { return None };
    let (age, since) = (took(Utc::now() - *since), clock.full(*since));
    Some(format!("the ticker is late: no good pass for {age}, since {since}: {}", one_line(why)))
}

fn alerts_words(needs_you: usize) -> String {
    match needs_you {
        0 => "nothing needs you".to_owned(),
        1 => "1 needs you; `switchboard alerts` tells what".to_owned(),
        many => format!("{many} need you; `switchboard alerts` tells what"),
    }
}

fn engine_words(engine: &EngineStatus, clock: &Clock) -> String {
    match &engine.run {
        Some(run) => {
            format!("runs, pid {} since {}, version {}", run.pid, clock.full(run.since), run.version)
        }
        None => "none runs; this is what is kept".to_owned(),
    }
}

fn turns_words(engine: &EngineStatus, clock: &Clock) -> String {
    match (&engine.drain, &engine.held, engine.gate) {
        (Some(drain), ..) => format!(
            "none begins, the engine stops ({}): waits until {} for {}",
            drain.why,
            clock.full(drain.until),
            if drain.waits_for.is_empty() { "nothing".to_owned() } else { Waited::names(&drain.waits_for) }
        ),
        (None, Some(held), _) => {
            let why = if held.why.is_empty() { String::new() } else { format!(": {}", held.why) };
            format!(
                "none begins, on hold since {}{why}; `switchboard release` ends it",
                clock.full(held.since)
            )
        }
        _ if engine.run.is_none() => "none begins, no engine runs".to_owned(),
        (None, None, Gate::Stopping) => "none begins, the engine stops".to_owned(),
        (None, None, _) => "begin as messages come".to_owned(),
    }
}
