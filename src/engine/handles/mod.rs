//! The long-lived session manager: one agent handle a session, of the agent that works in it, kept between its turns.
//!
//! A turn borrows its session's handle ([`Loan`]) and brings it back before it ends, so that the turn
//! behind it finds it. A handle that is unused for too long, or one too many, is closed. What outlives
//! the engine ([`crate::domain::session::Runtime`]) is kept with the end of each turn, so closing a
//! handle has nothing left to store.

mod failure;
mod pool;
mod run;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, timeout};
use tokio_util::task::TaskTracker;

use self::pool::Pool;
use crate::agent::{Backend, Handle};
use crate::config::HandlesConfig;
use crate::domain::agent::AgentName;
use crate::domain::id::{SessionId, TurnId};
use crate::domain::session::{HandleUse, Health};

pub(super) use failure::{Acted, Next, next, outcome};
pub(super) use run::{Had, Ran, open, run};

/// A handle at rest.
struct HandleAtRest {
    /// Whose it is.
    agent: AgentName,
    handle: Box<dyn Handle>,
}

/// The handles of all sessions.
pub(super) struct Handles {
    pool: Mutex<Pool<HandleAtRest>>,
    tasks: TaskTracker,
    grace: Duration,
}

/// Whether a backend's handles are kept at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeping {
    BetweenTurns,
    /// A handle serves one turn: the one-shot way.
    No,
}

impl Handles {
    /// Keeps the agents' handles within the limits. Each may take `grace` to close in order.
    pub(super) fn new(limits: HandlesConfig, tasks: TaskTracker, grace: Duration) -> Self {
        Self { pool: Mutex::new(Pool::new(limits)), tasks, grace }
    }

    /// Lends a session's handle to its turn, if it is the agent's that runs it. Another agent's is closed.
    pub(super) fn lend(
        self: &Arc<Self>,
        session: &SessionId,
        turn: TurnId,
        agent: &AgentName,
        backend: &dyn Backend,
    ) -> Loan {
        let keeping = if backend.keeps_handles() { Keeping::BetweenTurns } else { Keeping::No };
        let kept = self.pool().lend(session, turn);
        self.recycle();
        let handle = match kept {
            Some(kept) if kept.agent == *agent => Some(kept.handle),
            another => {
                self.close(another.map(|kept| kept.handle));
                None
            }
        };
        let (session, agent) = (session.clone(), agent.clone());
        Loan { handles: Arc::clone(self), session, agent, turn, keeping, handle }
    }

    /// Closes what a session has that ended. What its turn still has is closed when it comes back.
    pub(super) fn forget(&self, session: &SessionId) {
        let kept = self.pool().forget(session);
        self.close(kept.map(|kept| kept.handle));
    }

    /// When the next handle is to be recycled.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.pool().next_due()
    }

    /// Closes the handles that were unused for too long, and those that are too many.
    pub(super) fn recycle(&self) {
        let gone = self.pool().recycle(Instant::now());
        for (session, kept) in gone {
            tracing::info!(%session, "the agent's handle is closed: it was unused for longest");
            self.close(Some(kept.handle));
        }
    }

    /// Closes all, each within the grace; none is kept from now on.
    pub(super) async fn close_all(&self) {
        let gone = self.pool().shut();
        join_all(gone.into_iter().map(|(_, kept)| closed(kept.handle, self.grace))).await;
    }

    fn close(&self, handle: Option<Box<dyn Handle>>) {
        if let Some(handle) = handle {
            self.tasks.spawn(closed(handle, self.grace));
        }
    }

    fn take_back(&self, session: &SessionId, turn: TurnId, kept: HandleAtRest) {
        let refused = self.pool().take_back(session, turn, kept, Instant::now());
        self.close(refused.map(|kept| kept.handle));
        self.recycle();
    }

    /// The pool is whole at every moment, so a panic elsewhere while it was locked spoils nothing.
    fn pool(&self) -> MutexGuard<'_, Pool<HandleAtRest>> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Dropping what does not close within the grace ends it at once.
async fn closed(handle: Box<dyn Handle>, grace: Duration) {
    if timeout(grace, handle.close()).await.is_err() {
        tracing::warn!("an agent's handle took longer than {grace:?} to close and was ended");
    }
}

/// A session's handle in the hands of its turn. A loan that is dropped brings nothing back.
pub(super) struct Loan {
    handles: Arc<Handles>,
    session: SessionId,
    agent: AgentName,
    turn: TurnId,
    keeping: Keeping,
    handle: Option<Box<dyn Handle>>,
}

impl Loan {
    /// The handle that was kept, if there was one.
    pub(super) fn take(&mut self) -> Option<Box<dyn Handle>> {
        self.handle.take()
    }

    /// Brings back what the turn had. Returns how the handle fared, where handles are kept.
    pub(super) fn settle(self, had: Had, restarts: u32) -> Option<HandleUse> {
        let health = match had {
            Had::Whole(_) | Had::Killed => Some(Health::Healthy),
            Had::None | Had::Broken => Some(Health::Failed),
            Had::NotYet => None,
        };
        match (had, self.keeping) {
            (Had::Whole(handle), Keeping::BetweenTurns) => {
                let kept = HandleAtRest { agent: self.agent.clone(), handle };
                self.handles.take_back(&self.session, self.turn, kept);
            }
            (Had::Whole(handle), Keeping::No) => self.handles.close(Some(handle)),
            (Had::NotYet | Had::None | Had::Broken | Had::Killed, _) => {}
        }
        health.filter(|_| self.keeping == Keeping::BetweenTurns).map(|health| HandleUse { health, restarts })
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.handles.pool().end_loan(&self.session, self.turn);
    }
}
