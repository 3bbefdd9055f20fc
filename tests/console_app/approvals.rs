//! What an agent asks: the card that opens by itself, takes no focus, and is answered by keys.

use switchboard::console::app::Msg;
use switchboard::console::app::approvals::{Seen, asked};
use switchboard::console::app::focus::{Focus, Pane, Target};
use switchboard::console::app::footer::footer;
use switchboard::console::app::key::{Code, Key};
use switchboard::console::app::msg::{Failure, Measured, Mouse, MouseAct};
use switchboard::console::app::overlay::{CardKind, Overlay, Stands};
use switchboard::domain::api::{Command, Drain, EngineStatus, Outliving, Reply, SessionRow, Update};
use switchboard::domain::approval::{Always, Answer, Approval, Question};
use switchboard::domain::event::{EventKind, Level};
use switchboard::domain::id::{ApprovalId, TurnId};
use switchboard::domain::recovery::AfterStop;
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
    screen.press("y");
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

#[test]
fn a_question_that_was_not_drawn_is_not_answered() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    screen.press("esc F8");
    screen.wait(chrono::TimeDelta::seconds(1));
    screen.draws();
    screen.types("y");
    assert!(screen.acts().is_empty());
    assert!(screen.told().contains("nothing of what it would do is shown"), "{}", screen.told());
    // It was read only as far as that `always` would allow more than is seen.
    let question = Some(Seen { approval: ApprovalId(1), prefix: false });
    screen.tell(Msg::Drawn(Measured { question, ..Measured::default() }));
    screen.types("a");
    assert!(screen.acts().is_empty());
    screen.types("y");
    assert_eq!(screen.acts(), [&answered(1, Answer::Once)]);
}

#[test]
fn a_typed_answer_is_for_the_question_that_is_shown() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    screen.press("esc enter esc i").types("/approve").press("enter");
    assert_eq!(screen.acts(), [&answered(1, Answer::Once)]);
    // What was typed again before the answer came is for the same.
    screen.types("/approve").press("enter");
    assert_eq!(screen.acts(), [&answered(1, Answer::Once); 2]);
    // Another question that came up just now is not answered by words that were meant for the first.
    let row = screen.model.front_row.as_ref().unwrap().row.clone();
    screen.types("/deny no");
    screen.tables.change("a", |changed| changed.asks = vec![approval(9, &row, "rm x")]);
    screen.happens(Some(&id(1)), notice());
    screen.wait(chrono::TimeDelta::milliseconds(100));
    screen.tell(Msg::Key(Key::plain(Code::Enter), screen.now));
    assert_eq!(screen.acts().len(), 2);
    assert!(screen.ack().contains("question 9 came up just now"), "{}", screen.ack());
    screen.press("enter");
    assert_eq!(screen.acts()[2], &answered(9, Answer::Deny { why: Some("no".to_owned()) }));
    screen.commands.retain(|(_, command)| matches!(command, Command::Answer { .. }));
    screen.replies(Ok(Reply::Done { words: "allowed once: terminal: git push".to_owned(), undo: None }));
    screen.replies(Err(Failure::Refused("question 1 is settled already: allowed once".to_owned())));
    assert!(screen.ack().contains("settled already"), "{}", screen.ack());
    screen.tables.change("a", |row| row.asks.clear());
    screen.happens(Some(&id(1)), notice());
    screen.press("ctrl-c").types("/approve").press("enter");
    assert_eq!(screen.ack(), "refused: the agent asks nothing here");
}

#[test]
fn a_typed_answer_that_names_its_question_is_for_that_one_whatever_is_shown() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    let row = screen.model.front_row.as_ref().unwrap().row.clone();
    screen.tables.change("a", |changed| changed.asks.push(approval(23, &row, "rm x")));
    screen.happens(Some(&id(1)), notice());
    screen.press("esc enter esc i").types("/deny 2").press("tab");
    assert_eq!(screen.draft(), "/deny 23", "the numbers of the questions complete it");
    screen.types(" 3 files").press("enter");
    let [Command::Submit { text, .. }] = screen.acts()[..] else { panic!("{:?}", screen.acts()) };
    assert_eq!(text, "/deny 23 3 files", "the engine finds the question, as for everybody else");
}

#[test]
fn the_words_of_a_denial_are_never_lost() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    screen.press("esc F8 e").types("use staging").press("esc");
    let question = |screen: &Screen| matches!(screen.model.overlays.last(), Some(Overlay::Confirm(_)));
    assert!(question(&screen), "it is asked before they are thrown away");
    screen.press("esc F8");
    assert!(screen.told().contains("save it or leave it first"), "{}", screen.told());
    // Settled elsewhere: the prompt says so, and the words come back.
    screen.tables.change("a", |row| row.asks.clear());
    screen.happens(Some(&id(1)), notice());
    screen.wait(chrono::TimeDelta::seconds(5));
    let Some(Overlay::DenyWhy(deny)) = screen.model.overlays.last() else { panic!() };
    assert_eq!((deny.stands, deny.session.as_str()), (Stands::Settled, "a"));
    assert_eq!(footer(&screen.model)[0].title, "to the draft");
    screen.press("enter");
    assert!(screen.acts().is_empty() && screen.model.overlays.is_empty());
    assert_eq!(screen.draft(), "use staging");
    assert!(screen.told().contains("settled meanwhile"), "{}", screen.told());
}

#[test]
fn the_words_of_a_denial_that_comes_too_late_come_back() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    screen.press("esc F8 e").types("use staging").press("enter");
    screen.replies(Err(Failure::Refused("question 1 is settled already: denied by itself".to_owned())));
    assert_eq!(screen.draft(), "use staging");
}

#[test]
fn while_the_engine_stops_a_question_is_reached_by_its_card() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    screen.press("esc");
    let status = EngineStatus { drain: Some(drain()), ..screen.tables.engine.clone() };
    screen.tables.engine = status.clone();
    screen.tell(Msg::Update(Update::Engine(Box::new(status))));
    let kind = |screen: &Screen| screen.model.card.as_ref().map(|card| card.kind == CardKind::Drain);
    assert_eq!(kind(&screen), Some(true));
    screen.press("F8 F8");
    assert_eq!(asked(&screen.model).unwrap().what, "git push");
    // And back to the stop, which goes on.
    screen.press("F8");
    assert_eq!((kind(&screen), screen.model.focus()), (Some(true), Focus::Card));
    screen.press("F8 y");
    assert_eq!(screen.acts(), [&answered(1, Answer::Once)]);
    // A hidden card of the stop gives way by itself.
    screen.tables.change("a", |row| row.asks.clear());
    screen.happens(Some(&id(1)), notice());
    screen.wait(chrono::TimeDelta::seconds(5));
    screen.press("F8 esc");
    let row = screen.model.front_row.as_ref().unwrap().row.clone();
    screen.tables.change("a", |changed| changed.asks = vec![approval(9, &row, "rm x")]);
    screen.happens(Some(&id(1)), notice());
    screen.wait(chrono::TimeDelta::seconds(5));
    assert_eq!(asked(&screen.model).unwrap().what, "rm x");
}

#[test]
fn all_texts_that_were_on_their_way_to_a_dying_engine_come_back() {
    let mut screen = Screen::on(vec![session("a", 1)]);
    screen.types("AAA").press("enter").types("BBB").press("enter");
    screen.commands.retain(|(_, command)| matches!(command, Command::Submit { .. }));
    for _ in 0..2 {
        screen.replies(Err(Failure::Gone("the connection was closed".to_owned())));
    }
    assert_eq!(screen.draft(), "AAA");
    assert!(screen.ack().contains("2 texts came back, \"AAA\" and \"BBB\"; up has each"), "{}", screen.ack());
}

fn notice() -> EventKind {
    EventKind::Notice { level: Level::Info, text: "something happened".to_owned() }
}

fn drain() -> Drain {
    Drain {
        why: "asked".to_owned(),
        then: AfterStop::End,
        since: noon(),
        until: noon() + chrono::TimeDelta::seconds(30),
        waits_for: vec![],
        cut: vec![],
        background: Outliving::default(),
    }
}

#[test]
fn a_card_that_opens_again_has_the_harmless_button_marked() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    screen.press("esc F8 right esc F8 enter");
    assert!(screen.acts().is_empty());
    assert!(screen.model.card.as_ref().unwrap().hidden);
}

#[test]
fn the_wheel_scrolls_a_question() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    screen.press("esc F8");
    let mouse = |act| Msg::Mouse(Mouse { act, target: Some(Target::Overlay) }, noon());
    screen.tell(mouse(MouseAct::WheelDown));
    assert_eq!(asked(&screen.model).unwrap().top, 3);
    screen.tell(mouse(MouseAct::WheelUp));
    assert_eq!(asked(&screen.model).unwrap().top, 0);
}

#[test]
fn it_is_told_that_an_answer_to_a_dying_engine_may_not_have_been_taken() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push")]);
    screen.press("esc F8 y");
    assert_eq!(screen.ack(), "sending…");
    screen.replies(Err(Failure::Gone("the connection was closed".to_owned())));
    assert!(screen.ack().contains("look whether it was taken"), "{}", screen.ack());
    assert_eq!(screen.draft(), "");
}

#[test]
fn whoever_would_stop_the_engine_is_told_of_what_asks_for_it_stands_still() {
    let mut screen = Screen::on(vec![asks("a", 1, "git push"), session("b", 2)]);
    screen.press("esc /").types("b").press("enter");
    assert!(screen.model.sessions.rows.iter().all(|row| row.asks.is_none()), "a filter hides it");
    screen.press("i").types("/quit").press("enter");
    let Some(Overlay::Confirm(confirm)) = screen.model.overlays.last() else { panic!("it does not ask") };
    assert!(confirm.detail.contains("1 session asks you"), "{}", confirm.detail);
    assert!(!confirm.detail.contains("stops at once"), "{}", confirm.detail);
}
