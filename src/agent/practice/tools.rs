//! The practice agent's tools. But for a sleep in the background and a scheduled task that a person allowed, they do nothing.

use std::time::Duration;

use serde_json::json;

use super::instructions::Tool;
use super::stage::Stage;
use super::{Scene, count_words};
use crate::agent::AgentError;
use crate::agent::background::BackgroundCall;
use crate::config::ToolName;
use crate::domain::approval::{Always, Decision, Question, Verdict, forbidden, verdict};
use crate::domain::cron::{Definition, JobId};

const NOWHERE: &str = "nowhere: the practice agent runs nothing";

impl Scene {
    pub(super) async fn call(&self, index: usize, tool: Tool, stage: &mut Stage) -> Result<(), AgentError> {
        let (name, arguments) = match tool {
            Tool::CountWords => ("count_words", json!({ "text": self.message })),
            Tool::Clock => ("clock", json!({ "zone": "UTC" })),
            Tool::Broken => ("broken", json!({})),
        };
        let call = stage.begin_call(index, name, &arguments).await?;
        stage.pause(Duration::from_millis(300)).await?;
        let result = match tool {
            Tool::CountWords => count_words(&self.message).to_string(),
            Tool::Clock => (self.began_at + self.started.elapsed()).format("%Y-%m-%d %H:%M:%S").to_string(),
            Tool::Broken => "it is broken, as it was asked to be".to_owned(),
        };
        stage.end_call(call, tool != Tool::Broken, result.clone()).await?;
        stage.say(&format!("The tool {name} says: {result}.\n")).await
    }

    /// Shows a command that writes while it runs, but for running it.
    pub(super) async fn run_command(
        &self,
        index: usize,
        time: Duration,
        stage: &mut Stage,
    ) -> Result<(), AgentError> {
        let seconds = time.as_secs().max(1);
        let command = format!("count to {seconds} (practice: nothing is run)");
        let call = stage.begin_call(index, "terminal", &json!({ "command": command })).await?;
        let mut output = String::new();
        for second in 1..=seconds {
            let line = format!("{second} of {seconds}\n");
            self.doing.write(&line);
            output.push_str(&line);
            stage.pause(Duration::from_secs(1)).await?;
        }
        self.doing.clear();
        stage.end_call(call, true, output).await?;
        stage.say("The command has ended.\n").await
    }

    /// Shows what a real agent does with `terminal`, but for running anything.
    pub(super) async fn ask_to_run(
        &self,
        index: usize,
        command: &str,
        stage: &mut Stage,
    ) -> Result<(), AgentError> {
        let call = stage.begin_call(index, "terminal", &json!({ "command": command })).await?;
        let (what, always) = (command.to_owned(), Always::of(command));
        let question = Question { tool: "terminal".to_owned(), what, folder: NOWHERE.to_owned(), always };
        let (ok, output) = match self.ask(question, stage).await?.refusal() {
            None => (true, "allowed; the practice agent runs nothing".to_owned()),
            Some(refusal) => (false, refusal),
        };
        stage.end_call(call, ok, output.clone()).await?;
        stage.say(&format!("I asked to run a command: {output}.\n")).await
    }

    /// Has a task made that runs once, after a person's word.
    pub(super) async fn schedule(&self, index: usize, stage: &mut Stage) -> Result<(), AgentError> {
        const WHEN: &str = "in 10m";
        const PROMPT: &str = "say This was scheduled by the practice agent.";
        let call =
            stage.begin_call(index, "schedule_task", &json!({ "schedule": WHEN, "prompt": PROMPT })).await?;
        let question = Question {
            tool: "schedule_task".to_owned(),
            what: format!("schedule: {WHEN}\nprompt: {PROMPT}"),
            folder: NOWHERE.to_owned(),
            always: Always::NotOffered { why: "each task is asked about".to_owned() },
        };
        let made = match self.refusal(ToolName::ScheduleTask, question, stage).await? {
            None => {
                let id = JobId::from_words("practice", |_| false);
                let task =
                    Definition { prompt: Some(PROMPT.to_owned()), ..Definition::new(id, WHEN.to_owned()) };
                self.jobs.ask(task).await
            }
            Some(refusal) => Err(refusal),
        };
        let (ok, output) = told(made);
        stage.end_call(call, ok, output.clone()).await?;
        stage.say(&format!("I asked for a scheduled task: {output}\n")).await
    }

    /// The one thing that it really runs, and that does nothing.
    pub(super) async fn start_in_background(
        &self,
        index: usize,
        stage: &mut Stage,
    ) -> Result<(), AgentError> {
        const SLEEP: &str = "sleep 600";
        let arguments = json!({ "command": SLEEP, "background": true });
        let call = stage.begin_call(index, "terminal", &arguments).await?;
        let (command, folder) = (SLEEP.to_owned(), std::env::temp_dir());
        let question = Question {
            tool: "terminal in the background, beyond this turn".to_owned(),
            what: command.clone(),
            folder: folder.display().to_string(),
            always: Always::of(SLEEP),
        };
        let began = match self.refusal(ToolName::Terminal, question, stage).await? {
            None => {
                let most = self.settings.max_background;
                self.background.ask(BackgroundCall::Start { command, folder, most }).await
            }
            Some(refusal) => Err(refusal),
        };
        let (ok, output) = told(began);
        stage.end_call(call, ok, output.clone()).await?;
        stage.say(&format!("I asked for a command in the background: {output}\n")).await
    }

    /// Why a call may not be carried out, by the settings or else by a person; none where it may.
    async fn refusal(
        &self,
        tool: ToolName,
        question: Question,
        stage: &Stage,
    ) -> Result<Option<String>, AgentError> {
        let approvals = &self.settings.approvals;
        let command = (tool == ToolName::Terminal).then_some(question.what.as_str());
        Ok(match verdict(approvals.of(tool), command, &approvals.allow) {
            Verdict::Run => None,
            Verdict::Ask => self.ask(question, stage).await?.refusal(),
            Verdict::Refuse => {
                let tool = tool.word();
                let setting = approvals.section.setting(tool);
                Some(forbidden(tool, &setting))
            }
        })
    }

    async fn ask(&self, question: Question, stage: &Stage) -> Result<Decision, AgentError> {
        tokio::select! {
            biased;
            () = stage.cancel.cancelled() => Err(AgentError::Cancelled),
            decision = self.approvals.ask(question) => Ok(decision),
        }
    }
}

/// Whether it was done, and the words.
fn told(answer: Result<String, String>) -> (bool, String) {
    match answer {
        Ok(words) => (true, words),
        Err(why) => (false, why),
    }
}
