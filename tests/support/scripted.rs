//! An agent that a test plays: each turn that begins is handed to the test, which speaks for it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use switchboard::agent::{
    AgentError, AgentEvent, Approvals, Backend, BackgroundCalls, Children, Doing, Handle, Jobs, Limits,
    SessionContext, StepsKept, Turn,
};
use switchboard::domain::history::Step;
use switchboard::domain::id::{ItemId, SessionId};
use switchboard::domain::session::AgentSession;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

/// Whether the agent takes text while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steering {
    Takes,
    TakesNone,
}

/// Whether its handles are kept between turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    BetweenTurns,
    No,
}

/// The test's side.
pub struct Scripted {
    turns: Mutex<mpsc::UnboundedReceiver<Played>>,
    closed: Mutex<mpsc::UnboundedReceiver<usize>>,
    opening: Arc<Opening>,
}

/// What the test knows of the handles that are opened, and says to it.
#[derive(Default)]
struct Opening {
    opened: AtomicUsize,
    refusals: std::sync::Mutex<VecDeque<AgentError>>,
}

/// A turn that the test speaks for.
pub struct Played {
    pub session: SessionId,
    /// The model that its session asks for.
    pub model: Option<String>,
    /// The folder that its session names.
    pub workdir: Option<PathBuf>,
    /// The agent's own session that it is given back.
    pub agent_session: Option<AgentSession>,
    pub message: String,
    pub history: Vec<Step>,
    /// Which handle runs it, counted from 1 in the order they were opened.
    pub handle: usize,
    /// What it may use before a daily limit is reached.
    pub limits: Limits,
    /// Where the turn asks a person.
    pub approvals: Approvals,
    /// Where the turn asks for background processes.
    pub background: BackgroundCalls,
    /// Where its running tool shows what it writes.
    pub doing: Doing,
    /// Where it has scheduled tasks made.
    pub jobs: Jobs,
    /// Where it waits until what it has told is kept.
    pub kept: StepsKept,
    output: mpsc::Sender<AgentEvent>,
    end: mpsc::UnboundedSender<End>,
    cancel: CancellationToken,
    steer: mpsc::Receiver<(ItemId, String)>,
    children: Children,
}

/// How a turn ends.
enum End {
    With(Result<(), AgentError>),
    Panic,
}

impl Scripted {
    /// Makes the agent and the backend that hands its turns over.
    pub fn new(steering: Steering, keeping: Keeping) -> (Self, Arc<dyn Backend>) {
        let (begun, turns) = mpsc::unbounded_channel();
        let (closing, closed) = mpsc::unbounded_channel();
        let opening = Arc::new(Opening::default());
        let backend = ScriptedBackend { begun, closing, opening: Arc::clone(&opening), steering, keeping };
        (Self { turns: Mutex::new(turns), closed: Mutex::new(closed), opening }, Arc::new(backend))
    }

    /// The next turn that begins.
    pub async fn next_turn(&self) -> Played {
        self.turns.lock().await.recv().await.expect("the engine is gone")
    }

    /// How many handles were opened.
    pub fn opened(&self) -> usize {
        self.opening.opened.load(Ordering::SeqCst)
    }

    /// Lets the next handle that is asked for not be opened.
    pub fn refuse_to_open(&self, error: AgentError) {
        self.opening.refusals().push_back(error);
    }

    /// The next handle that is closed in order.
    pub async fn next_closed(&self) -> usize {
        self.closed.lock().await.recv().await.expect("the engine is gone")
    }

    /// The handle that was closed in order already, if one was.
    pub async fn closed_already(&self) -> Option<usize> {
        self.closed.lock().await.try_recv().ok()
    }

    /// The turn that has begun already, if one has.
    pub async fn turn_already_begun(&self) -> Option<Played> {
        self.turns.lock().await.try_recv().ok()
    }
}

impl Played {
    pub async fn say(&self, text: &str) {
        self.emit(AgentEvent::Text(text.to_owned())).await;
    }

    pub async fn emit(&self, event: AgentEvent) {
        self.output.send(event).await.expect("the turn is gone");
    }

    /// Ends the turn with an answer.
    pub async fn answer(self, text: &str) {
        self.say(text).await;
        let _ = self.end.send(End::With(Ok(())));
    }

    /// Says something if anyone still listens.
    pub fn try_emit(&self, event: AgentEvent) {
        let _ = self.output.try_send(event);
    }

    /// Ends the turn with an answer if anyone still listens.
    pub fn finish(self) {
        self.try_emit(AgentEvent::Text("the answer".to_owned()));
        let _ = self.end.send(End::With(Ok(())));
    }

    /// Whether the engine has given the turn up.
    pub fn is_gone(&self) -> bool {
        self.output.is_closed()
    }

    /// Ends the turn with an error.
    pub fn fail(self, error: &str) {
        let _ = self.end.send(End::With(Err(AgentError::Failed(error.to_owned()))));
    }

    /// Ends the turn because its handle is of no more use.
    pub fn break_off(self, why: &str) {
        let _ = self.end.send(End::With(Err(AgentError::Broken(why.to_owned()))));
    }

    /// Lets the backend panic in the middle of the turn.
    pub fn panic(self) {
        let _ = self.end.send(End::Panic);
    }

    /// Waits until the turn is told to stop, and obeys.
    pub async fn obey_stop(self) {
        self.cancel.cancelled().await;
        let _ = self.end.send(End::With(Err(AgentError::Cancelled)));
    }

    /// Waits until the turn is told to stop, and does not care. Gives the turn back.
    pub async fn ignore_stop(self) -> Self {
        self.cancel.cancelled().await;
        self
    }

    /// Has a process kept as one that works for the turn.
    pub async fn keeps(&self, pid: u32) {
        self.children.keep(pid, "scripted").await.expect("it was not kept");
    }

    /// Whether the engine has dropped the turn.
    pub async fn dropped(&self) {
        self.output.closed().await;
    }

    /// The next text for the running agent.
    pub async fn steered(&mut self) -> (ItemId, String) {
        self.steer.recv().await.expect("the turn is gone")
    }
}

struct ScriptedBackend {
    begun: mpsc::UnboundedSender<Played>,
    closing: mpsc::UnboundedSender<usize>,
    opening: Arc<Opening>,
    steering: Steering,
    keeping: Keeping,
}

struct ScriptedHandle {
    number: usize,
    session: SessionContext,
    begun: mpsc::UnboundedSender<Played>,
    closing: mpsc::UnboundedSender<usize>,
}

impl Opening {
    fn refusals(&self) -> std::sync::MutexGuard<'_, VecDeque<AgentError>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next handle.
    fn next(&self) -> Result<usize, AgentError> {
        match self.refusals().pop_front() {
            Some(error) => Err(error),
            None => Ok(self.opened.fetch_add(1, Ordering::SeqCst) + 1),
        }
    }
}

impl Backend for ScriptedBackend {
    fn label(&self) -> String {
        "scripted agent".to_owned()
    }

    fn steerable(&self) -> bool {
        self.steering == Steering::Takes
    }

    fn keeps_handles(&self) -> bool {
        self.keeping == Keeping::BetweenTurns
    }

    fn open<'a>(&'a self, session: &'a SessionContext) -> BoxFuture<'a, Result<Box<dyn Handle>, AgentError>> {
        async move {
            let handle = ScriptedHandle {
                number: self.opening.next()?,
                session: session.clone(),
                begun: self.begun.clone(),
                closing: self.closing.clone(),
            };
            Ok(Box::new(handle) as Box<dyn Handle>)
        }
        .boxed()
    }
}

impl Handle for ScriptedHandle {
    fn run<'a>(
        &'a mut self,
        turn: Turn,
        output: mpsc::Sender<AgentEvent>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<(), AgentError>> {
        let (end, mut ended) = mpsc::unbounded_channel();
        let played = Played {
            session: self.session.id.clone(),
            model: self.session.model.clone(),
            workdir: self.session.workdir.clone(),
            agent_session: self.session.agent_session.clone(),
            message: turn.message,
            history: turn.history,
            handle: self.number,
            limits: turn.engine.limits,
            approvals: turn.engine.approvals,
            background: turn.engine.background,
            doing: turn.engine.doing,
            jobs: turn.engine.jobs,
            kept: turn.engine.kept,
            output,
            end,
            cancel,
            steer: turn.engine.steer,
            children: turn.engine.children,
        };
        let _ = self.begun.send(played);
        async move {
            match ended.recv().await {
                Some(End::With(result)) => result,
                Some(End::Panic) => panic!("the backend panics, as the test told it to"),
                None => Err(AgentError::Cancelled),
            }
        }
        .boxed()
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        let _ = self.closing.send(self.number);
        async {}.boxed()
    }
}
