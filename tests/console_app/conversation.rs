//! The conversation: pages, the stream, the cursor, folding.

use switchboard::console::app::Msg;
use switchboard::console::app::conversation::{EntryKey, Fold, Scroll, ShownBody};
use switchboard::console::app::focus::Pane;
use switchboard::console::app::msg::{Anchor, Effect, Measured};
use switchboard::console::app::overlay::Overlay;
use switchboard::domain::api::{Doing, LiveOutput, Piece, StreamKind, Update};
use switchboard::domain::approval::Decision;
use switchboard::domain::event::EventKind;
use switchboard::domain::history::{Body, Entry, ToolResult};
use switchboard::domain::id::{ItemId, MessageId, TurnId};
use switchboard::domain::plan::{Plan, PlanStatus};
use switchboard::domain::queue::{ItemState, Lane};
use switchboard::domain::recovery::{Closed, EFFECT_UNKNOWN};
use switchboard::domain::turn::{Outcome, TurnState};

use crate::support::screen::{Screen, entry, id, item, key, noon, running, said, session};

fn talk(entries: i64) -> Screen {
    let row = running(session("console", 1), 1000);
    let mut screen = Screen::on(vec![row.clone()]);
    let said = (1..=entries).map(|n| said(&row, n, &format!("word {n}"))).collect();
    screen.tables.conversations.insert(id(1), said);
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    screen
}

fn piece(screen: &mut Screen, offset: u64, text: &str) {
    let piece =
        Piece { session: id(1), turn: TurnId(1000), stream: StreamKind::Text, offset, text: text.to_owned() };
    screen.tell(Msg::Update(Update::Stream(piece.into())));
}

fn last(screen: &Screen) -> String {
    screen.model.conversation.entries.last().unwrap().texts().join("|")
}

fn shows_top(screen: &mut Screen, entry: i64, lines_below: usize) {
    let top = Anchor { entry: EntryKey::Message(MessageId(entry)), lines: 0 };
    screen.tell(Msg::Drawn(Measured {
        list_rows: 6,
        queue_rows: 3,
        conversation_lines: 8,
        conversation_top: Some(top),
        lines_below,
        ..Measured::default()
    }));
}

#[test]
fn an_answer_streams_in_and_every_byte_is_shown_once() {
    let mut screen = talk(3);
    piece(&mut screen, 0, "Hel");
    piece(&mut screen, 0, "Hello");
    piece(&mut screen, 5, " wor");
    assert_eq!(last(&screen), "Hello wor");
    let revision = screen.model.conversation.entries.last().unwrap().revision;
    piece(&mut screen, 9, "ld\u{1b}[2J");
    assert_eq!(last(&screen), "Hello world␛[2J");
    // What only grew at its end need not be laid out again from its start.
    assert_eq!(screen.model.conversation.entries.last().unwrap().revision, revision);
    assert_eq!(screen.model.conversation.entries.len(), 4);
}

#[test]
fn a_gap_in_the_stream_is_filled_by_asking() {
    let mut screen = talk(3);
    piece(&mut screen, 0, "Hello");
    let live =
        LiveOutput { turn: TurnId(1000), stream: StreamKind::Text, offset: 0, text: "Hello big wor".into() };
    screen.tables.live.insert(id(1), live);
    piece(&mut screen, 9, " wor");
    assert_eq!(last(&screen), "Hello big wor");
    piece(&mut screen, 13, "ld");
    assert_eq!(last(&screen), "Hello big world");
}

#[test]
fn a_line_break_that_is_torn_between_pieces_is_one_line_break() {
    let mut screen = talk(3);
    piece(&mut screen, 0, "one\r");
    piece(&mut screen, 4, "\ntwo\r");
    piece(&mut screen, 9, "three");
    assert_eq!(last(&screen), "one\ntwo\nthree");
}

#[test]
fn a_stream_that_is_faster_than_the_store_shows_its_end_and_says_what_is_missing() {
    let mut screen = talk(3);
    let line = "a line of thirty-two characters\n";
    for n in 0..80 {
        piece(&mut screen, n * 3_200, &line.repeat(100));
    }
    let shown = screen.model.conversation.entries.last().unwrap();
    let text = last(&screen);
    assert!(text.len() <= 128 * 1024 && text.ends_with(line), "{} bytes", text.len());
    assert_eq!(shown.lines_missing + text.lines().count(), 8_000);
    assert_eq!(screen.model.conversation.entries.len(), 4);
}

#[test]
fn the_live_text_gives_way_to_the_kept_answer_without_doubling() {
    let mut screen = talk(3);
    piece(&mut screen, 0, "done");
    let row = screen.tables.sessions[0].clone();
    let mut answer = entry(&row, 4, Body::Agent { text: "done".into(), offset: 0 });
    answer.turn = TurnId(1000);
    answer.turn_state = TurnState::Done;
    screen.tables.conversations.get_mut(&id(1)).unwrap().push(answer);
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    let answers: Vec<_> =
        screen.model.conversation.entries.iter().filter(|entry| entry.contains("done")).collect();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].key, EntryKey::Message(MessageId(4)));
}

#[test]
fn what_did_not_change_keeps_its_revision() {
    let mut screen = talk(3);
    let before: Vec<_> = screen.model.conversation.entries.iter().map(|entry| entry.revision).collect();
    let row = screen.tables.sessions[0].clone();
    screen.tables.conversations.get_mut(&id(1)).unwrap()[1] = said(&row, 2, "changed");
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    let after: Vec<_> = screen.model.conversation.entries.iter().map(|entry| entry.revision).collect();
    assert_eq!((after[0], after[2]), (before[0], before[2]));
    assert_ne!(after[1], before[1]);
}

#[test]
fn scrolling_back_loads_earlier_pages_and_keeps_them() {
    let mut screen = talk(250);
    screen.press("esc tab");
    assert_eq!(screen.model.pane, Pane::Conversation);
    assert_eq!(screen.model.conversation.entries.len(), 100);
    shows_top(&mut screen, 243, 0);
    screen.press("g g");
    assert_eq!(screen.model.conversation.entries.len(), 200);
    screen.press("g g");
    assert_eq!(screen.model.conversation.entries.len(), 250);
    assert!(!screen.model.conversation.more_before);
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    assert_eq!(
        screen.model.conversation.entries.len(),
        250,
        "a refresh of the newest page lets go of the rest"
    );
    screen.press("G");
    assert_eq!(screen.model.conversation.scroll, Scroll::Follow);
}

#[test]
fn new_text_does_not_move_what_is_being_read() {
    let mut screen = talk(50);
    screen.press("esc tab");
    shows_top(&mut screen, 43, 0);
    screen.press("pgup");
    let Scroll::At(at) = screen.model.conversation.scroll else { panic!("it follows") };
    assert_eq!(at, Anchor { entry: EntryKey::Message(MessageId(43)), lines: -7 });
    shows_top(&mut screen, 36, 7);
    piece(&mut screen, 0, "more");
    let place = Anchor { entry: EntryKey::Message(MessageId(36)), lines: 0 };
    assert_eq!(screen.model.conversation.scroll, Scroll::At(place));
    screen.press("pgdn");
    assert_eq!(screen.model.conversation.scroll, Scroll::Follow);
}

#[test]
fn the_composer_scrolls_the_conversation() {
    let mut screen = talk(50);
    screen.press("esc tab");
    shows_top(&mut screen, 43, 0);
    screen.press("i pgup");
    assert!(!screen.model.conversation.follows());
    screen.press("ctrl-end");
    assert!(screen.model.conversation.follows());
    assert_eq!(screen.model.pane, Pane::Composer);
}

#[test]
fn tool_calls_are_folded_and_open_one_by_one_or_all() {
    let mut screen = talk(1);
    let row = screen.tables.sessions[0].clone();
    let tool = |n| {
        entry(
            &row,
            n,
            Body::Tool {
                call: n.to_string(),
                name: "terminal".into(),
                arguments: "ls\n-l".into(),
                result: None,
            },
        )
    };
    screen.tables.conversations.get_mut(&id(1)).unwrap().extend([tool(2), tool(3)]);
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    let folds = |screen: &Screen| -> Vec<Fold> {
        screen.model.conversation.entries.iter().map(|entry| entry.fold).collect()
    };
    assert_eq!(folds(&screen), [Fold::Open, Fold::Folded, Fold::Folded]);
    screen.press("esc tab enter");
    assert_eq!(folds(&screen), [Fold::Open, Fold::Folded, Fold::Open]);
    screen.press("k enter k enter");
    assert_eq!(folds(&screen), [Fold::Folded, Fold::Open, Fold::Open]);
    screen.press("z x");
    assert_eq!(folds(&screen), [Fold::Open, Fold::Open, Fold::Open]);
    screen.press("z x");
    assert_eq!(folds(&screen), [Fold::Open, Fold::Folded, Fold::Folded]);
}

#[test]
fn what_a_running_tool_writes_stands_under_its_call_until_it_has_ended() {
    let mut screen = talk(1);
    let row = screen.tables.sessions[0].clone();
    let call = |result: Option<ToolResult>| {
        let body = Body::Tool { call: "c".into(), name: "terminal".into(), arguments: "make".into(), result };
        Entry { turn: TurnId(1000), turn_state: TurnState::Running, ..entry(&row, 2, body) }
    };
    screen.tables.conversations.get_mut(&id(1)).unwrap().push(call(None));
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    let writes = |screen: &mut Screen, written: &str| {
        let doing = Doing { session: id(1), turn: TurnId(1000), written: written.to_owned() };
        screen.tell(Msg::Update(Update::Doing(doing.into())));
    };
    let written = |screen: &Screen| match &screen.model.conversation.entries.last().unwrap().body {
        ShownBody::Tool { written, .. } => written.clone(),
        other => panic!("{other:?}"),
    };
    writes(&mut screen, "one\ntwo\n\nthree\nfour\u{1b}[2J\n");
    assert_eq!(written(&screen), "two\nthree\nfour␛[2J");
    let opened = |screen: &Screen| match &screen.model.conversation.entries.last().unwrap().body {
        ShownBody::Tool { opened, .. } => opened.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(opened(&screen), "make\n\ntwo\nthree\nfour␛[2J");
    let before = screen.model.conversation.entries.last().unwrap().revision;
    writes(&mut screen, "five");
    assert_eq!((written(&screen).as_str(), opened(&screen).as_str()), ("five", "make\n\nfive"));
    assert_ne!(screen.model.conversation.entries.last().unwrap().revision, before, "it is laid out anew");

    let done = ToolResult { ok: true, output: "made".into(), at: screen.now };
    screen.tables.conversations.get_mut(&id(1)).unwrap()[1] = call(Some(done));
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    assert_eq!((written(&screen).as_str(), opened(&screen).as_str()), ("", "make\n\nmade"));
}

#[test]
fn what_a_running_tool_writes_stays_when_words_are_handed_to_its_turn() {
    let mut screen = talk(1);
    let row = screen.tables.sessions[0].clone();
    let running = |number, body| Entry {
        turn: TurnId(1000),
        turn_state: TurnState::Running,
        ..entry(&row, number, body)
    };
    let call =
        Body::Tool { call: "c".into(), name: "terminal".into(), arguments: "make".into(), result: None };
    let steer = Body::User { text: "faster".into(), steered: true };
    screen.tables.conversations.get_mut(&id(1)).unwrap().extend([running(2, call), running(3, steer)]);
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    let doing = Doing { session: id(1), turn: TurnId(1000), written: "line one".to_owned() };
    screen.tell(Msg::Update(Update::Doing(doing.into())));
    let ShownBody::Tool { written, .. } = &screen.model.conversation.entries[1].body else { panic!() };
    assert_eq!(written, "line one");
}

#[test]
fn a_call_that_was_denied_or_cut_off_says_so() {
    let mut screen = talk(1);
    let row = screen.tables.sessions[0].clone();
    let ended = |number, output: &str| {
        let result = ToolResult { ok: false, output: output.to_owned(), at: noon() };
        let (call, name, arguments) = ("c".into(), "terminal".into(), "make".into());
        entry(&row, number, Body::Tool { call, name, arguments, result: Some(result) })
    };
    let denied = Decision::Denied { why: None }.refusal().unwrap();
    let cut = Closed::EffectUnknown.result(1, "line one");
    let ended = [ended(2, "exit 2"), ended(3, &denied), ended(4, EFFECT_UNKNOWN), ended(5, &cut)];
    screen.tables.conversations.get_mut(&id(1)).unwrap().extend(ended);
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    let words = screen.model.conversation.entries.iter().filter_map(|entry| match &entry.body {
        ShownBody::Tool { result: Some(result), .. } => Some(result.how.word()),
        _ => None,
    });
    assert_eq!(words.collect::<Vec<_>>(), ["failed", "denied", "cut, effect unknown", "cut, effect unknown"]);
}

#[test]
fn a_plan_is_folded_to_a_line_and_beside_the_conversation_only_while_its_turn_runs() {
    let mut screen = talk(1);
    let row = screen.tables.sessions[0].clone();
    let show = |screen: &mut Screen, done: usize, turn_state: TurnState| {
        let status = |n| if n < done { PlanStatus::Completed } else { PlanStatus::Pending };
        let body = Body::Plan(Plan::of([("look\u{1b}[2J", status(0)), ("write", status(1))]));
        let entries = screen.tables.conversations.get_mut(&id(1)).unwrap();
        entries.truncate(1);
        entries.push(Entry { turn: TurnId(1000), turn_state, ..entry(&row, 2, body) });
        let planned = EventKind::Planned { turn: TurnId(1000), line: String::new() };
        screen.happens(Some(&id(1)), planned);
    };
    let pinned = |screen: &Screen| {
        let plan = screen.model.conversation.plan.as_ref();
        plan.map(|plan| plan.words(TurnState::Running, ", "))
    };
    show(&mut screen, 0, TurnState::Running);
    assert_eq!(pinned(&screen).as_deref(), Some("0 of 2 done, next: look␛[2J"));
    assert_eq!(last(&screen), "look␛[2J|write");
    let before = screen.model.conversation.entries[1].revision;
    show(&mut screen, 1, TurnState::Running);
    assert_eq!(pinned(&screen).as_deref(), Some("1 of 2 done, next: write"));
    assert_ne!(screen.model.conversation.entries[1].revision, before);
    screen.press("esc tab enter");
    assert_eq!(screen.model.conversation.entries[1].fold, Fold::Open);
    show(&mut screen, 1, TurnState::Interrupted);
    assert_eq!((pinned(&screen), screen.model.conversation.entries.len()), (None, 2));
}

#[test]
fn a_replaced_message_stands_where_it_was_said() {
    let mut screen = talk(3);
    let row = screen.tables.sessions[0].clone();
    let mut aside = item(&row, 9, Lane::Slot, ItemState::Superseded, "too long");
    aside.item.created_at = screen.tables.conversations[&id(1)][1].at + chrono::TimeDelta::milliseconds(1);
    screen.tables.items.push(aside);
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(9) });
    let bodies: Vec<_> = screen.model.conversation.entries.iter().map(|entry| entry.key).collect();
    assert_eq!(bodies[2], EntryKey::PutAside(ItemId(9)));
    assert!(
        matches!(&screen.model.conversation.entries[2].body, ShownBody::PutAside { note, .. } if note == "replaced (kept)")
    );
}

#[test]
fn scroll_and_cursor_are_kept_per_session() {
    let mut screen = Screen::on(vec![session("a", 1), session("b", 2)]);
    let row = screen.tables.sessions[0].clone();
    screen.tables.conversations.insert(id(1), (1..=50).map(|n| said(&row, n, "x")).collect());
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
    screen.press("tab");
    shows_top(&mut screen, 43, 0);
    screen.press("k k");
    shows_top(&mut screen, 43, 5);
    let (scroll, cursor) = (screen.model.conversation.scroll, screen.model.conversation.cursor);
    assert_eq!(cursor, Some(EntryKey::Message(MessageId(48))));
    screen.press("esc j k tab");
    assert_eq!(screen.model.front, key("a"));
    assert_eq!((screen.model.conversation.scroll, screen.model.conversation.cursor), (scroll, cursor));
}

#[test]
fn the_selected_entry_is_copied_and_turns_are_jumped_over() {
    let mut screen = talk(5);
    screen.press("esc tab [ y");
    assert_eq!(screen.effects, [Effect::Copy("word 4".to_owned())]);
    screen.press("[ ] y");
    assert_eq!(screen.effects.last(), Some(&Effect::Copy("word 4".to_owned())));
}

#[test]
fn a_search_goes_from_match_to_match() {
    let mut screen = talk(30);
    screen.press("esc tab /").types("WORD 1").press("enter");
    assert_eq!(screen.model.conversation.cursor, Some(EntryKey::Message(MessageId(19))));
    screen.press("N");
    assert_eq!(screen.model.conversation.cursor, Some(EntryKey::Message(MessageId(18))));
    assert_eq!(screen.told(), "match 10 of 11");
    screen.press("n n");
    assert_eq!(screen.model.conversation.cursor, Some(EntryKey::Message(MessageId(1))));
    assert_eq!(screen.told(), "match 1 of 11, from the top again");
    screen.press("N");
    assert_eq!(screen.told(), "match 11 of 11, from the end again");
    screen.press("/").types("9 nowhere").press("enter n");
    assert!(screen.told().starts_with("nothing matches"), "{}", screen.told());
}

#[test]
fn a_replaced_message_is_put_back_from_where_it_stands() {
    let mut screen = talk(3);
    let row = screen.tables.sessions[0].clone();
    screen.tables.items.push(item(&row, 9, Lane::Slot, ItemState::Superseded, "too long"));
    screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(9) });
    screen.press("esc tab");
    assert_eq!(screen.model.pane, Pane::Conversation);
    screen.press("G r");
    let back = switchboard::domain::api::Command::RestoreItems { items: vec![ItemId(9)] };
    assert_eq!(screen.acts(), [&back]);
    screen.press("tab");
    assert_eq!(screen.model.pane, Pane::Queue, "what was put aside lately has a pane");
}

#[test]
fn what_is_put_aside_never_tears_an_answer_from_its_question() {
    let mut screen = talk(1);
    let row = screen.tables.sessions[0].clone();
    let mut turn = vec![
        entry(&row, 5, Body::User { text: "ask".into(), steered: false }),
        entry(&row, 9, Body::Agent { text: "answer".into(), offset: 0 }),
    ];
    for entry in &mut turn {
        (entry.turn, entry.turn_state) = (TurnId(1000), TurnState::Running);
    }
    let mut aside = item(&row, 7, Lane::Slot, ItemState::Superseded, "too long");
    aside.item.created_at = turn[0].at + chrono::TimeDelta::seconds(1);
    screen.tables.items.push(aside);
    screen.tables.conversations.get_mut(&id(1)).unwrap().extend(turn);
    let shown = |screen: &mut Screen| -> Vec<String> {
        screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(7) });
        screen.model.conversation.entries.iter().map(|entry| entry.texts()[0].to_owned()).collect()
    };
    assert_eq!(shown(&mut screen), ["word 1", "ask", "answer"], "it waits for the turn's end");
    for entry in screen.tables.conversations.get_mut(&id(1)).unwrap() {
        entry.turn_state = TurnState::Done;
    }
    assert_eq!(shown(&mut screen), ["word 1", "ask", "answer", "too long"]);
    screen.tables.conversations.get_mut(&id(1)).unwrap().push(said(&row, 20, "next"));
    assert_eq!(shown(&mut screen), ["word 1", "ask", "answer", "too long", "next"]);
}

#[test]
fn v_on_an_entry_tells_of_that_entry_and_how_its_turn_stands() {
    let mut screen = talk(3);
    screen.press("esc tab g g v");
    let Some(Overlay::Viewer(viewer)) = screen.model.overlays.last() else { panic!("nothing is told") };
    for told in
        ["what        a message", "text        word 1", "turn        1, answered", "session     console"]
    {
        assert!(viewer.text.contains(told), "{}", viewer.text);
    }
}

#[test]
fn a_turn_that_failed_after_some_answer_does_not_claim_that_there_was_none() {
    let failed = |answer: Option<&str>| {
        let mut screen = talk(0);
        let row = screen.tables.sessions[0].clone();
        let answer = answer.map(|text| entry(&row, 2, Body::Agent { text: text.into(), offset: 0 }));
        let mut entries = vec![said(&row, 1, "hello")];
        entries.extend(answer);
        let outcome = Outcome::Failed { error: "the line broke".into() };
        entries.push(entry(&row, 3, Body::Ended { outcome }));
        entries.iter_mut().for_each(|entry| entry.turn = TurnId(1));
        screen.tables.conversations.insert(id(1), entries);
        screen.happens(Some(&id(1)), EventKind::Edited { item: ItemId(1) });
        last(&screen)
    };
    assert_eq!(failed(Some("Half of")), "failed after this: the line broke");
    assert_eq!(failed(None), "no answer: the line broke");
}
