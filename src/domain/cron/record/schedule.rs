//! The schedule in a record: a text, or Hermes' object.

use super::read::member;
use crate::domain::cron::Fault;
use crate::domain::json::quoted;
use crate::domain::schedule::Schedule;

/// The schedule as text.
pub(super) fn read(raw: &str) -> Result<String, Fault> {
    if raw.starts_with('{') {
        return from_object(raw);
    }
    let text = serde_json::from_str(raw).ok().filter(|text: &String| !text.trim().is_empty());
    text.ok_or_else(|| {
        let why = "must be a text like \"every 30 minutes\" or \"0 8 * * *\", or Hermes' {\"kind\": …}";
        Fault::new("schedule", raw, why)
    })
}

/// What its kind and the field of that kind say; the words for people beside them may be stale.
fn from_object(object: &str) -> Result<String, Fault> {
    let field = |name: &'static str, needed: &'static str| {
        let value = member(object, name).filter(|value| *value != "null");
        value.ok_or_else(|| Fault::missing(format!("schedule.{name}"), needed))
    };
    let text = |name: &'static str, needed: &'static str| {
        let raw = field(name, needed)?;
        serde_json::from_str(raw).map_err(|_| Fault::new(format!("schedule.{name}"), raw, needed))
    };
    let kinds = "must be \"cron\", \"interval\" or \"once\"";
    let kind: String = text("kind", kinds)?;
    match kind.as_str() {
        "cron" => text("expr", "must be a cron expression in quotes"),
        "once" => text("run_at", "must be a time in quotes, like \"2026-12-24T18:00:00+01:00\""),
        "interval" => {
            let needed = "must be a whole number of minutes, from 1";
            let minutes = field("minutes", needed)?;
            let count = minutes.parse::<u64>().ok().filter(|count| *count > 0);
            let count = count.ok_or_else(|| Fault::new("schedule.minutes", minutes, needed))?;
            Ok(format!("every {count}m"))
        }
        _ => Err(Fault::new("schedule.kind", &format!("{kind:?}"), kinds)),
    }
}

/// A schedule in the shape of the field as it was. What Hermes has no kind for becomes a text.
pub(super) fn shaped(text: &str, before: Option<&str>) -> String {
    let object = before.is_some_and(|raw| raw.starts_with('{'));
    let parts = if object { text.parse().ok().and_then(|schedule| hermes(&schedule)) } else { None };
    match parts {
        Some((kind, name, value)) => {
            format!("{{\"kind\": {kind:?}, {name:?}: {value}, \"display\": {}}}", quoted(text))
        }
        None => quoted(text),
    }
}

/// Hermes' kind of a schedule, and the name and value of the field that belongs to it.
fn hermes(schedule: &Schedule) -> Option<(&'static str, &'static str, String)> {
    match schedule {
        Schedule::Cron(cron) => {
            // Quartz has more to say than the five fields.
            let expression = Some(cron.to_string()).filter(|text| !text.starts_with("quartz"))?;
            Some(("cron", "expr", quoted(&expression)))
        }
        Schedule::Every(length) => Some(("interval", "minutes", length.duration().num_minutes().to_string())),
        Schedule::At(moment) => Some(("once", "run_at", quoted(&moment.to_string()))),
        Schedule::In(_) => None,
    }
}
