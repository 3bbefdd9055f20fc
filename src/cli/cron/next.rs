//! `switchboard cron next`.

use std::io;

use chrono::{DateTime, Utc};

use crate::cli::Exit;
use crate::cli::context::Context;
use crate::cli::output::{AsJson, Form, Out, stderr_line};
use crate::domain::Time;
use crate::domain::schedule::{Lattice, Schedule, parse_zone};

#[derive(Debug, clap::Args)]
pub(super) struct Next {
    /// The schedule: "0 8 * * *", "weekdays at 9:30", "every 2h", "in 30m", "2026-12-24T18:00"
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    schedule: String,
    /// The time zone whose clock is meant [default: the operator's]
    #[arg(long, value_name = "TZ")]
    timezone: Option<String>,
    /// The instant after which the slots come, and from which intervals count [default: now]
    #[arg(long, value_name = "RFC3339", value_parser = instant)]
    from: Option<Time>,
    /// So many
    #[arg(long, value_name = "N", default_value_t = 5)]
    count: usize,
    #[command(flatten)]
    json: AsJson,
}

/// What a schedule means, for a program.
#[derive(serde::Serialize)]
struct Meaning {
    schedule: String,
    words: String,
    zone: &'static str,
    slots: Vec<String>,
    warnings: Vec<String>,
}

impl Next {
    pub(super) fn run(self, context: &Context, out: &mut Out) -> anyhow::Result<Exit> {
        let zone = match &self.timezone {
            Some(name) => parse_zone(name)?,
            None => context.config()?.timezone,
        };
        let from = self.from.unwrap_or_else(Utc::now);
        let schedule: Schedule = self.schedule.parse()?;
        schedule.check(zone, from)?;
        let at = Lattice { zone, anchor: from };
        let slots: Vec<String> = schedule
            .slots(from, &at)
            .take(self.count)
            .map(|slot| slot.with_timezone(&zone).to_rfc3339())
            .collect();
        if self.count > 0 && slots.is_empty() {
            anyhow::bail!(
                "{schedule} has no slot after {}",
                from.with_timezone(&zone).format("%a %Y-%m-%d %H:%M %Z")
            );
        }
        let warnings = schedule.warnings(zone, from).iter().map(|warning| warning.words()).collect();
        let (words, zone) = (schedule.words(), zone.name());
        let meaning = Meaning { schedule: self.schedule, words, zone, slots, warnings };
        match self.json.form() {
            Form::Json => out.json(&meaning)?,
            Form::Text => print(&meaning, out)?,
        }
        Ok(Exit::Done)
    }
}

fn print(meaning: &Meaning, out: &mut Out) -> io::Result<()> {
    stderr_line(&meaning.words);
    for warning in &meaning.warnings {
        stderr_line(&format!("! {warning}"));
    }
    meaning.slots.iter().try_for_each(|slot| out.line(slot))
}

fn instant(text: &str) -> Result<Time, String> {
    let at = DateTime::parse_from_rfc3339(text).map(|at| at.to_utc());
    at.map_err(|_| "a time like 2026-11-29T14:00:00+01:00".to_owned())
}
