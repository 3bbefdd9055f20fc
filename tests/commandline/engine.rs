//! A running engine and the commands that talk to it.

use std::fs::{File, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::executable::write_program;
use crate::support::program::{Place, Serve};

/// The listings that must survive a crash, without what only time changes.
fn kept(place: &Place) -> Vec<Vec<Value>> {
    vec![place.json(&["queue"]), place.json(&["events", "--after", "0", "--level", "debug"])]
}

fn texts(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["item"]["text"].as_str().unwrap()).collect()
}

#[test]
fn a_message_is_answered_and_the_answer_alone_goes_to_standard_output() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    let run = place.run(&["send", "--wait", "say good morning"]);
    assert_eq!((run.code, run.err.as_str()), (0, "running\n"));
    assert_eq!(run.out, "good morning\n");
    assert_eq!(place.done(&["queue"]), "nothing waits and nothing runs\n");
}

#[test]
fn a_long_answer_arrives_whole_as_text_and_as_json() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    let whole: String = (1..=2000).map(|line| format!("line {line} of 2000\n")).collect();
    let is_whole = |answer: &str| answer.ends_with(&whole) && answer.lines().count() <= 2001;
    let text = place.done(&["send", "--wait", "write 2000 lines"]);
    assert!(is_whole(&text), "{text}");
    let told = place.json(&["send", "--wait", "write 2000 lines"]);
    assert_eq!((&told[0]["reply"], &told[1]["outcome"]), (&Value::from("accepted"), &Value::from("done")));
    assert!(is_whole(told[1]["answer"].as_str().unwrap()), "{told:?}");
}

#[test]
fn without_wait_the_acknowledgement_is_the_result() {
    let place = Place::new();
    let _engine = place.serve(&["--hold"]);
    assert_eq!(place.done(&["send", "first"]), "next, the engine is on hold\n");
    assert_eq!(place.done(&["send", "--queue", "second"]), "queued, 1st of 1, the engine is on hold\n");
    assert_eq!(place.done(&["send", "/queue third"]), "queued, 2nd of 2, the engine is on hold\n");
    let rows = place.json(&["queue"]);
    assert_eq!(texts(&rows), ["first", "second", "third"]);
    assert_eq!(rows[2]["position"], 2);
}

#[test]
fn a_failed_turn_is_a_failure_with_its_reason() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    let run = place.run(&["send", "--wait", "fail"]);
    assert_eq!(run.code, 1);
    let told = "switchboard: the turn failed: the practice agent failed, as it was asked to\n";
    assert!(run.err.ends_with(told), "{run:?}");
}

#[test]
fn a_message_that_another_one_replaces_is_not_waited_for() {
    let place = Place::new();
    let _engine = place.serve(&["--hold"]);
    place.done(&["release"]);
    place.done(&["send", "hang"]);
    let mut waits = place.command(&["send", "--wait", "one"]).spawn().unwrap();
    let mut acknowledged = String::new();
    let mut err = BufReader::new(waits.stderr.take().unwrap());
    err.read_line(&mut acknowledged).unwrap();
    assert_eq!(acknowledged, "next, when this turn ends\n");
    assert!(place.done(&["send", "two"]).starts_with("replaces your message of "));
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "switchboard: the message was replaced by item 3; it is kept and can be put back\n");
    assert_eq!(waits.wait().unwrap().code(), Some(1));
}

#[test]
fn who_waits_for_an_answer_is_told_what_keeps_it_waiting() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "hang"]);
    let mut waits = place.command(&["send", "--wait", "--queue", "ask to run git push"]).spawn().unwrap();
    let mut err = BufReader::new(waits.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(err.next().unwrap(), "queued, 1st of 1");
    place.done(&["send", "/stop"]);
    assert_eq!(err.next().unwrap(), "waits: queue held; /continue releases it (1 waits)");
    place.done(&["send", "/continue"]);
    let asks = err.next().unwrap();
    assert!(asks.starts_with("waits: turn 2 asks: "), "{asks}");
    assert!(asks.ends_with("; /approve 1 or /deny 1 answers"), "{asks}");
    place.done(&["send", "/deny"]);
    assert_eq!((err.next(), waits.wait().unwrap().code()), (None, Some(0)));
}

#[test]
fn a_message_that_the_stopping_engine_leaves_waiting_is_told_to_run_after_the_next_start() {
    let place = Place::new();
    let engine = place.serve(&["--hold"]);
    let mut waits = place.command(&["send", "--wait", "later"]).spawn().unwrap();
    let mut err = BufReader::new(waits.stderr.take().unwrap());
    err.read_line(&mut String::new()).unwrap();
    place.done(&["stop"]);
    engine.ended();
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    let told = "switchboard: the engine stopped; the message waits and runs after the next start\n";
    assert_eq!((rest.as_str(), waits.wait().unwrap().code()), (told, Some(1)));
    assert_eq!(texts(&place.json(&["queue"])), ["later"]);
}

#[test]
fn stop_says_how_long_what_runs_may_take() {
    let place = Place::new();
    place.write("config.toml", b"[engine]\ndrain_timeout_seconds = 1\n");
    let _engine = place.serve(&[]);
    place.done(&["send", "hang"]);
    let run = place.run(&["stop"]);
    let told = "waits for console; what still runs after at most 1 s is cut\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "stopped\n", told));
}

#[test]
fn events_name_their_session_as_a_person_does_and_json_by_its_id() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "--wait", "--session", "garden", "hello"]);
    let id = place.json(&["events"])[1]["session"].as_str().unwrap_or_default().to_owned();
    let printed = place.done(&["events"]);
    let answered = printed.lines().find(|line| line.ends_with("answered")).unwrap();
    assert!(answered.contains("  garden  "), "{answered}");
    assert!(id.len() > 20 && !answered.contains(&id), "{id}: {answered}");
}

#[test]
fn slash_commands_work_and_refusals_are_failures() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "--wait", "say hello"]);
    assert!(place.done(&["send", "/status"]).contains("agent:main:local:dm:console"));
    place.done(&["send", "/title morning round"]);
    assert_eq!(place.json(&["sessions", "morning"])[0]["session"]["title"], "morning round");
    for (text, told) in [
        ("/quue x", "refused: /quue is no command (did you mean /queue?); write //quue to send it as text"),
        ("/stop", "refused: no turn runs in this session"),
        ("  ", "refused: the message is empty"),
        ("/quit", "refused: /quit belongs to a screen; switchboard stop stops an engine"),
    ] {
        let run = place.run(&["send", text]);
        assert_eq!((run.code, run.err), (1, format!("switchboard: {told}\n")), "{text}");
    }
}

#[test]
fn a_message_comes_from_standard_input_too() {
    let place = Place::new();
    let _engine = place.serve(&["--hold"]);
    assert_eq!(place.run_with(b"two\nlines\n", &["send", "-"]).code, 0);
    assert_eq!(texts(&place.json(&["queue"])), ["two\nlines"]);
    let run = place.run_with(b"\xff", &["send", "-"]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (1, "switchboard: standard input is not UTF-8; nothing was sent\n")
    );
    let run = place.run_with(&vec![b'x'; 1024 * 1024 + 1], &["send", "-"]);
    assert!(run.err.starts_with("switchboard: refused: the message has 1048577 bytes"), "{run:?}");
    let run = place.run_with(&vec![b'x'; 3 * 1024 * 1024], &["send", "-"]);
    assert!(run.err.starts_with("switchboard: standard input has more than the 1048576 bytes"), "{run:?}");
}

#[test]
fn each_session_has_a_queue_of_its_own() {
    let place = Place::new();
    let _engine = place.serve(&["--hold"]);
    place.done(&["send", "--session", "night", "a"]);
    place.done(&["send", "--session", "agent:main:local:dm:day", "b"]);
    assert_eq!(texts(&place.json(&["queue", "--session", "night"])), ["a"]);
    assert_eq!(texts(&place.json(&["queue", "--session", "day"])), ["b"]);
    let run = place.run(&["queue", "--session", "dusk"]);
    let told = "switchboard: there is no session \"dusk\"; `switchboard sessions` lists them\n";
    assert_eq!((run.code, run.err.as_str()), (1, told));
}

#[test]
fn a_killed_engine_leaves_everything_and_the_next_one_goes_on() {
    let place = Place::new();
    let engine = place.serve(&[]);
    place.done(&["send", "--wait", "say before"]);
    place.done(&["send", "hang"]);
    place.done(&["hold", "for the test"]);
    for text in ["first", "second", "third"] {
        place.done(&["send", "--queue", text]);
    }
    let before = kept(&place);
    engine.kill();
    // Without an engine the store tells the same.
    assert_eq!(kept(&place), before);
    let status = place.done(&["status"]);
    assert!(status.starts_with("engine    none runs; this is what is kept\n"), "{status}");
    assert!(status.contains("none begins, "), "{status}");

    let engine = place.serve(&[]);
    let waiting = place.json(&["queue"]);
    assert_eq!(texts(&waiting), ["first", "second", "third"]);
    let status = place.json(&["status"]);
    assert_eq!(status[0]["engine"]["held"]["why"], "for the test", "the hold is kept");
    assert_eq!(status[0]["running"], 0, "the cut turn is not running");
    let events = place.json(&["events", "--after", "0", "--level", "debug"]);
    assert_eq!(events[..before[1].len()], before[1], "no event is lost or changed");
    assert!(
        events.iter().any(|event| event["event"] == "turn_ended" && event["outcome"]["cause"] == "crash")
    );

    let last = waiting[2]["item"]["id"].clone();
    let mut follow = place.command(&["events", "--follow", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    place.done(&["release"]);
    // The turn that was cut off goes on, and hangs again.
    place.done(&["send", "/stop"]);
    place.done(&["send", "/continue"]);
    let ended = lines.by_ref().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut ran: Vec<i64> = Vec::new();
    for event in ended.filter(|event| event["event"] == "turn_began") {
        ran.push(event["item"].as_i64().unwrap());
        if event["item"] == last {
            break;
        }
    }
    let order: Vec<i64> = waiting.iter().map(|row| row["item"]["id"].as_i64().unwrap()).collect();
    assert!(ran.ends_with(&order), "{ran:?} does not end with {order:?}");
    follow.kill().unwrap();
    follow.wait().unwrap();
    drop(engine);
}

#[test]
fn a_second_engine_is_refused_and_names_the_owner() {
    let place = Place::new();
    let first = place.serve(&[]);
    let run = place.run(&["serve"]);
    assert_eq!(run.code, 1);
    let told = format!("switchboard: an engine already runs for this home: pid {} since ", first.pid());
    assert!(run.err.starts_with(&told), "{run:?}");
    assert_eq!(run.err.lines().count(), 1);
    assert_eq!(place.run(&["send", "--wait", "say still here"]).out, "still here\n");
}

#[test]
fn a_leftover_lock_file_with_the_pid_of_a_living_process_stops_nobody() {
    let place = Place::new();
    for leftover in
        [format!("{} 2026-01-01T00:00:00+00:00\n", std::process::id()), "12".to_owned(), String::new()]
    {
        place.write("gateway.lock", leftover.as_bytes());
        place.serve(&[]).kill();
    }
}

#[test]
fn stop_waits_for_the_end_and_leaves_no_socket() {
    let place = Place::new();
    let engine = place.serve(&[]);
    assert_eq!(place.done(&["stop"]), "stopped\n");
    let (status, _) = engine.ended();
    assert_eq!(status.code(), Some(0));
    assert!(!place.home().join("control.sock").exists());
    let run = place.run(&["stop"]);
    assert_eq!(run.code, 1);
    assert!(run.err.starts_with("switchboard: no engine runs for this home"), "{run:?}");
}

#[test]
fn a_signal_stops_in_order_and_a_second_one_cuts_what_still_runs() {
    let place = Place::new();
    let mut engine = place.serve(&[]);
    place.done(&["send", "hang"]);
    let mut follow = place.command(&["events", "--follow", "--after", "0", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines().map(Result::unwrap);
    engine.signal(Signal::TERM);
    engine.wait_for("asked to stop");
    assert!(lines.any(|line| line.contains("\"event\":\"engine_stopping\"")));
    assert_eq!(
        place.done(&["send", "--queue", "later"]),
        "queued, 1st of 1, the engine stops: it runs after the next start\n"
    );
    engine.signal(Signal::TERM);
    let (status, _) = engine.ended();
    assert_eq!((status.code(), status.signal()), (Some(0), None));
    let rest: Vec<String> = lines.collect();
    assert!(rest.iter().any(|line| line.contains("\"cause\":\"shutdown\"")), "{rest:?}");
    assert!(rest.last().unwrap().contains("\"event\":\"engine_stopped\""), "{rest:?}");
    assert_eq!(follow.wait().unwrap().code(), Some(0));
    assert_eq!(texts(&place.json(&["queue"])), ["later"]);
}

#[test]
fn a_closed_terminal_does_not_stop_an_engine() {
    let place = Place::new();
    let mut engine = place.serve(&[]);
    engine.signal(Signal::HUP);
    engine.wait_for("the terminal is gone; the engine goes on");
    assert_eq!(place.run(&["send", "--wait", "say alive"]).out, "alive\n");
}

#[test]
fn events_are_followed_from_any_place_without_a_gap_and_without_a_double() {
    let place = Place::new();
    let engine = place.serve(&[]);
    place.done(&["send", "--wait", "say one"]);
    let all = place.json(&["events", "--after", "0", "--level", "debug"]);
    let from = all[2]["seq"].to_string();
    let arguments = ["events", "--after", &from, "--follow", "--level", "debug", "--json"];
    let mut follow = place.command(&arguments).spawn().unwrap();
    let lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut followed = vec![lines.next().unwrap()];
    for text in ["say two", "say three"] {
        place.done(&["send", "--wait", text]);
    }
    place.done(&["stop"]);
    engine.ended();
    followed.extend(lines);
    assert_eq!(follow.wait().unwrap().code(), Some(0));
    let kept = place.json(&["events", "--after", &from, "--level", "debug"]);
    assert_eq!(followed, kept);
}

#[test]
fn a_hold_keeps_everything_waiting_until_it_is_released() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["hold", "lunch"]);
    assert!(place.done(&["status"]).contains(": lunch; `switchboard release` ends it"));
    let waits = place.command(&["send", "--wait", "say served"]).spawn().unwrap();
    let mut follow = place.command(&["events", "--follow", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("\"event\":\"accepted\"")));
    place.done(&["release"]);
    assert_eq!(String::from_utf8(waits.wait_with_output().unwrap().stdout).unwrap(), "served\n");
    follow.kill().unwrap();
    follow.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_size_limit_is_waited_out_like_a_full_disk_and_ends_no_engine() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    use std::time::Duration;
    let place = Place::new();
    let mut engine = place.serve(&[]);
    let pid = Pid::from_raw(engine.pid().cast_signed());
    place.done(&["send", "--wait", "say before"]);
    let tight = Rlimit { current: Some(4096), maximum: None };
    prlimit(pid, Resource::Fsize, tight).unwrap();
    let during = place.command(&["send", "--wait", "say during"]).spawn().unwrap();
    while !place.done(&["status"]).contains("store     can't be written since") {
        assert_eq!(engine.has_ended(), None);
        std::thread::sleep(Duration::from_millis(50));
    }
    prlimit(pid, Resource::Fsize, Rlimit { current: None, maximum: None }).unwrap();
    let answered = during.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(answered.stdout).unwrap(), "during\n");
}

#[test]
fn read_only_looks_and_changes_nothing() {
    let place = Place::new();
    let engine = place.serve(&[]);
    assert_eq!(place.run(&["--read-only", "status"]).code, 0);
    for arguments in [&["--read-only", "send", "x"][..], &["--read-only", "hold"], &["--read-only", "stop"]] {
        let run = place.run(arguments);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.starts_with("switchboard: refused: read-only"), "{run:?}");
    }
    drop(engine);
    assert_eq!(place.run(&["--read-only", "serve"]).code, 2);
}

/// The run and the process of the engine that answers.
fn run_of(place: &Place) -> (String, u64) {
    let status = place.json(&["status"]).remove(0);
    let run = &status["engine"]["run"];
    (run["run"].as_str().unwrap().to_owned(), run["pid"].as_u64().unwrap())
}

#[test]
fn a_restart_by_signal_begins_anew_in_the_same_process() {
    let place = Place::new();
    let mut engine = place.serve(&["--hold"]);
    place.done(&["release"]);
    let (run, pid) = run_of(&place);
    engine.signal(Signal::USR1);
    engine.wait_for("engine restarts: SIGUSR1");
    engine.wait_for("serving");
    let (next_run, next_pid) = run_of(&place);
    assert_ne!(run, next_run);
    assert_eq!((pid, u64::from(engine.pid())), (next_pid, pid));
    assert!(place.json(&["status"])[0]["engine"]["held"].is_null(), "the hold was released");
    assert!(place.done(&["events"]).contains("the last exit was clean"));
    assert_eq!(place.run(&["send", "--wait", "say still here"]).out, "still here\n");
    place.done(&["stop"]);
    assert_eq!(engine.ended().0.code(), Some(0));
}

#[test]
fn a_restart_by_command_waits_for_the_next_engine_and_resumes_what_its_drain_cut() {
    let place = Place::new();
    place.write("config.toml", b"[engine]\ndrain_timeout_seconds = 1\n");
    let engine = place.serve(&[]);
    place.done(&["send", "hang"]);
    let run = place.run(&["restart"]);
    assert_eq!((run.code, run.out), (0, format!("restarted, pid {}\n", engine.pid())), "{}", run.err);
    assert!(run.err.starts_with("waits for console; what still runs"), "{}", run.err);
    let events = place.json(&["events", "--after", "0", "--level", "debug"]);
    let resumed = events.iter().find(|event| event["event"] == "resumed").expect("nothing was resumed");
    assert_eq!(resumed["reason"], "restart_timeout");
    assert!(!place.home().join(".clean_shutdown").exists(), "the receipt stands for one end only");
    place.done(&["send", "/stop"]);
}

#[test]
fn a_restart_is_refused_while_the_next_start_would_fail() {
    let place = Place::new();
    let mut engine = place.serve(&[]);
    place.done(&["send", "hang"]);
    for (settings, told) in [
        ("[queue\n", "config.toml:1: not TOML"),
        ("[agent]\nbackend = \"command\"\n", "needs agent.command.argv, which is missing"),
    ] {
        place.write("config.toml", settings.as_bytes());
        let run = place.run(&["restart"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(
            run.err.contains("not restarted, the next start would fail: ") && run.err.contains(told),
            "{run:?}"
        );
    }
    engine.signal(Signal::USR1);
    engine.wait_for("the signal was not obeyed");
    assert_eq!(place.json(&["status"])[0]["running"], 1, "the turn goes on");
    place.write("config.toml", b"[engine]\ndrain_timeout_seconds = 1\n");
    assert_eq!(place.run(&["restart"]).code, 0);
    place.done(&["send", "/stop"]);
}

#[test]
fn a_restart_is_refused_while_nothing_that_runs_stands_in_the_programs_place() {
    let place = Place::new();
    let program = place.home().with_file_name("switchboard");
    let copy = |to| write_program(to, File::open(env!("CARGO_BIN_EXE_switchboard")).unwrap());
    copy(&program);
    let mut command = Command::new(&program);
    command.arg("serve").env("SWITCHBOARD_HOME", place.home()).stderr(Stdio::piped());
    let _engine = Serve::begin(command).unwrap();
    let refused = |why: &str| {
        let run = place.run(&["restart"]);
        let told = format!("not restarted, the next start would fail: the program {}: ", program.display());
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.contains(&told) && run.err.contains(why), "{run:?}");
        assert_eq!(place.run(&["send", "--wait", "say still here"]).out, "still here\n");
    };
    std::fs::remove_file(&program).unwrap();
    refused("No such file or directory");
    write_program(&program, "#!/bin/sh\nexit 3\n".as_bytes());
    refused("exit status: 3");
    std::fs::set_permissions(&program, Permissions::from_mode(0o600)).unwrap();
    refused("Permission denied");
    let newer = program.with_extension("new");
    copy(&newer);
    std::fs::rename(&newer, &program).unwrap();
    assert_eq!(place.run(&["restart"]).code, 0);
}

#[test]
fn a_signal_to_stop_wins_over_a_restart() {
    let place = Place::new();
    let mut engine = place.serve(&[]);
    place.done(&["send", "hang"]);
    engine.signal(Signal::USR1);
    engine.wait_for("engine restarts");
    engine.signal(Signal::TERM);
    engine.wait_for("engine stops: SIGTERM");
    engine.signal(Signal::INT);
    let (status, _) = engine.ended();
    assert_eq!(status.code(), Some(0));
    assert!(place.home().join(".clean_shutdown").exists(), "the stop was orderly, though it cut a turn");
}

#[test]
fn a_program_that_ignores_everything_does_not_outlive_the_next_start_with_anything_it_began() {
    let place = Place::new();
    let script = "trap '' TERM HUP PIPE; sleep 1000 & echo $$ > pids.part; echo $! >> pids.part; mv pids.part pids; wait";
    let settings =
        format!("[agent]\nbackend = \"command\"\n[agent.command]\nargv = [\"sh\", \"-c\", {script:?}]\n");
    place.write("config.toml", settings.as_bytes());
    let engine = place.serve(&[]);
    place.done(&["send", "work"]);
    let file = place.home().join("pids");
    while !file.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pids = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    engine.kill();
    assert!(pids.lines().all(lives), "nothing outlived the engine");

    let engine = place.serve(&["--hold"]);
    let told = place.done(&["events", "--after", "0"]);
    assert!(told.contains("sh of turn 1 had outlived its engine: process group"), "{told}");
    while pids.lines().any(lives) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(place.json(&["queue"]).iter().all(|row| row["item"]["state"] != "running"));
    drop(engine);
}

/// Whether a process lives; one that only waits to be reaped does not.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}
