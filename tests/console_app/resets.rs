//! A reset by itself on the screen: what the next message will do, and what was left waiting before it.

use chrono::TimeDelta;
use switchboard::domain::alert::{Acknowledgement, Alert, AlertKey, left_waiting};
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
    left_for(&mut screen, 9);
    screen.happens(Some(&id(9)), EventKind::SessionCreated { key: key("a"), previous: Some(id(1)) });
    screen
}

/// Items that were left in session 1 can be moved to another session.
fn left_for(screen: &mut Screen, session: u32) {
    let alert = Alert::raised(None, &left_waiting(&id(1), &id(session), "a", 2), noon());
    let raised = EventKind::AlertRaised { alert: alert.key.clone(), words: alert.words.clone(), raises: 1 };
    screen.tables.other_alerts = vec![alert];
    screen.happens(Some(&id(session)), raised);
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
    assert_eq!(screen.told(), "move here: no reset by itself left anything waiting for this session");
    assert!(screen.acts().is_empty());
}

#[test]
fn what_was_left_is_reached_and_moved_after_more_resets_too_and_not_offered_where_nothing_was() {
    let mut screen = just_reset();
    screen.tables.change("a", |row| {
        (row.session.previous, row.session.id) = (Some(id(9)), id(10));
        row.session.beginning = Beginning::Fresh;
    });
    left_for(&mut screen, 10);
    screen.happens(Some(&id(10)), EventKind::SessionCreated { key: key("a"), previous: Some(id(9)) });
    screen.press("j F8");
    assert_eq!(screen.model.front, key("a"));
    screen.press("v");
    assert!(screen.card().contains("m moves it here"), "{}", screen.card());
    screen.press("esc A");
    let alert = AlertKey::left_waiting(&id(1));
    let known = Command::Acknowledge { alert: alert.clone(), what: Acknowledgement::Given };
    assert_eq!(screen.acts(), [&known]);
    screen.replies(Ok(Reply::Done { words: "acknowledged".into(), undo: None }));
    screen.press("m");
    assert_eq!(screen.acts(), [&Command::CarryOver { from: id(1) }]);
    screen.replies(Ok(Reply::Done { words: "moved".into(), undo: None }));
    screen.tables.other_alerts.clear();
    screen.happens(Some(&id(10)), EventKind::AlertResolved { alert });
    screen.press("v");
    assert!(!screen.card().contains("moves it here"), "{}", screen.card());
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

#[test]
fn what_is_foretold_is_asked_for_anew_when_its_time_has_passed() {
    let idle_after = noon() + TimeDelta::minutes(1);
    let keeps = Forecast {
        next_message: Verdict::Keep,
        idle_since: noon(),
        idle_after: Some(idle_after),
        boundary: None,
    };
    let mut screen = Screen::on(vec![SessionRow { forecast: Some(keeps), ..session("console", 1) }]);
    assert_eq!(screen.border(), "runs at once");
    screen.tables.change("console", |row| *row = due(row.clone(), ResetReason::Idle));
    screen.wait(TimeDelta::seconds(59));
    assert_eq!(screen.border(), "runs at once");
    screen.wait(TimeDelta::seconds(3));
    assert_eq!(screen.border(), "STARTS ANEW (idle 25 h), runs at once");
    let asked = screen.tables.asked.len();
    screen.wait(TimeDelta::minutes(30));
    assert_eq!(screen.tables.asked.len(), asked, "once");
}

#[test]
fn the_border_says_how_many_messages_a_new_beginning_leaves_behind() {
    let mut row = marked(session("a", 1), stuck(noon()), 3);
    row.queued = 2;
    let screen = Screen::on(vec![row]);
    assert_eq!(screen.border(), "STARTS ANEW (suspended), runs at once, 2 waiting messages stay behind");
}
