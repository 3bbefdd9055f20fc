//! The tool for the background processes that `terminal` has started.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::tool::{Does, Kind, Need, Parameter, Tool};
use super::{ToolError, typed};
use crate::agent::background::BackgroundCall;
use crate::config::ToolName;
use crate::domain::id::ProcessNumber;

/// How long a wait lasts where the model does not say, and at most.
const WAIT: Duration = Duration::from_secs(60);
const LONGEST_WAIT: Duration = Duration::from_secs(300);

pub(super) const TOOL: Tool = Tool {
    name: ToolName::Process,
    about: "The background processes of this session, which terminal has started: list them, read the newest output of one, wait for its end (at most 300 s), or kill it with all that it started.",
    parameters: &[
        Parameter {
            name: "action",
            about: "What to do.",
            kind: Kind::Word(&["list", "read", "wait", "kill"]),
            need: Need::Required,
        },
        Parameter {
            name: "number",
            about: "The number of the process; list needs none.",
            kind: Kind::Count,
            need: Need::Optional,
        },
        Parameter {
            name: "seconds",
            about: "How long to wait at most (60).",
            kind: Kind::Count,
            need: Need::Optional,
        },
    ],
    does: Does::Process,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    number: Option<NonZeroU32>,
    seconds: Option<NonZeroU32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Read,
    Wait,
    Kill,
}

/// What is asked for.
pub(super) fn call(arguments: &Value) -> Result<BackgroundCall, ToolError> {
    let Arguments { action, number, seconds } = typed(ToolName::Process, arguments.clone())?;
    let number = number.map(|number| ProcessNumber(number.get().into())).ok_or(ToolError::Arguments {
        tool: TOOL.name.word(),
        why: "the number is missing; list tells those that there are".to_owned(),
    });
    Ok(match action {
        Action::List => BackgroundCall::List,
        Action::Read => BackgroundCall::Read(number?),
        Action::Wait => {
            let asked = seconds.map_or(WAIT, |seconds| Duration::from_secs(seconds.get().into()));
            BackgroundCall::Wait(number?, asked.min(LONGEST_WAIT))
        }
        Action::Kill => BackgroundCall::End(number?),
    })
}
