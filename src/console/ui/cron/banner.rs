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
use crate::console::ui::paint::Paint;
use crate::console::ui::text;
use crate::console::ui::theme::Role;

/// The chain of the view's keys, whatever has the focus.
const CHAIN: &[Context] = &[Context::Cron, Context::Global, Context::Always];
const INDENT: u16 = 3;

/// How many rows the banner takes in a screen of this width.
pub(in crate::console::ui) fn rows(model: &Model, width: u16) -> usize {
    let Some(trouble) = trouble(model) else { return 0 };
    if model.view != View::Cron {
        return 1;
    }
    let width = usize::from(width.saturating_sub(INDENT + 1)).max(1);
    let mark = usize::from(mark(&trouble).is_some());
    let hint = usize::from(trouble.what.hint.is_some() && mark == 0);
    headline_rows(&trouble, width)
        + trouble.what.excerpt.len()
        + mark
        + hint
        + card::rows(&trouble.meanwhile(model), width)
        + 1
}

fn headline_rows(trouble: &Trouble<'_>, width: usize) -> usize {
    card::rows(&trouble.headline(), width)
}

pub(in crate::console::ui) fn draw(paint: &mut Paint<'_>, area: Rect) {
    let model = paint.model;
    let Some(trouble) = trouble(model) else { return };
    let since = format!("since {}", clock(model, trouble.since));
    let mark = paint.canvas.glyphs.needs_you;
    paint.row(area, 0).skip(1).put(mark, Role::NeedsYou);
    let (_, inner) = from_left(area, INDENT);
    if model.view != View::Cron {
        paint.row(inner, 0).right(&since, Role::Quiet).put(&trouble.headline(), Role::NeedsYou);
        return;
    }
    let rest = card::write(paint, inner, &trouble.headline(), Role::NeedsYou);
    paint.row(area, 0).right(&format!("{since} "), Role::Quiet);
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
    let digits = trouble.what.excerpt.iter().map(|(number, _)| number.to_string().len()).max().unwrap_or(0);
    let hint = trouble.what.hint.as_deref().unwrap_or_default();
    for (at, (number, line)) in trouble.what.excerpt.iter().enumerate() {
        let mut pen = paint.row(rest, 0);
        pen.skip(2).column_right(&number.to_string(), digits, Role::Quiet).put(" | ", Role::Quiet);
        pen.put(line, Role::Text);
        rest = from_top(rest, 1).1;
        if let Some((_, before)) = place.filter(|(line, _)| *line == at) {
            let mut pen = paint.row(rest, 0);
            pen.skip(2 + digits)
                .put(" | ", Role::Quiet)
                .skip(before)
                .put("^ ", Role::Bad)
                .put(hint, Role::Text);
            rest = from_top(rest, 1).1;
        }
    }
    if place.is_none() && !hint.is_empty() {
        paint.row(rest, 0).put(hint, Role::Text);
        rest = from_top(rest, 1).1;
    }
    rest
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
