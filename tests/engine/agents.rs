//! Agents by name: chosen for a session, for a platform, for a scheduled task.

use pretty_assertions::assert_eq;
use switchboard::domain::api::Command;
use switchboard::domain::conversation;
use switchboard::domain::cron::{Definition, ExecutionState};
use switchboard::domain::event::EventKind;
use switchboard::domain::queue::{BusyMode, Intent, Source};
use switchboard::domain::turn::Outcome;

use crate::cron::{job, world_with};
use crate::support::scripted::{Keeping, Scripted, Steering};
use crate::support::world::{Setup, World};

/// A setup with a second agent, and the test's side of that.
fn with_coder() -> (Setup, Scripted) {
    let (coder, backend) = Scripted::new(Steering::TakesNone, Keeping::BetweenTurns);
    (Setup { others: vec![("coder", backend)], ..Setup::default() }, coder)
}

async fn done(world: &World, text: &str) -> String {
    match world.type_into("s", text).await.unwrap() {
        switchboard::domain::api::Reply::Done { words, .. } => words,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_chooses_its_agent_from_the_next_turn_on_until_a_reset() {
    let (setup, coder) = with_coder();
    let mut world = World::new(setup).await;
    world.send("s", "one").await;
    let turn = world.turn_for("one").await;
    let words = done(&world, "/agent coder").await;
    assert_eq!(words, "turn 1 goes on as it began; the next one is answered by coder: scripted agent");
    turn.answer("ok").await;
    world.turn_ended().await;
    assert_eq!(world.agent.next_closed().await, 1, "the handle of the agent before is closed");
    world.send("s", "two").await;
    let turn = coder.next_turn().await;
    assert_eq!((turn.message.as_str(), turn.history.len()), ("two", 2), "it is told what was said");
    turn.answer("ok").await;
    world.turn_ended().await;
    assert_eq!(
        done(&world, "/agent").await,
        "agent coder: scripted agent, chosen for this session; there are coder, default"
    );
    world.type_into("s", "/agent default").await.unwrap();
    assert_eq!(coder.next_closed().await, 1);
    world.send("s", "three").await;
    world.turn_for("three").await.answer("ok").await;
    world.turn_ended().await;
    world.type_into("s", "/agent coder").await.unwrap();
    world.type_into("s", "/new!").await.unwrap();
    world.send("s", "four").await;
    world.turn_for("four").await.answer("ok").await;
}

#[tokio::test(start_paused = true)]
async fn what_is_set_before_the_first_message_makes_the_session_and_holds_for_its_first_turn() {
    let (setup, coder) = with_coder();
    let mut world = World::new(setup).await;
    assert_eq!(done(&world, "/agent").await, "agent scripted agent; there are coder, default");
    assert_eq!(done(&world, "/model").await, "model of the settings");
    assert!(done(&world, "/busy").await.ends_with("(default)"));
    assert!(world.type_into("s", "/agent codr").await.is_err());
    assert_eq!(world.overview().await.sessions, 0, "nothing was set yet");
    for set in ["/agent coder", "/model large", "/busy queue", "/title work"] {
        done(&world, set).await;
    }
    world.send("s", "one").await;
    let turn = coder.next_turn().await;
    assert_eq!(turn.model.as_deref(), Some("large"));
    let session = world.row("s").await.session;
    assert_eq!((session.busy_mode, session.title.as_deref()), (Some(BusyMode::Queue), Some("work")));
    assert_eq!(world.overview().await.sessions, 1);
    turn.answer("ok").await;
    world.turn_ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_of_a_platform_is_answered_by_the_agent_that_the_settings_name_for_it() {
    let (setup, coder) = with_coder();
    let platforms = vec![(conversation::PLATFORM, "coder")];
    let mut world = World::new(Setup { platforms, ..setup }).await;
    let submit = |text: &str| Command::Submit {
        to: conversation::key_of("c1", None).unwrap(),
        text: text.to_owned(),
        intent: Intent::Plain,
        source: Source::CommandLine,
    };
    world.engine.command(submit("one")).await.unwrap();
    coder.next_turn().await.answer("ok").await;
    world.turn_ended().await;
    world.engine.command(submit("/agent default")).await.unwrap();
    world.engine.command(submit("two")).await.unwrap();
    coder.next_turn().await.answer("ok").await;
    world.turn_ended().await;
    world.send("s", "of no platform").await;
    world.turn_for("of no platform").await.answer("ok").await;
}

#[tokio::test(start_paused = true)]
async fn a_scheduled_task_works_in_its_folder_by_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let definition = Definition {
        workdir: Some(folder.path().display().to_string()),
        model: Some("large".to_owned()),
        ..job("there", "0 0 1 1 *")
    };
    let mut world = world_with(&[definition, job("here", "0 0 1 1 *")]).await;
    world.run_now("there").await;
    let turn = world.agent.next_turn().await;
    assert_eq!((turn.workdir.as_deref(), turn.model.as_deref()), (Some(folder.path()), Some("large")));
    turn.answer("done").await;
    world.run_ended().await;
    world.run_now("here").await;
    let turn = world.agent.next_turn().await;
    assert_eq!((&turn.workdir, &turn.model), (&None, &None));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_not_there_is_refused_and_never_silently_another_one() {
    let (setup, _coder) = with_coder();
    let mut world = World::new(setup).await;
    world.send("s", "one").await;
    world.turn_for("one").await.answer("ok").await;
    world.turn_ended().await;
    let refused = world.type_into("s", "/agent codr").await.unwrap_err().to_string();
    let expected = "refused: there is no agent \"codr\"; did you mean \"coder\"? (there are coder, default; [agents.NAME] in config.toml sets one up)";
    assert_eq!(refused, expected);
    world.type_into("s", "/agent coder").await.unwrap();
    // The next start's settings have it no more.
    let mut world = world.restart(Setup::default()).await;
    world.send("s", "two").await;
    let ended = world.turn_ended().await;
    let EventKind::TurnEnded { outcome: Outcome::Failed { error }, .. } = &ended.kind else {
        panic!("{ended:?}")
    };
    assert!(
        error.contains("there is no agent \"coder\"") && error.contains("/agent NAME chooses"),
        "{error}"
    );
    world.type_into("s", "/agent default").await.unwrap();
    world.send("s", "three").await;
    world.turn_for("three").await.answer("ok").await;
}

#[tokio::test(start_paused = true)]
async fn a_scheduled_task_is_run_by_the_agent_that_it_names_and_blocked_where_there_is_none() {
    let by = |agent: &str, id: &str| Definition { agent: Some(agent.to_owned()), ..job(id, "0 0 1 1 *") };
    let (setup, coder) = with_coder();
    let jobs = [by("coder", "good"), by("gone", "bad")];
    let mut world = World::new(setup).await;
    for job in jobs {
        world.save(job).await.unwrap();
    }
    world.settled().await;
    world.run_now("good").await;
    coder.next_turn().await.answer("done").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
    world.run_now("bad").await;
    let (state, why) = world.run_ended().await;
    assert_eq!(state, ExecutionState::BlockedConfig);
    assert!(
        why.unwrap().starts_with("agent \"gone\": there is no agent \"gone\" (there are coder, default;")
    );
    assert!(world.agent.turn_already_begun().await.is_none(), "the default one was asked");
    let warnings = world.job("bad").await.warnings;
    assert!(warnings.iter().any(|warning| warning.contains("there is no agent")), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn a_scheduled_task_makes_none_whatever_its_agent_asks() {
    let mut world = world_with(&[job("first", "0 0 1 1 *")]).await;
    world.run_now("first").await;
    let turn = world.agent.next_turn().await;
    let refused = turn.jobs.ask(job("next", "daily at 7am")).await.unwrap_err();
    assert!(refused.contains("a scheduled task can't make scheduled tasks"), "{refused}");
    assert!(!std::fs::read_to_string(world.path("jobs.json")).unwrap().contains("next"));
    turn.answer("done").await;
    world.run_ended().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_makes_a_scheduled_task_by_the_way_of_every_new_job() {
    let mut world = World::new(Setup::default()).await;
    world.save(job("look", "0 0 1 1 *")).await.unwrap();
    world.settled().await;
    world.send("s", "look every morning").await;
    let turn = world.turn_for("look every morning").await;
    let made = turn.jobs.ask(job("look", "daily at 7am")).await.unwrap();
    assert!(made.starts_with("scheduled task look-2 is made: ") && made.contains("; next: "), "{made}");
    assert_eq!(made.split("next: ").nth(1).unwrap().split(", ").count(), 3, "{made}");
    let refused = turn.jobs.ask(job("late", "2020-01-01T10:00")).await.unwrap_err();
    assert!(refused.contains("schedule") && refused.contains("past"), "{refused}");
    let session = world.id("s").await;
    let told = "job look-2 was made by the agent in turn 1";
    let event = world.events().await.into_iter().find(|event| event.kind.words() == told);
    assert_eq!(event.and_then(|event| event.session), Some(session));
    assert!(std::fs::read_to_string(world.path("jobs.json")).unwrap().contains("look-2"));
    turn.answer("done").await;
    world.turn_ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_scheduled_task_with_a_key_in_it_is_refused_and_written_nowhere() {
    const KEY: &str = "sk-canary-5822";
    let world =
        World::prepared(Setup::default(), |home| std::fs::write(home.join("key"), KEY).unwrap()).await;
    world.send("s", "look every morning").await;
    let turn = world.turn_for("look every morning").await;
    let with = |change: fn(&mut Definition, String)| {
        let mut job = job("look", "daily at 7am");
        change(&mut job, format!("say {KEY}"));
        job
    };
    let jobs = [
        with(|job, text| job.prompt = Some(text)),
        with(|job, text| job.name = Some(text)),
        with(|job, text| job.script = Some(text)),
        with(|job, text| job.skills = vec![text]),
    ];
    for job in jobs {
        let refused = turn.jobs.ask(job).await.unwrap_err();
        assert!(refused.contains("a key of the settings stands in the task's text"), "{refused}");
        assert!(!refused.contains(KEY), "{refused}");
    }
    assert!(!world.path("jobs.json").exists());
    assert!(
        turn.jobs.ask(job("look", "daily at 7am")).await.unwrap().starts_with("scheduled task look is made")
    );
}
