//! The fields: label, value, and under it what is wrong with it.

use ratatui::layout::Rect;

use crate::console::app::focus::Target;
use crate::console::app::job_editor::{Field, Fold, JobEditor, Kind, Value};
use crate::console::app::text::TextField;
use crate::console::app::words::count;
use crate::console::ui::layout::{from_left, from_top};
use crate::console::ui::paint::{Focused, Paint, to_cells};
use crate::console::ui::theme::Role;
use crate::console::ui::{card, composer, filter, text};

const LABEL: u16 = 14;
/// The rows of a text of several lines that has the focus.
const LINES: u16 = 4;
/// What is wrong with a field takes at most so many rows.
const MOST_WORDS: usize = 3;

/// Where what is wrong with the schedule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScheduleFault {
    /// Under it, as with any field.
    Under,
    /// Beside it, where its meaning would stand.
    Beside,
}

pub(super) fn draw(paint: &mut Paint<'_>, area: Rect, editor: &JobEditor, fault: ScheduleFault) {
    let fields = editor.fields();
    let width = area.width.saturating_sub(LABEL + 1);
    let heights: Vec<u16> = fields.iter().map(|field| height(editor, *field, width, fault)).collect();
    let focused = fields.iter().position(|field| *field == editor.field).unwrap_or(0);
    let first = first(&heights, focused, area.height);
    let mut rest = area;
    for (field, height) in fields.iter().zip(&heights).skip(first) {
        if rest.height == 0 {
            break;
        }
        let (row, below) = from_top(rest, *height);
        draw_field(paint, row, editor, *field, fault);
        rest = below;
    }
}

/// The first field that is shown, so that the one with the focus is seen whole.
fn first(heights: &[u16], focused: usize, room: u16) -> usize {
    let until = |from: usize| heights[from..=focused].iter().map(|height| u32::from(*height)).sum::<u32>();
    (0..focused).find(|from| until(*from) <= u32::from(room)).unwrap_or(focused)
}

fn height(editor: &JobEditor, field: Field, width: u16, fault: ScheduleFault) -> u16 {
    let value = match field.kind() {
        Kind::Lines if field == editor.field => LINES,
        _ => 1,
    };
    let words = notes(editor, field, fault).iter().map(|(words, _)| note_rows(words, width)).sum::<usize>();
    value + to_cells(words)
}

fn note_rows(words: &str, width: u16) -> usize {
    card::rows(words, usize::from(width.saturating_sub(2)).max(1)).min(MOST_WORDS)
}

/// What is wrong with a field, and what to know about it; where the rarer ones are folded, all that is to be known
/// of them stands at their fold.
fn notes(editor: &JobEditor, field: Field, fault: ScheduleFault) -> Vec<(String, Role)> {
    if field == Field::Schedule && fault == ScheduleFault::Beside {
        return Vec::new();
    }
    let faults = editor.faults.iter().map(|(of, words)| (of, words.as_str(), Role::Bad));
    let advice = editor.advice.iter().map(|(of, words)| (of, words.as_str(), Role::Warning));
    let folded = field == Field::More && editor.more == Fold::Folded;
    let notes = faults.chain(advice).filter_map(|(of, words, role)| match of {
        of if *of == field => Some((words.to_owned(), role)),
        of if folded && of.is_rare() => Some((format!("{}: {words}", of.label()), role)),
        _ => None,
    });
    notes.collect()
}

fn draw_field(paint: &mut Paint<'_>, area: Rect, editor: &JobEditor, field: Field, fault: ScheduleFault) {
    let focused = field == editor.field;
    paint.target(area, Target::Field(field));
    let (label, value) = from_left(area, LABEL);
    let role = if focused { Role::Strong } else { Role::Quiet };
    let pointer = if focused { paint.canvas.glyphs.chosen } else { " " };
    paint.row(label, 0).put(pointer, Role::Strong).column(field.label(), usize::from(LABEL) - 2, role);
    let lines = if focused && field.kind() == Kind::Lines { LINES } else { 1 };
    let (value, mut below) = from_top(value, lines);
    draw_value(paint, value, editor, field, if focused { Focused::Yes } else { Focused::No });
    for (words, role) in notes(editor, field, fault) {
        let (mark, rows) = (paint.canvas.glyphs.needs_you, note_rows(&words, below.width));
        paint.row(below, 0).put(mark, role);
        let (note, rest) = from_top(below, to_cells(rows));
        card::write_cut(paint, from_left(note, 2).1, &words, role);
        below = rest;
    }
}

fn draw_value(paint: &mut Paint<'_>, area: Rect, editor: &JobEditor, field: Field, focused: Focused) {
    match (editor.value(field), field.kind()) {
        (Value::Text(text), Kind::Lines) => draw_lines(paint, area, text, field, focused),
        (Value::Text(text), _) => {
            if text.is_empty() {
                paint.row(area, 0).put(field.hint(), Role::Quiet);
            }
            filter::draw_field(paint, area, text, focused);
        }
        (Value::Picked(words), _) => draw_picked(paint, area, &words, field, focused),
        (Value::Chosen(place), Kind::Choice(words)) => draw_choice(paint, area, words, place, focused),
        _ if field == Field::More => {
            let glyphs = paint.canvas.glyphs;
            let mark = if editor.more == Fold::Open { glyphs.open } else { glyphs.folded };
            let words = match (editor.more, editor.rare_words()) {
                (Fold::Open, _) => String::new(),
                (Fold::Folded, words) if words.is_empty() => "repeat, script, model".to_owned(),
                (Fold::Folded, words) => words,
            };
            paint.row(area, 0).put(mark, Role::Text).put(" ", Role::Text).put(&words, Role::Quiet);
            dress(paint, area, focused);
        }
        // A preset has no value of its own.
        _ => draw_picked(paint, area, "", field, focused),
    }
}

fn draw_lines(paint: &mut Paint<'_>, area: Rect, text: &TextField, field: Field, focused: Focused) {
    if text.is_empty() {
        paint.row(area, 0).put(field.hint(), Role::Quiet);
    }
    if focused == Focused::Yes {
        return composer::draw_field(paint, area, text, focused);
    }
    let lines = text.lines();
    let more = if lines.len() > 1 { format!("+{}", count(lines.len() - 1, "line")) } else { String::new() };
    paint.row(area, 0).right(&more, Role::Quiet).put(&lines[0], Role::Input);
}

fn draw_picked(paint: &mut Paint<'_>, area: Rect, words: &str, field: Field, focused: Focused) {
    let open = paint.canvas.glyphs.open;
    let zone = &paint.model.cron.parts.zone;
    let hint = match field {
        Field::Timezone if !zone.is_empty() => format!("as set: {zone}"),
        field => field.hint().to_owned(),
    };
    let mut pen = paint.row(area, 0);
    let room = pen.room().saturating_sub(2);
    match words.is_empty() {
        true => pen.column(&hint, text::width(&hint).min(room), Role::Quiet),
        false => pen.column(words, text::width(words).min(room), Role::Input),
    };
    pen.put(" ", Role::Quiet).put(open, Role::Quiet);
    dress(paint, area, focused);
}

fn draw_choice(paint: &mut Paint<'_>, area: Rect, words: &[&str], place: usize, focused: Focused) {
    let mut pen = paint.row(area, 0);
    for (at, word) in words.iter().enumerate() {
        let (left, right) = if at == place { ("[", "]") } else { (" ", " ") };
        let role = if at == place { Role::Input } else { Role::Quiet };
        pen.put(left, role).put(word, role).put(right, role);
    }
    dress(paint, area, focused);
}

/// A field that is no text has no cursor: it is shown by its dress.
fn dress(paint: &mut Paint<'_>, area: Rect, focused: Focused) {
    if focused == Focused::Yes {
        paint.canvas.dress(from_left(area, area.width.saturating_sub(1)).0, Role::Selected);
    }
}

#[cfg(test)]
mod tests {
    use super::first;

    #[test]
    fn the_field_with_the_focus_is_seen_whole() {
        let heights = [1, 1, 4, 1, 2, 1];
        for room in 4..12_u16 {
            for focused in 0..heights.len() {
                let from = first(&heights, focused, room);
                let used: u16 = heights[from..=focused].iter().sum();
                assert!(from <= focused && used <= room, "{room} {focused}");
            }
        }
        assert_eq!(first(&heights, 5, 100), 0);
        assert_eq!(first(&heights, 2, 0), 2);
    }
}
