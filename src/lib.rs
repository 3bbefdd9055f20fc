//! Switchboard: an operator console for long-lived agent sessions.
//!
//! The rooms, in reading order:
//!
//! - [`domain`]: what is true. Types and decisions; pure.
//! - [`store`]: what is kept. The engine's atomic transitions and the screen's queries over SQLite.
//! - [`agent`]: who works. The backend interface and the backends.
//! - [`engine`]: what happens. The one owner of all running things.
//! - [`control`]: the wire. How an engine is reached: in process, over the socket, or its store alone.
//! - [`console`]: what is seen.
//! - [`cli`]: the same without a screen.
//! - [`config`]: settings with their documentation, the home folder, the key map.
//! - [`failpoint`]: where the tests of crashes kill the process; nothing of it is in a release.
//!
//! Arrows: domain ← store ← engine; domain ← agent ← engine; domain ← console/app ← console/ui.
//! The console and the command line reach the engine only through [`control`]'s client. The rules
//! of the house stand in ARCHITECTURE.md and are checked by `tests/tidy.rs`.

pub mod agent;
pub mod cli;
pub mod config;
pub mod console;
pub mod control;
pub mod domain;
pub mod engine;
pub mod failpoint;
pub mod store;
