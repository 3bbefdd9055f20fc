//! The openai backend against servers that others wrote: a mock with faults, and llama.cpp with a
//! small model. Both are installed by `.ci/peers.sh`; a test whose peer is missing is ignored.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use switchboard::agent::{AgentError, AgentEvent, Backend};
use switchboard::config::{AgentConfig, BackendKind, ToolName};

use crate::stage::{Call, Played, build, config, real};

pub fn tests() -> Vec<Trial> {
    let mock = vec![
        real("mock_server_answers_in_small_pieces", mock_answers),
        real("mock_server_is_sent_the_whole_conversation", mock_is_sent_everything),
        real("mock_server_that_calls_a_tool_nobody_offered_is_a_failure", mock_calls_a_tool),
        real("mock_server_calls_tools_and_answers_from_their_results", mock_uses_tools),
        real("mock_server_without_an_answer_tells_why", mock_has_no_answer),
        real("mock_server_that_limits_the_rate_is_tried_again", || mock_fails("--chaos-ratelimit", "429")),
        real("mock_server_that_drops_requests_is_tried_again", || mock_fails("--chaos-drop", "500")),
        real("mock_server_that_disconnects_is_tried_again", || mock_fails("--chaos-disconnect", "broke")),
        real("mock_server_that_sends_garbage_never_gives_an_answer", mock_sends_garbage),
    ];
    let model = vec![
        real("small_model_answers_token_by_token", model_answers),
        real("small_model_stops_when_the_turn_is_stopped", model_stops),
        real("small_model_refuses_more_than_its_context", model_refuses),
    ];
    let ignore = |tests: Vec<Trial>, peer: &Path| {
        let missing = !peer.exists();
        tests.into_iter().map(move |test| test.with_ignored_flag(missing))
    };
    ignore(mock, &mock_program()).chain(ignore(model, &model_package())).collect()
}

fn mock_program() -> PathBuf {
    root().join("target/peers/node_modules/.bin/llmock")
}

/// The last part of the model that is installed.
fn model_package() -> PathBuf {
    let libraries = root().join("target/peers/model/lib");
    let python = fs::read_dir(&libraries).ok().and_then(|mut entries| Some(entries.next()?.ok()?.path()));
    python.unwrap_or(libraries).join("site-packages/xllamacpp")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A server in a process of its own; it ends with the test.
struct Peer {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Peer {
    /// Starts a server and waits for the line that holds its address.
    fn start(command: &mut Command, folder: tempfile::TempDir) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| {
            let line = line.unwrap();
            line.find("http://").map(|at| line[at..].trim().to_owned())
        });
        // Reads on, so that the server is never blocked by its own log.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: url.expect("the peer ended without an address"), _folder: folder }
    }

    fn mock(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let answer = json!({"content": "A café has room for the four of us 🦀."});
        let call = json!({"toolCalls": [{"name": "rm", "arguments": {"path": "/"}}]});
        let look = json!({"toolCalls": [
            {"name": "search_files", "arguments": {"pattern": "soup"}},
            {"name": "read_file", "arguments": {"path": "menu.txt"}},
        ]});
        let soup = json!({"content": "There is soup."});
        let fixtures = json!({"fixtures": [
            {"match": {"userMessage": "table for four"}, "response": answer},
            {"match": {"userMessage": "call a tool"}, "response": call},
            {"match": {"userMessage": "the menu", "hasToolResult": false}, "response": look},
            {"match": {"userMessage": "the menu", "toolResultContains": "soup"}, "response": soup},
        ]});
        let file = folder.path().join("answers.json");
        fs::write(&file, fixtures.to_string()).unwrap();
        let mut command = Command::new(mock_program());
        command.args(["--port", "0", "--chunk-size", "3", "--fixtures"]).arg(file).args(flags);
        Self::start(&mut command, folder)
    }

    fn model(context: u32, longest_answer: u32) -> Self {
        let mut command = Command::new(root().join("target/peers/model/bin/python"));
        command.arg(root().join("tests/support/model_server.py"));
        command.args([context.to_string(), longest_answer.to_string()]);
        Self::start(&mut command, tempfile::tempdir().unwrap())
    }

    fn backend(&self) -> Arc<dyn Backend> {
        build(&self.config())
    }

    fn config(&self) -> AgentConfig {
        let mut config = config(BackendKind::OpenAi);
        config.openai.base_url = format!("{}/v1", self.url);
        config.openai.model = "any".to_owned();
        config.openai.max_retries = 1;
        config
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn pieces(played: &Played) -> usize {
    played.events.iter().filter(|event| matches!(event, AgentEvent::Text(_))).count()
}

async fn mock_answers() {
    let peer = Peer::mock(&[]);
    let played = Call::new("a table for four").play(&*peer.backend()).await;
    assert_eq!(played.end, Ok(()));
    // The mock counts in UTF-16 and cuts the crab in two.
    assert_eq!(played.text(), "A café has room for the four of us \u{FFFD}\u{FFFD}.");
    assert!(pieces(&played) > 5, "{:?}", played.events);
    assert!(played.events.contains(&AgentEvent::Model("any".into())));
    let Some(AgentEvent::Usage(usage)) = played.events.last() else { panic!("{:?}", played.events) };
    assert!(usage.input > 0 && usage.output > 0, "{usage:?}");
}

async fn mock_is_sent_everything() {
    let peer = Peer::mock(&[]);
    Call::new("a table for four").after(&[("hello", "hi there")]).play(&*peer.backend()).await;
    let journal = reqwest::get(format!("{}/__aimock/journal", peer.url)).await.unwrap();
    let journal: Value = serde_json::from_str(&journal.text().await.unwrap()).unwrap();
    let messages = &journal[0]["body"]["messages"];
    let expected = json!([
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "hi there"},
        {"role": "user", "content": "a table for four"},
    ]);
    assert_eq!(*messages, expected, "{journal}");
}

async fn mock_calls_a_tool() {
    let peer = Peer::mock(&[]);
    let played = Call::new("call a tool").play(&*peer.backend()).await;
    assert!(played.failure().contains("tool_calls"), "{}", played.failure());
}

async fn mock_uses_tools() {
    let peer = Peer::mock(&[]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("menu.txt"), "soup\nbread\n").unwrap();
    let mut config = peer.config();
    config.openai.tools = vec![ToolName::ReadFile, ToolName::SearchFiles];
    config.openai.workdir = Some(folder.path().to_path_buf());
    let played = Call::new("what is on the menu?").play(&*build(&config)).await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "There is soup.".to_owned()));
    let results = played.events.iter().filter_map(|event| match event {
        AgentEvent::ToolResult { ok: true, output, .. } => Some(output.as_str()),
        _ => None,
    });
    assert_eq!(results.collect::<Vec<_>>(), ["menu.txt:1: soup", "1\tsoup\n2\tbread"]);
}

async fn mock_has_no_answer() {
    let peer = Peer::mock(&[]);
    let played = Call::new("something else").play(&*peer.backend()).await;
    assert!(played.failure().contains("404"), "{}", played.failure());
    assert!(played.failure().contains("No fixture matched"), "{}", played.failure());
}

async fn mock_fails(fault: &str, word: &str) {
    let peer = Peer::mock(&[fault, "1"]);
    let played = Call::new("a table for four").play(&*peer.backend()).await;
    assert!(played.failure().contains(word), "{}", played.failure());
    assert!(played.failure().ends_with("(tried 2 times)"), "{}", played.failure());
    assert_eq!(played.text(), "");
}

async fn mock_sends_garbage() {
    let peer = Peer::mock(&["--chaos-malformed", "1"]);
    let played = Call::new("a table for four").play(&*peer.backend()).await;
    assert!(played.failure().contains(&peer.url), "{}", played.failure());
    assert_eq!(played.text(), "");
}

async fn model_answers() {
    let peer = Peer::model(2048, 24);
    let played = Call::new("What is the sea?").after(&[("Hello", "Hello.")]).play(&*peer.backend()).await;
    assert_eq!(played.end, Ok(()));
    assert!(pieces(&played) > 1, "{:?}", played.events);
    let Some(AgentEvent::Model(model)) = played.events.first() else { panic!("{:?}", played.events) };
    assert!(model.ends_with(".gguf") && !model.contains('/'), "{model}");
    let Some(AgentEvent::Usage(usage)) = played.events.last() else { panic!("{:?}", played.events) };
    assert!(usage.input > 5 && (1..=24).contains(&usage.output), "{usage:?}");
}

async fn model_stops() {
    let peer = Peer::model(2048, 2000);
    let backend = peer.backend();
    let call = Call::new("Tell me a very long story about the sea.");
    let cancel = call.cancel.clone();
    let played = call
        .play_watching(&*backend, async |event| {
            if matches!(event, AgentEvent::Text(_)) {
                cancel.cancel();
            }
        })
        .await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert!(!played.text().is_empty());
    // It has one slot: a second answer begins only because the first was given up.
    let call = Call::new("Hello");
    let cancel = call.cancel.clone();
    let played = call.play_watching(&*backend, async |_| cancel.cancel()).await;
    assert!(!played.events.is_empty());
}

async fn model_refuses() {
    let peer = Peer::model(256, 24);
    let played = Call::new(&"word ".repeat(2000)).play(&*peer.backend()).await;
    assert!(played.failure().contains("context"), "{}", played.failure());
}
