//! `jobs.json` and the commands that change it.

use std::fs;

use pretty_assertions::assert_eq;
use switchboard::domain::alert::Alert;
use switchboard::domain::api::{Answer, Command, JobCommand, JobState, JobsFileState, Query, Reply};
use switchboard::domain::cron::{CronEvent, Definition, ExecutionState, JobId, SessionMode};
use switchboard::domain::event::EventKind;

use super::{at, job, world_with};
use crate::support::world::{Setup, World};

const FILE: &str = r#"{ "jobs": [
  { "id": "a",  "schedule": "30 12 * * *", "timezone": "UTC", "prompt": "look", "mine": [1, 2] },
  {"id":"b","schedule":"0 13 * * *","timezone":"UTC","prompt":"look"}
] }
"#;

async fn world() -> World {
    let mut world =
        World::prepared(Setup::default(), |home| fs::write(home.join("jobs.json"), FILE).unwrap()).await;
    if world.jobs().await.total == 0 {
        world.file_read().await;
    }
    world.settled().await;
    world
}

fn file(world: &World) -> String {
    fs::read_to_string(world.path("jobs.json")).unwrap()
}

/// Writes the file as an editor does, and waits until the engine has seen it.
async fn write_by_hand(world: &World, text: &str, seen: impl Fn(&JobsFileState, usize) -> bool) {
    fs::write(world.path("jobs.json"), text).unwrap();
    loop {
        let page = world.jobs().await;
        if seen(&page.file, page.total) {
            return;
        }
        world.a_moment().await;
    }
}

fn is_read(file: &JobsFileState) -> bool {
    matches!(file, JobsFileState::Read { .. })
}

fn is_unreadable(file: &JobsFileState) -> bool {
    matches!(file, JobsFileState::Unreadable { .. })
}

async fn undo(world: &World, reply: Reply) -> Reply {
    let Reply::Done { undo: Some(undo), .. } = reply else { panic!("no undo: {reply:?}") };
    world.engine.command(*undo).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn reading_and_firing_never_write_the_file() {
    let mut world = world().await;
    world.advance_to(at(12, 30)).await;
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    assert_eq!(file(&world), FILE);
}

#[tokio::test(start_paused = true)]
async fn an_edit_replaces_its_own_record_alone_and_can_be_taken_back() {
    let world = world().await;
    let detail = world.job("a").await;
    let to = Definition { prompt: Some("look again".to_owned()), ..*detail.definition.unwrap() };
    let save = JobCommand::Save { base: Some(detail.record), definition: Box::new(to) };
    let reply = world.job_command(save).await.unwrap();
    assert_eq!(file(&world), FILE.replacen("\"look\"", "\"look again\"", 1));
    undo(&world, reply).await;
    assert_eq!(file(&world), FILE);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_was_changed_on_both_sides_is_shown_and_not_overwritten() {
    let world = world().await;
    let detail = world.job("a").await;
    let theirs = FILE.replacen("\"look\"", "\"theirs\"", 1);
    fs::write(world.path("jobs.json"), &theirs).unwrap();
    let to = Definition { prompt: Some("mine".to_owned()), ..*detail.definition.unwrap() };
    let save = JobCommand::Save { base: Some(detail.record), definition: Box::new(to) };
    let Reply::JobConflict { mine, theirs: Some(shown) } = world.job_command(save).await.unwrap() else {
        panic!("no conflict");
    };
    assert!(mine.contains("\"mine\"") && shown.contains("\"theirs\""), "{mine} {shown}");
    assert_eq!(file(&world), theirs);
}

#[tokio::test(start_paused = true)]
async fn a_change_of_another_job_on_disk_is_kept_by_an_edit() {
    let world = world().await;
    let detail = world.job("b").await;
    let theirs = FILE.replacen("\"look\"", "\"theirs\"", 1);
    fs::write(world.path("jobs.json"), &theirs).unwrap();
    let to = Definition { prompt: Some("mine".to_owned()), ..*detail.definition.unwrap() };
    let save = JobCommand::Save { base: Some(detail.record), definition: Box::new(to) };
    world.job_command(save).await.unwrap();
    assert_eq!(file(&world), theirs.replacen("\"look\"", "\"mine\"", 1));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_given_another_id_takes_its_history_its_state_and_its_alerts_along() {
    let mut world = world().await;
    world.advance_to(at(12, 30)).await;
    world.agent.next_turn().await.fail("no route");
    world.run_ended().await;
    let before = world.job("a").await;
    let to = Definition { id: "renamed".parse().unwrap(), ..*before.definition.unwrap() };
    let save = JobCommand::Save { base: Some(before.record), definition: Box::new(to) };
    let reply = world.job_command(save).await.unwrap();
    assert_eq!(file(&world), FILE.replacen("\"a\"", "\"renamed\"", 1));
    let after = world.job("renamed").await;
    assert_eq!((after.row.next, after.row.failures), (before.row.next, 1));
    assert_eq!(world.told("renamed").await, ["on_time 12:30 failed"]);
    assert_eq!(world.executions("a").await, []);
    assert_eq!(world.executions("renamed").await[0].deliveries.len(), 1);
    let log = world.log().await;
    assert!(log.contains(&"job renamed was job a until now".to_owned()), "{log:?}");
    let alerts = || async {
        match world.engine.query(Query::Alerts { limit: 9 }).await.unwrap() {
            Answer::Alerts(alerts) => alerts,
            other => panic!("{other:?}"),
        }
    };
    let keys = |alerts: Vec<Alert>| alerts.iter().map(|it| it.key.to_string()).collect::<Vec<_>>();
    assert_eq!(keys(alerts().await), ["job:renamed"], "nothing is told to be gone");
    undo(&world, reply).await;
    assert_eq!((file(&world).as_str(), keys(alerts().await)), (FILE, vec!["job:a".to_owned()]));
    assert_eq!(world.told("a").await, ["on_time 12:30 failed"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_runs_while_it_is_given_another_id_ends_under_the_new_one() {
    let mut world = world().await;
    world.advance_to(at(12, 30)).await;
    let turn = world.agent.next_turn().await;
    let detail = world.job("a").await;
    let to = Definition { id: "renamed".parse().unwrap(), ..*detail.definition.unwrap() };
    let save = JobCommand::Save { base: Some(detail.record), definition: Box::new(to) };
    world.job_command(save).await.unwrap();
    turn.answer("done").await;
    world.run_ended().await;
    assert_eq!(world.told("renamed").await, ["on_time 12:30 succeeded"]);
    assert_eq!(world.job("renamed").await.row.state, JobState::Scheduled);
}

#[tokio::test(start_paused = true)]
async fn an_id_under_which_the_history_of_another_job_is_kept_is_refused() {
    let world = world().await;
    world.job_command(JobCommand::Remove { job: "b".parse().unwrap() }).await.unwrap();
    let (detail, text) = (world.job("a").await, file(&world));
    let to = Definition { id: "b".parse().unwrap(), ..*detail.definition.unwrap() };
    let save = JobCommand::Save { base: Some(detail.record), definition: Box::new(to) };
    let refused = world.refused(save).await;
    assert!(
        refused.contains("there was another job b") && refused.contains("choose another id"),
        "{refused}"
    );
    assert_eq!(file(&world), text);
}

#[tokio::test(start_paused = true)]
async fn a_removed_job_comes_back_byte_for_byte_with_its_state() {
    let mut world = world().await;
    world.advance_to(at(12, 30)).await;
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    let next = world.next_slot("a").await;
    let reply = world.job_command(JobCommand::Remove { job: "a".parse().unwrap() }).await.unwrap();
    assert!(!file(&world).contains("\"a\""));
    undo(&world, reply).await;
    assert_eq!(file(&world), FILE);
    assert_eq!(world.next_slot("a").await, next);
    assert_eq!(world.told("a").await, ["on_time 12:30 succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_paused_job_takes_no_slot_and_what_passed_is_one_row() {
    let mut world = world_with(&[job("check", "*/10 * * * *")]).await;
    let id = || "check".parse().unwrap();
    let why = Some("holiday".to_owned());
    let reply = world.job_command(JobCommand::Pause { job: id(), why }).await.unwrap();
    assert!(file(&world).contains("\"enabled\": false"), "{}", file(&world));
    assert!(
        world.job("check").await.row.paused.is_some_and(|paused| paused.why.as_deref() == Some("holiday"))
    );
    world.advance_to(at(12, 35)).await;
    undo(&world, reply).await;
    assert!(!file(&world).contains("\"enabled\": false"), "{}", file(&world));
    world.settled().await;
    world.advance_to(at(12, 40)).await;
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    let told = world.told("check").await;
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("12:10-12:30 (3) skipped"), "{told:?}");
    assert_eq!(told[1], "on_time 12:40 succeeded");
}

#[tokio::test(start_paused = true)]
async fn what_passed_is_refused_for_a_one_shot_and_a_moment_is_not() {
    let mut world = World::new(Setup::default()).await;
    world.advance(3).await;
    world.save(job("now", "2026-11-30T12:00")).await.unwrap();
    world.settled().await;
    world.agent.next_turn().await.answer("done").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
    let refused = world.save(job("old", "2026-11-23T12:00")).await.unwrap_err().to_string();
    assert!(refused.contains("\"2026-11-23T12:00\": is past, by 168 h 00 min: "), "{refused}");
    assert!(refused.ends_with("a one-shot may be at most 2 min 00 s late"), "{refused}");
    assert!(!file(&world).contains("old"));
    world.advance(600).await;
    world = world.restart(Setup::default()).await;
    world.settled().await;
    assert_eq!(world.told("now").await.len(), 1, "it ran once");
    assert!(matches!(world.job("now").await.row.state, JobState::Completed { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_one_shot_that_was_slept_through_is_missed_visibly() {
    let mut world = world_with(&[job("nine", "2026-11-30T13:00"), job("ten", "2026-11-30T13:59")]).await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.engine.stopped().await;
    world.advance_to(at(14, 0)).await;
    world.start_again(Setup::default()).await;
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    assert!(world.told("nine").await[0].ends_with("13:00 missed"), "{:?}", world.told("nine").await);
    assert_eq!(world.told("ten").await, ["late 13:59 succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_written_as_the_instant_that_it_means() {
    let mut world = world_with(&[Definition { timezone: None, ..job("tea", "in 30m") }]).await;
    let written = world.job("tea").await.definition.unwrap().schedule;
    assert_eq!(written, "2026-11-30T13:30:00+01:00");
    world.advance_to(at(12, 30)).await;
    world.agent.next_turn().await.answer("done").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_can_never_fire_is_refused_with_the_reason() {
    let world = World::new(Setup::default()).await;
    for (definition, why) in [
        (job("a", "0 0 30 2 *"), "schedule"),
        (job("a", "every 10s"), "schedule"),
        (Definition { workdir: Some("work".to_owned()), ..job("a", "@daily") }, "workdir"),
    ] {
        let refused = world.save(definition).await.unwrap_err().to_string();
        assert!(refused.starts_with(&format!("refused: {why} ")), "{refused}");
    }
    assert!(!world.path("jobs.json").exists());
    world.save(job("a", "@daily")).await.unwrap();
    let taken = world.save(job("a", "@daily")).await.unwrap_err().to_string();
    assert!(taken.contains("there is a job a in jobs.json already"), "{taken}");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_keeps_its_memory_keeps_it_under_another_id() {
    let keeps = Definition { session: SessionMode::Keep, ..job("a", "0 0 1 1 *") };
    let mut world = world_with(&[keeps]).await;
    let mut session = None;
    for id in ["a", "renamed"] {
        world.run_now(id).await;
        world.agent.next_turn().await.answer("done").await;
        world.run_ended().await;
        let ran_in = world.executions(id).await.last().unwrap().session.clone();
        assert_eq!(*session.get_or_insert(ran_in.clone()), ran_in, "{id}");
        if id == "a" {
            let before = world.job("a").await;
            let to = Definition { id: "renamed".parse().unwrap(), ..*before.definition.unwrap() };
            let save = JobCommand::Save { base: Some(before.record), definition: Box::new(to) };
            world.job_command(save).await.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_edit_on_disk_is_taken_over_and_a_bad_record_harms_nobody() {
    let mut world = world().await;
    let with_bad =
        FILE.replacen("\n] }", ",\n  {\"id\":\"c\",\"schedule\":\"never\",\"prompt\":\"x\"}\n] }", 1);
    write_by_hand(&world, &with_bad, |file, total| is_read(file) && total == 3).await;
    let JobState::Error { faults } = world.job("c").await.row.state else { panic!("no error") };
    assert!(faults[0].starts_with("schedule \"never\""), "{faults:?}");
    world.settled().await;
    world.advance_to(at(12, 30)).await;
    world.agent.next_turn().await.answer("done").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
    assert_eq!(file(&world), with_bad);
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_file_stops_no_job_and_is_not_written() {
    let mut world = world().await;
    write_by_hand(&world, "{ \"jobs\": [\n  { \"id\": \"a\" \"x\"\n", |file, _| is_unreadable(file)).await;
    let JobsFileState::Unreadable { trouble, .. } = world.jobs().await.file else { panic!() };
    assert_eq!(trouble.place, Some((2, 15)));
    let refused = world.save(job("c", "@daily")).await.unwrap_err().to_string();
    assert!(refused.contains("jobs.json is unreadable, so nothing is written to it"), "{refused}");
    let pause = JobCommand::Pause { job: "b".parse().unwrap(), why: None };
    let Reply::Done { words, .. } = world.job_command(pause).await.unwrap() else { panic!() };
    assert_eq!(words, "job b paused; jobs.json says so when it can be written");
    world.advance_to(at(12, 30)).await;
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    write_by_hand(&world, FILE, |file, _| is_read(file)).await;
    assert!(
        file(&world).contains("\"enabled\": false") || file(&world).contains("\"enabled\":false"),
        "{}",
        file(&world)
    );
    assert!(matches!(world.job("b").await.row.state, JobState::Paused));
}

#[tokio::test(start_paused = true)]
async fn a_pause_and_its_end_while_the_file_is_unreadable_are_written_by_the_next_engine() {
    let mut world = world().await;
    let job: JobId = "b".parse().unwrap();
    let pause = JobCommand::Pause { job: job.clone(), why: None };
    let mut text = FILE.to_owned();
    for command in [pause, JobCommand::Resume { job }] {
        let paused = matches!(command, JobCommand::Pause { .. });
        write_by_hand(&world, "broken", |file, _| is_unreadable(file)).await;
        world.job_command(command).await.unwrap();
        world = world.restart(Setup::default()).await;
        write_by_hand(&world, &text, |file, _| is_read(file)).await;
        text = file(&world);
        assert_eq!(text.contains("\"enabled\":false"), paused, "{text}");
        assert_eq!(matches!(world.job("b").await.row.state, JobState::Paused), paused);
    }
    assert_eq!(text, FILE);
}

#[tokio::test(start_paused = true)]
async fn the_stored_copy_takes_the_place_of_an_unreadable_file_which_is_kept() {
    let mut world = world().await;
    write_by_hand(&world, "broken", |file, _| is_unreadable(file)).await;
    world.job_command(JobCommand::TakeStoredCopy).await.unwrap();
    let taken = world.event(|kind| matches!(kind, EventKind::Cron(CronEvent::CopyTaken { .. }))).await;
    let EventKind::Cron(CronEvent::CopyTaken { kept_as }) = &taken.kind else { panic!() };
    assert_eq!(fs::read_to_string(world.path(kept_as)).unwrap(), "broken");
    assert_eq!(world.jobs().await.total, 2);
    let text = file(&world);
    assert!(text.contains("\"mine\": [1, 2]"), "{text}");
}

async fn has_vanished(world: &World, job: &str) -> bool {
    matches!(world.job(job).await.row.state, JobState::Vanished { .. })
}

#[tokio::test(start_paused = true)]
async fn a_job_that_vanishes_and_comes_back_keeps_its_state() {
    let mut world = world().await;
    world.advance_to(at(12, 30)).await;
    world.agent.next_turn().await.answer("done").await;
    world.run_ended().await;
    let next = world.next_slot("a").await;
    fs::write(world.path("jobs.json"), "{ \"jobs\": [] }").unwrap();
    while !has_vanished(&world, "a").await {
        world.a_moment().await;
    }
    fs::write(world.path("jobs.json"), FILE).unwrap();
    while has_vanished(&world, "a").await {
        world.a_moment().await;
    }
    assert_eq!(world.next_slot("a").await, next);
    assert_eq!(world.told("a").await, ["on_time 12:30 succeeded"]);
}
