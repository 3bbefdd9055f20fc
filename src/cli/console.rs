//! `switchboard` alone: the console, on the engine that runs for the home or on one of its own.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::context::{Context, Mode};
use super::output::{at_a_terminal, stderr_line};
use super::{Anew, Exit};
use super::{keymap, serve};
use crate::config::log::{self, AlsoTo};
use crate::config::{Config, Home, LockError, OnTerminalClose};
use crate::console::app::keymap::KeyMap;
use crate::console::app::model::Access;
use crate::console::app::msg::Leave;
use crate::console::{self, ConsoleOptions, Ended, Engines, Signals};
use crate::control::{Client, Host, HostError, SocketClient, StoreOnly};
use crate::domain::api::{Answer, Command, Query};
use crate::domain::recovery::AfterStop;
use crate::domain::sanitize::one_line;

/// An engine that has the lock opens its socket within this, or is stuck.
const STARTING: Duration = Duration::from_secs(5);
/// An engine that restarts is back within this: its start marks what was cut, in a large store too.
const RESTARTING: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

pub(super) async fn run(context: &Context) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        at_a_terminal(),
        "no terminal: the console needs one for input and output; `switchboard serve` runs the engine without, \
         `switchboard --help` lists what works in scripts"
    );
    let config = context.config()?;
    let _log = match context.mode {
        Mode::Change => {
            context.home.create()?;
            Some(log::start(&context.home, &config.log, &config.keys(), AlsoTo::Nothing)?)
        }
        Mode::ReadOnly => None,
    };
    let own = Arc::new(Own::default());
    let client = first_client(context, &config, &own).await?;
    let options = options(context, &config, &own)?;
    let ended = console::run(client, options).await;
    match own.take() {
        Some(host) => after_own_engine(host, ended, &config).await,
        None => Ok(after_another(&ended?.0)),
    }
}

/// Attaches to the engine that runs for the home. Where none runs one is started in this process, or
/// the store is read if nothing may be changed.
async fn first_client(context: &Context, config: &Config, own: &Own) -> anyhow::Result<Arc<dyn Client>> {
    match context.mode {
        Mode::ReadOnly => Ok(context.client().await?),
        Mode::Change => Ok(attach_or_start(&context.home, config, own).await?),
    }
}

async fn attach_or_start(home: &Home, config: &Config, own: &Own) -> anyhow::Result<Arc<dyn Client>> {
    let deadline = tokio::time::Instant::now() + STARTING;
    loop {
        if let Some(client) = SocketClient::connect(home).await? {
            return Ok(Arc::new(client));
        }
        match own.start(home, config).await {
            // It starts or stops at this moment.
            Err(HostError::Lock(LockError::Held(_))) if tokio::time::Instant::now() < deadline => {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            started => return Ok(started?),
        }
    }
}

async fn after_own_engine(
    host: Host,
    ended: Result<(Ended, Signals), console::ConsoleError>,
    config: &Config,
) -> anyhow::Result<Exit> {
    let (ended, signals) = match ended {
        Ok((ended, signals)) => (Ok(ended), signals),
        Err(error) => (Err(error), Signals::of_an_engine()?),
    };
    let client = host.client();
    let stop = match &ended {
        Ok(Ended::Left(Leave::Stopped | Leave::Detached)) => None,
        Ok(Ended::Left(Leave::EngineGoesOn)) => {
            stderr_line(&left_alone(&client).await);
            None
        }
        Ok(Ended::TerminalGone) => match config.engine.on_terminal_close {
            OnTerminalClose::Serve => None,
            OnTerminalClose::Stop => Some("the terminal closed"),
        },
        Err(_) => Some("the console failed"),
    };
    if let Some(why) = stop {
        // An engine that stops already says so; it stops either way.
        let _ = client.command(Command::Stop { why: why.to_owned() }).await;
    }
    // The screen comes back only where it was not left.
    let anew = match &ended {
        Ok(Ended::Left(Leave::Stopped)) => Anew::Same,
        _ => Anew::Serve,
    };
    let cut = host.cut();
    match (serve::until_stopped(host, signals).await?, ended?) {
        (AfterStop::Restart, _) => Ok(Exit::Restart(anew)),
        (AfterStop::End, ended) => {
            if matches!(ended, Ended::Left(_)) {
                stderr_line(&stopped_words(&cut()));
            }
            Ok(after_another(&ended))
        }
    }
}

/// What stays in the terminal when its engine has stopped.
fn stopped_words(cut: &[String]) -> String {
    match cut.is_empty() {
        true => "the engine stopped in order; what waits is kept".to_owned(),
        false => format!(
            "the engine stopped in order; cut, and resumed by the next start: {}",
            one_line(&cut.join(", "))
        ),
    }
}

/// What the engine of this terminal does without its screen, and how it is ended.
async fn left_alone(client: &Arc<dyn Client>) -> String {
    let pid = std::process::id();
    let drain = match client.query(Query::Overview).await {
        Ok(Answer::Overview(overview)) => overview.engine.drain,
        _ => None,
    };
    match drain {
        None => format!(
            "the engine goes on in this terminal without a screen, pid {pid};\n\
             `switchboard` in another terminal looks in; Ctrl-C here or\n\
             `switchboard stop` ends it in order"
        ),
        Some(drain) => {
            let does = if drain.then == AfterStop::Restart { "restarts" } else { "stops" };
            format!(
                "the engine {does} in this terminal without a screen, pid {pid};\n\
                 `switchboard` in another terminal looks in and can call it off;\n\
                 Ctrl-C here {}",
                if drain.then == AfterStop::Restart { "stops it instead" } else { "cuts what still runs" }
            )
        }
    }
}

/// What is left to say when no engine of ours runs any more.
fn after_another(ended: &Ended) -> Exit {
    match ended {
        Ended::Left(_) => Exit::Done,
        Ended::TerminalGone => Exit::TerminalGone,
    }
}

fn options(context: &Context, config: &Config, own: &Arc<Own>) -> anyhow::Result<ConsoleOptions> {
    let (keymap, mut notices) = keymap(&context.home);
    if notices.len() > 1 {
        notices.push(format!("{} lines of keymap.toml are left out: :notices shows why", notices.len()));
    }
    Ok(ConsoleOptions {
        access: match context.mode {
            Mode::Change => Access::Full,
            Mode::ReadOnly => Access::ReadOnly,
        },
        theme: config.console.theme.clone(),
        glyphs: config.console.glyphs,
        mouse: config.console.mouse,
        synchronized_output: config.console.synchronized_output,
        bell: config.alerts.bell,
        desktop_notification: config.alerts.desktop_notification,
        zone: config.timezone,
        keymap,
        notices,
        config_path: context.home.config_file().display().to_string(),
        jobs_file: context.home.jobs_file(),
        errors_to: errors_to(&context.home)?,
        engines: Box::new(Again { own: Arc::clone(own), home: context.home.clone(), config: config.clone() }),
    })
}

/// The effective key map, and what is wrong with the operator's changes: the rest holds.
fn keymap(home: &Home) -> (KeyMap, Vec<String>) {
    match keymap::in_effect(home) {
        Ok((map, problems)) => (map, problems.iter().map(ToString::to_string).collect()),
        Err(error) => (KeyMap::shipped(), vec![format!("{error}; the shipped keys hold")]),
    }
}

/// Where standard error leads while the screen is up; none in a home that has no logs, or can't be written.
fn errors_to(home: &Home) -> anyhow::Result<Option<File>> {
    let path = home.logs().join("stderr.log");
    match OpenOptions::new().append(true).create(true).mode(0o600).open(&path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ReadOnlyFilesystem) => {
            Ok(None)
        }
        Err(error) => Err(anyhow::anyhow!("{}: {error}", path.display())),
    }
}

/// The engine in this process, if one was started.
#[derive(Default)]
struct Own(Mutex<Option<Host>>);

impl Own {
    async fn start(&self, home: &Home, config: &Config) -> Result<Arc<dyn Client>, HostError> {
        let host = serve::start(home, config).await?;
        let client = host.client();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(host);
        Ok(client)
    }

    fn take(&self) -> Option<Host> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The way to an engine after the one that was shown is gone.
struct Again {
    own: Arc<Own>,
    home: Home,
    config: Config,
}

impl Engines for Again {
    fn reconnect(&self) -> BoxFuture<'static, Result<Arc<dyn Client>, String>> {
        let home = self.home.clone();
        Box::pin(async move { connect(&home).await })
    }

    fn restarted(&self) -> BoxFuture<'static, Result<Arc<dyn Client>, String>> {
        let home = self.home.clone();
        Box::pin(async move {
            let deadline = tokio::time::Instant::now() + RESTARTING;
            loop {
                match connect(&home).await {
                    Err(_) if tokio::time::Instant::now() < deadline => {
                        tokio::time::sleep(LOOK_AGAIN).await;
                    }
                    reached => return reached,
                }
            }
        })
    }

    fn store(&self) -> Result<Arc<dyn Client>, String> {
        match StoreOnly::open(&self.home, self.config.clone()) {
            Ok(store) => Ok(Arc::new(store)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn start_here(&self) -> BoxFuture<'static, Result<Arc<dyn Client>, String>> {
        let (own, home, config) = (Arc::clone(&self.own), self.home.clone(), self.config.clone());
        Box::pin(async move {
            // The one that was here before has stopped; it lets the home go.
            if let Some(before) = own.take() {
                before.stopped().await;
            }
            own.start(&home, &config).await.map_err(|error| error.to_string())
        })
    }
}

async fn connect(home: &Home) -> Result<Arc<dyn Client>, String> {
    match SocketClient::connect(home).await {
        Ok(Some(client)) => Ok(Arc::new(client)),
        Ok(None) => Err("no engine runs for this home".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
