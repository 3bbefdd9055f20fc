//! The record that the form makes, member by member, with what changes in it.

use serde_json::Value;

use crate::console::app::overlay::{SideLine, Sides};
use crate::domain::cron::Definition;
use crate::domain::cron::record;
use crate::domain::json::{Layout, members, quoted};
use crate::domain::sanitize::one_line;

/// So many characters that two values share are shown around what differs in them.
const AROUND: usize = 20;
const ELLIPSIS: &str = "...";

/// A line of the record; safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordLine {
    /// What becomes of it.
    pub change: Change,
    /// The member, with its value.
    pub text: String,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It stays.
    Kept,
    /// It is new.
    New,
    /// It goes.
    Gone,
}

/// The record as a text: the one that is changed, or a new one.
pub(super) fn text(base: Option<&str>, definition: &Definition) -> String {
    match base {
        Some(base) => record::edit(base, definition),
        None => record::write(definition, &Layout::lines("\n", "  ")),
    }
}

/// The lines of the record that a job makes out of `base`.
pub(super) fn lines(base: Option<&str>, definition: &Definition) -> Vec<RecordLine> {
    let after = listed(&text(base, definition));
    let before = base.map(listed).unwrap_or_default();
    let mut lines = Vec::new();
    let line = |change, name: &str, value: &str| RecordLine { change, text: member(name, value) };
    for (name, value) in &after {
        match before.iter().find(|(known, _)| known == name) {
            Some((_, old)) if old == value => lines.push(line(Change::Kept, name, value)),
            Some((_, old)) => {
                lines.push(line(Change::Gone, name, old));
                lines.push(line(Change::New, name, value));
            }
            None => lines.push(line(Change::New, name, value)),
        }
    }
    let gone = before.iter().filter(|(name, _)| !after.iter().any(|(known, _)| known == name));
    lines.extend(gone.map(|(name, value)| line(Change::Gone, name, value)));
    lines
}

/// Two records side by side, member by member.
pub(super) fn sides(mine: &str, theirs: Option<&str>) -> Sides {
    let (mine, theirs) = (listed(mine), theirs.map(listed).unwrap_or_default());
    let find = |list: &[(String, String)], name: &str| {
        list.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let only_theirs = theirs.iter().filter(|(name, _)| !mine.iter().any(|(known, _)| known == name));
    let mut sides = Sides { differ: Vec::new(), same: Vec::new() };
    for name in mine.iter().chain(only_theirs).map(|(name, _)| name) {
        let (left, right) = match (find(&mine, name), find(&theirs, name)) {
            (left, right) if left == right => {
                sides.same.push(one_line(name).into_owned());
                continue;
            }
            (Some(left), Some(right)) => {
                let (left, right) = apart(&left, &right);
                (Some(left), Some(right))
            }
            one => one,
        };
        let member = |value: String| member(name, &value);
        sides.differ.push(SideLine { left: left.map(member), right: right.map(member) });
    }
    sides
}

/// Two values without most of what both begin and end with, so that it is seen in what they differ.
fn apart(left: &str, right: &str) -> (String, String) {
    let pairs = |(one, other): &(char, char)| one == other;
    let shorter = left.chars().count().min(right.chars().count());
    let begin = left.chars().zip(right.chars()).take_while(pairs).count();
    let end = left.chars().rev().zip(right.chars().rev()).take_while(pairs).count();
    let end = end.min(shorter - begin);
    let cut = |value: &str| {
        let left_out = |common: usize| common.checked_sub(AROUND).filter(|count| *count > ELLIPSIS.len());
        let (before, behind) = (left_out(begin), left_out(end));
        let shown = value.chars().count() - before.unwrap_or(0) - behind.unwrap_or(0);
        let middle: String = value.chars().skip(before.unwrap_or(0)).take(shown).collect();
        let mark = |count: Option<usize>| count.map_or("", |_| ELLIPSIS);
        format!("{}{middle}{}", mark(before), mark(behind))
    };
    (cut(left), cut(right))
}

/// The names of the members that one record has and the other has not.
pub(super) fn missing(of: &str, in_: &str) -> Vec<String> {
    let there = listed(in_);
    let names = listed(of).into_iter().map(|(name, _)| name);
    names.filter(|name| !there.iter().any(|(known, _)| known == name)).collect()
}

/// The members of a record, each with its value on one line.
fn listed(record: &str) -> Vec<(String, String)> {
    let escaped = crate::domain::json::escape_controls(record);
    let read = members(&escaped).unwrap_or_default();
    let value = |raw: &str| {
        serde_json::from_str::<Value>(raw).map_or_else(|_| raw.to_owned(), |value| value.to_string())
    };
    read.iter().map(|member| (member.name.clone().into_owned(), value(member.value))).collect()
}

fn member(name: &str, value: &str) -> String {
    one_line(&format!("{}: {value}", quoted(name))).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[RecordLine]) -> Vec<String> {
        let mark = |change| match change {
            Change::Kept => ' ',
            Change::New => '+',
            Change::Gone => '-',
        };
        lines.iter().map(|line| format!("{} {}", mark(line.change), line.text)).collect()
    }

    #[test]
    fn what_changes_is_marked_and_what_we_do_not_know_stays() {
        let base = "{\"id\": \"a\", \"schedule\": \"0 8 * * *\", \"owner\": {\"x\":\n 1}, \"model\": \"m\"}";
        let definition = Definition {
            prompt: Some("look".to_owned()),
            ..Definition::new("a".parse().unwrap(), "0 9 * * *".to_owned())
        };
        let mut lines = shown(&super::lines(Some(base), &definition));
        lines.sort();
        assert_eq!(
            lines,
            [
                "  \"id\": \"a\"",
                "  \"owner\": {\"x\":1}",
                "+ \"prompt\": \"look\"",
                "+ \"schedule\": \"0 9 * * *\"",
                "- \"model\": \"m\"",
                "- \"schedule\": \"0 8 * * *\"",
            ]
        );
        assert_eq!(missing("{\"a\":1,\"b\":2}", "{\"b\":3}"), ["a"]);
    }

    #[test]
    fn two_versions_stand_side_by_side_by_member() {
        let sides = sides("{\"a\":1,\"b\":2,\"d\":0}", Some("{\"d\":0,\"b\":3,\"c\":4}"));
        let line = |left: Option<&str>, right: Option<&str>| SideLine {
            left: left.map(str::to_owned),
            right: right.map(str::to_owned),
        };
        assert_eq!(
            sides.differ,
            [
                line(Some("\"a\": 1"), None),
                line(Some("\"b\": 2"), Some("\"b\": 3")),
                line(None, Some("\"c\": 4")),
            ]
        );
        assert_eq!(sides.same, ["d"]);
    }

    #[test]
    fn of_long_values_only_what_differs_is_shown_with_a_little_around_it() {
        let (before, behind) = ("before ".repeat(20), " behind".repeat(20));
        let (left, right) = apart(&format!("{before}ein{behind}"), &format!("{before}einmal{behind}"));
        assert_eq!(left, "...re before before ein behind behind behin...");
        assert_eq!(right, "...re before before einmal behind behind behin...");
        assert_eq!(apart("aaa", "aaaa"), ("aaa".to_owned(), "aaaa".to_owned()));
    }
}
