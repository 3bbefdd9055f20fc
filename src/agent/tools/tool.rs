//! What a tool is: what the model is told of it, and what it does.

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::workdir::Workdir;
use super::{ToolError, process, read_file, schedule_task, search_files, terminal, write_file};
use crate::config::ToolName;

/// A tool, as the model is told of it and as it works.
pub(in crate::agent) struct Tool {
    /// Its name.
    pub(in crate::agent) name: ToolName,
    /// What it is for, as the model is told.
    pub(in crate::agent) about: &'static str,
    pub(super) parameters: &'static [Parameter],
    pub(super) does: Does,
}

/// What a tool does with files.
pub(super) type Run = fn(Value, &Workdir, &CancellationToken) -> Result<String, ToolError>;

/// What a tool does.
pub(super) enum Does {
    /// It works on files, on a thread that may wait.
    Files {
        /// What it does.
        run: Run,
        /// What a person is asked about a call.
        asked: Run,
    },
    /// It runs a command.
    Command,
    /// It asks for the session's background processes.
    Process,
    /// It makes a scheduled task.
    Job,
}

/// What a person is asked about a call that says all by itself.
pub(super) fn as_called(arguments: Value, _: &Workdir, _: &CancellationToken) -> Result<String, ToolError> {
    Ok(arguments.to_string())
}

/// One value that a tool takes.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: Kind,
    pub(super) need: Need,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// A whole number from 1.
    Count,
    /// Yes or no.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
}

pub(super) const TABLE: &[Tool] = &[
    read_file::TOOL,
    search_files::TOOL,
    write_file::TOOL,
    terminal::TOOL,
    process::TOOL,
    schedule_task::TOOL,
];

impl Tool {
    /// Its parameters as a JSON schema.
    pub(in crate::agent) fn schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .parameters
            .iter()
            .map(|parameter| {
                let Parameter { name, about, kind, .. } = parameter;
                let schema = match kind {
                    Kind::Text => json!({"type": "string", "description": about}),
                    Kind::Count => json!({"type": "integer", "minimum": 1, "description": about}),
                    Kind::Flag => json!({"type": "boolean", "description": about}),
                    Kind::Word(words) => json!({"type": "string", "enum": words, "description": about}),
                };
                ((*name).to_owned(), schema)
            })
            .collect();
        let required: Vec<&str> = self.required().collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    fn required(&self) -> impl Iterator<Item = &'static str> {
        self.parameters
            .iter()
            .filter(|parameter| parameter.need == Need::Required)
            .map(|parameter| parameter.name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::work::Work;
    use super::*;
    use crate::agent::SessionContext;
    use crate::agent::tools::Places;
    use crate::domain::Time;
    use crate::domain::id::{SessionId, SessionKey};
    use std::fs;

    #[test]
    fn each_tool_takes_what_its_schema_says_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "a\n").unwrap();
        let places = Places {
            workdir: folder.path().to_path_buf(),
            home: folder.path().join("home"),
            key_files: Vec::new(),
        };
        let workdir = Workdir::open(&places).unwrap();
        let session = SessionContext::new(SessionId::new(Time::UNIX_EPOCH, 7), SessionKey::console());
        let run = |tool: &Tool, arguments: &Map<String, Value>| {
            let arguments = Value::Object(arguments.clone());
            match Work::of(tool, &arguments, &session)? {
                Work::Files { run, .. } => run(arguments, &workdir, &CancellationToken::new()).map(drop),
                Work::Command(_) | Work::Process(_) | Work::Job(_) => Ok(()),
            }
        };
        for tool in TABLE {
            let value = |parameter: &Parameter| match parameter.kind {
                Kind::Text => json!(match parameter.name {
                    "schedule" => "@daily",
                    "timezone" => "UTC",
                    _ => "a",
                }),
                Kind::Count => json!(1),
                Kind::Flag => json!(true),
                Kind::Word(words) => json!(words[0]),
            };
            let all: Map<String, Value> = tool
                .parameters
                .iter()
                .map(|parameter| (parameter.name.to_owned(), value(parameter)))
                .collect();
            run(tool, &all).unwrap();
            for parameter in tool.parameters {
                let mut fewer = all.clone();
                fewer.remove(parameter.name);
                let missing = matches!(run(tool, &fewer), Err(ToolError::Arguments { .. }));
                assert_eq!(missing, parameter.need == Need::Required, "{}", parameter.name);
                let mut other = all.clone();
                other.insert(parameter.name.to_owned(), json!(["no"]));
                let wrong = run(tool, &other);
                assert!(matches!(wrong, Err(ToolError::Arguments { .. })), "{}", parameter.name);
            }
            let mut more = all;
            more.insert("colour".to_owned(), json!("red"));
            assert!(run(tool, &more).unwrap_err().to_string().contains("unknown field `colour`"));
        }
    }

    #[test]
    fn a_schema_has_no_nulls() {
        for tool in TABLE {
            let schema = tool.schema();
            assert!(!schema.to_string().contains("null"), "{schema}");
            assert_eq!(schema["type"], "object");
            let required: Vec<&str> = tool.required().collect();
            assert_eq!(schema["required"], json!(required));
        }
        assert_eq!(read_file::TOOL.schema()["required"], json!(["path"]));
    }

    #[test]
    fn every_name_in_the_settings_has_its_tool() {
        let names: Vec<&str> = TABLE.iter().map(|tool| tool.name.word()).collect();
        assert_eq!(names, ToolName::WORDS);
    }
}
