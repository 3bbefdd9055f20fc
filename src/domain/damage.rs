//! Damage in the store's log that was found when it was opened.

use serde::{Deserialize, Serialize};

use super::event::count;

/// The store's log could not be read to its end: the store goes on from the last commit before the damage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogDamage {
    /// What is lost by it.
    pub lost: Lost,
    /// What became of the log as it was found.
    pub found: FoundLog,
}

/// What became of a damaged log as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundLog {
    /// A copy is kept in this file.
    Copied(String),
    /// It could not be copied, for this reason.
    NotCopied(String),
}

/// What damage to the store's log has cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// So many commits that had been acknowledged, or more.
    AtLeast(u32),
    /// One commit: the machine stopped while it was written and nobody was told of it, or it was damaged
    /// later.
    PerhapsOne,
}

impl Lost {
    /// What there is to say of the log, in words.
    pub fn words(self) -> String {
        match self {
            Self::AtLeast(commits) => {
                let commits = count(commits as usize, "commit");
                format!("is damaged: {commits} or more that had been kept are lost")
            }
            Self::PerhapsOne => "ends in a commit that can't be read: the machine stopped while it was \
                                 written, or it was damaged later"
                .to_owned(),
        }
    }
}

impl LogDamage {
    /// The damage in one line.
    pub fn words(&self) -> String {
        let lost = self.lost.words();
        let found = match &self.found {
            FoundLog::Copied(path) => format!("as it was found it is {path}"),
            FoundLog::NotCopied(why) => format!("it could not be copied as it was found: {why}"),
        };
        format!("the store's log {lost}; the store goes on from the commit before; {found}")
    }
}
