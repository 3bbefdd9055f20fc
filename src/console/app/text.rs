//! A text that is being written: the text area with our own keys, moved and deleted by grapheme.

use tui_textarea::{CursorMove, TextArea};
use unicode_segmentation::UnicodeSegmentation;

use super::action::Action;
use crate::domain::sanitize::needs_mark;

/// A text field. Holds only text that can be shown as it is: no control or invisible characters.
#[derive(Debug, Clone, Default)]
pub struct TextField {
    area: TextArea<'static>,
    lines: Lines,
    revision: u64,
}

/// Whether a field takes more than one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lines {
    /// One: line breaks become spaces.
    One,
    /// Any number.
    #[default]
    Many,
}

impl TextField {
    /// An empty field.
    pub fn new(lines: Lines) -> Self {
        Self { lines, ..Self::default() }
    }

    /// A field that holds `text`, with the cursor at its end.
    pub fn with(text: &str, lines: Lines) -> Self {
        let mut field = Self::new(lines);
        field.set(text);
        field
    }

    /// The lines; at least one.
    pub fn lines(&self) -> &[String] {
        self.area.lines()
    }

    /// The whole text.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// The cursor: line and character (not cell, not byte) within it, from 0.
    pub fn cursor(&self) -> (usize, usize) {
        let cursor = self.area.cursor();
        (cursor.0, cursor.1)
    }

    /// Changes with every change of the text or the cursor.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Replaces the text; the cursor goes to its end. Forgets what could be undone.
    pub fn set(&mut self, text: &str) {
        let clean = clean(text, self.lines);
        self.area = TextArea::from(clean.split('\n'));
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
        self.revision += 1;
    }

    /// Types a character.
    pub fn type_char(&mut self, c: char) {
        let mut buffer = [0; 4];
        self.insert(c.encode_utf8(&mut buffer));
    }

    /// Puts a text in at the cursor, cleaned.
    pub fn insert(&mut self, text: &str) {
        self.area.insert_str(clean(text, self.lines));
        self.revision += 1;
    }

    /// Begins a new line.
    pub fn new_line(&mut self) {
        self.insert("\n");
    }

    /// Whether the cursor is on the first line.
    pub fn on_first_line(&self) -> bool {
        self.cursor().0 == 0
    }

    /// Whether the cursor is on the last line.
    pub fn on_last_line(&self) -> bool {
        self.cursor().0 + 1 == self.lines().len()
    }

    /// Does an action that belongs to every text field. False if it is none of these.
    pub fn act(&mut self, action: Action) -> bool {
        match action {
            Action::LineStart => self.area.move_cursor(CursorMove::Head),
            Action::LineEnd => self.area.move_cursor(CursorMove::End),
            Action::Left => self.step(CursorMove::Back, self.grapheme_before()),
            Action::Right => self.step(CursorMove::Forward, self.grapheme_after()),
            Action::WordLeft => self.area.move_cursor(CursorMove::WordBack),
            Action::WordRight => self.area.move_cursor(CursorMove::WordForward),
            Action::TextUp | Action::HistoryUp => self.area.move_cursor(CursorMove::Up),
            Action::TextDown | Action::HistoryDown => self.area.move_cursor(CursorMove::Down),
            Action::DeleteBack => {
                let characters = self.grapheme_before();
                self.step(CursorMove::Back, characters);
                self.delete(characters);
            }
            Action::DeleteForward => self.delete(self.grapheme_after()),
            Action::KillWordBack => drop(self.area.delete_word()),
            Action::KillWord => drop(self.area.delete_next_word()),
            Action::KillToStart => drop(self.area.delete_line_by_head()),
            Action::KillToEnd => drop(self.area.delete_line_by_end()),
            Action::Yank => drop(self.area.paste()),
            Action::TextUndo => drop(self.area.undo()),
            Action::TextRedo => drop(self.area.redo()),
            _ => return false,
        }
        self.settle();
        self.revision += 1;
        true
    }

    fn delete(&mut self, characters: usize) {
        // Deleting also fills the yank buffer, which only kills should do.
        let killed = self.area.yank_text();
        if characters > 0 {
            self.area.delete_str(characters);
        }
        self.area.set_yank_text(killed);
    }

    fn step(&mut self, direction: CursorMove, characters: usize) {
        for _ in 0..characters {
            self.area.move_cursor(direction);
        }
    }

    /// Moves the cursor to the start of the grapheme that it came to stand in.
    fn settle(&mut self) {
        let (row, column) = self.cursor();
        let mut start = 0;
        for grapheme in self.area.lines()[row].graphemes(true) {
            let characters = grapheme.chars().count();
            if column < start + characters {
                break;
            }
            start += characters;
        }
        self.step(CursorMove::Back, column - start);
    }

    /// How many characters the grapheme before the cursor has; a line break counts as one.
    fn grapheme_before(&self) -> usize {
        let (row, column) = self.cursor();
        let line = &self.area.lines()[row];
        let end = line.char_indices().nth(column).map_or(line.len(), |(index, _)| index);
        match line[..end].graphemes(true).next_back() {
            Some(grapheme) => grapheme.chars().count(),
            None => usize::from(row > 0),
        }
    }

    /// How many characters the grapheme behind the cursor has; a line break counts as one.
    fn grapheme_after(&self) -> usize {
        let (row, column) = self.cursor();
        let line = &self.area.lines()[row];
        let start = line.char_indices().nth(column).map_or(line.len(), |(index, _)| index);
        match line[start..].graphemes(true).next() {
            Some(grapheme) => grapheme.chars().count(),
            None => usize::from(row + 1 < self.area.lines().len()),
        }
    }
}

/// Takes out what can't be shown: CR and CR LF become LF, other control and invisible characters go.
fn clean(text: &str, lines: Lines) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let c = match c {
            '\r' if chars.peek() == Some(&'\n') => continue,
            '\r' => '\n',
            c => c,
        };
        match (c, lines) {
            ('\n', Lines::One) | ('\t', Lines::One) => clean.push(' '),
            ('\n' | '\t', Lines::Many) => clean.push(c),
            (c, _) if needs_mark(c) => {}
            (c, _) => clean.push(c),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(field: &mut TextField, actions: &[Action]) {
        for action in actions {
            assert!(field.act(*action));
        }
    }

    #[test]
    fn a_paste_keeps_its_lines_and_loses_its_control_bytes() {
        let field = TextField::with("one\r\ntwo\rthree\nfo\u{1b}[201~ur\u{202e}\u{7}", Lines::Many);
        assert_eq!(field.lines(), ["one", "two", "three", "fo[201~ur"]);
        assert_eq!(TextField::with("a\nb", Lines::One).text(), "a b");
    }

    #[test]
    fn keys_move_and_delete_whole_graphemes() {
        let mut field = TextField::with("日本👩‍👩‍👧‍👦e\u{301}", Lines::Many);
        press(&mut field, &[Action::Left, Action::Left]);
        assert_eq!(field.cursor(), (0, 2));
        press(&mut field, &[Action::DeleteForward]);
        assert_eq!(field.text(), "日本e\u{301}");
        press(&mut field, &[Action::LineEnd, Action::DeleteBack, Action::DeleteBack]);
        assert_eq!(field.text(), "日");
        press(&mut field, &[Action::DeleteBack, Action::DeleteBack, Action::DeleteForward]);
        assert!(field.is_empty());
    }

    #[test]
    fn the_cursor_never_stands_inside_a_grapheme() {
        let mut field = TextField::with("👩‍👩‍👧‍👦\nabc", Lines::Many);
        press(&mut field, &[Action::TextUp]);
        assert_eq!(field.cursor(), (0, 0));
    }

    #[test]
    fn only_a_kill_can_be_yanked() {
        let mut field = TextField::with("one two", Lines::Many);
        press(&mut field, &[Action::KillWordBack, Action::DeleteBack, Action::Yank]);
        assert_eq!(field.text(), "onetwo");
    }

    #[test]
    fn delete_joins_lines_at_their_ends() {
        let mut field = TextField::with("a\nb", Lines::Many);
        press(&mut field, &[Action::LineStart, Action::DeleteBack]);
        assert_eq!(field.text(), "ab");
        press(&mut field, &[Action::TextUndo]);
        assert_eq!(field.text(), "a\nb");
    }
}
