//! What an agent tells of its work: its updates as events of a turn.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::schema::{
    self, ContentBlock, EmbeddedResourceResource, PlanEntryStatus, SessionId, SessionNotification,
    SessionUpdate, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolKind,
    UsageUpdate,
};
use crate::agent::AgentEvent;
use crate::domain::changes::changes;
use crate::domain::plan::{Plan, PlanStatus};
use crate::domain::session::ContextUse;
use crate::domain::spending::Millionths;

/// The kinds of updates that have a place in a conversation.
const PLACED: [&str; 6] =
    ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan", "usage_update"];

/// The id of no session, in an update that names none.
const NO_SESSION: &str = "";

/// Reads an update; none where it is of a kind that is not known.
///
/// # Errors
/// Why one that should have a place can't be read, in words.
pub(super) fn read(mut params: Value) -> Result<Option<SessionNotification>, String> {
    let kind = params.pointer("/update/sessionUpdate").and_then(Value::as_str).unwrap_or_default().to_owned();
    match &*kind {
        "plan" => keep_each_entry(&mut params),
        "usage_update" => keep_the_cost(&mut params),
        _ => {}
    }
    fill_in(&mut params, "sessionId", &NO_SESSION.into());
    match serde_json::from_value(params) {
        Ok(update) => Ok(Some(update)),
        Err(error) if PLACED.contains(&&*kind) => Err(format!("{kind} can't be read: {error}")),
        Err(_) => {
            tracing::debug!(kind, "an update of a kind that is not known");
            Ok(None)
        }
    }
}

/// Whether an update is of a session, or of none by name: an agent that does not say means the one that it works in.
pub(super) fn is_of(told: &SessionNotification, session: &SessionId) -> bool {
    told.session_id == *session || *told.session_id.0 == *NO_SESSION
}

/// Gives a field that is missing a value.
fn fill_in(fields: &mut Value, name: &str, value: &Value) {
    if let Some(fields) = fields.as_object_mut()
        && fields.get(name).is_none_or(Value::is_null)
    {
        fields.insert(name.to_owned(), value.clone());
    }
}

/// What a session costs counts where nothing is said of the window.
fn keep_the_cost(params: &mut Value) {
    if let Some(update) = params.get_mut("update") {
        ["used", "size"].iter().for_each(|name| fill_in(update, name, &0.into()));
    }
}

/// An entry of a plan whose agent says nothing of its weight, or how it stands in a word of its own, is left out by
/// the types: it is made one of ordinary weight that waits.
fn keep_each_entry(params: &mut Value) {
    let entries = params.pointer_mut("/update/entries").and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
        entry.insert("priority".to_owned(), "medium".into());
        let status = entry.get("status").cloned().unwrap_or_default();
        if serde_json::from_value::<PlanEntryStatus>(status).is_err() {
            entry.insert("status".to_owned(), "pending".into());
        }
    }
}

/// The updates of one turn so far.
#[derive(Debug, Default)]
pub(super) struct Updates {
    /// Calls whose input may not be whole yet: they do not act before another word of them.
    pending: BTreeMap<Arc<str>, ToolCall>,
    called: HashSet<ToolCallId>,
    ended: HashSet<ToolCallId>,
    cost: Option<Millionths>,
}

impl Updates {
    /// The events of an update; none for what has no place in a conversation.
    pub(super) fn take(&mut self, update: SessionUpdate) -> Vec<AgentEvent> {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => vec![AgentEvent::Text(content(chunk.content))],
            SessionUpdate::AgentThoughtChunk(chunk) => vec![AgentEvent::Reasoning(content(chunk.content))],
            SessionUpdate::ToolCall(call) => self.tool(call.into()),
            SessionUpdate::ToolCallUpdate(update) => self.tool(update),
            SessionUpdate::Plan(plan) => vec![AgentEvent::Plan(planned(&plan))],
            SessionUpdate::UsageUpdate(usage) => self.usage(&usage),
            other => {
                tracing::debug!(?other, "an update that has no place in a conversation");
                Vec::new()
            }
        }
    }

    /// How full the agent's window is, and what its session has cost so far.
    fn usage(&mut self, told: &UsageUpdate) -> Vec<AgentEvent> {
        let amount = told.cost.as_ref().map(|cost| cost.amount);
        if let Some(amount) = amount.filter(|amount| (0.0..1e12).contains(amount)) {
            self.cost = Some((amount * 1e6).ceil() as u64);
        }
        let window = Some(told.size).filter(|size| *size > 0);
        let context = ContextUse { tokens: told.used, window };
        if context.tokens > 0 { vec![AgentEvent::Context(context)] } else { Vec::new() }
    }

    /// What the agent's session has cost so far, by its own word, in millionths of whatever currency.
    pub(super) fn cost(&self) -> Option<Millionths> {
        self.cost
    }

    /// A call that is asked about is whole.
    pub(super) fn asked(&mut self, call: &ToolCallUpdate) -> Vec<AgentEvent> {
        let known = self.pending.contains_key(&call.tool_call_id.0);
        if known { self.call(call.clone()).into_iter().collect() } else { Vec::new() }
    }

    /// The calls that never got further than their announcement.
    pub(super) fn rest(&mut self) -> Vec<AgentEvent> {
        let pending = std::mem::take(&mut self.pending).into_values();
        pending.filter_map(|call| self.call(call.into())).collect()
    }

    /// A call is told once, and its end once, whichever update comes first.
    fn tool(&mut self, mut update: ToolCallUpdate) -> Vec<AgentEvent> {
        let id = update.tool_call_id.clone();
        let ok = match update.fields.status {
            Some(ToolCallStatus::Pending) if !self.called.contains(&id) => {
                let call = known(self.pending.remove(&id.0), update);
                self.pending.insert(id.0, call);
                return Vec::new();
            }
            Some(ToolCallStatus::Completed) => Some(true),
            Some(ToolCallStatus::Failed) => Some(false),
            _ => None,
        };
        let output = output(update.fields.content.take(), update.fields.raw_output.take());
        let mut events: Vec<AgentEvent> = self.call(update).into_iter().collect();
        if let Some(ok) = ok
            && self.ended.insert(id.clone())
        {
            events.push(AgentEvent::ToolResult { call: id.to_string(), ok, output });
        }
        events
    }

    fn call(&mut self, update: ToolCallUpdate) -> Option<AgentEvent> {
        let id = update.tool_call_id.clone();
        if !self.called.insert(id.clone()) {
            return None;
        }
        let whole = known(self.pending.remove(&id.0), update);
        let (name, arguments) = (tool_name(&whole), arguments(whole));
        Some(AgentEvent::ToolCall { call: id.to_string(), name, arguments })
    }
}

/// The plan, which an agent always tells whole.
fn planned(plan: &schema::Plan) -> Plan {
    Plan::of(plan.entries.iter().map(|entry| {
        let status = match entry.status {
            PlanEntryStatus::Completed => PlanStatus::Completed,
            PlanEntryStatus::InProgress => PlanStatus::InProgress,
            _ => PlanStatus::Pending,
        };
        (entry.content.as_str(), status)
    }))
}

/// What is known of a call, with what an update says anew.
pub(super) fn known(before: Option<ToolCall>, update: ToolCallUpdate) -> ToolCall {
    let mut call = before.unwrap_or_else(|| ToolCall::new(update.tool_call_id, ""));
    call.update(update.fields);
    call
}

/// What a tool call is called: by its own name, else by its kind.
pub(super) fn tool_name(call: &ToolCall) -> String {
    let own = call.name.as_ref().filter(|name| !name.is_empty());
    match (own, serde_json::to_value(call.kind)) {
        (Some(name), _) => name.clone(),
        (None, Ok(Value::String(kind))) if call.kind != ToolKind::Other => kind,
        (None, _) => "tool".to_owned(),
    }
}

/// What a tool is called with: its input, else its title.
fn arguments(call: ToolCall) -> String {
    match call.raw_input {
        Some(Value::Object(fields)) if !fields.is_empty() => Value::Object(fields).to_string(),
        Some(Value::String(input)) if !input.is_empty() => input,
        _ => call.title,
    }
}

/// What a tool gave back: what it shows, else its raw output.
fn output(content: Option<Vec<ToolCallContent>>, raw: Option<Value>) -> String {
    let shown = shown(content.unwrap_or_default());
    match raw {
        Some(Value::String(raw)) if shown.is_empty() => raw,
        Some(raw) if shown.is_empty() => raw.to_string(),
        _ => shown,
    }
}

/// All that a tool call shows of itself, as text.
pub(super) fn shown(parts: Vec<ToolCallContent>) -> String {
    let parts = parts.into_iter().map(|part| match part {
        ToolCallContent::Content(part) => content(part.content),
        ToolCallContent::Diff(diff) => {
            let changed = diff.old_text.as_deref().and_then(|before| changes(before, &diff.new_text));
            format!("{}:\n{}", diff.path.display(), changed.unwrap_or(diff.new_text))
        }
        ToolCallContent::Terminal(_) => "[terminal: not shown]".to_owned(),
        _ => String::new(),
    });
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The text of a content block; what is no text is named.
fn content(block: ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::ResourceLink(link) => link.uri,
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => text.text,
            _ => "[resource: not shown]".to_owned(),
        },
        ContentBlock::Image(_) => "[image: not shown]".to_owned(),
        ContentBlock::Audio(_) => "[audio: not shown]".to_owned(),
        _ => "[something: not shown]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn take(updates: &mut Updates, update: Value) -> Vec<AgentEvent> {
        let told = read(json!({"sessionId": "s", "update": update})).unwrap();
        told.map(|told| updates.take(told.update)).unwrap_or_default()
    }

    fn asked(updates: &mut Updates, call: Value) -> Vec<AgentEvent> {
        updates.asked(&serde_json::from_value(call).unwrap())
    }

    #[test]
    fn words_and_thoughts_are_told_apart() {
        let updates = &mut Updates::default();
        let words = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}});
        assert_eq!(take(updates, words), [AgentEvent::Text("a".into())]);
        let thought =
            json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "t"}});
        assert_eq!(take(updates, thought), [AgentEvent::Reasoning("t".into())]);
        let image = json!({"type": "image", "data": "…", "mimeType": "image/png"});
        let image = json!({"sessionUpdate": "agent_message_chunk", "content": image});
        assert_eq!(take(updates, image), [AgentEvent::Text("[image: not shown]".into())]);
        let mode = json!({"sessionUpdate": "current_mode_update", "currentModeId": "m"});
        for other in [mode, json!({"sessionUpdate": "from_the_future"}), json!({}), json!(null), json!([1])] {
            assert_eq!(take(updates, other), []);
        }
    }

    #[test]
    fn words_that_cannot_be_read_are_told() {
        let block = json!({"type": "hologram"});
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": block});
        let why = read(json!({"sessionId": "s", "update": update})).unwrap_err();
        assert!(why.starts_with("agent_message_chunk can't be read: unknown variant `hologram`"), "{why}");
        let update = json!({"sessionUpdate": "tool_call_update"});
        let why = read(json!({"sessionId": "s", "update": update})).unwrap_err();
        assert!(why.contains("missing field `toolCallId`"), "{why}");
    }

    #[test]
    fn an_update_that_names_no_session_is_of_the_one_at_work() {
        let update =
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}});
        let ours = |params: Value| is_of(&read(params).unwrap().unwrap(), &SessionId::new("s"));
        assert!(ours(json!({"update": update})));
        assert!(ours(json!({"sessionId": null, "update": update})));
        assert!(ours(json!({"sessionId": "s", "update": update})));
        assert!(!ours(json!({"sessionId": "another", "update": update})));
    }

    #[test]
    fn a_cost_counts_where_nothing_is_said_of_the_window() {
        let updates = &mut Updates::default();
        let cost = json!({"amount": 0.5, "currency": "EUR"});
        let lean = json!({"sessionUpdate": "usage_update", "size": null, "cost": cost});
        assert_eq!((take(updates, lean), updates.cost()), (vec![], Some(500_000)));
        let wrong = json!({"sessionUpdate": "usage_update", "used": "much"});
        let why = read(json!({"sessionId": "s", "update": wrong})).unwrap_err();
        assert!(why.starts_with("usage_update can't be read"), "{why}");
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
        assert_eq!(asked(updates, question.clone()), [told("a", r#"{"command":"ls"}"#)]);
        assert_eq!(asked(updates, question), []);
        assert_eq!(asked(updates, json!({"toolCallId": "another"})), []);
        assert_eq!(updates.rest(), [told("b", r#"{"cwd":"/"}"#)]);
        assert_eq!(updates.rest(), []);
    }

    #[test]
    fn a_plan_is_told_whole() {
        let entry =
            |content: &str, status: &str| json!({"content": content, "priority": "low", "status": status});
        let entries =
            [entry("look\nround", "completed"), entry("write", "in_progress"), entry("test", "pending")];
        let plan = |entries: Value| json!({"sessionUpdate": "plan", "entries": entries});
        let told = [
            ("look round", PlanStatus::Completed),
            ("write", PlanStatus::InProgress),
            ("test", PlanStatus::Pending),
        ];
        let updates = &mut Updates::default();
        assert_eq!(take(updates, plan(json!(entries))), [AgentEvent::Plan(Plan::of(told))]);
        let lean = json!([{"content": "look"}, {"content": "drop", "status": "given_up", "priority": 7}, {}]);
        let waits = [("look", PlanStatus::Pending), ("drop", PlanStatus::Pending)];
        assert_eq!(take(updates, plan(lean)), [AgentEvent::Plan(Plan::of(waits))]);
        assert_eq!(take(updates, plan(json!([]))), [AgentEvent::Plan(Plan::default())]);
    }
}
