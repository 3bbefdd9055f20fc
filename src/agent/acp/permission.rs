//! An agent's request for permission: what a person is asked, and which of the offered options that means.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::message::plain;
use super::schema::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RequestId, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome, ToolCall,
    ToolCallContent, ToolKind,
};
use super::update::{shown, tool_name};
use crate::config::ApprovalsConfig;
use crate::domain::approval::{Always, Decision, Question, Verdict, verdict};
use crate::domain::event::excerpt;

/// What an agent asks, and in words the options that are none: they are left out, so that they don't spoil the others.
pub(super) fn read(mut params: Value) -> serde_json::Result<(RequestPermissionRequest, Vec<String>)> {
    let mut odd = Vec::new();
    if let Some(options) = params.get_mut("options").and_then(Value::as_array_mut) {
        options.retain(|option| match PermissionOption::deserialize(option) {
            Ok(_) => true,
            Err(error) => {
                let option = excerpt(&option.to_string());
                odd.push(format!("the option {option} of a question can't be read: {error}"));
                false
            }
        });
    }
    Ok((serde_json::from_value(params)?, odd))
}

/// A request that waits for its answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    /// The agent's number for it.
    pub(super) id: RequestId,
    options: Vec<PermissionOption>,
    /// What it wants to do.
    pub(super) question: Question,
    /// The command of a shell that it is, if it is that and no more.
    command: Option<String>,
}

impl Request {
    /// What is asked of a call, in words for a person; `folder` is where the agent works.
    pub(super) fn new(id: RequestId, call: &ToolCall, options: Vec<PermissionOption>, folder: &Path) -> Self {
        let run = Run::of(call);
        let command = run.as_ref().filter(|run| run.is_all).map(|run| run.command.clone());
        let mut what = command.clone().unwrap_or_else(|| described(call, run.as_ref()));
        if only_for_ever(&options) {
            what = format!("(The agent takes a yes only for always, not for this once.)\n{what}");
        }
        let folder = run.as_ref().and_then(|run| run.folder).map_or(folder.into(), |own| folder.join(own));
        let question = Question {
            tool: tool_name(call),
            what,
            folder: folder.display().to_string(),
            always: match (&command, &run) {
                (Some(command), _) if !only_for_ever(&options) => Always::of(command),
                (Some(_), _) => {
                    Always::NotOffered { why: "any yes is for always with this agent".to_owned() }
                }
                (None, Some(_)) => {
                    Always::NotOffered { why: "there is more to it than a command".to_owned() }
                }
                (None, None) => Always::NotOffered { why: "it is no command of a shell".to_owned() },
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

/// A call that runs a command of a shell.
struct Run<'a> {
    /// The field that holds the command.
    field: &'static str,
    command: String,
    /// Where, if it says so.
    folder: Option<&'a str>,
    /// Whether it asks for nothing else.
    is_all: bool,
}

impl<'a> Run<'a> {
    fn of(call: &'a ToolCall) -> Option<Self> {
        const COMMAND: [&str; 2] = ["command", "cmd"];
        const FOLDER: [&str; 2] = ["cwd", "workdir"];
        const REMARK: &str = "description";
        let input = call.raw_input.as_ref()?.as_object().filter(|_| call.kind == ToolKind::Execute)?;
        let (field, command) = COMMAND.into_iter().find_map(|name| Some((name, input.get(name)?)))?;
        let command = match command {
            Value::String(command) if !command.trim().is_empty() => command.clone(),
            Value::Array(words) if !words.is_empty() => command_line(words),
            _ => return None,
        };
        let folder = FOLDER.into_iter().find_map(|name| Some((name, input.get(name)?.as_str()?)));
        let known = [Some(field), folder.map(|(name, _)| name), Some(REMARK)];
        let edits = call.content.iter().any(|part| matches!(part, ToolCallContent::Diff(_)));
        let is_all = !edits && input.keys().all(|name| known.contains(&Some(name)));
        Some(Self { field, command, folder: folder.map(|(_, folder)| folder), is_all })
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

/// A longer value is shown once.
const LONG: usize = 200;

/// All that a call says of itself; the command first, where it runs one.
fn described(call: &ToolCall, run: Option<&Run<'_>>) -> String {
    let command = run.map(|run| run.command.clone());
    let paths = call.locations.iter().map(|place| place.path.display().to_string());
    let shown = shown(&call.content);
    let told = |value: &Value| {
        let value = plain(value);
        if value.len() > LONG && shown.contains(&value) { "[as shown above]".to_owned() } else { value }
    };
    let input = match &call.raw_input {
        None => Vec::new(),
        Some(Value::Object(fields)) => {
            let rest = fields.iter().filter(|(name, _)| run.is_none_or(|run| run.field != name.as_str()));
            rest.map(|(name, value)| format!("{name}: {}", told(value))).collect()
        }
        Some(other) => vec![plain(other)],
    };
    let mut parts: Vec<String> = Vec::new();
    let said = command.into_iter().chain([call.title.clone()]).chain(paths);
    for part in said.chain([shown.clone()]).chain(input) {
        if !part.is_empty() && !parts.contains(&part) {
            parts.push(part);
        }
    }
    if parts.is_empty() { "(the agent does not say what)".to_owned() } else { parts.join("\n") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::update::known;
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
        let (asked, _) = read(params).unwrap();
        let call = known(None, asked.tool_call);
        Request::new(RequestId::Number(1), &call, asked.options, Path::new("/srv"))
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
    fn always_is_for_a_command_that_is_all_that_is_asked_and_all_else_is_shown_whole() {
        let execute = |input: Value| json!({"toolCallId": "c", "kind": "execute", "rawInput": input});
        let asked = |call: Value| request(call, &["allow_once"]);
        let mut approvals = Config::default().agent.approvals;
        approvals.allow = vec!["create".to_owned(), "make".to_owned()];
        let simple = asked(execute(json!({"command": "make", "cwd": "b", "description": "Builds it"})));
        assert_eq!((simple.question.what.as_str(), simple.question.folder.as_str()), ("make", "/srv/b"));
        assert_eq!(simple.question.always, Always::of("make"));
        assert_eq!(simple.verdict(&approvals), Verdict::Run);
        let elsewhere = asked(execute(json!({"cmd": ["rm", "-rf", "b"], "workdir": "/home"}))).question;
        assert_eq!((elsewhere.what.as_str(), elsewhere.folder.as_str()), ("rm -rf b", "/home"));
        let edit = json!([{"type": "diff", "path": "/srv/a", "oldText": "x", "newText": "y"}]);
        let mut edits = execute(json!({"command": "make"}));
        edits.as_object_mut().unwrap().insert("content".to_owned(), edit);
        let creates = json!({"toolCallId": "c", "title": "Create /etc/cron.d/x", "kind": "edit",
            "rawInput": {"command": "create", "path": "/etc/cron.d/x", "file_text": "* * * * *\nroot"}});
        let table = [
            (execute(json!({"command": "make", "env": {"CC": "evil"}})), "make\nenv: {\"CC\":\"evil\"}"),
            (
                execute(json!({"command": "make", "cwd": "b", "workdir": "c", "timeout": 5})),
                "make\ncwd: b\nworkdir: c\ntimeout: 5",
            ),
            (execute(json!({"command": "make", "cwd": ["b"]})), "make\ncwd: [\"b\"]"),
            (
                edits,
                "make\n/srv/a:\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file",
            ),
            (
                creates,
                "Create /etc/cron.d/x\ncommand: create\npath: /etc/cron.d/x\nfile_text: * * * * *\nroot",
            ),
        ];
        let text = "x".repeat(300);
        let writes = json!({"toolCallId": "c", "title": "Write a", "kind": "edit", "rawInput": {"text": text},
            "content": [{"type": "diff", "path": "/srv/a", "newText": text}]});
        let once = format!("Write a\n/srv/a:\n{text}\ntext: [as shown above]");
        for (call, what) in table.into_iter().chain([(writes, once.as_str())]) {
            let asked = asked(call);
            assert_eq!(asked.question.what, what);
            assert!(matches!(asked.question.always, Always::NotOffered { .. }), "{what}");
            assert_eq!(asked.verdict(&approvals), Verdict::Ask, "{what}");
        }
    }

    #[test]
    fn an_option_that_cannot_be_read_is_left_out_and_told() {
        let options = json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"name": "No"}, 7]);
        let call = json!({"toolCallId": "c"});
        let (asked, odd) = read(json!({"sessionId": "s", "toolCall": call, "options": options})).unwrap();
        assert_eq!((asked.options.len(), odd.len()), (1, 2));
        assert!(odd[0].contains(r#"{"name":"No"} of a question can't be read: missing field"#), "{odd:?}");
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
