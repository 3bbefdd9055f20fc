//! Signals, as they concern a console.

use tokio::signal::unix::{self, SignalKind};

use super::TtyError;

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM or SIGQUIT: end in order.
    Terminate,
    /// SIGINT: the same. Ctrl-C is a key while the screen is up, so it came from outside.
    Interrupt,
    /// SIGHUP: the terminal closes.
    HangUp,
    /// SIGTSTP: let go of the terminal and stop.
    Suspend,
    /// SIGCONT: go on after a stop.
    Continue,
    /// SIGWINCH: the terminal has another size.
    Resize,
    /// SIGUSR1: restart the engine.
    Restart,
}

/// The signals of this process. Once listened to they have no default action any more.
pub struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    hang_up: unix::Signal,
    suspend: unix::Signal,
    go_on: unix::Signal,
    resize: unix::Signal,
    quit: unix::Signal,
    restart: unix::Signal,
    /// SIGUSR2 means nothing here; unheard it would end the process in raw mode.
    _unused: unix::Signal,
}

impl Signals {
    /// Listens from now on.
    pub fn listen() -> Result<Self, TtyError> {
        let listen = |kind| unix::signal(kind).map_err(TtyError::setup("listening to signals"));
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hang_up: listen(SignalKind::hangup())?,
            suspend: listen(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            go_on: listen(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            resize: listen(SignalKind::window_change())?,
            quit: listen(SignalKind::quit())?,
            restart: listen(SignalKind::user_defined1())?,
            _unused: listen(SignalKind::user_defined2())?,
        })
    }

    /// The next one. Several of a kind that came together are one.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            biased;
            _ = self.hang_up.recv() => Signal::HangUp,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.quit.recv() => Signal::Terminate,
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.restart.recv() => Signal::Restart,
            _ = self.suspend.recv() => Signal::Suspend,
            _ = self.go_on.recv() => Signal::Continue,
            _ = self.resize.recv() => Signal::Resize,
        }
    }
}

/// Stops this process until it is told to go on.
pub fn stop_this_process() -> Result<(), TtyError> {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)
        .map_err(TtyError::setup("stopping this process"))
}
