//! Texts that are asked for to be read: a run's document, an older run's conversation, the file beside
//! the stored copy.

use crate::console::app::msg::{Pace, Question, Tone};
use crate::console::app::{Model, asking, words};
use crate::domain::api::{Answer, FileAndCopy, JobAnswer, JobQuery, Query};
use crate::domain::cron::Execution;
use crate::domain::id::{ExecutionId, SessionId};
use crate::domain::slash::ExportFormat;

use super::file;

/// A text that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// The document of a run.
    Output {
        /// The run.
        run: ExecutionId,
        /// What it is called.
        title: String,
    },
    /// What was said in the session of a run that is not live any more.
    Transcript {
        /// The session.
        session: SessionId,
        /// What it is called.
        title: String,
    },
    /// The file and the stored copy.
    Compare,
}

/// What is asked for.
pub(in crate::console::app) fn query(model: &Model) -> Option<Query> {
    Some(match model.cron.reading.as_ref()? {
        Reading::Output { run, .. } => Query::Jobs(JobQuery::Output { execution: *run }),
        Reading::Transcript { session, .. } => {
            Query::Export { session: session.clone(), format: ExportFormat::Markdown }
        }
        Reading::Compare => Query::Jobs(JobQuery::Compare),
    })
}

/// Asks for a text.
pub(super) fn ask(model: &mut Model, reading: Reading) {
    model.cron.reading = Some(reading);
    model.requests.mark(Question::Reading, Pace::AtOnce);
}

/// What a run is called: `health-check at 14:00, failed`.
pub(super) fn title(model: &Model, run: &Execution) -> String {
    let state = run.state.as_str().replace('_', " ");
    format!("{} at {}, {state}", run.job, words::clock(model, run.taken_at))
}

/// Shows the text.
pub(in crate::console::app) fn take(model: &mut Model, answer: Answer) {
    match (model.cron.reading.take(), answer) {
        (Some(Reading::Output { title, .. }), Answer::Jobs(JobAnswer::Output(Some(text))))
        | (Some(Reading::Transcript { title, .. }), Answer::Document(text)) => {
            asking::show_text(model, &title, &text);
        }
        (Some(Reading::Output { title, .. }), Answer::Jobs(JobAnswer::Output(None))) => {
            model.tell(Tone::Note, format!("{title}: its document is gone; the newest 50 of a job are kept"));
        }
        (Some(Reading::Compare), Answer::Jobs(JobAnswer::Compare(both))) => show_both(model, &both),
        _ => {}
    }
}

fn show_both(model: &mut Model, both: &FileAndCopy) {
    match (&both.file, &both.stored) {
        (None, _) => model.tell(Tone::Warn, "jobs.json can't be opened: there is nothing to compare"),
        (_, None) => model.tell(Tone::Warn, "there is no stored copy: jobs.json was never read"),
        (Some(file), Some(stored)) => {
            let fault = file::trouble(model).map(|trouble| format!("{}\n\n", trouble.told()));
            let text = format!("{}{}", fault.unwrap_or_default(), file::compared(file, stored));
            asking::show_text(model, "jobs.json (+) against the stored copy (-)", &text);
        }
    }
}
