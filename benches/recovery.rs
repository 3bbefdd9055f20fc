//! What a start after a crash costs: the store is opened and recovery is decided and carried out, in one
//! commit that is on disk, with a hundred thousand sessions.
//!
//!     cargo bench --bench recovery

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

use std::path::Path;
use std::time::{Duration, Instant};

use switchboard::config::parse;
use switchboard::domain::Time;
use switchboard::domain::agent::Roster;
use switchboard::domain::id::{RunId, SessionId, SessionKey};
use switchboard::domain::queue::{BusyMode, Intent, Source};
use switchboard::domain::recovery::FoundReceipt;
use switchboard::domain::reset::{Notice, ResetMode, ResetPolicy, ResetRule};
use switchboard::domain::spending::Rules;
use switchboard::domain::turn::{Outcome, TurnEnd};
use switchboard::store::sqlite::Database;
use switchboard::store::{Defaults, NewMessage, NewRun};

const SESSIONS: u32 = 100_000;
const STARTS: usize = 9;

fn main() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for cut in [0, 100, 10_000] {
        let filled = home.path().join(format!("{cut}.db"));
        fill(&filled, cut);
        let mut times: Vec<Duration> = (0..STARTS).map(|_| start(&filled, cut)).collect();
        times.sort_unstable();
        println!(
            "{SESSIONS} sessions, {cut} cut off: recovered in p50 {:?}, worst {:?}",
            times[STARTS / 2],
            times[STARTS - 1]
        );
    }
}

/// Opens a copy as the start after a crash does; gives how long that took.
fn start(filled: &Path, cut: u32) -> Duration {
    let folder = tempfile::tempdir_in(filled.parent().unwrap()).unwrap();
    let path = folder.path().join("state.db");
    std::fs::copy(filled, &path).unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    let began = Instant::now();
    let mut database = Database::open(&path).unwrap();
    let (opened, _) = database.step(|t| t.open_run(&run("second", at(SESSIONS + 10)))).unwrap();
    let took = began.elapsed();
    assert_eq!(opened.cut_turns.len(), cut as usize);
    took
}

/// Sessions that were active long before the crash, and `cut` whose turn it cut off.
fn fill(path: &Path, cut: u32) {
    let mut database = Database::open(path).unwrap();
    database.step(|t| t.open_run(&run("first", at(0)))).unwrap();
    let callers: Vec<u32> = (0..SESSIONS).collect();
    for group in callers.chunks(512) {
        database
            .step(|t| {
                for caller in group {
                    let turn = t.accept_message(&message(*caller))?.begun.expect("idle").turn;
                    if *caller < SESSIONS - cut {
                        t.finish_turn(&TurnEnd {
                            turn,
                            outcome: Outcome::Done,
                            tail: Vec::new(),
                            written: String::new(),
                            context: None,
                            model: None,
                            steered: Vec::new(),
                            did_anything: true,
                            handle: None,
                            agent_session: None,
                            at: at(*caller),
                        })?;
                    }
                }
                Ok(())
            })
            .unwrap();
    }
    // Its last sign of life: only those that were cut off were active in the minutes before.
    database.step(|t| t.stamp_run(at(SESSIONS + 5))).unwrap();
    database.checkpoint().unwrap();
}

fn at(second: u32) -> Time {
    Time::from_timestamp(1_790_000_000 + i64::from(second), 0).unwrap()
}

fn run(name: &str, at: Time) -> NewRun {
    NewRun {
        run: RunId(name.to_owned()),
        pid: 1,
        version: "bench".to_owned(),
        at,
        defaults: Defaults { busy_mode: BusyMode::Replace, max_queued: 500 },
        agents: Roster::default(),
        spending: Rules::none(chrono_tz::Tz::UTC),
        receipt: FoundReceipt::Nothing,
        limits: parse("", Path::new("config.toml")).unwrap().config.recovery.limits,
    }
}

fn message(caller: u32) -> NewMessage {
    NewMessage {
        to: SessionKey::local(&format!("caller{caller}")).unwrap(),
        text: "Write the report on the harbour.".to_owned(),
        intent: Intent::Plain,
        source: Source::Console,
        fresh: SessionId::new(at(caller), caller),
        at: at(caller),
        reset: ResetRule { policy: RESET, background_max_age: None, zone: chrono_tz::UTC },
        notice: Notice::Given,
    }
}

const RESET: ResetPolicy = ResetPolicy { mode: ResetMode::None, idle_minutes: 1440, at_hour: 4 };
