//! What a new home says: what can be tried, and where a real agent is set up.

use ratatui::layout::Rect;

use super::card;
use super::layout::{from_left, from_top};
use super::paint::Paint;
use super::theme::Role;
use crate::console::app::Model;
use crate::console::app::header::next_agent;
use crate::console::app::model::{Access, Link};
use crate::console::app::msg::Reach;

/// Whether nothing has happened in this home yet, and something can be tried.
pub(super) fn is_it(model: &Model) -> bool {
    let used = model.front_row.as_ref().is_some_and(|row| row.row.session.turns > 0);
    !used
        && model.access == Access::Full
        && model.sessions.loaded
        && model.sessions.total <= 1
        && model.sessions.filter.is_empty()
}

const GREETING: &str = "Nothing has happened here yet.";
const PRACTICE: &str = "The practice agent is built in: no network, no cost, and it says what it is.";
/// What can be tried with the practice agent.
const TRY: [(&str, &str); 5] = [
    ("hello", "an answer streams in here"),
    ("take 20 seconds", "then send again: see what \"busy\" does"),
    ("/queue say one", "work that waits behind a running turn"),
    ("/cron add", "a scheduled task, checked as you type"),
    ("/help", "what the commands do"),
];
/// What can be tried with any agent.
const TRY_ANY: [(&str, &str); 5] = [
    ("a message", "its answer streams in here"),
    ("another one", "while a turn runs; the border says before Enter what it will do"),
    ("/queue TEXT", "work that waits behind a running turn"),
    ("/cron add", "a scheduled task, checked as you type"),
    ("/help", "what the commands do"),
];
const LABEL: u16 = 11;
/// Below so many columns there are no labels.
const NARROW: u16 = 60;
const HERE: &str = "The engine runs in here. Close the window and it goes on without a screen: switchboard \
                    looks in again, switchboard stop ends it.";

pub(super) fn draw(paint: &mut Paint<'_>, area: Rect) {
    let model = paint.model;
    let agents = model.overview.as_ref().map(|overview| &overview.engine.agents);
    let answers = agents.and_then(|agents| agents.known.get(&next_agent(model, agents)));
    let practice = answers.is_some_and(|agent| agent.label.starts_with("practice"));
    let area = Rect { x: area.x + 1.min(area.width), width: area.width.saturating_sub(1), ..area };
    let mut rest = card::write(paint, area, GREETING, Role::Text);
    if practice {
        rest = card::write(paint, rest, PRACTICE, Role::Text);
    }
    rest = from_top(rest, 1).1;
    for (at, (example, tells)) in if practice { TRY } else { TRY_ANY }.into_iter().enumerate() {
        let label = if at == 0 { "try" } else { "" };
        rest = draw_example(paint, rest, label, example, tells);
    }
    if practice {
        let place = format!("a real agent: [agent] in {}", model.config_path);
        rest = draw_example(paint, rest, "then", &place, "");
    }
    if model.link == Link::Up(Reach::Here) {
        card::write(paint, from_top(rest, 1).1, HERE, Role::Quiet);
    }
}

/// Writes an example and what it shows, wrapped in its column, and returns what is left of `area`.
fn draw_example(paint: &mut Paint<'_>, area: Rect, label: &str, example: &str, tells: &str) -> Rect {
    const EXAMPLE: u16 = 18;
    // Where it is narrow the words need the room.
    let labels = if area.width < NARROW { 0 } else { LABEL };
    paint.row(area, 0).skip(2).column(label, usize::from(labels), Role::Quiet);
    let (_, column) = from_left(area, 2 + labels);
    if tells.is_empty() {
        return below(area, card::write(paint, column, example, Role::Strong));
    }
    paint.row(column, 0).column(example, usize::from(EXAMPLE), Role::Strong);
    let (_, column) = from_left(column, EXAMPLE);
    below(area, card::write(paint, column, tells, Role::Text))
}

/// What of `area` is beside and below `rest`, a part of it.
fn below(area: Rect, rest: Rect) -> Rect {
    Rect { y: rest.y, height: rest.height, ..area }
}
