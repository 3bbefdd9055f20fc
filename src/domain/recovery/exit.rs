//! How the engine before ended: its receipt against the last run in the store.

use serde::{Deserialize, Serialize};

use crate::domain::Time;
use crate::domain::id::RunId;
use crate::domain::marker::ResumeReason;

/// What an engine leaves when it has stopped in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its run.
    pub run: RunId,
    /// Its process.
    pub pid: u32,
    /// When it had stopped.
    pub at: Time,
    /// What it cut at the end of its drain, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

/// What a start found in the place of the receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundReceipt {
    /// Nothing.
    Nothing,
    /// A whole one.
    Whole(Receipt),
    /// Something else.
    Broken {
        /// What is wrong with it, and where it is kept.
        why: String,
    },
}

/// The run before this start, as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastRun {
    /// Which.
    pub run: RunId,
    /// When it began.
    pub started_at: Time,
    /// Its last stamp that it was alive; none where it ended before the first.
    pub stamped_at: Option<Time>,
}

impl LastRun {
    /// When it was last known to be alive.
    pub fn last_sign_of_life(&self) -> Time {
        self.stamped_at.map_or(self.started_at, |stamp| stamp.max(self.started_at))
    }
}

/// What comes after an orderly stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterStop {
    /// Nothing: the engine is gone.
    #[default]
    End,
    /// The same process begins anew as the next engine.
    Restart,
}

impl AfterStop {
    /// The mark of the turns that the drain cuts.
    pub fn mark(self) -> ResumeReason {
        match self {
            Self::End => ResumeReason::ShutdownTimeout,
            Self::Restart => ResumeReason::RestartTimeout,
        }
    }

    /// What a stop that marks so is followed by.
    pub fn of(mark: ResumeReason) -> Self {
        match mark {
            ResumeReason::RestartTimeout => Self::Restart,
            ResumeReason::ShutdownTimeout | ResumeReason::RestartInterrupted => Self::End,
        }
    }
}

/// How the engine before ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "exit", rename_all = "snake_case")]
pub enum LastExit {
    /// There was none: this home is new.
    First,
    /// In order.
    Clean {
        /// When.
        at: Time,
        /// What was cut at the end of the drain, by name.
        #[serde(default)]
        cut: Vec<String>,
    },
    /// It crashed, was killed, or lost power.
    Unclean {
        /// What says so.
        why: Uncleanness,
        /// When it was last known to be alive.
        last_sign_of_life: Time,
    },
}

impl LastExit {
    /// When the engine ended, as far as that is known.
    pub fn at(&self) -> Option<Time> {
        match self {
            Self::First => None,
            Self::Clean { at, .. } => Some(*at),
            Self::Unclean { last_sign_of_life, .. } => Some(*last_sign_of_life),
        }
    }
}

/// Why an exit does not count as clean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "receipt", rename_all = "snake_case")]
pub enum Uncleanness {
    /// There is no receipt.
    Missing,
    /// The receipt is another run's.
    Stale {
        /// That run.
        of: RunId,
    },
    /// The receipt can't be read.
    Unreadable {
        /// What is wrong with it, and where it is kept.
        why: String,
    },
}

/// Decides how the engine before ended. A receipt counts only if its run is the last one in the store.
pub fn last_exit(receipt: FoundReceipt, last_run: Option<&LastRun>) -> LastExit {
    let Some(last) = last_run else { return LastExit::First };
    let why = match receipt {
        FoundReceipt::Whole(Receipt { run, at, cut, .. }) if run == last.run => {
            return LastExit::Clean { at, cut };
        }
        FoundReceipt::Whole(receipt) => Uncleanness::Stale { of: receipt.run },
        FoundReceipt::Nothing => Uncleanness::Missing,
        FoundReceipt::Broken { why } => Uncleanness::Unreadable { why },
    };
    LastExit::Unclean { why, last_sign_of_life: last.last_sign_of_life() }
}

impl LastExit {
    /// The exit in words.
    pub fn words(&self) -> String {
        match self {
            Self::First => "the first start of this home".to_owned(),
            Self::Clean { .. } => "the last exit was clean".to_owned(),
            Self::Unclean { why, .. } => format!("the last exit was not clean: {}", why.words()),
        }
    }
}

impl Uncleanness {
    /// The reason in words.
    pub fn words(&self) -> String {
        match self {
            Self::Missing => "it left no receipt".to_owned(),
            Self::Stale { of } => format!("the receipt is that of an earlier run, {of}"),
            Self::Unreadable { why } => format!("its receipt can't be read: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::given::{at, run};
    use super::*;

    fn last(stamped_at: Option<Time>) -> LastRun {
        LastRun { run: run("b"), started_at: at(100), stamped_at }
    }

    fn cut() -> Vec<String> {
        vec!["job backup (script)".to_owned()]
    }

    fn receipt_of(name: &str) -> FoundReceipt {
        FoundReceipt::Whole(Receipt { run: run(name), pid: 7, at: at(210), cut: cut() })
    }

    fn unclean(why: Uncleanness) -> LastExit {
        LastExit::Unclean { why, last_sign_of_life: at(200) }
    }

    #[test]
    fn a_receipt_counts_only_if_its_run_is_the_last_one_in_the_store() {
        let broken = || FoundReceipt::Broken { why: "empty".to_owned() };
        let table = [
            (receipt_of("b"), LastExit::Clean { at: at(210), cut: cut() }),
            (receipt_of("a"), unclean(Uncleanness::Stale { of: run("a") })),
            (FoundReceipt::Nothing, unclean(Uncleanness::Missing)),
            (broken(), unclean(Uncleanness::Unreadable { why: "empty".to_owned() })),
        ];
        for (receipt, exit) in table {
            assert_eq!(last_exit(receipt, Some(&last(Some(at(200))))), exit);
        }
        for receipt in [receipt_of("a"), FoundReceipt::Nothing, broken()] {
            assert_eq!(last_exit(receipt, None), LastExit::First);
        }
    }

    #[test]
    fn an_engine_that_died_before_its_first_stamp_was_alive_when_it_began() {
        assert_eq!(last(None).last_sign_of_life(), at(100));
        assert_eq!(last(Some(at(90))).last_sign_of_life(), at(100));
        assert_eq!(last(Some(at(110))).last_sign_of_life(), at(110));
    }

    #[test]
    fn an_exit_is_told_with_its_reason() {
        assert_eq!(unclean(Uncleanness::Missing).words(), "the last exit was not clean: it left no receipt");
        assert_eq!(
            unclean(Uncleanness::Stale { of: run("a") }).words(),
            "the last exit was not clean: the receipt is that of an earlier run, a"
        );
        let text = serde_json::to_string(&unclean(Uncleanness::Missing)).unwrap();
        assert_eq!(
            text,
            r#"{"exit":"unclean","why":{"receipt":"missing"},"last_sign_of_life":"1970-01-01T00:03:20Z"}"#
        );
    }
}
