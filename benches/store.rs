//! How fast the store is against what the disk allows, both measured in one run.
//!
//!     cargo bench --bench store [-- FOLDER]
//!
//! A *cycle* is one message of an idle session: accepted (its turn begins in the same step), then
//! answered; two commits that are on disk. A disk's speed changes from second to second, so cycles and
//! bare inserts take turns in short rounds in the same folder, and a ratio is the median of the rounds'.
//! Both begin when their logs have grown to the size that they keep. Then the questions of a screen are
//! asked of a large store.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

use rusqlite::Connection;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use switchboard::config::parse;
use switchboard::domain::agent::Roster;
use switchboard::domain::api::{EventPage, SessionCursor};
use switchboard::domain::event::Level;
use switchboard::domain::filter::Filter;
use switchboard::domain::id::{RunId, SessionId, SessionKey, TurnId};
use switchboard::domain::queue::{BusyMode, Intent, Source};
use switchboard::domain::recovery::FoundReceipt;
use switchboard::domain::reset::{Notice, ResetMode, ResetPolicy, ResetRule};
use switchboard::domain::session::{HandleUse, Health};
use switchboard::domain::spending::Rules;
use switchboard::domain::turn::{Outcome, Output, TurnEnd};
use switchboard::store::sqlite::{Database, ReadOnly};
use switchboard::store::{Defaults, NewMessage, NewRun, Patience, Queries, Store, StoreError, Transitions};

const SPAN: Duration = Duration::from_secs(3);
/// How often cycles and inserts take turns, an odd number, and for how long each.
const ROUNDS: usize = 11;
const ROUND: Duration = Duration::from_millis(400);
/// So many commits grow a log to the size at which it begins again from its start.
const GROWS: u64 = 2_000;

fn main() {
    // `cargo bench` adds its own flag; a folder is the only thing that is understood.
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let home = match &folder {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
    };
    let syncs = bare_fdatasync(home.path());
    let grouped = Bare::open(&home.path().join("bare-64.db"), 64).inserts(SPAN / 3);
    println!("floor: {syncs:.0} fdatasync/s, {grouped:.0} rows/s in groups of 64");

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for sessions in [1, 64] {
        let bare = Bare::open(&home.path().join(format!("bare-{sessions}.db")), 1);
        let path = home.path().join(format!("cycles-{sessions}.db"));
        runtime.block_on(in_turns(bare, &path, sessions)).tell(sessions);
    }
    for sessions in [1_000, LARGE] {
        for callers in [1, 16] {
            let path = home.path().join(format!("sessions-{sessions}-{callers}.db"));
            let rate = runtime.block_on(getting(&path, sessions, callers));
            println!(
                "{sessions} sessions, get-or-create of one that is there, {callers} callers: {rate:.0}/s"
            );
        }
    }
    reading(&home.path().join("large.db"));
}

/// How often a second callers get a session that is there, as the engine does it.
async fn getting(path: &Path, sessions: u32, callers: u32) -> f64 {
    let mut database = Database::open(path).unwrap();
    for group in (0..sessions).collect::<Vec<_>>().chunks(256) {
        let open = |t: &mut dyn Transitions| {
            group.iter().try_for_each(|n| {
                let NewMessage { to, fresh, at, .. } = message(*n);
                t.open_session(&to, &fresh, at).map(drop)
            })
        };
        database.step(open).unwrap();
    }
    drop(database);
    let (store, mut feed) = Store::open(path, Patience::default()).unwrap();
    let follower = tokio::spawn(async move { while feed.recv().await.is_some() {} });
    let until = Instant::now() + SPAN;
    let asked: Vec<_> = (0..callers)
        .map(|caller| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut got = 0_u64;
                let mut n = caller;
                while Instant::now() < until {
                    // A step that meets every session, far from the one before.
                    n = (n + 7_919) % sessions;
                    let NewMessage { to, fresh, at, .. } = message(n);
                    store.get_or_open(&to, fresh, at).await.unwrap();
                    got += 1;
                }
                got
            })
        })
        .collect();
    let mut got = 0;
    for caller in asked {
        got += caller.await.unwrap();
    }
    assert_eq!(store.read(|q| q.counts()).await.unwrap().sessions, sessions as usize, "none was made");
    store.close().await;
    follower.await.unwrap();
    got as f64 / SPAN.as_secs_f64()
}

/// How often a second the disk makes a small write durable.
fn bare_fdatasync(folder: &Path) -> f64 {
    let mut file = File::create(folder.join("bare")).unwrap();
    file.write_all(&vec![0; 1 << 20]).unwrap();
    file.sync_all().unwrap();
    per_second(SPAN / 3, |n| {
        file.seek(SeekFrom::Start(n % 256 * 4096)).unwrap();
        file.write_all(&[n as u8; 512]).unwrap();
        file.sync_data().unwrap();
        1
    })
}

/// SQLite itself, set as a careful program sets it, with as many rows in a commit.
struct Bare {
    connection: Connection,
    group: u64,
}

impl Bare {
    fn open(path: &Path, group: u64) -> Self {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, words TEXT)")
            .unwrap();
        let bare = Self { connection, group };
        for _ in 0..GROWS {
            bare.commit();
        }
        bare
    }

    /// How many rows a second it keeps.
    fn inserts(&self, span: Duration) -> f64 {
        per_second(span, |_| self.commit())
    }

    fn commit(&self) -> u64 {
        let words = "w".repeat(100);
        self.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut insert = self.connection.prepare_cached("INSERT INTO t (words) VALUES (?1)").unwrap();
        for _ in 0..self.group {
            insert.execute((&words,)).unwrap();
        }
        self.connection.execute_batch("COMMIT").unwrap();
        self.group
    }
}

fn per_second(span: Duration, mut work: impl FnMut(u64) -> u64) -> f64 {
    let began = Instant::now();
    let (mut rounds, mut done) = (0, 0);
    while began.elapsed() < span {
        done += work(rounds);
        rounds += 1;
    }
    done as f64 / began.elapsed().as_secs_f64()
}

/// What the rounds gave.
#[derive(Default)]
struct Rounds {
    inserts: Vec<f64>,
    cycles: Vec<f64>,
    acknowledged: Vec<Duration>,
}

impl Rounds {
    fn tell(mut self, sessions: u32) {
        let mut ratios: Vec<f64> = self.cycles.iter().zip(&self.inserts).map(|(c, i)| c / i).collect();
        for figures in [&mut ratios, &mut self.cycles, &mut self.inserts] {
            figures.sort_by(f64::total_cmp);
        }
        self.acknowledged.sort_unstable();
        let at = |part: f64| self.acknowledged[((self.acknowledged.len() - 1) as f64 * part) as usize];
        println!(
            "{sessions:>2} sessions: {:.0} cycles/s, {:.0} single inserts/s: {:.2} of them ({:.2} to {:.2}); acknowledged in p50 {:?}, p99 {:?}",
            self.cycles[ROUNDS / 2],
            self.inserts[ROUNDS / 2],
            ratios[ROUNDS / 2],
            ratios[0],
            ratios[ROUNDS - 1],
            at(0.5),
            at(0.99),
        );
    }
}

/// Runs cycles on as many sessions at once, and bare inserts, in turns.
async fn in_turns(bare: Bare, path: &Path, sessions: u32) -> Rounds {
    let (store, mut feed) = Store::open(path, Patience::default()).unwrap();
    let follower = tokio::spawn(async move { while feed.recv().await.is_some() {} });
    let defaults = Defaults { busy_mode: BusyMode::Replace, max_queued: 500 };
    let run = NewRun {
        run: RunId("bench".to_owned()),
        pid: 1,
        version: "bench".to_owned(),
        at: chrono::Utc::now(),
        defaults,
        agents: Roster::default(),
        spending: Rules::none(chrono_tz::Tz::UTC),
        receipt: FoundReceipt::Nothing,
        limits: parse("", Path::new("config.toml")).unwrap().config.recovery.limits,
    };
    store.write(move |t| t.open_run(&run)).await.unwrap();
    for _ in 0..GROWS {
        cycle(&store, 0).await;
    }
    let mut rounds = Rounds::default();
    for _ in 0..ROUNDS {
        rounds.inserts.push(bare.inserts(ROUND));
        let acknowledged = cycles(&store, sessions).await;
        rounds.cycles.push(acknowledged.len() as f64 / ROUND.as_secs_f64());
        rounds.acknowledged.extend(acknowledged);
    }
    store.close().await;
    follower.await.unwrap();
    rounds
}

/// Runs cycles for a round; returns how long each acknowledgement took.
async fn cycles(store: &Store, sessions: u32) -> Vec<Duration> {
    let until = Instant::now() + ROUND;
    let callers: Vec<_> = (0..sessions)
        .map(|caller| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                while Instant::now() < until {
                    acknowledged.push(cycle(&store, caller).await);
                }
                acknowledged
            })
        })
        .collect();
    let mut all = Vec::new();
    for caller in callers {
        all.extend(caller.await.unwrap());
    }
    all
}

async fn cycle(store: &Store, caller: u32) -> Duration {
    let message = message(caller);
    let asked = Instant::now();
    let accepted = store.write(move |t| t.accept_message(&message)).await.unwrap();
    let acknowledged = asked.elapsed();
    let end = end(accepted.begun.expect("the session was idle").turn);
    assert!(store.write(move |t| t.finish_turn(&end)).await.unwrap());
    acknowledged
}

fn message(caller: u32) -> NewMessage {
    NewMessage {
        to: SessionKey::local(&format!("caller{caller}")).unwrap(),
        text: "How is the weather in the harbour today, and will it hold until the evening?".to_owned(),
        intent: Intent::Plain,
        source: Source::Console,
        fresh: SessionId::new(chrono::Utc::now(), caller),
        at: chrono::Utc::now(),
        reset: ResetRule { policy: RESET, background_max_age: None, zone: chrono_tz::UTC },
        notice: Notice::Given,
    }
}

/// As a home has it that resets its sessions.
const RESET: ResetPolicy = ResetPolicy { mode: ResetMode::Both, idle_minutes: 1440, at_hour: 4 };

fn end(turn: TurnId) -> TurnEnd {
    TurnEnd {
        written: String::new(),
        turn,
        outcome: Outcome::Done,
        tail: vec![Output::Text {
            text: "Clear, with a light wind from the west until nightfall.".to_owned(),
        }],
        context: None,
        model: Some("bench".to_owned()),
        steered: Vec::new(),
        did_anything: true,
        handle: Some(HandleUse { health: Health::Healthy, restarts: 0 }),
        agent_session: None,
        at: chrono::Utc::now(),
    }
}

const LARGE: u32 = 100_000;

/// How long a screen's questions take with a hundred thousand sessions.
fn reading(path: &Path) {
    let mut database = Database::open(path).unwrap();
    let callers: Vec<u32> = (0..LARGE).collect();
    for group in callers.chunks(256) {
        database
            .step(|t| {
                for caller in group {
                    let turn = t.accept_message(&message(*caller))?.begun.expect("idle").turn;
                    // Some still run, so that the list has more than one rank.
                    if caller % 1000 != 0 {
                        t.finish_turn(&end(turn))?;
                    }
                }
                Ok(())
            })
            .unwrap();
    }
    drop(database);
    let mut reader = ReadOnly::open(path).unwrap();
    let newest = Filter::default();
    let page = reader.read(|q| q.sessions(&newest, None, 50)).unwrap();
    let middle = SessionCursor { rank: 4, ..page.rows[25].cursor() };
    let session = page.rows[10].session.id.clone();
    let word = Filter::parse("r4711");
    let none = Filter::parse("state:held zzz");
    timed("counts", &mut reader, |q| q.counts().map(drop));
    timed("first page of 50", &mut reader, |q| q.sessions(&newest, None, 50).map(drop));
    timed("a page within", &mut reader, |q| q.sessions(&newest, Some(&middle), 50).map(drop));
    timed("a filter with few hits", &mut reader, |q| q.sessions(&word, None, 50).map(drop));
    timed("a filter without hits", &mut reader, |q| q.sessions(&none, None, 50).map(drop));
    timed("history", &mut reader, |q| q.session_history(50).map(drop));
    timed("a conversation", &mut reader, |q| q.conversation(&session, None, 50).map(drop));
    timed("backlog", &mut reader, |q| q.backlog(50).map(drop));
    timed("warnings of the log", &mut reader, |q| {
        q.events(EventPage::Newest, Level::Warn, None, 50).map(drop)
    });
}

fn timed(what: &str, reader: &mut ReadOnly, question: impl Fn(&dyn Queries) -> Result<(), StoreError>) {
    let mut times: Vec<Duration> = (0..21)
        .map(|_| {
            let began = Instant::now();
            reader.read(&question).unwrap();
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!("{LARGE} sessions, {what}: {:?}", times[times.len() / 2]);
}
