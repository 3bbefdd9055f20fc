//! What is wrong with `jobs.json`: in full over the jobs, its first line in every other view.

use ratatui::layout::Rect;

use crate::console::app::Model;
use crate::console::app::action::Action;
use crate::console::app::cron::file::{Trouble, trouble};
use crate::console::app::focus::View;
use crate::console::app::keymap::Context;
use crate::console::app::words::clock;
use crate::console::ui::card;
use crate::console::ui::layout::{from_left, from_top};
use crate::console::ui::paint::{Paint, to_cells};
use crate::console::ui::text;
use crate::console::ui::theme::Role;

/// The chain of the view's keys, whatever has the focus.
const CHAIN: &[Context] = &[Context::Cron, Context::Global, Context::Always];
const INDENT: u16 = 3;
/// So many cells stay behind a mark.
const MARK_MARGIN: usize = 12;

/// How many rows the banner takes in a screen of this width.
pub(in crate::console::ui) fn rows(model: &Model, width: u16) -> usize {
    let Some(trouble) = trouble(model) else { return 0 };
    if model.view != View::Cron {
        return 1;
    }
    let beside = headline_width(model, &trouble, width.saturating_sub(INDENT));
    let width = usize::from(width.saturating_sub(INDENT)).max(1);
    let mark = usize::from(mark(&trouble).is_some());
    let hint = usize::from(trouble.what.hint.is_some() && mark == 0);
    card::rows(&trouble.headline(), usize::from(beside))
        + trouble.what.excerpt.len()
        + mark
        + hint
        + card::rows(&trouble.meanwhile(model), width)
        + 1
}

fn since(model: &Model, trouble: &Trouble<'_>) -> String {
    format!("since {} ", clock(model, trouble.since))
}

/// The cells that the headline has beside the time, in an area of this width.
fn headline_width(model: &Model, trouble: &Trouble<'_>, width: u16) -> u16 {
    width.saturating_sub(to_cells(text::width(&since(model, trouble)) + 1)).max(1)
}

pub(in crate::console::ui) fn draw(paint: &mut Paint<'_>, area: Rect) {
    let model = paint.model;
    let Some(trouble) = trouble(model) else { return };
    let since = since(model, &trouble);
    let mark = paint.canvas.glyphs.needs_you;
    paint.row(area, 0).skip(1).put(mark, Role::NeedsYou);
    let (_, inner) = from_left(area, INDENT);
    if model.view != View::Cron {
        paint.row(inner, 0).right(&since, Role::Quiet).put(&trouble.line(model), Role::NeedsYou);
        return;
    }
    let (headline, _) = from_left(inner, headline_width(model, &trouble, inner.width));
    let left = card::write(paint, headline, &trouble.headline(), Role::NeedsYou);
    paint.row(area, 0).right(&since, Role::Quiet);
    let rest = Rect { y: left.y, height: left.height, ..inner };
    let rest = draw_excerpt(paint, rest, &trouble);
    let rest = card::write(paint, rest, &trouble.meanwhile(model), Role::Text);
    draw_keys(paint, rest, &trouble);
}

/// Where under the excerpt the mark stands: below which line, and how far into it.
fn mark(trouble: &Trouble<'_>) -> Option<(usize, usize)> {
    let (line, column) = trouble.what.place?;
    let at = trouble.what.excerpt.iter().position(|(number, _)| *number == line)?;
    let before: String = trouble.what.excerpt[at].1.chars().take(column.saturating_sub(1)).collect();
    Some((at, text::width(&before)))
}

fn draw_excerpt(paint: &mut Paint<'_>, area: Rect, trouble: &Trouble<'_>) -> Rect {
    let mut rest = area;
    let place = mark(trouble);
    let excerpt = &trouble.what.excerpt;
    let digits = excerpt.iter().map(|(number, _)| number.to_string().len()).max().unwrap_or(0);
    let hint = trouble.what.hint.as_deref().unwrap_or_default();
    // Long lines are shown from where the mark can be seen.
    let room = usize::from(area.width).saturating_sub(digits + 7).max(1);
    let before = place.map_or(0, |(_, before)| before);
    let hidden = if before + MARK_MARGIN > room { before - before.min(room / 2) } else { 0 };
    for (at, (number, line)) in excerpt.iter().enumerate() {
        let mut pen = paint.row(rest, 0);
        pen.skip(2).column_right(&number.to_string(), digits, Role::Quiet).put(" | ", Role::Quiet);
        pen.put(text::skip(line, hidden).0, Role::Text);
        rest = from_top(rest, 1).1;
        if place.is_some_and(|(line, _)| line == at) {
            paint.row(rest, 0).skip(2 + digits).put(" | ", Role::Quiet);
            draw_mark(paint, from_left(rest, INDENT + 2 + to_cells(digits)).1, before - hidden, hint);
            rest = from_top(rest, 1).1;
        }
    }
    if place.is_none() && !hint.is_empty() {
        paint.row(rest, 0).put(hint, Role::Text);
        rest = from_top(rest, 1).1;
    }
    rest
}

/// The mark under a column, with the hint on the side that has room for it.
fn draw_mark(paint: &mut Paint<'_>, area: Rect, before: usize, hint: &str) {
    let width = text::width(hint);
    let mut pen = paint.row(area, 0);
    if before + 2 + width > pen.room() && before > width {
        pen.skip(before - width - 1).put(hint, Role::Text).put(" ", Role::Text).put("^", Role::Bad);
    } else {
        pen.skip(before).put("^", Role::Bad).put(" ", Role::Text).put(hint, Role::Text);
    }
}

fn draw_keys(paint: &mut Paint<'_>, area: Rect, trouble: &Trouble<'_>) {
    let open = match trouble.what.place {
        Some((line, _)) => format!("open at line {line}"),
        None => "open".to_owned(),
    };
    let keys = [
        (Action::EditFile, open),
        (Action::Why, "file against stored copy".to_owned()),
        (Action::TakeCopy, "take stored copy (asks)".to_owned()),
    ];
    let named: Vec<(String, String)> =
        keys.into_iter().map(|(action, words)| (paint.key_in(CHAIN, action), words)).collect();
    let mut pen = paint.row(area, 0);
    for (key, words) in &named {
        pen.put(key, Role::Key).put(" ", Role::Text).put(words, Role::Text).skip(3);
    }
}
