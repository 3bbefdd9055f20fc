//! What running turns say right now, for whoever asks before it is kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::time::Instant;

use crate::domain::Time;
use crate::domain::api::{Doing, LiveOutput, StreamKind, Waited};
use crate::domain::id::{SessionId, TurnId};

/// The running turns of an engine.
#[derive(Default)]
pub(super) struct LiveTurns {
    turns: Mutex<HashMap<TurnId, Arc<LiveTurn>>>,
}

impl LiveTurns {
    pub(super) fn add(&self, turn: TurnId, session: SessionId, began_at: Time) -> Arc<LiveTurn> {
        let live = Arc::new(LiveTurn {
            turn,
            session,
            session_name: OnceLock::new(),
            said: Mutex::new(Said {
                unkept: None,
                doing: String::new(),
                last_output_at: began_at,
                last_progress: Instant::now(),
            }),
        });
        self.lock().insert(turn, Arc::clone(&live));
        live
    }

    pub(super) fn remove(&self, turn: TurnId) {
        self.lock().remove(&turn);
    }

    pub(super) fn of(&self, turn: TurnId) -> Option<Arc<LiveTurn>> {
        self.lock().get(&turn).cloned()
    }

    pub(super) fn of_session(&self, session: &SessionId) -> Option<Arc<LiveTurn>> {
        self.lock().values().find(|live| live.session == *session).cloned()
    }

    /// The turns that run.
    pub(super) fn waited(&self) -> Vec<Waited> {
        let turn =
            |live: &Arc<LiveTurn>| Waited::Turn { session: live.session.clone(), name: live.session_name() };
        self.lock().values().map(turn).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TurnId, Arc<LiveTurn>>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One running turn.
pub(super) struct LiveTurn {
    turn: TurnId,
    session: SessionId,
    session_name: OnceLock<String>,
    said: Mutex<Said>,
}

struct Said {
    /// What is not kept yet, of the kind that streams now.
    unkept: Option<LiveOutput>,
    /// What the running tool has written last.
    doing: String,
    last_output_at: Time,
    last_progress: Instant,
}

impl Said {
    fn note(&mut self, at: Time) {
        (self.last_output_at, self.last_progress) = (at, Instant::now());
    }
}

impl LiveTurn {
    /// The session that it works in.
    pub(super) fn session(&self) -> &SessionId {
        &self.session
    }

    /// When it last gave a sign of life, by the clock that no one sets.
    pub(super) fn last_progress(&self) -> Instant {
        self.lock().last_progress
    }

    pub(super) fn name_session(&self, name: &str) {
        let _ = self.session_name.set(name.to_owned());
    }

    /// Adds words that begin at `offset` of their kind.
    pub(super) fn say(&self, stream: StreamKind, offset: u64, text: &str, at: Time) {
        let mut said = self.lock();
        said.note(at);
        match &mut said.unkept {
            Some(live) if live.stream == stream => live.text.push_str(text),
            _ => {
                said.unkept = Some(LiveOutput { turn: self.turn, stream, offset, text: text.to_owned() });
            }
        }
    }

    /// Notes what the running tool has written last.
    pub(super) fn does(&self, written: &str, at: Time) {
        let mut said = self.lock();
        said.note(at);
        written.clone_into(&mut said.doing);
    }

    /// What the running tool has written last, if it has.
    pub(super) fn doing(&self) -> Option<Doing> {
        let written = self.lock().doing.clone();
        let doing = Doing { session: self.session.clone(), turn: self.turn, written };
        (!doing.written.is_empty()).then_some(doing)
    }

    /// Notes a sign of life that is no text.
    pub(super) fn touch(&self, at: Time) {
        self.lock().note(at);
    }

    /// Forgets what is kept now: everything of `stream` before `end`.
    pub(super) fn kept(&self, stream: StreamKind, end: u64) {
        let mut said = self.lock();
        let Some(live) = said.unkept.as_mut().filter(|live| live.stream == stream) else { return };
        let done = usize::try_from(end.saturating_sub(live.offset)).unwrap_or(usize::MAX);
        if done >= live.text.len() {
            said.unkept = None;
        } else {
            live.text.drain(..done);
            live.offset = end;
        }
    }

    pub(super) fn unkept(&self) -> Option<LiveOutput> {
        self.lock().unkept.clone()
    }

    pub(super) fn last_output_at(&self) -> Time {
        self.lock().last_output_at
    }

    fn session_name(&self) -> String {
        self.session_name.get().cloned().unwrap_or_else(|| self.session.to_string())
    }

    fn lock(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
