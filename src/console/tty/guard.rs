//! Taking the terminal and giving it back.
//!
//! What has to be undone lies in one place, [`HELD`]. Whoever takes it out undoes it: the normal
//! way, an error's way (`Drop`) or the panic hook. So it happens exactly once, and nothing is
//! written to the terminal afterwards, because the writer writes through the same place.

use std::cell::Cell;
use std::fs::File;
use std::future::Future;
use std::io;
use std::panic;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::termios::{OptionalActions, Termios};

use super::TtyError;
use super::sequences::*;
use crate::config::Mouse;

/// How long a terminal that takes nothing may delay its own restoration.
const PATIENCE: Duration = Duration::from_millis(500);

static HELD: Mutex<Option<Held>> = Mutex::new(None);

thread_local! {
    /// Whether a panic on this thread now is the console's own.
    static PANIC_IS_OURS: Cell<bool> = const { Cell::new(false) };
}

/// What a screen is entered with.
#[derive(Debug)]
pub struct ScreenOptions {
    /// Whether the mouse is taken at the start.
    pub mouse: Mouse,
    /// Where standard error leads while the screen is up: anything written there would paint over it.
    pub errors_to: Option<File>,
}

/// The terminal, taken: raw, on its alternate screen, with our modes on. Dropping it gives the
/// terminal back as it was.
#[derive(Debug)]
pub struct Screen {
    _private: (),
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// Standard input or output is no terminal, it is taken already, or it refuses a step; then it
    /// is as it was.
    pub fn enter(options: &ScreenOptions) -> Result<Self, TtyError> {
        install_panic_hook();
        let mut place = held();
        if place.is_some() {
            return Err(TtyError::Taken);
        }
        let mut taken = Held::take(options)?;
        if let Err(error) = taken.set_up(options.mouse) {
            taken.give_back();
            return Err(error);
        }
        *place = Some(taken);
        Ok(Self { _private: () })
    }

    /// Gives the terminal back.
    pub fn leave(self) {
        drop(self);
    }

    /// What takes the mouse, or leaves it to the terminal; to be written with the next frame.
    pub fn mouse(&self, mouse: Mouse) -> &'static str {
        match mouse {
            Mouse::On => MOUSE_ON,
            Mouse::Off => MOUSE_OFF,
        }
    }

    /// The terminal said that it speaks the keyboard protocol: what asks it for keys that tell more,
    /// to be written with the next frame.
    pub fn keyboard_protocol(&self) -> &'static str {
        match held().as_mut() {
            Some(held) if !held.keyboard_pushed => {
                held.keyboard_pushed = true;
                KEYBOARD_PUSH
            }
            _ => "",
        }
    }

    /// Takes raw mode and our modes again, after something else had the terminal.
    pub fn reassert(&self, mouse: Mouse) -> Result<(), TtyError> {
        match held().as_mut() {
            Some(held) => held.set_up(mouse),
            None => Err(TtyError::Gone),
        }
    }

    /// Columns and rows.
    pub fn size(&self) -> Result<(u16, u16), TtyError> {
        let size =
            rustix::termios::tcgetwinsize(rustix::stdio::stdout()).map_err(TtyError::setup("its size"))?;
        Ok((size.ws_col, size.ws_row))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Runs the console, so that a panic inside it gives the terminal back before its message is
/// printed. Panics elsewhere (a turn's task, say) leave the screen up; their message goes where
/// standard error leads, which is the log.
pub async fn owning_panics<F: Future>(console: F) -> F::Output {
    let mut console = pin!(console);
    std::future::poll_fn(move |context| {
        let before = PANIC_IS_OURS.replace(true);
        let _restore = RestoreMark(before);
        console.as_mut().poll(context)
    })
    .await
}

/// Writes a part of `bytes`, unless the terminal was given back meanwhile.
pub(super) fn write_some(bytes: &[u8]) -> io::Result<WriteOutcome> {
    match held().as_ref() {
        Some(held) => held.write_some(bytes),
        None => Ok(WriteOutcome::GivenBack),
    }
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    /// So many bytes were taken.
    Wrote(usize),
    /// The terminal takes nothing now.
    Full,
    /// It is no longer ours.
    GivenBack,
}

/// A second descriptor of what [`write_some`] writes to, to wait on.
pub(super) fn output_descriptor() -> Result<OwnedFd, TtyError> {
    match held().as_ref() {
        Some(held) => held.output.try_clone().map_err(TtyError::setup("a second descriptor")),
        None => Err(TtyError::Gone),
    }
}

/// Forgets the terminal without touching it, and says where standard error leads.
pub(super) fn forget() -> Errors {
    match held().take() {
        Some(Held { errors: Some(_), .. }) => Errors::ToTheLog,
        _ => Errors::AsBefore,
    }
}

/// Where standard error leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Errors {
    /// To the log.
    ToTheLog,
    /// Where it led before the screen.
    AsBefore,
}

/// What a taken terminal was before.
struct Held {
    output: OwnedFd,
    modes: Termios,
    errors: Option<OwnedFd>,
    keyboard_pushed: bool,
}

impl Held {
    fn take(options: &ScreenOptions) -> Result<Self, TtyError> {
        let input = rustix::stdio::stdin();
        let output = rustix::stdio::stdout();
        for (stream, name) in [(input, "standard input"), (output, "standard output")] {
            if !rustix::termios::isatty(stream) {
                return Err(TtyError::NotATerminal(name));
            }
        }
        let modes = rustix::termios::tcgetattr(input).map_err(TtyError::setup("reading its modes"))?;
        let output = open_output(output)?;
        let errors = options.errors_to.as_ref().map(redirect_errors).transpose()?;
        Ok(Self { output, modes, errors, keyboard_pushed: false })
    }

    fn set_up(&mut self, mouse: Mouse) -> Result<(), TtyError> {
        let mut raw = self.modes.clone();
        raw.make_raw();
        rustix::termios::tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw)
            .map_err(TtyError::setup("raw mode"))?;
        let mut sequences = String::new();
        sequences.push_str(ALTERNATE_SCREEN_ON);
        sequences.push_str(CURSOR_OFF);
        sequences.push_str(BRACKETED_PASTE_ON);
        sequences.push_str(FOCUS_EVENTS_ON);
        if mouse == Mouse::On {
            sequences.push_str(MOUSE_ON);
        }
        if !self.keyboard_pushed {
            sequences.push_str(KEYBOARD_QUERY);
        }
        self.write_within(sequences.as_bytes(), PATIENCE).map_err(TtyError::Write)
    }

    /// Undoes everything. Each step is tried even where one before it failed: there is nobody left
    /// to tell.
    fn give_back(self) {
        let mut sequences = String::from(CANCEL);
        sequences.push_str(SYNCHRONIZED_END);
        if self.keyboard_pushed {
            sequences.push_str(KEYBOARD_POP);
        }
        for off in [MOUSE_OFF, FOCUS_EVENTS_OFF, BRACKETED_PASTE_OFF, PLAIN, ALTERNATE_SCREEN_OFF, CURSOR_ON]
        {
            sequences.push_str(off);
        }
        let _ = self.write_within(sequences.as_bytes(), PATIENCE);
        let _ = rustix::termios::tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.modes);
        if let Some(errors) = &self.errors {
            let _ = rustix::stdio::dup2_stderr(errors);
        }
    }

    fn write_some(&self, bytes: &[u8]) -> io::Result<WriteOutcome> {
        match rustix::io::write(&self.output, bytes) {
            Ok(count) => Ok(WriteOutcome::Wrote(count)),
            Err(rustix::io::Errno::AGAIN) => Ok(WriteOutcome::Full),
            Err(rustix::io::Errno::INTR) => Ok(WriteOutcome::Wrote(0)),
            Err(error) => Err(error.into()),
        }
    }

    fn write_within(&self, mut bytes: &[u8], patience: Duration) -> io::Result<()> {
        let deadline = Instant::now() + patience;
        while !bytes.is_empty() {
            match self.write_some(bytes)? {
                WriteOutcome::Wrote(count) => bytes = &bytes[count..],
                WriteOutcome::Full => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() || !wait_writable(self.output.as_fd(), left)? {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                WriteOutcome::GivenBack => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
        Ok(())
    }
}

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn give_back() {
    if let Some(held) = held().take() {
        held.give_back();
    }
}

/// Opens the terminal again, for writing without blocking. The flag belongs to an open file, and
/// the one behind standard output is shared with the shell: setting it there would outlive us.
fn open_output(output: BorrowedFd<'_>) -> Result<OwnedFd, TtyError> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let reopened = rustix::termios::ttyname(output, Vec::new())
        .and_then(|name| rustix::fs::open(name.as_c_str(), flags, Mode::empty()))
        .or_else(|_| rustix::fs::open(c"/dev/tty", flags, Mode::empty()));
    match reopened {
        Ok(own) => Ok(own),
        // No name in here (a container without the host's /dev/pts): a blocking descriptor will do.
        Err(_) => output.try_clone_to_owned().map_err(TtyError::setup("a second descriptor")),
    }
}

/// Points standard error at `file` and returns what it was.
fn redirect_errors(file: &File) -> Result<OwnedFd, TtyError> {
    let before = rustix::stdio::stderr()
        .try_clone_to_owned()
        .map_err(TtyError::setup("a second descriptor of standard error"))?;
    rustix::stdio::dup2_stderr(file).map_err(TtyError::setup("pointing standard error at the log"))?;
    Ok(before)
}

fn wait_writable(output: BorrowedFd<'_>, left: Duration) -> io::Result<bool> {
    let mut wanted = [PollFd::from_borrowed_fd(output, PollFlags::OUT)];
    let left = left.try_into().map_err(io::Error::other)?;
    match rustix::event::poll(&mut wanted, Some(&left)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if PANIC_IS_OURS.get() {
                give_back();
            }
            before(info);
        }));
    });
}

struct RestoreMark(bool);

impl Drop for RestoreMark {
    fn drop(&mut self) {
        PANIC_IS_OURS.set(self.0);
    }
}
