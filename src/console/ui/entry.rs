//! One entry of a conversation: its rows, and how they are drawn.

use ratatui::layout::Rect;

use super::canvas::Pen;
use super::layout::from_left;
use super::paint::{Focused, Paint, to_cells};
use super::plan;
use super::text;
use super::theme::Role;
use super::words;
use super::wraps::{Shape, TextId, WrappedRow};
use crate::console::app::Model;
use crate::console::app::conversation::{CallEnd, Fold, Shown, ShownBody};
use crate::console::app::focus::Pane;
use crate::console::app::model::{LongLines, TimeStyle};
use crate::console::app::words::{age, count, running, thousands};
use crate::domain::plan::PlanEntry;
use crate::domain::turn::TurnState;

/// From so many columns each entry has its time.
const TIMES_FROM_WIDTH: u16 = 50;
const WHO: usize = 7;
const RESULT: usize = 22;

/// The columns of a conversation in a pane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    time: usize,
    words: usize,
    long_lines: LongLines,
}

impl Columns {
    pub(super) fn of(model: &Model, width: u16) -> Self {
        let time = match model.times {
            _ if width < TIMES_FROM_WIDTH => 0,
            TimeStyle::Absolute => 6,
            TimeStyle::Relative => 7,
        };
        let words = usize::from(width).saturating_sub(2 + time + WHO).max(1);
        Self { time, words, long_lines: model.long_lines }
    }

    fn shape(self) -> Shape {
        match self.long_lines {
            LongLines::Wrap => Shape::Words(self.words),
            LongLines::Cut => Shape::Lines,
        }
    }
}

/// How many rows entry `index` has.
pub(super) fn rows(paint: &mut Paint<'_>, columns: Columns, index: usize) -> usize {
    let model = paint.model;
    let entry = &model.conversation.entries[index];
    let long = match long_text(entry) {
        Some(text) => paint.wraps.get(id(entry), entry.revision, text, columns.shape()).len(),
        None => planned(entry).len(),
    };
    above_text(model, index) + long
}

/// As [`rows`], without a look at a text that was not wrapped yet, nor at the calendar.
pub(super) fn about_rows(paint: &mut Paint<'_>, columns: Columns, index: usize) -> usize {
    let model = paint.model;
    let entry = &model.conversation.entries[index];
    let long = match long_text(entry) {
        Some(text) => paint.wraps.about_rows(id(entry), entry.revision, text, columns.shape()),
        None => planned(entry).len(),
    };
    usize::from(has_head_row(entry)) + long
}

fn id(entry: &Shown) -> TextId {
    TextId::Entry(entry.key, entry.fold)
}

/// The text of an entry that is wrapped; a folded one is a single line.
fn long_text(entry: &Shown) -> Option<&str> {
    match (&entry.body, entry.fold) {
        (ShownBody::Tool { opened, .. }, Fold::Open) if !opened.is_empty() => Some(opened),
        (ShownBody::Tool { written, .. }, Fold::Folded) if !written.is_empty() => Some(written),
        (ShownBody::Tool { .. } | ShownBody::Plan(_), _) | (_, Fold::Folded) => None,
        (
            ShownBody::User { text, .. }
            | ShownBody::Agent { text }
            | ShownBody::Reasoning { text }
            | ShownBody::Notice { text }
            | ShownBody::Told { text }
            | ShownBody::System { text, .. }
            | ShownBody::PutAside { text, .. },
            Fold::Open,
        ) => Some(text),
    }
}

/// The entries of an open plan, a row each.
fn planned(entry: &Shown) -> &[PlanEntry] {
    match (&entry.body, entry.fold) {
        (ShownBody::Plan(plan), Fold::Open) => &plan.entries,
        _ => &[],
    }
}

/// The rows before the wrapped text: a day's line, and the one line of what is folded, a tool or a plan, or
/// of what is missing.
fn above_text(model: &Model, index: usize) -> usize {
    usize::from(begins_day(model, index)) + usize::from(has_head_row(&model.conversation.entries[index]))
}

fn has_head_row(entry: &Shown) -> bool {
    entry.fold == Fold::Folded
        || entry.lines_missing > 0
        || matches!(entry.body, ShownBody::Tool { .. } | ShownBody::Plan(_))
}

/// Whether the entry is of another day than the one before it, or, as the first, than today.
fn begins_day(model: &Model, index: usize) -> bool {
    let day = |at: crate::domain::Time| at.with_timezone(&model.zone).date_naive();
    let entries = &model.conversation.entries;
    let before = match index.checked_sub(1) {
        Some(before) => entries[before].at,
        None => model.now,
    };
    day(entries[index].at) != day(before)
}

/// Draws the rows of entry `index` from row `first` into `area`, as many as it has.
pub(super) fn draw(paint: &mut Paint<'_>, area: Rect, columns: Columns, index: usize, first: usize) {
    let model = paint.model;
    let entry = &model.conversation.entries[index];
    let day = usize::from(begins_day(model, index));
    let head = day + usize::from(has_head_row(entry));
    for y in 0..usize::from(area.height) {
        let row = first + y;
        let line = Rect { y: area.y + to_cells(y), height: 1, ..area };
        if row < day {
            draw_day(paint, line, entry);
            continue;
        }
        if row == day {
            draw_margin(paint, line, columns, entry);
        }
        let words = columns.left(line);
        if row < head {
            let words = Rect { width: words.width.saturating_sub(1), ..words };
            draw_head(paint, words, entry);
        } else if let Some(planned) = planned(entry).get(row - head) {
            let words = from_left(words, 2).1;
            plan::draw_entry(paint, words, planned, entry.turn_state);
        } else {
            draw_text(paint, words, columns, entry, row - head);
        }
    }
    let chosen = model.conversation.cursor == Some(entry.key);
    if chosen && paint.focused(Pane::Conversation) == Focused::Yes && area.height > 0 {
        let margin = Rect { width: to_cells(columns.time + WHO).min(area.width), ..area };
        let skipped = to_cells(day.saturating_sub(first)).min(area.height);
        let margin = Rect { y: margin.y + skipped, height: margin.height - skipped, ..margin };
        paint.keep = Some(Rect { height: 1, ..area });
        paint.canvas.dress(margin, Role::Selected);
    }
}

impl Columns {
    /// Where the words stand on a line.
    fn left(self, line: Rect) -> Rect {
        let margin = to_cells(1 + self.time + WHO).min(line.width);
        Rect { x: line.x + margin, width: line.width - margin, ..line }
    }
}

fn draw_day(paint: &mut Paint<'_>, line: Rect, entry: &Shown) {
    let day = words::day(entry.at, paint.model.zone);
    let rule = paint.canvas.glyphs.horizontal;
    let mut pen = paint.row(line, 0);
    pen.skip(1).put(rule, Role::Rule).put(" ", Role::Rule).put(&day, Role::Quiet);
}

fn draw_margin(paint: &mut Paint<'_>, line: Rect, columns: Columns, entry: &Shown) {
    let model = paint.model;
    let time = match model.times {
        TimeStyle::Absolute => words::minute(entry.at, model.zone),
        TimeStyle::Relative => age(model.as_of() - entry.at),
    };
    let (who, role) = who(entry);
    let mut pen = paint.row(line, 0);
    pen.skip(1).column(&time, columns.time, Role::Quiet).column(who, WHO, role);
}

fn who(entry: &Shown) -> (&'static str, Role) {
    match &entry.body {
        ShownBody::User { steered: true, .. } => ("steer", Role::You),
        ShownBody::User { .. } => ("you", Role::You),
        ShownBody::PutAside { .. } => ("you", Role::Quiet),
        ShownBody::Agent { .. } => ("agent", Role::Agent),
        ShownBody::Reasoning { .. } => ("think", Role::Quiet),
        ShownBody::Plan(_) => ("plan", Role::Tool),
        ShownBody::Tool { .. } => ("tool", Role::Tool),
        ShownBody::Notice { .. } | ShownBody::Told { .. } => ("system", Role::Quiet),
        ShownBody::System { failed: true, .. } => ("failed", Role::Bad),
        ShownBody::System { .. } => ("cut", Role::Warning),
    }
}

/// The one line of a tool call or a plan, or of anything that is folded, or of what is missing.
fn draw_head(paint: &mut Paint<'_>, area: Rect, entry: &Shown) {
    if entry.lines_missing > 0 && entry.fold == Fold::Open {
        return draw_lines_cut(paint, area, entry.lines_missing);
    }
    let glyphs = paint.canvas.glyphs;
    let fold = if entry.fold == Fold::Open { glyphs.open } else { glyphs.folded };
    match &entry.body {
        ShownBody::Tool { name, arguments, .. } => {
            let (result, role) = tool_result(paint, entry);
            let mut pen = paint.row(area, 0);
            pen.put(fold, Role::Quiet).put(" ", Role::Text);
            // Where the row is short, what became of the call is worth more than its arguments.
            if pen.room() < RESULT * 2 {
                pen.put(&result, role).put("  ", Role::Text);
            } else {
                pen.right(&result, role);
            }
            pen.put(name, Role::Tool);
            // Once it is open, all of them stand below.
            if entry.fold == Fold::Folded {
                pen.put("  ", Role::Text).put(arguments, Role::Text);
            }
        }
        ShownBody::Plan(plan) => {
            let words = plan.words(entry.turn_state, &format!(" {} ", glyphs.dot));
            paint.row(area, 0).put(fold, Role::Quiet).put(" ", Role::Text).put(&words, Role::Text);
        }
        ShownBody::Reasoning { text } => {
            let line = text.lines().next().unwrap_or_default();
            let more = text.lines().count().saturating_sub(1);
            let mut pen = paint.row(area, 0);
            if more > 0 {
                pen.right(&count(more, "more line"), Role::Quiet);
            }
            pen.put(fold, Role::Quiet).put(" ", Role::Text).put(line, Role::Reasoning);
        }
        ShownBody::Told { text } => {
            let line = text.lines().next().unwrap_or_default();
            let mut pen = paint.row(area, 0);
            pen.put(fold, Role::Quiet).put(" told the agent: ", Role::Quiet).put(line, Role::Quiet);
        }
        ShownBody::User { text, .. }
        | ShownBody::Agent { text }
        | ShownBody::Notice { text }
        | ShownBody::System { text, .. } => {
            let line = text.lines().next().unwrap_or_default();
            let mut pen = paint.row(area, 0);
            pen.put(fold, Role::Quiet).put(" ", Role::Text).put(line, Role::Text);
        }
        ShownBody::PutAside { text, note } => {
            let line = text.lines().next().unwrap_or_default();
            let mut pen = paint.row(area, 0);
            pen.right(note, Role::Quiet).put(line, Role::Replaced);
        }
    }
}

fn tool_result(paint: &mut Paint<'_>, entry: &Shown) -> (String, Role) {
    let glyphs = paint.canvas.glyphs;
    let ShownBody::Tool { result, .. } = &entry.body else { return (String::new(), Role::Text) };
    match result {
        Some(done) => {
            let word = done.how.word();
            let (mark, role) = match done.how {
                CallEnd::Ok => (glyphs.done, Role::Good),
                CallEnd::Failed => (glyphs.failed, Role::Bad),
                // How long it was asked about, or until it was found, is not how long it took.
                CallEnd::Denied | CallEnd::Cut => {
                    return (format!("{} {word}", glyphs.failed), Role::Warning);
                }
            };
            (format!("{mark} {word} {} {}", glyphs.dot, words::took(entry.at, done.at)), role)
        }
        None if entry.turn_state == TurnState::Running && stands_still(paint.model) => {
            (format!("{} asks you", glyphs.needs_you), Role::NeedsYou)
        }
        None if entry.turn_state == TurnState::Running => {
            let spinner = paint.motion.spinner(glyphs);
            (format!("{spinner} runs {}", running(paint.model.as_of() - entry.at)), Role::Runs)
        }
        None => (format!("{} {}", glyphs.failed, CallEnd::Cut.word()), Role::Warning),
    }
}

fn draw_text(paint: &mut Paint<'_>, area: Rect, columns: Columns, entry: &Shown, row: usize) {
    let Some(text) = long_text(entry) else { return };
    let role = text_role(entry);
    let wrapped = paint.wraps.get(id(entry), entry.revision, text, columns.shape());
    let last = row + 1 == wrapped.len();
    match wrapped.row(row) {
        Some(WrappedRow::Shown(range)) => {
            let shown = text.get(range).unwrap_or_default();
            let glyphs = paint.canvas.glyphs;
            let cursor = last && streams(paint.model, entry);
            let mut pen = paint.row(area, 0);
            // A text keeps one cell at the right for the cursor of its stream.
            pen.put(shown, role);
            if cursor {
                pen.put(glyphs.cursor, Role::Cursor);
            }
            if last {
                draw_note(&mut pen, entry);
            }
            mark_matches(paint, area, shown);
        }
        Some(WrappedRow::LinesCut(lines)) => draw_lines_cut(paint, area, lines),
        None => {}
    }
}

fn draw_lines_cut(paint: &mut Paint<'_>, area: Rect, lines: usize) {
    let words = format!("about {} lines cut", thousands(lines as u64));
    let glyph = paint.canvas.glyphs.ellipsis;
    paint.row(area, 0).put(glyph, Role::Warning).put(" ", Role::Text).put(&words, Role::Warning);
}

fn draw_note(pen: &mut Pen<'_>, entry: &Shown) {
    if let ShownBody::PutAside { note, .. } = &entry.body {
        pen.put("  ", Role::Text).put(note, Role::Quiet);
    }
}

fn text_role(entry: &Shown) -> Role {
    match &entry.body {
        ShownBody::User { .. } | ShownBody::Agent { .. } => Role::Text,
        ShownBody::Reasoning { .. } => Role::Reasoning,
        ShownBody::Tool { .. } | ShownBody::Plan(_) => Role::Quiet,
        ShownBody::Notice { .. } | ShownBody::Told { .. } => Role::Quiet,
        ShownBody::System { failed: true, .. } => Role::Bad,
        ShownBody::System { .. } => Role::Warning,
        ShownBody::PutAside { .. } => Role::Replaced,
    }
}

/// Whether the running turn in front waits for a person.
fn stands_still(model: &Model) -> bool {
    model.front_row.as_ref().is_some_and(|row| row.asks.is_some())
}

/// Whether more of this text comes: it is the last entry of a turn that runs.
fn streams(model: &Model, entry: &Shown) -> bool {
    let open = matches!(entry.body, ShownBody::Agent { .. } | ShownBody::Reasoning { .. });
    open && entry.turn_state == TurnState::Running
        && !stands_still(model)
        && model
            .conversation
            .entries
            .iter()
            .rfind(|last| last.turn.is_some())
            .is_some_and(|last| last.key == entry.key)
}

/// Dresses what was searched for where it stands in a row.
pub(super) fn mark_matches(paint: &mut Paint<'_>, area: Rect, shown: &str) {
    let model = paint.model;
    if model.conversation.search.is_empty() {
        return;
    }
    let wanted = model.conversation.search.text().to_lowercase();
    // Lower case may take other bytes; then positions can't be told and nothing is marked.
    let shown = text::head(shown, usize::from(area.width)).text;
    let lower = shown.to_lowercase();
    if lower.len() != shown.len() || wanted.is_empty() {
        return;
    }
    for (at, found) in lower.match_indices(&wanted) {
        let (Some(before), Some(hit)) = (shown.get(..at), shown.get(at..at + found.len())) else { continue };
        let x = area.x + to_cells(text::width(before));
        let hit = Rect { x, width: to_cells(text::width(hit)), ..area };
        paint.canvas.dress(hit.intersection(area), Role::Match);
    }
}
