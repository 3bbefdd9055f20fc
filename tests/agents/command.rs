//! The command backend runs any program once a turn, and leaves nothing of it behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;
use switchboard::agent::{self, AgentError, AgentEvent, Backend, Children, NewChild};
use switchboard::config::{BackendKind, Keys};
use tokio::sync::Notify;

use crate::executable::write_program;
use crate::stage::{CANARY, Call, Played, SECRETS, assert_gone, build, config, ended, lives, real, session};

pub fn tests() -> Vec<Trial> {
    vec![
        real("command_without_argv_names_the_setting", names_the_missing_setting),
        real("command_gets_the_message_and_its_output_is_the_answer", answers),
        real("command_output_streams_as_it_comes", streams),
        real("command_knows_its_session_and_turn", knows_its_place),
        real("command_sees_no_secret_in_its_environment", sees_no_secret),
        real("command_reads_the_history_from_a_private_file", reads_the_history),
        real("command_that_fails_tells_its_exit_code_and_last_words", tells_why_it_failed),
        real("command_that_is_killed_tells_the_signal", tells_the_signal),
        real("command_that_says_nothing_is_a_failure", silence_is_a_failure),
        real("command_that_does_not_exist_is_named_with_its_setting", missing_program),
        real("command_that_may_not_run_or_has_no_folder_says_what_to_do", unusable_program),
        real("command_runs_in_its_folder", runs_in_its_folder),
        real("command_that_takes_too_long_is_stopped_with_its_group", times_out),
        real("command_may_say_goodbye_when_it_is_stopped", says_goodbye),
        real("command_that_ignores_a_stop_is_killed_with_its_group", ignores_a_stop),
        real("command_dies_with_its_group_when_the_turn_is_dropped", is_dropped),
        real("command_leaves_nothing_in_the_background", leaves_nothing),
        real("command_ends_though_its_background_talks_on", chatters_on),
        real("command_stops_when_nobody_listens", unheard),
        real("command_ends_though_an_escaped_process_holds_its_output", escaped_process),
        real("command_may_flood_its_output", floods),
        real("command_may_write_one_huge_line", huge_line),
        real("command_may_flood_its_errors", floods_errors),
        real("command_that_never_ends_its_output_can_be_stopped", endless_output),
        real("command_may_write_bytes_that_are_no_text", foreign_bytes),
        real("command_need_not_read_a_large_message", unread_message),
        real("command_reads_a_large_message_while_it_answers", large_message),
        real("command_that_was_cancelled_before_it_began_does_not_start", cancelled_before),
        real("command_does_nothing_until_its_process_is_kept", waits_to_be_kept),
        real("command_whose_process_can_not_be_kept_never_works", never_works),
    ]
}

fn sh(script: &str) -> Arc<dyn Backend> {
    argv(&["sh", "-c", script])
}

fn argv(argv: &[&str]) -> Arc<dyn Backend> {
    let mut config = config(BackendKind::Command);
    config.command.argv = argv.iter().map(|part| (*part).to_owned()).collect();
    build(&config)
}

async fn run(script: &str) -> Played {
    Call::new("hello").play(&*sh(script)).await
}

async fn names_the_missing_setting() {
    let refused =
        agent::build(&config(BackendKind::Command), &Keys::default(), Path::new("/")).err().unwrap();
    assert!(refused.to_string().contains("agent.command.argv"), "{refused}");
    let named = config(BackendKind::Command).named(&"coder".parse().unwrap());
    let refused = agent::build(&named, &Keys::default(), Path::new("/")).err().unwrap();
    assert!(refused.to_string().starts_with("agents.coder.command.argv is empty"), "{refused}");
    assert_eq!(sh("true").label(), "command sh");
    assert!(!sh("true").steerable());
}

async fn answers() {
    let played = Call::new("first line\nsecond: ü\n").play(&*argv(&["cat"])).await;
    assert_eq!(played.end, Ok(()));
    assert_eq!(played.text(), "first line\nsecond: ü\n");
}

async fn streams() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = format!("echo one; until [ -e {} ]; do sleep 0.01; done; echo two", seen.display());
    let played = Call::new("go")
        .play_watching(&*sh(&script), async |event| {
            if matches!(event, AgentEvent::Text(text) if text == "one\n") {
                fs::write(&seen, "").unwrap();
            }
        })
        .await;
    assert_eq!(played.events, [AgentEvent::Text("one\n".into()), AgentEvent::Text("two\n".into())]);
}

async fn knows_its_place() {
    let played = run("echo $SWITCHBOARD_SESSION $SWITCHBOARD_TURN").await;
    assert_eq!(played.text(), format!("{} 7\n", session().id));
}

async fn sees_no_secret() {
    let mut config = config(BackendKind::Command);
    config.command.argv = vec!["env".to_owned()];
    config.openai.api_key_env = SECRETS[2].to_owned();
    let backend = build(&config);
    let played = Call::new("hello").play(&*backend).await;
    let text = played.text();
    assert!(text.contains("PATH="), "{text}");
    assert!(!text.contains(CANARY), "{text}");
    for name in SECRETS {
        assert_eq!(std::env::var(name).unwrap(), CANARY, "the test proves nothing");
        assert!(!text.contains(name), "{name} in {text}");
    }
}

async fn reads_the_history() {
    let script = "cat \"$1\"; echo; stat -c %a \"$1\"; echo \"$2\"";
    let (home, mut config) = (tempfile::tempdir().unwrap(), config(BackendKind::Command));
    config.command.argv =
        ["sh", "-c", script, "sh", "{history}", "--from={history}"].map(str::to_owned).to_vec();
    let backend = agent::build(&config, &Keys::default(), home.path()).unwrap();
    let text = Call::new("now").after(&[("one \"x\"", "two")]).play(&*backend).await.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], r#"[{"role":"user","text":"one \"x\""},{"role":"agent","text":"two"}]"#);
    assert_eq!(lines[1], "600");
    let path = lines[2].strip_prefix("--from=").unwrap();
    let run = home.path().join("run");
    assert!(Path::new(path).starts_with(&run) && path.ends_with(".json"), "{path}");
    assert_eq!(run.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(!Path::new(path).exists(), "{path} outlived its turn");
}

async fn tells_why_it_failed() {
    let played = run("echo partial; echo warning >&2; echo 'no such model' >&2; exit 3").await;
    assert_eq!(played.failure(), "sh ended with exit code 3: warning | no such model");
    assert_eq!(played.text(), "partial\n");
    assert_eq!(run("exit 4").await.failure(), "sh ended with exit code 4");
}

async fn tells_the_signal() {
    assert_eq!(run("echo x; kill -9 $$").await.failure(), "sh was ended by signal 9");
}

async fn silence_is_a_failure() {
    let played = run("echo 'answer on the wrong stream' >&2").await;
    assert!(played.failure().contains("no answer"), "{}", played.failure());
    assert!(played.failure().ends_with(": answer on the wrong stream"), "{}", played.failure());
}

async fn missing_program() {
    let played = Call::new("hello").play(&*argv(&["no-such-program-here"])).await;
    let why = played.failure();
    assert!(why.contains("\"no-such-program-here\" of agent.command.argv"), "{why}");
    assert!(why.contains("PATH"), "{why}");
    let played = Call::new("hello").play(&*argv(&["./no-such-script.sh"])).await;
    assert!(played.failure().contains("there is no /no-such-script.sh"), "{}", played.failure());
}

async fn unusable_program() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("agent.sh"), "#!/bin/sh\necho hi\n").unwrap();
    let mut config = config(BackendKind::Command);
    config.command.argv = vec!["./agent.sh".to_owned()];
    config.command.workdir = Some(folder.path().to_path_buf());
    let played = Call::new("hello").play(&*build(&config)).await;
    assert!(played.failure().contains("chmod +x"), "{}", played.failure());
    config.command.workdir = Some(folder.path().join("gone"));
    let played = Call::new("hello").play(&*build(&config)).await;
    assert!(played.failure().contains("agent.command.workdir"), "{}", played.failure());
}

async fn runs_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    write_program(&folder.path().join("agent.sh"), "#!/bin/sh\npwd -P\n".as_bytes());
    let mut config = config(BackendKind::Command);
    config.command.argv = vec!["./agent.sh".to_owned()];
    let home = folder.path().canonicalize().unwrap();
    let backend = agent::build(&config, &Keys::default(), &home).unwrap();
    let played = Call::new("hello").play(&*backend).await;
    assert_eq!(played.text(), format!("{}\n", home.display()));
}

const FAMILY: &str = "sleep 1000 & (sleep 1000; true) & echo $$;";

async fn times_out() {
    let mut config = config(BackendKind::Command);
    config.command.argv = ["sh", "-c", &format!("{FAMILY} wait")].map(str::to_owned).to_vec();
    config.command.timeout = Duration::from_secs(3);
    let played = Call::new("hello").play(&*build(&config)).await;
    assert!(played.failure().contains("agent.command.timeout_seconds"), "{}", played.failure());
    assert_gone(&played).await;
}

async fn says_goodbye() {
    let script = format!("trap 'echo bye; exit 0' TERM; {FAMILY} wait");
    let played = stop_at_first_text(&script).await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert!(played.text().ends_with("bye\n"), "{}", played.text());
    assert_gone(&played).await;
}

async fn ignores_a_stop() {
    let played = stop_at_first_text(&format!("trap '' TERM; {FAMILY} while true; do sleep 1; done")).await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert_gone(&played).await;
}

async fn is_dropped() {
    let backend = sh(&format!("trap '' TERM; {FAMILY} wait"));
    let seen = Notify::new();
    let mut events = Vec::new();
    tokio::select! {
        played = Call::new("go").play_watching(&*backend, async |event| {
            events.push(event.clone());
            seen.notify_one();
        }) => panic!("it ended by itself: {played:?}"),
        () = seen.notified() => {}
    }
    assert_gone(&Played { events, end: Ok(()) }).await;
}

async fn leaves_nothing() {
    let played = run(FAMILY).await;
    assert_eq!(played.end, Ok(()));
    assert_gone(&played).await;
}

async fn chatters_on() {
    let played = run("(while true; do echo more; sleep 0.01; done) & echo done").await;
    assert_eq!(played.end, Ok(()), "it ends with its program");
}

async fn escaped_process() {
    let folder = tempfile::tempdir().unwrap();
    let escaped = folder.path().join("pid");
    let pid = escaped.display();
    let script = format!(
        "setsid sh -c 'echo $$ > {pid}; sleep 100; true' & until [ -s {pid} ]; do sleep 0.01; done; echo done"
    );
    let played = run(&script).await;
    assert_eq!(played.end, Ok(()));
    assert_eq!(played.text(), "done\n");
    ended(fs::read_to_string(&escaped).unwrap().trim()).await;
}

async fn unheard() {
    let end = Call::new("hello").play_unheard(&*sh("sleep 1000")).await;
    assert_eq!(end, Err(AgentError::Cancelled));
}

async fn floods() {
    let played = run("seq 1 35000").await;
    assert_eq!(played.end, Ok(()));
    let expected: String = (1..=35_000).map(|n| format!("{n}\n")).collect();
    assert!(played.text() == expected, "lines were lost or changed");
    assert_small_pieces(&played);
}

async fn huge_line() {
    let played = run("head -c 5000000 /dev/zero | tr '\\0' x").await;
    assert_eq!(played.end, Ok(()));
    assert!(played.text() == "x".repeat(5_000_000), "bytes were lost or changed");
    assert_small_pieces(&played);
}

async fn floods_errors() {
    let played = run("seq 1 35000 >&2; exit 1").await;
    assert_eq!(played.failure(), "sh ended with exit code 1: 34998 | 34999 | 35000");
}

async fn endless_output() {
    let call = Call::new("go");
    let cancel = call.cancel.clone();
    let mut seen = 0;
    let played = call
        .play_watching(&*sh("echo $$; yes"), async |_| {
            seen += 1;
            if seen == 50 {
                cancel.cancel();
            }
        })
        .await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert_gone(&played).await;
}

async fn foreign_bytes() {
    let played = run(r"printf 'a\377\303'; sleep 0.05; printf '\244\000\033[2J\360\237'").await;
    assert_eq!(played.end, Ok(()));
    assert_eq!(played.text(), "a\u{FFFD}ä\0\u{1b}[2J\u{FFFD}");
}

async fn unread_message() {
    let message = "m".repeat(1_000_000);
    for script in ["echo ok", "exec <&-; echo ok"] {
        let played = Call::new(&message).play(&*sh(script)).await;
        assert_eq!(played.end, Ok(()), "{script}");
        assert_eq!(played.text(), "ok\n", "{script}");
    }
}

async fn large_message() {
    let message = "line of the message\n".repeat(100_000);
    let played = Call::new(&message).play(&*argv(&["cat"])).await;
    assert_eq!(played.end, Ok(()));
    assert!(played.text() == message, "bytes were lost or changed");
}

async fn cancelled_before() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("ran");
    let call = Call::new("go");
    call.cancel.cancel();
    let played = call.play(&*sh(&format!("touch {}", trace.display()))).await;
    assert_eq!(played.end, Err(AgentError::Cancelled));
    assert!(!trace.exists());
}

/// A turn whose program would leave a trace, and what its backend hands over to be kept.
fn traced(folder: &Path) -> (Arc<dyn Backend>, Call, tokio::sync::mpsc::Receiver<NewChild>) {
    let backend = sh(&format!("echo ran > {}; cat", folder.join("trace").display()));
    let (children, new) = Children::channel();
    (backend, Call::new("hello").with_children(children), new)
}

async fn waits_to_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (backend, call, mut new) = traced(folder.path());
    let keep = async {
        let child = new.recv().await.unwrap();
        // It waits in its shell, under the number that the program will have.
        let name = fs::read_to_string(format!("/proc/{}/comm", child.identity.pid)).unwrap();
        assert_eq!((name.trim(), child.program.as_str()), ("sh", "sh"));
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(!folder.path().join("trace").exists(), "it worked before it was kept");
        child.keep();
    };
    let (played, ()) = tokio::join!(call.play(&*backend), keep);
    assert_eq!(played.text(), "hello", "the message reached it whole");
    assert!(folder.path().join("trace").exists());
}

async fn never_works() {
    let folder = tempfile::tempdir().unwrap();
    let (backend, call, mut new) = traced(folder.path());
    let mut pid = 0;
    let refuse = async { pid = new.recv().await.unwrap().identity.pid };
    let (played, ()) = tokio::join!(call.play(&*backend), refuse);
    assert_eq!(played.failure(), "sh was not let work: its process could not be kept");
    while lives(&pid.to_string()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!folder.path().join("trace").exists());
}

async fn stop_at_first_text(script: &str) -> Played {
    let call = Call::new("go");
    let cancel = call.cancel.clone();
    call.play_watching(&*sh(script), async |_| cancel.cancel()).await
}

fn assert_small_pieces(played: &Played) {
    for event in &played.events {
        let AgentEvent::Text(text) = event else { panic!("{event:?}") };
        assert!(text.len() <= 16 * 1024, "a piece of {} bytes", text.len());
    }
}
