//! What an agent asks: the card that opens by itself, takes no focus, and is answered by keys.

use switchboard::console::app::approvals::asked;
use switchboard::console::app::focus::{Focus, Pane};
use switchboard::domain::api::{Command, SessionRow};
use switchboard::domain::approval::{Always, Answer, Approval, Question};
use switchboard::domain::id::{ApprovalId, TurnId};
use switchboard::domain::session::SessionState;

use crate::support::screen::*;

fn approval(number: i64, row: &SessionRow, what: &str) -> Approval {
    Approval {
        id: ApprovalId(number),
        session: row.session.id.clone(),
        turn: TurnId(7),
        question: Question {
            tool: "terminal".to_owned(),
            what: what.to_owned(),
            folder: "/srv/api".to_owned(),
            always: Always::of(what),
        },
        asked_at: noon(),
        denies_at: noon() + chrono::TimeDelta::minutes(10),
        decision: None,
    }
}

/// A session whose agent asks.
fn asks(name: &str, number: u32, what: &str) -> SessionRow {
    let mut row = running(session(name, number), 7);
    row.state = SessionState::NeedsYou;
    row.asks = vec![approval(i64::from(number), &row, what)];
    row
}

fn answered(number: i64, answer: Answer) -> Command {
    Command::Answer { approval: ApprovalId(number), answer }
}

#[test]
fn the_card_opens_in_its_session_and_takes_no_key_before_the_operator_goes_to_it() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push"), session("b", 2)]);
    screen.press("esc g g");
    assert_eq!(asked(&screen.model).unwrap().what, "git push");
    assert_eq!(screen.model.focus(), Focus::Pane(Pane::List));
    screen.press("y n");
    assert!(screen.acts().is_empty());
    screen.press("F8");
    assert_eq!(screen.model.focus(), Focus::Card);
    screen.press("y");
    assert_eq!(screen.acts(), [&answered(1, Answer::Once)]);
    // What was answered takes no second key.
    assert_eq!(screen.model.focus(), Focus::Pane(Pane::List));
}

#[test]
fn each_key_of_the_card_gives_its_answer() {
    let on_card = || {
        let mut screen = Screen::on(vec![asks("a", 1, "git push --tags")]);
        screen.press("esc F8");
        screen
    };
    let mut screen = on_card();
    screen.press("n");
    assert_eq!(screen.acts(), [&answered(1, Answer::Deny { why: None })]);
    let mut screen = on_card();
    assert_eq!(asked(&screen.model).unwrap().always, Ok("git push".to_owned()));
    screen.press("a");
    assert_eq!(screen.acts(), [&answered(1, Answer::Always)]);
    let mut screen = on_card();
    screen.press("e").types("yes, never a tag").press("enter");
    let why = Some("yes, never a tag".to_owned());
    assert_eq!(screen.acts(), [&answered(1, Answer::Deny { why })]);
    let mut screen = on_card();
    screen.press("e").types("no").press("esc");
    assert_eq!(screen.model.focus(), Focus::Card, "back to the question, nothing was answered");
    screen.press("enter");
    assert!(screen.acts().is_empty(), "the marked button is the harmless one");
    assert!(screen.model.card.as_ref().unwrap().hidden);
    screen.press("F8 y");
    assert_eq!(screen.acts(), [&answered(1, Answer::Once)]);
}

#[test]
fn always_says_why_it_is_not_offered() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push && reboot")]);
    screen.press("esc F8 a");
    assert!(screen.acts().is_empty());
    assert!(screen.told().contains("not offered: it is more than one command"), "{}", screen.told());
}

#[test]
fn enter_in_the_list_goes_to_the_card_and_i_to_the_composer() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    screen.press("esc enter");
    assert_eq!(screen.model.focus(), Focus::Card);
    screen.press("esc i");
    assert_eq!(screen.model.focus(), Focus::Pane(Pane::Composer));
    assert!(screen.border().contains("is no answer"), "{}", screen.border());
}

#[test]
fn the_next_need_goes_from_question_to_question() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push"), asks("b", 2, "git pull"), session("c", 3)]);
    screen.press("esc G F8");
    let first = asked(&screen.model).unwrap().what.clone();
    assert_eq!(screen.model.focus(), Focus::Card);
    screen.press("F8");
    assert_eq!(screen.model.focus(), Focus::Card);
    assert_ne!(asked(&screen.model).unwrap().what, first);
}

#[test]
fn a_question_that_is_settled_elsewhere_takes_its_card_and_its_keys_away() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    screen.press("esc F8");
    let first = screen.model.front_row.as_ref().unwrap().row.clone();
    screen.tables.change("a", |row| row.asks = vec![approval(9, &first, "git pull")]);
    screen.happens(
        Some(&id(1)),
        switchboard::domain::event::EventKind::Notice {
            level: switchboard::domain::event::Level::Info,
            text: "the first is settled".to_owned(),
        },
    );
    screen.press("y");
    assert!(screen.acts().is_empty(), "a key for the first question answers no other");
    assert_eq!(asked(&screen.model).unwrap().approval, ApprovalId(9));
    screen.tables.change("a", |row| {
        row.asks.clear();
        row.state = SessionState::Runs;
    });
    screen.happens(
        Some(&id(1)),
        switchboard::domain::event::EventKind::Notice {
            level: switchboard::domain::event::Level::Info,
            text: "the second is settled".to_owned(),
        },
    );
    screen.wait(chrono::TimeDelta::seconds(5));
    assert_eq!(asked(&screen.model), None);
}

#[test]
fn foreign_characters_of_a_question_are_made_visible() {
    let screen = Screen::on(vec![asks("a", 1, "echo a\u{1b}[2Jb\u{202e}c\nrm x")]);
    let what = &asked(&screen.model).unwrap().what;
    assert!(!what.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{what:?}");
    assert!(what.ends_with("\nrm x"), "{what:?}");
}
