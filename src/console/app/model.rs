//! The whole state of the screen.

use std::collections::HashMap;

use super::alerts::Alerts;
use super::composer::{Composer, Sent};
use super::conversation::Conversation;
use super::cron::Cron;
use super::focus::{Focus, Pane, View};
use super::items::ItemList;
use super::keymap::KeyMap;
use super::log::Log;
use super::msg::{Measured, MouseOwner, Reach, Tone};
use super::notices::Notice;
use super::overlay::{Card, Overlay};
use super::recovery::Recovery;
use super::sessions::{ListRow, SessionList};
use crate::domain::Time;
use crate::domain::api::{Drain, Overview, Waited};
use crate::domain::id::{SessionKey, TurnId};

/// Below this many columns or rows one line says that it is too small, and keys act on nothing.
pub const LEAST_WIDTH: u16 = 40;
/// See [`LEAST_WIDTH`].
pub const LEAST_HEIGHT: u16 = 10;

/// What the screen starts with.
#[derive(Debug, Clone)]
pub struct Start {
    /// The effective key map.
    pub keymap: KeyMap,
    /// The operator's time zone.
    pub zone: chrono_tz::Tz,
    /// The time now.
    pub now: Time,
    /// How the engine is reached.
    pub reach: Reach,
    /// Whether the operator may change anything.
    pub access: Access,
    /// Who has the mouse at the start.
    pub mouse: MouseOwner,
    /// How the terminal hands a paste over.
    pub pastes: Pastes,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Where a real agent is set up, for the first screen: the configuration file's path.
    pub config_path: String,
}

/// How a terminal hands a paste over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pastes {
    /// Between marks.
    Marked,
    /// As keys, for all that is known.
    AsKeys,
}

/// Whether the operator may change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Yes.
    Full,
    /// Opened with `--read-only`.
    ReadOnly,
}

/// Whether the engine answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// It does.
    Up(Reach),
    /// It is gone: what is shown is old.
    Gone {
        /// Why.
        reason: String,
        /// Since when.
        at: Time,
        /// How it went.
        end: End,
    },
}

/// How an engine that was shown went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It stopped in order, and said so.
    Stopped,
    /// It said nothing.
    Lost,
}

/// How times are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeStyle {
    /// `14:02`.
    Absolute,
    /// `5 min`.
    Relative,
}

/// What is done with lines that are too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongLines {
    /// They go on in the next line.
    Wrap,
    /// They are cut.
    Cut,
}

/// How often something on the screen moves by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MotionPace {
    /// Only the minutes.
    Minutes,
    /// Seconds are shown: a drain.
    Seconds,
    /// A spinner turns: a turn visibly runs.
    Spinner,
}

/// The state of the screen. The drawing reads it; only [`super::update`] changes it.
#[derive(Debug, Clone)]
pub struct Model {
    /// The effective key map.
    pub keymap: KeyMap,
    /// The operator's time zone.
    pub zone: chrono_tz::Tz,
    /// The time, as exact as the last message told it.
    pub now: Time,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Whether the operator may change anything.
    pub access: Access,
    /// Whether the engine answers.
    pub link: Link,
    /// Since when the engine does not answer, though its process is there.
    pub silent_since: Option<Time>,
    /// Where a real agent is set up: the configuration file's path.
    pub config_path: String,

    /// The open view.
    pub view: View,
    /// The view before it.
    pub last_view: View,
    /// The pane with the focus (unless an overlay or card has it).
    pub pane: Pane,
    /// Whether the focused pane has the whole screen.
    pub zoomed: bool,
    /// How times are shown.
    pub times: TimeStyle,
    /// What is done with lines that are too long.
    pub long_lines: LongLines,
    /// Who has the mouse.
    pub mouse: MouseOwner,
    /// How the terminal hands a paste over.
    pub pastes: Pastes,

    /// How the engine stands and the header's counts; none until the first answer.
    pub overview: Option<Overview>,
    /// Updates that were dropped, when they were noticed, and whether all is loaded anew since.
    pub behind: Option<Behind>,
    /// The sessions.
    pub sessions: SessionList,
    /// The address of the session in front: conversation, queue pane and composer are its own.
    pub front: SessionKey,
    /// The session in front; none until it is known, or while it has never been used.
    pub front_row: Option<ListRow>,
    /// Its conversation.
    pub conversation: Conversation,
    /// Its queue.
    pub queue: ItemList,
    /// The backlog of all sessions.
    pub backlog: ItemList,
    /// Scheduled tasks.
    pub cron: Cron,
    /// What the starts of the engine found and did.
    pub recovery: Recovery,
    /// What needs the operator.
    pub alerts: Alerts,
    /// The log.
    pub log: Log,

    /// What the operator opened over the view; the last has the focus.
    pub overlays: Vec<Overlay>,
    /// What opened by itself.
    pub card: Option<Card>,
    /// The names of the sessions whose turns ended since the drain began; safe to show.
    pub drained: Vec<Waited>,
    /// What was just done or refused, newest last.
    pub notices: Vec<Notice>,
    /// The keys of a sequence that is not complete yet.
    pub pending: Vec<super::key::Key>,
    /// The turn that another ctrl-c stops.
    pub armed: Option<Armed>,

    pub(super) composers: HashMap<SessionKey, Composer>,
    pub(super) sent: Vec<Sent>,
    pub(super) measured: Measured,
    pub(super) requests: super::requests::Requests,
    pub(super) memory: super::requests::Memory,
    pub(super) effects: Vec<super::Effect>,
    pub(super) dirty: bool,
}

/// The turn that another ctrl-c stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Armed {
    /// The turn.
    pub turn: TurnId,
    /// Until when.
    pub until: Time,
}

/// The screen lagged behind the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behind {
    /// How many updates were skipped.
    pub missed: u64,
    /// When everything was asked for anew.
    pub reloaded_at: Time,
}

impl Model {
    /// The screen's state at the start, and the address it opens on: the console's own session.
    pub fn new(start: Start) -> Self {
        Self {
            keymap: start.keymap,
            zone: start.zone,
            now: start.now,
            size: start.size,
            access: start.access,
            link: Link::Up(start.reach),
            silent_since: None,
            config_path: start.config_path,
            view: View::Sessions,
            last_view: View::Sessions,
            pane: Pane::Composer,
            zoomed: false,
            times: TimeStyle::Absolute,
            long_lines: LongLines::Wrap,
            mouse: start.mouse,
            pastes: start.pastes,
            overview: None,
            behind: None,
            sessions: SessionList::default(),
            front: SessionKey::console(),
            front_row: None,
            conversation: Conversation::default(),
            queue: ItemList::default(),
            backlog: ItemList::default(),
            cron: Cron::default(),
            recovery: Recovery::default(),
            alerts: Alerts::default(),
            log: Log::default(),
            overlays: Vec::new(),
            card: None,
            drained: Vec::new(),
            notices: Vec::new(),
            pending: Vec::new(),
            armed: None,
            composers: HashMap::new(),
            sent: Vec::new(),
            measured: Measured::default(),
            requests: Default::default(),
            memory: Default::default(),
            effects: Vec::new(),
            dirty: true,
        }
    }

    /// Whether something visible changed since this was last asked.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    /// The composer of the session in front; none while nothing was ever written there.
    pub fn composer(&self) -> Option<&Composer> {
        self.composers.get(&self.front)
    }

    /// Who gets the keys.
    pub fn focus(&self) -> Focus {
        match (&self.card, self.overlays.is_empty()) {
            (_, false) => Focus::Overlay,
            (Some(Card { focused_at: Some(_), hidden: false, .. }), true) => Focus::Card,
            _ => Focus::Pane(self.pane),
        }
    }

    /// The instant that the screen shows: now, or when the engine was seen last. Nothing that is
    /// counted from it goes on while the engine is gone.
    pub fn as_of(&self) -> Time {
        match self.link {
            Link::Up(_) => self.now,
            Link::Gone { at, .. } => at,
        }
    }

    /// Whether the terminal is too small for anything to be shown.
    pub fn is_too_small(&self) -> bool {
        let (width, height) = self.size;
        width < LEAST_WIDTH || height < LEAST_HEIGHT
    }

    /// The drain, while the engine stops; none once it is gone.
    pub fn drain(&self) -> Option<&Drain> {
        let up = matches!(self.link, Link::Up(_));
        self.overview.as_ref().filter(|_| up).and_then(|overview| overview.engine.drain.as_ref())
    }

    /// How often something on the screen moves by itself.
    pub fn pace(&self) -> MotionPace {
        let drains = self.drain().is_some();
        if matches!(self.link, Link::Gone { .. }) {
            return MotionPace::Minutes;
        }
        match self.overview.as_ref().map_or(0, |overview| overview.running) {
            0 if drains => MotionPace::Seconds,
            0 => MotionPace::Minutes,
            _ => MotionPace::Spinner,
        }
    }

    pub(super) fn tell(&mut self, tone: Tone, words: impl AsRef<str>) {
        super::notices::push(self, tone, words.as_ref(), None);
    }
}
