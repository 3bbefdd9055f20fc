//! What an agent tells of its work: its updates as events of a turn.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use crate::agent::AgentEvent;
use crate::domain::event::excerpt;
use crate::domain::session::ContextUse;
use crate::domain::spending::Millionths;

/// The updates of one turn so far.
#[derive(Debug, Default)]
pub(super) struct Updates {
    /// Calls whose input may not be whole yet: they do not act before another word of them.
    pending: BTreeMap<String, Map<String, Value>>,
    called: HashSet<String>,
    ended: HashSet<String>,
    plan: String,
    cost: Option<Millionths>,
}

impl Updates {
    /// The events of an update; none for what has no place in a conversation.
    pub(super) fn take(&mut self, update: &Value) -> Vec<AgentEvent> {
        match text(update, "sessionUpdate") {
            "agent_message_chunk" => vec![AgentEvent::Text(content(update.get("content")))],
            "agent_thought_chunk" => vec![AgentEvent::Reasoning(content(update.get("content")))],
            "tool_call" | "tool_call_update" => self.tool(update),
            "plan" => self.plan(update),
            "usage_update" => self.usage(update),
            other => {
                tracing::debug!(update = other, "an update that has no place in a conversation");
                Vec::new()
            }
        }
    }

    /// How full the agent's window is, and what its session has cost so far.
    fn usage(&mut self, update: &Value) -> Vec<AgentEvent> {
        let count = |name: &str| update.get(name).and_then(Value::as_u64).filter(|count| *count > 0);
        let amount = update.get("cost").and_then(|cost| cost.get("amount")).and_then(Value::as_f64);
        if let Some(amount) = amount.filter(|amount| (0.0..1e12).contains(amount)) {
            self.cost = Some((amount * 1e6).ceil() as u64);
        }
        let context = count("used").map(|tokens| ContextUse { tokens, window: count("size") });
        context.map(AgentEvent::Context).into_iter().collect()
    }

    /// What the agent's session has cost so far, by its own word, in millionths of whatever currency.
    pub(super) fn cost(&self) -> Option<Millionths> {
        self.cost
    }

    /// A call that is asked about is whole.
    pub(super) fn asked(&mut self, call: &Value) -> Vec<AgentEvent> {
        let known = self.pending.contains_key(text(call, "toolCallId"));
        if known { self.call(call).into_iter().collect() } else { Vec::new() }
    }

    /// The calls that never got further than their announcement.
    pub(super) fn rest(&mut self) -> Vec<AgentEvent> {
        let pending: Vec<Value> = self.pending.values().cloned().map(Value::Object).collect();
        pending.iter().filter_map(|call| self.call(call)).collect()
    }

    /// A call is told once, and its end once, whichever update comes first.
    fn tool(&mut self, update: &Value) -> Vec<AgentEvent> {
        let call = text(update, "toolCallId").to_owned();
        if text(update, "status") == "pending" && !self.called.contains(&call) {
            self.merge(update);
            return Vec::new();
        }
        let mut events: Vec<AgentEvent> = self.call(update).into_iter().collect();
        let ok = match text(update, "status") {
            "completed" => true,
            "failed" => false,
            _ => return events,
        };
        if self.ended.insert(call.clone()) {
            events.push(AgentEvent::ToolResult { call, ok, output: output(update) });
        }
        events
    }

    fn call(&mut self, update: &Value) -> Option<AgentEvent> {
        let call = text(update, "toolCallId").to_owned();
        if !self.called.insert(call.clone()) {
            return None;
        }
        let whole = Value::Object(self.merge(update));
        self.pending.remove(&call);
        let (name, arguments) = (tool_name(&whole).to_owned(), arguments(&whole));
        Some(AgentEvent::ToolCall { call, name, arguments })
    }

    /// What is known of a call, with what this update says anew.
    fn merge(&mut self, update: &Value) -> Map<String, Value> {
        let known = self.pending.entry(text(update, "toolCallId").to_owned()).or_default();
        for (name, value) in update.as_object().into_iter().flatten() {
            if !value.is_null() {
                known.insert(name.clone(), value.clone());
            }
        }
        known.clone()
    }

    /// The plan stands among the reasoning, each time that it is another.
    fn plan(&mut self, update: &Value) -> Vec<AgentEvent> {
        let entries = update.get("entries").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let lines = entries.iter().map(|entry| {
            let mark = match text(entry, "status") {
                "completed" => 'x',
                "in_progress" => '>',
                _ => ' ',
            };
            format!("[{mark}] {}\n", excerpt(text(entry, "content")))
        });
        let plan = format!("\nPlan:\n{}", lines.collect::<String>());
        if entries.is_empty() || plan == self.plan {
            return Vec::new();
        }
        self.plan.clone_from(&plan);
        vec![AgentEvent::Reasoning(plan)]
    }
}

/// What a tool call is called: by its own name, else by its kind.
pub(super) fn tool_name(call: &Value) -> &str {
    let names = [text(call, "name"), text(call, "kind")];
    names.into_iter().find(|name| !name.is_empty()).unwrap_or("tool")
}

/// What a tool is called with: its input, else its title.
fn arguments(call: &Value) -> String {
    match call.get("rawInput") {
        Some(Value::Object(fields)) if !fields.is_empty() => Value::Object(fields.clone()).to_string(),
        Some(Value::String(input)) if !input.is_empty() => input.clone(),
        _ => text(call, "title").to_owned(),
    }
}

/// What a tool gave back: what it shows, else its raw output.
fn output(call: &Value) -> String {
    let shown = shown(call);
    match call.get("rawOutput") {
        Some(Value::String(raw)) if shown.is_empty() => raw.clone(),
        Some(raw) if shown.is_empty() && !raw.is_null() => raw.to_string(),
        _ => shown,
    }
}

/// All that a tool call shows of itself, as text.
pub(super) fn shown(call: &Value) -> String {
    let parts = call.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let parts = parts.iter().map(|part| match text(part, "type") {
        "diff" => format!("{}:\n{}", text(part, "path"), text(part, "newText")),
        "content" => content(part.get("content")),
        _ => content(Some(part)),
    });
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The text of a content block; what is no text is named.
fn content(block: Option<&Value>) -> String {
    let Some(block) = block else { return String::new() };
    match text(block, "type") {
        "text" => text(block, "text").to_owned(),
        "resource_link" => text(block, "uri").to_owned(),
        "resource" => block.get("resource").map(|inner| text(inner, "text")).unwrap_or_default().to_owned(),
        "" => block.as_str().unwrap_or_default().to_owned(),
        other => format!("[{}: not shown]", excerpt(other)),
    }
}

/// A text field; empty where there is none.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn take(updates: &mut Updates, update: Value) -> Vec<AgentEvent> {
        updates.take(&update)
    }

    #[test]
    fn words_and_thoughts_are_told_apart() {
        let updates = &mut Updates::default();
        let words = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}});
        assert_eq!(take(updates, words), [AgentEvent::Text("a".into())]);
        let thought =
            json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "t"}});
        assert_eq!(take(updates, thought), [AgentEvent::Reasoning("t".into())]);
        let image =
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "…"}});
        assert_eq!(take(updates, image), [AgentEvent::Text("[image: not shown]".into())]);
        for other in [json!({"sessionUpdate": "user_message_chunk"}), json!({}), json!(null), json!([1])] {
            assert_eq!(take(updates, other), []);
        }
    }

    #[test]
    fn a_call_is_told_once_and_its_end_once() {
        let updates = &mut Updates::default();
        let call = |kind: &str, more: Value| {
            let mut update = json!({"sessionUpdate": kind, "toolCallId": "c", "kind": "execute"});
            update.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            update
        };
        let begun =
            call("tool_call", json!({"title": "ls", "rawInput": {"command": "ls"}, "status": "pending"}));
        let (call_id, name) = ("c".to_owned(), "execute".to_owned());
        let arguments = r#"{"command":"ls"}"#.to_owned();
        assert_eq!(take(updates, begun), [], "its input may not be whole");
        let runs = call("tool_call_update", json!({"status": "in_progress"}));
        let told = AgentEvent::ToolCall { call: call_id, name, arguments };
        assert_eq!((take(updates, runs.clone()), take(updates, runs)), (vec![told], vec![]));
        let shown = json!([{"type": "content", "content": {"type": "text", "text": "a.txt"}},
            {"type": "diff", "path": "/a", "newText": "new"}]);
        let done = call("tool_call_update", json!({"status": "completed", "content": shown}));
        let output = "a.txt\n/a:\nnew".to_owned();
        assert_eq!(
            take(updates, done.clone()),
            [AgentEvent::ToolResult { call: "c".into(), ok: true, output }]
        );
        assert_eq!(take(updates, done), []);
    }

    #[test]
    fn an_end_without_a_beginning_is_both() {
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Read a",
            "status": "failed", "rawOutput": {"error": "gone"}});
        let expected = [
            AgentEvent::ToolCall { call: "c".into(), name: "tool".into(), arguments: "Read a".into() },
            AgentEvent::ToolResult { call: "c".into(), ok: false, output: r#"{"error":"gone"}"#.into() },
        ];
        assert_eq!(take(&mut Updates::default(), update), expected);
    }

    #[test]
    fn a_call_is_told_with_its_whole_input_once_it_acts_is_asked_about_or_is_left() {
        let pending = |id: &str| {
            json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "bash", "kind": "execute",
                "status": "pending", "rawInput": {"cwd": "/"}})
        };
        let told = |id: &str, arguments: &str| AgentEvent::ToolCall {
            call: id.into(),
            name: "execute".into(),
            arguments: arguments.into(),
        };
        let updates = &mut Updates::default();
        assert_eq!([take(updates, pending("a")), take(updates, pending("b"))], [[], []]);
        let question = json!({"toolCallId": "a", "kind": null, "rawInput": {"command": "ls"}});
        assert_eq!(updates.asked(&question), [told("a", r#"{"command":"ls"}"#)]);
        assert_eq!(updates.asked(&question), []);
        assert_eq!(updates.asked(&json!({"toolCallId": "another"})), []);
        assert_eq!(updates.rest(), [told("b", r#"{"cwd":"/"}"#)]);
        assert_eq!(updates.rest(), []);
    }

    #[test]
    fn a_plan_is_told_when_it_is_another() {
        let updates = &mut Updates::default();
        let plan = |status: &str| json!({"sessionUpdate": "plan", "entries": [{"content": "look\nround", "status": status}]});
        let told = AgentEvent::Reasoning("\nPlan:\n[ ] look round\n".into());
        assert_eq!(take(updates, plan("pending")), [told]);
        assert_eq!(take(updates, plan("pending")), []);
        let told = AgentEvent::Reasoning("\nPlan:\n[x] look round\n".into());
        assert_eq!(take(updates, plan("completed")), [told]);
    }
}
