//! Queues: the items of one session, and the backlog of all.

use super::text::{Lines, TextField};
use crate::domain::api::QueueRow;
use crate::domain::event::excerpt;
use crate::domain::id::ItemId;
use crate::domain::queue::{ItemState, Lane};
use crate::domain::sanitize::one_line;

/// An item as it is listed; every text in it is safe to show.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemRow {
    /// The row. Its texts are foreign: show those below instead.
    pub row: QueueRow,
    /// The first words of its text.
    pub excerpt: String,
    /// What a person calls its session.
    pub session_name: String,
    /// Why it was put aside.
    pub note: Option<String>,
    /// Why it does not move, if something else than its turn holds it.
    pub held: Option<String>,
}

impl ItemRow {
    pub(super) fn new(row: QueueRow) -> Self {
        let clean = |text: &str| one_line(text).into_owned();
        Self {
            excerpt: clean(&excerpt(&row.item.text)),
            session_name: clean(&row.session_name),
            note: row.item.note.as_deref().map(clean),
            held: row.held.as_deref().map(clean),
            row,
        }
    }

    /// Its identity.
    pub fn id(&self) -> ItemId {
        self.row.item.id
    }

    /// Where it stands, in a word: `next`, `1`, `runs`, `replaced`.
    pub fn place(&self) -> String {
        match (self.row.item.state, self.row.item.lane, self.row.position) {
            (ItemState::Running, _, _) => "runs".to_owned(),
            (ItemState::Waiting, Lane::Slot, _) => "next".to_owned(),
            (ItemState::Waiting, Lane::Queue, Some(position)) => position.to_string(),
            (state, _, _) => state.word().to_owned(),
        }
    }

    /// Whether it waits.
    pub fn waits(&self) -> bool {
        self.row.item.state == ItemState::Waiting
    }

    /// Whether it was put aside and can be put back.
    pub fn was_put_aside(&self) -> bool {
        matches!(self.row.item.state, ItemState::Superseded | ItemState::Cleared)
    }
}

/// A list of items.
#[derive(Debug, Clone)]
pub struct ItemList {
    /// The rows, in the order they are shown.
    pub rows: Vec<ItemRow>,
    /// The place of the selected row.
    pub selected: usize,
    /// The first row that is shown.
    pub top: usize,
    /// The filter's text field (the backlog has one).
    pub filter: TextField,
    /// Why it could not be read.
    pub failed: Option<String>,
    /// Whether an answer has come yet.
    pub loaded: bool,
    /// Every row that came, before the filter.
    pub(super) all: Vec<ItemRow>,
}

impl Default for ItemList {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            selected: 0,
            top: 0,
            filter: TextField::new(Lines::One),
            failed: None,
            loaded: false,
            all: Vec::new(),
        }
    }
}

impl ItemList {
    /// The selected row.
    pub fn current(&self) -> Option<&ItemRow> {
        self.rows.get(self.selected)
    }

    /// How many rows wait.
    pub fn waiting(&self) -> usize {
        self.rows.iter().filter(|row| row.waits()).count()
    }

    /// The rows that were put aside, newest first.
    pub fn put_aside(&self) -> impl ExactSizeIterator<Item = &ItemRow> {
        self.rows[self.waiting().min(self.rows.len())..].iter()
    }

    /// How many rows there are without the filter.
    pub fn total(&self) -> usize {
        self.all.len()
    }
}
