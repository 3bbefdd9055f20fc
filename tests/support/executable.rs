//! Programs that tests make.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// Makes a program of these bytes. Another process writes it: a child that a neighbour's test starts
/// just then would inherit our open file, and a program that anyone can still write does not start
/// ("Text file busy").
pub fn write_program(path: &Path, mut bytes: impl Read) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat > \"$0\" && chmod 700 \"$0\""]).arg(path).stdin(Stdio::piped());
    let mut writer = shell.spawn().unwrap();
    io::copy(&mut bytes, &mut writer.stdin.take().unwrap()).unwrap();
    assert!(writer.wait().unwrap().success(), "{}", path.display());
}
