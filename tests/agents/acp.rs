//! The acp backend against a scripted agent that acts out what real ones were seen to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use switchboard::agent::{
    AgentError, AgentEvent, Approvals, Backend, Children, Found, Handle, SessionContext,
};
use switchboard::config::{AgentConfig, BackendKind, Keys, Secrets};
use switchboard::domain::approval::{Always, Decision, Policy};
use switchboard::domain::plan::{Plan, PlanStatus};
use switchboard::domain::session::{ContextUse, Usage};

use crate::stage::{CANARY, Call, Played, SECRETS, assert_gone, build, config, lives, real, session, soon};

pub fn tests() -> Vec<Trial> {
    vec![
        real("acp_without_argv_names_the_setting", names_the_missing_setting),
        real("acp_agent_that_is_missing_is_named_with_its_setting", missing_program),
        real("acp_agent_is_checked_by_its_greeting_alone", is_checked),
        real("acp_agent_of_another_version_is_refused", other_version),
        real("acp_program_that_is_no_agent_is_told_with_the_setting_that_starts_it", no_agent),
        real("acp_agent_that_wants_a_login_says_so", wants_a_login),
        real("acp_words_thoughts_tools_and_plans_are_told_as_they_come", tells_all),
        real("acp_call_is_told_while_it_runs_however_it_is_announced", told_while_it_runs),
        real(
            "acp_call_whose_end_says_nothing_has_what_it_showed_and_one_without_an_end_is_ended",
            open_calls,
        ),
        real("acp_what_its_session_costs_is_taken_as_given_and_only_once", costs),
        real(
            "acp_tokens_are_counted_by_what_came_to_the_sums_of_its_session_or_as_those_of_the_turn",
            tokens,
        ),
        real("acp_what_its_session_has_used_is_counted_once_and_whole_over_all_handles", used_over_handles),
        real("acp_tokens_of_a_turn_that_was_stopped_are_counted_too", tokens_of_a_stopped_turn),
        real("acp_agent_lives_on_between_turns_and_dies_with_its_handle", lives_on),
        real("acp_agent_is_kept_before_it_works_and_again_each_turn", is_kept),
        real("acp_agent_that_outlived_its_engine_is_ended_by_the_next_of_its_home", is_left_over),
        real("acp_agent_sees_no_secret_in_its_environment", sees_no_secret),
        real("acp_stop_reasons_have_their_words", stop_reasons),
        real("acp_errors_tell_what_their_data_says", tells_the_data),
        real("acp_errors_and_last_words_tell_no_key_however_they_are_cut", cuts_no_key),
        real("acp_unknown_methods_are_answered_at_once", unknown_methods),
        real("acp_unknown_methods_are_answered_while_much_is_not_heard_yet", unknown_behind_much),
        real("acp_request_whose_number_is_none_is_refused_and_told", bad_number),
        real("acp_session_without_an_id_is_refused", no_session_id),
        real("acp_lines_that_are_no_messages_are_told_and_harm_nothing", garbage),
        real("acp_text_may_be_cut_in_the_middle_of_a_character", cut_characters),
        real("acp_agent_may_flood_its_errors", floods_errors),
        real("acp_agent_that_dies_in_a_turn_breaks_its_handle_with_its_last_words", dies),
        real("acp_agent_that_died_between_turns_breaks_its_handle", died_between),
        real("acp_agent_that_closes_its_output_is_lost", closes_its_output),
        real("acp_agent_that_floods_when_no_turn_runs_is_ended_and_lost_with_words", floods_between_turns),
        real("acp_agent_that_never_greets_is_given_up", never_greets),
        real("acp_agent_that_is_silent_is_stopped_and_can_go_on", silent_and_obeys),
        real("acp_agent_that_never_answers_its_prompt_is_killed_with_its_group", never_answers),
        real("acp_stop_is_sent_once_and_what_comes_after_it_is_heard", stops),
        real("acp_stop_that_comes_too_late_leaves_the_answer", stop_after_the_end),
        real("acp_stop_is_sent_while_nobody_takes_what_is_said", stops_although_unheard),
        real("acp_stop_ends_the_wait_for_a_session_that_begins_anew", stops_a_new_session),
        real("acp_words_a_moment_after_the_end_are_the_turns_and_never_the_next_ones", late_words),
        real("acp_agent_that_ignores_a_stop_is_killed_and_begins_anew", ignores_a_stop),
        real("acp_agent_dies_with_its_group_when_the_turn_is_dropped", is_dropped),
        real("acp_agent_dies_with_what_has_left_its_group", ends_what_left),
        real("acp_question_is_asked_and_the_option_of_its_kind_chosen", asks),
        real("acp_reason_of_a_denial_is_told_with_the_next_message_once", tells_the_reason),
        real("acp_question_is_answered_by_the_settings_first", settings_answer),
        real(
            "acp_question_that_is_more_than_a_command_is_shown_whole_and_never_allowed_for_ever",
            asks_for_more,
        ),
        real("acp_question_without_a_yes_is_refused_and_told", no_yes_offered),
        real("acp_question_that_cannot_be_read_is_answered_at_once_and_told", unreadable_question),
        real("acp_answer_that_cannot_be_read_says_what_is_missing", unreadable_answer),
        real("acp_question_is_cancelled_with_its_turn", question_is_cancelled),
        real("acp_silence_does_not_count_while_a_person_is_asked", waits_for_a_person),
        real("acp_session_begins_with_what_was_said_before", recaps),
        real("acp_session_begins_anew_after_an_undo", begins_anew_after_an_undo),
        real("acp_session_goes_on_by_a_later_handle_without_its_replay", goes_on),
        real("acp_session_that_the_agent_does_not_know_is_begun_anew_and_told", begins_anew_if_unknown),
        real("acp_session_that_is_resumed_by_its_agents_word_alone_is_told_all_the_same", told_all_the_same),
        real("acp_session_of_another_agent_is_not_asked_for", is_another_agents),
        real("acp_model_is_chosen_where_the_agent_offers_it_and_else_refused", chooses_a_model),
    ]
}

/// A scripted agent and what it was told.
struct Agent {
    folder: tempfile::TempDir,
    config: AgentConfig,
}

impl Agent {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let prelude = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/acp_agent.sh");
        let journal = folder.path().join("journal");
        let whole = format!("JOURNAL='{}'\n. '{}'\n{script}\nserve\n", journal.display(), prelude.display());
        let mut config = config(BackendKind::Acp);
        config.acp.argv = vec!["sh".to_owned(), "-c".to_owned(), whole];
        config.acp.workdir = Some(folder.path().to_path_buf());
        Self { folder, config }
    }

    fn backend(&self) -> Arc<dyn Backend> {
        build(&self.config)
    }

    async fn play(&self, message: &str) -> Played {
        Call::new(message).play(&*self.backend()).await
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// All that the agent was told, in order.
    fn journal(&self) -> Vec<Value> {
        let journal = fs::read_to_string(self.path("journal")).unwrap();
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What the agent was told by these methods.
    fn told(&self, method: &str) -> Vec<Value> {
        let journal = self.journal().into_iter();
        journal
            .filter(|message| message["method"] == method)
            .map(|message| message["params"].clone())
            .collect()
    }

    /// The answer to a request of the agent.
    fn answer(&self, id: u64) -> Value {
        let found =
            self.journal().into_iter().find(|message| message["id"] == id && message["method"].is_null());
        found.unwrap_or_else(|| panic!("no answer to {id} in {:?}", self.journal()))
    }

    /// The texts of a prompt.
    fn prompted(&self, nth: usize) -> Vec<String> {
        let prompts = self.told("session/prompt");
        let blocks = prompts[nth]["prompt"].as_array().unwrap().clone();
        blocks.iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect()
    }
}

/// A handle, and turns on it.
struct Conversation {
    handle: Box<dyn Handle>,
}

impl Conversation {
    async fn open(backend: &dyn Backend) -> Self {
        Self { handle: backend.open(&session()).await.unwrap() }
    }

    async fn play(&mut self, call: Call) -> Played {
        call.play_on(&mut *self.handle, async |_| {}).await
    }

    async fn say(&mut self, message: &str, before: &[(&str, &str)]) -> Played {
        self.play(Call::new(message).after(before)).await
    }
}

async fn names_the_missing_setting() {
    let refused =
        switchboard::agent::build(&config(BackendKind::Acp), &Keys::default(), Path::new("/")).err().unwrap();
    assert!(refused.to_string().contains("agent.acp.argv"), "{refused}");
    let backend = Agent::new("").backend();
    assert_eq!(backend.label(), "ACP agent sh");
    assert!(backend.keeps_handles() && !backend.steerable());
}

async fn missing_program() {
    let mut agent = Agent::new("");
    agent.config.acp.argv = vec!["no-such-agent".to_owned()];
    let played = agent.play("hello").await;
    assert_eq!(played.failure(), "can't run \"no-such-agent\" of agent.acp.argv: no folder in PATH holds it");
    let refused = agent.backend().check().await.unwrap_err().to_string();
    assert!(refused.contains("agent.acp.argv"), "{refused}");
    agent.config = agent.config.named(&"coder".parse().unwrap());
    let refused = agent.backend().check().await.unwrap_err().to_string();
    assert!(refused.contains("\"no-such-agent\" of agents.coder.acp.argv"), "{refused}");
}

async fn is_checked() {
    let agent = Agent::new("");
    let found = agent.backend().check().await.unwrap();
    assert_eq!(found, Found::Good("scripted 7 answers and speaks the Agent Client Protocol".to_owned()));
    let methods: Vec<Value> = agent.journal().iter().map(|message| message["method"].clone()).collect();
    assert_eq!(methods, [json!("initialize")]);
    let greeting = &agent.told("initialize")[0];
    assert_eq!(greeting["protocolVersion"], 1);
    let nothing = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false,
        "auth": {"terminal": false}});
    assert_eq!(greeting["clientCapabilities"], nothing);
}

async fn other_version() {
    let agent = Agent::new(r#"on_initialize() { reply '{"protocolVersion":2}'; }"#);
    let played = agent.play("hello").await;
    assert!(played.failure().contains("speaks version 2"), "{}", played.failure());
}

async fn no_agent() {
    let doubt = "agent.acp.argv must start an agent that speaks the Agent Client Protocol";
    let ends = Agent::new(r#"on_initialize() { echo "usage: sh FILE" >&2; exit 0; }"#).play("hello").await;
    assert_eq!(ends.breakage(), format!("sh ended with exit code 0: usage: sh FILE; {doubt}"));
    let refuses = r#"on_initialize() { fail '{"code":-32601,"message":"Method not found"}'; }"#;
    let refuses = Agent::new(refuses).play("hello").await;
    assert_eq!(refuses.failure(), format!("sh refused initialize: Method not found (error -32601); {doubt}"));
}

async fn wants_a_login() {
    let agent = Agent::new(
        r#"on_initialize() { reply '{"protocolVersion":1,"authMethods":[{"id":"b","name":"browser"}]}'; }
        on_new() { fail '{"code":-32000,"message":"Authentication required"}'; }"#,
    );
    let played = agent.play("hello").await;
    let expected = "sh wants you to log in first, with its own command (browser): Authentication required (error -32000)";
    assert_eq!(played.failure(), expected);
}

async fn tells_all() {
    let agent = Agent::new(
        r#"on_prompt() {
            think "let me see"
            update '{"sessionUpdate":"plan","entries":[{"content":"look","priority":"low","status":"pending"}]}'
            update '{"sessionUpdate":"tool_call","toolCallId":"t1","title":"List","kind":"execute","status":"pending","rawInput":{"command":"ls"}}'
            update '{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"in_progress"}'
            update '{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"a.txt"}}]}'
            update '{"sessionUpdate":"available_commands_update","availableCommands":[]}'
            update '{"sessionUpdate":"from_the_future","x":1}'
            say "one "
            say "file"
            reply '{"stopReason":"end_turn","usage":{"totalTokens":9,"inputTokens":7,"outputTokens":2}}'
        }"#,
    );
    let played = agent.play("what is here?").await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "one file".to_owned()));
    assert_eq!(played.reasoning(), "let me see");
    let plan = Plan::of([("look", PlanStatus::Pending)]);
    assert!(played.events.contains(&AgentEvent::Plan(plan)), "{:?}", played.events);
    let call = AgentEvent::ToolCall {
        call: "t1".into(),
        name: "execute".into(),
        arguments: r#"{"command":"ls"}"#.into(),
    };
    let result = AgentEvent::ToolResult { call: "t1".into(), ok: true, output: "a.txt".into() };
    assert_eq!(played.events[3..5], [call, result]);
    let Some(AgentEvent::Usage(usage)) = played.events.last() else { panic!("{:?}", played.events) };
    assert_eq!((usage.input, usage.output), (7, 2));
    assert_eq!(agent.prompted(0), ["what is here?"]);
    let begun = &agent.told("session/new")[0];
    assert_eq!(*begun, json!({"cwd": agent.folder.path(), "mcpServers": []}));
}

async fn told_while_it_runs() {
    let input = r#""rawInput":{"command":"ls"}"#;
    let table = [
        (r#""title":"ls""#.to_owned(), "ls"),
        (r#""title":"ls","status":"pending""#.to_owned(), "ls"),
        (format!(r#""title":"bash","status":"pending",{input}"#), r#"{"command":"ls"}"#),
    ];
    for (how, known) in table {
        let agent = Agent::new(&format!(
            r#"on_prompt() {{
                update '{{"sessionUpdate":"tool_call","toolCallId":"t1","kind":"execute",{how}}}'
                read -r end <go
                update '{{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}}'
                stop "$end"
            }}"#
        ));
        let go = agent.path("go");
        assert!(std::process::Command::new("mkfifo").arg(&go).status().unwrap().success());
        let called = AgentEvent::ToolCall {
            call: "t1".to_owned(),
            name: "execute".to_owned(),
            arguments: known.to_owned(),
        };
        // It goes on only when its call is told.
        let let_go_on = async |event: &AgentEvent| {
            if *event == called {
                fs::write(&go, "end_turn\n").unwrap();
            }
        };
        let played = Call::new("look").play_watching(&*agent.backend(), let_go_on).await;
        assert_eq!(played.end, Ok(()), "{how}: {:?}", played.events);
    }
}

async fn lives_on() {
    let agent = Agent::new(r#"on_prompt() { say "$$"; stop end_turn; }"#);
    let mut talk = Conversation::open(&*agent.backend()).await;
    let first = talk.say("one", &[]).await;
    let second = talk.say("two", &[("one", "1")]).await;
    assert_eq!(first.text(), second.text(), "it is the same process");
    assert_eq!((agent.told("initialize").len(), agent.told("session/new").len()), (1, 1));
    assert_eq!(agent.prompted(1), ["two"], "it remembers by itself");
    assert!(lives(&first.text()));
    talk.handle.close().await;
    assert_gone(&first).await;
}

async fn is_kept() {
    let agent = Agent::new("");
    let mut talk = Conversation::open(&*agent.backend()).await;
    for message in ["one", "two"] {
        let (children, mut new) = Children::channel();
        let before = if message == "two" { vec![("one", "hello")] } else { vec![] };
        let keep = async {
            let child = new.recv().await.unwrap();
            let worked = agent.path("journal").exists();
            assert_eq!(worked, message == "two", "it worked before it was kept");
            assert_eq!(child.program, "sh");
            child.keep();
        };
        let call = Call::new(message).after(&before).with_children(children);
        let (played, ()) = tokio::join!(talk.play(call), keep);
        assert_eq!(played.text(), "hello");
    }
    let (children, mut new) = Children::channel();
    let refuse = async { drop(new.recv().await) };
    let call = Call::new("three").with_children(children);
    let backend = agent.backend();
    let (played, ()) = tokio::join!(call.play(&*backend), refuse);
    assert_eq!(played.failure(), "sh was not let work: its process could not be kept");
}

async fn is_left_over() {
    let agent = Agent::new(r#"on_prompt() { say "$$"; stop end_turn; }"#);
    let homes = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [ours, other] = homes
        .each_ref()
        .map(|home| switchboard::agent::build(&agent.config, &Keys::default(), home.path()).unwrap());
    let mut talk = Conversation::open(&*ours).await;
    let played = talk.say("hello", &[]).await;
    assert_eq!(other.end_leftovers(), 0);
    assert!(lives(&played.text()), "another home's engine ended it");
    assert_eq!(ours.end_leftovers(), 1);
    assert_gone(&played).await;
}

async fn sees_no_secret() {
    let mut agent = Agent::new(r#"on_prompt() { env >"$JOURNAL.env"; say "ok"; stop end_turn; }"#);
    agent.config.openai.api_key_env = SECRETS[2].to_owned();
    assert_eq!(agent.play("hello").await.text(), "ok");
    let environment = fs::read_to_string(agent.path("journal.env")).unwrap();
    assert!(environment.contains("SWITCHBOARD_SESSION=") && !environment.contains(CANARY), "{environment}");
}

async fn stop_reasons() {
    let table = [
        ("max_tokens", "sh was cut at the most tokens that its model may write"),
        ("max_turn_requests", "sh was cut at the most requests that it may make in a turn"),
        ("refusal", "sh refuses to go on; it forgets this message"),
        ("cancelled", "sh says that the turn was cancelled, which nobody did"),
        ("tired", "sh ended its turn for a reason that is not known: tired"),
    ];
    for (reason, words) in table {
        let played = Agent::new(&format!("on_prompt() {{ say half; stop {reason}; }}")).play("go").await;
        assert_eq!((played.failure(), played.text().as_str()), (words, "half"));
    }
    let mut agent = Agent::new("on_prompt() { stop end_turn; }");
    assert_eq!(agent.play("go").await.failure(), "sh ended its turn without a word");
    agent.config.acp.argv.splice(0..0, ["env".to_owned(), "A=1".to_owned()]);
    assert_eq!(agent.play("go").await.failure(), "sh ended its turn without a word");
    agent.config = agent.config.named(&"coder".parse().unwrap());
    assert_eq!(agent.play("go").await.failure(), "coder ended its turn without a word");
}

async fn tells_the_data() {
    let agent = Agent::new(
        r#"on_prompt() { echo "a warning" >&2; fail '{"code":-32603,"message":"Internal error","data":{"details":"no key for the model"}}'; }"#,
    );
    let played = agent.play("hello").await;
    let expected = "sh refused the prompt: Internal error (error -32603): no key for the model";
    assert_eq!(played.failure(), expected);
}

async fn cuts_no_key() {
    const KEY: &str = "canary-of-the-protocol-07af";
    // Behind 70 characters, of the 80 that are told of an error's message, and before 590 of the 600 of last words.
    let script = format!(
        r#"on_prompt() {{
            [ -z "$again" ] || {{ printf '{KEY}%590s\n' '' | tr ' ' y >&2; exit 3; }}
            again=yes
            fail "{{\"code\":-32603,\"message\":\"$(printf '%70s' '' | tr ' ' x){KEY}\"}}"
        }}"#
    );
    let agent = Agent::new(&script);
    let key_file = agent.path("key");
    fs::write(&key_file, KEY).unwrap();
    Secrets::read(&Keys { files: vec![key_file], ..Keys::default() });
    let mut talk = Conversation::open(&*agent.backend()).await;
    let (refused, lost) = (talk.say("first", &[]).await, talk.say("second", &[]).await);
    let (refused, lost) = (refused.failure(), lost.breakage());
    assert!(refused.contains("xxx[the key]") && lost.contains("yyy"), "{refused} {lost}");
    for run in KEY.as_bytes().windows(8) {
        let run = std::str::from_utf8(run).unwrap();
        assert!(!refused.contains(run) && !lost.contains(run), "{refused} {lost}");
    }
}

async fn unknown_methods() {
    let agent = Agent::new(
        r#"on_prompt() { ask 500 fs/read_text_file '{"path":"/etc/passwd"}'; }
        on_answer() { say "refused"; id=$prompt; stop end_turn; }"#,
    );
    let played = agent.play("hello").await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "refused".to_owned()));
    assert_eq!(agent.answer(500)["error"]["code"], -32601);
}

/// Waits until the agent was told something with these words.
async fn until_told(agent: &Agent, words: &str) {
    let told = || fs::read_to_string(agent.path("journal")).is_ok_and(|journal| journal.contains(words));
    while !told() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Says much more than waits anywhere.
const TALKS: &str = r#"talk() { n=0; while [ $n -lt 400 ]; do say "word "; n=$((n + 1)); done; }"#;

async fn unknown_behind_much() {
    let agent = Agent::new(&format!(
        r#"{TALKS}
        on_prompt() {{ talk; ask 500 fs/read_text_file '{{}}'; }}
        on_answer() {{ say "refused"; id=$prompt; stop end_turn; }}"#
    ));
    let mut talk = Conversation::open(&*agent.backend()).await;
    let answered = async |_: &AgentEvent| until_told(&agent, "\"id\":500").await;
    let played = Call::new("hello").play_on(&mut *talk.handle, answered).await;
    assert_eq!(played.end, Ok(()));
    assert!(played.text().ends_with("word refused"));
}

async fn bad_number() {
    let agent = Agent::new(
        r#"on_prompt() { ask 1.5 session/request_permission '{}'; }
        on_answer() { say "refused"; id=$prompt; stop end_turn; }"#,
    );
    let played = agent.play("hello").await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "refused".to_owned()));
    let answer = agent.journal().into_iter().find(|message| message["id"] == 1.5).unwrap();
    assert_eq!(answer["error"]["code"], -32600);
    assert!(played.notices()[0].contains("an id that is neither number nor text"), "{:?}", played.notices());
}

async fn no_session_id() {
    let played = Agent::new("session=").play("hello").await;
    assert_eq!(played.failure(), "sh answered session/new with an id of the session that is empty");
}

async fn garbage() {
    let agent = Agent::new(
        r#"on_initialize() { echo "Loading model..."; reply '{"protocolVersion":1}'; }
        on_prompt() {
            echo; echo '[1,2]'; echo '{"half":'; printf 'x\377\n'; reply_to_nothing
            say "fine"; stop end_turn
        }
        reply_to_nothing() { send '{"jsonrpc":"2.0","id":77,"result":{}}'; send '{"jsonrpc":"2.0","result":1}'; }"#,
    );
    let played = agent.play("hello").await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "fine".to_owned()));
    let expected = "heard 5 lines from sh that are no messages of the protocol; the first: \"Loading model...\" is no JSON";
    assert_eq!(played.notices(), [expected]);
}

async fn cut_characters() {
    let agent = Agent::new(
        r#"on_prompt() {
            printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"caf\303'
            sleep 0.1
            printf '\251 \360\237'
            sleep 0.1
            printf '\246\200"}}}}\n'
            stop end_turn
        }"#,
    );
    assert_eq!(agent.play("hello").await.text(), "café 🦀");
}

async fn floods_errors() {
    let agent = Agent::new(r#"on_prompt() { seq 1 40000 >&2; say "ok"; id=$prompt; stop max_tokens; }"#);
    let played = agent.play("hello").await;
    assert_eq!(played.text(), "ok");
    assert!(played.failure().contains("most tokens"), "{}", played.failure());
}

async fn dies() {
    let agent = Agent::new(r#"on_prompt() { say "half"; echo "out of memory" >&2; exit 3; }"#);
    let played = agent.play("hello").await;
    assert_eq!(played.text(), "half");
    assert_eq!(played.breakage(), "sh ended with exit code 3: out of memory");
}

async fn died_between() {
    let agent = Agent::new(r#"on_prompt() { say "$$"; stop end_turn; exit 0; }"#);
    let mut talk = Conversation::open(&*agent.backend()).await;
    let first = talk.say("one", &[]).await;
    assert_eq!(first.end, Ok(()));
    assert_gone(&first).await;
    let second = talk.say("two", &[("one", "1")]).await;
    assert_eq!((second.breakage(), second.events.len()), ("sh ended with exit code 0", 0));
}

async fn closes_its_output() {
    let agent = Agent::new(r#"on_prompt() { say "$$"; exec >&-; sleep 1000; }"#);
    let played = agent.play("hello").await;
    assert_eq!(played.breakage(), "sh has closed its output");
    assert_gone(&played).await;
}

async fn floods_between_turns() {
    let big = "z".repeat(60_000);
    for floods in [r#"say "$big""#, r#"ask 5 fs/read_text_file "{\"path\":\"$big\"}""#] {
        let agent = Agent::new(&format!(
            r#"on_prompt() {{ say "$$\\n"; stop end_turn; sleep 0.3; big={big}; while :; do {floods}; done; }}"#
        ));
        let mut talk = Conversation::open(&*agent.backend()).await;
        let first = talk.say("one", &[]).await;
        assert_eq!(first.end, Ok(()));
        assert_gone(&first).await;
        let second = talk.say("two", &[("one", "1")]).await;
        let expected = "sh sent more than 16 MiB that nobody had asked for and was ended";
        assert_eq!(second.breakage(), expected, "{floods}");
    }
}

async fn never_greets() {
    let mut agent = Agent::new(r#"on_initialize() { echo "waiting for the network" >&2; }"#);
    agent.config.acp.initialize_timeout = Duration::from_secs(2);
    let expected = "sh did not answer initialize within 2 s (agent.acp.initialize_timeout_seconds): waiting for the network";
    assert_eq!(agent.play("hello").await.breakage(), expected);
    let mut agent = Agent::new("on_new() { :; }");
    agent.config.acp.new_timeout = Duration::from_millis(300);
    let played = agent.play("hello").await;
    assert!(played.breakage().contains("session/new") && played.breakage().contains("new_timeout"));
    for (can, method) in [
        (r#"{"loadSession":true}"#, "session/load"),
        (r#"{"sessionCapabilities":{"resume":{}}}"#, "session/resume"),
    ] {
        let mut agent = Agent::new(&format!("can='{can}'; on_load() {{ :; }}; on_resume() {{ :; }}"));
        let first = agent.play("one").await;
        agent.config.acp.load_timeout = Duration::from_millis(300);
        let played = later(&agent, &first).await.say("two", &[("one", "hello")]).await;
        let expected = format!("sh did not answer {method} within 0.3 s (agent.acp.load_timeout_seconds)");
        assert_eq!(played.breakage(), expected);
    }
}

async fn silent_and_obeys() {
    let mut agent = Agent::new(
        r#"on_prompt() { case $line in *quiet*) say "thinking"; ;; *) say "hello"; stop end_turn ;; esac; }
        on_cancel() { id=$prompt; stop cancelled; }"#,
    );
    agent.config.acp.silence_timeout = Duration::from_secs(2);
    let mut talk = Conversation::open(&*agent.backend()).await;
    let played = talk.say("quiet", &[]).await;
    let expected = "sh sent nothing for 2 s (agent.acp.silence_timeout_seconds) and was stopped";
    assert_eq!((played.failure(), played.text().as_str()), (expected, "thinking"));
    let played = talk.say("and now?", &[("quiet", "[no answer]")]).await;
    assert_eq!(played.text(), "hello");
    assert_eq!(agent.told("initialize").len(), 1, "it is the same process");
}

async fn never_answers() {
    let mut agent = Agent::new(r#"trap '' TERM; sleep 1000 & on_prompt() { say "$$"; sleep 1000; }"#);
    agent.config.acp.silence_timeout = Duration::from_secs(2);
    agent.config.acp.kill_grace = Duration::from_millis(300);
    let played = agent.play("hello").await;
    assert!(played.breakage().contains("did not obey a stop and was killed"), "{}", played.breakage());
    assert_gone(&played).await;
}

async fn stop_at_first_text(agent: &Agent) -> (Conversation, Played) {
    let mut talk = Conversation::open(&*agent.backend()).await;
    let call = Call::new("go");
    let cancel = call.cancel.clone();
    let played = call.play_on(&mut *talk.handle, async |event| {
        if matches!(event, AgentEvent::Text(_)) {
            cancel.cancel();
        }
    });
    let played = played.await;
    (talk, played)
}

async fn stops() {
    let agent = Agent::new(
        r#"on_prompt() { case $line in *go*) say "one "; ;; *) say "again"; stop end_turn ;; esac; }
        on_cancel() { say "two"; id=$prompt; stop cancelled; }"#,
    );
    let (mut talk, played) = stop_at_first_text(&agent).await;
    assert_eq!((played.end.clone(), played.text()), (Err(AgentError::Cancelled), "one two".to_owned()));
    let played = talk.say("once more", &[("go", "one two\n[stopped by the operator]")]).await;
    assert_eq!(played.text(), "again");
    assert_eq!(agent.told("session/cancel"), [json!({"sessionId": "s1"})]);
    assert_eq!(agent.told("initialize").len(), 1, "it is the same process");
}

async fn late_words() {
    let refused = Err(AgentError::Failed("sh refused the prompt: No (error -32603)".to_owned()));
    let table = [
        (r#"say "hel"; stop end_turn; say "lo""#, Ok(()), "hello"),
        (r#"fail '{"code":-32603,"message":"No"}'"#, refused, ""),
    ];
    for (says, end, text) in table {
        let agent = Agent::new(&format!(
            r#"on_prompt() {{
                case $line in
                *first*) send "$({says}; ask_to_run "too late" allow_once)" ;;
                *) say "and now?"; stop end_turn ;;
                esac
            }}"#
        ));
        let mut talk = Conversation::open(&*agent.backend()).await;
        let first = talk.say("first", &[]).await;
        assert_eq!((&first.end, first.text().as_str()), (&end, text));
        let second = talk.say("second", &[("first", "it answered")]).await;
        assert_eq!((second.end.clone(), second.text().as_str()), (Ok(()), "and now?"));
        let cancelled = json!({"outcome": "cancelled"});
        assert_eq!(agent.answer(900)["result"]["outcome"], cancelled, "nobody is asked any more");
    }
}

async fn stops_although_unheard() {
    let agent = Agent::new(&format!(
        r#"{TALKS}
        on_prompt() {{ talk; }}
        on_cancel() {{ id=$prompt; stop cancelled; }}"#
    ));
    let mut talk = Conversation::open(&*agent.backend()).await;
    let call = Call::new("go");
    let cancel = call.cancel.clone();
    let stopped = async |event: &AgentEvent| {
        if matches!(event, AgentEvent::Text(_)) {
            cancel.cancel();
            until_told(&agent, "session/cancel").await;
        }
    };
    let played = call.play_on(&mut *talk.handle, stopped).await;
    assert_eq!((played.end.clone(), agent.told("session/cancel").len()), (Err(AgentError::Cancelled), 1));
    assert_eq!(played.text(), "word ".repeat(400), "what it had said is not lost");
}

async fn stops_a_new_session() {
    let agent = Agent::new(
        r#"can='{"sessionCapabilities":{"resume":{}}}'
        on_resume() { resumed=1; reply '{}'; }
        on_prompt() { if [ "$resumed" ]; then stop refusal; else say "hello"; stop end_turn; fi; }
        on_new() { if [ "$resumed" ]; then echo >>"$JOURNAL.waits"; else reply '{"sessionId":"s1"}'; fi; }"#,
    );
    let first = agent.play("one").await;
    let mut talk = later(&agent, &first).await;
    let call = Call::new("two").after(&[("one", "hello")]);
    let cancel = call.cancel.clone();
    let stop = async {
        while !agent.path("journal.waits").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (played, ()) = tokio::join!(talk.play(call), stop);
    assert_eq!(played.end, Err(AgentError::Cancelled));
}

async fn stop_after_the_end() {
    let agent = Agent::new(r#"on_prompt() { say "all"; }; on_cancel() { id=$prompt; stop end_turn; }"#);
    let (_, played) = stop_at_first_text(&agent).await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "all".to_owned()));
}

async fn ignores_a_stop() {
    let mut agent = Agent::new(r#"on_prompt() { say "$$"; }; on_cancel() { sleep 1000 & wait; }"#);
    agent.config.acp.kill_grace = Duration::from_secs(2);
    let (mut talk, played) = stop_at_first_text(&agent).await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert!(played.notices()[0].contains("did not obey the stop within 2 s"), "{:?}", played.notices());
    assert_gone(&played).await;
    let call = Call::new("again").after(&[("go", "[stopped by the operator]")]);
    call.cancel.cancel();
    assert_eq!(talk.play(call).await.end, Err(AgentError::Cancelled));
    assert_eq!(agent.told("initialize").len(), 1, "what is cancelled starts nothing");
    let call = Call::new("again").after(&[("go", "[stopped by the operator]")]);
    let cancel = call.cancel.clone();
    let again = call.play_on(&mut *talk.handle, async |_| cancel.cancel()).await;
    assert_eq!(again.end, Err(AgentError::Cancelled));
    assert_eq!(agent.told("initialize").len(), 2);
    assert!(agent.prompted(1)[0].contains("[stopped by the operator]"), "{:?}", agent.prompted(1));
}

async fn is_dropped() {
    let agent = Agent::new(r#"trap '' TERM; sleep 1000 & on_prompt() { say "$$"; sleep 1000; }"#);
    let seen = tokio::sync::Notify::new();
    let backend = agent.backend();
    let mut events = Vec::new();
    tokio::select! {
        played = Call::new("go").play_watching(&*backend, async |event| {
            events.push(event.clone());
            if matches!(event, AgentEvent::Text(_)) {
                seen.notify_one();
            }
        }) => panic!("it ended by itself: {played:?}"),
        () = seen.notified() => {}
    }
    assert_gone(&Played { events, end: Ok(()) }).await;
}

async fn ends_what_left() {
    for ends in ["closed", "dropped"] {
        let agent = Agent::new(
            r#"on_prompt() { setsid sleep 1000 </dev/null >/dev/null 2>&1 & say "$!"; stop end_turn; }"#,
        );
        let mut talk = Conversation::open(&*agent.backend()).await;
        let played = talk.say("hello", &[]).await;
        soon(async {
            while !lives(&played.text()) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        match ends {
            "closed" => talk.handle.close().await,
            _ => drop(talk),
        }
        soon(async {
            while lives(&played.text()) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }
}

const ASKS: &str = r#"on_prompt() { ask_to_run "git push" allow_always reject_always allow_once reject_once; }
    on_answer() { say "go on"; id=$prompt; stop end_turn; }"#;

async fn asks() {
    let table = [
        (Decision::Once, "<allow_once>"),
        (Decision::Always { prefix: "git push".into() }, "<allow_once>"),
        (Decision::Denied { why: Some("not today".into()) }, "<reject_once>"),
        (Decision::TimedOut, "<reject_once>"),
        (Decision::NobodyToAsk { why: "a scheduled task never waits".into() }, "<reject_once>"),
    ];
    for (decision, option) in table {
        let agent = Agent::new(ASKS);
        let (call, mut questions) = Call::new("push").answered_by([decision.clone()]);
        let played = call.play(&*agent.backend()).await;
        assert_eq!((played.end.clone(), played.text()), (Ok(()), "go on".to_owned()));
        let answer = agent.answer(900);
        assert_eq!(answer["result"]["outcome"], json!({"outcome": "selected", "optionId": option}));
        let refusal = decision.refusal().map_or(Value::Null, |why| json!({"reason": why}));
        assert_eq!(answer["result"]["_meta"], refusal);
        let question = questions.recv().await.unwrap();
        assert_eq!((question.tool.as_str(), question.what.as_str()), ("execute", "git push"));
        assert_eq!(question.folder, agent.folder.path().display().to_string());
        assert_eq!(question.always, Always::of("git push"));
    }
}

async fn tells_the_reason() {
    let agent = Agent::new(ASKS);
    let mut talk = Conversation::open(&*agent.backend()).await;
    let why = || Decision::Denied { why: Some("not today".to_owned()) };
    let (call, _questions) = Call::new("push").answered_by([why()]);
    assert_eq!(talk.play(call).await.text(), "go on");
    let (call, _questions) =
        Call::new("push again").after(&[("push", "go on")]).answered_by([Decision::Once]);
    assert_eq!(talk.play(call).await.text(), "go on");
    let (call, _questions) = Call::new("once more")
        .after(&[("push", "go on"), ("push again", "go on")])
        .answered_by([Decision::Denied { why: None }]);
    assert_eq!(talk.play(call).await.text(), "go on");
    let told = "What you asked for in your last turn and the operator denied, with the reason:\n\
                execute: git push: not today";
    assert_eq!(agent.prompted(1), [told, "push again"]);
    assert_eq!(agent.prompted(2), ["once more"]);
}

async fn asks_for_more() {
    let creates = r#"on_prompt() { ask_for '"kind":"edit","title":"Create /etc/cron.d/x","rawInput":{"command":"create","path":"/etc/cron.d/x"}' allow_once; }"#;
    let elsewhere = r#"on_prompt() {
        update '{"sessionUpdate":"tool_call","toolCallId":"p1","title":"Clean","kind":"execute","status":"pending"}'
        ask_for '"rawInput":{"command":"rm -rf build","cwd":"/srv","description":"Cleans up"}' allow_once
    }"#;
    let more = r#"on_prompt() { ask_for '"kind":"execute","rawInput":{"command":"create","env":{"PATH":"/tmp"}}' allow_once; }"#;
    let table = [
        (creates, "edit", "Create /etc/cron.d/x\ncommand: create\npath: /etc/cron.d/x", None),
        (elsewhere, "execute", "rm -rf build", Some("/srv")),
        (more, "execute", "create\nenv: {\"PATH\":\"/tmp\"}", None),
    ];
    for (script, tool, what, folder) in table {
        let script = format!("{script}\non_answer() {{ say \"go on\"; id=$prompt; stop end_turn; }}");
        let mut agent = Agent::new(&script);
        agent.config.approvals.allow = vec!["create".to_owned()];
        let (call, mut questions) = Call::new("do it").answered_by([Decision::Once]);
        assert_eq!(call.play(&*agent.backend()).await.text(), "go on");
        let question = questions.try_recv().expect("a person is asked");
        assert_eq!((question.tool.as_str(), question.what.as_str()), (tool, what));
        let own = agent.folder.path().display().to_string();
        assert_eq!(question.folder, folder.map_or(own, str::to_owned));
        assert!(matches!(question.always, Always::NotOffered { .. }), "{question:?}");
    }
}

async fn open_calls() {
    let agent = Agent::new(
        r#"on_prompt() {
            shows t1 in_progress '"kind":"execute","title":"ls",' "a.txt"
            update '{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}'
            shows t2 in_progress '"kind":"execute","title":"sleep",' "zzz"
            say "done"
            stop end_turn
        }
        shows() {
            update "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"$1\",\"status\":\"$2\",$3\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"$4\"}}]}"
        }"#,
    );
    let played = agent.play("go").await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "done".to_owned()));
    let results: Vec<&AgentEvent> =
        played.events.iter().filter(|event| matches!(event, AgentEvent::ToolResult { .. })).collect();
    let result = |call: &str, ok, output: &str| AgentEvent::ToolResult {
        call: call.into(),
        ok,
        output: output.into(),
    };
    let cut = "zzz\n[the agent told no end of this call]";
    assert_eq!(results, [&result("t1", true, "a.txt"), &result("t2", false, cut)]);
}

async fn settings_answer() {
    let table = [
        (Policy::Auto, vec![], "<allow_once>"),
        (Policy::Deny, vec![], "<reject_once>"),
        (Policy::Ask, vec!["git push".to_owned()], "<allow_once>"),
    ];
    for (policy, allow, option) in table {
        let mut agent = Agent::new(ASKS);
        agent.config.approvals.acp = policy;
        agent.config.approvals.allow = allow;
        let (call, mut questions) = Call::new("push").answered_by([]);
        assert_eq!(call.play(&*agent.backend()).await.text(), "go on");
        assert_eq!(agent.answer(900)["result"]["outcome"]["optionId"], option);
        assert!(questions.try_recv().is_err(), "nobody is asked");
    }
}

async fn no_yes_offered() {
    let agent = Agent::new(
        r#"on_prompt() { ask_to_run "git push" allow_for_an_hour reject_once; }
        on_answer() { say "well"; id=$prompt; stop end_turn; }"#,
    );
    let played = agent.play("push").await;
    assert_eq!(agent.answer(900)["result"]["outcome"]["optionId"], "<reject_once>");
    let [unanswered, odd] = played.notices()[..] else { panic!("{:?}", played.notices()) };
    assert_eq!(unanswered, "was asked for permission without an option to allow it: execute: git push");
    assert!(odd.contains("allow_for_an_hour") && odd.contains("of a question can't be read"), "{odd}");
}

async fn unreadable_question() {
    let agent = Agent::new(
        r#"on_prompt() { ask 900 session/request_permission '{"sessionId":"s1","options":[]}'; }
        on_answer() { say "well"; id=$prompt; stop end_turn; }"#,
    );
    let played = agent.play("push").await;
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "well".to_owned()));
    assert_eq!(agent.answer(900)["error"]["code"], -32602);
    let expected = "heard a line from sh that is no message of the protocol: session/request_permission can't be \
                    read: missing field `toolCall`";
    assert_eq!(played.notices(), [expected]);
}

async fn unreadable_answer() {
    let agent = Agent::new(r#"on_new() { reply '{"session":"s1"}'; }"#);
    let expected = "sh answered session/new with what can't be read: missing field `sessionId`";
    assert_eq!(agent.play("hello").await.failure(), expected);
}

async fn question_is_cancelled() {
    let agent = Agent::new(
        r#"on_prompt() { ask_to_run "git push" allow_once reject_once; }
        on_answer() { answered=1; }
        on_cancel() { hear; id=$prompt; stop cancelled; }"#,
    );
    let (approvals, mut asked) = Approvals::channel();
    let mut call = Call::new("push");
    call.approvals = Some(approvals);
    let cancel = call.cancel.clone();
    let stop = async {
        let mut question = asked.recv().await.unwrap();
        cancel.cancel();
        question.taken_back().await;
    };
    let backend = agent.backend();
    let (played, ()) = tokio::join!(call.play(&*backend), stop);
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert_eq!(agent.answer(900)["result"], json!({"outcome": {"outcome": "cancelled"}}));
}

async fn waits_for_a_person() {
    let mut agent = Agent::new(ASKS);
    agent.config.acp.silence_timeout = Duration::from_secs(2);
    let (approvals, mut asked) = Approvals::channel();
    let mut call = Call::new("push");
    call.approvals = Some(approvals);
    let think = async {
        let question = asked.recv().await.unwrap();
        tokio::time::sleep(Duration::from_secs(3)).await;
        question.answer(Decision::Once);
    };
    let backend = agent.backend();
    let (played, ()) = tokio::join!(call.play(&*backend), think);
    assert_eq!((played.end.clone(), played.text()), (Ok(()), "go on".to_owned()));
}

async fn recaps() {
    let agent = Agent::new("");
    let before = [("one", "1"), ("two", "2")];
    let played = Call::new("three").after(&before).play(&*agent.backend()).await;
    assert_eq!(played.text(), "hello");
    let prompt = agent.prompted(0);
    assert_eq!((prompt.len(), prompt[1].as_str()), (2, "three"));
    assert!(prompt[0].contains("User: one\n\nYou: 1\n\nUser: two\n\nYou: 2"), "{}", prompt[0]);
    assert_eq!(played.notices().len(), 1);
}

async fn begins_anew_after_an_undo() {
    let agent = Agent::new(r#"on_new() { session=s$id; reply "{\"sessionId\":\"$session\"}"; }"#);
    let mut talk = Conversation::open(&*agent.backend()).await;
    talk.say("one", &[]).await;
    talk.say("two", &[("one", "1")]).await;
    talk.say("three", &[("one", "1")]).await;
    assert_eq!((agent.told("initialize").len(), agent.told("session/new").len()), (1, 2));
    let sessions: Vec<Value> =
        agent.told("session/prompt").iter().map(|prompt| prompt["sessionId"].clone()).collect();
    assert_eq!(sessions, ["s2", "s2", "s5"]);
    assert!(agent.prompted(2)[0].contains("User: one") && !agent.prompted(2)[0].contains("two"));
}

/// A handle of a later engine, which is given the session that the first one told of.
async fn later(agent: &Agent, first: &Played) -> Conversation {
    assert!(first.session().is_some(), "{first:?}");
    let context = SessionContext { agent_session: first.session(), ..session() };
    Conversation { handle: agent.backend().open(&context).await.unwrap() }
}

/// What an agent says of a session that it was asked to load: all that was said in it, as if it were said now.
const REPLAY: &str = r#"
    chunk user_message_chunk "one"
    chunk agent_message_chunk "hello"
    update '{"sessionUpdate":"tool_call","toolCallId":"t1","title":"List","kind":"execute"}'
"#;

async fn goes_on() {
    let table = [
        (r#"{"loadSession":true}"#, "session/load"),
        (r#"{"loadSession":true,"sessionCapabilities":{"resume":{}}}"#, "session/load"),
        (r#"{"loadSession":true,"sessionCapabilities":{"resume":{},"list":{}}}"#, "session/resume"),
        (r#"{"loadSession":true,"sessionCapabilities":{"list":{}}}"#, "session/load"),
    ];
    for (can, method) in table {
        let agent = Agent::new(&format!(
            r#"can='{can}'
            on_load() {{ reply null; {REPLAY} }}
            on_resume() {{ {REPLAY} reply '{{}}'; }}
            on_list() {{ reply '{{"sessions":[{{"sessionId":"s0","cwd":"/"}},{{"sessionId":"s1","cwd":"/"}}]}}'; }}"#
        ));
        let first = agent.play("one").await;
        let mut talk = later(&agent, &first).await;
        let second = talk.say("two", &[("one", "hello")]).await;
        assert_eq!((second.text().as_str(), second.notices()), ("hello", vec![]), "{method}");
        let tools = second.events.iter().filter(|event| matches!(event, AgentEvent::ToolCall { .. }));
        assert_eq!(tools.count(), 0, "nothing is told twice");
        let told = agent.told(method);
        assert_eq!((told.len(), &told[0]["sessionId"]), (1, &json!("s1")));
        assert_eq!(told[0]["cwd"], json!(agent.folder.path()));
        assert_eq!(agent.told("session/new").len(), 1);
        let prompt = agent.prompted(1);
        assert!(prompt[0].contains("You: hello") && prompt[0].contains("is settled"), "{prompt:?}");
        assert_eq!(prompt[1], "two");
    }
}

async fn begins_anew_if_unknown() {
    let commands = r#"update '{"sessionUpdate":"available_commands_update","availableCommands":[]}'"#;
    let table = [
        // It says so.
        (r#"{"loadSession":true}"#, r#"on_load() { fail '{"code":-32602,"message":"no such session"}'; }"#.to_owned()),
        // It reports success, and has nothing to replay.
        (r#"{"loadSession":true}"#, format!("on_load() {{ {commands}; reply null; }}")),
        // It does not have it in its list.
        (
            r#"{"loadSession":true,"sessionCapabilities":{"list":{},"resume":{}}}"#,
            r#"on_list() { reply '{"sessions":[{"sessionId":"s0","cwd":"/"}]}'; }
            on_resume() { reply '{}'; }"#.to_owned(),
        ),
        // It reports success, and then refuses the prompt.
        (
            r#"{"sessionCapabilities":{"resume":{}}}"#,
            r#"on_resume() { resumed=1; reply '{}'; }
            on_prompt() { if [ "$resumed" ]; then resumed=; stop refusal; else say "hello"; stop end_turn; fi; }"#
                .to_owned(),
        ),
        // It can't.
        ("{}", String::new()),
    ];
    for (can, script) in table {
        let agent = Agent::new(&format!("can='{can}'\n{script}"));
        let first = agent.play("one").await;
        let mut talk = later(&agent, &first).await;
        let second = talk.say("two", &[("one", "hello")]).await;
        assert_eq!((second.end.clone(), second.text().as_str()), (Ok(()), "hello"), "{script}");
        assert_eq!(agent.told("session/new").len(), 2, "{script}");
        let prompts = agent.told("session/prompt").len();
        let prompt = agent.prompted(prompts - 1);
        assert!(prompt[0].contains("User: one\n\nYou: hello"), "{prompt:?}");
        let told = "begins a new session of its agent, which could not take up the one before and is told the \
                    end of what was said in it";
        assert_eq!(second.notices(), [told], "{script}");
    }
}

async fn told_all_the_same() {
    let agent = Agent::new(r#"can='{"sessionCapabilities":{"resume":{}}}'; on_resume() { reply '{}'; }"#);
    let first = agent.play("one").await;
    let mut talk = later(&agent, &first).await;
    let second = talk.say("two", &[("one", "hello")]).await;
    assert_eq!((second.text().as_str(), second.notices()), ("hello", vec![]));
    assert_eq!((agent.told("session/resume").len(), agent.told("session/new").len()), (1, 1));
    assert!(agent.prompted(1)[0].contains("User: one\n\nYou: hello"), "{:?}", agent.prompted(1));
    talk.say("three", &[("one", "hello"), ("two", "hello")]).await;
    assert_eq!(agent.prompted(2), ["three"], "it is told once");
}

async fn is_another_agents() {
    let mut agent =
        Agent::new(r#"can='{"loadSession":true}'; on_load() { chunk agent_message_chunk x; reply null; }"#);
    let first = agent.play("one").await;
    agent.config.acp.argv.push("--another".to_owned());
    let second = later(&agent, &first).await.say("two", &[("one", "hello")]).await;
    assert_eq!(second.text(), "hello");
    assert_eq!((agent.told("session/load").len(), agent.told("session/new").len()), (0, 2));
}

async fn costs() {
    let agent = Agent::new(
        r#"
        total=0
        on_prompt() {
            total=$((total + 2))
            update "{\"sessionUpdate\":\"usage_update\",\"used\":600,\"size\":2000,\"cost\":{\"amount\":0.0$total,\"currency\":\"EUR\"}}"
            say "hello"
            stop end_turn
        }
        serve
        "#,
    );
    let backend = agent.backend();
    let mut handle = backend.open(&session()).await.unwrap();
    for call in [Call::new("hi"), Call::new("again").after(&[("hi", "hello")])] {
        let played = call.play_on(&mut *handle, async |_| {}).await;
        let costs = Usage { cost: 20_000, ..Usage::default() };
        let told = played.events.iter().position(|event| *event == AgentEvent::Usage(costs));
        let Some(AgentEvent::Session(counted)) = told.and_then(|at| played.events.get(at + 1)) else {
            panic!("the sum is not told with what came to it: {:?}", played.events)
        };
        assert_eq!(Some(counted.told.last.cost), played.session().map(|session| session.told.last.cost));
        let context = ContextUse { tokens: 600, window: Some(2_000) };
        assert!(played.events.contains(&AgentEvent::Context(context)), "{:?}", played.events);
    }
}

/// An agent that tells the tokens of each turn, or with `sums` of all of them, and its cost always as a sum.
fn uses(counts: &str) -> Agent {
    Agent::new(&format!(
        r#"can='{{"loadSession":true}}'; turns=0; sum=0
        on_load() {{ turns=$(cat "$JOURNAL.turns"); {REPLAY} reply null; }}
        on_prompt() {{
            turns=$((turns + 1)); echo $turns >"$JOURNAL.turns"
            window=$((10000 + turns * 100)); sum=$((sum + window))
            case {counts} in sums) input=$sum ;; *) input=$window ;; esac
            update "{{\"sessionUpdate\":\"usage_update\",\"used\":$((10000 + turns * 100)),\"size\":20000,\"cost\":{{\"amount\":$turns,\"currency\":\"EUR\"}}}}"
            say "hello"
            reply "{{\"stopReason\":\"end_turn\",\"usage\":{{\"inputTokens\":$input,\"outputTokens\":$((input / 100))}}}}"
        }}"#
    ))
}

fn used(played: &Played) -> Usage {
    let mut used = Usage::default();
    for event in &played.events {
        if let AgentEvent::Usage(more) = event {
            used.add(more);
        }
    }
    used
}

async fn tokens() {
    for counts in ["sums", "turns"] {
        let agent = uses(counts);
        let mut talk = Conversation::open(&*agent.backend()).await;
        for (turn, before) in
            [vec![], vec![("hi", "hello")], vec![("hi", "hello"); 2]].into_iter().enumerate()
        {
            let used = used(&talk.say("hi", &before).await);
            assert_eq!(
                (used.input, used.output),
                (10_100 + 100 * turn as u64, 101 + turn as u64),
                "{counts}"
            );
        }
    }
}

async fn used_over_handles() {
    for counts in ["sums", "turns"] {
        let agent = uses(counts);
        let mut talk = Conversation::open(&*agent.backend()).await;
        talk.say("hi", &[]).await;
        let second = talk.say("hi", &[("hi", "hello")]).await;
        let third = later(&agent, &second).await.say("hi", &[("hi", "hello"); 2]).await;
        let used = used(&third);
        assert_eq!((used.input, used.output, used.cost), (10_300, 103, 1_000_000), "{counts}");
    }
}

async fn tokens_of_a_stopped_turn() {
    let agent = Agent::new(
        r#"on_prompt() { say "one"; }
        on_cancel() {
            id=$prompt
            reply '{"stopReason":"cancelled","usage":{"totalTokens":9,"inputTokens":7,"outputTokens":2}}'
        }"#,
    );
    let (_, played) = stop_at_first_text(&agent).await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    let used = AgentEvent::Usage(Usage { input: 7, output: 2, ..Usage::default() });
    assert_eq!(played.events.last(), Some(&used));
}

async fn chooses_a_model() {
    let offers = r#"on_new() { reply '{"sessionId":"s1","models":{"availableModels":[{"modelId":"small"},{"modelId":"large"}]}}'; }
        on_answer() { case $method in session/set_model) reply '{}' ;; esac; }"#;
    let play = async |agent: &Agent, model: &str| {
        let context = SessionContext { model: Some(model.to_owned()), ..session() };
        let handle = agent.backend().open(&context).await.unwrap();
        Conversation { handle }.say("hello", &[]).await
    };
    let agent = Agent::new(offers);
    assert_eq!(play(&agent, "large").await.text(), "hello");
    assert_eq!(agent.told("session/set_model"), [json!({"sessionId": "s1", "modelId": "large"})]);
    let by_option = Agent::new(
        r#"on_new() { reply '{"sessionId":"s1","configOptions":[{"id":"m","name":"Model","category":"model","type":"select","currentValue":"small","options":[{"value":"small","name":"Small"},{"value":"large","name":"Large"}]}]}'; }
        on_answer() { case $method in session/set_config_option) reply '{"configOptions":[]}' ;; esac; }"#,
    );
    assert_eq!(play(&by_option, "large").await.text(), "hello");
    let chosen = json!({"sessionId": "s1", "configId": "m", "value": "large"});
    assert_eq!(by_option.told("session/set_config_option"), [chosen]);
    let refused = play(&agent, "huge").await;
    let expected = "sh offers no model \"huge\"; it has small, large; /model default takes the choice back";
    assert_eq!(refused.failure(), expected);
    let refused = play(&Agent::new(""), "large").await;
    assert!(refused.failure().starts_with("sh offers no choice of models"), "{}", refused.failure());
}
