//! One run of a job: from its claim to its committed end and what is delivered.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Cron;
use super::delivery::{self, Outcome};
use super::guard::{Limits, look_after};
use super::output::{self, Report};
use super::preflight::{self, Ready};
use super::prompt::{self, Materials};
use super::runs::{Halt, LiveRun};
use super::turns::{self, Answered};
use crate::agent::{ScriptCall, ScriptError, run_script};
use crate::domain::Time;
use crate::domain::cron::{
    ClaimKey, Definition, Execution, ExecutionState, JobId, Telling, deliveries, is_silent, lets_agent_sleep,
};
use crate::domain::id::{RunId, SessionId, TurnId};
use crate::domain::queue::{Gate, check_text};
use crate::engine::background;
use crate::engine::shared::Shared;
use crate::failpoint;
use crate::store::{Claimed, ExecutionEnd, Held, StoreError};

/// So many earlier executions are looked at for the one that failed in the same way.
const EARLIER: usize = 10;

/// A run in the hands of its worker.
pub(super) struct Run<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) cron: &'a Cron,
    pub(super) live: &'a LiveRun,
    pub(super) job: Definition,
    pub(super) execution: Execution,
}

/// What came of a run's work.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) state: ExecutionState,
    pub(super) why: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) answer: Option<String>,
    pub(super) telling: Telling,
    pub(super) keeping: Keeping,
}

/// Whether a run leaves a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    Document,
    /// There is nothing to read: it would only push others out.
    Nothing,
}

/// What is left to do with a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// All of it.
    Everything,
    /// Its agent has answered, in an earlier engine: the answer is kept and delivered.
    Settling,
}

/// Runs what was claimed to its end.
pub(super) async fn run(shared: Arc<Shared>, claimed: Claimed, live: Arc<LiveRun>, left: Left) {
    let Claimed { execution, definition } = claimed;
    let mut run = Run { shared: &shared, cron: &shared.cron, live: &live, job: definition, execution };
    match left {
        Left::Everything => run.go().await,
        Left::Settling => run.settle().await,
    }
}

impl Run<'_> {
    async fn go(&mut self) {
        // What has not begun when the engine stops waits again at the next start.
        if self.shared.status().gate == Gate::Stopping {
            return;
        }
        let (key, at) = (self.live.key.clone(), self.shared.now());
        match self.shared.store.write(move |store| store.begin_execution(&key, at)).await {
            Ok(Held::Ours) => {}
            Ok(Held::Lost) => return,
            Err(error) => {
                return tracing::error!(execution = %self.execution.id, %error, "a run could not begin");
            }
        }
        self.execution.began_at = Some(at);
        failpoint::pass("run-begun");
        let limits = Limits::of(&self.job, self.cron.config.idle_timeout);
        let (shared, live) = (self.shared, self.live);
        let done = tokio::select! {
            done = self.work() => done,
            never = look_after(shared, live, limits) => match never {},
        };
        if let Some(done) = done {
            self.finish(done).await;
        }
    }

    /// Ends a run whose agent had answered before its engine died.
    async fn settle(&mut self) {
        let (Some(session), Some(turn)) = (self.execution.session.clone(), self.execution.turn) else {
            return self.finish(Done::of(ExecutionState::Unknown, "its turn is not known")).await;
        };
        let done = self.answered(&session, turn, None).await;
        self.finish(done).await;
    }

    /// None if nothing of it counts any more.
    async fn work(&mut self) -> Option<Done> {
        let ready = match self.look().await {
            Ok(ready) => ready,
            Err(why) => return Some(self.blocked(why).await),
        };
        let mut materials = Materials { skills: ready.skills, ..Materials::default() };
        if let Some(script) = ready.script {
            self.cron.runs.script_begins(self.live);
            let ended = self.script(script).await;
            self.cron.runs.script_ended(self.live);
            match ended {
                Ok(output) if self.job.no_agent => return Some(Done::without_agent(output)),
                Ok(output) if lets_agent_sleep(&output) => return Some(Done::asleep()),
                Ok(output) => materials.script = Some(output),
                Err(error) => return self.script_failed(error),
            }
        }
        materials.context = self.context().await;
        let prompt = prompt::write(&self.job, &materials);
        if let Err(refusal) = check_text(&prompt) {
            return Some(self.blocked(format!("its prompt can't be given to the agent: {refusal}")).await);
        }
        if let Some(halt) = self.live.halted() {
            return Done::halted(halt, None);
        }
        self.agent(prompt).await
    }

    async fn look(&self) -> Result<Ready, String> {
        let (home, job, agents) = (self.cron.home.clone(), self.job.clone(), self.shared.agents.roster());
        let looked = tokio::task::spawn_blocking(move || preflight::check(&home, &agents, &job)).await;
        let looked = looked.map_err(|error| format!("what it needs could not be looked at: {error}"))?;
        looked.map_err(|fault| fault.to_string())
    }

    /// A job that can't be run is told once, until it runs or lacks something else.
    async fn blocked(&self, why: String) -> Done {
        let telling = match self.was_blocked_so(&why).await {
            true => Telling::Suppress("told before: nothing has changed since"),
            false => Telling::Deliver,
        };
        Done { telling, ..Done::of(ExecutionState::BlockedConfig, why) }
    }

    async fn was_blocked_so(&self, why: &str) -> bool {
        let (job, before) = (self.execution.job.clone(), self.execution.id);
        let earlier = self
            .shared
            .store
            .read(move |queries| queries.executions(Some(&job), Some(before), EARLIER))
            .await;
        let ran = |execution: &&Execution| execution.began_at.is_some() && execution.state.is_over();
        earlier.is_ok_and(|earlier| {
            earlier.iter().find(ran).is_some_and(|last| {
                last.state == ExecutionState::BlockedConfig && last.why.as_deref() == Some(why)
            })
        })
    }

    async fn script(&self, program: PathBuf) -> Result<String, ScriptError> {
        let workdir = self.job.workdir.as_ref().map_or(self.cron.home.root().to_owned(), PathBuf::from);
        let call = ScriptCall {
            program,
            workdir,
            variables: self.cron.marks(&self.execution),
            keys: self.shared.settings.keys.clone(),
            limit: self.cron.config.script_timeout,
        };
        let stop = CancellationToken::new();
        let halt = async {
            self.live.until_halted().await;
            stop.cancel();
            std::future::pending().await
        };
        tokio::select! {
            ran = run_script(&call, || self.live.note_progress(), &stop) => ran.map(|output| output.0),
            never = halt => never,
        }
    }

    fn script_failed(&self, error: ScriptError) -> Option<Done> {
        if let (ScriptError::Stopped, Some(halt)) = (&error, self.live.halted()) {
            return Done::halted(halt, None);
        }
        let state = match &error {
            ScriptError::TooSlow { .. } => ExecutionState::TimedOut,
            _ => ExecutionState::Failed,
        };
        let why = error.to_string();
        let answer = match error {
            ScriptError::Failed { output, .. } if !output.trim().is_empty() => Some(output),
            _ => None,
        };
        Some(Done { answer, ..Done::of(state, why) })
    }

    /// What the jobs said last that the prompt is to have.
    async fn context(&self) -> Vec<(JobId, Option<String>)> {
        let wanted = self.job.context_from.clone();
        if wanted.is_empty() {
            return Vec::new();
        }
        let of = wanted.clone();
        let newest = self.shared.store.read(move |queries| queries.newest_outputs(&of)).await;
        let newest = newest.unwrap_or_else(|error| {
            tracing::warn!(execution = %self.execution.id, %error, "outputs of other jobs could not be found");
            Vec::new()
        });
        let home = self.cron.home.clone();
        let read = move || {
            let of = |job: &JobId| {
                let (_, path) = newest.iter().find(|(of, _)| of == job)?;
                let document = output::read(&home, path).ok()??;
                output::answer_of(&document).map(str::to_owned)
            };
            wanted.into_iter().map(|job| (of(&job), job)).map(|(said, job)| (job, said)).collect()
        };
        tokio::task::spawn_blocking(read).await.unwrap_or_default()
    }

    async fn agent(&mut self, prompt: String) -> Option<Done> {
        let begun = match turns::begin(self, &prompt).await {
            Ok(Some(begun)) => begun,
            Ok(None) => return None,
            Err(StoreError::Refused(refusal)) if self.shared.status().gate != Gate::Open => {
                self.live.halt(Halt::Shutdown);
                let why = format!("the engine stopped before its agent began: {refusal}");
                return Some(Done { prompt: Some(prompt), ..Done::of(ExecutionState::Interrupted, why) });
            }
            Err(error) => {
                let why = format!("its agent could not begin: {error}");
                return Some(Done { prompt: Some(prompt), ..Done::of(ExecutionState::Failed, why) });
            }
        };
        failpoint::pass("run-turn-begun");
        self.execution.session = Some(begun.session.clone());
        self.execution.turn = Some(begun.turn);
        self.live.note_progress();
        self.live.works_in(begun.turn);
        turns::wait(self, &begun).await;
        if self.live.halted() == Some(Halt::Lost) {
            return None;
        }
        Some(self.answered(&begun.session, begun.turn, Some(prompt)).await)
    }

    async fn answered(&self, session: &SessionId, turn: TurnId, prompt: Option<String>) -> Done {
        match turns::read(self.shared, session, turn).await {
            Ok(Answered { state, why, asked, said }) => {
                let why = match (self.live.halted(), state) {
                    (Some(Halt::TimedOut(words)), ExecutionState::TimedOut) => Some(words),
                    _ => why,
                };
                let silent = state == ExecutionState::Succeeded && said.as_deref().is_some_and(is_silent);
                let telling = match (silent, state) {
                    (true, _) => Telling::Suppress("the run said that nobody needs to hear of it"),
                    _ => Telling::Deliver,
                };
                let prompt = prompt.or(asked);
                Done { state, why, prompt, answer: said, telling, keeping: Keeping::Document }
            }
            Err(error) => {
                let why = format!("its answer could not be read: {error}");
                Done { prompt, ..Done::of(ExecutionState::Unknown, why) }
            }
        }
    }

    /// Keeps the document, ends the execution, delivers. However long the store takes: until then the run
    /// is not over.
    async fn finish(&mut self, done: Done) {
        let at = self.shared.now();
        let document = self.document(&done, at).await;
        failpoint::pass("run-output-written");
        let told = document.as_deref().map_err(String::as_str);
        let deliveries = deliveries(&self.job.deliver_to, &done.telling, told, at);
        let end = ExecutionEnd {
            claim: self.live.key.clone(),
            state: done.state,
            why: done.why.clone(),
            output: document.as_ref().ok().cloned(),
            deliveries: deliveries.clone(),
            cut_with: self.cut_with(&done),
            at,
        };
        if self.end(end).await == Held::Ours {
            failpoint::pass("run-ended");
            let outcome = Outcome {
                job: self.execution.job.clone(),
                execution: self.execution.id,
                text: delivery::told(done.state, done.answer.as_deref(), done.why.as_deref()),
                document: document.ok(),
            };
            delivery::deliver(self.shared, &outcome, &deliveries).await;
            failpoint::pass("run-delivered");
        }
        if let Some(session) = &self.execution.session {
            // Its next run may want another folder or model.
            self.shared.handles.forget(session);
        }
    }

    /// The engine's run, where that cut this run off.
    fn cut_with(&self, done: &Done) -> Option<RunId> {
        let cut = done.state == ExecutionState::Interrupted && self.live.halted() == Some(Halt::Shutdown);
        cut.then(|| self.cron.owner.run.clone())
    }

    async fn document(&self, done: &Done, at: Time) -> Result<String, String> {
        if done.keeping == Keeping::Nothing {
            return Err("there was nothing to keep".to_owned());
        }
        let (home, keep) = (self.cron.home.clone(), self.cron.config.keep_outputs);
        let (execution, began) = (self.execution.clone(), self.execution.began_at.unwrap_or(at));
        let name = self.job.name.clone().unwrap_or_else(|| self.job.id.to_string());
        let ends = self.ends_with_it().await;
        let Done { state, why, prompt, answer, .. } = done;
        let (state, why, prompt, answer) = (*state, why.clone(), prompt.clone(), answer.clone());
        let write = move || {
            let report = Report {
                execution: &execution,
                name: &name,
                state,
                began,
                ended: at,
                prompt: prompt.as_deref(),
                answer: answer.as_deref(),
                why: why.as_deref(),
                ends: &ends,
            };
            output::write(&home, &report, keep)
        };
        let written = tokio::task::spawn_blocking(write).await;
        let kept =
            written.map_err(|error| error.to_string()).and_then(|kept| kept.map_err(|e| e.to_string()));
        kept.map_err(|error| {
            tracing::error!(execution = %self.execution.id, error, "the output document was not written");
            format!("the output document could not be written: {error}")
        })
    }

    /// The background processes that live in its session: its end ends them.
    async fn ends_with_it(&self) -> Vec<String> {
        let Some(session) = self.execution.session.clone() else { return Vec::new() };
        background::live_of(self.shared, &session).await.unwrap_or_else(|error| {
            tracing::warn!(execution = %self.execution.id, %error, "what ends with a run could not be read");
            vec![format!("not known: {error}")]
        })
    }

    async fn end(&self, end: ExecutionEnd) -> Held {
        let mut pause = Duration::from_millis(250);
        loop {
            let end = end.clone();
            match self.shared.store.write(move |store| store.end_execution(&end)).await {
                Ok(held) => return held,
                Err(StoreError::Closed) => return Held::Lost,
                Err(error) => {
                    tracing::error!(execution = %self.execution.id, %error, "the end of a run is not kept yet");
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(30));
        }
    }

    /// The claim that every write of this run carries.
    pub(super) fn key(&self) -> ClaimKey {
        self.live.key.clone()
    }
}

impl Done {
    fn of(state: ExecutionState, why: impl Into<String>) -> Self {
        Self {
            state,
            why: Some(why.into()),
            prompt: None,
            answer: None,
            telling: Telling::Deliver,
            keeping: Keeping::Document,
        }
    }

    fn succeeded() -> Self {
        Self { why: None, ..Self::of(ExecutionState::Succeeded, "") }
    }

    /// A script's output is the result as it is; no output is nothing to tell.
    fn without_agent(output: String) -> Self {
        match output.trim() {
            "" => Self {
                telling: Telling::Suppress("the script wrote nothing"),
                keeping: Keeping::Nothing,
                ..Self::succeeded()
            },
            _ if is_silent(&output) => Self {
                telling: Telling::Suppress("the run said that nobody needs to hear of it"),
                answer: Some(output),
                ..Self::succeeded()
            },
            _ => Self { answer: Some(output), ..Self::succeeded() },
        }
    }

    fn asleep() -> Self {
        let telling = Telling::Suppress("the script let the agent sleep");
        Self { telling, keeping: Keeping::Nothing, ..Self::succeeded() }
    }

    /// None for a run of which nothing counts any more.
    fn halted(halt: Halt, prompt: Option<String>) -> Option<Self> {
        let done = match halt {
            Halt::Operator => Self {
                telling: Telling::Suppress("the operator stopped it"),
                ..Self::of(ExecutionState::Interrupted, "stopped by the operator")
            },
            Halt::Replaced => Self {
                telling: Telling::Suppress("a newer run took its place"),
                ..Self::of(ExecutionState::Interrupted, "a newer run of the job took its place")
            },
            Halt::TimedOut(why) => Self::of(ExecutionState::TimedOut, why),
            Halt::Shutdown => Self::of(ExecutionState::Interrupted, "cut when the engine stopped"),
            Halt::Lost => return None,
        };
        Some(Self { prompt, ..done })
    }
}
