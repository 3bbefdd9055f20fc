//! Whether the terminal puts marks round a paste. None can be asked that surely answers: those that do are known
//! by the names that they give themselves.

use std::env;

use crate::console::app::model::Pastes;

/// What the names of terminals that mark pastes begin with.
const MARK_PASTES: [&str; 12] = [
    "alacritty",
    "contour",
    "foot",
    "ghostty",
    "kitty",
    "konsole",
    "mintty",
    "rxvt-unicode",
    "st-",
    "tmux",
    "wezterm",
    "xterm",
];

/// How the terminal hands a paste over, as far as the environment tells.
pub fn pastes_of_terminal() -> Pastes {
    let in_tmux = env::var_os("TMUX").is_some();
    pastes_of(&env::var("TERM").unwrap_or_default(), in_tmux)
}

fn pastes_of(term: &str, in_tmux: bool) -> Pastes {
    match in_tmux || MARK_PASTES.iter().any(|name| term.starts_with(name)) {
        true => Pastes::Marked,
        false => Pastes::AsKeys,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_is_not_known_to_mark_pastes_hands_them_over_as_keys() {
        for term in ["xterm-256color", "xterm-kitty", "tmux-256color", "foot", "st-256color"] {
            assert_eq!(pastes_of(term, false), Pastes::Marked, "{term}");
        }
        for term in ["linux", "vt220", "screen", "eterm-color", "dumb", ""] {
            assert_eq!(pastes_of(term, false), Pastes::AsKeys, "{term}");
        }
        assert_eq!(pastes_of("screen-256color", true), Pastes::Marked, "tmux calls itself so");
    }
}
