//! The tail of a paste.
//!
//! A terminal that hands an end mark inside a pasted text through ends the paste too early, and
//! what follows arrives as keys: an Enter among them would send the draft. Nobody types within
//! milliseconds of a paste, so what comes that soon still belongs to it.

use std::time::{Duration, Instant};

use super::Input;
use crate::console::app::key::{Code, Key};

/// What follows a paste no later than this belongs to it.
const GAP: Duration = Duration::from_millis(10);

/// Holds a paste back until its tail can't come any more.
#[derive(Debug, Default)]
pub(super) struct Tail {
    paste: Option<(String, Instant)>,
}

impl Tail {
    /// Takes one input that arrived at `now`, and pushes what goes on.
    pub(super) fn take(&mut self, input: Input, now: Instant, to: &mut Vec<Input>) {
        if self.deadline().is_some_and(|deadline| deadline < now) {
            self.end(to);
        }
        match (&mut self.paste, input) {
            (Some((text, last)), Input::Paste(more)) => {
                text.push_str(&more);
                *last = now;
            }
            (None, Input::Paste(text)) => self.paste = Some((text, now)),
            (Some((text, last)), Input::Key(key)) if let Some(character) = as_text(key) => {
                text.push(character);
                *last = now;
            }
            (_, key @ Input::Key(_)) => {
                self.end(to);
                to.push(key);
            }
            (_, other) => to.push(other),
        }
    }

    /// When to call [`Tail::end`] if nothing comes until then.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.paste.as_ref().map(|(_, last)| *last + GAP)
    }

    /// Nothing came for long enough: the paste is whole.
    pub(super) fn end(&mut self, to: &mut Vec<Input>) {
        to.extend(self.paste.take().map(|(text, _)| Input::Paste(text)));
    }
}

/// What a key is as a part of a text.
fn as_text(key: Key) -> Option<char> {
    match key.code {
        Code::Enter => Some('\n'),
        Code::Tab => Some('\t'),
        Code::Char('j') if key.held.ctrl => Some('\n'),
        _ => key.types(),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// Feeds each input so many milliseconds after the one before, then waits.
    fn arrive(inputs: impl IntoIterator<Item = (u64, Input)>) -> Vec<Input> {
        let mut tail = Tail::default();
        let mut now = Instant::now();
        let mut out = Vec::new();
        for (after, input) in inputs {
            now += Duration::from_millis(after);
            tail.take(input, now, &mut out);
        }
        tail.end(&mut out);
        out
    }

    fn paste(text: &str) -> Input {
        Input::Paste(text.to_owned())
    }

    fn keys(text: &str, apart: u64) -> impl Iterator<Item = (u64, Input)> {
        text.chars().map(move |character| {
            let code = if character == '\n' { Code::Enter } else { Code::Char(character) };
            (apart, Input::Key(Key::plain(code)))
        })
    }

    #[test]
    fn an_end_mark_inside_a_paste_lets_no_enter_loose() {
        let inputs = [(0, paste("first"))].into_iter().chain(keys("\n/reset\nlast", 1));
        assert_eq!(arrive(inputs), [paste("first\n/reset\nlast")]);
    }

    #[test]
    fn what_is_typed_after_a_paste_stays_typing() {
        let inputs = [(0, paste("first"))].into_iter().chain(keys("\n", 40));
        assert_eq!(arrive(inputs), [paste("first"), Input::Key(Key::plain(Code::Enter))]);
    }

    #[test]
    fn a_key_that_is_no_text_ends_the_paste_and_keeps_its_place() {
        let left = Input::Key(Key::plain(Code::Left));
        assert_eq!(arrive([(0, paste("a")), (1, left.clone())]), [paste("a"), left]);
    }
}
