//! What Hermes wrote of a job's runs: taken over once as the state to begin with, and never a reason to refuse it.

use serde::{Deserialize, Serialize};

use super::read::{Fields, member};
use crate::domain::Time;
use crate::domain::sanitize::one_line;

/// The run-time fields of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// When the job was made.
    pub created_at: Option<Time>,
    /// When it was to run next.
    pub next_run_at: Option<Time>,
    /// When it ran last.
    pub last_run_at: Option<Time>,
    /// How that went: `ok`, `error`, …
    pub last_status: Option<String>,
    /// What went wrong.
    pub last_error: Option<String>,
    /// Why its result did not arrive.
    pub last_delivery_error: Option<String>,
    /// How many runs of `repeat` are used up.
    pub completed: Option<u32>,
    /// `scheduled`, `paused`, `completed`, …
    pub state: Option<String>,
    /// Since when it is paused.
    pub paused_at: Option<Time>,
    /// Why.
    pub paused_reason: Option<String>,
}

/// Their names, so that none is taken for a slip of the pen.
pub(super) const FIELDS: [&str; 14] = [
    "created_at",
    "next_run_at",
    "last_run_at",
    "last_status",
    "last_error",
    "last_delivery_error",
    "state",
    "paused_at",
    "paused_reason",
    "origin",
    "schedule_display",
    "provider",
    "base_url",
    "enabled_toolsets",
];

/// Reads what can be read; what can't is told and left out.
pub(super) fn read(fields: &Fields<'_>, warnings: &mut Vec<String>) -> Imported {
    let mut lenient = Lenient { fields, warnings };
    Imported {
        created_at: lenient.time("created_at"),
        next_run_at: lenient.time("next_run_at"),
        last_run_at: lenient.time("last_run_at"),
        last_status: lenient.text("last_status"),
        last_error: lenient.text("last_error"),
        last_delivery_error: lenient.text("last_delivery_error"),
        completed: lenient.completed(),
        state: lenient.text("state"),
        paused_at: lenient.time("paused_at"),
        paused_reason: lenient.text("paused_reason"),
    }
}

struct Lenient<'f, 'a> {
    fields: &'f Fields<'a>,
    warnings: &'f mut Vec<String>,
}

impl Lenient<'_, '_> {
    fn text(&mut self, name: &str) -> Option<String> {
        let raw = self.fields.get(name)?;
        match serde_json::from_str(raw) {
            Ok(text) => Some(text),
            Err(_) => self.refuse(name, raw, "no text"),
        }
    }

    fn time(&mut self, name: &str) -> Option<Time> {
        let raw = self.fields.get(name)?;
        let text = serde_json::from_str::<String>(raw).unwrap_or_default();
        match chrono::DateTime::parse_from_rfc3339(&text) {
            Ok(time) => Some(time.to_utc()),
            Err(_) => self.refuse(name, raw, "no time with an offset from UTC"),
        }
    }

    fn completed(&mut self) -> Option<u32> {
        let raw = self.fields.get("repeat").filter(|raw| raw.starts_with('{'))?;
        let completed = member(raw, "completed").filter(|raw| *raw != "null")?;
        match completed.parse() {
            Ok(count) => Some(count),
            Err(_) => self.refuse("repeat.completed", completed, "no count"),
        }
    }

    fn refuse<T>(&mut self, name: &str, raw: &str, why: &str) -> Option<T> {
        let short: String = raw.chars().take(40).collect();
        self.warnings.push(format!("{name} {} is {why}, so it is not taken over", one_line(&short)));
        None
    }
}
