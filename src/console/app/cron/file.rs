//! The file `jobs.json` when it can't be read, and beside the stored copy.

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use super::reading::{self, Reading};
use crate::console::app::focus::{Focus, Pane, View};
use crate::console::app::{Model, words};
use crate::domain::Time;
use crate::domain::api::{FileTrouble, JobState, JobsFileState};

const SAME: &str = "The file says the same as the stored copy, but for its layout.";

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

    /// All that matters in one line, for every other view:
    /// `jobs.json unreadable, line 14 column 7; 4 stored jobs fire: "," or "}" expected`.
    pub fn line(&self, model: &Model) -> String {
        let place = match self.what.place {
            Some((line, column)) => format!(", line {line} column {column}"),
            None => String::new(),
        };
        let (jobs, why) = (firing(model), &self.what.why);
        let fire = if jobs == 1 { "fires" } else { "fire" };
        let jobs = words::count(jobs, "stored job");
        format!("jobs.json unreadable{place}; {jobs} {fire}: {why}")
    }

    /// What is wrong and where, with the lines around it.
    pub(super) fn told(&self) -> String {
        let mut lines = vec![self.headline()];
        let digits = self.what.excerpt.iter().map(|(number, _)| number.to_string().len()).max().unwrap_or(0);
        let hint = self.what.hint.as_deref().unwrap_or_default();
        for (number, text) in &self.what.excerpt {
            lines.push(format!("  {number:>digits$} | {text}"));
            if let Some((line, column)) = self.what.place
                && line == *number
            {
                let before = " ".repeat(column.saturating_sub(1));
                lines.push(format!("  {:digits$} | {before}^ {hint}", "").trim_end().to_owned());
            }
        }
        if self.what.place.is_none() && !hint.is_empty() {
            lines.push(hint.to_owned());
        }
        lines.join("\n")
    }

    /// What goes on meanwhile, and what does not.
    pub fn meanwhile(&self, model: &Model) -> String {
        match self.stored_at {
            Some(at) => format!(
                "{} as read at {} {} on firing. Edits here are refused meanwhile.",
                words::count(firing(model), "job"),
                words::clock(model, at),
                if firing(model) == 1 { "goes" } else { "go" }
            ),
            None => "It was never read before: no job fires. Edits here are refused meanwhile.".to_owned(),
        }
    }
}

/// How many jobs have their slots taken, by the stored copy.
fn firing(model: &Model) -> usize {
    let fires = |state: &JobState| {
        matches!(state, JobState::Scheduled | JobState::Running | JobState::Waiting | JobState::Flagged)
    };
    model.cron.all.iter().filter(|job| fires(&job.row.state)).count()
}

/// Whether `v` compares the file with the stored copy.
pub(in crate::console::app) fn compares(model: &Model) -> bool {
    model.view == View::Cron && model.focus() == Focus::Pane(Pane::List) && trouble(model).is_some()
}

/// Asks for the file and the stored copy, to compare them.
pub(in crate::console::app) fn compare(model: &mut Model) {
    reading::ask(model, Reading::Compare);
}

/// The lines in which the file and the stored copy differ, with some around them. How lines are indented, and
/// the commas between records, don't count: the copy is laid out in its own way.
pub(super) fn compared(file: &str, stored: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (stored.lines().collect(), file.lines().collect());
    let words = |line: &&str| line.trim().trim_end_matches(',').to_owned();
    let (old_words, new_words): (Vec<String>, Vec<String>) =
        (old.iter().map(words).collect(), new.iter().map(words).collect());
    let mut lines = Vec::new();
    let changes = capture_diff_slices(Algorithm::Myers, &old_words, &new_words);
    for (at, group) in group_diff_ops(changes, AROUND).into_iter().enumerate() {
        if at > 0 {
            lines.push("...".to_owned());
        }
        for op in group {
            let (tag, before, after) = op.as_tag_tuple();
            if tag == DiffTag::Equal {
                lines.extend(after.map(|index| format!("{:>5}   {}", index + 1, new[index])));
            } else {
                lines.extend(before.map(|index| format!("      - {}", old[index])));
                lines.extend(after.map(|index| format!("{:>5} + {}", index + 1, new[index])));
            }
        }
    }
    match lines.is_empty() {
        true => SAME.to_owned(),
        false => lines.join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_something_else_is_shown_as_changed() {
        let stored = "{\n  \"jobs\": [\n    { \"id\": \"a\" },\n    { \"id\": \"b\" }\n  ]\n}\n";
        let file = "{ \"jobs\": [\n  { \"id\": \"a\" },\n  { \"id\": \"b\" \"x\": 1 },\n] }\n";
        let text = compared(file, stored);
        assert!(text.contains("    2     { \"id\": \"a\" },"), "{text}");
        assert!(text.contains("      -     { \"id\": \"b\" }\n"), "{text}");
        assert!(text.contains("    3 +   { \"id\": \"b\" \"x\": 1 },"), "{text}");
        assert_eq!(compared(stored, stored), SAME);
    }
}
