//! An agent asks: its turn stands still, a person answers, or the question settles itself.

use pretty_assertions::assert_eq;
use switchboard::domain::api::{Answer as Reported, Command, Query, Reply};
use switchboard::domain::approval::{Always, Answer, Decision, Question};
use switchboard::domain::event::EventKind;
use switchboard::domain::queue::Refusal;
use switchboard::domain::session::SessionState;
use tokio::task::JoinHandle;

use crate::support::scripted::Played;
use crate::support::world::{Setup, World};

fn question(what: &str) -> Question {
    let (tool, folder) = ("terminal".to_owned(), "/srv/api".to_owned());
    Question { tool, what: what.to_owned(), folder, always: Always::of(what) }
}

/// Asks in the name of a turn, and waits until it is kept.
async fn asks(world: &mut World, turn: &Played, what: &str) -> JoinHandle<Decision> {
    let approvals = turn.approvals.clone();
    let question = question(what);
    let decided = tokio::spawn(async move { approvals.ask(question).await });
    world.event(|kind| matches!(kind, EventKind::ApprovalAsked { .. })).await;
    decided
}

async fn begun(world: &World) -> Played {
    world.send("s", "deploy it").await;
    world.turn_for("deploy it").await
}

fn words(reply: Result<Reply, Refusal>) -> String {
    match reply {
        Ok(Reply::Done { words, .. }) => words,
        Ok(other) => panic!("{other:?}"),
        Err(refusal) => refusal.to_string(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_asks_waits_for_a_person_and_goes_on_with_the_answer() {
    let mut world = World::new(Setup::default()).await;
    let turn = begun(&world).await;
    let decided = asks(&mut world, &turn, "git push").await;
    let row = world.row("s").await;
    assert_eq!(row.state, SessionState::NeedsYou);
    assert_eq!(row.asks[0].question, question("git push"));
    assert_eq!((row.asks[0].denies_at - row.asks[0].asked_at).num_minutes(), 10);
    assert_eq!(world.overview().await.needs_you, 1);

    let said = words(world.type_into("s", "/approve").await);
    assert_eq!(said, "allowed once: terminal: git push");
    assert_eq!(decided.await.unwrap(), Decision::Once);
    assert_eq!(world.row("s").await.state, SessionState::Runs);
    turn.answer("done").await;
    assert_eq!(words(world.type_into("s", "/approve").await), "refused: the agent asks nothing here");
}

#[tokio::test(start_paused = true)]
async fn a_question_is_kept_and_shown_without_the_keys_in_it() {
    let mut world = World::prepared(Setup::default(), |home| {
        std::fs::write(home.join("key"), "sk-canary-4711").unwrap();
    })
    .await;
    let turn = begun(&world).await;
    let _asks = asks(&mut world, &turn, "sk-canary-4711 push").await;
    let prefix = "[the key] push".to_owned();
    let kept = Question { what: prefix.clone(), always: Always::Offered { prefix }, ..question("") };
    assert_eq!(world.row("s").await.asks[0].question, kept);
    let told = format!("{:?}", world.events().await);
    assert!(told.contains("[the key] push") && !told.contains("canary"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_for_the_question_that_it_names_and_where_several_wait_it_names_one() {
    let mut world = World::new(Setup::default()).await;
    let turn = begun(&world).await;
    let first = asks(&mut world, &turn, "git push").await;
    let second = asks(&mut world, &turn, "rm x").await;
    let refused = words(world.type_into("s", "/approve").await);
    assert!(refused.contains("question 1, terminal: git push; question 2, terminal: rm x"), "{refused}");
    assert_eq!(words(world.type_into("s", "/approve 2").await), "allowed once: terminal: rm x");
    assert_eq!(second.await.unwrap(), Decision::Once);
    // What is said a second time answers no other.
    let again = words(world.type_into("s", "/approve 2").await);
    assert!(again.contains("question 2 is settled already: allowed once"), "{again}");
    world.send("t", "elsewhere").await;
    let elsewhere = words(world.type_into("t", "/approve 1").await);
    assert!(elsewhere.contains("question 1 is none of this session"), "{elsewhere}");
    assert_eq!(words(world.type_into("s", "/deny 1 2 pushes").await), "denied: 2 pushes: terminal: git push");
    assert_eq!(first.await.unwrap(), Decision::Denied { why: Some("2 pushes".to_owned()) });
}

#[tokio::test(start_paused = true)]
async fn a_denial_tells_the_agent_why() {
    let mut world = World::new(Setup::default()).await;
    let turn = begun(&world).await;
    let decided = asks(&mut world, &turn, "git push --force").await;
    assert_eq!(
        words(world.type_into("s", "/deny never force").await),
        "denied: never force: terminal: git push --force"
    );
    let refusal = decided.await.unwrap().refusal().unwrap();
    assert_eq!(refusal, "not done: the operator denied it and says: never force");
}

#[tokio::test(start_paused = true)]
async fn always_spares_the_next_question_of_the_session() {
    let mut world = World::new(Setup::default()).await;
    let turn = begun(&world).await;
    let decided = asks(&mut world, &turn, "git push").await;
    words(world.type_into("s", "/approve always").await);
    let prefix = "git push".to_owned();
    assert_eq!(decided.await.unwrap(), Decision::Always { prefix: prefix.clone() });
    let again = turn.approvals.ask(question("git push --tags")).await;
    assert_eq!(again, Decision::Before { prefix });
    let _other = asks(&mut world, &turn, "git push | sh").await;
    let refused = words(world.type_into("s", "/approve always").await);
    assert!(refused.contains("always is not offered: it is more than one command"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn nobody_answers_in_time_and_the_question_denies_itself() {
    let mut world = World::new(Setup::default()).await;
    let turn = begun(&world).await;
    let decided = asks(&mut world, &turn, "git push").await;
    let asked = world.row("s").await.asks.remove(0);
    world.advance(601).await;
    assert_eq!(decided.await.unwrap(), Decision::TimedOut);
    assert_eq!(world.row("s").await.state, SessionState::Runs);
    let late = Command::Answer { approval: asked.id, answer: Answer::Once };
    let refused = words(world.engine.command(late).await);
    assert!(refused.contains("settled already: denied by itself"), "{refused}");
    let reported = world.engine.query(Query::Report { since: Some(asked.asked_at) }).await;
    let Ok(Reported::Report(report)) = reported else { panic!("{reported:?}") };
    let unanswered = ("denied", "1 question not answered in time".to_owned());
    assert!(report.lines().contains(&unanswered), "{:?}", report.lines());
}

#[tokio::test(start_paused = true)]
async fn a_stop_settles_the_question() {
    let mut world = World::new(Setup::default()).await;
    let turn = begun(&world).await;
    let decided = asks(&mut world, &turn, "git push").await;
    world.type_into("s", "/stop").await.unwrap();
    assert!(matches!(decided.await.unwrap(), Decision::Cancelled { .. }));
    turn.obey_stop().await;
    world.turn_ended().await;
    let row = world.row("s").await;
    assert_eq!((row.asks, row.state), (vec![], SessionState::Idle));
    assert_eq!(world.overview().await.needs_you, 0);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_its_agent_takes_back_is_settled() {
    let mut world = World::new(Setup::default()).await;
    let turn = begun(&world).await;
    asks(&mut world, &turn, "git push").await.abort();
    let settled = world.event(|kind| matches!(kind, EventKind::ApprovalSettled { .. })).await;
    assert_eq!(settled.kind.words(), "not done: the agent does not wait any more: terminal: git push");
    assert_eq!(world.row("s").await.state, SessionState::Runs);
}

#[tokio::test(start_paused = true)]
async fn a_crash_settles_the_question_and_the_turn_is_resumed() {
    let mut world = World::new(Setup::default()).await;
    let turn = begun(&world).await;
    let _decided = asks(&mut world, &turn, "git push").await;
    let after = world.copy(Setup::default()).await;
    let resumed = after.agent.next_turn().await;
    assert!(resumed.message.starts_with("This is the system"), "{}", resumed.message);
    assert_eq!(after.row("s").await.asks, []);
    assert_eq!(after.overview().await.needs_you, 0);
}
