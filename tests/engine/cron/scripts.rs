//! Scripts of jobs: real programs, with and without an agent behind them.

use std::path::Path;

use pretty_assertions::assert_eq;
use switchboard::domain::api::{Command, JobCommand, Waited};
use switchboard::domain::cron::{Definition, DeliveryState, ExecutionState, JobEvent};

use super::{job, world_with, write};
use crate::support::world::World;

fn with_script(id: &str) -> Definition {
    Definition { script: Some("check.sh".to_owned()), ..job(id, "0 0 1 1 *") }
}

fn without_agent(id: &str) -> Definition {
    Definition { no_agent: true, prompt: None, ..with_script(id) }
}

async fn world(definition: Definition, script: &str) -> World {
    let world = world_with(&[definition]).await;
    write(&world.path(""), "scripts/check.sh", script);
    world
}

/// Waits on the clock of the machine for what a real program does.
async fn until(happened: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !happened() {
        assert!(began.elapsed().as_secs() < 60, "it did not happen");
        tokio::task::spawn_blocking(|| std::thread::sleep(std::time::Duration::from_millis(5)))
            .await
            .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn the_output_of_a_script_goes_into_the_prompt() {
    let mut world = world(with_script("a"), "#!/bin/sh\necho \"7 mails for $SWITCHBOARD_JOB_ID\"").await;
    world.run_now("a").await;
    let turn = world.agent.next_turn().await;
    let part = "[Begin: output of the script check.sh]\n7 mails for a\n[End: output of the script check.sh]";
    assert!(turn.message.contains(part), "{}", turn.message);
    turn.answer("done").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_script_may_let_its_agent_sleep() {
    let mut world = world(with_script("a"), "echo looked; echo '{\"wakeAgent\": false}'").await;
    world.run_now("a").await;
    assert_eq!(world.run_ended().await, (ExecutionState::Succeeded, None));
    assert!(world.agent.turn_already_begun().await.is_none());
    let [run] = &world.executions("a").await[..] else { panic!("one run") };
    assert_eq!((run.output.as_deref(), run.deliveries[0].state), (None, DeliveryState::Suppressed));
}

#[tokio::test(start_paused = true)]
async fn without_an_agent_the_output_is_the_result_and_no_output_is_a_silent_success() {
    let mut world = world(without_agent("a"), "echo disk is fine").await;
    world.run_now("a").await;
    let told = world.job_event(|what| matches!(what, JobEvent::Delivery { .. })).await;
    assert!(told.kind.words().ends_with("to console: delivered: disk is fine"), "{}", told.kind.words());
    write(&world.path(""), "scripts/check.sh", "true");
    world.run_now("a").await;
    assert_eq!(world.run_ended().await, (ExecutionState::Succeeded, None));
    let runs = world.executions("a").await;
    assert!(world.output(runs[0].id).await.unwrap().ends_with("## Answer\n\ndisk is fine\n"));
    assert_eq!((runs[1].output.as_deref(), runs[1].deliveries[0].state), (None, DeliveryState::Suppressed));
}

#[tokio::test(start_paused = true)]
async fn a_script_that_fails_is_always_told_with_its_last_words() {
    let mut world = world(without_agent("a"), "echo half; echo no disk >&2; exit 3").await;
    world.run_now("a").await;
    let why = "the script ended with exit code 3: no disk";
    assert_eq!(world.run_ended().await, (ExecutionState::Failed, Some(why.to_owned())));
    let told = world.job_event(|what| matches!(what, JobEvent::Delivery { .. })).await;
    assert!(told.kind.words().ends_with(&format!("delivered: {why}")), "{}", told.kind.words());
    let [run] = &world.executions("a").await[..] else { panic!("one run") };
    let document = world.output(run.id).await.unwrap();
    assert!(document.ends_with(&format!("## Error\n\n{why}\n\n## Answer\n\nhalf\n")), "{document}");
}

#[tokio::test(start_paused = true)]
async fn a_script_outside_of_its_folder_is_never_run() {
    let mut world = world(without_agent("a"), "true").await;
    write(&world.path(""), "outside.sh", "touch ran");
    std::fs::remove_file(world.path("scripts/check.sh")).unwrap();
    std::os::unix::fs::symlink(world.path("outside.sh"), world.path("scripts/check.sh")).unwrap();
    world.run_now("a").await;
    let (state, why) = world.run_ended().await;
    assert_eq!(state, ExecutionState::BlockedConfig);
    assert!(why.unwrap().contains("it leads out of scripts/"));
    assert!(!world.path("ran").exists());
}

#[tokio::test(start_paused = true)]
async fn a_script_that_takes_too_long_is_ended_with_all_that_it_started() {
    let mut world = world(without_agent("a"), "sleep 1000 & echo $! > child; wait").await;
    world.run_now("a").await;
    let child = world.path("child");
    until(|| std::fs::read_to_string(&child).is_ok_and(|pid| pid.ends_with('\n'))).await;
    world.advance(301).await;
    let (state, why) = world.run_ended().await;
    let told = "the script took longer than 300 s and was stopped";
    assert_eq!((state, why.as_deref()), (ExecutionState::TimedOut, Some(told)));
    let pid = std::fs::read_to_string(&child).unwrap();
    until(|| !Path::new(&format!("/proc/{}/exe", pid.trim())).exists()).await;
}

#[tokio::test(start_paused = true)]
async fn a_script_is_stopped_by_the_operator_and_at_the_end_of_a_drain_that_names_it() {
    let mut world = world(without_agent("a"), "touch begun; sleep 1000").await;
    let run = world.run_now("a").await;
    let begun = world.path("begun");
    until(|| begun.exists()).await;
    world.job_command(JobCommand::StopRun { execution: run }).await.unwrap();
    let stopped = Some("stopped by the operator".to_owned());
    assert_eq!(world.run_ended().await, (ExecutionState::Interrupted, stopped));
    std::fs::remove_file(&begun).unwrap();
    world.run_now("a").await;
    until(|| begun.exists()).await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, switchboard::domain::event::EventKind::EngineStopping { .. })).await;
    let drain = world.overview().await.engine.drain.unwrap();
    assert_eq!(Waited::names(&drain.waits_for), "job a (script)");
    world.advance(31).await;
    let cut = Some("cut when the engine stopped".to_owned());
    assert_eq!(world.run_ended().await, (ExecutionState::Interrupted, cut));
    world.engine.stopped().await;
    assert_eq!(world.engine.cut(), ["job a (script)"], "the receipt names it");
}
