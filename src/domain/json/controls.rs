//! Raw control characters in strings: JSON forbids them, people and programs write them all the same.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with each control character in a string as a space, so that it can be parsed and every byte
/// keeps its place. Borrows where there is none.
pub fn blank_controls(text: &str) -> Cow<'_, str> {
    let places: Vec<usize> = Controls::of(text).collect();
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    for place in places {
        bytes[place] = b' ';
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The text with each control character in a string escaped, so that it means what was written.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    let mut escaped = String::new();
    let mut copied = 0;
    for place in Controls::of(text) {
        escaped.push_str(&text[copied..place]);
        match text.as_bytes()[place] {
            b'\n' => escaped.push_str("\\n"),
            b'\r' => escaped.push_str("\\r"),
            b'\t' => escaped.push_str("\\t"),
            other => drop(write!(escaped, "\\u{other:04x}")),
        }
        copied = place + 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[copied..]);
    Cow::Owned(escaped)
}

/// The places of control characters in the strings of a JSON text.
struct Controls<'a> {
    bytes: &'a [u8],
    next: usize,
    inside: Inside,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Structure,
    Text,
}

impl<'a> Controls<'a> {
    fn of(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), next: 0, inside: Inside::Structure }
    }
}

impl Iterator for Controls<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while let Some(&byte) = self.bytes.get(self.next) {
            let place = self.next;
            self.next += 1;
            match (self.inside, byte) {
                (Inside::Structure, b'"') => self.inside = Inside::Text,
                (Inside::Text, b'"') => self.inside = Inside::Structure,
                // What is escaped ends no string; an escaped control character is wrong and is left so.
                (Inside::Text, b'\\') => self.next += 1,
                (Inside::Text, 0..=0x1f) => return Some(place),
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_control_characters_in_strings_are_touched() {
        let text = "{\n\t\"a\\\"\": \"x\ny\tz\u{1}\r\",\r\n\"b\": \"\\\\\"\n}";
        assert_eq!(blank_controls(text), "{\n\t\"a\\\"\": \"x y z  \",\r\n\"b\": \"\\\\\"\n}");
        assert_eq!(escape_controls(text), "{\n\t\"a\\\"\": \"x\\ny\\tz\\u0001\\r\",\r\n\"b\": \"\\\\\"\n}");
        assert!(matches!(blank_controls("{\n\"a\": \"b\"}"), Cow::Borrowed(_)));
        assert!(matches!(escape_controls("{\n\"a\": \"b\"}"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn what_is_escaped_reads_as_it_was_written(text in "[a-z\u{1}-\u{1f}é🚀]{0,20}") {
            let raw = format!("\"{text}\"");
            prop_assert_eq!(serde_json::from_str::<String>(&escape_controls(&raw)).unwrap(), text);
            let blank = blank_controls(&raw);
            prop_assert!(serde_json::from_str::<String>(&blank).is_ok());
            prop_assert_eq!(blank.len(), raw.len());
        }

        #[test]
        fn any_text_keeps_its_length_when_it_is_blanked(text in any::<String>()) {
            prop_assert_eq!(blank_controls(&text).len(), text.len());
            let once = escape_controls(&text).into_owned();
            prop_assert_eq!(escape_controls(&once), once.as_str());
        }
    }
}
