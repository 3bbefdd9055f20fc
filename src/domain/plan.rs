//! Plans: what an agent means to do in a turn, step by step. It tells the whole of it anew with each change.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::event::{count, excerpt_of};
use super::turn::TurnState;

/// The most entries of a plan that are kept, and the most characters of each.
const MOST_ENTRIES: usize = 100;
const MOST_CHARS: usize = 200;

/// What an agent means to do in a turn. As text an entry is a line: `[x] look round`, `[>] write it`, `[ ] test it`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// In the agent's order; none: it has taken its plan back.
    pub entries: Vec<PlanEntry>,
}

/// One thing that is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// What, in one line.
    pub content: String,
    /// How it stands.
    pub status: PlanStatus,
}

/// How an entry of a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// The agent is at it.
    InProgress,
    /// Done.
    Completed,
}

impl Plan {
    /// The plan of these entries; of very many and very long ones only so much as can be looked at.
    pub fn of<'t>(entries: impl IntoIterator<Item = (&'t str, PlanStatus)>) -> Self {
        let mut entries = entries.into_iter();
        let mut kept: Vec<PlanEntry> = entries
            .by_ref()
            .take(MOST_ENTRIES)
            .map(|(content, status)| PlanEntry { content: excerpt_of(content, MOST_CHARS), status })
            .collect();
        let left_out = entries.count();
        if left_out > 0 {
            let content = format!("and {} that are not shown", count(left_out, "more step"));
            kept.push(PlanEntry { content, status: PlanStatus::Pending });
        }
        Self { entries: kept }
    }

    /// How far it is: `2 of 5 done`.
    pub fn progress(&self) -> String {
        let done = self.entries.iter().filter(|entry| entry.status == PlanStatus::Completed).count();
        format!("{done} of {} done", self.entries.len())
    }

    /// Where the agent is: what it is at, else what comes next, by its place among the entries.
    pub fn place(&self) -> Option<usize> {
        let first = |status| self.entries.iter().position(|entry| entry.status == status);
        first(PlanStatus::InProgress).or_else(|| first(PlanStatus::Pending))
    }

    /// The plan in one line: `2 of 5 done, now: run the tests`; `between` stands for the comma.
    pub fn words(&self, turn: TurnState, between: &str) -> String {
        if self.entries.is_empty() {
            return "taken back".to_owned();
        }
        let progress = self.progress();
        let Some(entry) = self.place().map(|place| &self.entries[place]) else { return progress };
        let word = match (turn, entry.status) {
            (TurnState::Running, PlanStatus::InProgress) => "now",
            (TurnState::Running, _) => "next",
            _ => "left at",
        };
        format!("{progress}{between}{word}: {}", entry.content)
    }
}

impl PlanStatus {
    /// How an entry stands in a turn that stands so.
    pub fn word(self, turn: TurnState) -> &'static str {
        match (self, turn) {
            (Self::Completed, _) => "done",
            (Self::InProgress, TurnState::Running) => "now",
            (Self::InProgress, _) => "begun",
            (Self::Pending, TurnState::Running) => "waits",
            (Self::Pending, _) => "not done",
        }
    }

    const ALL: [Self; 3] = [Self::Pending, Self::InProgress, Self::Completed];

    fn mark(self) -> &'static str {
        match self {
            Self::Pending => "[ ] ",
            Self::InProgress => "[>] ",
            Self::Completed => "[x] ",
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|entry| writeln!(f, "{}{}", entry.status.mark(), entry.content))
    }
}

impl FromStr for Plan {
    type Err = NoPlan;

    fn from_str(text: &str) -> Result<Self, NoPlan> {
        let entry = |line: &str| {
            let marked = |status: PlanStatus| Some((status, line.strip_prefix(status.mark())?));
            let (status, content) =
                PlanStatus::ALL.into_iter().find_map(marked).ok_or_else(|| NoPlan(line.to_owned()))?;
            Ok(PlanEntry { content: content.to_owned(), status })
        };
        Ok(Self { entries: text.lines().map(entry).collect::<Result<_, _>>()? })
    }
}

/// A line that is no entry of a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no entry of a plan: it begins with none of [ ], [>] and [x]")]
pub struct NoPlan(String);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use PlanStatus::{Completed, InProgress, Pending};

    #[test]
    fn a_plan_in_one_line_says_how_far_it_is_and_what_is_done_now() {
        let steps = |statuses: [PlanStatus; 3]| Plan::of(["look", "write", "test"].into_iter().zip(statuses));
        let cases = [
            ([Pending, Pending, Pending], "0 of 3 done, next: look", "0 of 3 done, left at: look"),
            ([Completed, InProgress, Pending], "1 of 3 done, now: write", "1 of 3 done, left at: write"),
            ([Pending, Completed, InProgress], "1 of 3 done, now: test", "1 of 3 done, left at: test"),
            ([Completed, Completed, Completed], "3 of 3 done", "3 of 3 done"),
        ];
        for (statuses, runs, ended) in cases {
            let plan = steps(statuses);
            assert_eq!(plan.words(TurnState::Running, ", "), runs);
            assert_eq!(plan.words(TurnState::Interrupted, ", "), ended);
        }
        assert_eq!(Plan::default().words(TurnState::Running, ", "), "taken back");
    }

    #[test]
    fn a_plan_without_end_is_cut_and_says_so() {
        let plan = Plan::of(std::iter::repeat_n(("look\n round", Completed), 140));
        assert_eq!(plan.entries.len(), MOST_ENTRIES + 1);
        assert_eq!(plan.entries[0].content, "look round");
        assert_eq!(
            plan.words(TurnState::Running, " · "),
            "100 of 101 done · next: and 40 more steps that are not shown"
        );
        let long = Plan::of([("é".repeat(999).as_str(), Pending)]);
        assert_eq!(long.entries[0].content.chars().count(), MOST_CHARS + 1);
    }

    #[test]
    fn a_line_that_is_no_entry_is_named() {
        let error = "[x] a\n- b".parse::<Plan>().unwrap_err();
        assert!(error.to_string().starts_with("\"- b\" is no entry"), "{error}");
    }

    proptest! {
        #[test]
        fn whatever_an_agent_plans_is_read_as_it_was_written(
            entries in proptest::collection::vec((".*", prop::sample::select(PlanStatus::ALL.to_vec())), 0..9)
        ) {
            let plan = Plan::of(entries.iter().map(|(content, status)| (content.as_str(), *status)));
            prop_assert_eq!(plan.to_string().parse::<Plan>().unwrap(), plan);
        }
    }
}
