//! What is printed: text that is harmless for a terminal, or JSON.

use std::io::{self, BufWriter, IsTerminal, Write};

use serde::Serialize;

use crate::domain::sanitize::{many_lines, needs_mark};

/// Standard output. Nothing reaches it that has not passed the sanitizer.
pub(super) struct Out {
    writer: BufWriter<Box<dyn Write + Send>>,
}

/// How a listing is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// The option that every listing has.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(super) struct AsJson {
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl AsJson {
    /// How to print.
    pub(super) fn form(self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }
}

impl Out {
    /// The process's standard output.
    pub(super) fn stdout() -> Self {
        Self::to(io::stdout())
    }

    /// Prints into a writer.
    pub(super) fn to(writer: impl Write + Send + 'static) -> Self {
        Self { writer: BufWriter::new(Box::new(writer)) }
    }

    /// Prints text as it is, made harmless.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(many_lines(text).as_bytes())
    }

    /// Prints a line.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        self.text(line)?;
        self.writer.write_all(b"\n")
    }

    /// Prints a value as one line of JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string(value).map_err(io::Error::other)?;
        self.writer.write_all(escaped(&text).as_bytes())?;
        self.writer.write_all(b"\n")
    }

    /// Prints a text of our own, byte for byte.
    pub(super) fn script(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(text.as_bytes())
    }

    /// Hands over what is printed so far: for what is followed while it happens.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Tells something beside the result, on standard error.
pub(super) fn stderr_line(line: &str) {
    // Nobody can be told that standard error is closed.
    let _ = writeln!(io::stderr(), "{}", many_lines(line.trim_end()));
}

/// Whether a person sits at both ends.
pub(super) fn at_a_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Whether an error means that whoever read our output is gone.
pub(super) fn reader_is_gone(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// JSON escapes C0 by itself; the other characters that do something to a screen can stand only in
/// its strings, where an escape means the same.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if needs_mark(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_holds_no_character_that_moves_a_terminal_and_means_the_same() {
        let nasty = "a\u{1b}[2J\u{9b}2J\u{202e}\u{7f}\u{e0001}é日\n\t\"\\";
        let text = escaped(&serde_json::to_string(nasty).unwrap());
        assert!(text.chars().all(|c| !needs_mark(c)), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), nasty);
    }
}
