//! The file `jobs.json` when it can't be read, and beside the stored copy.

use similar::{ChangeTag, TextDiff};

use super::reading::{self, Reading};
use crate::console::app::focus::{Focus, Pane, View};
use crate::console::app::{Model, words};
use crate::domain::Time;
use crate::domain::api::{FileTrouble, JobsFileState};

/// How many lines that are the same are shown around a change.
const AROUND: usize = 3;

/// A file that can't be read. Every text in it is safe to show.
#[derive(Debug, Clone, Copy)]
pub struct Trouble<'a> {
    /// Since when.
    pub since: Time,
    /// What is wrong, and where.
    pub what: &'a FileTrouble,
    /// When the stored copy was read; none: there is none.
    pub stored_at: Option<Time>,
}

/// What is wrong with the file; none: nothing.
pub fn trouble(model: &Model) -> Option<Trouble<'_>> {
    match &model.cron.file {
        JobsFileState::Unreadable { since, trouble, stored_at } => {
            Some(Trouble { since: *since, what: trouble, stored_at: *stored_at })
        }
        JobsFileState::Missing | JobsFileState::Read { .. } => None,
    }
}

impl Trouble<'_> {
    /// `jobs.json unreadable: line 14 column 7: "," or "}" expected`.
    pub fn headline(&self) -> String {
        match self.what.place {
            Some((line, column)) => {
                format!("jobs.json unreadable: line {line} column {column}: {}", self.what.why)
            }
            None => format!("jobs.json unreadable: {}", self.what.why),
        }
    }

    /// What goes on meanwhile, and what does not.
    pub fn meanwhile(&self, model: &Model) -> String {
        match self.stored_at {
            Some(at) => format!(
                "{} as read at {} {} on firing. Edits here are refused meanwhile.",
                words::count(model.cron.total, "job"),
                words::clock(model, at),
                if model.cron.total == 1 { "goes" } else { "go" }
            ),
            None => "It was never read before: no job fires. Edits here are refused meanwhile.".to_owned(),
        }
    }
}

/// Whether `v` compares the file with the stored copy.
pub(in crate::console::app) fn compares(model: &Model) -> bool {
    model.view == View::Cron && model.focus() == Focus::Pane(Pane::List) && trouble(model).is_some()
}

/// Asks for the file and the stored copy, to compare them.
pub(in crate::console::app) fn compare(model: &mut Model) {
    reading::ask(model, Reading::Compare);
}

/// The lines in which the file and the stored copy differ, with some around them.
pub(super) fn compared(file: &str, stored: &str) -> String {
    let diff = TextDiff::from_lines(stored, file);
    let mut lines = Vec::new();
    for (at, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if at > 0 {
            lines.push("...".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (mark, number) = match change.tag() {
                ChangeTag::Equal => (' ', change.new_index()),
                ChangeTag::Insert => ('+', change.new_index()),
                ChangeTag::Delete => ('-', None),
            };
            let number = number.map(|index| (index + 1).to_string()).unwrap_or_default();
            lines.push(format!("{number:>5} {mark} {}", change.value().trim_end_matches(['\r', '\n'])));
        }
    }
    match lines.is_empty() {
        true => "They are the same.".to_owned(),
        false => lines.join("\n"),
    }
}
