//! The filter of a list of sessions: words, `!` to invert, `state:` and `platform:` terms.

use super::session::SessionState;

/// A filter as it was typed, understood. Every term must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    inverted: bool,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Word(String),
    State(String),
    Platform(String),
}

/// What a filter looks at.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Title or chat name.
    pub name: &'a str,
    /// The session key.
    pub key: &'a str,
    /// The platform.
    pub platform: &'a str,
    /// What it is doing.
    pub state: SessionState,
}

impl Filter {
    /// Understands what was typed. Everything means something: there is no wrong filter.
    pub fn parse(text: &str) -> Self {
        let terms = text.split_whitespace().filter_map(|word| {
            let (inverted, word) = match word.strip_prefix('!') {
                Some(rest) => (true, rest),
                None => (false, word),
            };
            let lower = word.to_lowercase();
            let test = match lower.split_once(':') {
                Some(("state", state)) => Test::State(state.to_owned()),
                Some(("platform", platform)) => Test::Platform(platform.to_owned()),
                _ => Test::Word(lower),
            };
            (!word.is_empty()).then_some(Term { inverted, test })
        });
        Self { terms: terms.collect() }
    }

    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether it lets `subject` through.
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        self.terms.iter().all(|term| term.test.holds(subject) != term.inverted)
    }
}

impl Test {
    fn holds(&self, subject: &Subject<'_>) -> bool {
        match self {
            Self::Word(word) => {
                is_subsequence(word, subject.name) || subject.key.to_lowercase().contains(word.as_str())
            }
            Self::State(state) => subject.state.word().replace(' ', "_").starts_with(state.as_str()),
            Self::Platform(platform) => subject.platform.to_lowercase().starts_with(platform.as_str()),
        }
    }
}

/// Whether the characters of `needle` (lower case) stand in `hay` in this order.
fn is_subsequence(needle: &str, hay: &str) -> bool {
    let mut hay = hay.chars().flat_map(char::to_lowercase);
    needle.chars().all(|wanted| hay.any(|c| c == wanted))
}
