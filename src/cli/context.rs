//! What every noun needs: the home, its settings, and the way to its engine.

use std::path::Path;
use std::sync::Arc;

use chrono::Utc;
use chrono_tz::Tz;

use super::output::stderr_line;
use crate::config::{self, Config, ConfigError, Home};
use crate::control::{Client, ClientError, ReadOnly, SocketClient, reach};
use crate::domain::Time;
use crate::domain::reset::Forecast;

/// What the global options say.
pub(super) struct Context {
    /// The home.
    pub(super) home: Home,
    /// Whether changes are refused.
    pub(super) mode: Mode,
}

/// Whether changes are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// They are made.
    Change,
    /// They are refused: `--read-only`.
    ReadOnly,
}

impl From<bool> for Mode {
    fn from(read_only: bool) -> Self {
        if read_only { Self::ReadOnly } else { Self::Change }
    }
}

impl Context {
    /// Chooses the home. Touches nothing.
    pub(super) fn new(home: Option<&Path>, mode: Mode) -> anyhow::Result<Self> {
        Ok(Self { home: Home::resolve(home)?, mode })
    }

    /// The home's settings.
    pub(super) fn config(&self) -> Result<Config, ConfigError> {
        config::load(&self.home.config_file()).map(|loaded| loaded.config)
    }

    /// Attaches to the running engine, or reads the store where none runs.
    pub(super) async fn client(&self) -> Result<Arc<dyn Client>, ClientError> {
        // Reading needs no settings of its own: a file that is just being edited does not stop it.
        let config = self.config().unwrap_or_else(|error| {
            stderr_line(&format!("{error}\nthe defaults are used here"));
            Config::default()
        });
        Ok(self.guarded(reach(&self.home, config).await?))
    }

    /// Attaches to the running engine.
    pub(super) async fn engine(&self) -> Result<Arc<dyn Client>, ClientError> {
        let engine = SocketClient::connect(&self.home).await?.ok_or(ClientError::NoEngine)?;
        Ok(self.guarded(Arc::new(engine)))
    }

    /// How the operator reads an instant.
    pub(super) fn clock(&self) -> Clock {
        Clock { zone: self.config().unwrap_or_default().timezone }
    }

    fn guarded(&self, client: Arc<dyn Client>) -> Arc<dyn Client> {
        match self.mode {
            Mode::Change => client,
            Mode::ReadOnly => Arc::new(ReadOnly::new(client)),
        }
    }
}

/// Shows instants in the operator's zone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    zone: Tz,
}

impl Clock {
    /// Date and time.
    pub(super) fn full(&self, at: Time) -> String {
        at.with_timezone(&self.zone).format("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// What the next message of a session will meet, seen from now.
    pub(super) fn forecast(&self, forecast: &Forecast) -> String {
        forecast.words(Utc::now(), self.zone)
    }

    /// The time of the day.
    pub(super) fn short(&self, at: Time) -> String {
        at.with_timezone(&self.zone).format("%H:%M").to_string()
    }
}
