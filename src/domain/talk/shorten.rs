//! What goes first, what stays, and where a summary stands.

use std::fmt::Write as _;
use std::ops::Range;

use super::{Covers, GO_ON, Message, Talk, tokens_of};

/// So many of the newest turns and steps stay as they are at most.
const KEPT: usize = 6;
/// A result of a tool that is longer is left out when it is old.
const LONG_RESULT: usize = 400;
/// So much of a message a summary is made from at most, and at least.
const MOST_QUOTED: usize = 16_000;
const LEAST_QUOTED: usize = 60;

/// Why a conversation can't be made shorter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotShorter {
    /// There is nothing that may be taken out.
    #[error("nothing stands between its first message and its newest ones")]
    Nothing,
    /// The model gave no summary.
    #[error("the summary came back empty")]
    Empty,
    /// The summary takes no less than what it would stand for.
    #[error("the summary would take {summary} tokens in place of {instead_of}")]
    Longer {
        /// What it takes.
        summary: u64,
        /// What it would stand for.
        instead_of: u64,
    },
}

/// A summary as a model is told it.
pub fn summary_told(summary: &str) -> String {
    format!("[What came next, in short, since all of it is too long to be sent:]\n{summary}")
}

impl Talk {
    /// Where the part begins that stays as it is: the newest turns and steps that take at most `budget`
    /// tokens together, and the newest of all in any case.
    pub fn tail(&self, budget: u64) -> usize {
        let mut tail = self.asked;
        let mut tokens = 0;
        let mut end = self.messages.len();
        for (kept, joint) in self.joints().into_iter().rev().take(KEPT).enumerate() {
            tokens += size(self.messages.get(joint..end).unwrap_or_default());
            if kept > 0 && tokens > budget {
                break;
            }
            (tail, end) = (joint, joint);
        }
        tail
    }

    /// The places where a kept part may begin: a message that begins a turn, and an answer with its calls.
    /// The first answer of the turn is none: what was asked would have to be repeated right before it.
    fn joints(&self) -> Vec<usize> {
        let begins = |place: usize| match self.messages.get(place) {
            Some(Message::User { .. }) => place <= self.asked,
            Some(Message::Agent { .. }) => place > self.asked + 1,
            _ => false,
        };
        (self.first..self.messages.len()).filter(|place| begins(*place)).collect()
    }

    /// Leaves the long results out that stand before `tail`; returns how many.
    pub fn leave_results_out(&mut self, tail: usize) -> usize {
        let mut left_out = 0;
        for message in self.messages.iter_mut().take(tail) {
            match message {
                Message::Result { text, .. } if text.len() > LONG_RESULT => {
                    *text = note(text);
                    left_out += 1;
                }
                Message::Agent { text, results, .. } => left_out += leave_out(text, results),
                _ => {}
            }
        }
        left_out
    }

    /// What a summary would be made from: all between the first message and `tail`, with long messages
    /// quoted in part, so that it takes about `budget` tokens at most.
    ///
    /// # Errors
    /// Where nothing stands there that a summary would make shorter.
    pub fn transcript(&self, tail: usize, budget: u64) -> Result<String, NotShorter> {
        let middle = self.middle(tail)?;
        let mut quoted = MOST_QUOTED;
        loop {
            let text: String = middle.iter().map(|message| quote(message, quoted)).collect();
            if tokens_of(&text) <= budget || quoted <= LEAST_QUOTED {
                return Ok(text);
            }
            quoted /= 2;
        }
    }

    /// Puts a summary in the place of all between the first message and `tail`. What was asked is said
    /// again behind it where it would be gone. Returns what the summary stands for.
    ///
    /// # Errors
    /// Where that would not make it shorter; it stays as it was.
    pub fn summarise(&mut self, tail: usize, summary: &str) -> Result<Covers, NotShorter> {
        let middle = self.middle(tail)?;
        if summary.trim().is_empty() {
            return Err(NotShorter::Empty);
        }
        let text = summary_told(summary.trim());
        let mut instead = vec![Message::Agent { text, calls: Vec::new(), results: Vec::new() }];
        if tail > self.asked {
            let asked = match self.messages.get(self.asked) {
                Some(message) if self.asked > self.first => message.clone(),
                _ => Message::User { text: GO_ON.to_owned() },
            };
            instead.push(asked);
        }
        let (summary, instead_of) = (size(&instead), size(middle));
        if summary >= instead_of {
            return Err(NotShorter::Longer { summary, instead_of });
        }
        let begin = self.first + 1;
        let covers = if tail > self.asked {
            self.calls_folded += self.messages.iter().take(tail).skip(self.asked).map(calls).sum::<usize>();
            self.asked = begin + 1;
            Covers::Calls(self.calls_folded)
        } else {
            let steps = tail - self.first + self.folded;
            self.folded += tail - begin - 1;
            self.asked -= tail - begin - 1;
            Covers::Steps(steps)
        };
        self.messages.splice(begin..tail, instead);
        Ok(covers)
    }

    /// A summary alone is none the shorter for being summed up again.
    fn middle(&self, tail: usize) -> Result<&[Message], NotShorter> {
        self.messages.get(self.first + 1..tail).filter(|middle| middle.len() > 1).ok_or(NotShorter::Nothing)
    }
}

fn size(messages: &[Message]) -> u64 {
    messages.iter().map(Message::tokens).sum()
}

fn calls(message: &Message) -> usize {
    if let Message::Agent { calls, .. } = message { calls.len() } else { 0 }
}

fn note(result: &str) -> String {
    format!("[result left out to save room: {} characters]", result.chars().count())
}

/// Leaves the long results in a text out, and moves the places of the others.
fn leave_out(text: &mut String, results: &mut [Range<usize>]) -> usize {
    let mut short = String::with_capacity(text.len());
    let (mut end, mut left_out) = (0, 0);
    for result in results {
        let inside = text.get(result.clone()).unwrap_or_default();
        short.push_str(text.get(end..result.start).unwrap_or_default());
        end = result.end;
        let begin = short.len();
        if inside.len() > LONG_RESULT {
            short.push_str(&note(inside));
            left_out += 1;
        } else {
            short.push_str(inside);
        }
        *result = begin..short.len();
    }
    if left_out > 0 {
        short.push_str(text.get(end..).unwrap_or_default());
        *text = short;
    }
    left_out
}

fn quote(message: &Message, most: usize) -> String {
    let mut quoted = String::new();
    // Writing to a text can't fail.
    let _ = match message {
        Message::System { text } => writeln!(quoted, "Rules: {}", part(text, most)),
        Message::User { text } => writeln!(quoted, "User: {}", part(text, most)),
        Message::Result { text, .. } => writeln!(quoted, "Result: {}", part(text, most)),
        Message::Agent { text, calls, .. } => {
            if !text.is_empty() {
                let _ = writeln!(quoted, "You: {}", part(text, most));
            }
            calls.iter().try_for_each(|call| {
                writeln!(quoted, "You called {} with {}", call.name, part(&call.arguments, most))
            })
        }
    };
    quoted
}

/// The beginning and the end of a text that is too long.
fn part(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let (head, tail) = (text.floor_char_boundary(most / 2), text.ceil_char_boundary(text.len() - most / 2));
    format!("{} […] {}", text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::Call;
    use super::*;
    use crate::domain::history::Step;
    use proptest::prelude::*;

    fn call(id: usize) -> Call {
        Call { id: format!("c{id}"), name: "ls".to_owned(), arguments: "{}".to_owned() }
    }

    /// A talk with as many turns before, then the turn's own steps, each with so many calls.
    fn talk(system: bool, turns: usize, steps: &[usize], words: usize) -> Talk {
        let text = |who: &str, n: usize| format!("{who}{n} {}", "word ".repeat(words));
        let history = (0..turns).flat_map(|n| {
            let answer = text("answer", n);
            let result = 6..answer.len();
            [Step::user(text("question", n)), Step::Agent { text: answer, results: vec![result] }]
        });
        let mut talk = Talk::new(system.then_some("rules"), history.collect(), "now");
        let mut ids = 0..;
        for calls in steps {
            let done = ids.by_ref().take(*calls).map(|n| (call(n), text("result", n))).collect();
            talk.add(String::new(), done);
            if calls % 2 == 0 {
                talk.hear("steered".to_owned());
            }
        }
        talk
    }

    /// What servers take: a person begins, answers do not follow each other, each call has its result
    /// right behind it, and the model is to answer.
    fn well_formed(talk: &Talk) -> Result<(), String> {
        let mut messages = talk.messages.iter().skip(talk.first);
        let mut may_answer = false;
        while let Some(message) = messages.next() {
            match message {
                Message::User { .. } => may_answer = true,
                Message::Agent { calls, .. } if may_answer => {
                    for call in calls {
                        match messages.next() {
                            Some(Message::Result { call: of, .. }) if *of == call.id => {}
                            other => return Err(format!("{call:?} has {other:?} behind it")),
                        }
                    }
                    may_answer = !calls.is_empty();
                }
                other => return Err(format!("{other:?} stands where it may not")),
            }
        }
        match talk.messages.last() {
            Some(Message::User { .. } | Message::Result { .. }) => Ok(()),
            other => Err(format!("it ends with {other:?}")),
        }
    }

    fn text(message: &Message) -> &str {
        match message {
            Message::System { text }
            | Message::User { text }
            | Message::Result { text, .. }
            | Message::Agent { text, .. } => text,
        }
    }

    #[test]
    fn old_results_go_first_and_say_how_long_they_were() {
        let mut talk = talk(true, 3, &[1, 1], 200);
        let tail = talk.tail(10);
        assert_eq!(talk.leave_results_out(tail), 4, "three of the history, one of the turn");
        let texts: Vec<&str> = talk.messages.iter().map(text).collect();
        assert_eq!(texts[2], "answer[result left out to save room: 1002 characters]");
        assert_eq!(texts[9], "[result left out to save room: 1008 characters]");
        assert!(texts[11].starts_with("result1 word"), "the newest step stays: {texts:?}");
        assert_eq!(talk.leave_results_out(tail), 0, "once");
    }

    #[test]
    fn a_summary_stands_between_the_first_question_and_the_newest_turns() {
        let mut talk = talk(true, 4, &[], 50);
        let tail = talk.tail(200);
        let transcript = talk.transcript(tail, 10_000).unwrap();
        assert!(
            transcript.contains("You: answer0") && transcript.contains("User: question2"),
            "{transcript}"
        );
        assert!(!transcript.contains("question0") && !transcript.contains("question3"), "{transcript}");
        assert_eq!(talk.summarise(tail, " In short. "), Ok(Covers::Steps(6)));
        let texts: Vec<&str> = talk.messages.iter().map(text).collect();
        assert_eq!((texts[0], texts.len()), ("rules", 6));
        assert!(texts[1].starts_with("question0") && texts[3].starts_with("question3"), "{texts:?}");
        assert_eq!(texts[2], summary_told("In short."));
        assert_eq!(texts[5], "now");
    }

    #[test]
    fn what_was_asked_is_said_again_behind_a_summary_of_the_turns_own_steps() {
        let mut talk = talk(false, 2, &[1, 1, 1, 1], 100);
        let tail = talk.tail(400);
        assert_eq!(talk.summarise(tail, "In short."), Ok(Covers::Calls(2)));
        let texts: Vec<&str> = talk.messages.iter().map(text).collect();
        assert!(texts[0].starts_with("question0"), "{texts:?}");
        assert_eq!(texts[2], "now");
        assert_eq!(texts.len(), 7, "two steps are left: {texts:?}");
        talk.add(String::new(), vec![(call(9), "long ".repeat(200))]);
        let tail = talk.tail(10);
        assert_eq!(
            talk.summarise(tail, "Shorter."),
            Ok(Covers::Calls(4)),
            "counted from the turn's beginning"
        );
    }

    #[test]
    fn a_first_turn_goes_on_without_its_question_being_said_twice() {
        let mut talk = talk(false, 0, &[1, 1, 1], 100);
        let tail = talk.tail(10);
        assert_eq!(talk.summarise(tail, "In short."), Ok(Covers::Calls(2)));
        let texts: Vec<&str> = talk.messages.iter().map(text).collect();
        assert_eq!((texts[0], texts[2]), ("now", GO_ON));
    }

    #[test]
    fn what_would_not_be_shorter_is_refused_and_changes_nothing() {
        let mut talk = talk(false, 3, &[], 5);
        let (tail, before) = (talk.tail(10), talk.clone());
        assert_eq!(talk.summarise(tail, " \n"), Err(NotShorter::Empty));
        assert!(matches!(talk.summarise(tail, &"long ".repeat(500)), Err(NotShorter::Longer { .. })));
        assert_eq!(talk, before);
        let mut short = super::tests::talk(true, 0, &[], 5);
        assert_eq!(short.summarise(short.tail(10), "s"), Err(NotShorter::Nothing));
        assert_eq!(short.transcript(short.tail(10), 10), Err(NotShorter::Nothing));
    }

    #[test]
    fn a_transcript_quotes_long_messages_in_part_until_it_fits() {
        let talk = talk(false, 3, &[], 4_000);
        let tail = talk.tail(10);
        for budget in [5_000, 1_000, 200] {
            let transcript = talk.transcript(tail, budget).unwrap();
            assert!(tokens_of(&transcript) <= budget, "{budget}: {}", tokens_of(&transcript));
            assert!(transcript.contains(" […] "), "{transcript}");
        }
    }

    proptest! {
        #[test]
        fn it_is_shorter_and_well_formed_or_as_it_was(
            system in any::<bool>(),
            turns in 0..8_usize,
            steps in proptest::collection::vec(1..4_usize, 0..8),
            words in 0..150_usize,
            budgets in proptest::collection::vec(0..2_000_u64, 1..4),
            summary in "[a-z ]{0,400}",
        ) {
            let mut talk = talk(system, turns, &steps, words);
            prop_assert_eq!(well_formed(&talk), Ok(()));
            let mut covered = 0;
            for budget in budgets {
                let before = talk.clone();
                let tail = talk.tail(budget);
                let kept = before.messages[tail..].to_vec();
                let left_out = talk.leave_results_out(tail);
                prop_assert_eq!(talk.tokens() < before.tokens(), left_out > 0);
                let whole = talk.tokens();
                match talk.summarise(tail, &summary) {
                    Ok(covers) => {
                        prop_assert!(talk.tokens() < whole);
                        let now = match covers {
                            Covers::Steps(steps) => steps,
                            Covers::Calls(calls) => 2 * turns + calls,
                        };
                        prop_assert!(now > covered, "{} after {}", now, covered);
                        covered = now;
                    }
                    Err(_) => prop_assert_eq!(talk.tokens(), whole),
                }
                prop_assert_eq!(well_formed(&talk), Ok(()));
                prop_assert_eq!(&talk.messages[..=talk.first], &before.messages[..=before.first]);
                prop_assert!(talk.messages.ends_with(&kept), "the newest messages stay");
                let asked = text(&talk.messages[talk.asked]);
                prop_assert!(asked == "now" || asked == GO_ON);
            }
        }
    }
}
