//! `switchboard serve`: the engine without a screen.

use std::convert::Infallible;
use std::sync::Arc;

use super::context::{Context, Mode};
use super::output::stderr_line;
use super::{Anew, Exit};
use crate::config::log::{self, AlsoTo};
use crate::config::{Config, Home};
use crate::console::{Signal, Signals};
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
        let signals = Signals::of_an_engine()?;
        context.home.create()?;
        let _log = log::start(&context.home, &config.log, &config.keys(), AlsoTo::Stderr)?;
        let start_up = if self.hold { StartUp::Hold("serve --hold".to_owned()) } else { StartUp::Run };
        let host = Host::start(&context.home, &config, start_up).await?;
        tracing::info!(home = %context.home.root().display(), "serving");
        Ok(match until_stopped(host, signals).await? {
            AfterStop::End => Exit::Done,
            AfterStop::Restart => Exit::Restart(Anew::Same),
        })
    }
}

/// Starts an engine in this process, for the console.
pub(super) async fn start(home: &Home, config: &Config) -> Result<Host, HostError> {
    Host::start(home, config, StartUp::Run).await
}

/// Lets an engine of this process go on without a screen until it is stopped. The signals that a screen has not heard
/// are obeyed first.
pub(super) async fn until_stopped(host: Host, mut signals: Signals) -> anyhow::Result<AfterStop> {
    let client = host.client();
    let ended = tokio::select! {
        ended = host.stopped() => ended,
        never = obey(&mut signals, &client) => match never {},
    };
    match ended {
        Ended::InOrder(then) => Ok(then),
        Ended::Broken => anyhow::bail!("the engine did not stop in order; its log tells why"),
    }
}

/// Stops or restarts the engine when a signal asks for it. Never ends: the engine does.
async fn obey(signals: &mut Signals, client: &Arc<dyn Client>) -> Infallible {
    loop {
        let signal = signals.next().await;
        let command = match signal {
            Signal::Terminate => stop_or_cut(client, "SIGTERM").await,
            Signal::Interrupt => stop_or_cut(client, "SIGINT").await,
            Signal::Restart => Command::Restart { why: "SIGUSR1".to_owned(), ask: Ask::Never },
            Signal::HangUp => {
                tracing::info!("the terminal is gone; the engine goes on");
                continue;
            }
            Signal::Suspend | Signal::Continue | Signal::Resize => continue,
        };
        tracing::info!(?signal, ?command, "asked to stop");
        if let Err(error) = client.command(command).await {
            tracing::error!(%error, "the signal was not obeyed");
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
