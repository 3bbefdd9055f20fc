//! Alerts on the screen: the badge, the way to the next one, and that somebody knows.

use switchboard::console::app::focus::View;
use switchboard::console::app::msg::Effect;
use switchboard::domain::alert::{Acknowledgement, Alert, AlertChange, AlertKey, boot_guard, by_failures};
use switchboard::domain::api::{Command, Query, Reply, SessionRow};
use switchboard::domain::event::EventKind;
use switchboard::domain::session::{Hold, HoldReason, SessionState};

use crate::support::screen::*;

fn dead(row: SessionRow) -> SessionRow {
    let mut row = row;
    row.state = SessionState::NeedsYou;
    row.session.hold = Some(Hold { reason: HoldReason::BackendError, since: noon(), probe_at: None });
    row.last_error = Some("no route".to_owned());
    row
}

fn needs_you(screen: &Screen) -> usize {
    screen.model.overview.as_ref().unwrap().needs_you
}

fn alert(number: u32) -> AlertKey {
    AlertKey::session(&id(number))
}

fn raised(number: u32) -> EventKind {
    EventKind::AlertRaised { alert: alert(number), words: "look".to_owned(), raises: 1 }
}

#[test]
fn an_alert_that_is_acknowledged_is_not_counted_not_jumped_to_and_still_told() {
    let rows = vec![dead(session("a", 1)), dead(session("b", 2)), session("c", 3)];
    let mut screen = Screen::on(rows);
    assert_eq!(needs_you(&screen), 2);
    screen.press("F8");
    let at_first = screen.model.front.clone();
    screen.press("v");
    assert!(screen.card().contains("the agent's backend fails: no route"), "{}", screen.card());
    assert!(screen.card().contains("A acknowledges it"));
    screen.press("esc A");
    let number = if at_first == key("a") { 1 } else { 2 };
    let other = if number == 1 { key("b") } else { key("a") };
    let given = Command::Acknowledge { alert: alert(number), what: Acknowledgement::Given };
    assert_eq!(screen.acts(), [&given]);

    screen.tables.acknowledged.push(alert(number));
    let undo = Command::Acknowledge { alert: alert(number), what: Acknowledgement::TakenBack };
    let words = "acknowledged, 1 left".to_owned();
    screen.replies(Ok(Reply::Done { words, undo: Some(Box::new(undo.clone())) }));
    let what = Acknowledgement::Given;
    screen.happens(Some(&id(number)), EventKind::AlertAcknowledged { alert: alert(number), what });
    assert_eq!(needs_you(&screen), 1);
    screen.press("v");
    assert!(screen.card().contains("acknowledged"), "{}", screen.card());
    screen.press("esc A");
    assert!(screen.acts().is_empty(), "it is said once");
    for _ in 0..2 {
        screen.press("!");
        assert_eq!(screen.model.front, other);
    }
    screen.press("u");
    assert_eq!(screen.acts(), [&undo]);
}

#[test]
fn only_what_is_new_makes_the_terminal_ring_and_only_once() {
    let rings =
        |screen: &Screen| screen.effects.iter().filter(|effect| matches!(effect, Effect::Ring(_))).count();
    let mut screen = Screen::on(vec![dead(session("a", 1)), session("b", 2)]);
    assert_eq!(rings(&screen), 0, "what was there when the operator came");
    screen.tables.change("b", |row| *row = dead(row.clone()));
    screen.happens(Some(&id(2)), raised(2));
    assert_eq!(rings(&screen), 1);
    screen.happens(Some(&id(2)), raised(2));
    assert_eq!(rings(&screen), 1);
}

#[test]
fn a_failing_job_rings_at_its_first_and_its_third_failure_and_is_counted_from_the_third_on() {
    let job = "backup".parse().unwrap();
    let mut screen = Screen::on(vec![session("a", 1)]);
    let mut alert = None;
    let mut seen = Vec::new();
    for failures in 1..=4 {
        let Some(AlertChange::Raise(new)) = by_failures(&job, failures - 1, failures, None) else { panic!() };
        let raised = Alert::raised(alert, &new, noon());
        screen.tables.other_alerts = vec![raised.clone()];
        screen.effects.clear();
        let (alert_key, words) = (raised.key.clone(), raised.words.clone());
        screen.happens(None, EventKind::AlertRaised { alert: alert_key, words, raises: failures });
        let rings = screen.effects.iter().any(|effect| matches!(effect, Effect::Ring(_)));
        seen.push((rings, needs_you(&screen)));
        alert = Some(raised);
    }
    assert_eq!(seen, [(true, 0), (false, 0), (true, 1), (false, 1)]);
}

#[test]
fn the_way_to_an_alert_of_a_session_that_was_never_seen_is_asked_for() {
    let mut rows: Vec<SessionRow> =
        (1..=700).map(|number| running(session(&format!("s{number}"), number), 1)).collect();
    rows[650] = SessionRow { state: SessionState::Suspended, ..session("s651", 651) };
    let mut screen = Screen::on(rows);
    screen.press("j /").types("state:runs").press("enter F8");
    assert!(screen.tables.asked.contains(&Query::Session { session: id(651) }));
    assert_eq!(screen.model.front, key("s651"));
    assert!(screen.model.sessions.filter.is_empty());
    assert_eq!(screen.model.sessions.current().map(|row| row.key().clone()), Some(key("s651")));
}

#[test]
fn where_nothing_needs_the_operator_the_key_says_so() {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    screen.press("A");
    assert!(screen.acts().is_empty());
    let told = &screen.model.notices.last().unwrap().words;
    assert!(told.contains("nothing that needs you is selected"), "{told}");
}

#[test]
fn a_boot_guard_that_holds_is_reached_in_the_recovery_view_and_acknowledged_there() {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    let alert = Alert::raised(None, &boot_guard(5, 1), noon());
    let raised = EventKind::AlertRaised { alert: alert.key.clone(), words: alert.words.clone(), raises: 1 };
    screen.tables.other_alerts = vec![alert.clone()];
    screen.happens(None, raised);
    assert_eq!(needs_you(&screen), 1);
    screen.press("F8");
    assert_eq!(screen.model.view, View::Recovery);
    screen.press("A");
    let given = Command::Acknowledge { alert: alert.key, what: Acknowledgement::Given };
    assert_eq!(screen.acts(), [&given]);
}
