//! Why `jobs.json` can't be read, and where: what a person needs to repair it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::sanitize::one_line;

/// Of a line, so many characters before the place of the fault are shown, and in all.
const SHOWN_BEFORE: usize = 60;
const SHOWN: usize = 100;

/// A `jobs.json` that can't be read. It shows as `line 14 column 7, "," or "}" expected`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// Where in the file; none where the file as a whole is at fault.
    pub place: Option<Place>,
    /// What is wrong there.
    pub why: String,
    /// What may have happened.
    pub hint: Option<String>,
    /// The line before and the line of the place, harmless and cut.
    pub excerpt: Vec<Line>,
    /// How many characters stand before the place in the last line of the excerpt.
    pub mark: usize,
}

/// A place in a text, both from 1; columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// What stands in it.
    pub text: String,
}

impl Unreadable {
    /// The file as a whole can't be read: no permission, no file but a folder, …
    pub fn whole(why: impl Into<String>) -> Self {
        Self { place: None, why: why.into(), hint: None, excerpt: Vec::new(), mark: 0 }
    }

    /// Something is wrong at a byte of the text.
    pub(super) fn at(text: &str, offset: usize, why: impl Into<String>, hint: Option<String>) -> Self {
        let offset = text.floor_char_boundary(offset);
        let place = Place { line: line_of(text, offset), column: column_of(text, offset) };
        let mut excerpt = Vec::new();
        if let Some(number) = place.line.checked_sub(1).filter(|number| *number > 0) {
            let before = text.lines().nth(number - 1).unwrap_or_default();
            let short: String = before.chars().take(SHOWN).collect();
            excerpt.push(Line { number, text: one_line(&short).into_owned() });
        }
        let line = text.lines().nth(place.line - 1).unwrap_or_default();
        let skipped = (place.column - 1).saturating_sub(SHOWN_BEFORE);
        let shown: String = line.chars().skip(skipped).take(SHOWN).collect();
        let before: String = shown.chars().take(place.column - 1 - skipped).collect();
        excerpt.push(Line { number: place.line, text: one_line(&shown).into_owned() });
        let mark = one_line(&before).chars().count();
        Self { place: Some(place), why: why.into(), hint, excerpt, mark }
    }

    /// What the parser says of a text. `parsed` is that text with every byte in its place.
    pub(super) fn syntax(text: &str, parsed: &str, error: &serde_json::Error) -> Self {
        if text.trim().is_empty() {
            let hint = Some("write { \"jobs\": [] } if there are to be none".to_owned());
            return Self::at(text, 0, "the file is empty", hint);
        }
        // The parser counts bytes: it may mean the middle of a character.
        let stopped = if error.is_eof() { text.trim_end().len() } else { offset_of(parsed, error) };
        let offset = text.floor_char_boundary(stopped);
        let words = error.to_string();
        let words = words.split(" at line ").next().unwrap_or_default();
        Self::at(text, offset, expected(words), hint(text, offset, words))
    }

    /// The bytes are no text.
    pub(super) fn encoding(bytes: &[u8], error: std::str::Utf8Error) -> Self {
        let sixteen = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        let hint = if sixteen { "it is UTF-16: save it as UTF-8" } else { "save it as UTF-8" };
        let lossy = String::from_utf8_lossy(bytes);
        Self::at(&lossy, error.valid_up_to(), "no UTF-8 text", Some(hint.to_owned()))
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { line, column }) = self.place {
            write!(f, "line {line} column {column}, ")?;
        }
        f.write_str(&self.why)
    }
}

impl std::error::Error for Unreadable {}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

fn column_of(text: &str, offset: usize) -> usize {
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..offset].chars().count() + 1
}

/// The byte at which the parser stopped; it tells lines and columns of bytes, from 1.
fn offset_of(parsed: &str, error: &serde_json::Error) -> usize {
    let lines = parsed.split_inclusive('\n').take(error.line().saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    (start + error.column().saturating_sub(1)).min(parsed.len())
}

/// The parser's words as we say them.
fn expected(words: &str) -> String {
    let named = |what: &str| format!("{} expected", what.replace('`', "\""));
    match words {
        "expected value" => "a value expected".to_owned(),
        "expected ident" => "true, false or null expected".to_owned(),
        "key must be a string" => "a name in quotes expected".to_owned(),
        "trailing comma" => "one comma too many".to_owned(),
        "trailing characters" => "nothing more expected".to_owned(),
        other => match (other.strip_prefix("EOF while parsing "), other.strip_prefix("expected ")) {
            (Some(what), _) => format!("the file ends inside {what}"),
            (_, Some(what)) => named(what),
            _ => other.to_owned(),
        },
    }
}

/// What may have happened, told by what stands at the place and before it.
fn hint(text: &str, offset: usize, words: &str) -> Option<String> {
    let (before, rest) = (text[..offset].trim_end(), &text[offset..]);
    let (line, found) = (line_of(text, offset), rest.chars().next());
    let end = line_of(text, before.len());
    let whole_line = text.lines().nth(line - 1).unwrap_or_default();
    if ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| whole_line.starts_with(mark)) {
        return Some("a merge was left half done here".to_owned());
    }
    let place =
        |before: &str| if end < line { format!("at the end of line {end}") } else { before.to_owned() };
    let told = match found {
        None => "perhaps it was cut off while it was written".to_owned(),
        Some('/' | '#') => "JSON has no comments".to_owned(),
        Some('\'' | '“' | '”' | '„' | '‘' | '’' | '«' | '»') => {
            "texts stand in straight double quotes".to_owned()
        }
        Some('}' | ']') if before.ends_with(',') => {
            format!("perhaps the comma {} is one too many", place("before it"))
        }
        Some('"' | '{' | '[') if words.starts_with("expected `,`") => {
            format!("perhaps a comma is missing {}", place("before it"))
        }
        Some(_) => {
            // A text that goes over lines was hardly meant so: its end was forgotten.
            let inner = before.strip_suffix('"')?;
            let open = inner.rfind('"').filter(|open| inner[*open..].contains('\n'))?;
            format!("perhaps a quote is missing at the end of line {}", line_of(text, open))
        }
    };
    Some(told)
}

#[cfg(test)]
mod tests {
    use crate::domain::cron::document::Document;

    fn told(text: &str) -> (String, Option<String>) {
        let unreadable = Document::parse(text).unwrap_err();
        (unreadable.to_string(), unreadable.hint)
    }

    #[test]
    fn a_missing_comma_is_told_as_in_the_banner() {
        let text =
            "{\n  \"jobs\": [\n    {\n      \"schedule\": \"0 8 * * *\"\n      \"timezone\": \"UTC\"\n";
        let unreadable = Document::parse(text).unwrap_err();
        assert_eq!(unreadable.to_string(), "line 5 column 7, \",\" or \"}\" expected");
        assert_eq!(unreadable.hint.unwrap(), "perhaps a comma is missing at the end of line 4");
        let lines: Vec<_> = unreadable.excerpt.iter().map(|line| (line.number, line.text.as_str())).collect();
        assert_eq!(lines, [(4, "      \"schedule\": \"0 8 * * *\""), (5, "      \"timezone\": \"UTC\"")]);
        assert_eq!(unreadable.mark, 6);
    }

    #[test]
    fn what_may_have_happened_is_told() {
        for (text, why, hint) in [
            ("", "line 1 column 1, the file is empty", "write { \"jobs\": [] } if there are to be none"),
            (
                "{\"jobs\": [{\"a\": 1} {}]}",
                "line 1 column 20, \",\" or \"]\" expected",
                "perhaps a comma is missing before it",
            ),
            (
                "[{\"id\": \"a\", }]",
                "line 1 column 14, a name in quotes expected",
                "perhaps the comma before it is one too many",
            ),
            (
                "[{},\n]",
                "line 2 column 1, one comma too many",
                "perhaps the comma at the end of line 1 is one too many",
            ),
            ("[\n// all\n{}]", "line 2 column 1, a value expected", "JSON has no comments"),
            (
                "[{'a': 1}]",
                "line 1 column 3, a name in quotes expected",
                "texts stand in straight double quotes",
            ),
            ("[{\"a\": “b”}]", "line 1 column 8, a value expected", "texts stand in straight double quotes"),
            (
                "{\"jobs\":[{\"id\":\"a\"",
                "line 1 column 19, the file ends inside an object",
                "perhaps it was cut off while it was written",
            ),
            ("[\n<<<<<<< mine\n{}]", "line 2 column 1, a value expected", "a merge was left half done here"),
            (
                "[{\"a\": \"one,\n\"b\": \"two\"}]",
                "line 2 column 2, \",\" or \"}\" expected",
                "perhaps a quote is missing at the end of line 1",
            ),
        ] {
            assert_eq!(told(text), (why.to_owned(), Some(hint.to_owned())), "{text:?}");
        }
        assert_eq!(told("[] x"), ("line 1 column 4, nothing more expected".to_owned(), None));
        assert_eq!(told("[nul]"), ("line 1 column 5, true, false or null expected".to_owned(), None));
    }

    #[test]
    fn places_are_counted_in_characters_and_over_raw_line_breaks_in_texts() {
        assert_eq!(told("[\"a\nb\",\n\"日本\" 1]").0, "line 3 column 6, \",\" or \"]\" expected");
        for text in ["[\"日\\q\"]", "[\"日\\\n\"]", "[日]", "日", "[\"日\\u日\"]", "{\"日\" 日}"] {
            assert!(Document::parse(text).is_err(), "{text}");
        }
        assert_eq!(told("\u{feff}[1 2]").0, "line 1 column 4, \",\" or \"]\" expected");
    }

    #[test]
    fn a_long_line_is_cut_round_the_place_and_made_harmless() {
        let text = format!("[\"{}\u{1b}\" 1, \"{}\"]", "x".repeat(500), "y".repeat(500));
        let unreadable = Document::parse(text.as_str()).unwrap_err();
        let line = &unreadable.excerpt[0].text;
        assert_eq!(line.chars().count(), 100);
        assert_eq!(line.chars().nth(unreadable.mark), Some('1'));
        assert!(line.contains('␛'));
    }

    #[test]
    fn bytes_that_are_no_text_are_told_with_their_place() {
        let unreadable = Document::read(b"[\n \"\xff\"]".to_vec()).unwrap_err();
        assert_eq!(unreadable.to_string(), "line 2 column 3, no UTF-8 text");
        let sixteen: Vec<u8> = "\u{feff}[]".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(Document::read(sixteen).unwrap_err().hint.unwrap(), "it is UTF-16: save it as UTF-8");
    }
}
