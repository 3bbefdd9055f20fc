//! What a start makes of runs that an engine before had begun.

use pretty_assertions::assert_eq;
use rusqlite::Connection;
use switchboard::domain::api::{Answer, Command, JobCommand, Query};
use switchboard::domain::cron::{Counting, DeliveryState, ExecutionState, JobEvent};
use switchboard::domain::event::EventKind;
use switchboard::store::{Patience, Store, Tick};

use super::{at, job, world_with};
use crate::support::world::{Setup, World};

fn store(world: &World) -> Connection {
    Connection::open(world.path("state.db")).unwrap()
}

/// What the newest start says of what it found.
async fn last_start(world: &World) -> String {
    match world.engine.query(Query::Recovery { start: None, limit: 9 }).await.unwrap() {
        Answer::Recovery(page) => page.chosen.unwrap().result(),
        other => panic!("{other:?}"),
    }
}

/// Lets a job run once, stops the engine, and changes what it left.
async fn ran_once_then(world: &mut World, sql: &str) {
    world.run_now("a").await;
    world.agent.next_turn().await.answer("the answer").await;
    world.job_event(|what| matches!(what, JobEvent::Delivery { .. })).await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.engine.stopped().await;
    store(world).execute_batch(sql).unwrap();
    world.start_again(Setup::default()).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_died_with_its_engine_is_interrupted_and_its_job_is_free_at_once() {
    let mut world = world_with(&[job("a", "0 0 1 1 *")]).await;
    world.run_now("a").await;
    let _turn = world.agent.next_turn().await;
    let copy = world.copy(Setup::default()).await;
    copy.settled().await;
    assert_eq!(copy.executions("a").await[0].state, ExecutionState::Interrupted);
    assert!(copy.agent.turn_already_begun().await.is_none(), "it was run again");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_died_with_its_engine_lasted_until_that_and_is_delivered_like_any_failure() {
    let mut world = world_with(&[job("a", "0 0 1 1 *")]).await;
    world.run_now("a").await;
    let _turn = world.agent.next_turn().await;
    world.advance(15).await;
    world.advance(5).await;
    let committed = world.copy_of_files();
    world.advance(3600).await;
    let mut copy = world.start_on(committed, Setup::default()).await;
    copy.job_event(|what| matches!(what, JobEvent::Delivery { .. })).await;
    let [run] = &copy.executions("a").await[..] else { panic!("one run") };
    assert_eq!(run.words(copy.now()), "interrupted, run now, 15 s: the engine died");
    assert_eq!(run.deliveries[0].state, DeliveryState::Delivered);
    assert_eq!(copy.transcript("console").await, ["notice: Job a, run 1:\nthe engine died"]);
    assert_eq!(last_start(&copy).await, "1 run of a job was cut off and is not repeated: a.");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_cut_at_the_end_of_a_drain_is_told_by_the_next_start() {
    let mut world = world_with(&[job("a", "0 0 1 1 *")]).await;
    world.run_now("a").await;
    let turn = world.agent.next_turn().await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    world.advance(31).await;
    turn.obey_stop().await;
    let world = world.next_start(Setup::default()).await;
    assert_eq!(last_start(&world).await, "1 run of a job was cut off and is not repeated: a.");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_the_operator_stopped_was_not_cut_off() {
    let mut world = world_with(&[job("a", "0 0 1 1 *")]).await;
    let execution = world.run_now("a").await;
    let turn = world.agent.next_turn().await;
    world.job_command(JobCommand::StopRun { execution }).await.unwrap();
    turn.obey_stop().await;
    world.run_ended().await;
    let world = world.restart(Setup::default()).await;
    assert_eq!(last_start(&world).await, "It found nothing cut off.");
}

#[tokio::test(start_paused = true)]
async fn the_claim_of_another_host_counts_until_it_expires() {
    let mut world = world_with(&[job("a", "0 0 1 1 *")]).await;
    let elsewhere = "UPDATE executions SET state = 'running', ended_at = NULL, session = NULL, turn = NULL,
        owner = json_set(owner, '$.host', 'elsewhere', '$.run', 'theirs'),
        expires_at = taken_at + 300000; DELETE FROM deliveries;";
    ran_once_then(&mut world, elsewhere).await;
    world.settled().await;
    assert_eq!(world.executions("a").await[0].state, ExecutionState::Running);
    let run = || JobCommand::Run { job: "a".parse().unwrap(), counting: Counting::Beside };
    let refused = world.refused(run()).await;
    assert!(refused.contains("claimed by run theirs") && refused.contains("on elsewhere"), "{refused}");
    world.advance(301).await;
    let (state, _) = world.run_ended().await;
    assert!(matches!(state, ExecutionState::Unknown | ExecutionState::Interrupted), "{state}");
    world.job_command(run()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_fire_whose_run_never_began_waits_again_once() {
    let mut world = world_with(&[job("a", "0 0 1 1 *")]).await;
    let not_begun =
        "UPDATE executions SET state = 'claimed', began_at = NULL, ended_at = NULL, session = NULL,
        turn = NULL, output = NULL; DELETE FROM deliveries;";
    ran_once_then(&mut world, not_begun).await;
    let turn = world.agent.next_turn().await;
    turn.answer("again").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
    let [run] = &world.executions("a").await[..] else { panic!("one run") };
    assert_eq!(run.attempt, 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_not_settled_is_taken_over_kept_and_delivered() {
    let mut world = world_with(&[job("a", "0 0 1 1 *")]).await;
    let unsettled =
        "UPDATE executions SET state = 'running', ended_at = NULL, output = NULL; DELETE FROM deliveries;";
    ran_once_then(&mut world, unsettled).await;
    loop {
        let [run] = &world.executions("a").await[..] else { panic!("one run") };
        if run.deliveries.iter().any(|delivery| delivery.state == DeliveryState::Delivered) {
            assert_eq!(run.state, ExecutionState::Succeeded);
            let document = world.output(run.id).await.unwrap();
            assert!(document.ends_with("## Answer\n\nthe answer\n"), "{document}");
            break;
        }
    }
    assert!(world.agent.turn_already_begun().await.is_none(), "it was run again");
}

#[tokio::test(start_paused = true)]
async fn what_was_still_to_be_delivered_is_delivered_at_the_next_start() {
    let mut world = world_with(&[job("a", "0 0 1 1 *")]).await;
    ran_once_then(&mut world, "UPDATE deliveries SET state = 'pending'").await;
    loop {
        let [run] = &world.executions("a").await[..] else { panic!("one run") };
        if run.deliveries[0].state == DeliveryState::Delivered {
            break;
        }
    }
    let told = world.log().await.into_iter().filter(|line| line.ends_with("delivered: the answer")).count();
    assert_eq!(told, 2);
}

#[tokio::test(start_paused = true)]
async fn a_slot_that_two_look_at_is_taken_once() {
    let mut world = world_with(&[job("a", "30 12 * * *"), job("b", "0 0 1 1 *")]).await;
    let (other, _feed) = Store::open(&world.path("state.db"), Patience::default()).unwrap();
    let tick = Tick { at: at(12, 30), zone: chrono_tz::UTC, limit: 10 };
    let also = other.write(move |store| store.fire_due(&tick));
    let (_, taken) = tokio::join!(world.advance_to(at(12, 30)), also);
    taken.unwrap();
    world.advance(1).await;
    // Whoever took it, a worker is woken for it at the latest by the next run.
    world.run_now("b").await;
    for turn in [world.agent.next_turn().await, world.agent.next_turn().await] {
        turn.answer("done").await;
        world.run_ended().await;
    }
    assert_eq!(world.executions("a").await.len(), 1);
}
