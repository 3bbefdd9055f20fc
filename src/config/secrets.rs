//! The keys themselves, so that they can be taken out of what agents and scripts give back.

use std::fs;
use std::sync::Arc;

use super::Keys;

/// A shorter value is no key but a word that local servers take for one.
const SHORTEST: usize = 8;

/// What no store, log or screen may hold. Nothing prints it.
#[derive(Clone, Default)]
pub struct Secrets(Arc<[String]>);

impl Secrets {
    /// What stands where a key was.
    pub const HIDDEN: &str = "[the key]";

    /// Reads the keys from their places, as they are now. One that can't be read can't be told either.
    pub fn read(keys: &Keys) -> Self {
        let variables = keys.variables.iter().filter_map(|name| std::env::var(name).ok());
        let files = keys.files.iter().filter_map(|path| fs::read_to_string(path).ok());
        let values = variables.chain(files).map(|value| value.trim().to_owned());
        let mut values: Vec<String> = values.filter(|value| value.len() >= SHORTEST).collect();
        // Of two keys, one of which holds the other, the whole goes first.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values.into())
    }

    /// A text without the keys. One that is cut at its end is not found: see [`Secrets::begun_at_the_end_of`].
    pub fn hide(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| match text.contains(secret) {
            true => text.replace(secret, Self::HIDDEN),
            false => text,
        })
    }

    /// How many bytes at the end of a text may be the beginning of a key.
    pub fn begun_at_the_end_of(&self, text: &str) -> usize {
        let begun = |secret: &String| {
            let most = text.len().min(secret.len() - 1);
            (1..=most).rev().find(|length| text.as_bytes().ends_with(&secret.as_bytes()[..*length]))
        };
        self.0.iter().filter_map(begun).max().unwrap_or(0)
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({} hidden)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(text: &str) -> Secrets {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        Secrets::read(&Keys { files: vec![file.path().to_path_buf()], ..Keys::default() })
    }

    #[test]
    fn a_key_is_taken_out_wherever_it_stands() {
        let secrets = secrets("sk-abc123\n");
        let hidden = secrets.hide("sk-abc123 and KEY=sk-abc123.".to_owned());
        assert_eq!(hidden, "[the key] and KEY=[the key].");
        assert!(!format!("{secrets:?}").contains("abc"));
    }

    #[test]
    fn a_word_that_only_fills_the_place_of_a_key_hides_nothing() {
        for word in ["", "none", "ollama"] {
            assert_eq!(secrets(word).hide("ollama has none".to_owned()), "ollama has none");
        }
    }
}
