//! Writing frames, on a thread of its own: a terminal that takes nothing (flow control, a slow
//! link) holds up its own picture and nothing else.

use std::io;
use std::sync::mpsc as blocking;
use std::thread;

use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::pipe::PipeFlags;
use tokio::sync::mpsc;

use super::TtyError;
use super::guard::{self, WriteOutcome};

/// The writer. One frame at most is on its way: while it is, none is drawn, so a slow terminal
/// skips pictures and never lags behind.
pub struct Output {
    frames: blocking::SyncSender<Vec<u8>>,
    done: mpsc::Receiver<io::Result<Vec<u8>>>,
    spare: Option<Vec<u8>>,
    /// Closing it wakes the thread and ends it.
    _stop: OwnedFd,
}

impl Output {
    /// Starts the thread. The terminal must have been taken.
    pub fn start() -> Result<Self, TtyError> {
        let (stopped, stop) =
            rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(TtyError::setup("a pipe"))?;
        let terminal = guard::output_descriptor()?;
        let (frames, to_write) = blocking::sync_channel(1);
        let (tell, done) = mpsc::channel(1);
        thread::Builder::new()
            .name("terminal output".to_owned())
            .spawn(move || write_frames(&to_write, &tell, &terminal, &stopped))
            .map_err(TtyError::setup("a thread"))?;
        Ok(Self { frames, done, spare: Some(Vec::new()), _stop: stop })
    }

    /// A buffer to draw into; none while a frame is on its way.
    pub fn buffer(&mut self) -> Option<Vec<u8>> {
        self.spare.take()
    }

    /// Hands a frame over.
    ///
    /// # Errors
    /// The terminal is no longer written to.
    pub fn write(&mut self, frame: Vec<u8>) -> Result<(), TtyError> {
        self.frames.try_send(frame).map_err(|_| TtyError::Gone)
    }

    /// Whether a frame is on its way.
    pub fn is_busy(&self) -> bool {
        self.spare.is_none()
    }

    /// Waits until the frame on its way is written. Without one it waits forever.
    ///
    /// # Errors
    /// The terminal refused it.
    pub async fn written(&mut self) -> Result<(), TtyError> {
        if !self.is_busy() {
            return std::future::pending().await;
        }
        match self.done.recv().await {
            Some(Ok(buffer)) => {
                self.spare = Some(buffer);
                Ok(())
            }
            Some(Err(error)) => Err(TtyError::Write(error)),
            None => Err(TtyError::Gone),
        }
    }
}

fn write_frames(
    frames: &blocking::Receiver<Vec<u8>>,
    tell: &mpsc::Sender<io::Result<Vec<u8>>>,
    terminal: &OwnedFd,
    stopped: &OwnedFd,
) {
    while let Ok(frame) = frames.recv() {
        let outcome = match write_all(&frame, terminal, stopped) {
            Ok(Written::All) => Ok(frame),
            Ok(Written::Stopped) => return,
            Err(error) => Err(error),
        };
        if tell.blocking_send(outcome).is_err() {
            return;
        }
    }
}

enum Written {
    All,
    Stopped,
}

fn write_all(mut bytes: &[u8], terminal: &OwnedFd, stopped: &OwnedFd) -> io::Result<Written> {
    while !bytes.is_empty() {
        match guard::write_some(bytes)? {
            WriteOutcome::Wrote(count) => bytes = &bytes[count..],
            WriteOutcome::GivenBack => return Ok(Written::Stopped),
            WriteOutcome::Full => {
                let mut wanted = [PollFd::new(terminal, PollFlags::OUT), PollFd::new(stopped, PollFlags::IN)];
                match rustix::event::poll(&mut wanted, None) {
                    Ok(_) if !wanted[1].revents().is_empty() => return Ok(Written::Stopped),
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    Ok(Written::All)
}
