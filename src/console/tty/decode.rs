//! From the terminal's bytes to what they mean.
//!
//! termina's parser, the one behind Helix, reads the keys. It is fed from here rather than through
//! a library's own event source, because those sources are process-wide, spin or block when the
//! terminal vanishes, and can't be dropped while another program has the terminal. Pastes are cut
//! out before the parser: they can be megabytes, and an end mark inside one must not let the rest
//! of it loose as keys.

use std::panic::{AssertUnwindSafe, catch_unwind};

use termina::escape::csi::{Csi, Keyboard};
use termina::event as raw;
use termina::{Event, Parser};

use crate::console::app::key::{Code, Held, Key};
use crate::console::app::msg::MouseAct;

/// The most that one paste may hold. A bigger one is refused whole, with its size.
const MAX_PASTE_BYTES: usize = 8 * 1024 * 1024;

const ESC: u8 = 0x1b;
const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// What the terminal says.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted. Lines end with LF; other control characters are dropped.
    Paste(String),
    /// A paste was too big and none of it was taken.
    PasteRefused {
        /// Its size in bytes.
        bytes: usize,
        /// The most that is taken.
        most: usize,
    },
    /// The mouse did something.
    Mouse {
        /// What.
        act: MouseAct,
        /// Where, from 0.
        column: u16,
        /// Where, from 0.
        row: u16,
    },
    /// The window's focus.
    Focus(Focus),
    /// The terminal speaks the kitty keyboard protocol.
    KeyboardProtocol,
}

/// The window's focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The operator looks.
    Gained,
    /// The operator looks elsewhere.
    Lost,
}

/// Turns bytes into [`Input`], chunk by chunk.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    parser: Parser,
    state: State,
    /// Bytes that may begin a mark.
    held_back: Vec<u8>,
    open_escape: bool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Keys,
    Paste {
        bytes: Vec<u8>,
        dropped: usize,
    },
}

impl Decoder {
    /// Takes a chunk, and pushes what it completes.
    pub(super) fn feed(&mut self, chunk: &[u8], to: &mut Vec<Input>) {
        let mut bytes = std::mem::take(&mut self.held_back);
        bytes.extend_from_slice(chunk);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            rest = match self.state {
                State::Keys => self.feed_keys(rest, to),
                State::Paste { .. } => self.feed_paste(rest, to),
            };
        }
    }

    /// Whether something is open that only time can end: an ESC that is the key or begins a
    /// sequence, or a paste whose end did not come yet.
    pub(super) fn is_open(&self) -> bool {
        self.open_escape || matches!(self.state, State::Paste { .. })
    }

    /// Whether a paste is open.
    pub(super) fn is_pasting(&self) -> bool {
        matches!(self.state, State::Paste { .. })
    }

    /// Nothing more came: what is open ends here.
    pub(super) fn quiet(&mut self, to: &mut Vec<Input>) {
        let held_back = std::mem::take(&mut self.held_back);
        match std::mem::take(&mut self.state) {
            State::Keys => {
                self.parse(&held_back, More::No, to);
                // A sequence that was cut short would swallow the next keys.
                self.parser = Parser::default();
                self.open_escape = false;
            }
            State::Paste { mut bytes, dropped } => {
                bytes.extend_from_slice(&held_back);
                to.push(paste(&bytes, dropped));
            }
        }
    }

    fn feed_keys<'a>(&mut self, bytes: &'a [u8], to: &mut Vec<Input>) -> &'a [u8] {
        let (keys, rest) = match find(bytes, PASTE_BEGIN) {
            Found::Whole(at) => {
                self.state = State::Paste { bytes: Vec::new(), dropped: 0 };
                (&bytes[..at], &bytes[at + PASTE_BEGIN.len()..])
            }
            Found::Begun(at) => {
                self.held_back = bytes[at..].to_vec();
                (&bytes[..at], &[][..])
            }
            Found::No => (bytes, &[][..]),
        };
        // An ESC that another one follows is the key: what the other begins is a sequence of its own.
        for keys in keys.chunk_by(|one, next| [*one, *next] != [ESC, ESC]) {
            self.parse(keys, if keys.ends_with(&[ESC]) { More::No } else { More::Maybe }, to);
        }
        let tail = &bytes[bytes.len().saturating_sub(64)..];
        self.open_escape = rest.is_empty() && tail.contains(&ESC);
        rest
    }

    fn feed_paste<'a>(&mut self, bytes: &'a [u8], to: &mut Vec<Input>) -> &'a [u8] {
        let (text, rest, ended) = match find(bytes, PASTE_END) {
            Found::Whole(at) => (&bytes[..at], &bytes[at + PASTE_END.len()..], true),
            Found::Begun(at) => {
                self.held_back = bytes[at..].to_vec();
                (&bytes[..at], &[][..], false)
            }
            Found::No => (bytes, &[][..], false),
        };
        if let State::Paste { bytes, dropped } = &mut self.state {
            let room = MAX_PASTE_BYTES.saturating_sub(bytes.len()).min(text.len());
            bytes.extend_from_slice(&text[..room]);
            *dropped += text.len() - room;
            if ended {
                to.push(paste(bytes, *dropped));
                self.state = State::Keys;
            }
        }
        rest
    }

    /// The parser takes one from a coordinate that may be 0, which panics where overflow is checked:
    /// such a report is nothing to fall over.
    fn parse(&mut self, bytes: &[u8], more: More, to: &mut Vec<Input>) {
        let parser = &mut self.parser;
        let parsed = catch_unwind(AssertUnwindSafe(|| parser.parse(bytes, more == More::Maybe)));
        while let Some(event) = self.parser.pop() {
            to.extend(input(event));
        }
        if parsed.is_err() {
            self.parser = Parser::default();
        }
    }
}

/// Whether more bytes may belong to the last ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    Maybe,
    No,
}

/// A pasted text: lines end with LF, other control characters are dropped, tabs stay.
pub(super) fn clean_paste(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut clean = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                characters.next_if_eq(&'\n');
                clean.push('\n');
            }
            '\n' | '\t' => clean.push(character),
            other if other.is_control() => {}
            other => clean.push(other),
        }
    }
    clean
}

fn paste(bytes: &[u8], dropped: usize) -> Input {
    match dropped {
        0 => Input::Paste(clean_paste(bytes)),
        more => Input::PasteRefused { bytes: bytes.len() + more, most: MAX_PASTE_BYTES },
    }
}

fn input(event: Event) -> Option<Input> {
    match event {
        Event::Key(event) if event.kind == raw::KeyEventKind::Release => None,
        Event::Key(event) => key(event).map(Input::Key),
        Event::Mouse(raw::MouseEvent { kind, column, row, .. }) => {
            mouse(kind).map(|act| Input::Mouse { act, column, row })
        }
        Event::FocusIn => Some(Input::Focus(Focus::Gained)),
        Event::FocusOut => Some(Input::Focus(Focus::Lost)),
        Event::Csi(Csi::Keyboard(Keyboard::ReportFlags(_))) => Some(Input::KeyboardProtocol),
        _ => None,
    }
}

/// A terminal with the keyboard protocol tells ctrl-i from tab, ctrl-m from enter and ctrl-[ from
/// esc; the others can't, so here nobody does. [`Key::new`] knows the names that all share.
fn key(event: raw::KeyEvent) -> Option<Key> {
    let mut held = Held {
        ctrl: event.modifiers.contains(raw::Modifiers::CONTROL),
        alt: event.modifiers.contains(raw::Modifiers::ALT),
        shift: event.modifiers.contains(raw::Modifiers::SHIFT),
    };
    let code = match event.code {
        raw::KeyCode::Char('i') if held.ctrl => Code::Tab,
        raw::KeyCode::Char('m') if held.ctrl => Code::Enter,
        raw::KeyCode::Char('[') if held.ctrl => Code::Esc,
        raw::KeyCode::Char('-') if held.ctrl && held.shift => Code::Char('_'),
        other => code(other)?,
    };
    if matches!(event.code, raw::KeyCode::Char(_)) && !matches!(code, Code::Char(_)) {
        held.ctrl = false;
    }
    if event.code == raw::KeyCode::BackTab {
        held.shift = true;
    }
    Some(Key::new(code, held))
}

fn code(code: raw::KeyCode) -> Option<Code> {
    Some(match code {
        raw::KeyCode::Char(character) => Code::Char(character),
        raw::KeyCode::Enter => Code::Enter,
        raw::KeyCode::Backspace => Code::Backspace,
        raw::KeyCode::Tab | raw::KeyCode::BackTab => Code::Tab,
        raw::KeyCode::Escape => Code::Esc,
        raw::KeyCode::Left => Code::Left,
        raw::KeyCode::Right => Code::Right,
        raw::KeyCode::Up => Code::Up,
        raw::KeyCode::Down => Code::Down,
        raw::KeyCode::Home => Code::Home,
        raw::KeyCode::End => Code::End,
        raw::KeyCode::PageUp => Code::PageUp,
        raw::KeyCode::PageDown => Code::PageDown,
        raw::KeyCode::Delete => Code::Delete,
        raw::KeyCode::Function(number) => Code::F(number),
        // Insert, locks, media keys and bare modifiers mean nothing here.
        _ => return None,
    })
}

fn mouse(kind: raw::MouseEventKind) -> Option<MouseAct> {
    match kind {
        raw::MouseEventKind::Down(raw::MouseButton::Left) => Some(MouseAct::Click),
        raw::MouseEventKind::ScrollUp => Some(MouseAct::WheelUp),
        raw::MouseEventKind::ScrollDown => Some(MouseAct::WheelDown),
        _ => None,
    }
}

enum Found {
    Whole(usize),
    /// The bytes end inside what may become the mark.
    Begun(usize),
    No,
}

fn find(bytes: &[u8], mark: &[u8]) -> Found {
    let mut from = 0;
    while let Some(step) = bytes[from..].iter().position(|byte| *byte == mark[0]) {
        let at = from + step;
        let here = &bytes[at..];
        if here.starts_with(mark) {
            return Found::Whole(at);
        }
        if mark.starts_with(here) {
            return Found::Begun(at);
        }
        from = at + 1;
    }
    Found::No
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn decode(chunks: &[&[u8]]) -> Vec<Input> {
        let mut decoder = Decoder::default();
        let mut inputs = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk, &mut inputs);
        }
        if decoder.is_open() {
            decoder.quiet(&mut inputs);
        }
        inputs
    }

    fn named(name: &str) -> Input {
        Input::Key(name.parse().unwrap())
    }

    #[test]
    fn a_key_has_one_name_whatever_the_terminal_calls_it() {
        let cases: &[(&[u8], &str)] = &[
            (b"\x1f", "ctrl-_"),
            (b"\x1b[47;5u", "ctrl-_"),
            (b"\x1b[45:95;6u", "ctrl-_"),
            (b"\x1b[45;6u", "ctrl-_"),
            (b"\t", "tab"),
            (b"\x1b[105;5u", "tab"),
            (b"\x1b[109;5u", "enter"),
            (b"\x1b[91;5u", "esc"),
            (b"\x08", "ctrl-h"),
            (b"\x7f", "backspace"),
            (b"\n", "ctrl-j"),
            (b"A", "A"),
            (b"\x1b[97;2u", "A"),
            (b"\x1b:", "alt-:"),
            (b"\x1b[59:58;4u", "alt-:"),
            (b"\x1b[Z", "shift-tab"),
            (b"\x1b[9;2u", "shift-tab"),
            (b"\x1b[13;2u", "shift-enter"),
            (b"\x1b", "esc"),
            (b"\x1bOP", "F1"),
            (b"\x1b[19~", "F8"),
            (b"\x1b[1;5H", "ctrl-home"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(decode(&[bytes]), [named(expected)], "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_key_that_is_let_go_is_no_key() {
        assert_eq!(decode(&[b"\x1b[97;1:3u"]), []);
    }

    #[test]
    fn a_sequence_torn_between_two_reads_is_one_key() {
        assert_eq!(decode(&[b"\x1b", b"[1;5", b"H"]), [named("ctrl-home")]);
        assert_eq!(decode(&["日".as_bytes().split_at(1).0, "日".as_bytes().split_at(1).1]), [named("日")]);
    }

    #[test]
    fn esc_and_the_key_right_after_it_are_two_keys() {
        for (key, name) in [("\x1b[19~", "F8"), ("\x1bOP", "F1"), ("\x1b[A", "up"), ("\x1b", "esc")] {
            let bytes = format!("\x1b{key}");
            let expected = [named("esc"), named(name)];
            assert_eq!(decode(&[bytes.as_bytes()]), expected, "{name}");
            assert_eq!(decode(&[b"\x1b", key.as_bytes()]), expected, "{name}, torn");
            assert_eq!(decode(&[&bytes.as_bytes()[..2], &bytes.as_bytes()[2..]]), expected, "{name}, torn");
        }
        let pasted = decode(&[b"\x1b\x1b[200~one\x1b[201~"]);
        assert_eq!(pasted, [named("esc"), Input::Paste("one".to_owned())]);
    }

    #[test]
    fn a_sequence_that_never_ends_swallows_nothing_that_comes_later() {
        let mut decoder = Decoder::default();
        let mut inputs = Vec::new();
        decoder.feed(b"\x1b[", &mut inputs);
        decoder.quiet(&mut inputs);
        inputs.clear();
        decoder.feed(b"x", &mut inputs);
        assert_eq!(inputs, [named("x")]);
    }

    #[test]
    fn a_paste_is_one_text_with_plain_line_ends() {
        let pasted = decode(&[b"a\x1b[200~one\r\ntwo\rthree\nfo\x07ur\tfive\x1b[201~b"]);
        assert_eq!(pasted, [named("a"), Input::Paste("one\ntwo\nthree\nfour\tfive".to_owned()), named("b")]);
    }

    #[test]
    fn a_paste_may_be_torn_anywhere() {
        let bytes = "x\x1b[200~ein Tag 日本\x1b[1m\x1b[201~y".as_bytes();
        let expected = decode(&[bytes]);
        for cut in 1..bytes.len() {
            let (left, right) = bytes.split_at(cut);
            assert_eq!(decode(&[left, right]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_paste_without_an_end_is_kept_when_it_falls_silent() {
        assert_eq!(decode(&[b"\x1b[200~half a te"]), [Input::Paste("half a te".to_owned())]);
    }

    #[test]
    fn a_paste_that_is_too_big_is_refused_with_its_size() {
        let mut decoder = Decoder::default();
        let mut inputs = Vec::new();
        decoder.feed(PASTE_BEGIN, &mut inputs);
        let chunk = vec![b'x'; 1024 * 1024];
        for _ in 0..9 {
            decoder.feed(&chunk, &mut inputs);
        }
        decoder.feed(PASTE_END, &mut inputs);
        assert_eq!(inputs, [Input::PasteRefused { bytes: 9 * 1024 * 1024, most: MAX_PASTE_BYTES }]);
    }

    #[test]
    fn the_mouse_and_the_focus_are_told() {
        let click = Input::Mouse { act: MouseAct::Click, column: 11, row: 4 };
        assert_eq!(
            decode(&[b"\x1b[I\x1b[<0;12;5M\x1b[O\x1b[?0u"]),
            [Input::Focus(Focus::Gained), click, Input::Focus(Focus::Lost), Input::KeyboardProtocol]
        );
    }

    #[test]
    fn a_report_that_makes_no_sense_is_ignored() {
        assert_eq!(decode(&[b"\x1b[<0;0M", b"x"]), [named("x")]);
        assert_eq!(decode(&[b"\x1b[<0;0;0M", b"x"]).last(), Some(&named("x")));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_bytes_break_the_decoder(chunks in proptest::collection::vec(
            proptest::collection::vec(prop_oneof![Just(0x1b), Just(b'['), Just(b'<'), Just(b'0'), Just(b';'), Just(b'M'), Just(b'~'), any::<u8>()], 0..40), 0..6)) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            decode(&chunks);
        }
    }
}
