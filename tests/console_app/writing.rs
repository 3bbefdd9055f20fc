//! The composer: what Enter will do, what became of it, and that no text is lost.

use chrono::TimeDelta;
use switchboard::console::app::action::Action;
use switchboard::console::app::composer::AckState;
use switchboard::console::app::enter_completes;
use switchboard::console::app::focus::Pane;
use switchboard::console::app::footer::footer;
use switchboard::console::app::header::header;
use switchboard::console::app::key::{Code, Key};
use switchboard::console::app::model::{Access, Pastes};
use switchboard::console::app::msg::{Effect, Failure, Msg, Reach};
use switchboard::console::app::overlay::Overlay;
use switchboard::domain::agent::{AgentName, KnownAgent};
use switchboard::domain::api::{Command, ComposerMemory, Reply, Update};
use switchboard::domain::event::EventKind;
use switchboard::domain::id::{ItemId, TurnId};
use switchboard::domain::queue::{Ack, BusyMode, Gate, Intent, ItemState, Lane, Source};
use switchboard::domain::spending::{Today, Whose};

use crate::support::screen::{Screen, id, item, key, noon, running, session, today};

fn submitted(text: &str, intent: Intent) -> Command {
    Command::Submit { to: key("console"), text: text.to_owned(), intent, source: Source::Console }
}

#[test]
fn a_second_plain_message_while_a_turn_runs_shows_what_it_replaces() {
    let mut row = running(session("console", 1), 7);
    let mut screen = Screen::on(vec![row.clone()]);
    assert_eq!(screen.border(), "runs next");
    row.slot = Some(item(&row, 3, Lane::Slot, ItemState::Waiting, "make it shorter").item);
    screen.tables.sessions = vec![row.clone()];
    screen.happens(Some(&row.session.id), told());
    assert_eq!(screen.border(), "REPLACES \"make it shorter\"");
}

fn told() -> switchboard::domain::event::EventKind {
    switchboard::domain::event::EventKind::Edited { item: ItemId(3) }
}

#[test]
fn the_border_follows_mode_hold_and_gate() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    assert_eq!(screen.border(), "runs at once");
    let cases = [
        (BusyMode::Queue, false, "queued, 3rd"),
        (BusyMode::Interrupt, false, "STOPS the turn, runs next"),
        (BusyMode::Steer, true, "handed to the running turn"),
        (BusyMode::Steer, false, "queued, 3rd"),
    ];
    for (mode, steerable, words) in cases {
        screen.tables.sessions = vec![running(session("console", 1), 7)];
        screen.tables.change("console", |row| {
            row.session.busy_mode = Some(mode);
            row.queued = 2;
            row.turn.as_mut().unwrap().steerable = steerable;
        });
        screen.happens(Some(&id(1)), told());
        assert_eq!(screen.border(), words, "{mode}");
    }
    screen.tables.sessions = vec![session("console", 1)];
    screen.tables.engine.gate = Gate::Held;
    screen.happens(Some(&id(1)), told());
    assert_eq!(screen.border(), "runs next: the engine is on hold");
}

#[test]
fn a_daily_limit_that_is_reached_holds_the_first_message_of_a_memory_too() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    let cases = [
        (today(Whose::Session, 99), "runs at once"),
        (today(Whose::Session, 100), "queued, 1st, held"),
        (Today { let_go: true, ..today(Whose::Session, 100) }, "runs at once"),
        (Today { until: noon(), ..today(Whose::Session, 100) }, "runs at once"),
    ];
    for (today, words) in cases {
        screen.tables.change("console", |row| row.today = Some(today.clone()));
        screen.happens(Some(&id(1)), told());
        assert_eq!(screen.border(), words, "{today:?}");
    }
    let mut screen = Screen::on(Vec::new());
    screen.tables.today = Some(today(Whose::All, 100));
    screen.happens(None, EventKind::EngineReleased);
    assert_eq!(screen.border(), "queued, 1st, held", "nothing was ever said here");
}

#[test]
fn what_is_typed_changes_what_the_border_says() {
    let mut screen = Screen::on(vec![running(session("console", 1), 7)]);
    screen.types("/queue x");
    assert_eq!(screen.border(), "queued, 1st");
    screen.press("ctrl-u").types("/stauts");
    assert_eq!(screen.border(), "refused, /stauts is no command");
    screen.press("ctrl-u").types("/title");
    assert_eq!(screen.border(), "refused, write /title NAME");
    screen.press("ctrl-u").types("/status");
    assert!(screen.border().starts_with("/status: "), "{}", screen.border());
}

#[test]
fn a_sent_message_is_acknowledged_at_once_and_then_truly() {
    let mut screen = Screen::on(vec![running(session("console", 1), 7)]);
    screen.types("hello").press("enter");
    assert_eq!(screen.draft(), "");
    assert_eq!(screen.ack(), "sending…");
    assert_eq!(screen.acts(), [&submitted("hello", Intent::Plain)]);
    let ack = Ack::Replaces { item: ItemId(4), sent_at: noon(), interrupts: false };
    screen.replies(Ok(Reply::Accepted { session: id(1), item: ItemId(9), ack }));
    assert_eq!(screen.ack(), "replaces your message of 13:00 (kept)");
}

#[test]
fn what_became_of_a_message_is_not_told_to_who_comes_back_later() {
    let mut screen = Screen::on(vec![running(session("console", 1), 7), session("b", 2)]);
    screen.press("i").types("hello").press("enter");
    assert_eq!(screen.ack(), "sending…");
    screen.press("esc j");
    screen.commands.retain(|(_, command)| matches!(command, Command::Submit { .. }));
    let ack = Ack::Next { interrupts: false, gate: Gate::Open };
    screen.replies(Ok(Reply::Accepted { session: id(1), item: ItemId(9), ack }));
    screen.press("k");
    assert_eq!((screen.model.front.clone(), screen.ack()), (key("console"), String::new()));
}

#[test]
fn a_refused_message_comes_back_into_the_composer_with_the_reason() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.types("hello").press("enter");
    screen.replies(Err(Failure::Refused("refused: the queue is full (500)".to_owned())));
    assert_eq!(screen.draft(), "hello");
    assert_eq!(screen.ack(), "refused: the queue is full (500)");
    assert_eq!(screen.model.composer().unwrap().ack.as_ref().unwrap().state, AckState::Refused);
}

#[test]
fn a_refused_message_never_overwrites_what_was_begun_meanwhile() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.types("first").press("enter").types("second");
    screen.commands.retain(|(_, command)| matches!(command, Command::Submit { .. }));
    screen.replies(Err(Failure::Refused("no".to_owned())));
    assert_eq!(screen.draft(), "second");
    screen.press("up");
    assert_eq!(screen.draft(), "first");
    screen.press("down");
    assert_eq!(screen.draft(), "second");
}

#[test]
fn ctrl_o_sends_as_queue_item() {
    let mut screen = Screen::on(vec![running(session("console", 1), 7)]);
    screen.types("later").press("ctrl-o");
    assert_eq!(screen.acts(), [&submitted("later", Intent::Queue)]);
}

#[test]
fn an_unknown_command_is_not_sent_and_stays_written() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.types("/stauts").press("enter");
    assert!(screen.acts().is_empty());
    assert_eq!(screen.draft(), "/stauts");
    assert!(screen.ack().contains("did you mean /status"), "{}", screen.ack());
}

#[test]
fn a_paste_is_one_draft_and_sends_nothing() {
    let mut screen = Screen::on(vec![running(session("console", 1), 7)]);
    screen.pastes("one\r\n/reset\rthree\nfo\u{1b}[201~ur\u{0}\nfive");
    assert_eq!(screen.draft(), "one\n/reset\nthree\nfo[201~ur\nfive");
    assert!(screen.acts().is_empty());
    screen.press("enter");
    assert_eq!(screen.acts(), [&submitted("one\n/reset\nthree\nfo[201~ur\nfive", Intent::Plain)]);
}

#[test]
fn a_paste_without_brackets_is_one_draft_too() {
    let mut screen = Screen::on(vec![running(session("console", 1), 7)]);
    screen.pours("one\r/reset\rthree\r");
    assert_eq!(screen.draft(), "one\n/reset\nthree\n");
    assert!(screen.acts().is_empty());
}

#[test]
fn a_line_that_arrives_at_once_with_its_enter_is_sent() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.pours("hello\r");
    assert_eq!(screen.acts(), [&submitted("hello", Intent::Plain)]);
}

#[test]
fn a_paste_over_the_list_becomes_a_draft_and_never_keys() {
    let mut screen = Screen::on(vec![session("console", 1), session("other", 2)]);
    assert_eq!(screen.model.pane, Pane::List);
    screen.pastes("xxq");
    assert_eq!((screen.model.pane, screen.draft().as_str()), (Pane::Composer, "xxq"));
}

#[test]
fn where_pastes_come_as_keys_those_that_pour_into_a_list_are_dropped_with_a_notice() {
    let mut screen = Screen::on(vec![session("console", 1), session("other", 2)]);
    screen.model.pastes = Pastes::AsKeys;
    screen.pours("jxqxqxq");
    assert!(screen.model.overlays.is_empty() && screen.acts().is_empty());
    assert!(screen.told().contains("dropped"), "{}", screen.told());
    screen.pours("jk");
    assert_eq!(screen.model.sessions.selected, 0);
    assert_eq!(screen.model.front, key("console"));
}

#[test]
fn where_pastes_are_marked_keys_are_keys_however_fast_they_come() {
    let mut screen = Screen::on((1..=9).map(|number| session(&format!("s{number}"), number)).collect());
    screen.pours("jjjjjjjk");
    assert_eq!(screen.model.sessions.selected, 6);
}

#[test]
fn keys_that_are_read_at_once_do_what_they_do_one_by_one() {
    for before in ["i", "esc", "esc /", "esc :", "esc a", "i ctrl-x"] {
        let state = |together: bool| {
            let mut screen = Screen::on(vec![session("console", 1), session("b", 2), session("c", 3)]);
            screen.press(before).wait(TimeDelta::seconds(1));
            let text = "jki/stat Qü";
            if together {
                screen.tell(Msg::Typed(text.to_owned(), screen.now));
            } else {
                let keys = text.chars().map(|letter| Key::plain(Code::Char(letter)));
                keys.for_each(|key| screen.tell(Msg::Key(key, screen.now)));
            }
            let model = &screen.model;
            let overlay = model.overlays.last().map(|overlay| match overlay {
                Overlay::Picker(picker) => (picker.text.text(), picker.entries.len()),
                Overlay::NewSession(prompt) => (prompt.text.text(), 0),
                other => panic!("{other:?}"),
            });
            let popup = model.composer().and_then(|composer| composer.popup.clone());
            let offers = popup.map(|popup| popup.entries);
            (
                screen.draft(),
                model.pane,
                model.sessions.selected,
                model.sessions.filter.text(),
                overlay,
                offers,
            )
        };
        assert_eq!(state(true), state(false), "{before}");
    }
}

#[test]
fn a_slash_completes_with_tab_and_enter_and_a_complete_one_is_sent() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.types("/stat").press("tab");
    assert_eq!((screen.draft().as_str(), screen.model.pane), ("/status", Pane::Composer));
    screen.press("ctrl-u").types("/tit").press("enter");
    assert_eq!(screen.draft(), "/title ");
    screen.types("x").press("enter");
    assert_eq!(screen.acts(), [&submitted("/title x", Intent::Plain)]);
    screen.types("/sto");
    assert!(enter_completes(&screen.model));
    screen.types("p");
    assert!(!enter_completes(&screen.model), "the border says what is so: it is sent");
    let enter = footer(&screen.model).into_iter().find(|hint| hint.action == Action::Send).unwrap();
    assert_eq!(enter.title, "send");
    screen.press("enter");
    assert_eq!(screen.acts().len(), 2);
}

#[test]
fn arrows_choose_in_the_completion_and_esc_closes_it_first() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.types("/st");
    let popup = screen.model.composer().unwrap().popup.clone().unwrap();
    assert!(popup.entries.len() > 1);
    screen.press("down enter");
    assert!(popup.entries[1].title.starts_with(screen.draft().trim_end()), "{}", screen.draft());
    screen.press("ctrl-u").types("/st").press("esc");
    assert!(screen.model.composer().unwrap().popup.is_none());
    assert_eq!(screen.model.pane, Pane::Composer);
    screen.press("esc");
    assert_eq!(screen.model.pane, Pane::List);
    assert_eq!(screen.draft(), "/st");
}

#[test]
fn drafts_belong_to_their_session_and_are_saved_after_a_pause() {
    let mut screen = Screen::on(vec![session("console", 1), session("other", 2)]);
    screen.press("i").types("for the console").wait(TimeDelta::seconds(2));
    let saved = Command::SaveDraft { key: key("console"), text: "for the console".to_owned() };
    assert_eq!(screen.commands.last().unwrap().1, saved);
    screen.press("esc j i");
    assert_eq!(screen.draft(), "");
    screen.types("x").press("esc");
    let memory = ComposerMemory { draft: "for the console".to_owned(), history: Vec::new() };
    screen.tables.composers.insert(key("console"), memory);
    screen.press("k");
    assert_eq!(screen.draft(), "for the console");
    let left = Command::SaveDraft { key: key("other"), text: "x".to_owned() };
    assert!(screen.commands.iter().any(|(_, command)| *command == left));
}

#[test]
fn a_draft_of_the_store_never_overwrites_what_was_typed_first() {
    use crate::support::screen::Answering;
    let mut screen =
        Screen::built(vec![session("console", 1)], Reach::Here, Access::Full, Answering::WhenTold);
    screen.types("typed");
    let memory = ComposerMemory { draft: "stored".to_owned(), history: vec!["old".to_owned()] };
    screen.tables.composers.insert(key("console"), memory);
    screen.wait(TimeDelta::seconds(2));
    assert!(screen.commands.is_empty(), "nothing is saved over a draft that was not seen");
    screen.answer();
    assert_eq!(screen.draft(), "typed");
    assert_eq!(screen.told(), "a draft of before was kept here: up brings it back");
    let stored = Command::RememberDraft { key: key("console"), text: "stored".to_owned() };
    assert!(screen.commands.iter().any(|(_, command)| *command == stored));
    screen.press("up");
    assert_eq!(screen.draft(), "stored");
    screen.press("up");
    assert_eq!(screen.draft(), "old");
    screen.press("down down");
    assert_eq!(screen.draft(), "typed");
}

#[test]
fn a_draft_is_saved_a_second_after_its_first_key_though_the_keys_go_on() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.wait(TimeDelta::seconds(2)).types(&"a".repeat(120));
    let saved: Vec<&str> = screen
        .commands
        .iter()
        .map(|(_, command)| match command {
            Command::SaveDraft { text, .. } => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(saved, ["a".repeat(50), "a".repeat(100)]);
}

#[test]
fn a_draft_that_an_engine_did_not_save_is_saved_by_the_next() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.types("words").wait(TimeDelta::seconds(2));
    screen.replies(Err(Failure::Gone("the engine ended".to_owned())));
    screen.tell(Msg::EngineGone { reason: "it ended".to_owned(), at: screen.now });
    screen.tell(Msg::Connected(Reach::Here));
    let saved = Command::SaveDraft { key: key("console"), text: "words".to_owned() };
    assert_eq!(screen.commands.last().unwrap().1, saved);
}

#[test]
fn a_draft_stays_while_the_history_is_looked_through_and_goes_there_when_its_text_is_taken() {
    let remembered = |screen: &Screen| {
        let draft = Command::RememberDraft { key: key("console"), text: "precious".to_owned() };
        screen.commands.iter().any(|(_, command)| *command == draft)
    };
    let looking = || {
        let mut screen = Screen::on(vec![session("console", 1), session("other", 2)]);
        screen
            .press("i")
            .types("sent")
            .press("enter")
            .types("precious")
            .press("up")
            .wait(TimeDelta::seconds(2));
        assert_eq!(screen.draft(), "sent");
        let saved = Command::SaveDraft { key: key("console"), text: "precious".to_owned() };
        assert_eq!(screen.commands.last().unwrap().1, saved);
        screen.commands.clear();
        screen
    };

    let mut elsewhere = looking();
    let memory = ComposerMemory { draft: "precious".to_owned(), history: vec!["sent".to_owned()] };
    elsewhere.tables.composers.insert(key("console"), memory);
    elsewhere.commands.clear();
    elsewhere.press("esc j").wait(TimeDelta::seconds(1)).press("k");
    assert_eq!(elsewhere.draft(), "precious");

    for taken in ["x", "enter"] {
        let mut screen = looking();
        screen.press(taken);
        assert!(remembered(&screen), "{taken}");
        screen.press("ctrl-u ctrl-r").types("precious").press("enter");
        assert_eq!(screen.draft(), "precious", "{taken}");
    }
}

#[test]
fn the_history_is_searched() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    let history = ["build it", "test it", "ship it"].map(str::to_owned).to_vec();
    screen.tables.composers.insert(key("console"), ComposerMemory { draft: String::new(), history });
    let sessions = screen.tables.sessions.clone();
    let composers = std::mem::take(&mut screen.tables.composers);
    let mut screen =
        Screen::built(sessions, Reach::Here, Access::Full, crate::support::screen::Answering::WhenTold);
    screen.tables.composers = composers;
    screen.answer();
    screen.press("ctrl-r").types("tst").press("enter");
    assert_eq!(screen.draft(), "test it");
    assert!(screen.model.overlays.is_empty());
}

#[test]
fn the_external_editor_gives_the_draft_back() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.types("a").press("ctrl-x ctrl-e");
    assert_eq!(screen.effects, [Effect::OpenEditor("a".to_owned())]);
    screen.tell(switchboard::console::app::Msg::EditorClosed(Ok("a\nb\n".to_owned())));
    assert_eq!(screen.draft(), "a\nb");
}

#[test]
fn a_command_that_would_lose_something_asks_and_does_it_on_yes() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.types("/new").press("enter");
    screen.replies(Ok(Reply::Asks {
        question: "2 waiting messages would be lost".into(),
        confirm: "/new! fresh start".into(),
    }));
    let Some(Overlay::Confirm(confirm)) = screen.model.overlays.last() else { panic!("it does not ask") };
    assert_eq!(confirm.buttons[1].title, "start anew");
    screen.press("y");
    assert!(screen.acts().contains(&&submitted("/new! fresh start", Intent::Plain)));
}

#[test]
fn a_shown_text_is_safe_and_closes_with_esc_back_to_the_composer() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.types("/status").press("enter");
    let text = "line\u{1b}]52;c;QUJD\u{7}\nmore".to_owned();
    screen.replies(Ok(Reply::Shown { title: "status".into(), text }));
    let Some(Overlay::Viewer(viewer)) = screen.model.overlays.last() else { panic!("nothing is shown") };
    assert!(!viewer.text.contains('\u{1b}') && viewer.text.contains("\nmore"));
    screen.press("esc");
    assert!(screen.model.overlays.is_empty());
    assert_eq!(screen.model.pane, Pane::Composer);
}

#[test]
fn read_only_sends_nothing_and_says_so_on_the_border() {
    let reach = Reach::Attached { pid: 4121 };
    let mut screen = Screen::reached(vec![session("console", 1)], reach, Access::ReadOnly);
    screen.types("hello").press("enter").wait(TimeDelta::seconds(5));
    assert!(screen.commands.is_empty());
    assert!(screen.border().starts_with("read-only"));
    assert_eq!(screen.draft(), "hello");
}

#[test]
fn an_acknowledgement_is_taken_away_when_it_is_true_no_more() {
    let mut screen = Screen::on(vec![running(session("console", 1), 7)]);
    screen.types("later").press("ctrl-o");
    let ack = Ack::Queued { position: 1, depth: 1, hold: None, gate: Gate::Open, not_steerable: false };
    screen.replies(Ok(Reply::Accepted { session: id(1), item: ItemId(9), ack }));
    assert_eq!(screen.ack(), "queued, 1st of 1");
    let outcome = switchboard::domain::turn::Outcome::Done;
    let turn = switchboard::domain::id::TurnId(7);
    let ended = switchboard::domain::event::EventKind::TurnEnded { turn, item: ItemId(1), outcome };
    screen.happens(Some(&id(1)), ended);
    assert_eq!(screen.ack(), "");
}

#[test]
fn what_undo_and_retry_hid_is_told_under_the_composer() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    screen.types("/undo 2").press("enter");
    let undo = Command::ShowTurns { session: id(1), turns: vec![] };
    screen.replies(Ok(Reply::Done { words: "2 turns hidden".into(), undo: Some(undo.into()) }));
    assert_eq!(screen.ack(), "2 turns hidden; alt-u shows them again (10 s)");
    screen.types("/retry").press("enter");
    screen.commands.retain(|(_, command)| matches!(command, Command::Submit { .. }));
    screen.tables.change("console", |row| *row = running(row.clone(), 3));
    let ack = Ack::Running { turn: TurnId(3) };
    screen.replies(Ok(Reply::Accepted { session: id(1), item: ItemId(5), ack }));
    assert_eq!(screen.ack(), "the last answer is hidden, its message runs again: running");
}

#[test]
fn agents_are_completed_by_name_and_the_header_shows_whose_turn_comes() {
    let coder: AgentName = "coder".parse().unwrap();
    let mut screen = Screen::on(vec![session("console", 1)]);
    assert_eq!(header(&screen.model).agent, "practice agent, offline");
    let known = KnownAgent { label: "ACP agent opencode".to_owned(), steerable: false };
    screen.tables.engine.agents.known.insert(coder.clone(), known);
    screen.tables.change("console", |row| row.session.chosen_agent = Some(coder.clone()));
    screen.happens(Some(&id(1)), EventKind::AgentChosen { agent: Some(coder.clone()) });
    screen.tell(Msg::Update(Update::Engine(Box::new(screen.tables.engine.clone()))));
    assert_eq!(header(&screen.model).agent, "coder: ACP agent opencode");
    screen.types("/agent c");
    let popup = screen.model.composer().unwrap().popup.clone().unwrap();
    let offered = popup.entries.iter().map(|entry| (entry.title.as_str(), entry.help.as_str()));
    assert_eq!(offered.collect::<Vec<_>>(), [("coder", "ACP agent opencode")]);
}

#[test]
fn the_completion_begins_with_what_can_be_done_now_and_offers_the_words_of_a_command() {
    let offered = |screen: &Screen| -> Vec<String> {
        let popup = screen.model.composer().and_then(|composer| composer.popup.clone());
        popup.into_iter().flat_map(|popup| popup.entries).map(|entry| entry.title).collect()
    };
    let place = |titles: &[String], of: &str| titles.iter().position(|title| title == of).unwrap();
    let mut idle = Screen::on(vec![session("console", 1)]);
    idle.types("/");
    let titles = offered(&idle);
    assert!(place(&titles, "/stop") > place(&titles, "/status"), "{titles:?}");
    let mut busy = Screen::on(vec![running(session("console", 1), 7)]);
    busy.types("/");
    let titles = offered(&busy);
    assert!(place(&titles, "/stop") < place(&titles, "/retry"), "{titles:?}");
    busy.press("ctrl-u").types("/busy in");
    assert_eq!(offered(&busy), ["interrupt"]);
    busy.press("tab");
    assert_eq!(busy.draft(), "/busy interrupt");
    busy.press("ctrl-u").types("/busy ").press("tab");
    assert_eq!(offered(&busy), ["replace", "queue", "interrupt", "steer", "default"]);
    busy.press("ctrl-u").types("/busy ").press("enter");
    assert_eq!(busy.acts(), [&submitted("/busy ", Intent::Plain)], "without a word Enter shows the mode");
}

#[test]
fn what_is_said_under_the_composer_goes_when_it_is_true_no_more() {
    let mut screen = Screen::on(vec![session("console", 1)]);
    let undo = Command::Unsuspend { session: id(1) };
    screen.types("/suspend").press("enter");
    screen.replies(Ok(Reply::Done { words: "suspended".into(), undo: Some(Box::new(undo)) }));
    assert!(screen.ack().contains("takes it back (10 s)"), "{}", screen.ack());
    screen.wait(TimeDelta::seconds(11));
    assert_eq!(screen.ack(), "");
    screen.types("/undo").press("enter");
    screen.replies(Err(Failure::Refused("refused: a turn runs".into())));
    screen.wait(TimeDelta::seconds(11));
    assert_eq!(screen.ack(), "refused: a turn runs");
    screen.wait(TimeDelta::minutes(1));
    assert_eq!(screen.ack(), "");
}

#[test]
fn an_act_by_key_takes_away_what_was_said_of_the_text_before_it() {
    let mut row = running(session("console", 1), 7);
    row.queued = 1;
    let mut screen = Screen::on(vec![row]);
    screen.types("/undo").press("enter");
    screen.replies(Err(Failure::Refused("refused: a turn runs".into())));
    assert_eq!(screen.ack(), "refused: a turn runs");
    screen.press("ctrl-c ctrl-c ctrl-c");
    let done = |words: &str| Ok(Reply::Done { words: words.into(), undo: None });
    let stop = screen.commands.pop().unwrap();
    for (ticket, _) in std::mem::take(&mut screen.commands) {
        screen.tell(Msg::Replied { ticket, result: done("the draft is kept") });
    }
    screen.commands.push(stop);
    assert_eq!(screen.ack(), "refused: a turn runs");
    screen.replies(done("stopping"));
    assert_eq!(screen.ack(), "");
}

#[test]
fn the_conversation_follows_what_is_sent() {
    let mut screen = Screen::on(vec![session("a", 1)]);
    screen.press("pgup");
    screen.types("hello").press("enter");
    assert!(screen.model.conversation.follows());
}
