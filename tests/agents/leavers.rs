//! What leaves the process group of a program ends with it, whoever runs the program.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;
use switchboard::agent::{AgentError, AgentEvent, Backend, ScriptCall, ScriptError, run_script};
use switchboard::config::{BackendKind, Keys};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::stage::{Call, build, config, ended, real};

pub fn tests() -> Vec<Trial> {
    vec![
        real("command_ends_what_left_its_group_when_it_ends", with_its_end),
        real("command_ends_what_left_its_group_when_it_is_stopped", with_a_stop),
        real("command_ends_what_left_its_group_when_the_turn_is_dropped", with_a_drop),
        real("script_ends_what_left_its_group", with_a_script),
    ]
}

/// Starts what leaves the group, and tells the group that it leads once it has let go of the output.
const LEAVER: &str = "echo $(setsid sh -c 'echo $$; exec >/dev/null 2>&1; sleep 1000; true' &)";

fn leaver(then: &str) -> Arc<dyn Backend> {
    let mut config = config(BackendKind::Command);
    config.command.argv = ["sh", "-c", &format!("{LEAVER}; {then}")].map(str::to_owned).to_vec();
    build(&config)
}

async fn with_its_end() {
    let played = Call::new("go").play(&*leaver("true")).await;
    assert_eq!(played.end, Ok(()));
    ended(played.text().trim()).await;
}

async fn with_a_stop() {
    let call = Call::new("go");
    let cancel = call.cancel.clone();
    let played = call.play_watching(&*leaver("sleep 1000"), async |_| cancel.cancel()).await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    ended(played.text().trim()).await;
}

async fn with_a_drop() {
    let (backend, told) = (leaver("sleep 1000"), Notify::new());
    let mut group = String::new();
    tokio::select! {
        played = Call::new("go").play_watching(&*backend, async |event| {
            let AgentEvent::Text(text) = event else { return };
            group.push_str(text);
            told.notify_one();
        }) => panic!("it ended by itself: {played:?}"),
        () = told.notified() => {}
    }
    ended(group.trim()).await;
}

async fn with_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("leaver.sh");
    for (then, end) in [("true", Ok("begun\n".to_owned())), ("sleep 1000", Err(ScriptError::Stopped))] {
        fs::write(&program, format!("{LEAVER} > group; echo begun; {then}")).unwrap();
        let call = ScriptCall {
            program: program.clone(),
            workdir: folder.path().to_owned(),
            variables: vec![],
            keys: Keys::default(),
            limit: Duration::from_secs(60),
        };
        let stop = CancellationToken::new();
        let on_output = || {
            if end.is_err() {
                stop.cancel();
            }
        };
        assert_eq!(run_script(&call, on_output, &stop).await.map(|output| output.0), end);
        ended(fs::read_to_string(folder.path().join("group")).unwrap().trim()).await;
    }
}
