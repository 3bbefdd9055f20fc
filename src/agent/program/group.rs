//! The process group of a turn: what a program starts ends with it.

use std::io;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long a program may take to end after SIGTERM.
pub(in crate::agent) const GRACE: Duration = Duration::from_secs(3);

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

    /// Waits for the end of the leader. What it left behind ends with it, and `ended` tells those who read
    /// its output.
    pub(in crate::agent) async fn exit(
        &self,
        leader: &mut Child,
        ended: &CancellationToken,
    ) -> io::Result<ExitStatus> {
        let status = leader.wait().await;
        self.end();
        ended.cancel();
        status
    }

    /// Asks all of the group to end and gives its work the time to. What does not end by then is killed as
    /// the group is dropped.
    pub(in crate::agent) async fn stop(&self, work: impl Future) {
        self.terminate();
        let _ = timeout(GRACE, work).await;
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
