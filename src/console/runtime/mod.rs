//! The one loop that ties the console together.
//!
//! Everything that happens becomes a message; [`app::update`] turns it into a new state and
//! effects; the effects are performed here. What the operator does comes first: the loop takes
//! input before answers, and answers before updates, and draws only what changed.

mod asking;
mod console;
mod effects;
mod engines;
mod front;
mod happenings;
mod moving;
mod silence;
mod timers;

use std::fs::File;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;

use self::console::Console;
pub use self::engines::Engines;
use crate::config::{Bell, DesktopNotification, Glyphs, Mouse, SynchronizedOutput};
use crate::console::app::keymap::KeyMap;
use crate::console::app::model::Access;
use crate::console::app::msg::Leave;
use crate::console::tty::{self, Signals, TtyError};
use crate::control::{Client, ClientError};

/// What a console is opened with.
pub struct ConsoleOptions {
    /// Whether the operator may change anything.
    pub access: Access,
    /// The theme's name.
    pub theme: String,
    /// The glyph set.
    pub glyphs: Glyphs,
    /// Whether the mouse is taken at the start.
    pub mouse: Mouse,
    /// Whether frames are marked as synchronized output.
    pub synchronized_output: SynchronizedOutput,
    /// Whether a new alert rings the terminal's bell.
    pub bell: Bell,
    /// Whether the terminal shows a new alert as a notification.
    pub desktop_notification: DesktopNotification,
    /// The operator's time zone.
    pub zone: chrono_tz::Tz,
    /// The effective key map.
    pub keymap: KeyMap,
    /// What the operator should know at the start, one line each: problems of the key map.
    pub notices: Vec<String>,
    /// Where a real agent is set up, for the first screen: the configuration file's path.
    pub config_path: String,
    /// The file of the scheduled tasks, for the operator's editor.
    pub jobs_file: PathBuf,
    /// Where standard error leads while the screen is up: the log.
    pub errors_to: Option<File>,
    /// How to reach an engine again.
    pub engines: Box<dyn Engines>,
}

/// How a console ended. The terminal has been given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The operator left, or a signal asked for it.
    Left(Leave),
    /// The terminal vanished or closed. The standard streams lead elsewhere now.
    TerminalGone,
}

/// Why a console failed. The terminal has been given back.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// The terminal can't be used.
    #[error(transparent)]
    Terminal(#[from] TtyError),
    /// The engine can't be listened to.
    #[error(transparent)]
    Engine(#[from] ClientError),
    /// A bug in the console; its message was printed when it happened.
    #[error("the console met a bug of its own and closed; what was accepted is kept")]
    Bug,
}

/// Opens the console and runs it until it is left. With its end come the signals that it has not heard yet.
pub async fn run(client: Arc<dyn Client>, options: ConsoleOptions) -> Result<(Ended, Signals), ConsoleError> {
    let console = AssertUnwindSafe(async move { Console::open(client, options).await?.run().await });
    match tty::owning_panics(console.catch_unwind()).await {
        Ok(result) => result,
        Err(_) => Err(ConsoleError::Bug),
    }
}
