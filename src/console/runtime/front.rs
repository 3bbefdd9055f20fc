//! The terminal while it is ours: what is read, what is shown, and when.

use std::fs::File;
use std::time::Instant;

use ratatui::Frame;

use crate::config::{Mouse, SynchronizedOutput};
use crate::console::tty::{
    Arrived, Canvas, Limiter, Output, Reader, Reason, Screen, ScreenOptions, TtyError,
};

/// The terminal, taken. Dropping it gives the terminal back, and whoever is next gets every key.
pub(super) struct Front {
    // In this order they are dropped: nobody reads, nobody writes, then the terminal is given back.
    reader: Reader,
    output: Output,
    canvas: Canvas,
    screen: Screen,
    limiter: Limiter,
}

/// How the terminal is used.
pub(super) struct Manner {
    /// Whether frames are marked.
    pub(super) synchronized: SynchronizedOutput,
    /// Where standard error leads meanwhile.
    pub(super) errors_to: Option<File>,
}

impl Front {
    /// Takes the terminal.
    pub(super) fn enter(manner: &Manner, mouse: Mouse) -> Result<Self, TtyError> {
        let errors_to = match &manner.errors_to {
            Some(file) => Some(
                file.try_clone()
                    .map_err(|source| TtyError::Setup { step: "the log's descriptor", source })?,
            ),
            None => None,
        };
        let screen = Screen::enter(&ScreenOptions { mouse, errors_to })?;
        let canvas = Canvas::new(screen.size()?, manner.synchronized)?;
        let mut limiter = Limiter::default();
        limiter.request(Reason::Key, Instant::now());
        Ok(Self { reader: Reader::start()?, output: Output::start()?, canvas, screen, limiter })
    }

    /// What is read and what is written, to wait for both.
    pub(super) fn both(&mut self) -> (&mut Reader, &mut Output) {
        (&mut self.reader, &mut self.output)
    }

    /// The next input, if one waits.
    pub(super) fn waiting_input(&mut self) -> Option<Arrived> {
        self.reader.next_waiting()
    }

    /// Asks for a frame.
    pub(super) fn request(&mut self, reason: Reason) {
        self.limiter.request(reason, Instant::now());
    }

    /// When to draw; none while there is nothing new, or while the terminal still takes the last
    /// frame.
    pub(super) fn due(&self) -> Option<Instant> {
        if self.output.is_busy() { None } else { self.limiter.due() }
    }

    /// Draws.
    pub(super) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> Result<(), TtyError> {
        let Some(mut buffer) = self.output.buffer() else { return Ok(()) };
        self.canvas.draw(&mut buffer, view)?;
        self.limiter.drawn(Instant::now());
        self.output.write(buffer)
    }

    /// Draws all anew, in the size the terminal has now; returns it.
    pub(super) fn start_over(&mut self) -> Result<(u16, u16), TtyError> {
        let size = self.screen.size()?;
        self.canvas.start_over(size)?;
        self.limiter.request(Reason::Key, Instant::now());
        Ok(size)
    }

    /// Takes the terminal's modes again, after something else may have changed them.
    pub(super) fn reassert(&mut self, mouse: Mouse) -> Result<(u16, u16), TtyError> {
        self.screen.reassert(mouse)?;
        self.start_over()
    }

    /// Sends bytes to the terminal with the next frame.
    pub(super) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.canvas.put_first(bytes);
        self.limiter.request(Reason::Key, Instant::now());
    }

    /// Takes the mouse, or leaves it to the terminal.
    pub(super) fn set_mouse(&mut self, mouse: Mouse) {
        let sequence = self.screen.mouse(mouse);
        self.send(sequence);
    }

    /// The terminal speaks the keyboard protocol.
    pub(super) fn use_keyboard_protocol(&mut self) {
        let sequence = self.screen.keyboard_protocol();
        if !sequence.is_empty() {
            self.send(sequence);
        }
    }

    /// Whether the terminal vanished.
    pub(super) fn is_gone(&self) -> bool {
        self.screen.is_gone()
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (u16, u16) {
        self.canvas.size()
    }

    /// The terminal is gone.
    pub(super) fn abandon(self) {
        let Self { reader, output, screen, .. } = self;
        drop((reader, output));
        screen.abandon();
    }

    /// The terminal closes.
    pub(super) fn leave_for_good(self) {
        let Self { reader, output, screen, .. } = self;
        drop((reader, output));
        screen.leave_for_good();
    }
}
