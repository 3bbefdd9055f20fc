//! The lines between the agent that works on a turn and the engine, which alone keeps, asks and decides.

use tokio::sync::{mpsc, watch};

use super::ask::{Approvals, BackgroundCalls, Jobs, Limits, NewCall, NewJob, NewQuestion, WhetherReached};
use super::doing::Doing;
use super::kept::StepsKept;
use super::process::{Children, NewChild};
use crate::domain::id::ItemId;

/// So many texts for a running agent may wait.
pub const STEER_TEXTS: usize = 32;

/// The agent's ends.
#[derive(Debug)]
pub struct AgentEnds {
    /// Text for the agent while it runs, with the item that holds it. Only steerable backends read it.
    pub steer: mpsc::Receiver<(ItemId, String)>,
    /// Where the processes that work for the turn are kept before they do.
    pub children: Children,
    /// Where it waits until what it has told is kept.
    pub kept: StepsKept,
    /// Where a person is asked.
    pub approvals: Approvals,
    /// Where the background processes of the session are asked for.
    pub background: BackgroundCalls,
    /// Where scheduled tasks are made.
    pub jobs: Jobs,
    /// Where it asks, between its steps, whether a daily limit is reached.
    pub limits: Limits,
    /// Where a running tool shows what it writes.
    pub doing: Doing,
}

/// The engine's ends.
#[derive(Debug)]
pub struct EngineEnds {
    /// Takes text for the agent.
    pub steer: mpsc::Sender<(ItemId, String)>,
    /// Processes that are to be kept.
    pub children: mpsc::Receiver<NewChild>,
    /// Tells how many steps of the turn are kept.
    pub kept: watch::Sender<u64>,
    /// Questions to a person.
    pub questions: mpsc::Receiver<NewQuestion>,
    /// Calls about background processes.
    pub calls: mpsc::Receiver<NewCall>,
    /// Scheduled tasks that are to be made.
    pub jobs: mpsc::Receiver<NewJob>,
    /// Questions whether a daily limit is reached.
    pub limits: mpsc::Receiver<WhetherReached>,
    /// What the running tool has written last.
    pub doing: watch::Receiver<String>,
}

/// Makes the lines of a turn.
pub fn lines() -> (AgentEnds, EngineEnds) {
    let (steer, steer_out) = mpsc::channel(STEER_TEXTS);
    let (children, new_children) = Children::channel();
    let (kept, kept_up) = StepsKept::channel();
    let (approvals, questions) = Approvals::channel();
    let (background, calls) = BackgroundCalls::channel();
    let (jobs, new_jobs) = Jobs::channel();
    let (limits, asked_limits) = Limits::channel();
    let (doing, written) = Doing::channel();
    (
        AgentEnds { steer: steer_out, children, kept: kept_up, approvals, background, jobs, limits, doing },
        EngineEnds {
            steer,
            children: new_children,
            kept,
            questions,
            calls,
            jobs: new_jobs,
            limits: asked_limits,
            doing: written,
        },
    )
}
