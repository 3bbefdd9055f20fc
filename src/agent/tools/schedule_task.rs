//! The tool that makes a scheduled task.
//!
//! What it makes goes the way of every new job: the engine checks it, and writes it into `jobs.json`.

use serde::Deserialize;
use serde_json::Value;

use super::tool::{Does, Kind, Need, Parameter, Tool};
use super::{ToolError, typed};
use crate::agent::{SessionContext, Turn};
use crate::config::{Secrets, ToolName};
use crate::domain::cron::{Definition, Fault, JobId, no_task_by, set_field};

pub(super) const TOOL: Tool = Tool {
    name: ToolName::ScheduleTask,
    about: "Makes a scheduled task: at each time of its schedule an agent is told the prompt, in a conversation of its own that knows nothing of this one. The result says the task's id and its next times.",
    parameters: &[
        text(
            "schedule",
            "When: \"daily at 7am\", \"weekdays at 9:30\", \"every 2h\", \"in 30m\", \"2026-12-24T18:00\", or a crontab line as \"0 8 * * 1\".",
            Need::Required,
        ),
        text(
            "prompt",
            "What the agent is told each time; it must say all that it needs to know.",
            Need::Required,
        ),
        text("name", "What people call the task.", Need::Optional),
        text("description", "What the task is for.", Need::Optional),
        text(
            "timezone",
            "The zone of the schedule's times as an IANA name; else the operator's.",
            Need::Optional,
        ),
        text(
            "deliver",
            "Who gets the result, with commas between: local (a file), console (a notice too).",
            Need::Optional,
        ),
        text("skills", "The names of skills to load, with commas between.", Need::Optional),
    ],
    does: Does::Job,
};

const fn text(name: &'static str, about: &'static str, need: Need) -> Parameter {
    Parameter { name, about, kind: Kind::Text, need }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    schedule: String,
    prompt: String,
    name: Option<String>,
    description: Option<String>,
    timezone: Option<String>,
    deliver: Option<String>,
    skills: Option<String>,
}

/// The task that a call would make; its id is made by whoever makes the task.
pub(super) fn task(arguments: &Value, session: &SessionContext) -> Result<Definition, ToolError> {
    if let Some(why) = no_task_by(session.key.parts().chat_type) {
        return Err(ToolError::NotScheduled(why.to_owned()));
    }
    let wrong = |fault: Fault| {
        let field = if fault.field == "deliver_to" { "deliver".to_owned() } else { fault.field.clone() };
        ToolError::Arguments { tool: TOOL.name.word(), why: Fault { field, ..fault }.to_string() }
    };
    let Arguments { schedule, prompt, name, description, timezone, deliver, skills } =
        typed(ToolName::ScheduleTask, arguments.clone())?;
    let called = name.as_deref().or(description.as_deref()).unwrap_or(&prompt);
    let mut task = Definition::new(JobId::from_words(called, |_| false), schedule);
    let given = [
        ("prompt", Some(prompt)),
        ("name", name),
        ("description", description),
        ("timezone", timezone),
        ("deliver_to", deliver),
        ("skills", skills),
    ];
    for (field, text) in given {
        set_field(&mut task, field, text.as_deref().unwrap_or_default()).map_err(wrong)?;
    }
    if let Some(why) = no_task_with_key(&task) {
        return Err(ToolError::NotScheduled(why.to_owned()));
    }
    if task.prompt.as_deref().is_none_or(|prompt| prompt.trim().is_empty()) {
        return Err(wrong(Fault::missing("prompt", "say what the agent is told")));
    }
    task.clone().check().map_err(|faults| {
        let told: Vec<String> = faults.into_iter().map(|fault| fault.to_string()).collect();
        ToolError::Arguments { tool: TOOL.name.word(), why: told.join("; ") }
    })?;
    Ok(task)
}

/// Why a task can't be made that has a key of the settings in it; none if there is none. With the key hidden it would be
/// another task than the one that was meant.
pub fn no_task_with_key(task: &Definition) -> Option<&'static str> {
    Secrets::known().stand_in(task).then_some(
        "a key of the settings stands in the task's text, and jobs.json is no place for one: write where it is found instead",
    )
}

/// A task as a person is asked about it: all of it.
pub(super) fn described(task: &Definition) -> String {
    let schedule = task.clone().check().map(|job| job.schedule.words()).unwrap_or_default();
    let zone = task.timezone.as_deref().map(|zone| format!(", {zone}")).unwrap_or_default();
    let deliver: Vec<String> = task.deliver_to.iter().map(ToString::to_string).collect();
    let lines = [
        ("schedule", format!("{} ({schedule}{zone})", task.schedule)),
        ("name", task.name.clone().unwrap_or_default()),
        ("description", task.description.clone().unwrap_or_default()),
        ("deliver", deliver.join(", ")),
        ("skills", task.skills.join(", ")),
        ("prompt", task.prompt.clone().unwrap_or_default()),
    ];
    let said = lines.into_iter().filter(|(_, value)| !value.is_empty());
    said.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n")
}

/// Has the task made.
pub(super) async fn make(task: Definition, turn: &Turn) -> Result<String, ToolError> {
    turn.engine.jobs.ask(task).await.map_err(ToolError::NotScheduled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::SessionKey;
    use serde_json::json;

    fn session(key: &str) -> SessionContext {
        let key: SessionKey = key.parse().unwrap();
        SessionContext::new("20260301_120000_00000007".parse().unwrap(), key)
    }

    fn read(arguments: Value) -> Result<Definition, String> {
        task(&arguments, &session("agent:main:local:dm:console")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_task_is_told_whole_before_it_is_made() {
        let whole = json!({"schedule": "daily at 7am", "prompt": "Read the news.", "name": "News",
            "timezone": "Europe/Berlin", "deliver": "local, console", "skills": "mail, feeds"});
        let task = read(whole).unwrap();
        assert_eq!(task.id.as_str(), "news");
        let told = described(&task);
        for part in [
            "daily at 7am (",
            "Europe/Berlin)",
            "name: News",
            "deliver: local, console",
            "skills: mail, feeds",
            "prompt: Read the news.",
        ] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_field_and_a_hint() {
        let table = [
            (json!({"schedule": "0 0 8 * * *", "prompt": "x"}), ["schedule", "quartz"]),
            (json!({"schedule": "@daily", "prompt": " "}), ["prompt", "say what the agent is told"]),
            (
                json!({"schedule": "@daily", "prompt": "x", "timezone": "Europe/Berln"}),
                ["timezone", "Europe/Berlin"],
            ),
            (json!({"schedule": "@daily", "prompt": "x", "deliver": "telegram:"}), ["deliver", "telegram:"]),
            (json!({"schedule": "@daily"}), ["arguments are wrong", "prompt"]),
        ];
        for (arguments, parts) in table {
            let refused = read(arguments.clone()).unwrap_err();
            assert!(parts.iter().all(|part| refused.contains(part)), "{arguments}: {refused}");
        }
    }

    #[test]
    fn one_with_a_key_is_refused_before_anybody_is_asked() {
        Secrets::learn("canary-of-a-task-77f0");
        let refused =
            read(json!({"schedule": "@daily", "prompt": "log in with canary-of-a-task-77f0"})).unwrap_err();
        assert!(refused.contains("a key of the settings stands in the task's text"), "{refused}");
    }

    #[test]
    fn a_scheduled_task_makes_no_scheduled_tasks() {
        let arguments = json!({"schedule": "@daily", "prompt": "x"});
        let refused = task(&arguments, &session("agent:main:cron:job:news")).unwrap_err().to_string();
        assert!(refused.contains("a scheduled task can't make scheduled tasks"), "{refused}");
    }
}
