//! What is printed: usage, exit codes, readers that go away, and nothing that moves a terminal.

use std::process::Stdio;

use crate::support::program::Place;

/// What a message from outside may hold to reach a terminal.
const NASTY: &str = "a\u{1b}]52;c;QUJD\u{7}b\u{1b}]0;x\u{7}c\u{1b}[2Jd\u{1b}ce\u{9b}2Jf\u{202e}g\u{2066}h\u{200b}i\u{feff}j\u{7f}k\u{8}l";

fn assert_harmless(printed: &str, by: &str) {
    let bad = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{feff}')
    };
    assert!(!printed.contains(bad), "{by}: {printed:?}");
}

#[test]
fn no_control_sequence_of_a_message_reaches_any_output() {
    let place = Place::new();
    let engine = place.serve(&[]);
    let echo = format!("say {NASTY}");
    for arguments in [
        &["send", "--wait", &echo][..],
        &["send", "--wait", "--json", &echo],
        &["send", &format!("/title {NASTY}")],
        &["send", &format!("/{NASTY}")],
        &["send", "--session", NASTY, "x"],
        &["hold", NASTY],
        &["send", "--queue", NASTY],
        &["status"],
        &["status", "--json"],
        &["sessions"],
        &["sessions", "--json"],
        &["sessions", "--ended"],
        &["queue"],
        &["queue", "--json"],
        &["queue", "--session", "console"],
        &["queue", "--session", NASTY],
        &["events", "--level", "debug"],
        &["events", "--level", "debug", "--json"],
        &["send", "/search QUJD"],
        &["send", "/status"],
        &["events", "--level", NASTY],
        &["--home", NASTY, "config", "path"],
    ] {
        let run = place.run(arguments);
        assert_harmless(&run.out, &format!("{arguments:?}, standard output"));
        assert_harmless(&run.err, &format!("{arguments:?}, standard error"));
    }
    assert_eq!(place.json(&["queue"])[0]["item"]["text"], NASTY, "JSON means what was sent");
    place.done(&["stop"]);
    assert_harmless(&engine.ended().1, "the log");
    for file in std::fs::read_dir(place.home().join("logs")).unwrap() {
        assert_harmless(&std::fs::read_to_string(file.unwrap().path()).unwrap(), "the log file");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = Place::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    for arguments in [&["completions", "bash"][..], &["config", "print"], &["keymap"], &["--help"]] {
        let run = place.command(arguments).stdout(Stdio::from(writer.try_clone().unwrap())).output().unwrap();
        assert_eq!((run.status.code(), run.stderr), (Some(0), Vec::new()), "{arguments:?}");
    }
}

#[test]
fn wrong_usage_ends_with_2_and_help_with_0() {
    let place = Place::new();
    for arguments in [
        &["dance"][..],
        &["send"],
        &["queue", "--limit", "x"],
        &["config", "dance"],
        &["events", "--level", "loud"],
    ] {
        let run = place.run(arguments);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments:?}");
        assert!(run.err.starts_with("error: ") || run.err.contains("Usage: "), "{run:?}");
    }
    assert!(place.done(&["--help"]).contains("switchboard [OPTIONS] [COMMAND]"));
    assert!(place.done(&["--version"]).starts_with("switchboard "));
}

#[test]
fn the_console_needs_a_terminal_and_says_so() {
    let place = Place::new();
    let run = place.run(&[]);
    assert_eq!(run.code, 1);
    assert!(run.err.starts_with("switchboard: no terminal: "), "{run:?}");
    assert!(!place.home().exists(), "and it makes no home");
}

#[test]
fn tables_are_aligned_by_what_is_seen() {
    let place = Place::new();
    let _engine = place.serve(&["--hold"]);
    for name in ["日本語", "plain"] {
        place.done(&["send", "--session", name, "x"]);
    }
    let table = place.done(&["queue"]);
    let columns: Vec<usize> = table
        .lines()
        .map(|line| {
            let place = line.find("next").or_else(|| line.find("PLACE")).unwrap();
            unicode_width::UnicodeWidthStr::width(&line[..place])
        })
        .collect();
    assert_eq!(columns, [9, 9, 9], "{table}");
}

#[test]
fn times_are_printed_in_the_operators_zone() {
    let place = Place::new();
    place.write("config.toml", b"timezone = \"Pacific/Kiritimati\"\n");
    let _engine = place.serve(&["--hold"]);
    place.done(&["send", "x"]);
    let at = place.json(&["queue"])[0]["item"]["created_at"].as_str().unwrap().to_owned();
    let at: chrono::DateTime<chrono::Utc> = at.parse().unwrap();
    // Kiritimati is 14 hours ahead all year.
    let there = (at + chrono::TimeDelta::hours(14)).format("%Y-%m-%d %H:%M:%S").to_string();
    assert!(place.done(&["queue"]).contains(&there));
}

#[test]
fn the_settings_that_apply_are_printed_with_where_they_come_from() {
    let place = Place::new();
    place.write("config.toml", b"\n[queue]\nmax_items = 7\n");
    assert_eq!(place.done(&["config"]), place.done(&["config", "print"]));
    assert!(place.done(&["config", "print"]).contains("\nmax_items = 7  # set in line 3\n"));
    let values = place.json(&["config", "print"]);
    let of = |key: &str| values.iter().find(|value| value["key"] == key).unwrap().clone();
    assert_eq!(of("queue.max_items"), serde_json::json!({ "key": "queue.max_items", "value": 7, "line": 3 }));
    assert_eq!(of("queue.busy_mode")["line"], serde_json::Value::Null);
}

#[test]
fn the_key_map_in_effect_has_the_homes_changes_and_tells_what_is_wrong_in_them() {
    let place = Place::new();
    let shipped = place.done(&["keymap"]);
    place.write("keymap.toml", b"[global]\n\"f2\" = \"no-such-action\"\n");
    let run = place.run(&["keymap"]);
    assert_eq!((run.code, run.out), (1, shipped), "the rest holds");
    let line = format!("{}:2: ", place.home().join("keymap.toml").display());
    assert!(run.err.starts_with(&line), "{}", run.err);
    let check = place.run(&["config", "check"]);
    assert_eq!(check.code, 1);
    assert!(check.err.starts_with(&line), "{}", check.err);
    assert!(place.done(&["doctor"]).contains(&format!("warn keys      {line}")));
}
