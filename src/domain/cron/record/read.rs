//! A record's text to what it says.

use std::fmt::Display;
use std::str::FromStr;

use serde_json::Value;

use super::{ALIASES, Imported, ORDER, Record, imported, schedule, targets};
use crate::domain::cron::{Definition, Fault, JobId};
use crate::domain::json::{Member, escape_controls, members};
use crate::domain::nearest::nearest;
use crate::domain::sanitize::one_line;

/// Reads a record, or tells everything in it that can't be understood. `key` is its key in a file that is a
/// map by id. Fields that we don't know are left alone.
pub fn read(text: &str, key: Option<&str>) -> Result<Record, Vec<Fault>> {
    let escaped;
    let fields = match Fields::of(text) {
        Ok(fields) => fields,
        Err(_) => {
            escaped = escape_controls(text);
            Fields::of(&escaped)?
        }
    };
    let mut faults = Vec::new();
    let id = id(&fields, key).map_err(|fault| vec![fault])?;
    let definition = definition(&fields, id, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut warnings = Vec::new();
    if fields.whole.len() != text.len() {
        warnings.push(
            "a text in it has raw control characters; they are written escaped when it is edited".to_owned(),
        );
    }
    if let Some(key) = key.filter(|key| *key != definition.id.as_str()) {
        warnings.push(format!("its key is {:?}, its id {}: the id counts", one_line(key), definition.id));
    }
    let imported = imported::read(&fields, &mut warnings);
    warnings.extend(fields.slips());
    Ok(Record { definition, imported, warnings })
}

/// The id of a record of which the rest may be wrong.
pub fn read_id(text: &str, key: Option<&str>) -> Option<JobId> {
    let escaped = escape_controls(text);
    match Fields::of(&escaped) {
        Ok(fields) => id(&fields, key).ok(),
        Err(_) => key?.parse().ok(),
    }
}

/// The run-time fields of a record of which the rest may be wrong; none of one that is no record.
pub fn read_imported(text: &str) -> Imported {
    let escaped = escape_controls(text);
    Fields::of(&escaped).map(|fields| imported::read(&fields, &mut Vec::new())).unwrap_or_default()
}

/// What the fields say. A field that can't be understood is told and stays as where it is absent.
pub(super) fn definition(fields: &Fields<'_>, id: JobId, faults: &mut Vec<Fault>) -> Definition {
    let bare = Definition::new(id, String::new());
    let mut reader = Reader { fields, faults };
    let paused = fields.get("state").is_some_and(|state| state == "\"paused\"");
    Definition {
        name: reader.one("name", text),
        schedule: reader.schedule(),
        timezone: reader.one("timezone", text),
        description: reader.one("description", text),
        prompt: reader.one("prompt", text),
        skills: reader.skills(),
        deliver_to: reader.targets(),
        enabled: reader.one("enabled", flag).unwrap_or(bare.enabled) && !paused,
        repeat: reader.one("repeat", repeat),
        misfire: reader.one("misfire", word).unwrap_or(bare.misfire),
        overlap: reader.one("overlap", word).unwrap_or(bare.overlap),
        jitter_seconds: reader.one("jitter_seconds", whole_number).unwrap_or(bare.jitter_seconds),
        script: reader.one("script", text),
        no_agent: reader.one("no_agent", flag).unwrap_or(bare.no_agent),
        context_from: reader.one("context_from", job_ids).unwrap_or_default(),
        agent: reader.one("agent", text),
        model: reader.one("model", text),
        workdir: reader.one("workdir", text),
        timeout_minutes: reader.one("timeout_minutes", whole_number),
        session: reader.one("session", word).unwrap_or(bare.session),
        ..bare
    }
}

/// The members of a record by name.
pub(super) struct Fields<'a> {
    /// The record that they are in.
    whole: &'a str,
    pub(super) members: Vec<Member<'a>>,
}

impl<'a> Fields<'a> {
    /// The fields of a record without raw control characters.
    pub(super) fn of(record: &'a str) -> Result<Self, Vec<Fault>> {
        match members(record) {
            Ok(members) => Ok(Self { whole: record, members }),
            Err(_) => Err(vec![Fault::new(
                "record",
                record,
                "must be an object in braces, with at least id and schedule",
            )]),
        }
    }

    /// A field's value as written; none where it is absent or null. Of several of one name the last counts.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        let value = self.members.iter().rfind(|member| member.name == name)?.value;
        (value != "null").then_some(value)
    }

    /// Whether a field stands there, be it null.
    pub(super) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.name == name)
    }

    /// Names that nobody knows but that look like one that is missing.
    fn slips(&self) -> impl Iterator<Item = String> {
        let known = |name: &str| {
            ORDER.contains(&name)
                || imported::FIELDS.contains(&name)
                || ALIASES.iter().any(|(alias, _)| *alias == name)
        };
        let unknown = self.members.iter().filter(move |member| !known(&member.name));
        unknown.filter_map(|member| {
            let absent = ORDER.into_iter().filter(|name| !self.has(name));
            let near = nearest(&member.name, absent)?;
            (near.len().abs_diff(member.name.len()) <= 2)
                .then(|| format!("it has no field {:?}: is {near} meant?", one_line(&member.name)))
        })
    }
}

/// Reads fields and keeps what is wrong with them.
struct Reader<'f, 'a> {
    fields: &'f Fields<'a>,
    faults: &'f mut Vec<Fault>,
}

impl Reader<'_, '_> {
    fn one<T>(&mut self, name: &str, read: impl FnOnce(&str) -> Result<Option<T>, String>) -> Option<T> {
        let raw = self.fields.get(name)?;
        read(raw).unwrap_or_else(|why| {
            self.faults.push(Fault::new(name, raw, why));
            None
        })
    }

    fn schedule(&mut self) -> String {
        let Some(raw) = self.fields.get("schedule") else {
            let needed = "say when, like \"0 8 * * *\", \"every 30 minutes\" or \"daily at 7am\"";
            self.faults.push(Fault::missing("schedule", needed));
            return String::new();
        };
        schedule::read(raw).unwrap_or_else(|fault| {
            self.faults.push(fault);
            String::new()
        })
    }

    /// Hermes writes both fields, the second as the first of the list.
    fn skills(&mut self) -> Vec<String> {
        let mut skills = self.one("skills", texts).unwrap_or_default();
        let more = self.one("skill", texts).unwrap_or_default();
        skills.extend(more.into_iter().filter(|skill| !skills.contains(skill)).collect::<Vec<_>>());
        skills
    }

    fn targets(&mut self) -> Vec<crate::domain::cron::Target> {
        let origin = self.fields.get("origin").and_then(targets::origin);
        let name = if self.fields.get("deliver_to").is_some() { "deliver_to" } else { "deliver" };
        self.one(name, |raw| targets::read(raw, origin.as_ref()).map(Some)).unwrap_or_default()
    }
}

fn id(fields: &Fields<'_>, key: Option<&str>) -> Result<JobId, Fault> {
    for name in ["id", "job_id"] {
        let Some(raw) = fields.get(name) else { continue };
        let wrong = |why: &dyn Display| Fault::new(name, raw, why);
        let text: String = serde_json::from_str(raw).map_err(|_| wrong(&"must be a text in quotes"))?;
        return text.parse().map_err(|error| wrong(&error));
    }
    match key {
        Some(key) => key.parse().map_err(|error| Fault::new("id", &format!("{key:?}"), error)),
        None => Err(Fault::missing("id", "each job needs one of letters, digits, . _ -")),
    }
}

/// A text; one of white space alone says nothing.
fn text(raw: &str) -> Result<Option<String>, String> {
    let text: String = serde_json::from_str(raw).map_err(|_| "must be a text in quotes".to_owned())?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

fn word<T: FromStr<Err: Display>>(raw: &str) -> Result<Option<T>, String> {
    text(raw)?.map(|text| text.parse().map_err(|error: T::Err| error.to_string())).transpose()
}

fn flag(raw: &str) -> Result<Option<bool>, String> {
    match raw {
        "true" => Ok(Some(true)),
        "false" => Ok(Some(false)),
        _ => Err("must be true or false".to_owned()),
    }
}

fn whole_number(raw: &str) -> Result<Option<u32>, String> {
    raw.parse().map(Some).map_err(|_| "must be a whole number, not negative".to_owned())
}

/// A text or a list of texts.
fn texts(raw: &str) -> Result<Option<Vec<String>>, String> {
    let why = || "must be a text in quotes or a list of them".to_owned();
    match serde_json::from_str(raw) {
        Ok(Value::String(text)) => Ok(Some(vec![text]).filter(|texts| !texts[0].trim().is_empty())),
        Ok(Value::Array(items)) => {
            let texts = items.into_iter().map(|item| match item {
                Value::String(text) => Ok(text),
                _ => Err(why()),
            });
            texts.collect::<Result<Vec<_>, _>>().map(Some)
        }
        _ => Err(why()),
    }
}

fn job_ids(raw: &str) -> Result<Option<Vec<JobId>>, String> {
    let names = texts(raw)?.unwrap_or_default();
    let ids = names.iter().map(|name| name.parse().map_err(|error| format!("{name:?}: {error}")));
    ids.collect::<Result<Vec<_>, _>>().map(Some)
}

/// A member of an object in a field, as it is written.
pub(super) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let members = members(object).ok()?;
    members.iter().rfind(|member| member.name == name).map(|member| member.value)
}

/// A count, `"forever"`, `"once"`, a count in quotes, or Hermes' `{"times": …, "completed": …}`.
fn repeat(raw: &str) -> Result<Option<u32>, String> {
    let why = || "must be a count from 1, \"once\", \"forever\" or {\"times\": …}".to_owned();
    let raw = if raw.starts_with('{') { member(raw, "times").unwrap_or("null") } else { raw };
    match serde_json::from_str(raw).map_err(|_| why())? {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_u64().and_then(|count| count.try_into().ok()),
        Value::String(text) if text == "forever" => return Ok(None),
        Value::String(text) if text == "once" => Some(1),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
    .filter(|count| *count > 0)
    .map(Some)
    .ok_or_else(why)
}
