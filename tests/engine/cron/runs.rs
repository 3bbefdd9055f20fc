//! Runs: preflight, prompt, silence, time-outs, stops, deliveries, and health.

use pretty_assertions::assert_eq;
use switchboard::agent::AgentEvent;
use switchboard::domain::api::{Command, JobCommand, JobState, Reply};
use switchboard::domain::approval::{Always, Question};
use switchboard::domain::cron::{
    Counting, Definition, DeliveryState, ExecutionState, JobEvent, Overlap, SessionMode, Target,
};
use switchboard::domain::event::EventKind;
use switchboard::domain::history::Body;
use switchboard::domain::remark::Remark;
use switchboard::domain::turn::{Outcome, StopCause};
use switchboard::failpoint;

use super::{at, job, world_with, write};
use crate::support::world::{Setup, World};

fn deliveries(run: &switchboard::domain::cron::Execution) -> Vec<(String, DeliveryState)> {
    run.deliveries.iter().map(|delivery| (delivery.target.to_string(), delivery.state)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_prompt_has_skills_and_the_newest_outputs_of_other_jobs() {
    let reader = Definition {
        skills: vec!["mail".to_owned()],
        context_from: vec!["news".parse().unwrap(), "never".parse().unwrap()],
        ..job("reader", "0 0 1 1 *")
    };
    let mut world = world_with(&[job("news", "0 0 1 1 *"), reader]).await;
    write(&world.path(""), "skills/mail/SKILL.md", "---\ndescription: reads mail\n---\nRead all of it.");
    for answer in ["old news", "fresh news"] {
        world.run_now("news").await;
        world.agent.next_turn().await.answer(answer).await;
        world.run_ended().await;
        world.advance(1).await;
    }
    world.run_now("reader").await;
    let turn = world.agent.next_turn().await;
    for part in [
        "[Begin: skill mail]\nRead all of it.\n[End: skill mail]",
        "[Begin: newest output of the task news]\nfresh news\n[End: newest output of the task news]",
        "[There is no output of the task never yet.]",
    ] {
        assert!(turn.message.contains(part), "{part:?} is not in {:?}", turn.message);
    }
    turn.answer("read").await;
    world.run_ended().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_blocks_the_run_without_any_agent_and_is_told_once() {
    let broken = Definition { skills: vec!["mail".to_owned()], ..job("reader", "*/10 * * * *") };
    let mut world = world_with(&[broken]).await;
    for minute in [10, 20] {
        world.advance_to(at(12, minute)).await;
        let (state, why) = world.run_ended().await;
        assert_eq!(state, ExecutionState::BlockedConfig);
        assert!(why.unwrap().starts_with("skill \"mail\": there is no "));
    }
    assert!(world.agent.turn_already_begun().await.is_none(), "an agent was asked");
    world.advance(1).await;
    let runs = world.executions("reader").await;
    let told: Vec<_> = runs.iter().map(|run| run.deliveries[0].state).collect();
    assert_eq!(told[1], DeliveryState::Suppressed);
    assert_ne!(told[0], DeliveryState::Suppressed);
    write(&world.path(""), "skills/mail/SKILL.md", "Read.");
    world.advance_to(at(12, 30)).await;
    world.agent.next_turn().await.answer("read").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn silence_keeps_the_document_and_tells_nobody_but_a_failure_is_always_told() {
    let mut world = world_with(&[job("quiet", "0 0 1 1 *")]).await;
    world.run_now("quiet").await;
    world.agent.next_turn().await.answer("nothing new\n[SILENT]\n").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
    world.run_now("quiet").await;
    let turn = world.agent.next_turn().await;
    turn.say("[SILENT]").await;
    turn.fail("the model is gone");
    assert_eq!(world.run_ended().await, (ExecutionState::Failed, Some("the model is gone".to_owned())));
    world.job_event(|what| matches!(what, JobEvent::Delivery { state: DeliveryState::Delivered, .. })).await;
    let runs = world.executions("quiet").await;
    assert_eq!(deliveries(&runs[0]), [("console".to_owned(), DeliveryState::Suppressed)]);
    assert!(world.output(runs[0].id).await.unwrap().contains("nothing new"));
    assert_eq!(deliveries(&runs[1]), [("console".to_owned(), DeliveryState::Delivered)]);
    let document = world.output(runs[1].id).await.unwrap();
    assert!(document.contains("\n## Error\n\nthe model is gone\n"), "{document}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_answers_says_what_of_its_work_was_not_done() {
    let mut world = world_with(&[job("push", "0 0 1 1 *")]).await;
    let execution = world.run_now("push").await;
    let turn = world.agent.next_turn().await;
    let question = Question {
        tool: "terminal".to_owned(),
        what: "git push".to_owned(),
        folder: "/srv".to_owned(),
        always: Always::of("git push"),
    };
    assert!(!turn.approvals.ask(question).await.allows());
    turn.answer(&format!("I could not push.{}", Remark::Held.line("the limit is reached"))).await;
    let undone = "1 call denied (terminal: git push): a scheduled task never waits for a person; \
                  agent.approvals says what needs none; held: the limit is reached";
    assert_eq!(world.run_ended().await, (ExecutionState::Succeeded, Some(undone.to_owned())));
    world.job_event(|what| matches!(what, JobEvent::Delivery { state: DeliveryState::Delivered, .. })).await;
    assert_eq!(world.executions("push").await[0].undone(), Some(undone));
    let row = world.jobs().await.rows.remove(0);
    assert_eq!((row.failures, row.state), (0, JobState::Scheduled), "it did not fail");
    let document = world.output(execution).await.unwrap();
    assert!(document.contains(&format!("\n- not done: {undone}\n")), "{document}");
    assert!(!document.contains("## Error"), "{document}");
    let console = world.id("console").await;
    let told = world.conversation(&console).await.entries.pop().unwrap().body;
    let Body::Notice { text } = told else { panic!("{told:?}") };
    assert!(
        text.contains(&format!("[not all of it was done: {undone}]\nI could not push.\n[held: ")),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_fills_up_in_the_middle_of_a_run_costs_nothing_of_it() {
    let mut world = world_with(&[job("news", "0 0 1 1 *")]).await;
    let store = world.path("state.db");
    let execution = world.run_now("news").await;
    let turn = world.agent.next_turn().await;
    turn.say("half of it, ").await;
    failpoint::fill_disk(&store);
    turn.say("and the rest").await;
    turn.finish();
    world.advance(20).await;
    assert_eq!(
        world.executions("news").await[0].state,
        ExecutionState::Running,
        "it is not over until that is kept"
    );
    failpoint::free_disk(&store);
    world.advance(31).await;
    assert_eq!(world.run_ended().await, (ExecutionState::Succeeded, None));
    world.job_event(|what| matches!(what, JobEvent::Delivery { state: DeliveryState::Delivered, .. })).await;
    let [run] = &world.executions("news").await[..] else { panic!("one run") };
    assert_eq!(deliveries(run), [("console".to_owned(), DeliveryState::Delivered)]);
    assert!(world.output(execution).await.unwrap().contains("half of it, and the rest"));
    assert!(world.agent.turn_already_begun().await.is_none(), "it was run again");
}

#[tokio::test(start_paused = true)]
async fn each_target_has_its_own_row_and_what_is_not_set_up_is_recorded() {
    let targets = Target::list("local,console,telegram:1").unwrap();
    let mut world = world_with(&[Definition { deliver_to: targets, ..job("news", "0 0 1 1 *") }]).await;
    world.run_now("news").await;
    world.agent.next_turn().await.answer("done").await;
    world.job_event(|what| matches!(what, JobEvent::Delivery { state: DeliveryState::Delivered, target, .. } if target.platform == "console")).await;
    let [run] = &world.executions("news").await[..] else { panic!("one run") };
    assert_eq!(
        deliveries(run),
        [
            ("local".to_owned(), DeliveryState::Delivered),
            ("console".to_owned(), DeliveryState::Delivered),
            ("telegram:1".to_owned(), DeliveryState::NotConfigured),
        ]
    );
    let why = run.deliveries[2].why.clone().unwrap();
    assert!(why.starts_with("telegram is not set up here: the text is in output/news/"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn what_is_delivered_to_the_console_stands_in_its_session_once_and_is_no_memory_of_it() {
    let targets = Target::list("console,console:ops").unwrap();
    let mut world = world_with(&[Definition { deliver_to: targets, ..job("news", "0 0 1 1 *") }]).await;
    let id = world.run_now("news").await;
    world.agent.next_turn().await.answer("three things\nchanged").await;
    for _ in 0..2 {
        world
            .job_event(|what| matches!(what, JobEvent::Delivery { state: DeliveryState::Delivered, .. }))
            .await;
    }
    let line = format!("Job news, run {id}:\nthree things\nchanged");
    for session in ["console", "ops"] {
        let session = world.id(session).await;
        let entries = world.conversation(&session).await.entries;
        let told: Vec<_> = entries.into_iter().map(|entry| entry.body).collect();
        assert_eq!(told, [Body::Notice { text: line.clone() }]);
    }
    world.send("console", "hello").await;
    let turn = world.turn_for("hello").await;
    assert!(turn.history.is_empty(), "the agent was told what is for its reader");
    turn.answer("hi").await;
}

#[tokio::test(start_paused = true)]
async fn each_run_has_a_fresh_memory_unless_the_job_keeps_it() {
    let keeps = Definition { session: SessionMode::Keep, ..job("keeps", "0 0 1 1 *") };
    let mut world = world_with(&[job("fresh", "0 0 1 1 *"), keeps]).await;
    let mut sessions = Vec::new();
    for name in ["fresh", "fresh", "keeps", "keeps"] {
        world.run_now(name).await;
        let turn = world.agent.next_turn().await;
        sessions.push((turn.session.clone(), turn.history.len()));
        turn.answer("done").await;
        world.run_ended().await;
        world.advance(1).await;
    }
    assert_ne!(sessions[0].0, sessions[1].0);
    assert_eq!((sessions[0].1, sessions[1].1), (0, 0));
    assert_eq!(sessions[2].0, sessions[3].0);
    assert_eq!((sessions[2].1, sessions[3].1), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn a_run_without_progress_is_stopped_and_words_are_progress() {
    let mut world = world_with(&[job("slow", "0 0 1 1 *")]).await;
    world.run_now("slow").await;
    let turn = world.agent.next_turn().await;
    for _ in 0..3 {
        world.advance(500).await;
        turn.emit(AgentEvent::Reasoning("hm".to_owned())).await;
        world.heard().await;
    }
    world.advance(599).await;
    assert!(!turn.is_gone());
    world.advance(2).await;
    turn.obey_stop().await;
    let ended = world.turn_ended().await;
    assert!(matches!(
        ended.kind,
        EventKind::TurnEnded { outcome: Outcome::Interrupted { cause: StopCause::TimedOut }, .. }
    ));
    assert_eq!(world.run_ended().await, (ExecutionState::TimedOut, Some("no progress for 600 s".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_run_may_have_a_limit_in_all() {
    let limited = Definition { timeout_minutes: Some(2), ..job("slow", "0 0 1 1 *") };
    let mut world = world_with(&[limited]).await;
    world.run_now("slow").await;
    let turn = world.agent.next_turn().await;
    turn.say("words").await;
    world.advance(121).await;
    turn.obey_stop().await;
    assert_eq!(
        world.run_ended().await,
        (ExecutionState::TimedOut, Some("it took longer than 2 min in all".to_owned()))
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_run_that_works_is_never_taken_away_from_its_worker() {
    let mut world = world_with(&[job("long", "*/10 * * * *")]).await;
    world.advance_to(at(12, 10)).await;
    let turn = world.agent.next_turn().await;
    for _ in 0..47 {
        world.advance(60).await;
        turn.say("more ").await;
        world.heard().await;
    }
    turn.answer("done").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
    let told = world.told("long").await;
    assert_eq!(told[0], "on_time 12:10 succeeded");
    assert!(told[1..].iter().all(|row| row.ends_with("skipped")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn the_operator_stops_a_run() {
    let mut world = world_with(&[job("slow", "0 0 1 1 *")]).await;
    let run = world.run_now("slow").await;
    let turn = world.agent.next_turn().await;
    world.job_command(JobCommand::StopRun { execution: run }).await.unwrap();
    turn.obey_stop().await;
    assert_eq!(
        world.run_ended().await,
        (ExecutionState::Interrupted, Some("stopped by the operator".to_owned()))
    );
    world.advance(1).await;
    let again = world.refused(JobCommand::StopRun { execution: run }).await;
    assert_eq!(again, format!("refused: run {run} has ended: interrupted"));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_is_withdrawn_and_the_one_before_it_goes_on() {
    let queued = Definition { overlap: Overlap::Queue, ..job("slow", "0 0 1 1 *") };
    let mut world = world_with(&[queued]).await;
    world.run_now("slow").await;
    let turn = world.agent.next_turn().await;
    let waits = world.run_now("slow").await;
    let stop = || JobCommand::StopRun { execution: waits };
    let Reply::Done { words, .. } = world.job_command(stop()).await.unwrap() else { panic!("no reply") };
    assert_eq!(words, format!("run {waits} of job slow is withdrawn: it never begins"));
    assert_eq!(
        world.executions("slow").await[1].why.as_deref(),
        Some("the operator withdrew it before it began")
    );
    turn.answer("done").await;
    world.run_ended().await;
    world.advance(1).await;
    assert_eq!(world.told("slow").await, ["run_now now succeeded", "run_now now skipped"]);
    assert_eq!(world.job("slow").await.row.state, JobState::Scheduled);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_runs_refuses_to_run_now_and_names_who_runs_it() {
    let mut world = world_with(&[job("slow", "0 0 1 1 *")]).await;
    let run = world.run_now("slow").await;
    let _turn = world.agent.next_turn().await;
    world.advance(5).await;
    let command = JobCommand::Run {
        job: "slow".parse().unwrap(),
        counting: switchboard::domain::cron::Counting::Beside,
    };
    let refused = world.refused(command).await;
    assert!(refused.contains(&format!("run {run} already, claimed by run ")), "{refused}");
    assert!(refused.ends_with("5 s ago (overlap: skip)"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_fails_three_times_in_a_row_is_flagged_until_it_works() {
    let mut world = world_with(&[job("bad", "0 0 1 1 *")]).await;
    for _ in 0..3 {
        world.run_now("bad").await;
        world.agent.next_turn().await.fail("no");
        world.run_ended().await;
    }
    world.job_event(|what| matches!(what, JobEvent::Delivery { .. })).await;
    assert_eq!(world.job("bad").await.row.state, JobState::Flagged);
    assert_eq!(world.job("bad").await.row.failures, 3);
    world.run_now("bad").await;
    world.agent.next_turn().await.answer("done").await;
    world.job_event(|what| matches!(what, JobEvent::Recovered)).await;
    assert_eq!(world.job("bad").await.row.state, JobState::Scheduled);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_panics_fails_the_run_and_nothing_else() {
    let mut world = world_with(&[job("a", "0 0 1 1 *")]).await;
    world.run_now("a").await;
    world.agent.next_turn().await.panic();
    world.agent.next_turn().await.panic();
    assert_eq!(world.run_ended().await.0, ExecutionState::Failed);
    world.run_now("a").await;
    world.agent.next_turn().await.answer("done").await;
    assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_a_run_and_cuts_it_at_the_end_of_the_drain() {
    let mut world = world_with(&[job("slow", "0 0 1 1 *")]).await;
    world.run_now("slow").await;
    let turn = world.agent.next_turn().await;
    world.engine.command(Command::Stop { why: "test".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineStopping { .. })).await;
    world.advance(31).await;
    turn.obey_stop().await;
    let (state, why) = world.run_ended().await;
    assert_eq!((state, why.as_deref()), (ExecutionState::Interrupted, Some("cut when the engine stopped")));
    world.engine.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn only_the_newest_documents_of_a_job_are_kept() {
    let mut setup = Setup::default();
    setup.cron.keep_outputs = 3;
    let mut world = World::new(setup).await;
    world.save(job("many", "0 0 1 1 *")).await.unwrap();
    let mut runs = Vec::new();
    for n in 0..5 {
        runs.push(world.run_now("many").await);
        world.agent.next_turn().await.answer(&format!("answer {n}")).await;
        world.run_ended().await;
        world.advance(1).await;
    }
    let mut kept = Vec::new();
    for run in runs {
        kept.push(world.output(run).await.is_some());
    }
    assert_eq!(kept, [false, false, true, true, true]);
    assert_eq!(world.jobs().await.total, 1, "jobs.json is no output");
    assert!(world.path("jobs.json").is_file());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_asked_for_during_a_hold_is_said_to_wait_and_begins_with_the_release() {
    let mut world = world_with(&[job("a", "0 0 1 1 *"), job("b", "0 0 1 1 *")]).await;
    world.engine.command(Command::Hold { why: "a look".to_owned() }).await.unwrap();
    world.event(|kind| matches!(kind, EventKind::EngineHeld { .. })).await;
    let run = JobCommand::Run { job: "a".parse().unwrap(), counting: Counting::Beside };
    let by_command = world.job_command(run).await.unwrap();
    let by_slash = world.type_into("s", "/cron run b").await.unwrap();
    for (reply, job) in [(by_command, "a"), (by_slash, "b")] {
        let Reply::Done { words, .. } = reply else { panic!("{reply:?}") };
        let told = format!("job {job} runs when the engine's hold is released: run ");
        assert!(words.starts_with(&told), "{words}");
    }
    world.advance(1).await;
    assert!(world.agent.turn_already_begun().await.is_none(), "it began on hold");
    world.engine.command(Command::Release).await.unwrap();
    for turn in [world.agent.next_turn().await, world.agent.next_turn().await] {
        turn.answer("done").await;
        assert_eq!(world.run_ended().await.0, ExecutionState::Succeeded);
    }
}
