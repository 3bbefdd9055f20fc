//! Resuming: which marks are fresh, what the resumed agent is told, and what a person sees of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::age;
use crate::domain::Time;
use crate::domain::marker::{ResumePending, ResumeReason};

/// The result that is recorded for a tool call that has none. The call itself is never made again by us.
pub const EFFECT_UNKNOWN: &str = "interrupted, effect unknown";

/// Whether a result is one that was recorded for a call that had none.
pub fn says_effect_unknown(output: &str) -> bool {
    output.strip_prefix(EFFECT_UNKNOWN).is_some_and(|rest| rest.is_empty() || rest.starts_with(WRITTEN_LAST))
}

/// Stands between that result and what the call had written.
const WRITTEN_LAST: &str = "; it had written last:\n";

/// As what the tool calls are closed that have no result at the end of their turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closed {
    /// Nobody knows what they did.
    #[default]
    EffectUnknown,
    /// They did nothing: each still waited for a person's answer.
    NotDone,
}

impl Closed {
    /// Judges the calls of a turn by its questions that wait: each is asked for a call that is kept and has not begun
    /// to act, so as many as there are calls leave none that could have. Those that waited when the turn was told to
    /// stop are left out: nobody answers them any more.
    pub fn of(calls: usize, questions: usize) -> Self {
        if questions >= calls { Self::NotDone } else { Self::EffectUnknown }
    }

    /// The result that is recorded for each of so many; a single one that worked has what it had `written` last.
    pub fn result(self, calls: usize, written: &str) -> String {
        match self {
            Self::EffectUnknown if calls == 1 && !written.is_empty() => {
                format!("{}{WRITTEN_LAST}{written}", self.words())
            }
            Self::EffectUnknown | Self::NotDone => self.words().to_owned(),
        }
    }

    /// What became of them.
    pub fn words(self) -> &'static str {
        match self {
            Self::EffectUnknown => EFFECT_UNKNOWN,
            Self::NotDone => "not done: nobody had answered yet whether it may be",
        }
    }
}

/// The note of a message whose turn was cut and whose resume was answered.
pub const ANSWERED_BY_RESUME: &str = "cut off, then answered by a resume";

/// Whether a mark is young enough to be resumed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// It is. A time policy does not reset the session.
    Fresh,
    /// It stays visible, `/continue` continues it, and on the next message the reset policy decides first.
    Stale,
}

impl Freshness {
    /// Decides it from the age of the mark; `limit` is how old a fresh one may be.
    pub fn of(mark: &ResumePending, limit: Duration, now: Time) -> Self {
        if age(mark.since, now) > limit { Self::Stale } else { Self::Fresh }
    }
}

/// How many resumes may begin while so many run.
pub fn room(running: usize, max_parallel: usize) -> usize {
    max_parallel.saturating_sub(running)
}

/// What the agent of a resumed session is told. These are not the user's words: the message is kept
/// with its own role.
pub fn resume_message(reason: ResumeReason) -> String {
    format!(
        "This is the system, not the user. Your last turn was interrupted because {}. \
         Go on with the unfinished work from where the conversation stands, and do not only greet or \
         ask what is next. Do not repeat tool calls that have a result. A tool call without a recorded \
         result, or with the result \"{EFFECT_UNKNOWN}\", may have run: inspect its effect before you \
         make it again. Be careful with a call that restarts or stops the machine or this program: it may \
         be what interrupted you.",
        cause(reason)
    )
}

/// The system line that a person sees in place of the message to the agent.
pub fn resume_line(reason: ResumeReason, cuts: u32, max_cuts: u32) -> String {
    format!("resumed: the turn was interrupted because {}; cut off {cuts} of {max_cuts}", cause(reason))
}

fn cause(reason: ResumeReason) -> &'static str {
    match reason {
        ResumeReason::RestartInterrupted => "the engine crashed or was killed",
        ResumeReason::ShutdownTimeout => "the engine was shut down",
        ResumeReason::RestartTimeout => "the engine was restarted",
    }
}

#[cfg(test)]
mod tests {
    use super::super::given::{LIMITS, at};
    use super::*;

    #[test]
    fn a_mark_older_than_an_hour_is_stale() {
        let mark = ResumePending { reason: ResumeReason::RestartInterrupted, since: at(100) };
        let after = |seconds: i64| Freshness::of(&mark, LIMITS.freshness, at(100 + seconds));
        assert_eq!(after(0), Freshness::Fresh);
        assert_eq!(after(3600), Freshness::Fresh);
        assert_eq!(after(3601), Freshness::Stale);
        assert_eq!(after(-86_400), Freshness::Fresh);
    }

    #[test]
    fn at_most_so_many_are_resumed_at_a_time() {
        let rooms: Vec<usize> = (0..7).map(|running| room(running, LIMITS.max_parallel)).collect();
        assert_eq!(rooms, [4, 3, 2, 1, 0, 0, 0]);
    }

    #[test]
    fn the_agent_is_told_what_happened_and_how_to_go_on() {
        for (reason, cause) in [
            (ResumeReason::RestartInterrupted, "the engine crashed or was killed"),
            (ResumeReason::ShutdownTimeout, "the engine was shut down"),
            (ResumeReason::RestartTimeout, "the engine was restarted"),
        ] {
            let message = resume_message(reason);
            for words in [
                "not the user",
                cause,
                "Go on with the unfinished work",
                "Do not repeat tool calls that have a result",
                "without a recorded result",
                EFFECT_UNKNOWN,
                "may have run: inspect",
            ] {
                assert!(message.contains(words), "{words}: {message}");
            }
            assert_eq!(
                resume_line(reason, 2, LIMITS.max_cuts),
                format!("resumed: the turn was interrupted because {cause}; cut off 2 of 3")
            );
        }
    }
}
