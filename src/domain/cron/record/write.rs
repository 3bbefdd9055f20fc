//! A new record: the fields that say something, in their order.

use super::targets;
use crate::domain::cron::Definition;
use crate::domain::json::{Layout, quoted};

/// Writes a job as a record in a layout. What is as where the field is absent is left out.
pub fn write(definition: &Definition, layout: &Layout) -> String {
    let Layout { lead, gap, tail, colon } = layout;
    let members = members(definition).into_iter();
    let members: Vec<String> =
        members.map(|(name, value)| format!("{}{colon}{value}", quoted(name))).collect();
    format!("{{{lead}{}{tail}}}", members.join(gap))
}

fn members(definition: &Definition) -> Vec<(&'static str, String)> {
    let bare = Definition::new(definition.id.clone(), String::new());
    let of = definition;
    let text = |text: &Option<String>| text.as_deref().map(quoted);
    let unless = |usual: bool, value: String| (!usual).then_some(value);
    let skills = if of.skills.len() == 1 { "skill" } else { "skills" };
    let members = [
        ("id", Some(quoted(of.id.as_str()))),
        ("name", text(&of.name)),
        ("schedule", Some(quoted(&of.schedule))),
        ("timezone", text(&of.timezone)),
        ("description", text(&of.description)),
        ("prompt", text(&of.prompt)),
        (skills, unless(of.skills.is_empty(), one_or_list(&of.skills))),
        ("deliver_to", unless(of.deliver_to.is_empty(), targets::shaped(&of.deliver_to, None, None))),
        ("enabled", unless(of.enabled == bare.enabled, of.enabled.to_string())),
        ("repeat", of.repeat.map(|count| count.to_string())),
        ("misfire", unless(of.misfire == bare.misfire, quoted(&of.misfire.to_string()))),
        ("overlap", unless(of.overlap == bare.overlap, quoted(of.overlap.as_str()))),
        ("jitter_seconds", unless(of.jitter_seconds == bare.jitter_seconds, of.jitter_seconds.to_string())),
        ("script", text(&of.script)),
        ("no_agent", unless(of.no_agent == bare.no_agent, of.no_agent.to_string())),
        ("context_from", unless(of.context_from.is_empty(), list(&of.context_from))),
        ("agent", text(&of.agent)),
        ("model", text(&of.model)),
        ("workdir", text(&of.workdir)),
        ("timeout_minutes", of.timeout_minutes.map(|minutes| minutes.to_string())),
        ("session", unless(of.session == bare.session, quoted(of.session.as_str()))),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A list of texts on one line.
pub(super) fn list<T: ToString>(texts: &[T]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(&text.to_string())).collect();
    format!("[{}]", texts.join(", "))
}

fn one_or_list(texts: &[String]) -> String {
    match texts {
        [one] => quoted(one),
        several => list(several),
    }
}
