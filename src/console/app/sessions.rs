//! The list of sessions: a window over however many there are, its filter, and the selection.

use std::borrow::Cow;

use super::text::{Lines, TextField};
use crate::domain::Time;
use crate::domain::api::{SessionCursor, SessionRow};
use crate::domain::event::excerpt;
use crate::domain::id::{SessionKey, TurnId};
use crate::domain::sanitize::one_line;
use crate::domain::session::SessionState;

/// How many rows are asked for at a time.
pub const PAGE: usize = 200;

/// A session as it is listed; every text in it is safe to show.
#[derive(Debug, Clone, PartialEq)]
pub struct ListRow {
    /// The row. Its texts are foreign: show those below instead.
    pub row: SessionRow,
    /// What a person calls it.
    pub name: String,
    /// Its platform and chat type, in words: `telegram dm`; `local` for the operator's own.
    pub place: String,
    /// What its agent asks, on one line.
    pub asks: Option<String>,
    /// The first words of the message in its slot.
    pub slot: Option<String>,
    /// The last error of a turn since the last answer, on one line.
    pub last_error: Option<String>,
}

impl ListRow {
    pub(super) fn new(row: SessionRow) -> Self {
        let clean = |text: &str| one_line(text).into_owned();
        let parts = row.session.key.parts();
        let place = match parts.platform {
            "local" => "local".to_owned(),
            platform => clean(&format!("{platform} {}", parts.chat_type.as_str())),
        };
        Self {
            name: clean(row.session.name()),
            place,
            asks: row.asks.first().map(|asked| asked.question.line()),
            slot: row.slot.as_ref().map(|item| clean(&excerpt(&item.text))),
            last_error: row.last_error.as_deref().map(clean),
            row,
        }
    }

    /// Keeps the last output that was heard of the same turn, if it is newer than the row knows.
    pub(super) fn keep_last_output(&mut self, known: &Self) {
        if let (Some(turn), Some(heard)) = (&mut self.row.turn, &known.row.turn)
            && turn.turn == heard.turn
        {
            turn.last_output_at = turn.last_output_at.max(heard.last_output_at);
        }
    }

    /// Takes in that a turn said something, if it is its own.
    pub(super) fn said(&mut self, turn: TurnId, at: Time) {
        if let Some(running) = self.row.turn.as_mut().filter(|running| running.turn == turn) {
            running.last_output_at = Some(at);
        }
    }

    /// Its key: the identity of a row.
    pub fn key(&self) -> &SessionKey {
        &self.row.session.key
    }

    /// How many messages wait in it, slot and queue together.
    pub fn waiting(&self) -> usize {
        self.row.queued + usize::from(self.row.slot.is_some())
    }
}

/// The list of sessions.
#[derive(Debug, Clone)]
pub struct SessionList {
    /// The loaded rows, in the order they are shown.
    pub rows: Vec<ListRow>,
    /// How many rows stand before the loaded ones, as far as it is known.
    pub before: usize,
    /// How many sessions match the filter.
    pub hits: usize,
    /// How many there are.
    pub total: usize,
    /// The place of the selected row among the loaded ones.
    pub selected: usize,
    /// The first row that is shown, among the loaded ones.
    pub top: usize,
    /// The filter's text field.
    pub filter: TextField,
    /// Why the list could not be read.
    pub failed: Option<String>,
    /// Whether an answer has come yet.
    pub loaded: bool,
    /// The window that is wanted: where it starts and how many rows it has.
    pub(super) start: Option<SessionCursor>,
    pub(super) limit: usize,
    /// The starts of the windows before this one, with how many rows lie between.
    pub(super) earlier: Vec<(Option<SessionCursor>, usize)>,
    /// The order that came while the present one was frozen.
    pub(super) thawed: Option<Vec<ListRow>>,
    /// Whether the window reaches to the end of the list.
    pub(super) at_end: bool,
    /// Whether the window walks to the end of the list.
    pub(super) walks_to_end: bool,
    /// The session that the window is to be moved to.
    pub(super) sought: Option<SessionKey>,
    /// What to do when the wanted window has come; none: it is the one that is shown.
    pub(super) coming: Option<Coming>,
}

/// What to do when another window of the list has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coming {
    /// Keep the selection on its thing.
    Shift,
    /// Select the first row and put it in front.
    SelectFirst,
}

impl Default for SessionList {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            before: 0,
            hits: 0,
            total: 0,
            selected: 0,
            top: 0,
            filter: TextField::new(Lines::One),
            failed: None,
            loaded: false,
            start: None,
            limit: PAGE,
            earlier: Vec::new(),
            thawed: None,
            at_end: false,
            walks_to_end: false,
            sought: None,
            coming: None,
        }
    }
}

impl SessionList {
    /// The selected row.
    pub fn current(&self) -> Option<&ListRow> {
        self.rows.get(self.selected)
    }

    /// The row of a key, if it is loaded.
    pub fn find(&self, key: &SessionKey) -> Option<&ListRow> {
        self.rows.iter().find(|row| row.key() == key)
    }

    /// How many rows match behind the loaded ones.
    pub fn after(&self) -> usize {
        match self.at_end {
            true => 0,
            false => self.hits.saturating_sub(self.before + self.rows.len()),
        }
    }

    /// Whether the list is being read through to its end.
    pub fn walks_to_end(&self) -> bool {
        self.walks_to_end
    }

    /// Wants the window at the top of the list.
    pub(super) fn rewind(&mut self) {
        self.start = None;
        self.limit = PAGE;
        self.earlier.clear();
        self.walks_to_end = false;
        self.coming = Some(Coming::Shift);
    }

    /// Wants the window to start at a row that is not loaded.
    pub(super) fn start_at(&mut self, row: &SessionRow) {
        // A cursor names the place behind a row: a moment later is the place before this one.
        let last_activity_at = row.session.last_activity_at + chrono::TimeDelta::milliseconds(1);
        self.start_from(SessionCursor { last_activity_at, ..row.cursor() });
    }

    /// Wants the window behind a place that is not loaded.
    pub(super) fn start_from(&mut self, place: SessionCursor) {
        self.rewind();
        self.earlier.push((None, 0));
        self.start = Some(place);
    }

    /// Wants the window to start so many rows further on.
    pub(super) fn step_forward(&mut self, rows: usize) {
        let Some(last) = rows.checked_sub(1).and_then(|index| self.rows.get(index)) else { return };
        self.earlier.push((self.start.take(), rows));
        self.start = Some(last.row.cursor());
        self.coming = Some(Coming::Shift);
    }

    /// Wants the window to start where it did before its last step.
    pub(super) fn step_back(&mut self) {
        if let Some((start, _)) = self.earlier.pop() {
            self.start = start;
            self.coming = Some(Coming::Shift);
        }
    }

    /// How many of the loaded rows are in a state.
    pub fn count(&self, state: SessionState) -> usize {
        self.rows.iter().filter(|row| row.row.state == state).count()
    }
}

/// A short text of a session for places that have only its key.
pub(super) fn name_of(key: &SessionKey) -> Cow<'_, str> {
    one_line(key.parts().chat_id)
}
