//! Background processes of a session: commands that its agent started to go on after their turns.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::Time;
use super::event::excerpt;
use super::id::{ProcessNumber, SessionId, TurnId};
use super::process::ProcessIdentity;
use super::queue::Refusal;
use super::took::took;

/// So many processes that ended are kept of a session: the newest.
pub const KEPT_ENDED: usize = 16;

/// A background process. It leads its own process group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundProcess {
    /// Its session.
    pub session: SessionId,
    /// Its number in the session, from 1.
    pub number: ProcessNumber,
    /// The turn that started it.
    pub turn: TurnId,
    /// The command, whole.
    pub command: String,
    /// Where it was started.
    pub folder: String,
    /// Which process it is.
    pub identity: ProcessIdentity,
    /// When it began.
    pub began_at: Time,
    /// Who asked for its end, if anyone did.
    pub stopped_by: Option<StoppedBy>,
    /// How it ended; none while it lives.
    pub ended: Option<Ended>,
    /// The turn whose agent was told of its end.
    pub told_in: Option<TurnId>,
}

/// The end of a background process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// When.
    pub at: Time,
    /// How.
    pub exit: Exit,
}

/// How a background process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "exit", rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with a code.
    Code {
        /// The code.
        code: i32,
    },
    /// By a signal.
    Signal {
        /// Which.
        signal: i32,
    },
    /// Nobody saw how.
    Unknown {
        /// Why not.
        why: String,
    },
}

impl Exit {
    /// It in a few words.
    pub fn words(&self) -> String {
        match self {
            Self::Code { code } => format!("exit {code}"),
            Self::Signal { signal } => format!("ended by signal {signal}"),
            Self::Unknown { why } => format!("exit unknown: {why}"),
        }
    }
}

/// Who asked for the end of a background process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// A person.
    Operator,
    /// The session's agent.
    Agent,
    /// `/new`: its session ended.
    Reset,
    /// The end of the scheduled run that it worked for.
    RunEnded,
}

impl StoppedBy {
    /// It in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Operator => "by the operator",
            Self::Agent => "by its agent",
            Self::Reset => "with its session, by /new",
            Self::RunEnded => "with its run",
        }
    }
}

/// Which of a session's background processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The one with the number.
    One(ProcessNumber),
    /// All that live.
    All,
}

impl BackgroundProcess {
    /// Whether it lives, as far as is known.
    pub fn lives(&self) -> bool {
        self.ended.is_none()
    }

    /// The command in one line.
    pub fn line(&self) -> String {
        excerpt(&self.command)
    }

    /// Its number and its command: `3 (make test)`.
    pub fn name(&self) -> String {
        named(self.number, &self.line())
    }

    /// How it stands at `now`, in one line: `3 (make test) runs for 4 min 10 s`.
    pub fn words(&self, now: Time) -> String {
        match &self.ended {
            None => {
                let stopping = match self.stopped_by {
                    Some(by) => format!(", told to end {}", by.words()),
                    None => String::new(),
                };
                format!("{} runs for {}{stopping}", self.name(), took(now - self.began_at))
            }
            Some(ended) => format!("{}, {} ago", self.end_words(ended), took(now - ended.at)),
        }
    }

    fn end_words(&self, ended: &Ended) -> String {
        end_words(self.number, &self.line(), &ended.exit, ended.at - self.began_at, self.stopped_by)
    }
}

/// `3 (make test)`.
pub fn named(number: ProcessNumber, line: &str) -> String {
    format!("{number} ({line})")
}

/// `3 (make test) ended: exit 0 after 4 min 10 s`.
pub fn end_words(
    number: ProcessNumber,
    line: &str,
    exit: &Exit,
    length: TimeDelta,
    by: Option<StoppedBy>,
) -> String {
    let asked = by.map(|by| format!(" {}", by.words())).unwrap_or_default();
    format!("{} ended{asked}: {} after {}", named(number, line), exit.words(), took(length))
}

/// Several of them in one line.
pub fn names(processes: &[BackgroundProcess]) -> String {
    processes.iter().map(BackgroundProcess::name).collect::<Vec<_>>().join(", ")
}

/// What an agent is told before its next message of processes that ended, a line each.
pub fn told(processes: &[BackgroundProcess]) -> String {
    let line = |process: &BackgroundProcess| {
        let ended = process.ended.as_ref()?;
        Some(format!("[background process {}]", process.end_words(ended)))
    };
    processes.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// Refuses one more background process than a session may have.
///
/// # Errors
/// Where `live` of them run already.
pub fn room(live: usize, most: usize) -> Result<(), Refusal> {
    if live < most {
        return Ok(());
    }
    Err(Refusal::NothingTo(format!(
        "{live} background processes of this session run already and {most} may \
         (agent.openai.max_background, or that of its agent); wait for one or end one first"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_timestamp(seconds, 0).unwrap()
    }

    fn process() -> BackgroundProcess {
        BackgroundProcess {
            session: SessionId::new(at(0), 1),
            number: ProcessNumber(3),
            turn: TurnId(7),
            command: "make  test\n".to_owned(),
            folder: "/w".to_owned(),
            identity: ProcessIdentity { pid: 11, boot: "b".to_owned(), started: 5 },
            began_at: at(100),
            stopped_by: None,
            ended: None,
            told_in: None,
        }
    }

    #[test]
    fn a_process_is_told_by_its_number_its_command_and_how_it_stands() {
        let lives = process();
        assert_eq!(lives.words(at(350)), "3 (make test) runs for 4 min 10 s");
        let stopped = BackgroundProcess { stopped_by: Some(StoppedBy::Operator), ..process() };
        let words = "3 (make test) runs for 4 min 10 s, told to end by the operator";
        assert_eq!(stopped.words(at(350)), words);
        let ended = Some(Ended { at: at(350), exit: Exit::Signal { signal: 15 } });
        let ended = BackgroundProcess { ended, ..stopped };
        let words = "3 (make test) ended by the operator: ended by signal 15 after 4 min 10 s, 20 s ago";
        assert_eq!(ended.words(at(370)), words);
    }

    #[test]
    fn an_agent_is_told_of_those_that_ended_a_line_each() {
        let ended = |exit| BackgroundProcess { ended: Some(Ended { at: at(112), exit }), ..process() };
        let unknown = Exit::Unknown { why: "it ended while no engine ran".to_owned() };
        let told = told(&[ended(Exit::Code { code: 2 }), process(), ended(unknown)]);
        assert_eq!(
            told,
            "[background process 3 (make test) ended: exit 2 after 12 s]\n\
             [background process 3 (make test) ended: exit unknown: it ended while no engine ran after 12 s]"
        );
    }

    #[test]
    fn a_session_has_no_more_of_them_than_it_may() {
        assert!(room(7, 8).is_ok() && room(0, 1).is_ok());
        let refusal = room(8, 8).unwrap_err().to_string();
        assert!(refusal.contains("8 may (agent.openai.max_background, or that of its agent)"), "{refusal}");
        assert!(room(0, 0).is_err(), "0 allows none");
    }
}
