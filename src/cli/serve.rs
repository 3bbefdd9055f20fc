//! `switchboard serve`: the engine without a screen.

use std::convert::Infallible;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::context::{Context, Mode};
use super::output::stderr_line;
use super::{Anew, Exit};
use crate::config::log::{self, AlsoTo};
use crate::config::{Config, Home};
use crate::control::{Client, Ended, Host, HostError};
use crate::domain::api::{Answer, Command, Query};
use crate::domain::queue::Gate;
use crate::domain::recovery::AfterStop;
use crate::domain::slash::Ask;
use crate::engine::StartUp;

/// Run the engine without a screen; logs to standard error
///
/// SIGTERM or SIGINT stops it with the drain; a second one cuts the turns that the drain waits for.
/// SIGUSR1 restarts it: the same process begins anew after the drain.
#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    /// Begin on hold: nothing starts until `switchboard release`
    #[arg(long)]
    hold: bool,
}

impl Serve {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        if context.mode == Mode::ReadOnly {
            stderr_line("error: an engine changes its home; run `switchboard serve` without --read-only");
            return Ok(Exit::Usage);
        }
        let config = context.config()?;
        // From here on no signal ends the process by itself.
        let signals = Signals::listen()?;
        context.home.create()?;
        let _log = log::start(&context.home, &config.log, &config.keys(), AlsoTo::Stderr)?;
        let start_up = if self.hold { StartUp::Hold("serve --hold".to_owned()) } else { StartUp::Run };
        let host = Host::start(&context.home, &config, start_up).await?;
        tracing::info!(home = %context.home.root().display(), "serving");
        Ok(match obey_until_stopped(host, signals).await? {
            AfterStop::End => Exit::Done,
            AfterStop::Restart => Exit::Restart(Anew::Same),
        })
    }
}

/// Starts an engine in this process, for the console.
pub(super) async fn start(home: &Home, config: &Config) -> Result<Host, HostError> {
    Host::start(home, config, StartUp::Run).await
}

/// Lets an engine of this process go on without a screen until it is stopped.
pub(super) async fn until_stopped(host: Host) -> anyhow::Result<AfterStop> {
    let signals = Signals::listen()?;
    obey_until_stopped(host, signals).await
}

async fn obey_until_stopped(host: Host, mut signals: Signals) -> anyhow::Result<AfterStop> {
    let client = host.client();
    let ended = tokio::select! {
        ended = host.stopped() => ended,
        never = signals.obey(&client) => match never {},
    };
    match ended {
        Ended::InOrder(then) => Ok(then),
        Ended::Broken => anyhow::bail!("the engine did not stop in order; its log tells why"),
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    restart: Signal,
}

impl Signals {
    /// From now on none of them ends the process by itself.
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            restart: signal(SignalKind::user_defined1())?,
        })
    }

    /// Stops or restarts the engine when a signal asks for it. Never ends: the engine does.
    async fn obey(&mut self, client: &Arc<dyn Client>) -> Infallible {
        loop {
            let (name, command) = tokio::select! {
                _ = self.terminate.recv() => ("SIGTERM", stop_or_cut(client, "SIGTERM").await),
                _ = self.interrupt.recv() => ("SIGINT", stop_or_cut(client, "SIGINT").await),
                _ = self.restart.recv() => {
                    ("SIGUSR1", Command::Restart { why: "SIGUSR1".to_owned(), ask: Ask::Never })
                }
                _ = self.hang_up.recv() => {
                    tracing::info!("the terminal is gone; the engine goes on");
                    continue;
                }
            };
            tracing::info!(signal = name, ?command, "asked to stop");
            if let Err(error) = client.command(command).await {
                tracing::error!(%error, "the signal was not obeyed");
            }
        }
    }
}

/// The first signal stops the engine, one that was about to restart too; the next one cuts.
async fn stop_or_cut(client: &Arc<dyn Client>, name: &str) -> Command {
    let stopping = match client.query(Query::Overview).await {
        Ok(Answer::Overview(overview)) => match &overview.engine.drain {
            Some(drain) => drain.then == AfterStop::End,
            None => overview.engine.gate == Gate::Stopping,
        },
        _ => false,
    };
    if stopping { Command::CutNow } else { Command::Stop { why: name.to_owned() } }
}
