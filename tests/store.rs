//! The store: what it guarantees, over SQLite and beside a model.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::path::PathBuf;
use std::time::Duration;

use switchboard::domain::Time;
use switchboard::domain::event::EventKind;
use switchboard::domain::id::{RunId, SessionId, SessionKey};
use switchboard::domain::queue::{Ack, BusyMode, Intent, Source};
use switchboard::domain::session::Usage;
use switchboard::domain::turn::{Outcome, TurnEnd};
use switchboard::store::{Defaults, Feed, NewMessage, NewRun, Patience, Store};

fn at(seconds: i64) -> Time {
    Time::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
}

fn message(to: &str, text: &str, seconds: i64) -> NewMessage {
    NewMessage {
        to: SessionKey::local(to).unwrap(),
        text: text.to_owned(),
        intent: Intent::Plain,
        source: Source::Console,
        fresh: SessionId::new(at(seconds), fastrand::u32(..)),
        at: at(seconds),
    }
}

fn run() -> NewRun {
    NewRun {
        run: RunId("run-1".into()),
        pid: 7,
        version: "0".into(),
        at: at(0),
        defaults: Defaults { busy_mode: BusyMode::Replace, max_queued: 500, steerable: false },
    }
}

#[tokio::test]
async fn a_message_runs_is_answered_and_the_next_begins_by_itself() {
    let home = tempfile::tempdir().unwrap();
    let path: PathBuf = home.path().join("state.db");
    let (store, mut feed) =
        Store::open(&path, Patience { bound: Duration::from_secs(5), ..Patience::default() }).unwrap();
    store.write(|t| t.open_run(&run())).await.unwrap();
    let first = store.write(|t| t.accept_message(&message("a", "one", 1))).await.unwrap();
    let begun = first.begun.unwrap();
    let second = store.write(|t| t.accept_message(&message("a", "two", 2))).await.unwrap();
    assert!(matches!(second.ack, Ack::Next { .. }));
    let turn = begun.turn;
    let ended = store
        .write(move |t| {
            t.finish_turn(&TurnEnd {
                turn,
                outcome: Outcome::Done,
                tail: vec![switchboard::domain::turn::Output::Text { text: "answer one".into() }],
                usage: Usage::default(),
                model: None,
                steered: vec![],
                did_anything: true,
                at: at(3),
            })
        })
        .await
        .unwrap();
    assert!(ended);
    let session = first.session.clone();
    let (row, page, queue) = store
        .read(move |q| {
            Ok((
                q.session(&session)?.unwrap(),
                q.conversation(&session, None, 10)?,
                q.session_queue(&session)?,
            ))
        })
        .await
        .unwrap();
    assert_eq!(row.session.turns, 2);
    assert_eq!(page.entries.len(), 3);
    assert_eq!(queue.len(), 1);
    let hits = store.search("answ".into(), 5).await.unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].snippet, "\u{2}answer\u{3} one");
    store.close().await;
    let mut began = 0;
    while let Some(Feed::Committed(events)) = feed.recv().await {
        began += events.iter().filter(|e| matches!(e.kind, EventKind::TurnBegan { .. })).count();
    }
    assert_eq!(began, 2);
}
