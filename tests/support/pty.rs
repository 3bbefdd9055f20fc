//! A program in a pseudo-terminal, driven as a person would.
//!
//! Waiting is reading: every wait reads what the program writes until the screen shows what is
//! waited for, and fails with the screen when it does not in time.

use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal};

/// How long anything may take before a test gives up. It is only ever spent by a failing test.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// So far apart does a person's next key come.
const KEYS_APART: Duration = Duration::from_millis(25);

/// A program in a pseudo-terminal.
pub struct Pty {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    output: Receiver<Vec<u8>>,
    let_go: Arc<AtomicBool>,
    terminal: vt100::Parser,
    bytes: Vec<u8>,
    modes_before: String,
}

impl Pty {
    /// Starts `command` in a terminal of so many columns and rows.
    pub fn start(command: CommandBuilder, (columns, rows): (u16, u16)) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let modes_before = modes(&*pair.master);
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let let_go = Arc::new(AtomicBool::new(false));
        let output = read_on_a_thread(pair.master.try_clone_reader().unwrap(), let_go.clone());
        Self {
            writer: Some(pair.master.take_writer().unwrap()),
            master: Some(pair.master),
            child,
            output,
            let_go,
            terminal: vt100::Parser::new(size_of(rows), size_of(columns), 0),
            bytes: Vec::new(),
            modes_before,
        }
    }

    /// Writes bytes as they are, all at once.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let writer = self.writer.as_mut().expect("the terminal was closed");
        writer.write_all(bytes.as_ref()).unwrap();
        writer.flush().unwrap();
    }

    /// Types text as a person does, key by key.
    pub fn type_text(&mut self, text: &str) {
        let mut buffer = [0; 4];
        for character in text.chars() {
            self.press(character.encode_utf8(&mut buffer));
        }
    }

    /// Presses one key, given by its bytes, as a person does: not right after the one before.
    pub fn press(&mut self, key: &str) {
        thread::sleep(KEYS_APART);
        self.write(key);
    }

    /// Pastes, in a terminal with bracketed paste.
    pub fn paste(&mut self, text: &str) {
        thread::sleep(KEYS_APART);
        self.write(format!("\x1b[200~{text}\x1b[201~"));
    }

    /// Waits until the screen shows `text`.
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), |screen| screen.contents().contains(text));
    }

    /// Waits until the screen no longer shows `text`.
    pub fn wait_gone(&mut self, text: &str) {
        self.wait_until(&format!("{text:?} off the screen"), |screen| !screen.contents().contains(text));
    }

    /// Waits until the screen is as `holds` wants it.
    pub fn wait_until(&mut self, what: &str, holds: impl Fn(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self.terminal.screen()) {
            match self.read_until(deadline) {
                Heard::Bytes => {}
                Heard::Nothing => panic!("waited in vain for {what}; {self}"),
                Heard::End => panic!("the program let go of the terminal before {what}; {self}"),
            }
        }
    }

    /// Waits until the bytes hold `sequence`.
    pub fn wait_for_bytes(&mut self, sequence: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !contains(&self.bytes, sequence.as_bytes()) {
            if self.read_until(deadline) != Heard::Bytes {
                panic!("waited in vain for the bytes {sequence:?}; {self}");
            }
        }
    }

    /// Waits until a whole frame holds `part` among the bytes that came after the first `from`.
    pub fn wait_for_bytes_after(&mut self, from: usize, part: &[u8]) {
        let deadline = Instant::now() + PATIENCE;
        while !(contains(&self.bytes[from..], part) && self.bytes.ends_with(b"\x1b[?2026l")) {
            if self.read_until(deadline) != Heard::Bytes {
                panic!("waited in vain for {:?}; {self}", String::from_utf8_lossy(part));
            }
        }
    }

    /// Reads what comes for as long as `time` goes by; returns the bytes.
    pub fn listen(&mut self, time: Duration) -> Vec<u8> {
        let before = self.bytes.len();
        let deadline = Instant::now() + time;
        while self.read_until(deadline) == Heard::Bytes {}
        self.bytes[before..].to_vec()
    }

    /// Waits until the program ended, and returns how.
    pub fn wait_exit(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        // A program that writes its last words must not wait for a reader.
        while self.read_until(deadline) == Heard::Bytes {}
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("the program does not end; {self}");
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.process_id().unwrap().cast_signed()).unwrap()
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, (columns, rows): (u16, u16)) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.as_ref().unwrap().resize(size).unwrap();
        self.terminal.screen_mut().set_size(size_of(rows), size_of(columns));
    }

    /// Closes the terminal, as a terminal window that is killed does.
    pub fn close(&mut self) {
        self.let_go.store(true, Ordering::SeqCst);
        // Our reader holds the terminal open and lets go at its next byte: a resize makes one.
        let size = self.master.as_ref().unwrap().get_size().unwrap();
        self.resize((size.cols, size.rows - 1));
        let deadline = Instant::now() + PATIENCE;
        while self.read_until(deadline) == Heard::Bytes {}
        self.writer = None;
        self.master = None;
    }

    /// What the screen shows.
    pub fn screen(&self) -> &vt100::Screen {
        self.terminal.screen()
    }

    /// All bytes that came so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Fails unless the terminal is as it was before the program: its modes, its screen, its cursor.
    pub fn assert_given_back(&self) {
        let now = modes(&**self.master.as_ref().unwrap());
        assert_eq!(now, self.modes_before, "the terminal's modes differ; {self}");
        let screen = self.terminal.screen();
        assert!(!screen.alternate_screen(), "still on the alternate screen; {self}");
        assert!(!screen.hide_cursor(), "the cursor is hidden; {self}");
        assert!(!screen.bracketed_paste(), "bracketed paste is on; {self}");
        assert_eq!(
            screen.mouse_protocol_mode(),
            vt100::MouseProtocolMode::None,
            "the mouse is taken; {self}"
        );
        for (on, off) in
            [("\x1b[?1004h", "\x1b[?1004l"), ("\x1b[>5u", "\x1b[<1u"), ("\x1b[?2026h", "\x1b[?2026l")]
        {
            let (on, off) = (last(&self.bytes, on), last(&self.bytes, off));
            assert!(on <= off, "a mode is still on; {self}");
        }
    }

    fn read_until(&mut self, deadline: Instant) -> Heard {
        match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(bytes) => {
                self.terminal.process(&bytes);
                self.bytes.extend_from_slice(&bytes);
                Heard::Bytes
            }
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::End,
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl fmt::Display for Pty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tail = &self.bytes[self.bytes.len().saturating_sub(300)..];
        write!(
            f,
            "the screen:\n{}\nthe last bytes: {:?}",
            self.terminal.screen().contents(),
            String::from_utf8_lossy(tail)
        )
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Bytes,
    Nothing,
    End,
}

fn read_on_a_thread(mut from: Box<dyn Read + Send>, let_go: Arc<AtomicBool>) -> Receiver<Vec<u8>> {
    let (tell, output): (SyncSender<Vec<u8>>, _) = sync_channel(64);
    thread::spawn(move || {
        let mut chunk = [0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut chunk) {
            if tell.send(chunk[..count].to_vec()).is_err() || let_go.load(Ordering::SeqCst) {
                return;
            }
        }
    });
    output
}

/// The terminal's modes, to compare.
fn modes(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios().unwrap())
}

fn size_of(cells: u16) -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(cells).unwrap()
}

/// Whether `bytes` holds `part`.
pub fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn last(bytes: &[u8], sequence: &str) -> Option<usize> {
    bytes.windows(sequence.len()).rposition(|window| window == sequence.as_bytes())
}

/// The processor time of all its threads, in hundredths of a second.
pub fn processor_time(pty: &Pty) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pty.pid().as_raw_nonzero())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
