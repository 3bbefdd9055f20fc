//! What a call is to do, read from its arguments once, and what a person is asked about it.

use serde_json::Value;

use super::terminal::{Command, Runs};
use super::tool::{Does, Run, Tool};
use super::workdir::Workdir;
use super::{ToolError, on_a_thread, process, schedule_task, terminal};
use crate::agent::SessionContext;
use crate::agent::background::BackgroundCall;
use crate::domain::approval::{Always, Question};
use crate::domain::cron::Definition;

/// What a call is to do. What can't be done is not asked about.
pub(super) enum Work {
    /// To work on files.
    Files {
        /// The tool.
        run: Run,
        /// What a person is asked about the call.
        asked: Run,
    },
    /// To run a command.
    Command(Command),
    /// To ask for the session's background processes.
    Process(BackgroundCall),
    /// To make a scheduled task.
    Job(Box<Definition>),
}

impl Work {
    /// Reads a call of a tool.
    pub(super) fn of(tool: &Tool, arguments: &Value, session: &SessionContext) -> Result<Self, ToolError> {
        Ok(match tool.does {
            Does::Files { run, asked } => Self::Files { run, asked },
            Does::Command => Self::Command(terminal::command(arguments)?),
            Does::Process => Self::Process(process::call(arguments)?),
            Does::Job => Self::Job(Box::new(schedule_task::task(arguments, session)?)),
        })
    }

    /// The command that it runs, if it runs one.
    pub(super) fn command(&self) -> Option<&str> {
        match self {
            Self::Command(command) => Some(&command.command),
            Self::Files { .. } | Self::Process(_) | Self::Job(_) => None,
        }
    }

    /// What a person is asked before it is done.
    pub(super) async fn question(
        &self,
        tool: &Tool,
        arguments: &Value,
        workdir: &Workdir,
    ) -> Result<Question, ToolError> {
        let (name, here) = (tool.name.word().to_owned(), workdir.root().display().to_string());
        let each = |thing: &str| Always::NotOffered { why: format!("each {thing} is asked about") };
        Ok(match self {
            Self::Files { asked, .. } => {
                let (asked, arguments, workdir) = (*asked, arguments.clone(), workdir.clone());
                let what = on_a_thread(move |stop| asked(arguments, &workdir, stop)).await?;
                Question { tool: name, what, folder: here, always: each("file") }
            }
            Self::Command(Command { command, runs }) => Question {
                tool: match runs {
                    Runs::InTurn => name,
                    Runs::InBackground => format!("{name} in the background, beyond this turn"),
                },
                what: command.clone(),
                folder: here,
                always: Always::of(command),
            },
            Self::Process(_) => {
                Question { tool: name, what: arguments.to_string(), folder: here, always: each("call") }
            }
            Self::Job(task) => Question {
                tool: name,
                what: schedule_task::described(task),
                folder: "jobs.json".to_owned(),
                always: each("task"),
            },
        })
    }
}
