//! A program that the settings name: how it is found, and how it is started so that it waits.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{Child, Command};

use super::environment;
use crate::agent::{AgentError, BuildError, SessionContext};
use crate::config::Section;

/// The line that lets a program work; it is not the program's to read.
pub(in crate::agent) const GO: &str = "go\n";

/// What holds a program until its process is kept. Only a process that already runs can wait, and
/// between a fork and its exec nothing safe can: so a shell waits, and then becomes the program, with
/// the same process. It takes nothing but the first line from the pipe, and ends if none comes.
pub(in crate::agent) const SHELL: &str = "/bin/sh";
const WAIT: &str = "read -r go && exec \"$@\"";

/// A program with all that calling it needs.
#[derive(Debug, Clone)]
pub(in crate::agent) struct Program {
    /// The section of the settings that names it: `agent.command`.
    section: Section,
    /// The first part of its `argv`.
    pub(in crate::agent) name: String,
    /// `argv` without its first part.
    pub(in crate::agent) arguments: Vec<String>,
    /// Where it runs.
    pub(in crate::agent) workdir: PathBuf,
    /// The environment variables of configured keys; never handed on.
    key_variables: Vec<String>,
}

impl Program {
    /// The program that `argv` of a section names.
    ///
    /// # Errors
    /// Where `argv` is empty.
    pub(in crate::agent) fn new(
        section: &Section,
        argv: &[String],
        workdir: PathBuf,
        key_variables: &[String],
    ) -> Result<Self, BuildError> {
        let (name, arguments) =
            argv.split_first().ok_or_else(|| BuildError::EmptyArgv { section: section.clone() })?;
        let (name, arguments) = (name.clone(), arguments.to_vec());
        let section = section.clone();
        Ok(Self { section, name, arguments, workdir, key_variables: key_variables.to_owned() })
    }

    /// What a person calls it: of `env NAME=VALUE program`, the program.
    pub(in crate::agent) fn called(&self) -> &str {
        let sets = |argument: &&String| argument.contains('=') || argument.starts_with('-');
        match self.name.rsplit('/').next() {
            Some("env") => self.arguments.iter().find(|argument| !sets(argument)).unwrap_or(&self.name),
            _ => &self.name,
        }
    }

    /// The same for a session, which may have a folder of its own.
    pub(in crate::agent) fn of_session(&self, session: &SessionContext) -> Self {
        let mut program = self.clone();
        if let Some(workdir) = &session.workdir {
            program.workdir.clone_from(workdir);
        }
        program
    }

    /// One of the settings beside its `argv`.
    pub(in crate::agent) fn setting(&self, name: &str) -> String {
        self.section.setting(name)
    }

    /// Starts the program as the leader of its own process group. It waits for [`GO`] on its standard
    /// input before it does anything; without it, because the engine is gone, it never works.
    ///
    /// # Errors
    /// Where it can't be started, with the setting to look at.
    pub(in crate::agent) fn start(
        &self,
        arguments: impl IntoIterator<Item = OsString>,
        variables: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<Child, AgentError> {
        self.find()?;
        let mut command = Command::new(SHELL);
        environment::hide_secrets(&mut command, &self.key_variables);
        command
            .args(["-c", WAIT, SHELL])
            .arg(self.path())
            .args(arguments)
            .envs(variables)
            .current_dir(&self.workdir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command.spawn().map_err(|error| self.not_started(&error))
    }

    /// Finds the program without running it.
    ///
    /// # Errors
    /// The same as [`Program::start`]'s where it is missing or may not be run.
    pub(in crate::agent) fn find(&self) -> Result<PathBuf, AgentError> {
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
        match self.name.contains('/') {
            // A `.` in the middle says nothing.
            true => self.workdir.join(&self.name).components().collect(),
            false => PathBuf::from(&self.name),
        }
    }

    fn not_started(&self, error: &io::Error) -> AgentError {
        let Self { section, name, workdir, .. } = self;
        let why = match error.kind() {
            _ if !workdir.is_dir() => {
                format!("its folder {} does not exist: see {section}.workdir", workdir.display())
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
        AgentError::Failed(format!("can't run {name:?} of {section}.argv: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_behind_env_is_called_by_its_own_name() {
        let called = |argv: &[&str]| {
            let argv: Vec<String> = argv.iter().map(|part| (*part).to_owned()).collect();
            let program = Program::new(&Section::of("agent.acp"), &argv, PathBuf::new(), &[]).unwrap();
            program.called().to_owned()
        };
        assert_eq!(called(&["/usr/bin/env", "-u", "HOME=/tmp", "A=1", "hermes", "acp"]), "hermes");
        assert_eq!(called(&["env"]), "env");
        assert_eq!(called(&["./agent", "x"]), "./agent");
    }
}
