//! The view of recovery, and what a kill leaves in the list: keys in, commands out.

use chrono::TimeDelta;
use switchboard::console::app::focus::{Focus, Pane, View};
use switchboard::console::app::overlay::CardKind;
use switchboard::domain::api::{Command, Query, Reply, Report, SessionRow};
use switchboard::domain::event::EventKind;
use switchboard::domain::history::Body;
use switchboard::domain::id::ItemId;
use switchboard::domain::recovery::RecoveryState;
use switchboard::domain::session::SessionState;

use crate::support::recovered::{after_a_kill, marked, stuck};
use crate::support::screen::{Screen, entry, id, key, noon, running, session};

/// A home after a kill, its view of recovery open.
fn recovered() -> Screen {
    let named = |number: u32, name: &str| session(name, number);
    let report = running(named(1, "report"), 44);
    let rows: Vec<SessionRow> = ["waits", "feed", "photos", "scraper", "notes", "failed"]
        .into_iter()
        .zip(2..)
        .map(|(name, number)| named(number, name))
        .collect();
    let rows = [vec![report], rows].concat();
    let (sessions, recovery) = after_a_kill(noon(), &rows);
    let mut screen = Screen::on(sessions);
    screen.tables.recovery = recovery;
    screen.press("4");
    screen
}

fn names(screen: &Screen) -> Vec<&str> {
    screen.model.recovery.rows.iter().map(|row| row.name.as_str()).collect()
}

fn select(screen: &mut Screen, name: &str) {
    let place = names(screen).iter().position(|row| *row == name).unwrap();
    screen.press("g g");
    for _ in 0..place {
        screen.press("j");
    }
    assert_eq!(screen.model.recovery.current().unwrap().name, name);
}

fn happened() -> EventKind {
    EventKind::Edited { item: ItemId(1) }
}

#[test]
fn what_needs_a_person_comes_first_then_what_goes_on_then_what_is_done() {
    let screen = recovered();
    assert_eq!(screen.model.view, View::Recovery);
    assert_eq!(names(&screen), ["feed", "photos", "scraper", "failed", "report", "waits", "notes"]);
}

#[test]
fn the_keys_of_the_number_row_alt_and_g_open_it() {
    for keys in ["4", "alt-4", "g r"] {
        let mut screen = Screen::on(vec![session("console", 1), session("b", 2)]);
        screen.press(keys);
        assert_eq!(screen.model.view, View::Recovery, "{keys}");
    }
}

#[test]
fn r_resumes_now_s_gives_up_with_an_undo_and_capital_l_lifts() {
    let mut screen = recovered();
    select(&mut screen, "photos");
    screen.press("r");
    assert_eq!(screen.acts(), [&Command::Continue { session: id(4) }]);
    screen.commands.clear();
    screen.press("s");
    assert_eq!(screen.acts(), [&Command::Suspend { session: id(4) }]);
    let undo = Some(Box::new(Command::Unsuspend { session: id(4) }));
    screen.replies(Ok(Reply::Done { words: "suspended".to_owned(), undo }));
    screen.press("u");
    assert_eq!(screen.acts(), [&Command::Unsuspend { session: id(4) }]);
    screen.commands.clear();
    select(&mut screen, "scraper");
    screen.press("L");
    assert_eq!(screen.acts(), [&Command::Unsuspend { session: id(5) }]);
}

#[test]
fn to_give_up_a_session_whose_turn_runs_asks_first() {
    let mut screen = recovered();
    select(&mut screen, "report");
    screen.press("s");
    assert_eq!((screen.model.focus(), screen.acts().len()), (Focus::Overlay, 0));
    screen.press("y");
    assert_eq!(screen.acts(), [&Command::Suspend { session: id(1) }]);
}

#[test]
fn a_key_that_can_do_nothing_says_why() {
    let mut screen = recovered();
    for (name, key, why) in [
        ("scraper", "r", "resume now: it is suspended: L lifts that"),
        ("scraper", "s", "give up: it is suspended already"),
        ("report", "r", "resume now: its turn runs already"),
        ("notes", "r", "resume now: nothing is left to resume: left as it is"),
        ("photos", "L", "lift: it is not suspended"),
        ("photos", "]", "later start: this is the newest start"),
    ] {
        select(&mut screen, name);
        screen.press(key);
        assert_eq!(screen.told(), why);
    }
    assert_eq!(screen.acts(), [] as [&Command; 0]);
}

#[test]
fn brackets_walk_through_the_starts_and_the_view_opens_at_the_newest() {
    let mut screen = recovered();
    let shown = |screen: &Screen| screen.model.recovery.chosen.as_ref().unwrap().run.0.clone();
    assert_eq!(shown(&screen), "run-4");
    screen.press("[ [");
    assert_eq!(shown(&screen), "run-2");
    screen.press("[ [");
    assert_eq!(
        (shown(&screen).as_str(), screen.told().as_str()),
        ("run-1", "earlier start: there is no earlier start")
    );
    screen.press("] ] ]");
    assert_eq!(shown(&screen), "run-4");
    screen.press("[ 1 4");
    assert_eq!(shown(&screen), "run-4");
}

#[test]
fn it_follows_events_while_it_is_open_without_moving_a_row_under_the_operators_hand() {
    let mut screen = recovered();
    select(&mut screen, "photos");
    screen.tables.recovery[0].sessions[0].state = RecoveryState::Stale;
    screen.happens(Some(&id(1)), happened());
    assert_eq!(names(&screen), ["feed", "photos", "scraper", "failed", "report", "waits", "notes"]);
    assert_eq!(screen.model.recovery.rows[4].row.state, RecoveryState::Stale, "its state is not frozen");
    screen.wait(TimeDelta::seconds(4));
    assert_eq!(names(&screen)[..5], ["feed", "photos", "scraper", "failed", "report"]);
    screen.press("1");
    screen.tables.asked.clear();
    screen.happens(Some(&id(1)), happened());
    assert!(!screen.tables.asked.iter().any(|query| matches!(query, Query::Recovery { .. })));
}

#[test]
fn enter_opens_the_session_and_the_filter_narrows_the_rows() {
    let mut screen = recovered();
    screen.press("/").types("suspended").press("enter");
    assert_eq!(names(&screen), ["scraper"]);
    screen.press("enter");
    assert_eq!((screen.model.view, screen.model.pane), (View::Sessions, Pane::Conversation));
    assert_eq!(screen.model.front, key("scraper"));
}

#[test]
fn a_suspended_session_needs_you_and_the_key_for_that_finds_it() {
    let given_up = marked(session("scraper", 3), stuck(noon()), 3);
    let mut screen = Screen::on(vec![session("console", 1), session("b", 2), given_up]);
    assert_eq!(screen.model.overview.as_ref().unwrap().needs_you, 1);
    screen.press("F8");
    assert_eq!(screen.model.front, key("scraper"));
    assert_eq!(screen.model.sessions.current().unwrap().row.state, SessionState::Suspended);
    screen.press("r");
    assert_eq!(screen.acts(), [&Command::Unsuspend { session: id(3) }]);
}

#[test]
fn what_the_system_told_the_agent_is_one_line_that_opens() {
    let row = session("console", 1);
    let told = |text: &str| Body::Resume { text: text.to_owned() };
    let mut screen = Screen::on(vec![row.clone(), session("b", 2)]);
    let entries = vec![
        entry(&row, 1, Body::Notice { text: "resumed".to_owned() }),
        entry(&row, 2, told("This is the system.\nGo on.")),
    ];
    screen.tables.conversations.insert(row.session.id.clone(), entries);
    screen.happens(Some(&row.session.id), happened());
    let folds = |screen: &Screen| -> Vec<String> {
        screen.model.conversation.entries.iter().map(|entry| format!("{:?}", entry.fold)).collect()
    };
    assert_eq!(folds(&screen), ["Open", "Folded"]);
    screen.press("tab G enter");
    assert_eq!(folds(&screen), ["Open", "Open"]);
}

fn away_card(screen: &Screen) -> Option<&Report> {
    match screen.model.card.as_ref().map(|card| &card.kind) {
        Some(CardKind::Away(report)) => Some(report),
        _ => None,
    }
}

#[test]
fn after_an_absence_one_card_tells_what_happened_and_takes_no_focus() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    assert_eq!((away_card(&screen), screen.looks), (None, 1));
    screen.types("h");
    screen.tables.report = Report { since: Some(screen.now), answered: 3, failed: 1, ..Report::default() };
    screen.wait(TimeDelta::minutes(9)).types("i");
    assert_eq!(away_card(&screen), None, "nine minutes are no absence");
    screen.tables.report.since = Some(screen.now);
    screen.wait(TimeDelta::minutes(10)).types("!");
    assert_eq!(away_card(&screen).map(|report| report.answered), Some(3));
    assert_eq!((screen.model.focus(), screen.draft().as_str()), (Focus::Pane(Pane::Composer), "hi!"));
    screen.press("esc");
    assert_eq!((away_card(&screen), screen.model.pane), (None, Pane::Composer));
    screen.wait(TimeDelta::minutes(1)).types("?");
    assert_eq!(away_card(&screen), None, "it is told once");
}

#[test]
fn an_absence_in_which_nothing_happened_is_not_told_and_the_operator_is_noted_every_five_minutes() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.tables.report.since = Some(noon());
    screen.types("a").wait(TimeDelta::minutes(11)).types("b");
    assert_eq!((away_card(&screen), screen.looks), (None, 2));
    screen.wait(TimeDelta::minutes(4)).types("c");
    assert_eq!(screen.looks, 2);
    screen.wait(TimeDelta::minutes(2)).types("d");
    assert_eq!(screen.looks, 3);
}
