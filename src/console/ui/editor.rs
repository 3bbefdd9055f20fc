//! Texts that are written in a box: a queue item's, and the name of a new session.

use ratatui::layout::Rect;

use super::card;
use super::composer;
use super::filter;
use super::layout::{from_bottom, from_top};
use super::paint::{Focused, Paint};
use super::theme::Role;
use crate::console::app::overlay::{DenyWhy, ItemEditor, Prompt, Stands};
use crate::console::app::text::TextField;

const WIDTH: usize = 76;
const ROWS: usize = 8;

/// The text of a queue item.
pub(super) fn draw_item(paint: &mut Paint<'_>, screen: Rect, editor: &ItemEditor) {
    let width = card::text_width(screen, WIDTH);
    let title =
        format!("Item of {}{}", editor.session_name, if editor.is_changed() { ", changed" } else { "" });
    let inner = card::open(paint, screen, width, ROWS + 1, &title);
    let (body, below) = from_bottom(inner, 1);
    composer::draw_field(paint, body, &editor.text, Focused::Yes);
    draw_failure(paint, below, editor.failed.as_deref());
}

const NAME_RULE: &str = "One word: no spaces, no / \\ : , and no .. in it. A whole session key is taken too: \
                         agent:main:<platform>:<chat_type>:<chat_id>.";

/// The name of a new session.
pub(super) fn draw_prompt(paint: &mut Paint<'_>, screen: Rect, prompt: &Prompt) {
    let width = card::text_width(screen, WIDTH);
    let words = prompt.failed.as_deref().unwrap_or(NAME_RULE);
    let rows = card::rows(words, width);
    let inner = card::open(paint, screen, width, rows + 1, "New session: its name");
    let below = draw_line(paint, inner, &prompt.text);
    card::write(paint, below, words, if prompt.failed.is_some() { Role::Bad } else { Role::Quiet });
}

/// Why an agent may not do what it asks.
pub(super) fn draw_deny(paint: &mut Paint<'_>, screen: Rect, deny: &DenyWhy) {
    let width = card::text_width(screen, WIDTH);
    let (words, role) = match deny.stands {
        Stands::Open => (
            "The agent is told this, and goes on without it. Empty: it is told only that you denied it.",
            Role::Quiet,
        ),
        Stands::Settled => (
            "The question was settled meanwhile: the agent is told nothing of this. Enter puts it into the draft, \
             or into its history.",
            Role::Warning,
        ),
    };
    let title = format!("Deny it: why? {}", deny.session);
    let inner = card::open(paint, screen, width, card::rows(words, width) + 1, &title);
    let below = draw_line(paint, inner, &deny.text);
    card::write(paint, below, words, role);
}

/// A text field behind a prompt; returns what is below it.
fn draw_line(paint: &mut Paint<'_>, area: Rect, text: &TextField) -> Rect {
    let (field, below) = from_top(area, 1);
    let mark = paint.canvas.glyphs.prompt;
    paint.row(field, 0).put(mark, Role::Strong);
    let field = Rect { x: field.x + 2.min(field.width), width: field.width.saturating_sub(2), ..field };
    filter::draw_field(paint, field, text, Focused::Yes);
    below
}

fn draw_failure(paint: &mut Paint<'_>, area: Rect, failed: Option<&str>) {
    if let Some(why) = failed {
        let mark = paint.canvas.glyphs.failed;
        paint.row(area, 0).put(mark, Role::Bad).put(" ", Role::Bad).put(why, Role::Bad);
    }
}
