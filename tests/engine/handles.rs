//! Handles: one a session, kept between turns, replaced when it fails, closed when nobody needs it.

use std::time::Duration;

use pretty_assertions::assert_eq;
use switchboard::agent::{AgentError, AgentEvent};
use switchboard::config::HandlesConfig;
use switchboard::domain::event::EventKind;
use switchboard::domain::history::Step;
use switchboard::domain::session::{AgentSession, Health, Runtime, SessionState, ToldUse, Usage};
use switchboard::domain::turn::{Outcome, StopCause};

use crate::support::scripted::{Keeping, Steering};
use crate::support::world::{Setup, World};

async fn world() -> World {
    World::new(Setup::default()).await
}

/// Sends a message, answers it, and returns the number of the handle that ran it.
async fn talk(world: &mut World, session: &str, message: &str) -> usize {
    world.send(session, message).await;
    let turn = world.turn_for(message).await;
    let handle = turn.handle;
    turn.answer("ok").await;
    world.turn_ended().await;
    handle
}

async fn outcome(world: &mut World) -> Outcome {
    match &world.turn_ended().await.kind {
        EventKind::TurnEnded { outcome, .. } => outcome.clone(),
        other => panic!("{other:?}"),
    }
}

async fn runtime(world: &World, session: &str) -> Runtime {
    world.row(session).await.session.runtime
}

/// The history that a next turn is given: the roles alternate, and it ends with the agent.
fn well_formed(history: &[Step]) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, step) in history.iter().enumerate() {
        match (place % 2, step) {
            (0, Step::User { text, .. }) => lines.push(format!("you: {text}")),
            (1, Step::Agent { text, .. }) => lines.push(format!("agent: {text}")),
            _ => panic!("the roles don't alternate: {history:?}"),
        }
    }
    assert_eq!(history.len() % 2, 0, "it ends with the agent: {history:?}");
    lines
}

#[tokio::test(start_paused = true)]
async fn a_model_that_was_chosen_is_asked_for_from_the_next_turn_on_until_a_reset() {
    async fn asked_for(world: &mut World, message: &str) -> (Option<String>, usize) {
        world.send("s", message).await;
        let turn = world.turn_for(message).await;
        let asked = (turn.model.clone(), turn.handle);
        turn.answer("ok").await;
        world.turn_ended().await;
        asked
    }
    let mut world = world().await;
    assert_eq!(asked_for(&mut world, "one").await, (None, 1));
    world.send("s", "two").await;
    let turn = world.turn_for("two").await;
    world.type_into("s", "/model large one").await.unwrap();
    assert_eq!(turn.model, None, "what runs goes on as it began");
    turn.answer("ok").await;
    world.turn_ended().await;
    assert_eq!(asked_for(&mut world, "three").await, (Some("large one".to_owned()), 2));
    assert_eq!(asked_for(&mut world, "four").await, (Some("large one".to_owned()), 2));
    let mut world = world.restart(Setup::default()).await;
    assert_eq!(asked_for(&mut world, "after a restart").await, (Some("large one".to_owned()), 1));
    world.type_into("s", "/model default").await.unwrap();
    assert_eq!(asked_for(&mut world, "five").await, (None, 2));
    world.type_into("s", "/model small").await.unwrap();
    world.type_into("s", "/new!").await.unwrap();
    assert_eq!(asked_for(&mut world, "six").await, (None, 3));
}

#[tokio::test(start_paused = true)]
async fn the_agents_own_session_outlives_the_engine_and_ends_with_a_reset_or_what_is_taken_back() {
    async fn given(world: &mut World, message: &str, says: Option<&AgentSession>) -> Option<AgentSession> {
        world.send("s", message).await;
        let turn = world.turn_for(message).await;
        let given = turn.agent_session.clone();
        if let Some(says) = says {
            turn.emit(AgentEvent::Session(says.clone())).await;
        }
        turn.answer("ok").await;
        world.turn_ended().await;
        given
    }
    let kept = AgentSession::new("one", "s1");
    let mut world = world().await;
    assert_eq!(given(&mut world, "one", Some(&kept)).await, None);
    let mut world = world.restart(Setup::default()).await;
    assert_eq!(given(&mut world, "two", Some(&kept)).await, Some(kept.clone()));
    world.type_into("s", "/undo").await.unwrap();
    let mut world = world.restart(Setup::default()).await;
    assert_eq!(given(&mut world, "three", Some(&kept)).await, None, "it remembers more than is shown");
    world.type_into("s", "/new!").await.unwrap();
    assert_eq!(given(&mut world, "four", Some(&kept)).await, None);
    let mut world = world.restart(Setup::default()).await;
    assert_eq!(given(&mut world, "five", None).await, Some(kept), "none of the agent that answers now");
    let mut world = world.restart(Setup::default()).await;
    assert_eq!(given(&mut world, "six", None).await, None);
}

#[tokio::test(start_paused = true)]
async fn the_agents_own_session_is_kept_in_the_middle_of_a_turn_and_not_given_to_what_replaces_a_broken_handle()
 {
    let kept = AgentSession::new("one", "s1");
    let world = world().await;
    world.send("s", "one").await;
    let turn = world.turn_for("one").await;
    turn.emit(AgentEvent::Session(kept.clone())).await;
    while world.row("s").await.session.agent_session.is_none() {
        world.a_moment().await;
    }
    let world = world.copy(Setup::default()).await;
    let resumed = world.agent.next_turn().await;
    assert_eq!(resumed.agent_session, Some(kept));
    resumed.break_off("it can't be read");
    let again = world.agent.next_turn().await;
    assert_eq!(again.agent_session, None, "the session may be what broke it");
}

#[tokio::test(start_paused = true)]
async fn what_the_agents_own_session_has_cost_within_a_turn_is_kept_in_one_step_with_the_sum_that_counts_it()
{
    let known = AgentSession::new("one", "s1");
    let last = Usage { cost: 5, ..Usage::default() };
    let counted = AgentSession { told: ToldUse { last, by_turn: false }, ..known.clone() };
    let world = world().await;
    world.send("s", "one").await;
    let turn = world.turn_for("one").await;
    turn.emit(AgentEvent::Session(known)).await;
    turn.emit(AgentEvent::Usage(last)).await;
    turn.emit(AgentEvent::Session(counted.clone())).await;
    let (call, name, arguments) = ("c".to_owned(), "ls".to_owned(), "{}".to_owned());
    turn.emit(AgentEvent::ToolCall { call, name, arguments }).await;
    while world.row("s").await.session.usage.cost == 0 {
        world.a_moment().await;
    }
    let world = world.copy(Setup::default()).await;
    let resumed = world.agent.next_turn().await;
    assert_eq!((resumed.agent_session, world.row("s").await.session.usage.cost), (Some(counted), 5));
}

#[tokio::test(start_paused = true)]
async fn the_agents_own_session_is_given_to_what_replaces_a_handle_that_died_between_turns_unless_it_breaks_that_too()
 {
    let kept = AgentSession::new("one", "s1");
    let mut world = world().await;
    world.send("s", "one").await;
    let turn = world.turn_for("one").await;
    turn.emit(AgentEvent::Session(kept.clone())).await;
    turn.answer("ok").await;
    world.turn_ended().await;
    world.send("s", "two").await;
    world.turn_for("two").await.break_off("it has ended");
    let again = world.turn_for("two").await;
    assert_eq!((again.handle, &again.agent_session), (2, &Some(kept.clone())));
    again.break_off("its session can't be read");
    assert!(matches!(outcome(&mut world).await, Outcome::Failed { .. }));
    world.send("s", "three").await;
    let third = world.turn_for("three").await;
    assert_eq!(third.agent_session, Some(kept), "it is tried once more");
    third.break_off("its session can't be read");
    let anew = world.turn_for("three").await;
    assert_eq!(anew.agent_session, None);
    anew.answer("ok").await;
    assert_eq!(outcome(&mut world).await, Outcome::Done);
}

#[tokio::test(start_paused = true)]
async fn the_agents_own_session_is_given_to_the_handle_behind_the_one_that_died_in_the_turn_that_began_it() {
    let kept = AgentSession::new("one", "s1");
    let mut world = world().await;
    world.send("s", "one").await;
    let turn = world.turn_for("one").await;
    turn.emit(AgentEvent::Session(kept.clone())).await;
    turn.say("half").await;
    turn.break_off("it died");
    world.turn_ended().await;
    world.send("s", "two").await;
    assert_eq!(world.turn_for("two").await.agent_session, Some(kept));
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_is_remembered_by_no_handle_although_the_same_was_said_twice() {
    let mut world = world().await;
    for message in ["go on", "go on"] {
        assert_eq!(talk(&mut world, "s", message).await, 1);
    }
    world.type_into("s", "/undo").await.unwrap();
    assert_eq!(talk(&mut world, "s", "go on").await, 2);
    world.type_into("s", "/retry").await.unwrap();
    let again = world.turn_for("go on").await;
    assert_eq!(again.handle, 3);
}

#[tokio::test(start_paused = true)]
async fn a_session_keeps_its_handle_from_turn_to_turn() {
    let mut world = world().await;
    for message in ["one", "two", "three"] {
        assert_eq!(talk(&mut world, "s", message).await, 1, "{message}");
    }
    assert_eq!(talk(&mut world, "t", "hello").await, 2, "another session has its own");
    assert_eq!(world.agent.opened(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_waits_behind_a_turn_finds_its_handle() {
    let world = world().await;
    world.send("s", "one").await;
    let turn = world.turn_for("one").await;
    world.send("s", "/queue two").await;
    turn.answer("ok").await;
    assert_eq!(world.turn_for("two").await.handle, 1);
}

#[tokio::test(start_paused = true)]
async fn two_messages_at_once_to_a_new_session_make_one_session_and_one_handle() {
    let mut world = world().await;
    let (one, two) = tokio::join!(world.type_into("s", "one"), world.type_into("s", "/queue two"));
    one.unwrap();
    two.unwrap();
    for _ in 0..2 {
        let turn = world.agent.next_turn().await;
        assert!(world.agent.turn_already_begun().await.is_none(), "one turn at a time");
        assert_eq!(turn.handle, 1);
        turn.answer("ok").await;
        world.turn_ended().await;
    }
    assert_eq!(world.agent.opened(), 1);
    assert_eq!(world.overview().await.sessions, 1);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_keeps_no_handles_opens_one_for_each_turn_and_closes_it() {
    let mut world = World::new(Setup { keeping: Keeping::No, ..Setup::default() }).await;
    for (handle, message) in [(1, "one"), (2, "two")] {
        assert_eq!(talk(&mut world, "s", message).await, handle);
        assert_eq!(world.agent.next_closed().await, handle);
    }
    assert_eq!(runtime(&world, "s").await, Runtime::default());
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_was_unused_for_an_hour_is_closed_and_the_session_goes_on_with_a_fresh_one() {
    let mut world = world().await;
    talk(&mut world, "s", "remember 42").await;
    world.advance(1800).await;
    talk(&mut world, "t", "hello").await;
    world.advance(1799).await;
    assert_eq!(world.agent.closed_already().await, None);
    world.advance(1).await;
    assert_eq!(world.agent.next_closed().await, 1);
    assert_eq!(world.agent.closed_already().await, None, "the other one was used later");
    world.send("s", "which number?").await;
    let turn = world.turn_for("which number?").await;
    assert_eq!(turn.handle, 3);
    assert_eq!(well_formed(&turn.history), ["you: remember 42", "agent: ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_handle_in_a_turn_is_not_recycled_however_long_the_turn_takes() {
    let mut world = world().await;
    world.send("s", "long work").await;
    let turn = world.turn_for("long work").await;
    world.advance(7200).await;
    turn.answer("done").await;
    world.turn_ended().await;
    assert_eq!(world.agent.closed_already().await, None);
    assert_eq!(talk(&mut world, "s", "again").await, 1);
}

#[tokio::test(start_paused = true)]
async fn one_handle_too_many_closes_the_one_unused_for_longest_and_never_one_in_a_turn() {
    let handles = HandlesConfig { idle: Duration::from_secs(3600), max: 2 };
    let mut world = World::new(Setup { handles, ..Setup::default() }).await;
    world.send("busy", "long work").await;
    let busy = world.turn_for("long work").await;
    talk(&mut world, "a", "one").await;
    assert_eq!(world.agent.closed_already().await, None);
    talk(&mut world, "b", "two").await;
    assert_eq!(world.agent.next_closed().await, 2, "the idle one of a, not the older busy one");
    busy.answer("done").await;
    world.turn_ended().await;
    assert_eq!(world.agent.closed_already().await, None);
    assert_eq!(talk(&mut world, "busy", "more").await, 1);
    assert_eq!(talk(&mut world, "b", "more").await, 3);
}

#[tokio::test(start_paused = true)]
async fn more_turns_than_handles_may_be_kept_run_all_the_same() {
    let handles = HandlesConfig { idle: Duration::from_secs(3600), max: 1 };
    let mut world = World::new(Setup { handles, ..Setup::default() }).await;
    let mut turns = Vec::new();
    for session in ["a", "b", "c"] {
        world.send(session, session).await;
        turns.push(world.turn_for(session).await);
    }
    for turn in turns {
        turn.answer("ok").await;
        world.turn_ended().await;
    }
    assert_eq!([world.agent.next_closed().await, world.agent.next_closed().await], [1, 2]);
    assert_eq!(talk(&mut world, "c", "again").await, 3);
}

#[tokio::test(start_paused = true)]
async fn new_closes_the_handle_of_the_memory_that_ended() {
    let mut world = world().await;
    talk(&mut world, "s", "one").await;
    world.type_into("s", "/new").await.unwrap();
    assert_eq!(world.agent.next_closed().await, 1);
    assert_eq!(talk(&mut world, "s", "two").await, 2);
}

#[tokio::test(start_paused = true)]
async fn a_handle_whose_session_ended_during_its_turn_is_closed_when_the_turn_lets_it_go() {
    let mut world = world().await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    let old = world.id("s").await;
    world.type_into("s", "/new!").await.unwrap();
    world.turn_ended().await;
    // The memory comes back before the cut turn has let go: it gets a handle of its own.
    world.type_into("s", &format!("/resume {old}")).await.unwrap();
    world.send("s", "again").await;
    let again = world.turn_for("again").await;
    assert_eq!(again.handle, 2);
    turn.obey_stop().await;
    assert_eq!(world.agent.next_closed().await, 1);
    again.answer("ok").await;
    world.turn_ended().await;
    assert_eq!(talk(&mut world, "s", "and again").await, 2);
}

#[tokio::test(start_paused = true)]
async fn a_stop_leaves_the_handle_and_a_kill_does_not() {
    let mut world = world().await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.type_into("s", "/stop").await.unwrap();
    turn.obey_stop().await;
    world.turn_ended().await;
    world.send("s", "more").await;
    let turn = world.turn_for("more").await;
    assert_eq!(turn.handle, 1);
    world.type_into("s", "/stop").await.unwrap();
    let turn = turn.ignore_stop().await;
    world.advance(6).await;
    turn.dropped().await;
    world.turn_ended().await;
    assert_eq!(talk(&mut world, "s", "and more").await, 2);
    assert_eq!(runtime(&world, "s").await.restart_count, 0);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_agent_leaves_its_handle() {
    let mut world = world().await;
    world.send("s", "bad").await;
    world.turn_for("bad").await.fail("no such model");
    assert_eq!(outcome(&mut world).await, Outcome::Failed { error: "no such model".to_owned() });
    assert_eq!(talk(&mut world, "s", "good").await, 1);
    assert_eq!(runtime(&world, "s").await.health, Some(Health::Healthy));
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_fails_before_anything_was_done_is_replaced_and_the_turn_runs_again() {
    let mut world = world().await;
    talk(&mut world, "s", "one").await;
    world.send("s", "two").await;
    world.turn_for("two").await.break_off("its process died");
    let again = world.turn_for("two").await;
    assert_eq!(again.handle, 2);
    assert_eq!(well_formed(&again.history), ["you: one", "agent: ok"]);
    let told = world.event(|kind| matches!(kind, EventKind::Notice { .. })).await;
    let words = "turn 2 lost its agent's handle (its process died): a new one runs it again";
    assert_eq!(told.kind.words(), words);
    again.answer("here I am").await;
    assert_eq!(outcome(&mut world).await, Outcome::Done);
    let transcript = world.transcript("s").await;
    assert_eq!(transcript, ["you: one", "agent: ok", "you: two", "agent: here I am"]);
    let runtime = runtime(&world, "s").await;
    assert_eq!((runtime.health, runtime.restart_count), (Some(Health::Healthy), 1));
    assert_eq!(talk(&mut world, "s", "three").await, 2);
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_fails_after_the_agent_began_to_act_interrupts_the_turn_and_a_new_one_stands_ready() {
    let call =
        AgentEvent::ToolCall { call: "c1".to_owned(), name: "rm".to_owned(), arguments: "{}".to_owned() };
    let mut world = world().await;
    for (session, acted, kept) in [
        ("a", AgentEvent::Text("half an ans".to_owned()), "agent: half an ans"),
        ("b", AgentEvent::Reasoning("hm".to_owned()), "thinks: hm"),
        ("c", call, "tool: rm true"),
    ] {
        world.send(session, "one").await;
        let turn = world.turn_for("one").await;
        let first = turn.handle;
        turn.emit(acted).await;
        turn.break_off("connection lost");
        let lost = Outcome::Interrupted { cause: StopCause::HandleLost };
        assert_eq!(outcome(&mut world).await, lost);
        assert!(world.agent.turn_already_begun().await.is_none(), "it is not repeated");
        assert_eq!(world.transcript(session).await, ["you: one", kept, "ended: Interrupted"]);
        assert_eq!(world.row(session).await.state, SessionState::Idle);
        assert_eq!(world.agent.opened(), first + 1);
        let after = runtime(&world, session).await;
        assert_eq!((after.health, after.restart_count), (Some(Health::Healthy), 1));
        world.send(session, "two").await;
        let turn = world.turn_for("two").await;
        assert_eq!(turn.handle, first + 1);
        let history = well_formed(&turn.history);
        assert!(history[1].ends_with(&format!("[{}]", StopCause::HandleLost.words())), "{history:?}");
        turn.answer("ok").await;
        world.turn_ended().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_took_in_a_steered_text_is_not_repeated_without_it() {
    let mode = switchboard::domain::queue::BusyMode::Steer;
    let setup = Setup { steering: Steering::Takes, busy_mode: mode, ..Setup::default() };
    let mut world = World::new(setup).await;
    world.send("s", "walk").await;
    let mut turn = world.turn_for("walk").await;
    world.send("s", "go left").await;
    let (item, _) = turn.steered().await;
    turn.emit(AgentEvent::Steered(item)).await;
    turn.break_off("its process died");
    assert_eq!(outcome(&mut world).await, Outcome::Interrupted { cause: StopCause::HandleLost });
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_fails_twice_in_a_turn_is_one_clean_error_and_the_next_message_tries_again() {
    let mut world = world().await;
    world.send("s", "one").await;
    world.turn_for("one").await.break_off("its process died");
    world.turn_for("one").await.break_off("and again");
    let error = "the agent's handle failed (its process died), and so did a new one: and again".to_owned();
    assert_eq!(outcome(&mut world).await, Outcome::Failed { error });
    assert_eq!(world.transcript("s").await, ["you: one", "ended: Failed"]);
    let runtime_then = runtime(&world, "s").await;
    assert_eq!((runtime_then.health, runtime_then.restart_count), (Some(Health::Failed), 1));
    world.send("s", "two").await;
    let turn = world.turn_for("two").await;
    assert_eq!(turn.handle, 3);
    assert_eq!(well_formed(&turn.history).len(), 2);
    turn.answer("back").await;
    world.turn_ended().await;
    assert_eq!(runtime(&world, "s").await.health, Some(Health::Healthy));
}

#[tokio::test(start_paused = true)]
async fn a_new_handle_that_can_not_be_opened_is_one_clean_error_and_the_session_stays_usable() {
    let mut world = world().await;
    world.send("s", "one").await;
    let turn = world.turn_for("one").await;
    world.agent.refuse_to_open(AgentError::Broken("no such program".to_owned()));
    turn.break_off("its process died");
    let error =
        "the agent's handle failed (its process died), and so did a new one: no such program".to_owned();
    assert_eq!(outcome(&mut world).await, Outcome::Failed { error });
    let after = runtime(&world, "s").await;
    assert_eq!((after.health, after.restart_count), (Some(Health::Failed), 0));
    assert_eq!(talk(&mut world, "s", "two").await, 2);

    // The same after the agent had begun to act: what it said stays.
    world.send("s", "three").await;
    let turn = world.turn_for("three").await;
    turn.say("half").await;
    world.agent.refuse_to_open(AgentError::Failed("no such program".to_owned()));
    turn.break_off("its process died");
    assert_eq!(outcome(&mut world).await, Outcome::Interrupted { cause: StopCause::HandleLost });
    assert_eq!(runtime(&world, "s").await.health, Some(Health::Failed));
    assert_eq!(talk(&mut world, "s", "four").await, 3);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_refuses_to_be_opened_is_asked_once() {
    let mut world = world().await;
    world.agent.refuse_to_open(AgentError::Failed("no key".to_owned()));
    world.send("s", "one").await;
    assert_eq!(outcome(&mut world).await, Outcome::Failed { error: "no key".to_owned() });
    assert_eq!(world.agent.opened(), 0);
    assert_eq!(talk(&mut world, "s", "two").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_told_to_stop_is_not_taken_up_again_by_a_new_handle() {
    let mut world = world().await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.type_into("s", "/stop").await.unwrap();
    turn.ignore_stop().await.break_off("its process died of it");
    assert_eq!(outcome(&mut world).await, Outcome::Interrupted { cause: StopCause::Operator });
    assert_eq!(world.agent.opened(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_backend_breaks_the_handle_and_nothing_else() {
    let mut world = world().await;
    world.send("s", "one").await;
    world.turn_for("one").await.panic();
    let again = world.turn_for("one").await;
    assert_eq!(again.handle, 2);
    again.answer("ok").await;
    assert_eq!(outcome(&mut world).await, Outcome::Done);
}

#[tokio::test(start_paused = true)]
async fn one_sessions_broken_handle_leaves_the_others_running() {
    let mut world = world().await;
    world.send("well", "long work").await;
    let well = world.turn_for("long work").await;
    world.agent.refuse_to_open(AgentError::Broken("no".to_owned()));
    world.agent.refuse_to_open(AgentError::Broken("still no".to_owned()));
    world.send("ill", "one").await;
    assert!(matches!(outcome(&mut world).await, Outcome::Failed { .. }));
    well.answer("done").await;
    assert_eq!(outcome(&mut world).await, Outcome::Done);
    assert_eq!(talk(&mut world, "well", "more").await, 1);
    assert_eq!(runtime(&world, "ill").await.health, Some(Health::Failed));
    assert_eq!(runtime(&world, "well").await.health, Some(Health::Healthy));
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_stops_closes_every_handle() {
    let mut world = world().await;
    talk(&mut world, "a", "one").await;
    talk(&mut world, "b", "two").await;
    let stop = switchboard::domain::api::Command::Stop { why: "test".to_owned() };
    world.engine.command(stop).await.unwrap();
    world.engine.stopped().await;
    assert_eq!([world.agent.next_closed().await, world.agent.next_closed().await], [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn how_a_handle_fared_outlives_the_engine_and_is_shown() {
    let mut world = world().await;
    world.send("s", "one").await;
    world.turn_for("one").await.break_off("its process died");
    world.turn_for("one").await.answer("ok").await;
    world.turn_ended().await;
    let world = world.restart(Setup::default()).await;
    let after = runtime(&world, "s").await;
    assert_eq!((after.health, after.restart_count), (Some(Health::Healthy), 1));
    let switchboard::domain::api::Reply::Shown { text, .. } = world.type_into("s", "/status").await.unwrap()
    else {
        panic!("nothing shown")
    };
    assert!(text.contains("healthy, restarted 1 time, last used 13:00"), "{text}");
}
