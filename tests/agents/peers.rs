//! The backends against what others wrote: the openai backend against a mock with faults and against llama.cpp
//! with a small model, the acp backend against agents that people use, which talk to the mock. All are
//! installed by `.ci/peers.sh`; a test whose peer is missing is ignored.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use switchboard::agent::{AgentError, AgentEvent, Backend, Children, Handle, SessionContext};
use switchboard::config::{AgentConfig, BackendKind, ToolName};
use switchboard::domain::approval::Decision;
use switchboard::domain::session::Usage;

use crate::context::{late, shortened};
use crate::stage::{Call, Played, build, config, real, session};

pub fn tests() -> Vec<Trial> {
    let mock = vec![
        real("mock_server_answers_in_small_pieces", mock_answers),
        real("mock_server_is_sent_the_whole_conversation", mock_is_sent_everything),
        real("mock_server_that_calls_a_tool_nobody_offered_is_a_failure", mock_calls_a_tool),
        real("mock_server_calls_tools_and_answers_from_their_results", mock_uses_tools),
        real("mock_server_is_asked_for_a_summary_where_the_window_is_nearly_full", mock_sums_up),
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
    let agent = |kind: Kind| {
        let named = |what: &str| format!("{}_{what}", kind.name);
        vec![
            real(&named("answers_lives_on_and_asks_before_it_runs_a_command"), move || agent_works(kind)),
            real(&named("tells_a_call_while_it_runs"), move || agent_tells_its_call(kind)),
            real(&named("is_not_let_do_what_is_denied"), move || agent_is_denied(kind)),
            real(&named("counts_all_that_a_turn_reads_and_nothing_of_the_turns_before"), move || {
                agent_counts(kind)
            }),
            real(&named("goes_on_in_its_session_after_a_kill"), move || agent_is_taken_up_again(kind)),
            real(&named("goes_on_in_its_session_by_the_handle_of_a_later_engine"), move || {
                agent_goes_on(kind)
            }),
        ]
    };
    let peers = [
        ("aimock", mock_program()),
        ("the small model", model_package()),
        ("hermes-acp", hermes_program()),
        ("opencode", opencode_program()),
    ];
    for (name, place) in peers.iter().filter(|(_, place)| !place.exists()) {
        eprintln!(
            "ignored: what needs {name}, which is not at {} (.ci/peers.sh installs it)",
            place.display()
        );
    }
    let ignore = |tests: Vec<Trial>, peers: &[PathBuf]| {
        let missing = peers.iter().any(|peer| !peer.exists());
        tests.into_iter().map(move |test| test.with_ignored_flag(missing))
    };
    ignore(mock, &[mock_program()])
        .chain(ignore(model, &[model_package()]))
        .chain(ignore(agent(HERMES), &[mock_program(), hermes_program()]))
        .chain(ignore(agent(OPENCODE), &[mock_program(), opencode_program()]))
        .collect()
}

fn hermes_program() -> PathBuf {
    root().join("target/peers/hermes/bin/hermes-acp")
}

fn opencode_program() -> PathBuf {
    root().join("target/peers/node_modules/.bin/opencode")
}

/// An agent that people use.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    /// What it calls its tool that runs commands.
    tool: &'static str,
    /// How it is called so that it keeps all in a folder and asks a server.
    argv: fn(&Path, &str) -> Vec<String>,
}

const HERMES: Kind = Kind { name: "hermes", tool: "terminal", argv: hermes };
const OPENCODE: Kind = Kind { name: "opencode", tool: "bash", argv: opencode };

fn hermes(folder: &Path, url: &str) -> Vec<String> {
    let settings = json!({"model": {
        "default": "any", "provider": "custom", "base_url": format!("{url}/v1"), "api_key": "none",
    }});
    fs::write(folder.join("config.yaml"), settings.to_string()).unwrap();
    let home = format!("HERMES_HOME={}", folder.display());
    ["env", &home, hermes_program().to_str().unwrap()].map(str::to_owned).to_vec()
}

fn opencode(folder: &Path, url: &str) -> Vec<String> {
    let settings = json!({
        "model": "mock/any", "small_model": "mock/any", "autoupdate": false, "share": "disabled",
        "permission": {"bash": "ask"},
        "provider": {"mock": {
            "npm": "@ai-sdk/openai-compatible", "name": "mock",
            "models": {"any": {"name": "any", "limit": {"context": 200_000, "output": 8_000}}},
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "none"},
        }},
    });
    let file = folder.join("opencode.json");
    fs::write(&file, settings.to_string()).unwrap();
    let variables = [
        format!("OPENCODE_CONFIG={}", file.display()),
        format!("HOME={}", folder.display()),
        "OPENCODE_DISABLE_AUTOUPDATE=1".to_owned(),
        "OPENCODE_DISABLE_MODELS_FETCH=1".to_owned(),
    ];
    let program = [opencode_program().to_str().unwrap().to_owned(), "acp".to_owned()];
    ["env".to_owned()].into_iter().chain(variables).chain(program).collect()
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
        Self::mock_for("terminal", flags)
    }

    /// A mock whose model runs commands by a tool of this name.
    fn mock_for(tool: &str, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let answer = json!({"content": "A café has room for the four of us 🦀."});
        let call = json!({"toolCalls": [{"name": "rm", "arguments": {"path": "/"}}]});
        let look = json!({"toolCalls": [
            {"name": "search_files", "arguments": {"pattern": "soup"}},
            {"name": "read_file", "arguments": {"path": "menu.txt"}},
        ]});
        let clean = json!({"toolCalls": [
            {"name": tool, "arguments": {"command": "rm -rf rest", "description": "Removes the rest"}},
        ]});
        let wait = json!({"toolCalls": [
            {"name": tool, "arguments": {"command": "cat go", "description": "Waits"}},
        ]});
        let soup = json!({"content": "There is soup."});
        let counted = |read: u64| {
            let usage = json!({"prompt_tokens": read, "completion_tokens": 10, "total_tokens": read + 10});
            json!({"content": "So much.", "usage": usage})
        };
        let fixtures = json!({"fixtures": [
            {"match": {"userMessage": "table for four"}, "response": answer},
            {"match": {"userMessage": "User: question1"}, "response": {"content": "They asked, and were answered."}},
            {"match": {"userMessage": "call a tool"}, "response": call},
            {"match": {"userMessage": "read 10000"}, "response": counted(10_000)},
            {"match": {"userMessage": "read 12000"}, "response": counted(12_000)},
            {"match": {"userMessage": "clean up", "hasToolResult": false}, "response": clean},
            {"match": {"userMessage": "clean up", "hasToolResult": true}, "response": {"content": "As you say."}},
            {"match": {"userMessage": "wait for it", "hasToolResult": false}, "response": wait},
            {"match": {"userMessage": "wait for it", "hasToolResult": true}, "response": {"content": "It came."}},
            {"match": {"userMessage": "the menu", "hasToolResult": false}, "response": look},
            {"match": {"userMessage": "the menu", "toolResultContains": "soup"}, "response": soup},
        ]});
        let file = folder.path().join("answers.json");
        fs::write(&file, fixtures.to_string()).unwrap();
        let mut command = Command::new(mock_program());
        command.args(["--port", "0", "--chunk-size", "3", "--fixtures"]).arg(file).args(flags);
        Self::start(&mut command, folder)
    }

    /// The requests that a mock was sent.
    async fn journal(&self) -> Value {
        let journal = reqwest::get(format!("{}/__aimock/journal", self.url)).await.unwrap();
        serde_json::from_str(&journal.text().await.unwrap()).unwrap()
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

fn used(played: &Played) -> Usage {
    let usage = |event: &AgentEvent| if let AgentEvent::Usage(usage) = event { Some(*usage) } else { None };
    played.events.iter().find_map(usage).expect("its use is told")
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
    let usage = used(&played);
    assert!(usage.input > 0 && usage.output > 0, "{usage:?}");
}

async fn mock_is_sent_everything() {
    let peer = Peer::mock(&[]);
    Call::new("a table for four").after(&[("hello", "hi there")]).play(&*peer.backend()).await;
    let journal = peer.journal().await;
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

async fn mock_sums_up() {
    let peer = Peer::mock(&[]);
    let mut config = peer.config();
    config.openai.facts.context_tokens = Some(1_000);
    let mut call = late(14);
    call.message = "a table for four".to_owned();
    let played = call.play(&*build(&config)).await;
    assert_eq!(played.end, Ok(()), "{:?}", played.events);
    assert!(played.text().starts_with("A café has room"), "{}", played.text());
    let [how] = shortened(&played)[..] else { panic!("{:?}", played.events) };
    assert!(how.before > 800 && how.after <= 600, "{how:?}");
    let (_, summary) = how.summary.as_ref().unwrap();
    assert_eq!(summary, "They asked, and were answered.");
    let journal = peer.journal().await;
    let requests = journal.as_array().unwrap();
    assert_eq!(requests.len(), 2, "a summary and the answer");
    let sent = requests[1]["body"]["messages"].to_string();
    let kept = ["question0", summary, "question13", "a table for four"];
    assert!(kept.iter().all(|part| sent.contains(*part)) && !sent.contains("question5"), "{sent}");
    let count = |usage: &AgentEvent| if let AgentEvent::Usage(usage) = usage { usage.input } else { 0 };
    let counted = played.events.iter().map(count).filter(|input| *input > 0).count();
    assert_eq!(counted, 2, "what the summary took is counted too: {:?}", played.events);
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
    let usage = used(&played);
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

/// An agent that asks a mock, and works in a folder of its own.
struct RealAgent {
    peer: Peer,
    folder: tempfile::TempDir,
    config: AgentConfig,
    handle: Box<dyn Handle>,
    said: Vec<(String, String)>,
}

impl RealAgent {
    async fn new(kind: Kind) -> Self {
        let (peer, folder) = (Peer::mock_for(kind.tool, &[]), tempfile::tempdir().unwrap());
        let work = folder.path().join("work");
        fs::create_dir(&work).unwrap();
        let mut config = config(BackendKind::Acp);
        config.acp.argv = (kind.argv)(folder.path(), &peer.url);
        config.acp.workdir = Some(work);
        let handle = build(&config).open(&session()).await.unwrap();
        Self { peer, folder, config, handle, said: Vec::new() }
    }

    async fn play(&mut self, call: Call) -> Played {
        let before: Vec<(&str, &str)> = self.said.iter().map(|(q, a)| (q.as_str(), a.as_str())).collect();
        let (message, call) = (call.message.clone(), call.after(&before));
        let played = call.play_on(&mut *self.handle, async |_| {}).await;
        self.said.push((message, played.text()));
        played
    }

    fn rest(&self) -> PathBuf {
        self.folder.path().join("work/rest")
    }
}

async fn agent_works(kind: Kind) {
    let mut agent = RealAgent::new(kind).await;
    let played = agent.play(Call::new("a table for four")).await;
    assert_eq!(played.end, Ok(()), "{:?}", played.events);
    assert!(played.text().starts_with("A café has room for the four of us"), "{:?}", played.events);
    assert!(pieces(&played) > 1, "{:?}", played.events);
    assert!(played.notices().is_empty(), "{:?}", played.notices());
    fs::create_dir(agent.rest()).unwrap();
    let (call, mut questions) = Call::new("clean up").answered_by([Decision::Once]);
    let played = agent.play(call).await;
    assert_eq!((played.end.clone(), played.text().trim()), (Ok(()), "As you say."), "{:?}", played.events);
    let question = questions.recv().await.unwrap();
    assert_eq!((question.tool.as_str(), question.what.as_str()), ("execute", "rm -rf rest"));
    let calls = played.events.iter().filter_map(|event| match event {
        AgentEvent::ToolCall { call, name, arguments } => Some((call, name, arguments)),
        _ => None,
    });
    let calls: Vec<_> = calls.collect();
    assert!(calls.iter().all(|(call, name, _)| *call == calls[0].0 && *name == "execute"), "{calls:?}");
    assert!(calls.last().unwrap().2.contains("rm -rf rest"), "{calls:?}");
    let done = |event: &AgentEvent| matches!(event, AgentEvent::ToolResult { ok: true, .. });
    assert!(played.events.iter().any(done), "{:?}", played.events);
    assert!(!agent.rest().exists(), "it was allowed");
    agent.handle.close().await;
}

async fn agent_tells_its_call(kind: Kind) {
    let mut agent = RealAgent::new(kind).await;
    let go = agent.rest().with_file_name("go");
    assert!(Command::new("mkfifo").arg(&go).status().unwrap().success());
    let (call, _questions) = Call::new("wait for it").answered_by([Decision::Once]);
    let mut told = false;
    let played = call
        .play_on(&mut *agent.handle, async |event| {
            // Its command ends only when its call is told.
            if matches!(event, AgentEvent::ToolCall { .. }) && !std::mem::replace(&mut told, true) {
                let go = go.clone();
                std::thread::spawn(move || fs::write(go, "it came"));
            }
        })
        .await;
    assert_eq!((played.end.clone(), played.text().trim()), (Ok(()), "It came."), "{:?}", played.events);
    agent.handle.close().await;
}

async fn agent_is_denied(kind: Kind) {
    let mut agent = RealAgent::new(kind).await;
    fs::create_dir(agent.rest()).unwrap();
    let (call, mut questions) = Call::new("clean up").answered_by([Decision::Denied { why: None }]);
    let played = agent.play(call).await;
    assert!(questions.recv().await.is_some(), "{played:?}");
    assert!(agent.rest().exists(), "it was denied");
    agent.handle.close().await;
}

async fn agent_counts(kind: Kind) {
    let mut agent = RealAgent::new(kind).await;
    for read in [10_000, 12_000, 12_000] {
        let played = agent.play(Call::new(&format!("read {read}"))).await;
        let used = used(&played);
        assert_eq!((used.input, used.output), (read, 10), "{:?}", played.events);
    }
    agent.handle.close().await;
}

async fn agent_is_taken_up_again(kind: Kind) {
    let mut agent = RealAgent::new(kind).await;
    let (children, mut new) = Children::channel();
    let pid = tokio::spawn(async move {
        let child = new.recv().await.unwrap();
        let pid = child.identity.pid;
        child.keep();
        pid
    });
    let played = agent.play(Call::new("a table for four").with_children(children)).await;
    assert_eq!(played.end, Ok(()), "{:?}", played.events);
    let group = format!("-{}", pid.await.unwrap());
    assert!(Command::new("kill").args(["-9", "--", &group]).status().unwrap().success());
    let lost = Call::new("a table for four").play_on(&mut *agent.handle, async |_| {}).await;
    assert!(matches!(lost.end, Err(AgentError::Broken(_))), "{lost:?}");
    let played = agent.play(Call::new("again a table for four")).await;
    assert_eq!(played.end, Ok(()), "{:?}", played.events);
    assert!(played.notices().is_empty(), "it remembers by itself: {:?}", played.notices());
    let journal = agent.peer.journal().await;
    let last = journal.as_array().unwrap().last().unwrap()["body"]["messages"].to_string();
    assert!(last.matches("a table for four").count() >= 2, "{last}");
    agent.handle.close().await;
}

async fn agent_goes_on(kind: Kind) {
    let mut agent = RealAgent::new(kind).await;
    let first = agent.play(Call::new("a table for four")).await;
    assert_eq!(first.end, Ok(()), "{:?}", first.events);
    let context = SessionContext { agent_session: first.session(), ..session() };
    let later = build(&agent.config).open(&context).await.unwrap();
    std::mem::replace(&mut agent.handle, later).close().await;
    let second = agent.play(Call::new("again a table for four")).await;
    assert_eq!(second.end, Ok(()), "{:?}", second.events);
    assert!(second.notices().is_empty(), "it remembers by itself: {:?}", second.notices());
    assert_eq!(second.text(), first.text(), "its replay is no answer");
    let journal = agent.peer.journal().await;
    let last = journal.as_array().unwrap().last().unwrap()["body"]["messages"].to_string();
    assert!(last.matches("a table for four").count() >= 2, "{last}");
    agent.handle.close().await;
}
