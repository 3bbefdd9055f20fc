//! The keys themselves, so that they can be taken out of what agents and programs give back.
//!
//! A key is hidden where bytes become text, before anything is cut: in a whole text by [`Secrets::hide`], in one
//! that comes in pieces by [`Stream`]. Where only a part of a text is there, [`Secrets::hide_in_part`] takes
//! what the cuts left of a key too.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use rustix::fs::OFlags;
use serde::Serialize;
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::Keys;

/// A shorter value is no key but a word that local servers take for one, and a shorter rest of a key tells nothing.
const SHORTEST: usize = 8;
/// A longer file holds no key.
const MOST_BYTES: u64 = 64 * 1024;
/// So many keys are remembered: the newest.
const REMEMBERED: usize = 64;

/// What no store, log or screen may hold. Nothing prints it.
#[derive(Clone, Default)]
pub struct Secrets(Arc<[String]>);

impl Secrets {
    /// What stands where a key was.
    pub const HIDDEN: &str = "[the key]";

    /// Reads the keys from their places, as they are now; from here on they are [`Secrets::known`]. One that can't
    /// be read can't be told either.
    pub fn read(keys: &Keys) -> Self {
        let variables = keys.variables.iter().filter_map(|name| std::env::var(name).ok());
        let files = keys.files.iter().filter_map(|path| KeyFile::read(path).ok()).map(|file| file.text);
        let read = Self::of(variables.chain(files));
        KNOWN.write().unwrap_or_else(PoisonError::into_inner).add(&read);
        read
    }

    /// The same, away from the threads that must not wait.
    pub async fn read_aside(keys: Keys) -> Self {
        // It fails only where the runtime ends.
        spawn_blocking(move || Self::read(&keys)).await.unwrap_or_else(|_| Self::known())
    }

    /// All that this process has read so far: for whatever has no turn's at hand.
    pub fn known() -> Self {
        KNOWN.read().unwrap_or_else(PoisonError::into_inner).all.clone()
    }

    /// These, wherever they come from.
    pub fn of(values: impl IntoIterator<Item = String>) -> Self {
        let values = values.into_iter().map(|value| value.trim().to_owned());
        let mut values: Vec<String> = values.filter(|value| value.len() >= SHORTEST).collect();
        // Of two keys, one of which holds the other, the whole goes first.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values.into())
    }

    /// Them for another process of ours: nothing else may get them.
    pub fn tell(&self) -> Vec<String> {
        self.0.to_vec()
    }

    /// A whole text without the keys.
    pub fn hide(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| match text.contains(secret) {
            true => text.replace(secret, Self::HIDDEN),
            false => text,
        })
    }

    /// A part of a text without the keys, and without what its cuts left of one at both ends.
    pub fn hide_in_part(&self, text: String) -> String {
        let text = self.hide(text);
        if text.len() >= SHORTEST && self.0.iter().any(|secret| secret.contains(&text)) {
            return Self::HIDDEN.to_owned();
        }
        let ended = telling(self.0.iter().map(|secret| ended_at_the_beginning(&text, secret)));
        let begun = telling(self.0.iter().map(|secret| begun_at_the_end(&text, secret)));
        let hidden = |length| if length > 0 { Self::HIDDEN } else { "" };
        match text.get(ended..text.len() - begun) {
            Some(middle) => [hidden(ended), middle, hidden(begun)].concat(),
            // What ends one key begins the next.
            None => Self::HIDDEN.to_owned(),
        }
    }

    /// Takes the keys out of a text that comes in pieces.
    pub fn stream(&self) -> Stream {
        Stream { secrets: self.clone(), begun: String::new() }
    }

    /// Whether a key stands in any text of something.
    pub fn stand_in(&self, something: &impl Serialize) -> bool {
        // What can't be written down is kept nowhere.
        serde_json::to_value(something).is_ok_and(|value| self.stand_in_value(&value))
    }

    /// Whether a key stands in a text.
    pub fn stand_in_text(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.contains(secret))
    }

    fn stand_in_value(&self, value: &Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
            Value::String(text) => self.stand_in_text(text),
            Value::Array(values) => values.iter().any(|value| self.stand_in_value(value)),
            Value::Object(fields) => fields.values().any(|value| self.stand_in_value(value)),
        }
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({} hidden)", self.0.len())
    }
}

/// A text that comes in pieces, whose end with which a key may begin is held back until more of it comes.
#[derive(Default)]
pub struct Stream {
    secrets: Secrets,
    begun: String,
}

impl Stream {
    /// What may be told now that this has come.
    pub fn push(&mut self, more: &str) -> String {
        let mut text = self.secrets.hide(std::mem::take(&mut self.begun) + more);
        let begun = longest(self.secrets.0.iter().map(|secret| begun_at_the_end(&text, secret)));
        self.begun = text.split_off(text.len() - begun);
        text
    }

    /// What was held back, as nothing follows it.
    pub fn finish(&mut self) -> String {
        self.secrets.hide_in_part(std::mem::take(&mut self.begun))
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({} bytes held back)", self.begun.len())
    }
}

fn longest(lengths: impl Iterator<Item = usize>) -> usize {
    lengths.max().unwrap_or(0)
}

/// The longest part of a key that tells something.
fn telling(lengths: impl Iterator<Item = usize>) -> usize {
    longest(lengths.filter(|length| *length >= SHORTEST))
}

/// How many bytes at the end of a text may be the beginning of a key.
fn begun_at_the_end(text: &str, secret: &str) -> usize {
    let most = text.len().min(secret.len() - 1);
    let is_begun = |length: &usize| text.as_bytes().ends_with(&secret.as_bytes()[..*length]);
    (1..=most).rev().find(is_begun).unwrap_or(0)
}

/// How many bytes at the beginning of a text may be the end of a key.
fn ended_at_the_beginning(text: &str, secret: &str) -> usize {
    let most = text.len().min(secret.len() - 1);
    let is_ended = |length: &usize| text.as_bytes().starts_with(&secret.as_bytes()[secret.len() - length..]);
    (1..=most).rev().find(is_ended).unwrap_or(0)
}

/// The keys that this process has read. What has been one stays one: it may be told late.
#[derive(Default)]
struct Known {
    newest_last: VecDeque<String>,
    all: Secrets,
}

static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);

impl Known {
    fn add(&mut self, read: &Secrets) {
        let new: Vec<&String> = read.0.iter().filter(|secret| !self.newest_last.contains(secret)).collect();
        if new.is_empty() {
            return;
        }
        self.newest_last.extend(new.into_iter().cloned());
        self.newest_last.drain(..self.newest_last.len().saturating_sub(REMEMBERED));
        self.all = Secrets::of(self.newest_last.iter().cloned());
    }
}

/// What stands in a file that is to hold a key.
pub struct KeyFile {
    /// Its text.
    pub text: String,
    /// Who may read it, as in `chmod`.
    pub mode: u32,
}

impl KeyFile {
    /// Reads it, without waiting where it is something else than a file.
    ///
    /// # Errors
    /// Where it can't be read, is no file, or is longer than any key.
    pub fn read(path: &Path) -> io::Result<Self> {
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("it is no file that holds text"));
        }
        if about.len() > MOST_BYTES {
            return Err(io::Error::other(format!("it has {} bytes, which is no key", about.len())));
        }
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text)?;
        Ok(Self { text, mode: about.permissions().mode() & 0o777 })
    }
}

#[cfg(test)]
impl Secrets {
    /// Makes a key known, as one that stands in a file.
    pub(crate) fn learn(key: &str) -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), key).unwrap();
        Self::read(&Keys { files: vec![file.path().to_path_buf()], ..Keys::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    const KEY: &str = "sk-proj-Zq8_w3Rt5-Yx1vB7nM2kLp9s";

    /// Whether so much of the key stands in a text that it tells something.
    fn tells(text: &str) -> bool {
        KEY.as_bytes().windows(SHORTEST).any(|run| text.as_bytes().windows(SHORTEST).any(|part| part == run))
    }

    #[test]
    fn a_key_is_taken_out_wherever_it_stands() {
        let secrets = Secrets::learn("sk-abc123\n");
        let hidden = secrets.hide("sk-abc123 and KEY=sk-abc123.".to_owned());
        assert_eq!(hidden, "[the key] and KEY=[the key].");
        assert!(!format!("{secrets:?}").contains("abc"));
    }

    #[test]
    fn a_word_that_only_fills_the_place_of_a_key_hides_nothing() {
        for word in ["", "none", "ollama"] {
            assert_eq!(Secrets::learn(word).hide("ollama has none".to_owned()), "ollama has none");
        }
    }

    #[test]
    fn a_text_that_only_ends_as_a_key_begins_stays() {
        let secrets = Secrets::of([KEY.to_owned()]);
        for text in ["tasks", "sk-proj", "p9s and sk-", ""] {
            assert_eq!(secrets.hide_in_part(text.to_owned()), text);
            let mut stream = secrets.stream();
            assert_eq!(stream.push(text) + &stream.finish(), text);
        }
    }

    #[test]
    fn what_could_be_the_end_of_one_key_hides_no_beginning_of_another() {
        let secrets = Secrets::of([KEY.to_owned(), "x1vB7nM2k-tail-of-another".to_owned()]);
        assert_eq!(secrets.hide_in_part("9sk-proj-".to_owned()), "9[the key]");
        assert_eq!(secrets.hide_in_part("-Yx1vB7nM2kLp9sk-proj-Zq".to_owned()), "[the key]");
    }

    #[test]
    fn a_key_that_was_changed_is_known_beside_the_old_one() {
        let (old, new) = ("canary-old-3f71", "canary-new-3f71");
        let file = tempfile::NamedTempFile::new().unwrap();
        let keys = Keys { files: vec![file.path().to_path_buf()], ..Keys::default() };
        for key in [old, new] {
            fs::write(file.path(), key).unwrap();
            assert_eq!(Secrets::read(&keys).hide(format!("{old} {new}")).matches("canary").count(), 1);
        }
        assert_eq!(Secrets::known().hide(format!("{old} {new}")), "[the key] [the key]");
    }

    #[test]
    fn of_many_keys_the_newest_are_remembered() {
        let mut known = Known::default();
        for number in 0..=REMEMBERED {
            known.add(&Secrets::of([format!("canary-{number:04}")]));
            known.add(&Secrets::of([format!("canary-{number:04}")]));
        }
        let all = known.all.tell();
        assert_eq!(all.len(), REMEMBERED);
        assert!(!all.contains(&"canary-0000".to_owned()) && all.contains(&"canary-0001".to_owned()));
    }

    #[test]
    fn a_key_is_found_in_any_text_of_something() {
        let secrets = Secrets::of([r#"key"with\signs"#.to_owned()]);
        assert!(secrets.stand_in(&serde_json::json!({"a": [1, {"b": r#"x key"with\signs"#}]})));
        assert!(!secrets.stand_in(&serde_json::json!({"a": ["key"], "with": "signs"})));
    }

    #[test]
    fn what_is_no_file_of_a_key_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, long) = (folder.path().join("pipe"), folder.path().join("long"));
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        fs::write(&long, "x".repeat(100_000)).unwrap();
        for path in [pipe.as_path(), folder.path(), &long, Path::new("/dev/zero")] {
            assert!(KeyFile::read(path).is_err(), "{}", path.display());
        }
    }

    proptest! {
        #[test]
        fn of_no_part_of_a_text_so_much_of_a_key_is_left(
            before in ".{0,12}",
            after in ".{0,12}",
            cuts: [prop::sample::Index; 2],
        ) {
            let text: Vec<char> = format!("{before}{KEY}{after}").chars().collect();
            let mut cuts = cuts.map(|cut| cut.index(text.len() + 1));
            cuts.sort_unstable();
            let part: String = text[cuts[0]..cuts[1]].iter().collect();
            let hidden = Secrets::of([KEY.to_owned()]).hide_in_part(part);
            prop_assert!(!tells(&hidden), "{hidden}");
        }

        #[test]
        fn a_text_in_pieces_is_told_as_the_whole_and_no_key_by_its_first_pieces(
            before in "[sk-]{0,9}",
            after in ".{0,9}",
            cuts: [prop::sample::Index; 3],
        ) {
            let text = format!("{before}{KEY}{after}");
            let chars: Vec<char> = text.chars().collect();
            let mut cuts = cuts.map(|cut| cut.index(chars.len() + 1));
            cuts.sort_unstable();
            let ends = [(0, cuts[0]), (cuts[0], cuts[1]), (cuts[1], cuts[2]), (cuts[2], chars.len())];
            let pieces = ends.map(|(from, to)| chars[from..to].iter().collect::<String>());
            let secrets = Secrets::of([KEY.to_owned()]);
            let told = |pieces: &[String]| {
                let mut stream = secrets.stream();
                let told: String = pieces.iter().map(|piece| stream.push(piece)).collect();
                told + &stream.finish()
            };
            prop_assert_eq!(told(&pieces), secrets.hide(text));
            for some in 1..4 {
                let told = told(&pieces[..some]);
                prop_assert!(!tells(&told), "{told}");
            }
        }
    }
}
