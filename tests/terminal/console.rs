//! The whole program, driven as a person would.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use switchboard::domain::turn::{Outcome, Output};
use switchboard::store::sqlite::Database;

use crate::given;
use crate::support::executable::write_program;
use crate::support::program::Place;
use crate::support::pty::{PATIENCE, Pty, processor_time};

const ESC: &str = "\x1b";
const ENTER: &str = "\r";

fn open_with(place: &Place, arguments: &[&str], environment: &[(&str, &Path)]) -> Pty {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_switchboard"));
    command.args(arguments);
    command.env_clear();
    for (name, value) in [("TZ", "Asia/Kolkata"), ("LC_ALL", "C"), ("TERM", "xterm-256color")] {
        command.env(name, value);
    }
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("SWITCHBOARD_HOME", place.home());
    command.env("HOME", place.home().parent().unwrap());
    for (name, value) in environment {
        command.env(name, value);
    }
    Pty::start(command, (100, 30))
}

fn open(place: &Place) -> Pty {
    let mut console = open_with(place, &[], &[]);
    console.wait_for("to: console");
    console
}

/// Types a line, waits until it stands there, and sends it.
fn send(console: &mut Pty, line: &str) {
    console.type_text(line);
    console.wait_for(line);
    console.press(ENTER);
    console.wait_until("an empty composer", |screen| composer(screen).is_empty());
}

/// What the composer's first line holds.
fn composer(screen: &vt100::Screen) -> String {
    let text = screen.contents();
    let mut lines = text.lines().skip_while(|line| !line.contains("─ to: "));
    let line = lines.nth(1).unwrap_or_default();
    line.split_once('›').map_or("", |(_, text)| text).trim().to_owned()
}

/// Answers a card, after the time that it gives a person to see it.
fn answer(console: &mut Pty, question: &str, key: &str) {
    console.wait_for(question);
    std::thread::sleep(Duration::from_millis(450));
    console.press(key);
}

fn quit(console: &mut Pty) {
    console.type_text("/quit");
    console.wait_for("/quit");
    console.press(ENTER);
    answer(console, "Stop the engine", "y");
    assert!(console.wait_exit().success());
    console.assert_given_back();
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn order(text: &str, words: &[&str]) -> bool {
    let places: Vec<Option<usize>> = words.iter().map(|word| text.find(word)).collect();
    places.iter().all(Option::is_some) && places.is_sorted()
}

#[test]
fn the_first_five_minutes() {
    let place = Place::new();
    let mut console = open(&place);
    send(&mut console, "take 3 seconds");
    console.wait_for("1 turn runs");
    send(&mut console, "say second");
    send(&mut console, "say third");
    console.wait_for("replaced by a newer message");
    for words in ["alpha", "beta", "gamma", "delta"] {
        send(&mut console, &format!("/queue say {words}"));
    }
    console.wait_until("all four answers, in order", |screen| {
        let text = screen.contents();
        text.contains("no turn runs")
            && order(&text, &["agent  third", "agent  alpha", "agent  beta", "agent  gamma", "agent  delta"])
    });
    assert!(!console.screen().contents().contains("agent  second"), "{console}");

    send(&mut console, "/title kept");
    send(&mut console, "/new");
    console.wait_gone("agent  delta");
    console.type_text("a draft");
    console.wait_for("a draft");
    console.press("\x03");
    console.wait_gone("a draft");
    console.type_text("another draft");
    console.wait_for("another draft");
    // Drafts are saved a moment after the last key; quitting saves at once.
    console.press(ESC);
    console.wait_for("enter open");
    console.press("q");
    answer(&mut console, "Stop the engine", "y");
    assert!(console.wait_exit().success());
    console.assert_given_back();

    let mut again = open(&place);
    again.wait_for("another draft");
    again.press("\x03");
    again.wait_gone("another draft");
    send(&mut again, "/resume kept");
    again.wait_for("agent  delta");
    quit(&mut again);
}

#[test]
fn text_of_any_width_is_edited_by_what_a_person_sees() {
    let place = Place::new();
    let mut console = open(&place);
    let (row, start) = console.screen().cursor_position();
    let steps: &[(&str, &str, u16)] = &[
        ("日", "日", 2),
        ("本", "日本", 4),
        ("\x1b[D", "日本", 2),
        ("x", "日x本", 3),
        ("\x7f", "日本", 2),
        ("\x7f", "本", 0),
        ("\x7f", "本", 0),
        ("\x1b[3~", "", 0),
        ("é", "é", 1),
        ("\x1b[H", "é", 0),
        ("\x1b[F", "é", 1),
    ];
    for (key, text, column) in steps {
        console.press(key);
        console.wait_until(&format!("{text:?} with the cursor at {column}"), |screen| {
            composer(screen) == *text && screen.cursor_position() == (row, start + column)
        });
    }
}

#[test]
fn a_paste_is_one_draft_whatever_it_holds() {
    let place = Place::new();
    let mut console = open(&place);
    send(&mut console, "take 60 seconds");
    console.wait_for("1 turn runs");
    console.paste("one\r\ntwo\rthree\n/reset\r\x1b[201~/stop\rlast");
    console.wait_for("last");
    let shown = console.screen().contents();
    assert!(order(&shown, &["one", "two", "three", "/reset", "/stop", "last"]), "{console}");
    assert_eq!(place.json(&["queue"]).len(), 1, "only the running item");
    assert!(console.screen().contents().contains("1 turn runs"), "{console}");
    console.press(ENTER);
    console.wait_for("next, when this turn ends");
    assert!(composer(console.screen()).is_empty(), "{console}");
    let items = place.json(&["queue"]);
    assert_eq!(items.len(), 2);
    assert!(
        items.iter().any(|item| item.to_string().contains(r"one\ntwo\nthree\n/reset\n/stop\nlast")),
        "{items:?}"
    );
}

#[test]
fn a_paste_without_marks_sends_nothing_either() {
    let place = Place::new();
    let mut console = open(&place);
    console.write("first\r/reset\rlast");
    console.wait_for("last");
    let shown = console.screen().contents();
    assert!(order(&shown, &["first", "/reset", "last"]), "{console}");
    assert_eq!(place.json(&["sessions"]).len(), 0, "nothing was sent");
}

#[test]
fn keys_that_come_all_at_once_are_keys_in_a_list_too() {
    let place = Place::new();
    let mut console = open(&place);
    console.write("\x1b\x1b[19~");
    console.wait_for("enter open");
    assert!(!console.screen().contents().contains("[19~"), "{console}");
    console.write("2345432345");
    console.wait_for("[5 Log");
    quit_from_anywhere(&mut console);
}

#[test]
fn nothing_foreign_reaches_the_terminal() {
    let place = Place::new();
    let mut console = open(&place);
    let nasty = [
        "\x1b]52;c;QUJD\x07",
        "\x1b]0;x\x07",
        "\x1b]8;;http://e.test\x07",
        "\x1b[2J",
        "\x1b[10A",
        "\x1b[6n",
        "\x1bc",
        "\u{9b}2J",
        "\x1b]",
        "\x1bPq\x1b\\",
        "\x07\x7f\x08\x0b\x0c",
        "\u{202e}\u{2066}\u{200b}\u{feff}",
    ]
    .concat();
    let run = place.run_with(format!("say {nasty} end").as_bytes(), &["send", "-"]);
    assert_eq!(run.code, 0, "{run:?}");
    send(&mut console, "/title done");
    console.wait_for("end");
    console.press("\x1b5");
    console.listen(Duration::from_millis(200));
    quit_from_anywhere(&mut console);

    let text = String::from_utf8(console.bytes().to_vec()).unwrap();
    for (at, _) in text.match_indices(ESC) {
        let rest = &text[at + 1..];
        let sequence: String = rest.chars().take(12).collect();
        let ours = rest.strip_prefix('[').is_some_and(|rest| {
            let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
            let (parameters, last) = (&rest[..end], rest.as_bytes()[end]);
            match last {
                b'h' | b'l' => parameters.starts_with('?'),
                b'H' | b'J' | b'm' | b'u' => true,
                _ => false,
            }
        });
        assert!(ours, "a foreign sequence: ESC {sequence:?}");
    }
    assert_eq!(text.matches("\x1b[2J").count(), 2, "once on entering, once before the first frame");
    assert!(!text.contains(['\x07', '\x08', '\x0b', '\x0c', '\x7f', '\u{9b}', '\u{202e}', '\u{2066}']));
}

fn quit_from_anywhere(console: &mut Pty) {
    console.signal(Signal::TERM);
    assert!(console.wait_exit().success());
    console.assert_given_back();
}

/// The most memory that the program ever took, in mebibytes.
fn peak_memory(console: &Pty) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", console.pid().as_raw_nonzero())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

// B86
#[test]
fn huge_output_of_a_job_and_of_an_agent_is_read_takes_no_key_and_no_memory_and_can_be_left_at_any_time() {
    let flood = "#!/bin/sh\n\
        case $(cat) in *long*) yes 'a line of many' | head -n 400000; sleep 1000 ;; esac\n\
        head -c 3525 /dev/zero | base64 -w 0\n\
        echo\n\
        seq 35000\n\
        head -c 5000000 /dev/zero | tr '\\0' x\n\
        echo\n\
        echo the end of it\n";
    let place = Place::new();
    place.write_script("flood.sh", flood);
    let settings = "[engine]\ndrain_timeout_seconds = 1\n[agent]\nbackend = \"command\"\n\
                    [agent.command]\nargv = [\"scripts/flood.sh\"]\n";
    place.write("config.toml", settings.as_bytes());
    let jobs = r#"{ "jobs": [
        { "id": "flood", "schedule": "0 0 1 1 *", "script": "flood.sh", "no_agent": true, "deliver": "console" }
    ] }"#;
    place.write("jobs.json", jobs.as_bytes());
    let mut console = open(&place);
    send(&mut console, "all at once");
    console.wait_for("the end of it");
    for page in ["\x1b[5~", "\x1b[5~", "\x1b[6~"] {
        console.press(page);
    }
    console.wait_for("xxxxxxxx");
    console.type_text("read");
    console.wait_until("the word", |screen| composer(screen) == "read");
    console.press("\x03");
    console.wait_until("an empty composer", |screen| composer(screen).is_empty());

    place.done(&["cron", "run", "flood", "--wait"]);
    console.press("\x1b3");
    console.wait_for("o output");
    console.press("o");
    console.wait_for("lines 1 to ");
    assert!(console.screen().contents().contains("AAAAAAAA"), "{console}");
    console.press("\x1b[6~");
    console.wait_gone("lines 1 to ");
    console.press(ESC);
    console.wait_gone(" of 8,0");

    console.press("\x1b1");
    console.press("i");
    send(&mut console, "long");
    console.wait_for("a line of many");
    console.type_text("still here");
    console.wait_until("the words", |screen| composer(screen) == "still here");
    assert!(console.screen().contents().contains("1 turn runs"), "{console}");
    // All of it together is 12 megabytes; what grows with the output would be seen.
    let peak = peak_memory(&console);
    assert!(peak < 512, "{peak} MiB");
    console.press("\x03");
    console.wait_until("an empty composer", |screen| composer(screen).is_empty());
    quit(&mut console);
}

/// Keeps 100 short sessions and one with 93 megabytes in six answers.
fn fill(file: &Path) {
    let mut store = Database::open(file).unwrap();
    store.step(|t| t.open_run(&given::run(1, 0))).unwrap();
    let mut answer = |session: &str, parts: &[Output], seconds: i64| {
        let answered = store.step(|t| {
            let turn = t.accept_message(&given::message(session, "go on", seconds))?.begun.unwrap().turn;
            t.append_turn(turn, parts, given::at(seconds))?;
            t.finish_turn(&given::end(turn, Outcome::Done, seconds)).map(|_| ())
        });
        answered.unwrap();
    };
    let text = |text: &str| Output::Text { text: text.to_owned() };
    for number in 0..100 {
        answer(&format!("session-{number}"), &[text("hello")], number);
    }
    let megabyte = "a line of a long transcript, in which one could look for some words\n".repeat(14_286);
    let mut parts = vec![text(&megabyte); 16];
    parts.push(text("the end of it"));
    for number in 100..106 {
        answer("console", &parts, number);
    }
}

// B86
#[test]
fn a_transcript_of_93_megabytes_among_100_sessions_is_read_and_left_like_any_other_and_takes_no_memory() {
    let place = Place::new();
    fs::create_dir_all(place.home()).unwrap();
    fill(&place.home().join("state.db"));
    let mut console = open(&place);
    console.wait_for("the end of it");
    console.wait_for("Sessions 101");
    console.wait_for("enter open");
    console.press("i");
    console.wait_gone("enter open");
    console.press("\x1b[5~");
    console.wait_for(" newer lines");
    console.type_text("read");
    console.wait_until("the word", |screen| composer(screen) == "read");
    for page in ["\x1b[5~", "\x1b[5~", "\x1b[6~", "\x1b[1;5F"] {
        console.press(page);
    }
    console.wait_gone(" newer lines");
    console.wait_for("the end of it");
    let peak = peak_memory(&console);
    assert!(peak < 512, "{peak} MiB");
    console.press("\x03");
    console.wait_until("an empty composer", |screen| composer(screen).is_empty());
    quit(&mut console);
}

#[test]
fn a_flood_of_output_delays_no_key_and_no_leaving() {
    let place = Place::new();
    let mut console = open(&place);
    send(&mut console, "write 200000 lines, then hang");
    console.wait_for("1 turn runs");
    for word in ["every", "key", "arrives"] {
        console.type_text(word);
        console.wait_until("the word", |screen| composer(screen).ends_with(word));
        console.press(" ");
    }
    console.press("\x03");
    console.wait_until("an empty composer", |screen| composer(screen).is_empty());
    send(&mut console, "/stop");
    console.wait_for("no turn runs");
    quit(&mut console);
}

#[test]
fn a_terminal_that_is_closed_leaves_the_engine_at_work() {
    let place = Place::new();
    let mut console = open(&place);
    send(&mut console, "take 60 seconds");
    console.wait_for("1 turn runs");
    console.close();
    let status = place.done(&["status"]);
    assert!(status.contains("1"), "{status}");
    let before = processor_time(&console);
    std::thread::sleep(Duration::from_secs(1));
    let used = processor_time(&console) - before;
    assert!(used < 50, "{used} hundredths of a second of processor time in a second without a screen");
    place.done(&["send", "/stop"]);
    place.done(&["stop"]);
    assert_eq!(console.wait_exit().exit_code(), 129);
}

#[test]
fn sighup_gives_the_terminal_back_and_leaves_the_engine_at_work() {
    let place = Place::new();
    let mut console = open(&place);
    console.signal(Signal::HUP);
    console.wait_for_bytes("\x1b[?1049l");
    console.listen(Duration::from_millis(100));
    console.assert_given_back();
    place.done(&["status"]);
    console.signal(Signal::TERM);
    assert_eq!(console.wait_exit().exit_code(), 129);
}

#[test]
fn sigterm_stops_in_order_and_a_second_one_cuts() {
    let place = Place::new();
    let mut console = open(&place);
    send(&mut console, "take 60 seconds");
    console.wait_for("1 turn runs");
    console.signal(Signal::TERM);
    console.wait_for("STOPPING");
    console.signal(Signal::TERM);
    assert!(console.wait_exit().success());
    console.assert_given_back();
    let left = console.screen().contents();
    assert!(
        left.contains("the engine stopped in order; cut, and resumed by the next start: console"),
        "{left}"
    );
}

#[test]
fn a_stop_from_outside_ends_the_console_with_its_engine() {
    let place = Place::new();
    let mut console = open(&place);
    place.done(&["stop"]);
    assert!(console.wait_exit().success());
    console.assert_given_back();
}

#[test]
fn an_attached_console_comes_and_goes_and_suspends() {
    let place = Place::new();
    let mut engine = open(&place);
    let mut console = open(&place);
    console.wait_for("attached pid");

    console.press("\x1a");
    wait_until("stopped", || state(&console) == 'T');
    console.listen(Duration::from_millis(50));
    console.assert_given_back();
    console.signal(Signal::CONT);
    console.wait_until("the screen again", |screen| {
        screen.alternate_screen() && screen.contents().contains("to: console")
    });

    console.signal(Signal::TERM);
    assert!(console.wait_exit().success());
    console.assert_given_back();

    engine.press("\x1a");
    engine.wait_for("leave it running");
    assert_ne!(state(&engine), 'T');
    engine.press(ESC);
    quit_from_anywhere(&mut engine);
}

#[test]
fn a_console_whose_engine_is_gone_says_so_and_can_start_one() {
    let place = Place::new();
    let serve = place.serve(&[]);
    let mut console = open(&place);
    console.wait_for("attached pid");
    serve.kill();
    console.wait_for("ENGINE GONE");
    console.press("\x1b[19~");
    answer(&mut console, "ENGINE GONE", "s");
    console.wait_for("engine: here");
    quit_from_anywhere(&mut console);
}

#[test]
fn an_engine_whose_process_is_stopped_does_not_answer_and_is_not_gone() {
    let place = Place::new();
    let serve = place.serve(&[]);
    let mut console = open(&place);
    console.wait_for("attached pid");
    serve.signal(Signal::STOP);
    console.type_text("say late");
    console.press(ENTER);
    console.wait_for("ENGINE DOES NOT ANSWER since");
    assert!(!console.screen().contents().contains("GONE"), "{console}");
    let run = place.run(&["status"]);
    assert!(run.err.contains(&format!("`kill -CONT {}` lets a stopped one go on", serve.pid())), "{run:?}");
    serve.signal(Signal::CONT);
    console.wait_gone("ENGINE DOES NOT ANSWER");
    console.wait_for("agent  late");
    quit_from_anywhere(&mut console);
}

#[test]
fn an_attached_console_comes_back_by_itself_after_a_restart() {
    let place = Place::new();
    let _serve = place.serve(&[]);
    let mut console = open(&place);
    console.wait_for("attached pid");
    send(&mut console, "say before");
    console.wait_for("agent  before");
    let typed = console.bytes().len();
    send(&mut console, "/restart");
    console.wait_for_bytes_after(typed, b"reconnecting");
    console.wait_for("attached pid");
    send(&mut console, "say after");
    console.wait_for("agent  after");
    quit_from_anywhere(&mut console);
}

#[test]
fn what_was_typed_a_moment_before_an_attached_console_was_told_to_end_is_there_again() {
    let place = Place::new();
    let _serve = place.serve(&[]);
    let mut console = open(&place);
    console.wait_for("attached pid");
    // A draft is saved once it is known that none is kept, and that is known when this is answered.
    send(&mut console, "say before");
    console.wait_for("agent  before");
    console.press("half a thought");
    console.wait_for("half a thought");
    console.signal(Signal::TERM);
    assert!(console.wait_exit().success());
    let mut again = open(&place);
    again.wait_for("half a thought");
    quit_from_anywhere(&mut again);
}

#[test]
fn the_operators_editor_has_the_terminal_to_itself() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let editor = folder.path().join("editor");
    let script =
        "#!/bin/sh\necho editing; read line; printf '%s and %s\\n' \"$(cat \"$1\")\" \"$line\" > \"$1\"\n";
    write_program(&editor, script.as_bytes());
    let mut console = open_with(&place, &[], &[("EDITOR", &editor)]);
    console.wait_for("to: console");
    console.type_text("begun");
    console.wait_for("begun");
    console.press("\x18");
    console.press("\x05");
    console.wait_until("the editor", |screen| {
        !screen.alternate_screen() && screen.contents().contains("editing")
    });
    console.type_text("ended\r");
    console.wait_for("begun and ended");
    assert!(console.screen().alternate_screen());
    quit_from_anywhere(&mut console);
}

#[test]
fn an_idle_console_writes_nothing() {
    let place = Place::new();
    let mut console = open(&place);
    // What was begun is drawn first, and the clock may reach the next minute.
    let deadline = Instant::now() + PATIENCE;
    while !console.listen(Duration::from_millis(1500)).is_empty() {
        assert!(Instant::now() < deadline, "it still writes; {console}");
    }
    quit_from_anywhere(&mut console);
}

#[test]
fn read_only_starts_no_engine_and_changes_nothing() {
    let place = Place::new();
    let mut first = open(&place);
    send(&mut first, "say hello");
    first.wait_for("agent  hello");
    quit_from_anywhere(&mut first);

    let mut console = open_with(&place, &["--read-only"], &[]);
    console.wait_for("READ-ONLY");
    console.wait_for("agent  hello");
    assert!(!place.home().join("control.sock").exists());
    quit_from_anywhere(&mut console);
}

#[test]
fn an_engine_that_is_left_running_goes_on_in_the_window_until_ctrl_c() {
    let place = Place::new();
    let mut console = open(&place);
    console.press(ESC);
    console.wait_for("enter open");
    console.press("q");
    answer(&mut console, "Stop the engine", "k");
    console.wait_for("without a screen, pid");
    console.assert_given_back();
    place.done(&["status"]);
    console.press("\x03");
    assert!(console.wait_exit().success());
}

fn state(pty: &Pty) -> char {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pty.pid().as_raw_nonzero())).unwrap();
    stat.rsplit_once(')').unwrap().1.trim().chars().next().unwrap()
}

#[test]
fn a_restart_gives_the_terminal_back_and_brings_the_console_back() {
    let place = Place::new();
    let mut console = open(&place);
    send(&mut console, "say before");
    console.wait_for("agent  before");

    let typed = console.bytes().len();
    send(&mut console, "/restart");
    assert_entered_anew(&mut console, typed);
    console.wait_for("agent  before");
    send(&mut console, "say after");
    console.wait_for("agent  after");

    let told = console.bytes().len();
    console.signal(Signal::USR1);
    assert_entered_anew(&mut console, told);
    console.wait_for("agent  after");
    assert!(console.runs(), "it is the same process");
    quit(&mut console);
}

/// Checks that the screen was left after the first `from` bytes, and then entered again.
fn assert_entered_anew(console: &mut Pty, from: usize) {
    console.wait_for_bytes_after(from, b"\x1b[?1049h");
    let bytes = String::from_utf8_lossy(&console.bytes()[from..]).into_owned();
    assert!(order(&bytes, &["\x1b[?1049l", "\x1b[?1049h"]), "{bytes:?}");
}
