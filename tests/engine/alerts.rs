//! Alerts reach a sleeper: the alert command is run, again until somebody knows, and its failure is told.

use std::path::Path;
use std::time::Duration;

use chrono::TimeDelta;

use switchboard::domain::alert::{Acknowledgement, Alert, AlertKey};
use switchboard::domain::api::{Answer, Command, Query, Reply};
use switchboard::domain::event::EventKind;

use crate::cron::{at, job};
use crate::support::world::{Setup, World};

/// An engine whose alert command is this script, run in the home.
fn told_by(script: &str) -> Setup {
    Setup { alerts: format!("command = [\"/bin/sh\", \"-c\", '''{script}''']\n"), ..Setup::default() }
}

/// Keeps what it was given: the alert, and what stands in its environment.
const KEEPS: &str = r#"cat >> told; echo "$SWITCHBOARD_ALERT_KEY $SWITCHBOARD_ALERT_TOLD" >> keys"#;

/// Three turns in a row of a session fail, which makes its backend dead.
async fn backend_dies(world: &World, session: &str) -> AlertKey {
    for _ in 0..3 {
        world.send(session, "hello").await;
        world.turn_for("hello").await.fail("no route to host");
        while world.row(session).await.turn.is_some() {}
    }
    AlertKey::session(&world.id(session).await)
}

async fn alerts(world: &World) -> Vec<Alert> {
    match world.engine.query(Query::Alerts { limit: 10 }).await.unwrap() {
        Answer::Alerts(alerts) => alerts,
        other => panic!("{other:?}"),
    }
}

async fn is_told(world: &mut World, times: u32) {
    let told = world.event(|kind| matches!(kind, EventKind::AlertTold { .. })).await;
    let EventKind::AlertTold { times: found, .. } = &told.kind else { panic!("{told:?}") };
    assert_eq!(*found, times);
}

async fn is_not_told(world: &mut World) -> String {
    let event = world.event(|kind| matches!(kind, EventKind::AlertNotTold { .. })).await;
    let EventKind::AlertNotTold { why, .. } = &event.kind else { panic!("{event:?}") };
    why.clone()
}

fn lines(world: &World, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(world.path(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

async fn acknowledge(world: &World, alert: &AlertKey, what: Acknowledgement) -> Reply {
    world.engine.command(Command::Acknowledge { alert: alert.clone(), what }).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_alert_is_told_once_and_again_until_somebody_knows() {
    let mut world = World::new(told_by(KEEPS)).await;
    let key = backend_dies(&world, "s").await;
    is_told(&mut world, 1).await;
    let told: Alert = serde_json::from_str(&lines(&world, "told")[0]).unwrap();
    assert_eq!((&told.key, told.told.times), (&key, 0));
    assert!(told.words.contains("no route to host"), "{}", told.words);

    // One more failure of what is known says nothing new.
    world.advance(14 * 60).await;
    backend_dies(&world, "s").await;
    world.advance(61).await;
    is_told(&mut world, 2).await;
    assert_eq!(lines(&world, "keys"), [format!("{key} 0"), format!("{key} 1")]);

    let reply = acknowledge(&world, &key, Acknowledgement::Given).await;
    let Reply::Done { words, undo: Some(undo) } = reply else { panic!("{reply:?}") };
    assert_eq!(words, "acknowledged, none left");
    assert_eq!(world.overview().await.needs_you, 0);
    world.advance(3600).await;
    world.engine.command(*undo).await.unwrap();
    is_told(&mut world, 3).await;
    assert_eq!(lines(&world, "keys").len(), 3, "nothing was told in the hour between");
}

#[tokio::test(start_paused = true)]
async fn an_alert_that_is_resolved_is_told_no_more_and_one_raised_anew_is() {
    let mut world = World::new(told_by(KEEPS)).await;
    let key = backend_dies(&world, "s").await;
    is_told(&mut world, 1).await;
    world.send("s", "hello").await;
    world.turn_for("hello").await.answer("alive again").await;
    world.event(|kind| matches!(kind, EventKind::AlertResolved { .. })).await;
    world.advance(3600).await;
    assert_eq!((alerts(&world).await, world.overview().await.needs_you), (vec![], 0));
    backend_dies(&world, "s").await;
    is_told(&mut world, 1).await;
    assert_eq!(lines(&world, "keys"), [format!("{key} 0"), format!("{key} 0")]);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_fails_is_told_with_its_last_words_and_tried_again() {
    let mut world = World::new(told_by("echo no network >&2; test -e works || exit 7")).await;
    backend_dies(&world, "s").await;
    assert_eq!(is_not_told(&mut world).await, "/bin/sh ended with exit code 7: no network");
    let [alert] = &alerts(&world).await[..] else { panic!("one alert") };
    assert!(alert.told.failure.as_ref().is_some_and(|why| why.contains("exit code 7")));
    std::fs::write(world.path("works"), "").unwrap();
    world.advance(5 * 60).await;
    is_told(&mut world, 1).await;
    assert_eq!(alerts(&world).await[0].told.failure, None);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_not_there_is_told_by_the_setting_s_name() {
    let setup = Setup { alerts: "command = [\"bin/missing\"]".to_owned(), ..Setup::default() };
    let mut world = World::new(setup).await;
    backend_dies(&world, "s").await;
    let why = is_not_told(&mut world).await;
    assert!(why.starts_with("can't run \"bin/missing\" of alerts.command: "), "{why}");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_takes_too_long_is_killed_with_all_its_children() {
    let mut world = World::new(told_by("sleep 1000 & echo $! > pid.new; mv pid.new pid; wait")).await;
    backend_dies(&world, "s").await;
    let pid = until_there(&world.path("pid")).await;
    world.advance(31).await;
    let why = is_not_told(&mut world).await;
    assert!(why.contains("took longer than 30 s and was killed: alerts.timeout_seconds"), "{why}");
    until_gone(&Path::new("/proc").join(pid.trim()).join("cwd")).await;
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_it_goes_on_where_it_was() {
    let setup = told_by(KEEPS);
    let mut world = World::new(setup.clone()).await;
    backend_dies(&world, "told").await;
    is_told(&mut world, 1).await;
    world.advance(600).await;
    let world = world.restart(setup.clone()).await;
    world.advance(299).await;
    // What was raised while no command was set is told by the first engine that has one.
    let world = world.restart(Setup::default()).await;
    let untold = backend_dies(&world, "untold").await;
    let mut world = world.restart(setup).await;
    is_told(&mut world, 1).await;
    assert_eq!(lines(&world, "keys")[1], format!("{untold} 0"));
    world.advance(2).await;
    is_told(&mut world, 2).await;
}

#[tokio::test(start_paused = true)]
async fn with_no_repeat_it_is_told_once_and_no_secret_reaches_it() {
    let mut setup = told_by("echo \"${CARGO_MANIFEST_DIR-hidden}\" >> keys");
    setup.alerts.push_str("repeat_minutes = 0\n[agent.openai]\napi_key_env = \"CARGO_MANIFEST_DIR\"\n");
    let mut world = World::new(setup).await;
    backend_dies(&world, "s").await;
    is_told(&mut world, 1).await;
    world.advance(86_400).await;
    backend_dies(&world, "other").await;
    is_told(&mut world, 1).await;
    assert_eq!(lines(&world, "keys"), ["hidden", "hidden"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_fails_again_and_again_is_told_at_the_first_the_third_hourly_and_when_it_works() {
    let mut world = World::new(told_by(r#"echo "$SWITCHBOARD_ALERT_WORDS" >> told"#)).await;
    world.save(job("backup", "0 0 1 1 *")).await.unwrap();
    let mut failures = 0;
    for (minute, works, told) in [
        (0, false, Some("job backup failed once: no route 1")),
        (1, false, None),
        (2, false, Some("job backup failed 3 times in a row: no route 3")),
        (30, false, None),
        (61, false, None),
        (62, false, Some("job backup failed 5 times in a row: no route 5")),
        (70, true, Some("job backup works again; it had failed 6 times in a row")),
        (71, true, None),
        (72, false, Some("job backup failed once: no route 7")),
    ] {
        world.advance_to(at(12, 0) + TimeDelta::seconds(minute * 61)).await;
        if minute == 62 {
            is_told(&mut world, 3).await;
            assert_eq!(lines(&world, "told").last().map(String::as_str), told);
        }
        world.run_now("backup").await;
        let turn = world.agent.next_turn().await;
        if works {
            turn.answer("done").await;
        } else {
            failures += 1;
            turn.fail(&format!("no route {failures}"));
        }
        world.run_ended().await;
        if let (Some(words), true) = (told, minute != 62) {
            world.event(|kind| matches!(kind, EventKind::AlertTold { .. })).await;
            assert_eq!(lines(&world, "told").last().map(String::as_str), Some(words), "{minute}");
        }
    }
    assert_eq!(lines(&world, "told").len(), 5);
}

/// Waits, in the time of the machine, until a file is there; returns what it holds.
async fn until_there(path: &Path) -> String {
    let path = path.to_owned();
    let wait = move || {
        loop {
            match std::fs::read_to_string(&path) {
                Ok(text) => return text,
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    };
    tokio::task::spawn_blocking(wait).await.unwrap()
}

/// Waits, in the time of the machine, until a link is gone or leads nowhere.
async fn until_gone(path: &Path) {
    let path = path.to_owned();
    let wait = move || {
        while std::fs::read_link(&path).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    tokio::task::spawn_blocking(wait).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn with_nothing_waiting_a_dead_backend_is_tried_by_the_next_message_and_the_status_says_so() {
    let world = World::new(Setup::default()).await;
    backend_dies(&world, "s").await;
    world.advance(3600).await;
    let Ok(Reply::Shown { text, .. }) = world.type_into("s", "/status").await else { panic!("no text") };
    let held = text.lines().find(|line| line.starts_with("held")).unwrap();
    assert!(held.ends_with("nothing waits: the next message tries it)"), "{held}");
    world.send("s", "/queue later").await;
    world.turn_for("later").await.answer("alive again").await;
    world.advance(1).await;
    assert_eq!(world.overview().await.needs_you, 0);
}
