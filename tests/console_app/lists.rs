//! The list of sessions: windows over many, a filter, an order that stands still, a selection that stays.

use chrono::TimeDelta;
use switchboard::console::app::Msg;
use switchboard::console::app::focus::{Pane, View};
use switchboard::console::app::log::{About, Follow};
use switchboard::domain::api::{Command, Piece, Query, Reply, SessionRow, StreamKind, Update};
use switchboard::domain::cron::JobEvent;
use switchboard::domain::event::{EventKind, Level};
use switchboard::domain::id::{ItemId, TurnId};
use switchboard::domain::session::{Hold, HoldReason, SessionState};

use crate::support::jobs;
use crate::support::screen::{Answering, Screen, id, key, noon, running, session};

fn happened() -> EventKind {
    EventKind::Edited { item: ItemId(1) }
}

#[test]
fn the_first_minute_is_just_typing_and_later_the_list_comes_first() {
    assert_eq!(Screen::on(vec![]).model.pane, Pane::Composer);
    assert_eq!(Screen::on(vec![session("console", 1)]).model.pane, Pane::Composer);
    assert_eq!(Screen::on(vec![session("console", 1), session("b", 2)]).model.pane, Pane::List);
    let mut row = session("console", 1);
    row.state = SessionState::NeedsYou;
    assert_eq!(Screen::on(vec![row]).model.pane, Pane::List);
}

#[test]
fn a_key_before_the_first_answer_keeps_the_focus_where_the_operator_writes() {
    let rows = vec![session("console", 1), session("b", 2)];
    let mut screen = Screen::built(
        rows,
        switchboard::console::app::msg::Reach::Here,
        switchboard::console::app::model::Access::Full,
        Answering::WhenTold,
    );
    screen.types("hi");
    screen.answer();
    assert_eq!((screen.model.pane, screen.draft().as_str()), (Pane::Composer, "hi"));
}

#[test]
fn the_order_stands_still_for_three_seconds_after_a_key_and_the_selection_stays_on_its_thing() {
    let mut screen = Screen::on((1..=4).map(|n| session(&format!("s{n}"), n)).collect());
    let order = |screen: &Screen| -> Vec<String> {
        screen.model.sessions.rows.iter().map(|row| row.name.clone()).collect()
    };
    screen.press("j");
    assert_eq!(screen.model.front, key("s2"));
    screen.tables.change("s4", |row| row.state = SessionState::NeedsYou);
    screen.happens(Some(&id(4)), happened());
    assert_eq!(order(&screen), ["s1", "s2", "s3", "s4"]);
    assert_eq!(screen.model.sessions.rows[3].row.state, SessionState::NeedsYou, "its state is not frozen");
    screen.wait(TimeDelta::seconds(4));
    assert_eq!(order(&screen), ["s4", "s1", "s2", "s3"]);
    assert_eq!(screen.model.front, key("s2"));
    assert_eq!(screen.model.sessions.current().unwrap().name, "s2");
}

#[test]
fn a_hundred_thousand_sessions_are_walked_by_windows() {
    let mut screen = Screen::on((1..=3000).map(|n| session(&format!("s{n}"), n)).collect());
    assert_eq!(screen.model.sessions.rows.len(), 200);
    assert_eq!((screen.model.sessions.hits, screen.model.sessions.after()), (3000, 2800));
    for _ in 0..1000 {
        screen.press("j");
    }
    assert_eq!(screen.model.front, key("s1001"));
    assert_eq!(screen.model.sessions.current().unwrap().name, "s1001");
    assert!(screen.model.sessions.rows.len() <= 600);
    for _ in 0..1000 {
        screen.press("k");
    }
    assert_eq!(screen.model.front, key("s1"));
    assert_eq!(screen.model.sessions.before, 0);
    screen.press("G");
    assert_eq!(screen.model.front, key("s3000"));
    assert_eq!(screen.model.sessions.after(), 0);
    screen.press("k g g");
    assert_eq!(screen.model.front, key("s1"));
}

#[test]
fn a_filter_counts_its_hits_holds_after_enter_and_esc_clears_it() {
    let mut rows: Vec<_> = (1..=6).map(|n| session(&format!("s{n}"), n)).collect();
    rows[4] = running(rows[4].clone(), 9);
    let mut screen = Screen::on(rows);
    screen.press("/").types("state:runs");
    assert_eq!((screen.model.sessions.hits, screen.model.sessions.total), (1, 6));
    screen.press("enter");
    assert_eq!((screen.model.pane, screen.model.front.clone()), (Pane::List, key("s5")));
    assert_eq!(screen.model.sessions.rows.len(), 1);
    screen.press("esc");
    assert_eq!(screen.model.sessions.rows.len(), 6);
    assert_eq!(screen.model.sessions.current().unwrap().name, "s5");
}

#[test]
fn a_command_typed_into_the_filter_goes_to_the_composer_with_enter() {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    screen.press("/").types("queue zzz");
    assert_eq!(switchboard::console::app::filter_offers(&screen.model).as_deref(), Some("/queue zzz"));
    screen.press("enter");
    assert_eq!((screen.model.pane, screen.draft().as_str()), (Pane::Composer, "/queue zzz"));
    assert_eq!(screen.model.sessions.rows.len(), 2);
}

#[test]
fn at_most_one_question_of_a_kind_is_on_its_way_and_the_newest_wins() {
    let mut screen = Screen::on((1..=4).map(|n| session(&format!("s{n}"), n)).collect());
    screen.answers = Answering::WhenTold;
    screen.press("j j j");
    let conversations =
        screen.waits_for().iter().filter(|query| matches!(query, Query::Conversation { .. })).count();
    assert_eq!(conversations, 1);
    screen.answer();
    assert_eq!(screen.model.conversation.session, Some(id(4)));
    let last = screen.tables.asked.iter().rev().find(|query| matches!(query, Query::Conversation { .. }));
    assert!(matches!(last, Some(Query::Conversation { session, .. }) if *session == id(4)));
}

#[test]
fn the_next_thing_that_needs_a_person_is_one_key_away_and_r_goes_on() {
    let mut rows: Vec<_> = (1..=3).map(|n| session(&format!("s{n}"), n)).collect();
    rows[2].state = SessionState::NeedsYou;
    rows[2].session.hold = Some(Hold { reason: HoldReason::BackendError, since: noon(), probe_at: None });
    let mut screen = Screen::on(rows);
    screen.press("j i").types("text").press("F8");
    assert_eq!((screen.model.pane, screen.model.front.clone()), (Pane::List, key("s3")));
    screen.press("r");
    assert_eq!(screen.acts(), [&Command::Continue { session: id(3) }]);
}

#[test]
fn a_reset_keeps_the_place_and_shows_the_new_memory() {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    screen.tables.change("a", |row| {
        row.session.previous = Some(row.session.id.clone());
        row.session.id = id(9);
    });
    screen.happens(Some(&id(9)), EventKind::SessionCreated { key: key("a"), previous: Some(id(1)) });
    assert_eq!(screen.model.front, key("a"));
    assert_eq!(screen.model.conversation.session, Some(id(9)));
    screen.press("p y");
    assert_eq!(screen.acts(), [&Command::BringBack { session: id(1) }]);
    let undo = Command::BringBack { session: id(9) };
    screen.replies(Ok(Reply::Done { words: "brought back".into(), undo: Some(Box::new(undo.clone())) }));
    screen.press("u");
    assert_eq!(screen.acts(), [&undo], "the way back is one key, as ever");
}

/// A list in which a given-up session stands behind more running ones than are loaded.
fn given_up_behind_many() -> Screen {
    let mut rows: Vec<_> =
        (1..=450).map(|number| running(session(&format!("s{number}"), number), 1)).collect();
    for (number, state) in [(451, SessionState::Suspended), (452, SessionState::Suspended)] {
        rows.push(SessionRow { state, ..session(&format!("given-up-{number}"), number) });
    }
    rows.extend((453..=700).map(|number| session(&format!("s{number}"), number)));
    Screen::on(rows)
}

#[test]
fn the_next_need_is_found_wherever_it_stands_in_the_list_and_round_again() {
    let mut screen = given_up_behind_many();
    screen.tables.change("s9", |row| row.state = SessionState::NeedsYou);
    screen.happens(Some(&id(9)), happened());
    let round = ["s9", "given-up-451", "given-up-452", "s9"];
    screen.press("g g");
    let mut met = vec![screen.model.front.clone()];
    for _ in 1..round.len() {
        screen.press("!");
        met.push(screen.model.front.clone());
        assert_eq!(screen.model.sessions.current().map(|row| row.key().clone()), met.last().cloned());
    }
    assert_eq!(met, round.map(key));
}

#[test]
fn the_next_need_is_found_behind_many_that_run_and_under_a_filter_that_hides_it() {
    let mut screen = given_up_behind_many();
    screen.press("F8");
    assert_eq!(screen.model.front, key("given-up-451"));
    screen.press("g g /").types("state:runs").press("enter F8");
    assert_eq!(screen.model.front, key("given-up-451"));
    assert!(screen.model.sessions.filter.is_empty());
}

#[test]
fn the_log_pauses_when_it_is_scrolled_counts_and_follows_again() {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    for _ in 0..20 {
        screen.happens(Some(&id(1)), EventKind::EngineReleased);
    }
    screen.press("5");
    assert_eq!((screen.model.view, screen.model.log.rows.len()), (View::Log, 20));
    screen.happens(None, EventKind::EngineReleased);
    assert_eq!(screen.model.log.selected, 20);
    screen.press("k k");
    for _ in 0..312 {
        screen.happens(None, EventKind::EngineReleased);
    }
    assert_eq!(screen.model.log.follow, Follow::Paused { new: 312 });
    assert_eq!(screen.model.log.rows.len(), 21);
    screen.press("G");
    assert_eq!(screen.model.log.follow, Follow::On);
    assert_eq!(screen.model.log.current().unwrap().seq.0, 333);
}

#[test]
fn a_row_of_the_log_about_a_job_names_it_leads_to_it_and_narrows_to_it() {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    screen.tables.jobs = jobs::at_work(screen.now);
    screen.happens(Some(&id(1)), EventKind::EngineReleased);
    let what = JobEvent::Recovered;
    screen.happens(None, EventKind::Job { job: jobs::id("backup"), what });
    screen.press("5");
    let row = screen.model.log.current().unwrap();
    assert_eq!((row.name.as_deref(), &row.about), (Some("backup"), &Some(About::Job(jobs::id("backup")))));
    screen.press("s");
    assert!(screen.tables.asked.iter().any(
        |asked| matches!(asked, Query::Events { session: None, job: Some(job), .. } if job.as_str() == "backup")
    ));
    screen.press("enter");
    assert_eq!(screen.model.view, View::Cron);
    assert_eq!(screen.model.cron.current().unwrap().row.name, "backup");
}

#[test]
fn the_log_is_narrowed_by_level_and_session() {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    screen.happens(Some(&id(1)), EventKind::EngineReleased);
    screen.happens(Some(&id(2)), EventKind::EngineHeld { why: "x".into() });
    screen.press("g l -");
    assert_eq!(screen.model.log.level, Level::Warn);
    assert_eq!(screen.model.log.rows.len(), 1);
    screen.press("+ s");
    assert_eq!(screen.model.log.only, Some(About::Session(id(2))));
    assert_eq!(screen.model.log.rows.len(), 1);
    screen.press("enter");
    assert_eq!((screen.model.view, screen.model.front.clone()), (View::Sessions, key("b")));
}

#[test]
fn foreign_names_are_harmless() {
    let mut row = session("a", 1);
    row.session.title = Some("x\u{1b}[2J\u{202e}\u{9b}y".to_owned());
    row.last_error = Some("bad\u{1b}]0;x\u{7}\nline".to_owned());
    let screen = Screen::on(vec![row]);
    let shown = &screen.model.sessions.rows[0];
    for text in [&shown.name, shown.last_error.as_ref().unwrap()] {
        assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text:?}");
    }
}

#[test]
fn a_screen_that_lagged_says_so_and_asks_for_all_anew() {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    screen.tables.asked.clear();
    screen.tell(Msg::Update(switchboard::domain::api::Update::Lagged { missed: 4812 }));
    let behind = switchboard::console::app::header::header(&screen.model).behind.unwrap();
    assert_eq!(behind, "SCREEN BEHIND: 4,812 events skipped, reloaded at 13:00:00");
    for wanted in ["Overview", "Sessions", "Conversation", "SessionQueue", "Events"] {
        assert!(screen.tables.asked.iter().any(|query| format!("{query:?}").starts_with(wanted)), "{wanted}");
    }
}

#[test]
fn a_session_chosen_elsewhere_is_found_in_the_list() {
    let mut rows: Vec<_> = (1..=900).map(|n| session(&format!("s{n}"), n)).collect();
    rows.push(session("needle", 901));
    let mut screen = Screen::on(rows);
    screen.press("/").types("s7").press("enter :").types("needle").press("enter esc");
    assert_eq!(screen.model.front, key("needle"));
    assert_eq!(screen.model.sessions.current().unwrap().name, "needle");
    assert_eq!(screen.model.sessions.after(), 0);
    screen.press("g g");
    assert_eq!(screen.model.sessions.current().unwrap().name, "s1");
}

#[test]
fn the_middle_of_a_long_list_can_be_left_both_ways() {
    let mut screen = Screen::on((1..=900).map(|n| session(&format!("s{n}"), n)).collect());
    screen.press(":").types("s450").press("enter esc");
    assert_eq!(screen.model.sessions.current().unwrap().name, "s450");
    screen.press("j");
    assert_eq!(screen.model.front, key("s451"));
    screen.press("k k");
    assert_eq!(screen.model.front, key("s449"));
}

#[test]
fn a_new_session_stays_in_the_list_and_in_front_when_it_begins_to_run() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.press("esc a").types("d").press("enter");
    let mut made = session("d", 2);
    made.session.last_activity_at = noon() + TimeDelta::seconds(1);
    screen.tables.sessions.push(made);
    let opened = Reply::Session { session: id(2), key: key("d"), words: "d".into() };
    screen.replies(Ok(opened));
    screen.wait(TimeDelta::seconds(4));
    screen.tables.change("d", |row| *row = running(row.clone(), 7));
    screen.happens(Some(&id(2)), happened());
    let names: Vec<_> = screen.model.sessions.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["d", "console"]);
    assert_eq!(screen.model.front, key("d"));
    assert_eq!(screen.model.sessions.current().unwrap().name, "d");
}

#[test]
fn a_session_in_front_that_leaves_its_window_is_found_again() {
    let mut screen = Screen::on((1..=900).map(|n| session(&format!("s{n}"), n)).collect());
    screen.press(":").types("s450").press("enter esc");
    screen.wait(TimeDelta::seconds(4));
    screen.tables.change("s450", |row| row.state = SessionState::NeedsYou);
    screen.happens(Some(&id(450)), happened());
    assert_eq!(screen.model.front, key("s450"));
    assert_eq!(screen.model.sessions.current().unwrap().name, "s450");
    assert_eq!((screen.model.sessions.before, screen.model.sessions.selected), (0, 0));
    screen.tables.change("s450", |row| row.state = SessionState::Idle);
    screen.happens(Some(&id(450)), happened());
    assert_eq!(screen.model.sessions.current().unwrap().name, "s450");
}

#[test]
fn silence_is_counted_from_what_any_session_said_last() {
    let mut screen = Screen::on(vec![running(session("a", 1), 7), running(session("b", 2), 8)]);
    let last = |screen: &Screen, name: &str| {
        screen.model.sessions.find(&key(name)).unwrap().row.turn.as_ref().unwrap().last_output_at
    };
    screen.wait(TimeDelta::seconds(30));
    for (session, turn) in [(1, 7), (2, 8)] {
        let piece = Piece {
            session: id(session),
            turn: TurnId(turn),
            stream: StreamKind::Text,
            offset: 0,
            text: "word".into(),
        };
        screen.tell(Msg::Tick(screen.now));
        screen.tell(Msg::Update(Update::Stream(piece.into())));
    }
    let said = Some(noon() + TimeDelta::seconds(30));
    assert_eq!((last(&screen, "a"), last(&screen, "b")), (said, said));
    // The engine's answer may be older than what was heard.
    screen.happens(Some(&id(2)), happened());
    assert_eq!((last(&screen, "a"), last(&screen, "b")), (said, said));
}
