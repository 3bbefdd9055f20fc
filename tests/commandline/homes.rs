//! Homes that are new, foreign, damaged or closed.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::program::Place;

#[test]
fn without_an_engine_nothing_is_sent_and_nothing_is_made() {
    let place = Place::new();
    for arguments in [&["send", "x"][..], &["send", "--wait", "x"], &["hold"], &["release"], &["stop"]] {
        let run = place.run(arguments);
        let told = "switchboard: no engine runs for this home; start one with `switchboard` or `switchboard serve`\n";
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (1, "", told), "{arguments:?}");
    }
    assert!(!place.home().exists());
}

#[test]
fn reading_a_new_home_makes_nothing() {
    let place = Place::new();
    assert!(place.done(&["status"]).contains("0 live"));
    assert_eq!(place.done(&["sessions"]), "none of 0 sessions\n");
    assert_eq!(place.done(&["queue"]), "nothing waits and nothing runs\n");
    assert_eq!(place.done(&["events"]), "");
    assert!(!place.home().exists());
}

#[test]
fn everything_in_a_home_is_for_its_owner_alone() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "--wait", "hello"]);
    let mut folders = vec![place.home()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{}", folder.display());
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", entry.path().display());
            seen += 1;
        }
    }
    assert!(seen >= 5, "config, lock, socket, store and log: {seen}");
}

#[test]
fn a_wrong_configuration_stops_the_start_and_touches_nothing() {
    let place = Place::new();
    place.write("config.toml", b"[queue]\nmax_items = 0\nbusy = 1\n");
    let run = place.run(&["serve"]);
    let file = place.home().join("config.toml");
    let expected = format!(
        "switchboard: {0}:2: queue.max_items = 0: it takes a whole number from 1 to 100000\n\
         {0}:3: there is no setting \"queue.busy\"; did you mean queue.busy_mode?\n",
        file.display()
    );
    assert_eq!((run.code, run.err), (1, expected));
    let names: Vec<_> = fs::read_dir(place.home()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["config.toml"]);
    assert_eq!(place.run(&["config", "check"]).code, 1);
    let read = place.run(&["status"]);
    assert_eq!(read.code, 0, "reading goes on, and says by what");
    assert!(read.err.ends_with("busy_mode?\nthe defaults are used here\n"), "{read:?}");
    assert_eq!(place.run(&["doctor"]).code, 1);
}

#[test]
fn a_foreign_or_damaged_store_is_refused_in_one_line_and_left_alone() {
    let mut half_a_header = b"SQLite format 3\0".to_vec();
    half_a_header.extend([0x41; 4096]);
    for bytes in [&b"my diary, not a database\n"[..], &[0; 200], &half_a_header] {
        let place = Place::new();
        place.write("state.db", bytes);
        for arguments in [&["serve"][..], &["status"], &["queue"]] {
            let run = place.run(arguments);
            assert_eq!(run.code, 1, "{arguments:?}: {run:?}");
            assert_eq!(run.err.lines().count(), 1, "{arguments:?}: {run:?}");
            assert!(run.err.contains("state.db") && run.err.contains("left as it is"), "{run:?}");
        }
        assert_eq!(fs::read(place.home().join("state.db")).unwrap(), bytes);
        assert_eq!(place.run(&["doctor"]).code, 1);
    }
}

#[test]
fn a_file_in_place_of_the_home_is_told_in_one_line() {
    let place = Place::new();
    fs::write(place.home(), "").unwrap();
    let run = place.run(&["serve"]);
    let told = format!(
        "switchboard: {}: not a folder; move it away, or name another home with --home DIR\n",
        place.home().display()
    );
    assert_eq!((run.code, run.err), (1, told));
}

#[test]
fn an_error_says_each_thing_once() {
    let place = Place::new();
    // A folder where a file must be opened fails for every user, root too.
    fs::create_dir_all(place.home().join("gateway.lock")).unwrap();
    let run = place.run(&["serve"]);
    let told = format!(
        "switchboard: {}: Is a directory (os error 21); move it away, or name another home with --home DIR\n",
        place.home().join("gateway.lock").display()
    );
    assert_eq!((run.code, run.err), (1, told));
}

#[test]
fn the_command_line_names_the_home_before_the_environment_does() {
    let place = Place::new();
    let other = place.home().with_file_name("other");
    let named = place.done(&["--home", other.to_str().unwrap(), "config", "path"]);
    assert_eq!(named, format!("{}\n", other.join("config.toml").display()));
    let by_environment = place.done(&["config", "path"]);
    assert_eq!(by_environment, format!("{}\n", place.home().join("config.toml").display()));
    let by_default = place.command(&["config", "path"]).env_remove("SWITCHBOARD_HOME").output().unwrap();
    let expected = place.home().with_file_name(".switchboard").join("config.toml");
    assert_eq!(String::from_utf8(by_default.stdout).unwrap(), format!("{}\n", expected.display()));
}

#[test]
fn the_doctor_finds_a_new_home_sound_and_warns_of_an_open_one() {
    let place = Place::new();
    let engine = place.serve(&[]);
    let run = place.run(&["doctor"]);
    assert_eq!(run.code, 0, "{run:?}");
    for line in ["ok   privacy", "ok   settings", "ok   engine    runs, pid ", "ok   store", "ok   agent"] {
        assert!(run.out.lines().any(|found| found.starts_with(line)), "{line}: {}", run.out);
    }
    drop(engine);
    fs::set_permissions(place.home(), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(place.done(&["doctor"]).contains("warn privacy   others can look into the home"));
}

#[test]
fn the_doctor_reads_the_scheduled_tasks() {
    let place = Place::new();
    let doctor = |jobs: &str| {
        place.write("jobs.json", jobs.as_bytes());
        let run = place.run(&["doctor"]);
        let told = run.out.lines().filter(|line| line[5..].starts_with("jobs"));
        let file = place.home().join("jobs.json").display().to_string();
        (run.code, told.map(|line| line.replace(&file, "jobs.json")).collect::<Vec<_>>())
    };
    let good = r#"{"id": "good", "schedule": "0 8 * * *", "prompt": "look", "timezone": "UTC"}"#;
    let file = |second: &str| format!("{{ \"jobs\": [\n{good},\n{second}\n] }}\n");
    let whole = good.replace("good", "too");
    let sound = "ok   jobs      jobs.json has no problems: 2 jobs".to_owned();
    assert_eq!(doctor(&file(&whole)), (0, vec![sound]));
    let (code, told) = doctor(&file(&whole.replace("0 8 * * *", "0 8 * *")));
    assert!(
        code == 1 && told.len() == 1 && told[0].starts_with("FAIL jobs      jobs.json:3: too: schedule"),
        "{told:?}"
    );
    let far = whole.replace("\"UTC\"", "\"UTC\", \"deliver\": \"telegram\"");
    let (code, told) = doctor(&file(&far));
    assert!(
        code == 0 && told.len() == 1 && told[0].starts_with("warn jobs      jobs.json:3: too: "),
        "{told:?}"
    );
    let lacks = whole.replace("\"UTC\"", "\"UTC\", \"skill\": \"gone\", \"workdir\": \"/nowhere/at/all\"");
    let (code, told) = doctor(&file(&lacks));
    let begin = "warn jobs      jobs.json:3: too: ";
    assert!(code == 0 && told[0].starts_with(&format!("{begin}skill \"gone\": there is no ")), "{told:?}");
    assert_eq!(told[1..], [format!("{begin}workdir \"/nowhere/at/all\": there is no such folder")]);
    let (code, told) = doctor("{ \"jobs\": [\n{]\n");
    assert!(
        code == 1 && told.len() == 1 && told[0].starts_with("FAIL jobs      jobs.json: line 2"),
        "{told:?}"
    );
    std::fs::remove_file(place.home().join("jobs.json")).unwrap();
    assert!(place.done(&["doctor"]).contains("ok   jobs      there is no jobs.json in this home: no jobs"));
}

#[test]
fn the_doctor_finds_a_program_that_is_missing() {
    let place = Place::new();
    place.write(
        "config.toml",
        b"[agent]\nbackend = \"command\"\n[agent.command]\nargv = [\"no-such-agent\"]\n",
    );
    let run = place.run(&["doctor"]);
    assert_eq!(run.code, 1);
    assert!(
        run.out.contains("FAIL agent     can't run \"no-such-agent\" of agent.command.argv"),
        "{}",
        run.out
    );
    place.write("config.toml", b"[agent]\nbackend = \"command\"\n[agent.command]\nargv = [\"sh\"]\n");
    assert!(place.done(&["doctor"]).contains("/sh can be run"));
}

#[test]
fn the_doctor_asks_the_configured_server() {
    let place = Place::new();
    // A port that nothing listens on: taken and given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = format!(
        "[agent]\nbackend = \"openai\"\n[agent.openai]\nbase_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"m\"\n"
    );
    place.write("config.toml", config.as_bytes());
    let run = place.run(&["doctor"]);
    assert_eq!(run.code, 1);
    assert!(
        run.out.contains(&format!("FAIL agent     can't reach http://127.0.0.1:{port}/v1")),
        "{}",
        run.out
    );
}

/// What is left of a file by a write that was cut off, and by a program that writes its nothing.
fn damages(whole: &[u8]) -> [Vec<u8>; 3] {
    [Vec::new(), whole[..whole.len() / 2].to_vec(), b"null".to_vec()]
}

#[test]
fn a_configuration_that_was_cut_off_is_refused_with_its_line_and_left_as_it_is() {
    let place = Place::new();
    let [empty, half, null] = damages(b"[queue]\nmax_items = 7\n[agent]\nbackend = \"practice\"\n");
    for damaged in [half, null] {
        place.write("config.toml", &damaged);
        let run = place.run(&["serve"]);
        let file = place.home().join("config.toml");
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.starts_with(&format!("switchboard: {}:", file.display())), "{run:?}");
        assert_eq!(fs::read(&file).unwrap(), damaged);
        assert!(!place.home().join("state.db").exists(), "nothing was begun with other settings");
    }
    // An empty one says nothing, which is what the defaults say.
    place.write("config.toml", &empty);
    drop(place.serve(&[]));
}

#[test]
fn a_key_map_or_a_lock_file_that_was_cut_off_stops_no_engine_and_loses_no_session() {
    let place = Place::new();
    let engine = place.serve(&["--hold"]);
    place.done(&["send", "--session", "night", "kept"]);
    let before = place.json(&["sessions"]);
    engine.kill();
    let changes = b"[global]\n\"f2\" = \"help\"\n";
    let lock = fs::read(place.home().join("gateway.lock")).unwrap();
    for (name, whole) in [("keymap.toml", &changes[..]), ("gateway.lock", &lock)] {
        for damaged in damages(whole) {
            place.write(name, &damaged);
            let engine = place.serve(&[]);
            let ids = |rows: &[serde_json::Value]| rows[0]["session"]["id"].clone();
            assert_eq!(ids(&place.json(&["sessions"])), ids(&before), "{name}: {damaged:?}");
            let keys = place.run(&["keymap"]);
            assert!(keys.out.contains("next-need"), "the rest of the map holds");
            let is_told = name == "keymap.toml" && !damaged.is_empty();
            assert_eq!(keys.code, i32::from(is_told), "{keys:?}");
            engine.kill();
        }
        fs::remove_file(place.home().join(name)).unwrap();
    }
}
