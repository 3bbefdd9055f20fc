//! An agent that asks, over the socket: what a script sees of it and how it answers.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard::config::{Config, Home};
use switchboard::control::{Client, StoreOnly};
use switchboard::domain::api::{Answer, Query};
use switchboard::domain::turn::TurnState;

use crate::long_tool::model as scripted_model;
use crate::support::chat_server::Reply;
use crate::support::program::{Place, Serve};

/// Looks again and again, a minute at most, until there is something to see.
pub(crate) fn soon<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "it did not come within a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn asks(place: &Place) -> Value {
    soon(|| {
        let rows = place.json(&["sessions"]);
        rows.into_iter().find(|row| row["asks"].as_array().is_some_and(|asks| !asks.is_empty()))
    })
}

#[test]
fn a_question_is_listed_counted_and_answered_from_the_command_line() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "ask to run git push --force"]);
    let row = asks(&place);
    assert_eq!(
        (&row["state"], &row["asks"][0]["question"]["what"]),
        (&json!("needs_you"), &json!("git push --force"))
    );
    assert!(
        place
            .done(&["alerts"])
            .contains("console asks: terminal: git push --force; /approve 1 or /deny 1 answers")
    );
    assert!(place.done(&["sessions"]).contains("asks: question 1, terminal: git push --force"));
    assert!(place.done(&["send", "/status"]).contains("denied by itself at"));
    let other = place.run(&["send", "/deny 3 times is too often"]);
    assert!(other.code == 1 && other.err.contains("question 3 is none of this session"), "{other:?}");
    let denied = place.done(&["send", "/deny 1 never force"]);
    assert!(denied.contains("denied: never force: terminal: git push --force"), "{denied}");
    let none = place.run(&["send", "/approve"]);
    assert!(none.code == 1 && none.err.contains("the agent asks nothing here"), "{none:?}");
    let late = place.run(&["send", "/approve 1"]);
    assert!(late.code == 1 && late.err.contains("question 1 is settled already: denied: never"), "{late:?}");
    assert!(place.done(&["alerts"]).contains("nothing needs you"));
}

#[test]
fn what_was_always_allowed_is_listed_and_taken_back_from_the_command_line() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    assert!(place.done(&["allowed"]).contains("nothing but what the settings allow"));
    for command in ["git push", "git log -p"] {
        place.done(&["send", &format!("ask to run {command}")]);
        asks(&place);
        place.done(&["send", "/approve always"]);
    }
    let prefixes = |arguments: &[&str]| -> Vec<Value> {
        place.json(arguments).iter().map(|row| row["prefix"].clone()).collect()
    };
    assert_eq!(prefixes(&["allowed", "--session", "console"]), [json!("git log"), json!("git push")]);
    let shown = place.done(&["send", "/allowed"]);
    assert!(shown.contains("git push  since ") && shown.contains("/allowed remove COMMAND"), "{shown}");

    let unknown = place.run(&["allowed", "remove", "console", "git"]);
    assert!(unknown.code == 1 && unknown.err.contains("allowed are: git log, git push"), "{unknown:?}");
    let told = place.done(&["allowed", "remove", "console", "git", "push"]);
    assert_eq!(told, "the agent asks again before git push\n");
    assert_eq!(prefixes(&["allowed"]), [json!("git log")]);
    assert!(place.done(&["send", "/allowed remove git log"]).contains("asks again before git log"));
    let events = place.done(&["events"]);
    assert!(events.contains("not allowed without asking any more: git push"), "{events}");
    place.done(&["send", "ask to run git push"]);
    asks(&place);
}

#[test]
fn a_kill_settles_the_question_and_closes_its_call_as_not_done() {
    let place = Place::new();
    let engine = place.serve(&[]);
    place.done(&["send", "ask to run git push"]);
    asks(&place);
    assert!(place.done(&["status"]).contains("0 running, 1 asking you, 0 waiting"));
    engine.kill();
    let alerts = place.done(&["alerts"]);
    assert!(
        alerts.contains("git push; no engine runs: it was not done, the next start closes it"),
        "{alerts}"
    );
    let (sessions, status) = (place.done(&["sessions"]), place.done(&["status"]));
    assert!(sessions.contains("cut off") && !sessions.contains("asks"), "{sessions}");
    assert!(status.contains("1 cut off"), "{status}");
    let _next = place.serve(&[]);
    let rows = place.json(&["sessions"]);
    assert!(rows.iter().all(|row| row["asks"].as_array().is_some_and(Vec::is_empty)), "{rows:?}");
    let events = place.done(&["events"]);
    assert!(events.contains("not done: the turn has ended: terminal: git push"), "{events}");
    assert!(events.contains("1 tool call of turn 1 closed: not done: nobody had answered yet"), "{events}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_engine_what_a_cut_turn_called_is_not_told_as_running() {
    let place = Place::new();
    let engine = place.serve(&[]);
    place.done(&["send", "ask to run git push"]);
    asks(&place);
    engine.kill();
    let home = Home::resolve(Some(&place.home())).unwrap();
    let store = StoreOnly::open(&home, Config::default()).unwrap();
    let sessions = Query::Sessions { filter: String::new(), after: None, limit: 9 };
    let Answer::Sessions(page) = store.query(sessions).await.unwrap() else { panic!("no sessions") };
    let session = page.rows[0].session.id.clone();
    let entries = Query::Conversation { session, before: None, limit: 99 };
    let Answer::Conversation(page) = store.query(entries).await.unwrap() else { panic!("no conversation") };
    assert!(!page.entries.is_empty());
    assert!(page.entries.iter().all(|entry| entry.turn_state == TurnState::Interrupted), "{page:?}");
}

#[test]
fn a_stop_closes_a_call_that_waits_for_an_answer_as_not_done() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "ask to run git push"]);
    asks(&place);
    place.done(&["send", "/stop"]);
    let events = soon(|| Some(place.done(&["events"])).filter(|events| events.contains("closed")));
    assert!(events.contains("1 tool call of turn 1 closed: not done: nobody had answered yet"), "{events}");
}

#[test]
fn a_scheduled_task_that_asks_is_denied_at_once_and_ends() {
    let place = Place::new();
    let job = r#"{ "jobs": [{ "id": "push", "schedule": "0 8 * * 1", "prompt": "ask to run git push" }] }"#;
    place.write("jobs.json", job.as_bytes());
    let _engine = place.serve(&[]);
    soon(|| place.json(&["cron", "list"]).iter().any(|row| row["jobs_file"]["file"] == "read").then_some(()));
    let undone = "1 call denied (terminal: git push): a scheduled task never waits for a person";
    let ended = place.done(&["cron", "run", "push", "--wait"]);
    assert!(ended.contains(undone), "{ended}");
    assert!(place.done(&["cron", "show", "push"]).contains(undone), "its history says it, too");
    let events = place.done(&["events"]);
    assert!(
        events.contains("denied, nobody is asked: a scheduled task never waits for a person"),
        "{events}"
    );
    assert!(place.done(&["alerts"]).contains("nothing needs you"));
}

/// A model that runs one command and then says a word; whether the command asks is the settings' word.
fn model(place: &Place, policy: &str, command: &str) -> std::net::TcpListener {
    model_calling(place, policy, &json!({"command": command}))
}

/// The same with all that is said to `terminal`.
pub(crate) fn model_calling(place: &Place, policy: &str, arguments: &Value) -> std::net::TcpListener {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let settings = format!(
        "[agent]\nbackend = \"openai\"\n[agent.openai]\nbase_url = \"http://{address}/v1\"\nmodel = \"tiny\"\n\
         [agent.approvals]\nterminal = \"{policy}\"\n"
    );
    place.write("config.toml", settings.as_bytes());
    let arguments = arguments.to_string();
    let serving = listener.try_clone().unwrap();
    std::thread::spawn(move || {
        let call = json!({"index": 0, "id": "c-1", "function": {"name": "terminal", "arguments": arguments}});
        let first = json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
        let then = json!({"choices": [{"delta": {"content": "done"}, "finish_reason": "stop"}]});
        let mut replies = vec![first].into_iter().chain(std::iter::repeat(then));
        while let Ok((stream, _)) = serving.accept() {
            answer(stream, &mut replies);
        }
    });
    listener
}

/// Answers a request to the model with the next reply; its list of models is none of this server's.
fn answer(mut stream: std::net::TcpStream, replies: &mut dyn Iterator<Item = Value>) {
    use std::io::{Read, Write};
    let (mut request, mut piece) = (Vec::new(), [0; 65_536]);
    loop {
        let length = stream.read(&mut piece).unwrap();
        request.extend_from_slice(&piece[..length]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let wanted = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        if body.len() >= wanted.unwrap_or(0) || length == 0 {
            break;
        }
    }
    if request.starts_with(b"GET") {
        let _ = write!(stream, "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        return;
    }
    let body = format!("data: {}\n\ndata: [DONE]\n\n", replies.next().unwrap());
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    // The engine may be killed by now.
    let _ = write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len());
}

/// The processes that run this command, by itself or in a shell's words.
pub(crate) fn running(command: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).replace('\0', " ").contains(command)).count()
}

/// A command that sleeps for a while and is told from that of any other run of these tests.
pub(crate) fn sleep_of_this_run(seconds: &str) -> String {
    format!("sleep {seconds}{}", std::process::id())
}

fn at_work(place: &Place, command: &str, part: &str) -> (Serve, std::net::TcpListener) {
    let model = model(place, "auto", command);
    let engine = place.serve(&[]);
    place.done(&["send", "work"]);
    soon(|| (running(part) >= 2).then_some(()));
    (engine, model)
}

#[test]
fn a_command_of_a_minute_that_is_stopped_leaves_no_process() {
    let place = Place::new();
    let sleep = sleep_of_this_run("160.0811");
    let (_engine, _model) = at_work(&place, &format!("{sleep} & {sleep}"), &sleep);
    place.done(&["send", "/stop"]);
    soon(|| (running(&sleep) == 0).then_some(()));
    let events =
        soon(|| Some(place.done(&["events"])).filter(|events| events.contains("closed: interrupted")));
    assert!(events.contains("turn 1 interrupted"), "{events}");
}

#[test]
fn a_command_of_a_minute_whose_engine_is_killed_is_ended_by_the_next_and_its_call_closed_as_unknown() {
    let place = Place::new();
    let sleep = sleep_of_this_run("160.0822");
    let (engine, _model) = at_work(&place, &format!("setsid {sleep} & {sleep}"), &sleep);
    engine.kill();
    let _next = place.serve(&[]);
    soon(|| (running(&sleep) == 0).then_some(()));
    let events = place.done(&["events"]);
    assert!(events.contains("terminal of turn 1 had outlived its engine"), "{events}");
    assert!(events.contains("closed: interrupted, effect unknown"), "{events}");
    let export = soon(|| {
        let text = place.done(&["send", "/status"]);
        text.contains("no turn").then_some(text)
    });
    assert!(export.contains("none since the last answer"), "the resumed turn answers: {export}");
}

#[test]
fn a_command_runs_only_after_it_was_approved() {
    let place = Place::new();
    let _model = model(&place, "ask", "echo ran > ran");
    let _engine = place.serve(&[]);
    place.done(&["send", "work"]);
    let asked = asks(&place);
    assert_eq!(asked["asks"][0]["question"]["what"], json!("echo ran > ran"));
    assert!(!place.home().join("ran").exists());
    place.done(&["send", "/approve"]);
    soon(|| fs::read_to_string(place.home().join("ran")).ok().filter(|text| text == "ran\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_task_of_the_models_is_shown_whole_and_made_only_after_a_yes() {
    let place = Place::new();
    let task = json!({
        "schedule": "0 8 * * 1", "prompt": "Look at the disk", "name": "Disk", "description": "Before the week",
        "timezone": "Europe/Berlin", "deliver": "console",
    });
    let calls = |id| Reply::calls(id, "schedule_task", &task);
    let server =
        scripted_model(&place, [calls("c-1"), Reply::says("no"), calls("c-2"), Reply::says("yes")]).await;
    let _engine = place.serve(&[]);
    let told = |request: usize| {
        let messages =
            soon(|| server.requests().get(request).map(|request| request.body["messages"].clone()));
        messages.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    place.done(&["send", "each Monday"]);
    let asked = asks(&place)["asks"][0]["question"]["what"].clone();
    for part in task.as_object().unwrap().values().map(|part| part.as_str().unwrap()) {
        assert!(asked.as_str().unwrap().contains(part), "{part}: {asked}");
    }
    place.done(&["send", "/deny not on Mondays"]);
    assert!(told(1).contains("not on Mondays"), "{}", told(1));
    assert!(place.done(&["cron", "list"]).starts_with("no jobs"));
    assert!(!place.home().join("jobs.json").exists());

    soon(|| place.done(&["events"]).contains("turn 1 answered").then_some(()));
    place.done(&["send", "each Monday, please"]);
    asks(&place);
    place.done(&["send", "/approve"]);
    assert!(told(3).starts_with("scheduled task disk is made: "), "{}", told(3));
    let made = place.json(&["cron", "show", "disk"]).remove(0)["definition"].clone();
    for field in ["schedule", "prompt", "name", "description", "timezone"] {
        assert_eq!(made[field], task[field], "{made}");
    }
}
