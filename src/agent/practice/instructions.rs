//! What a message asks the practice agent to do.

use std::time::Duration;

use crate::domain::spending::{Spent, read_money};

/// The acts that a message asks for, in its order, and how fast the answer comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Instructions {
    /// In the order of the message; empty where it holds no instruction.
    pub(super) acts: Vec<Act>,
    /// For the whole answer.
    pub(super) pace: Pace,
}

/// One thing that the practice agent can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Says these words and nothing round them.
    Say(String),
    /// Works that long, with a word of progress each second.
    Take(Duration),
    /// Reasons before it goes on.
    Think,
    /// Works through a plan, and tells how far it is.
    Plan,
    /// Calls a tool.
    Call(Tool),
    /// Seems to run a command that long, which writes a line each second.
    Run(Duration),
    /// Asks whether it may run a command, and runs nothing.
    AskToRun(String),
    /// Asks whether it may make a scheduled task, and has it made.
    Schedule,
    /// Starts a command that sleeps in the background.
    Background,
    /// Writes that many lines as fast as they are taken.
    Write(u32),
    /// Says that it used so much, for the limits of a day.
    Spend(Spent),
    /// Says that its window is so full, in percent.
    Fill(u32),
    /// Goes on with a summary of what was said before.
    Compact,
    /// Loses the server that it has not, and tries again.
    Retry,
    /// Tells all that it was told in this memory.
    Recall,
    /// Tells its instructions.
    Help,
    /// Fails; as the first act, before it has said anything.
    Fail,
    /// Ends in the middle of a word, as an agent whose process died.
    Crash,
    /// Never goes on.
    Hang(Stops),
}

/// Whether an agent that hangs obeys a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stops {
    /// A stop ends it.
    Obeyed,
    /// Only dropping it ends it.
    Ignored,
}

/// The practice agent's tools. They touch nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// Counts the words of the message.
    CountWords,
    /// Tells the time.
    Clock,
    /// Fails.
    Broken,
}

/// How fast an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Quick, yet visibly a stream.
    Normal,
    /// A few words a second.
    Slow,
}

/// The instructions with what they show, for people.
pub(super) const KNOWN: [(&str, &str); 25] = [
    ("say good day", "says just that, to the end of the line"),
    ("take 20 seconds", "works that long"),
    ("stream slowly", "a few words a second"),
    ("write 500 lines", "as fast as they are taken"),
    ("long", "a long answer"),
    ("think", "reasoning"),
    ("work by a plan", "three steps, and how far it is"),
    ("call a tool", "counts the words of your message"),
    ("call the clock", "another tool"),
    ("call a broken tool", "one that fails"),
    ("run a command for 20 seconds", "a tool that writes while it runs (nothing is run)"),
    ("ask to run git push", "an approval (nothing is run, to the end of the line)"),
    ("start something in the background", "a process that sleeps for ten minutes"),
    ("schedule something", "a task in ten minutes, which it asks about first"),
    ("fill the window to 60 percent", "the meter of the context"),
    ("compact", "goes on with a summary of what was said before"),
    ("use 50,000 tokens", "counts against the daily limits of [spending]"),
    ("spend 2.50", "the same in money"),
    ("retry", "a server that is not there, tried again"),
    ("what do you remember", "all that you told it in this memory"),
    ("fail", "a failed turn"),
    ("crash", "an agent that dies in the middle of a word"),
    ("hang", "until it is stopped"),
    ("hang hard", "a stop is ignored, too"),
    ("help", "this"),
];

const LONG_ANSWER_LINES: u32 = 2_000;
const MOST_LINES: u32 = 1_000_000;
const LONGEST_TAKE: Duration = Duration::from_secs(24 * 60 * 60);
const LONGEST_RUN: Duration = Duration::from_secs(60 * 60);

/// Reads the instructions in a message. A clause counts only as a whole, so that ordinary
/// sentences which mention failing or hanging do neither.
pub(super) fn read(message: &str) -> Instructions {
    let mut read = Instructions { acts: Vec::new(), pace: Pace::Normal };
    for line in message.lines() {
        let mut rest = line.trim();
        while !rest.is_empty() {
            if let Some(words) = strip_say(rest) {
                read.acts.push(Act::Say(words.to_owned()));
                break;
            }
            if let Some(command) = strip_ask(rest) {
                read.acts.push(Act::AskToRun(command.to_owned()));
                break;
            }
            let (clause, after) = next_clause(rest);
            match read_clause(clause) {
                Some(Clause::Act(act)) => read.acts.push(act),
                Some(Clause::Slowly) => read.pace = Pace::Slow,
                None => {}
            }
            rest = after.trim_start();
        }
    }
    read
}

enum Clause {
    Act(Act),
    Slowly,
}

fn strip_say(text: &str) -> Option<&str> {
    rest_after("say ", text)
}

fn strip_ask(text: &str) -> Option<&str> {
    rest_after("ask to run ", text)
}

/// What stands behind these words, up to the end of the line.
fn rest_after<'t>(words: &str, text: &'t str) -> Option<&'t str> {
    let (begin, rest) = text.split_at_checked(words.len())?;
    let rest = rest.trim();
    (begin.eq_ignore_ascii_case(words) && !rest.is_empty()).then_some(rest)
}

fn next_clause(text: &str) -> (&str, &str) {
    const SEPARATORS: [&str; 5] = [", ", "; ", ". ", " then ", " and "];
    SEPARATORS
        .iter()
        .filter_map(|separator| text.split_once(separator))
        .min_by_key(|(clause, _)| clause.len())
        .unwrap_or((text, ""))
}

fn read_clause(clause: &str) -> Option<Clause> {
    let lower = clause.to_lowercase();
    let words: Vec<&str> = lower
        .split_whitespace()
        .map(|word| word.trim_matches(['.', ',', ';', ':', '!', '?', '"', '\'']))
        .filter(|word| !matches!(*word, "" | "please" | "now" | "then" | "and" | "a" | "an" | "the" | "for"))
        .collect();
    let act = match words.as_slice() {
        ["slowly"] | ["stream", "slowly"] => return Some(Clause::Slowly),
        ["take" | "wait" | "sleep", amount @ ..] => Act::Take(read_duration(amount)?),
        ["think"] => Act::Think,
        ["plan"] | ["make", "plan"] | ["work", "by" | "through", "plan"] => Act::Plan,
        ["call", "tool"] | ["call" | "use", "count_words"] | ["count", "words"] => {
            Act::Call(Tool::CountWords)
        }
        ["call" | "use", "broken", "tool"] => Act::Call(Tool::Broken),
        ["run", "command"] => Act::Run(Duration::from_secs(20)),
        ["run", "command", amount @ ..] => Act::Run(read_duration(amount)?.min(LONGEST_RUN)),
        ["start", "something", "in", "background"] => Act::Background,
        ["schedule", "something"] => Act::Schedule,
        ["fill", "window"] => Act::Fill(100),
        ["fill", "window", "to", percent, "percent" | "%"] => Act::Fill(read_number(percent)?.min(100)),
        ["compact"] | ["compact", "conversation"] => Act::Compact,
        ["use" | "spend", number, "token" | "tokens"] => {
            Act::Spend(Spent { tokens: read_number(number)?.into(), cost: 0 })
        }
        ["spend", amount] => Act::Spend(Spent { tokens: 0, cost: read_money(amount)? }),
        ["retry"] | ["try", "again"] => Act::Retry,
        ["call" | "use", "clock"] | ["what", "time", "is", "it"] => Act::Call(Tool::Clock),
        ["long"] | ["long", "answer"] => Act::Write(LONG_ANSWER_LINES),
        ["write", number, "line" | "lines"] => Act::Write(read_number(number)?.min(MOST_LINES)),
        ["recall"] | ["what", "do", "you", "remember"] | ["what", "did", "i", "say" | "tell", ..] => {
            Act::Recall
        }
        ["help"] => Act::Help,
        ["fail"] => Act::Fail,
        ["crash"] => Act::Crash,
        ["hang"] => Act::Hang(Stops::Obeyed),
        ["hang", "hard"] => Act::Hang(Stops::Ignored),
        _ => return None,
    };
    Some(Clause::Act(act))
}

fn read_duration(words: &[&str]) -> Option<Duration> {
    let (number, unit) = match words {
        [number, unit] => (*number, *unit),
        [joined] => joined.split_at(joined.find(|c: char| !c.is_ascii_digit())?),
        _ => return None,
    };
    let number = u64::from(read_number(number)?);
    let duration = match unit {
        "ms" | "millisecond" | "milliseconds" => Duration::from_millis(number),
        "s" | "sec" | "second" | "seconds" => Duration::from_secs(number),
        "m" | "min" | "minute" | "minutes" => Duration::from_secs(number * 60),
        _ => return None,
    };
    Some(duration.min(LONGEST_TAKE))
}

fn read_number(word: &str) -> Option<u32> {
    word.replace([',', '_'], "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Act {
        Act::Take(Duration::from_secs(n))
    }

    #[test]
    fn each_instruction_is_read() {
        let cases = [
            ("take 20 seconds", seconds(20)),
            ("Please take 20 seconds.", seconds(20)),
            ("wait for 1 second", seconds(1)),
            ("sleep 3s", seconds(3)),
            ("take 2 minutes", seconds(120)),
            ("take 250 ms", Act::Take(Duration::from_millis(250))),
            ("take 4000000000 minutes", Act::Take(LONGEST_TAKE)),
            ("start something in the background", Act::Background),
            ("think", Act::Think),
            ("Work by a plan.", Act::Plan),
            ("call a broken tool", Act::Call(Tool::Broken)),
            ("run a command for 20 seconds", Act::Run(Duration::from_secs(20))),
            ("run a command for 3 minutes", Act::Run(Duration::from_secs(180))),
            ("run a command", Act::Run(Duration::from_secs(20))),
            ("run the command for 9000 minutes", Act::Run(LONGEST_RUN)),
            ("fill the window to 60 percent", Act::Fill(60)),
            ("fill the window to 160 %", Act::Fill(100)),
            ("compact the conversation", Act::Compact),
            ("use 50,000 tokens", Act::Spend(Spent { tokens: 50_000, cost: 0 })),
            ("spend 2.50", Act::Spend(Spent { tokens: 0, cost: 2_500_000 })),
            ("retry", Act::Retry),
            ("schedule something", Act::Schedule),
            ("call a tool", Act::Call(Tool::CountWords)),
            ("Call the clock!", Act::Call(Tool::Clock)),
            ("what time is it?", Act::Call(Tool::Clock)),
            ("long", Act::Write(LONG_ANSWER_LINES)),
            ("write 35,000 lines", Act::Write(35_000)),
            ("write 1 line", Act::Write(1)),
            ("write 2000000 lines", Act::Write(MOST_LINES)),
            ("What do you remember?", Act::Recall),
            ("what did I tell you before", Act::Recall),
            ("help", Act::Help),
            ("FAIL", Act::Fail),
            ("crash", Act::Crash),
            ("hang", Act::Hang(Stops::Obeyed)),
            ("hang hard", Act::Hang(Stops::Ignored)),
            ("ask to run git push; reboot", Act::AskToRun("git push; reboot".into())),
            ("say Good day, and fail", Act::Say("Good day, and fail".into())),
        ];
        for (message, act) in cases {
            assert_eq!(read(message).acts, [act], "{message:?}");
        }
    }

    #[test]
    fn whatever_the_help_names_is_an_instruction() {
        for (words, _) in KNOWN {
            let asked = read(words);
            assert!(asked.acts.len() == 1 || asked.pace == Pace::Slow, "{words:?}: {asked:?}");
        }
    }

    #[test]
    fn acts_come_in_the_order_of_the_message() {
        let asked = read("stream slowly, think, call a tool and take 5 seconds, then fail");
        assert_eq!(asked.pace, Pace::Slow);
        assert_eq!(asked.acts, [Act::Think, Act::Call(Tool::CountWords), seconds(5), Act::Fail]);
        let asked = read("take 2 seconds then say done, really\nhang");
        assert_eq!(asked.acts, [seconds(2), Act::Say("done, really".into()), Act::Hang(Stops::Obeyed)]);
    }

    #[test]
    fn ordinary_sentences_ask_for_nothing() {
        let ordinary = [
            "",
            "   ",
            "hello",
            "does it hang or crash when the disk is full?",
            "I think so",
            "take care",
            "take 5 apples",
            "take ten seconds",
            "write many lines",
            "say",
            "saying it",
            "sä",
            "the build will fail",
            "spend the day",
            "run the tests",
            "what is the plan?",
            "write -1 lines",
        ];
        for message in ordinary {
            assert_eq!(read(message), Instructions { acts: vec![], pace: Pace::Normal }, "{message:?}");
        }
    }
}
