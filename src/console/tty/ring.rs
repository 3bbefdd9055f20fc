//! What a terminal does about an alert: its bell, and a notification of the desktop (OSC 9).

use super::clipboard::Between;
use crate::config::{Bell, DesktopNotification};

/// The bytes that make the terminal tell of an alert; none where it is to do nothing. `words` are safe to show.
pub fn ring(words: &str, bell: Bell, notification: DesktopNotification, between: Between) -> Vec<u8> {
    let mut bytes = String::new();
    if bell == Bell::On {
        bytes.push('\x07');
    }
    if notification == DesktopNotification::On {
        // The words never come first: some terminals take numbers there for another sequence.
        let sequence = format!("\x1b]9;switchboard: {words}\x1b\\");
        match between {
            Between::Nothing => bytes.push_str(&sequence),
            Between::Tmux => {
                bytes.push_str(&format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")));
            }
        }
    }
    bytes.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_unless_it_was_asked_for() {
        use {Bell as B, DesktopNotification as D};
        let sent = |bell, notification, between| {
            String::from_utf8(ring("4;1 fails", bell, notification, between)).unwrap()
        };
        assert_eq!(sent(B::Off, D::Off, Between::Tmux), "");
        assert_eq!(sent(B::On, D::Off, Between::Nothing), "\x07");
        assert_eq!(sent(B::Off, D::On, Between::Nothing), "\x1b]9;switchboard: 4;1 fails\x1b\\");
        let tmux = "\x07\x1bPtmux;\x1b\x1b]9;switchboard: 4;1 fails\x1b\x1b\\\x1b\\";
        assert_eq!(sent(B::On, D::On, Between::Tmux), tmux);
    }
}
