//! The cards that open by themselves: the engine is gone, the engine stops.

use ratatui::layout::Rect;

use super::card::{self, Button};
use super::layout::{from_bottom, from_left, from_top};
use super::paint::{Paint, state_role, to_cells};
use super::text;
use super::theme::Role;
use super::words::second;
use crate::console::app::action::Action;
use crate::console::app::model::End;
use crate::console::app::overlay::{Card, CardKind};
use crate::console::app::sessions::ListRow;
use crate::console::app::words::{clock, count, running};
use crate::console::app::{Model, card_buttons, card_title};
use crate::domain::Time;
use crate::domain::api::{Drain, Outliving, Report, Waited};
use crate::domain::event::some_of;
use crate::domain::recovery::AfterStop;
use crate::domain::session::SessionState;

const WIDTH: usize = 76;
const LABEL: usize = 11;
/// A turn that said nothing for so many seconds is called silent.
const SILENT_FROM_SECONDS: i64 = 10;
/// The most turns that the drain's card names.
const MOST_TURNS: usize = 6;
/// The most that it names of what ended since.
const MOST_DONE: usize = 3;
/// The most background processes that a line of it names.
const MOST_BACKGROUND: usize = 2;

pub(super) fn draw(paint: &mut Paint<'_>, screen: Rect, card: &Card) {
    if card.hidden {
        return;
    }
    match &card.kind {
        CardKind::Gone { reason, at, end, trying } => {
            draw_gone(paint, screen, card, reason, (*end, *at), *trying);
        }
        CardKind::Away(report) => draw_away(paint, screen, card, report),
        // It stands in its conversation.
        CardKind::Asks(_) => {}
        CardKind::Drain => {
            if let Some(drain) = paint.model.drain() {
                draw_drain(paint, screen, card, drain);
            }
        }
    }
}

fn draw_gone(
    paint: &mut Paint<'_>,
    screen: Rect,
    card: &Card,
    reason: &str,
    (end, at): (End, Time),
    trying: Option<&'static str>,
) {
    let width = card::text_width(screen, WIDTH);
    let buttons = buttons(paint, card);
    let lead = lead(paint, card);
    let button_rows = card::button_rows(&buttons, width.saturating_sub(text::width(&lead)));
    let what = "What is shown is as it was then. Nothing can be changed; drafts are kept here.";
    let height = card::rows(reason, width) + card::rows(what, width) + 1 + 1 + button_rows;
    let (title, role) = match end {
        End::Lost => ("The engine is gone since", Role::Bad),
        End::Stopped => ("The engine stopped at", Role::Text),
    };
    let title = format!("{title} {}", second(at, paint.model.zone));
    let inner = card::open(paint, screen, width, height, &title);
    let (words, below) = from_bottom(inner, to_cells(button_rows));
    let rest = card::write(paint, words, reason, role);
    let rest = card::write(paint, rest, what, Role::Text);
    if let Some(trying) = trying {
        card::write(paint, rest, trying, Role::Runs);
    }
    draw_buttons(paint, below, card, &buttons, &lead);
}

/// What happened while the operator was away: one number a line, what went wrong first.
fn draw_away(paint: &mut Paint<'_>, screen: Rect, card: &Card, report: &Report) {
    let lines = report.lines();
    let width = card::text_width(screen, WIDTH);
    let since = report.since.map(|since| clock(paint.model, since)).unwrap_or_default();
    let title = format!("Since you last looked, {since}");
    let inner = card::open(paint, screen, width, lines.len() + 2, &title);
    let (words, below) = from_bottom(inner, 1);
    let mut rest = words;
    for (label, words) in &lines {
        let role = match *label {
            "crashed" | "failed" | "given up" | "jobs bad" => Role::Bad,
            "cut off" | "refused" | "held" | "denied" => Role::Warning,
            "answered" | "resumed" => Role::Good,
            _ => Role::Text,
        };
        rest = fact(paint, rest, label, words, role);
    }
    let key = paint.key_everywhere(Action::Out);
    let where_more = format!("{key} closes it; the log has each of them");
    match card.focused_at {
        Some(_) => draw_buttons(paint, below, card, &buttons(paint, card), ""),
        None => {
            paint.row(below, 0).put(&where_more, Role::Quiet);
        }
    }
}

fn draw_drain(paint: &mut Paint<'_>, screen: Rect, card: &Card, drain: &Drain) {
    let model = paint.model;
    let width = card::text_width(screen, WIDTH);
    let buttons = buttons(paint, card);
    let lead = lead(paint, card);
    let button_rows = card::button_rows(&buttons, width.saturating_sub(text::width(&lead)));
    let named = drain.waits_for.len().min(MOST_TURNS);
    let hidden = drain.waits_for.len() - named;
    let done = some_of(model.drained.iter().map(Waited::name), MOST_DONE);
    let done_rows = usize::from(!done.is_empty());
    let missed = missed_words(model, drain);
    let background = background_words(&drain.background);
    let more = [hidden > 0, done_rows > 0, missed.is_some()].map(usize::from).iter().sum::<usize>();
    let height = named.max(1) + more + background.len() + 6 + button_rows;
    let since = second(drain.since, model.zone);
    let why = crate::domain::sanitize::one_line(&drain.why).into_owned();
    let (title, next) = match drain.then {
        AfterStop::End => ("The engine stops", "by itself at the next start; runs of jobs are not repeated"),
        AfterStop::Restart => {
            ("The engine restarts", "as this process begins anew; runs of jobs are not repeated")
        }
    };
    let inner = card::open(paint, screen, width, height, &format!("{title} since {since}: {why}"));
    let (words, below) = from_bottom(inner, to_cells(button_rows));
    let mut rest = words;
    if named == 0 {
        rest = fact(paint, rest, "waits for", "nothing any more", Role::Good);
    }
    for index in 0..named {
        let label = if index == 0 { "waits for" } else { "" };
        draw_turn(paint, rest, label, drain, index);
        rest = from_top(rest, 1).1;
    }
    if hidden > 0 {
        rest = fact(paint, rest, "", &format!("and {hidden} more"), Role::Text);
    }
    if done_rows > 0 {
        rest = fact(paint, rest, "done", &done, Role::Good);
    }
    rest = from_top(rest, 1).1;
    let left = (drain.until - model.as_of()).num_seconds().max(0);
    paint.motion.counts_seconds();
    let then = format!("in {left} s what still runs is cut: its text is kept, and it goes on");
    rest = fact(paint, rest, "then", &then, Role::Text);
    rest = fact(paint, rest, "", next, Role::Text);
    let waiting = model.overview.as_ref().map_or(0, |overview| overview.waiting);
    let kept = match waiting {
        0 => "new messages are taken and wait for the next start".to_owned(),
        n => format!("{} on disk; new ones are taken and wait too", count(n, "message")),
    };
    rest = fact(paint, rest, "waiting", &kept, Role::Text);
    for (index, words) in background.iter().enumerate() {
        let label = if index == 0 { "background" } else { "" };
        rest = fact(paint, rest, label, words, Role::Text);
    }
    if let Some(missed) = missed {
        rest = fact(paint, rest, "jobs", &missed, Role::Text);
    }
    fact(paint, rest, "", "ctrl-c does not cut, a second SIGTERM does", Role::Quiet);
    draw_buttons(paint, below, card, &buttons, &lead);
}

/// Which slot comes next, where nobody will be there to take it.
fn missed_words(model: &Model, drain: &Drain) -> Option<String> {
    let (job, slot) = model.cron.next_slot().filter(|_| drain.then == AfterStop::End)?;
    Some(format!("{} {} is missed, unless it starts again by then", job.row.name, clock(model, slot)))
}

/// What becomes of background processes, a line each.
fn background_words(background: &Outliving) -> Vec<String> {
    let goes_on = (&background.go_on, "goes on", "go on");
    let ends = (&background.end, "ends with its run", "end with their runs");
    let line = |(names, one, several): (&Vec<String>, &str, &str)| match names.len() {
        0 => None,
        1 => Some(format!("{one}: {}", names[0])),
        n => Some(format!("{n} {several}: {}", some_of(names, MOST_BACKGROUND))),
    };
    [goes_on, ends].into_iter().filter_map(line).collect()
}

fn draw_turn(paint: &mut Paint<'_>, area: Rect, label: &str, drain: &Drain, index: usize) {
    let model = paint.model;
    let waited = &drain.waits_for[index];
    let name = waited.name();
    let name = crate::domain::sanitize::one_line(&name);
    let is_its =
        |row: &&ListRow| matches!(waited, Waited::Turn { session, .. } if row.row.session.id == *session);
    let row = model.sessions.rows.iter().find(is_its);
    let turn = row.and_then(|row| row.row.turn.as_ref());
    let (mark, key) = (paint.state_mark(SessionState::Runs), paint.key_everywhere(Action::NextNeed));
    let role = state_role(SessionState::Runs);
    let mut pen = paint.row(area, 0);
    pen.column(label, LABEL, Role::Quiet).put(mark, role).put(" ", Role::Text);
    pen.column(&name, 24, Role::Strong).skip(1);
    if let Some(asks) = row.and_then(|row| row.asks.as_ref()) {
        pen.put(&format!("asks you ({key}): {asks}"), Role::NeedsYou);
        return;
    }
    let Some(turn) = turn else { return };
    pen.column(&format!("runs {}", running(model.as_of() - turn.since)), 14, role);
    let Some(at) = turn.last_output_at else { return };
    let silent = model.as_of() - at;
    match silent.num_seconds() {
        ..SILENT_FROM_SECONDS => pen.put(&format!("last output {} ago", running(silent)), Role::Quiet),
        _ => pen.put(&format!("silent {}", running(silent)), Role::Warning),
    };
}

fn fact(paint: &mut Paint<'_>, area: Rect, label: &str, words: &str, role: Role) -> Rect {
    paint.row(area, 0).column(label, LABEL, Role::Quiet).put(words, role);
    from_top(area, 1).1
}

pub(super) fn buttons(paint: &Paint<'_>, card: &Card) -> Vec<Button> {
    let actions = card_buttons(&card.kind);
    actions.iter().map(|action| Button::new(paint.model, *action, card_title(&card.kind, *action))).collect()
}

/// What must be pressed before a button's key is the card's.
pub(super) fn lead(paint: &Paint<'_>, card: &Card) -> String {
    match card.focused_at {
        Some(_) => String::new(),
        None => format!("{}, then:", paint.key_everywhere(Action::NextNeed)),
    }
}

pub(super) fn draw_buttons(paint: &mut Paint<'_>, area: Rect, card: &Card, buttons: &[Button], lead: &str) {
    paint.row(area, 0).put(lead, Role::Warning);
    let (_, area) = from_left(area, to_cells(text::width(lead)));
    card::draw_buttons(paint, area, buttons, card.focused_at.map(|_| card.marked));
}
