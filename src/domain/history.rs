//! The history of a session: append-only entries, in the order they came.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Time;
use super::id::{MessageId, SessionId, TurnId};
use super::plan::Plan;
use super::recovery::EFFECT_UNKNOWN;
use super::talk::{GO_ON, summary_told};
use super::turn::{Outcome, TurnState};

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its row; entries are ordered by it.
    pub id: MessageId,
    /// Its session.
    pub session: SessionId,
    /// Its turn.
    pub turn: TurnId,
    /// When it was begun.
    pub at: Time,
    /// What it is.
    pub body: Body,
    /// How its turn stands: a failed or cut turn is marked in the conversation.
    pub turn_state: TurnState,
}

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Body {
    /// A person's words.
    User {
        /// The words.
        text: String,
        /// Whether they were handed to a turn that already ran.
        steered: bool,
    },
    /// The agent's answer, or a part of it between two tool calls. A long answer goes on in the next entry.
    Agent {
        /// The words.
        text: String,
        /// How many bytes of answer the turn had produced before this entry: the stream's pieces
        /// carry the same count, so a reader knows where they join.
        offset: u64,
    },
    /// What the model thought before it answered.
    Reasoning {
        /// The words.
        text: String,
        /// How many bytes of reasoning the turn had produced before this entry.
        offset: u64,
    },
    /// What the agent means to do in the turn, as it told it last.
    Plan(Plan),
    /// A tool call and, when it came, its result.
    Tool {
        /// The call's own id.
        call: String,
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: String,
        /// Its result; none while it runs.
        result: Option<ToolResult>,
    },
    /// What the engine told the agent so that it goes on with what was cut off: no person's words.
    Resume {
        /// What it was told.
        text: String,
    },
    /// What the engine told the agent before a person's words: that background processes ended.
    Told {
        /// What it was told.
        text: String,
    },
    /// A line of the engine for the person, which no agent reads: a resume, a reset.
    Notice {
        /// The line.
        text: String,
    },
    /// How a turn ended, when not with an answer.
    Ended {
        /// How.
        outcome: Outcome,
    },
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Whether it did what it should.
    pub ok: bool,
    /// What it gave back.
    pub output: String,
    /// When it ended.
    pub at: Time,
}

/// One step of a conversation as a backend reads it: roles alternate, nothing is half-written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Step {
    /// What was asked.
    User {
        /// The words.
        text: String,
        /// Who asked it.
        #[serde(skip)]
        by: Asker,
    },
    /// What the agent answered, with a note where it was cut.
    Agent {
        /// The words.
        text: String,
        /// Where in them results of tools stand.
        #[serde(skip)]
        results: Vec<Range<usize>>,
    },
}

/// Who asks something of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Asker {
    /// A person.
    #[default]
    Person,
    /// The engine, so that it goes on with what was cut off.
    Engine,
}

impl Step {
    /// What a person asked.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), by: Asker::Person }
    }

    /// What the agent answered, without a tool.
    pub fn agent(text: impl Into<String>) -> Self {
        Self::Agent { text: text.into(), results: Vec::new() }
    }
}

/// A summary that is sent in the place of the entries that it stands for, which stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The last entry that it stands for.
    pub up_to: MessageId,
    /// The words.
    pub text: String,
}

/// The history that a backend reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// Its steps.
    pub steps: Vec<Step>,
    /// The last entry of each.
    pub ends: Vec<MessageId>,
}

/// The newest entries of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Excerpt {
    /// The entries, oldest first. Where they begin in the midst of what was asked, that stands in front of them.
    pub entries: Vec<Entry>,
    /// Whether they are all.
    pub beginning: Beginning,
}

/// Whether entries begin where their conversation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// They do.
    There,
    /// There are more before them.
    LeftOut,
}

/// What an agent reads in the place of a beginning that is left out.
const LEFT_OUT: &str = "[The beginning of this conversation is left out here.]";

/// Makes the history that a backend reads from the entries before a turn.
///
/// Reasoning is left out, tool calls are told as the agent's words, a turn without an answer keeps
/// the question with a note of how it ended, so that the roles alternate whatever happened.
pub fn steps(entries: &[Entry]) -> Vec<Step> {
    told(entries, None, Beginning::There).steps
}

/// The same where a summary stands for the first entries. The first question stays, and so does what was
/// asked in a turn whose end the summary does not reach. Entries that begin in the middle say so.
pub fn told(entries: &[Entry], summary: Option<&Summary>, beginning: Beginning) -> Told {
    let mut told = Told::default();
    if let (Beginning::LeftOut, None, Some(first)) = (beginning, summary, entries.first()) {
        told.take_user(LEFT_OUT, Asker::Person, first.id);
    }
    let covered = summary.map_or(0, |summary| entries.partition_point(|entry| entry.id <= summary.up_to));
    let (covered, rest) = entries.split_at(covered);
    if let Some(summary) = summary {
        let first = covered.iter().find(|entry| entry.asks());
        let (words, by) =
            first.map_or(("[The beginning of this conversation.]", Asker::Person), Entry::asked);
        told.take_user(words, by, summary.up_to);
        told.take_agent(&summary_told(&summary.text), "", summary.up_to);
        let broken_off = rest.first().map(|entry| entry.turn);
        for entry in covered.iter().filter(|entry| Some(entry.turn) == broken_off && entry.asks()) {
            let (words, by) = entry.asked();
            let again = if Some(entry.id) == first.map(|first| first.id) { GO_ON } else { words };
            told.take_user(again, by, summary.up_to);
        }
    }
    rest.iter().for_each(|entry| told.take(entry));
    if let (Some(Step::User { .. }), Some(end)) = (told.steps.last(), told.ends.last()) {
        told.take_agent("[no answer]", "", *end);
    }
    told
}

/// The entries as one reads them: what is kept in parts, each behind the one before, is one text.
pub fn joined(parts: Vec<Entry>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::with_capacity(parts.len());
    for part in parts {
        match entries.last_mut() {
            Some(last) if last.goes_on_in(&part) => last.take_in(&part),
            _ => entries.push(part),
        }
    }
    entries
}

impl Entry {
    /// Whether the entry behind it is the next part of its text.
    pub fn goes_on_in(&self, next: &Entry) -> bool {
        let (text, offset, next_offset) = match (&self.body, &next.body) {
            (Body::Agent { text, offset }, Body::Agent { offset: next, .. })
            | (Body::Reasoning { text, offset }, Body::Reasoning { offset: next, .. }) => {
                (text, offset, next)
            }
            _ => return false,
        };
        self.turn == next.turn && offset + text.len() as u64 == *next_offset
    }

    fn take_in(&mut self, part: &Entry) {
        if let (
            Body::Agent { text, .. } | Body::Reasoning { text, .. },
            Body::Agent { text: more, .. } | Body::Reasoning { text: more, .. },
        ) = (&mut self.body, &part.body)
        {
            text.push_str(more);
        }
    }

    /// Whether it asks something of the agent.
    pub fn asks(&self) -> bool {
        matches!(self.body, Body::User { .. } | Body::Resume { .. })
    }

    /// Whether it is the question that its turn, and the turns that resume it, are about.
    pub fn is_question(&self) -> bool {
        matches!(self.body, Body::User { steered: false, .. })
    }

    /// What was asked of the agent.
    fn asked(&self) -> (&str, Asker) {
        match &self.body {
            Body::User { text, .. } | Body::Told { text } => (text, Asker::Person),
            Body::Resume { text } => (text, Asker::Engine),
            _ => ("", Asker::Person),
        }
    }
}

impl Told {
    fn take(&mut self, entry: &Entry) {
        match &entry.body {
            Body::User { .. } | Body::Resume { .. } | Body::Told { .. } => {
                let (text, by) = entry.asked();
                self.take_user(text, by, entry.id);
            }
            Body::Notice { .. } => {}
            Body::Agent { text, .. } => self.take_agent(text, "", entry.id),
            Body::Reasoning { .. } | Body::Plan(_) => {}
            Body::Tool { name, arguments, result, .. } => {
                self.take_agent(&format!("[tool {name} {arguments} -> "), "\n", entry.id);
                self.take_result(result.as_ref().map_or(EFFECT_UNKNOWN, |done| &done.output));
            }
            Body::Ended { outcome: Outcome::Failed { error } } => {
                self.take_agent(&format!("[no answer: {error}]"), "\n", entry.id);
            }
            Body::Ended { outcome: Outcome::Interrupted { cause } } => {
                self.take_agent(&format!("[{}]", cause.words()), "\n", entry.id);
            }
            Body::Ended { outcome: Outcome::Done } => {}
        }
    }

    fn take_user(&mut self, more: &str, by: Asker, entry: MessageId) {
        match self.steps.last_mut() {
            Some(Step::User { text, by: before }) => {
                append(text, more, "\n\n");
                if by == Asker::Engine {
                    *before = by;
                }
            }
            _ => self.begin(Step::User { text: more.to_owned(), by }, entry),
        }
        self.reach(entry);
    }

    fn take_agent(&mut self, more: &str, separator: &str, entry: MessageId) {
        match self.steps.last_mut() {
            Some(Step::Agent { text, .. }) => append(text, more, separator),
            // A conversation begins with a person: an agent's words without a question are not history.
            None => return,
            Some(Step::User { .. }) => self.begin(Step::agent(more), entry),
        }
        self.reach(entry);
    }

    fn take_result(&mut self, result: &str) {
        if let Some(Step::Agent { text, results }) = self.steps.last_mut() {
            let begin = text.len();
            text.push_str(result);
            results.push(begin..text.len());
            text.push(']');
        }
    }

    fn begin(&mut self, step: Step, entry: MessageId) {
        self.steps.push(step);
        self.ends.push(entry);
    }

    fn reach(&mut self, entry: MessageId) {
        if let Some(end) = self.ends.last_mut() {
            *end = entry;
        }
    }
}

fn append(text: &mut String, more: &str, separator: &str) {
    text.push_str(separator);
    text.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::turn::StopCause;
    use proptest::prelude::*;

    fn entry(body: Body) -> Entry {
        Entry {
            id: MessageId(1),
            session: SessionId::new(Time::UNIX_EPOCH, 1),
            turn: TurnId(1),
            at: Time::UNIX_EPOCH,
            body,
            turn_state: TurnState::Done,
        }
    }

    fn user(text: &str) -> Body {
        Body::User { text: text.to_owned(), steered: false }
    }

    fn agent(text: &str) -> Body {
        Body::Agent { text: text.to_owned(), offset: 0 }
    }

    fn tool(result: Option<&str>) -> Body {
        Body::Tool {
            call: "c".to_owned(),
            name: "ls".to_owned(),
            arguments: "/".to_owned(),
            result: result.map(|output| ToolResult {
                ok: true,
                output: output.to_owned(),
                at: Time::UNIX_EPOCH,
            }),
        }
    }

    fn told(bodies: Vec<Body>) -> Vec<(char, String)> {
        let entries: Vec<Entry> = bodies.into_iter().map(entry).collect();
        let told = steps(&entries).into_iter().map(|step| match step {
            Step::User { text, .. } => ('u', text),
            Step::Agent { text, .. } => ('a', text),
        });
        told.collect()
    }

    fn pairs(expected: &[(char, &str)]) -> Vec<(char, String)> {
        expected.iter().map(|(who, text)| (*who, (*text).to_owned())).collect()
    }

    #[test]
    fn a_long_answer_in_several_entries_is_one_answer() {
        let bodies = vec![user("q"), agent("first "), agent("second")];
        assert_eq!(told(bodies), pairs(&[('u', "q"), ('a', "first second")]));
    }

    #[test]
    fn what_the_engine_asks_is_no_persons_whatever_stands_before_it() {
        let ended = || Body::Told { text: "[process 1 ended]".to_owned() };
        let resume = Body::Resume { text: "go on".to_owned() };
        let bodies = vec![ended(), user("q"), agent("half"), ended(), resume, agent("a")];
        let entries: Vec<Entry> = bodies.into_iter().map(entry).collect();
        let asked: Vec<(Asker, String)> = steps(&entries)
            .into_iter()
            .filter_map(|step| if let Step::User { text, by } = step { Some((by, text)) } else { None })
            .collect();
        let asked: Vec<(Asker, &str)> = asked.iter().map(|(by, text)| (*by, text.as_str())).collect();
        let person = (Asker::Person, "[process 1 ended]\n\nq");
        assert_eq!(asked, [person, (Asker::Engine, "[process 1 ended]\n\ngo on")]);
    }

    #[test]
    fn a_tool_call_without_a_result_says_that_its_effect_is_unknown() {
        let bodies = vec![user("q"), tool(Some("two files")), tool(None), agent("ok")];
        let told = told(bodies);
        assert!(told[1].1.contains("[tool ls / -> two files]"), "{told:?}");
        assert!(told[1].1.contains("[tool ls / -> interrupted, effect unknown]"), "{told:?}");
    }

    #[test]
    fn a_turn_without_an_answer_keeps_its_question_and_says_how_it_ended() {
        let failed = Body::Ended { outcome: Outcome::Failed { error: "no route".to_owned() } };
        let cut = Body::Ended { outcome: Outcome::Interrupted { cause: StopCause::Crash } };
        assert_eq!(told(vec![user("q"), failed])[1].1, "[no answer: no route]");
        let told = told(vec![user("q"), agent("half"), cut]);
        assert_eq!(told[1].1, format!("half\n[{}]", StopCause::Crash.words()));
    }

    /// Entries numbered from 1, of the turns they are given with.
    fn numbered(bodies: Vec<(i64, Body)>) -> Vec<Entry> {
        let of = |(id, (turn, body))| Entry { id: MessageId(id), turn: TurnId(turn), ..entry(body) };
        (1..).zip(bodies).map(of).collect()
    }

    fn words(told: &Told) -> Vec<&str> {
        let words = |step| match step {
            &Step::User { ref text, .. } | &Step::Agent { ref text, .. } => text.as_str(),
        };
        told.steps.iter().map(words).collect()
    }

    #[test]
    fn a_summary_stands_for_the_first_entries_behind_the_first_question() {
        let entries = numbered(vec![
            (1, user("q1")),
            (1, agent("a1")),
            (2, user("q2")),
            (2, agent("a2")),
            (3, user("q3")),
            (3, agent("a3")),
        ]);
        let summary = Summary { up_to: MessageId(4), text: "In short.".to_owned() };
        let told = super::told(&entries, Some(&summary), Beginning::There);
        assert_eq!(words(&told), ["q1", &summary_told("In short."), "q3", "a3"]);
        assert_eq!(told.ends, [4, 4, 5, 6].map(MessageId));
        let later = super::told(&entries[4..], Some(&summary), Beginning::LeftOut);
        assert_eq!(words(&later)[1..], words(&told)[1..], "though its entries are not read any more");
    }

    #[test]
    fn what_was_asked_in_the_turn_that_a_summary_breaks_off_in_stays() {
        let entries = numbered(vec![
            (1, user("q1")),
            (1, agent("a1")),
            (2, user("q2")),
            (2, tool(Some("r1"))),
            (2, tool(Some("r2"))),
            (2, agent("a2")),
        ]);
        let summary = |up_to| Summary { up_to: MessageId(up_to), text: "In short.".to_owned() };
        let told = super::told(&entries, Some(&summary(4)), Beginning::There);
        assert_eq!(words(&told), ["q1", &summary_told("In short."), "q2", "[tool ls / -> r2]a2"]);
        let first = super::told(&entries[2..], Some(&summary(4)), Beginning::LeftOut);
        assert_eq!(words(&first), ["q2", &summary_told("In short."), GO_ON, "[tool ls / -> r2]a2"]);
    }

    #[test]
    fn the_results_of_tools_are_found_in_the_words_of_an_answer() {
        let entries = numbered(vec![(1, user("q")), (1, tool(Some("two files"))), (1, tool(None))]);
        let Some(Step::Agent { text, results }) = steps(&entries).pop() else { panic!("no answer") };
        let found: Vec<&str> = results.iter().map(|place| &text[place.clone()]).collect();
        assert_eq!(found, ["two files", EFFECT_UNKNOWN]);
    }

    #[test]
    fn reasoning_is_not_read_again() {
        let thought = Body::Reasoning { text: "hm".to_owned(), offset: 0 };
        assert_eq!(told(vec![user("q"), thought, agent("a")]), pairs(&[('u', "q"), ('a', "a")]));
    }

    #[test]
    fn a_history_that_begins_in_the_middle_of_an_answer_says_so_and_keeps_it() {
        let entries = [entry(tool(Some("two files"))), entry(agent("done"))];
        let told = super::told(&entries, None, Beginning::LeftOut);
        assert_eq!(words(&told), [LEFT_OUT, "[tool ls / -> two files]done"]);
        assert_eq!(super::told(&entries, None, Beginning::There), Told::default());
    }

    #[test]
    fn a_turn_that_said_nothing_still_ends_with_the_agent() {
        assert_eq!(told(vec![user("q")]), pairs(&[('u', "q"), ('a', "[no answer]")]));
        assert_eq!(told(Vec::new()), []);
    }

    proptest! {
        #[test]
        fn roles_alternate_from_a_person_to_the_agent(kinds in proptest::collection::vec(0..6_u8, 0..20)) {
            let bodies = kinds.iter().map(|kind| match kind {
                0 | 1 => user("q"),
                2 => agent("a"),
                3 => tool(None),
                4 => Body::Reasoning { text: "r".to_owned(), offset: 0 },
                _ => Body::Ended { outcome: Outcome::Failed { error: "e".to_owned() } },
            });
            let told = told(bodies.collect());
            for (index, (who, _)) in told.iter().enumerate() {
                prop_assert_eq!(*who, if index % 2 == 0 { 'u' } else { 'a' });
            }
            prop_assert!(told.len().is_multiple_of(2), "it ends with the agent");
        }
    }
}
