//! What an engine that starts after a crash does with what was cut off, and what a full disk does to one
//! that runs.

use std::time::Duration;

use futures_util::FutureExt;
use pretty_assertions::assert_eq;
use switchboard::agent::AgentEvent;
use switchboard::domain::api::{Command, Reply};
use switchboard::domain::event::EventKind;
use switchboard::domain::history::Step;
use switchboard::domain::marker::{Marker, ResumeReason, SuspendReason};
use switchboard::domain::queue::Refusal;
use switchboard::domain::recovery::EFFECT_UNKNOWN;
use switchboard::domain::session::SessionState;
use switchboard::failpoint;
use switchboard::store::Patience;

use crate::support::scripted::Played;
use crate::support::world::{Setup, World};

/// Starts again from what was committed, as after a kill. The world before must live as long.
async fn after_a_crash(world: &World) -> World {
    world.copy(Setup::default()).await
}

async fn marker(world: &World, session: &str) -> Option<Marker> {
    world.row(session).await.session.marker
}

fn resumes(turn: &Played) -> bool {
    turn.message.starts_with("This is the system, not the user.")
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_turn_never_ends_is_given_up_at_the_third_kill_and_the_others_go_on() {
    let first = World::new(Setup::default()).await;
    first.send("poisoned", "work for ever").await;
    let _hangs = first.turn_for("work for ever").await;
    first.send("poisoned", "/queue then publish it").await;
    let mut worlds = vec![first];
    let mut hung = Vec::new();
    for attempt in 1..=2 {
        let before = worlds.last().unwrap();
        before.send("healthy", "work").await;
        let _cut = before.turn_for("work").await;
        let world = after_a_crash(before).await;
        let row = world.row("poisoned").await;
        assert_eq!((row.state, row.session.cuts), (SessionState::Runs, attempt));
        // Both go on; only one of them gets to its end.
        for turn in [world.agent.next_turn().await, world.agent.next_turn().await] {
            assert!(resumes(&turn), "{}", turn.message);
            if turn.session == world.id("healthy").await {
                turn.answer("done").await;
            } else {
                hung.push(turn);
            }
        }
        worlds.push(world);
        let world = worlds.last_mut().unwrap();
        world.event(|kind| matches!(kind, EventKind::ResumeEnded { answered: true, .. })).await;
        assert_eq!(world.row("healthy").await.session.cuts, 0);
    }
    let before = worlds.last().unwrap();
    let world = after_a_crash(before).await;
    let row = world.row("poisoned").await;
    assert_eq!((row.state, row.session.cuts), (SessionState::Suspended, 3));
    let Some(Marker::Suspended(given_up)) = row.session.marker else { panic!("{row:?}") };
    assert_eq!(given_up.reason, SuspendReason::StuckLoop);
    assert_eq!(world.waiting("poisoned").await, ["then publish it"], "its queue is held");
    assert_eq!(marker(&world, "healthy").await, None);
    assert_eq!(world.overview().await.needs_you, 1);

    world.type_into("poisoned", "/unsuspend").await.unwrap();
    assert_eq!(world.waiting("poisoned").await, ["then publish it"], "its queue is still held");
    world.type_into("poisoned", "/continue").await.unwrap();
    assert_eq!(world.run_turns(1).await, ["then publish it"]);
    assert_eq!(world.row("poisoned").await.session.id, row.session.id, "the same memory goes on");
}

#[tokio::test(start_paused = true)]
async fn after_a_quick_restart_the_idle_session_owes_nothing_and_the_busy_one_goes_on_with_its_memory() {
    let before = World::new(Setup::default()).await;
    before.send("idle", "one").await;
    before.turn_for("one").await.answer("answered").await;
    before.advance(30).await;
    before.send("busy", "two").await;
    let cut = before.turn_for("two").await;
    cut.say("half of").await;
    before.advance(2).await;
    let (idle, busy) = (before.id("idle").await, before.id("busy").await);
    let world = after_a_crash(&before).await;
    let resumed = world.agent.next_turn().await;
    assert!(resumes(&resumed) && resumed.session == busy);
    assert_eq!(resumed.history.first(), Some(&Step::user("two")));
    assert_eq!(marker(&world, "idle").await, None);

    world.send("idle", "go on").await;
    let turn = world.turn_for("go on").await;
    assert_eq!((turn.session.clone(), turn.history.len()), (idle, 2), "the same memory, no turn in between");
    assert!(world.ack("busy", "go on").await.contains("next"), "behind the resume");
    resumed.answer("of it").await;
    let next = world.turn_for("go on").await;
    assert_eq!(next.session, busy);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_failed_was_told_so_and_no_kill_makes_it_a_turn_that_was_cut() {
    let mut worlds = vec![World::new(Setup::default()).await];
    worlds[0].send("s", "work").await;
    worlds[0].turn_for("work").await.fail("exit status 1");
    worlds[0].turn_ended().await;
    for start in 1..=3 {
        let world = after_a_crash(worlds.last().unwrap()).await;
        let row = world.row("s").await;
        assert_eq!((row.state, row.session.cuts), (SessionState::Idle, 0), "start {start}");
        assert!(world.agent.turn_already_begun().await.is_none(), "start {start}");
        worlds.push(world);
    }
    worlds.last().unwrap().type_into("s", "/retry").await.unwrap();
    worlds.last().unwrap().turn_for("work").await;
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_a_resume_runs_the_words_of_the_person_again_and_not_the_systems() {
    let before = World::new(Setup::default()).await;
    before.send("s", "work").await;
    let _cut = before.turn_for("work").await;
    let mut world = after_a_crash(&before).await;
    world.agent.next_turn().await.answer("went on").await;
    world.event(|kind| matches!(kind, EventKind::ResumeEnded { .. })).await;
    world.type_into("s", "/retry").await.unwrap();
    let turn = world.turn_for("work").await;
    assert!(turn.history.is_empty(), "{:?}", turn.history);
    turn.answer("anew").await;
    while world.transcript("s").await.len() < 2 {
        world.advance(1).await;
    }
    assert_eq!(world.transcript("s").await, ["you: work", "agent: anew"]);
}

#[tokio::test(start_paused = true)]
async fn an_undo_takes_a_message_back_with_the_resume_that_went_on_with_it() {
    let mut before = World::new(Setup::default()).await;
    before.send("s", "first").await;
    before.turn_for("first").await.answer("ok").await;
    before.turn_ended().await;
    before.send("s", "work").await;
    let _cut = before.turn_for("work").await;
    let mut world = after_a_crash(&before).await;
    world.agent.next_turn().await.answer("went on").await;
    world.event(|kind| matches!(kind, EventKind::ResumeEnded { .. })).await;
    world.type_into("s", "/undo").await.unwrap();
    assert_eq!(world.transcript("s").await, ["you: first", "agent: ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_result_is_told_as_unknown_and_never_made_again() {
    let before = World::new(Setup::default()).await;
    before.send("s", "restart the service").await;
    let turn = before.turn_for("restart the service").await;
    let call = AgentEvent::ToolCall {
        call: "c1".to_owned(),
        name: "terminal".to_owned(),
        arguments: "systemctl restart us".to_owned(),
    };
    turn.emit(call).await;
    while before.transcript("s").await.len() < 2 {
        before.advance(1).await;
    }
    let world = after_a_crash(&before).await;
    let resumed = world.agent.next_turn().await;
    let Some(Step::Agent { text, .. }) = resumed.history.last() else { panic!("{:?}", resumed.history) };
    assert!(text.contains(&format!("[tool terminal systemctl restart us -> {EFFECT_UNKNOWN}]")), "{text}");
    assert!(resumed.message.contains("may have run: inspect its effect"), "{}", resumed.message);
    assert!(world.log().await.iter().any(|line| line.contains("1 tool call of turn 1 closed")));
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_waits_for_to_be_kept_outlives_a_crash() {
    let patience = Patience { bound: Duration::from_millis(40), tell_after: Duration::from_millis(5) };
    let before = World::new(Setup { patience, ..Setup::default() }).await;
    before.send("s", "restart the service").await;
    let mut turn = before.turn_for("restart the service").await;
    let store = std::fs::canonicalize(before.path("state.db")).unwrap();
    failpoint::fill_disk(&store);
    let (call, name, arguments) = ("c1".to_owned(), "terminal".to_owned(), "systemctl restart us".to_owned());
    turn.emit(AgentEvent::ToolCall { call, name, arguments }).await;
    let refused = before.type_into("s", "nor is this").await;
    assert!(matches!(refused, Err(Refusal::Store(_))), "{refused:?}");
    assert!(turn.kept.up_to(1).now_or_never().is_none(), "it is on no disk");
    failpoint::free_disk(&store);
    while turn.kept.up_to(1).now_or_never() != Some(Ok(())) {
        before.advance(1).await;
    }
    let world = after_a_crash(&before).await;
    let resumed = world.agent.next_turn().await;
    let Some(Step::Agent { text, .. }) = resumed.history.last() else { panic!("{:?}", resumed.history) };
    assert!(text.contains(EFFECT_UNKNOWN), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_an_agent_tells_is_neither_kept_nor_shown() {
    let mut world = World::prepared(Setup::default(), |home| {
        std::fs::write(home.join("key"), "sk-canary-4711").unwrap();
    })
    .await;
    world.send("s", "find it").await;
    let turn = world.turn_for("find it").await;
    let words = || "it is sk-canary-4711".to_owned();
    let (call, name) = ("c1".to_owned(), "cat".to_owned());
    turn.emit(AgentEvent::ToolCall { call: call.clone(), name, arguments: words() }).await;
    turn.emit(AgentEvent::ToolResult { call, ok: true, output: words() }).await;
    turn.emit(AgentEvent::Reasoning(words())).await;
    turn.emit(AgentEvent::Notice(words())).await;
    for piece in ["so it is sk-can", "ary-47", "11, as I said"] {
        turn.say(piece).await;
    }
    turn.fail("the server refuses sk-canary-4711");
    world.turn_ended().await;
    let page = format!("{:?} {:?}", world.conversation(&world.id("s").await).await, world.events().await);
    assert!(!page.contains("canary") && page.contains("it is [the key]"), "{page}");
    assert!(page.contains("refuses [the key]") && page.contains("so it is [the key], as I said"), "{page}");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_resume_is_told_and_only_its_answer_spends_the_mark() {
    let before = World::new(Setup::default()).await;
    before.send("s", "a long task").await;
    let _cut = before.turn_for("a long task").await;
    let mut world = after_a_crash(&before).await;
    world.agent.next_turn().await.fail("no connection");
    world.event(|kind| matches!(kind, EventKind::ResumeEnded { answered: false, .. })).await;
    let Some(Marker::ResumePending(mark)) = marker(&world, "s").await else { panic!("the mark stays") };
    assert_eq!(mark.reason, ResumeReason::RestartInterrupted);
    assert!(world.agent.turn_already_begun().await.is_none(), "not repeated by itself");

    world.type_into("s", "/continue").await.unwrap();
    let again = world.agent.next_turn().await;
    assert!(resumes(&again) && again.message.contains("do not only greet"), "{}", again.message);
    again.answer("all of it is done").await;
    world.event(|kind| matches!(kind, EventKind::ResumeEnded { answered: true, .. })).await;
    assert_eq!(marker(&world, "s").await, None);
}

#[tokio::test(start_paused = true)]
async fn on_a_full_disk_a_message_is_refused_and_when_there_is_room_again_all_goes_on() {
    let patience = Patience { bound: Duration::from_millis(40), tell_after: Duration::from_millis(5) };
    let mut world = World::new(Setup { patience, ..Setup::default() }).await;
    world.send("s", "kept").await;
    let turn = world.turn_for("kept").await;
    let store = std::fs::canonicalize(world.path("state.db")).unwrap();
    failpoint::fill_disk(&store);
    let refused = world.type_into("s", "not kept").await;
    assert!(matches!(refused, Err(Refusal::Store(_))), "{refused:?}");
    failpoint::free_disk(&store);
    turn.answer("still here").await;
    world.turn_ended().await;
    assert_eq!(world.transcript("s").await, ["you: kept", "agent: still here"]);
    assert_eq!(world.ack("s", "after it").await, "running");
    let reset = world.type_into("s", "/new!").await;
    assert!(matches!(reset, Ok(Reply::Session { .. })), "{reset:?}");
    world.engine.command(Command::Stop { why: "the end".to_owned() }).await.unwrap();
}
