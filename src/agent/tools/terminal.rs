//! The tool that runs a command.
//!
//! The command leads its own process group, and is kept before it may work, so that a crash leaves
//! nothing behind. Whatever it started ends with it: its group, and what left the group but still has
//! the mark of the call in its environment.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{self, Child, ChildStdout};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::output::Window;
use super::tool::{Does, Kind, Need, Parameter, Tool};
use super::{ToolError, typed};
use crate::agent::process::place;
use crate::agent::program::environment::hide_secrets;
use crate::agent::program::group::ProcessGroup;
use crate::agent::program::launch::{GO, SHELL};
use crate::agent::program::rest::Rest;
use crate::agent::program::{PIECE_BYTES, bad_end, read};
use crate::agent::utf8::LossyDecoder;
use crate::agent::{Doing, SessionContext, Turn};
use crate::config::{Stream, ToolName};

/// What holds a command until its process is kept: it ends where no line comes. The command's own input
/// is empty, and what it says on standard error stands where it was said.
const WAIT: &str = "read -r go && exec /bin/sh -c \"$1\" </dev/null 2>&1";

pub(super) const TOOL: Tool = Tool {
    name: ToolName::Terminal,
    about: "Runs a command with /bin/sh in the working directory and gives what it writes. Its standard input is empty. What it starts ends with it. In the background it gives its number at once and goes on after your answer, until it ends, is killed or the session is reset; the tool process looks after it.",
    parameters: &[
        Parameter {
            name: "command",
            about: "The command, as in a shell.",
            kind: Kind::Text,
            need: Need::Required,
        },
        Parameter {
            name: "background",
            about: "Whether it goes on in the background: for servers, watchers and long work.",
            kind: Kind::Flag,
            need: Need::Optional,
        },
    ],
    does: Does::Command,
};

/// How commands are run.
#[derive(Debug, Clone)]
pub(in crate::agent) struct Terminal {
    /// How long one may take.
    pub(in crate::agent) limit: Duration,
    /// The environment variable of a configured key; never handed on.
    pub(in crate::agent) key_variables: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    background: Option<bool>,
}

/// A command that is called.
pub(super) struct Command {
    pub(super) command: String,
    pub(super) runs: Runs,
}

/// How long a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// The turn waits for it, and it ends with the turn.
    InTurn,
    /// It goes on in the background.
    InBackground,
}

/// The command that is called.
pub(super) fn command(arguments: &Value) -> Result<Command, ToolError> {
    let Arguments { command, background } = typed(ToolName::Terminal, arguments.clone())?;
    let runs = if background == Some(true) { Runs::InBackground } else { Runs::InTurn };
    match command.contains('\0') {
        true => Err(ToolError::NotStarted("a command can't have a NUL in it".to_owned())),
        false => Ok(Command { command, runs }),
    }
}

impl Terminal {
    /// Runs a command to its end. Dropping the future kills it, with all that it started.
    pub(super) async fn run(
        &self,
        command: &str,
        folder: &Path,
        session: &SessionContext,
        turn: &Turn,
    ) -> Result<String, ToolError> {
        let rest = Rest::new();
        let started = self.spawn(command, folder, session, turn, &rest);
        let mut child = started.map_err(|error| ToolError::NotStarted(error.to_string()))?;
        let group = ProcessGroup::led_by(&child);
        if let Some(pid) = child.id() {
            let kept = turn.engine.children.keep(pid, TOOL.name.word()).await;
            kept.map_err(|error| ToolError::NotStarted(error.to_string()))?;
        }
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        if let Some(mut stdin) = stdin {
            // One that can't be let go ends by itself, and says how.
            let _ = stdin.write_all(GO.as_bytes()).await;
        }
        let end = self.watch(child, stdout, &group, turn).await;
        rest.end().await;
        end
    }

    fn spawn(
        &self,
        command: &str,
        folder: &Path,
        session: &SessionContext,
        turn: &Turn,
        rest: &Rest,
    ) -> std::io::Result<Child> {
        let mut shell = process::Command::new(SHELL);
        hide_secrets(&mut shell, &self.key_variables);
        shell
            .args(["-c", WAIT, SHELL, command])
            .envs(place(&session.id, turn.id))
            .envs([rest.mark()])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }

    async fn watch(
        &self,
        mut child: Child,
        stdout: Option<ChildStdout>,
        group: &ProcessGroup,
        turn: &Turn,
    ) -> Result<String, ToolError> {
        let ended = CancellationToken::new();
        let mut said = Said { window: Window::default(), doing: &turn.engine.doing };
        let exit = group.exit(&mut child, &ended);
        let listen = listen(stdout, &mut said, turn.secrets.stream(), &ended);
        let work = async { tokio::join!(exit, listen).0 };
        let status = {
            let mut work = std::pin::pin!(work);
            tokio::select! {
                biased;
                status = &mut work => Some(status),
                () = sleep(self.limit) => {
                    group.stop(work).await;
                    None
                }
            }
        };
        let output = said.window.into_text();
        match status {
            None => Err(ToolError::TooSlow { limit: self.limit, output: said_so_far(&output) }),
            Some(status) => match bad_end(&status) {
                None if output.is_empty() => Ok("[it wrote nothing]".to_owned()),
                None => Ok(output),
                Some(how) => Err(ToolError::Ended { how, output: said_so_far(&output) }),
            },
        }
    }
}

/// Where what a command writes is gathered and shown.
struct Said<'a> {
    window: Window,
    doing: &'a Doing,
}

impl Said<'_> {
    fn push(&mut self, text: &str) {
        self.window.push(text);
        self.doing.write(text);
    }
}

/// Takes keys out of what comes before anything of it is left out.
async fn listen(
    stdout: Option<ChildStdout>,
    said: &mut Said<'_>,
    mut keyless: Stream,
    ended: &CancellationToken,
) {
    let Some(mut stdout) = stdout else { return };
    let mut decoder = LossyDecoder::default();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match read(&mut stdout, &mut piece, ended).await {
            [] => {
                said.push(&keyless.push(decoder.finish()));
                return said.push(&keyless.finish());
            }
            bytes => said.push(&keyless.push(&decoder.push(bytes))),
        }
    }
}

fn said_so_far(output: &str) -> String {
    if output.is_empty() { "it wrote nothing".to_owned() } else { format!("it wrote:\n{output}") }
}
