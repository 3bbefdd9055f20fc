//! The marks on the screen, in two sets. A word stands beside every mark that means something.

use crate::config::Glyphs;
use crate::domain::session::SessionState;

/// A set of marks. Every mark is one cell wide.
#[derive(Debug, PartialEq, Eq)]
pub struct GlyphSet {
    /// Blocks on a person.
    pub needs_you: &'static str,
    /// A turn runs, where nothing moves.
    pub runs: &'static str,
    /// Was cut off and goes on.
    pub resumes: &'static str,
    /// Was given up.
    pub suspended: &'static str,
    /// A queue that stands still on purpose.
    pub held: &'static str,
    /// Waits for something.
    pub waits: &'static str,
    /// Nothing to do.
    pub idle: &'static str,
    /// Ended well.
    pub done: &'static str,
    /// Failed, cut.
    pub failed: &'static str,
    /// Was not run, by a rule.
    pub skipped: &'static str,
    /// A slot in a timeline.
    pub slot: &'static str,
    /// Several slots of one job there.
    pub slots: &'static str,
    /// How long something took, the shortest first.
    pub bars: &'static [&'static str],
    /// The chosen row.
    pub chosen: &'static str,
    /// An entry that is folded.
    pub folded: &'static str,
    /// An entry that is open.
    pub open: &'static str,
    /// The end of a stream that grows.
    pub cursor: &'static str,
    /// Stands where text was cut.
    pub ellipsis: &'static str,
    /// Between two facts of one line.
    pub dot: &'static str,
    /// The composer's prompt.
    pub prompt: &'static str,
    /// A line from left to right.
    pub horizontal: &'static str,
    /// A line from top to bottom.
    pub vertical: &'static str,
    /// The corners of a card: top left, top right, bottom left, bottom right.
    pub corners: [&'static str; 4],
    /// Where a vertical line meets others: at its top, from the right, from the left.
    pub joints: [&'static str; 3],
    /// The frames of the mark of a turn that runs before the operator's eyes.
    pub spinner: &'static [&'static str],
}

/// Box drawing and symbols that every monospace font has.
pub const UNICODE: GlyphSet = GlyphSet {
    needs_you: "!",
    runs: "●",
    resumes: "↻",
    suspended: "✕",
    held: "=",
    waits: "·",
    idle: "○",
    done: "✓",
    failed: "✗",
    skipped: "-",
    slot: "╵",
    slots: "║",
    bars: &["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    chosen: "›",
    folded: "▸",
    open: "▾",
    cursor: "▌",
    ellipsis: "…",
    dot: "·",
    prompt: "›",
    horizontal: "─",
    vertical: "│",
    corners: ["┌", "┐", "└", "┘"],
    joints: ["┬", "├", "┤"],
    spinner: &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"],
};

/// ASCII alone.
pub const ASCII: GlyphSet = GlyphSet {
    needs_you: "!",
    runs: "*",
    resumes: "~",
    suspended: "x",
    held: "=",
    waits: ".",
    idle: "o",
    done: "v",
    failed: "x",
    skipped: "-",
    slot: "'",
    slots: "\"",
    bars: &["_", ".", "-", "=", "#"],
    chosen: ">",
    folded: "+",
    open: "-",
    cursor: "_",
    ellipsis: "~",
    dot: "-",
    prompt: ">",
    horizontal: "-",
    vertical: "|",
    corners: ["+", "+", "+", "+"],
    joints: ["+", "+", "+"],
    spinner: &["|", "/", "-", "\\"],
};

impl GlyphSet {
    /// The set that the settings name.
    pub fn of(glyphs: Glyphs) -> &'static Self {
        match glyphs {
            Glyphs::Unicode => &UNICODE,
            Glyphs::Ascii => &ASCII,
        }
    }

    /// The mark of a session's state.
    pub fn state(&self, state: SessionState) -> &'static str {
        match state {
            SessionState::NeedsYou => self.needs_you,
            SessionState::Runs => self.runs,
            SessionState::Resumes => self.resumes,
            SessionState::Suspended => self.suspended,
            SessionState::Held => self.held,
            SessionState::Waits => self.waits,
            SessionState::Idle => self.idle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::ui::text::width;

    fn marks(set: &'static GlyphSet) -> Vec<&'static str> {
        let mut marks = vec![
            set.needs_you,
            set.runs,
            set.held,
            set.waits,
            set.idle,
            set.done,
            set.failed,
            set.skipped,
            set.slot,
            set.slots,
            set.chosen,
            set.folded,
            set.open,
            set.cursor,
            set.ellipsis,
            set.dot,
            set.prompt,
            set.horizontal,
            set.vertical,
        ];
        marks.extend(set.corners);
        marks.extend(set.joints);
        marks.extend(set.spinner);
        marks.extend(set.bars);
        marks
    }

    #[test]
    fn every_mark_is_one_cell() {
        for mark in marks(&UNICODE).into_iter().chain(marks(&ASCII)) {
            assert_eq!(width(mark), 1, "{mark:?}");
        }
    }

    #[test]
    fn the_ascii_set_is_ascii() {
        assert!(marks(&ASCII).iter().all(|mark| mark.is_ascii()));
    }

    #[test]
    fn every_state_has_a_mark_of_its_own() {
        for set in [&UNICODE, &ASCII] {
            let mut seen: Vec<_> = SessionState::ALL.into_iter().map(|state| set.state(state)).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), SessionState::ALL.len());
        }
    }
}
