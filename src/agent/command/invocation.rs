//! How a program is called for one turn.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::NamedTempFile;
use tokio::process::{Child, Command};

use crate::agent::program::environment;
use crate::agent::{AgentError, SessionContext, process};
use crate::domain::history::Step;
use crate::domain::id::TurnId;

/// In an argument, stands for the path of a file with the history as JSON.
const HISTORY: &str = "{history}";

/// Tells a program the model that its session asks for, where it asks for one.
const MODEL: &str = "SWITCHBOARD_MODEL";

/// What holds a program until its process is kept. Only a process that already runs can wait, and
/// between a fork and its exec nothing safe can: so a shell waits, and then becomes the program, with
/// the same process. It takes nothing but the first line from the pipe, and ends if none comes.
const SHELL: &str = "/bin/sh";
const WAIT: &str = "read -r go && exec \"$@\"";

/// The program of the command backend, with all that calling it needs.
#[derive(Debug, Clone)]
pub(super) struct Program {
    /// `agent.command.argv` without its first part.
    pub(super) arguments: Vec<String>,
    /// The first part of `agent.command.argv`.
    pub(super) name: String,
    /// Where it runs.
    pub(super) workdir: PathBuf,
    /// The environment variable of a configured key; never handed on.
    pub(super) key_variable: String,
}

/// A program that runs, with the file it may read.
pub(super) struct Running {
    pub(super) child: Child,
    /// Deleted when the turn ends.
    _history: Option<NamedTempFile>,
}

impl Program {
    /// Starts the program as the leader of its own process group. It waits for the first line on its
    /// standard input before it does anything; without one, because the engine is gone, it never works.
    ///
    /// # Errors
    /// Where it can't be started, with the setting to look at.
    pub(super) async fn start(
        &self,
        session: &SessionContext,
        turn: TurnId,
        history: Vec<Step>,
    ) -> Result<Running, AgentError> {
        let history = match self.arguments.iter().any(|argument| argument.contains(HISTORY)) {
            true => Some(write_history(history).await?),
            false => None,
        };
        self.find()?;
        let mut command = Command::new(SHELL);
        environment::hide_secrets(&mut command, &self.key_variable);
        command
            .args(["-c", WAIT, SHELL])
            .arg(self.path())
            .args(self.arguments.iter().map(|argument| with_history(argument, history.as_ref())))
            .envs(process::place(session, turn))
            .envs(session.model.iter().map(|model| (MODEL, model)))
            .current_dir(&self.workdir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let child = command.spawn().map_err(|error| self.not_started(&error))?;
        Ok(Running { child, _history: history })
    }

    /// Finds the program without running it.
    ///
    /// # Errors
    /// The same as [`Program::start`]'s where it is missing or may not be run.
    pub(super) fn find(&self) -> Result<PathBuf, AgentError> {
        if !self.workdir.is_dir() {
            return Err(self.not_started(&io::ErrorKind::NotFound.into()));
        }
        let candidates: Vec<PathBuf> = match self.name.contains('/') {
            true => vec![self.path()],
            false => {
                let folders = std::env::var_os("PATH").unwrap_or_default();
                std::env::split_paths(&folders).map(|folder| folder.join(&self.name)).collect()
            }
        };
        let files: Vec<PathBuf> = candidates.into_iter().filter(|path| path.is_file()).collect();
        let runs = |path: &PathBuf| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
        let kind = if files.is_empty() { io::ErrorKind::NotFound } else { io::ErrorKind::PermissionDenied };
        files.into_iter().find(runs).ok_or_else(|| self.not_started(&kind.into()))
    }

    /// A relative path is one from the folder that the program runs in; a bare name is looked for in PATH.
    fn path(&self) -> PathBuf {
        if self.name.contains('/') { self.workdir.join(&self.name) } else { PathBuf::from(&self.name) }
    }

    fn not_started(&self, error: &io::Error) -> AgentError {
        let Self { name, workdir, .. } = self;
        let why = match error.kind() {
            _ if !workdir.is_dir() => {
                format!("its folder {} does not exist: see agent.command.workdir", workdir.display())
            }
            io::ErrorKind::NotFound if name.contains('/') => {
                format!("there is no {}, or what its first line names is missing", self.path().display())
            }
            io::ErrorKind::NotFound => "no folder in PATH holds it".to_owned(),
            io::ErrorKind::PermissionDenied => {
                format!("it may not be run: try chmod +x {}", self.path().display())
            }
            io::ErrorKind::ArgumentListTooLong => "its arguments are too long".to_owned(),
            _ => error.to_string(),
        };
        AgentError::Failed(format!("can't run {name:?} of agent.command.argv: {why}"))
    }
}

/// Writes the history to a file that only this user can read.
async fn write_history(history: Vec<Step>) -> Result<NamedTempFile, AgentError> {
    let write = move || -> io::Result<NamedTempFile> {
        let mut file = tempfile::Builder::new().prefix("switchboard-history-").suffix(".json").tempfile()?;
        serde_json::to_writer(io::BufWriter::new(&mut file), &history)?;
        file.flush()?;
        Ok(file)
    };
    let written = tokio::task::spawn_blocking(write).await.map_err(io::Error::other);
    written.and_then(|file| file).map_err(|error| {
        let folder = std::env::temp_dir();
        AgentError::Failed(format!(
            "can't write the history for {{history}} to {}: {error}",
            folder.display()
        ))
    })
}

fn with_history(argument: &str, history: Option<&NamedTempFile>) -> OsString {
    let path = history.map(NamedTempFile::path).unwrap_or(Path::new(""));
    let mut whole = OsString::new();
    for (index, piece) in argument.split(HISTORY).enumerate() {
        if index > 0 {
            whole.push(path);
        }
        whole.push(piece);
    }
    whole
}
