//! The openai backend where a conversation comes near to what the model takes at once.

use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use switchboard::agent::{AgentError, AgentEvent, Found, Limits, SessionContext};
use switchboard::config::{AgentConfig, BackendKind, ModelFacts, ToolName};
use switchboard::domain::history::Step;
use switchboard::domain::session::ContextUse;
use switchboard::domain::spending::{Most, Price, Reached, Whose};
use switchboard::domain::talk::{Covers, Shortened, summary_told};

use crate::chat_server::{ChatServer, Reply};
use crate::stage::{Call, Played, build, config, real, session};

pub fn tests() -> Vec<Trial> {
    vec![
        real("context_old_results_of_tools_go_first_without_asking_the_model", results_first),
        real("context_a_summary_by_the_model_stands_for_the_middle", summary_of_the_history),
        real("context_the_turns_own_steps_are_summed_up_and_no_call_loses_its_result", summary_of_steps),
        real("context_the_servers_last_count_decides_and_not_the_estimate", measured),
        real("context_a_server_that_tells_its_window_needs_no_setting", told_by_the_server),
        real("context_a_window_that_nobody_tells_is_not_guessed", nobody_tells),
        real("context_a_model_that_the_server_does_not_list_is_doubtful", another_name),
        real("context_a_failed_summary_loses_nothing_and_says_so", failed_summaries),
        real("context_a_refusal_as_too_long_is_asked_once_more_with_less", refused_as_too_long),
        real("context_a_refusal_that_nothing_helps_says_what_does", nothing_helps),
        real("context_how_full_the_window_is_is_told_with_each_answer", how_full),
        real("context_use_is_priced_by_the_model_that_was_asked", prices),
        real("context_a_turn_at_a_daily_limit_ends_behind_the_call_it_is_in", daily_limit),
        real(
            "context_a_stop_while_the_server_is_asked_for_its_window_is_obeyed",
            stopped_while_asking_for_the_window,
        ),
        real("context_a_stop_while_a_summary_is_made_is_obeyed_and_loses_nothing", stopped_in_a_summary),
    ]
}

fn answer(text: &str, prompt_tokens: u64) -> Reply {
    let word = json!({"choices": [{"delta": {"content": text}}]}).to_string();
    let stop = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string();
    let usage = json!({"choices": [], "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 7}});
    Reply::events(&[&word, &stop, &usage.to_string(), "[DONE]"])
}

fn call(id: &str, prompt_tokens: u64) -> Reply {
    let function = json!({"name": "read_file", "arguments": r#"{"path":"long.txt"}"#});
    let call = json!({"index": 0, "id": id, "type": "function", "function": function});
    let call = json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 7}});
    Reply::events(&[&call.to_string(), &usage.to_string(), "[DONE]"])
}

fn settings(server: &ChatServer, window: Option<u64>) -> AgentConfig {
    let mut config = config(BackendKind::OpenAi);
    config.openai.base_url = server.base_url();
    config.openai.model = "tiny".to_owned();
    config.openai.facts.context_tokens = window;
    config.openai.max_retries = 0;
    config
}

/// A message behind `turns` earlier ones of about 60 tokens each.
pub fn late(turns: usize) -> Call {
    let words = "word ".repeat(20);
    let mut call = Call::new("now");
    for n in 0..turns {
        call.history.push(Step::user(format!("question{n} {words}")));
        call.history.push(Step::agent(format!("answer{n} {words}")));
    }
    call
}

pub fn shortened(played: &Played) -> Vec<&Shortened> {
    let mut found = Vec::new();
    for event in &played.events {
        if let AgentEvent::Shortened(how) = event {
            found.push(how);
        }
    }
    found
}

/// The messages of a request, in short: who, and the first word.
fn sent(server: &ChatServer, request: usize) -> Vec<String> {
    let body = &server.requests()[request].body;
    let short = |message: &Value| {
        let text = message["content"].as_str().unwrap_or_default();
        format!("{} {}", message["role"].as_str().unwrap(), text.split(' ').next().unwrap())
    };
    body["messages"].as_array().unwrap().iter().map(short).collect()
}

async fn results_first() {
    let server = ChatServer::start([answer("fine", 100)]).await;
    let config = settings(&server, Some(1_000));
    let mut call = late(2);
    let result = "x".repeat(3_000);
    call.history.insert(
        2,
        Step::Agent {
            text: format!("[tool ls / -> {result}]"),
            results: std::iter::once(14..3_014).collect(),
        },
    );
    call.history.insert(2, Step::user("look"));
    let played = call.play(&*build(&config)).await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "fine".to_owned()));
    let Shortened { results, summary, before, after } = shortened(&played)[0];
    assert_eq!((*results, summary), (1, &None));
    assert!(*before > 800 && *after < 600, "{before} {after}");
    let body = &server.requests()[0].body;
    assert_eq!(
        body["messages"][3]["content"],
        "[tool ls / -> [result left out to save room: 3000 characters]]"
    );
    assert_eq!(server.requests().len(), 1, "no summary is needed");
}

async fn summary_of_the_history() {
    let server = ChatServer::start([answer(" In short. ", 400), answer("fine", 100)]).await;
    let config = settings(&server, Some(1_000));
    let played = late(14).play(&*build(&config)).await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "fine".to_owned()), "only the answer is said");
    let asked = &server.requests()[0].body;
    assert_eq!(asked["tools"], Value::Null, "a summary needs no tools");
    let transcript = asked["messages"][1]["content"].as_str().unwrap();
    assert!(transcript.contains("You: answer0") && !transcript.contains("question0"), "{transcript}");
    let sent = sent(&server, 1);
    assert_eq!(sent[..4], ["user question0", "assistant [What", "user question10", "assistant answer10"]);
    assert_eq!(sent.last().unwrap(), "user now");
    let summary = server.requests()[1].body["messages"][1]["content"].clone();
    assert_eq!(summary, summary_told("In short."));
    let [Shortened { results: 0, summary, before, after }] = shortened(&played)[..] else {
        panic!("{:?}", played.events)
    };
    assert_eq!(*summary, Some((Covers::Steps(20), "In short.".to_owned())));
    assert!(*before > 800 && *after < 600, "{before} {after}");
    let usage = played.events.iter().filter(|event| matches!(event, AgentEvent::Usage(_))).count();
    assert_eq!(usage, 2, "what the summary took is counted too");
}

async fn summary_of_steps() {
    let folder = tempfile::tempdir().unwrap();
    let line = "word ".repeat(50);
    std::fs::write(folder.path().join("long.txt"), &line).unwrap();
    let calls = (1..=9).map(|n| call(&format!("c{n}"), 310 + n * 50));
    let replies: Vec<Reply> = calls.collect();
    let (first, rest) = replies.split_at(8);
    let replies = first.iter().cloned().chain([answer("In short.", 500)]);
    let replies = replies.chain(rest.iter().cloned()).chain([answer("done", 300)]);
    let server = ChatServer::start(replies).await;
    let mut config = settings(&server, Some(1_000));
    config.openai.tools = vec![ToolName::ReadFile];
    config.openai.workdir = Some(folder.path().to_path_buf());
    let played = Call::new("go").play(&*build(&config)).await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "done".to_owned()), "{:?}", played.events);
    let shortened = shortened(&played);
    let Some((Covers::Calls(calls), _)) = shortened[0].summary else { panic!("{shortened:?}") };
    let messages = server.requests()[9].body["messages"].as_array().unwrap().clone();
    assert_eq!(messages[0]["content"], "go");
    assert_eq!(messages[1]["content"], summary_told("In short."));
    assert_eq!(messages[2]["content"], "[Go on with what was asked.]");
    let kept: Vec<&Value> = messages.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(kept.len(), 8 - calls);
    for (place, message) in messages.iter().enumerate().filter(|(_, message)| message["role"] == "tool") {
        assert_eq!(messages[place - 1]["tool_calls"][0]["id"], message["tool_call_id"]);
    }
}

async fn measured() {
    // The server counts ten times as much as the estimate.
    let replies = [answer("one", 900), answer("In short.", 50), answer("two", 100)];
    let server = ChatServer::start(replies).await;
    let backend = build(&settings(&server, Some(1_000)));
    let mut handle = backend.open(&session()).await.unwrap();
    let first = late(1).play_on(&mut *handle, async |_| {}).await;
    assert_eq!(shortened(&first), Vec::<&Shortened>::new());
    let second = late(2).play_on(&mut *handle, async |_| {}).await;
    assert!(shortened(&second)[0].before > 900, "{:?}", second.events);
    assert_eq!(second.text(), "two");
}

async fn told_by_the_server() {
    let models = json!({"data": [{"id": "tiny", "max_model_len": 1_000}]}).to_string();
    let models = Reply::status("200 OK", &["content-type: application/json"], &models);
    let server = ChatServer::listing(models, [answer("In short.", 400), answer("fine", 100)]).await;
    let backend = build(&settings(&server, None));
    let played = late(14).play(&*backend).await;
    assert_eq!(played.text(), "fine");
    assert_eq!(shortened(&played).len(), 1);
    let checked = build(&settings(&server, None)).check().await.unwrap();
    let Found::Good(found) = checked else { panic!("the model is listed") };
    assert!(found.ends_with("1000 tokens at once"), "{found}");
}

async fn nobody_tells() {
    let server = ChatServer::start([answer("fine", 100_000)]).await;
    let played = late(200).play(&*build(&settings(&server, None))).await;
    assert_eq!((played.text(), shortened(&played).len()), ("fine".to_owned(), 0));
    assert_eq!(server.requests()[0].body["messages"].as_array().unwrap().len(), 401);
    let models = Reply::status("200 OK", &["content-type: application/json"], r#"{"data":[{"id":"tiny"}]}"#);
    let server = ChatServer::listing(models, [answer("fine", 1)]).await;
    let Found::Good(found) = build(&settings(&server, None)).check().await.unwrap() else { panic!("listed") };
    assert!(found.contains("agent.openai.context_tokens"), "{found}");
}

async fn another_name() {
    let models = Reply::status("200 OK", &["content-type: application/json"], r#"{"data":[{"id":"other"}]}"#);
    let server = ChatServer::listing(models, [answer("fine", 1)]).await;
    let found = build(&settings(&server, None)).check().await.unwrap();
    let Found::Doubtful(found) = found else { panic!("{found:?}") };
    assert!(found.contains("does not list the model tiny (agent.openai.model)"), "{found}");
}

async fn failed_summaries() {
    let overloaded = Reply::status("503 Service Unavailable", &[], r#"{"error":"overloaded"}"#);
    let cut =
        Reply::events(&[r#"{"choices":[{"delta":{"content":"In sh"},"finish_reason":"length"}]}"#, "[DONE]"]);
    for (reply, why) in [
        (overloaded, "overloaded"),
        (cut, "the model came to its limit of tokens"),
        (answer("  ", 1), "the summary came back empty"),
        (answer(&"word ".repeat(5_000), 1), "the summary would take"),
    ] {
        let server = ChatServer::start([reply, answer("fine", 900)]).await;
        let played = late(14).play(&*build(&settings(&server, Some(1_000)))).await;
        assert_eq!((played.end.clone(), played.text()), (Ok(()), "fine".to_owned()));
        assert!(shortened(&played).is_empty());
        let [notice] = played.notices()[..] else { panic!("{:?}", played.events) };
        assert!(notice.contains("goes on with about") && notice.contains(why), "{notice}");
        assert_eq!(sent(&server, 1).len(), 29, "all of it is sent");
    }
}

async fn refused_as_too_long() {
    let too_long = || {
        let body = json!({"error": {"type": "exceed_context_size_error", "n_ctx": 1_000,
            "message": "the request exceeds the available context size"}});
        Reply::status("400 Bad Request", &[], &body.to_string())
    };
    let server = ChatServer::start([too_long(), answer("In short.", 400), answer("fine", 100)]).await;
    let played = late(30).play(&*build(&settings(&server, None))).await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "fine".to_owned()), "{:?}", played.events);
    assert_eq!(shortened(&played).len(), 1);
    assert!(sent(&server, 2).len() < 20, "{:?}", sent(&server, 2));
    let server = ChatServer::start([too_long(), answer("In short.", 400), too_long()]).await;
    let played = late(30).play(&*build(&settings(&server, None))).await;
    assert!(played.failure().contains("exceeds the available context size"), "{}", played.failure());
    assert!(played.failure().ends_with("; /new begins a shorter conversation"), "{}", played.failure());
    assert_eq!(server.requests().len(), 3, "once more, and no more");
}

async fn nothing_helps() {
    let refusal = r#"{"error":{"code":"context_length_exceeded","message":"too much"}}"#;
    let server = ChatServer::start([Reply::status("400 Bad Request", &[], refusal)]).await;
    let played = late(0).play(&*build(&settings(&server, None))).await;
    assert!(
        played.failure().ends_with("too much; /new begins a shorter conversation"),
        "{}",
        played.failure()
    );
    assert_eq!(server.requests().len(), 1);
}

async fn how_full() {
    for (window, percent) in [(Some(1_000), Some(40)), (None, None)] {
        let server = ChatServer::start([answer("fine", 400)]).await;
        let played = late(1).play(&*build(&settings(&server, window))).await;
        let told = AgentEvent::Context(ContextUse { tokens: 400, window });
        assert!(played.events.contains(&told), "{:?}", played.events);
        assert_eq!(ContextUse { tokens: 400, window }.percent(), percent);
    }
}

async fn prices() {
    let server = ChatServer::start([answer("fine", 1_000)]).await;
    let mut config = settings(&server, None);
    config.openai.facts.price = Price { input: 2_000_000, output: 10_000_000, cached: None };
    let large = Price { input: 4_000_000, ..Price::default() };
    config.openai.models.insert("large".to_owned(), ModelFacts { context_tokens: None, price: large });
    let backend = build(&config);
    for (model, expected) in [(None, 2_070), (Some("large"), 4_000), (Some("another"), 0)] {
        let context = SessionContext { model: model.map(str::to_owned), ..session() };
        let mut handle = backend.open(&context).await.unwrap();
        let played = Call::new("hi").play_on(&mut *handle, async |_| {}).await;
        let cost =
            |event: &AgentEvent| if let AgentEvent::Usage(usage) = event { Some(usage.cost) } else { None };
        assert_eq!(played.events.iter().find_map(cost), Some(expected), "{model:?}");
    }
}

async fn daily_limit() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("long.txt"), "words").unwrap();
    let server = ChatServer::start([call("c1", 40), call("c2", 50), answer("never asked for", 1)]).await;
    let mut config = settings(&server, None);
    config.openai.tools = vec![ToolName::ReadFile];
    config.openai.workdir = Some(folder.path().to_path_buf());
    let (limits, mut asked) = Limits::channel();
    let reached = Reached { whose: Whose::Session, most: Most::Tokens(1_100) };
    tokio::spawn(async move {
        for answer in [None, Some(reached)] {
            asked.recv().await.unwrap().answer(answer);
        }
    });
    let play = Call { limits: Some(limits), ..Call::new("go") };
    let played = play.play(&*build(&config)).await;
    assert_eq!(played.end, Ok(()));
    let done = played.events.iter().filter(|event| matches!(event, AgentEvent::ToolResult { ok: true, .. }));
    assert_eq!((done.count(), server.requests().len()), (2, 2), "no call is cut, and nothing more is asked");
    assert_eq!(
        played.text(),
        "\n[held: the daily limit of 1100 tokens of this session (spending.session_tokens) is reached; \
         what is not done is left as it is]"
    );
}

/// The turn, told to stop a moment after `begun`.
async fn stopped(call: Call, config: &AgentConfig, begun: impl Fn() -> bool) -> Played {
    let (cancel, backend) = (call.cancel.clone(), build(config));
    let stop = async {
        while !begun() {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    };
    tokio::join!(call.play(&*backend), stop).0
}

async fn stopped_while_asking_for_the_window() {
    let server = ChatServer::listing(Reply::silence(), [answer("too late", 1)]).await;
    let played = stopped(late(1), &settings(&server, None), || true).await;
    assert_eq!((played.end, server.requests().len()), (Err(AgentError::Cancelled), 0));
}

async fn stopped_in_a_summary() {
    let server = ChatServer::start([Reply::silence(), answer("too late", 1)]).await;
    let config = settings(&server, Some(1_000));
    let played = stopped(late(14), &config, || server.requests().len() == 1).await;
    assert_eq!((played.end.clone(), played.text().as_str()), (Err(AgentError::Cancelled), ""));
    assert!(shortened(&played).is_empty() && played.notices().is_empty(), "{:?}", played.events);
    assert_eq!(server.requests().len(), 1, "nothing more is asked");
}
