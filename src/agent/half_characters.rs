//! JSON of peers that count in UTF-16: they cut an emoji in two, and half of one no JSON reader takes.

use serde_json::Value;

/// Reads a JSON text, with a mark for each half of a character.
///
/// # Errors
/// Where it is no JSON all the same.
pub(super) fn from_json(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&marked(text)))
}

fn marked(json: &str) -> String {
    let mut marked = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        marked.push_str(before);
        let (written, length) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (escape.get(..12), 12),
            (Some(0xD800..=0xDFFF), _) => (Some("\u{FFFD}"), 6),
            (Some(_), _) => (escape.get(..6), 6),
            (None, _) => {
                let length = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end);
                (escape.get(..length), length)
            }
        };
        marked.push_str(written.unwrap_or_default());
        rest = escape.get(length..).unwrap_or_default();
    }
    marked.push_str(rest);
    marked
}

/// The UTF-16 unit of a `\uXXXX` at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_marked() {
        let cases = [
            (r"a\ud83e", "a\u{FFFD}"),
            (r"us \ud83e", "us \u{FFFD}"),
            (r"\udd80.", "\u{FFFD}."),
            (r"\udd80 b", "\u{FFFD} b"),
            (r"\ud83e\ud83e\udd80", "\u{FFFD}🦀"),
            (r"\ud83e\ud83e\udd80\n", "\u{FFFD}🦀\n"),
            (r"\udd80\ud83e\n", "\u{FFFD}\u{FFFD}\n"),
            (r"\ud83e\\udd80", "\u{FFFD}\\udd80"),
            (r"\\ud83e \ud83e", "\\ud83e \u{FFFD}"),
            (r"\\\ud83eü\u00fc", "\\\u{FFFD}üü"),
        ];
        for (escaped, text) in cases {
            assert_eq!(from_json(&format!("\"{escaped}\"")).unwrap(), text, "{escaped}");
        }
        for broken in [
            r#"{"a":"\ud83e"#,
            r#"{"a":"\ud8"}"#,
            r#"{"a":"\"#,
            r#"{"a":"\u12"#,
            r#"{"a":"\uüü"}"#,
            r#"{"a":"\u+123"}"#,
            "\\",
            "\\ü",
        ] {
            assert!(from_json(broken).is_err(), "{broken}");
        }
    }
}
