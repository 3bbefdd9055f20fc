//! The real binary on a real store, killed again and again: at random moments and at each named point
//! between two commits, while sessions talk, queue, reset and stop. After each kill a checker that knows
//! what was acknowledged looks at what is left, and after each start at what became of it.
//!
//! `SWITCHBOARD_CRASH_KILLS` sets how many kills there are, `SWITCHBOARD_CRASH_SEED` repeats a run; the
//! seed of each run is printed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

#[path = "crash/checker.rs"]
mod checker;
#[path = "crash/driver.rs"]
mod driver;
#[path = "crash/jobs.rs"]
mod jobs;
mod support;

use driver::{Driver, Kill};

/// The points that are passed between two commits; each is met in turn.
const POINTS: [&str; 11] = [
    "store-in-commit",
    "store-after-commit",
    "store-before-answer",
    "turn-before-start",
    "turn-after-end",
    "stop-before-turn-knows",
    "stop-before-drain",
    "stop-before-receipt",
    "stop-with-receipt",
    "start-without-receipt",
    "start-recovered",
];

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// How many kills one of a test's two engines dies of.
fn kills() -> u64 {
    number("SWITCHBOARD_CRASH_KILLS").unwrap_or(110).div_ceil(2)
}

fn seed() -> u64 {
    let seed = number("SWITCHBOARD_CRASH_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("SWITCHBOARD_CRASH_SEED={seed}");
    seed
}

/// Two engines at a time, since each waits for most of its life.
fn by_two(lives: fn()) {
    std::thread::scope(|threads| {
        threads.spawn(lives);
        threads.spawn(lives);
    });
}

#[test]
fn nothing_acknowledged_is_lost_doubled_or_out_of_order_at_whatever_moment_the_engine_is_killed() {
    by_two(|| {
        let mut driver = Driver::new(seed());
        for _ in 0..kills() {
            let moment = Kill::After(driver.random.u64(5..200));
            driver.life(&moment);
        }
        driver.come_to_rest();
    });
}

#[test]
fn nothing_acknowledged_is_lost_doubled_or_out_of_order_at_any_point_between_two_commits() {
    by_two(|| {
        let mut driver = Driver::new(seed());
        for life in 0..kills() {
            let point = POINTS[life as usize % POINTS.len()];
            let most = match point {
                _ if point.starts_with("store") => 40,
                _ if point.starts_with("turn") => 8,
                _ => 1,
            };
            let passes = driver.random.u32(1..=most);
            driver.life(&Kill::At { point, passes });
        }
        if kills() >= 3 * POINTS.len() as u64 {
            for point in POINTS {
                for _ in 0..10 {
                    if !driver.met.contains_key(point) {
                        driver.life(&Kill::At { point, passes: 1 });
                    }
                }
                assert!(driver.met.contains_key(point), "the engine never died at {point}");
            }
        }
        driver.come_to_rest();
    });
}
