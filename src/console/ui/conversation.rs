//! The conversation in front: time, who, words. Laid out from the line it looks at, so that only
//! what is near the pane is ever wrapped.

use ratatui::layout::Rect;

use super::entry::{self, Columns};
use super::layout::{PaneArea, from_bottom};
use super::paint::{Paint, to_cells};
use super::theme::Role;
use super::{first_start, words};
use crate::console::app::conversation::{Conversation, EntryKey, Scroll};
use crate::console::app::focus::{Pane, Target};
use crate::console::app::model::Model;
use crate::console::app::msg::Anchor;
use crate::console::app::words::{clock, count, running, thousands};
use crate::domain::spending::money;

/// From so many columns the title says what was used.
const ALL_FACTS_FROM_WIDTH: u16 = 68;
/// From so many columns it does so in whole words while no turn runs, and from so many it says the cost too.
const WHOLE_WORDS_FROM_WIDTH: u16 = 81;
const COST_FROM_WIDTH: u16 = 100;

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let model = paint.model;
    let conversation = &model.conversation;
    let focused = paint.focused(Pane::Conversation);
    paint.target(area.whole(), Target::Pane(Pane::Conversation));
    let right = facts(paint, area.title.width);
    let title = title(model, paint.canvas.glyphs.dot);
    paint.title(area.title, focused, &title, &right);
    if conversation.entries.is_empty() {
        return draw_empty(paint, area.body);
    }
    let (body, notice) = match conversation.scroll {
        Scroll::Follow => (area.body, None),
        _ if area.body.height > 2 => {
            let (body, notice) = from_bottom(area.body, 1);
            (body, Some(notice))
        }
        _ => (area.body, None),
    };
    let columns = Columns::of(model, body.width);
    let mut rows = Rows { paint, columns, conversation };
    let lines = rows.visible(usize::from(body.height));
    let below = rows.below(&lines);
    paint.measured.conversation_lines = usize::from(body.height);
    paint.measured.conversation_top =
        lines.first().map(|top| Anchor { entry: conversation.entries[top.entry].key, lines: top.row as i64 });
    paint.measured.top_shown = lines.first().is_none_or(|top| (top.entry, top.row) == (0, 0));
    paint.measured.lines_below = below;
    draw_lines(paint, body, columns, &lines);
    if let Some(area) = notice {
        draw_below(paint, area, below);
    }
}

/// One line of the pane: a row of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    entry: usize,
    row: usize,
}

/// The rows of all entries, one after the other; an entry's rows are counted when it is asked for.
struct Rows<'p, 'a> {
    paint: &'p mut Paint<'a>,
    columns: Columns,
    conversation: &'a Conversation,
}

impl Rows<'_, '_> {
    fn len(&mut self, entry: usize) -> usize {
        entry::rows(self.paint, self.columns, entry)
    }

    /// The lines that the pane shows: as many as fit, if there are so many.
    fn visible(&mut self, height: usize) -> Vec<Line> {
        let last = self.conversation.entries.len() - 1;
        match self.conversation.scroll {
            Scroll::Follow => self.up_to_end(height),
            Scroll::At(anchor) => match self.find(anchor.entry) {
                Some(entry) => {
                    let top = self.walk(entry, anchor.lines);
                    self.down_from(top, height)
                }
                None => self.up_to_end(height),
            },
            Scroll::Reveal(anchor) => {
                let entry = self.find(anchor.entry).unwrap_or(last);
                let top = self.walk(entry, anchor.lines);
                let top = self.reveal(top, height);
                self.down_from(top, height)
            }
        }
    }

    fn find(&self, key: EntryKey) -> Option<usize> {
        self.conversation.entries.iter().rposition(|entry| entry.key == key)
    }

    /// The line that is `lines` below the first one of `entry`, or the nearest there is.
    fn walk(&mut self, mut entry: usize, mut lines: i64) -> Line {
        while lines < 0 && entry > 0 {
            entry -= 1;
            lines += self.len(entry) as i64;
        }
        let mut row = lines.max(0) as usize;
        let last = self.conversation.entries.len() - 1;
        while entry < last && row >= self.len(entry) {
            row -= self.len(entry);
            entry += 1;
        }
        Line { entry, row: row.min(self.len(entry) - 1) }
    }

    /// The top that shows the cursor's entry from its first line, nearest to `top`.
    fn reveal(&mut self, top: Line, height: usize) -> Line {
        let Some(cursor) = self.conversation.cursor_index() else { return top };
        if (cursor, 0) <= (top.entry, top.row) {
            return Line { entry: cursor, row: 0 };
        }
        let rows = self.len(cursor).min(height);
        let mut above = height - rows;
        // Going up from the cursor's entry as far as the pane reaches: is the present top in reach?
        let mut highest = Line { entry: cursor, row: 0 };
        while above > 0 && highest.entry > 0 {
            let entry = highest.entry - 1;
            let len = self.len(entry);
            let taken = len.min(above);
            above -= taken;
            highest = Line { entry, row: len - taken };
        }
        if (top.entry, top.row) >= (highest.entry, highest.row) { top } else { highest }
    }

    fn down_from(&mut self, top: Line, height: usize) -> Vec<Line> {
        let mut lines = Vec::with_capacity(height);
        let mut first = top.row;
        for entry in top.entry..self.conversation.entries.len() {
            let rows = first..self.len(entry);
            lines.extend(rows.map(|row| Line { entry, row }).take(height - lines.len()));
            first = 0;
            if lines.len() == height {
                return lines;
            }
        }
        // The end came first: the pane is filled from above.
        self.up_to_end(height)
    }

    fn up_to_end(&mut self, height: usize) -> Vec<Line> {
        let mut lines = Vec::with_capacity(height);
        for entry in (0..self.conversation.entries.len()).rev() {
            let rows = (0..self.len(entry)).rev();
            lines.extend(rows.map(|row| Line { entry, row }).take(height - lines.len()));
            if lines.len() == height {
                break;
            }
        }
        lines.reverse();
        lines
    }

    /// About how many lines there are below the pane.
    fn below(&mut self, lines: &[Line]) -> usize {
        let Some(last) = lines.last().copied() else { return 0 };
        let in_last = self.len(last.entry) - 1 - last.row;
        let entries = last.entry + 1..self.conversation.entries.len();
        in_last + entries.map(|entry| entry::about_rows(self.paint, self.columns, entry)).sum::<usize>()
    }
}

fn draw_lines(paint: &mut Paint<'_>, body: Rect, columns: Columns, lines: &[Line]) {
    let conversation = &paint.model.conversation;
    let mut at = 0;
    while let Some(first) = lines.get(at) {
        let count = lines[at..].iter().take_while(|line| line.entry == first.entry).count();
        let area = Rect { y: body.y + to_cells(at), height: to_cells(count), ..body };
        paint.target(area, Target::Entry(conversation.entries[first.entry].key));
        entry::draw(paint, area, columns, first.entry, first.row);
        at += count;
    }
}

fn draw_below(paint: &mut Paint<'_>, area: Rect, below: usize) {
    let model = paint.model;
    let follow = match paint.focused(Pane::Composer) {
        super::paint::Focused::Yes => "ctrl-end follows",
        super::paint::Focused::No => "G follows",
    };
    let words = match (below, model.conversation.more_after) {
        (0, false) => format!("paused at the end, {follow}"),
        (below, false) => format!("{} newer {}, {follow}", thousands(below as u64), plural(below, "line")),
        (below, true) => format!("more than {} newer, {follow}", count(below, "line")),
    };
    let glyph = paint.canvas.glyphs.horizontal;
    let mut pen = paint.row(area, 0);
    pen.put(glyph, Role::Rule).put(glyph, Role::Rule).put(" ", Role::Rule);
    pen.put(&words, Role::Warning).put(" ", Role::Rule).rule();
}

fn plural(n: usize, one: &str) -> String {
    if n == 1 { one.to_owned() } else { format!("{one}s") }
}

fn draw_empty(paint: &mut Paint<'_>, area: Rect) {
    let model = paint.model;
    let conversation = &model.conversation;
    if let Some(why) = &conversation.failed {
        let words = format!("This conversation could not be read: {why}.");
        paint.say(area, &[(&words, Role::Bad), ("r reads it again.", Role::Text)]);
    } else if first_start::is_it(model) {
        first_start::draw(paint, area);
    } else if conversation.session.is_some() && !conversation.loaded {
        paint.say(area, &[("reading the conversation", Role::Quiet)]);
    } else {
        paint.say(area, &[("Nothing was said here yet.", Role::Quiet)]);
    }
}

fn title(model: &Model, dot: &str) -> String {
    match &model.front_row {
        Some(row) => format!("{} {dot} {}", row.name, row.place),
        None => crate::domain::sanitize::one_line(model.front.parts().chat_id).into_owned(),
    }
}

/// What stands beside the name: what runs, how long, how much was used.
fn facts(paint: &mut Paint<'_>, width: u16) -> String {
    let model = paint.model;
    let Some(row) = &model.front_row else { return String::new() };
    let mut facts = Vec::new();
    if let Some(asked) = row.row.asks.first() {
        facts.push(format!("turn stands still since {}", clock(model, asked.asked_at)));
    } else if let Some(turn) = &row.row.turn {
        let mark = paint.motion.spinner(paint.canvas.glyphs);
        let word = if turn.stopping { "stops" } else { "runs" };
        facts.push(format!("{mark} {word} {}", running(model.as_of() - turn.since)));
    }
    if width < ALL_FACTS_FROM_WIDTH {
        return facts.concat();
    }
    let session = &row.row.session;
    facts.push(count(session.turns as usize, "turn"));
    match session.context {
        Some(context) if width >= WHOLE_WORDS_FROM_WIDTH && facts.len() == 1 => {
            facts.push(words::whole_context(context))
        }
        Some(context) => facts.push(words::context(context)),
        None if session.usage.total() > 0 => facts.push(words::tokens(session.usage.total())),
        None => {}
    }
    if width >= COST_FROM_WIDTH && session.usage.cost > 0 {
        facts.push(format!("cost {}", money(session.usage.cost)));
    }
    facts.join(&format!(" {} ", paint.canvas.glyphs.dot))
}
