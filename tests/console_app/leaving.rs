//! Leaving, losing and stopping the engine.

use switchboard::console::app::Msg;
use switchboard::console::app::focus::{Focus, Pane};
use switchboard::console::app::header::{Engine, header};
use switchboard::console::app::model::{Access, End, Link};
use switchboard::console::app::msg::{Effect, Failure, Leave, Reach};
use switchboard::console::app::overlay::{CardKind, Overlay};
use switchboard::domain::api::{Command, Drain, Update, Waited};
use switchboard::domain::event::EventKind;
use switchboard::domain::id::RunId;
use switchboard::domain::marker::{Marker, ResumePending, ResumeReason};
use switchboard::domain::queue::Gate;
use switchboard::domain::recovery::AfterStop;

use crate::support::recovered::marked;
use crate::support::screen::{Answering, Screen, id, key, noon, running, session};

fn two() -> Screen {
    Screen::on(vec![running(session("console", 1), 7), session("b", 2)])
}

#[test]
fn on_a_screen_too_small_to_show_anything_a_key_only_leaves_and_what_runs_goes_on() {
    let mut screen = two();
    screen.press("i").types("words").press("esc").wait(chrono::TimeDelta::seconds(2));
    let before = screen.commands.len();
    screen.tell(Msg::Resize { width: 30, height: 6 });
    screen.press("x y j enter q y f8 y").pastes("more");
    assert!(screen.model.overlays.is_empty() && screen.effects.is_empty());
    assert_eq!((screen.commands.len(), screen.model.front.clone()), (before, key("console")));
    assert_eq!(screen.draft(), "words");
    screen.press("ctrl-c");
    assert_eq!(screen.effects, [Effect::Quit(Leave::EngineGoesOn)]);

    screen.effects.clear();
    screen.tell(Msg::Connected(Reach::Attached { pid: 7 }));
    screen.press("ctrl-c");
    assert_eq!(screen.effects, [Effect::Quit(Leave::Detached)]);
}

fn drains(screen: &mut Screen) {
    drains_until(screen, AfterStop::End);
}

fn drains_until(screen: &mut Screen, then: AfterStop) {
    let mut status = screen.tables.engine.clone();
    status.gate = Gate::Stopping;
    status.drain = Some(Drain {
        why: "asked elsewhere".into(),
        then,
        since: noon(),
        until: noon() + chrono::TimeDelta::seconds(20),
        waits_for: vec![Waited::Turn { session: id(1), name: "console".into() }],
        cut: vec![],
        background: Default::default(),
    });
    screen.tables.engine = status.clone();
    screen.tell(Msg::Update(Update::Engine(Box::new(status))));
}

#[test]
fn q_asks_whether_to_stop_the_engine_or_to_leave_it_running() {
    let mut screen = two();
    screen.press("q enter");
    assert!(screen.effects.is_empty() && screen.acts().is_empty(), "cancel is marked");
    screen.press("q k");
    assert_eq!(screen.effects, [Effect::Quit(Leave::EngineGoesOn)]);
}

#[test]
fn stopping_the_engine_shows_the_drain_and_leaves_when_it_has_stopped() {
    let mut screen = two();
    screen.press("q y");
    assert!(matches!(screen.acts()[..], [Command::Stop { .. }]));
    drains(&mut screen);
    assert_eq!(screen.model.focus(), Focus::Card);
    screen.tell(Msg::EngineGone { reason: "stopped".into(), at: screen.now });
    assert_eq!(screen.effects, [Effect::Quit(Leave::Stopped)]);
}

#[test]
fn a_stop_can_be_called_off_and_then_nothing_is_left() {
    let mut screen = two();
    screen.press("q y");
    drains(&mut screen);
    screen.press("k");
    assert_eq!(screen.acts().last(), Some(&&Command::KeepRunning));
    screen.tables.engine.drain = None;
    screen.tell(Msg::Update(Update::Engine(Box::new(screen.tables.engine.clone()))));
    assert!(screen.model.card.is_none());
    screen.tell(Msg::EngineGone { reason: "crash".into(), at: screen.now });
    assert!(screen.effects.is_empty(), "it no longer leaves by itself");
}

#[test]
fn a_drain_that_another_asked_for_never_takes_the_focus() {
    let mut screen = two();
    screen.press("i");
    drains(&mut screen);
    screen.types("xk");
    assert_eq!(screen.draft(), "xk");
    assert!(screen.acts().is_empty());
    screen.press("F8");
    assert_eq!(screen.model.focus(), Focus::Card);
    screen.press("x");
    assert_eq!(screen.acts(), [&Command::CutNow]);
    screen.press("esc");
    assert_eq!(screen.model.focus(), Focus::Pane(Pane::Composer));
}

#[test]
fn leaving_a_screen_whose_engine_stops_says_so_and_offers_to_call_it_off_or_to_cut() {
    let mut screen = two();
    screen.press("q y");
    drains(&mut screen);
    screen.press("esc q");
    let Some(Overlay::Confirm(confirm)) = screen.model.overlays.last() else { panic!("no question") };
    assert!(confirm.question.starts_with("The engine stops already (asked elsewhere)."), "{confirm:?}");
    assert!(confirm.detail.starts_with("It waits for console;"), "{confirm:?}");
    screen.press("k");
    assert_eq!(screen.acts().last(), Some(&&Command::KeepRunning));
    assert!(screen.effects.is_empty(), "the screen stays");
    screen.press("q x");
    assert_eq!(screen.acts().last(), Some(&&Command::CutNow));
    screen.press("q y");
    assert_eq!(screen.effects, [Effect::Quit(Leave::EngineGoesOn)], "the stop goes on without the screen");
}

#[test]
fn an_attached_screen_says_that_the_engine_it_leaves_stops() {
    let attached = Reach::Attached { pid: 7 };
    let mut screen = Screen::reached(vec![running(session("a", 1), 7)], attached, Access::ReadOnly);
    drains(&mut screen);
    screen.press("esc q");
    let Some(Overlay::Confirm(confirm)) = screen.model.overlays.last() else { panic!("no question") };
    assert!(confirm.question.contains("stops already"), "{confirm:?}");
    assert_eq!(confirm.buttons.len(), 2, "who may only read can't call it off");
    screen.press("y");
    assert_eq!(screen.effects, [Effect::Quit(Leave::Detached)]);
}

#[test]
fn ctrl_c_stops_no_turn_while_the_engine_stops() {
    let mut screen = two();
    screen.press("i ctrl-c");
    assert!(screen.model.armed.is_some());
    drains(&mut screen);
    assert!(screen.model.armed.is_none() && screen.model.notices.is_empty(), "the offer is withdrawn");
    screen.press("ctrl-c");
    assert!(matches!(screen.model.overlays[..], [Overlay::Confirm(_)]), "it asks how to leave");
    screen.press("ctrl-c ctrl-c ctrl-c");
    assert!(screen.acts().is_empty(), "nothing was stopped");
}

#[test]
fn an_attached_screen_only_detaches() {
    let mut screen =
        Screen::reached(vec![session("a", 1), session("b", 2)], Reach::Attached { pid: 7 }, Access::Full);
    screen.press("i").types("/quit").press("enter y");
    assert_eq!(screen.effects, [Effect::Quit(Leave::Detached)]);
    assert!(screen.acts().is_empty());
}

#[test]
fn the_draft_is_saved_before_the_screen_is_left() {
    let mut screen = two();
    screen.press("i").types("half a thought").press("esc q k");
    let saved = screen
        .commands
        .iter()
        .any(|(_, command)| matches!(command, Command::SaveDraft { text, .. } if text == "half a thought"));
    assert!(saved);
}

#[test]
fn a_lost_engine_is_said_at_once_and_the_screen_stays_readable() {
    let mut screen = two();
    screen.press("i").types("hello").press("enter").types("more");
    screen.tables.asked.clear();
    screen.tell(Msg::EngineGone { reason: "connection\u{1b} closed".into(), at: screen.now });
    assert!(matches!(header(&screen.model).engine, Engine::Gone(_)));
    let card = screen.model.card.clone().unwrap();
    assert!(matches!(card.kind, CardKind::Gone { ref reason, .. } if !reason.contains('\u{1b}')));
    assert_eq!(screen.model.focus(), Focus::Pane(Pane::Composer));
    screen.types("!");
    assert_eq!(screen.draft(), "more!");
    screen.press("esc j k");
    assert!(screen.tables.asked.is_empty(), "nobody is asked");
    screen.press("F8 r");
    assert_eq!(screen.effects, [Effect::Reconnect]);
    screen.tell(Msg::Connected(Reach::Attached { pid: 9 }));
    assert!(screen.model.card.is_none());
    assert!(!screen.tables.asked.is_empty());
    assert_eq!(header(&screen.model).engine, Engine::Attached(9));
}

#[test]
fn an_engine_that_restarts_is_awaited_without_a_key() {
    let mut screen = two();
    drains_until(&mut screen, AfterStop::Restart);
    screen.tell(Msg::EngineGone { reason: "connection closed".into(), at: screen.now });
    let card = screen.model.card.clone().unwrap();
    assert!(matches!(card.kind, CardKind::Gone { trying: Some("it restarts: reconnecting…"), .. }));
    assert_eq!(screen.effects, [Effect::AwaitRestart]);
    (screen.tables.engine.gate, screen.tables.engine.drain) = (Gate::Open, None);
    screen.tell(Msg::Connected(Reach::Attached { pid: 9 }));
    assert!(screen.model.card.is_none());
}

#[test]
fn an_engine_that_stopped_in_order_is_told_so_with_who_asked_and_what_was_cut() {
    let mut screen = two();
    drains(&mut screen);
    screen.tables.engine.drain.as_mut().unwrap().cut =
        vec![Waited::Turn { session: id(1), name: "console".into() }];
    screen.tell(Msg::Update(Update::Engine(Box::new(screen.tables.engine.clone()))));
    screen.happens(None, EventKind::EngineStopped { run: RunId("1".into()) });
    screen.press("esc q");
    let Some(Overlay::Confirm(confirm)) = screen.model.overlays.last() else { panic!("no question") };
    assert_eq!(confirm.buttons.len(), 2, "what was cut is neither cut again nor called off");
    screen.press("esc");
    let last = screen.now;
    screen.tell(Msg::EngineGone { reason: "the engine, process 7, ended or let go".into(), at: last });
    assert_eq!(header(&screen.model).engine, Engine::Stopped(last));
    let card = screen.model.card.clone().unwrap();
    let CardKind::Gone { reason, .. } = card.kind else { panic!("{card:?}") };
    let told = "It stopped in order, as asked (asked elsewhere); cut: console, which the next start resumes.";
    assert_eq!(reason, told);
    assert!(screen.border().starts_with("engine stopped: "), "{}", screen.border());
    // The next one is only lost.
    (screen.tables.engine.gate, screen.tables.engine.drain) = (Gate::Open, None);
    screen.tell(Msg::Connected(Reach::Attached { pid: 9 }));
    screen.tell(Msg::EngineGone { reason: "connection closed".into(), at: last });
    assert_eq!(header(&screen.model).engine, Engine::Gone(last));
}

#[test]
fn a_message_without_an_answer_says_to_look_before_it_is_sent_again() {
    let mut screen = two();
    screen.press("i").types("hello").press("enter");
    screen.commands.retain(|(_, command)| matches!(command, Command::Submit { .. }));
    screen.replies(Err(Failure::Gone("connection closed".into())));
    assert!(screen.ack().contains("look whether it was taken"), "{}", screen.ack());
    assert_eq!(screen.draft(), "hello");
}

#[test]
fn a_failed_reconnect_is_told_and_the_card_offers_it_again() {
    let mut screen = two();
    screen.tell(Msg::EngineGone { reason: "x".into(), at: screen.now });
    screen.press("F8 s");
    assert_eq!(screen.effects, [Effect::StartHere]);
    screen.tell(Msg::Notice(switchboard::console::app::msg::Tone::Error, "the home is taken".into()));
    assert!(matches!(screen.model.card.as_ref().unwrap().kind, CardKind::Gone { trying: None, .. }));
    assert!(screen.model.overlays.iter().all(|overlay| !matches!(overlay, Overlay::Confirm(_))));
    assert_eq!(screen.told(), "the home is taken");
}

#[test]
fn after_an_orderly_stop_nothing_is_asked_and_nothing_counts_on() {
    let mut screen = two();
    drains(&mut screen);
    screen.press("esc N q");
    assert_eq!((screen.model.overlays.len(), screen.model.notices.len()), (1, 1));
    let last = screen.now;
    screen.tell(Msg::EngineGone { reason: "the engine stopped".into(), at: last });
    assert!(screen.model.overlays.is_empty(), "the question has no one to answer it");
    assert!(screen.model.notices.is_empty(), "what was told is true no more");
    let header = header(&screen.model);
    assert_eq!((header.engine, header.drain), (Engine::Gone(last), None));
    screen.wait(chrono::TimeDelta::minutes(5)).tell(Msg::Tick(last + chrono::TimeDelta::minutes(5)));
    assert_eq!(screen.model.as_of(), last, "ages go on");
}

#[test]
fn a_text_that_is_being_changed_outlives_the_engine() {
    let mut screen = two();
    screen.press("a").types("half a na");
    screen.tell(Msg::EngineGone { reason: "x".into(), at: screen.now });
    assert!(matches!(screen.model.overlays[..], [Overlay::NewSession(_)]));
}

#[test]
fn a_card_without_the_focus_tells_the_key_that_reaches_it() {
    let mut screen = two();
    screen.press("i").types("hello");
    screen.tell(Msg::EngineGone { reason: "x".into(), at: screen.now });
    let hints = switchboard::console::app::footer::footer(&screen.model);
    assert_eq!((hints[0].keys.as_str(), hints[0].title.as_str()), ("F8", "reconnect, start"));
    assert_eq!(screen.border(), "engine gone: F8, then r reconnects, s starts it here");
    screen.press("enter");
    assert_eq!((screen.told(), screen.draft()), (format!("send: {}", screen.border()), "hello".to_owned()));
    assert!(screen.acts().is_empty());
}

#[test]
fn the_offer_to_stop_a_turn_goes_when_it_is_no_longer_true() {
    let mut screen = two();
    screen.press("i ctrl-c");
    assert!(screen.told().contains("again within 2 s"), "{}", screen.told());
    screen.wait(chrono::TimeDelta::seconds(3));
    assert!(screen.model.notices.is_empty(), "another ctrl-c would not stop it");
    screen.press("ctrl-c");
    screen.tables.sessions[0] = session("console", 1);
    screen.happens(Some(&id(1)), EventKind::EngineReleased);
    assert!(screen.model.notices.is_empty() && screen.model.armed.is_none(), "the turn has ended");
}

#[test]
fn while_the_drain_waits_a_running_turn_is_told_as_marked_and_not_as_cut() {
    let row = running(session("console", 1), 7);
    let mark = ResumePending { reason: ResumeReason::ShutdownTimeout, since: noon() };
    let row = marked(row, Marker::ResumePending(mark), 0);
    let mut screen = Screen::on(vec![row]);
    drains(&mut screen);
    screen.press("esc v");
    let card = screen.card();
    assert!(card.contains("the next start resumes it if the drain cuts it"), "{card}");
    assert!(!card.contains("cut off"), "{card}");
}

#[test]
fn the_card_of_a_second_stop_names_nobody_whose_turn_ended_in_the_first() {
    let mut screen = two();
    drains(&mut screen);
    let status = |screen: &mut Screen, change: &dyn Fn(&mut Drain)| {
        let mut status = screen.tables.engine.clone();
        change(status.drain.as_mut().unwrap());
        screen.tables.engine = status.clone();
        screen.tell(Msg::Update(Update::Engine(Box::new(status))));
    };
    let waited = screen.tables.engine.drain.clone().unwrap().waits_for;
    status(&mut screen, &|drain| drain.waits_for.clear());
    assert_eq!(Waited::names(&screen.model.drained), "console");
    // An answer that was on its way knows less: nothing is done twice, and what runs is not done.
    status(&mut screen, &|drain| drain.waits_for.clone_from(&waited));
    assert!(screen.model.drained.is_empty());
    status(&mut screen, &|drain| drain.waits_for.clear());
    assert_eq!(Waited::names(&screen.model.drained), "console");
    // The restart that followed: the next thing heard is another drain, for the same session.
    status(&mut screen, &|drain| {
        drain.since = noon() + chrono::TimeDelta::seconds(60);
        drain.waits_for.clone_from(&waited);
    });
    assert!(screen.model.drained.is_empty(), "{:?}", screen.model.drained);
}

#[test]
fn an_engine_that_is_silent_is_told_apart_from_one_that_is_gone() {
    let mut screen = Screen::reached(vec![session("a", 1)], Reach::Attached { pid: 7 }, Access::Full);
    screen.tell(Msg::EngineSilent(Some(noon())));
    assert_eq!(header(&screen.model).engine, Engine::Attached(7));
    assert_eq!(header(&screen.model).silent_since, Some(noon()));
    assert!(
        screen.told().contains("process 7") && screen.told().contains("does not answer"),
        "{}",
        screen.told()
    );
    screen.tell(Msg::EngineSilent(None));
    assert_eq!(header(&screen.model).silent_since, None);
    assert_eq!(screen.told(), "the engine answers again");
    screen.tell(Msg::EngineSilent(Some(noon())));
    screen.tell(Msg::EngineGone { reason: "connection closed".into(), at: screen.now });
    assert_eq!(header(&screen.model).silent_since, None);
}

#[test]
fn what_an_engine_did_last_before_it_stopped_is_shown_from_its_store() {
    let mut screen =
        Screen::reached(vec![running(session("a", 1), 7)], Reach::Attached { pid: 7 }, Access::Full);
    drains(&mut screen);
    screen.answers = Answering::WhenTold;
    screen.happens(None, EventKind::EngineStopped { run: RunId("1".to_owned()) });
    screen.tell(Msg::EngineGone { reason: "closed".into(), at: screen.now });
    assert!(screen.effects.contains(&Effect::ReadStore), "{:?}", screen.effects);
    screen.tables.change("a", |row| *row = session("a", 1));
    screen.answers = Answering::AtOnce;
    screen.tell(Msg::StoreReached);
    assert_eq!(screen.model.sessions.rows[0].row.turn, None);
    assert!(matches!(screen.model.link, Link::Gone { end: End::Stopped, .. }));
}
