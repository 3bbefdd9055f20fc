//! What is kept of a conversation that an agent was sent shorter.

use pretty_assertions::assert_eq;
use switchboard::agent::AgentEvent;
use switchboard::domain::api::{Answer, Query, Reply};
use switchboard::domain::event::EventKind;
use switchboard::domain::history::Step;
use switchboard::domain::session::{ContextUse, Usage};
use switchboard::domain::talk::{Covers, GO_ON, Shortened, summary_told};

use crate::support::world::{Setup, World, monday_noon};

fn in_short(covers: Covers) -> AgentEvent {
    let summary = Some((covers, "In short.".to_owned()));
    AgentEvent::Shortened(Shortened { results: 1, summary, before: 9_000, after: 3_000 })
}

async fn told(world: &mut World, message: &str) -> Vec<Step> {
    world.send("s", message).await;
    let turn = world.turn_for(message).await;
    let history = turn.history.clone();
    turn.answer("said").await;
    world.turn_ended().await;
    history
}

#[tokio::test(start_paused = true)]
async fn a_summary_outlives_the_engine_and_what_it_stands_for_is_still_shown() {
    let mut world = World::new(Setup::default()).await;
    for message in ["one", "two", "three"] {
        told(&mut world, message).await;
    }
    world.send("s", "four").await;
    let turn = world.turn_for("four").await;
    assert_eq!(turn.history.len(), 6);
    turn.emit(in_short(Covers::Steps(4))).await;
    turn.answer("said").await;
    let how = world.event(|kind| matches!(kind, EventKind::Shortened { .. })).await;
    assert_eq!(
        how.kind.words(),
        "turn 4 sends the conversation shorter: its middle as a summary, 1 old tool result left out; \
         about 3.0k tokens in place of 9.0k (nothing is lost here)"
    );
    world.turn_ended().await;
    let mut world = world.restart(Setup::default()).await;
    let history = told(&mut world, "five").await;
    let summary = summary_told("In short.");
    let expected = [
        Step::user("one"),
        Step::agent(summary),
        Step::user("three"),
        Step::agent("said"),
        Step::user("four"),
        Step::agent("said"),
    ];
    assert_eq!(history, expected);
    assert_eq!(world.transcript("s").await.len(), 10, "all of it is still shown");
    world.type_into("s", "/undo 3").await.unwrap();
    assert_eq!(told(&mut world, "six").await, expected[..2], "what it stands for is still said");
    world.type_into("s", "/undo 2").await.unwrap();
    assert_eq!(told(&mut world, "seven").await, [Step::user("one"), Step::agent("said")]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_cut_goes_on_with_the_summary_of_its_own_steps() {
    let world = World::new(Setup::default()).await;
    world.send("s", "work").await;
    let turn = world.turn_for("work").await;
    for n in ["1", "2", "3"] {
        let (call, name, arguments) = (n.to_owned(), "ls".to_owned(), n.to_owned());
        turn.emit(AgentEvent::ToolCall { call: call.clone(), name, arguments }).await;
        turn.emit(AgentEvent::ToolResult { call, ok: true, output: "ok".to_owned() }).await;
    }
    turn.emit(in_short(Covers::Calls(2))).await;
    turn.say("half").await;
    let world = world.cut_by_a_restart(turn).await;
    let resumed = world.agent.next_turn().await;
    let words: Vec<&str> = resumed
        .history
        .iter()
        .map(|step| match step {
            Step::User { text, .. } | Step::Agent { text, .. } => text.as_str(),
        })
        .collect();
    assert_eq!(words[..3], ["work", &summary_told("In short."), GO_ON]);
    assert!(words[3].starts_with("[tool ls 3 -> ok]half"), "{words:?}");
    resumed.answer("done").await;
}

#[tokio::test(start_paused = true)]
async fn how_full_the_window_is_and_what_was_spent_stand_with_the_session() {
    let mut world = World::new(Setup::default()).await;
    world.send("s", "one").await;
    let turn = world.turn_for("one").await;
    for (tokens, cost) in [(3_000, 40_000), (6_120, 2_200)] {
        turn.emit(AgentEvent::Usage(Usage { input: tokens, output: 9, cost, ..Usage::default() })).await;
        turn.emit(AgentEvent::Context(ContextUse { tokens, window: Some(152_000) })).await;
    }
    turn.answer("said").await;
    world.turn_ended().await;
    told(&mut world, "an agent that tells nothing of it").await;
    let session = world.row("s").await.session;
    assert_eq!(session.context, Some(ContextUse { tokens: 6_120, window: Some(152_000) }));
    assert_eq!(session.usage.cost, 42_200);
    let Ok(Reply::Shown { text: status, .. }) = world.type_into("s", "/status").await else {
        panic!("no status")
    };
    assert!(status.contains("cost         0.0422"), "{status}");
    assert!(status.contains("context      6.1k of 152.0k tokens, 4 %"), "{status}");
    let Ok(Answer::Report(report)) = world.engine.query(Query::Report { since: Some(monday_noon()) }).await
    else {
        panic!("no report")
    };
    assert!(report.lines().contains(&("cost", "0.0422".to_owned())), "{report:?}");
}
