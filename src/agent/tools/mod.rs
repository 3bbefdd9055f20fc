//! What the built-in agent can do besides talk.
//!
//! A tool is a file with an entry in [`TABLE`]: what the model is told of it, and what it does. All
//! that can go wrong with a call is an answer to the model, which may then do better.

mod error;
mod output;
mod process;
mod read_file;
mod schedule_task;
mod search_files;
mod terminal;
mod tool;
mod work;
mod workdir;
mod write_file;

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::background::BackgroundCall;
use super::{SessionContext, Turn};
use crate::config::{ApprovalsConfig, Secrets, ToolName};
use crate::domain::approval::{Verdict, forbidden, verdict};
use crate::domain::event::excerpt;

pub(super) use self::error::ToolError;
pub(super) use self::output::bounded;
pub use self::schedule_task::no_task_with_key;
pub(super) use self::terminal::Terminal;
use self::terminal::{Command, Runs};
use self::tool::TABLE;
pub(super) use self::tool::Tool;
use self::work::Work;
pub(super) use self::workdir::Places;
use self::workdir::Workdir;

/// So long a tool that works on files may take.
const FILES_LIMIT: Duration = Duration::from_secs(60);

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
        let places = self.settings.places.clone();
        let workdir = on_a_thread(move |_| Workdir::open(&places)).await?;
        let work = Work::of(tool, &arguments, &self.session)?;
        self.allow(tool, &arguments, &work, &workdir, turn).await?;
        match work {
            Work::Files { run, .. } => on_a_thread(move |stop| run(arguments, &workdir, stop)).await,
            Work::Command(Command { command, runs: Runs::InTurn }) => {
                self.settings.terminal.run(&command, workdir.root(), &self.session, turn).await
            }
            Work::Command(Command { command, runs: Runs::InBackground }) => {
                let (folder, most) = (workdir.root().to_path_buf(), self.settings.max_background);
                background(turn, BackgroundCall::Start { command, folder, most }).await
            }
            Work::Process(call) => background(turn, call).await,
            Work::Job(task) => schedule_task::make(*task, turn).await,
        }
    }

    /// Whether a call may be carried out: by the settings, or else by a person.
    async fn allow(
        &self,
        tool: &Tool,
        arguments: &Value,
        work: &Work,
        workdir: &Workdir,
        turn: &Turn,
    ) -> Result<(), ToolError> {
        let approvals = &self.settings.approvals;
        match verdict(approvals.of(tool.name), work.command(), &approvals.allow) {
            Verdict::Run => return Ok(()),
            Verdict::Refuse => {
                let tool = tool.name.word();
                let setting = approvals.section.setting(tool);
                return Err(ToolError::NotAllowed(forbidden(tool, &setting)));
            }
            Verdict::Ask => {}
        }
        let question = work.question(tool, arguments, workdir).await?;
        let decision = turn.engine.approvals.ask(question.clone()).await;
        if let Some(refusal) = decision.refusal() {
            return Err(ToolError::NotAllowed(refusal));
        }
        match work.question(tool, arguments, workdir).await? == question {
            true => Ok(()),
            false => Err(ToolError::OtherMeanwhile),
        }
    }

    fn tool(&self, name: &str) -> Result<&'static Tool, ToolError> {
        let found = self.offered.iter().find(|tool| tool.name.word() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = self.offered.iter().map(|tool| tool.name.word()).collect();
            ToolError::Unknown { name: keyless_excerpt(name), names: names.join(", ") }
        })
    }
}

/// Has the engine carry a call about background processes out.
async fn background(turn: &Turn, call: BackgroundCall) -> Result<String, ToolError> {
    turn.engine.background.ask(call).await.map_err(ToolError::Background)
}

/// Works on files, away from the threads that must not wait. The end of its time and dropping the future stop the work.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let stop = CancellationToken::new();
    let _stopped_with_the_call = stop.clone().drop_guard();
    let work = tokio::task::spawn_blocking(move || work(&stop));
    match timeout(FILES_LIMIT, work).await {
        Ok(done) => done.unwrap_or_else(|error| Err(ToolError::Crashed(error.to_string()))),
        Err(_) => Err(ToolError::FilesTooSlow { limit: FILES_LIMIT }),
    }
}

/// Reads arguments as a JSON object. Some models write nothing where they give none.
fn object(arguments: &str) -> Result<Value, String> {
    if arguments.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(format!("{} is no JSON object", keyless_excerpt(arguments))),
        Err(error) => Err(format!("{} is not JSON: {error}", keyless_excerpt(arguments))),
    }
}

/// The first words of what a model wrote, in which a key is hidden before it may be cut.
fn keyless_excerpt(text: &str) -> String {
    excerpt(&Secrets::known().hide(text.to_owned()))
}

/// Reads arguments as a tool wants them.
fn typed<T: DeserializeOwned>(tool: ToolName, arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments)
        .map_err(|error| ToolError::Arguments { tool: tool.word(), why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::lines;
    use crate::config::Config;
    use crate::domain::Time;
    use crate::domain::history::Asker;
    use crate::domain::id::{SessionId, SessionKey, TurnId};
    use tokio::runtime::Handle;
    use tokio::sync::Notify;

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
            id: TurnId(1),
            history: Vec::new(),
            message: String::new(),
            asked_by: Asker::Person,
            began_at: Time::UNIX_EPOCH,
            secrets: Secrets::default(),
            engine: lines().0,
        }
    }

    async fn refused(name: &str, arguments: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let tools = tools(&[ToolName::ReadFile, ToolName::SearchFiles], &folder);
        tools.call(name, arguments, &turn()).await.unwrap_err().to_string()
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

    #[tokio::test]
    async fn a_call_that_is_dropped_or_takes_too_long_stops_its_tool() {
        static BEGAN: Notify = Notify::const_new();
        static ENDED: Notify = Notify::const_new();
        let endless = |stop: &CancellationToken| -> Result<(), ToolError> {
            BEGAN.notify_one();
            Handle::current().block_on(stop.cancelled());
            ENDED.notify_one();
            Err(ToolError::Stopped)
        };
        let call = tokio::spawn(on_a_thread(endless));
        BEGAN.notified().await;
        call.abort();
        timeout(Duration::from_secs(60), ENDED.notified()).await.expect("it still works");

        let mut call = std::pin::pin!(on_a_thread(endless));
        tokio::select! {
            _ = &mut call => panic!("it ended by itself"),
            () = BEGAN.notified() => {}
        }
        tokio::time::pause();
        tokio::time::advance(FILES_LIMIT + Duration::from_secs(1)).await;
        let late = call.await.unwrap_err().to_string();
        assert_eq!(late, "the tool took longer than 60 s and was stopped");
        tokio::time::resume();
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
