//! A ticker that fails, hangs or dies can't look well: the header and an alert tell of it until it works.

use std::time::Duration;

use switchboard::domain::alert::AlertKey;
use switchboard::domain::api::{Answer, CronHealth, Query};
use switchboard::domain::cron::CronEvent;
use switchboard::domain::event::EventKind;
use switchboard::failpoint::{self, TickerFault};
use switchboard::store::Patience;

use super::{job, world_with};
use crate::support::world::{Setup, World};

impl World {
    async fn cron_event(&mut self, fits: impl Fn(&CronEvent) -> bool) {
        self.event(|kind| matches!(kind, EventKind::Cron(what) if fits(what))).await;
    }

    async fn has_open_alert_of_the_ticker(&self) -> bool {
        match self.engine.query(Query::Alerts { limit: 10 }).await.unwrap() {
            Answer::Alerts(alerts) => {
                alerts.iter().any(|alert| alert.key == AlertKey::ticker() && alert.is_open())
            }
            other => panic!("{other:?}"),
        }
    }

    async fn health(&self) -> CronHealth {
        self.overview().await.engine.cron
    }

    /// Lets time pass in small steps, with the machine's work between them.
    async fn minutes(&self, minutes: u64) {
        for _ in 0..minutes * 6 {
            self.advance(10).await;
            self.a_moment().await;
        }
    }
}

fn late(event: &CronEvent) -> bool {
    matches!(event, CronEvent::TickerLate { .. })
}

fn recovered(event: &CronEvent) -> bool {
    matches!(event, CronEvent::TickerRecovered)
}

fn restarted(event: &CronEvent) -> bool {
    matches!(event, CronEvent::TickerRestarted { .. })
}

#[tokio::test(start_paused = true)]
async fn a_ticker_whose_passes_fail_says_so_from_memory_with_its_last_good_pass_and_its_error() {
    let patience = Patience { bound: Duration::from_millis(100), tell_after: Duration::from_millis(10) };
    let mut world = World::new(Setup { patience, ..Setup::default() }).await;
    world.save(job("a", "every 1h")).await.unwrap();
    world.settled().await;
    let passed = world.jobs().await.ticker.last_pass.unwrap();
    assert_eq!(world.health().await, CronHealth::Ok);
    failpoint::fill_disk(&world.path("state.db"));
    world.advance(61).await;
    let why = loop {
        if let CronHealth::Late { since, why } = world.health().await {
            assert_eq!(since, passed);
            break why;
        }
        world.a_moment().await;
    };
    let (_, error) = world.jobs().await.ticker.last_error.unwrap();
    assert_eq!(error, why);
    assert!(why.contains("full"), "{why}");
    failpoint::free_disk(&world.path("state.db"));
    world.minutes(1).await;
    world.cron_event(recovered).await;
    assert_eq!(world.health().await, CronHealth::Ok);
    assert!(!world.has_open_alert_of_the_ticker().await);
}

#[tokio::test(start_paused = true)]
async fn a_ticker_that_hangs_is_late_needs_a_person_and_is_started_anew() {
    let mut world = world_with(&[job("a", "every 1h")]).await;
    failpoint::break_ticker(&world.path("state.db"), TickerFault::Hangs);
    world.minutes(5).await;
    world.cron_event(late).await;
    world.cron_event(restarted).await;
    assert!(matches!(world.health().await, CronHealth::Late { why, .. } if why == "it hung"));
    assert!(world.has_open_alert_of_the_ticker().await);
    assert_eq!(world.overview().await.needs_you, 1);
    failpoint::mend_ticker(&world.path("state.db"));
    world.minutes(5).await;
    world.cron_event(recovered).await;
    assert_eq!(world.health().await, CronHealth::Ok);
    assert!(!world.has_open_alert_of_the_ticker().await);
    assert!(world.executions("a").await.is_empty(), "nothing was due");
    world.minutes(60).await;
    assert_eq!(world.executions("a").await.len(), 1, "it fires again");
}

#[tokio::test(start_paused = true)]
async fn a_ticker_that_dies_again_and_again_is_started_anew_each_time_and_gets_late() {
    let mut world = world_with(&[job("a", "every 1h")]).await;
    failpoint::break_ticker(&world.path("state.db"), TickerFault::Dies);
    world.minutes(4).await;
    world.cron_event(restarted).await;
    world.cron_event(restarted).await;
    world.cron_event(late).await;
    assert!(world.has_open_alert_of_the_ticker().await);
    // A new engine resolves what the one before had to leave open.
    failpoint::mend_ticker(&world.path("state.db"));
    let world = world.restart(Setup::default()).await;
    world.settled().await;
    world.minutes(1).await;
    assert!(!world.has_open_alert_of_the_ticker().await);
    assert_eq!(world.health().await, CronHealth::Ok);
}
