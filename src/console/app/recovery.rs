//! The view of restart recovery: one start with the sessions it looked at, and the history of starts.

use super::action::Action;
use super::focus::{Focus, Pane, View};
use super::msg::{Pace, Question};
use super::overlay::Deed;
use super::text::{Lines, TextField};
use super::{Model, acts, asking, front, panes, walk};
use crate::domain::api::{Command, RecoveryPage, RecoveryRow, StartRow};
use crate::domain::id::{RunId, SessionId};
use crate::domain::marker::Marker;
use crate::domain::recovery::RecoveryState;
use crate::domain::sanitize::one_line;

/// How many starts, and how many sessions of one, are asked for.
pub(super) const MOST: usize = 200;

/// The view of restart recovery.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// The starts, newest first.
    pub starts: Vec<StartRow>,
    /// The start that is shown; none before the first answer, and in a home that was never started.
    pub chosen: Option<StartRow>,
    /// The sessions that it looked at and that fit the filter, those that need a person first.
    pub rows: Vec<Recovered>,
    /// The place of the selected one.
    pub selected: usize,
    /// The first that is shown.
    pub top: usize,
    /// At which unclean start in a row nothing is resumed by itself.
    pub boot_guard_starts: u32,
    /// At how many cuts in a row a session is given up.
    pub max_cuts: u32,
    /// The filter's text field.
    pub filter: TextField,
    /// Why it could not be read.
    pub failed: Option<String>,
    /// Whether an answer has come yet.
    pub loaded: bool,
    /// The start that is wanted; none: the newest.
    pub(super) wanted: Option<RunId>,
    all: Vec<Recovered>,
}

/// A session that a start looked at; every text beside the row is safe to show.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// The row. Its texts are foreign: show those below instead.
    pub row: RecoveryRow,
    /// What a person calls it.
    pub name: String,
    /// What was cut off, on one line.
    pub interrupted: String,
    /// How it stands now, in words without a time.
    pub words: String,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            starts: Vec::new(),
            chosen: None,
            rows: Vec::new(),
            selected: 0,
            top: 0,
            boot_guard_starts: 0,
            max_cuts: 0,
            filter: TextField::new(Lines::One),
            failed: None,
            loaded: false,
            wanted: None,
            all: Vec::new(),
        }
    }
}

impl Recovered {
    fn new(row: RecoveryRow) -> Self {
        let clean = |text: &str| one_line(text).into_owned();
        Self {
            name: clean(&row.name),
            interrupted: row.interrupted().map(|words| clean(&words)).unwrap_or_default(),
            words: clean(&row.state.words()),
            row,
        }
    }

    /// Its identity: a session stands once in the view.
    pub fn session(&self) -> &SessionId {
        &self.row.session
    }

    /// Its place among the others: what needs a person first, then what goes on, then what is done.
    fn urgency(&self) -> u8 {
        match &self.row.state {
            state if state.needs_a_person() => 0,
            RecoveryState::Resuming { .. } | RecoveryState::Runs { .. } => 1,
            RecoveryState::Waits | RecoveryState::NextStart { .. } => 2,
            RecoveryState::DecidedAnew => 3,
            _ => 4,
        }
    }
}

impl Recovery {
    /// The selected session.
    pub fn current(&self) -> Option<&Recovered> {
        self.rows.get(self.selected)
    }

    /// How many sessions the start looked at, whatever the filter lets through.
    pub fn total(&self) -> usize {
        self.all.len()
    }

    /// The place of the shown start in the history, the newest first.
    pub fn place(&self) -> Option<usize> {
        let chosen = self.chosen.as_ref()?;
        self.starts.iter().position(|start| start.run == chosen.run)
    }

    /// Takes in a page. While the order stands still, what was there keeps its place. True if something
    /// changed.
    pub(super) fn take(&mut self, page: RecoveryPage, order: Order) -> bool {
        let mut all: Vec<Recovered> = Vec::new();
        for row in page.sessions.into_iter().map(Recovered::new) {
            // What was marked since tells more of a session than what its start had decided.
            all.retain(|known| known.session() != row.session());
            all.push(row);
        }
        let same =
            self.chosen.as_ref().map(|start| &start.run) == page.chosen.as_ref().map(|start| &start.run);
        let place = |row: &Recovered| match order {
            Order::AsShown if same => self.all.iter().position(|known| known.session() == row.session()),
            _ => None,
        };
        all.sort_by_key(|row| (place(row).unwrap_or(usize::MAX), row.urgency()));
        let news = !self.loaded
            || self.failed.is_some()
            || self.all != all
            || self.starts != page.starts
            || self.chosen != page.chosen;
        self.loaded = true;
        self.failed = None;
        self.starts = page.starts;
        self.chosen = page.chosen;
        self.max_cuts = page.max_cuts;
        self.boot_guard_starts = page.boot_guard_starts;
        self.all = all;
        self.refilter();
        news
    }

    /// Puts the rows into their order again. True if that is another.
    pub(super) fn thaw(&mut self) -> bool {
        if self.all.is_sorted_by_key(Recovered::urgency) {
            return false;
        }
        self.all.sort_by_key(Recovered::urgency);
        self.refilter();
        true
    }

    /// Narrows the rows to those that the filter lets through; the selection follows the session.
    pub(super) fn refilter(&mut self) {
        let wanted = self.filter.text().to_lowercase();
        let selected = self.current().map(|row| row.session().clone());
        let fits = |row: &&Recovered| {
            [&row.name, &row.words, &row.interrupted].iter().any(|text| text.to_lowercase().contains(&wanted))
        };
        self.rows = self.all.iter().filter(fits).cloned().collect();
        let place = selected.and_then(|session| self.rows.iter().position(|row| *row.session() == session));
        self.selected = place.unwrap_or(self.selected).min(self.rows.len().saturating_sub(1));
    }
}

/// How rows that come are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    ByUrgency,
    AsShown,
}

/// Does an action of this view.
pub(super) fn perform(model: &mut Model, action: Action) {
    match action {
        Action::EarlierStart => step(model, 1),
        Action::LaterStart => step(model, -1),
        Action::OpenRecovered => open(model),
        Action::ResumeNow | Action::GiveUp | Action::Lift => {
            let Some(row) = model.recovery.current() else { return };
            let session = row.session().clone();
            match action {
                Action::ResumeNow => acts::act(model, Command::Continue { session }),
                Action::Lift => acts::act(model, Command::Unsuspend { session }),
                _ => give_up(model, session),
            }
        }
        _ => {}
    }
}

/// Why an action of this view can't be done now.
pub(super) fn why_not(model: &Model, action: Action) -> Option<String> {
    let recovery = &model.recovery;
    match action {
        Action::EarlierStart => {
            let last = recovery.place().is_none_or(|place| place + 1 >= recovery.starts.len());
            return last.then(|| "there is no earlier start".to_owned());
        }
        Action::LaterStart => {
            let newest = recovery.place().is_none_or(|place| place == 0);
            return newest.then(|| "this is the newest start".to_owned());
        }
        _ => {}
    }
    let Some(row) = recovery.current().map(|row| &row.row) else {
        return Some("no session is selected".to_owned());
    };
    let suspended = matches!(row.marker, Some(Marker::Suspended(_)));
    match (action, &row.state) {
        (Action::ResumeNow, _) if suspended => {
            let lift = super::typing::key_name(model, Action::Lift);
            Some(format!("it is suspended: {lift} lifts that"))
        }
        (Action::ResumeNow, RecoveryState::Resuming { .. } | RecoveryState::Runs { .. }) => {
            Some("its turn runs already".to_owned())
        }
        (Action::ResumeNow, _) if row.marker.is_none() => {
            Some(format!("nothing is left to resume: {}", row.state.words()))
        }
        (Action::GiveUp, _) if suspended => Some("it is suspended already".to_owned()),
        (Action::Lift, _) if !suspended => Some("it is not suspended".to_owned()),
        _ => None,
    }
}

/// A turn that is cut can't be taken back: then it asks.
fn give_up(model: &mut Model, session: SessionId) {
    let Some(row) = model.recovery.current() else { return };
    let runs = matches!(row.row.state, RecoveryState::Resuming { .. } | RecoveryState::Runs { .. });
    if !runs {
        return acts::act(model, Command::Suspend { session });
    }
    let question = format!("Give {} up and stop its turn?", row.name);
    let detail = "What it has said is kept. Its queue is held, and its next message starts a new session.";
    let deed = Deed::Command(Box::new(Command::Suspend { session }));
    asking::ask(model, &question, detail, "give it up", deed);
}

fn open(model: &mut Model) {
    let Some(key) = model.recovery.current().map(|row| row.row.key.clone()) else { return };
    acts::show_view(model, View::Sessions);
    front::go_to(model, &key);
    panes::set_focus(model, Focus::Pane(Pane::Conversation));
}

/// Goes to an earlier start (1) or a later one (-1).
fn step(model: &mut Model, by: isize) {
    let recovery = &mut model.recovery;
    let Some(place) = recovery.place().and_then(|place| place.checked_add_signed(by)) else { return };
    let Some(start) = recovery.starts.get(place) else { return };
    recovery.wanted = (place > 0).then(|| start.run.clone());
    recovery.selected = 0;
    recovery.top = 0;
    model.requests.mark(Question::Recovery, Pace::AtOnce);
}

/// Takes in the answer of the engine.
pub(super) fn take(model: &mut Model, page: RecoveryPage) {
    let order = if walk::is_frozen(model) { Order::AsShown } else { Order::ByUrgency };
    let changed = model.recovery.take(page, order);
    model.dirty |= changed && model.view == View::Recovery;
    walk::show_selection(model);
}

/// Selects a session.
pub(super) fn select(model: &mut Model, session: &SessionId) {
    if let Some(place) = model.recovery.rows.iter().position(|row| row.session() == session) {
        model.recovery.selected = place;
        model.alerts.visited = None;
        walk::show_selection(model);
    }
}
