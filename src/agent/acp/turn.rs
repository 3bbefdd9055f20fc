//! One prompt, from its sending to its end: updates, questions, a stop, a silence.

use std::future::pending;
use std::path::Path;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Settings;
use super::connection::{Connection, Heard};
use super::message::{self, Fault};
use super::permission::{self, Request};
use super::update::{Updates, text};
use crate::agent::{AgentError, AgentEvent, Approvals};
use crate::domain::approval::{Decision, Verdict};
use crate::domain::spending::Millionths;

/// How a prompt ended.
pub(super) struct Ended {
    /// In which way.
    pub(super) how: How,
    /// Why the agent was told to stop, if it was.
    pub(super) stopped: Option<Stop>,
    /// Whether the agent said or did anything.
    pub(super) said: Said,
    /// What the agent's session has cost so far, where it says so.
    pub(super) cost: Option<Millionths>,
}

/// In which way a prompt ended.
pub(super) enum How {
    /// The agent answered it.
    Answered(Result<Value, Fault>),
    /// It was told to stop and did not answer within the grace.
    NotObeyed,
    /// Nothing more can come.
    Lost(AgentError),
}

/// Why an agent was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The turn was cancelled.
    Cancelled,
    /// It sent nothing for too long.
    Silent,
}

/// Whether an agent said or did anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Something,
    Nothing,
}

/// What a prompt needs besides its text.
pub(super) struct Prompt<'a> {
    pub(super) connection: &'a mut Connection,
    pub(super) settings: &'a Settings,
    /// The agent's own id of the session.
    pub(super) session: &'a str,
    pub(super) folder: &'a Path,
    pub(super) approvals: &'a Approvals,
    pub(super) output: &'a mpsc::Sender<AgentEvent>,
    pub(super) cancel: &'a CancellationToken,
}

/// A prompt that was sent.
struct Running<'a> {
    prompt: Prompt<'a>,
    asked: u64,
    updates: Updates,
    said: Said,
    /// Questions that a person has not answered.
    questions: FuturesUnordered<BoxFuture<'a, (Request, Decision)>>,
    /// The agent's numbers of them.
    waiting: Vec<Value>,
    last_heard: Instant,
    stopped: Option<(Stop, Instant)>,
}

impl<'a> Prompt<'a> {
    /// Sends the texts as one prompt and waits for its end.
    pub(super) async fn run(self, texts: &[&str]) -> Ended {
        let blocks: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        let heard = self.connection.listen();
        let params = json!({"sessionId": self.session, "prompt": blocks});
        let asked = match self.connection.request("session/prompt", params) {
            Ok(asked) => asked,
            Err(error) => {
                return Ended { how: How::Lost(error), stopped: None, said: Said::Nothing, cost: None };
            }
        };
        let running = Running {
            prompt: self,
            asked,
            updates: Updates::default(),
            said: Said::Nothing,
            questions: FuturesUnordered::new(),
            waiting: Vec::new(),
            last_heard: Instant::now(),
            stopped: None,
        };
        running.run(heard).await
    }
}

impl Running<'_> {
    async fn run(mut self, mut heard: mpsc::Receiver<Heard>) -> Ended {
        let how = loop {
            let (going_on, deadline) = (self.stopped.is_none(), self.deadline());
            let step = tokio::select! {
                biased;
                () = self.prompt.cancel.cancelled(), if going_on => self.stop(Stop::Cancelled),
                () = self.prompt.output.closed(), if going_on => self.stop(Stop::Cancelled),
                Some((request, decision)) = self.questions.next() => self.decided(&request, &decision),
                message = heard.recv() => match message {
                    None => break How::Lost(self.prompt.connection.lost().await),
                    Some(Heard::Reply { id, result }) if id == self.asked => break How::Answered(result),
                    Some(message) => self.take(message).await,
                },
                () = until(deadline) => match self.stopped {
                    None => self.stop(Stop::Silent),
                    Some(_) => break How::NotObeyed,
                },
            };
            if let Err(lost) = step {
                break How::Lost(lost);
            }
        };
        let rest = self.updates.rest();
        self.tell(rest).await;
        let (stopped, cost) = (self.stopped.map(|(why, _)| why), self.updates.cost());
        Ended { how, stopped, said: self.said, cost }
    }

    /// When the agent's patience, or ours, is over; never while a person is asked.
    fn deadline(&self) -> Option<Instant> {
        match self.stopped {
            Some((_, deadline)) => Some(deadline),
            None if self.waiting.is_empty() => {
                Some(self.last_heard + self.prompt.settings.acp.silence_timeout)
            }
            None => None,
        }
    }

    /// Tells the agent to stop. What it asks is answered as cancelled, what it still says is heard.
    fn stop(&mut self, why: Stop) -> Result<(), AgentError> {
        self.stopped = Some((why, Instant::now() + self.prompt.settings.acp.kill_grace));
        let params = json!({"sessionId": self.prompt.session});
        self.prompt.connection.send(message::notification("session/cancel", params))?;
        self.questions.clear();
        for id in std::mem::take(&mut self.waiting) {
            self.prompt.connection.send(message::reply(id, permission::cancelled()))?;
        }
        Ok(())
    }

    async fn take(&mut self, message: Heard) -> Result<(), AgentError> {
        self.last_heard = Instant::now();
        match message {
            Heard::Reply { id, .. } => {
                tracing::info!(id, "an answer to what was not asked");
                Ok(())
            }
            Heard::Update(params) => {
                self.update(&params).await;
                Ok(())
            }
            Heard::Permission { id, .. } if self.stopped.is_some() => {
                self.prompt.connection.send(message::reply(id, permission::cancelled()))
            }
            Heard::Permission { id, params } => {
                let events = self.updates.asked(params.get("toolCall").unwrap_or(&Value::Null));
                self.tell(events).await;
                let request = Request::read(id, &params, self.prompt.folder);
                self.asks(request).await
            }
        }
    }

    async fn update(&mut self, params: &Value) {
        let session = text(params, "sessionId");
        if session != self.prompt.session && !session.is_empty() {
            tracing::debug!(session, "an update of another session");
            return;
        }
        let events = self.updates.take(params.get("update").unwrap_or(&Value::Null));
        self.tell(events).await;
    }

    async fn tell(&mut self, events: Vec<AgentEvent>) {
        for event in events {
            self.said = Said::Something;
            // Where nobody listens any more, the turn is stopped.
            let _ = self.prompt.output.send(event).await;
        }
    }

    /// Answers a request by the settings, or has a person asked.
    async fn asks(&mut self, request: Request) -> Result<(), AgentError> {
        if !request.can_be_allowed() {
            let what = format!(
                "was asked for permission without an option to allow it: {}",
                request.question.line()
            );
            let _ = self.prompt.output.send(AgentEvent::Notice(what)).await;
            return self.answer(&request, request.refused("no option allows it"));
        }
        match request.verdict(&self.prompt.settings.approvals) {
            Verdict::Run => self.answer(&request, request.allowed()),
            Verdict::Refuse => {
                let why = "forbidden by the operator's settings (agent.approvals.acp)";
                self.answer(&request, request.refused(why))
            }
            Verdict::Ask => {
                self.waiting.push(request.id.clone());
                let approvals = self.prompt.approvals;
                self.questions.push(Box::pin(async move {
                    let decision = approvals.ask(request.question.clone()).await;
                    (request, decision)
                }));
                Ok(())
            }
        }
    }

    fn decided(&mut self, request: &Request, decision: &Decision) -> Result<(), AgentError> {
        self.waiting.retain(|id| *id != request.id);
        self.last_heard = Instant::now();
        self.answer(request, request.decided(decision))
    }

    fn answer(&self, request: &Request, answer: Value) -> Result<(), AgentError> {
        self.prompt.connection.send(message::reply(request.id.clone(), answer))
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
