//! The keeper: the process that a background process is, between its engine and its command.

use std::fs;
use std::io::{self, BufRead, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use serde::{Deserialize, Serialize};
use tokio::process::{ChildStdout, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::super::process::{BACKGROUND, end_members, hide_environment};
use super::super::program::launch::SHELL;
use super::super::program::{PIECE_BYTES, read};
use super::super::utf8::LossyDecoder;
use super::log::{LOG_BYTES, Log, empty};
use super::{end_file, mark, marked};
use crate::config::Secrets;
use crate::domain::background::{BackgroundProcess, Ended, Exit};

/// What a keeper is told, in one line, when its process is kept.
#[derive(Serialize, Deserialize)]
pub struct Orders {
    /// The command, for /bin/sh.
    command: String,
    /// What marks all that the command starts.
    mark: String,
    /// The file of its output.
    log: PathBuf,
    /// The keys that the file may not hold.
    secrets: Vec<String>,
}

impl Orders {
    /// Those of a process that is kept; what is kept of its command may have a key hidden in it.
    pub fn of(process: &BackgroundProcess, command: String, log: PathBuf, secrets: &Secrets) -> Self {
        Self { command, mark: mark(&process.session, process.number), log, secrets: secrets.tell() }
    }
}

/// Both in one, so that what it says on standard error stands where it was said.
const BOTH: &str = "exec /bin/sh -c \"$1\" 2>&1";

/// Waits for orders on standard input, and carries them out to their end. Without orders, because the
/// engine is gone, nothing is done.
///
/// # Errors
/// Where the end can't be written down.
pub async fn keep() -> io::Result<()> {
    // What it is told stays with it. Where the system refuses that, its engine is as open.
    let _ = hide_environment();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let Ok(orders) = serde_json::from_str::<Orders>(&line) else { return Ok(()) };
    // What is sent to the whole group is for the command: the keeper stays to see its end.
    let _kept_from_it = signals()?;
    let exit = carry_out(&orders)
        .await
        .unwrap_or_else(|error| Exit::Unknown { why: format!("it could not be started: {error}") });
    write_end(&orders.log, &Ended { at: chrono::Utc::now(), exit })
}

fn signals() -> io::Result<Vec<Signal>> {
    let kinds = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
        SignalKind::quit(),
        SignalKind::user_defined1(),
        SignalKind::user_defined2(),
    ];
    kinds.into_iter().map(signal).collect()
}

async fn carry_out(orders: &Orders) -> io::Result<Exit> {
    let log = Log::begin(&orders.log, LOG_BYTES)?;
    let mut child = Command::new(SHELL)
        .args(["-c", BOTH, SHELL, &orders.command])
        .env(BACKGROUND, &orders.mark)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (stdout, ended) = (child.stdout.take(), CancellationToken::new());
    let watch = async {
        let status = child.wait().await;
        let (group, mark) = (std::process::id(), marked(&orders.mark));
        // What it left behind ends with it.
        let _ = tokio::task::spawn_blocking(move || end_members(Some(group), &mark)).await;
        ended.cancel();
        status
    };
    let secrets = Secrets::of(orders.secrets.iter().cloned());
    let (status, ()) = tokio::join!(watch, keep_output(stdout, log, &secrets, &ended));
    status.map(exit)
}

async fn keep_output(
    stdout: Option<ChildStdout>,
    mut log: Log,
    secrets: &Secrets,
    ended: &CancellationToken,
) {
    let Some(mut stdout) = stdout else { return };
    let (mut decoder, mut stream) = (LossyDecoder::default(), secrets.stream());
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let bytes = read(&mut stdout, &mut piece, ended).await;
        let text = match bytes {
            [] => stream.push(decoder.finish()) + &stream.finish(),
            bytes => stream.push(&decoder.push(bytes)),
        };
        // A disk that is full costs output, not the command.
        let _ = log.push(text.as_bytes());
        if bytes.is_empty() {
            return;
        }
    }
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code { code },
        (None, Some(signal)) => Exit::Signal { signal },
        (None, None) => Exit::Unknown { why: status.to_string() },
    }
}

/// Whole or not at all: who reads it may read at any moment.
fn write_end(log: &Path, ended: &Ended) -> io::Result<()> {
    let (path, new) = (end_file(log), log.with_extension("new"));
    empty(&new)?.write_all(&serde_json::to_vec(ended)?)?;
    fs::rename(new, path)
}
