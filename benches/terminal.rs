//! How fast the console is, seen from the other end of its terminal.
//!
//! `cargo bench --bench terminal`; `-- small` leaves the huge home out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

#[path = "support/filled_home.rs"]
mod filled_home;
#[allow(dead_code, unreachable_pub)]
#[path = "../tests/support/pty.rs"]
mod pty;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;

use filled_home::Size;
use pty::Pty;

const BINARY: &str = env!("CARGO_BIN_EXE_switchboard");
const STARTS: usize = 15;
const KEYS: usize = 200;
const IDLE: Duration = Duration::from_secs(20);

fn main() {
    let small = std::env::args().any(|argument| argument == "small");
    let sizes = if small { vec![Size::SMALL] } else { vec![Size::SMALL, Size::HUGE] };
    for size in sizes {
        let home = tempfile::tempdir().unwrap();
        let start = Instant::now();
        filled_home::fill(home.path(), size);
        let messages = u64::from(size.sessions) * u64::from(size.turns) * 2;
        println!("\n{} sessions, {messages} messages (filled in {:.1?})", size.sessions, start.elapsed());
        // The session that was active last is the one in front.
        let last = size.sessions - 1;
        first_frames(home.path(), last);
        one_console(home.path(), last);
    }
}

/// From the start of the program to its first whole frame, and to the list of sessions in it.
fn first_frames(home: &Path, last: u32) {
    let mut frames = Vec::new();
    let mut lists = Vec::new();
    for _ in 0..STARTS {
        let start = Instant::now();
        let mut console = open(home);
        console.wait_for_bytes("\x1b[?2026l");
        frames.push(start.elapsed());
        console.wait_for(&format!("session {last}"));
        lists.push(start.elapsed());
        stop(console);
    }
    report("start to first frame", frames);
    report("start to the list", lists);
}

fn one_console(home: &Path, last: u32) {
    let mut console = open(home);
    console.wait_for(&format!("session {last}"));
    // Draws that follow the start (counts, the conversation) are not idle.
    console.listen(Duration::from_secs(2));

    let before = Usage::of(&console);
    let bytes = console.listen(IDLE).len();
    let used = Usage::of(&console).since(&before);
    println!(
        "  idle for {IDLE:?}: {bytes} bytes written, {} wake-ups, {} ms of processor time",
        used.wake_ups, used.milliseconds
    );
    println!("  resident: {:.1} MiB", resident_kib(&console) as f64 / 1024.0);

    console.press("\x1b1i");
    report("key to frame, idle", keys(&mut console));
    flood(home, last..last + 1, "a turn streams", &mut console);
    flood(home, last - 3..last, "four turns stream", &mut console);
    stop(console);
}

/// What the console costs while these sessions stream, too.
fn flood(home: &Path, sessions: Range<u32>, what: &str, console: &mut Pty) {
    sessions.for_each(|number| load(home, number));
    report(&format!("key to frame, {what}"), keys(console));
    let before = Usage::of(console);
    console.listen(Duration::from_secs(2));
    let used = Usage::of(console).since(&before);
    println!("  {what}: {} ms of processor time a second, engine included", used.milliseconds / 2);
}

/// Presses a key and waits for the frame that shows it.
fn keys(console: &mut Pty) -> Vec<Duration> {
    (0..KEYS)
        .map(|n| {
            let letter = char::from(b'a' + (n % 26) as u8).to_string();
            // A person's pace, and no frame on its way.
            console.listen(Duration::from_millis(40));
            let from = console.bytes().len();
            let start = Instant::now();
            console.write(&letter);
            console.wait_for_bytes_after(from, letter.as_bytes());
            start.elapsed()
        })
        .collect()
}

/// Makes a session stream for longer than the measurement takes.
fn load(home: &Path, number: u32) {
    let key = format!("agent:main:local:dm:bench-{number}");
    let arguments = ["send", "--session", &key, "write 1000000 lines"];
    let sent = Command::new(BINARY).arg("--home").arg(home).args(arguments).output().unwrap();
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
}

fn open(home: &Path) -> Pty {
    let mut command = CommandBuilder::new(BINARY);
    command.arg("--home");
    command.arg(home);
    command.env("TERM", "xterm-256color");
    command.env("TZ", "UTC");
    Pty::start(command, (120, 40))
}

fn stop(mut console: Pty) {
    console.signal(rustix::process::Signal::TERM);
    // What still runs is cut. Two signals that come together are one.
    console.listen(Duration::from_millis(300));
    if console.runs() {
        console.signal(rustix::process::Signal::TERM);
    }
    console.wait_exit();
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "  {what}: p50 {:.1} ms, p99 {:.1} ms, most {:.1} ms",
        at(0.5).as_secs_f64() * 1e3,
        at(0.99).as_secs_f64() * 1e3,
        at(1.0).as_secs_f64() * 1e3
    );
}

/// What a process has used so far.
struct Usage {
    /// By thread: some end meanwhile.
    wake_ups: HashMap<OsString, u64>,
    milliseconds: u64,
}

struct Used {
    wake_ups: u64,
    milliseconds: u64,
}

impl Usage {
    fn of(console: &Pty) -> Self {
        let process = PathBuf::from(format!("/proc/{}", console.pid().as_raw_nonzero()));
        let wake_ups = fs::read_dir(process.join("task")).unwrap().filter_map(|task| {
            let task = task.unwrap();
            let status = fs::read_to_string(task.path().join("status")).ok()?;
            Some((task.file_name(), field(&status, "voluntary_ctxt_switches:")))
        });
        Self { wake_ups: wake_ups.collect(), milliseconds: pty::processor_time(console) * 10 }
    }

    fn since(&self, before: &Self) -> Used {
        let earlier = |thread| before.wake_ups.get(thread).copied().unwrap_or(0);
        Used {
            wake_ups: self.wake_ups.iter().map(|(thread, count)| count - earlier(thread)).sum(),
            milliseconds: self.milliseconds - before.milliseconds,
        }
    }
}

fn resident_kib(console: &Pty) -> u64 {
    // The pages that are touched late count too.
    thread::sleep(Duration::from_millis(100));
    let status = fs::read_to_string(format!("/proc/{}/status", console.pid().as_raw_nonzero())).unwrap();
    field(&status, "VmRSS:")
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
    line.split_whitespace().next().unwrap().parse().unwrap()
}
