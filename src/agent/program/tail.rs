//! The last words of a program on its standard error.

use crate::config::Secrets;

/// Keeps the end of a stream, however long the stream is.
#[derive(Debug, Default)]
pub(in crate::agent) struct Tail {
    bytes: Vec<u8>,
}

const KEPT_BYTES: usize = 4 * 1024;
const SHOWN_LINES: usize = 3;
const SHOWN_CHARS: usize = 600;

impl Tail {
    /// Takes more of the stream.
    pub(in crate::agent) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let excess = self.bytes.len().saturating_sub(KEPT_BYTES);
        self.bytes.drain(..excess);
    }

    /// The last lines that are not blank, in one line and without keys.
    pub(in crate::agent) fn last_lines(&self) -> String {
        let text = Secrets::known().hide_in_part(String::from_utf8_lossy(&self.bytes).into_owned());
        let lines: Vec<&str> =
            text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
        let shown = lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default().join(" | ");
        let excess = shown.chars().count().saturating_sub(SHOWN_CHARS);
        if excess == 0 { shown } else { format!("…{}", shown.chars().skip(excess).collect::<String>()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_told_in_one() {
        let mut tail = Tail::default();
        assert_eq!(tail.last_lines(), "");
        tail.push(b"one\n\ntwo\n  three\r\nfo");
        tail.push(b"ur\n\n");
        assert_eq!(tail.last_lines(), "two | three | four");
        tail.push(b"50 %\r100 %\r");
        assert_eq!(tail.last_lines(), "four | 50 % | 100 %");
    }

    #[test]
    fn a_key_is_not_told_however_the_end_of_the_stream_cuts_it() {
        const KEY: &str = "canary-of-the-tail-5d20";
        Secrets::learn(KEY);
        for behind in (0..40).chain(SHOWN_CHARS - 40..SHOWN_CHARS + 40).chain(KEPT_BYTES - 40..KEPT_BYTES) {
            let mut tail = Tail::default();
            tail.push(format!("{}{KEY}{}", "a".repeat(99), "z".repeat(behind)).as_bytes());
            let told = tail.last_lines();
            let tells = |run: &[u8]| told.as_bytes().windows(8).any(|part| part == run);
            assert!(!KEY.as_bytes().windows(8).any(tells), "{behind}: {told}");
        }
    }

    #[test]
    fn a_flood_keeps_little() {
        let mut tail = Tail::default();
        for _ in 0..100 {
            tail.push(&[b'x'; 10_000]);
        }
        tail.push(b"the end");
        assert!(tail.bytes.len() <= KEPT_BYTES);
        let shown = tail.last_lines();
        assert!(shown.starts_with("…x") && shown.ends_with("xthe end"), "{shown}");
        assert_eq!(shown.chars().count(), SHOWN_CHARS + 1);
    }
}
