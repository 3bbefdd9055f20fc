//! The control sequences that turn the terminal's modes on and off.

/// Ends whatever sequence a half-written frame left open.
pub(super) const CANCEL: &str = "\x18";

/// Remembers the screen and begins an empty one.
pub(super) const ALTERNATE_SCREEN_ON: &str = "\x1b[?1049h\x1b[2J\x1b[H";
/// Brings the remembered screen back.
pub(super) const ALTERNATE_SCREEN_OFF: &str = "\x1b[?1049l";

/// Pastes arrive between marks.
pub(super) const BRACKETED_PASTE_ON: &str = "\x1b[?2004h";
/// Pastes arrive as keys.
pub(super) const BRACKETED_PASTE_OFF: &str = "\x1b[?2004l";

/// The terminal tells when it gains and loses the focus.
pub(super) const FOCUS_EVENTS_ON: &str = "\x1b[?1004h";
/// It no longer tells.
pub(super) const FOCUS_EVENTS_OFF: &str = "\x1b[?1004l";

/// Presses, drags and the wheel, with coordinates of any size. Not bare moves: they would wake an
/// idle console.
pub(super) const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
/// The mouse is the terminal's again.
pub(super) const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";

/// Asks for the keyboard protocol; a terminal that knows it answers, any other is silent.
pub(super) const KEYBOARD_QUERY: &str = "\x1b[?u";
/// Keys that look alike are told apart (1), and a shifted key says which character it makes (4):
/// without the second, alt-: would arrive as alt-shift-; on one keyboard and as another key on the
/// next.
pub(super) const KEYBOARD_PUSH: &str = "\x1b[>5u";
/// The keyboard as it was.
pub(super) const KEYBOARD_POP: &str = "\x1b[<1u";

/// What follows appears at once, at [`SYNCHRONIZED_END`].
pub(super) const SYNCHRONIZED_BEGIN: &str = "\x1b[?2026h";
/// Shows what came since [`SYNCHRONIZED_BEGIN`].
pub(super) const SYNCHRONIZED_END: &str = "\x1b[?2026l";

/// No colours, no attributes.
pub(super) const PLAIN: &str = "\x1b[0m";
/// An empty screen.
pub(super) const CLEAR: &str = "\x1b[0m\x1b[2J\x1b[H";
/// The cursor is hidden.
pub(super) const CURSOR_OFF: &str = "\x1b[?25l";
/// The cursor is shown.
pub(super) const CURSOR_ON: &str = "\x1b[?25h";
