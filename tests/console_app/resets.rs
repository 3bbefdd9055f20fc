//! A reset by itself on the screen: what the next message will do, and what was left waiting before it.

use chrono::TimeDelta;
use switchboard::domain::api::{Command, EngineHold, Reply, SessionRow};
use switchboard::domain::event::EventKind;
use switchboard::domain::queue::Gate;
use switchboard::domain::reset::{Forecast, ResetReason, Verdict};
use switchboard::domain::session::Beginning;

use crate::support::recovered::{marked, stuck};
use crate::support::screen::{Screen, id, key, noon, session};

/// Session `a`, reset by itself while the screen shows it: two messages were left waiting.
fn just_reset() -> Screen {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    let (reason, previous) = (ResetReason::Idle, id(1));
    screen.tables.change("a", |row| {
        row.session.previous = Some(previous.clone());
        row.session.id = id(9);
        row.session.beginning = Beginning::AutoReset { reason, had_activity: true };
    });
    screen.happens(Some(&id(9)), EventKind::AutoReset { reason, why: "idle 25 h".into(), previous, left: 2 });
    screen.happens(Some(&id(9)), EventKind::SessionCreated { key: key("a"), previous: Some(id(1)) });
    screen
}

#[test]
fn what_a_reset_left_waiting_is_told_with_the_key_that_moves_it_here() {
    let mut screen = just_reset();
    let told = "reset by itself: idle 25 h; 2 messages left waiting before: m moves them here";
    assert_eq!(screen.told(), told);
    screen.wait(TimeDelta::seconds(11));
    let (reason, why, previous) = (ResetReason::Idle, "idle 25 h".to_owned(), id(1));
    screen.happens(Some(&id(9)), EventKind::AutoReset { reason, why, previous, left: 2 });
    assert_eq!(screen.told(), told, "also where the new memory was seen before the news of it");
    screen.press("m");
    assert_eq!(screen.acts(), [&Command::CarryOver { from: id(1) }]);
    let words = "2 items moved to the queue of the new session";
    screen.replies(Ok(Reply::Done { words: words.into(), undo: None }));
    assert_eq!(screen.told(), words);
}

#[test]
fn the_palette_moves_it_too_and_elsewhere_the_key_says_why_not() {
    let mut screen = just_reset();
    screen.press(":").types("move here").press("enter");
    assert_eq!(screen.acts(), [&Command::CarryOver { from: id(1) }]);
    screen.replies(Ok(Reply::Done { words: "moved".into(), undo: None }));
    screen.press("j m");
    assert_eq!(screen.told(), "move here: this memory did not begin with a reset by itself");
    assert!(screen.acts().is_empty());
}

#[test]
fn a_reset_elsewhere_or_one_that_left_nothing_is_told_to_nobody_who_looks_at_another_session() {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    let reason = ResetReason::Daily;
    for (previous, left) in [(id(2), 1), (id(1), 0)] {
        screen.happens(Some(&id(9)), EventKind::AutoReset { reason, why: "late".into(), previous, left });
    }
    assert_eq!(screen.told(), "");
}

/// A session whose next message will find a new memory, by the engine's own forecast.
fn due(row: SessionRow, reason: ResetReason) -> SessionRow {
    let idle_since = noon() - TimeDelta::hours(25);
    let next_message = Verdict::Reset { reason };
    SessionRow {
        forecast: Some(Forecast { next_message, idle_since, idle_after: None, boundary: None }),
        ..row
    }
}

#[test]
fn the_border_says_that_the_next_message_starts_anew_and_why() {
    let given_up = marked(session("a", 1), stuck(noon()), 3);
    let mut screen = Screen::on(vec![given_up, due(session("b", 2), ResetReason::Idle)]);
    assert_eq!(screen.border(), "STARTS ANEW (suspended), runs at once");
    screen.press("j");
    assert_eq!(screen.border(), "STARTS ANEW (idle 25 h), runs at once");
    screen.press("i").types("/queue x");
    assert_eq!(screen.border(), "STARTS ANEW (idle 25 h), runs at once");
    screen.tables.engine.gate = Gate::Held;
    screen.tables.engine.held = Some(EngineHold { since: noon(), why: String::new() });
    screen.happens(None, EventKind::EngineHeld { why: String::new() });
    assert_eq!(screen.border(), "STARTS ANEW (idle 25 h), queued, 1st: the engine is on hold");
}
