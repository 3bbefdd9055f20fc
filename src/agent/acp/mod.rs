//! Any agent that speaks the Agent Client Protocol (version 1), as a process that lives as long as its session
//! is in use.
//!
//! The agent is started with the first turn, initialized, and given a session: the one that it had before,
//! where it can take that up again, else a new one, which is told what was said before. Each turn is a
//! prompt. What the agent asks goes the way of all questions ([`super::Approvals`]); it is offered neither
//! our files nor our terminals. One that is silent for too long, or that does not obey a stop, is killed with
//! all that it started.

mod complaint;
mod connection;
mod message;
mod models;
mod permission;
mod recap;
mod session;
mod sums;
mod turn;
mod update;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::{ProtocolVersion, v1 as schema};
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::connection::Connection;
use self::schema::{SessionId, StopReason};
use self::session::{Agent, TakenUp, absolute};
use self::sums::Sums;
use self::turn::{Answer, Calls, Ended, How, PATIENCE_WITH_CALLS, Prompt, Said, Stop};
use super::program::launch::Program;
use super::{AgentError, AgentEvent, Backend, BuildError, Found, Handle, SessionContext, Turn, process};
use crate::config::{AcpConfig, AgentConfig, ApprovalsConfig, Keys};
use crate::domain::event::excerpt;
use crate::domain::history::Step;
use crate::domain::session::{AgentSession, ToldUse, Usage};

/// How long an agent may take to end when its input ends, and again when it is asked to.
const GOODBYE: Duration = Duration::from_secs(2);

/// Tells an agent, and whatever it starts, which home it works for.
const HOME: &str = "SWITCHBOARD_AGENT_OF";
/// Tells what one process of an agent started from all else.
const RUN: &str = "SWITCHBOARD_AGENT_RUN";

/// The acp backend.
pub(super) struct AcpBackend(Arc<Settings>);

/// What holds for the agents of every session.
struct Settings {
    program: Program,
    acp: AcpConfig,
    approvals: ApprovalsConfig,
    home: PathBuf,
}

impl Settings {
    /// What a person calls the agent: by its name in the settings, else by its program.
    fn called(&self) -> &str {
        self.acp.section.agent().unwrap_or_else(|| self.program.called())
    }
}

impl AcpBackend {
    /// Reads `agent.acp`; the agent works in `home` where no folder is set.
    pub(super) fn new(config: &AgentConfig, keys: &Keys, home: &Path) -> Result<Self, BuildError> {
        let acp = config.acp.clone();
        let workdir = acp.workdir.clone().unwrap_or_else(|| home.to_path_buf());
        let program = Program::new(&acp.section, &acp.argv, workdir, &keys.variables)?;
        let (approvals, home) = (config.approvals.clone(), absolute(home));
        Ok(Self(Arc::new(Settings { program, acp, approvals, home })))
    }
}

impl Backend for AcpBackend {
    fn label(&self) -> String {
        format!("ACP agent {}", self.0.program.called())
    }

    fn steerable(&self) -> bool {
        false
    }

    fn keeps_handles(&self) -> bool {
        true
    }

    fn check(&self) -> BoxFuture<'_, Result<Found, AgentError>> {
        Box::pin(async {
            let connection = start(&self.0.program, self.0.called(), [])?;
            connection.let_work()?;
            let agent = Agent::greet(connection, &self.0.acp).await?;
            let found = format!("{} answers and speaks the Agent Client Protocol", agent.who);
            agent.connection.close(GOODBYE).await;
            Ok(Found::Good(found))
        })
    }

    fn end_leftovers(&self) -> usize {
        process::end_marked(&[format!("{HOME}={}", self.0.home.display())])
    }

    fn open<'a>(&'a self, session: &'a SessionContext) -> BoxFuture<'a, Result<Box<dyn Handle>, AgentError>> {
        let program = self.0.program.of_session(session);
        let folder = absolute(&program.workdir);
        let settings = Arc::clone(&self.0);
        let identity = identity(&self.0.acp.argv, &folder);
        let kept = session.agent_session.as_ref().filter(|kept| kept.agent == identity);
        let known = kept.cloned();
        let handle =
            AcpHandle { settings, program, folder, identity, context: session.clone(), known, live: None };
        Box::pin(async { Ok(Box::new(handle) as Box<dyn Handle>) })
    }
}

/// What tells agents apart: another program, or another folder, knows nothing of a session.
fn identity(argv: &[String], folder: &Path) -> String {
    json!({"argv": argv, "folder": folder}).to_string()
}

fn start(
    program: &Program,
    called: &str,
    variables: impl IntoIterator<Item = (&'static str, String)>,
) -> Result<Connection, AgentError> {
    let run = format!("{:016x}", fastrand::u64(..));
    let mark = format!("{RUN}={run}");
    let variables = variables.into_iter().chain([(RUN, run)]);
    let child = program.start(program.arguments.iter().map(OsString::from), variables)?;
    Ok(Connection::new(called, mark, child))
}

struct AcpHandle {
    settings: Arc<Settings>,
    program: Program,
    folder: PathBuf,
    identity: String,
    context: SessionContext,
    /// The session that the agent had.
    known: Option<AgentSession>,
    live: Option<Live>,
}

/// An agent in a session.
struct Live {
    agent: Agent,
    session: SessionId,
    memory: Memory,
    /// What it tells of its session's use.
    sums: Sums,
    /// What was denied in its last turn, with the reason: the answer to a question has no place for that.
    denied: Vec<String>,
}

impl Live {
    /// Begins its session anew.
    async fn begin_anew(
        &mut self,
        folder: &Path,
        settings: &AcpConfig,
        memory: Memory,
    ) -> Result<(), AgentError> {
        self.session = self.agent.new_session(folder, settings).await?;
        (self.memory, self.sums) = (memory, Sums::after(ToldUse::default()));
        self.denied.clear();
        Ok(())
    }

    /// The reasons of what was denied in words for the agent, once.
    fn tell_denied(&mut self) -> Option<String> {
        let denied = std::mem::take(&mut self.denied);
        let head = "What you asked for in your last turn and the operator denied, with the reason:";
        (!denied.is_empty()).then(|| format!("{head}\n{}", denied.join("\n")))
    }
}

/// What an agent remembers of the conversation.
enum Memory {
    /// Nothing: it has to be told.
    Nothing,
    /// Nothing either: it could not take up the session that it had before.
    Forgotten,
    /// What an earlier process of it kept.
    TakenUp,
    /// The same, by its word alone: it is told all the same.
    Claimed,
    /// All, up to this message.
    UpTo(String),
}

impl Memory {
    /// That a session begins anew, in words that follow the turn.
    fn begins_anew(&self) -> Option<&'static str> {
        match self {
            Self::Nothing => {
                Some("begins a new session of its agent, which is told the end of what was said before")
            }
            Self::Forgotten => Some(
                "begins a new session of its agent, which could not take up the one before and is told the \
                 end of what was said in it",
            ),
            Self::TakenUp | Self::Claimed | Self::UpTo(_) => None,
        }
    }
}

impl Handle for AcpHandle {
    fn run<'a>(
        &'a mut self,
        turn: Turn,
        output: mpsc::Sender<AgentEvent>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(self.run_turn(turn, output, cancel))
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Some(live) = self.live {
                live.agent.connection.close(GOODBYE).await;
            }
        })
    }
}

impl AcpHandle {
    async fn run_turn(
        &mut self,
        turn: Turn,
        output: mpsc::Sender<AgentEvent>,
        cancel: CancellationToken,
    ) -> Result<(), AgentError> {
        let mut live = unless_stopped(self.ready(&turn), &output, &cancel).await?;
        let mut ended = self.prompt(&mut live, &turn, &output, &cancel).await;
        if let (Memory::TakenUp | Memory::Claimed, Some(why)) = (&live.memory, refusal(&ended)) {
            tracing::info!(session = %live.session, "the agent does not know its session after all: {why}");
            let anew = live.begin_anew(&self.folder, &self.settings.acp, Memory::Forgotten);
            unless_stopped(anew, &output, &cancel).await?;
            ended = self.prompt(&mut live, &turn, &output, &cancel).await;
        }
        if let Some(odd) = live.agent.connection.odd_lines() {
            let _ = output.send(AgentEvent::Notice(odd)).await;
        }
        let used = live.sums.of_turn(ended.tokens(), ended.window);
        self.tell_session(&live, &output).await;
        if used != Usage::default() {
            let _ = output.send(AgentEvent::Usage(used)).await;
        }
        let whole = matches!(ended.how, How::Answered(_));
        live.denied = std::mem::take(&mut ended.denied);
        let result = self.judge(ended, &live.agent, &output).await;
        if whole {
            live.memory = Memory::UpTo(turn.message);
            self.live = Some(live);
        }
        result
    }

    /// The agent in its session, kept for the turn before it may go on.
    async fn ready(&mut self, turn: &Turn) -> Result<Live, AgentError> {
        let Some(mut live) = self.live.take() else { return self.begin(turn).await };
        if live.agent.connection.is_gone() {
            return Err(live.agent.connection.lost().await);
        }
        if let Err(refused) = keep(&live.agent.connection, turn).await {
            return Err(live.agent.connection.lost_or(refused).await);
        }
        if let Memory::UpTo(message) = &live.memory
            && !ends_with(&turn.history, message)
        {
            live.begin_anew(&self.folder, &self.settings.acp, Memory::Nothing).await?;
        }
        Ok(live)
    }

    /// Starts the agent, and takes its session up again where there was one that it knows.
    async fn begin(&self, turn: &Turn) -> Result<Live, AgentError> {
        let home = (HOME, self.settings.home.display().to_string());
        let place = process::place(&self.context.id, turn.id).into_iter().chain([home]);
        let connection = start(&self.program, self.settings.called(), place)?;
        keep(&connection, turn).await?;
        connection.let_work()?;
        let mut agent = Agent::greet(connection, &self.settings.acp).await?;
        agent.model.clone_from(&self.context.model);
        let mut memory = Memory::Nothing;
        if let Some(known) = &self.known {
            let session = SessionId::new(&*known.id);
            memory = match agent.take_up(&session, &self.folder, &self.settings.acp).await? {
                TakenUp::Known => Memory::TakenUp,
                TakenUp::AsItSays => Memory::Claimed,
                TakenUp::No => Memory::Forgotten,
            };
            if memory.begins_anew().is_none() {
                let sums = Sums::after(known.told);
                return Ok(Live { agent, session, memory, sums, denied: Vec::new() });
            }
        }
        let session = agent.new_session(&self.folder, &self.settings.acp).await?;
        Ok(Live { agent, session, memory, sums: Sums::after(ToldUse::default()), denied: Vec::new() })
    }

    async fn prompt(
        &mut self,
        live: &mut Live,
        turn: &Turn,
        output: &mpsc::Sender<AgentEvent>,
        cancel: &CancellationToken,
    ) -> Ended {
        let recap = match live.memory {
            Memory::Nothing | Memory::Forgotten | Memory::Claimed => {
                recap::of_all(&turn.history, turn.asked_by)
            }
            Memory::TakenUp => recap::of_the_end(&turn.history, turn.asked_by),
            Memory::UpTo(_) => None,
        };
        self.tell_session(live, output).await;
        if let Some(what) = live.memory.begins_anew().filter(|_| recap.is_some()) {
            let _ = output.send(AgentEvent::Notice(what.to_owned())).await;
        }
        let denied = live.tell_denied();
        let before = [recap.as_deref(), denied.as_deref()].into_iter().flatten();
        let texts: Vec<&str> = before.chain([turn.message.as_str()]).collect();
        let prompt = Prompt {
            connection: &mut live.agent.connection,
            settings: &self.settings,
            session: &live.session,
            identity: &self.identity,
            sums: &mut live.sums,
            folder: &self.folder,
            turn,
            output,
            cancel,
        };
        prompt.run(&texts).await
    }

    /// Tells the agent's own session, and what it has told of its use, for a later handle.
    async fn tell_session(&mut self, live: &Live, output: &mpsc::Sender<AgentEvent>) {
        let session = live.sums.kept_with(&self.identity, &live.session);
        self.known = Some(session.clone());
        let _ = output.send(AgentEvent::Session(session)).await;
    }

    async fn judge(
        &self,
        ended: Ended,
        agent: &Agent,
        output: &mpsc::Sender<AgentEvent>,
    ) -> Result<(), AgentError> {
        let name = self.settings.called();
        let acp = &self.settings.acp;
        match (ended.how, ended.stopped) {
            (How::Answered(Ok(told)), Some(Stop::Cancelled)) if told.stop == Ok(StopReason::EndTurn) => {
                Ok(())
            }
            (How::Answered(_) | How::Lost(_), Some(Stop::Cancelled)) => Err(AgentError::Cancelled),
            (How::Answered(_), Some(Stop::Silent(calls))) => {
                let how = format!("{} and was stopped", silent(acp, calls));
                Err(AgentError::Failed(agent.connection.with_last_words(&how)))
            }
            (How::Answered(Err(error)), None) => Err(agent.refused("the prompt", &error)),
            (How::Answered(Ok(told)), None) => match bad_stop(&told, ended.said) {
                None => Ok(()),
                Some(how) => Err(AgentError::Failed(agent.connection.with_last_words(&how))),
            },
            (How::NotObeyed, Some(Stop::Cancelled) | None) => {
                let grace = acp.kill_grace.as_secs_f64();
                let what = format!("is cut: {name} did not obey the stop within {grace} s and was killed");
                let _ = output.send(AgentEvent::Notice(what)).await;
                Err(AgentError::Cancelled)
            }
            (How::NotObeyed, Some(Stop::Silent(calls))) => {
                let how = format!("{}, did not obey a stop and was killed", silent(acp, calls));
                Err(AgentError::Broken(agent.connection.with_last_words(&how)))
            }
            (How::Lost(error), _) => Err(error),
        }
    }
}

/// That an agent sent nothing for as long as it may.
fn silent(settings: &AcpConfig, calls: Calls) -> String {
    let seconds = calls.patience(settings.silence_timeout).as_secs_f64();
    let setting = settings.section.setting("silence_timeout_seconds");
    match calls {
        Calls::None => format!("sent nothing for {seconds} s ({setting})"),
        Calls::Run => {
            format!(
                "sent nothing for {seconds} s while a tool of it ran ({PATIENCE_WITH_CALLS} times {setting})"
            )
        }
    }
}

/// Does what comes before a prompt, unless the turn is stopped.
async fn unless_stopped<T>(
    work: impl Future<Output = Result<T, AgentError>>,
    output: &mpsc::Sender<AgentEvent>,
    cancel: &CancellationToken,
) -> Result<T, AgentError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(AgentError::Cancelled),
        () = output.closed() => Err(AgentError::Cancelled),
        done = work => done,
    }
}

/// Has the agent's process kept as one that works for the turn.
async fn keep(connection: &Connection, turn: &Turn) -> Result<(), AgentError> {
    match connection.pid() {
        Some(pid) => turn.engine.children.keep(pid, connection.name()).await,
        None => Ok(()),
    }
}

/// Whether the agent, which knows all up to a message, knows the history: it does not after an undo.
fn ends_with(history: &[Step], message: &str) -> bool {
    let last = history.iter().rev().find_map(|step| match step {
        Step::User { text, .. } => Some(text),
        Step::Agent { .. } => None,
    });
    last.is_some_and(|last| last.ends_with(message))
}

/// Why an agent did not take a prompt at all, if it did not.
fn refusal(ended: &Ended) -> Option<String> {
    match (&ended.how, ended.said, ended.stopped) {
        (How::Answered(Err(error)), Said::Nothing, None) => Some(message::words(error)),
        (How::Answered(Ok(told)), Said::Nothing, None) => bad_stop(told, Said::Nothing),
        _ => None,
    }
}

/// What is wrong with the way in which a turn ended; none if it ended well.
fn bad_stop(told: &Answer, said: Said) -> Option<String> {
    let words = match (&told.stop, said) {
        (Ok(StopReason::EndTurn), Said::Something) => return None,
        (Ok(StopReason::EndTurn), Said::Nothing) => "ended its turn without a word",
        (Ok(StopReason::MaxTokens), _) => "was cut at the most tokens that its model may write",
        (Ok(StopReason::MaxTurnRequests), _) => "was cut at the most requests that it may make in a turn",
        (Ok(StopReason::Refusal), _) => "refuses to go on; it forgets this message",
        (Ok(StopReason::Cancelled), _) => "says that the turn was cancelled, which nobody did",
        (Err(own), _) if !own.is_empty() => {
            return Some(format!("ended its turn for a reason that is not known: {}", excerpt(own)));
        }
        (Ok(_) | Err(_), _) => "ended its turn without a reason",
    };
    Some(words.to_owned())
}
