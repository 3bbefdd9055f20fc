//! The clipboard, through the terminal (OSC 52). It gives no receipt: say "sent to the terminal".

use std::env;

use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;

/// The most that is sent: many terminals drop a sequence of more than 100,000 bytes, and base64
/// makes four bytes of three.
pub const MAX_BYTES: usize = 74_000;

/// What stands between us and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Nothing that matters.
    Nothing,
    /// tmux.
    Tmux,
}

impl Between {
    /// As the environment says.
    pub fn from_environment() -> Self {
        if env::var_os("TMUX").is_some() { Self::Tmux } else { Self::Nothing }
    }
}

/// The text is too long for a terminal's clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not copied: {bytes} bytes, and a terminal takes {MAX_BYTES} at most; `/export` writes the session to a file"
)]
pub struct TooLong {
    /// Its size.
    pub bytes: usize,
}

/// The bytes that put `text` on the clipboard.
pub fn copy(text: &str, between: Between) -> Result<Vec<u8>, TooLong> {
    if text.len() > MAX_BYTES {
        return Err(TooLong { bytes: text.len() });
    }
    let mut sequence = String::new();
    // Writing to a string does not fail.
    let _ = CopyToClipboard::to_clipboard_from(text).write_ansi(&mut sequence);
    match between {
        Between::Nothing => Ok(sequence.into_bytes()),
        // tmux takes the plain sequence with `set-clipboard on` and hands the wrapped one through
        // with `allow-passthrough on`; which is set can't be known.
        Between::Tmux => {
            let wrapped = format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"));
            Ok((sequence + &wrapped).into_bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_travels_as_base64() {
        assert_eq!(copy("ABC", Between::Nothing), Ok(b"\x1b]52;c;QUJD\x1b\\".to_vec()));
    }

    #[test]
    fn tmux_gets_it_plain_and_wrapped() {
        let bytes = String::from_utf8(copy("ABC", Between::Tmux).unwrap()).unwrap();
        assert_eq!(bytes, "\x1b]52;c;QUJD\x1b\\\x1bPtmux;\x1b\x1b]52;c;QUJD\x1b\x1b\\\x1b\\");
    }

    #[test]
    fn a_text_that_is_too_long_is_refused_with_its_size() {
        assert!(copy(&"x".repeat(MAX_BYTES), Between::Nothing).is_ok());
        assert_eq!(copy(&"x".repeat(MAX_BYTES + 1), Between::Nothing), Err(TooLong { bytes: MAX_BYTES + 1 }));
    }
}
