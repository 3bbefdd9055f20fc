//! How fast the console is, seen from the other end of its terminal.
//!
//! `cargo bench --bench terminal`; `-- small` leaves the huge home out, `-- start`, `-- one`,
//! `-- attached` and `-- embedded` measure that part alone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

#[path = "support/busy_engine.rs"]
mod busy_engine;
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
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use portable_pty::CommandBuilder;
use tempfile::TempDir;

use busy_engine::BusyEngine;
use filled_home::Size;
use pty::Pty;

const BINARY: &str = env!("CARGO_BIN_EXE_switchboard");
const STARTS: usize = 30;
const KEYS: usize = 200;
/// What each frame ends with.
const FRAME: &str = "\x1b[?2026l";
const IDLE: Duration = Duration::from_secs(20);

/// How long a flood is watched.
const WATCHED: Duration = Duration::from_secs(10);

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let has = |word: &str| wanted.iter().any(|wanted| wanted == word);
    let measures = |part: &str| {
        has(part) || !wanted.iter().any(|word| ["start", "one", "attached", "embedded"].contains(&&**word))
    };
    let sizes = if has("small") { vec![Size::SMALL] } else { vec![Size::SMALL, Size::HUGE] };
    for size in sizes.into_iter().filter(|_| measures("start") || measures("one")) {
        let home = filled(size);
        // The session that was active last is the one in front.
        let last = size.sessions - 1;
        if measures("start") {
            first_frames(home.path(), last);
        }
        if measures("one") {
            one_console(home.path(), last);
        }
    }
    if measures("attached") {
        attached(&filled(Size::BUSY));
    }
    if measures("embedded") {
        embedded(&filled(Size::BUSY));
    }
}

fn filled(size: Size) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let start = Instant::now();
    filled_home::fill(home.path(), size);
    let messages = u64::from(size.sessions) * u64::from(size.turns) * 2;
    println!("\n{} sessions, {messages} messages (filled in {:.1?})", size.sessions, start.elapsed());
    home
}

/// From the start of the program to its first whole frame, and to the list of sessions in it.
fn first_frames(home: &Path, last: u32) {
    let mut frames = Vec::new();
    let mut lists = Vec::new();
    for _ in 0..STARTS {
        let start = Instant::now();
        let mut console = open(home);
        console.wait_for_bytes(FRAME);
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
    // What follows the start (counts, the conversation, the store's examination) is not idle.
    console.listen(Duration::from_secs(8));
    // Nor is the clock in the header: once a minute it is drawn.
    let minute = Duration::from_secs(60);
    let gone = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() % minute.as_millis();
    let left = minute - Duration::from_millis(gone as u64);
    if left < IDLE + Duration::from_secs(1) {
        console.listen(left + Duration::from_secs(1));
    }

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

/// A console beside an engine in another process that makes exactly so many events a second.
fn attached(home: &TempDir) {
    let engine = BusyEngine::start(home.path());
    let others = Size::BUSY.sessions - 1;
    let mut console = open_in(home.path(), (200, 60));
    console.wait_for(&format!("session {others}"));
    console.press("\x1b1i");
    engine.begin(others, others);
    console.listen(Duration::from_secs(5));
    println!("  attached to an engine that makes {} events a second, 200x60:", busy_engine::EVENTS);

    let told = engine.told();
    watch(&mut console, "watched");
    let (committed, pieces) = engine.told();
    let a_second = |count: u64| count as f64 / WATCHED.as_secs_f64();
    println!(
        "  the engine told {:.0} committed events and {:.0} pieces a second",
        a_second(committed - told.0),
        a_second(pieces - told.1)
    );

    let (before, start) = (Usage::of(&console), Instant::now());
    report("key to frame meanwhile", keys(&mut console));
    share(&console, &before, start.elapsed(), "typed into");
    let behind = console.screen().contents().lines().find(|line| line.contains("BEHIND")).map(str::to_owned);
    println!("  {}", behind.as_deref().unwrap_or("no update was lost"));
    stop(console);
}

/// The same with the engine in the console's own process: sixty practice turns of a word every 12 ms.
fn embedded(home: &TempDir) {
    let front = Size::BUSY.sessions - 1;
    let mut console = open_in(home.path(), (200, 60));
    console.wait_for(&format!("session {front}"));
    console.press("\x1b1i");
    let speech = format!("say {}", "word ".repeat(6_000));
    (front - 59..=front).for_each(|number| send(home.path(), number, &speech));
    console.listen(Duration::from_secs(3));
    println!("  with its own engine, in which 60 turns stream some 80 pieces a second each, 200x60:");
    watch(&mut console, "watched, engine included");
    report("key to frame meanwhile", keys(&mut console));
    stop(console);
}

/// What a console costs and draws while nobody touches it.
fn watch(console: &mut Pty, what: &str) {
    let (before, start) = (Usage::of(console), Instant::now());
    let bytes = console.listen(WATCHED);
    share(console, &before, start.elapsed(), what);
    let frames = bytes.windows(FRAME.len()).filter(|window| *window == FRAME.as_bytes()).count();
    println!(
        "  {:.1} frames and {:.1} KiB a second",
        frames as f64 / WATCHED.as_secs_f64(),
        bytes.len() as f64 / 1024.0 / WATCHED.as_secs_f64()
    );
}

fn share(console: &Pty, before: &Usage, time: Duration, what: &str) {
    let used = Usage::of(console).since(before);
    println!(
        "  {what}: {:.1} % of a core, {:.0} wake-ups a second",
        used.milliseconds as f64 / time.as_secs_f64() / 10.0,
        used.wake_ups as f64 / time.as_secs_f64()
    );
}

/// Presses a key and waits for the frame that shows it. The letters are Greek, so that nothing else
/// on the screen is taken for one.
fn keys(console: &mut Pty) -> Vec<Duration> {
    (0..KEYS)
        .map(|n| {
            let letter = char::from_u32('\u{3b1}' as u32 + (n % 17) as u32).unwrap().to_string();
            // A person's pace, and no frame on its way.
            console.listen(Duration::from_millis(40));
            let from = console.bytes().len();
            let start = Instant::now();
            console.write(&letter);
            console.wait_for_bytes_after(from, letter.as_bytes());
            let took = start.elapsed();
            console.write("\x7f");
            took
        })
        .collect()
}

/// Makes a session stream for longer than the measurement takes.
fn load(home: &Path, number: u32) {
    send(home, number, "write 1000000 lines");
}

fn send(home: &Path, number: u32, message: &str) {
    let key = format!("agent:main:local:dm:bench-{number}");
    let arguments = ["send", "--session", &key, message];
    let sent = Command::new(BINARY).arg("--home").arg(home).args(arguments).output().unwrap();
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
}

fn open(home: &Path) -> Pty {
    open_in(home, (120, 40))
}

fn open_in(home: &Path, size: (u16, u16)) -> Pty {
    let mut command = CommandBuilder::new(BINARY);
    command.arg("--home");
    command.arg(home);
    command.env("TERM", "xterm-256color");
    command.env("TZ", "UTC");
    Pty::start(command, size)
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
