//! Whatever comes in whatever order: no panic, a focus that exists, selections in range.

use chrono::TimeDelta;
use proptest::prelude::*;
use switchboard::console::app::conversation::Scroll;
use switchboard::console::app::focus::{Pane, Target, View};
use switchboard::console::app::footer::{continuations, footer};
use switchboard::console::app::header::header;
use switchboard::console::app::job_editor::Field;
use switchboard::console::app::key::{Code, Held, Key};
use switchboard::console::app::msg::{Failure, Measured, Mouse, MouseAct, Reach, Tone};
use switchboard::console::app::{Msg, border, chain};
use switchboard::domain::api::{Piece, Reply, StreamKind, Update};
use switchboard::domain::cron::JobEvent;
use switchboard::domain::event::EventKind;
use switchboard::domain::history::Body;
use switchboard::domain::id::{ExecutionId, ItemId, TurnId};
use switchboard::domain::queue::{Ack, ItemState, Lane};

use crate::support::jobs;
use crate::support::screen::{Answering, Screen, entry, id, item, key, running, said, session};

#[derive(Debug, Clone)]
enum Happening {
    Key(Key, u16),
    Paste(String),
    Click(u8, u8),
    Wheel(u8),
    Reply(u8),
    Answer,
    Withhold(bool),
    Event(u8),
    Piece(u64, String),
    Rows(u8),
    Drawn(u8, u8),
    Gone,
    Connected,
    Lagged,
    Wait(u16),
}

fn keys() -> impl Strategy<Value = Key> {
    let code = prop_oneof![
        6 => proptest::char::range(' ', '~').prop_map(Code::Char),
        1 => proptest::sample::select(vec!['日', '\u{301}', '👩', '\u{200d}', 'é']).prop_map(Code::Char),
        4 => proptest::sample::select(vec![
            Code::Enter, Code::Tab, Code::Esc, Code::Backspace, Code::Delete, Code::Up, Code::Down, Code::Left,
            Code::Right, Code::Home, Code::End, Code::PageUp, Code::PageDown, Code::F(1), Code::F(2), Code::F(3), Code::F(4),
            Code::F(8),
        ]),
    ];
    let held = proptest::sample::select(vec![
        (false, false),
        (false, false),
        (false, false),
        (true, false),
        (false, true),
    ]);
    (code, held).prop_map(|(code, (ctrl, alt))| Key::new(code, Held { ctrl, alt, shift: false }))
}

fn happenings() -> impl Strategy<Value = Happening> {
    prop_oneof![
        30 => (keys(), prop_oneof![Just(1_u16), Just(60), Just(500)]).prop_map(|(key, gap)| Happening::Key(key, gap)),
        1 => ".{0,20}".prop_map(Happening::Paste),
        2 => any::<(u8, u8)>().prop_map(|(a, b)| Happening::Click(a, b)),
        1 => any::<u8>().prop_map(Happening::Wheel),
        4 => any::<u8>().prop_map(Happening::Reply),
        3 => Just(Happening::Answer),
        1 => any::<bool>().prop_map(Happening::Withhold),
        4 => any::<u8>().prop_map(Happening::Event),
        3 => (0_u64..30, "[a-z\r\n]{0,6}").prop_map(|(offset, text)| Happening::Piece(offset, text)),
        2 => any::<u8>().prop_map(Happening::Rows),
        3 => any::<(u8, u8)>().prop_map(|(a, b)| Happening::Drawn(a, b)),
        1 => Just(Happening::Gone),
        1 => Just(Happening::Connected),
        1 => Just(Happening::Lagged),
        1 => (0_u16..5000).prop_map(Happening::Wait),
    ]
}

fn happen(screen: &mut Screen, happening: Happening) {
    match happening {
        Happening::Key(key, gap) => {
            screen.wait(TimeDelta::milliseconds(i64::from(gap)));
            screen.tell(Msg::Key(key, screen.now));
        }
        Happening::Paste(text) => drop(screen.pastes(&text)),
        Happening::Click(which, number) => {
            let target = target(which, number);
            screen.tell(Msg::Mouse(Mouse { act: MouseAct::Click, target: Some(target) }, screen.now));
        }
        Happening::Wheel(which) => {
            let act = if which % 2 == 0 { MouseAct::WheelUp } else { MouseAct::WheelDown };
            screen.tell(Msg::Mouse(Mouse { act, target: Some(target(which / 2, 1)) }, screen.now));
        }
        Happening::Reply(_) if screen.commands.is_empty() => {}
        Happening::Reply(which) => {
            let undo = screen.commands[0].1.clone();
            screen.replies(match which % 9 {
                0 => Err(Failure::Refused("no".into())),
                1 => Err(Failure::Gone("gone".into())),
                2 => Ok(Reply::Shown { title: "t".into(), text: "a\nb".into() }),
                3 => Ok(Reply::Asks { question: "sure?".into(), confirm: "/new!".into() }),
                4 => Ok(Reply::Session { key: key("s2"), session: id(2), words: "w".into() }),
                5 => Ok(Reply::Quit),
                7 => Ok(Reply::JobConflict { mine: "{\"id\": \"a\"}".into(), theirs: Some("{}".into()) }),
                6 => {
                    let ack = Ack::Running { turn: TurnId(1) };
                    Ok(Reply::Accepted { session: id(1), item: ItemId(1), ack })
                }
                _ => Ok(Reply::Done { words: "done".into(), undo: Some(Box::new(undo)) }),
            });
        }
        Happening::Answer => screen.answer(),
        Happening::Withhold(withhold) => {
            screen.answers = if withhold { Answering::WhenTold } else { Answering::AtOnce };
        }
        Happening::Event(which) => {
            let session = id(u32::from(which % 5) + 1);
            let kind = match which % 5 {
                4 => EventKind::Job { job: jobs::id("backup"), what: JobEvent::Recovered },
                0 => EventKind::TurnsHidden {
                    turns: vec![],
                    hidden: switchboard::domain::event::Visibility::Hidden,
                },
                1 => EventKind::SessionCreated { key: key("s1"), previous: None },
                2 => EventKind::EngineHeld { why: "x".into() },
                _ => EventKind::Edited { item: ItemId(1) },
            };
            screen.happens(Some(&session), kind);
        }
        Happening::Piece(offset, text) => {
            let piece = Piece { session: id(1), turn: TurnId(1000), stream: StreamKind::Text, offset, text };
            screen.tell(Msg::Update(Update::Stream(piece.into())));
        }
        Happening::Rows(seed) => shuffle(screen, seed),
        Happening::Drawn(rows, lines) => {
            let top = screen
                .model
                .conversation
                .entries
                .get(usize::from(lines))
                .map(|entry| switchboard::console::app::msg::Anchor { entry: entry.key, lines: 0 });
            screen.tell(Msg::Drawn(Measured {
                list_rows: usize::from(rows % 30),
                queue_rows: usize::from(rows % 4),
                run_rows: usize::from(rows % 5),
                conversation_lines: usize::from(lines % 40),
                conversation_top: top,
                lines_below: usize::from(lines % 7),
                acknowledgement_shown: true,
                top_shown: rows.is_multiple_of(5),
                overlay_rows: usize::from(rows % 12),
                overlay_lines: usize::from(lines),
                question: None,
            }));
        }
        Happening::Gone => screen.tell(Msg::EngineGone { reason: "x".into(), at: screen.now }),
        Happening::Connected => screen.tell(Msg::Connected(Reach::Here)),
        Happening::Lagged => screen.tell(Msg::Update(Update::Lagged { missed: 3 })),
        Happening::Wait(milliseconds) => {
            screen.wait(TimeDelta::milliseconds(i64::from(milliseconds)));
            screen.tell(Msg::Tick(screen.now));
            screen.tell(Msg::Notice(Tone::Info, "tick".into()));
        }
    }
}

fn target(which: u8, number: u8) -> Target {
    let number = i64::from(number % 8);
    match which % 13 {
        0 => Target::Pane(Pane::List),
        1 => Target::Pane(Pane::Conversation),
        2 => Target::Session(key(&format!("s{number}"))),
        3 => Target::Item(ItemId(number)),
        4 => Target::Tab(View::ALL[(number % 5) as usize]),
        5 => Target::Button(number as usize),
        6 => Target::PickerRow(number as usize),
        7 => Target::Pane(Pane::Composer),
        8 => Target::Pane(Pane::Detail),
        9 => Target::Job { id: Some(jobs::id("health-check")), place: 0 },
        10 => Target::Run(ExecutionId(number)),
        11 => Target::Field(Field::ALL[number as usize * 2]),
        _ => Target::Pane(Pane::Queue),
    }
}

/// Another set of sessions, items and entries.
fn shuffle(screen: &mut Screen, seed: u8) {
    let count = u32::from(seed % 6);
    screen.tables.jobs = match seed % 3 {
        0 => jobs::Jobs::none(screen.now),
        1 => jobs::at_work(screen.now),
        _ => jobs::unreadable(screen.now),
    };
    screen.tables.sessions = (1..=count)
        .map(|n| {
            let row = session(&format!("s{n}"), n);
            if (n + u32::from(seed)) % 3 == 0 { running(row, 1000) } else { row }
        })
        .collect();
    screen.tables.items.clear();
    screen.tables.conversations.clear();
    for row in screen.tables.sessions.clone() {
        let states = [ItemState::Waiting, ItemState::Superseded, ItemState::Running, ItemState::Cleared];
        for n in 0..i64::from(seed % 4) {
            let lane = if n == 0 { Lane::Slot } else { Lane::Queue };
            screen.tables.items.push(item(
                &row,
                n,
                lane,
                states[(n as usize + usize::from(seed)) % 4],
                "text",
            ));
        }
        let mut entries: Vec<_> = (1..=i64::from(seed)).map(|n| said(&row, n, "words")).collect();
        entries.push(entry(&row, 500, Body::Agent { text: "answer".into(), offset: 0 }));
        screen.tables.conversations.insert(row.session.id, entries);
    }
}

fn holds(screen: &Screen) {
    let model = &screen.model;
    let in_range = |selected: usize, length: usize| selected < length.max(1);
    assert!(in_range(model.sessions.selected, model.sessions.rows.len()));
    assert!(in_range(model.queue.selected, model.queue.rows.len()));
    assert!(in_range(model.backlog.selected, model.backlog.rows.len()));
    assert!(in_range(model.log.selected, model.log.rows.len()));
    assert!(in_range(model.cron.selected, model.cron.rows.len()));
    let runs = model.cron.current_detail().map_or(0, |detail| detail.runs.len());
    assert!(in_range(model.cron.run, runs));
    assert!(!chain(model).is_empty());
    match model.pane {
        Pane::Queue => assert!(!model.queue.rows.is_empty() && model.view == View::Sessions),
        Pane::Conversation | Pane::Composer => assert_eq!(model.view, View::Sessions),
        Pane::Detail => assert_eq!(model.view, View::Cron),
        Pane::List | Pane::Filter => {}
    }
    if let Some(cursor) = model.conversation.cursor
        && model.conversation.loaded
        && !matches!(model.conversation.scroll, Scroll::Reveal(_))
    {
        let entries = &model.conversation.entries;
        assert!(entries.is_empty() || entries.iter().any(|entry| entry.key == cursor));
    }
    // What the frame says can always be said.
    header(model);
    footer(model);
    continuations(model);
    border::border(model);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_the_state_stays_whole(all in proptest::collection::vec(happenings(), 1..120)) {
        let mut screen = Screen::on((1..=4).map(|n| session(&format!("s{n}"), n)).collect());
        shuffle(&mut screen, 7);
        for happening in all {
            happen(&mut screen, happening);
            holds(&screen);
        }
    }
}
