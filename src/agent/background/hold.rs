//! An engine's hold on a background process: how it begins, how its end is seen, how it is ended.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::timeout;

use super::super::process::{BACKGROUND, end_members, identify, place};
use super::super::program::environment::hide_secrets;
use super::super::program::group::GRACE;
use super::{KEEPER, Orders, mark, marked};
use crate::domain::id::{ProcessNumber, SessionId, TurnId};
use crate::domain::process::ProcessIdentity;

/// A keeper that does nothing yet: its process must be kept first. It ends by itself where that fails.
#[derive(Debug)]
pub struct Held {
    child: Child,
    identity: ProcessIdentity,
}

impl Held {
    /// Starts a keeper in a folder, by the program that can be one. `key_variables` are hidden from it
    /// whatever their names look like.
    ///
    /// # Errors
    /// Where it can't be started, or /proc does not tell which process it is.
    pub fn start(
        keeper: &Path,
        folder: &Path,
        key_variables: &[String],
        session: &SessionId,
        turn: TurnId,
    ) -> io::Result<Self> {
        let mut command = Command::new(keeper);
        hide_secrets(&mut command, key_variables);
        command
            .arg(KEEPER)
            .envs(place(session, turn))
            .env(BACKGROUND, KEEPER)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let child = command.as_std_mut().spawn()?;
        let identity = identify(child.id())?;
        Ok(Self { child, identity })
    }

    /// Which process it is.
    pub fn identity(&self) -> &ProcessIdentity {
        &self.identity
    }

    /// Lets it work.
    ///
    /// # Errors
    /// Where it has ended meanwhile, or does not take its orders.
    pub async fn go(mut self, orders: &Orders) -> io::Result<()> {
        let Some(stdin) = self.child.stdin.take() else { return Ok(()) };
        let mut stdin = pipe::Sender::from_owned_fd(stdin.into())?;
        let mut line = serde_json::to_vec(orders)?;
        line.push(b'\n');
        timeout(GRACE, stdin.write_all(&line)).await?
    }

    /// Gives it no orders, and waits for its end.
    pub fn dismiss(mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A background process whose end is watched, whichever engine started it.
#[derive(Debug)]
pub struct Watched {
    process: AsyncFd<OwnedFd>,
    group: Pid,
    mark: String,
}

impl Watched {
    /// Watches a process; none if it has ended.
    ///
    /// # Errors
    /// Where the system does not let it be watched.
    pub fn find(
        identity: &ProcessIdentity,
        session: &SessionId,
        number: ProcessNumber,
    ) -> io::Result<Option<Self>> {
        let mark = marked(&mark(session, number));
        let Some(group) = i32::try_from(identity.pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
        let process = match pidfd_open(group, PidfdFlags::NONBLOCK) {
            Ok(process) => process,
            Err(rustix::io::Errno::SRCH) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Asked once it is held: from here on its number is no other's.
        match identify(identity.pid) {
            Ok(found) if found == *identity => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                bury(&process);
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        Ok(Some(Self { process: told_of(process)?, group, mark }))
    }

    /// Waits for its end, with all that it started.
    pub async fn ended(&self) {
        // An error means that nothing more is told: then it is looked at once more.
        let _ = self.process.readable().await;
        // As long as it is not buried, its group's number is no other's.
        self.end_rest().await;
        bury(self.process.get_ref());
    }

    /// Ends it as a whole: what does not obey SIGTERM is killed, and the keeper tells how it ended; one that
    /// does not even do that is killed itself.
    pub async fn end(&self) {
        self.signal(Signal::TERM);
        if timeout(GRACE, self.ended()).await.is_ok() {
            return;
        }
        self.end_rest().await;
        if timeout(GRACE, self.ended()).await.is_ok() {
            return;
        }
        self.signal(Signal::KILL);
        self.ended().await;
    }

    async fn end_rest(&self) {
        let (group, mark) = (self.group.as_raw_nonzero().get().unsigned_abs(), self.mark.clone());
        let _ = tokio::task::spawn_blocking(move || end_members(Some(group), &mark)).await;
    }

    fn signal(&self, signal: Signal) {
        // The only failure is that nothing is left to signal.
        let _ = kill_process_group(self.group, signal);
    }
}

/// Buries a process that has ended, if this process started it, perhaps before a restart.
fn bury(process: &OwnedFd) {
    let _ = waitid(WaitId::PidFd(process.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
}

/// Has the runtime tell when a process ends.
#[expect(
    deprecated,
    reason = "what follows it is unsafe to call; a descriptor that is owned can't be closed by another"
)]
fn told_of(process: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(process, Interest::READABLE)
}

/// How long an end may take at most before its keeper is killed.
pub const LONGEST_END: Duration = GRACE.saturating_mul(2);
