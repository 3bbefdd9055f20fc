//! The practice agent shows every state of a turn, from nothing but the conversation.

use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;
use switchboard::agent::background::BackgroundCall;
use switchboard::agent::{AgentError, AgentEvent, Backend, BackgroundCalls, Doing, Jobs};
use switchboard::config::BackendKind;
use switchboard::domain::approval::{Always, Decision, Policy};
use switchboard::domain::id::ItemId;
use switchboard::domain::marker::ResumeReason;
use switchboard::domain::recovery::resume_message;
use switchboard::domain::session::Usage;
use switchboard::domain::talk::Covers;
use switchboard::domain::turn::TurnState;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::stage::{Call, Played, build, config, paused, text_of};

pub fn tests() -> Vec<Trial> {
    vec![
        paused("practice_says_what_it_is", says_what_it_is),
        paused("practice_answers_from_the_conversation", answers_from_the_conversation),
        paused("practice_tells_what_it_was_told_so_that_a_reset_is_seen", tells_what_it_was_told),
        paused("practice_goes_on_with_what_was_cut_off_when_it_is_resumed", goes_on_when_resumed),
        paused("practice_says_exactly_what_it_is_asked_to_say", says_exactly),
        paused("practice_takes_its_time_and_shows_progress", takes_its_time),
        paused("practice_streams_slowly_when_asked", streams_slowly),
        paused("practice_calls_tools_that_really_compute", calls_tools),
        paused("practice_asks_before_it_would_run_a_command_and_runs_nothing", asks_to_run),
        paused("practice_starts_something_in_the_background_as_the_settings_say", starts_in_background),
        paused("practice_thinks_before_it_answers", thinks),
        paused("practice_has_a_task_scheduled_only_after_a_persons_word", schedules),
        paused("practice_works_by_a_plan_and_tells_how_far_it_is", works_by_a_plan),
        paused("practice_seems_to_run_a_command_that_writes_while_it_runs", runs_a_command),
        paused("practice_goes_on_with_a_summary_when_it_is_asked_to_compact", compacts),
        paused("practice_says_that_it_used_what_it_is_asked_to", spends),
        paused("practice_says_how_full_its_window_is", fills_its_window),
        paused("practice_tries_a_server_again_that_is_not_there", retries),
        paused("practice_names_in_its_help_what_it_can_show", helps),
        paused("practice_fails_before_it_says_anything", fails),
        paused("practice_crashes_in_the_middle_of_its_answer", crashes),
        paused("practice_hangs_until_it_is_stopped", hangs),
        paused("practice_that_hangs_hard_ignores_a_stop", hangs_hard),
        paused("practice_writes_a_flood_of_lines", writes_a_flood),
        paused("practice_takes_steered_text_in_at_its_next_step", is_steered),
        paused("practice_stops_at_once_in_any_act", stops_at_once),
        paused("practice_gives_the_same_answer_twice", is_deterministic),
    ]
}

fn practice() -> Arc<dyn Backend> {
    build(&config(BackendKind::Practice))
}

async fn says_what_it_is() {
    let backend = practice();
    assert_eq!(backend.label(), "practice agent, offline");
    let played = Call::new("good morning").play(&*backend).await;
    assert_eq!(played.end, Ok(()));
    assert!(played.events.contains(&AgentEvent::Model("practice".into())));
    assert!(played.text().contains("practice agent"), "{}", played.text());
    assert!(played.text().contains("\"good morning\""), "{}", played.text());
}

async fn starts_in_background() {
    let no = Decision::Denied { why: None };
    for (policy, decision, said) in [
        (Policy::Ask, Some(Decision::Once), "it is number 1"),
        (Policy::Ask, Some(no), "not done: the operator denied it"),
        (Policy::Auto, None, "it is number 1"),
        (
            Policy::Deny,
            None,
            "not done: terminal is forbidden by the operator's settings (agent.approvals.terminal)",
        ),
    ] {
        let mut config = config(BackendKind::Practice);
        config.approvals.terminal = policy;
        config.openai.max_background = 3;
        let (background, mut made) = BackgroundCalls::channel();
        let asked = usize::from(decision.is_some());
        let (mut call, mut questions) = Call::new("start something in the background").answered_by(decision);
        call.background = Some(background);
        let engine = async {
            while let Some(start) = made.recv().await {
                assert!(
                    matches!(&start.what, BackgroundCall::Start { command, most: 3, .. } if command == "sleep 600")
                );
                start.answer(Ok("it is number 1".to_owned()));
            }
        };
        let backend = build(&config);
        let (played, ()) = tokio::join!(call.play(&*backend), engine);
        assert!(
            played.text().ends_with(&format!("I asked for a command in the background: {said}\n")),
            "{}",
            played.text()
        );
        let mut whats = Vec::new();
        while let Some(question) = questions.recv().await {
            whats.push(question.what);
        }
        assert_eq!(whats, vec!["sleep 600"; asked]);
    }
}

async fn asks_to_run() {
    let decisions = [Decision::Once, Decision::Denied { why: Some("not now".to_owned()) }];
    let message = "ask to run git push; reboot\nask to run ls";
    let (call, mut questions) = Call::new(message).answered_by(decisions);
    let played = call.play(&*practice()).await;
    let first = questions.recv().await.unwrap();
    assert_eq!((first.tool.as_str(), first.what.as_str()), ("terminal", "git push; reboot"));
    assert!(matches!(first.always, Always::NotOffered { .. }));
    assert_eq!(questions.recv().await.unwrap().always, Always::Offered { prefix: "ls".to_owned() });
    let results: Vec<(bool, &str)> = played
        .events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::ToolResult { ok, output, .. } => Some((*ok, output.as_str())),
            _ => None,
        })
        .collect();
    let denied = "not done: the operator denied it and says: not now";
    assert_eq!(results, [(true, "allowed; the practice agent runs nothing"), (false, denied)]);
}

async fn answers_from_the_conversation() {
    let call = Call::new("and now?").after(&[("first", "one"), ("second", "two")]);
    let played = call.play(&*practice()).await;
    assert_eq!(
        played.text(),
        "This is message 3 in this memory. You said: \"and now?\". Before it you said: \"second\".\n"
    );
    let AgentEvent::Usage(usage) = played.events.last().unwrap() else { panic!("{:?}", played.events) };
    assert_eq!((usage.input, usage.output), (4, 16), "two messages and this one are read; words are tokens");
}

async fn tells_what_it_was_told() {
    let remembered =
        Call::new("what do you remember?").after(&[("my dog is Ada", "ok"), ("I like tea", "ok")]);
    let text = remembered.play(&*practice()).await.text();
    assert!(text.contains("1. my dog is Ada\n2. I like tea\n"), "{text}");
    let text = Call::new("what do you remember?").play(&*practice()).await.text();
    assert!(text.contains("You told me nothing before this"), "{text}");
}

async fn goes_on_when_resumed() {
    let told = "[background process 1 (make) ended: exit 0 after 9 s]";
    let note = format!("{told}\n\n{}", resume_message(ResumeReason::RestartInterrupted));
    let cut = [("hello", "hi"), ("take 3 seconds", "Working for 3s: 1")];
    let began = Instant::now();
    let cut_twice = Call::resume(&note).after(&cut).after_resume(&note, "");
    let text = cut_twice.play(&*practice()).await.text();
    assert!(began.elapsed() >= Duration::from_secs(3));
    assert!(
        text.starts_with("I go on with what was cut off: \"take 3 seconds\".\nWorking for 3s: 1 2 3"),
        "{text}"
    );
    assert!(!text.contains("This is the system"), "{text}");
    // An ordinary message is answered in one line, and the engine's words are nobody's.
    let text = Call::resume(&note).after(&[("hello", "hi")]).play(&*practice()).await.text();
    assert_eq!(text, "I go on with what was cut off: \"hello\".\n");
    let went_on = Call::new("and now?").after(&[("hello", "hi")]).after_resume(&note, "ok");
    let text = went_on.play(&*practice()).await.text();
    assert!(
        text.starts_with("This is message 2 in this memory.") && text.contains("you said: \"hello\""),
        "{text}"
    );
    // What hangs hangs again, so that a session that is cut off at each start can be watched.
    let hangs = Call::resume(&note).after(&[("hang", "")]);
    assert!(timeout(Duration::from_secs(60), hangs.play(&*practice())).await.is_err());
}

async fn says_exactly() {
    let played = Call::new("say All is well, then fail").play(&*practice()).await;
    assert_eq!(played.text(), "All is well, then fail");
    assert_eq!(played.end, Ok(()));
}

async fn takes_its_time() {
    let began = Instant::now();
    let played = Call::new("take 20 seconds").play(&*practice()).await;
    assert!(began.elapsed() >= Duration::from_secs(20));
    assert!(began.elapsed() < Duration::from_secs(22));
    assert!(played.text().contains("Working for 20s: 1 2 3 "), "{}", played.text());
    assert!(played.text().contains(" 20 done."), "{}", played.text());
}

async fn streams_slowly() {
    let mut times = Vec::new();
    for message in ["say one two three", "stream slowly\nsay one two three"] {
        let began = Instant::now();
        let played = Call::new(message).play(&*practice()).await;
        assert!(played.text().ends_with("one two three"));
        times.push(began.elapsed());
    }
    assert!(times[1] > times[0] * 10, "{times:?}");
}

async fn calls_tools() {
    let played = Call::new("call a tool, then take 1 second, then call the clock, call a broken tool")
        .play(&*practice())
        .await;
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for event in &played.events {
        match event {
            AgentEvent::ToolCall { call, name, .. } => calls.push((call.clone(), name.clone())),
            AgentEvent::ToolResult { call, ok, output } => {
                assert_eq!(*ok, results.len() < 2, "the third is broken");
                assert_eq!(calls.last().map(|(id, _)| id), Some(call), "a result follows its call");
                results.push(output.clone());
            }
            _ => {}
        }
    }
    assert_eq!(calls[0].1, "count_words");
    assert_eq!(calls[1].1, "clock");
    assert_ne!(calls[0].0, calls[1].0);
    assert_eq!(results[0], "15", "the words of the message");
    assert!(results[1].starts_with("2026-03-01 12:00:0"), "{}", results[1]);
}

async fn thinks() {
    let played = Call::new("think").play(&*practice()).await;
    assert!(!played.reasoning().is_empty());
    assert!(!played.text().contains(&played.reasoning()));
}

async fn schedules() {
    let no = Decision::Denied { why: None };
    for (decision, made) in [(Decision::Once, 1), (no, 0)] {
        let (jobs, mut asked) = Jobs::channel();
        let (mut call, mut questions) = Call::new("schedule something").answered_by([decision]);
        call.jobs = Some(jobs);
        let engine = async {
            let mut made = Vec::new();
            while let Some(new) = asked.recv().await {
                made.push((new.what.schedule.clone(), new.what.prompt.clone()));
                new.answer(Ok("it is the task practice".to_owned()));
            }
            made
        };
        let backend = practice();
        let (played, tasks) = tokio::join!(call.play(&*backend), engine);
        assert_eq!(questions.recv().await.unwrap().tool, "schedule_task");
        assert_eq!(tasks.len(), made);
        let said = if made == 1 { "it is the task practice" } else { "the operator denied it" };
        assert!(played.text().contains(said), "{}", played.text());
    }
}

async fn works_by_a_plan() {
    let played = Call::new("work by a plan").play(&*practice()).await;
    let told = |event: &AgentEvent| match event {
        AgentEvent::Plan(plan) => Some(plan.words(TurnState::Running, ", ")),
        _ => None,
    };
    let told: Vec<String> = played.events.iter().filter_map(told).collect();
    let expected = [
        "0 of 3 done, now: look round",
        "1 of 3 done, now: do the work",
        "2 of 3 done, now: check what was done",
        "3 of 3 done",
    ];
    assert_eq!(told, expected);
    assert!(played.text().ends_with("All steps are done.\n"), "{}", played.text());
}

async fn runs_a_command() {
    let (doing, mut seen) = Doing::channel();
    let mut call = Call::new("run a command for 20 seconds");
    call.doing = Some(doing);
    let watch = async {
        let mut lines = Vec::new();
        while seen.changed().await.is_ok() {
            lines.push(seen.borrow_and_update().lines().last().map(str::to_owned));
        }
        lines
    };
    let (began, backend) = (Instant::now(), practice());
    let (played, lines) = tokio::join!(call.play(&*backend), watch);
    assert!(began.elapsed() >= Duration::from_secs(20));
    assert_eq!((lines[0].as_deref(), lines[19].as_deref()), (Some("1 of 20"), Some("20 of 20")));
    assert_eq!(lines.last(), Some(&None), "nothing is left of it behind its end");
    let ended = |event: &AgentEvent| matches!(event, AgentEvent::ToolResult { ok: true, output, .. } if output.ends_with("20 of 20\n"));
    assert!(played.events.iter().any(ended), "{:?}", played.events);
}

async fn compacts() {
    let short = |played: &Played| {
        played.events.iter().find_map(|event| match event {
            AgentEvent::Shortened(shortened) => Some(shortened.clone()),
            _ => None,
        })
    };
    let played = Call::new("compact").after(&[("one", "1"), ("two", "2")]).play(&*practice()).await;
    let shortened = short(&played).unwrap();
    let summary = "What I was told before: \"one\", \"two\".".to_owned();
    assert_eq!(shortened.summary, Some((Covers::Steps(4), summary)));
    assert_eq!(windows(&played), [shortened.before, shortened.after]);
    let played = Call::new("compact").play(&*practice()).await;
    assert!(short(&played).is_none() && played.text().contains("nothing to sum up"), "{}", played.text());
}

fn windows(played: &Played) -> Vec<u64> {
    let full = |event: &AgentEvent| match event {
        AgentEvent::Context(context) => Some(context.tokens),
        _ => None,
    };
    played.events.iter().filter_map(full).collect()
}

async fn spends() {
    let played = Call::new("use 50,000 tokens, then spend 2.50").play(&*practice()).await;
    let mut used = Usage::default();
    for event in &played.events {
        if let AgentEvent::Usage(usage) = event {
            used.add(usage);
        }
    }
    assert!(used.total() > 50_000 && used.total() < 50_100 && used.cost == 2_500_000, "{used:?}");
    assert!(played.text().contains("I say that I used 50000 tokens, and used nothing."), "{}", played.text());
}

async fn fills_its_window() {
    let played = Call::new("fill the window to 60 percent").play(&*practice()).await;
    assert_eq!(windows(&played), [4_800]);
}

async fn retries() {
    let played = Call::new("retry").play(&*practice()).await;
    let tries: Vec<u32> = played
        .events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Retrying { attempt, .. } => Some(*attempt),
            _ => None,
        })
        .collect();
    assert_eq!((tries, played.end), (vec![2, 3], Ok(())));
}

async fn helps() {
    let text = Call::new("help").play(&*practice()).await.text();
    for words in ["- work by a plan: ", "- run a command for 20 seconds: ", "- compact: ", "- spend 2.50: "] {
        assert!(text.contains(words), "{text}");
    }
}

async fn fails() {
    let played = Call::new("fail").play(&*practice()).await;
    assert!(played.failure().contains("as it was asked to"));
    assert_eq!(played.events, []);
    let played = Call::new("think, then fail").play(&*practice()).await;
    assert!(played.failure().contains("as it was asked to"));
    assert!(!played.reasoning().is_empty());
}

async fn crashes() {
    let played = Call::new("crash").play(&*practice()).await;
    assert!(matches!(&played.end, Err(AgentError::Broken(why)) if why.contains("crashed")));
    assert!(played.text().ends_with("about to cra"), "{}", played.text());
}

async fn hangs() {
    let call = Call::new("hang");
    let cancel = call.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        cancel.cancel();
    });
    let began = Instant::now();
    let played = call.play(&*practice()).await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert!(began.elapsed() >= Duration::from_secs(3600));
}

async fn hangs_hard() {
    let call = Call::new("hang hard");
    let cancel = call.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let backend = practice();
    let stopped = timeout(Duration::from_secs(3600), call.play(&*backend)).await;
    assert!(stopped.is_err(), "it ended by itself");
}

async fn writes_a_flood() {
    let played = Call::new("write 35000 lines").play(&*practice()).await;
    let text = played.text();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("line ")).collect();
    assert_eq!(lines.len(), 35_000);
    assert_eq!(lines[34_999], "line 35000 of 35000");
}

async fn is_steered() {
    let (steer, receiver) = mpsc::channel(1);
    let mut call = Call::new("take 20 seconds");
    call.steer = Some(receiver);
    let mut sent = false;
    let played = call
        .play_watching(&*practice(), async |event| {
            if !sent && matches!(event, AgentEvent::Text(text) if text == " 3") {
                sent = true;
                steer.send((ItemId(42), "turn left".to_owned())).await.unwrap();
            }
        })
        .await;
    let place = played.events.iter().position(|event| *event == AgentEvent::Steered(ItemId(42))).unwrap();
    let before = text_of(&played.events[..place]);
    assert!(before.contains(" 3"), "{before}");
    assert!(!before.contains(" 6"), "not at its next step: {before}");
    assert!(text_of(&played.events[place..]).contains("\"turn left\""));
}

async fn stops_at_once() {
    for message in [
        "work by a plan",
        "run a command for 20 seconds",
        "take 900 seconds",
        "stream slowly\nsay a b c d e f",
        "write 1000000 lines",
        "call a tool",
    ] {
        let call = Call::new(message);
        let cancel = call.cancel.clone();
        let mut seen = 0;
        let mut stopped_at = Instant::now();
        let played = call
            .play_watching(&*practice(), async |_| {
                seen += 1;
                if seen == 3 {
                    cancel.cancel();
                    stopped_at = Instant::now();
                }
            })
            .await;
        assert_eq!(stopped_at.elapsed(), Duration::ZERO, "{message}: it waited for something");
        assert_eq!(played.end, Err(AgentError::Cancelled), "{message}");
        assert!(played.events.len() < 40, "{message}: went on for {} events", played.events.len());
    }
}

async fn is_deterministic() {
    let message = "think, call a tool, call the clock, take 3 seconds";
    let first = Call::new(message).play(&*practice()).await;
    let second = Call::new(message).play(&*practice()).await;
    assert_eq!(first.events, second.events);
}
