//! Foreign text made harmless before any screen or terminal.
//!
//! One sanitizer for every sink: control characters, C1, bidirectional overrides and invisible
//! format characters become visible marks, so nothing foreign can move the cursor, write the
//! clipboard or turn the reading order. What a zero-width joiner joins is shown side by side: terminals
//! don't agree on how many cells the joined sign has, and one that is wrong spoils the line. What somebody
//! decides on is shown more strictly ([`exact`]): there what only belongs to a script's writing is marked, too.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// What a line break becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// It stays; CR and CR LF become LF.
    Keep,
    /// It becomes a space: names, titles and list cells are one line.
    Join,
}

const JOINER: char = '\u{200d}';

/// Makes `text` harmless. Borrows where nothing had to change.
pub fn sanitize(text: &str, lines: Lines) -> Cow<'_, str> {
    let changes = |c| needs_mark(c) || c == '\t' || c == JOINER || (c == '\n' && lines == Lines::Join);
    if !text.chars().any(changes) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, lines) {
            ('\r', _) if chars.peek() == Some(&'\n') => {}
            ('\r' | '\n', Lines::Keep) => clean.push('\n'),
            ('\r' | '\n', Lines::Join) => clean.push(' '),
            ('\t', Lines::Keep) => clean.push_str("    "),
            ('\t', Lines::Join) => clean.push(' '),
            (JOINER, _) if joins(clean.chars().next_back(), chars.peek()) => {}
            (JOINER, _) => push_mark(&mut clean, JOINER),
            (c, _) if needs_mark(c) => push_mark(&mut clean, c),
            (c, _) => clean.push(c),
        }
    }
    Cow::Owned(clean)
}

/// Makes `text` harmless and one line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    sanitize(text, Lines::Join)
}

/// Makes `text` harmless and keeps its lines.
pub fn many_lines(text: &str) -> Cow<'_, str> {
    sanitize(text, Lines::Keep)
}

/// Makes `text` harmless, keeps its lines, and marks every character of it that would not be seen.
pub fn exact(text: &str) -> Cow<'_, str> {
    if !hidden(text).any(|(_, hides)| hides) {
        return many_lines(text);
    }
    let mut marked = String::with_capacity(text.len() + 16);
    for (c, hides) in hidden(text) {
        if hides { push_mark(&mut marked, c) } else { marked.push(c) }
    }
    Cow::Owned(many_lines(&marked).into_owned())
}

/// The characters of a text, and whether each would not be seen: one of a script's writing that has no shape of
/// its own, or a mark above so many others that no cell shows it.
fn hidden(text: &str) -> impl Iterator<Item = (char, bool)> {
    const MOST_MARKS: usize = 4;
    let mut marks = 0;
    text.chars().map(move |c| {
        marks = if c.width() == Some(0) { marks + 1 } else { 0 };
        let shapeless =
            matches!(c, '\u{200c}' | JOINER | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
        (c, shapeless || marks > MOST_MARKS)
    })
}

/// Whether a character does something to a screen instead of standing on it, or stands there as nothing. Tab and
/// line feed do not count, nor does what chooses the shape of a sign before it or joins two.
pub fn needs_mark(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // They belong to many scripts and move nothing.
        '\u{200c}' | JOINER => false,
        c if c.is_control() => true,
        '\u{00ad}'
        | '\u{034f}'
        | '\u{061c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e00ff}'
        | '\u{e01f0}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Whether a joiner stands between two signs.
fn joins(before: Option<char>, after: Option<&char>) -> bool {
    let sign = |c: char| !c.is_ascii() && !c.is_whitespace() && !needs_mark(c) && c != JOINER;
    before.is_some_and(sign) && after.copied().is_some_and(sign)
}

fn push_mark(clean: &mut String, c: char) {
    match c {
        '\0'..='\u{1f}' => clean.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
        '\u{7f}' => clean.push('\u{2421}'),
        c => {
            clean.push('<');
            clean.push_str(&format!("U+{:04X}", c as u32));
            clean.push('>');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn harmless_text_is_borrowed_as_it_is() {
        for text in ["plain", "zwei\nZeilen", "👩🚀", "می\u{200c}خواهم"] {
            assert!(matches!(many_lines(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn what_could_move_a_cursor_or_turn_the_reading_order_becomes_a_mark() {
        assert_eq!(one_line("\u{1b}]52;c;aGk=\u{7}"), "␛]52;c;aGk=␇");
        assert_eq!(one_line("a\u{7f}b\u{9b}c"), "a␡b<U+009B>c");
        assert_eq!(one_line("user\u{202e}txt.exe"), "user<U+202E>txt.exe");
        assert_eq!(one_line("\u{2066}\u{feff}\u{ad}"), "<U+2066><U+FEFF><U+00AD>");
    }

    #[test]
    fn what_a_joiner_joins_stands_side_by_side_and_a_lone_one_is_seen() {
        assert_eq!(one_line("👩\u{200d}👩\u{200d}👧"), "👩👩👧");
        assert_eq!(one_line("a \u{200d} b\u{200d}"), "a <U+200D> b<U+200D>");
        assert_eq!(one_line("👩\u{200d}\u{200d}🚀"), "👩<U+200D><U+200D>🚀");
    }

    #[test]
    fn what_is_shown_as_nothing_is_marked() {
        assert_eq!(one_line("rm\u{3164}\u{ffa0}\u{34f}"), "rm<U+3164><U+FFA0><U+034F>");
        assert_eq!(exact("r\u{200c}m ❤\u{fe0f} x\u{e0100}"), "r<U+200C>m ❤<U+FE0F> x<U+E0100>");
        let tower = format!("e{}", "\u{301}".repeat(6));
        assert_eq!(exact(&tower), "e\u{301}\u{301}\u{301}\u{301}<U+0301><U+0301>");
        assert_eq!(exact("👩\u{200d}🚀\r\nx\u{1b}"), "👩<U+200D>🚀\nx␛");
        assert!(matches!(exact("git push\nöß 日本"), Cow::Borrowed(_)));
    }

    #[test]
    fn lines_are_kept_or_joined() {
        assert_eq!(many_lines("a\r\nb\rc\n\td"), "a\nb\nc\n    d");
        assert_eq!(one_line("a\r\nb\rc\n\td"), "a b c  d");
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left_and_a_second_time_changes_nothing(text in any::<String>()) {
            let clean = many_lines(&text).into_owned();
            prop_assert!(!clean.chars().any(|c| c != '\n' && c.is_control()), "{:?}", clean);
            prop_assert_eq!(many_lines(&clean).into_owned(), clean.as_str());
            let line = one_line(&text).into_owned();
            let harmful = ['\n', '\r', '\t', '\u{1b}', '\u{202e}', '\u{2028}'];
            prop_assert!(!line.contains(harmful));
        }
    }
}
