//! Keys and focus: the rules of the map.

use chrono::TimeDelta;
use switchboard::console::app::action::Action;
use switchboard::console::app::focus::{Pane, Target, View};
use switchboard::console::app::footer::footer;
use switchboard::console::app::keymap::KeyMap;
use switchboard::console::app::msg::{Mouse, MouseAct, Reach, Tone};
use switchboard::console::app::overlay::{Overlay, PickerKind};
use switchboard::console::app::{Msg, in_text, keymap_toml, keys_markdown};
use switchboard::domain::api::Command;
use switchboard::domain::id::TurnId;

use crate::support::screen::{Screen, id, key, running, session};

fn two() -> Screen {
    Screen::on(vec![running(session("console", 1), 7), session("b", 2)])
}

#[test]
fn every_printable_key_is_text_in_the_composer() {
    let mut screen = two();
    let all: String = (' '..='~').collect();
    screen.press("i").types(&all);
    assert_eq!(screen.draft(), all);
    assert_eq!((screen.model.view, screen.model.pane), (View::Sessions, Pane::Composer));
}

#[test]
fn esc_goes_out_step_by_step_and_never_further_than_the_list() {
    let mut screen = two();
    screen.press("i").types("text").press("F1 esc");
    assert_eq!((screen.model.pane, screen.model.overlays.len()), (Pane::Composer, 0));
    screen.press("esc esc esc esc");
    assert_eq!(screen.model.pane, Pane::List);
    assert!(screen.model.overlays.is_empty() && screen.acts().is_empty());
    screen.press("i");
    assert_eq!(screen.draft(), "text");
}

#[test]
fn tab_walks_the_ring_and_shift_tab_walks_back() {
    let mut screen = two();
    let mut panes = Vec::new();
    for _ in 0..3 {
        screen.press("tab");
        panes.push(screen.model.pane);
    }
    assert_eq!(panes, [Pane::Conversation, Pane::Composer, Pane::List]);
    screen.press("shift-tab");
    assert_eq!(screen.model.pane, Pane::Composer);
}

#[test]
fn alt_with_a_key_in_a_text_field_means_the_key_outside() {
    let mut screen = two();
    screen.press("i").types("text").press("alt-2");
    assert_eq!(screen.model.view, View::Queue);
    screen.press("1 i alt-x");
    assert!(matches!(screen.model.overlays.last(), Some(Overlay::Confirm(_))), "alt-x is not x");
    screen.press("esc i esc 2");
    assert_eq!(screen.model.view, View::Queue, "torn apart it is the same");
    screen.press("1 i");
    assert_eq!(screen.draft(), "text");
}

#[test]
fn a_torn_word_key_of_the_composer_does_nothing_in_the_list() {
    let mut screen = two();
    for letter in ["b", "d", "f"] {
        screen.press(letter);
        assert!(screen.told().contains("does nothing here"), "{}", screen.told());
    }
    assert!(screen.acts().is_empty() && screen.model.overlays.is_empty());
    assert_eq!(screen.model.pane, Pane::List);
}

#[test]
fn views_that_do_not_exist_have_no_key() {
    let mut screen = two();
    screen.press("6");
    assert_eq!(screen.model.view, View::Sessions);
    assert!(screen.told().starts_with("6 does nothing here"), "{}", screen.told());
}

#[test]
fn a_sequence_waits_for_its_second_key_and_esc_takes_it_back() {
    let mut screen = two();
    screen.press("g");
    assert_eq!(screen.model.pending.len(), 1);
    screen.press("esc");
    assert!(screen.model.pending.is_empty());
    screen.press("g l");
    assert_eq!(screen.model.view, View::Log);
    screen.press("g p");
    assert_eq!(screen.model.view, View::Sessions);
}

#[test]
fn ctrl_c_closes_then_clears_then_stops_on_the_second_and_then_asks_to_leave() {
    let mut screen = two();
    screen.press("i").types("draft").press("F1 ctrl-c");
    assert!(screen.model.overlays.is_empty());
    screen.press("ctrl-c");
    assert_eq!(screen.draft(), "");
    let kept = Command::RememberDraft { key: key("console"), text: "draft".to_owned() };
    assert!(screen.commands.iter().any(|(_, command)| *command == kept));
    screen.press("ctrl-c");
    assert_eq!(screen.model.armed.as_ref().unwrap().turn, TurnId(7));
    assert!(screen.acts().is_empty());
    screen.wait(TimeDelta::seconds(3)).press("ctrl-c");
    assert!(screen.acts().is_empty(), "two seconds are over");
    screen.press("ctrl-c");
    assert_eq!(screen.acts(), [&Command::StopTurn { session: id(1), turn: Some(TurnId(7)) }]);
    screen.tables.sessions[0].turn = None;
    screen.happens(Some(&id(1)), switchboard::domain::event::EventKind::EngineReleased);
    screen.press("up ctrl-c");
    assert_eq!(screen.draft(), "");
    screen.press("ctrl-c");
    assert!(matches!(screen.model.overlays.last(), Some(Overlay::Confirm(_))));
}

#[test]
fn stopping_asks_and_the_yes_means_the_turn_of_the_moment_it_was_asked() {
    let mut screen = two();
    screen.press("x");
    screen.tables.sessions[0].turn.as_mut().unwrap().turn = TurnId(8);
    screen.happens(Some(&id(1)), switchboard::domain::event::EventKind::EngineReleased);
    screen.press("y");
    assert_eq!(screen.acts(), [&Command::StopTurn { session: id(1), turn: Some(TurnId(7)) }]);
}

#[test]
fn a_question_takes_no_key_that_was_meant_for_what_was_there_before() {
    let mut screen = two();
    screen.press("x");
    screen.now += TimeDelta::milliseconds(300);
    screen.tell(Msg::Key("y".parse().unwrap(), screen.now));
    assert!(screen.acts().is_empty());
    screen.now += TimeDelta::milliseconds(200);
    screen.tell(Msg::Key("y".parse().unwrap(), screen.now));
    assert_eq!(screen.acts().len(), 1);
}

#[test]
fn a_disabled_key_says_why() {
    let mut screen = two();
    screen.press("j x");
    assert_eq!(screen.told(), "stop turn: no turn runs in b");
    let hint = footer(&screen.model).into_iter().find(|hint| hint.action == Action::StopTurn).unwrap();
    assert_eq!((hint.keys.as_str(), hint.why_not.as_deref()), ("x", Some("no turn runs in b")));
    screen.press("ctrl-z");
    assert!(screen.told().contains("engine runs in this window"), "{}", screen.told());
}

#[test]
fn help_lists_the_keys_of_the_focus_and_enter_runs_one() {
    let mut screen = two();
    screen.press("?");
    let Some(Overlay::Picker(picker)) = screen.model.overlays.last() else { panic!("no help") };
    assert_eq!(picker.kind, PickerKind::Help);
    assert!(picker.entries.iter().any(|entry| entry.keys == "j, down"));
    assert!(!picker.entries.iter().any(|entry| entry.title == "send"));
    screen.types("view queue").press("enter");
    assert_eq!(screen.model.view, View::Queue);
}

#[test]
fn the_palette_finds_actions_sessions_and_commands() {
    let mut rows: Vec<_> = (1..=900).map(|n| session(&format!("s{n}"), n)).collect();
    rows.push(session("needle", 901));
    let mut screen = Screen::on(rows);
    screen.press(":").types("needle").press("enter");
    assert_eq!((screen.model.front.clone(), screen.model.pane), (key("needle"), Pane::Composer));
    screen.press("alt-:").types("/title some name").press("enter");
    assert_eq!(screen.draft(), "/title some name");
    screen.press("alt-:").types("hold disk is full").press("enter");
    assert_eq!(screen.acts(), [&Command::Hold { why: "disk is full".to_owned() }]);
}

#[test]
fn a_new_session_is_named_or_says_what_a_name_can_not_hold() {
    let mut screen = two();
    screen.press("a").types("no way").press("enter");
    let Some(Overlay::NewSession(prompt)) = screen.model.overlays.last() else { panic!("it closed") };
    assert!(prompt.failed.as_ref().unwrap().contains("no spaces"));
    screen.press("ctrl-u").types("releases").press("enter");
    assert_eq!(screen.acts(), [&Command::OpenSession { key: key("releases") }]);
    screen.replies(Ok(switchboard::domain::api::Reply::Session {
        key: key("releases"),
        session: id(9),
        words: "new session releases".into(),
    }));
    assert_eq!((screen.model.front.clone(), screen.model.pane), (key("releases"), Pane::Composer));
}

#[test]
fn a_click_focuses_what_it_hits_and_a_wheel_scrolls_without_focus() {
    let mut screen = two();
    let click = |target| Msg::Mouse(Mouse { act: MouseAct::Click, target: Some(target) }, screen.now);
    let (pane, tab, row) = (
        click(Target::Pane(Pane::Composer)),
        click(Target::Tab(View::Log)),
        click(Target::Session(key("b"))),
    );
    screen.tell(pane);
    assert_eq!(screen.model.pane, Pane::Composer);
    assert!(in_text(&screen.model));
    screen.tell(row);
    assert_eq!((screen.model.pane, screen.model.front.clone()), (Pane::List, key("b")));
    screen.tell(tab);
    assert_eq!(screen.model.view, View::Log);
}

#[test]
fn an_idle_screen_changes_nothing() {
    let mut screen = two();
    screen.model.take_dirty();
    screen.wait(TimeDelta::minutes(5));
    assert!(!screen.model.take_dirty());
    assert!(screen.waits_for().is_empty());
    screen.tell(Msg::Tick(screen.now));
    assert!(screen.model.take_dirty());
}

#[test]
fn the_documentation_of_the_keys_comes_from_the_map() {
    let map = KeyMap::shipped();
    let markdown = keys_markdown(&map);
    assert!(markdown.contains("| `e` | edit-item | edit the text; can be undone |"), "{markdown}");
    assert!(markdown.contains("| `ctrl-x ctrl-e` | external-editor |"));
    let (again, problems) = KeyMap::with_changes("printed", &keymap_toml(&map));
    assert_eq!((again, problems), (map, vec![]));
}

#[test]
fn without_an_engine_only_looking_works() {
    let mut screen = Screen::reached(
        vec![session("a", 1), session("b", 2)],
        Reach::StoreOnly,
        switchboard::console::app::model::Access::ReadOnly,
    );
    screen.press("a j x r i").types("hi").press("enter");
    assert!(screen.commands.is_empty());
}

#[test]
fn a_sequence_that_leads_nowhere_loses_no_printable_key() {
    let mut screen = two();
    screen.press("i ctrl-x").types("ab");
    assert_eq!(screen.draft(), "ab");
}

#[test]
fn the_footer_and_the_buttons_of_a_question_use_the_same_words() {
    let mut screen = two();
    screen.press("esc q");
    let Some(Overlay::Confirm(confirm)) = screen.model.overlays.last() else { panic!("it does not ask") };
    let hints = footer(&screen.model);
    for button in &confirm.buttons {
        let hint = hints.iter().find(|hint| hint.action == button.action).unwrap();
        assert_eq!(hint.title, button.title);
    }
}

#[test]
fn the_footer_says_what_enter_does_in_each_field() {
    let enter = |screen: &Screen| footer(&screen.model).first().map(|hint| hint.title.clone()).unwrap();
    let mut screen = two();
    screen.press("esc /");
    assert_eq!(enter(&screen), "keep the filter");
    screen.press("esc a");
    assert_eq!(enter(&screen), "create");
    screen.press("esc :");
    assert_eq!(enter(&screen), "run");
}

#[test]
fn where_nothing_can_be_changed_no_key_offers_to() {
    let access = switchboard::console::app::model::Access::ReadOnly;
    let mut screen = Screen::reached(vec![session("a", 1), session("b", 2)], Reach::StoreOnly, access);
    for keys in ["esc", "tab", "i", "2"] {
        screen.press(keys);
        let offered: Vec<_> = footer(&screen.model).into_iter().map(|hint| hint.action.spec().name).collect();
        for act in ["new-session", "stop-turn", "go-on", "send", "send-queued", "compose", "drop-item"] {
            assert!(!offered.contains(&act), "{keys}: {offered:?}");
        }
    }
}

#[test]
fn what_was_told_can_be_read_again_in_full() {
    let mut screen = two();
    screen.tell(Msg::Notice(Tone::Warn, "keymap.toml:3: \"j\" is bound twice in [list]".into()));
    screen.wait(TimeDelta::minutes(1));
    screen.press("esc :").types("notices").press("enter");
    let Some(Overlay::Viewer(viewer)) = screen.model.overlays.last() else { panic!("nothing is shown") };
    assert_eq!(viewer.text, "13:00:00  keymap.toml:3: \"j\" is bound twice in [list]");
}

#[test]
fn the_palette_offers_first_what_can_be_done_now_and_finds_no_word_in_scattered_letters() {
    let mut screen = two();
    screen.press("esc :");
    let Some(Overlay::Picker(picker)) = screen.model.overlays.last() else { panic!("no palette") };
    let not_now = picker.entries.iter().position(|entry| entry.why_not.is_some()).unwrap();
    assert!(picker.entries[not_now..].iter().all(|entry| entry.why_not.is_some()));
    let sessions = picker.entries.iter().filter(|entry| entry.detail.starts_with("session, "));
    assert_eq!(sessions.count(), 2);
    screen.types("theme");
    let Some(Overlay::Picker(picker)) = screen.model.overlays.last() else { panic!("no palette") };
    assert!(picker.entries.iter().all(|entry| entry.title != "previous memory"));
}
