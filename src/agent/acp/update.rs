//! What an agent tells of its work: its updates as events of a turn.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::schema::{
    self, ContentBlock, EmbeddedResourceResource, PlanEntryStatus, SessionId, SessionNotification,
    SessionUpdate, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind, UsageUpdate,
};
use super::turn::Calls;
use crate::agent::tools::bounded;
use crate::agent::{AgentEvent, Doing};
use crate::config::Secrets;
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
        "tool_call" => take_as_begun(&mut params),
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

/// A call of which its agent does not say how it stands: the next that it says may be the end.
fn take_as_begun(params: &mut Value) {
    if let Some(update) = params.get_mut("update") {
        fill_in(update, "status", &"in_progress".into());
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

/// What is told of a call whose end the agent did not tell.
const NO_END: &str = "[the agent told no end of this call]";

/// The updates of one turn so far.
#[derive(Debug)]
pub(super) struct Updates {
    /// The calls that have not ended.
    open: BTreeMap<Arc<str>, Open>,
    ended: HashSet<ToolCallId>,
    cost: Option<Millionths>,
    window: Option<u64>,
    /// Where the running call shows what it gives.
    doing: Doing,
    secrets: Secrets,
}

/// A call that has not ended.
#[derive(Debug)]
struct Open {
    /// What is known of it.
    call: ToolCall,
    /// The name and the arguments that were told of it.
    told: Option<(String, String)>,
}

impl Open {
    fn new(id: ToolCallId) -> Self {
        Self { call: ToolCall::new(id, ""), told: None }
    }

    /// Takes another word of it in; gives the event that it is called, where that is due. A call may act as soon as
    /// its agent speaks of it: only one that is announced with an empty input, which is still being written, waits
    /// for the next word. Told again is what is new with a step of it, not each piece of an input that is written.
    fn hear(&mut self, fields: ToolCallUpdateFields) -> Option<AgentEvent> {
        let announced = fields.status == Some(ToolCallStatus::Pending);
        let before = self.step();
        learn(&mut self.call, fields);
        let waits =
            self.told.is_some() || announced && self.call.raw_input.as_ref().is_some_and(is_unwritten);
        if waits && self.step() == before { None } else { self.tell() }
    }

    /// How far it is: its status, and whether it has an input.
    fn step(&self) -> (ToolCallStatus, bool) {
        (self.call.status, has_input(&self.call))
    }

    /// The event that it is called, where that is not told or is known better now.
    fn tell(&mut self) -> Option<AgentEvent> {
        let known = (tool_name(&self.call), arguments(&self.call));
        if self.told.as_ref() == Some(&known) {
            return None;
        }
        let (name, arguments) = self.told.insert(known).clone();
        Some(AgentEvent::ToolCall { call: self.call.tool_call_id.to_string(), name, arguments })
    }
}

impl Updates {
    /// None yet, of a turn that shows what its calls give there, without the keys in it.
    pub(super) fn new(doing: Doing, secrets: Secrets) -> Self {
        Self { open: BTreeMap::new(), ended: HashSet::new(), cost: None, window: None, doing, secrets }
    }

    /// The events of an update; none for what has no place in a conversation.
    pub(super) fn take(&mut self, update: SessionUpdate) -> Vec<AgentEvent> {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => vec![AgentEvent::Text(content(&chunk.content))],
            SessionUpdate::AgentThoughtChunk(chunk) => vec![AgentEvent::Reasoning(content(&chunk.content))],
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
        if context.tokens == 0 {
            return Vec::new();
        }
        self.window = Some(context.tokens);
        vec![AgentEvent::Context(context)]
    }

    /// How many tokens the agent's window holds, by its own word.
    pub(super) fn window(&self) -> Option<u64> {
        self.window
    }

    /// What the agent's session has cost so far, by its own word, in millionths of whatever currency, once.
    pub(super) fn take_cost(&mut self) -> Option<Millionths> {
        self.cost.take()
    }

    /// A call that is asked about, as it is known. It is whole; the question may say less of it than was told.
    pub(super) fn asked(&mut self, update: ToolCallUpdate) -> (ToolCall, Vec<AgentEvent>) {
        match self.open.get_mut(&update.tool_call_id.0) {
            None => (known(None, update), Vec::new()),
            Some(open) => {
                let asked = known(Some(open.call.clone()), update);
                if !has_input(&open.call) {
                    open.call = asked.clone();
                }
                (asked, open.tell().into_iter().collect())
            }
        }
    }

    /// The calls that never got further than their announcement, and what is known better of others.
    pub(super) fn announced(&mut self) -> Vec<AgentEvent> {
        self.open.values_mut().filter_map(Open::tell).collect()
    }

    /// Whether one of the calls that were told has not ended.
    pub(super) fn calls(&self) -> Calls {
        if self.open.values().any(|open| open.told.is_some()) { Calls::Run } else { Calls::None }
    }

    /// Ends the calls whose end the agent did not tell in a turn that is done.
    pub(super) fn end(&mut self) -> Vec<AgentEvent> {
        let open = std::mem::take(&mut self.open).into_values();
        let end = |Open { call, .. }| {
            let shown = self.bounded(shown(&call.content));
            let output = if shown.is_empty() { NO_END.to_owned() } else { format!("{shown}\n{NO_END}") };
            AgentEvent::ToolResult { call: call.tool_call_id.to_string(), ok: false, output }
        };
        open.map(end).collect()
    }

    /// A call is told with its first word, and its end once, whichever update comes first.
    fn tool(&mut self, mut update: ToolCallUpdate) -> Vec<AgentEvent> {
        let id = update.tool_call_id.clone();
        if self.ended.contains(&id) {
            return Vec::new();
        }
        let status = update.fields.status;
        let raw = update.fields.raw_output.take();
        let says = update.fields.content.as_ref().is_some_and(|content| !content.is_empty());
        let open = self.open.entry(Arc::clone(&id.0)).or_insert_with(|| Open::new(id.clone()));
        let mut events = Vec::from_iter(open.hear(update.fields));
        let ok = match status {
            Some(ToolCallStatus::Completed) => true,
            Some(ToolCallStatus::Failed) => false,
            _ => {
                if says {
                    self.doing.clear();
                    self.doing.write(&self.secrets.hide(shown(&open.call.content)));
                }
                return events;
            }
        };
        self.doing.clear();
        let content = self.open.remove(&id.0).map(|open| open.call.content).unwrap_or_default();
        let output = self.bounded(output(&content, raw.filter(|_| !says)));
        events.push(AgentEvent::ToolResult { call: id.to_string(), ok, output });
        self.ended.insert(id);
        events
    }

    /// As much of an output as one of our own tools would give, without keys: one that is cut is none any more.
    fn bounded(&self, output: String) -> String {
        bounded(&self.secrets.hide(output))
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
    learn(&mut call, update.fields);
    call
}

/// Takes in what is said anew of a call. An empty input takes nothing back.
fn learn(call: &mut ToolCall, mut fields: ToolCallUpdateFields) {
    if has_input(call) && fields.raw_input.as_ref().is_some_and(is_unwritten) {
        fields.raw_input = None;
    }
    call.update(fields);
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
fn arguments(call: &ToolCall) -> String {
    match &call.raw_input {
        Some(Value::String(input)) if has_input(call) => input.clone(),
        Some(input) if has_input(call) => input.to_string(),
        _ => call.title.clone(),
    }
}

fn is_unwritten(input: &Value) -> bool {
    input.as_object().is_some_and(Map::is_empty)
}

fn has_input(call: &ToolCall) -> bool {
    match &call.raw_input {
        Some(Value::Object(fields)) => !fields.is_empty(),
        Some(Value::String(input)) => !input.is_empty(),
        _ => false,
    }
}

/// What a tool gave back: its raw output where it ends with that alone, else what it has shown.
fn output(content: &[ToolCallContent], raw: Option<Value>) -> String {
    match raw {
        Some(Value::String(raw)) if !raw.is_empty() => raw,
        Some(raw @ (Value::Object(_) | Value::Array(_))) => raw.to_string(),
        _ => shown(content),
    }
}

/// All that a tool call shows of itself, as text.
pub(super) fn shown(parts: &[ToolCallContent]) -> String {
    let parts = parts.iter().map(|part| match part {
        ToolCallContent::Content(part) => content(&part.content),
        ToolCallContent::Diff(diff) => {
            let changed = diff.old_text.as_deref().and_then(|before| changes(before, &diff.new_text));
            format!("{}:\n{}", diff.path.display(), changed.as_ref().unwrap_or(&diff.new_text))
        }
        ToolCallContent::Terminal(_) => "[terminal: not shown]".to_owned(),
        _ => String::new(),
    });
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The text of a content block; what is no text is named.
fn content(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ResourceLink(link) => link.uri.clone(),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => text.text.clone(),
            _ => "[resource: not shown]".to_owned(),
        },
        ContentBlock::Image(_) => "[image: not shown]".to_owned(),
        ContentBlock::Audio(_) => "[audio: not shown]".to_owned(),
        _ => "[something: not shown]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn updates() -> Updates {
        Updates::new(Doing::channel().0, Secrets::default())
    }

    fn take(updates: &mut Updates, update: Value) -> Vec<AgentEvent> {
        let told = read(json!({"sessionId": "s", "update": update})).unwrap();
        told.map(|told| updates.take(told.update)).unwrap_or_default()
    }

    fn asked(updates: &mut Updates, call: Value) -> Vec<AgentEvent> {
        updates.asked(serde_json::from_value(call).unwrap()).1
    }

    #[test]
    fn words_and_thoughts_are_told_apart() {
        let updates = &mut updates();
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
        let updates = &mut updates();
        let cost = json!({"amount": 0.5, "currency": "EUR"});
        let lean = json!({"sessionUpdate": "usage_update", "size": null, "cost": cost});
        assert_eq!((take(updates, lean), updates.take_cost()), (vec![], Some(500_000)));
        let wrong = json!({"sessionUpdate": "usage_update", "used": "much"});
        let why = read(json!({"sessionId": "s", "update": wrong})).unwrap_err();
        assert!(why.starts_with("usage_update can't be read"), "{why}");
    }

    fn called(id: &str, arguments: &str) -> AgentEvent {
        AgentEvent::ToolCall { call: id.into(), name: "execute".into(), arguments: arguments.into() }
    }

    #[test]
    fn a_call_is_told_once_and_its_end_once() {
        let updates = &mut updates();
        let call = |kind: &str, more: Value| {
            let mut update = json!({"sessionUpdate": kind, "toolCallId": "c", "kind": "execute"});
            update.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            update
        };
        let begun =
            call("tool_call", json!({"title": "ls", "rawInput": {"command": "ls"}, "status": "pending"}));
        let told = called("c", r#"{"command":"ls"}"#);
        assert_eq!((take(updates, begun.clone()), take(updates, begun)), (vec![told], vec![]));
        let runs = call("tool_call_update", json!({"status": "in_progress"}));
        assert_eq!(take(updates, runs), []);
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
        assert_eq!(take(&mut updates(), update), expected);
    }

    fn begins(id: &str, more: Value) -> Value {
        let mut call =
            json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "bash", "kind": "execute"});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    }

    fn goes_on(id: &str, more: Value) -> Value {
        let mut update = begins(id, more);
        update.as_object_mut().unwrap().insert("sessionUpdate".to_owned(), "tool_call_update".into());
        update
    }

    #[test]
    fn a_call_is_told_as_soon_as_it_may_act() {
        let at_once = [
            (json!({}), "bash"),
            (json!({"status": null, "rawInput": {}}), "bash"),
            (json!({"status": "pending"}), "bash"),
            (json!({"status": "pending", "rawInput": {"command": "ls"}}), r#"{"command":"ls"}"#),
            (json!({"status": "in_progress", "rawInput": {}}), "bash"),
        ];
        for (how, arguments) in at_once {
            assert_eq!(take(&mut updates(), begins("c", how.clone())), [called("c", arguments)], "{how}");
        }
        let unwritten = begins("c", json!({"status": "pending", "rawInput": {}}));
        let next = [
            (json!({}), "bash"),
            (json!({"rawInput": {"command": "ls"}}), r#"{"command":"ls"}"#),
            (json!({"status": "in_progress"}), "bash"),
        ];
        for (how, arguments) in next {
            let updates = &mut updates();
            assert_eq!([take(updates, unwritten.clone()), take(updates, unwritten.clone())], [[], []]);
            assert_eq!(take(updates, goes_on("c", how.clone())), [called("c", arguments)], "{how}");
        }
    }

    #[test]
    fn a_call_that_runs_may_be_silent_for_longer_until_its_end() {
        let updates = &mut updates();
        let steps = [
            (begins("c", json!({"status": "pending", "rawInput": {}})), Calls::None),
            (goes_on("c", json!({"status": "in_progress"})), Calls::Run),
            (goes_on("c", json!({"status": "failed"})), Calls::None),
        ];
        for (update, calls) in steps {
            take(updates, update);
            assert_eq!(updates.calls(), calls);
        }
        let limit = Duration::from_secs(600);
        let patience = [Calls::None, Calls::Run].map(|calls| calls.patience(limit));
        assert_eq!(patience, [limit, Duration::from_secs(6000)]);
    }

    #[test]
    fn what_is_said_later_of_a_call_is_told_with_its_next_step() {
        let told = |updates: &mut Updates, title: &str, more: Value| {
            let mut update = goes_on("c", more);
            update.as_object_mut().unwrap().insert("title".to_owned(), title.into());
            take(updates, update)
        };
        let updates = &mut updates();
        assert_eq!(take(updates, begins("c", json!({"status": "pending"}))), [called("c", "bash")]);
        assert_eq!(told(updates, "l", json!({})), [], "it is still being written");
        assert_eq!(told(updates, "ls", json!({"status": "in_progress"})), [called("c", "ls")]);
        let input = json!({"rawInput": {"command": "ls"}});
        assert_eq!(told(updates, "ls", input), [called("c", r#"{"command":"ls"}"#)]);
        let whole = json!({"rawInput": {"command": "ls -l"}});
        assert_eq!(told(updates, "ls", whole), []);
        let end = told(updates, "Listed", json!({"status": "completed"}));
        assert_eq!(end[0], called("c", r#"{"command":"ls -l"}"#));
        assert!(matches!(&end[1..], [AgentEvent::ToolResult { ok: true, .. }]), "{end:?}");
    }

    #[test]
    fn a_call_is_told_with_its_whole_input_where_it_is_asked_about_or_is_left() {
        let pending = |id: &str| begins(id, json!({"status": "pending", "rawInput": {}}));
        let updates = &mut updates();
        assert_eq!([take(updates, pending("a")), take(updates, pending("b"))], [[], []]);
        let question = json!({"toolCallId": "a", "kind": null, "rawInput": {"command": "ls"}});
        assert_eq!(asked(updates, question.clone()), [called("a", r#"{"command":"ls"}"#)]);
        assert_eq!(asked(updates, question), []);
        assert_eq!(asked(updates, json!({"toolCallId": "another"})), []);
        assert_eq!(updates.announced(), [called("b", "bash")]);
        assert_eq!(updates.announced(), []);
        let whole = updates.asked(serde_json::from_value(json!({"toolCallId": "b"})).unwrap()).0;
        assert_eq!(
            (whole.kind, whole.title.as_str()),
            (ToolKind::Execute, "bash"),
            "an update says what is new"
        );
    }

    #[test]
    fn a_question_that_says_less_than_its_call_takes_nothing_back() {
        let updates = &mut updates();
        let input = json!({"command": "ls", "cwd": "/"});
        let call = begins("c", json!({"status": "in_progress", "rawInput": input}));
        assert_eq!(take(updates, call), [called("c", &input.to_string())]);
        for (less, whole) in [(json!({}), input), (json!({"command": "ls"}), json!({"command": "ls"}))] {
            let question = json!({"toolCallId": "c", "status": "pending", "rawInput": less});
            let (asked, events) = updates.asked(serde_json::from_value(question).unwrap());
            assert_eq!((asked.raw_input, events), (Some(whole), vec![]));
        }
        let end = take(updates, goes_on("c", json!({"status": "completed"})));
        assert!(matches!(&end[..], [AgentEvent::ToolResult { ok: true, .. }]), "{end:?}");
    }

    fn shows(text: &str, status: &str) -> Value {
        let content = json!([{"type": "content", "content": {"type": "text", "text": text}}]);
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "ls", "status": status,
            "content": content})
    }

    fn result(events: Vec<AgentEvent>) -> (bool, String) {
        match events.into_iter().last() {
            Some(AgentEvent::ToolResult { ok, output, .. }) => (ok, output),
            other => panic!("no end: {other:?}"),
        }
    }

    #[test]
    fn what_a_running_call_shows_is_seen_and_is_its_result_where_its_end_says_nothing() {
        let (doing, seen) = Doing::channel();
        let updates = &mut Updates::new(doing, Secrets::default());
        let end = |more: Value| {
            let mut end =
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"});
            end.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            end
        };
        for (text, status) in [("$ ls", "pending"), ("a", "in_progress"), ("a b", "in_progress")] {
            take(updates, shows(text, status));
            assert_eq!(*seen.borrow(), text);
        }
        assert_eq!(result(take(updates, end(json!({})))), (true, "a b".to_owned()));
        assert_eq!(*seen.borrow(), "");
        assert_eq!(take(updates, shows("late", "in_progress")), [], "it has ended");
        for (said, output) in [
            (json!({"rawOutput": "raw"}), "raw"),
            (json!({"rawOutput": {}, "content": []}), "{}"),
            (json!({"rawOutput": ""}), "a"),
        ] {
            let updates = &mut self::updates();
            take(updates, shows("a", "in_progress"));
            assert_eq!(result(take(updates, end(said))).1, output);
        }
    }

    #[test]
    fn a_result_is_as_long_as_those_of_our_own_tools_at_most() {
        let (ok, output) = result(take(&mut updates(), shows(&"x".repeat(200_000), "failed")));
        assert!(!ok && output.chars().count() <= 50_000 && output.contains("characters left out here"));
    }

    #[test]
    fn calls_whose_end_is_not_told_are_ended_with_the_turn() {
        let updates = &mut updates();
        take(updates, shows("half", "in_progress"));
        assert_eq!(result(updates.end()), (false, format!("half\n{NO_END}")));
        assert_eq!(updates.end(), []);
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
        let updates = &mut updates();
        assert_eq!(take(updates, plan(json!(entries))), [AgentEvent::Plan(Plan::of(told))]);
        let lean = json!([{"content": "look"}, {"content": "drop", "status": "given_up", "priority": 7}, {}]);
        let waits = [("look", PlanStatus::Pending), ("drop", PlanStatus::Pending)];
        assert_eq!(take(updates, plan(lean)), [AgentEvent::Plan(Plan::of(waits))]);
        assert_eq!(take(updates, plan(json!([]))), [AgentEvent::Plan(Plan::default())]);
    }
}
