//! Text in cells: widths, cutting at grapheme borders, and wrapping by words.
//!
//! A cell's width is the one that the screen buffer uses, so a column that was measured here is as
//! wide there. No function looks at more of a text than the asked width can show.

use ratatui::buffer::CellWidth;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The cells of a tab, wherever it stands.
const TAB_CELLS: usize = 4;

/// The most bytes that one cell may show: a letter under a tower of marks is cut to this.
const MAX_CELL_BYTES: usize = 48;

/// The cells that `text` takes. Reads all of it: for short texts only.
pub fn width(text: &str) -> usize {
    if text.bytes().all(is_plain_byte) {
        return text.len();
    }
    graphemes(text).map(grapheme_width).sum()
}

/// What a reader takes for single letters, from the text's start.
pub fn graphemes(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let next = match rest.as_bytes() {
            // Nothing can join two letters that need no looking up.
            [first, then @ ..]
                if is_plain_byte(*first) && then.first().copied().is_none_or(is_plain_byte) =>
            {
                1
            }
            _ => rest.graphemes(true).next()?.len(),
        };
        let (grapheme, behind) = rest.split_at(next);
        rest = behind;
        Some(grapheme)
    })
}

/// The cells of one grapheme. A control character, which no text here should hold, is shown as a mark.
pub fn grapheme_width(grapheme: &str) -> usize {
    if grapheme == "\t" {
        return TAB_CELLS;
    }
    if grapheme.len() == 1 || grapheme.contains(char::is_control) {
        return 1;
    }
    usize::from(grapheme.cell_width())
}

/// What a cell shows for a grapheme: never a control character, never an endless tower of marks.
pub fn symbol(grapheme: &str) -> &str {
    match grapheme {
        "\t" => return " ",
        control if control.contains(char::is_control) => return "\u{fffd}",
        _ => {}
    }
    &grapheme[..floor_char(grapheme, MAX_CELL_BYTES)]
}

/// The head of a text that fits a width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// Whole graphemes from the text's start.
    pub text: &'a str,
    /// The cells they take; a wide grapheme at the border leaves one free.
    pub width: usize,
    /// Whether that is all of the text.
    pub all: All,
}

/// Whether something is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum All {
    /// Nothing is missing.
    Yes,
    /// Something was cut.
    No,
}

/// Takes the whole graphemes from the start of `text` that fit into `max` cells.
pub fn head(text: &str, max: usize) -> Head<'_> {
    // One byte more than fits tells whether a mark follows the last letter.
    let near = &text.as_bytes()[..text.len().min(max.saturating_add(1))];
    if near.iter().copied().all(is_plain_byte) {
        let end = text.len().min(max);
        let all = if end == text.len() { All::Yes } else { All::No };
        return Head { text: &text[..end], width: end, all };
    }
    let window = &text[..floor_char(text, max.saturating_mul(MAX_CELL_BYTES).saturating_add(MAX_CELL_BYTES))];
    let (mut end, mut used) = (0, 0);
    for grapheme in graphemes(window) {
        let cells = grapheme_width(grapheme);
        if used + cells > max {
            break;
        }
        used += cells;
        end += grapheme.len();
    }
    let all = if end == text.len() { All::Yes } else { All::No };
    Head { text: &text[..end], width: used, all }
}

/// What is left of `text` when at least `cells` are taken from its start, and how many were taken.
pub fn skip(text: &str, cells: usize) -> (&str, usize) {
    let taken = head(text, cells);
    if taken.width == cells || taken.all == All::Yes {
        return (&text[taken.text.len()..], taken.width);
    }
    let rest = &text[taken.text.len()..];
    let wide = rest.graphemes(true).next().unwrap_or_default();
    (&rest[wide.len()..], taken.width + grapheme_width(wide))
}

/// Where character `index` of `text` begins, in bytes.
pub fn byte_of_char(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

/// The largest char boundary at or before `at`.
pub fn floor_char(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

/// Printable ASCII: one byte, one cell.
fn is_plain_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Wraps `text` from byte `from` by words into rows of at most `width` cells, until `max_rows` are
/// there or the text ends. Returns the rows and where the next one would begin.
///
/// A row is a byte range without its line break and without the blanks it was broken at. A word
/// that is wider than a row is broken at a grapheme border. Leading blanks of a line are kept.
/// An empty text has one empty row.
pub fn wrap(text: &str, from: usize, width: usize, max_rows: usize) -> (Vec<Range<usize>>, usize) {
    let mut rows = Vec::new();
    let mut at = from;
    while rows.len() < max_rows {
        let row = next_row(text, at, width.max(1));
        rows.push(row.shown);
        match row.next {
            Some(next) => at = next,
            None => return (rows, text.len()),
        }
    }
    (rows, at)
}

/// Cuts `text` from byte `from` at its line breaks alone, until `max_rows` are there. As [`wrap`].
pub fn lines(text: &str, from: usize, max_rows: usize) -> (Vec<Range<usize>>, usize) {
    let mut rows = Vec::new();
    let mut at = from;
    while rows.len() < max_rows {
        match text[at..].find('\n') {
            Some(length) => {
                rows.push(at..at + length);
                at += length + 1;
            }
            None => {
                rows.push(at..text.len());
                return (rows, text.len());
            }
        }
    }
    (rows, at)
}

struct Row {
    shown: Range<usize>,
    /// Where the next row begins; none: the text ends with this one.
    next: Option<usize>,
}

fn next_row(text: &str, start: usize, width: usize) -> Row {
    let rest = &text[start..];
    let window = &rest[..floor_char(rest, (width + 2).saturating_mul(MAX_CELL_BYTES))];
    let line = window.find('\n').map_or(window, |at| &window[..at]);
    let end = if line.len() < window.len() {
        LineEnd::Break
    } else if line.len() == rest.len() {
        LineEnd::Text
    } else {
        LineEnd::Beyond
    };
    let line = Line { text: line, start, end };
    let head = head(line.text, width);
    if head.text.len() == line.text.len() && end != LineEnd::Beyond {
        return line.last_row(line.text.len());
    }
    if head.text.is_empty() {
        return line.oversized_grapheme();
    }
    let fits = head.text;
    if line.text[fits.len()..].starts_with(' ') {
        return line.broken_at_blank(fits.len());
    }
    // The last blank that has a word before it; a line's indentation is no place to break.
    let indentation = fits.len() - fits.trim_start_matches(' ').len();
    match fits[indentation..].rfind(' ') {
        Some(blank) => line.broken_at_blank(indentation + blank),
        None => Row { shown: start..start + fits.len(), next: Some(start + fits.len()) },
    }
}

/// As much of a line as a row could show.
struct Line<'a> {
    text: &'a str,
    start: usize,
    end: LineEnd,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    /// With a line break.
    Break,
    /// With the text.
    Text,
    /// Further on.
    Beyond,
}

impl Line<'_> {
    fn last_row(&self, shown: usize) -> Row {
        let next = (self.end == LineEnd::Break).then_some(self.start + self.text.len() + 1);
        Row { shown: self.start..self.start + shown, next }
    }

    fn broken_at_blank(&self, blank: usize) -> Row {
        let shown = self.text[..blank].trim_end_matches(' ').len();
        let word = self.text.len() - self.text[blank..].trim_start_matches(' ').len();
        if word == self.text.len() && self.end != LineEnd::Beyond {
            return self.last_row(shown);
        }
        Row { shown: self.start..self.start + shown, next: Some(self.start + word) }
    }

    /// A wide grapheme in a pane of one cell takes a row of its own and is drawn as a blank.
    fn oversized_grapheme(&self) -> Row {
        let first = self.start + self.text.graphemes(true).next().map_or(self.text.len(), str::len);
        Row { shown: self.start..first, next: Some(first) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMES: [&str; 10] = [
        "日本語ジョブ",
        "👩\u{200d}👩\u{200d}👧\u{200d}👦",
        "🇩🇪",
        "❤\u{fe0f}",
        "①②③",
        "ｶﾞｷﾞ",
        "\u{1100}\u{1161}",
        "e\u{301}",
        "x\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
        "\u{ff9e}",
    ];

    fn rows(text: &str, width: usize) -> Vec<&str> {
        wrap(text, 0, width, usize::MAX).0.into_iter().map(|row| &text[row]).collect()
    }

    #[test]
    fn a_head_is_never_wider_than_asked_and_ends_at_a_grapheme() {
        for name in NAMES {
            for max in 0..=10 {
                let head = head(name, max);
                assert!(head.width <= max, "{name:?} at {max}");
                assert_eq!(head.width, width(head.text), "{name:?} at {max}");
                let borders: Vec<usize> = name.grapheme_indices(true).map(|(at, _)| at).collect();
                assert!(head.text.len() == name.len() || borders.contains(&head.text.len()));
            }
        }
    }

    proptest! {
        #[test]
        fn letters_are_found_as_the_standard_finds_them(
            parts in prop::collection::vec(prop_oneof![
                prop::sample::select(&NAMES[..]).prop_map(str::to_owned),
                "[ -~]{0,4}",
                "\\PC{0,3}",
                Just("\r\n".to_owned()),
            ], 0..8)
        ) {
            let text = parts.concat();
            prop_assert!(graphemes(&text).eq(text.graphemes(true)), "{text:?}");
        }
    }

    #[test]
    fn a_mark_that_belongs_to_the_last_letter_stays_with_it() {
        assert_eq!(head("ae\u{301}b", 2), Head { text: "ae\u{301}", width: 2, all: All::No });
        assert_eq!(head("abc", 3).all, All::Yes);
    }

    #[test]
    fn what_is_skipped_ends_at_a_grapheme_even_if_that_is_a_cell_more() {
        assert_eq!(skip("abc", 2), ("c", 2));
        assert_eq!(skip("日本", 1), ("本", 2));
        assert_eq!(skip("日本", 0), ("日本", 0));
        assert_eq!(skip("ab", 9), ("", 2));
    }

    #[test]
    fn a_head_reads_only_what_it_can_show() {
        let endless = "a".to_owned() + &"\u{301}".repeat(2_500_000);
        assert!(head(&endless, 10).text.len() <= 11 * MAX_CELL_BYTES);
    }

    #[test]
    fn words_move_to_the_next_row_whole() {
        assert_eq!(rows("one two three", 8), ["one two", "three"]);
        assert_eq!(rows("one two", 7), ["one two"]);
        assert_eq!(rows("one   two", 4), ["one", "two"]);
    }

    #[test]
    fn a_word_wider_than_a_row_is_broken() {
        assert_eq!(rows("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(rows("日本語", 3), ["日", "本", "語"]);
    }

    #[test]
    fn lines_stay_lines_and_keep_their_indentation() {
        assert_eq!(rows("a\n\n  b c\n", 9), ["a", "", "  b c", ""]);
        assert_eq!(rows("", 9), [""]);
        assert_eq!(rows("   indented words", 11), ["   indented", "words"]);
        assert_eq!(rows("one two  \nthree  ", 7), ["one two", "three  "]);
    }

    #[test]
    fn wrapping_stops_at_the_asked_row_and_goes_on_from_there() {
        let text = "one two three four";
        let (first, next) = wrap(text, 0, 5, 2);
        assert_eq!(first.iter().map(|row| &text[row.clone()]).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(&text[wrap(text, next, 5, 1).0[0].clone()], "three");
    }

    #[test]
    fn without_wrapping_a_line_is_a_row() {
        let text = "a long line\n\nb";
        assert_eq!(lines(text, 0, 9).0, [0..11, 12..12, 13..14]);
        assert_eq!(lines(text, 0, 2), (vec![0..11, 12..12], 13));
    }

    #[test]
    fn no_symbol_is_a_control_character() {
        for control in ('\0'..='\u{9f}').filter(|c| c.is_control()) {
            assert!(!symbol(&control.to_string()).contains(char::is_control));
        }
        assert_eq!(symbol("\r\n"), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn every_row_fits_and_no_word_is_lost(text in "[ a-z日é\n👩\u{200d}]{0,60}", width in 2usize..12) {
            let rows = rows(&text, width);
            for row in &rows {
                prop_assert!(super::width(row) <= width, "{row:?} is wider than {width}");
            }
            let shown: String = rows.concat().split_whitespace().collect();
            let whole: String = text.split_whitespace().collect();
            prop_assert_eq!(shown, whole);
        }
    }
}
