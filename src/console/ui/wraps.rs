//! What was wrapped before: a text is wrapped when it is first seen, and again when it changed. Of one
//! that only grew, the new end is wrapped.

use std::collections::HashMap;
use std::ops::Range;

use super::text;
use crate::console::app::conversation::{EntryKey, Fold};

/// A text that is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextId {
    /// The words of a conversation's entry: folded, they are others.
    Entry(EntryKey, Fold),
    /// The text in the viewer.
    Viewer,
}

/// How a text is laid into rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// By words, into so many cells.
    Words(usize),
    /// By words, and the rows of a line behind its first stand under its last column: see [`hang`].
    Hanging(usize),
    /// A row a line, whatever its length.
    Lines,
}

/// The most rows of a text's beginning that are shown.
const TOP_ROWS: usize = 6_000;
/// The most rows of its end, if it is longer.
const BOTTOM_ROWS: usize = 2_000;

/// A text in rows. What is between its beginning and its end is cut if it is very long.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Wrapped {
    rows: Vec<Range<usize>>,
    cut: Option<Cut>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    before_row: usize,
    lines: usize,
}

/// One row of a wrapped text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrappedRow {
    /// These bytes.
    Shown(Range<usize>),
    /// About so many lines are cut here.
    LinesCut(usize),
}

impl Wrapped {
    /// How many rows it has; at least one.
    pub fn len(&self) -> usize {
        self.rows.len() + usize::from(self.cut.is_some())
    }

    /// Whether it has no row, which no text has.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Row `index` from the top.
    pub fn row(&self, index: usize) -> Option<WrappedRow> {
        let index = match self.cut {
            Some(cut) if index == cut.before_row => return Some(WrappedRow::LinesCut(cut.lines)),
            Some(cut) if index > cut.before_row => index - 1,
            _ => index,
        };
        self.rows.get(index).cloned().map(WrappedRow::Shown)
    }

    fn of(text: &str, shape: Shape) -> Self {
        let (rows, next) = shape.rows(text, 0, TOP_ROWS);
        let mut wrapped = Self { rows, cut: None };
        if next < text.len() {
            wrapped.add_end(text, next, shape);
        }
        wrapped
    }

    /// Takes in that `text` grew at its end. What an end may change is the last row and, where a mark
    /// joins its last letter, the row before it: from there on it is wrapped again.
    fn grow(&mut self, text: &str, shape: Shape) {
        let from = self.rows.len().saturating_sub(2);
        let starts_anew = match shape {
            // A line's hang is told by all of it.
            Shape::Hanging(_) => true,
            Shape::Words(_) | Shape::Lines => self.rows.len() >= TOP_ROWS,
        };
        let Some(start) = self.rows.get(from).map(|row| row.start).filter(|_| !starts_anew) else {
            *self = Self::of(text, shape);
            return;
        };
        self.rows.truncate(from);
        let (mut rows, next) = shape.rows(text, start, TOP_ROWS - from);
        self.rows.append(&mut rows);
        if next < text.len() {
            self.add_end(text, next, shape);
        }
    }

    /// Adds the text's last rows, and says how much is cut between.
    fn add_end(&mut self, text: &str, next: usize, shape: Shape) {
        let near = text.len().saturating_sub(BOTTOM_ROWS.saturating_mul(shape.about_bytes()));
        let from = if near <= next { next } else { word_start(text, near) };
        let (mut rows, _) = shape.rows(text, from, usize::MAX);
        if rows.len() > BOTTOM_ROWS {
            rows.drain(..rows.len() - BOTTOM_ROWS);
        }
        let gap = next..rows.first().map_or(text.len(), |row| row.start).max(next);
        let lines = text[gap].lines().map(|line| line.len().div_ceil(shape.about_bytes()).max(1)).sum();
        if lines > 0 {
            self.cut = Some(Cut { before_row: self.rows.len(), lines });
        }
        self.rows.append(&mut rows);
    }
}

impl Shape {
    fn rows(self, text: &str, from: usize, max_rows: usize) -> (Vec<Range<usize>>, usize) {
        match self {
            Self::Words(width) => text::wrap(text, from, width, max_rows),
            Self::Hanging(width) => hanging(text, from, width, max_rows),
            Self::Lines => text::lines(text, from, max_rows),
        }
    }

    /// The bytes of an ordinary full row.
    fn about_bytes(self) -> usize {
        match self {
            Self::Words(width) | Self::Hanging(width) => width.max(1),
            Self::Lines => 120,
        }
    }
}

/// Wraps each line by words, those rows that are not its first more narrowly.
fn hanging(text: &str, from: usize, width: usize, max_rows: usize) -> (Vec<Range<usize>>, usize) {
    let mut rows = Vec::new();
    let mut at = from;
    while rows.len() < max_rows {
        let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
        let line = &text[..end];
        let begin = line.rfind('\n').map_or(0, |before| before + 1);
        let hang = hang(&line[begin..], width);
        if at == begin {
            let (first, next) = text::wrap(line, at, width, 1);
            rows.extend(first);
            at = next;
        }
        if at < end {
            let (more, next) = text::wrap(line, at, width - hang, max_rows - rows.len());
            rows.extend(more);
            at = next;
        }
        if at < end {
            break;
        }
        match end == text.len() {
            true => return (rows, end),
            false => at = end + 1,
        }
    }
    (rows, at)
}

/// How far the rows of a line behind its first are moved to the right: to its last column, which begins
/// behind several blanks in the first half of the row; two cells if it has columns and none there.
pub fn hang(line: &str, width: usize) -> usize {
    let head = text::head(line, width / 2 + 1).text;
    match head.trim_end().rfind("  ") {
        Some(gap) => text::width(&head[..gap + 2]),
        None if line.contains("  ") => 2.min(width / 2),
        None => 0,
    }
}

/// The beginning of a word near `at`, or a character's border where there is none.
fn word_start(text: &str, at: usize) -> usize {
    const NEAR: usize = 200;
    let at = text::floor_char(text, at);
    let window = &text[at..text::floor_char(text, at + NEAR)];
    window.find([' ', '\n']).map_or(at, |blank| at + blank + 1)
}

/// Everything that was wrapped and is still near.
#[derive(Debug, Default)]
pub struct Wraps {
    known: HashMap<TextId, Known>,
    frame: u64,
}

#[derive(Debug)]
struct Known {
    wrapped: Wrapped,
    shape: Shape,
    revision: u64,
    length: usize,
    frame: u64,
}

/// So many texts are kept; beyond that, those that the last frame did not ask for are forgotten.
const KEPT: usize = 1024;

impl Wraps {
    /// Begins a frame.
    pub fn begin_frame(&mut self) {
        self.frame += 1;
        if self.known.len() > KEPT {
            let last = self.frame - 1;
            self.known.retain(|_, known| known.frame >= last);
        }
    }

    /// The rows of `text`, which is known as `id` and changes its revision when it changes in any way
    /// but growing at its end.
    pub fn get(&mut self, id: TextId, revision: u64, text: &str, shape: Shape) -> &Wrapped {
        let frame = self.frame;
        let wrap = || Known { wrapped: Wrapped::of(text, shape), shape, revision, length: text.len(), frame };
        let known = self.known.entry(id).or_insert_with(wrap);
        if (known.shape, known.revision) != (shape, revision) || known.length > text.len() {
            *known = wrap();
        } else if known.length < text.len() {
            known.wrapped.grow(text, shape);
            known.length = text.len();
        }
        known.frame = frame;
        &known.wrapped
    }

    /// How many rows `text` has if that is known, else about how many.
    pub fn about_rows(&mut self, id: TextId, revision: u64, text: &str, shape: Shape) -> usize {
        match self.known.get_mut(&id) {
            Some(known) if known.shape == shape && known.revision == revision => {
                known.frame = self.frame;
                known.wrapped.len()
            }
            _ => (text.len() / shape.about_bytes() + 1).min(TOP_ROWS + BOTTOM_ROWS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::MessageId;
    use proptest::prelude::*;

    const ENTRY: TextId = TextId::Entry(EntryKey::Message(MessageId(1)), Fold::Open);

    fn shown<'a>(wrapped: &Wrapped, text: &'a str) -> Vec<&'a str> {
        (0..wrapped.len())
            .map(|at| match wrapped.row(at).unwrap() {
                WrappedRow::Shown(row) => &text[row],
                WrappedRow::LinesCut(_) => "(cut)",
            })
            .collect()
    }

    #[test]
    fn a_very_long_text_shows_its_beginning_and_its_end_and_how_much_is_cut() {
        let text: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
        for shape in [Shape::Words(80), Shape::Lines] {
            let mut wraps = Wraps::default();
            let wrapped = wraps.get(ENTRY, 1, &text, shape);
            let rows = shown(wrapped, &text);
            assert_eq!(rows.len(), 8_001);
            assert_eq!((rows[0], rows[5_999], rows[6_000]), ("line 0", "line 5999", "(cut)"));
            assert_eq!((rows[6_001], rows[8_000]), ("line 98001", ""));
            assert_eq!(wrapped.row(6_000), Some(WrappedRow::LinesCut(92_001)));
            assert_eq!(wrapped.row(8_001), None);
        }
    }

    #[test]
    fn one_endless_line_is_cut_too() {
        let text = "日".repeat(5 * 1024 * 1024 / 3);
        let mut wraps = Wraps::default();
        let rows = wraps.get(ENTRY, 1, &text, Shape::Words(80)).len();
        assert!((TOP_ROWS..=TOP_ROWS + 1 + BOTTOM_ROWS).contains(&rows), "{rows}");
        assert_eq!(wraps.get(ENTRY, 1, &text, Shape::Lines).len(), 1);
    }

    #[test]
    fn the_rows_behind_a_lines_first_stand_under_its_last_column() {
        let text = "one  two three four\nplain words that wrap\n\nx  y";
        let mut wraps = Wraps::default();
        let rows = shown(wraps.get(ENTRY, 1, text, Shape::Hanging(12)), text);
        assert_eq!(rows, ["one  two", "three", "four", "plain words", "that wrap", "", "x  y"]);
        assert_eq!((hang("one  two three four", 12), hang("plain words", 12)), (5, 0));
    }

    proptest! {
        #[test]
        fn whatever_hangs_no_word_is_lost_and_no_row_is_too_wide(
            text in "[ab日 \n]{0,60}", width in 2usize..20, cut in 1usize..9,
        ) {
            let (mut rows, next) = hanging(&text, 0, width, cut);
            let mut at = next;
            while at < text.len() {
                let (more, next) = hanging(&text, at, width, cut);
                rows.extend(more);
                at = next;
            }
            let words: String = rows.iter().map(|row| &text[row.clone()]).collect();
            prop_assert_eq!(words.replace(' ', ""), text.replace([' ', '\n'], ""));
            for row in rows {
                let begin = text[..row.start].rfind('\n').map_or(0, |before| before + 1);
                let line = text[begin..].split('\n').next().unwrap_or_default();
                let indent = if row.start == begin { 0 } else { hang(line, width) };
                prop_assert!(indent + text::width(&text[row]) <= width.max(indent + 2));
            }
        }
    }

    #[test]
    fn a_text_that_fits_is_not_cut() {
        let text = "word ".repeat(8_000 * 16);
        let mut wraps = Wraps::default();
        let rows = shown(wraps.get(ENTRY, 1, &text, Shape::Words(80)), &text);
        assert!(!rows.contains(&"(cut)"), "{} rows", rows.len());
    }

    #[test]
    fn another_width_or_revision_wraps_anew() {
        let mut wraps = Wraps::default();
        assert_eq!(wraps.get(ENTRY, 1, "one two", Shape::Words(3)).len(), 2);
        assert_eq!(wraps.get(ENTRY, 1, "one two", Shape::Words(7)).len(), 1);
        assert_eq!(wraps.get(ENTRY, 2, "one\ntwo", Shape::Words(7)).len(), 2);
    }

    /// Wraps the beginnings of `text` up to each of `ends` one after the other, and then all of it.
    fn piece_by_piece(text: &str, ends: &[usize], shape: Shape) -> Wrapped {
        let ends = ends.iter().map(|end| text::floor_char(text, *end)).chain([text.len()]);
        let mut ends: Vec<usize> = ends.collect();
        ends.sort_unstable();
        let mut wrapped = Wrapped::of(&text[..ends[0]], shape);
        ends.iter().for_each(|end| wrapped.grow(&text[..*end], shape));
        wrapped
    }

    proptest! {
        #[test]
        fn wrapping_piece_by_piece_is_wrapping_at_once(
            text in "[ab \n日é👩🇩🇪☺\u{200d}\u{301}\u{fe0e}\u{fe0f}]{0,80}",
            ends in prop::collection::vec(0usize..300, 1..12),
            width in 1usize..14,
        ) {
            for shape in [Shape::Words(width), Shape::Hanging(width), Shape::Lines] {
                prop_assert_eq!(piece_by_piece(&text, &ends, shape), Wrapped::of(&text, shape));
            }
        }
    }

    #[test]
    fn a_text_that_grows_beyond_what_is_shown_is_cut_as_one_that_came_whole() {
        let text: String = (0..9_000).map(|n| format!("line {n}\n")).collect();
        let ends: Vec<usize> = (0..text.len()).step_by(1_777).collect();
        for shape in [Shape::Words(80), Shape::Lines] {
            assert_eq!(piece_by_piece(&text, &ends, shape), Wrapped::of(&text, shape));
        }
        let tower = "a".to_owned() + &"\u{301}".repeat(3_000);
        let ends: Vec<usize> = (0..tower.len()).step_by(7).collect();
        assert_eq!(piece_by_piece(&tower, &ends, Shape::Words(5)), Wrapped::of(&tower, Shape::Words(5)));
    }

    #[test]
    fn what_grew_is_seen_and_its_beginning_is_not_wrapped_again() {
        let mut wraps = Wraps::default();
        assert_eq!(shown(wraps.get(ENTRY, 1, "a b c d", Shape::Words(1)), "a b c d"), ["a", "b", "c", "d"]);
        // That the beginning is another one is not looked at: it would have another revision.
        let grown = "a_b c d e";
        assert_eq!(shown(wraps.get(ENTRY, 1, grown, Shape::Words(1)), grown), ["a", "b", "c", "d", "e"]);
        assert_eq!(shown(wraps.get(ENTRY, 1, "a b", Shape::Words(1)), "a b"), ["a", "b"]);
    }

    #[test]
    fn what_is_far_away_is_forgotten_and_what_is_shown_is_kept() {
        let mut wraps = Wraps::default();
        wraps.begin_frame();
        for id in 0..=KEPT as i64 {
            wraps.get(TextId::Entry(EntryKey::Message(MessageId(id)), Fold::Open), 1, "text", Shape::Lines);
        }
        wraps.begin_frame();
        wraps.get(ENTRY, 1, "text", Shape::Lines);
        wraps.begin_frame();
        assert_eq!(wraps.known.len(), 1);
    }
}
