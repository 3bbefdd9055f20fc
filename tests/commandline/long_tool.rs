//! A command of a minute under the real engine: a stop, a word and a kill in the midst of it, and one that ends
//! its own engine. Each leaves no process, a conversation that a server takes, and nothing that is done twice.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::approvals::soon;
use crate::support::chat_server::{ChatServer, Reply};
use crate::support::program::{Place, Serve};

/// Writes down its process group, and so that it ran. It runs longer than a test waits for its end.
const A_MINUTE: &str = "cut -d' ' -f5 /proc/$$/stat >> ran; sleep 150";

/// A model that answers so, and the settings by which it may run commands.
pub(crate) async fn model(place: &Place, replies: impl IntoIterator<Item = Reply>) -> ChatServer {
    let server = ChatServer::start(replies).await;
    let settings = format!(
        "[engine]\ndrain_timeout_seconds = 1\n[agent]\nbackend = \"openai\"\n[agent.openai]\n\
         base_url = \"{}\"\nmodel = \"tiny\"\n[agent.approvals]\nterminal = \"auto\"\n",
        server.base_url()
    );
    place.write("config.toml", settings.as_bytes());
    server
}

fn runs(command: &str) -> Reply {
    Reply::calls("c-1", "terminal", &json!({"command": command}))
}

/// The process groups of all commands that ran.
fn ran(place: &Place) -> Vec<String> {
    let text = fs::read_to_string(place.home().join("ran")).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
}

/// The group of the one command that runs now.
fn group(place: &Place) -> String {
    let mut groups = soon(|| Some(ran(place)).filter(|groups| !groups.is_empty()));
    assert_eq!((groups.len(), lives(&groups[0])), (1, true));
    groups.remove(0)
}

/// Whether a process of the group lives; one that only waits to be reaped does not.
fn lives(group: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut stats = processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats.any(|stat| {
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[0] != "Z" && fields[2] == group
    })
}

/// The messages of a request, which a strict server takes: what was said and what was answered take turns, and
/// the results of an answer's calls, one each, stand right behind it.
fn messages(server: &ChatServer, request: usize) -> Vec<Value> {
    let messages = server.requests()[request].body["messages"].as_array().unwrap().clone();
    let mut owed: Vec<&Value> = Vec::new();
    let mut before = "assistant";
    for message in &messages {
        let role = message["role"].as_str().unwrap();
        match role {
            "tool" => {
                let place = owed.iter().position(|id| **id == message["tool_call_id"]);
                owed.remove(place.unwrap_or_else(|| panic!("nobody asked for {message}")));
            }
            role => {
                assert!(owed.is_empty(), "{owed:?} have no result before {message}");
                let follows = if before == "assistant" { "user" } else { "assistant" };
                assert!(role == follows || before == "tool", "{role} behind {before}: {messages:?}");
                owed =
                    message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["id"]).collect();
            }
        }
        before = role;
    }
    assert!(owed.is_empty() && before != "assistant", "nothing is asked: {messages:?}");
    messages
}

/// What the model is told of the call when it is asked the next time.
fn told_of_the_call(server: &ChatServer) -> String {
    let messages = messages(server, 1);
    let called = messages.iter().filter(|message| message["content"].to_string().contains(">> ran"));
    let called: Vec<&Value> = called.collect();
    assert_eq!(called.len(), 1, "{messages:?}");
    called[0]["content"].as_str().unwrap().to_owned()
}

fn answered(place: &Place, words: &str) {
    soon(|| place.done(&["events"]).contains(words).then_some(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_stopped_leaves_no_process_and_a_conversation_that_goes_on() {
    let place = Place::new();
    let server = model(&place, [runs(A_MINUTE), Reply::says("fine")]).await;
    let _engine = place.serve(&[]);
    place.done(&["send", "work"]);
    let group = group(&place);
    place.done(&["send", "/stop"]);
    soon(|| (!lives(&group)).then_some(()));
    assert!(place.done(&["send", "--wait", "and now?"]).contains("fine"));
    assert!(told_of_the_call(&server).contains("interrupted"), "{}", told_of_the_call(&server));
    assert_eq!(messages(&server, 1).last().unwrap()["content"], "and now?");
    assert_eq!(ran(&place).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_a_wait_for_a_background_process_ends_the_wait_and_not_the_process() {
    let place = Place::new();
    let begins = Reply::calls("c-1", "terminal", &json!({"command": A_MINUTE, "background": true}));
    let waits = Reply::calls("c-2", "process", &json!({"action": "wait", "number": 1, "seconds": 300}));
    let server = model(&place, [begins, waits, Reply::says("fine")]).await;
    let _engine = place.serve(&[]);
    place.done(&["send", "work"]);
    let group = group(&place);
    soon(|| (server.requests().len() == 2).then_some(()));
    place.done(&["send", "/stop"]);
    soon(|| place.done(&["events"]).contains("turn 1 interrupted").then_some(()));
    assert!(lives(&group));
    assert!(place.done(&["send", "--wait", "and now?"]).contains("fine"));
    assert_eq!((messages(&server, 2).len(), ran(&place).len()), (3, 1));
    place.done(&["send", "/kill 1"]);
    soon(|| (!lives(&group)).then_some(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_while_a_command_runs_reaches_the_model_behind_its_result() {
    let place = Place::new();
    let until_told = "echo $$ >> ran; while ! test -e go; do sleep 0.02; done; echo over";
    let server = model(&place, [runs(until_told), Reply::says("fine")]).await;
    let _engine = place.serve(&[]);
    place.done(&["send", "work"]);
    let group = group(&place);
    place.done(&["send", "/steer in short"]);
    place.write("go", b"");
    soon(|| (server.requests().len() == 2).then_some(()));
    let messages = messages(&server, 1);
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user"]);
    assert_eq!((&messages[2]["content"], &messages[3]["content"]), (&json!("over"), &json!("in short")));
    assert!(!lives(&group));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_whose_engine_is_killed_is_ended_by_the_next_closed_as_unknown_and_not_run_again() {
    let place = Place::new();
    let server = model(&place, [runs(A_MINUTE), Reply::says("fine")]).await;
    let engine = place.serve(&[]);
    place.done(&["send", "work"]);
    let group = group(&place);
    engine.kill();
    assert!(lives(&group), "nothing outlived its engine: the test proves nothing");
    let _next = place.serve(&[]);
    soon(|| (!lives(&group)).then_some(()));
    answered(&place, "turn 2 answered");
    assert!(told_of_the_call(&server).contains("effect unknown"), "{}", told_of_the_call(&server));
    assert_eq!((server.requests().len(), ran(&place).len()), (2, 1));
}

// B23 (a)
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_stops_its_own_engine_is_not_run_again_by_the_resumed_turn() {
    let place = Place::new();
    let stops_us = "echo $$ >> ran; kill -TERM $PPID; sleep 150";
    let server = model(&place, [runs(stops_us), Reply::says("fine")]).await;
    let engine = place.serve(&[]);
    place.done(&["send", "work"]);
    let (exit, log) = engine.ended();
    assert!(exit.success(), "it stops in order: {log}");
    soon(|| (!lives(&ran(&place)[0])).then_some(()));
    let _next = place.serve(&[]);
    answered(&place, "turn 2 answered");
    assert!(told_of_the_call(&server).contains("interrupted"), "{}", told_of_the_call(&server));
    assert_eq!((server.requests().len(), ran(&place).len()), (2, 1));
}

// B23 (a): the last net
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_kills_its_engine_at_every_resume_is_suspended_at_the_third_cut() {
    let place = Place::new();
    let _server = model(&place, [runs("echo $$ >> ran; kill -KILL $PPID; sleep 150")]).await;
    let engine = place.serve(&[]);
    place.done(&["send", "work"]);
    engine.ended();
    for _ in 0..2 {
        if let Ok(engine) = Serve::begin(place.command(&["serve"])) {
            engine.ended();
        }
    }
    let _engine = place.serve(&[]);
    assert!(place.done(&["sessions"]).contains("suspended"), "{}", place.done(&["sessions"]));
    assert_eq!(ran(&place).len(), 3);
    soon(|| (!ran(&place).iter().any(|group| lives(group))).then_some(()));
}

// B23 (b)
#[test]
fn a_one_shot_whose_script_ends_its_engine_is_not_fired_again_by_the_next_start() {
    for (signal, state) in [("TERM", "interrupted"), ("KILL", "unknown")] {
        let place = Place::new();
        place.write("config.toml", b"[engine]\ndrain_timeout_seconds = 1\n");
        let script = "#!/bin/sh\necho $$ >> \"$SWITCHBOARD_HOME/ran\"\nkill -SIGNAL $PPID\nsleep 150\n";
        place.write_script("end.sh", &script.replace("SIGNAL", signal));
        let soon_due = (chrono::Utc::now() + chrono::TimeDelta::seconds(4)).format("%Y-%m-%dT%H:%M:%SZ");
        let job =
            json!({"id": "once", "schedule": soon_due.to_string(), "script": "end.sh", "no_agent": true});
        place.write("jobs.json", json!({"jobs": [job]}).to_string().as_bytes());
        if let Ok(mut engine) = Serve::begin(place.command(&["serve"])) {
            engine.wait_at_most(Duration::from_secs(60));
            assert!(engine.has_ended().is_some(), "{}", place.done(&["events"]));
        }
        let _next = place.serve(&[]);
        let run = soon(|| {
            place.json(&["cron", "history", "once"]).into_iter().find(|run| run["state"] != "running")
        });
        assert_eq!(run["state"], state, "{signal}: {run}");
        soon(|| (!lives(&ran(&place)[0])).then_some(()));
        assert_eq!((ran(&place).len(), place.json(&["cron", "history", "once"]).len()), (1, 1), "{signal}");
    }
}
