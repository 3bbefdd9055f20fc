//! Keys stand where the operator put them and nowhere else, whatever is done with them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use portable_pty::CommandBuilder;
use serde_json::json;

use crate::approvals::soon;
use crate::support::chat_server::{ChatServer, Reply};
use crate::support::program::{Place, Serve};
use crate::support::pty::{Pty, contains};

const OF_THE_ENVIRONMENT: &str = "canary-51c0";
const OF_A_FILE: &str = "canary-9d41";
/// In variables of other programs, whose names or values look like secrets.
const OF_OTHERS: &str = "canary-e706";
/// Prints all variables, and what can be seen to come behind them.
const ENVIRONMENT: &str = "env; echo the end";

/// Every file below a folder that holds the words.
pub(crate) fn holding(folder: &Path, words: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let found = entries.flat_map(|path| match path.is_dir() {
        true => holding(&path, words),
        false => {
            let bytes = fs::read(&path).unwrap_or_default();
            let holds = bytes.windows(words.len()).any(|part| part == words.as_bytes());
            holds.then_some(path).into_iter().collect()
        }
    });
    found.collect()
}

/// Two agents at one server: the key of one comes from the environment, by a name that does not look like a key's, and
/// the key of the other from a file.
fn settings(place: &Place, server: &ChatServer) {
    let file = place.home().with_file_name("openai.key");
    fs::write(&file, OF_A_FILE).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let settings = format!(
        "[agent]\nbackend = \"openai\"\napprovals.terminal = \"auto\"\napprovals.schedule_task = \"auto\"\n[agent.openai]\nbase_url = \"{}\"\n\
         model = \"tiny\"\napi_key_env = \"WALRUS\"\n\
         [agents.other]\nopenai.api_key_env = \"UNSET\"\nopenai.api_key_file = \"{}\"\n",
        server.base_url(),
        file.display()
    );
    place.write("config.toml", settings.as_bytes());
}

fn runs(command: &str, background: bool) -> Reply {
    Reply::calls("c-1", "terminal", &json!({"command": command, "background": background}))
}

/// A task that would carry a key into jobs.json.
fn schedules_a_key() -> Reply {
    let task = json!({"schedule": "@daily", "prompt": format!("Log in with {OF_A_FILE}."), "name": "Log in"});
    Reply::calls("c-2", "schedule_task", &task)
}

fn refuses(key: &str) -> Reply {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {key}.")}});
    Reply::status("401 Unauthorized", &[], &body.to_string())
}

/// All that a person sees of the session on the screen.
fn screen(place: &Place) -> Vec<u8> {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_switchboard"));
    command.env_clear();
    command.env("SWITCHBOARD_HOME", place.home());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("TERM", "xterm-256color");
    let mut console = Pty::start(command, (100, 50));
    console.wait_until("both refusals", |screen| screen.contents().matches("[the key]").count() == 2);
    console.bytes().to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_in_no_store_log_output_export_or_screen_whatever_prints_or_echoes_it() {
    let place = Place::new();
    let replies = [
        runs(ENVIRONMENT, false),
        Reply::says("one"),
        runs(&format!("echo {OF_A_FILE}; {ENVIRONMENT}"), true),
        schedules_a_key(),
        Reply::says("two"),
        refuses(OF_THE_ENVIRONMENT),
        refuses(OF_A_FILE),
    ];
    let server = ChatServer::start(replies).await;
    settings(&place, &server);
    place.write_script("env.sh", &format!("#!/bin/sh\n{ENVIRONMENT}\n"));
    let job = json!({"id": "env", "schedule": "0 0 1 1 *", "script": "env.sh", "no_agent": true});
    place.write("jobs.json", json!({"jobs": [job]}).to_string().as_bytes());
    let mut command = place.command(&["serve"]);
    command.env("WALRUS", OF_THE_ENVIRONMENT).env("GH_TOKEN", OF_OTHERS).env("DB_PASSWORD", OF_OTHERS);
    command.env("DATABASE", format!("postgres://me:{OF_OTHERS}@localhost/base"));
    let engine = Serve::begin(command).unwrap();

    let in_talk = |words: &str| place.run(&["send", "--conversation", "talk", "--wait", words]);
    let mut shown = format!("{:?}{:?}", in_talk("in a turn"), in_talk("in the background"));
    shown += &format!("{:?}", place.run(&["send", "--wait", "refused"]));
    place.done(&["send", "/agent other"]);
    shown += &format!("{:?}", place.run(&["send", "--wait", "refused too"]));
    soon(|| place.done(&["processes"]).contains("exit 0").then_some(()));
    soon(|| place.done(&["cron", "list"]).contains("env").then_some(()));
    place.done(&["cron", "run", "env", "--wait"]);
    let requests = server.requests();
    for (request, key) in [(0, OF_THE_ENVIRONMENT), (6, OF_A_FILE)] {
        assert!(requests[request].head.contains(key), "the test proves nothing");
    }
    let answer = requests[4].body["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(answer.contains("a key of the settings stands in the task's text"), "{answer}");

    let export = place.done(&["send", "--conversation", "talk", "/export json"]);
    let events = place.done(&["events"]);
    assert!(events.contains("Incorrect API key provided: [the key]."), "{events}");
    shown += &[export, events, place.done(&["conversation", "show", "talk", "--json"])].concat();
    let processes = place.done(&["processes", "--json"]);
    assert!(processes.contains("echo [the key]; env"), "{processes}");
    shown += &processes;
    let screen = screen(&place);
    engine.kill();
    for key in [OF_THE_ENVIRONMENT, OF_A_FILE, OF_OTHERS] {
        assert!(!shown.contains(key), "{shown}");
        assert!(!contains(&screen, key.as_bytes()), "on the screen");
        assert_eq!(holding(&place.home(), key), Vec::<PathBuf>::new());
    }
    let kept = holding(&place.home(), "the end");
    for part in ["state.db", "background/", "output/", "exports/"] {
        let is_there = kept.iter().any(|path| path.to_string_lossy().contains(part));
        assert!(is_there, "no output of {part} is kept, the test proves nothing: {kept:?}");
    }
}

#[test]
fn what_an_agent_says_to_doctor_is_told_without_keys() {
    let place = Place::new();
    let key = place.home().with_file_name("openai.key");
    fs::write(&key, OF_A_FILE).unwrap();
    let settings = format!(
        "[agent]\nbackend = \"acp\"\nacp.argv = [\"sh\", \"-c\", \"echo my key is {OF_A_FILE} >&2; exit 3\"]\n\
         openai.api_key_file = \"{}\"\n",
        key.display()
    );
    place.write("config.toml", settings.as_bytes());
    let found = format!("{:?}", place.run(&["doctor"]));
    assert!(found.contains("my key is [the key]") && !found.contains(OF_A_FILE), "{found}");
}
