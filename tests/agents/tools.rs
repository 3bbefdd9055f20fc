//! The built-in agent's tools, called by a server that does what a test writes down.

use std::fs;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use switchboard::agent::background::BackgroundCall;
use switchboard::agent::{AgentError, AgentEvent, Approvals, BackgroundCalls, Children, Doing, StepsKept};
use switchboard::config::{AgentConfig, BackendKind, Keys, Secrets, ToolName};
use switchboard::domain::approval::{Always, Decision, Policy};
use switchboard::domain::id::{ItemId, ProcessNumber};
use switchboard::domain::session::Usage;
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::chat_server::{ChatServer, End, Reply};
use crate::stage::{CANARY, Call, Played, SECRETS, build, config, real, soon};

pub fn tests() -> Vec<Trial> {
    vec![
        real("tools_are_offered_by_schema_and_only_those_that_are_switched_on", offers_tools),
        real("tools_are_called_and_their_results_go_with_the_next_request", calls_a_tool),
        real("tools_arguments_may_be_split_at_every_byte", split_anywhere),
        real("tools_are_called_by_servers_that_do_not_stream", whole_document),
        real("tools_of_one_answer_are_called_one_after_the_other", two_calls),
        real("tools_calls_get_an_id_where_the_server_gives_none_or_twice_the_same", own_ids),
        real("tools_text_before_and_after_a_call_is_one_answer", text_around),
        real("tools_turn_without_last_words_is_no_failure", silent_end),
        real("tools_usage_is_told_for_each_request", usage),
        real("tools_unknown_name_is_answered_with_the_names", unknown_tool),
        real("tools_wrong_arguments_are_answered_and_sent_back_tame", bad_arguments),
        real("tools_call_cut_by_the_limit_of_tokens_is_not_made", cut_by_length),
        real("tools_call_on_a_stream_without_an_end_is_not_made_but_asked_for_again", broken_stream),
        real("tools_call_behind_words_on_a_stream_without_an_end_fails_the_turn", broken_behind_words),
        real("tools_call_in_a_whole_answer_counts_though_the_connection_breaks", broken_after_finish),
        real("tools_busy_server_between_steps_is_asked_again_and_nothing_is_called_twice", busy_between),
        real("tools_tries_are_counted_for_each_request", tries_between),
        real("tools_endless_calls_end_at_the_limit_of_steps", step_limit),
        real("tools_calls_beyond_the_limit_are_not_made", beyond_the_limit),
        real("tools_calls_that_nobody_offered_are_not_made", nothing_offered),
        real("tools_calls_without_an_end_are_given_up", endless_calls),
        real("tools_steered_text_goes_behind_the_results_of_the_next_calls", steered),
        real("tools_text_that_steers_an_answer_without_calls_is_not_taken_in", steered_too_late),
        real("tools_stop_in_the_middle_of_a_call", stops_in_a_call),
        real("tools_work_in_the_sessions_own_folder_first", sessions_folder),
        real("tools_never_open_the_key_file", key_file),
        real("tools_terminal_runs_what_a_person_allows_and_nothing_that_they_deny", terminal_asks),
        real("tools_terminal_asks_nothing_for_beginnings_of_the_list_and_is_banned_by_deny", terminal_policy),
        real("tools_terminal_tells_the_exit_code_with_what_was_written", terminal_exit),
        real("tools_terminal_keeps_head_and_tail_of_a_flood", terminal_flood),
        real("tools_terminal_stops_what_takes_too_long_with_all_that_it_started", terminal_too_slow),
        real("tools_act_only_when_their_call_is_kept_and_the_model_hears_only_what_is_kept", acts_when_kept),
        real("tools_do_not_act_in_a_turn_that_ends_before_their_call_is_kept", not_kept_not_done),
        real("tools_give_no_key_of_the_settings_back_wherever_they_found_it", terminal_finds_a_key),
        real("tools_terminal_shows_what_its_command_writes_while_it_runs", terminal_shows),
        real("tools_terminal_that_is_stopped_leaves_no_process", terminal_stopped),
        real("tools_terminal_leaves_nothing_that_left_its_group", terminal_leavers),
        real("tools_terminal_runs_nothing_that_is_not_kept_first", terminal_not_kept),
        real("tools_terminal_shows_no_secret_of_the_environment", terminal_secrets),
        real("tools_terminal_in_the_background_is_the_engines_to_start", terminal_in_the_background),
        real("tools_a_question_ends_with_its_turn", question_cancelled),
        real("tools_write_file_asks_with_the_whole_text_and_writes_it", writes_a_file),
        real("tools_write_file_writes_nothing_over_what_came_while_a_person_was_asked", came_meanwhile),
    ]
}

const DONE: &str = "[DONE]";
const HELLO: &str = r#"{"choices":[{"delta":{"content":"Hello"}}]}"#;
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

/// A folder with a file, a server, and the settings for both.
struct Room {
    folder: TempDir,
    server: ChatServer,
    config: AgentConfig,
}

impl Room {
    async fn with(replies: impl IntoIterator<Item = Reply>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), "first\nsecond\n").unwrap();
        let server = ChatServer::start(replies).await;
        let mut config = config(BackendKind::OpenAi);
        config.openai.base_url = server.base_url();
        config.openai.model = "tiny".to_owned();
        config.openai.tools = vec![ToolName::ReadFile, ToolName::SearchFiles];
        config.openai.workdir = Some(folder.path().to_path_buf());
        Self { folder, server, config }
    }

    async fn play(&self) -> Played {
        Call::new("hi").play(&*build(&self.config)).await
    }

    /// The messages of a request, from the first that the turn itself added.
    fn added(&self, request: usize) -> Vec<Value> {
        let body = &self.server.requests()[request].body;
        body["messages"].as_array().unwrap()[1..].to_vec()
    }
}

fn fragment(index: u64, more: Value) -> String {
    let mut call = json!({"index": index});
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string()
}

/// A whole call in one piece.
fn whole(index: u64, id: &str, name: &str, arguments: &str) -> String {
    fragment(index, json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
}

fn finish(reason: &str) -> String {
    json!({"choices": [{"delta": {}, "finish_reason": reason}]}).to_string()
}

fn calling(events: &[String]) -> Reply {
    let end = [finish("tool_calls"), DONE.to_owned()];
    let events: Vec<&str> = events.iter().chain(&end).map(String::as_str).collect();
    Reply::events(&events)
}

fn read_a() -> Reply {
    Reply::calls("c-1", "read_file", &json!({"path": "a.txt"}))
}

fn hello() -> Reply {
    Reply::says("Hello")
}

fn called(played: &Played) -> Vec<(String, String, String)> {
    let calls = played.events.iter().filter_map(|event| match event.clone() {
        AgentEvent::ToolCall { call, name, arguments } => Some((call, name, arguments)),
        _ => None,
    });
    calls.collect()
}

fn results(played: &Played) -> Vec<(String, bool, String)> {
    let results = played.events.iter().filter_map(|event| match event.clone() {
        AgentEvent::ToolResult { call, ok, output } => Some((call, ok, output)),
        _ => None,
    });
    results.collect()
}

const A_TXT: &str = "1\tfirst\n2\tsecond";

async fn steered() {
    let room = Room::with([read_a(), hello()]).await;
    let backend = build(&room.config);
    assert!(backend.steerable());
    let (steer, receiver) = mpsc::channel(2);
    steer.send((ItemId(7), "the second line".to_owned())).await.unwrap();
    steer.send((ItemId(8), "and be brief".to_owned())).await.unwrap();
    let mut call = Call::new("hi");
    call.steer = Some(receiver);
    let played = call.play(&*backend).await;
    assert_eq!(played.text(), "Hello");
    let roles: Vec<Value> = room.added(1).iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["assistant", "tool", "user", "user"]);
    let told: Vec<Value> = room.added(1)[2..].iter().map(|message| message["content"].clone()).collect();
    assert_eq!(told, ["the second line", "and be brief"]);
    let taken = |event: &&AgentEvent| matches!(event, AgentEvent::Steered(_));
    let taken: Vec<_> = played.events.iter().filter(taken).cloned().collect();
    assert_eq!(taken, [AgentEvent::Steered(ItemId(7)), AgentEvent::Steered(ItemId(8))]);
}

async fn steered_too_late() {
    let room = Room::with([hello()]).await;
    let (steer, receiver) = mpsc::channel(1);
    steer.send((ItemId(7), "the second line".to_owned())).await.unwrap();
    let mut call = Call::new("hi");
    call.steer = Some(receiver);
    let played = call.play(&*build(&room.config)).await;
    assert_eq!(played.text(), "Hello");
    assert!(!played.events.iter().any(|event| matches!(event, AgentEvent::Steered(_))), "it waits again");
}

async fn offers_tools() {
    let mut room = Room::with([hello()]).await;
    room.play().await;
    room.config.openai.tools = vec![ToolName::ReadFile];
    room.play().await;
    room.config.openai.tools = vec![];
    room.play().await;
    let requests = room.server.requests();
    let names = |request: usize| -> Vec<&str> {
        let tools = requests[request].body["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
    };
    assert_eq!(names(0), ["read_file", "search_files"]);
    assert_eq!(names(1), ["read_file"]);
    assert!(requests[2].body.get("tools").is_none(), "{}", requests[2].body);
    let tool = &requests[1].body["tools"][0];
    assert_eq!(tool["type"], "function");
    let function = tool["function"].as_object().unwrap();
    assert_eq!(function.keys().collect::<Vec<_>>(), ["name", "description", "parameters"]);
    assert_eq!(function["parameters"]["properties"]["path"]["type"], "string");
    assert!(!requests[0].body.to_string().contains("null"), "{}", requests[0].body);
}

async fn calls_a_tool() {
    let room = Room::with([read_a(), hello()]).await;
    let played = room.play().await;
    assert_eq!(played.end, Ok(()));
    let arguments = r#"{"path":"a.txt"}"#;
    let (used, done): (Vec<AgentEvent>, Vec<AgentEvent>) =
        played.events.into_iter().partition(|event| matches!(event, AgentEvent::Usage(_)));
    assert_eq!(
        done,
        [
            AgentEvent::Model("tiny".into()),
            AgentEvent::ToolCall {
                call: "c-1".into(),
                name: "read_file".into(),
                arguments: arguments.into()
            },
            AgentEvent::ToolResult { call: "c-1".into(), ok: true, output: A_TXT.into() },
            AgentEvent::Model("tiny".into()),
            AgentEvent::Text("Hello".into()),
        ]
    );
    assert_eq!(used.len(), 2, "what the server does not tell is estimated");
    let call =
        json!({"id": "c-1", "type": "function", "function": {"name": "read_file", "arguments": arguments}});
    let expected = [
        json!({"role": "assistant", "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "c-1", "content": A_TXT}),
    ];
    assert_eq!(room.added(1), expected);
    let requests = room.server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body["tools"], requests[1].body["tools"]);
}

async fn split_anywhere() {
    let arguments = r#"{"path":"Grüße 🦀.txt"}"#;
    let room = |replies: Vec<Reply>| async move {
        let room = Room::with(replies).await;
        fs::write(room.folder.path().join("Grüße 🦀.txt"), "found").unwrap();
        room
    };
    // In every place where a fragment can end …
    for cut in (0..=arguments.len()).filter(|cut| arguments.is_char_boundary(*cut)) {
        let (head, tail) = arguments.split_at(cut);
        let reply = calling(&[
            whole(0, "c-1", "read_file", head),
            fragment(0, json!({"function": {"arguments": tail}})),
        ]);
        let room = room(vec![reply, hello()]).await;
        let played = room.play().await;
        assert_eq!(called(&played), [("c-1".into(), "read_file".into(), arguments.into())], "cut at {cut}");
        assert_eq!(results(&played)[0].2, "1\tfound");
    }
    // … and each byte of the stream by itself.
    let events = [whole(0, "c-1", "read_file", arguments), finish("tool_calls"), DONE.to_owned()];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let bytes: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
    let room = room(vec![Reply::pieces(&bytes), hello()]).await;
    let played = room.play().await;
    assert_eq!(called(&played), [("c-1".into(), "read_file".into(), arguments.into())]);
}

async fn whole_document() {
    for arguments in [json!(r#"{"path":"a.txt"}"#), json!({"path": "a.txt"})] {
        let call = json!({"id": "c-9", "type": "function", "function": {"name": "read_file", "arguments": arguments}});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let document = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).to_string();
        let reply = Reply::status("200 OK", &["content-type: application/json"], &document);
        let room = Room::with([reply, hello()]).await;
        let played = room.play().await;
        assert_eq!(results(&played), [("c-9".into(), true, A_TXT.into())]);
        assert_eq!(played.text(), "Hello");
    }
}

async fn two_calls() {
    let reply = calling(&[
        fragment(0, json!({"id": "c-1", "function": {"name": "read_file", "arguments": ""}})),
        fragment(1, json!({"id": "c-2", "function": {"name": "search_files", "arguments": "{\"patt"}})),
        fragment(0, json!({"function": {"arguments": "{\"path\":\"a.txt\"}"}})),
        fragment(1, json!({"function": {"arguments": "ern\":\"sec\"}"}})),
    ]);
    let room = Room::with([reply, hello()]).await;
    let played = room.play().await;
    let steps = played.events.iter().filter_map(|event| match event {
        AgentEvent::ToolCall { call, .. } => Some(format!("call {call}")),
        AgentEvent::ToolResult { call, output, .. } => Some(format!("{call}: {output}")),
        _ => None,
    });
    let expected =
        ["call c-1".to_owned(), format!("c-1: {A_TXT}"), "call c-2".into(), "c-2: a.txt:2: second".into()];
    assert_eq!(steps.collect::<Vec<_>>(), expected);
    let added = room.added(1);
    assert_eq!(added[0]["tool_calls"].as_array().unwrap().len(), 2);
    assert_eq!((&added[1]["tool_call_id"], &added[2]["tool_call_id"]), (&json!("c-1"), &json!("c-2")));
    assert_eq!(added.len(), 3);
}

async fn own_ids() {
    let nameless = json!({"function": {"name": "read_file", "arguments": "{\"path\":\"a.txt\"}"}});
    let replies = [calling(&[fragment(0, nameless)]), read_a(), read_a(), hello()];
    let room = Room::with(replies).await;
    let played = room.play().await;
    let ids: Vec<String> = called(&played).into_iter().map(|call| call.0).collect();
    assert_eq!(ids, ["call_1", "c-1", "call_3"]);
    assert_eq!(results(&played).into_iter().map(|result| result.0).collect::<Vec<_>>(), ids);
    let sent: Vec<Value> = room.added(3).iter().filter_map(|one| one.get("tool_call_id").cloned()).collect();
    assert_eq!(sent, ids);
}

async fn text_around() {
    let before = r#"{"choices":[{"delta":{"content":"I look. "}}]}"#.to_owned();
    let reply = calling(&[before, whole(0, "c-1", "read_file", r#"{"path":"a.txt"}"#)]);
    let room = Room::with([reply, hello()]).await;
    let played = room.play().await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "I look. Hello".to_owned()));
    assert_eq!(room.added(1)[0]["content"], "I look. ");
}

async fn silent_end() {
    let room = Room::with([read_a(), Reply::events(&[STOP, DONE])]).await;
    let played = room.play().await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), String::new()));
    assert_eq!(results(&played).len(), 1);
}

async fn usage() {
    let used = |input: u64| {
        json!({"choices": [], "usage": {"prompt_tokens": input, "completion_tokens": 2}}).to_string()
    };
    let call = whole(0, "c-1", "read_file", r#"{"path":"a.txt"}"#);
    let room = Room::with([
        Reply::events(&[&call, &finish("tool_calls"), &used(10), DONE]),
        Reply::events(&[HELLO, STOP, &used(30), DONE]),
    ])
    .await;
    let played = room.play().await;
    let mut sum = Usage::default();
    for event in &played.events {
        if let AgentEvent::Usage(usage) = event {
            sum.add(usage);
        }
    }
    assert_eq!(sum, Usage { input: 40, output: 4, ..Usage::default() });
}

async fn unknown_tool() {
    let room = Room::with([calling(&[whole(0, "c-1", "rm -rf", "{}")]), hello()]).await;
    let played = room.play().await;
    let words = "error: there is no tool \"rm -rf\"; the tools are: read_file, search_files";
    assert_eq!(results(&played), [("c-1".into(), false, words.into())]);
    assert_eq!(played.text(), "Hello");
    let added = room.added(1);
    assert_eq!(added[0]["tool_calls"][0]["function"]["name"], "rm_-rf");
    assert_eq!(added[1]["content"], words);
}

async fn bad_arguments() {
    for (arguments, why, sent) in [
        (r#"{"path":"a."#, "is not JSON", "{}"),
        (r#"["a.txt"]"#, "is no JSON object", "{}"),
        (r#"{"path":7}"#, "expected a string", r#"{"path":7}"#),
        ("", "missing field `path`", "{}"),
    ] {
        let room = Room::with([calling(&[whole(0, "c-1", "read_file", arguments)]), hello()]).await;
        let played = room.play().await;
        assert_eq!(called(&played)[0].2, arguments, "the call is told as it came");
        let (_, ok, output) = &results(&played)[0];
        assert!(!ok && output.contains(why), "{arguments}: {output}");
        assert_eq!(played.text(), "Hello");
        let added = room.added(1);
        assert_eq!(added[0]["tool_calls"][0]["function"]["arguments"], sent);
        assert_eq!(added[1]["content"], **output);
    }
}

async fn cut_by_length() {
    // The arguments look whole, and still may be a part.
    let call = whole(0, "c-1", "read_file", r#"{"path":"a.txt"}"#);
    for (reason, words) in [
        ("length", "limit of tokens"),
        ("max_tokens", "limit of tokens"),
        ("content_filter", "filter"),
        ("network_error", "ended the answer for \"network_error\""),
    ] {
        let room = Room::with([Reply::events(&[HELLO, &call, &finish(reason), DONE])]).await;
        let played = room.play().await;
        assert!(played.failure().contains(words), "{}", played.failure());
        assert!(played.failure().contains("nothing of it was done"), "{}", played.failure());
        assert_eq!((called(&played), played.text()), (vec![], "Hello".to_owned()));
        assert_eq!(room.server.requests().len(), 1);
    }
}

async fn broken_stream() {
    let call = whole(0, "c-1", "read_file", r#"{"path":"a.txt"}"#);
    for end in [End::Clean, End::Broken] {
        let room = Room::with([Reply::events(&[&call]).ending(end), hello()]).await;
        let played = room.play().await;
        assert_eq!((called(&played), played.text()), (vec![], "Hello".to_owned()));
        let [_, AgentEvent::Usage(_), AgentEvent::Retrying { attempt: 2, .. }, ..] = &played.events[..]
        else {
            panic!("{:?}", played.events)
        };
        assert_eq!(room.added(1), Vec::<Value>::new(), "the same request once more");
    }
}

async fn broken_behind_words() {
    let call = whole(0, "c-1", "read_file", r#"{"path":"a.txt"}"#);
    let room = Room::with([Reply::events(&[HELLO, &call]).ending(End::Broken)]).await;
    let played = room.play().await;
    assert!(played.failure().contains("the connection to"), "{}", played.failure());
    assert_eq!((called(&played), played.text()), (vec![], "Hello".to_owned()));
    assert_eq!(room.server.requests().len(), 1);
}

async fn broken_after_finish() {
    let call = whole(0, "c-1", "read_file", r#"{"path":"a.txt"}"#);
    let cut = Reply::events(&[&call, &finish("tool_calls")]).ending(End::Broken);
    let room = Room::with([cut, hello()]).await;
    let played = room.play().await;
    assert_eq!((results(&played).len(), played.text()), (1, "Hello".to_owned()));
}

fn busy() -> Reply {
    Reply::status("429 Too Many Requests", &["retry-after: 0"], r#"{"error":{"message":"slow down"}}"#)
}

async fn busy_between() {
    let room = Room::with([read_a(), busy(), hello()]).await;
    let played = room.play().await;
    assert_eq!(played.end, Ok(()));
    assert_eq!((called(&played).len(), played.text()), (1, "Hello".to_owned()));
    let requests = room.server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[1].body, requests[2].body, "the request that failed, and no other");
}

async fn tries_between() {
    let mut room = Room::with([busy(), read_a(), busy(), hello(), read_a(), busy()]).await;
    room.config.openai.max_retries = 1;
    let played = room.play().await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "Hello".to_owned()));
    let played = room.play().await;
    assert!(played.failure().ends_with("slow down (tried 2 times)"), "{}", played.failure());
    assert_eq!(called(&played).len(), 1);
    assert_eq!(room.server.requests().len(), 7);
}

async fn step_limit() {
    let mut room = Room::with([read_a(), read_a(), hello()]).await;
    room.config.openai.max_steps = 2;
    let played = room.play().await;
    assert_eq!(played.end, Ok(()));
    assert_eq!(called(&played).len(), 2);
    assert_eq!(
        played.text(),
        "Hello\n[ended here: 2 steps with tools are the most (agent.openai.max_steps)]"
    );
    let requests = room.server.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests[1].body.get("tools").is_some());
    assert!(requests[2].body.get("tools").is_none(), "the last request offers no tools");
    let last = room.added(2).pop().unwrap();
    assert_eq!(last["role"], "user");
    assert!(last["content"].as_str().unwrap().contains("Give your answer now"), "{last}");
}

async fn beyond_the_limit() {
    let mut room = Room::with([read_a()]).await;
    room.config.openai.max_steps = 2;
    let played = room.play().await;
    assert!(played.failure().contains("where none were offered (read_file)"), "{}", played.failure());
    assert_eq!((called(&played).len(), room.server.requests().len()), (2, 3));
}

async fn nothing_offered() {
    let call = whole(0, "c-1", "read_file", r#"{"path":"a.txt"}"#);
    let talking = Reply::events(&[HELLO, &call, &finish("tool_calls"), DONE]);
    let mut room = Room::with([talking, read_a()]).await;
    room.config.openai.tools = vec![];
    let played = room.play().await;
    assert_eq!(played.end, Ok(()));
    assert_eq!(played.text(), "Hello\n[not called, as no tools were offered: read_file]");
    let played = room.play().await;
    assert!(played.failure().contains("where none were offered (read_file)"), "{}", played.failure());
    assert_eq!((called(&played), room.server.requests().len()), (vec![], 2));
}

async fn endless_calls() {
    let more = fragment(0, json!({"function": {"name": "read_file", "arguments": "x".repeat(600_000)}}));
    let room = Room::with([Reply::events(&[&more, &more]).ending(End::Silent)]).await;
    let played = room.play().await;
    assert!(played.failure().contains("tool calls that do not end"), "{}", played.failure());
    assert_eq!(called(&played), []);
}

async fn stops_in_a_call() {
    let room = terminal_at_once(&["sleep 161.05"]).await;
    let call = Call::new("hi");
    let cancel = call.cancel.clone();
    let backend = build(&room.config);
    let played = call
        .play_watching(&*backend, async |event| {
            if matches!(event, AgentEvent::ToolCall { .. }) {
                cancel.cancel();
            }
        })
        .await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert_eq!(results(&played), []);
    assert_eq!(room.server.requests().len(), 1);
}

async fn sessions_folder() {
    let room = Room::with([read_a(), hello()]).await;
    let own = tempfile::tempdir().unwrap();
    fs::write(own.path().join("a.txt"), "of the session").unwrap();
    let mut call = Call::new("hi");
    call.workdir = Some(own.path().to_path_buf());
    let played = call.play(&*build(&room.config)).await;
    assert_eq!(results(&played)[0].2, "1\tof the session");
}

async fn key_file() {
    let mut room =
        Room::with([calling(&[whole(0, "c-1", "read_file", r#"{"path":"secret"}"#)]), hello()]).await;
    let file = room.folder.path().join("secret");
    fs::write(&file, "sk-canary\n").unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    room.config.openai.api_key_file = Some(file);
    let played = room.play().await;
    let (_, ok, output) = &results(&played)[0];
    assert!(!ok && output.contains("keys of the engine"), "{output}");
    assert!(!format!("{played:?}").contains("sk-canary"), "{played:?}");
}

/// A room whose model calls `terminal` with these commands, one an answer.
async fn terminal(commands: &[&str]) -> Room {
    let calls = commands.iter().map(|command| {
        let arguments = json!({"command": command}).to_string();
        calling(&[whole(0, "c-1", "terminal", &arguments)])
    });
    let mut room = Room::with(calls.chain([hello()])).await;
    room.config.openai.tools = vec![ToolName::Terminal];
    room
}

/// The same where nobody is asked.
async fn terminal_at_once(commands: &[&str]) -> Room {
    let mut room = terminal(commands).await;
    room.config.approvals.terminal = Policy::Auto;
    room
}

/// A command that sleeps for ever and is told from that of any other run of these tests.
fn sleep_of_this_run(seconds: u32) -> String {
    format!("sleep {seconds}.{}", std::process::id())
}

/// Waits until no process runs this command.
async fn gone(command: &str) {
    let words = command.replace(' ', "\0");
    let lives = || {
        let pids = fs::read_dir("/proc").unwrap().flatten();
        pids.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
            .any(|line| String::from_utf8_lossy(&line).contains(&words))
    };
    soon(async {
        while lives() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
}

async fn terminal_asks() {
    let room = terminal(&["echo one > one; cat one", "echo two > two"]).await;
    let denied = Decision::Denied { why: Some("one is enough".to_owned()) };
    let (call, mut questions) = Call::new("hi").answered_by([Decision::Once, denied]);
    let played = call.play(&*build(&room.config)).await;
    let question = questions.recv().await.unwrap();
    assert_eq!((question.tool.as_str(), question.what.as_str()), ("terminal", "echo one > one; cat one"));
    assert_eq!(question.folder, room.folder.path().canonicalize().unwrap().display().to_string());
    let refused = "error: not done: the operator denied it and says: one is enough";
    let told: Vec<(bool, String)> =
        results(&played).into_iter().map(|(_, ok, output)| (ok, output)).collect();
    assert_eq!(told, [(true, "one".to_owned()), (false, refused.to_owned())]);
    assert!(room.folder.path().join("one").exists() && !room.folder.path().join("two").exists());
    assert_eq!(played.text(), "Hello");
}

async fn terminal_policy() {
    let mut room = terminal(&["echo listed", "echo listed; echo not"]).await;
    room.config.approvals.allow = vec!["echo listed".to_owned()];
    let (call, mut questions) = Call::new("hi").answered_by([Decision::TimedOut]);
    let played = call.play(&*build(&room.config)).await;
    assert_eq!(results(&played)[0].2, "listed");
    assert_eq!(questions.recv().await.unwrap().what, "echo listed; echo not", "two commands are asked about");
    assert!(!results(&played)[1].1);

    let mut room = terminal(&["echo listed"]).await;
    room.config.approvals.terminal = Policy::Deny;
    room.config.approvals.allow = vec!["echo".to_owned()];
    let played = room.play().await;
    let words =
        "error: not done: terminal is forbidden by the operator's settings (agent.approvals.terminal)";
    assert_eq!(results(&played)[0].2, words);
}

async fn terminal_exit() {
    let room = terminal_at_once(&["echo out; echo bad >&2; exit 3", "true", "cat; echo read"]).await;
    let played = room.play().await;
    let told: Vec<(bool, String)> =
        results(&played).into_iter().map(|(_, ok, output)| (ok, output)).collect();
    let failed = "error: the command ended with exit code 3; it wrote:\nout\nbad".to_owned();
    let nothing = "[it wrote nothing]".to_owned();
    assert_eq!(told, [(false, failed), (true, nothing), (true, "read".to_owned())]);
}

async fn terminal_flood() {
    let room = terminal_at_once(&["echo begin; yes flood | head -n 200000; echo end"]).await;
    let played = room.play().await;
    let (_, ok, output) = &results(&played)[0];
    assert!(*ok && output.starts_with("begin\nflood\n") && output.ends_with("flood\nend"));
    assert!(output.contains("characters left out here]"));
    assert!(output.chars().count() <= 50_000, "{}", output.chars().count());
}

async fn terminal_too_slow() {
    let sleep = sleep_of_this_run(98761);
    let mut room = terminal_at_once(&[&format!("echo begun; {sleep} & {sleep}")]).await;
    room.config.openai.terminal_timeout = std::time::Duration::from_secs(3);
    let played = room.play().await;
    let words = "error: the command took longer than 3 s and was stopped; it wrote:\nbegun";
    assert_eq!(results(&played)[0].2, words);
    gone(&sleep).await;
}

async fn terminal_shows() {
    let room = terminal_at_once(&["echo begun; until [ -e go ]; do sleep 0.01; done; echo gone on"]).await;
    let (doing, mut seen) = Doing::channel();
    let call = Call { doing: Some(doing), ..Call::new("hi") };
    let go = room.folder.path().join("go");
    let look = async {
        seen.wait_for(|written| written == "begun\n").await.unwrap();
        fs::write(go, "").unwrap();
        seen.wait_for(String::is_empty).await.unwrap();
    };
    let backend = build(&room.config);
    let (played, ()) = tokio::join!(call.play(&*backend), look);
    assert_eq!(results(&played)[0].2, "begun\ngone on");
}

async fn acts_when_kept() {
    let room = terminal_at_once(&["echo done > acted"]).await;
    let (acted, server) = (room.folder.path().join("acted"), &room.server);
    let (keep, kept) = StepsKept::channel();
    let call = Call { kept: Some(kept), ..Call::new("hi") };
    // Long enough for what must not be done now.
    let wait = || tokio::time::sleep(std::time::Duration::from_millis(300));
    let look = async |event: &AgentEvent| match event {
        AgentEvent::ToolCall { .. } => {
            wait().await;
            assert!(!acted.exists());
            keep.send_replace(1);
        }
        AgentEvent::ToolResult { .. } => {
            wait().await;
            assert!(acted.exists());
            assert_eq!(server.requests().len(), 1);
            keep.send_replace(2);
        }
        _ => {}
    };
    let played = call.play_watching(&*build(&room.config), look).await;
    assert_eq!(played.end, Ok(()));
    assert_eq!(server.requests().len(), 2);
}

async fn not_kept_not_done() {
    let room = terminal_at_once(&["echo done > acted"]).await;
    let call = Call { kept: Some(StepsKept::channel().1), ..Call::new("hi") };
    let played = call.play(&*build(&room.config)).await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert!(results(&played).is_empty() && !room.folder.path().join("acted").exists());
}

async fn terminal_finds_a_key() {
    // The second time where the beginning of a long output ends.
    let twice = "cat somewhere; printf '%24720s' ''; cat somewhere; printf '%60000s' ''";
    let room = terminal_at_once(&["cat somewhere", twice]).await;
    let file = room.folder.path().join("somewhere");
    fs::write(&file, format!("key = {CANARY}")).unwrap();
    let key_file = room.folder.path().join("key");
    fs::write(&key_file, CANARY).unwrap();
    let secrets = Secrets::read(&Keys { files: vec![key_file], ..Keys::default() });
    let played = Call { secrets, ..Call::new("hi") }.play(&*build(&room.config)).await;
    assert_eq!(results(&played)[0].2, "key = [the key]");
    assert!(results(&played)[1].2.contains("characters left out here"));
    let sent = room.server.requests()[2].body.to_string();
    for run in CANARY.as_bytes().windows(8) {
        assert!(!sent.contains(std::str::from_utf8(run).unwrap()), "{sent}");
    }
}

async fn terminal_stopped() {
    let sleep = sleep_of_this_run(98762);
    let room = terminal_at_once(&[&format!("trap '' TERM; touch begun; {sleep} & {sleep}")]).await;
    let call = Call::new("hi");
    let (cancel, begun) = (call.cancel.clone(), room.folder.path().join("begun"));
    let stop = async {
        while !begun.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let backend = build(&room.config);
    let (played, ()) = tokio::join!(call.play(&*backend), stop);
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert_eq!(results(&played), []);
    gone(&sleep).await;
}

async fn terminal_leavers() {
    let sleep = sleep_of_this_run(98763);
    let room = terminal_at_once(&[&format!("setsid {sleep} >/dev/null 2>&1 & echo done")]).await;
    let played = room.play().await;
    assert_eq!(results(&played)[0].2, "done");
    gone(&sleep).await;
}

async fn terminal_not_kept() {
    let room = terminal_at_once(&["touch ran"]).await;
    let (children, refuses) = Children::channel();
    drop(refuses);
    let played = Call::new("hi").with_children(children).play(&*build(&room.config)).await;
    let (_, ok, output) = &results(&played)[0];
    assert!(!ok && output.contains("the command was not run: terminal was not let work"), "{output}");
    assert!(!room.folder.path().join("ran").exists());
}

async fn terminal_secrets() {
    let mut room = terminal_at_once(&["env; cat /proc/self/environ; echo the end"]).await;
    // The last of them has a name like no secret, and is the key's variable.
    room.config.openai.api_key_env = SECRETS[2].to_owned();
    let played = room.play().await;
    let (_, ok, output) = &results(&played)[0];
    assert!(*ok && output.ends_with("the end") && output.contains("SWITCHBOARD_TURN=7"), "{output}");
    assert!(!format!("{played:?}").contains(CANARY), "{output}");
    let sent = room.server.requests()[1].body.to_string();
    assert!(!sent.contains(CANARY), "{sent}");
}

async fn terminal_in_the_background() {
    let arguments = json!({"command": "make serve", "background": true}).to_string();
    let calls =
        [("terminal", arguments.as_str()), ("process", r#"{"action":"wait","number":3,"seconds":9000}"#)];
    let calls = calls.map(|(name, arguments)| calling(&[whole(0, "c-1", name, arguments)]));
    let mut room = Room::with(calls.into_iter().chain([hello()])).await;
    room.config.openai.tools = vec![ToolName::Terminal, ToolName::Process];
    let (background, mut made) = BackgroundCalls::channel();
    let (mut call, mut questions) = Call::new("hi").answered_by([Decision::Once]);
    call.background = Some(background);
    let folder = room.folder.path().canonicalize().unwrap();
    let engine = async {
        let start = made.recv().await.unwrap();
        let command = "make serve".to_owned();
        assert_eq!(start.what, BackgroundCall::Start { command, folder, most: 8 });
        start.answer(Ok("it is number 3".to_owned()));
        let wait = made.recv().await.unwrap();
        assert_eq!(wait.what, BackgroundCall::Wait(ProcessNumber(3), std::time::Duration::from_secs(300)));
        wait.answer(Err("there is none".to_owned()));
    };
    let backend = build(&room.config);
    let (played, ()) = tokio::join!(call.play(&*backend), engine);
    let question = questions.recv().await.unwrap();
    assert_eq!(question.line(), "terminal in the background, beyond this turn: make serve");
    assert_eq!(question.always, Always::of("make serve"));
    let told: Vec<(bool, String)> =
        results(&played).into_iter().map(|(_, ok, output)| (ok, output)).collect();
    assert_eq!(told, [(true, "it is number 3".to_owned()), (false, "error: there is none".to_owned())]);
}

async fn question_cancelled() {
    let room = terminal(&["echo one"]).await;
    let (call, mut questions) = Call::new("hi").answered_by([]);
    let cancel = call.cancel.clone();
    let stop = async {
        questions.recv().await.unwrap();
        cancel.cancel();
    };
    let backend = build(&room.config);
    let (played, ()) = tokio::join!(call.play(&*backend), stop);
    assert_eq!(results(&played).iter().filter(|(_, ok, _)| *ok).count(), 0);
}

async fn writes_a_file() {
    let arguments = json!({"path": "src/new.txt", "content": "one\ntwo\n"}).to_string();
    let call = |id| calling(&[whole(0, id, "write_file", &arguments)]);
    let mut room = Room::with([call("c-1"), call("c-2"), hello()]).await;
    room.config.openai.tools = vec![ToolName::WriteFile];
    let (turn, mut questions) = Call::new("hi").answered_by([Decision::Denied { why: None }, Decision::Once]);
    let played = turn.play(&*build(&room.config)).await;
    let question = questions.recv().await.unwrap();
    assert_eq!(question.what, "write src/new.txt (8 bytes), a new file:\none\ntwo\n");
    assert!(matches!(question.always, Always::NotOffered { .. }));
    let told: Vec<(bool, String)> =
        results(&played).into_iter().map(|(_, ok, output)| (ok, output)).collect();
    let denied = "error: not done: the operator denied it".to_owned();
    let made = "src/new.txt was made: 2 lines, 8 bytes".to_owned();
    assert_eq!(told, [(false, denied), (true, made)]);
    assert_eq!(fs::read_to_string(room.folder.path().join("src/new.txt")).unwrap(), "one\ntwo\n");
}

async fn came_meanwhile() {
    let arguments = json!({"path": "new.txt", "content": "ours"}).to_string();
    let mut room = Room::with([calling(&[whole(0, "c-1", "write_file", &arguments)]), hello()]).await;
    room.config.openai.tools = vec![ToolName::WriteFile];
    let (approvals, mut asked) = Approvals::channel();
    let mut call = Call::new("hi");
    call.approvals = Some(approvals);
    let file = room.folder.path().join("new.txt");
    let person = async {
        let question = asked.recv().await.unwrap();
        fs::write(&file, "theirs").unwrap();
        question.answer(Decision::Once);
    };
    let backend = build(&room.config);
    let (played, ()) = tokio::join!(call.play(&*backend), person);
    let [(_, false, told)] = &results(&played)[..] else { panic!("{:?}", played.events) };
    assert!(told.contains("was changed while the operator was asked"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
}
