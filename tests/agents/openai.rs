//! The openai backend against a server that misbehaves as servers do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::json;
use switchboard::agent::{self, AgentError, AgentEvent};
use switchboard::config::{AgentConfig, BackendKind, Keys};
use switchboard::domain::session::{ContextUse, Usage};

use crate::chat_server::{ChatServer, End, Reply};
use crate::stage::{CANARY, Call, Played, SECRETS, UNSET, build, config, real};

pub fn tests() -> Vec<Trial> {
    vec![
        real("openai_settings_that_cannot_work_are_named", refuses_settings),
        real("openai_label_names_the_model_and_the_server", has_a_label),
        real("openai_sends_the_conversation_strictly", sends_the_conversation),
        real("openai_streams_the_answer_with_model_and_usage", streams_the_answer),
        real("openai_tells_reasoning_apart", tells_reasoning),
        real("openai_reads_what_servers_get_wrong", reads_leniently),
        real("openai_pieces_may_be_cut_anywhere", reads_cut_pieces),
        real("openai_takes_an_answer_that_is_not_streamed", takes_a_document),
        real("openai_counts_usage_once_though_it_is_told_often", counts_usage_once),
        real("openai_estimates_what_an_answer_took_where_the_server_does_not_tell", estimates_usage),
        real("openai_counts_what_an_answer_took_that_is_stopped_or_breaks_off", counts_a_cut_answer),
        real("openai_done_without_a_finish_reason_ends_an_answer", done_is_enough),
        real("openai_finish_reason_without_done_ends_an_answer", finish_is_enough),
        real("openai_stream_without_an_end_is_a_failure", no_end_is_a_failure),
        real("openai_stream_without_anything_is_asked_for_again", nothing_is_asked_again),
        real("openai_empty_answer_is_a_failure", empty_is_a_failure),
        real("openai_answer_cut_by_the_limit_says_so", a_cut_answer_says_so),
        real("openai_broken_connection_keeps_what_came_and_fails", broken_connection),
        real("openai_broken_connection_before_the_answer_is_tried_again", broken_before),
        real("openai_half_a_piece_is_a_failure", half_a_piece),
        real("openai_error_in_the_stream_is_told", error_in_stream),
        real("openai_overload_in_the_stream_is_tried_again", overload_in_stream),
        real("openai_silent_stream_is_given_up", silent_stream),
        real("openai_silent_server_is_given_up_and_not_asked_twice", silent_server),
        real("openai_busy_server_is_tried_again_when_it_says", honours_retry_after),
        real(
            "openai_server_that_asks_for_a_long_pause_is_not_asked_before_it_and_the_time_is_told",
            long_pause,
        ),
        real("openai_tries_end_with_the_last_reason", tries_end),
        real("openai_used_up_quota_is_not_tried_again", quota),
        real("openai_unreachable_server_is_tried_again_and_named", unreachable),
        real("openai_refused_key_names_its_places", refused_key),
        real("openai_missing_key_names_its_places", missing_key),
        real("openai_unknown_model_is_named", unknown_model),
        real("openai_refused_request_tells_the_servers_words_in_short", refused_request),
        real("openai_redirect_is_told_and_not_followed", redirect),
        real("openai_web_page_is_told", web_page),
        real("openai_key_comes_from_the_environment_or_a_private_file", key_places),
        real("openai_key_is_shown_to_the_server_alone", key_is_never_shown),
        real("openai_stops_at_any_moment", stops),
        real("openai_stops_when_nobody_listens", unheard),
    ]
}

const HELLO: &str =
    r#"{"model":"m-1","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}"#;
const WORLD: &str =
    r#"{"model":"m-1","choices":[{"index":0,"delta":{"content":" world"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}"#;
const DONE: &str = "[DONE]";

fn whole() -> Reply {
    Reply::events(&[HELLO, WORLD, STOP, USAGE, DONE])
}

fn busy() -> Reply {
    Reply::status("503 Service Unavailable", &["retry-after: 0"], r#"{"error":{"message":"loading model"}}"#)
}

fn settings(server: &ChatServer) -> AgentConfig {
    let mut config = config(BackendKind::OpenAi);
    config.openai.base_url = server.base_url();
    config.openai.model = "tiny".to_owned();
    config
}

async fn ask(replies: impl IntoIterator<Item = Reply>) -> (Played, ChatServer) {
    let server = ChatServer::start(replies).await;
    let played = Call::new("hi").play(&*build(&settings(&server))).await;
    (played, server)
}

fn retries(played: &Played) -> Vec<(u32, Duration, &str)> {
    let retrying = |event| match event {
        &AgentEvent::Retrying { attempt, wait, ref why } => Some((attempt, wait, why.as_str())),
        _ => None,
    };
    played.events.iter().filter_map(retrying).collect()
}

fn assert_hello_world(played: &Played) {
    assert_eq!(played.end, Ok(()), "{:?}", played.events);
    assert_eq!(played.text(), "Hello world");
}

async fn refuses_settings() {
    let mut config = config(BackendKind::OpenAi);
    let refused = |config: &AgentConfig| {
        agent::build(config, &Keys::default(), Path::new("/")).err().unwrap().to_string()
    };
    config.openai.base_url = "localhost:11434".to_owned();
    assert!(refused(&config).contains("agent.openai.model"));
    config.openai.model = "tiny".to_owned();
    assert!(
        refused(&config).contains("agent.openai.base_url is \"localhost:11434\""),
        "{}",
        refused(&config)
    );
    let named = refused(&config.named(&"coder".parse().unwrap()));
    assert!(named.starts_with("agents.coder.openai.base_url is "), "{named}");
}

async fn has_a_label() {
    let server = ChatServer::start([whole()]).await;
    let backend = build(&settings(&server));
    assert_eq!(backend.label(), format!("tiny at {}", server.authority()));
    assert!(!backend.steerable());
}

async fn sends_the_conversation() {
    let server = ChatServer::start([whole()]).await;
    let mut config = settings(&server);
    let call = || Call::new("third").after(&[("first", "second")]);
    call().play(&*build(&config)).await;
    config.openai.system_prompt = Some("Be brief.".to_owned());
    call().play(&*build(&config)).await;
    let requests = server.requests();
    assert!(requests[0].head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", requests[0].head);
    assert!(!requests[0].head.to_lowercase().contains("authorization"), "no key, no header");
    let talk = json!([
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "second"},
        {"role": "user", "content": "third"},
    ]);
    let expected =
        json!({"model": "tiny", "messages": talk, "stream": true, "stream_options": {"include_usage": true}});
    assert_eq!(requests[0].body, expected);
    assert_eq!(requests[1].body["messages"][0], json!({"role": "system", "content": "Be brief."}));
}

async fn streams_the_answer() {
    let (played, _server) = ask([whole()]).await;
    assert_eq!(played.end, Ok(()));
    assert_eq!(
        played.events,
        [
            AgentEvent::Model("m-1".into()),
            AgentEvent::Text("Hello".into()),
            AgentEvent::Text(" world".into()),
            AgentEvent::Usage(Usage { input: 9, output: 2, ..Usage::default() }),
            AgentEvent::Context(ContextUse { tokens: 9, window: None }),
        ]
    );
}

async fn tells_reasoning() {
    let first = r#"{"choices":[{"delta":{"role":"assistant","content":null,"reasoning_content":"Hm."}}]}"#;
    let second = r#"{"choices":[{"delta":{"reasoning":" Yes."}}]}"#;
    let (played, _server) = ask([Reply::events(&[first, second, HELLO, STOP, DONE])]).await;
    assert_eq!(played.reasoning(), "Hm. Yes.");
    assert_eq!(played.text(), "Hello");
    let AgentEvent::Model(model) = &played.events[0] else { panic!("{:?}", played.events) };
    assert_eq!(model, "tiny", "a server that names no model has the one it was asked for");
}

async fn reads_leniently() {
    let reply = Reply::pieces(&[
        "\u{FEFF}: hello\r\n\r\n",
        "event: message\nid: 4\nretry: 100\ndata: {\"model\":null,\"choices\":[{\"delta\":{\"role\":null,\"content\":null,\"tool_calls\":null},\"finish_reason\":\"\"}],\"usage\":null}\n\n",
        "data:{\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"\"}]}\n\n",
        "data: \n\n",
        ": keep-alive\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\" world\"},\"finish_reason\":null}],\"error\":null}\r\n\r\n",
        "data: {\"choices\":[{\"delta\":null,\"finish_reason\":\"stop\"}]}\n\n",
        "data: [DONE]",
    ]);
    let (played, _server) = ask([reply]).await;
    assert_hello_world(&played);
}

async fn reads_cut_pieces() {
    let body = format!(
        "data: {}\n\ndata: {STOP}\n\ndata: {DONE}\n\n",
        r#"{"choices":[{"delta":{"content":"Grüße 🦀"}}]}"#
    );
    let bytes: Vec<&[u8]> = body.as_bytes().chunks(3).collect();
    let (played, _server) = ask([Reply::pieces(&bytes)]).await;
    assert_eq!(played.end, Ok(()));
    assert_eq!(played.text(), "Grüße 🦀");
}

async fn takes_a_document() {
    let document = "{\n  \"model\": \"m-2\",\n  \"choices\": [{\"message\": {\"content\": \"Hello\\nworld\"}, \"finish_reason\": \"stop\"}],\n  \"usage\": {\"prompt_tokens\": 1, \"completion_tokens\": 2}\n}\n";
    let without_finish = r#"{"choices":[{"message":{"content":"Hello\nworld"}}]}"#;
    for body in [document, without_finish] {
        let reply = Reply::status("200 OK", &["content-type: application/json"], body);
        let (played, _server) = ask([reply]).await;
        assert_eq!(played.end, Ok(()));
        assert_eq!(played.text(), "Hello\nworld");
    }
}

async fn estimates_usage() {
    let half = r#"{"choices":[{"delta":{"content":"seven halves of a character a token"}}]}"#;
    let whole = [half, r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#];
    for pieces in [&whole[..], &whole[..1]] {
        let (played, _server) = ask([Reply::events(pieces)]).await;
        let used = played.events.iter().find_map(|event| match event {
            AgentEvent::Usage(used) => Some((used.input > 0, used.output)),
            _ => None,
        });
        assert_eq!(used, Some((true, 10)), "{pieces:?}");
    }
}

async fn counts_a_cut_answer() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"ls","arguments":"{\"path\""}}]}}]}"#;
    let (played, _server) = ask([Reply::events(&[call]), Reply::events(&[HELLO, DONE])]).await;
    assert_eq!(played.end, Ok(()));
    let used = |played: &Played| -> Vec<(bool, u64)> {
        let used = |event: &AgentEvent| match event {
            AgentEvent::Usage(used) => Some((used.input > 0, used.output)),
            _ => None,
        };
        played.events.iter().filter_map(used).collect()
    };
    assert_eq!(used(&played), [(true, 3), (true, 2)], "the call that broke off, and what was asked again");
    let server = ChatServer::start([Reply::events(&[HELLO, WORLD]).ending(End::Silent)]).await;
    let call = Call::new("hi");
    let cancel = call.cancel.clone();
    let stop = async |event: &AgentEvent| {
        if *event == AgentEvent::Text(" world".to_owned()) {
            cancel.cancel();
        }
    };
    let stopped = call.play_watching(&*build(&settings(&server)), stop).await;
    assert_eq!(stopped.end, Err(AgentError::Cancelled));
    assert_eq!(used(&stopped), [(true, 4)]);
}

async fn counts_usage_once() {
    let counted = |n: u32| {
        format!(
            r#"{{"choices":[{{"delta":{{"content":"x"}}}}],"usage":{{"prompt_tokens":9,"completion_tokens":{n}}}}}"#
        )
    };
    let (played, _server) = ask([Reply::events(&[&counted(1), &counted(2), &counted(3), STOP, DONE])]).await;
    let usages: Vec<_> = played.events.iter().filter(|event| matches!(event, AgentEvent::Usage(_))).collect();
    assert_eq!(usages, [&AgentEvent::Usage(Usage { input: 9, output: 3, ..Usage::default() })]);
}

async fn done_is_enough() {
    let (played, _server) = ask([Reply::events(&[HELLO, WORLD, DONE])]).await;
    assert_hello_world(&played);
}

async fn finish_is_enough() {
    for end in [End::Clean, End::Broken] {
        let (played, _server) = ask([Reply::events(&[HELLO, WORLD, STOP]).ending(end)]).await;
        assert_hello_world(&played);
    }
}

async fn no_end_is_a_failure() {
    let (played, server) = ask([Reply::events(&[HELLO, WORLD, USAGE])]).await;
    assert!(played.failure().contains("broke off"), "{}", played.failure());
    assert!(played.failure().contains("without a finish reason"), "{}", played.failure());
    assert_eq!(played.text(), "Hello world", "what came is kept");
    assert_eq!(server.requests().len(), 1, "an answer that was begun is not asked for twice");
}

async fn nothing_is_asked_again() {
    let (played, server) = ask([Reply::pieces(&[": ping\n\n"]), whole()]).await;
    assert_hello_world(&played);
    assert_eq!(server.requests().len(), 2);
    assert!(retries(&played)[0].2.contains("no answer came"), "{:?}", played.events);
}

async fn empty_is_a_failure() {
    for events in [vec![STOP, DONE], vec![DONE]] {
        let (played, _server) = ask([Reply::events(&events)]).await;
        assert!(played.failure().contains("empty answer"), "{}", played.failure());
    }
}

async fn a_cut_answer_says_so() {
    let limit = r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#;
    let (played, _server) = ask([Reply::events(&[HELLO, limit, DONE])]).await;
    assert_eq!(played.end, Ok(()));
    assert_eq!(played.text(), "Hello\n[cut here: the model came to its limit of tokens]");
    let unknown = r#"{"choices":[{"delta":{},"finish_reason":"network_error"}]}"#;
    let (played, _server) = ask([Reply::events(&[HELLO, unknown, DONE])]).await;
    assert_eq!(played.text(), "Hello\n[cut here: the server ended the answer for \"network_error\"]");
}

async fn broken_connection() {
    let (played, server) = ask([Reply::events(&[HELLO]).ending(End::Broken)]).await;
    assert!(played.failure().contains("the connection to"), "{}", played.failure());
    assert_eq!(played.text(), "Hello");
    assert_eq!(server.requests().len(), 1);
}

async fn broken_before() {
    let cut = Reply::pieces(&[": ping\n\n"]).ending(End::Broken);
    let (played, server) = ask([Reply::hang_up(), cut, whole()]).await;
    assert_hello_world(&played);
    assert_eq!(server.requests().len(), 3);
    let attempts: Vec<u32> = retries(&played).iter().map(|retry| retry.0).collect();
    assert_eq!(attempts, [2, 3]);
    assert!(matches!(played.events[0], AgentEvent::Retrying { .. }), "told before the wait");
}

async fn half_a_piece() {
    let half = "data: {\"choices\":[{\"delta\":{\"content\":\" wor";
    let (played, _server) = ask([Reply::pieces(&[format!("data: {HELLO}\n\n"), half.to_owned()])]).await;
    assert!(played.failure().contains("broken piece"), "{}", played.failure());
    assert_eq!(played.text(), "Hello");
}

async fn error_in_stream() {
    for error in [
        r#"[{"error":{"code":400,"message":"no such field","status":"INVALID_ARGUMENT"}}]"#,
        r#"{"object":"error","message":"no such field","type":"BadRequestError","code":400}"#,
    ] {
        let document = Reply::status("200 OK", &["content-type: application/json"], error);
        for reply in [document, Reply::events(&[error, DONE])] {
            let (played, server) = ask([reply]).await;
            assert!(played.failure().ends_with("no such field"), "{}", played.failure());
            assert_eq!(server.requests().len(), 1);
        }
    }
    let error = r#"{"error":{"message":"context is full","type":"exceed_context_size","code":400}}"#;
    let (played, server) = ask([Reply::events(&[error, DONE])]).await;
    assert!(played.failure().ends_with("context is full"), "{}", played.failure());
    assert_eq!(server.requests().len(), 1);
}

async fn overload_in_stream() {
    let error = r#"{"error":{"message":"overloaded","code":503}}"#;
    let (played, _server) = ask([Reply::events(&[error]), whole()]).await;
    assert_hello_world(&played);
    let (played, server) = ask([Reply::events(&[HELLO, error]), whole()]).await;
    assert!(played.failure().ends_with("overloaded"), "{}", played.failure());
    assert_eq!(server.requests().len(), 1, "an answer that was begun is not asked for twice");
}

async fn silent_stream() {
    let server = ChatServer::start([Reply::events(&[HELLO]).ending(End::Silent)]).await;
    let mut config = settings(&server);
    config.openai.stall_timeout = Duration::from_secs(3);
    let played = Call::new("hi").play(&*build(&config)).await;
    assert!(played.failure().contains("silent for 3 s"), "{}", played.failure());
    assert!(played.failure().contains("agent.openai.stall_timeout_seconds"), "{}", played.failure());
    assert_eq!(played.text(), "Hello");
}

async fn silent_server() {
    let server = ChatServer::start([Reply::silence()]).await;
    let mut config = settings(&server);
    config.openai.stall_timeout = Duration::from_secs(2);
    let played = Call::new("hi").play(&*build(&config)).await;
    assert!(played.failure().contains("silent for 2 s"), "{}", played.failure());
    assert_eq!(server.requests().len(), 1);
}

async fn honours_retry_after() {
    let asked =
        Reply::status("429 Too Many Requests", &["Retry-After: 1"], r#"{"error":{"message":"slow down"}}"#);
    let (played, server) = ask([asked, whole()]).await;
    assert_hello_world(&played);
    let retries = retries(&played);
    assert_eq!((retries[0].0, retries[0].1), (2, Duration::from_secs(1)));
    assert!(retries[0].2.contains("429") && retries[0].2.ends_with("slow down"), "{}", retries[0].2);
    assert_eq!(server.requests().len(), 2);
}

async fn long_pause() {
    let refused = r#"{"error":{"message":"slow down"}}"#;
    let (played, server) =
        ask([Reply::status("429 Too Many Requests", &["retry-after: 3600"], refused), whole()]).await;
    assert!(
        played.failure().contains("slow down; it can be asked again in 1 h 00 min"),
        "{}",
        played.failure()
    );
    assert_eq!((server.requests().len(), retries(&played)), (1, vec![]));
}

async fn tries_end() {
    let (played, server) = ask([busy()]).await;
    assert!(played.failure().ends_with("loading model (tried 3 times)"), "{}", played.failure());
    assert_eq!(server.requests().len(), 3, "the first try and max_retries more");
    let server = ChatServer::start([busy()]).await;
    let mut config = settings(&server);
    config.openai.max_retries = 0;
    let played = Call::new("hi").play(&*build(&config)).await;
    assert!(played.failure().ends_with("loading model"), "{}", played.failure());
    assert_eq!(server.requests().len(), 1);
}

async fn quota() {
    let body = r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#;
    let (played, server) = ask([Reply::status("429 Too Many Requests", &[], body)]).await;
    assert!(played.failure().contains("used up"), "{}", played.failure());
    assert_eq!(server.requests().len(), 1);
}

async fn unreachable() {
    let server = ChatServer::start([whole()]).await;
    let mut config = settings(&server);
    config.openai.max_retries = 1;
    let address = server.authority().to_owned();
    // Taken again without a listener: nothing else can take the port meanwhile.
    drop(server);
    let _holder = hold_port(&address).await;
    let played = Call::new("hi").play(&*build(&config)).await;
    let why = played.failure();
    assert!(why.contains(&format!("can't reach http://{address}/v1 (agent.openai.base_url)")), "{why}");
    assert!(why.contains("refused") && why.ends_with("(tried 2 times)"), "{why}");
    assert_eq!(retries(&played).len(), 1);
}

async fn hold_port(address: &str) -> tokio::net::TcpSocket {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    while socket.bind(address.parse().unwrap()).is_err() {
        tokio::task::yield_now().await;
    }
    socket
}

async fn refused_key() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {CANARY}."}}}}"#);
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let server = ChatServer::start([Reply::status(status, &[], &body)]).await;
        let mut config = settings(&server);
        config.openai.api_key_env = SECRETS[0].to_owned();
        config.openai.api_key_file = Some("/somewhere/openai.key".into());
        let played = Call::new("hi").play(&*build(&config)).await;
        let why = played.failure();
        for part in
            ["refuses the key", SECRETS[0], "/somewhere/openai.key", "Incorrect API key provided: [the key]."]
        {
            assert!(why.contains(part), "no {part:?} in {why}");
        }
        assert!(!why.contains(CANARY), "{why}");
        assert_eq!(server.requests().len(), 1);
    }
}

async fn missing_key() {
    let (played, _server) = ask([Reply::status("401 Unauthorized", &[], "")]).await;
    let why = played.failure();
    assert!(why.contains("refuses a request without a key"), "{why}");
    assert!(why.contains(UNSET) && why.contains("agent.openai.api_key_file"), "{why}");
}

async fn unknown_model() {
    let body = r#"{"error":"model \"tiny\" not found, try pulling it first"}"#;
    let (played, server) = ask([Reply::status("404 Not Found", &[], body)]).await;
    let why = played.failure();
    for part in ["no model \"tiny\"", "agent.openai.base_url", "try pulling it first", server.authority()] {
        assert!(why.contains(part), "no {part:?} in {why}");
    }
}

async fn refused_request() {
    let long = format!(r#"{{"error":{{"message":"too long:\n{}"}}}}"#, "x".repeat(5000));
    let (played, server) = ask([Reply::status("400 Bad Request", &[], &long)]).await;
    let why = played.failure();
    assert!(why.contains("(400 Bad Request): too long: xxx"), "{why}");
    assert!(why.len() < 500 && !why.contains('\n'), "{why}");
    assert_eq!(server.requests().len(), 1);
    let (played, _server) =
        ask([Reply::status("422 Unprocessable Entity", &[], r#"{"detail":"no such field"}"#)]).await;
    assert!(played.failure().ends_with("no such field"), "{}", played.failure());
}

async fn redirect() {
    let reply = Reply::status("301 Moved Permanently", &["location: https://elsewhere.example/v1"], "");
    let (played, server) = ask([reply]).await;
    assert!(played.failure().contains("redirects to https://elsewhere.example/v1"), "{}", played.failure());
    assert_eq!(server.requests().len(), 1);
}

async fn web_page() {
    let reply = Reply::status("200 OK", &["content-type: text/html"], "<!doctype html><title>Hello</title>");
    let (played, _server) = ask([reply]).await;
    assert!(played.failure().contains("web page"), "{}", played.failure());
    assert!(played.failure().contains("agent.openai.base_url"), "{}", played.failure());
}

async fn key_places() {
    let server = ChatServer::start([whole()]).await;
    let mut config = settings(&server);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    fs::write(&file, "key-from-file\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    config.openai.api_key_file = Some(file.clone());
    let backend = build(&config);
    Call::new("hi").play(&*backend).await;
    assert!(server.requests()[0].head.contains("Bearer key-from-file\r\n"), "{}", server.requests()[0].head);

    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let played = Call::new("hi").play(&*backend).await;
    assert!(played.failure().contains("chmod 600"), "{}", played.failure());
    assert_eq!(server.requests().len(), 1, "nothing is sent without the key that was set");

    config.openai.api_key_env = SECRETS[0].to_owned();
    Call::new("hi").play(&*build(&config)).await;
    assert!(server.requests()[1].head.contains(&format!("Bearer {CANARY}")), "the variable comes first");
}

async fn key_is_never_shown() {
    let told = format!(r#"{{"error":{{"message":"key {CANARY}","code":503}}}}"#);
    let model =
        format!(r#"{{"model":"{CANARY}","choices":[{{"delta":{{"content":"a"}},"finish_reason":"stop"}}]}}"#);
    let piece = format!("data: not json {CANARY}\n\n");
    let location = format!("location: https://example/?key={CANARY}");
    let replies = [
        Reply::status("503 Service Unavailable", &["retry-after: 0"], &told),
        Reply::status("400 Bad Request", &[], &told),
        Reply::status("401 Unauthorized", &[], CANARY),
        Reply::status("302 Found", &[&location], CANARY),
        Reply::events(&[&told]),
        Reply::events(&[&model]),
        Reply::pieces(&[piece]),
        Reply::hang_up(),
    ];
    for reply in replies {
        let server = ChatServer::start([reply.clone()]).await;
        let mut config = settings(&server);
        config.openai.api_key_env = SECRETS[0].to_owned();
        config.openai.max_retries = 1;
        let backend = build(&config);
        let played = Call::new("hi").play(&*backend).await;
        assert!(server.requests()[0].head.contains(CANARY), "the test proves nothing");
        assert!(!format!("{played:?} {} {config:?}", backend.label()).contains(CANARY), "{played:?}");
    }
}

async fn stops() {
    let moments = [
        Reply::silence(),
        Reply::events(&[HELLO]).ending(End::Silent),
        Reply::status("503 Service Unavailable", &["retry-after: 100"], ""),
    ];
    for reply in moments {
        let server = ChatServer::start([reply.clone()]).await;
        let call = Call::new("hi");
        let cancel = call.cancel.clone();
        let backend = build(&settings(&server));
        let stop = async {
            while server.requests().is_empty() {
                tokio::task::yield_now().await;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            cancel.cancel();
        };
        let (played, ()) = tokio::join!(call.play(&*backend), stop);
        assert_eq!(played.end, Err(AgentError::Cancelled), "{reply:?}");
        assert_eq!(server.requests().len(), 1);
    }
}

async fn unheard() {
    let server = ChatServer::start([Reply::silence()]).await;
    let end = Call::new("hi").play_unheard(&*build(&settings(&server))).await;
    assert_eq!(end, Err(AgentError::Cancelled));
}
