//! The queue: each act on the item that was meant, wherever it is by then.

use chrono::TimeDelta;
use switchboard::console::app::focus::{Pane, View};
use switchboard::console::app::msg::Failure;
use switchboard::console::app::overlay::Overlay;
use switchboard::domain::api::{Command, Direction, EngineHold, Reply};
use switchboard::domain::event::EventKind;
use switchboard::domain::id::ItemId;
use switchboard::domain::queue::{Gate, ItemState, Lane, Refusal};

use crate::support::screen::{Screen, id, item, key, noon, running, session};

/// Two busy sessions: the first with a message in the slot, two items behind it, one put aside.
fn busy() -> Screen {
    let (one, two) = (running(session("one", 1), 7), running(session("two", 2), 8));
    let mut items = vec![
        item(&one, 1, Lane::Slot, ItemState::Waiting, "make it shorter"),
        item(&one, 2, Lane::Queue, ItemState::Waiting, "translate it"),
        item(&one, 3, Lane::Queue, ItemState::Waiting, "post it"),
        item(&one, 4, Lane::Slot, ItemState::Superseded, "too long"),
        item(&two, 5, Lane::Queue, ItemState::Waiting, "only for two"),
    ];
    items[1].position = Some(1);
    items[2].position = Some(2);
    items[4].position = Some(1);
    let mut screen = Screen::on(vec![one, two]);
    screen.tables.items = items;
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    screen.press("tab tab");
    assert_eq!(screen.model.pane, Pane::Queue);
    screen
}

#[test]
fn the_queue_shows_only_its_own_session() {
    let mut screen = busy();
    let names: Vec<_> = screen.model.queue.rows.iter().map(|row| row.excerpt.clone()).collect();
    assert_eq!(names, ["make it shorter", "translate it", "post it", "too long"]);
    screen.press("esc j");
    let names: Vec<_> = screen.model.queue.rows.iter().map(|row| row.excerpt.clone()).collect();
    assert_eq!((screen.model.front.clone(), names), (key("two"), vec!["only for two".to_owned()]));
}

#[test]
fn a_dropped_item_can_be_taken_back_for_ten_seconds() {
    let mut screen = busy();
    screen.press("j d");
    assert_eq!(screen.acts(), [&Command::DropItem { item: ItemId(2) }]);
    let undo = Command::RestoreItems { items: vec![ItemId(2)] };
    let done = Reply::Done { words: "dropped \"translate it\"".into(), undo: Some(Box::new(undo.clone())) };
    screen.replies(Ok(done.clone()));
    assert_eq!(screen.told(), "dropped \"translate it\"");
    screen.press("u");
    assert_eq!(screen.acts(), [&undo]);
    screen.replies(Ok(done));
    screen.wait(TimeDelta::seconds(11)).press("u");
    assert!(screen.acts().is_empty());
    assert!(screen.told().contains("nothing was done in the last 10 s"), "{}", screen.told());
}

#[test]
fn items_are_moved_switched_and_put_back() {
    let mut screen = busy();
    screen.press("j j K J t k k k t G r");
    assert_eq!(
        screen.acts(),
        [
            &Command::MoveItem { item: ItemId(3), direction: Direction::Up },
            &Command::MoveItem { item: ItemId(3), direction: Direction::Down },
            &Command::SwitchLane { item: ItemId(3) },
            &Command::SwitchLane { item: ItemId(1) },
            &Command::RestoreItems { items: vec![ItemId(4)] },
        ]
    );
}

#[test]
fn a_key_that_can_not_act_says_why() {
    let mut screen = busy();
    screen.press("K");
    assert!(screen.told().contains("only /queue items move"), "{}", screen.told());
    screen.press("j K");
    assert!(screen.told().contains("first of its queue"), "{}", screen.told());
    screen.press("G e");
    assert!(screen.told().contains("replaced"), "{}", screen.told());
    screen.press("esc d");
    assert!(screen.acts().is_empty());
}

#[test]
fn the_selection_follows_the_item_not_the_row() {
    let mut screen = busy();
    screen.press("j j");
    screen.tables.items.swap(1, 2);
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    assert_eq!(screen.model.queue.current().unwrap().id(), ItemId(3));
    assert_eq!(screen.model.queue.selected, 1);
}

#[test]
fn clearing_asks_with_the_count_and_holds_the_session_it_was_asked_for() {
    let mut screen = busy();
    screen.press("C");
    let Some(Overlay::Confirm(confirm)) = screen.model.overlays.last() else { panic!("it does not ask") };
    assert_eq!(confirm.question, "Clear the queue of one: 3 waiting messages?");
    assert_eq!(confirm.marked, 0);
    screen.press("enter");
    assert!(screen.acts().is_empty());
    screen.press("C");
    screen.tables.sessions.swap(0, 1);
    screen.happens(Some(&id(2)), EventKind::Edited { item: ItemId(5) });
    screen.press("y");
    assert_eq!(screen.acts(), [&Command::ClearQueue { session: id(1) }]);
}

#[test]
fn an_edit_is_saved_or_says_why_not_and_is_never_lost_by_esc() {
    let mut screen = busy();
    screen.press("e").types(" please").press("F2");
    let edited = |was: &str| Command::EditItem {
        item: ItemId(1),
        was: was.to_owned(),
        text: "make it shorter please".to_owned(),
    };
    assert_eq!(screen.acts(), [&edited("make it shorter")]);
    screen.replies(Err(Failure::Refused("refused: the item is running".into())));
    let Some(Overlay::ItemEditor(editor)) = screen.model.overlays.last() else { panic!("the editor closed") };
    assert_eq!(editor.failed.as_deref(), Some("refused: the item is running"));
    screen.press("esc enter");
    assert!(matches!(screen.model.overlays.last(), Some(Overlay::ItemEditor(_))), "the text was thrown away");
    screen.press("ctrl-s");
    screen.replies(Ok(Reply::Done { words: "edited".into(), undo: None }));
    assert!(screen.model.overlays.is_empty());
    screen.press("e esc");
    assert!(screen.model.overlays.is_empty(), "an unchanged text asks nothing");
}

#[test]
fn an_edit_of_what_another_console_changed_meanwhile_is_refused_once_and_then_meant() {
    let mut screen = busy();
    screen.press("e").types(" please");
    screen.tables.items[0].item.text = "make it longer".to_owned();
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    let edited = |was: &str| Command::EditItem {
        item: ItemId(1),
        was: was.to_owned(),
        text: "make it shorter please".to_owned(),
    };
    screen.press("F2");
    assert_eq!(screen.acts().last(), Some(&&edited("make it shorter")));
    let refused = Refusal::ItemEdited { now: "make it longer".to_owned() }.to_string();
    screen.replies(Err(Failure::Refused(refused.clone())));
    let Some(Overlay::ItemEditor(editor)) = screen.model.overlays.last() else { panic!("the editor closed") };
    assert_eq!(editor.failed, Some(refused));
    screen.press("F2");
    assert_eq!(screen.acts().last(), Some(&&edited("make it longer")));
}

#[test]
fn the_backlog_shows_all_sessions_and_goes_to_one() {
    let mut screen = busy();
    screen.press("2");
    assert_eq!(screen.model.view, View::Queue);
    assert_eq!(screen.model.backlog.rows.len(), 4);
    screen.press("/").types("only");
    assert_eq!(screen.model.backlog.rows.len(), 1);
    screen.press("enter enter");
    assert_eq!((screen.model.view, screen.model.front.clone()), (View::Sessions, key("two")));
}

#[test]
fn v_tells_what_an_item_waits_for() {
    let mut screen = busy();
    screen.press("j j v");
    let Some(Overlay::Viewer(viewer)) = screen.model.overlays.last() else { panic!("nothing is told") };
    for told in
        ["for the end of turn 7 since", "/stop stops it", "1 before it, then this one, 2nd of the queue"]
    {
        assert!(viewer.text.contains(told), "{}", viewer.text);
    }
}

#[test]
fn while_the_engine_is_on_hold_v_names_the_way_out_that_works() {
    let mut screen = busy();
    screen.tables.change("one", |row| row.turn = None);
    screen.tables.engine.gate = Gate::Held;
    screen.tables.engine.held = Some(EngineHold { since: noon(), why: "the disk".into() });
    screen.happens(None, EventKind::EngineHeld { why: "the disk".into() });
    screen.press("v");
    let Some(Overlay::Viewer(viewer)) = screen.model.overlays.last() else { panic!("nothing is told") };
    for told in ["on hold since 13:00: the disk", "frees it    :release", "this message: it is in the slot"] {
        assert!(viewer.text.contains(told), "{}", viewer.text);
    }
    assert!(!viewer.text.contains("/continue") && !viewer.text.contains("end of turn"), "{}", viewer.text);
}

#[test]
fn no_other_view_is_opened_over_a_changed_text() {
    let mut screen = busy();
    screen.press("e").types(" x").press("alt-5 F8");
    assert_eq!(screen.model.view, View::Sessions);
    let Some(Overlay::ItemEditor(editor)) = screen.model.overlays.last() else { panic!("the text is lost") };
    assert_eq!(editor.text.text(), "make it shorter x");
}

#[test]
fn what_was_put_aside_keeps_its_place_when_nothing_waits_and_comes_back_with_r() {
    let mut screen = busy();
    for row in &mut screen.tables.items {
        row.item.state = ItemState::Cleared;
    }
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    assert_eq!(screen.model.pane, Pane::Queue, "the pane with what can be put back is gone");
    assert_eq!((screen.model.queue.waiting(), screen.model.queue.put_aside().len()), (0, 4));
    screen.press("r");
    assert_eq!(screen.acts(), [&Command::RestoreItems { items: vec![ItemId(1)] }]);
    screen.wait(TimeDelta::hours(2)).press("j");
    assert_ne!(screen.model.pane, Pane::Queue, "what was put aside long ago keeps no pane open");
}

#[test]
fn when_the_queue_is_gone_the_focus_falls_into_no_text_and_undo_stays() {
    let mut screen = busy();
    screen.press("C").wait(TimeDelta::seconds(1)).press("y");
    let undo = Command::RestoreItems { items: vec![ItemId(1), ItemId(2), ItemId(3)] };
    let done = Reply::Done { words: "cleared 3 messages".into(), undo: Some(Box::new(undo.clone())) };
    screen.tables.items.retain(|row| row.item.session == id(2));
    screen.replies(Ok(done));
    assert_eq!(screen.model.pane, Pane::Conversation);
    screen.press("u");
    assert_eq!((screen.acts(), screen.draft()), (vec![&undo], String::new()));
}

#[test]
fn what_waits_comes_first_whatever_was_put_aside() {
    let mut screen = busy();
    screen.tables.items.rotate_right(2);
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    let waits: Vec<_> = screen.model.queue.rows.iter().map(|row| row.waits()).collect();
    assert_eq!(waits, [true, true, true, false]);
    screen.press("G").press("esc tab tab");
    assert_eq!(screen.model.queue.current().unwrap().excerpt, "make it shorter");
}

#[test]
fn taking_an_act_back_answers_once_and_takes_its_notice_away() {
    let mut screen = busy();
    let undo = |item| Some(Box::new(Command::DropItem { item: ItemId(item) }));
    screen.press("j K");
    screen.press("j J");
    screen.commands.clear();
    screen.press("t");
    screen.replies(Ok(Reply::Done { words: "moved".into(), undo: undo(2) }));
    screen.press("k t");
    screen.replies(Ok(Reply::Done { words: "edited".into(), undo: undo(1) }));
    assert_eq!(screen.model.notices.len(), 1, "the act before it is told no more");
    for (words, item) in [("edited", 1), ("moved", 2)] {
        screen.press("u");
        assert!(screen.model.notices.is_empty(), "what is taken back is still told");
        assert_eq!(screen.acts(), [&Command::DropItem { item: ItemId(item) }]);
        screen.replies(Ok(Reply::Done { words: words.into(), undo: undo(9) }));
        assert_eq!(screen.told(), format!("undone: {words}"));
        assert!(screen.model.notices[0].undo.is_none());
    }
    screen.press("u");
    assert!(screen.acts().is_empty());
}
