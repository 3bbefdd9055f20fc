//! The command line, as an operator or a script uses it, and the wire under it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

#[path = "commandline/agents.rs"]
mod agents;
#[path = "commandline/alerts.rs"]
mod alerts;
#[path = "commandline/approvals.rs"]
mod approvals;
#[path = "commandline/assets.rs"]
mod assets;
#[path = "commandline/background.rs"]
mod background;
#[path = "commandline/conversations.rs"]
mod conversations;
#[path = "commandline/cron.rs"]
mod cron;
#[path = "commandline/engine.rs"]
mod engine;
#[path = "commandline/homes.rs"]
mod homes;
#[path = "commandline/jobs.rs"]
mod jobs;
#[path = "commandline/locked.rs"]
mod locked;
#[path = "commandline/long_tool.rs"]
mod long_tool;
#[path = "commandline/output.rs"]
mod output;
#[path = "commandline/practice.rs"]
mod practice;
#[path = "commandline/recovery.rs"]
mod recovery;
#[path = "commandline/secrets.rs"]
mod secrets;
#[path = "commandline/sessions.rs"]
mod sessions;
#[path = "commandline/vanished.rs"]
mod vanished;
#[path = "commandline/wire.rs"]
mod wire;

use std::time::{Duration, Instant};

/// Waits for something that must come.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}
