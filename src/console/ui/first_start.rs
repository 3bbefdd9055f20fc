//! What a new home says: what can be tried, and where a real agent is set up.

use ratatui::layout::Rect;

use super::layout::from_top;
use super::paint::Paint;
use super::theme::Role;
use crate::console::app::Model;
use crate::console::app::model::Link;
use crate::console::app::msg::Reach;

/// Whether nothing has happened in this home yet.
pub(super) fn is_it(model: &Model) -> bool {
    let used = model.front_row.as_ref().is_some_and(|row| row.row.session.turns > 0);
    !used && model.sessions.loaded && model.sessions.total <= 1 && model.sessions.filter.is_empty()
}

const GREETING: &str = "Nothing has happened here yet.";
const PRACTICE: [&str; 2] =
    ["The practice agent is built in: no network, no cost, and it says what it is.", ""];
const TRY: [(&str, &str, &str); 4] = [
    ("try", "hello", "an answer streams in here"),
    ("", "take 20 seconds", "then send again: see what \"busy\" does"),
    ("", "/queue say one", "work that waits behind a running turn"),
    ("", "/help", "what the commands do"),
];
const HERE: [&str; 3] = [
    "",
    "The engine runs in here. Close the window and it goes on without a screen:",
    "switchboard looks in again, switchboard stop ends it.",
];

pub(super) fn draw(paint: &mut Paint<'_>, area: Rect) {
    let model = paint.model;
    let agent = model.overview.as_ref().map_or("", |overview| overview.engine.agent.as_str());
    let practice = agent.starts_with("practice");
    let rest = say(paint, area, &[GREETING], Role::Text);
    let mut rest = say(paint, rest, if practice { &PRACTICE } else { &[""] }, Role::Text);
    for (label, example, tells) in TRY {
        rest = draw_example(paint, rest, label, example, tells);
    }
    if practice {
        let place = format!("[agent] in {}", model.config_path);
        rest = draw_example(paint, rest, "real one", &place, "");
    }
    if model.link == Link::Up(Reach::Here) {
        say(paint, rest, &HERE, Role::Quiet);
    }
}

/// Writes lines from the top of `area`, and returns what is left of it.
fn say(paint: &mut Paint<'_>, area: Rect, lines: &[&str], role: Role) -> Rect {
    let mut rest = area;
    for line in lines {
        paint.row(rest, 0).skip(1).put(line, role);
        rest = from_top(rest, 1).1;
    }
    rest
}

fn draw_example(paint: &mut Paint<'_>, area: Rect, label: &str, example: &str, tells: &str) -> Rect {
    let mut pen = paint.row(area, 0);
    pen.skip(3).column(label, 11, Role::Quiet);
    match tells {
        "" => pen.put(example, Role::Strong),
        tells => pen.column(example, 18, Role::Strong).put(tells, Role::Text),
    };
    from_top(area, 1).1
}
