//! An agent's request for permission: what a person is asked, and which of the offered options that means.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::schema::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RequestId, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome, ToolCall,
};
use super::update::{known, shown, tool_name};
use crate::config::ApprovalsConfig;
use crate::domain::approval::{Always, Decision, Question, Verdict, verdict};

/// Reads what an agent asks. An option that is none is left out, so that it does not spoil the others.
pub(super) fn read(mut params: Value) -> serde_json::Result<RequestPermissionRequest> {
    if let Some(options) = params.get_mut("options").and_then(Value::as_array_mut) {
        options.retain(|option| PermissionOption::deserialize(option).is_ok());
    }
    serde_json::from_value(params)
}

/// A request that waits for its answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    /// The agent's number for it.
    pub(super) id: RequestId,
    options: Vec<PermissionOption>,
    /// What it wants to do.
    pub(super) question: Question,
    command: Option<String>,
}

impl Request {
    /// What is asked, in words for a person; `folder` is where the agent works.
    pub(super) fn new(id: RequestId, asked: RequestPermissionRequest, folder: &Path) -> Self {
        let RequestPermissionRequest { tool_call, options, .. } = asked;
        let call = known(None, tool_call);
        let tool = tool_name(&call);
        let command = command(&call);
        let mut what = command.clone().unwrap_or_else(|| described(call));
        if only_for_ever(&options) {
            what = format!("(The agent takes a yes only for always, not for this once.)\n{what}");
        }
        let question = Question {
            tool,
            what,
            folder: folder.display().to_string(),
            always: match &command {
                Some(command) if !only_for_ever(&options) => Always::of(command),
                Some(_) => Always::NotOffered { why: "any yes is for always with this agent".to_owned() },
                None => Always::NotOffered { why: "it is no command of a shell".to_owned() },
            },
        };
        Self { id, options, question, command }
    }

    /// What the settings say of it.
    pub(super) fn verdict(&self, approvals: &ApprovalsConfig) -> Verdict {
        verdict(approvals.acp, self.command.as_deref(), &approvals.allow)
    }

    /// Whether any option is a yes; else there is nothing to ask.
    pub(super) fn can_be_allowed(&self) -> bool {
        self.choice(ALLOW).is_some()
    }

    /// The answer that allows it.
    pub(super) fn allowed(&self) -> RequestPermissionResponse {
        self.answer(ALLOW)
    }

    /// The answer to what was decided. Where the agent offers no such option, that nothing was chosen.
    pub(super) fn decided(&self, decision: &Decision) -> RequestPermissionResponse {
        match decision.refusal() {
            None => self.allowed(),
            Some(_) if matches!(decision, Decision::Cancelled { .. }) => cancelled(),
            Some(why) => self.refused(&why),
        }
    }

    /// The answer that refuses it. The protocol has no place for a reason but this one.
    pub(super) fn refused(&self, why: &str) -> RequestPermissionResponse {
        let reason = Map::from_iter([("reason".to_owned(), why.into())]);
        match self.choice(REJECT) {
            Some(_) => self.answer(REJECT).meta(reason),
            None => cancelled(),
        }
    }

    fn answer(&self, kinds: [PermissionOptionKind; 2]) -> RequestPermissionResponse {
        let Some(option) = self.choice(kinds) else { return cancelled() };
        let selected = SelectedPermissionOutcome::new(option.clone());
        RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected))
    }

    /// The first option of the first kind that is offered.
    fn choice(&self, kinds: [PermissionOptionKind; 2]) -> Option<&PermissionOptionId> {
        let of = |kind| self.options.iter().find(|option| option.kind == kind);
        kinds.into_iter().find_map(of).map(|option| &option.option_id)
    }
}

/// A yes is for this once wherever it can be: what holds for longer, the engine keeps itself.
const ALLOW: [PermissionOptionKind; 2] = [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways];
const REJECT: [PermissionOptionKind; 2] =
    [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways];

fn only_for_ever(options: &[PermissionOption]) -> bool {
    let offers = |kind| options.iter().any(|option| option.kind == kind);
    offers(PermissionOptionKind::AllowAlways) && !offers(PermissionOptionKind::AllowOnce)
}

/// The answer to a request of a turn that goes no further.
pub(super) fn cancelled() -> RequestPermissionResponse {
    RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled)
}

/// The shell command of a call, if it is one.
fn command(call: &ToolCall) -> Option<String> {
    let input = call.raw_input.as_ref()?;
    let command = ["command", "cmd"].into_iter().find_map(|name| input.get(name))?;
    match command {
        Value::String(command) if !command.trim().is_empty() => Some(command.clone()),
        Value::Array(words) if !words.is_empty() => Some(command_line(words)),
        _ => None,
    }
}

/// A list of words as one would write it in a shell.
fn command_line(words: &[Value]) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let words = words.iter().map(|word| {
        let word = word.as_str().map_or_else(|| word.to_string(), str::to_owned);
        let is_bare = !word.is_empty() && word.chars().all(bare);
        if is_bare { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// All that a call says of itself.
fn described(call: ToolCall) -> String {
    let input = match call.raw_input {
        None => String::new(),
        Some(Value::String(input)) => input,
        Some(input) => serde_json::to_string_pretty(&input).unwrap_or_default(),
    };
    let paths = call.locations.iter().map(|place| place.path.display().to_string());
    let mut parts: Vec<String> = std::iter::once(call.title)
        .chain(paths)
        .chain([shown(call.content), input])
        .filter(|part| !part.is_empty())
        .collect();
    parts.dedup();
    if parts.is_empty() { "(the agent does not say what)".to_owned() } else { parts.join("\n") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Config;
    use crate::domain::approval::Policy;

    fn request(call: Value, kinds: &[&str]) -> Request {
        let options: Vec<Value> = kinds
            .iter()
            .enumerate()
            .map(|(n, kind)| json!({"optionId": format!("{n}:{kind}"), "name": "x", "kind": kind}))
            .collect();
        let params = json!({"sessionId": "s", "toolCall": call, "options": options});
        Request::new(RequestId::Number(1), read(params).unwrap(), Path::new("/srv"))
    }

    fn run(command: Value) -> Value {
        json!({"toolCallId": "c", "title": "Run it", "kind": "execute", "rawInput": {"command": command}})
    }

    fn chosen(answer: RequestPermissionResponse) -> String {
        match answer.outcome {
            RequestPermissionOutcome::Selected(selected) => selected.option_id.to_string(),
            other => panic!("nothing is chosen: {other:?}"),
        }
    }

    #[test]
    fn an_option_is_chosen_by_its_kind_and_a_yes_is_for_once_where_it_can_be() {
        let all = ["reject_always", "allow_always", "reject_once", "allow_once"];
        let asked = request(run(json!("git push")), &all);
        let prefix = "git push".to_owned();
        for yes in [Decision::Once, Decision::Always { prefix: prefix.clone() }, Decision::Before { prefix }]
        {
            assert_eq!(chosen(asked.decided(&yes)), "3:allow_once");
        }
        let no = asked.decided(&Decision::Denied { why: Some("not today".to_owned()) });
        assert!(no.meta.as_ref().unwrap()["reason"].as_str().unwrap().contains("not today"), "{no:?}");
        assert_eq!(chosen(no), "2:reject_once");
        assert_eq!(chosen(asked.decided(&Decision::TimedOut)), "2:reject_once");
        let gone = Decision::Cancelled { why: "the turn has ended".to_owned() };
        assert_eq!(asked.decided(&gone), cancelled());
    }

    #[test]
    fn odd_options_never_turn_a_no_into_a_yes() {
        let yes_only = request(run(json!("ls")), &["allow_once"]);
        assert_eq!(yes_only.decided(&Decision::Denied { why: None }), cancelled());
        let unknown = request(run(json!("ls")), &["allow_for_an_hour", ""]);
        assert!(!unknown.can_be_allowed());
        assert_eq!(unknown.decided(&Decision::Once), cancelled());
        assert!(!request(run(json!("ls")), &[]).can_be_allowed());
        let no_only = request(run(json!("ls")), &["reject_always"]);
        assert_eq!(chosen(no_only.decided(&Decision::Denied { why: None })), "0:reject_always");
    }

    #[test]
    fn a_yes_that_can_only_be_for_ever_is_told_before() {
        let asked = request(run(json!("ls")), &["allow_always", "reject_once"]);
        assert!(asked.question.what.starts_with("(The agent takes a yes only for always"));
        assert!(matches!(asked.question.always, Always::NotOffered { .. }));
        assert_eq!(chosen(asked.decided(&Decision::Once)), "0:allow_always");
    }

    #[test]
    fn a_person_sees_the_whole_command_or_all_that_the_call_says() {
        let simple = request(run(json!("git push")), &["allow_once"]).question;
        assert_eq!(
            (simple.what.as_str(), simple.tool.as_str(), simple.folder.as_str()),
            ("git push", "execute", "/srv")
        );
        assert_eq!(simple.always, Always::of("git push"));
        let words = json!(["bash", "-lc", "echo 'a' && rm b"]);
        let listed = request(run(words), &["allow_once"]).question;
        assert_eq!(listed.what, r"bash -lc 'echo '\''a'\'' && rm b'");
        let edit = json!({"toolCallId": "c", "title": "Edit a", "kind": "edit", "locations": [{"path": "/srv/a"}],
            "content": [{"type": "diff", "path": "/srv/a", "oldText": "a\nx\n", "newText": "a\ny\n"}]});
        let edit = request(edit, &["allow_once"]).question;
        assert_eq!(
            (edit.tool.as_str(), edit.what.as_str()),
            ("edit", "Edit a\n/srv/a\n/srv/a:\n@@ -1,2 +1,2 @@\n a\n-x\n+y")
        );
        let nothing = request(json!({"toolCallId": "c", "rawInput": null}), &["allow_once"]).question;
        assert_eq!(nothing.what, "(the agent does not say what)");
    }

    #[test]
    fn the_settings_may_answer_first() {
        let mut approvals = Config::default().agent.approvals;
        let push = request(run(json!("git push")), &["allow_once"]);
        assert_eq!(push.verdict(&approvals), Verdict::Ask);
        approvals.allow = vec!["git push".to_owned()];
        assert_eq!(push.verdict(&approvals), Verdict::Run);
        let edit = request(json!({"toolCallId": "c", "title": "git push", "kind": "edit"}), &["allow_once"]);
        assert_eq!(edit.verdict(&approvals), Verdict::Ask, "only a command can be in the list");
        approvals.acp = Policy::Deny;
        assert_eq!(push.verdict(&approvals), Verdict::Refuse);
    }
}
