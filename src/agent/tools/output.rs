//! How much a tool tells the model at once.

use std::collections::VecDeque;

use crate::config::Secrets;

/// The most characters of an output.
const MOST_CHARS: usize = 50_000;
/// So many of them are for what the tool says itself, below the lines.
const NOTES_CHARS: usize = 500;
/// The most characters of one line.
const LINE_CHARS: usize = 2_000;

/// Joins lines. Where they are too many for the model, those at the beginning and at the end are
/// kept, and a line between them says what was left out.
pub(super) fn joined(lines: &[String]) -> String {
    let lengths: Vec<usize> = lines.iter().map(|line| line.chars().count() + 1).collect();
    let most = MOST_CHARS - NOTES_CHARS;
    if lengths.iter().sum::<usize>() <= most {
        return lines.join("\n");
    }
    let fitting = |lengths: &mut dyn Iterator<Item = &usize>| {
        let mut left = most / 2;
        lengths.take_while(|length| left.checked_sub(**length).inspect(|rest| left = *rest).is_some()).count()
    };
    let head = fitting(&mut lengths.iter());
    let tail = lines.len() - fitting(&mut lengths.iter().rev());
    let left_out: usize = lengths.get(head..tail).unwrap_or_default().iter().sum();
    let note = format!("[{} lines with {left_out} characters left out here]", tail - head);
    let kept = [lines.get(..head).unwrap_or_default(), &[note], lines.get(tail..).unwrap_or_default()];
    kept.concat().join("\n")
}

/// As much of a whole output as the model is told at once.
pub(in crate::agent) fn bounded(output: &str) -> String {
    let mut window = Window::default();
    window.push(output);
    window.into_text()
}

/// The beginning and the end of an output that may be endless.
#[derive(Debug, Default)]
pub(super) struct Window {
    head: String,
    head_chars: usize,
    tail: VecDeque<char>,
    left_out: u64,
}

impl Window {
    /// Takes more of the output.
    pub(super) fn push(&mut self, text: &str) {
        const HALF: usize = (MOST_CHARS - NOTES_CHARS) / 2;
        for c in text.chars() {
            if self.head_chars < HALF {
                self.head.push(c);
                self.head_chars += 1;
                continue;
            }
            if self.tail.len() == HALF {
                self.tail.pop_front();
                self.left_out += 1;
            }
            self.tail.push_back(c);
        }
    }

    /// What was kept of it, with a word on what was not.
    pub(super) fn into_text(self) -> String {
        let mut text = self.head;
        if self.left_out > 0 {
            text.push_str(&format!("\n[{} characters left out here]\n", self.left_out));
        }
        text.extend(self.tail);
        text.truncate(text.trim_end_matches('\n').len());
        text
    }
}

/// A line of a file, without its end and without keys, not too long.
pub(super) fn line(bytes: &[u8]) -> String {
    let text = Secrets::known().hide(String::from_utf8_lossy(bytes).into_owned());
    let text = text.trim_end_matches(['\n', '\r']);
    match text.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => {
            let more = text.chars().count() - LINE_CHARS;
            format!("{} [{more} more characters in this line]", text.get(..end).unwrap_or_default())
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole() {
        assert_eq!(joined(&[]), "");
        let lines: Vec<String> = vec!["x".repeat(98); 500];
        assert_eq!(joined(&lines), lines.join("\n"), "500 lines of 99 characters");
    }

    #[test]
    fn head_and_tail_are_kept_and_what_is_left_out_is_told() {
        let lines: Vec<String> = (0..1000).map(|number| format!("{number:0>99}")).collect();
        let joined = joined(&lines);
        assert!(joined.chars().count() <= MOST_CHARS - NOTES_CHARS + 100, "{}", joined.len());
        let told: Vec<&str> = joined.lines().collect();
        assert_eq!(told[..247], lines[..247]);
        assert_eq!(told[247], "[506 lines with 50600 characters left out here]");
        assert_eq!(told[248..], lines[753..]);
    }

    #[test]
    fn of_an_endless_output_the_beginning_and_the_end_are_kept() {
        let mut window = Window::default();
        for _ in 0..10_000 {
            window.push("0123456789");
        }
        window.push("the end\n");
        let text = window.into_text();
        assert!(text.starts_with("0123456789") && text.ends_with("9the end"));
        assert!(text.contains("\n[50508 characters left out here]\n"), "{}", text.len());
        assert!(text.chars().count() < MOST_CHARS);
        let mut short = Window::default();
        short.push("all\n\n");
        assert_eq!(short.into_text(), "all");
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        let lines: Vec<String> = vec!["ü".repeat(98); 500];
        assert_eq!(joined(&lines), lines.join("\n"));
    }

    #[test]
    fn a_long_line_says_how_much_of_it_is_missing() {
        assert_eq!(line("ü".repeat(LINE_CHARS).as_bytes()), "ü".repeat(LINE_CHARS));
        let cut = line("ü".repeat(LINE_CHARS + 7).as_bytes());
        assert_eq!(cut, format!("{} [7 more characters in this line]", "ü".repeat(LINE_CHARS)));
    }

    #[test]
    fn a_key_at_the_end_of_what_is_kept_of_a_line_is_not_told() {
        const KEY: &str = "canary-of-a-line-6a3c";
        Secrets::learn(KEY);
        for before in LINE_CHARS - KEY.len()..=LINE_CHARS {
            let cut = line(format!("{}{KEY}{}", "x".repeat(before), "y".repeat(99)).as_bytes());
            assert!(!cut.contains("canary") && cut.contains("more characters in this line"), "{before}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        assert_eq!(line(b"a\xffb\r\n"), "a\u{FFFD}b");
    }
}
