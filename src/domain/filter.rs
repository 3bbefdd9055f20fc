//! The filter of a list: words, `!` to invert, `state:` and `platform:` terms.

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

/// What a filter of sessions looks at.
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

    /// The terms that no session can fit, each with what it takes.
    pub fn problems(&self) -> Vec<String> {
        let states = || SessionState::ALL.map(|state| state.word().replace(' ', "_"));
        let unknown = self.terms.iter().filter_map(|term| match &term.test {
            Test::State(word) if !states().iter().any(|state| state.starts_with(word)) => Some(word),
            _ => None,
        });
        unknown.map(|word| format!("there is no state {word:?}: {}", states().join(", "))).collect()
    }

    /// Whether it lets `subject` through.
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        let Subject { name, key, platform, state } = *subject;
        self.fits(&Words { name, key, platform, state: state.word(), text: "" })
    }

    /// Whether it lets a thing through of which these are the words.
    pub fn fits(&self, words: &Words<'_>) -> bool {
        self.terms.iter().all(|term| term.test.holds(words) != term.inverted)
    }
}

/// What a filter looks at.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    /// What a person calls it.
    pub name: &'a str,
    /// Its key or id.
    pub key: &'a str,
    /// Its platform.
    pub platform: &'a str,
    /// The words of its state, with commas between them.
    pub state: &'a str,
    /// What else is seen of it.
    pub text: &'a str,
}

impl Test {
    fn holds(&self, words: &Words<'_>) -> bool {
        match self {
            Self::Word(word) => {
                let has = |text: &str| text.to_lowercase().contains(word.as_str());
                is_subsequence(word, words.name) || has(words.key) || has(words.text)
            }
            Self::State(state) => {
                words.state.split(", ").any(|one| one.replace(' ', "_").starts_with(state.as_str()))
            }
            Self::Platform(platform) => words.platform.to_lowercase().starts_with(platform.as_str()),
        }
    }
}

/// Whether the characters of `needle` (lower case) stand in `hay` in this order.
fn is_subsequence(needle: &str, hay: &str) -> bool {
    let mut hay = hay.chars().flat_map(char::to_lowercase);
    needle.chars().all(|wanted| hay.any(|c| c == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lets_through(filter: &str) -> bool {
        Filter::parse(filter).matches(&Subject {
            name: "Nightly Report",
            key: "agent:main:telegram:dm:4711",
            platform: "telegram",
            state: SessionState::NeedsYou,
        })
    }

    #[test]
    fn every_term_must_hold() {
        let yes = [
            "",
            "nightly",
            "nirep",
            "NREP",
            "4711",
            "telegram",
            "platform:tele",
            "state:needs",
            "state:needs_you",
        ];
        for filter in yes {
            assert!(lets_through(filter), "{filter}");
            assert!(!lets_through(&format!("{filter} nothing-like-it")), "{filter}");
        }
        for filter in ["peren", "4712", "platform:signal", "state:idle", "!nightly", "nightly !4711"] {
            assert!(!lets_through(filter), "{filter}");
        }
        assert!(lets_through("!state:idle nightly !platform:signal"));
    }

    #[test]
    fn a_state_that_does_not_exist_is_told_with_those_that_do() {
        let problems = Filter::parse("a state:foo state:need !state:runs").problems();
        assert_eq!(
            problems,
            ["there is no state \"foo\": needs_you, runs, resumes, suspended, held, waits, idle"]
        );
    }

    #[test]
    fn a_filter_without_terms_is_empty() {
        assert!(Filter::parse("  ").is_empty());
        assert!(Filter::parse("!").is_empty());
        assert!(!Filter::parse("a").is_empty());
    }

    proptest! {
        #[test]
        fn inverting_a_word_inverts_what_it_lets_through(word in "[a-z0-9]{1,6}") {
            prop_assert_ne!(lets_through(&word), lets_through(&format!("!{word}")));
        }
    }
}
