//! From a view to the bytes of one frame.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

use super::TtyError;
use super::sequences::{CLEAR, SYNCHRONIZED_BEGIN, SYNCHRONIZED_END};
use crate::config::SynchronizedOutput;

/// What the terminal shows, and how to get from there to the next frame.
pub struct Canvas {
    terminal: Terminal<CrosstermBackend<Sheet>>,
    sheet: Sheet,
    size: (u16, u16),
    synchronized: SynchronizedOutput,
    cleared: bool,
    first: Vec<u8>,
}

impl Canvas {
    /// A canvas for a terminal of this size: columns, rows.
    pub fn new(size: (u16, u16), synchronized: SynchronizedOutput) -> Result<Self, TtyError> {
        let sheet = Sheet::default();
        Ok(Self {
            terminal: blank(size, &sheet)?,
            sheet,
            size,
            synchronized,
            cleared: true,
            first: Vec::new(),
        })
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        self.size
    }

    /// The next frame is drawn whole, in this size: the terminal shows we don't know what.
    pub fn start_over(&mut self, size: (u16, u16)) -> Result<(), TtyError> {
        self.terminal = blank(size, &self.sheet)?;
        self.size = size;
        self.cleared = true;
        Ok(())
    }

    /// Puts bytes before the next frame: a mode, or something for the clipboard.
    pub fn put_first(&mut self, bytes: impl AsRef<[u8]>) {
        self.first.extend_from_slice(bytes.as_ref());
    }

    /// Draws a frame into `bytes`, which is emptied first.
    pub fn draw(&mut self, bytes: &mut Vec<u8>, view: impl FnOnce(&mut Frame<'_>)) -> Result<(), TtyError> {
        bytes.clear();
        bytes.append(&mut self.first);
        if self.synchronized == SynchronizedOutput::On {
            bytes.extend_from_slice(SYNCHRONIZED_BEGIN.as_bytes());
        }
        if std::mem::take(&mut self.cleared) {
            bytes.extend_from_slice(CLEAR.as_bytes());
        }
        self.terminal.draw(view).map_err(TtyError::Write)?;
        self.sheet.take(bytes);
        if self.synchronized == SynchronizedOutput::On {
            bytes.extend_from_slice(SYNCHRONIZED_END.as_bytes());
        }
        Ok(())
    }
}

/// A terminal of which all is blank. Its size is fixed here: ratatui would ask the operating system
/// for it at every frame.
fn blank((columns, rows): (u16, u16), sheet: &Sheet) -> Result<Terminal<CrosstermBackend<Sheet>>, TtyError> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, columns, rows));
    Terminal::with_options(CrosstermBackend::new(sheet.clone()), TerminalOptions { viewport })
        .map_err(TtyError::Write)
}

/// Where the backend writes. It keeps its writer to itself, so the bytes are shared.
#[derive(Clone, Default)]
struct Sheet(Arc<Mutex<Vec<u8>>>);

impl Sheet {
    fn take(&self, to: &mut Vec<u8>) {
        to.append(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
