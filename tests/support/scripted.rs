//! An agent that a test plays: each turn that begins is handed to the test, which speaks for it.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use switchboard::agent::{AgentError, AgentEvent, Backend, Handle, SessionContext, Turn};
use switchboard::domain::history::Step;
use switchboard::domain::id::{ItemId, SessionId};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

/// Whether the agent takes text while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steering {
    Takes,
    TakesNone,
}

/// The test's side.
pub struct Scripted {
    turns: Mutex<mpsc::UnboundedReceiver<Played>>,
}

/// A turn that the test speaks for.
pub struct Played {
    pub session: SessionId,
    pub message: String,
    pub history: Vec<Step>,
    output: mpsc::Sender<AgentEvent>,
    end: mpsc::UnboundedSender<Result<(), AgentError>>,
    cancel: CancellationToken,
    steer: mpsc::Receiver<(ItemId, String)>,
}

impl Scripted {
    /// Makes the agent and the backend that hands its turns over.
    pub fn new(steering: Steering) -> (Self, Arc<dyn Backend>) {
        let (begun, turns) = mpsc::unbounded_channel();
        (Self { turns: Mutex::new(turns) }, Arc::new(ScriptedBackend { begun, steering }))
    }

    /// The next turn that begins.
    pub async fn next_turn(&self) -> Played {
        self.turns.lock().await.recv().await.expect("the engine is gone")
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
        let _ = self.end.send(Ok(()));
    }

    /// Says something if anyone still listens.
    pub fn try_emit(&self, event: AgentEvent) {
        let _ = self.output.try_send(event);
    }

    /// Ends the turn with an answer if anyone still listens.
    pub fn finish(self) {
        self.try_emit(AgentEvent::Text("the answer".to_owned()));
        let _ = self.end.send(Ok(()));
    }

    /// Whether the engine has given the turn up.
    pub fn is_gone(&self) -> bool {
        self.output.is_closed()
    }

    /// Ends the turn with an error.
    pub fn fail(self, error: &str) {
        let _ = self.end.send(Err(AgentError::Failed(error.to_owned())));
    }

    /// Waits until the turn is told to stop, and obeys.
    pub async fn obey_stop(self) {
        self.cancel.cancelled().await;
        let _ = self.end.send(Err(AgentError::Cancelled));
    }

    /// Waits until the turn is told to stop, and does not care. Gives the turn back.
    pub async fn ignore_stop(self) -> Self {
        self.cancel.cancelled().await;
        self
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
    steering: Steering,
}

struct ScriptedHandle {
    session: SessionContext,
    begun: mpsc::UnboundedSender<Played>,
}

impl Backend for ScriptedBackend {
    fn label(&self) -> String {
        "scripted agent".to_owned()
    }

    fn steerable(&self) -> bool {
        self.steering == Steering::Takes
    }

    fn open<'a>(&'a self, session: &'a SessionContext) -> BoxFuture<'a, Result<Box<dyn Handle>, AgentError>> {
        let handle = ScriptedHandle { session: session.clone(), begun: self.begun.clone() };
        async move { Ok(Box::new(handle) as Box<dyn Handle>) }.boxed()
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
            message: turn.message,
            history: turn.history,
            output,
            end,
            cancel,
            steer: turn.steer,
        };
        let _ = self.begun.send(played);
        async move { ended.recv().await.unwrap_or(Err(AgentError::Cancelled)) }.boxed()
    }
}
