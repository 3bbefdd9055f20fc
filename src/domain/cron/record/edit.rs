//! A record changed: only the values of the fields whose meaning changed, each in its author's own shape.

use serde_json::Value;

use super::read::{Fields, definition};
use super::write::{list, write};
use super::{ALIASES, ORDER, schedule, targets};
use crate::domain::cron::{Definition, Fault};
use crate::domain::json::{Layout, escape_controls, quoted, with_member, without_member};

/// The record as it must be to mean `to`. Names, order, layout and fields that we don't know stay; raw
/// control characters in its texts become escaped. What is no record at all is written anew.
pub fn edit(record: &str, to: &Definition) -> String {
    let escaped = escape_controls(record);
    let Ok(fields) = Fields::of(&escaped) else { return write(to, &Layout::inline("")) };
    let mut faults = Vec::new();
    let was = definition(&fields, to.id.clone(), &mut faults);
    let mut editing = Editing { fields: &fields, faults, text: escaped.to_string() };
    editing.id(to);
    editing.texts(&was, to);
    editing.schedule(&was, to);
    editing.skills(&was, to);
    editing.targets(&was, to);
    editing.enabled(&was, to);
    editing.repeat(&was, to);
    editing.others(&was, to);
    editing.text
}

/// A record in the making: the fields as they were, and the text as far as it is changed.
struct Editing<'f, 'a> {
    fields: &'f Fields<'a>,
    faults: Vec<Fault>,
    text: String,
}

impl Editing<'_, '_> {
    /// Whether a field must be written: it means something else now, or it could not be understood.
    fn differs<T: PartialEq>(&self, name: &str, was: &T, to: &T) -> bool {
        let root = |fault: &Fault| fault.field.split('.').next().map(str::to_owned);
        was != to || self.faults.iter().filter_map(root).any(|field| field == name)
    }

    /// Sets a field; a new one comes behind those that stand before it in the usual order.
    fn set(&mut self, name: &str, value: &str) {
        self.text = with_member(&self.text, name, value, &standing_before(name));
    }

    /// Takes a field out; an author who writes null for what is not set gets a null.
    fn unset(&mut self, name: &str) {
        if !self.fields.has(name) {
            return;
        }
        if self.fields.members.iter().any(|member| member.value == "null") {
            self.text = with_member(&self.text, name, "null", &[]);
        } else {
            self.text = without_member(&self.text, name);
        }
    }

    fn set_or_unset(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => self.set(name, &value),
            None => self.unset(name),
        }
    }

    /// An id that is only the key in a map stands nowhere in the record.
    fn id(&mut self, to: &Definition) {
        for name in ["id", "job_id"] {
            let known = self.fields.get(name);
            if let Some(raw) = known {
                if serde_json::from_str::<String>(raw).ok().as_deref() != Some(to.id.as_str()) {
                    self.set(name, &quoted(to.id.as_str()));
                }
                return;
            }
        }
    }

    fn texts(&mut self, was: &Definition, to: &Definition) {
        for (name, was, to) in [
            ("name", &was.name, &to.name),
            ("timezone", &was.timezone, &to.timezone),
            ("description", &was.description, &to.description),
            ("prompt", &was.prompt, &to.prompt),
            ("script", &was.script, &to.script),
            ("agent", &was.agent, &to.agent),
            ("model", &was.model, &to.model),
            ("workdir", &was.workdir, &to.workdir),
        ] {
            if self.differs(name, was, to) {
                self.set_or_unset(name, to.as_deref().map(quoted));
            }
        }
    }

    fn schedule(&mut self, was: &Definition, to: &Definition) {
        if !self.differs("schedule", &was.schedule, &to.schedule) {
            return;
        }
        let shaped = schedule::shaped(&to.schedule, self.fields.get("schedule"));
        self.set("schedule", &shaped);
        if self.fields.get("schedule_display").is_some() {
            self.set("schedule_display", &quoted(&to.schedule));
        }
    }

    fn skills(&mut self, was: &Definition, to: &Definition) {
        let wrong = self.differs("skill", &was.skills, &to.skills);
        if !wrong && !self.differs("skills", &was.skills, &to.skills) {
            return;
        }
        let lone = !self.fields.has("skills");
        match to.skills.as_slice() {
            [] => {
                self.unset("skill");
                self.unset("skills");
            }
            [one] if lone => self.set("skill", &quoted(one)),
            several if lone => {
                self.set("skills", &list(several));
                self.unset("skill");
            }
            [first, ..] => {
                self.set("skills", &list(&to.skills));
                // Hermes keeps the first of them here too.
                if self.fields.has("skill") {
                    self.set("skill", &quoted(first));
                }
            }
        }
    }

    fn targets(&mut self, was: &Definition, to: &Definition) {
        let old = ["deliver_to", "deliver"].into_iter().find(|name| self.fields.get(name).is_some());
        let standing = || ["deliver_to", "deliver"].into_iter().find(|name| self.fields.has(name));
        let name = old.or_else(standing).unwrap_or("deliver_to");
        if !self.differs(name, &was.deliver_to, &to.deliver_to) {
            return;
        }
        if to.deliver_to.is_empty() {
            self.unset(name);
            return;
        }
        let origin = self.fields.get("origin").and_then(targets::origin);
        let hermes = (name == "deliver").then_some("\"\"");
        let before = self.fields.get(name).or(hermes);
        self.set(name, &targets::shaped(&to.deliver_to, before, origin.as_ref()));
    }

    /// In Hermes' shape the state goes with it. A job that goes on needs no field to say so: one that stands
    /// where a pause adds it is taken out, so that a pause and its end leave the record as it was.
    fn enabled(&mut self, was: &Definition, to: &Definition) {
        if !self.differs("enabled", &was.enabled, &to.enabled) {
            return;
        }
        let states = self.fields.get("state").is_some();
        let without = without_member(&self.text, "enabled");
        let paused = with_member(&without, "enabled", "false", &standing_before("enabled"));
        if to.enabled && !states && self.text == paused {
            self.text = without;
            return;
        }
        if self.fields.has("enabled") || !states {
            self.set("enabled", &to.enabled.to_string());
        }
        if states {
            self.set("state", if to.enabled { "\"scheduled\"" } else { "\"paused\"" });
        }
        for name in ["paused_at", "paused_reason"] {
            if to.enabled && self.fields.get(name).is_some() {
                self.set(name, "null");
            }
        }
    }

    fn repeat(&mut self, was: &Definition, to: &Definition) {
        if !self.differs("repeat", &was.repeat, &to.repeat) {
            return;
        }
        let count = to.repeat.map(|count| count.to_string());
        let before = self.fields.get("repeat").unwrap_or_default();
        let value = match serde_json::from_str(before) {
            Ok(Value::Object(_)) => {
                Some(with_member(before, "times", count.as_deref().unwrap_or("null"), &[]))
            }
            Ok(Value::String(_)) => Some(quoted(count.as_deref().unwrap_or("forever"))),
            _ => count,
        };
        self.set_or_unset("repeat", value);
    }

    fn others(&mut self, was: &Definition, to: &Definition) {
        if self.differs("misfire", &was.misfire, &to.misfire) {
            self.set("misfire", &quoted(&to.misfire.to_string()));
        }
        if self.differs("overlap", &was.overlap, &to.overlap) {
            self.set("overlap", &quoted(to.overlap.as_str()));
        }
        if self.differs("jitter_seconds", &was.jitter_seconds, &to.jitter_seconds) {
            self.set("jitter_seconds", &to.jitter_seconds.to_string());
        }
        if self.differs("no_agent", &was.no_agent, &to.no_agent) {
            self.set("no_agent", &to.no_agent.to_string());
        }
        if self.differs("context_from", &was.context_from, &to.context_from) {
            let ids = Some(list(&to.context_from)).filter(|_| !to.context_from.is_empty());
            self.set_or_unset("context_from", ids);
        }
        if self.differs("timeout_minutes", &was.timeout_minutes, &to.timeout_minutes) {
            self.set_or_unset("timeout_minutes", to.timeout_minutes.map(|minutes| minutes.to_string()));
        }
        if self.differs("session", &was.session, &to.session) {
            self.set("session", &quoted(to.session.as_str()));
        }
    }
}

/// The fields that stand before one in the usual order, by all of their names.
fn standing_before(name: &str) -> Vec<&'static str> {
    let usual = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, usual)| usual);
    let before = ORDER.iter().take_while(|known| **known != usual);
    let aliases =
        |known: &'static str| ALIASES.iter().filter(move |(_, of)| *of == known).map(|(alias, _)| *alias);
    before.flat_map(|known| aliases(known).chain([*known])).collect()
}
