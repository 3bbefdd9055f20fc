//! Keys: one key press, its name, and the one place where names are normalised.

use std::fmt;
use std::str::FromStr;

/// A key press, normalised: shift is folded into a character, and the codes that terminals share
/// with control characters have one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which key.
    pub code: Code,
    /// What was held with it.
    pub held: Held,
}

/// A key on the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// A key that prints.
    Char(char),
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Escape.
    Esc,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key.
    F(u8),
}

/// The modifiers held with a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Held {
    /// Control.
    pub ctrl: bool,
    /// Alt, or Option.
    pub alt: bool,
    /// Shift; never set with a character, whose case says it.
    pub shift: bool,
}

impl Key {
    /// A key as the terminal reported it, normalised.
    ///
    /// Terminals can't tell some keys from control characters and crossterm then guesses: it
    /// reports ctrl-_ and ctrl-/ as ctrl-7, ctrl-\ as ctrl-4 and ctrl-] as ctrl-5.
    pub fn new(code: Code, held: Held) -> Self {
        let Code::Char(c) = code else { return Self { code, held } };
        let c = match (held.ctrl, c) {
            (true, '7' | '/') => '_',
            (true, '4') => '\\',
            (true, '5') => ']',
            (true, c) => c.to_ascii_lowercase(),
            (false, c) if held.shift => c.to_uppercase().next().unwrap_or(c),
            (false, c) => c,
        };
        Self { code: Code::Char(c), held: Held { shift: false, ..held } }
    }

    /// A key without modifiers.
    pub fn plain(code: Code) -> Self {
        Self::new(code, Held::default())
    }

    /// A key with control.
    pub fn ctrl(c: char) -> Self {
        Self::new(Code::Char(c), Held { ctrl: true, ..Held::default() })
    }

    /// The same key without alt.
    pub(super) fn without_alt(self) -> Self {
        Self { held: Held { alt: false, ..self.held }, ..self }
    }

    /// The character that this key types into a text field; none if it types nothing.
    pub fn types(self) -> Option<char> {
        match self.code {
            Code::Char(c) if !self.held.ctrl && !self.held.alt => Some(c),
            _ => None,
        }
    }
}

/// The keys that are not characters, with their names.
const NAMED: &[(&str, Code)] = &[
    ("enter", Code::Enter),
    ("tab", Code::Tab),
    ("esc", Code::Esc),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("home", Code::Home),
    ("end", Code::End),
    ("pgup", Code::PageUp),
    ("pgdn", Code::PageDown),
    ("space", Code::Char(' ')),
];

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [(self.held.ctrl, "ctrl-"), (self.held.alt, "alt-"), (self.held.shift, "shift-")]
        {
            if held {
                f.write_str(name)?;
            }
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            Code::Char(c) => write!(f, "{c}"),
            Code::F(n) => write!(f, "F{n}"),
            _ => Ok(()),
        }
    }
}

/// A text that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyNameError {
    /// No such name.
    #[error(
        "{0:?} is no key: write a character, enter, tab, esc, space, up, pgdn, F1 and the like, with ctrl-, alt- or shift- before it"
    )]
    Unknown(String),
    /// A name that the terminal can't tell from another key.
    #[error("{name:?} arrives as {same} in a terminal; bind {same}")]
    Alias {
        /// What was written.
        name: String,
        /// What arrives.
        same: &'static str,
    },
    /// A key that something between keyboard and program takes.
    #[error("{name:?} is never bound: {why}")]
    Never {
        /// What was written.
        name: String,
        /// Who takes it.
        why: &'static str,
    },
    /// Shift with a character.
    #[error("{0:?}: shift belongs into the character; write J, not shift-j")]
    ShiftedCharacter(String),
}

impl FromStr for Key {
    type Err = KeyNameError;

    fn from_str(name: &str) -> Result<Self, KeyNameError> {
        let unknown = || KeyNameError::Unknown(name.to_owned());
        let mut held = Held::default();
        let mut rest = name;
        loop {
            let (flag, prefix) = match rest.get(..5) {
                Some("ctrl-") => (&mut held.ctrl, 5),
                _ if rest.starts_with("alt-") => (&mut held.alt, 4),
                _ if rest.starts_with("shift-") => (&mut held.shift, 6),
                _ => break,
            };
            if *flag || rest.len() == prefix {
                return Err(unknown());
            }
            *flag = true;
            rest = &rest[prefix..];
        }
        let code = code(rest).ok_or_else(unknown)?;
        check(name, code, held)?;
        Ok(Self::new(code, held))
    }
}

fn code(name: &str) -> Option<Code> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return (!c.is_control() && c != ' ').then_some(Code::Char(c));
    }
    let lower = name.to_ascii_lowercase();
    if let Some((_, code)) = NAMED.iter().find(|(known, _)| *known == lower) {
        return Some(*code);
    }
    let number: u8 = lower.strip_prefix('f')?.parse().ok()?;
    (1..=24).contains(&number).then_some(Code::F(number))
}

fn check(name: &str, code: Code, held: Held) -> Result<(), KeyNameError> {
    let Code::Char(c) = code else {
        return match (code, held.ctrl) {
            (Code::Enter, true) => Err(KeyNameError::Alias { name: name.to_owned(), same: "enter" }),
            _ => Ok(()),
        };
    };
    if held.shift {
        return Err(KeyNameError::ShiftedCharacter(name.to_owned()));
    }
    if !held.ctrl {
        return Ok(());
    }
    let alias = |same| Err(KeyNameError::Alias { name: name.to_owned(), same });
    let never = |why| Err(KeyNameError::Never { name: name.to_owned(), why });
    match c.to_ascii_lowercase() {
        'i' => alias("tab"),
        'm' => alias("enter"),
        '[' | '3' => alias("esc"),
        '7' | '/' => alias("ctrl-_"),
        'g' | 'q' => never("zellij, screen and flow control take it"),
        '\\' | '4' => never("terminals send the quit signal with it"),
        ']' | '5' => never("telnet takes it"),
        '^' | '6' => never("vi and mosh take it"),
        _ => Ok(()),
    }
}

/// Reads a sequence of keys: `g s`, `ctrl-x ctrl-e`.
pub fn sequence(text: &str) -> Result<Vec<Key>, KeyNameError> {
    let keys: Vec<Key> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    if keys.is_empty() { Err(KeyNameError::Unknown(text.to_owned())) } else { Ok(keys) }
}

/// Writes a sequence of keys.
pub fn sequence_name(keys: &[Key]) -> String {
    keys.iter().map(Key::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_as_it_is_written() {
        for name in ["j", "J", "ctrl-x", "alt-_", "ctrl-_", "F12", "shift-tab", "ctrl-left", "space", "alt-1"]
        {
            let key: Key = name.parse().unwrap();
            assert_eq!(key.to_string(), name);
        }
    }

    #[test]
    fn what_a_terminal_can_not_tell_apart_is_refused_with_the_name_to_use() {
        for (name, word) in [("ctrl-i", "tab"), ("ctrl-m", "enter"), ("ctrl-[", "esc"), ("ctrl-/", "ctrl-_")]
        {
            let error = name.parse::<Key>().unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        for name in ["ctrl-q", "ctrl-g", "ctrl-\\", "ctrl-]", "ctrl-^", "ctrl-enter"] {
            assert!(name.parse::<Key>().is_err(), "{name}");
        }
        for name in ["", "ctrl-", "hyper-x", "jj", "shift-j", "ctrl-ctrl-x", "F0", "F25"] {
            assert!(name.parse::<Key>().is_err(), "{name}");
        }
    }

    #[test]
    fn the_codes_that_crossterm_guesses_have_one_name() {
        assert_eq!(Key::ctrl('7'), Key::ctrl('_'));
        let shift = Held { shift: true, ..Held::default() };
        assert_eq!(Key::new(Code::Char('j'), shift), Key::plain(Code::Char('J')));
    }
}
