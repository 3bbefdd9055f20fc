//! The writer: it groups what waits, isolates what fails, and is patient with a locked database.

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use switchboard::domain::event::{Event, EventKind};
use switchboard::domain::id::SessionId;
use switchboard::domain::queue::{Intent, Refusal};
use switchboard::store::{Counts, Feed, NewMessage, Patience, Queries, Readers, Store, StoreError};

use crate::given::{at, key, message, run};

struct Home {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn home() -> Home {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    Home { _folder: folder, path }
}

/// Long enough for a loaded machine; what must not happen is never waited for.
const PATIENT: Patience = Patience { bound: Duration::from_secs(120), tell_after: Duration::from_millis(20) };
const IMPATIENT: Patience =
    Patience { bound: Duration::from_millis(100), tell_after: Duration::from_millis(20) };

fn open(home: &Home, patience: Patience) -> (Store, mpsc::Receiver<Feed>) {
    Store::open(&home.path, patience).unwrap()
}

/// Another process that holds the write lock until it is dropped.
fn lock(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

async fn next(feed: &mut mpsc::Receiver<Feed>) -> Feed {
    feed.recv().await.expect("the feed goes on")
}

async fn events(feed: &mut mpsc::Receiver<Feed>) -> Vec<Arc<Event>> {
    match next(feed).await {
        Feed::Committed(events) => events,
        other => panic!("not a commit: {other:?}"),
    }
}

/// Hands steps over while the writer is held up, so that they wait together.
async fn while_locked(
    home: &Home,
    feed: &mut mpsc::Receiver<Feed>,
    store: &Store,
    count: i64,
) -> Vec<tokio::task::JoinHandle<Result<(), StoreError>>> {
    let lock = lock(&home.path);
    let steps: Vec<_> = (0..count)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                let message = NewMessage { intent: Intent::Queue, ..message(&format!("s{n}"), "work", n) };
                store.write(move |t| t.accept_message(&message).map(|_| ())).await
            })
        })
        .collect();
    assert!(matches!(next(feed).await, Feed::Trouble(_)));
    drop(lock);
    steps
}

#[tokio::test]
async fn steps_that_wait_are_kept_in_few_commits_and_told_in_order() {
    let home = home();
    let (store, mut feed) = open(&home, PATIENT);
    let steps = while_locked(&home, &mut feed, &store, 100).await;
    for step in steps {
        step.await.unwrap().unwrap();
    }
    store.close().await;
    let (mut commits, mut seqs) = (0, Vec::new());
    while let Some(news) = feed.recv().await {
        if let Feed::Committed(events) = news {
            commits += 1;
            seqs.extend(events.iter().map(|event| event.seq));
        }
    }
    assert!(commits < 50, "{commits} commits for 100 steps");
    assert!(seqs.is_sorted() && seqs.len() > 300, "{} events", seqs.len());
}

#[tokio::test]
async fn a_step_that_fails_or_panics_fails_alone() {
    let home = home();
    let (store, mut feed) = open(&home, PATIENT);
    let held = lock(&home.path);
    let good = |n: i64| {
        let store = store.clone();
        tokio::spawn(async move { store.write(move |t| t.accept_message(&message("a", "m", n))).await })
    };
    let first = good(1);
    let bad = tokio::spawn({
        let store = store.clone();
        async move {
            store
                .write(|t| {
                    t.accept_message(&message("lost", "m", 2))?;
                    Err::<(), _>(StoreError::Refused(Refusal::Empty))
                })
                .await
        }
    });
    let worse = tokio::spawn({
        let store = store.clone();
        async move {
            store
                .write(|t| -> Result<(), StoreError> {
                    t.accept_message(&message("lost-too", "m", 2)).ok();
                    t.accept_message(&message("lost", "m", 2))?;
                    panic!("a fault")
                })
                .await
        }
    });
    let last = good(3);
    assert!(matches!(next(&mut feed).await, Feed::Trouble(_)));
    drop(held);
    first.await.unwrap().unwrap();
    last.await.unwrap().unwrap();
    assert!(matches!(bad.await.unwrap(), Err(StoreError::Refused(Refusal::Empty))));
    let words = worse.await.unwrap().unwrap_err().to_string();
    assert!(words.contains("a fault"), "{words}");
    let kept = store.read(|q| q.counts()).await.unwrap();
    assert_eq!(kept.sessions, 1);
}

#[tokio::test]
async fn a_locked_database_is_waited_for_told_and_noted_when_it_works_again() {
    let home = home();
    let (store, mut feed) = open(&home, PATIENT);
    let mut steps = while_locked(&home, &mut feed, &store, 1).await;
    assert!(matches!(next(&mut feed).await, Feed::Recovered));
    let told = events(&mut feed).await;
    assert!(matches!(told[0].kind, EventKind::StoreWaited { .. }), "{told:?}");
    assert!(matches!(told[1].kind, EventKind::SessionCreated { .. }), "{told:?}");
    steps.remove(0).await.unwrap().unwrap();
}

#[tokio::test]
async fn beyond_its_patience_a_step_is_refused_keeps_nothing_and_the_store_works_again() {
    let home = home();
    let (store, mut feed) = open(&home, IMPATIENT);
    let held = lock(&home.path);
    let refused = store.write(|t| t.accept_message(&message("a", "m", 1))).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    assert!(matches!(next(&mut feed).await, Feed::Trouble(_)));
    assert_eq!(store.read(|q| q.counts()).await.unwrap().sessions, 0);
    drop(held);
    // Nobody asks it to write, and it finds out by itself.
    assert!(matches!(next(&mut feed).await, Feed::Recovered));
    store.write(|t| t.accept_message(&message("a", "m", 2))).await.unwrap();
    assert_eq!(store.read(|q| q.counts()).await.unwrap().sessions, 1);
}

#[tokio::test]
async fn whoever_is_refused_finds_the_trouble_told_however_young_it_is() {
    let home = home();
    let no_time = Patience { bound: Duration::ZERO, tell_after: Duration::from_secs(3600) };
    let (store, mut feed) = open(&home, no_time);
    let held = lock(&home.path);
    let refused = store.write(|t| t.accept_message(&message("a", "m", 1))).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    assert!(matches!(next(&mut feed).await, Feed::Trouble(_)));
    drop(held);
    assert!(matches!(next(&mut feed).await, Feed::Recovered));
}

/// A store that closes while a question is answered.
struct Closing {
    reads: JoinHandle<Result<Counts, StoreError>>,
    /// Lets the answer come.
    go_on: std::sync::mpsc::Sender<()>,
    closes: JoinHandle<()>,
}

async fn close_while_one_reads(store: &Store) -> Closing {
    let (begun, begins) = tokio::sync::oneshot::channel();
    let (go_on, goes_on) = std::sync::mpsc::channel();
    let reads = tokio::spawn({
        let store = store.clone();
        async move {
            let question = move |q: &dyn Queries| {
                begun.send(()).unwrap();
                goes_on.recv().unwrap();
                q.counts()
            };
            store.read(question).await
        }
    });
    begins.await.unwrap();
    let closes = tokio::spawn({
        let store = store.clone();
        async move { store.close().await }
    });
    tokio::task::yield_now().await;
    assert!(!closes.is_finished());
    Closing { reads, go_on, closes }
}

#[tokio::test]
async fn closing_waits_for_who_reads_and_leaves_all_in_one_file() {
    let home = home();
    let (store, _feed) = open(&home, PATIENT);
    store.write(|t| t.accept_message(&message("a", "m", 1))).await.unwrap();
    let Closing { reads, go_on, closes } = close_while_one_reads(&store).await;
    go_on.send(()).unwrap();
    closes.await.unwrap();
    assert_eq!(reads.await.unwrap().unwrap().sessions, 1);
    assert!(!home.path.with_extension("db-wal").exists());
    let late = store.read(|q| q.counts()).await;
    assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn closing_waits_only_so_long_for_who_reads() {
    let home = home();
    let (store, _feed) = open(&home, PATIENT);
    let Closing { reads, go_on, closes } = close_while_one_reads(&store).await;
    tokio::time::advance(Duration::from_secs(60)).await;
    closes.await.unwrap();
    go_on.send(()).unwrap();
    assert_eq!(reads.await.unwrap().unwrap().sessions, 0, "it is answered all the same");
}

#[tokio::test]
async fn an_answer_comes_when_its_events_are_in_the_feed() {
    let home = home();
    let (store, mut feed) = open(&home, PATIENT);
    store.write(|t| t.open_run(&run(1, 0))).await.unwrap();
    let Ok(Feed::Committed(events)) = feed.try_recv() else { panic!("nothing in the feed yet") };
    assert!(matches!(events[0].kind, EventKind::EngineStarted { .. }));
}

#[tokio::test]
async fn closing_carries_out_what_waits_and_refuses_what_comes_later() {
    let home = home();
    let (store, mut feed) = open(&home, PATIENT);
    let steps = while_locked(&home, &mut feed, &store, 20).await;
    store.close().await;
    for step in steps {
        step.await.unwrap().unwrap();
    }
    let late = store.write(|t| t.close_run(&run(1, 0).run, at(1))).await;
    assert!(matches!(late, Err(StoreError::Closed)), "{late:?}");
    let readers = Readers::open(&home.path).unwrap();
    assert_eq!(readers.read(|q| q.counts()).await.unwrap().sessions, 20);
}

#[tokio::test]
async fn a_closed_store_is_whole_in_its_one_file() {
    let home = home();
    let (store, _feed) = open(&home, PATIENT);
    store.write(|t| t.accept_message(&message("a", "m", 1))).await.unwrap();
    store.read(|q| q.counts()).await.unwrap();
    store.close().await;
    let folder = home.path.parent().unwrap();
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["state.db"]);
}

#[tokio::test]
async fn whoever_looks_on_does_not_keep_the_log_from_being_emptied() {
    let home = home();
    let (store, _feed) = open(&home, PATIENT);
    let looking_on = Readers::open(&home.path).unwrap();
    store.write(|t| t.accept_message(&message("a", "m", 1))).await.unwrap();
    store.close().await;
    assert_eq!(home.path.with_extension("db-wal").metadata().unwrap().len(), 0);
    assert_eq!(looking_on.read(|q| q.counts()).await.unwrap().sessions, 1);
}

#[tokio::test]
async fn a_store_that_was_moved_away_keeps_nothing_until_it_is_back() {
    let home = home();
    let (store, mut feed) = open(&home, PATIENT);
    let aside = home.path.with_extension("aside");
    std::fs::rename(&home.path, &aside).unwrap();
    let waits = tokio::spawn({
        let store = store.clone();
        async move { store.write(|t| t.accept_message(&message("a", "m", 1))).await }
    });
    let Feed::Trouble(trouble) = next(&mut feed).await else {
        panic!("it was kept in a file without a name")
    };
    assert!(trouble.why.contains("state.db was removed or replaced"), "{}", trouble.why);
    std::fs::rename(&aside, &home.path).unwrap();
    waits.await.unwrap().unwrap();
    assert!(matches!(next(&mut feed).await, Feed::Recovered));
    let kept = Readers::open(&home.path).unwrap();
    assert_eq!(kept.read(|q| q.counts()).await.unwrap().sessions, 1);
}

#[tokio::test]
async fn a_store_whose_file_was_removed_leaves_what_was_kept_last_in_its_log() {
    let home = home();
    let (store, _feed) = open(&home, IMPATIENT);
    store.write(|t| t.accept_message(&message("a", "m", 1))).await.unwrap();
    let log = home.path.with_extension("db-wal");
    let kept = std::fs::read(&log).unwrap();
    let aside = home.path.with_extension("aside");
    std::fs::rename(&home.path, &aside).unwrap();
    store.close().await;
    assert!(!kept.is_empty());
    assert_eq!(std::fs::read(&log).unwrap(), kept);
}

#[tokio::test]
async fn a_store_whose_log_was_removed_saves_all_that_was_kept_when_it_closes() {
    let home = home();
    let (store, _feed) = open(&home, IMPATIENT);
    store.write(|t| t.accept_message(&message("a", "m", 1))).await.unwrap();
    std::fs::remove_file(home.path.with_extension("db-wal")).unwrap();
    let refused = store.write(|t| t.accept_message(&message("b", "m", 2))).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    store.close().await;
    let kept = Readers::open(&home.path).unwrap();
    assert_eq!(kept.read(|q| q.counts()).await.unwrap().sessions, 1);
}

#[tokio::test]
async fn an_examination_is_given_up_when_the_store_closes() {
    let home = home();
    let (store, _feed) = open(&home, PATIENT);
    store.close().await;
    let given_up = store.readers().quick_check().await;
    assert!(matches!(given_up, Err(StoreError::Closed)), "{given_up:?}");
}

#[tokio::test]
async fn all_questions_of_one_reading_see_one_state() {
    let home = home();
    let (store, _feed) = open(&home, PATIENT);
    let (asked, go_on) = (store.clone(), tokio::runtime::Handle::current());
    let (before, after) = store
        .read(move |q: &dyn Queries| {
            let before = q.counts()?.sessions;
            go_on.block_on(asked.write(|t| t.accept_message(&message("a", "m", 1))))?;
            Ok((before, q.counts()?.sessions))
        })
        .await
        .unwrap();
    assert_eq!((before, after), (0, 0));
    assert_eq!(store.read(|q| q.counts()).await.unwrap().sessions, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_who_ask_for_a_new_session_at_once_get_the_same_one() {
    let home = home();
    let (store, mut feed) = open(&home, PATIENT);
    store.write(|t| t.open_run(&run(1, 0))).await.unwrap();
    tokio::spawn(async move { while feed.recv().await.is_some() {} });
    let asked: Vec<_> = (0..20)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move { store.get_or_open(&key("a"), SessionId::new(at(1), n), at(1)).await })
        })
        .collect();
    let mut found = Vec::new();
    for answer in asked {
        found.push(answer.await.unwrap().unwrap());
    }
    found.dedup();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(store.read(|q| q.live_session(&key("a"))).await.unwrap().as_ref(), found.first());
}

#[tokio::test]
async fn a_session_that_is_there_is_found_without_a_commit() {
    let home = home();
    let (store, _feed) = open(&home, IMPATIENT);
    store.write(|t| t.open_run(&run(1, 0))).await.unwrap();
    let made = store.get_or_open(&key("a"), SessionId::new(at(1), 1), at(1)).await.unwrap();
    let _lock = lock(&home.path);
    assert_eq!(store.get_or_open(&key("a"), SessionId::new(at(2), 2), at(2)).await.unwrap(), made);
    let refused = store.get_or_open(&key("b"), SessionId::new(at(3), 3), at(3)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
}
