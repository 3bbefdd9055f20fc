//! Signals, as they concern a console and the engine in it.

use std::future::poll_fn;
use std::task::Poll;

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
pub struct Signals(Vec<(unix::Signal, Signal)>);

impl Signals {
    /// Listens from now on to those that concern a screen.
    pub fn of_a_screen() -> Result<Self, TtyError> {
        // SIGUSR2 means nothing here; unheard it would end the process in raw mode.
        drop(listen(SignalKind::user_defined2())?);
        let Self(mut heard) = Self::of_an_engine()?;
        for (kind, signal) in [
            (SignalKind::quit(), Signal::Terminate),
            (SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()), Signal::Suspend),
            (SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()), Signal::Continue),
            (SignalKind::window_change(), Signal::Resize),
        ] {
            heard.push((listen(kind)?, signal));
        }
        Ok(Self(heard))
    }

    /// Listens from now on to those that concern an engine.
    pub fn of_an_engine() -> Result<Self, TtyError> {
        Ok(Self(vec![
            (listen(SignalKind::hangup())?, Signal::HangUp),
            (listen(SignalKind::terminate())?, Signal::Terminate),
            (listen(SignalKind::interrupt())?, Signal::Interrupt),
            (listen(SignalKind::user_defined1())?, Signal::Restart),
        ]))
    }

    /// The next one: the first in their order, where several came. Several of a kind that came together are one.
    pub async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            let mut heard = self.0.iter_mut();
            heard
                .find_map(|(signal, meaning)| signal.poll_recv(context).is_ready().then_some(*meaning))
                .map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

fn listen(kind: SignalKind) -> Result<unix::Signal, TtyError> {
    unix::signal(kind).map_err(TtyError::setup("listening to signals"))
}

/// Stops this process until it is told to go on.
pub fn stop_this_process() -> Result<(), TtyError> {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)
        .map_err(TtyError::setup("stopping this process"))
}
