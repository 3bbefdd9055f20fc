//! A conversation as a chat model is sent it, and how it is made shorter when it fills the model's window.
//!
//! Only what is sent is ever shortened; what is kept of a session stays whole. Long results of tools
//! go first, the oldest; where that is not enough, a summary takes the place of what stands between the
//! first message and the newest ones. A call and its result are never parted.

mod shorten;

use std::ops::Range;

use super::history::Step;

pub use shorten::{NotShorter, summary_told};

/// What a model that has no new words of a person goes on with.
pub const GO_ON: &str = "[Go on with what was asked.]";

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// What the model is told before everything.
    System {
        /// The words.
        text: String,
    },
    /// What a person says.
    User {
        /// The words.
        text: String,
    },
    /// What the model said.
    Agent {
        /// The words.
        text: String,
        /// The tools that it called.
        calls: Vec<Call>,
        /// Where in the words results of earlier turns' tools stand.
        results: Vec<Range<usize>>,
    },
    /// What a tool gave back. The results of an answer's calls stand right behind it.
    Result {
        /// The call's id.
        call: String,
        /// What it gave back.
        text: String,
    },
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, a JSON object.
    pub arguments: String,
}

/// A conversation: the system prompt, what was said before, what is asked now, and the steps taken since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Talk {
    messages: Vec<Message>,
    /// The place of the first message of a person.
    first: usize,
    /// The place of what is asked now. Before it roles alternate; behind it each answer calls tools.
    asked: usize,
    /// How many steps of the history a summary stands for that was made since, beyond its own message.
    folded: usize,
    /// How many calls since what was asked that summary stands for.
    calls_folded: usize,
}

/// What a summary stands for, together with all that is before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// So many steps of the history that the turn began with.
    Steps(usize),
    /// All of the history, and the turn's own work up to and with so many calls of tools.
    Calls(usize),
}

/// How a conversation was shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortened {
    /// How many results of tools were left out.
    pub results: usize,
    /// The summary, and what it stands for.
    pub summary: Option<(Covers, String)>,
    /// How many tokens it had before, nearly.
    pub before: u64,
    /// How many it has now, nearly.
    pub after: u64,
}

impl Talk {
    /// The talk at the beginning of a turn. The history's roles alternate and it ends with the agent.
    pub fn new(system: Option<&str>, history: Vec<Step>, message: &str) -> Self {
        let system = system.map(|text| Message::System { text: text.to_owned() });
        let first = usize::from(system.is_some());
        let asked = first + history.len();
        let before = history.into_iter().map(|step| match step {
            Step::User { text, .. } => Message::User { text },
            Step::Agent { text, results } => Message::Agent { text, calls: Vec::new(), results },
        });
        let now = Message::User { text: message.to_owned() };
        let messages = system.into_iter().chain(before).chain([now]).collect();
        Self { messages, first, asked, folded: 0, calls_folded: 0 }
    }

    /// The messages, in order.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Adds an answer with tool calls, and their results.
    pub fn add(&mut self, text: String, done: Vec<(Call, String)>) {
        let (calls, results): (Vec<Call>, Vec<Message>) = done
            .into_iter()
            .map(|(call, text)| {
                let id = call.id.clone();
                (call, Message::Result { call: id, text })
            })
            .unzip();
        self.messages.push(Message::Agent { text, calls, results: Vec::new() });
        self.messages.extend(results);
    }

    /// Adds what the model is told within the turn: by a person who steers it, or by the engine.
    pub fn hear(&mut self, text: String) {
        self.messages.push(Message::User { text });
    }

    /// About how many tokens it takes: rather too many than too few.
    pub fn tokens(&self) -> u64 {
        self.messages.iter().map(Message::tokens).sum()
    }
}

impl Message {
    /// About how many tokens it takes.
    pub fn tokens(&self) -> u64 {
        /// What stands around every message.
        const FRAME: u64 = 4;
        let inside = match self {
            Self::System { text } | Self::User { text } | Self::Result { text, .. } => tokens_of(text),
            Self::Agent { text, calls, .. } => {
                let called =
                    calls.iter().map(|call| tokens_of(&call.name) + tokens_of(&call.arguments) + FRAME);
                tokens_of(text) + called.sum::<u64>()
            }
        };
        inside + FRAME
    }
}

/// About how many tokens a text takes.
pub fn tokens_of(text: &str) -> u64 {
    let mut count = Count::default();
    count.add(text);
    count.tokens()
}

/// The characters of a text that comes in pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    ascii: usize,
    others: usize,
}

impl Count {
    /// Counts the next piece.
    pub fn add(&mut self, piece: &str) {
        let ascii = piece.bytes().filter(u8::is_ascii).count();
        self.ascii += ascii;
        self.others += piece.chars().count() - ascii;
    }

    /// About how many tokens they take: one for seven halves of an ASCII character, one for any other.
    pub fn tokens(&self) -> u64 {
        ((self.ascii * 2).div_ceil(7) + self.others) as u64
    }
}
