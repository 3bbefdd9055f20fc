//! What the built-in agent can do besides talk.
//!
//! A tool is a file with an entry in [`TABLE`]: what the model is told of it, and what it does. All
//! that can go wrong with a call is an answer to the model, which may then do better.

mod output;
mod process;
mod read_file;
mod schedule_task;
mod search_files;
mod terminal;
mod workdir;
mod write_file;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::background::BackgroundCall;
use super::{SessionContext, Turn};
use crate::config::{ApprovalsConfig, ToolName};
use crate::domain::approval::{Always, Question, Verdict, verdict};
use crate::domain::event::excerpt;

pub(super) use self::terminal::Terminal;
use self::terminal::{Command, Runs};
pub(super) use self::workdir::Places;
use self::workdir::Workdir;

/// A tool.
pub(super) struct Tool {
    /// Its name.
    pub(super) name: ToolName,
    /// What it is for, as the model is told.
    pub(super) about: &'static str,
    parameters: &'static [Parameter],
    does: Does,
}

/// What a tool does.
enum Does {
    /// It works on files, on a thread that may wait.
    Files(fn(Value, &Workdir, &CancellationToken) -> Result<String, ToolError>),
    /// It runs a command.
    Command,
    /// It asks for the session's background processes.
    Process,
    /// It makes a scheduled task.
    Job,
}

/// One value that a tool takes.
struct Parameter {
    name: &'static str,
    about: &'static str,
    kind: Kind,
    need: Need,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// A whole number from 1.
    Count,
    /// Yes or no.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

const TABLE: &[Tool] = &[
    read_file::TOOL,
    search_files::TOOL,
    write_file::TOOL,
    terminal::TOOL,
    process::TOOL,
    schedule_task::TOOL,
];

impl Tool {
    /// Its parameters as a JSON schema.
    pub(super) fn schema(&self) -> Value {
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

/// The tools that a session's agent may call, and where they work.
#[derive(Clone)]
pub(super) struct Tools {
    offered: Vec<&'static Tool>,
    session: SessionContext,
    settings: Settings,
}

/// What holds for the tools of every session.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    /// Where they work.
    pub(super) places: Places,
    /// How commands are run.
    pub(super) terminal: Terminal,
    /// Which of them ask first.
    pub(super) approvals: ApprovalsConfig,
    /// How many background processes of one session may live.
    pub(super) max_background: usize,
}

impl Tools {
    /// The tools with these names, for one session.
    pub(super) fn new(names: &[ToolName], session: SessionContext, mut settings: Settings) -> Self {
        let offered = TABLE.iter().filter(|tool| names.contains(&tool.name)).collect();
        if let Some(workdir) = &session.workdir {
            settings.places.workdir.clone_from(workdir);
        }
        Self { offered, session, settings }
    }

    /// The tools that may be called.
    pub(super) fn offered(&self) -> &[&'static Tool] {
        &self.offered
    }

    /// Carries a call out, if the settings or a person allow it. Dropping the future stops the tool.
    ///
    /// # Errors
    /// Where the call can't be carried out, may not be, or failed; the text is for the model.
    pub(super) async fn call(&self, name: &str, arguments: &str, turn: &Turn) -> Result<String, ToolError> {
        let tool = self.tool(name)?;
        let arguments =
            object(arguments).map_err(|why| ToolError::Arguments { tool: tool.name.word(), why })?;
        let workdir = Workdir::open(&self.settings.places)?;
        self.allow(tool, &arguments, &workdir, turn).await?;
        match tool.does {
            Does::Job => schedule_task::make(schedule_task::task(&arguments, &self.session)?, turn).await,
            Does::Files(run) => on_a_thread(run, arguments, workdir).await,
            Does::Command => {
                let Command { command, runs } = terminal::command(&arguments)?;
                match runs {
                    Runs::InTurn => {
                        self.settings.terminal.run(&command, workdir.root(), &self.session, turn).await
                    }
                    Runs::InBackground => {
                        let (folder, most) = (workdir.root().to_path_buf(), self.settings.max_background);
                        background(turn, BackgroundCall::Start { command, folder, most }).await
                    }
                }
            }
            Does::Process => background(turn, process::call(arguments)?).await,
        }
    }

    /// Whether a call may be carried out: by the settings, or else by a person.
    async fn allow(
        &self,
        tool: &Tool,
        arguments: &Value,
        workdir: &Workdir,
        turn: &Turn,
    ) -> Result<(), ToolError> {
        let approvals = &self.settings.approvals;
        let task = match tool.name {
            // What can't be made is not asked about.
            ToolName::ScheduleTask => Some(schedule_task::task(arguments, &self.session)?),
            _ => None,
        };
        let command = match tool.name {
            ToolName::Terminal => Some(terminal::command(arguments)?),
            _ => None,
        };
        let line = command.as_ref().map(|command| command.command.as_str());
        match verdict(approvals.of(tool.name), line, &approvals.allow) {
            Verdict::Run => return Ok(()),
            Verdict::Refuse => {
                let tool = tool.name.word();
                let setting = approvals.section.setting(tool);
                return Err(ToolError::Banned { tool, setting });
            }
            Verdict::Ask => {}
        }
        let always = match (line, &task) {
            (Some(line), _) => Always::of(line),
            (None, Some(_)) => Always::NotOffered { why: "each task is asked about".to_owned() },
            (None, None) => Always::NotOffered { why: "each file is asked about".to_owned() },
        };
        let folder = match &task {
            Some(_) => "jobs.json".to_owned(),
            None => workdir.root().display().to_string(),
        };
        let (tool, what) = match (command, tool.name) {
            (Some(Command { command, runs: Runs::InBackground }), name) => {
                (format!("{} in the background, beyond this turn", name.word()), command)
            }
            (Some(Command { command, runs: Runs::InTurn }), name) => (name.word().to_owned(), command),
            (None, name @ ToolName::ScheduleTask) => {
                (name.word().to_owned(), task.as_ref().map(schedule_task::described).unwrap_or_default())
            }
            (None, name @ ToolName::WriteFile) => {
                (name.word().to_owned(), write_file::described(arguments, workdir)?)
            }
            (None, name) => (name.word().to_owned(), arguments.to_string()),
        };
        let decision = turn.approvals.ask(Question { tool, what, folder, always }).await;
        decision.refusal().map_or(Ok(()), |refusal| Err(ToolError::NotAllowed(refusal)))
    }

    fn tool(&self, name: &str) -> Result<&'static Tool, ToolError> {
        let found = self.offered.iter().find(|tool| tool.name.word() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = self.offered.iter().map(|tool| tool.name.word()).collect();
            ToolError::Unknown { name: excerpt(name), names: names.join(", ") }
        })
    }
}

/// Has the engine carry a call about background processes out.
async fn background(turn: &Turn, call: BackgroundCall) -> Result<String, ToolError> {
    turn.background.ask(call).await.map_err(ToolError::Background)
}

/// Works away from the threads that must not wait. Dropping the future stops the work.
async fn on_a_thread(
    run: fn(Value, &Workdir, &CancellationToken) -> Result<String, ToolError>,
    arguments: Value,
    workdir: Workdir,
) -> Result<String, ToolError> {
    let stop = CancellationToken::new();
    let _stopped_with_the_call = stop.clone().drop_guard();
    let work = tokio::task::spawn_blocking(move || run(arguments, &workdir, &stop));
    work.await.unwrap_or_else(|error| Err(ToolError::Crashed(error.to_string())))
}

/// Why a call has no result, in words for the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum ToolError {
    /// No tool has the name.
    #[error("there is no tool {name:?}; the tools are: {names}")]
    Unknown {
        /// The name that was called.
        name: String,
        /// The names that exist.
        names: String,
    },
    /// The arguments are not what the schema says.
    #[error("{tool} was not called, its arguments are wrong: {why}")]
    Arguments {
        /// The tool.
        tool: &'static str,
        /// What is wrong with them.
        why: String,
    },
    /// The working directory is not there.
    #[error("the working directory {} can't be opened: {source} (openai.workdir of the agent)", path.display())]
    NoWorkdir {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The path leads out of the working directory.
    #[error("{path} is outside the working directory {}; only what is inside can be opened", workdir.display())]
    Outside {
        /// The path as the model gave it.
        path: String,
        /// The directory.
        workdir: PathBuf,
    },
    /// The file belongs to the engine and holds what no model may see.
    #[error("{path} is not opened: it belongs to the settings, the store or the keys of the engine")]
    Secret {
        /// The file.
        path: String,
    },
    /// A folder, where a file is needed.
    #[error("{path} is a folder; search_files without a pattern lists its files")]
    Folder {
        /// The folder.
        path: String,
    },
    /// A device, a pipe or a socket.
    #[error("{path} is no regular file")]
    Special {
        /// It.
        path: String,
    },
    /// No text.
    #[error("{path} is a binary file ({bytes} bytes), no text")]
    Binary {
        /// The file.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// The file has fewer lines.
    #[error("{path} has {lines} lines, so there is none from offset {offset} on")]
    BehindTheEnd {
        /// The file.
        path: String,
        /// How many it has.
        lines: u64,
        /// The first that was asked for.
        offset: u64,
    },
    /// The system refuses.
    #[error("{path} can't be read: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The system refuses.
    #[error("{path} can't be written: {source}")]
    Unwritable {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A link, where what is written could go elsewhere.
    #[error("{path} leads through a symbolic link or something that is no folder; write to the real path")]
    Link {
        /// The file.
        path: String,
    },
    /// The settings forbid the tool.
    #[error("{tool} is forbidden by the operator's settings ({setting})")]
    Banned {
        /// The tool.
        tool: &'static str,
        /// Which of them.
        setting: String,
    },
    /// A person does not allow it, or nobody could be asked.
    #[error("{0}")]
    NotAllowed(String),
    /// A scheduled task was not made.
    #[error("the task was not made: {0}")]
    NotScheduled(String),
    /// A command could not be started.
    #[error("the command was not run: {0}")]
    NotStarted(String),
    /// A command ended with an error.
    #[error("the command {how}; {output}")]
    Ended {
        /// How it ended.
        how: String,
        /// What it had written.
        output: String,
    },
    /// A command took longer than it may.
    #[error("the command took longer than {} s and was stopped; {output}", limit.as_secs())]
    TooSlow {
        /// How long it may take.
        limit: Duration,
        /// What it had written.
        output: String,
    },
    /// What was asked of background processes can't be.
    #[error("{0}")]
    Background(String),
    /// The turn was stopped.
    #[error("stopped")]
    Stopped,
    /// A mistake in the tool.
    #[error("the tool crashed: {0}")]
    Crashed(String),
}

/// Reads arguments as a JSON object. Some models write nothing where they give none.
fn object(arguments: &str) -> Result<Value, String> {
    if arguments.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(format!("{} is no JSON object", excerpt(arguments))),
        Err(error) => Err(format!("{} is not JSON: {error}", excerpt(arguments))),
    }
}

/// Reads arguments as a tool wants them.
fn typed<T: DeserializeOwned>(tool: ToolName, arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments)
        .map_err(|error| ToolError::Arguments { tool: tool.word(), why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Approvals, BackgroundCalls, Children, Doing, Jobs};
    use crate::config::Config;
    use crate::domain::Time;
    use crate::domain::id::{SessionId, SessionKey, TurnId};
    use std::fs;
    use tokio::runtime::Handle;
    use tokio::sync::{Notify, mpsc};
    use tokio::time::timeout;

    fn tools(names: &[ToolName], folder: &tempfile::TempDir) -> Tools {
        let path = folder.path().to_path_buf();
        let session = SessionContext::new(SessionId::new(Time::UNIX_EPOCH, 1), SessionKey::console());
        let settings = Settings {
            places: Places { workdir: path.clone(), home: path.join("home"), key_files: Vec::new() },
            terminal: Terminal { limit: Duration::from_secs(60), key_variables: Vec::new() },
            approvals: Config::default().agent.approvals,
            max_background: 8,
        };
        Tools::new(names, session, settings)
    }

    /// A turn in which nobody answers.
    fn turn() -> Turn {
        Turn {
            allowance: None,
            id: TurnId(1),
            history: Vec::new(),
            message: String::new(),
            began_at: Time::UNIX_EPOCH,
            steer: mpsc::channel(1).1,
            children: Children::channel().0,
            approvals: Approvals::channel().0,
            background: BackgroundCalls::channel().0,
            doing: Doing::channel().0,
            jobs: Jobs::channel().0,
        }
    }

    async fn refused(name: &str, arguments: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let tools = tools(&[ToolName::ReadFile, ToolName::SearchFiles], &folder);
        tools.call(name, arguments, &turn()).await.unwrap_err().to_string()
    }

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
        let run = |tool: &Tool, arguments: &Map<String, Value>| {
            let arguments = Value::Object(arguments.clone());
            match tool.does {
                Does::Files(run) => run(arguments, &workdir, &CancellationToken::new()),
                Does::Command => terminal::command(&arguments).map(|command| command.command),
                Does::Process => process::call(arguments).map(|_| String::new()),
                Does::Job => {
                    let session =
                        SessionContext::new(SessionId::new(Time::UNIX_EPOCH, 7), SessionKey::console());
                    schedule_task::task(&arguments, &session).map(|task| schedule_task::described(&task))
                }
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

    #[tokio::test]
    async fn an_unknown_tool_is_answered_with_those_that_exist() {
        let refused = refused("rm", "{}").await;
        assert_eq!(refused, "there is no tool \"rm\"; the tools are: read_file, search_files");
        let folder = tempfile::tempdir().unwrap();
        let one = tools(&[ToolName::SearchFiles], &folder);
        assert_eq!(one.offered().len(), 1);
        let off = one.call("read_file", r#"{"path":"a"}"#, &turn()).await.unwrap_err();
        assert!(matches!(off, ToolError::Unknown { .. }), "a tool that is switched off is unknown");
    }

    #[tokio::test]
    async fn arguments_that_are_no_object_of_the_schema_are_answered_with_what_is_wrong() {
        for (arguments, why) in [
            (r#"{"path":"#, "is not JSON: EOF"),
            (r#"["a"]"#, "is no JSON object"),
            ("", "missing field `path`"),
            ("{}", "missing field `path`"),
            (r#"{"path":3}"#, "invalid type: integer `3`, expected a string"),
            (r#"{"path":"a","offset":0}"#, "expected a nonzero"),
            (r#"{"path":"a","limit":-1}"#, "expected a nonzero"),
            (r#"{"file":"a"}"#, "unknown field `file`, expected one of `path`, `offset`, `limit`"),
        ] {
            let refused = refused("read_file", arguments).await;
            assert!(refused.starts_with("read_file was not called, its arguments are wrong: "), "{refused}");
            assert!(refused.contains(why), "{arguments}: {refused}");
        }
    }

    static BEGAN: Notify = Notify::const_new();
    static ENDED: Notify = Notify::const_new();

    #[tokio::test]
    async fn a_call_that_is_dropped_stops_its_tool() {
        static ENDLESS: Tool = Tool {
            name: ToolName::ReadFile,
            about: "Works until it is stopped.",
            parameters: &[],
            does: Does::Files(|_, _, stop| {
                BEGAN.notify_one();
                Handle::current().block_on(stop.cancelled());
                ENDED.notify_one();
                Err(ToolError::Stopped)
            }),
        };
        let folder = tempfile::tempdir().unwrap();
        let tools = Tools { offered: vec![&ENDLESS], ..tools(&[], &folder) };
        let call = tokio::spawn(async move { tools.call("read_file", "{}", &turn()).await });
        BEGAN.notified().await;
        call.abort();
        timeout(Duration::from_secs(60), ENDED.notified()).await.expect("it still works");
    }

    #[tokio::test]
    async fn a_missing_working_directory_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let tools = tools(&[ToolName::ReadFile], &folder);
        let path = folder.path().to_path_buf();
        drop(folder);
        let refused = tools.call("read_file", r#"{"path":"a"}"#, &turn()).await.unwrap_err().to_string();
        assert!(refused.starts_with(&format!("the working directory {}", path.display())), "{refused}");
        assert!(refused.contains("openai.workdir of the agent"), "{refused}");
    }
}
