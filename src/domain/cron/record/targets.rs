//! The delivery targets in a record: objects, or Hermes' texts.

use serde_json::{Map, Value};

use crate::domain::cron::{ORIGIN, Target};
use crate::domain::json::quoted;

/// The targets of a field. `origin` is where the job was made, if its record tells.
pub(super) fn read(raw: &str, origin: Option<&Target>) -> Result<Vec<Target>, String> {
    let value: Value = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let mut targets = of_value(&value)?;
    for target in &mut targets {
        if let Some(origin) = origin.filter(|_| *target == Target::platform(ORIGIN)) {
            *target = origin.clone();
        }
    }
    Ok(targets)
}

/// Where a job was made; none if its record does not tell a place.
pub(super) fn origin(raw: &str) -> Option<Target> {
    let Value::Object(object) = serde_json::from_str(raw).ok()? else { return None };
    of_object(&object).ok()
}

/// The targets in the shape of the field as it was (`before`, where there was one).
pub(super) fn shaped(targets: &[Target], before: Option<&str>, origin: Option<&Target>) -> String {
    let before = before.and_then(|raw| serde_json::from_str::<Value>(raw).ok());
    let texts = targets.iter().all(Target::has_text_form);
    match before {
        Some(Value::String(before)) if texts => {
            let named = Target::list(&before).is_ok_and(|before| before.contains(&Target::platform(ORIGIN)));
            let word = |target: &Target| match origin {
                Some(origin) if named && target == origin => ORIGIN.to_owned(),
                _ => target.to_string(),
            };
            quoted(&targets.iter().map(word).collect::<Vec<_>>().join(","))
        }
        Some(Value::Array(items)) if texts && items.iter().any(Value::is_string) => {
            list(targets.iter().map(|target| quoted(&target.to_string())))
        }
        Some(Value::Array(_)) => list(targets.iter().map(object)),
        _ => match targets {
            [one] => object(one),
            several => list(several.iter().map(object)),
        },
    }
}

fn of_value(value: &Value) -> Result<Vec<Target>, String> {
    match value {
        Value::String(text) if text.trim_start().starts_with('[') => {
            let list: Value =
                serde_json::from_str(text).map_err(|_| "begins like a JSON list and is none".to_owned())?;
            of_value(&list)
        }
        Value::String(text) => Target::list(text).map_err(|error| error.to_string()),
        Value::Object(object) => Ok(vec![of_object(object)?]),
        Value::Array(items) => {
            let mut targets = Vec::new();
            for item in items.iter().filter(|item| !item.is_array()) {
                targets.extend(of_value(item)?);
            }
            if items.iter().any(Value::is_array) { Err(allowed()) } else { Ok(targets) }
        }
        _ => Err(allowed()),
    }
}

fn of_object(object: &Map<String, Value>) -> Result<Target, String> {
    let part = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(format!("{name} must be a text in quotes")),
    };
    let platform = part("platform")?.unwrap_or_default();
    let target = Target { platform, chat_id: part("chat_id")?, thread_id: part("thread_id")? };
    target.checked().map_err(|error| error.to_string())
}

fn allowed() -> String {
    "must be {\"platform\": …, \"chat_id\": …}, a list of these, or a text like \"telegram:CHAT\"".to_owned()
}

fn object(target: &Target) -> String {
    let parts = [("chat_id", &target.chat_id), ("thread_id", &target.thread_id)];
    let parts = parts.into_iter().filter_map(|(name, part)| part.as_ref().map(|part| (name, part)));
    let mut members = format!("\"platform\": {}", quoted(&target.platform));
    for (name, part) in parts {
        members.push_str(&format!(", {}: {}", quoted(name), quoted(part)));
    }
    format!("{{ {members} }}")
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}
