//! What the operator types and pastes arrives as it was meant.

use crate::child::play;
use crate::support::pty::Pty;

fn echo() -> (tempfile::TempDir, Pty) {
    let folder = tempfile::tempdir().unwrap();
    let mut pty = play("leave", &folder.path().join("unused"));
    pty.wait_for("ready");
    (folder, pty)
}

#[test]
fn keys_arrive_one_by_one() {
    let (_folder, mut pty) = echo();
    pty.type_text("日");
    pty.wait_for("key 日");
    pty.press("\x1b[1;5C");
    pty.wait_for("key ctrl-right");
    pty.press("\x1b");
    pty.wait_for("key esc");
    pty.press("\n");
    pty.wait_for("key ctrl-j");
}

#[test]
fn a_paste_is_one_text_whatever_ends_its_lines() {
    let (_folder, mut pty) = echo();
    pty.paste("a\r\nb\rc\nd");
    pty.wait_for(r#"paste "a\nb\nc\nd""#);
}

#[test]
fn an_end_mark_inside_a_paste_lets_nothing_loose() {
    let (_folder, mut pty) = echo();
    pty.paste("one\x1b[201~\r/reset\rtwo");
    pty.wait_for(r#"paste "one\n/reset\ntwo""#);
    assert!(!pty.screen().contents().contains("key"), "{pty}");
}

#[test]
fn a_large_paste_arrives_whole() {
    let (_folder, mut pty) = echo();
    let line = "0123456789".repeat(10);
    pty.paste(&vec![line.as_str(); 300].join("\r"));
    pty.press("x");
    pty.wait_for("key x");
    let shown = String::from_utf8_lossy(pty.bytes()).into_owned();
    assert!(shown.contains("paste"), "{pty}");
}

#[test]
fn keys_that_come_all_at_once_are_all_seen() {
    let (_folder, mut pty) = echo();
    pty.write("x".repeat(3000) + "!");
    pty.wait_for("ready");
    pty.press("q");
    assert!(pty.wait_exit().success(), "{pty}");
}

#[test]
fn a_terminal_with_the_keyboard_protocol_is_asked_for_more_and_given_back() {
    let (_folder, mut pty) = echo();
    pty.write("\x1b[?0u");
    pty.wait_for("keyboard protocol");
    pty.wait_for_bytes("\x1b[>5u");
    pty.press("\x1b[105;5u");
    pty.wait_for("key tab");
    pty.press("q");
    assert!(pty.wait_exit().success());
    pty.assert_given_back();
}

#[test]
fn the_mouse_is_taken_only_when_it_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let mut pty = play("mouse", &folder.path().join("unused"));
    pty.wait_for("ready");
    assert_eq!(pty.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::ButtonMotion);
    pty.write("\x1b[<0;12;5M");
    pty.wait_for("Mouse { act: Click, column: 11, row: 4 }");
    pty.press("q");
    assert!(pty.wait_exit().success());
    pty.assert_given_back();

    let (_folder, without) = echo();
    assert_eq!(without.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::None);
}
