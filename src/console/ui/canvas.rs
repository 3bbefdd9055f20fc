//! The pen: writes cells of a buffer in roles, within a rectangle, and nothing outside it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::glyphs::GlyphSet;
use super::text::{self, All};
use super::theme::{Role, Theme};

/// What is drawn on, and how it is dressed.
pub struct Canvas<'a> {
    /// The cells.
    pub buffer: &'a mut Buffer,
    /// The dress.
    pub theme: &'a Theme,
    /// The marks.
    pub glyphs: &'static GlyphSet,
}

impl Canvas<'_> {
    /// A pen at the start of row `y` of `area`, counted from its top. Outside the area it writes nothing.
    pub fn row(&mut self, area: Rect, y: u16) -> Pen<'_> {
        let area = area.intersection(*self.buffer.area());
        let inside = y < area.height;
        Pen {
            x: area.x,
            right: if inside { area.right() } else { area.x },
            y: area.y.saturating_add(y),
            buffer: self.buffer,
            theme: self.theme,
            glyphs: self.glyphs,
        }
    }

    /// Dresses what already stands in `area`. What is dressed over is never left dim.
    pub fn dress(&mut self, area: Rect, role: Role) {
        self.buffer.set_style(area, self.theme.style(role).remove_modifier(Modifier::DIM));
    }

    /// Makes `area` blank, in the dress of ordinary text.
    pub fn clear(&mut self, area: Rect) {
        let area = area.intersection(*self.buffer.area());
        let style = self.theme.style(Role::Text);
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                let cell = &mut self.buffer[(x, y)];
                cell.reset();
                cell.set_style(style);
            }
        }
    }

    /// Draws a vertical line down the left column of `area`.
    pub fn vertical(&mut self, area: Rect) {
        let line = self.glyphs.vertical;
        for y in 0..area.height {
            self.row(area, y).put(line, Role::Rule);
        }
    }
}

/// Writes along one row, from left to right.
pub struct Pen<'a> {
    x: u16,
    right: u16,
    y: u16,
    buffer: &'a mut Buffer,
    theme: &'a Theme,
    glyphs: &'static GlyphSet,
}

impl Pen<'_> {
    /// The cells that are left on this row.
    pub fn room(&self) -> usize {
        usize::from(self.right.saturating_sub(self.x))
    }

    /// The column the next text begins at.
    pub fn x(&self) -> u16 {
        self.x
    }

    /// Writes `text`, cut with an ellipsis where the row ends.
    pub fn put(&mut self, text: &str, role: Role) -> &mut Self {
        let room = self.room();
        self.write(text, room, role);
        self
    }

    /// Writes `text` into a column of exactly `width` cells: cut with an ellipsis, or padded.
    pub fn column(&mut self, text: &str, width: usize, role: Role) -> &mut Self {
        let width = width.min(self.room());
        let used = self.write(text, width, role);
        self.skip(width - used)
    }

    /// Writes `text` at the right end of a column of `width` cells.
    pub fn column_right(&mut self, text: &str, width: usize, role: Role) -> &mut Self {
        let width = width.min(self.room());
        let pad = width.saturating_sub(text::width(text));
        self.skip(pad);
        let used = self.write(text, width - pad, role);
        self.skip(width - pad - used)
    }

    /// Writes `text` at the right end of the row and keeps what comes later on this row left of it.
    /// Writes nothing if `text` and a blank before it don't fit.
    pub fn right(&mut self, text: &str, role: Role) -> &mut Self {
        let width = text::width(text);
        if width == 0 || width >= self.room() {
            return self;
        }
        let (x, right) = (self.x, self.right);
        self.x = right - to_cells(width);
        let begin = self.x;
        self.write(text, width, role);
        self.x = x;
        self.right = begin - 1;
        self
    }

    /// Leaves `cells` blank.
    pub fn skip(&mut self, cells: usize) -> &mut Self {
        self.x = self.x.saturating_add(to_cells(cells)).min(self.right);
        self
    }

    /// Goes on at the column that is `cells` right of `x`.
    pub fn to(&mut self, x: u16) -> &mut Self {
        self.x = self.x.max(x).min(self.right);
        self
    }

    /// Draws a horizontal line to the end of the row.
    pub fn rule(&mut self) -> &mut Self {
        let style = self.theme.style(Role::Rule);
        while self.x < self.right {
            self.buffer[(self.x, self.y)].set_symbol(self.glyphs.horizontal).set_style(style);
            self.x += 1;
        }
        self
    }

    /// Writes within `max` cells and returns how many were taken.
    fn write(&mut self, text: &str, max: usize, role: Role) -> usize {
        let whole = text::head(text, max);
        let style = self.theme.style(role);
        if whole.all == All::Yes {
            self.symbols(whole.text, style);
            return whole.width;
        }
        if max == 0 {
            return 0;
        }
        let head = text::head(whole.text, max - 1);
        self.symbols(head.text, style);
        // A wide grapheme that did not fit leaves a blank before the ellipsis.
        self.skip(max - 1 - head.width);
        self.symbols(self.glyphs.ellipsis, style);
        max
    }

    fn symbols(&mut self, text: &str, style: ratatui::style::Style) {
        for grapheme in text::graphemes(text) {
            let width = text::grapheme_width(grapheme);
            if width == 0 {
                continue;
            }
            self.buffer[(self.x, self.y)].set_symbol(text::symbol(grapheme)).set_style(style);
            for covered in 1..to_cells(width) {
                let cell = &mut self.buffer[(self.x + covered, self.y)];
                cell.reset();
                cell.set_style(style);
            }
            self.x += to_cells(width);
        }
    }
}

fn to_cells(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::ui::glyphs;

    const NAMES: [&str; 12] = [
        "日本語ジョブ",
        "👩\u{200d}👩\u{200d}👧\u{200d}👦",
        "🇩🇪",
        "❤\u{fe0f}",
        "①②③",
        "ｶﾞｷﾞ",
        "\u{1100}\u{1161}",
        "e\u{301}",
        "x\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
        "\u{ff9e}",
        "שלום עולם",
        "a\u{1b}[2Jb\u{9b}2J\u{7}",
    ];

    fn drawn(width: u16, draw: impl FnOnce(&mut Pen<'_>)) -> Buffer {
        let area = Rect::new(0, 0, width, 1);
        let mut buffer = Buffer::empty(area);
        let mut canvas = Canvas { buffer: &mut buffer, theme: &Theme::plain(), glyphs: &glyphs::UNICODE };
        draw(&mut canvas.row(area, 0));
        buffer
    }

    fn shown(buffer: &Buffer) -> String {
        buffer.content().iter().map(|cell| cell.symbol()).collect()
    }

    #[test]
    fn whatever_a_column_holds_the_border_behind_it_stands_still() {
        for name in NAMES {
            for width in 0..=10 {
                let row = drawn(20, |pen| {
                    pen.put("│", Role::Rule).column(name, width, Role::Text).put("│", Role::Rule);
                });
                assert_eq!(row[(to_cells(width) + 1, 0)].symbol(), "│", "{name:?} at {width}");
                let right = drawn(20, |pen| {
                    pen.put("│", Role::Rule).column_right(name, width, Role::Text).put("│", Role::Rule);
                });
                assert_eq!(right[(to_cells(width) + 1, 0)].symbol(), "│", "{name:?} right at {width}");
            }
        }
    }

    #[test]
    fn no_cell_holds_a_control_character() {
        for name in NAMES {
            assert!(
                !shown(&drawn(20, |pen| {
                    pen.put(name, Role::Text);
                }))
                .contains(char::is_control)
            );
        }
    }

    #[test]
    fn a_cut_text_ends_in_an_ellipsis_and_a_lost_half_is_blank() {
        assert_eq!(
            shown(&drawn(6, |pen| {
                pen.column("release", 4, Role::Text);
            })),
            "rel…  "
        );
        assert_eq!(
            shown(&drawn(5, |pen| {
                pen.column("日本語", 4, Role::Text);
            })),
            "日  … "
        );
    }

    #[test]
    fn the_right_end_is_kept_free_for_what_was_put_there() {
        let row = drawn(12, |pen| {
            pen.right("14:02", Role::Text).put("a long name", Role::Text);
        });
        assert_eq!(shown(&row), "a lon… 14:02");
        let narrow = drawn(5, |pen| {
            pen.right("14:02", Role::Text).put("name", Role::Text);
        });
        assert_eq!(shown(&narrow), "name ");
    }

    #[test]
    fn nothing_is_written_outside_the_area() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 2));
        let mut canvas = Canvas { buffer: &mut buffer, theme: &Theme::plain(), glyphs: &glyphs::UNICODE };
        canvas.row(Rect::new(1, 0, 2, 1), 0).put("abcdef", Role::Text);
        canvas.row(Rect::new(1, 0, 2, 1), 1).put("abcdef", Role::Text);
        canvas.row(Rect::new(9, 9, 2, 1), 0).put("abcdef", Role::Text).rule();
        assert_eq!(shown(&buffer), " a…     ");
    }
}
