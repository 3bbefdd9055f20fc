//! What an agent says on its standard error: lines in the log, and its last words.

use crate::agent::program::tail::Tail;
use crate::agent::utf8::LossyDecoder;
use crate::config::Secrets;
use crate::domain::sanitize::one_line;

/// So much of it is logged from one turn to the next.
const LOGGED_BYTES: usize = 64 * 1024;
/// A line that grows beyond this is logged in parts.
const LINE_BYTES: usize = 4 * 1024;

/// Takes an agent's standard error as it comes.
#[derive(Debug, Default)]
pub(super) struct Complaint {
    tail: Tail,
    decoder: LossyDecoder,
    /// The line that has begun.
    begun: String,
    /// How much was logged since the last turn began.
    logged: usize,
}

impl Complaint {
    /// A turn begins: what is said in it is logged, however much was said before.
    pub(super) fn turn_begins(&mut self) {
        self.logged = 0;
    }

    /// Takes more, and gives the lines that are for the log.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        self.tail.push(bytes);
        let text = std::mem::take(&mut self.begun) + &self.decoder.push(bytes);
        let mut logged = Vec::new();
        for line in text.split_inclusive('\n') {
            match line.ends_with('\n') || line.len() > LINE_BYTES {
                true => logged.extend(self.log(line)),
                false => line.clone_into(&mut self.begun),
            }
        }
        logged
    }

    /// Gives the last line, as nothing more comes; the last words too where they were not logged.
    pub(super) fn finish(&mut self) -> Vec<String> {
        let last = std::mem::take(&mut self.begun) + self.decoder.finish();
        let mut logged: Vec<String> = self.log(&last).into_iter().collect();
        if self.logged >= LOGGED_BYTES {
            logged.push(format!("the last of it: {}", self.last_lines()));
        }
        logged
    }

    /// What was said last, in one line.
    pub(super) fn last_lines(&self) -> String {
        one_line(&self.tail.last_lines()).into_owned()
    }

    /// A line as it is logged, or a part of a long one.
    fn log(&mut self, line: &str) -> Option<String> {
        let line = line.trim_end();
        if line.is_empty() || self.logged >= LOGGED_BYTES {
            return None;
        }
        self.logged += line.len();
        let line = Secrets::known().hide_in_part(line.to_owned());
        let note = if self.logged < LOGGED_BYTES { "" } else { " [no more of it is logged in this turn]" };
        Some(format!("{}{note}", one_line(&line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "canary-of-the-complaint-1b7e";

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let mut complaint = Complaint::default();
        let mut logged: Vec<String> = pieces.iter().flat_map(|piece| complaint.push(piece)).collect();
        logged.extend(complaint.finish());
        logged
    }

    #[test]
    fn whole_lines_are_logged_without_keys_however_they_are_read() {
        Secrets::learn(KEY);
        let said = format!("wärning: {KEY} 🦀\r\n\nlast");
        for cut in 0..=said.len() {
            let (one, two) = said.as_bytes().split_at(cut);
            assert_eq!(all(&[one, two]), ["wärning: [the key] 🦀", "last"], "{cut}");
        }
        // A part of a line without an end, between any two of its bytes.
        for before in LINE_BYTES - KEY.len()..=LINE_BYTES {
            let long = "x".repeat(before) + KEY + &"y".repeat(99);
            let (one, two) = long.as_bytes().split_at(LINE_BYTES + 1);
            let told = all(&[one, two]).concat();
            assert!(KEY.as_bytes().windows(8).all(|run| !told.as_bytes().windows(8).any(|part| part == run)));
        }
    }

    #[test]
    fn of_a_flood_so_much_is_logged_in_each_turn_and_the_last_words() {
        let mut complaint = Complaint::default();
        let flood = "flood\n".repeat(100_000);
        for _ in 0..2 {
            complaint.turn_begins();
            let logged = complaint.push(flood.as_bytes());
            let bytes: usize = logged.iter().map(String::len).sum();
            assert!((LOGGED_BYTES..LOGGED_BYTES + 100).contains(&bytes), "{bytes}");
            assert_eq!(logged.last().unwrap(), "flood [no more of it is logged in this turn]");
        }
        assert!(complaint.push(b"panic: no disk\n").is_empty());
        assert_eq!(complaint.finish(), ["the last of it: flood | flood | panic: no disk"]);
        complaint.turn_begins();
        assert_eq!(complaint.push(b"more\n"), ["more"]);
    }
}
