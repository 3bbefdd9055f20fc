//! Daily limits: who is held, what waits, and what lets it go on.

use pretty_assertions::assert_eq;
use switchboard::agent::AgentEvent;
use switchboard::config::SpendingConfig;
use switchboard::domain::Time;
use switchboard::domain::api::{Answer, JobState, Query, Reply};
use switchboard::domain::cron::{Definition, ExecutionState, JobEvent, Overlap};
use switchboard::domain::event::EventKind;
use switchboard::domain::session::{HoldReason, SessionState, Usage};
use switchboard::domain::spending::Limit;
use switchboard::domain::turn::Outcome;

use crate::cron::{job, world_set_up};
use crate::support::scripted::Played;
use crate::support::world::{Setup, World};

fn tokens(most: u64) -> Limit {
    Limit { tokens: Some(most), cost: None }
}

fn session_tokens(most: u64) -> Setup {
    Setup {
        spending: SpendingConfig { session: tokens(most), ..SpendingConfig::default() },
        ..Setup::default()
    }
}

/// Lets the next turn use so many tokens and answer.
async fn answer(world: &mut World, message: &str, input: u64, cost: u64) {
    let turn = world.turn_for(message).await;
    turn.emit(AgentEvent::Usage(Usage { input, cost, ..Usage::default() })).await;
    turn.answer("done").await;
    world.turn_ended().await;
}

async fn alerts(world: &World) -> Vec<String> {
    match world.engine.query(Query::Alerts { limit: 10 }).await.unwrap() {
        Answer::Alerts(alerts) => alerts.into_iter().map(|alert| alert.words).collect(),
        other => panic!("no alerts: {other:?}"),
    }
}

fn at(text: &str) -> Time {
    text.parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_session_at_its_limit_is_held_with_an_alert_until_the_next_day() {
    let mut world = World::new(session_tokens(100)).await;
    world.send("s", "one").await;
    answer(&mut world, "one", 99, 0).await;
    let today = world.row("s").await.today.unwrap();
    assert_eq!(today.words(|at| at.format("%H:%M UTC").to_string()), "99 of 100 tokens, until 23:00 UTC");
    assert_eq!(world.ack("s", "two").await, "running");
    answer(&mut world, "two", 99, 0).await;
    let row = world.row("s").await;
    assert_eq!((row.state, row.session.hold.unwrap().reason), (SessionState::Held, HoldReason::Spent));
    let ack = world.ack("s", "three").await;
    assert_eq!(
        ack,
        "queued, 1st of 1, held: a daily limit is reached; it goes on the next day, or today by /continue"
    );
    assert_eq!(
        alerts(&world).await,
        ["s is held: the daily limit of 100 tokens of this session (spending.session_tokens) is reached; \
          it goes on the next day, or today by /continue"]
    );
    let Ok(Reply::Shown { text: status, .. }) = world.type_into("s", "/status").await else {
        panic!("no status")
    };
    assert!(status.contains("until 00:00"), "{status}");
    assert!(status.contains("limit        the daily limit of 100 tokens"), "{status}");
    assert!(status.contains("today        198 of 100 tokens, until 00:00"), "{status}");
    assert_eq!(world.ack("another", "hello").await, "running", "others go on");
    world.turn_for("hello").await.answer("hi").await;
    world.advance_to(at("2026-11-30T22:59:00Z")).await;
    assert!(world.agent.turn_already_begun().await.is_none(), "a minute before midnight in Berlin");
    world.advance_to(at("2026-11-30T23:00:01Z")).await;
    answer(&mut world, "three", 1, 0).await;
    assert_eq!(alerts(&world).await, [""; 0]);
    assert_eq!(world.row("s").await.session.spent, None);
}

#[tokio::test(start_paused = true)]
async fn the_operator_lets_it_go_on_today_and_it_is_not_held_again() {
    let mut world = World::new(session_tokens(10)).await;
    world.send("s", "one").await;
    answer(&mut world, "one", 50, 0).await;
    world.send("s", "two").await;
    assert_eq!(world.waiting("s").await, ["two"]);
    world.type_into("s", "/continue").await.unwrap();
    answer(&mut world, "two", 50, 0).await;
    assert_eq!(alerts(&world).await, [""; 0]);
    world.send("s", "three").await;
    answer(&mut world, "three", 50, 0).await;
    world.advance_to(at("2026-12-01T10:00:00Z")).await;
    world.send("s", "four").await;
    answer(&mut world, "four", 50, 0).await;
    assert_eq!(world.row("s").await.state, SessionState::Held, "the next day has its own limit");
}

#[tokio::test(start_paused = true)]
async fn a_raised_limit_lets_what_waits_go_on_at_the_next_start() {
    let mut world = World::new(session_tokens(10)).await;
    world.send("s", "one").await;
    answer(&mut world, "one", 50, 0).await;
    world.send("s", "two").await;
    let world = world.restart(session_tokens(10)).await;
    assert!(world.agent.turn_already_begun().await.is_none(), "a restart alone changes nothing");
    assert_eq!(world.row("s").await.state, SessionState::Held);
    let mut world = world.restart(session_tokens(1_000)).await;
    answer(&mut world, "two", 50, 0).await;
    assert_eq!(alerts(&world).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn what_all_cost_together_holds_whoever_would_begin_next() {
    let all = Limit { tokens: None, cost: Some(1_000_000) };
    let spending = SpendingConfig { all, ..SpendingConfig::default() };
    let mut world = World::new(Setup { spending, ..Setup::default() }).await;
    world.send("a", "one").await;
    let running = world.turn_for("one").await;
    world.send("b", "two").await;
    answer(&mut world, "two", 5, 1_000_000).await;
    let ack = world.ack("c", "three").await;
    assert!(ack.contains("a daily limit is reached"), "{ack}");
    running.say("a turn that runs is not cut").await;
    running.answer("").await;
    world.turn_ended().await;
    assert_eq!(world.row("a").await.state, SessionState::Held);
    assert_eq!(
        world.row("c").await.session.spent.unwrap().reached.words(),
        "the daily limit of 1.00 of everything together (spending.all_cost)"
    );
}

#[tokio::test(start_paused = true)]
async fn a_limit_lies_over_another_hold_and_gives_it_back() {
    let mut world = World::new(session_tokens(10)).await;
    world.send("s", "one").await;
    let turn = world.turn_for("one").await;
    turn.emit(AgentEvent::Usage(Usage { input: 50, ..Usage::default() })).await;
    world.type_into("s", "/queue two").await.unwrap();
    world.type_into("s", "/stop").await.unwrap();
    turn.obey_stop().await;
    world.turn_ended().await;
    assert_eq!(world.row("s").await.session.hold.unwrap().reason, HoldReason::Spent);
    world.advance_to(at("2026-11-30T23:00:01Z")).await;
    world.event(|kind| matches!(kind, EventKind::QueueReleased { reason: HoldReason::Spent, .. })).await;
    assert_eq!(world.row("s").await.session.hold.unwrap().reason, HoldReason::Stopped);
    assert_eq!(world.waiting("s").await, ["two"], "what was stopped waits for a person");
}

#[tokio::test(start_paused = true)]
async fn a_day_with_a_clock_change_ends_at_its_own_midnight() {
    // In Berlin 25 October 2026 has 25 hours.
    let begins = at("2026-10-25T10:00:00Z");
    let mut world = World::new(Setup { begins, ..session_tokens(10) }).await;
    world.send("s", "one").await;
    answer(&mut world, "one", 50, 0).await;
    world.send("s", "two").await;
    world.advance_to(at("2026-10-25T22:30:00Z")).await;
    assert!(world.agent.turn_already_begun().await.is_none(), "half past eleven in winter time");
    world.advance_to(at("2026-10-25T23:00:01Z")).await;
    answer(&mut world, "two", 50, 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_told_that_a_limit_is_reached_by_what_it_and_all_others_have_used_so_far() {
    let all = tokens(100);
    let spending = SpendingConfig { all, ..SpendingConfig::default() };
    let world = World::new(Setup { spending, ..Setup::default() }).await;
    let mut turns = Vec::new();
    for (session, text) in [("a", "one"), ("b", "two")] {
        world.send(session, text).await;
        turns.push(world.turn_for(text).await);
    }
    for (turn, reached) in turns.iter_mut().zip([false, true]) {
        uses_and_acts(turn, 60).await;
        assert_eq!(turn.limits.ask(()).await.is_some(), reached);
    }
    for turn in turns {
        turn.answer("done").await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_turn_used_that_a_crash_cut_counts() {
    let world = World::new(session_tokens(100)).await;
    world.send("s", "one").await;
    let mut turn = world.turn_for("one").await;
    uses_and_acts(&mut turn, 60).await;
    let mut world = world.copy(session_tokens(100)).await;
    assert_eq!(world.row("s").await.session.usage.input, 60);
    let resumed = world.agent.next_turn().await;
    resumed.emit(AgentEvent::Usage(Usage { input: 40, ..Usage::default() })).await;
    resumed.answer("done").await;
    world.event(|kind| matches!(kind, EventKind::TurnEnded { outcome: Outcome::Done, .. })).await;
    assert_eq!(world.row("s").await.session.usage.input, 100);
    assert_eq!(world.row("s").await.state, SessionState::Held);
}

/// An agent tells what it used, and calls a tool, which acts only when both are kept.
async fn uses_and_acts(turn: &mut Played, input: u64) {
    turn.emit(AgentEvent::Usage(Usage { input, ..Usage::default() })).await;
    let (call, name, arguments) = ("c1".to_owned(), "ls".to_owned(), "{}".to_owned());
    turn.emit(AgentEvent::ToolCall { call, name, arguments }).await;
    turn.kept.up_to(1).await.unwrap();
}

fn job_tokens(most: u64) -> Setup {
    Setup { spending: SpendingConfig { job: tokens(most), ..SpendingConfig::default() }, ..Setup::default() }
}

async fn run_uses(world: &mut World, input: u64) {
    let turn = world.agent.next_turn().await;
    turn.emit(AgentEvent::Usage(Usage { input, ..Usage::default() })).await;
    turn.answer("done").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_scheduled_task_at_its_limit_waits_says_so_and_goes_on_the_next_day() {
    let mut world = world_set_up(job_tokens(10), &[job("news", "0 13,14 * * *")]).await;
    world.advance_to(at("2026-11-30T13:00:00Z")).await;
    run_uses(&mut world, 50).await;
    assert!(
        alerts(&world).await[0]
            .starts_with("news is held: the daily limit of 10 tokens of this scheduled task")
    );
    world.advance_to(at("2026-11-30T14:00:00Z")).await;
    world.job_event(|what| matches!(what, JobEvent::Held { .. })).await;
    let row = world.jobs().await.rows.remove(0);
    assert_eq!(row.state, JobState::Waiting);
    let why = "held: the daily limit of 10 tokens of this scheduled task (spending.job_tokens) is reached";
    assert_eq!(row.held(), Some(why));
    assert!(world.agent.turn_already_begun().await.is_none());
    world.advance_to(at("2026-11-30T23:00:01Z")).await;
    run_uses(&mut world, 1).await;
    assert_eq!(alerts(&world).await, [""; 0]);
    let states: Vec<ExecutionState> = world.executions("news").await.iter().map(|run| run.state).collect();
    assert_eq!(states, [ExecutionState::Succeeded; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_scheduled_task_that_others_bring_to_the_limit_of_all_is_held_with_an_alert_until_it_runs() {
    let spending = SpendingConfig { all: tokens(10), ..SpendingConfig::default() };
    let setup = Setup { spending, ..Setup::default() };
    let mut world = world_set_up(setup, &[job("news", "0 13 * * *"), job("log", "0 13 * * *")]).await;
    world.send("s", "one").await;
    answer(&mut world, "one", 50, 0).await;
    world.advance_to(at("2026-11-30T13:00:00Z")).await;
    for _ in 0..2 {
        world.job_event(|what| matches!(what, JobEvent::Held { .. })).await;
    }
    let held = |job| {
        format!(
            "job {job} is held: the daily limit of 10 tokens of everything together (spending.all_tokens) is \
             reached; it goes on the next day, or today by /cron run {job}"
        )
    };
    let told = alerts(&world).await;
    assert_eq!(told.iter().filter(|words| words.starts_with("job ")).count(), 2, "{told:?}");
    assert!(told.contains(&held("news")) && told.contains(&held("log")), "{told:?}");
    world.run_now("news").await;
    run_uses(&mut world, 50).await;
    let told = alerts(&world).await;
    assert!(!told.contains(&held("news")) && told.contains(&held("log")), "{told:?}");
    world.advance_to(at("2026-11-30T23:00:01Z")).await;
    run_uses(&mut world, 1).await;
    assert_eq!(alerts(&world).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_leaves_the_alert_of_another_that_a_limit_holds() {
    let spending = SpendingConfig { all: tokens(10), ..SpendingConfig::default() };
    let allows = Definition { overlap: Overlap::Allow, ..job("news", "0,5 13 * * *") };
    let mut world = world_set_up(Setup { spending, ..Setup::default() }, &[allows]).await;
    world.advance_to(at("2026-11-30T13:00:00Z")).await;
    let running = world.agent.next_turn().await;
    world.send("s", "one").await;
    answer(&mut world, "one", 50, 0).await;
    world.advance_to(at("2026-11-30T13:05:00Z")).await;
    world.job_event(|what| matches!(what, JobEvent::Held { .. })).await;
    running.answer("done").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
    let told = alerts(&world).await;
    assert!(told.iter().any(|words| words.starts_with("job news is held: ")), "{told:?}");
    world.advance_to(at("2026-11-30T23:00:01Z")).await;
    run_uses(&mut world, 1).await;
    assert_eq!(alerts(&world).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_an_operator_asks_for_lets_its_job_go_for_the_day_and_says_so() {
    let mut world = world_set_up(job_tokens(10), &[job("news", "0 13,14 * * *")]).await;
    world.advance_to(at("2026-11-30T13:00:00Z")).await;
    run_uses(&mut world, 50).await;
    let Ok(Reply::Done { words, .. }) = world.type_into("s", "/cron run news").await else {
        panic!("it does not run")
    };
    let limit = "the daily limit of 10 tokens of this scheduled task (spending.job_tokens)";
    assert!(words.contains(&format!(" and is let go for today ({limit} is reached): run ")), "{words}");
    world.job_event(|what| matches!(what, JobEvent::LetGo { .. })).await;
    run_uses(&mut world, 50).await;
    let Ok(Reply::Done { words, .. }) = world.type_into("s", "/cron run news").await else {
        panic!("it does not run")
    };
    assert!(!words.contains("limit"), "it is let go already: {words}");
    run_uses(&mut world, 50).await;
    world.advance_to(at("2026-11-30T14:00:00Z")).await;
    run_uses(&mut world, 50).await;
    assert_eq!(alerts(&world).await, [""; 0]);
    assert_eq!(world.executions("news").await.len(), 4);
}
