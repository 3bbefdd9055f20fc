//! A terminal for the tests: frames go as bytes through a `vt100` parser, so that colours, attributes
//! and foreign control sequences are seen as a person's terminal would see them.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io;
use std::num::NonZeroU16;
use std::rc::Rc;

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

/// What a frame looked like.
pub struct Screen {
    parser: vt100::Parser,
    width: u16,
    height: u16,
    /// The bytes that made it.
    pub bytes: Vec<u8>,
}

#[derive(Clone, Default)]
struct Bytes(Rc<RefCell<Vec<u8>>>);

impl io::Write for Bytes {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Screen {
    /// Draws one frame of this size, neither side 0.
    pub fn of(width: u16, height: u16, mut draw: impl FnMut(&mut Frame<'_>)) -> Self {
        Self::of_frames(width, height, 1, |_, frame| draw(frame))
    }

    /// Draws so many frames, one over the other: each sends only what changed.
    pub fn of_frames(
        width: u16,
        height: u16,
        frames: usize,
        mut draw: impl FnMut(usize, &mut Frame<'_>),
    ) -> Self {
        // The environment of the tests must not decide whether colours are seen.
        crossterm::style::force_color_output(true);
        let bytes = Bytes::default();
        let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
        let backend = CrosstermBackend::new(bytes.clone());
        let mut terminal = Terminal::with_options(backend, TerminalOptions { viewport }).unwrap();
        for number in 0..frames {
            terminal.draw(|frame| draw(number, frame)).unwrap();
        }
        drop(terminal);
        let bytes = bytes.0.take();
        let side = |n| NonZeroU16::new(n).unwrap();
        let mut parser = vt100::Parser::new(side(height), side(width), 0);
        parser.process(&bytes);
        Self { parser, width, height, bytes }
    }

    /// The rows as text.
    pub fn text(&self) -> String {
        let screen = self.parser.screen();
        screen.rows(0, self.width).map(|row| row.trim_end().to_owned() + "\n").collect()
    }

    /// Where the cursor stands; none if it is hidden.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let screen = self.parser.screen();
        let (row, column) = screen.cursor_position();
        (!screen.hide_cursor()).then_some((column, row))
    }

    /// What stands in a cell.
    pub fn symbol(&self, x: u16, y: u16) -> &str {
        self.parser.screen().cell(y, x).map_or("", |cell| cell.contents())
    }

    /// The rows as text, and under each row that is dressed a row of letters, one for each dress.
    pub fn dressed(&self) -> String {
        let mut legend: Vec<String> = Vec::new();
        let mut out = String::new();
        for (y, row) in self.parser.screen().rows(0, self.width).enumerate() {
            let letters: String = (0..self.width)
                .map(|x| letter(&mut legend, self.dress(x, u16::try_from(y).unwrap())))
                .collect();
            writeln!(out, "{}", row.trim_end()).unwrap();
            if !letters.trim_end().is_empty() {
                writeln!(out, "{}", letters.trim_end()).unwrap();
            }
        }
        for (at, dress) in legend.iter().enumerate() {
            writeln!(out, "{} = {dress}", char::from(b'a' + u8::try_from(at).unwrap())).unwrap();
        }
        out
    }

    fn dress(&self, x: u16, y: u16) -> String {
        assert!(y < self.height);
        let cell = self.parser.screen().cell(y, x).unwrap();
        let mut dress = Vec::new();
        if cell.fgcolor() != vt100::Color::Default {
            dress.push(format!("{:?}", cell.fgcolor()));
        }
        if cell.bgcolor() != vt100::Color::Default {
            dress.push(format!("on {:?}", cell.bgcolor()));
        }
        for (worn, name) in [
            (cell.bold(), "bold"),
            (cell.dim(), "dim"),
            (cell.italic(), "italic"),
            (cell.underline(), "underline"),
            (cell.inverse(), "reverse"),
        ] {
            if worn {
                dress.push(name.to_owned());
            }
        }
        dress.join(" ")
    }
}

fn letter(legend: &mut Vec<String>, dress: String) -> char {
    if dress.is_empty() {
        return ' ';
    }
    let at = legend.iter().position(|known| *known == dress).unwrap_or_else(|| {
        legend.push(dress);
        legend.len() - 1
    });
    char::from(b'a' + u8::try_from(at).unwrap())
}
