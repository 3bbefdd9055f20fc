//! The alert command: a program that carries an alert to whoever sleeps.
//!
//! It is run once a telling, with the alert as JSON on its standard input and the parts that a script
//! needs most in variables. It leads its own process group, of which nothing outlives it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::program::group::ProcessGroup;
use super::program::{bad_end, environment, feed, read_tail};
use crate::config::{AlertsConfig, Config};
use crate::domain::alert::Alert;

const KEY: &str = "SWITCHBOARD_ALERT_KEY";
const WORDS: &str = "SWITCHBOARD_ALERT_WORDS";
const RAISED_AT: &str = "SWITCHBOARD_ALERT_RAISED_AT";
/// How often it was told before: 0 the first time.
const TOLD: &str = "SWITCHBOARD_ALERT_TOLD";

/// The program of `alerts.command`, with all that calling it needs.
#[derive(Debug, Clone)]
pub struct AlertCommand {
    name: String,
    arguments: Vec<String>,
    home: PathBuf,
    timeout: Duration,
    repeat: Option<Duration>,
    /// The environment variable of a configured key; never handed on.
    key_variables: Vec<String>,
}

/// Why an alert was not told.
#[derive(Debug, thiserror::Error)]
pub enum NotTold {
    /// The program could not be started.
    #[error("can't run {program:?} of alerts.command: {source}")]
    NotStarted {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// It took too long.
    #[error("{program} took longer than {seconds} s and was killed: alerts.timeout_seconds is the limit")]
    TooSlow {
        /// The program.
        program: String,
        /// The limit.
        seconds: u64,
    },
    /// It did not end well.
    #[error("{program} {how}")]
    Failed {
        /// The program.
        program: String,
        /// How it ended, and its last words.
        how: String,
    },
}

impl AlertCommand {
    /// Reads `[alerts]`; none if no command is set. The program runs in the `home` folder.
    pub fn new(config: &Config, home: &Path) -> Option<Self> {
        let AlertsConfig { command, timeout, repeat, .. } = &config.alerts;
        let (name, arguments) = command.split_first()?;
        Some(Self {
            name: name.clone(),
            arguments: arguments.to_vec(),
            home: home.to_path_buf(),
            timeout: *timeout,
            repeat: *repeat,
            key_variables: config.keys().variables,
        })
    }

    /// After how long an alert that nobody acknowledged is told again; none: never.
    pub fn repeat(&self) -> Option<Duration> {
        self.repeat
    }

    /// Runs the program for an alert, to its end. When the future is dropped the program is killed.
    ///
    /// # Errors
    ///
    /// It could not be started, took too long, or did not end well.
    pub async fn tell(&self, alert: &Alert) -> Result<(), NotTold> {
        let started = self.start(alert);
        let mut child =
            started.map_err(|source| NotTold::NotStarted { program: self.name.clone(), source })?;
        let group = ProcessGroup::led_by(&child);
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let ended = CancellationToken::new();
        let text = serde_json::to_string(alert).unwrap_or_default() + "\n";
        let exit = group.exit(&mut child, &ended);
        let work = async { tokio::join!(exit, feed(stdin, text, &ended), read_tail(stderr, &ended)) };
        let Ok((status, (), complaint)) = timeout(self.timeout, work).await else {
            return Err(NotTold::TooSlow { program: self.name.clone(), seconds: self.timeout.as_secs() });
        };
        let Some(how) = bad_end(&status) else { return Ok(()) };
        let how = match complaint.last_lines() {
            said if said.is_empty() => how,
            said => format!("{how}: {said}"),
        };
        Err(NotTold::Failed { program: self.name.clone(), how })
    }

    fn start(&self, alert: &Alert) -> io::Result<Child> {
        let mut command = Command::new(self.path());
        environment::hide_secrets(&mut command, &self.key_variables);
        command
            .args(&self.arguments)
            .env(KEY, alert.key.as_str())
            .env(WORDS, &alert.words)
            .env(RAISED_AT, alert.raised_at.to_rfc3339())
            .env(TOLD, alert.told.times.to_string())
            .current_dir(&self.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }

    /// A relative path is one from the home folder; a bare name is looked for in PATH.
    fn path(&self) -> PathBuf {
        if self.name.contains('/') { self.home.join(&self.name) } else { PathBuf::from(&self.name) }
    }
}
