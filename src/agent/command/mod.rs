//! Any program as an agent, run once a turn.
//!
//! The message comes on its standard input, its standard output is the answer, and the last lines
//! of its standard error say why it failed. `SWITCHBOARD_SESSION` and `SWITCHBOARD_TURN` tell it
//! where it is, `SWITCHBOARD_MODEL` the model that a scheduled task asks for; `{history}` in an argument becomes the path of a JSON file with what was said
//! before. It leads its own process group and nothing that it started outlives the turn: not on
//! success, not on a stop, not when the future is dropped.

mod invocation;

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::process::ChildStdout;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::program::group::ProcessGroup;
use super::program::launch::{GO, Program};
use super::program::tail::Tail;
use super::program::{PIECE_BYTES, bad_end, feed, read, read_tail};
use super::utf8::LossyDecoder;
use super::{AgentError, AgentEvent, Backend, BuildError, Found, Handle, SessionContext, Turn};
use crate::config::{AgentConfig, Keys, run_folder};

/// The command backend.
#[derive(Debug)]
pub(super) struct CommandBackend {
    program: Program,
    timeout: Duration,
    /// Where the histories lie that its programs read.
    run_folder: PathBuf,
}

impl CommandBackend {
    /// Reads `agent.command`; the program runs in `home` where no folder is set.
    pub(super) fn new(config: &AgentConfig, keys: &Keys, home: &Path) -> Result<Self, BuildError> {
        let workdir = config.command.workdir.clone().unwrap_or_else(|| home.to_path_buf());
        let program = Program::new(&config.command.section, &config.command.argv, workdir, &keys.variables)?;
        Ok(Self { program, timeout: config.command.timeout, run_folder: run_folder(home) })
    }
}

impl Backend for CommandBackend {
    fn label(&self) -> String {
        format!("command {}", self.program.name)
    }

    fn steerable(&self) -> bool {
        false
    }

    fn refuses_models(&self) -> Option<String> {
        Some(format!("{} has no choice of models: what answers is the program's to say", self.label()))
    }

    fn keeps_handles(&self) -> bool {
        false
    }

    fn check(&self) -> BoxFuture<'_, Result<Found, AgentError>> {
        let found = self.program.find();
        Box::pin(async { found.map(|path| Found::Good(format!("{} can be run", path.display()))) })
    }

    fn open<'a>(&'a self, session: &'a SessionContext) -> BoxFuture<'a, Result<Box<dyn Handle>, AgentError>> {
        let program = self.program.of_session(session);
        let handle = CommandHandle {
            program,
            timeout: self.timeout,
            session: session.clone(),
            run_folder: self.run_folder.clone(),
        };
        Box::pin(async { Ok(Box::new(handle) as Box<dyn Handle>) })
    }
}

struct CommandHandle {
    program: Program,
    timeout: Duration,
    session: SessionContext,
    run_folder: PathBuf,
}

impl Handle for CommandHandle {
    fn run<'a>(
        &'a mut self,
        turn: Turn,
        output: mpsc::Sender<AgentEvent>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(self.run_program(turn, output, cancel))
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}

/// What a program left when it ended by itself.
struct Ending {
    status: std::io::Result<ExitStatus>,
    said: Said,
    complaint: Tail,
}

/// Whether a program said anything on its standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Something,
    Nothing,
}

impl CommandHandle {
    async fn run_program(
        &self,
        turn: Turn,
        output: mpsc::Sender<AgentEvent>,
        cancel: CancellationToken,
    ) -> Result<(), AgentError> {
        if cancel.is_cancelled() {
            return Err(AgentError::Cancelled);
        }
        let Self { program, session, run_folder, .. } = self;
        let mut running = invocation::start(program, session, turn.id, turn.history, run_folder).await?;
        let (child, rest) = (&mut running.child, running.rest);
        let (pid, group) = (child.id(), ProcessGroup::led_by(child));
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let ended = CancellationToken::new();
        let message = format!("{GO}{}", turn.message);
        let work = async {
            if let Some(pid) = pid {
                turn.engine.children.keep(pid, &self.program.name).await?;
            }
            let (stdin, stdout, stderr) = streams;
            let (status, (), said, complaint) = tokio::join!(
                group.exit(child, &ended),
                feed(stdin, message, &ended),
                stream(stdout, &output, &ended),
                read_tail(stderr, &ended)
            );
            Ok(Ending { status, said, complaint })
        };
        let mut work = std::pin::pin!(work);
        let stopped = tokio::select! {
            biased;
            () = cancel.cancelled() => AgentError::Cancelled,
            () = output.closed() => AgentError::Cancelled,
            () = sleep(self.timeout) => self.too_slow(),
            ending = &mut work => {
                rest.end().await;
                return self.judge(&ending?);
            }
        };
        group.stop(work).await;
        rest.end().await;
        Err(stopped)
    }

    fn too_slow(&self) -> AgentError {
        let Self { program, timeout, .. } = self;
        AgentError::Failed(format!(
            "{} took longer than {} s and was stopped: {} is the limit",
            program.name,
            timeout.as_secs_f64(),
            program.setting("timeout_seconds")
        ))
    }

    fn judge(&self, ending: &Ending) -> Result<(), AgentError> {
        let how = match (bad_end(&ending.status), ending.said) {
            (None, Said::Something) => return Ok(()),
            (None, Said::Nothing) => "ended well but wrote no answer to its standard output".to_owned(),
            (Some(how), _) => how,
        };
        let complaint = ending.complaint.last_lines();
        let said = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
        Err(AgentError::Failed(format!("{} {how}{said}", self.program.name)))
    }
}

/// Passes the output on in small pieces; a full channel slows the program down.
async fn stream(
    stdout: Option<ChildStdout>,
    output: &mpsc::Sender<AgentEvent>,
    ended: &CancellationToken,
) -> Said {
    let Some(mut stdout) = stdout else { return Said::Nothing };
    let mut decoder = LossyDecoder::default();
    let mut said = Said::Nothing;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let bytes = read(&mut stdout, &mut piece, ended).await;
        let text = if bytes.is_empty() { decoder.finish().to_owned() } else { decoder.push(bytes) };
        if !text.is_empty() {
            said = Said::Something;
            if output.send(AgentEvent::Text(text)).await.is_err() {
                return said;
            }
        }
        if bytes.is_empty() {
            return said;
        }
    }
}
