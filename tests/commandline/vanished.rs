//! Files of a home that vanish or are damaged, while an engine runs or between two of them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::process::Command;

use rusqlite::Connection;
use rustix::process::Signal;

use crate::support::program::Place;

#[test]
fn what_an_engine_kept_is_not_thrown_away_with_an_emptied_or_missing_store() {
    let place = Place::new();
    let engine = place.serve(&["--hold"]);
    place.done(&["send", "to be kept"]);
    engine.kill();
    let (file, log) = (place.home().join("state.db"), place.home().join("state.db-wal"));
    let (whole, kept) = (fs::read(&file).unwrap(), fs::read(&log).unwrap());
    assert!(!kept.is_empty(), "what was sent last stands in the log");

    let refused = || {
        for arguments in [&["serve"][..], &["status"], &["queue"]] {
            let run = place.run(arguments);
            assert_eq!((run.code, run.err.lines().count()), (1, 1), "{arguments:?}: {run:?}");
            assert!(run.err.contains("state.db: it is ") && run.err.contains("restore it"), "{run:?}");
        }
        assert!(place.run(&["doctor"]).out.contains("FAIL store"));
        assert_eq!(fs::read(&log).unwrap(), kept);
    };
    fs::write(&file, "").unwrap();
    refused();
    fs::remove_file(&file).unwrap();
    refused();

    fs::write(&file, whole).unwrap();
    assert!(place.done(&["queue"]).contains("to be kept"));
}

#[test]
fn while_the_store_is_gone_nothing_is_acknowledged_and_when_it_is_back_nothing_is_lost() {
    let place = Place::new();
    let engine = place.serve(&["--hold"]);
    let (file, aside) = (place.home().join("state.db"), place.home().join("aside"));
    fs::rename(&file, &aside).unwrap();
    let mut waits = place.command(&["send", "kept all the same"]).spawn().unwrap();
    let mut told = String::new();
    BufReader::new(waits.stderr.take().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("state.db was removed or replaced while the engine runs"), "{told}");
    fs::rename(&aside, &file).unwrap();
    assert!(waits.wait().unwrap().success());
    engine.kill();
    assert!(place.done(&["queue"]).contains("kept all the same"));
}

#[test]
fn another_program_that_looks_into_the_store_takes_nothing_away_from_its_engine() {
    let place = Place::new();
    let engine = place.serve(&["--hold"]);
    place.done(&["send", "before"]);
    let other = Connection::open(place.home().join("state.db")).unwrap();
    let items: i64 = other.query_row("SELECT count(*) FROM items", (), |row| row.get(0)).unwrap();
    assert_eq!(items, 1);
    // The last one who closes a store takes its log away: this one must not be the last.
    other.close().unwrap();
    assert!(place.home().join("state.db-wal").exists());
    place.done(&["send", "after"]);
    engine.kill();
    let queue = place.done(&["queue"]);
    assert!(queue.contains("before") && queue.contains("after"), "{queue}");
}

#[test]
fn an_engine_whose_log_was_taken_away_stops_when_it_is_told_to() {
    let place = Place::new();
    let engine = place.serve(&["--hold"]);
    place.done(&["send", "kept"]);
    fs::rename(place.home().join("state.db-wal"), place.home().join("aside")).unwrap();
    let stop = place.run(&["stop"]);
    assert!(stop.code == 1 && stop.err.contains("the engine is gone, but not in order"), "{stop:?}");
    let (_, log) = engine.ended();
    assert!(log.contains("the orderly stop is not in the store"), "{log}");
    assert!(place.done(&["queue"]).contains("kept"), "what was in the log is in the file");
}

#[test]
fn an_orderly_stop_leaves_all_in_one_file() {
    let place = Place::new();
    let engine = place.serve(&["--hold"]);
    place.done(&["send", "kept"]);
    engine.signal(Signal::TERM);
    let (exit, log) = engine.ended();
    assert!(exit.success(), "{log}");
    assert!(!place.home().join("state.db-wal").exists());
    assert!(place.done(&["queue"]).contains("kept"));
}

#[test]
fn without_the_lock_file_a_second_engine_is_refused_and_the_owner_still_named() {
    let place = Place::new();
    let engine = place.serve(&[]);
    fs::remove_file(place.home().join("gateway.lock")).unwrap();
    let second = place.run(&["serve"]);
    assert_eq!(second.code, 1, "{second:?}");
    let told = format!("an engine already runs for this home: pid {} since ", engine.pid());
    assert!(second.err.contains(&told), "{second:?}");
    assert!(!place.home().join("gateway.lock").exists());
    engine.kill();
    place.serve(&[]);
}

#[test]
fn an_engine_whose_socket_is_gone_is_told_with_the_way_to_stop_it() {
    let place = Place::new();
    let engine = place.serve(&[]);
    fs::remove_file(place.home().join("control.sock")).unwrap();
    let told = format!(
        "an engine runs for this home (pid {0}), but its socket control.sock is gone; `kill {0}` stops it in order",
        engine.pid()
    );
    for arguments in [&["send", "x"][..], &["status"]] {
        let run = place.run(arguments);
        assert_eq!((run.code, run.err), (1, format!("switchboard: {told}\n")), "{arguments:?}");
    }
    let examined = place.run(&["doctor"]);
    assert!(examined.code == 1 && examined.out.contains(&told), "{examined:?}");
    engine.signal(Signal::TERM);
    assert!(engine.ended().0.success());
    assert!(place.run(&["send", "x"]).err.contains("no engine runs for this home"));
}

#[test]
fn a_store_whose_schema_was_changed_is_refused_by_serve_and_doctor_alike() {
    let place = Place::new();
    place.serve(&[]).kill();
    let store = Connection::open(place.home().join("state.db")).unwrap();
    store.execute_batch("ALTER TABLE items DROP COLUMN note").unwrap();
    drop(store);
    let told = "its table items is not as this program made it";
    let serve = place.run(&["serve"]);
    assert!(serve.code == 1 && serve.err.contains(told), "{serve:?}");
    let doctor = place.run(&["doctor"]);
    assert!(doctor.code == 1 && doctor.out.contains(told), "{doctor:?}");
}

#[test]
fn damage_that_nobody_has_met_yet_is_found_when_an_engine_starts() {
    let place = Place::new();
    let engine = place.serve(&[]);
    engine.signal(Signal::TERM);
    assert!(engine.ended().0.success());
    let path = place.home().join("state.db");
    let (root, size): (u64, u64) = Connection::open(&path)
        .unwrap()
        .query_row(
            "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'remembered_drafts'",
            (),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&vec![0xab; size as usize], (root - 1) * size).unwrap();

    let mut child = place.command(&["serve"]).spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let told = log.lines().map(|line| line.unwrap()).find(|line| line.contains("state.db is damaged: "));
    assert!(told.is_some_and(|line| line.contains("stop the engine and restore a copy")));
    let events = place.done(&["events"]);
    assert!(events.contains("state.db is damaged"), "{events}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn damage_in_the_log_is_told_by_the_doctor_and_at_the_start_with_a_copy_of_the_log() {
    let place = Place::new();
    let engine = place.serve(&["--hold"]);
    place.done(&["send", "--queue", "one"]);
    let log = place.home().join("state.db-wal");
    let end = fs::metadata(&log).unwrap().len();
    place.done(&["send", "--queue", "two"]);
    engine.kill();
    assert!(place.done(&["doctor"]).contains("state.db is sound"), "what a kill leaves alarms nobody");
    let file = fs::OpenOptions::new().read(true).write(true).open(&log).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, end + 100).unwrap();
    file.write_all_at(&[byte[0] ^ 1], end + 100).unwrap();
    let damaged = fs::read(&log).unwrap();

    let examined = place.run(&["doctor"]);
    assert_eq!(examined.code, 1);
    let told = examined.out.lines().find_map(|line| line.strip_prefix("FAIL store     ")?.split(';').next());
    let told = told.expect(&examined.out);
    let damaged_and_lost = told.starts_with("the store's log is damaged: ")
        && told.ends_with(" or more that had been kept are lost");
    assert!(damaged_and_lost, "{told}");
    assert_eq!(fs::read(&log).unwrap(), damaged, "the doctor leaves it to the start");

    let mut child = place.command(&["serve"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(|line| line.unwrap());
    let said = lines.find(|line| line.contains(told)).unwrap();
    assert!(said.contains("ERROR") && said.contains("the store goes on from the commit before"), "{said}");
    assert!(lines.any(|line| line.contains("serving")));
    child.kill().unwrap();
    child.wait().unwrap();
    let events = place.json(&["events", "--level", "error"]);
    assert_eq!(events[0]["event"], "log_damaged", "{events:?}");
    let copy = events[0]["found"]["copied"].as_str().unwrap();
    assert_eq!(fs::read(copy).unwrap(), damaged);
    assert!(place.done(&["queue"]).contains("one"), "what was kept before is there");
}

#[test]
fn an_engine_that_starts_while_another_program_holds_the_store_waits_and_says_for_what() {
    let place = Place::new();
    place.serve(&[]).kill();
    let other = Connection::open(place.home().join("state.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut child = place.command(&["serve"]).spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let mut lines = log.lines().map(|line| line.unwrap());
    assert!(lines.any(|line| line.contains("database is locked: another program holds it")));
    other.execute_batch("ROLLBACK").unwrap();
    assert!(lines.any(|line| line.contains("serving")));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_home_whose_path_no_socket_can_have_is_not_made() {
    let place = Place::new();
    let long = place.home().join("x".repeat(120));
    let run = place.run(&["--home", long.to_str().unwrap(), "serve"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("the path is too long for a socket"), "{run:?}");
    assert!(!place.home().exists());
}

#[test]
fn the_doctor_notices_that_the_disk_takes_nothing_more() {
    let place = Place::new();
    place.serve(&[]).kill();
    let doctor = place.command(&["doctor"]);
    let mut limited = Command::new("sh");
    // A file that may have no bytes, as on a full disk; the signal that goes with it is ignored.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" doctor"]).arg(doctor.get_program());
    limited.env_clear().envs(doctor.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = limited.output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.lines().any(|line| line.starts_with("FAIL home")), "{told}");
}
