//! Slots: when they are taken, what becomes of those that passed, and what never moves one.

use pretty_assertions::assert_eq;
use switchboard::domain::api::{Answer, Command, JobCommand, JobState, Query};
use switchboard::domain::cron::{Definition, ExecutionState, JobEvent, Misfire, Overlap};
use switchboard::domain::event::EventKind;
use switchboard::engine::StartUp;

use super::{at, job, world_with};
use crate::support::world::{Setup, World};

#[tokio::test(start_paused = true)]
async fn a_job_fires_at_its_slot_and_its_answer_is_kept_and_delivered() {
    let mut world = world_with(&[job("news", "30 12 * * *")]).await;
    assert_eq!(world.next_slot("news").await, Some(at(12, 30)));
    world.advance_to(at(12, 30)).await;
    let turn = world.agent.next_turn().await;
    assert!(turn.message.ends_with("[Begin: the task]\nlook\n[End: the task]"), "{}", turn.message);
    turn.answer("all is well").await;
    assert_eq!(world.run_ended().await, (ExecutionState::Succeeded, None));
    let delivered = world.job_event(|what| matches!(what, JobEvent::Delivery { .. })).await;
    let words = delivered.kind.words();
    assert!(words.ends_with("to console: delivered: all is well"), "{words}");
    let [run] = &world.executions("news").await[..] else { panic!("one run") };
    assert_eq!(super::told(run), "on_time 12:30 succeeded");
    let output = run.output.clone().unwrap();
    assert!(output.starts_with("output/news/20261130_123000_"), "{output}");
    let document = world.output(run.id).await.unwrap();
    assert!(document.ends_with("\n## Answer\n\nall is well\n"), "{document}");
    assert_eq!(world.job("news").await.row.state, JobState::Scheduled);
}

#[tokio::test(start_paused = true)]
async fn run_now_has_no_slot_and_moves_none() {
    let mut world = world_with(&[job("news", "30 7 * * 1-5")]).await;
    let next = world.next_slot("news").await;
    for _ in 0..2 {
        world.run_now("news").await;
        world.agent.next_turn().await.answer("done").await;
        world.run_ended().await;
        assert_eq!(world.next_slot("news").await, next);
    }
    world.advance_to(next.unwrap()).await;
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    assert_eq!(
        world.told("news").await,
        ["run_now now succeeded", "run_now now succeeded", "on_time 07:30 succeeded"]
    );
}

#[tokio::test(start_paused = true)]
async fn looking_listing_and_saving_an_unchanged_schedule_never_move_a_slot() {
    let world = world_with(&[job("news", "every 45m")]).await;
    let next = world.next_slot("news").await;
    world.advance(600).await;
    world.jobs().await;
    let detail = world.job("news").await;
    let definition = Definition { prompt: Some("look again".to_owned()), ..*detail.definition.unwrap() };
    let save = JobCommand::Save { base: Some(detail.record), definition: Box::new(definition) };
    world.job_command(save).await.unwrap();
    assert_eq!(world.next_slot("news").await, next);
}

#[tokio::test(start_paused = true)]
async fn an_interval_keeps_to_its_lattice_however_long_its_runs_take() {
    let mut world = world_with(&[job("check", "every 15m")]).await;
    let first = world.next_slot("check").await.unwrap();
    for n in 0..4 {
        world.advance_to(first + chrono::TimeDelta::minutes(15 * n)).await;
        let turn = world.agent.next_turn().await;
        world.advance(330).await;
        turn.answer("done").await;
        world.run_ended().await;
    }
    let slots: Vec<_> = world.executions("check").await.iter().map(|run| run.slots.unwrap().first).collect();
    let lattice: Vec<_> = (0..4).map(|n| first + chrono::TimeDelta::minutes(15 * n)).collect();
    assert_eq!(slots, lattice);
}

#[tokio::test(start_paused = true)]
async fn a_long_interval_survives_restarts_that_come_more_often() {
    let mut world = world_with(&[job("day", "every 24h")]).await;
    let first = world.next_slot("day").await.unwrap();
    for _ in 0..3 {
        world.advance(6 * 60 * 60).await;
        world = world.restart(Setup::default()).await;
        world.settled().await;
        assert_eq!(world.next_slot("day").await, Some(first));
    }
    world.advance_to(first).await;
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    assert_eq!(world.executions("day").await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_within_the_grace_runs_late_and_a_longer_backlog_is_one_run() {
    let jobs = [
        job("late", "0 13 * * *"),
        job("minutes", "* * * * *"),
        Definition { misfire: Misfire::Skip, ..job("skips", "*/10 * * * *") },
    ];
    let mut world = world_with(&jobs).await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.engine.stopped().await;
    world.advance_to(at(14, 30)).await;
    world.start_again(Setup::default()).await;
    for _ in 0..3 {
        world.agent.next_turn().await.answer("done").await;
        world.run_ended().await;
    }
    assert_eq!(world.told("late").await, ["late 13:00 succeeded"]);
    assert_eq!(world.told("minutes").await, ["catch_up 12:01-14:30 (150) succeeded"]);
    let skips = world.told("skips").await;
    assert!(skips.len() == 2 && skips[1] == "on_time 14:30 succeeded", "{skips:?}");
    assert!(skips[0].ends_with(" 12:10-14:20 (14) skipped"), "{skips:?}");
}

#[tokio::test(start_paused = true)]
async fn a_fleet_that_is_due_at_once_is_spread_by_the_parallel_limit() {
    let jobs: Vec<Definition> = (0..12).map(|n| job(&format!("job-{n:02}"), "0 13 * * *")).collect();
    let mut world = world_with(&jobs).await;
    world.advance_to(at(13, 0)).await;
    let mut running = Vec::new();
    for _ in 0..4 {
        running.push(world.agent.next_turn().await);
    }
    let mut done = 0;
    while let Some(turn) = running.pop() {
        assert!(world.agent.turn_already_begun().await.is_none(), "more than four run at once");
        turn.answer("done").await;
        world.run_ended().await;
        done += 1;
        if done + running.len() < 12 {
            running.push(world.agent.next_turn().await);
        }
    }
    for job in &jobs {
        assert_eq!(world.told(job.id.as_str()).await, ["on_time 13:00 succeeded"]);
    }
}

#[tokio::test(start_paused = true)]
async fn on_hold_nothing_fires_and_after_it_each_slot_has_its_row() {
    let mut world = world_with(&[job("check", "*/30 * * * *")]).await;
    world.engine.command(Command::Hold { why: "test".to_owned() }).await.unwrap();
    world.advance_to(at(12, 40)).await;
    assert!(world.agent.turn_already_begun().await.is_none());
    assert_eq!(world.executions("check").await.len(), 0);
    world.engine.command(Command::Release).await.unwrap();
    world.advance(1).await;
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    assert_eq!(world.told("check").await, ["late 12:30 succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_slot_that_comes_while_the_job_runs_is_skipped_with_a_row() {
    let mut world = world_with(&[job("slow", "*/5 * * * *")]).await;
    world.advance_to(at(12, 5)).await;
    let turn = world.agent.next_turn().await;
    world.advance_to(at(12, 10)).await;
    world.job_event(|what| matches!(what, JobEvent::NotRun { .. })).await;
    turn.answer("done").await;
    world.run_ended().await;
    let told = world.told("slow").await;
    assert!(told.len() == 2 && told[0] == "on_time 12:05 succeeded", "{told:?}");
    assert!(told[1].ends_with(" 12:10 skipped"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_newer_run_replaces_one_that_still_works() {
    let slow = Definition { overlap: Overlap::Replace, ..job("slow", "*/5 * * * *") };
    let mut world = world_with(&[slow]).await;
    world.advance_to(at(12, 5)).await;
    let first = world.agent.next_turn().await;
    world.advance_to(at(12, 10)).await;
    first.obey_stop().await;
    let (state, why) = world.run_ended().await;
    assert_eq!(
        (state, why.as_deref()),
        (ExecutionState::Interrupted, Some("stopped for a newer run of its job"))
    );
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    assert_eq!(world.told("slow").await, ["on_time 12:05 interrupted", "on_time 12:10 succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_asked_for_replaces_one_that_still_works() {
    let slow = Definition { overlap: Overlap::Replace, ..job("slow", "*/5 * * * *") };
    let mut world = world_with(&[slow]).await;
    world.advance_to(at(12, 5)).await;
    let first = world.agent.next_turn().await;
    world.run_now("slow").await;
    first.obey_stop().await;
    assert_eq!(world.run_ended().await.1.as_deref(), Some("stopped for a newer run of its job"));
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    assert_eq!(world.told("slow").await, ["on_time 12:05 interrupted", "run_now now succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_asked_for_on_hold_leaves_no_slot_out() {
    let mut world = world_with(&[job("check", "*/10 * * * *")]).await;
    world.engine.command(Command::Hold { why: "test".to_owned() }).await.unwrap();
    world.run_now("check").await;
    world.advance_to(at(12, 45)).await;
    world.engine.command(Command::Release).await.unwrap();
    world.advance(1).await;
    for _ in 0..2 {
        world.agent.next_turn().await.answer("done").await;
        world.run_ended().await;
    }
    assert_eq!(world.told("check").await, ["run_now now succeeded", "catch_up 12:10-12:40 (4) succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_asked_for_while_the_engine_stops_leaves_no_slot_out() {
    let mut world = world_with(&[job("check", "*/10 * * * *"), job("long", "0 0 1 1 *")]).await;
    world.run_now("long").await;
    let turn = world.agent.next_turn().await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    world.run_now("check").await;
    turn.answer("done").await;
    world.engine.stopped().await;
    world.advance_to(at(12, 45)).await;
    world.start_again(Setup::default()).await;
    for _ in 0..2 {
        world.agent.next_turn().await.answer("done").await;
        world.run_ended().await;
    }
    assert_eq!(world.told("check").await, ["run_now now succeeded", "catch_up 12:10-12:40 (4) succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn the_report_tells_what_became_of_runs_and_of_slots() {
    let jobs = [job("check", "*/10 * * * *"), job("once", "2026-11-30T12:25")];
    let mut world = world_with(&jobs).await;
    world.advance_to(at(12, 10)).await;
    let turn = world.agent.next_turn().await;
    world.advance_to(at(12, 20)).await;
    world.job_event(|what| matches!(what, JobEvent::NotRun { .. })).await;
    turn.fail("no route");
    world.run_ended().await;
    world.engine.command(Command::Hold { why: "test".to_owned() }).await.unwrap();
    world.advance_to(at(12, 45)).await;
    world.engine.command(Command::Release).await.unwrap();
    world.advance(1).await;
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    let Answer::Report(report) = world.engine.query(Query::Report { since: Some(at(12, 0)) }).await.unwrap()
    else {
        panic!("no report");
    };
    let lines: Vec<String> =
        report.lines().into_iter().map(|(label, words)| format!("{label}: {words}")).collect();
    assert!(lines.contains(&"jobs bad: 1 run failed, 1 slot missed".to_owned()), "{lines:?}");
    assert!(lines.contains(&"jobs: 1 run ok, 2 slots late, 1 slot skipped".to_owned()), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn two_runs_of_a_job_may_go_on_side_by_side_each_in_a_session_of_its_own() {
    let slow = Definition { overlap: Overlap::Allow, ..job("slow", "*/5 * * * *") };
    let mut world = world_with(&[slow]).await;
    world.advance_to(at(12, 5)).await;
    let first = world.agent.next_turn().await;
    world.advance_to(at(12, 10)).await;
    let second = world.agent.next_turn().await;
    assert_ne!(first.session, second.session);
    second.answer("second").await;
    world.run_ended().await;
    first.answer("first").await;
    world.run_ended().await;
    assert_eq!(world.told("slow").await, ["on_time 12:05 succeeded", "on_time 12:10 succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_goes_on_hold_over_night_wakes_up_with_one_run() {
    let world = World::new(Setup { start_up: StartUp::Hold("test".to_owned()), ..Setup::default() }).await;
    world.save(job("news", "0 8 * * *")).await.unwrap();
    let mut world = world;
    world.advance(5 * 24 * 60 * 60).await;
    world.engine.command(Command::Release).await.unwrap();
    world.advance(1).await;
    world.agent.next_turn().await.answer("done").await;
    world.event(|kind| matches!(kind, EventKind::Job { what: JobEvent::RunEnded { .. }, .. })).await;
    assert_eq!(world.told("news").await, ["catch_up 08:00-08:00 (5) succeeded"]);
}
