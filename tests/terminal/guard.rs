//! The terminal is given back as it was, once, on every way out.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::child::play;
use crate::support::pty::{PATIENCE, Pty, contains, processor_time};

const LEFT: &str = "\x1b[?1049l";

fn assert_given_back_once(pty: &Pty) {
    pty.assert_given_back();
    let times = pty.bytes().windows(LEFT.len()).filter(|window| *window == LEFT.as_bytes()).count();
    assert_eq!(times, 1, "the alternate screen was left {times} times; {pty}");
}

fn after_the_screen(pty: &Pty) -> String {
    let bytes = pty.bytes();
    let at = bytes.windows(LEFT.len()).rposition(|window| window == LEFT.as_bytes()).unwrap();
    String::from_utf8_lossy(&bytes[at..]).into_owned()
}

fn scratch() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("said");
    (folder, file)
}

#[test]
fn leaving_gives_the_terminal_back() {
    let (_folder, file) = scratch();
    let mut pty = play("leave", &file);
    pty.wait_for("ready");
    assert!(pty.screen().alternate_screen() && pty.screen().bracketed_paste());
    pty.press("q");
    assert!(pty.wait_exit().success());
    assert_given_back_once(&pty);
    assert!(after_the_screen(&pty).contains("after the screen"));
}

#[test]
fn an_error_gives_the_terminal_back_before_it_is_told() {
    let (_folder, file) = scratch();
    let mut pty = play("fail", &file);
    assert_eq!(pty.wait_exit().exit_code(), 1);
    assert_given_back_once(&pty);
    assert!(after_the_screen(&pty).contains("a draw went wrong"), "{pty}");
}

#[test]
fn a_panic_gives_the_terminal_back_before_its_message() {
    let (_folder, file) = scratch();
    let mut pty = play("panic", &file);
    assert_eq!(pty.wait_exit().exit_code(), 70);
    assert_given_back_once(&pty);
    assert!(after_the_screen(&pty).contains("a bug in a view"), "{pty}");
}

#[test]
fn a_panic_during_a_panic_gives_the_terminal_back_too() {
    let (_folder, file) = scratch();
    let mut pty = play("panic twice", &file);
    assert!(!pty.wait_exit().success());
    assert_given_back_once(&pty);
    let after = after_the_screen(&pty);
    assert!(after.contains("a bug in a view") && after.contains("a second bug"), "{pty}");
}

#[test]
fn a_panic_outside_the_console_leaves_the_screen_up_and_goes_to_the_log() {
    let (_folder, file) = scratch();
    let mut pty = play("panic elsewhere", &file);
    pty.wait_for("ready");
    assert!(fs::read_to_string(&file).unwrap().contains("a bug in a turn"));
    assert!(pty.screen().alternate_screen());
    pty.press("q");
    assert!(pty.wait_exit().success());
    assert_given_back_once(&pty);
    assert!(!contains(pty.bytes(), b"a bug in a turn"), "{pty}");
}

#[test]
fn what_is_written_to_standard_error_goes_to_the_log_while_the_screen_is_up() {
    let (_folder, file) = scratch();
    let mut pty = play("write errors", &file);
    pty.wait_for("ready");
    pty.press("q");
    assert!(pty.wait_exit().success());
    assert_eq!(fs::read_to_string(&file).unwrap(), "a library has something to say\n");
    assert!(!contains(pty.bytes(), b"something to say"), "{pty}");
}

#[test]
fn signals_give_the_terminal_back() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let (_folder, file) = scratch();
        let mut pty = play("signals", &file);
        pty.wait_for("ready");
        pty.signal(signal);
        assert!(pty.wait_exit().success(), "{signal:?}");
        assert_given_back_once(&pty);
    }
}

#[test]
fn another_size_is_another_frame() {
    let (_folder, file) = scratch();
    let mut pty = play("signals", &file);
    pty.wait_for("ready");
    pty.resize((50, 9));
    pty.wait_for("50 by 9");
}

#[test]
fn each_frame_appears_at_once() {
    let (_folder, file) = scratch();
    let mut pty = play("leave", &file);
    pty.wait_for("ready");
    let text = String::from_utf8_lossy(pty.bytes()).into_owned();
    let frame = text.split_once("\x1b[?2026h").unwrap().1.split_once("\x1b[?2026l").unwrap().0;
    assert!(frame.contains("ready"), "{pty}");
}

#[test]
fn a_terminal_that_vanishes_takes_nothing_with_it() {
    let (_folder, file) = scratch();
    let mut pty = play("hang-up", &file);
    pty.wait_for("ready");
    pty.close();
    let deadline = Instant::now() + PATIENCE;
    while !file.exists() {
        assert!(Instant::now() < deadline && pty.runs(), "the hang-up was not noticed");
        std::thread::sleep(Duration::from_millis(5));
    }
    let before = processor_time(&pty);
    std::thread::sleep(Duration::from_secs(1));
    assert!(pty.runs());
    let used = processor_time(&pty) - before;
    assert!(used <= 5, "{used} hundredths of a second of processor time in an idle second");
}

#[test]
fn a_borrowed_terminal_is_the_other_programs_alone() {
    let (_folder, file) = scratch();
    let mut pty = play("borrow", &file);
    pty.wait_for("go on");
    pty.type_text("every key of it\r");
    pty.wait_for_bytes("the shell has: every key of it");
    pty.wait_for("ready");
    pty.press("q");
    assert!(pty.wait_exit().success());
    pty.assert_given_back();
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_nothing_else() {
    let (_folder, file) = scratch();
    let mut pty = play("freeze", &file);
    // Nobody reads here, so the terminal fills up.
    let deadline = Instant::now() + PATIENCE;
    while !file.exists() {
        assert!(Instant::now() < deadline, "the program waits for its terminal");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(pty.wait_exit().success());
    pty.assert_given_back();
}
