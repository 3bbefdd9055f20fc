//! The whole engine under random schedules: sessions talk, queue, reset and stop, agents answer, fail,
//! hang and vanish, the clock jumps, the store is busy or full, the engine is stopped or dies. After each
//! run, when everything has come to rest, the rules are checked that the tests of crashes check.
//!
//! `SWITCHBOARD_SIMULATION_RUNS` sets how many runs there are, `SWITCHBOARD_SIMULATION_SEED` repeats one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

#[path = "crash/checker.rs"]
#[allow(dead_code, reason = "what a start does is checked where a process is killed")]
mod checker;
mod support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fastrand::Rng;
use futures_util::FutureExt;
use switchboard::agent::AgentEvent;
use switchboard::domain::api::{Answer, Command, Query, Reply};
use switchboard::domain::id::SessionKey;
use switchboard::domain::marker::Marker;
use switchboard::domain::queue::{BusyMode, Gate, Intent, Refusal, Source};
use switchboard::failpoint;
use switchboard::store::Patience;

use checker::{Acknowledged, check, check_rest};
use support::scripted::{Played, Steering};
use support::world::{Setup, World};

const SESSIONS: [&str; 3] = ["alpha", "beta", "gamma"];
/// In so long everything comes to rest, or never.
const PATIENCE: Duration = Duration::from_secs(120);

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// A quarter of the runs, each quarter in a thread of its own: two cores are busy to the end.
fn simulate(quarter: u64) {
    if let Some(seed) = number("SWITCHBOARD_SIMULATION_SEED") {
        return one_run(seed);
    }
    let first = fastrand::u64(..);
    for run in 0..number("SWITCHBOARD_SIMULATION_RUNS").unwrap_or(1_200) / 4 {
        one_run(first.wrapping_add(run * 4 + quarter));
    }
}

fn one_run(seed: u64) {
    let told = std::panic::catch_unwind(|| {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut simulation = Simulation::new(seed).await;
            for _ in 0..simulation.random.usize(5..40) {
                simulation.act().await;
                simulation.collect().await;
            }
            simulation.come_to_rest().await;
        });
    });
    if let Err(panic) = told {
        println!("SWITCHBOARD_SIMULATION_SEED={seed}");
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn whatever_happens_in_whatever_order_nothing_acknowledged_is_lost_or_doubled_in_a_quarter_of_the_runs() {
    simulate(0);
}

#[test]
fn nor_in_the_second_quarter() {
    simulate(1);
}

#[test]
fn nor_in_the_third_quarter() {
    simulate(2);
}

#[test]
fn nor_in_the_last_quarter() {
    simulate(3);
}

struct Simulation {
    random: Rng,
    setup: Setup,
    world: World,
    /// Homes of engines that died: their tasks may still write into them.
    dead: Vec<World>,
    turns: Vec<Played>,
    acknowledged: Vec<Acknowledged>,
    sent: usize,
}

impl Simulation {
    async fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let setup = Setup {
            busy_mode: BusyMode::ALL[random.usize(..BusyMode::ALL.len())],
            steering: if random.bool() { Steering::Takes } else { Steering::TakesNone },
            max_items: 4,
            patience: Patience { bound: Duration::from_millis(40), tell_after: Duration::from_millis(5) },
            ..Setup::default()
        };
        let world = World::new(setup.clone()).await;
        let (dead, turns, acknowledged) = (Vec::new(), Vec::new(), Vec::new());
        Self { random, setup, world, dead, turns, acknowledged, sent: 0 }
    }

    fn store(&self) -> PathBuf {
        self.world.path("state.db")
    }

    async fn act(&mut self) {
        let session = SESSIONS[self.random.usize(..SESSIONS.len())];
        match self.random.u8(..40) {
            0..12 => self.send(session).await,
            12..22 => self.let_an_agent_act().await,
            22 | 23 => self.slash(session, "/stop").await,
            24 => self.slash(session, "/new!").await,
            25 | 26 => self.slash(session, "/continue").await,
            27 => self.slash(session, "/retry").await,
            28 => self.suspend(session).await,
            29 => self.command(Command::Hold { why: "the test".to_owned() }).await,
            30 | 31 => self.command(Command::Release).await,
            32..35 => {
                let seconds = if self.random.bool() { 1..20 } else { 60..5000 };
                self.world.advance(self.random.u64(seconds)).await;
            }
            35 => self.stop_and_start().await,
            36 | 37 => self.die_and_start().await,
            38 => self.fill_the_disk_and_send(session).await,
            _ => self.lock_the_store_and_send(session).await,
        }
    }

    /// Takes the turns that have begun over, and forgets those that the engine gave up.
    async fn collect(&mut self) {
        for _ in 0..4 {
            // A turn is handed over after the transition that begins it. An engine whose store is closed answers
            // nothing any more.
            let _ = self.world.engine.query(Query::Overview).await;
            tokio::task::yield_now().await;
        }
        while let Some(turn) = self.world.agent.turn_already_begun().await {
            self.turns.push(turn);
        }
        self.turns.retain(|turn| !turn.is_gone());
    }

    async fn send(&mut self, session: &str) {
        let intent = if self.random.bool() { Intent::Queue } else { Intent::Plain };
        self.sent += 1;
        let text = format!("message {}", self.sent);
        let sent = self.world.engine.command(Command::Submit {
            to: SessionKey::local(session).unwrap(),
            text: text.clone(),
            intent,
            source: Source::CommandLine,
        });
        match sent.await {
            Ok(Reply::Accepted { session, item, .. }) => {
                self.acknowledged.push(Acknowledged {
                    item: item.0,
                    session: session.to_string(),
                    text,
                    intent,
                });
            }
            Ok(other) => panic!("{other:?}"),
            Err(Refusal::QueueFull { .. } | Refusal::Store(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }

    /// What may be refused where the session is in another state.
    async fn command(&mut self, command: Command) {
        let _ = self.world.engine.command(command).await;
    }

    async fn slash(&mut self, session: &str, text: &str) {
        let _ = self.world.type_into(session, text).await;
    }

    async fn suspend(&mut self, session: &str) {
        let query = Query::SessionAt { key: SessionKey::local(session).unwrap() };
        let Answer::Session(Some(row)) = self.world.engine.query(query).await.unwrap() else { return };
        let session = row.session.id;
        let command = match row.session.marker {
            Some(Marker::Suspended(_)) => Command::Unsuspend { session },
            _ => Command::Suspend { session },
        };
        self.command(command).await;
    }

    /// One of the running agents speaks, answers, fails, obeys a stop, vanishes; or it hangs.
    async fn let_an_agent_act(&mut self) {
        if self.turns.is_empty() {
            return;
        }
        let index = self.random.usize(..self.turns.len());
        let call = |n: u8| format!("call {n}");
        match self.random.u8(..10) {
            0 | 1 => self.turns[index].try_emit(AgentEvent::Text("some words ".to_owned())),
            2 => self.turns[index].try_emit(AgentEvent::ToolCall {
                call: call(self.random.u8(..3)),
                name: "terminal".to_owned(),
                arguments: "{}".to_owned(),
            }),
            3 => self.turns[index].try_emit(AgentEvent::ToolResult {
                call: call(self.random.u8(..3)),
                ok: true,
                output: "done".to_owned(),
            }),
            4 => {}
            5 => self.turns.swap_remove(index).fail("the agent failed"),
            // Dropped without an end, as a crashed agent is.
            6 => drop(self.turns.swap_remove(index)),
            _ => self.turns.swap_remove(index).finish(),
        }
    }

    async fn stop_and_start(&mut self) {
        self.command(Command::Stop { why: "the test".to_owned() }).await;
        let engine = self.world.engine.clone();
        let stopped = engine.stopped();
        tokio::pin!(stopped);
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "the engine does not stop");
            self.collect().await;
            if self.random.bool() {
                self.let_an_agent_act().await;
            }
            self.world.advance(5).await;
            // The store closes in a thread of its own, by a clock of its own.
            std::thread::sleep(Duration::from_millis(1));
            if (&mut stopped).now_or_never().is_some() {
                break;
            }
        }
        self.turns.clear();
        self.world.start_again(self.setup.clone()).await;
    }

    /// The engine goes on where nobody sees it; the next one starts from what was committed.
    async fn die_and_start(&mut self) {
        let next = self.world.copy(self.setup.clone()).await;
        self.turns.clear();
        self.dead.push(std::mem::replace(&mut self.world, next));
    }

    async fn fill_the_disk_and_send(&mut self, session: &str) {
        let store = std::fs::canonicalize(self.store()).unwrap();
        failpoint::fill_disk(&store);
        self.send(session).await;
        failpoint::free_disk(&store);
        self.send(session).await;
    }

    async fn lock_the_store_and_send(&mut self, session: &str) {
        let other = rusqlite::Connection::open(self.store()).unwrap();
        other.busy_timeout(PATIENCE).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        self.send(session).await;
        other.execute_batch("ROLLBACK").unwrap();
        self.send(session).await;
    }

    /// Takes every hold away, lets every agent answer, and checks the rules when nothing is left to do.
    async fn come_to_rest(&mut self) {
        self.command(Command::Release).await;
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "it does not come to rest");
            self.collect().await;
            if self.turns.is_empty() {
                // A store in trouble tries again by a clock of its own.
                std::thread::sleep(Duration::from_millis(1));
            }
            self.turns.drain(..).for_each(Played::finish);
            let overview = self.world.overview().await;
            if (overview.running, overview.waiting) == (0, 0) && overview.engine.gate == Gate::Open {
                break;
            }
            let query = Query::Sessions { filter: String::new(), after: None, limit: 10 };
            let Answer::Sessions(page) = self.world.engine.query(query).await.unwrap() else { panic!() };
            for row in page.rows {
                let session = row.session.id;
                match row.session.marker {
                    Some(Marker::Suspended(_)) => self.command(Command::Unsuspend { session }).await,
                    _ if row.turn.is_none() => self.command(Command::Continue { session }).await,
                    _ => {}
                }
            }
            self.world.advance(7).await;
        }
        check(&self.store(), &self.acknowledged);
        check_rest(&self.store(), &self.acknowledged);
    }
}
