//! What the engine does with messages, turns and its queue: a real store, a scripted agent, and a
//! clock that moves only when the test says so.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "engine/agents.rs"]
mod agents;
#[path = "engine/alerts.rs"]
mod alerts;
#[path = "engine/approvals.rs"]
mod approvals;
#[path = "engine/background.rs"]
mod background;
#[path = "engine/context.rs"]
mod context;
#[path = "engine/cron/mod.rs"]
mod cron;
#[path = "engine/handles.rs"]
mod handles;
#[path = "engine/recovery.rs"]
mod recovery;
#[path = "engine/resets.rs"]
mod resets;
#[path = "engine/spending.rs"]
mod spending;
mod support;

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Stdio};
use std::time::Duration;

use pretty_assertions::assert_eq;
use support::scripted::Steering;
use support::world::{Setup, World, restart};
use switchboard::agent::AgentEvent;
use switchboard::domain::api::{Answer, Command, Direction, Query, Reply, Update, Waited};
use switchboard::domain::event::EventKind;
use switchboard::domain::history::{Body, Step};
use switchboard::domain::id::SessionKey;
use switchboard::domain::plan::{Plan, PlanStatus};
use switchboard::domain::queue::{Ack, BusyMode, Gate, Intent, ItemState, Refusal, Source};
use switchboard::domain::recovery::{AfterStop, LastExit};
use switchboard::domain::session::{ContextUse, EndReason, HoldReason, SessionState, Usage};
use switchboard::domain::slash::Ask;
use switchboard::domain::turn::{Outcome, StopCause, TurnState};
use switchboard::engine::{Clock, StartUp};

fn busy(mode: BusyMode) -> Setup {
    Setup { busy_mode: mode, ..Setup::default() }
}

#[tokio::test(start_paused = true)]
async fn a_message_to_an_idle_session_runs_at_once_and_its_answer_is_kept() {
    let mut world = World::new(Setup::default()).await;
    assert_eq!(world.ack("console", "hello").await, "running");
    world.turn_for("hello").await.answer("hi there").await;
    world.turn_ended().await;
    assert_eq!(world.transcript("console").await, ["you: hello", "agent: hi there"]);
    assert_eq!(world.row("console").await.state, SessionState::Idle);
}

#[tokio::test(start_paused = true)]
async fn the_agent_reads_the_earlier_turns() {
    let mut world = World::new(Setup::default()).await;
    world.send("console", "one").await;
    world.turn_for("one").await.answer("first").await;
    world.turn_ended().await;
    world.send("console", "two").await;
    let turn = world.turn_for("two").await;
    assert_eq!(turn.history, [Step::user("one"), Step::agent("first")]);
}

#[tokio::test(start_paused = true)]
async fn in_queue_mode_every_message_runs_in_order() {
    let world = World::new(busy(BusyMode::Queue)).await;
    world.send("s", "m1").await;
    let first = world.turn_for("m1").await;
    for (place, message) in ["m2", "m3", "m4", "m5"].iter().enumerate() {
        let expected = format!("queued, {} of {}", switchboard::domain::queue::ordinal(place + 1), place + 1);
        assert_eq!(world.ack("s", message).await, expected);
    }
    first.answer("done").await;
    assert_eq!(world.run_turns(4).await, ["m2", "m3", "m4", "m5"]);
}

#[tokio::test(start_paused = true)]
async fn in_replace_mode_a_newer_message_takes_the_slot_and_says_so() {
    let mut world = World::new(busy(BusyMode::Replace)).await;
    world.send("s", "m1").await;
    let first = world.turn_for("m1").await;
    assert_eq!(world.ack("s", "m2").await, "next, when this turn ends");
    assert_eq!(world.ack("s", "m3").await, "replaces your message of 13:00 (kept)");
    let superseded = world.event(|kind| matches!(kind, EventKind::Superseded { .. })).await;
    assert!(superseded.kind.words().contains("m2"));
    first.answer("done").await;
    assert_eq!(world.run_turns(1).await, ["m3"]);
    let kept = world.queue("s").await;
    let m2 = kept.iter().find(|row| row.item.text == "m2").unwrap();
    assert_eq!(m2.item.state, ItemState::Superseded);
}

#[tokio::test(start_paused = true)]
async fn a_superseded_message_can_be_put_back_into_the_queue() {
    let world = World::new(busy(BusyMode::Replace)).await;
    world.send("s", "m1").await;
    let first = world.turn_for("m1").await;
    let (m2, _) = world.send("s", "m2").await;
    world.send("s", "m3").await;
    world.engine.command(Command::RestoreItems { items: vec![m2] }).await.unwrap();
    assert_eq!(world.waiting("s").await, ["m3", "m2"]);
    first.answer("done").await;
    assert_eq!(world.run_turns(2).await, ["m3", "m2"]);
}

#[tokio::test(start_paused = true)]
async fn two_messages_in_interrupt_mode_stop_the_turn_once_and_the_last_one_runs() {
    let mut world = World::new(busy(BusyMode::Interrupt)).await;
    world.send("s", "long work").await;
    let first = world.turn_for("long work").await;
    first.say("half an ans").await;
    assert_eq!(world.ack("s", "x1").await, "stops the running turn and runs next");
    assert!(world.ack("s", "x2").await.starts_with("replaces your message of 13:00"));
    first.obey_stop().await;
    let ended = world.turn_ended().await;
    assert!(matches!(
        &ended.kind,
        EventKind::TurnEnded { outcome: Outcome::Interrupted { cause: StopCause::NewMessage }, .. }
    ));
    assert_eq!(world.run_turns(1).await, ["x2"]);
    let transcript = world.transcript("s").await;
    assert_eq!(transcript[..3], ["you: long work", "agent: half an ans", "ended: Interrupted"]);
}

#[tokio::test(start_paused = true)]
async fn a_steered_message_reaches_the_running_agent() {
    let mut world = World::new(Setup { steering: Steering::Takes, ..busy(BusyMode::Steer) }).await;
    world.send("s", "walk").await;
    let mut turn = world.turn_for("walk").await;
    let (item, ack) = world.send("s", "go left").await;
    assert!(matches!(ack, Ack::Steered { .. }));
    let (steered, text) = turn.steered().await;
    assert_eq!((steered, text.as_str()), (item, "go left"));
    turn.emit(AgentEvent::Steered(item)).await;
    turn.answer("went left").await;
    world.turn_ended().await;
    assert!(world.waiting("s").await.is_empty());
    assert_eq!(world.row("s").await.state, SessionState::Idle);
}

#[tokio::test(start_paused = true)]
async fn a_steered_message_that_the_agent_did_not_take_in_runs_as_its_own_turn() {
    let world = World::new(Setup { steering: Steering::Takes, ..busy(BusyMode::Steer) }).await;
    world.send("s", "walk").await;
    let turn = world.turn_for("walk").await;
    world.send("s", "go left").await;
    turn.answer("arrived already").await;
    assert_eq!(world.run_turns(1).await, ["go left"]);
}

#[tokio::test(start_paused = true)]
async fn a_busy_mode_that_was_set_for_a_session_goes_back_to_the_default() {
    let world = World::new(busy(BusyMode::Replace)).await;
    world.send("s", "work").await;
    let _turn = world.turn_for("work").await;
    world.type_into("s", "/busy queue").await.unwrap();
    assert_eq!(world.ack("s", "one").await, "queued, 1st of 1");
    let Ok(Reply::Done { words, .. }) = world.type_into("s", "/busy default").await else {
        panic!("refused")
    };
    assert_eq!(words, "busy mode replace (default)");
    assert_eq!(world.row("s").await.session.busy_mode, None);
    assert_eq!(world.ack("s", "two").await, "next, when this turn ends");
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_takes_no_text_queues_it_and_says_so() {
    let world = World::new(busy(BusyMode::Steer)).await;
    world.send("s", "walk").await;
    let turn = world.turn_for("walk").await;
    assert_eq!(world.ack("s", "go left").await, "this agent takes no text while it runs: queued, 1st of 1");
    turn.answer("done").await;
    assert_eq!(world.run_turns(1).await, ["go left"]);
}

#[tokio::test(start_paused = true)]
async fn queue_items_run_as_full_turns_in_order_and_status_counts_them_down() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let mut turn = world.turn_for("work").await;
    assert_eq!(world.ack("s", "/queue A").await, "queued, 1st of 1");
    assert_eq!(world.ack("s", "/queue B").await, "queued, 2nd of 2");
    assert_eq!(world.ack("s", "/q C").await, "queued, 3rd of 3");
    for (message, left) in [("A", 3), ("B", 2), ("C", 1)] {
        let status = world.type_into("s", "/status").await.unwrap();
        let Reply::Shown { text, .. } = status else { panic!("{status:?}") };
        assert!(text.contains(&format!("{left} item")), "{text}");
        turn.answer("done").await;
        world.turn_ended().await;
        turn = world.turn_for(message).await;
    }
    assert_eq!(world.row("s").await.queued, 0);
}

#[tokio::test(start_paused = true)]
async fn the_slot_runs_before_the_queue() {
    let world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.send("s", "/queue later").await;
    world.send("s", "next").await;
    turn.answer("done").await;
    assert_eq!(world.run_turns(2).await, ["next", "later"]);
}

#[tokio::test(start_paused = true)]
async fn a_queue_item_for_an_idle_session_starts_at_once() {
    let world = World::new(Setup::default()).await;
    assert_eq!(world.ack("s", "/queue hello").await, "running");
    world.turn_for("hello").await.answer("hi").await;
}

#[tokio::test(start_paused = true)]
async fn queue_without_a_text_shows_the_queue_and_adds_nothing() {
    let world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let _turn = world.turn_for("work").await;
    world.send("s", "/queue first").await;
    for draft in ["/queue", "/queue    "] {
        let Ok(Reply::Shown { text, .. }) = world.type_into("s", draft).await else {
            panic!("nothing shown")
        };
        assert!(text.contains("first"), "{text}");
    }
    assert_eq!(world.waiting("s").await, ["first"]);
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_and_drops_nothing() {
    let world = World::new(Setup { max_items: 3, ..Setup::default() }).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    for n in 1..=3 {
        world.send("s", &format!("/queue n{n}")).await;
    }
    assert_eq!(world.type_into("s", "/queue n4").await, Err(Refusal::QueueFull { max: 3 }));
    assert!(world.log().await.iter().any(|line| line.contains("the queue is full (3)")));
    turn.answer("done").await;
    assert_eq!(world.run_turns(3).await, ["n1", "n2", "n3"]);
}

#[tokio::test(start_paused = true)]
async fn an_item_runs_in_the_session_it_was_made_for() {
    let world = World::new(Setup::default()).await;
    world.send("s1", "one").await;
    let first = world.turn_for("one").await;
    world.send("s2", "two").await;
    let second = world.turn_for("two").await;
    world.send("s1", "/queue only for s1").await;
    let s1 = world.id("s1").await;
    second.answer("done").await;
    assert!(world.queue("s2").await.iter().all(|row| row.item.text != "only for s1"));
    first.answer("done").await;
    let turn = world.turn_for("only for s1").await;
    assert_eq!(turn.session, s1);
}

#[tokio::test(start_paused = true)]
async fn the_next_item_runs_after_a_turn_that_failed() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "bad").await;
    let turn = world.turn_for("bad").await;
    world.send("s", "/queue good").await;
    turn.fail("no luck");
    world.turn_ended().await;
    assert_eq!(world.run_turns(1).await, ["good"]);
    let row = world.row("s").await;
    assert_eq!(row.session.hold, None);
}

#[tokio::test(start_paused = true)]
async fn stop_holds_the_queue_keeps_what_was_said_and_continue_goes_on() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    turn.say("so far").await;
    world.send("s", "/queue later").await;
    let (slot, _) = world.send("s", "next").await;
    let Ok(Reply::Done { words, .. }) = world.type_into("s", "/stop").await else { panic!("not stopped") };
    let expected = "stopping; the message that was next is put aside (kept); \
                    the queue is held; /continue releases it";
    assert_eq!(words, expected);
    turn.obey_stop().await;
    world.turn_ended().await;
    let row = world.row("s").await;
    assert_eq!(row.session.hold.map(|hold| hold.reason), Some(HoldReason::Stopped));
    assert_eq!(world.waiting("s").await, ["later"]);
    let queue = world.queue("s").await;
    let cleared = queue.iter().find(|row| row.item.id == slot).unwrap();
    assert_eq!(cleared.item.state, ItemState::Cleared);
    assert!(world.agent.turn_already_begun().await.is_none());
    assert_eq!(world.transcript("s").await, ["you: work", "agent: so far", "ended: Interrupted"]);

    world.type_into("s", "/continue").await.unwrap();
    assert_eq!(world.run_turns(1).await, ["later"]);
}

#[tokio::test(start_paused = true)]
async fn on_a_held_queue_a_message_runs_as_its_own_turn_and_the_hold_stays() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.send("s", "/queue later").await;
    world.type_into("s", "/stop").await.unwrap();
    turn.obey_stop().await;
    world.turn_ended().await;
    assert_eq!(world.ack("s", "a question").await, "running");
    world.turn_for("a question").await.answer("an answer").await;
    world.turn_ended().await;
    assert!(world.agent.turn_already_begun().await.is_none());
    assert_eq!(world.waiting("s").await, ["later"]);
    assert!(world.ack("s", "/queue more").await.contains("held; /continue releases it"));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_ignores_a_stop_is_dropped_after_the_grace() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.type_into("s", "/stop").await.unwrap();
    let turn = turn.ignore_stop().await;
    world.advance(6).await;
    turn.dropped().await;
    let told = world.event(|kind| matches!(kind, EventKind::Notice { .. })).await;
    assert_eq!(told.kind.words(), "turn 1 ignored the stop for 5 s and was killed");
    let ended = world.turn_ended().await;
    assert!(matches!(
        &ended.kind,
        EventKind::TurnEnded { outcome: Outcome::Interrupted { cause: StopCause::Operator }, .. }
    ));
}

#[tokio::test(start_paused = true)]
async fn new_ends_the_turn_clears_the_queue_and_nothing_of_it_runs_in_the_new_session() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.send("s", "/queue later").await;
    world.send("s", "next").await;
    let old = world.id("s").await;

    let asked = world.type_into("s", "/new").await.unwrap();
    let Reply::Asks { question, confirm } = asked else { panic!("{asked:?}") };
    assert!(question.contains("2 waiting messages"), "{question}");
    assert_eq!(world.id("s").await, old);

    let reply = world.type_into("s", &confirm).await.unwrap();
    assert!(matches!(reply, Reply::Session { .. }));
    turn.obey_stop().await;
    let fresh = world.row("s").await;
    assert_ne!(fresh.session.id, old);
    assert_eq!(fresh.session.previous, Some(old));
    assert!(world.waiting("s").await.is_empty());
    world.event(|kind| matches!(kind, EventKind::Cleared { items, .. } if items.len() == 2)).await;
    world.event(|kind| matches!(kind, EventKind::SessionEnded { reason: EndReason::SessionReset, .. })).await;
    world.send("s", "fresh start").await;
    let turn = world.turn_for("fresh start").await;
    assert!(turn.history.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_earlier_session_can_be_resumed_with_its_history() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "remember 42").await;
    world.turn_for("remember 42").await.answer("noted").await;
    world.turn_ended().await;
    let old = world.id("s").await;
    world.type_into("s", "/new").await.unwrap();
    assert_ne!(world.id("s").await, old);
    world.type_into("s", &format!("/resume {old}")).await.unwrap();
    assert_eq!(world.id("s").await, old);
    world.send("s", "which number?").await;
    assert_eq!(world.turn_for("which number?").await.history.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_live_elsewhere_is_not_resumed() {
    let mut world = World::new(Setup::default()).await;
    for session in ["a", "b"] {
        world.send(session, "hi").await;
        world.turn_for("hi").await.answer("hi").await;
        world.turn_ended().await;
    }
    let a = world.id("a").await;
    let refused = world.type_into("b", &format!("/resume {a}")).await;
    assert!(matches!(refused, Err(Refusal::LiveElsewhere(_))), "{refused:?}");
    for name in [a.as_str(), "a", "agent:main:local:dm:a"] {
        let refused = world.type_into("a", &format!("/resume {name}")).await;
        assert_eq!(refused, Err(Refusal::AlreadyCurrent), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn undo_hides_turns_from_screen_and_agent_and_can_be_taken_back() {
    let mut world = World::new(Setup::default()).await;
    for message in ["one", "two"] {
        world.send("s", message).await;
        world.turn_for(message).await.answer("ok").await;
        world.turn_ended().await;
    }
    let reply = world.type_into("s", "/undo").await.unwrap();
    let Reply::Done { undo: Some(undo), .. } = reply else { panic!("{reply:?}") };
    assert_eq!(world.transcript("s").await, ["you: one", "agent: ok"]);
    world.engine.command(*undo).await.unwrap();
    assert_eq!(world.transcript("s").await.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn retry_runs_the_last_message_again_in_place_of_its_answer() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "one").await;
    world.turn_for("one").await.answer("wrong").await;
    world.turn_ended().await;
    world.type_into("s", "/retry").await.unwrap();
    let turn = world.turn_for("one").await;
    assert!(turn.history.is_empty());
    turn.answer("right").await;
    world.turn_ended().await;
    assert_eq!(world.transcript("s").await, ["you: one", "agent: right"]);
}

#[tokio::test(start_paused = true)]
async fn resume_undo_and_retry_are_refused_during_a_turn() {
    let world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let _turn = world.turn_for("work").await;
    for draft in ["/undo", "/retry"] {
        assert_eq!(world.type_into("s", draft).await, Err(Refusal::TurnRuns), "{draft}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_command_is_refused_with_the_nearest_name_and_never_sent() {
    let world = World::new(Setup::default()).await;
    let refused = world.type_into("s", "/qeue hello").await.unwrap_err();
    assert!(refused.to_string().contains("did you mean /queue?"), "{refused}");
    assert!(world.agent.turn_already_begun().await.is_none());
    world.send("s", "//etc/hosts is a file").await;
    world.turn_for("/etc/hosts is a file").await.answer("yes").await;
}

#[tokio::test(start_paused = true)]
async fn a_pasted_text_of_several_lines_is_never_a_command() {
    let world = World::new(Setup::default()).await;
    world.send("s", "/reset\nis a command").await;
    world.turn_for("/reset\nis a command").await.answer("ok").await;
}

/// A session whose first three turns, of a message and so many items, failed: its queue is held.
async fn behind_a_dead_backend(items: usize) -> World {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "m0").await;
    let mut turn = world.turn_for("m0").await;
    for n in 1..=items {
        world.send("s", &format!("/queue m{n}")).await;
    }
    for n in 1..=2 {
        turn.fail("connection refused");
        turn = world.turn_for(&format!("m{n}")).await;
    }
    turn.fail("connection refused");
    world.event(|kind| matches!(kind, EventKind::QueueHeld { .. })).await;
    world
}

#[tokio::test(start_paused = true)]
async fn a_dead_backend_does_not_burn_the_queue() {
    let mut world = behind_a_dead_backend(4).await;
    assert_eq!(world.row("s").await.state, SessionState::NeedsYou);
    assert_eq!(world.waiting("s").await, ["m3", "m4"]);

    // The probe fails too: its item goes back to the head.
    world.advance(31).await;
    world.turn_for("m3").await.fail("connection refused");
    world.turn_ended().await;
    assert_eq!(world.waiting("s").await, ["m3", "m4"]);

    // The next probe, later than the first, finds the backend alive, and the queue moves again.
    world.advance(61).await;
    world.turn_for("m3").await.answer("alive").await;
    assert_eq!(world.run_turns(1).await, ["m4"]);
    assert_eq!(world.row("s").await.session.hold, None);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_came_due_during_a_hold_is_made_when_the_hold_ends() {
    let world = behind_a_dead_backend(3).await;
    world.engine.command(Command::Hold { why: "maintenance".to_owned() }).await.unwrap();
    world.advance(31).await;
    world.engine.command(Command::Release).await.unwrap();
    world.turn_for("m3").await.answer("alive").await;
}

#[tokio::test(start_paused = true)]
async fn on_hold_messages_are_taken_and_wait_and_release_runs_them() {
    let mut world = World::new(Setup::default()).await;
    world.engine.command(Command::Hold { why: "maintenance".to_owned() }).await.unwrap();
    assert_eq!(world.ack("s", "one").await, "next, the engine is on hold");
    assert_eq!(world.ack("s", "two").await, "queued, 1st of 1, the engine is on hold");
    assert!(world.agent.turn_already_begun().await.is_none());
    assert_eq!(world.row("s").await.state, SessionState::Waits);
    let held = world.overview().await.engine.held.unwrap();
    assert_eq!(held.why, "maintenance");
    world.engine.command(Command::Release).await.unwrap();
    assert_eq!(world.run_turns(2).await, ["one", "two"]);
    world.event(|kind| matches!(kind, EventKind::EngineReleased)).await;
    assert_eq!(world.overview().await.engine.gate, Gate::Open);
}

#[tokio::test(start_paused = true)]
async fn a_hold_survives_a_restart() {
    let world = World::new(Setup::default()).await;
    world.engine.command(Command::Hold { why: "night".to_owned() }).await.unwrap();
    world.send("s", "one").await;
    let world = world.restart(Setup::default()).await;
    assert!(world.agent.turn_already_begun().await.is_none());
    assert_eq!(world.overview().await.engine.gate, Gate::Held);
    world.engine.command(Command::Release).await.unwrap();
    assert_eq!(world.run_turns(1).await, ["one"]);
}

#[tokio::test(start_paused = true)]
async fn an_engine_can_start_on_hold() {
    let start_up = StartUp::Hold("look first".to_owned());
    let world = World::new(Setup { start_up, ..Setup::default() }).await;
    world.send("s", "one").await;
    assert!(world.agent.turn_already_begun().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_running_turns_and_takes_messages_for_the_next_start() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.send("s", "/queue later").await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    assert!(world.ack("t", "hello").await.contains("runs after the next start"));
    turn.answer("finished in time").await;
    world.engine.stopped().await;
    let world = world.restart(Setup::default()).await;
    let mut ran = world.run_turns(2).await;
    ran.sort();
    assert_eq!(ran, ["hello", "later"]);
    assert_eq!(world.transcript("s").await[..2], ["you: work", "agent: finished in time"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_outlasts_the_drain_is_cut_and_what_it_said_is_kept() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    turn.say("half").await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    world.advance(31).await;
    turn.obey_stop().await;
    world.engine.stopped().await;
    let mut world = world.restart(Setup::default()).await;
    let told =
        "This is the system, not the user. Your last turn was interrupted because the engine was shut down.";
    let resumed = world.agent.next_turn().await;
    assert!(resumed.message.starts_with(told), "{}", resumed.message);
    assert_eq!(
        world.transcript("s").await,
        [
            "you: work",
            "agent: half",
            "ended: Interrupted",
            "notice: resumed: the turn was interrupted because the engine was shut down; cut off 1 of 3",
            "told to go on",
        ]
    );
    resumed.answer("and the other half").await;
    world.event(|kind| matches!(kind, EventKind::TurnEnded { .. })).await;
    let row = world.row("s").await;
    assert_eq!((row.session.marker, row.session.cuts), (None, 0));
}

#[tokio::test(start_paused = true)]
async fn a_stop_can_be_called_off() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    world.send("s", "/queue later").await;
    world.engine.command(Command::KeepRunning).await.unwrap();
    turn.answer("done").await;
    assert_eq!(world.run_turns(1).await, ["later"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_has_cut_turns_can_not_be_called_off_and_the_next_start_goes_on_with_them() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    world.engine.command(Command::CutNow).await.unwrap();
    let refused = world.engine.command(Command::KeepRunning).await.unwrap_err();
    assert!(refused.to_string().contains("what still ran was cut"), "{refused}");
    turn.obey_stop().await;
    world.engine.stopped().await;
    let world = world.restart(Setup::default()).await;
    let resumed = world.agent.next_turn().await;
    assert!(resumed.message.starts_with("This is the system, not the user."), "{}", resumed.message);
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_was_called_off_cuts_nothing_when_its_time_is_over() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    world.engine.command(Command::KeepRunning).await.unwrap();
    let again = world.engine.command(Command::KeepRunning).await.unwrap_err();
    assert!(again.to_string().contains("the engine does not stop"), "{again}");
    world.advance(120).await;
    turn.answer("done in peace").await;
    world.turn_ended().await;
    assert_eq!(world.transcript("s").await, ["you: work", "agent: done in peace"]);
}

#[tokio::test(start_paused = true)]
async fn what_the_agent_says_is_kept_within_a_second_and_seen_at_once() {
    let world = World::new(Setup::default()).await;
    world.send("s", "talk").await;
    let turn = world.turn_for("talk").await;
    turn.say("hello ").await;
    turn.say("world").await;
    let id = world.id("s").await;
    let live = loop {
        let page = world.conversation(&id).await;
        if let Some(live) = page.live.filter(|live| live.text == "hello world") {
            break live;
        }
    };
    assert_eq!(live.offset, 0);
    world.advance(2).await;
    loop {
        let page = world.conversation(&id).await;
        if page.entries.len() == 2 && page.live.is_none() {
            break;
        }
    }
    assert_eq!(world.transcript("s").await, ["you: talk", "agent: hello world"]);
    turn.answer("!").await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_whose_server_counts_beyond_all_measure_ends_like_any_other() {
    let mut world = World::new(Setup::default()).await;
    let most = u64::MAX;
    for text in ["one", "two"] {
        world.send("s", text).await;
        let turn = world.turn_for(text).await;
        let usage = Usage { input: most, output: most, cache_read: most, cache_write: most, cost: most };
        turn.emit(AgentEvent::Usage(usage)).await;
        turn.emit(AgentEvent::Context(ContextUse { tokens: most, window: Some(most) })).await;
        turn.answer("ok").await;
        world.turn_ended().await;
    }
    let usage = world.row("s").await.session.usage;
    assert!(usage.input > 1_000_000_000 && usage.input < most / 2, "{usage:?}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_more_steps_than_an_agent_is_given_leaves_it_its_question_and_the_newest_and_says_so() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "search everything").await;
    let turn = world.turn_for("search everything").await;
    for number in 0..2_001 {
        let (call, name, arguments) = (format!("c{number}"), "grep".to_owned(), number.to_string());
        turn.emit(AgentEvent::ToolCall { call: call.clone(), name, arguments }).await;
        turn.emit(AgentEvent::ToolResult { call, ok: true, output: format!("found {number}") }).await;
    }
    turn.answer("nothing more").await;
    world.turn_ended().await;
    world.send("s", "and now?").await;
    let next = world.turn_for("and now?").await;
    let [Step::User { text: beginning, .. }, Step::Agent { text, .. }] = &next.history[..] else {
        panic!("{:?}", next.history)
    };
    assert!(beginning.contains("left out") && beginning.ends_with("search everything"), "{beginning}");
    assert!(text.contains("found 2000") && text.ends_with("nothing more"));
    world.event(|kind| kind.words().contains("the beginning is left out")).await;
    next.answer("").await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_end_is_ended_and_fills_no_disk() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "count").await;
    let turn = world.turn_for("count").await;
    let piece = "all work and no play ".repeat(50_000);
    while !turn.is_gone() {
        turn.try_emit(AgentEvent::Text(piece.clone()));
        tokio::task::yield_now().await;
    }
    let ended = world.turn_ended().await.kind.words();
    assert_eq!(ended, "turn 1 failed: it said more than 16 MiB, so it was ended");
}

#[tokio::test(start_paused = true)]
async fn what_a_running_tool_writes_is_seen_while_it_runs_and_never_kept() {
    let world = World::new(Setup::default()).await;
    world.send("s", "build it").await;
    let turn = world.turn_for("build it").await;
    let id = world.id("s").await;
    turn.doing.write("compiling\n");
    let shown = async |world: &World| world.conversation(&id).await.doing.map(|doing| doing.written);
    while shown(&world).await.is_none() {
        world.advance(1).await;
    }
    assert_eq!(shown(&world).await.as_deref(), Some("compiling\n"));
    turn.doing.clear();
    while shown(&world).await.is_some() {
        world.advance(1).await;
    }
    turn.answer("built").await;
    while world.transcript("s").await.len() < 2 {
        world.advance(1).await;
    }
    assert_eq!(world.transcript("s").await, ["you: build it", "agent: built"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_tool_had_written_last_that_a_stop_ended_is_its_result() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "build it").await;
    let mut turn = world.turn_for("build it").await;
    let (call, name, arguments) = ("c1".to_owned(), "terminal".to_owned(), "make".to_owned());
    turn.emit(AgentEvent::ToolCall { call, name, arguments }).await;
    turn.kept.up_to(1).await.unwrap();
    turn.doing.write("compiling a\ncompiling b\n");
    world.type_into("s", "/stop").await.unwrap();
    turn.obey_stop().await;
    world.turn_ended().await;
    let page = world.conversation(&world.id("s").await).await;
    let result = page.entries.iter().find_map(|entry| match &entry.body {
        Body::Tool { result, .. } => result.clone(),
        _ => None,
    });
    let expected = "interrupted, effect unknown; it had written last:\ncompiling a\ncompiling b\n";
    assert_eq!(result.unwrap().output, expected);
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_plans_is_seen_as_it_stands_and_is_there_after_a_kill() {
    let plan = |looked, wrote| AgentEvent::Plan(Plan::of([("look", looked), ("write", wrote)]));
    let mut world = World::new(Setup::default()).await;
    world.send("s", "do it").await;
    let turn = world.turn_for("do it").await;
    let planned = |kind: &EventKind| matches!(kind, EventKind::Planned { .. });
    turn.emit(plan(PlanStatus::InProgress, PlanStatus::Pending)).await;
    turn.emit(plan(PlanStatus::InProgress, PlanStatus::Pending)).await;
    world.event(planned).await;
    turn.say("I looked.").await;
    turn.emit(plan(PlanStatus::Completed, PlanStatus::InProgress)).await;
    let event = world.event(planned).await;
    assert!(event.kind.words().ends_with("1 of 2 done, now: write"), "the same plan is no news: {event:?}");
    let id = world.id("s").await;
    let running = world.conversation(&id).await.plan.unwrap();
    assert_eq!(running.words(TurnState::Running, ", "), "1 of 2 done, now: write");
    let mut killed = world.copy(Setup::default()).await;
    let told = ["you: do it", "plan: 1 of 2 done, left at: write", "agent: I looked.", "ended: Interrupted"];
    assert_eq!(killed.transcript("s").await[..4], told);
    assert!(killed.conversation(&id).await.plan.is_none(), "the turn that goes on with it has none yet");
    let resumed = killed.agent.next_turn().await;
    resumed.emit(plan(PlanStatus::Completed, PlanStatus::Completed)).await;
    killed.event(planned).await;
    resumed.answer("written").await;
    killed.turn_ended().await;
    let lines = killed.transcript("s").await;
    let plans: Vec<&String> = lines.iter().filter(|line| line.starts_with("plan: ")).collect();
    assert_eq!(plans, ["plan: 1 of 2 done, left at: write", "plan: 2 of 2 done"], "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn items_can_be_moved_edited_and_dropped_while_they_wait_and_not_once_they_run() {
    let mut world = World::new(Setup::default()).await;
    let (running, _) = world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    let (a, _) = world.send("s", "/queue a").await;
    let (b, _) = world.send("s", "/queue b").await;
    let (c, _) = world.send("s", "/queue c").await;
    let command = |command| world.engine.command(command);
    command(Command::MoveItem { item: c, direction: Direction::Up }).await.unwrap();
    command(Command::EditItem { item: a, was: "a".to_owned(), text: "a better".to_owned() }).await.unwrap();
    command(Command::DropItem { item: b }).await.unwrap();
    assert_eq!(world.waiting("s").await, ["a better", "c"]);
    let too_late = Command::EditItem { item: running, was: "work".to_owned(), text: "too late".to_owned() };
    let refused = command(too_late).await;
    assert_eq!(refused, Err(Refusal::ItemNotWaiting(ItemState::Running)));
    turn.answer("done").await;
    assert_eq!(world.run_turns(2).await, ["a better", "c"]);
    world.event(|kind| matches!(kind, EventKind::Cleared { .. })).await;
}

#[tokio::test(start_paused = true)]
async fn the_slot_and_the_queue_can_be_switched() {
    let world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.send("s", "/queue later").await;
    let (slot, _) = world.send("s", "next").await;
    world.engine.command(Command::SwitchLane { item: slot }).await.unwrap();
    assert_eq!(world.waiting("s").await, ["next", "later"]);
    assert!(world.row("s").await.slot.is_none());
    turn.answer("done").await;
    assert_eq!(world.run_turns(2).await, ["next", "later"]);
}

#[tokio::test(start_paused = true)]
async fn search_finds_words_in_every_session() {
    let mut world = World::new(Setup::default()).await;
    world.send("a", "the needle is here").await;
    world.turn_for("the needle is here").await.answer("and a thread").await;
    world.turn_ended().await;
    let Ok(Reply::Shown { text, .. }) = world.type_into("b", "/search needle").await else {
        panic!("nothing shown")
    };
    assert!(text.contains("»needle«"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn what_was_typed_into_a_console_is_in_its_history_after_a_restart() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "first").await;
    world.turn_for("first").await.answer("ok").await;
    world.turn_ended().await;
    world.type_into("s", "/status").await.unwrap();
    let world = world.restart(Setup::default()).await;
    let query = Query::Composer { key: SessionKey::local("s").unwrap() };
    let Ok(Answer::Composer(memory)) = world.engine.query(query).await else { panic!("no memory") };
    assert_eq!(memory.history, ["first", "/status"]);
}

#[tokio::test(start_paused = true)]
async fn export_writes_the_session_into_the_home() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "question").await;
    world.turn_for("question").await.answer("the answer").await;
    world.turn_ended().await;
    world.type_into("s", "/export").await.unwrap();
    let file = world.path("exports").join(format!("{}.md", world.id("s").await));
    let document = std::fs::read_to_string(file).unwrap();
    assert!(document.contains("question") && document.contains("the answer"), "{document}");
}

#[tokio::test(start_paused = true)]
async fn titles_are_unique_and_clean() {
    let world = World::new(Setup::default()).await;
    for session in ["a", "b"] {
        world.send(session, "hi").await;
    }
    world.type_into("a", "/title my\u{7} work").await.unwrap();
    assert_eq!(world.row("a").await.session.title.as_deref(), Some("my work"));
    let refused = world.type_into("b", "/title my work").await;
    assert_eq!(refused, Err(Refusal::TitleTaken("my work".to_owned())));
    let long = format!("/title {}", "x".repeat(101));
    assert_eq!(world.type_into("b", &long).await, Err(Refusal::BadTitle));
}

#[tokio::test(start_paused = true)]
async fn looking_never_moves_the_last_activity() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "hi").await;
    world.turn_for("hi").await.answer("hi").await;
    world.turn_ended().await;
    let before = world.row("s").await.session.last_activity_at;
    world.clock.advance(Duration::from_secs(3600)).await;
    world.type_into("s", "/status").await.unwrap();
    world.type_into("s", "/title a name").await.unwrap();
    let world = world.restart(Setup::default()).await;
    assert_eq!(world.row("s").await.session.last_activity_at, before);
}

#[tokio::test(start_paused = true)]
async fn an_engine_stamps_that_it_is_alive_and_the_next_start_knows_when_it_died() {
    let world = World::new(Setup::default()).await;
    let began = world.clock.now();
    for _ in 0..3 {
        world.advance(11).await;
    }
    world.advance(8).await;
    let world = world.copy(Setup::default()).await;
    let exits: Vec<LastExit> = world
        .events()
        .await
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::EngineStarted { exit, .. } => exit,
            _ => None,
        })
        .collect();
    let Some(LastExit::Unclean { last_sign_of_life, .. }) = exits.last() else { panic!("{exits:?}") };
    assert_eq!(*last_sign_of_life, began + Duration::from_secs(33));
}

async fn status(world: &World, session: &str) -> String {
    match world.type_into(session, "/status").await {
        Ok(Reply::Shown { text, .. }) => text,
        other => panic!("no status: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_a_restart_cuts_is_marked_so_and_resumed() {
    let world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    let mut world = world.cut_by_a_restart(turn).await;
    let resumed = world.agent.next_turn().await;
    assert!(resumed.message.contains("because the engine was restarted"), "{}", resumed.message);
    let told = status(&world, "s").await;
    let expected = "marker       resume pending: cut off at the end of a restart's drain, attempts 1/3 (since 13:00, 31 s ago)";
    assert!(told.contains(expected), "{told}");
    let stopping = world.log().await.into_iter().find(|line| line.starts_with("engine restarts"));
    assert_eq!(stopping.as_deref(), Some("engine restarts: test"));
    resumed.answer("done").await;
    world.turn_ended().await;
    assert!(status(&world, "s").await.contains("marker       none"));
}

#[tokio::test(start_paused = true)]
async fn a_restart_warns_where_one_more_cut_would_suspend_a_running_session() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    for cuts in 1..=2 {
        let turn = world.agent.next_turn().await;
        world = world.cut_by_a_restart(turn).await;
        assert_eq!(world.row("s").await.session.cuts, cuts);
    }
    let turn = world.agent.next_turn().await;
    let Ok(Reply::Asks { question, confirm }) = world.type_into("s", "/restart").await else {
        panic!("nobody was asked")
    };
    assert_eq!(question, "one more cut suspends s (2 of 3 cuts), which runs now and may outlast the drain");
    assert_eq!(confirm, "/restart!");
    assert_eq!(world.overview().await.engine.gate, Gate::Open);
    let from_outside = world
        .engine
        .command(Command::Submit {
            to: SessionKey::local("s").unwrap(),
            text: "/restart".to_owned(),
            intent: Intent::Plain,
            source: Source::CommandLine,
        })
        .await;
    assert!(matches!(from_outside, Err(Refusal::WouldLose { .. })), "{from_outside:?}");

    world.type_into("s", "/restart!").await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    world.advance(31).await;
    turn.obey_stop().await;
    let world = world.next_start(Setup::default()).await;
    let row = world.row("s").await;
    assert_eq!((row.state, row.session.cuts), (SessionState::Suspended, 3));
    assert!(world.agent.turn_already_begun().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_restart_needs_no_answer_where_no_session_is_in_danger() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    let reply = world.type_into("s", "/restart").await.unwrap();
    assert!(matches!(&reply, Reply::Done { words, undo: Some(_) } if words == "restarting"), "{reply:?}");
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    let refused = world.type_into("s", "/restart").await;
    let told = "refused: the engine restarts already: /restart";
    assert_eq!(refused.unwrap_err().to_string(), told);
    turn.answer("finished in time").await;
    let world = world.next_start(Setup::default()).await;
    assert!(world.agent.turn_already_begun().await.is_none());
    assert_eq!(world.row("s").await.session.marker, None);
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_a_restart_is_the_end() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.engine.command(restart(Ask::Never)).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    world.engine.command(Command::Stop { why: "enough".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    let drain = world.overview().await.engine.drain.unwrap();
    assert_eq!((drain.why.as_str(), drain.then), ("enough", AfterStop::End));
    turn.answer("done").await;
    world.engine.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn a_drain_names_what_it_waits_for_from_its_first_word_on() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    let mut updates = world.engine.subscribe();
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    let first = loop {
        if let Update::Engine(status) = updates.recv().await.unwrap()
            && let Some(drain) = status.drain
        {
            break drain;
        }
    };
    assert_eq!(Waited::names(&first.waits_for), "s", "whoever looks in between takes nobody for done");
    turn.answer("done").await;
    world.engine.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn cut_now_ends_the_drain_at_once() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    world.engine.command(Command::CutNow).await.unwrap();
    turn.obey_stop().await;
    let ended = world.turn_ended().await;
    assert!(ended.kind.words().contains("the engine stopped"), "{}", ended.kind.words());
    world.engine.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_is_given_up_and_taken_back_by_command() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    world.send("s", "/queue later").await;
    let old = world.id("s").await;
    let reply = world.type_into("s", "/suspend").await.unwrap();
    assert!(matches!(reply, Reply::Done { undo: Some(_), .. }), "{reply:?}");
    turn.obey_stop().await;
    world.turn_ended().await;
    let told = status(&world, "s").await;
    assert!(told.contains("marker       suspended: given up by the operator"), "{told}");
    assert!(world.type_into("s", "/suspend").await.is_err());
    assert!(world.type_into("s", "/continue").await.is_err(), "suspended wins");

    let lifted = world.type_into("s", "/unsuspend").await.unwrap();
    assert!(matches!(lifted, Reply::Done { ref words, .. } if words.contains("/continue releases it")));
    assert_eq!(world.waiting("s").await, ["later"], "its queue is still held");
    world.type_into("s", "/continue").await.unwrap();
    assert_eq!(world.run_turns(1).await, ["later"]);
    assert_eq!(world.id("s").await, old);
    assert!(world.type_into("s", "/unsuspend").await.is_err());
}

/// A process of the test's own that leads a group, as a turn's child that outlived its engine.
fn leftover() -> Child {
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "trap '' TERM HUP; sleep 1000 & wait"]).process_group(0);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Checks that it still lives, and ends it with its group.
fn end_survivor(mut child: Child) {
    assert!(child.try_wait().unwrap().is_none(), "it was killed");
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    child.wait().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_child_that_outlived_its_engine_is_killed_before_the_next_one_begins_anything() {
    let world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    let (mut ours, unknown) = (leftover(), leftover());
    turn.keeps(ours.id()).await;
    let mut next = world.copy(Setup::default()).await;
    assert_eq!(ours.wait().unwrap().signal(), Some(9));
    let told = next.log().await.into_iter().find(|line| line.contains("outlived")).expect("nothing was told");
    assert_eq!(
        told,
        format!(
            "scripted of turn 1 had outlived its engine: process group {} was killed, with what had left it",
            ours.id()
        )
    );
    next.agent.next_turn().await.answer("went on").await;
    next.turn_ended().await;

    // Nothing of it is kept any more: the next start looks for nobody.
    let next = next.restart(Setup::default()).await;
    assert_eq!(next.log().await.iter().filter(|line| line.contains("outlived")).count(), 1);
    end_survivor(unknown);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_has_the_number_of_a_child_by_chance_is_left_alone() {
    let world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    let stranger = leftover();
    turn.keeps(stranger.id()).await;
    let store = rusqlite::Connection::open(world.path("state.db")).unwrap();
    assert_eq!(store.execute("UPDATE processes SET started = started - 1", ()).unwrap(), 1);
    let next = world.copy(Setup::default()).await;
    assert!(!next.log().await.iter().any(|line| line.contains("outlived")));
    end_survivor(stranger);
}

#[tokio::test(start_paused = true)]
async fn a_child_is_forgotten_when_its_turn_has_ended() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    let child = leftover();
    turn.keeps(child.id()).await;
    turn.answer("done").await;
    world.turn_ended().await;
    let next = world.copy(Setup::default()).await;
    assert!(!next.log().await.iter().any(|line| line.contains("outlived")));
    end_survivor(child);
}
