//! Reading the terminal, on a thread of its own: nothing the console does can delay a key, and
//! dropping the reader leaves every byte that follows to whoever has the terminal next.

use std::thread;
use std::time::{Duration, Instant};

use chrono::Utc;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::pipe::PipeFlags;
use tokio::sync::mpsc;

use super::decode::Decoder;
use super::tail::Tail;
use super::{Input, TtyError};
use crate::domain::Time;

/// How long an ESC may wait for the rest of its sequence before it is the key.
const ESCAPE_PATIENCE: Duration = Duration::from_millis(20);
/// How long a paste may fall silent before it is taken to have ended.
const PASTE_PATIENCE: Duration = Duration::from_secs(1);
/// Inputs that wait to be handled. When it is full the reader waits, and the bytes wait in the
/// terminal.
const WAITING_INPUTS: usize = 1024;

/// An input, and when it was read: what came fast was meant together, however late it is handled.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrived {
    /// What.
    pub input: Input,
    /// When.
    pub at: Time,
}

/// The reader.
pub struct Reader {
    inputs: mpsc::Receiver<Arrived>,
    thread: Option<thread::JoinHandle<()>>,
    stop: Option<OwnedFd>,
}

impl Reader {
    /// Starts to read standard input.
    pub fn start() -> Result<Self, TtyError> {
        let (stopped, stop) =
            rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(TtyError::setup("a pipe"))?;
        let (tell, inputs) = mpsc::channel(WAITING_INPUTS);
        let thread = thread::Builder::new()
            .name("terminal input".to_owned())
            .spawn(move || read(&tell, &stopped))
            .map_err(TtyError::setup("a thread"))?;
        Ok(Self { inputs, thread: Some(thread), stop: Some(stop) })
    }

    /// The next input; none when the terminal is gone.
    pub async fn next(&mut self) -> Option<Arrived> {
        self.inputs.recv().await
    }

    /// The next input, if one waits.
    pub fn next_waiting(&mut self) -> Option<Arrived> {
        self.inputs.try_recv().ok()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stop.take();
        self.inputs.close();
        if let Some(thread) = self.thread.take() {
            // It ends at once: it waits on the pipe and on the channel, and both are closed.
            let _ = thread.join();
        }
    }
}

fn read(tell: &mpsc::Sender<Arrived>, stopped: &OwnedFd) {
    let mut decoder = Decoder::default();
    let mut tail = Tail::default();
    let mut chunk = [0; 4096];
    let mut decoded = Vec::new();
    let mut inputs = Vec::new();
    let mut last = Instant::now();
    loop {
        let until = earliest(decoder_deadline(&decoder, last), tail.deadline());
        match wait(stopped, until) {
            Wake::Stop => return,
            Wake::Input => match rustix::io::read(rustix::stdio::stdin(), &mut chunk) {
                Ok(0) => return,
                Ok(count) => {
                    last = Instant::now();
                    decoder.feed(&chunk[..count], &mut decoded);
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(error) => {
                    tracing::info!(%error, "the terminal can't be read any more");
                    return;
                }
            },
            Wake::Time => {}
        }
        let now = Instant::now();
        if decoder_deadline(&decoder, last).is_some_and(|deadline| deadline <= now) {
            decoder.quiet(&mut decoded);
        }
        for input in decoded.drain(..) {
            tail.take(input, now, &mut inputs);
        }
        if tail.deadline().is_some_and(|deadline| deadline <= now) {
            tail.end(&mut inputs);
        }
        let at = Utc::now();
        for input in inputs.drain(..) {
            if tell.blocking_send(Arrived { input, at }).is_err() {
                return;
            }
        }
    }
}

enum Wake {
    Input,
    Time,
    Stop,
}

fn wait(stopped: &OwnedFd, until: Option<Instant>) -> Wake {
    let input = rustix::stdio::stdin();
    let mut wanted = [PollFd::from_borrowed_fd(input, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match rustix::event::poll(&mut wanted, left.as_ref()) {
        Err(rustix::io::Errno::INTR) | Ok(0) => Wake::Time,
        Ok(_) if !wanted[1].revents().is_empty() => Wake::Stop,
        // Bytes, or a hang-up or error, which the read will tell.
        Ok(_) => Wake::Input,
        Err(error) => {
            tracing::warn!(%error, "the terminal can't be waited for");
            Wake::Stop
        }
    }
}

fn decoder_deadline(decoder: &Decoder, last: Instant) -> Option<Instant> {
    let patience = if decoder.is_pasting() { PASTE_PATIENCE } else { ESCAPE_PATIENCE };
    decoder.is_open().then(|| last + patience)
}

fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
