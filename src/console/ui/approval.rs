//! The card of what an agent asks: what it would do, whole, and where.

use std::ops::Range;

use chrono::TimeDelta;
use ratatui::layout::Rect;

use super::card::{self, Button};
use super::cards;
use super::layout::{from_bottom, from_top};
use super::paint::{Paint, to_cells};
use super::text;
use super::theme::Role;
use crate::console::app::action::Action;
use crate::console::app::approvals::{Asked, NO_ROOM, Seen};
use crate::console::app::keymap::Context;
use crate::console::app::overlay::Card;
use crate::console::app::words::{age, clock, count};
use crate::console::app::{WITH_ALWAYS, WITHOUT_ALWAYS, card_title};

const WIDTH: usize = 92;
const LABEL: usize = 10;
/// So many rows of what it would do are shown at once, or all of them, before anything else scrolls with them.
const LEAST_COMMAND_ROWS: usize = 3;
/// The most rows that are counted of a part.
const MOST_ROWS: usize = 9_999;

/// A row of a part of the question.
struct Line {
    /// What the part is called, beside its first row.
    label: &'static str,
    words: String,
    role: Role,
    /// What stands at the right end of the row.
    beside: String,
}

/// What is shown of a question in so much room, and how. Nothing of it is cut: what has no room scrolls.
struct Shown {
    width: usize,
    /// Above what scrolls.
    head: Vec<Line>,
    /// What scrolls, if it has more rows than there is room for. It begins with what the agent would do.
    body: Vec<Line>,
    /// How many of its rows are that.
    does: usize,
    /// Below what scrolls.
    tail: Vec<Line>,
    /// How many of the body's rows are shown.
    room: usize,
    /// Whether all that `always` would allow is shown.
    prefix: bool,
    buttons: Vec<Button>,
    lead: String,
    button_rows: usize,
}

impl Shown {
    /// Only what the agent would do scrolls, with all that `always` would allow below it. Where that has no room
    /// it is not offered; where even so little is left, everything scrolls.
    fn of(paint: &Paint<'_>, (width, rows): (usize, usize), card: &Card, asked: &Asked) -> Self {
        let why_not = match &asked.always {
            Ok(prefix) => {
                let words = format!("in this session, all that begins with: {prefix}");
                let shown = Self::pinned(paint, (width, rows), card, asked, &words, WITH_ALWAYS);
                if shown.is_roomy() {
                    return Self { prefix: true, ..shown };
                }
                NO_ROOM
            }
            Err(why) => why,
        };
        let words = format!("not offered, {why_not}");
        let shown = Self::pinned(paint, (width, rows), card, asked, &words, WITHOUT_ALWAYS);
        if shown.is_roomy() { shown } else { shown.scrolling(rows) }
    }

    fn pinned(
        paint: &Paint<'_>,
        (width, rows): (usize, usize),
        card: &Card,
        asked: &Asked,
        always: &str,
        actions: &[Action],
    ) -> Self {
        let button = |action: &Action| Button::new(paint.model, *action, card_title(&card.kind, *action));
        let (buttons, lead) = (actions.iter().map(button).collect::<Vec<_>>(), cards::lead(paint, card));
        let body = part("does", &asked.what, width, Role::Strong);
        let mut shown = Self {
            width,
            head: head(paint, width, asked),
            does: body.len(),
            body,
            tail: part("always", always, width, Role::Quiet),
            room: 0,
            prefix: false,
            button_rows: card::button_rows(&buttons, width.saturating_sub(text::width(&lead))),
            buttons,
            lead,
        };
        shown.fit(rows);
        shown
    }

    fn scrolling(mut self, rows: usize) -> Self {
        self.body.append(&mut self.head);
        self.body.append(&mut self.tail);
        self.fit(rows);
        self
    }

    fn fit(&mut self, rows: usize) {
        self.room = self.body.len().min(rows.saturating_sub(self.rows_around()));
    }

    fn is_roomy(&self) -> bool {
        self.room >= self.does.min(LEAST_COMMAND_ROWS)
    }

    /// The rows inside the frame beside the body: one says how much of it is shown.
    fn rows_around(&self) -> usize {
        self.head.len() + self.tail.len() + 1 + self.button_rows
    }

    /// The rows inside the frame.
    fn rows(&self) -> usize {
        self.room + self.rows_around()
    }
}

/// Tool and folder, and when the question denies itself.
fn head(paint: &Paint<'_>, width: usize, asked: &Asked) -> Vec<Line> {
    let left = asked.denies_at - paint.model.as_of();
    let left = if left < TimeDelta::minutes(1) { "less than a minute".to_owned() } else { age(left) };
    let by_itself = format!("by itself at {} (in {left})", clock(paint.model, asked.denies_at));
    let denied = format!("denied {by_itself}");
    let mut lines = part("tool", &asked.tool, width, Role::Strong);
    match lines.as_mut_slice() {
        [tool] if LABEL + text::width(&tool.words) + 2 + text::width(&denied) <= width => {
            tool.beside = denied
        }
        _ => lines.extend(part("denied", &by_itself, width, Role::Warning)),
    }
    lines.extend(part("folder", &asked.folder, width, Role::Text));
    lines
}

/// The rows of a part, wrapped behind its label.
fn part(label: &'static str, words: &str, width: usize, role: Role) -> Vec<Line> {
    let rows = text::wrap(words, 0, width.saturating_sub(LABEL).max(1), MOST_ROWS).0;
    let line = |(at, row): (usize, Range<usize>)| Line {
        label: if at == 0 { label } else { "" },
        words: words[row].to_owned(),
        role,
        beside: String::new(),
    };
    rows.into_iter().enumerate().map(line).collect()
}

/// Where a card stands.
pub(super) struct Place {
    pub card: Rect,
    /// What is left above it.
    pub above: Rect,
    pub fits: Fits,
}

/// Whether everything of a question is shown at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fits {
    Whole,
    InParts,
}

/// The bottom of `screen`, as much of it as the card takes.
pub(super) fn place(paint: &Paint<'_>, screen: Rect, card: &Card, asked: &Asked) -> Place {
    let shown = Shown::of(paint, room(screen), card, asked);
    let (above, card) = from_bottom(screen, to_cells(shown.rows() + 2));
    let whole = shown.room == shown.body.len() && shown.prefix == asked.always.is_ok();
    Place { card, above, fits: if whole { Fits::Whole } else { Fits::InParts } }
}

/// Draws the card where it was placed.
pub(super) fn draw(paint: &mut Paint<'_>, place: Rect, card: &Card, asked: &Asked) {
    let shown = Shown::of(paint, room(place), card, asked);
    let first = if asked.waiting > 1 { format!(" 1 of {},", asked.waiting) } else { String::new() };
    let title = format!("Allow question {}?{first} {}", asked.approval, asked.session);
    let inner = card::open(paint, place, shown.width, shown.rows(), &title);
    let (inner, below) = from_bottom(inner, to_cells(shown.button_rows));
    let (head, inner) = from_top(inner, to_cells(shown.head.len()));
    draw_lines(paint, head, shown.head.iter());
    let (body, inner) = from_top(inner, to_cells(shown.room));
    let first = asked.top.min(shown.body.len() - shown.room);
    draw_lines(paint, body, shown.body.iter().skip(first).take(shown.room));
    draw_extent(paint, inner, asked, first, &shown);
    draw_lines(paint, from_top(inner, 1).1, shown.tail.iter());
    cards::draw_buttons(paint, below, card, &shown.buttons, &shown.lead);
    measure(paint, asked, first, &shown);
}

/// What is seen can be answered.
fn measure(paint: &mut Paint<'_>, asked: &Asked, first: usize, shown: &Shown) {
    if paint.model.overlays.is_empty() {
        paint.measured.overlay_rows = shown.room;
        paint.measured.overlay_lines = shown.body.len();
    }
    if shown.room > 0 && first < shown.does {
        paint.measured.question = Some(Seen { approval: asked.approval, prefix: shown.prefix });
    }
}

/// The text's width and the rows inside the frame of a card that may take all of `screen`.
fn room(screen: Rect) -> (usize, usize) {
    (card::text_width(screen, WIDTH), usize::from(screen.height).saturating_sub(2))
}

fn draw_lines<'a>(paint: &mut Paint<'_>, area: Rect, lines: impl Iterator<Item = &'a Line>) {
    for (y, line) in lines.enumerate().take(usize::from(area.height)) {
        let mut pen = paint.row(area, to_cells(y));
        pen.right(&line.beside, Role::Warning);
        pen.column(line.label, LABEL, Role::Quiet).put(&line.words, line.role);
    }
}

/// Whether all of it is seen, and how the rest is reached.
fn draw_extent(paint: &mut Paint<'_>, area: Rect, asked: &Asked, first: usize, shown: &Shown) {
    let (room, all) = (shown.room, shown.body.len());
    let (long, short, role) = match room < all {
        false => {
            let characters = count(asked.characters, "character");
            (format!("all of it is shown ({characters})"), "all of it is shown".to_owned(), Role::Quiet)
        }
        true => {
            let more = if first + room < all { Action::CardDown } else { Action::CardUp };
            let key = paint.model.keymap.keys_of(&[Context::Card], more).unwrap_or_default();
            let rows = format!("{} to {} of {all}", first + 1, first + room);
            let long = format!("NOT ALL of it is shown: rows {rows}, {key} shows more");
            (long, format!("NOT ALL: {rows}, {key}: more"), Role::Warning)
        }
    };
    match LABEL + text::width(&long) <= shown.width {
        true => paint.row(area, 0).skip(LABEL).put(&long, role),
        false => paint.row(area, 0).put(&short, role),
    };
}
