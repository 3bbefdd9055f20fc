//! One prompt, from its sending to its end: updates, questions, a stop, a silence.

use std::future::pending;
use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::Settings;
use super::connection::{Connection, Heard, Hearing};
use super::permission::{self, Request};
use super::schema::{
    self, AGENT_METHOD_NAMES, CancelNotification, Error, PromptRequest, PromptResponse, RequestId,
    RequestPermissionResponse, SessionId, SessionNotification, StopReason,
};
use super::session::{LATE, QUIET};
use super::sums::Sums;
use super::update::{Updates, is_of};
use crate::agent::{AgentError, AgentEvent, Turn};
use crate::domain::approval::{Decision, Verdict};
use crate::domain::session::Usage;
use crate::domain::spending::Millionths;

/// How a prompt ended.
pub(super) struct Ended {
    /// In which way.
    pub(super) how: How,
    /// Why the agent was told to stop, if it was.
    pub(super) stopped: Option<Stop>,
    /// Whether the agent said or did anything.
    pub(super) said: Said,
    /// How many tokens its window holds, where it says so.
    pub(super) window: Option<u64>,
    /// What was denied with a reason, in lines.
    pub(super) denied: Vec<String>,
}

impl Ended {
    /// The tokens that the agent tells behind the turn, where it does.
    pub(super) fn tokens(&self) -> Option<&schema::Usage> {
        match &self.how {
            How::Answered(Ok(told)) => told.usage.as_ref(),
            How::Answered(Err(_)) | How::NotObeyed | How::Lost(_) => None,
        }
    }
}

/// In which way a prompt ended.
pub(super) enum How {
    /// The agent answered it.
    Answered(Result<Answer, Error>),
    /// It was told to stop and did not answer within the grace.
    NotObeyed,
    /// Nothing more can come.
    Lost(AgentError),
}

/// What an agent answers to a prompt: a [`PromptResponse`], but for a reason of its own to stop.
pub(super) struct Answer {
    /// Why it ended the turn; a reason that is not known by its own word.
    pub(super) stop: Result<StopReason, String>,
    /// The tokens of the turn, or of its session so far, where it tells them.
    usage: Option<schema::Usage>,
}

impl Answer {
    fn read(mut told: Value) -> Self {
        // What nothing here reads may be missing.
        if let Some(usage) = told.get_mut("usage").and_then(Value::as_object_mut) {
            let total = usage.entry("totalTokens").or_insert_with(|| 0.into());
            if !total.is_u64() {
                *total = 0.into();
            }
        }
        match PromptResponse::deserialize(&told) {
            Ok(told) => Self { stop: Ok(told.stop_reason), usage: told.usage },
            Err(_) => {
                let field = |name: &str| told.get(name).cloned().unwrap_or_default();
                let reason = serde_json::from_value(field("stopReason")).unwrap_or_default();
                Self { stop: Err(reason), usage: serde_json::from_value(field("usage")).ok() }
            }
        }
    }
}

/// Why an agent was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The turn was cancelled.
    Cancelled,
    /// It sent nothing for too long.
    Silent(Calls),
}

/// Whether a call of the agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    Run,
    None,
}

/// So many times longer an agent may be silent while a call of it runs: what that does, it need not tell.
pub(super) const PATIENCE_WITH_CALLS: u32 = 10;

impl Calls {
    /// How long an agent may be silent that may be so for `limit` by itself.
    pub(super) fn patience(self, limit: Duration) -> Duration {
        match self {
            Self::Run => limit * PATIENCE_WITH_CALLS,
            Self::None => limit,
        }
    }
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
    pub(super) session: &'a SessionId,
    /// What tells the agent from others that keep sessions.
    pub(super) identity: &'a str,
    pub(super) sums: &'a mut Sums,
    pub(super) folder: &'a Path,
    pub(super) turn: &'a Turn,
    pub(super) output: &'a mpsc::Sender<AgentEvent>,
    pub(super) cancel: &'a CancellationToken,
}

/// A prompt that was sent.
struct Running<'a> {
    prompt: Prompt<'a>,
    asked: i64,
    updates: Updates,
    said: Said,
    /// Questions that a person has not answered.
    questions: FuturesUnordered<BoxFuture<'a, (Request, Decision)>>,
    /// The agent's numbers of them.
    waiting: Vec<RequestId>,
    last_heard: Instant,
    stopped: Option<(Stop, Instant)>,
    denied: Vec<String>,
}

impl<'a> Prompt<'a> {
    /// Sends the texts as one prompt and waits for its end.
    pub(super) async fn run(self, texts: &[&str]) -> Ended {
        let heard = self.connection.listen();
        let blocks = texts.iter().map(|text| (*text).into()).collect();
        let request = PromptRequest::new(self.session.clone(), blocks);
        let asked = match self.connection.request(AGENT_METHOD_NAMES.session_prompt, &request) {
            Ok(asked) => asked,
            Err(error) => {
                let how = How::Lost(error);
                return Ended { how, stopped: None, said: Said::Nothing, window: None, denied: Vec::new() };
            }
        };
        let updates = Updates::new(self.turn.engine.doing.clone(), self.turn.secrets.clone());
        let running = Running {
            prompt: self,
            asked,
            updates,
            said: Said::Nothing,
            questions: FuturesUnordered::new(),
            waiting: Vec::new(),
            last_heard: Instant::now(),
            stopped: None,
            denied: Vec::new(),
        };
        running.run(heard).await
    }
}

impl Running<'_> {
    async fn run(mut self, mut heard: Hearing) -> Ended {
        let how = loop {
            let (going_on, deadline) = (self.stopped.is_none(), self.deadline());
            let step = tokio::select! {
                biased;
                () = self.prompt.cancel.cancelled(), if going_on => self.stop(Stop::Cancelled),
                () = self.prompt.output.closed(), if going_on => self.stop(Stop::Cancelled),
                Some((request, decision)) = self.questions.next() => self.decided(&request, &decision),
                message = heard.recv() => match message {
                    None => break How::Lost(self.prompt.connection.lost().await),
                    Some(Heard::Reply { id, result }) if id == self.asked => break How::Answered(result.map(Answer::read)),
                    Some(message) => self.take(message).await,
                },
                () = until(deadline) => match self.stopped {
                    None => self.stop(Stop::Silent(self.updates.calls())),
                    Some(_) => break How::NotObeyed,
                },
            };
            if let Err(lost) = step {
                break How::Lost(lost);
            }
        };
        let latest = match (&how, self.stopped) {
            (How::Answered(Ok(_)), None) => LATE,
            _ => Duration::ZERO,
        };
        self.hear_late_words(heard, Instant::now() + latest).await;
        let announced = self.updates.announced();
        self.tell(announced).await;
        if let (How::Answered(Ok(_)), None) = (&how, self.stopped) {
            let ended = self.updates.end();
            self.tell(ended).await;
        }
        let (stopped, updates) = (self.stopped.map(|(why, _)| why), &self.updates);
        Ended { how, stopped, said: self.said, window: updates.window(), denied: self.denied }
    }

    /// Hears what comes a moment after the end: some agents answer a prompt before they have told all of it. It
    /// would be lost, or taken for words of the next turn. What was said before is heard in any case.
    async fn hear_late_words(&mut self, mut heard: Hearing, latest: Instant) {
        while Instant::now() < latest
            && let Ok(Some(late)) = timeout_at(latest.min(Instant::now() + QUIET), heard.recv()).await
        {
            self.late(late).await;
        }
        heard.close();
        while let Some(late) = heard.recv().await {
            self.late(late).await;
        }
    }

    async fn late(&mut self, late: Heard) {
        match late {
            Heard::Update(update) => self.update(*update).await,
            // Where the agent is gone, the next turn finds out.
            Heard::Permission { id, .. } => drop(self.prompt.connection.answer(id, permission::cancelled())),
            Heard::Reply { id, .. } => self.answers_nothing(id),
        }
    }

    /// When the agent's patience, or ours, is over; never while a person is asked.
    fn deadline(&self) -> Option<Instant> {
        match self.stopped {
            Some((_, deadline)) => Some(deadline),
            None if self.waiting.is_empty() => {
                let limit = self.prompt.settings.acp.silence_timeout;
                Some(self.last_heard + self.updates.calls().patience(limit))
            }
            None => None,
        }
    }

    /// Tells the agent to stop. What it asks is answered as cancelled, what it still says is heard.
    fn stop(&mut self, why: Stop) -> Result<(), AgentError> {
        self.stopped = Some((why, Instant::now() + self.prompt.settings.acp.kill_grace));
        let told = CancelNotification::new(self.prompt.session.clone());
        self.prompt.connection.notify(AGENT_METHOD_NAMES.session_cancel, &told)?;
        self.questions.clear();
        for id in std::mem::take(&mut self.waiting) {
            self.prompt.connection.answer(id, permission::cancelled())?;
        }
        Ok(())
    }

    async fn take(&mut self, message: Heard) -> Result<(), AgentError> {
        self.last_heard = Instant::now();
        match message {
            Heard::Reply { id, .. } => {
                self.answers_nothing(id);
                Ok(())
            }
            Heard::Update(update) => {
                self.update(*update).await;
                Ok(())
            }
            Heard::Permission { id, .. } if self.stopped.is_some() => {
                self.prompt.connection.answer(id, permission::cancelled())
            }
            Heard::Permission { id, asked } => {
                let (call, events) = self.updates.asked(asked.tool_call);
                self.tell(events).await;
                self.asks(Request::new(id, &call, asked.options, self.prompt.folder)).await
            }
        }
    }

    async fn update(&mut self, told: SessionNotification) {
        if !is_of(&told, self.prompt.session) {
            tracing::debug!(session = %told.session_id, "an update of another session");
            return;
        }
        let events = self.updates.take(told.update);
        self.tell(events).await;
        if let Some(sum) = self.updates.take_cost() {
            self.count_cost(sum).await;
        }
    }

    /// Tells what came to the cost of the agent's session, with the sum that it is counted by.
    async fn count_cost(&mut self, sum: Millionths) {
        let Prompt { sums, identity, session, .. } = &mut self.prompt;
        let (cost, counted) = (sums.cost(sum), sums.kept_with(identity, session));
        if cost > 0 {
            self.send(AgentEvent::Usage(Usage { cost, ..Usage::default() })).await;
            self.send(AgentEvent::Session(counted)).await;
        }
    }

    async fn tell(&mut self, events: Vec<AgentEvent>) {
        for event in events {
            self.said = Said::Something;
            self.send(event).await;
        }
    }

    /// Sends an event, however long that takes; a stop is passed on meanwhile.
    async fn send(&mut self, event: AgentEvent) {
        let (output, cancel) = (self.prompt.output, self.prompt.cancel);
        let mut sent = std::pin::pin!(output.send(event));
        if self.stopped.is_none() {
            tokio::select! {
                biased;
                // Where nobody listens any more, the turn is stopped.
                _ = &mut sent => return,
                () = cancel.cancelled() => {}
            }
            if let Err(error) = self.stop(Stop::Cancelled) {
                tracing::info!(%error, "an agent can't be told to stop");
            }
        }
        let _ = sent.await;
    }

    fn answers_nothing(&self, id: i64) {
        self.prompt.connection.note(&format!("answers {id}, which was not asked"));
    }

    /// Answers a request by the settings, or has a person asked.
    async fn asks(&mut self, request: Request) -> Result<(), AgentError> {
        if !request.can_be_allowed() {
            let what = format!(
                "was asked for permission without an option to allow it: {}",
                request.question.line()
            );
            self.send(AgentEvent::Notice(what)).await;
            return self.answer(&request, request.refused("no option allows it"));
        }
        match request.verdict(&self.prompt.settings.approvals) {
            Verdict::Run => self.answer(&request, request.allowed()),
            Verdict::Refuse => {
                let setting = self.prompt.settings.approvals.section.setting("acp");
                let why = format!("forbidden by the operator's settings ({setting})");
                self.answer(&request, request.refused(&why))
            }
            Verdict::Ask => {
                self.waiting.push(request.id.clone());
                let approvals = &self.prompt.turn.engine.approvals;
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
        if let Decision::Denied { why: Some(why) } = decision {
            self.denied.push(format!("{}: {why}", request.question.line()));
        }
        self.answer(request, request.decided(decision))
    }

    fn answer(&self, request: &Request, answer: RequestPermissionResponse) -> Result<(), AgentError> {
        self.prompt.connection.answer(request.id.clone(), answer)
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
