//! The process group of a turn: what a program starts ends with it.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// The process group that a child leads. Dropping it kills what is left of the group.
#[derive(Debug)]
pub(in crate::agent) struct ProcessGroup {
    leader: Option<Pid>,
    /// Set when the leader was reaped and the rest killed: its number may be given to others from then on.
    ended: AtomicBool,
}

impl ProcessGroup {
    /// The group of a child that was started as the leader of its own.
    pub(in crate::agent) fn led_by(child: &Child) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { leader, ended: AtomicBool::new(false) }
    }

    /// Asks all of the group to end.
    pub(in crate::agent) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends what the leader, which was reaped just now, has left behind.
    pub(in crate::agent) fn end(&self) {
        self.signal(Signal::KILL);
        self.ended.store(true, Ordering::Relaxed);
    }

    fn signal(&self, signal: Signal) {
        if let (Some(leader), false) = (self.leader, self.ended.load(Ordering::Relaxed)) {
            // The only failure is that nothing is left to signal.
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
