//! The real binary in a home of its own, with time zone and locale fixed.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::executable::write_program;

/// A home for the binary; deleted with everything in it.
pub struct Place {
    folder: tempfile::TempDir,
}

/// What a run of the binary left behind.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A running `switchboard serve`. Killed when it is dropped.
pub struct Serve {
    child: Child,
    log: BufReader<ChildStderr>,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The binary with these arguments and this home.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .args(arguments)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path())
            .env("SWITCHBOARD_HOME", self.home())
            .env("TZ", "Asia/Kolkata")
            .env("LC_ALL", "C")
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the binary to its end.
    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// Runs the binary with something on its standard input.
    pub fn run_with(&self, input: &[u8], arguments: &[&str]) -> Run {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        // A program that does not read its input closes it.
        let _ = child.stdin.take().unwrap().write_all(input);
        Run::of(child.wait_with_output().unwrap())
    }

    /// Runs the binary and requires that it does what it was asked.
    pub fn done(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
        run.out
    }

    /// The lines of a listing as JSON.
    pub fn json(&self, arguments: &[&str]) -> Vec<serde_json::Value> {
        let text = self.done(&[arguments, &["--json"]].concat());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Starts an engine and waits until it serves.
    pub fn serve(&self, arguments: &[&str]) -> Serve {
        let mut child = self.command(&[&["serve"], arguments].concat()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut serve = Serve { child, log };
        serve.wait_for("serving");
        serve
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::create_dir_all(self.home()).unwrap();
        std::fs::write(self.home().join(name), bytes).unwrap();
    }

    /// A script for scheduled tasks.
    pub fn write_script(&self, name: &str, text: &str) {
        let scripts = self.home().join("scripts");
        std::fs::create_dir_all(&scripts).unwrap();
        write_program(&scripts.join(name), text.as_bytes());
    }
}

impl Run {
    fn of(output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Serve {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Starts an engine that may end before it serves: then its end is the error.
    pub fn begin(mut command: Command) -> Result<Self, ExitStatus> {
        let mut child = command.spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut serve = Self { child, log };
        let mut line = String::new();
        while serve.log.read_line(&mut line).unwrap() > 0 {
            if line.contains("serving") {
                return Ok(serve);
            }
            line.clear();
        }
        Err(serve.child.wait().unwrap())
    }

    /// Gives it so long to end by itself.
    pub fn wait_at_most(&mut self, span: Duration) {
        let until = Instant::now() + span;
        while self.has_ended().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Its end, if it has ended by itself.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Reads the log until a line holds the words.
    pub fn wait_for(&mut self, words: &str) -> String {
        let mut seen = String::new();
        loop {
            let mut line = String::new();
            let read = self.log.read_line(&mut line).unwrap();
            seen.push_str(&line);
            assert!(read > 0, "the engine ended before it said {words:?}:\n{seen}");
            if line.contains(words) {
                return seen;
            }
        }
    }

    /// Ends it as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.id()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Waits for its end; gives its exit and the rest of its log.
    pub fn ended(mut self) -> (ExitStatus, String) {
        let mut rest = String::new();
        self.log.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap(), rest)
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
