//! The program in the terminal: this test binary again, doing one small thing with the screen.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what a program prints is under test")]

use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::exit;
use std::time::Duration;

use futures_util::FutureExt;
use portable_pty::CommandBuilder;
use ratatui::widgets::Paragraph;
use switchboard::config::{Mouse, SynchronizedOutput};
use switchboard::console::app::key::{Code, Key};
use switchboard::console::tty::{
    Canvas, Input, Output, Reader, Screen, ScreenOptions, Signal, Signals, TtyError, owning_panics,
};

use crate::support::pty::Pty;

const PART: &str = "SWITCHBOARD_TEST_PART";
const FILE: &str = "SWITCHBOARD_TEST_FILE";

/// Starts this binary in a terminal to play `part`. `file` is where it leaves what it has to say.
pub(crate) fn play(part: &str, file: &std::path::Path) -> Pty {
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::plays_its_part", "--nocapture", "--test-threads=1"]);
    command.env(PART, part);
    command.env(FILE, file);
    command.env_remove("NO_COLOR");
    Pty::start(command, (60, 12))
}

/// No test of its own: what the binary does when it is started in a terminal.
#[test]
fn plays_its_part() {
    let Ok(part) = std::env::var(PART) else { return };
    let file = PathBuf::from(std::env::var_os(FILE).unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    match part.as_str() {
        "leave" => exit(ended(runtime.block_on(echo(None)))),
        "mouse" => exit(ended(runtime.block_on(with_mouse()))),
        "fail" => exit(ended(runtime.block_on(fail()))),
        "panic" => exit(survived(runtime.block_on(caught(panics())))),
        "panic twice" => exit(survived(runtime.block_on(caught(panics_twice())))),
        "panic elsewhere" => exit(ended(runtime.block_on(panics_elsewhere(&file)))),
        "write errors" => exit(ended(runtime.block_on(writes_errors(&file)))),
        "signals" => exit(ended(runtime.block_on(until_told()))),
        "hang-up" => exit(ended(runtime.block_on(hangs_up(&file)))),
        "borrow" => exit(ended(runtime.block_on(lends_the_terminal()))),
        "freeze" => exit(ended(runtime.block_on(draws_into_a_frozen_terminal(&file)))),
        other => panic!("no such part: {other}"),
    }
}

fn ended(result: Result<(), TtyError>) -> i32 {
    match result {
        Ok(()) => {
            println!("after the screen");
            0
        }
        Err(error) => {
            eprintln!("failed: {error}");
            1
        }
    }
}

fn survived(outcome: std::thread::Result<()>) -> i32 {
    if outcome.is_ok() { 0 } else { 70 }
}

async fn caught<F: Future<Output = ()>>(console: F) -> std::thread::Result<()> {
    AssertUnwindSafe(owning_panics(console)).catch_unwind().await
}

struct Stage {
    screen: Screen,
    output: Output,
    canvas: Canvas,
}

impl Stage {
    fn enter(mouse: Mouse, errors_to: Option<File>) -> Result<Self, TtyError> {
        let screen = Screen::enter(&ScreenOptions { mouse, errors_to })?;
        let output = Output::start()?;
        let canvas = Canvas::new(screen.size()?, SynchronizedOutput::On)?;
        Ok(Self { screen, output, canvas })
    }

    async fn show(&mut self, text: &str) -> Result<(), TtyError> {
        let mut buffer = self.output.buffer().unwrap();
        self.canvas.draw(&mut buffer, |frame| {
            frame.render_widget(Paragraph::new(text), frame.area());
        })?;
        self.output.write(buffer)?;
        self.output.written().await
    }
}

/// Shows what comes in, until q.
async fn echo(errors_to: Option<File>) -> Result<(), TtyError> {
    let mut stage = Stage::enter(Mouse::Off, errors_to)?;
    show_inputs(&mut stage).await
}

async fn show_inputs(stage: &mut Stage) -> Result<(), TtyError> {
    let mut reader = Reader::start()?;
    let mut seen = vec!["ready".to_owned()];
    loop {
        stage.show(&seen.join("\n")).await?;
        match reader.next().await.ok_or(TtyError::Gone)?.input {
            Input::Key(key) if key == Key::plain(Code::Char('q')) => return Ok(()),
            Input::Key(key) => seen.push(format!("key {key}")),
            Input::Paste(text) => seen.push(format!("paste {text:?}")),
            Input::KeyboardProtocol => {
                stage.canvas.put_first(stage.screen.keyboard_protocol());
                seen.push("keyboard protocol".to_owned());
            }
            other => seen.push(format!("{other:?}")),
        }
    }
}

async fn with_mouse() -> Result<(), TtyError> {
    let mut stage = Stage::enter(Mouse::On, None)?;
    show_inputs(&mut stage).await
}

async fn fail() -> Result<(), TtyError> {
    let mut stage = Stage::enter(Mouse::On, None)?;
    stage.show("ready").await?;
    Err(TtyError::Write(io::Error::other("a draw went wrong")))
}

async fn panics() {
    let mut stage = Stage::enter(Mouse::On, None).unwrap();
    stage.show("ready").await.unwrap();
    panic!("a bug in a view");
}

async fn panics_twice() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a second bug on the way out");
        }
    }
    let mut stage = Stage::enter(Mouse::On, None).unwrap();
    stage.show("ready").await.unwrap();
    let _bomb = Bomb;
    panic!("a bug in a view");
}

async fn panics_elsewhere(file: &std::path::Path) -> Result<(), TtyError> {
    let mut stage = Stage::enter(Mouse::On, Some(append(file)))?;
    let task = tokio::spawn(async { panic!("a bug in a turn") });
    assert!(task.await.unwrap_err().is_panic());
    show_inputs(&mut stage).await
}

async fn writes_errors(file: &std::path::Path) -> Result<(), TtyError> {
    let mut stage = Stage::enter(Mouse::On, Some(append(file)))?;
    eprintln!("a library has something to say");
    show_inputs(&mut stage).await
}

async fn until_told() -> Result<(), TtyError> {
    let mut signals = Signals::of_a_screen()?;
    let mut stage = Stage::enter(Mouse::On, None)?;
    stage.show("ready").await?;
    loop {
        match signals.next().await {
            Signal::Terminate | Signal::Interrupt | Signal::HangUp => return Ok(()),
            Signal::Resize => {
                stage.canvas.start_over(stage.screen.size()?)?;
                let (columns, rows) = stage.canvas.size();
                stage.show(&format!("{columns} by {rows}")).await?;
            }
            Signal::Suspend | Signal::Continue | Signal::Restart => {}
        }
    }
}

/// After the terminal vanished: says so in the file, then does nothing until it is killed.
async fn hangs_up(file: &std::path::Path) -> Result<(), TtyError> {
    let mut signals = Signals::of_a_screen()?;
    let mut stage = Stage::enter(Mouse::On, None)?;
    let mut reader = Reader::start()?;
    stage.show("ready").await?;
    loop {
        tokio::select! {
            input = reader.next() => if input.is_none() { break },
            signal = signals.next() => if signal == Signal::Resize { stage.show("smaller").await? },
        }
    }
    stage.screen.abandon();
    println!("nobody hears this");
    eprintln!("nor this");
    std::fs::write(file, "gone").unwrap();
    std::future::pending().await
}

/// Lets another program have the terminal for a while.
async fn lends_the_terminal() -> Result<(), TtyError> {
    let mut stage = Stage::enter(Mouse::On, None)?;
    let reader = Reader::start()?;
    stage.show("ready").await?;
    drop(reader);
    drop(stage);
    let status = std::process::Command::new("/bin/sh")
        .args(["-c", "echo go on; read line; echo \"the shell has: $line\""])
        .status();
    assert!(status.unwrap().success());
    echo(None).await
}

/// Draws until the terminal takes nothing any more, and shows that nothing else waits for it.
async fn draws_into_a_frozen_terminal(file: &std::path::Path) -> Result<(), TtyError> {
    let mut stage = Stage::enter(Mouse::On, None)?;
    stage.show("ready").await?;
    let mut fill = ('a'..='z').cycle();
    loop {
        let letter = fill.next().unwrap().to_string();
        stage.canvas.start_over((200, 200))?;
        let mut buffer = stage.output.buffer().unwrap();
        stage.canvas.draw(&mut buffer, |frame| {
            frame.render_widget(Paragraph::new(vec![letter.repeat(200).into(); 200]), frame.area());
        })?;
        stage.output.write(buffer)?;
        if tokio::time::timeout(Duration::from_millis(300), stage.output.written()).await.is_err() {
            break;
        }
    }
    std::fs::write(file, "frozen").unwrap();
    Ok(())
}

fn append(file: &std::path::Path) -> File {
    OpenOptions::new().create(true).append(true).open(file).unwrap()
}
