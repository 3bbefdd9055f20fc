//! The practice agent: built in, offline, deterministic. It is for the first minute and for tests,
//! and says so. It answers from the conversation, so that a reset can be seen, and obeys small
//! [`instructions`] that let an operator see every state of a turn.

mod instructions;
mod stage;
mod tools;

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::instructions::{Act, Instructions, KNOWN, Pace, Stops};
use self::stage::Stage;
use super::{
    AgentEnds, AgentError, AgentEvent, Approvals, Backend, BackgroundCalls, Doing, Handle, Jobs,
    SessionContext, Turn,
};
use crate::config::{AgentConfig, ApprovalsConfig};
use crate::domain::Time;
use crate::domain::event::excerpt;
use crate::domain::history::{Asker, Step};
use crate::domain::plan::{Plan, PlanStatus};
use crate::domain::session::{ContextUse, Usage};
use crate::domain::spending::{Spent, money};
use crate::domain::talk::{Covers, Shortened};

/// The practice agent.
#[derive(Debug)]
pub(super) struct Practice(Settings);

/// What the settings say of the two things that it really does.
#[derive(Debug, Clone)]
struct Settings {
    approvals: ApprovalsConfig,
    max_background: usize,
}

impl Practice {
    /// Reads `agent.approvals` and how many background processes a session may have.
    pub(super) fn new(config: &AgentConfig) -> Self {
        let (approvals, max_background) = (config.approvals.clone(), config.openai.max_background);
        Self(Settings { approvals, max_background })
    }
}

impl Backend for Practice {
    fn label(&self) -> String {
        "practice agent, offline".to_owned()
    }

    fn steerable(&self) -> bool {
        true
    }

    fn refuses_models(&self) -> Option<String> {
        Some("the practice agent has no models".to_owned())
    }

    fn keeps_handles(&self) -> bool {
        true
    }

    fn open<'a>(
        &'a self,
        _session: &'a SessionContext,
    ) -> BoxFuture<'a, Result<Box<dyn Handle>, AgentError>> {
        let handle = PracticeHandle(self.0.clone());
        Box::pin(async { Ok(Box::new(handle) as Box<dyn Handle>) })
    }
}

/// Keeps nothing: all that the agent knows is in the turn's history.
struct PracticeHandle(Settings);

impl Handle for PracticeHandle {
    fn run<'a>(
        &'a mut self,
        turn: Turn,
        output: mpsc::Sender<AgentEvent>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(play(self.0.clone(), turn, output, cancel))
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}

async fn play(
    settings: Settings,
    turn: Turn,
    output: mpsc::Sender<AgentEvent>,
    cancel: CancellationToken,
) -> Result<(), AgentError> {
    let mut told = told_before(&turn.history);
    let message = match turn.asked_by {
        Asker::Engine => told.pop().unwrap_or_default(),
        Asker::Person => turn.message,
    };
    let asked = instructions::read(&message);
    if let Some(Act::Fail) = asked.acts.first() {
        return Err(failure());
    }
    let AgentEnds { steer, kept, approvals, background, doing, jobs, children: _, limits: _ } = turn.engine;
    let scene = Scene {
        settings,
        asked_by: turn.asked_by,
        told,
        message,
        began_at: turn.began_at,
        started: Instant::now(),
        approvals,
        background,
        doing,
        jobs,
        steps: turn.history.len(),
    };
    let mut stage = Stage::new(output, cancel, steer, kept, asked.pace);
    stage.send(AgentEvent::Model("practice".to_owned())).await?;
    let played = scene.play(&asked, &mut stage).await;
    if played != Err(AgentError::Cancelled) {
        let input =
            scene.told.iter().map(|text| count_words(text)).sum::<u64>() + count_words(&scene.message);
        let usage = Usage { input, output: stage.words_out, ..Usage::default() };
        stage.send(AgentEvent::Usage(usage)).await?;
    }
    played
}

/// What the agent knows in one turn.
struct Scene {
    settings: Settings,
    asked_by: Asker,
    told: Vec<String>,
    /// What it works on. Where the engine asks, that is what was cut off, from its beginning.
    message: String,
    began_at: Time,
    started: Instant,
    approvals: Approvals,
    background: BackgroundCalls,
    doing: Doing,
    jobs: Jobs,
    /// How many steps were said before.
    steps: usize,
}

impl Scene {
    async fn play(&self, asked: &Instructions, stage: &mut Stage) -> Result<(), AgentError> {
        match self.asked_by {
            Asker::Engine => stage.say(&self.going_on()).await?,
            Asker::Person if says_only(asked) => {}
            Asker::Person => stage.say(&self.opening(asked)).await?,
        }
        stage.take_in_steering().await?;
        for (index, act) in asked.acts.iter().enumerate() {
            self.perform(index, act, stage).await?;
            stage.take_in_steering().await?;
        }
        Ok(())
    }

    /// What was cut off is named in one short line.
    fn going_on(&self) -> String {
        format!("I go on with what was cut off: \"{}\".\n", excerpt(&self.message))
    }

    /// Who speaks and what it knows; an ordinary message is echoed.
    fn opening(&self, asked: &Instructions) -> String {
        let mut text = String::new();
        if self.told.is_empty() {
            text.push_str("Hello. I am the practice agent: built in and offline, no model is behind me. ");
        }
        let _ = write!(text, "This is message {} in this memory. ", self.told.len() + 1);
        if asked.acts.is_empty() {
            let _ = write!(text, "You said: \"{}\". ", self.message);
            match self.told.last() {
                Some(last) => {
                    let _ = write!(text, "Before it you said: \"{}\".", first_line(last));
                }
                None => text.push_str("Say \"help\" for what I can show you."),
            }
        }
        text.push('\n');
        text
    }

    async fn perform(&self, index: usize, act: &Act, stage: &mut Stage) -> Result<(), AgentError> {
        match act {
            Act::Say(words) => stage.say(words).await,
            Act::Take(time) => take(*time, stage).await,
            Act::Think => {
                stage.think("I was asked to think. There is nothing to weigh, so I weigh it calmly.").await?;
                stage.say("I have thought about it.\n").await
            }
            Act::Plan => work_by_a_plan(stage).await,
            Act::Call(tool) => self.call(index, *tool, stage).await,
            Act::Run(time) => self.run_command(index, *time, stage).await,
            Act::AskToRun(command) => self.ask_to_run(index, command, stage).await,
            Act::Schedule => self.schedule(index, stage).await,
            Act::Background => self.start_in_background(index, stage).await,
            Act::Write(lines) => write_lines(*lines, stage).await,
            Act::Spend(spent) => spend(*spent, stage).await,
            Act::Fill(percent) => fill(*percent, stage).await,
            Act::Compact => self.compact(stage).await,
            Act::Retry => retry(stage).await,
            Act::Recall => stage.say(&self.recall()).await,
            Act::Help => stage.say(&help()).await,
            Act::Fail => Err(failure()),
            Act::Crash => {
                stage.say("I am about to cra").await?;
                Err(AgentError::Broken(
                    "the practice agent crashed in the middle of its answer, as it was asked to".to_owned(),
                ))
            }
            Act::Hang(Stops::Obeyed) => {
                stage.cancel.cancelled().await;
                Err(AgentError::Cancelled)
            }
            Act::Hang(Stops::Ignored) => std::future::pending().await,
        }
    }

    /// Shows what the built-in loop does when its window is full: a summary for all that was said before.
    async fn compact(&self, stage: &mut Stage) -> Result<(), AgentError> {
        const FULL: u64 = 7_200;
        const AFTER: u64 = 1_200;
        if self.steps == 0 {
            return stage.say("There is nothing to sum up: nothing was said before this.\n").await;
        }
        stage.send(in_window(FULL)).await?;
        let told =
            self.told.iter().map(|text| format!("\"{}\"", excerpt(text))).collect::<Vec<_>>().join(", ");
        let summary = format!("What I was told before: {told}.");
        let covers = Covers::Steps(self.steps);
        let shortened =
            Shortened { results: 0, summary: Some((covers, summary)), before: FULL, after: AFTER };
        stage.keep(AgentEvent::Shortened(shortened)).await?;
        stage.send(in_window(AFTER)).await?;
        stage
            .say("My window was nearly full: from here on I am sent a summary of what was said before.\n")
            .await
    }

    fn recall(&self) -> String {
        if self.told.is_empty() {
            return "You told me nothing before this in this memory.\n".to_owned();
        }
        let mut text = "Before this you told me:\n".to_owned();
        for (index, told) in self.told.iter().enumerate() {
            let _ = writeln!(text, "{}. {told}", index + 1);
        }
        text
    }
}

/// Tells before each step which one it is, and at the end that all are done.
async fn work_by_a_plan(stage: &mut Stage) -> Result<(), AgentError> {
    const STEPS: [&str; 3] = ["look round", "do the work", "check what was done"];
    const A_STEP: Duration = Duration::from_secs(3);
    for at in 0..=STEPS.len() {
        let status = |step: usize| match step.cmp(&at) {
            Ordering::Less => PlanStatus::Completed,
            Ordering::Equal => PlanStatus::InProgress,
            Ordering::Greater => PlanStatus::Pending,
        };
        let plan = Plan::of(STEPS.into_iter().enumerate().map(|(step, words)| (words, status(step))));
        stage.send(AgentEvent::Plan(plan)).await?;
        if let Some(step) = STEPS.get(at) {
            stage.say(&format!("Now I {step}.\n")).await?;
            stage.pause(A_STEP).await?;
            stage.take_in_steering().await?;
        }
    }
    stage.say("All steps are done.\n").await
}

async fn spend(spent: Spent, stage: &mut Stage) -> Result<(), AgentError> {
    let usage = Usage { input: spent.tokens, cost: spent.cost, ..Usage::default() };
    stage.send(AgentEvent::Usage(usage)).await?;
    let what = match spent.cost {
        0 => format!("{} tokens", spent.tokens),
        cost => money(cost),
    };
    stage.say(&format!("I say that I used {what}, and used nothing.\n")).await
}

async fn fill(percent: u32, stage: &mut Stage) -> Result<(), AgentError> {
    stage.send(in_window(WINDOW * u64::from(percent) / 100)).await?;
    stage.say(&format!("I say that {percent} % of a window of {WINDOW} tokens is full.\n")).await
}

/// The window of the model that is not there.
const WINDOW: u64 = 8_000;

fn in_window(tokens: u64) -> AgentEvent {
    AgentEvent::Context(ContextUse { tokens, window: Some(WINDOW) })
}

async fn retry(stage: &mut Stage) -> Result<(), AgentError> {
    const WAIT: Duration = Duration::from_secs(2);
    for attempt in 2..=3 {
        let why = "practice: no server is asked".to_owned();
        stage.send(AgentEvent::Retrying { attempt, wait: WAIT, why }).await?;
        stage.pause(WAIT).await?;
    }
    stage.say("The third try worked.\n").await
}

fn help() -> String {
    let known = KNOWN.iter().map(|(words, shows)| format!("- {words}: {shows}\n"));
    let known: String = known.collect();
    format!(
        "You can ask me for this, joined with commas or \"then\" (think, call a tool, then fail):\n{known}"
    )
}

async fn take(time: Duration, stage: &mut Stage) -> Result<(), AgentError> {
    const STEP: Duration = Duration::from_secs(1);
    let end = Instant::now() + time;
    stage.pour(format!("Working for {time:?}:")).await?;
    let mut step = 0;
    while Instant::now() < end {
        stage.pause(STEP.min(end - Instant::now())).await?;
        step += 1;
        stage.pour(format!(" {step}")).await?;
        stage.take_in_steering().await?;
    }
    stage.say(" done.\n").await
}

async fn write_lines(lines: u32, stage: &mut Stage) -> Result<(), AgentError> {
    let (lines_a_piece, time_a_piece) = match stage.pace {
        Pace::Normal => (64, Duration::ZERO),
        Pace::Slow => (1, Duration::from_millis(300)),
    };
    let mut piece = String::new();
    for line in 1..=lines {
        let _ = writeln!(piece, "line {line} of {lines}");
        if line % lines_a_piece == 0 || line == lines {
            stage.pour(std::mem::take(&mut piece)).await?;
            stage.pause(time_a_piece).await?;
            stage.take_in_steering().await?;
        }
    }
    Ok(())
}

/// Whether nothing is asked for but words, which are said without any around them.
fn says_only(asked: &Instructions) -> bool {
    !asked.acts.is_empty() && asked.acts.iter().all(|act| matches!(act, Act::Say(_)))
}

/// What people said; the engine's own words between it are none of theirs.
fn told_before(history: &[Step]) -> Vec<String> {
    let user = |step: &Step| match step {
        Step::User { text, by: Asker::Person } => Some(text.clone()),
        Step::User { .. } | Step::Agent { .. } => None,
    };
    history.iter().filter_map(user).collect()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn count_words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

fn failure() -> AgentError {
    AgentError::Failed("the practice agent failed, as it was asked to".to_owned())
}
