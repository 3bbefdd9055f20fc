//! What happened since a time: one look for whoever was away.

use serde::{Deserialize, Serialize};

use super::Died;
use crate::domain::Time;
use crate::domain::cron::{ExecutionState, How, JobEvent, RunVerdict, Slots};
use crate::domain::event::count;
use crate::domain::session::Usage;
use crate::domain::spending::money;

/// What ended, and what went wrong, since a time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Since when; none: nobody looked before, and nothing is counted.
    pub since: Option<Time>,
    /// Turns that ended with an answer.
    pub answered: usize,
    /// Turns that failed.
    pub failed: usize,
    /// Turns that a person stopped, or a newer message, or a new session.
    pub stopped: usize,
    /// Turns that a crash or a stop of the engine cut off, or the loss of their agent.
    pub cut_off: usize,
    /// Of all these turns, those that went on with what had been cut off.
    pub resumed: usize,
    /// Sessions that were given up.
    pub given_up: usize,
    /// Messages that a newer one replaced.
    pub replaced: usize,
    /// Messages and commands that were refused.
    pub refused: usize,
    /// Times that waiting messages were taken out.
    pub cleared: usize,
    /// Times that a queue was put on hold.
    pub held: usize,
    /// Questions of agents that nobody answered in time.
    #[serde(default)]
    pub unanswered: usize,
    /// Calls that were denied because nobody could be asked.
    #[serde(default)]
    pub not_asked: usize,
    /// Starts of the engine.
    pub starts: usize,
    /// Of these, those after a crash or a kill.
    pub after_crash: usize,
    /// What the turns used.
    pub usage: Usage,
    /// What became of scheduled tasks.
    #[serde(default)]
    pub jobs: JobsReport,
    /// The last engine, where it died and none runs since.
    #[serde(default)]
    pub died: Option<Died>,
}

/// What became of scheduled tasks since a time: their runs, and the slots that were not run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobsReport {
    /// Runs that ended with a result.
    pub ok: usize,
    /// Runs that failed, took too long, or lacked something.
    pub failed: usize,
    /// Runs that were cut off, or stopped before they ended.
    pub cut_off: usize,
    /// Of the slots that were taken, those that were late or caught up.
    pub late: usize,
    /// Slots that a rule left out.
    pub skipped: usize,
    /// Slots that passed too long ago to be run.
    pub missed: usize,
}

impl JobsReport {
    /// Counts an event of a job.
    pub fn count(&mut self, event: &JobEvent) {
        let slots = |slots: &Slots| slots.count as usize;
        match event {
            JobEvent::RunEnded { state, .. } => match (state.verdict(), state) {
                (Some(RunVerdict::Worked), _) => self.ok += 1,
                (Some(RunVerdict::Failed), _) => self.failed += 1,
                (None, ExecutionState::Interrupted | ExecutionState::Unknown) => self.cut_off += 1,
                (None, ExecutionState::Skipped) => self.skipped += 1,
                (None, _) => {}
            },
            JobEvent::NotRun { slots: left_out, state: ExecutionState::Missed, .. } => {
                self.missed += slots(left_out);
            }
            JobEvent::NotRun { slots: left_out, .. } => self.skipped += slots(left_out),
            JobEvent::Fired { slots: Some(taken), how: How::Late | How::CatchUp, .. } => {
                self.late += slots(taken);
            }
            _ => {}
        }
    }

    /// Each number that is not 0, with what it counts, in one line.
    fn line(counts: &[(usize, &str, &str)]) -> String {
        let told = counts.iter().filter(|(n, ..)| *n > 0);
        told.map(|(n, thing, what)| format!("{} {what}", count(*n, thing))).collect::<Vec<_>>().join(", ")
    }

    fn bad(&self) -> String {
        Self::line(&[
            (self.failed, "run", "failed"),
            (self.cut_off, "run", "cut off"),
            (self.missed, "slot", "missed"),
        ])
    }

    fn rest(&self) -> String {
        Self::line(&[(self.ok, "run", "ok"), (self.late, "slot", "late"), (self.skipped, "slot", "skipped")])
    }
}

impl Report {
    /// Whether nothing happened that anyone would want to know.
    pub fn is_quiet(&self) -> bool {
        self.lines().is_empty()
    }

    /// Each number that is not 0, with a label; what went wrong comes first.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let starts = match self.after_crash {
            0 => String::new(),
            n => format!("{} of the engine after a crash or a kill", count(n, "start")),
        };
        let tokens = match self.usage.total() {
            0 => String::new(),
            _ => format!("{} read, {} written", self.usage.input, self.usage.output),
        };
        let of = |n: usize, thing: &str| if n == 0 { String::new() } else { count(n, thing) };
        let died = match self.died.as_ref().map(|died| died.cut_off) {
            None => String::new(),
            Some(0) => "the last engine, and none runs since".to_owned(),
            Some(n) => format!("the last engine, with {} cut off, and none runs since", count(n, "turn")),
        };
        let denied = [
            (self.unanswered, "question", "not answered in time"),
            (self.not_asked, "call", "denied, nobody was asked"),
        ];
        let lines = [
            ("died", died),
            ("crashed", starts),
            ("failed", of(self.failed, "turn")),
            ("cut off", of(self.cut_off, "turn")),
            ("given up", of(self.given_up, "session")),
            ("jobs bad", self.jobs.bad()),
            ("refused", of(self.refused, "message")),
            ("held", of(self.held, "queue")),
            ("denied", JobsReport::line(&denied)),
            ("resumed", of(self.resumed, "turn")),
            ("answered", of(self.answered, "turn")),
            ("jobs", self.jobs.rest()),
            ("stopped", of(self.stopped, "turn")),
            ("replaced", of(self.replaced, "message")),
            ("cleared", of(self.cleared, "time")),
            ("tokens", tokens),
            ("cost", if self.usage.cost > 0 { money(self.usage.cost) } else { String::new() }),
        ];
        lines.into_iter().filter(|(_, words)| !words.is_empty()).collect()
    }
}
