//! What restart recovery did: the history of starts, and what became of each session.

use serde::{Deserialize, Serialize};

use crate::domain::Time;
use crate::domain::cron::JobId;
use crate::domain::event::{count, some_of};
use crate::domain::id::{RunId, SessionId, SessionKey};
use crate::domain::marker::Marker;
use crate::domain::queue::ordinal;
use crate::domain::recovery::{BootGuard, LastExit, RecoveryState, Uncleanness, Verdict};
use crate::domain::sanitize::one_line;

/// So many jobs are named in one line.
const MOST_JOBS: usize = 5;

/// The history of starts, and the sessions of one of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RecoveryPage {
    /// The starts, newest first: the newest is the present one, or the last where no engine runs.
    pub starts: Vec<StartRow>,
    /// The start that was asked for; none if there is none.
    pub chosen: Option<StartRow>,
    /// What it decided about each session that it looked at, and, for the newest start, every other
    /// session that carries a marker.
    pub sessions: Vec<RecoveryRow>,
    /// At how many cuts in a row a session is given up.
    pub max_cuts: u32,
    /// At which unclean start in a row nothing is resumed by itself.
    pub boot_guard_starts: u32,
    /// The engine of the newest start, where it died and none runs since. No start has judged that yet.
    #[serde(default)]
    pub died: Option<Died>,
}

/// An engine that did not stop in order and that none came after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Died {
    /// When it began.
    pub started_at: Time,
    /// Its process.
    pub pid: u32,
    /// How many turns ran when it died.
    pub cut_off: usize,
}

impl Died {
    /// The engine of a start that did not end in order, where none runs; `cut_off` turns ran then.
    pub fn of(start: &StartRow, cut_off: usize) -> Option<Self> {
        let died = start.ended_at.is_none();
        died.then_some(Self { started_at: start.started_at, pid: start.pid, cut_off })
    }

    /// What became of it and its turns, in a sentence; `show` shows an instant.
    pub fn words(&self, show: impl Fn(Time) -> String) -> String {
        let (since, pid) = (show(self.started_at), self.pid);
        let turns = match self.cut_off {
            0 => "no turn ran".to_owned(),
            n => format!("{} cut off, which the next start looks at", count(n, "turn")),
        };
        format!("The engine that started {since} (pid {pid}) died, and none runs since: {turns}.")
    }
}

/// A start of the engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartRow {
    /// Its run.
    pub run: RunId,
    /// Its process.
    pub pid: u32,
    /// Its program's version.
    pub version: String,
    /// When it began.
    pub started_at: Time,
    /// When it stopped in order; none while it runs, or where it died.
    pub ended_at: Option<Time>,
    /// How it found that the run before had ended; none for one of an older version.
    pub exit: Option<LastExit>,
    /// Whether the boot guard let it resume by itself.
    pub guard: BootGuard,
    /// How many unclean starts with sessions to resume came in a row, this one among them.
    pub in_row: u32,
    /// Sessions that it marked to be resumed.
    pub pending: usize,
    /// Of these, those that got a turn of their own.
    pub resumed: usize,
    /// Sessions that it found to owe nothing.
    pub owed_nothing: usize,
    /// Sessions that it gave up.
    pub given_up: usize,
    /// The jobs of which a run was cut off with the engine before, one a run. None is repeated.
    #[serde(default)]
    pub cut_jobs: Vec<JobId>,
}

/// What a start decided about a session, and how that session stands now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveryRow {
    /// The session.
    pub session: SessionId,
    /// Its key.
    pub key: SessionKey,
    /// What a person calls it.
    pub name: String,
    /// What was decided; none: its marker is older or younger than this start.
    pub verdict: Option<Verdict>,
    /// At how many starts in a row it was found cut off then.
    pub cuts: u32,
    /// The first words of the message that was cut off.
    pub message: Option<String>,
    /// The last tool call of the turn that was cut off: its name and the first words of its arguments.
    pub tool: Option<String>,
    /// The marker that it carries now.
    pub marker: Option<Marker>,
    /// The last error of a turn since the last answer.
    pub last_error: Option<String>,
    /// How it stands now.
    pub state: RecoveryState,
}

impl StartRow {
    /// How it began and what came before it, in words; `show` shows an instant.
    pub fn words(&self, show: impl Fn(Time) -> String) -> String {
        let started = show(self.started_at);
        match &self.exit {
            None => format!("Started {started}."),
            Some(LastExit::First) => format!("First start of this home, {started}."),
            Some(LastExit::Clean { at, cut }) if cut.is_empty() => {
                format!("Stopped in order {}, started {started}.", show(*at))
            }
            Some(LastExit::Clean { at, cut }) => {
                let cut = one_line(&cut.join(", ")).into_owned();
                format!("Stopped in order {}, what was cut: {cut}; started {started}.", show(*at))
            }
            Some(LastExit::Unclean { why: Uncleanness::Missing, last_sign_of_life }) => {
                format!(
                    "Started {started}, after a crash or a kill; last sign of life {}.",
                    show(*last_sign_of_life)
                )
            }
            Some(LastExit::Unclean { why, last_sign_of_life }) => format!(
                "Started {started}; the engine before did not stop in order: {}; last sign of life {}.",
                why.words(),
                show(*last_sign_of_life)
            ),
        }
    }

    /// What came before it, in two words, for a history.
    pub fn after(&self) -> &'static str {
        match &self.exit {
            None => "not known",
            Some(LastExit::First) => "first start",
            Some(LastExit::Clean { .. }) => "in order",
            Some(LastExit::Unclean { .. }) => "killed",
        }
    }

    /// How many sessions it looked at.
    pub fn sessions(&self) -> usize {
        self.pending + self.owed_nothing + self.given_up
    }

    /// What it decided, in counts: `1 resumed, 1 owed nothing, 1 given up`; empty where it looked at none.
    pub fn counts(&self) -> String {
        let left = self.pending - self.resumed.min(self.pending);
        let counts = [
            (self.resumed, "resumed"),
            (left, "not resumed"),
            (self.owed_nothing, "owed nothing"),
            (self.given_up, "given up"),
        ];
        let told = counts.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}"));
        told.collect::<Vec<_>>().join(", ")
    }

    /// What it decided, in sentences.
    pub fn result(&self) -> String {
        let sessions = match self.sessions() {
            0 => None,
            1 => Some(format!("1 session was cut off or active: {}.", self.counts())),
            n => Some(format!("{n} sessions were cut off or active: {}.", self.counts())),
        };
        let jobs = some_of(&self.cut_jobs, MOST_JOBS);
        let runs = match self.cut_jobs.len() {
            0 => None,
            1 => Some(format!("1 run of a job was cut off and is not repeated: {jobs}.")),
            n => Some(format!("{n} runs of jobs were cut off and are not repeated: {jobs}.")),
        };
        match (sessions, runs, &self.exit) {
            (None, None, Some(LastExit::First)) => "It found nothing to recover.".to_owned(),
            (None, None, _) => "It found nothing cut off.".to_owned(),
            (sessions, runs, _) => sessions.into_iter().chain(runs).collect::<Vec<_>>().join(" "),
        }
    }

    /// What it found cut off, in a few words for a history; empty where that was nothing.
    pub fn found(&self) -> String {
        let sessions = (self.sessions() > 0)
            .then(|| format!("{}: {}", count(self.sessions(), "session"), self.counts()));
        let cut = self.cut_jobs.len();
        let runs = (cut > 0).then(|| format!("{} of jobs cut off", count(cut, "run")));
        sessions.into_iter().chain(runs).collect::<Vec<_>>().join("; ")
    }

    /// Where it stands in a row of quick unclean starts: `2nd quick start of 5`; none where it is in none.
    pub fn in_row_words(&self, boot_guard_starts: u32) -> Option<String> {
        match self.guard {
            BootGuard::Hold { starts, .. } => Some(format!(
                "boot guard: {} quick start in a row, nothing is resumed by itself",
                ordinal(starts as usize)
            )),
            BootGuard::Open if self.in_row == 0 => None,
            BootGuard::Open => {
                Some(format!("{} quick start of {boot_guard_starts}", ordinal(self.in_row as usize)))
            }
        }
    }
}

impl RecoveryPage {
    /// Changes what time alone has changed until `now`.
    pub fn pass_to(&mut self, now: Time) {
        for row in &mut self.sessions {
            row.state = row.state.clone().at(now);
        }
    }
}

impl RecoveryRow {
    /// Why it was looked at, in a word or two.
    pub fn why(&self) -> &'static str {
        match (self.verdict, self.marker) {
            (Some(Verdict::Pending { mark, .. }), _) | (None, Some(Marker::ResumePending(mark))) => {
                mark.reason.short()
            }
            (Some(Verdict::Suspend { suspended, .. }), _) | (None, Some(Marker::Suspended(suspended))) => {
                suspended.reason.short()
            }
            (Some(Verdict::OwesNothing), _) => "active",
            (Some(Verdict::Leave { .. }), _) | (None, None) => "",
        }
    }

    /// `cut off 2 of 3`; `owed nothing`; `given up` where no start counted.
    pub fn attempts(&self, max_cuts: u32) -> String {
        match (self.verdict, self.marker) {
            (Some(Verdict::OwesNothing), _) => "owed nothing".to_owned(),
            (_, Some(Marker::Suspended(_))) if self.cuts == 0 => "given up".to_owned(),
            _ => format!("cut off {} of {max_cuts}", self.cuts),
        }
    }

    /// What was cut off: the message and the last tool call, whose effect is not known; else the last error.
    pub fn interrupted(&self) -> Option<String> {
        if matches!(self.verdict, Some(Verdict::OwesNothing)) {
            return Some("no turn to go on with".to_owned());
        }
        match (&self.message, &self.tool, &self.last_error) {
            (Some(message), Some(tool), _) => Some(format!("\"{message}\", in: {tool} (effect unknown)")),
            (Some(message), None, _) => Some(format!("\"{message}\"")),
            (None, Some(tool), _) => Some(format!("in: {tool} (effect unknown)")),
            (None, None, Some(error)) => Some(format!("last: {error}")),
            (None, None, None) => None,
        }
    }

    /// Since when it carries what the row is about.
    pub fn since(&self) -> Option<Time> {
        match (self.marker, self.verdict) {
            (Some(marker), _) => Some(marker.since()),
            (None, Some(Verdict::Pending { mark, .. })) => Some(mark.since),
            (None, Some(Verdict::Suspend { suspended, .. })) => Some(suspended.since),
            (None, _) => None,
        }
    }
}
