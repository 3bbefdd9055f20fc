//! How fast an answer comes from a model's server through the loop and the store to the screen, and what a
//! very long turn costs in memory. Linux: memory is read from `/proc`.
//!
//! `cargo bench --bench agent`

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

#[allow(dead_code, unreachable_pub)]
#[path = "../tests/support/pty.rs"]
mod pty;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;

use pty::Pty;

const BINARY: &str = env!("CARGO_BIN_EXE_switchboard");
const TURNS: usize = 5;
const TOKENS: usize = 100_000;
/// A line has so many tokens.
const LINE: usize = 12;

fn main() {
    let home = tempfile::tempdir().unwrap();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = format!(
        "[agent]\nbackend = \"openai\"\n[agent.openai]\nbase_url = \"http://{}/v1\"\nmodel = \"bench\"\n",
        server.local_addr().unwrap()
    );
    fs::write(home.path().join("config.toml"), settings).unwrap();
    thread::spawn(move || serve(&server));

    let mut console = open(home.path());
    console.wait_for("to: console");
    let resident = memory(&console, "VmRSS:");
    println!("\nan answer of {TOKENS} tokens, as fast as the server can write, 120x40, {TURNS} turns");
    let mut took = Vec::new();
    for turn in 1..=TURNS {
        let before = pty::processor_time(&console);
        let start = Instant::now();
        console.write(format!("turn {turn}\r"));
        console.wait_for(&format!("the end of {turn}"));
        took.push(start.elapsed());
        let used = (pty::processor_time(&console) - before) * 10;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "  turn {turn}: {seconds:.2} s, {:.0} tokens a second on the screen, {used} ms of processor time",
            TOKENS as f64 / seconds
        );
        // Until the turn is over, not only told.
        console.wait_for("runs at once");
    }
    took.sort();
    let middle = took[TURNS / 2];
    println!("  p50 {:.0} tokens a second", TOKENS as f64 / middle.as_secs_f64());
    println!(
        "  resident: {:.1} MiB before, {:.1} MiB after, {:.1} MiB at the most",
        resident,
        memory(&console, "VmRSS:"),
        memory(&console, "VmHWM:")
    );
    console.signal(rustix::process::Signal::TERM);
    console.wait_exit();
}

fn open(home: &Path) -> Pty {
    let mut command = CommandBuilder::new(BINARY);
    command.arg("--home");
    command.arg(home);
    command.env("TERM", "xterm-256color");
    command.env("TZ", "UTC");
    Pty::start(command, (120, 40))
}

/// In MiB.
fn memory(console: &Pty, name: &str) -> f64 {
    thread::sleep(Duration::from_millis(200));
    let status = fs::read_to_string(format!("/proc/{}/status", console.pid().as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
}

/// A model's server that answers each message with the same many tokens, each an event of its own.
fn serve(server: &TcpListener) {
    let mut turn = 0;
    for stream in server.incoming() {
        let stream = stream.unwrap();
        if asks_for_an_answer(&stream) {
            turn += 1;
            answer(stream, turn);
        } else {
            let mut stream = stream;
            let _ =
                stream.write_all(b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        }
    }
}

fn asks_for_an_answer(stream: &TcpStream) -> bool {
    let mut request = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    request.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        request.read_line(&mut line).unwrap();
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    request.read_exact(&mut vec![0; length]).unwrap();
    first.starts_with("POST")
}

fn answer(mut stream: TcpStream, turn: usize) {
    let mut body = String::new();
    let mut say = |words: &str| {
        let delta = serde_json::json!({"choices": [{"index": 0, "delta": {"content": words}}]});
        body.push_str(&format!("data: {delta}\n\n"));
    };
    for token in 1..TOKENS {
        say(if token % LINE == 0 { "token\n" } else { "token " });
    }
    say(&format!("\nthe end of {turn}"));
    let usage = serde_json::json!({"prompt_tokens": 10, "completion_tokens": TOKENS});
    let last =
        serde_json::json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage});
    body.push_str(&format!("data: {last}\n\ndata: [DONE]\n\n"));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    let _ = write!(stream, "{head}content-length: {}\r\n\r\n", body.len());
    let _ = stream.write_all(body.as_bytes());
}
