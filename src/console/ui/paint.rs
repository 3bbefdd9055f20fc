//! What every pane draws with: the canvas, the state, and a record of what stands where.

use ratatui::layout::{Position, Rect};

use super::canvas::{Canvas, Pen};
use super::cron::timeline::Chart;
use super::motion::Motion;
use super::text;
use super::theme::Role;
use super::wraps::Wraps;
use crate::console::app::action::Action;
use crate::console::app::focus::{Focus, Pane, Target};
use crate::console::app::keymap::Context;
use crate::console::app::msg::Measured;
use crate::console::app::{Model, chain};
use crate::domain::session::SessionState;

/// A frame in the making.
pub(super) struct Paint<'a> {
    /// The cells.
    pub canvas: Canvas<'a>,
    /// The state.
    pub model: &'a Model,
    /// What was wrapped before.
    pub wraps: &'a mut Wraps,
    /// What the timeline's columns held before.
    pub chart: &'a mut Chart,
    /// What stands where, the topmost last.
    pub targets: &'a mut Vec<(Rect, Target)>,
    /// What this frame measured.
    pub measured: Measured,
    /// Where the hardware cursor stands.
    pub cursor: Option<Position>,
    /// The row that has the focus: nothing lies over it.
    pub keep: Option<Rect>,
    /// Where cards and overlays lie.
    pub covered: Vec<Rect>,
    /// What moves.
    pub motion: Motion,
}

/// Whether a pane gets the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focused {
    Yes,
    No,
}

impl Paint<'_> {
    pub(super) fn row(&mut self, area: Rect, y: u16) -> Pen<'_> {
        self.canvas.row(area, y)
    }

    /// Records what a click on `area` hits.
    pub(super) fn target(&mut self, area: Rect, target: Target) {
        self.targets.push((area, target));
    }

    pub(super) fn focused(&self, pane: Pane) -> Focused {
        if self.model.focus() == Focus::Pane(pane) { Focused::Yes } else { Focused::No }
    }

    /// A pane's title in a line: what it is at the left, what stands beside it at the right.
    pub(super) fn title(&mut self, area: Rect, focused: Focused, left: &str, right: &str) {
        self.title_in(area, focused, left, right, Role::Quiet);
    }

    /// As [`Self::title`], with the right side in a role.
    pub(super) fn title_in(&mut self, area: Rect, focused: Focused, left: &str, right: &str, role: Role) {
        self.title_keeping(area, focused, left, right, role, usize::from(area.width) / 2);
    }

    /// As [`Self::title_in`]; of the left side so many cells are kept, however long the right one is.
    pub(super) fn title_keeping(
        &mut self,
        area: Rect,
        focused: Focused,
        left: &str,
        right: &str,
        role: Role,
        kept: usize,
    ) {
        let line = self.canvas.glyphs.horizontal;
        let width = usize::from(area.width);
        // A right side of which little is left is left out.
        let room = width.saturating_sub(text::width(left).min(kept) + 8);
        let shown = if room < 10 { 0 } else { text::width(right).min(room) };
        let begin = if shown == 0 { area.right() } else { area.right() - to_cells(shown + 3) };
        let name = match focused {
            Focused::Yes => Role::TitleFocused,
            Focused::No => Role::Title,
        };
        let mut pen = self.canvas.row(Rect { width: begin - area.x, ..area }, 0);
        let left_width = text::width(left).min(pen.room().saturating_sub(3));
        pen.put(line, Role::Rule).put(" ", name).column(left, left_width, name).put(" ", name).rule();
        if shown > 0 {
            let mut pen = self.canvas.row(area, 0);
            pen.to(begin).put(" ", Role::Rule).column(right, shown, role).put(" ", Role::Rule).rule();
        }
    }

    /// The mark of a session's state; the one of a running turn turns.
    pub(super) fn state_mark(&mut self, state: SessionState) -> &'static str {
        match state {
            SessionState::Runs => self.motion.spinner(self.canvas.glyphs),
            state => self.canvas.glyphs.state(state),
        }
    }

    /// The keys that do something whatever has the focus.
    pub(super) fn key_everywhere(&self, action: Action) -> String {
        self.key_in(&[Context::Always], action)
    }

    /// The keys that do something where the focus is.
    pub(super) fn key_here(&self, action: Action) -> String {
        self.key_in(chain(self.model), action)
    }

    /// The first keys along a chain, or the action's name in key maps if it has none there.
    pub(super) fn key_in(&self, chain: &[Context], action: Action) -> String {
        self.model.keymap.keys_of(chain, action).unwrap_or_else(|| action.spec().name.to_owned())
    }

    /// Lines of a text that is not a list, from the top of `area`.
    pub(super) fn say(&mut self, area: Rect, lines: &[(&str, Role)]) {
        for (y, (line, role)) in lines.iter().enumerate() {
            self.canvas.row(area, to_cells(y)).skip(1).put(line, *role);
        }
    }
}

/// The role of a session's state.
pub(super) fn state_role(state: SessionState) -> Role {
    match state {
        SessionState::NeedsYou => Role::NeedsYou,
        SessionState::Runs => Role::Runs,
        SessionState::Resumes => Role::Waits,
        SessionState::Suspended => Role::Bad,
        SessionState::Held => Role::Held,
        SessionState::Waits => Role::Waits,
        SessionState::Idle => Role::Idle,
    }
}

/// The first row to show of `len` so that the selected one is seen, near where the list stood.
pub(super) fn first_shown(top: usize, selected: usize, len: usize, rows: usize) -> usize {
    let last_top = len.saturating_sub(rows);
    let lowest = (selected + 1).saturating_sub(rows);
    top.clamp(lowest.min(selected), selected.max(lowest)).min(last_top)
}

pub(super) fn to_cells(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_is_always_among_the_shown() {
        for rows in 1..5 {
            for len in 1..9 {
                for selected in 0..len {
                    for top in 0..12 {
                        let first = first_shown(top, selected, len, rows);
                        assert!(
                            first <= selected && selected < first + rows,
                            "{rows} {len} {selected} {top}"
                        );
                        assert!(first == 0 || first + rows <= len.max(rows));
                    }
                }
            }
        }
        assert_eq!(first_shown(0, 0, 0, 5), 0);
    }
}
