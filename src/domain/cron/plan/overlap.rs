//! What happens to a fire while other runs of its job wait or work.

use super::Row;
use crate::domain::cron::{Overlap, Slots};
use crate::domain::id::ExecutionId;

/// The executions of a job that are not over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open {
    /// Fires of its slots that wait for a worker.
    pub fired: Vec<ExecutionId>,
    /// Runs that an operator asked for and that wait for a worker. They stand for no slot, so none is left out
    /// because of them.
    pub asked: Vec<ExecutionId>,
    /// Those that a worker has.
    pub busy: Vec<ExecutionId>,
}

impl Open {
    /// All that wait.
    pub fn waiting(&self) -> impl Iterator<Item = ExecutionId> {
        self.fired.iter().chain(&self.asked).copied()
    }

    /// All of them.
    fn all(&self) -> Vec<ExecutionId> {
        self.waiting().chain(self.busy.iter().copied()).collect()
    }
}

/// What a run that an operator asks for means for the others of its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// It waits for a worker, and these end for it: those that wait never begin, the others are stopped.
    Waits {
        /// Those that it replaces.
        replaced: Vec<ExecutionId>,
    },
    /// This one is in its way.
    Refused(ExecutionId),
}

/// Decides about a run that an operator asks for.
pub fn asked(overlap: Overlap, open: &Open) -> Asked {
    match (overlap, open.busy.iter().copied().chain(open.waiting()).next()) {
        (Overlap::Skip, Some(first)) => Asked::Refused(first),
        (Overlap::Replace, _) => Asked::Waits { replaced: open.all() },
        _ => Asked::Waits { replaced: Vec::new() },
    }
}

/// What becomes of the fires of slots, and what they replace.
pub(super) fn by_overlap(overlap: Overlap, open: &Open, fires: Vec<Row>) -> (Vec<Row>, Vec<ExecutionId>) {
    let (Some(first), Some(last)) = (fires.first(), fires.last()) else { return (fires, Vec::new()) };
    let skipped = |why: &str| {
        let all = Slots {
            first: first.slots().first,
            last: last.slots().last,
            count: fires.iter().map(|row| row.slots().count).fold(0, u32::saturating_add),
        };
        (vec![Row::skipped(all, why)], Vec::new())
    };
    match overlap {
        Overlap::Skip if !open.busy.is_empty() => skipped("the run before still works (overlap: skip)"),
        Overlap::Skip if !open.fired.is_empty() => {
            skipped("the run before has not begun yet (overlap: skip)")
        }
        Overlap::Queue if !open.fired.is_empty() => skipped("a run waits already (overlap: queue)"),
        Overlap::Replace => (fires, open.all()),
        Overlap::Skip | Overlap::Queue | Overlap::Allow => (fires, Vec::new()),
    }
}
