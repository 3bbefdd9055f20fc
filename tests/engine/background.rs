//! Background processes: real ones, started for a scripted agent.

use std::fs;
use std::time::Duration;

use pretty_assertions::assert_eq;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};
use switchboard::agent::background::BackgroundCall;
use switchboard::domain::api::{Answer, Command, Outliving, Query, Reply};
use switchboard::domain::background::BackgroundProcess;
use switchboard::domain::event::EventKind;
use switchboard::domain::id::ProcessNumber;
use switchboard::domain::reset::ResetMode;

use crate::cron::{job, world_with};
use crate::support::scripted::Played;
use crate::support::world::{Setup, World};

const MOST: usize = 8;

/// Has a turn's agent start a command in the world's home, and gives what it is told.
async fn starts(world: &World, turn: &Played, command: &str) -> Result<String, String> {
    starts_at_most(world, turn, command, MOST).await
}

async fn starts_at_most(world: &World, turn: &Played, command: &str, most: usize) -> Result<String, String> {
    let (command, folder) = (command.to_owned(), world.path(""));
    turn.background.ask(BackgroundCall::Start { command, folder, most }).await
}

/// A command that leaves its process's number in a file of the home, and does not end by itself.
fn lives(name: &str) -> String {
    format!("echo $$ > {name}; exec sleep 1000")
}

/// The process that left its number in a file.
async fn process(world: &World, name: &str) -> Pid {
    loop {
        let told = fs::read_to_string(world.path(name)).unwrap_or_default();
        if let Ok(number) = told.trim().parse::<i32>() {
            return Pid::from_raw(number).unwrap();
        }
        world.a_moment().await;
    }
}

async fn gone(world: &World, process: Pid) {
    // One that only waits to be buried has no program any more.
    while fs::read_link(format!("/proc/{process}/exe")).is_ok() {
        world.a_moment().await;
    }
}

/// The background processes of a session.
async fn processes(world: &World, session: &str) -> Vec<BackgroundProcess> {
    let session = Some(world.id(session).await);
    match world.engine.query(Query::Processes { session, limit: 99 }).await.unwrap() {
        Answer::Processes(rows) => rows.into_iter().map(|row| row.process).collect(),
        other => panic!("{other:?}"),
    }
}

async fn ended(world: &mut World) -> String {
    let ended = world.event(|kind| matches!(kind, EventKind::BackgroundEnded { .. })).await;
    ended.kind.words()
}

/// A turn of session `s`.
async fn turn(world: &World, message: &str) -> Played {
    world.send("s", message).await;
    world.turn_for(message).await
}

/// Ends what a test left.
async fn clean(world: &mut World) {
    world.type_into("s", "/new!").await.unwrap();
    ended(world).await;
}

#[tokio::test(start_paused = true)]
async fn a_process_is_kept_before_it_works_and_its_agent_is_answered_at_once() {
    let mut world = World::new(Setup::default()).await;
    let turn = turn(&world, "serve").await;
    let told = starts(&world, &turn, &lives("pid")).await.unwrap();
    let log = world.path("background").join(turn.session.as_str()).join("1.log");
    let begins = format!("background process 1 began. Its output goes to {};", log.display());
    assert!(told.starts_with(&begins), "{told}");
    let began = world.event(|kind| matches!(kind, EventKind::BackgroundBegan { .. })).await;
    assert!(began.kind.words().contains("1 (echo $$ > pid; exec sleep 1000) began in turn 1"));
    let pid = process(&world, "pid").await;
    assert_eq!(
        processes(&world, "s").await[0].identity.pid,
        rustix::process::getpgid(Some(pid)).unwrap().as_raw_nonzero().get().unsigned_abs()
    );

    let refused = starts_at_most(&world, &turn, "echo worked > worked", 1).await.unwrap_err();
    assert!(refused.contains("1 background processes of this session run already and 1 may"), "{refused}");
    turn.answer("up").await;
    clean(&mut world).await;
    gone(&world, pid).await;
    assert!(!world.path("worked").exists(), "what is not kept never works");
}

#[tokio::test(start_paused = true)]
async fn a_command_with_a_key_in_it_runs_as_it_was_meant_and_is_kept_and_told_without_it() {
    const KEY: &str = "sk-canary-6933";
    let mut world = World::prepared(Setup::default(), |home| fs::write(home.join("key"), KEY).unwrap()).await;
    let first = turn(&world, "log in").await;
    // Also where it is told in two pieces.
    let command = format!("echo {KEY} > used; cat used; printf sk-can; sleep 0.2; cut -c7- used");
    starts(&world, &first, &command).await.unwrap();
    ended(&mut world).await;
    assert_eq!(fs::read_to_string(world.path("used")).unwrap(), format!("{KEY}\n"));
    let kept = processes(&world, "s").await.remove(0);
    assert!(kept.command.starts_with("echo [the key] > used; "), "{}", kept.command);
    let log = world.path("background").join(first.session.as_str()).join("1.log");
    assert_eq!(fs::read_to_string(log).unwrap(), "[the key]\n[the key]\n");
    let told = first.background.ask(BackgroundCall::Read(ProcessNumber(1))).await.unwrap();
    assert!(told.contains("echo [the key] > used") && told.ends_with("\n[the key]\n[the key]"), "{told}");
    first.answer("in").await;
    world.turn_ended().await;
    world.send("s", "and now?").await;
    let second = world.agent.next_turn().await;
    let all = format!("{:?} {}", world.events().await, second.message);
    assert!(all.contains("echo [the key]") && !all.contains(KEY), "{all}");
    second.answer("done").await;
}

#[tokio::test(start_paused = true)]
async fn a_process_outlives_its_turn_a_stop_and_the_handle_and_ends_with_new_which_names_it() {
    let mut world = World::new(Setup::default()).await;
    let first = turn(&world, "serve").await;
    starts(&world, &first, &lives("one")).await.unwrap();
    first.answer("up").await;
    world.turn_ended().await;
    let second = turn(&world, "watch").await;
    // It leaves its group, obeys no SIGTERM, and what it started would live on.
    let stubborn = "trap '' TERM; setsid sh -c 'echo $$ > escaped; exec sleep 1000' & echo $$ > two; \
                    while :; do sleep 1000; done";
    starts(&world, &second, stubborn).await.unwrap();
    let pids = [process(&world, "one").await, process(&world, "two").await, process(&world, "escaped").await];
    world.type_into("s", "/stop").await.unwrap();
    second.obey_stop().await;
    world.event(|kind| matches!(kind, EventKind::TurnEnded { .. })).await;
    world.advance(2 * 3600).await;
    assert!(pids.iter().all(|pid| test_kill_process(*pid).is_ok()), "they go on");

    let Ok(Reply::Asks { question, .. }) = world.type_into("s", "/new").await else {
        panic!("it does not ask")
    };
    assert!(question.contains("With it 2 background processes end (process 1 ("), "{question}");
    let Ok(Reply::Session { words, .. }) = world.type_into("s", "/new!").await else { panic!("no session") };
    assert!(
        words.contains("; 2 background processes end with it: 1 (echo $$ > one; exec sleep 1000), 2 (trap"),
        "{words}"
    );
    assert!(ended(&mut world).await.contains("ended with its session, by /new: ended by signal 15"));
    world.advance(4).await;
    assert!(ended(&mut world).await.contains("ended by signal 9"));
    for pid in pids {
        gone(&world, pid).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reset_by_policy_waits_for_the_end_of_a_process_and_says_for_which() {
    let mut session_reset = Setup::default().session_reset;
    session_reset.default.mode = ResetMode::Idle;
    session_reset.default.idle_minutes = 60;
    let mut world = World::new(Setup { session_reset, ..Setup::default() }).await;
    let first = turn(&world, "serve").await;
    starts(&world, &first, &lives("pid")).await.unwrap();
    first.answer("up").await;
    world.turn_ended().await;
    let (session, pid) = (world.id("s").await, process(&world, "pid").await);
    world.advance(2 * 3600).await;
    let second = turn(&world, "is it up?").await;
    assert_eq!(second.session, session);
    second.answer("yes").await;
    let blocked = world.event(|kind| matches!(kind, EventKind::ResetBlocked(_))).await;
    assert!(
        blocked.kind.words().contains("process 1 (echo $$ > pid; exec sleep 1000) (2 h)"),
        "{}",
        blocked.kind.words()
    );
    world.turn_ended().await;
    kill_process(pid, Signal::KILL).unwrap();
    ended(&mut world).await;
    world.advance(2 * 3600).await;
    world.send("s", "anew").await;
    let third = world.agent.next_turn().await;
    assert_ne!(third.session, session);
    third.answer("hello").await;
}

#[tokio::test(start_paused = true)]
async fn the_end_is_a_fact_and_the_next_turn_is_told_of_it() {
    let mut world = World::new(Setup::default()).await;
    let first = turn(&world, "build").await;
    starts(&world, &first, "echo built; exit 3").await.unwrap();
    let words = ended(&mut world).await;
    assert_eq!(words, "background process 1 (echo built; exit 3) ended: exit 3 after 0.0 s");
    first.answer("begun").await;
    world.turn_ended().await;
    let told = "[background process 1 (echo built; exit 3) ended: exit 3 after 0.0 s]";
    world.send("s", "and?").await;
    world.turn_for(&format!("{told}\n\nand?")).await.answer("it failed").await;
    world.turn_ended().await;
    assert_eq!(world.transcript("s").await[2..], [&format!("told: {told}"), "you: and?", "agent: it failed"]);
    turn(&world, "again").await.answer("nothing new").await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_lists_reads_waits_for_and_kills_its_own_and_no_others() {
    let mut world = World::new(Setup::default()).await;
    let turn = turn(&world, "work").await;
    let call = |call| turn.background.ask(call);
    let (one, two) = (ProcessNumber(1), ProcessNumber(2));
    assert_eq!(call(BackgroundCall::List).await.unwrap(), "there are none");
    starts(&world, &turn, "echo hello; echo trouble >&2").await.unwrap();
    ended(&mut world).await;
    starts(&world, &turn, &lives("pid")).await.unwrap();
    let pid = process(&world, "pid").await;
    let listed = call(BackgroundCall::List).await.unwrap();
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("2 (echo $$ > pid; exec sleep 1000) runs for "), "{listed}");
    assert!(lines[1].starts_with("1 (echo hello; echo trouble >&2) ended: exit 0 after "), "{listed}");
    let read = call(BackgroundCall::Read(one)).await.unwrap();
    assert!(read.ends_with("ago\nhello\ntrouble"), "{read}");
    let waited = {
        let wait = call(BackgroundCall::Wait(two, Duration::from_secs(30)));
        let (waited, ()) = tokio::join!(wait, async {
            world.a_moment().await;
            world.advance(31).await;
        });
        waited.unwrap()
    };
    assert!(waited.starts_with("it has not ended: 2 ("), "{waited}");
    let killed = call(BackgroundCall::End(two)).await.unwrap();
    assert!(killed.contains("ended by its agent: ended by signal 15 after"), "{killed}");
    gone(&world, pid).await;
    let unknown = call(BackgroundCall::Read(ProcessNumber(9))).await.unwrap_err();
    assert!(unknown.starts_with("there is no background process 9; there are: 2 ("), "{unknown}");

    world.send("other", "look").await;
    let other = world.turn_for("look").await;
    assert_eq!(other.background.ask(BackgroundCall::List).await.unwrap(), "there are none");
    assert!(other.background.ask(BackgroundCall::End(one)).await.is_err());
    turn.answer("done").await;
    other.answer("done").await;
}

#[tokio::test(start_paused = true)]
async fn what_lives_after_a_crash_is_taken_over_by_the_next_start_and_can_be_ended_there() {
    let world = World::new(Setup::default()).await;
    let turn = turn(&world, "serve").await;
    let stubborn = "trap '' TERM; setsid sh -c 'echo $$ > escaped; exec sleep 1000' & \
                    echo $$ > pid; while :; do sleep 1000; done";
    starts(&world, &turn, stubborn).await.unwrap();
    let (pid, escaped) = (process(&world, "pid").await, process(&world, "escaped").await);
    let mut next = world.copy(Setup::default()).await;
    let log = next.log().await;
    assert!(
        log.iter().any(|line| line.contains("outlived its engine and goes on: process group")),
        "{log:#?}"
    );
    assert!(next.row("s").await.background != switchboard::domain::reset::Background::None);
    let Ok(Reply::Shown { text, .. }) = next.type_into("s", "/processes").await else { panic!("no list") };
    assert!(text.starts_with("1 (trap '' TERM; setsid"), "{text}");
    let refused = next.type_into("s", "/kill 2").await.unwrap_err().to_string();
    assert!(refused.contains("no background process 2 runs here; those that run: 1 ("), "{refused}");
    let Ok(Reply::Done { words, .. }) = next.type_into("s", "/kill 1").await else { panic!("not killed") };
    assert!(words.contains("is told to end, with all that it started"), "{words}");
    next.event(|kind| matches!(kind, EventKind::BackgroundStopping { .. })).await;
    next.advance(4).await;
    assert!(ended(&mut next).await.contains("ended by the operator"));
    gone(&next, pid).await;
    gone(&next, escaped).await;
    assert!(processes(&next, "s").await.iter().all(|process| !process.lives()));
}

#[tokio::test(start_paused = true)]
async fn an_orderly_stop_leaves_a_process_running_says_so_and_the_next_start_knows_how_it_ended() {
    let mut world = World::new(Setup::default()).await;
    let first = turn(&world, "serve").await;
    starts(&world, &first, &lives("pid")).await.unwrap();
    starts(&world, &first, "echo $$ > waits; while ! test -e go; do sleep 0.02; done; exit 7").await.unwrap();
    starts(&world, &first, &lives("third")).await.unwrap();
    let pids = [process(&world, "pid").await, process(&world, "waits").await];
    let (third, session) = (process(&world, "third").await, first.session.clone());
    first.answer("up").await;
    world.turn_ended().await;
    let Ok(Reply::Done { words, .. }) = world.engine.command(Command::Stop { why: "test".to_owned() }).await
    else {
        panic!("no reply")
    };
    assert!(words.starts_with("stopping; 3 background processes go on without an engine: 1 ("), "{words}");
    let left = world.event(|kind| matches!(kind, EventKind::BackgroundLeft { .. })).await;
    assert!(left.kind.words().contains("3 background processes go on, the next start takes them over"));
    world.engine.stopped().await;
    let keeper = rustix::process::getpgid(Some(third)).unwrap();
    kill_process(keeper, Signal::KILL).unwrap();
    fs::write(world.path("go"), "").unwrap();
    let end = world.path("background").join(session.as_str()).join("2.end");
    while !end.exists() {
        world.a_moment().await;
    }
    let mut world = world.next_start(Setup::default()).await;
    let log = world.log().await;
    assert!(log.iter().any(|line| line.contains("exit 7 after")), "{log:#?}");
    assert!(log.iter().any(|line| line.contains("exit unknown: it ended while no engine ran")), "{log:#?}");
    gone(&world, third).await;
    assert!(test_kill_process(pids[0]).is_ok());
    assert_eq!(processes(&world, "s").await.iter().filter(|process| process.lives()).count(), 1);
    clean(&mut world).await;
    gone(&world, pids[0]).await;
}

#[tokio::test(start_paused = true)]
async fn a_scheduled_run_ends_its_processes_and_says_so() {
    let mut world = world_with(&[job("night", "0 0 1 1 *")]).await;
    let execution = world.run_now("night").await;
    let turn = world.agent.next_turn().await;
    starts(&world, &turn, &lives("pid")).await.unwrap();
    let pid = process(&world, "pid").await;
    turn.answer("done").await;
    assert!(ended(&mut world).await.contains("ended with its run: ended by signal 15"));
    gone(&world, pid).await;
    let document = world.output(execution).await.unwrap();
    let line = "\n- background processes ended with it: 1 (echo $$ > pid; exec sleep 1000)\n";
    assert!(document.contains(line), "{document}");
}

#[tokio::test(start_paused = true)]
async fn a_stop_names_what_goes_on_in_the_background_and_what_ends_with_its_run() {
    let mut world = world_with(&[job("night", "0 0 1 1 *")]).await;
    let first = turn(&world, "serve").await;
    starts(&world, &first, &lives("serves")).await.unwrap();
    world.run_now("night").await;
    let run = world.agent.next_turn().await;
    starts(&world, &run, &lives("works")).await.unwrap();
    let pids = [process(&world, "serves").await, process(&world, "works").await];
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    let told = loop {
        let drain = world.overview().await.engine.drain;
        match drain.map(|drain| drain.background).filter(|told| *told != Outliving::default()) {
            Some(told) => break told,
            None => world.a_moment().await,
        }
    };
    assert_eq!(told.go_on, ["1 (echo $$ > serves; exec sleep 1000) of s"]);
    assert_eq!(told.end, ["1 (echo $$ > works; exec sleep 1000) of night"]);
    first.answer("up").await;
    run.answer("done").await;
    let left = world.event(|kind| matches!(kind, EventKind::BackgroundLeft { .. })).await;
    assert!(left.kind.words().ends_with(&told.go_on[0]), "{}", left.kind.words());
    world.engine.stopped().await;
    for pid in pids {
        if let Ok(group) = rustix::process::getpgid(Some(pid)) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        gone(&world, pid).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_engine_is_told_to_end_is_ended_by_the_next_start_if_it_dies_before() {
    let world = World::new(Setup::default()).await;
    let turn = turn(&world, "serve").await;
    starts(&world, &turn, &lives("pid")).await.unwrap();
    let pid = process(&world, "pid").await;
    let store = rusqlite::Connection::open(world.path("state.db")).unwrap();
    let told = "UPDATE background SET stopped_by = 'operator'";
    assert_eq!(store.execute(told, ()).unwrap(), 1);
    let next = world.copy(Setup::default()).await;
    gone(&next, pid).await;
}
