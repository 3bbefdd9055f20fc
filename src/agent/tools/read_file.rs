//! The tool that reads a file.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::num::{NonZeroU64, NonZeroUsize};

use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::tool::{Does, Kind, Need, Parameter, Tool, as_called};
use super::workdir::{Workdir, unreadable};
use super::{ToolError, output, typed};
use crate::config::ToolName;

/// The most lines at once.
const MOST_LINES: usize = 2_000;
/// So much of a line is looked at.
const LINE_BYTES: usize = 64 * 1024;

pub(super) const TOOL: Tool = Tool {
    name: ToolName::ReadFile,
    about: "Reads a text file in the working directory. Each line comes with its number and a tab before it.",
    parameters: &[
        Parameter {
            name: "path",
            about: "The file, relative to the working directory.",
            kind: Kind::Text,
            need: Need::Required,
        },
        Parameter {
            name: "offset",
            about: "The first line to read, counted from 1; without it the first of the file.",
            kind: Kind::Count,
            need: Need::Optional,
        },
        Parameter {
            name: "limit",
            about: "How many lines to read, at most 2000, which is what it reads without it.",
            kind: Kind::Count,
            need: Need::Optional,
        },
    ],
    does: Does::Files { run, asked: as_called },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    offset: Option<NonZeroU64>,
    limit: Option<NonZeroUsize>,
}

fn run(arguments: Value, workdir: &Workdir, stop: &CancellationToken) -> Result<String, ToolError> {
    let Arguments { path, offset, limit } = typed(ToolName::ReadFile, arguments)?;
    let found = workdir.find(&path)?;
    let path = workdir.told(&found);
    let (file, bytes) = workdir.open_file(&found)?;
    let mut lines = Lines { reader: BufReader::new(file), number: 0, stop };
    let failed = unreadable(&path);
    if lines.reader.fill_buf().map_err(&failed)?.contains(&0) {
        return Err(ToolError::Binary { path, bytes });
    }
    let first = offset.map_or(1, NonZeroU64::get);
    let limit = limit.map_or(MOST_LINES, |limit| limit.get().min(MOST_LINES));
    let mut read = Vec::new();
    while read.len() < limit {
        let Some(line) = lines.next().map_err(&failed)? else { break };
        if lines.number >= first {
            read.push(format!("{}\t{}", lines.number, output::line(&line)));
        }
    }
    if stop.is_cancelled() {
        return Err(ToolError::Stopped);
    }
    let more = !lines.reader.fill_buf().map_err(&failed)?.is_empty();
    Ok(match (read.is_empty(), more) {
        (true, _) if lines.number == 0 && first == 1 => "[the file is empty]".to_owned(),
        (true, _) => return Err(ToolError::BehindTheEnd { path, lines: lines.number, offset: first }),
        (false, true) => {
            let next = lines.number + 1;
            format!("{}\n[more lines follow: go on with offset {next}]", output::joined(&read))
        }
        (false, false) => output::joined(&read),
    })
}

/// The lines of a file, one after the other, of which none fills the memory.
struct Lines<'a> {
    reader: BufReader<File>,
    /// How many were read.
    number: u64,
    stop: &'a CancellationToken,
}

impl Lines<'_> {
    /// The beginning of the next line; none at the end of the file, and early where it is stopped.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut begun = false;
        while !self.stop.is_cancelled() {
            let piece = self.reader.fill_buf()?;
            if piece.is_empty() {
                break;
            }
            begun = true;
            let end = piece.iter().position(|&byte| byte == b'\n');
            let length = end.map_or(piece.len(), |end| end + 1);
            let room = LINE_BYTES.saturating_sub(line.len()).min(length);
            line.extend_from_slice(piece.get(..room).unwrap_or_default());
            self.reader.consume(length);
            if end.is_some() {
                break;
            }
        }
        self.number += u64::from(begun);
        Ok(begun.then_some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::workdir::Places;
    use serde_json::json;
    use std::fs;

    fn read(content: impl AsRef<[u8]>, mut arguments: Value) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_path_buf();
        fs::write(path.join("file"), content).unwrap();
        let places = Places { workdir: path, home: "/nowhere".into(), key_files: Vec::new() };
        arguments["path"] = json!("file");
        let workdir = Workdir::open(&places).unwrap();
        run(arguments, &workdir, &CancellationToken::new()).map_err(|error| error.to_string())
    }

    fn numbered(count: usize) -> String {
        (1..=count).map(|number| format!("line {number}\n")).collect()
    }

    #[test]
    fn lines_come_with_their_numbers() {
        assert_eq!(read("one\r\ntwo\n\nfour", json!({})).unwrap(), "1\tone\n2\ttwo\n3\t\n4\tfour");
        assert_eq!(read("", json!({})).unwrap(), "[the file is empty]");
    }

    #[test]
    fn a_part_is_read_by_offset_and_limit_and_says_how_to_go_on() {
        let part = read(numbered(9), json!({"offset": 3, "limit": 2})).unwrap();
        assert_eq!(part, "3\tline 3\n4\tline 4\n[more lines follow: go on with offset 5]");
        assert_eq!(read(numbered(9), json!({"offset": 8, "limit": 2})).unwrap(), "8\tline 8\n9\tline 9");
        assert_eq!(read(numbered(9), json!({"offset": 9, "limit": 2})).unwrap(), "9\tline 9");
        let behind = read(numbered(9), json!({"offset": 10})).unwrap_err();
        assert_eq!(behind, "file has 9 lines, so there is none from offset 10 on");
        assert!(read("", json!({"offset": 2})).is_err());
    }

    #[test]
    fn no_more_than_two_thousand_lines_come_at_once() {
        for arguments in [json!({}), json!({"limit": 90_000})] {
            let read = read(numbered(2001), arguments).unwrap();
            assert_eq!(read.lines().count(), 2001);
            assert!(read.ends_with("2000\tline 2000\n[more lines follow: go on with offset 2001]"), "{read}");
        }
    }

    #[test]
    fn long_files_keep_their_head_and_tail() {
        let content: String = (0..1500).map(|_| format!("{}\n", "x".repeat(90))).collect();
        let read = read(content, json!({})).unwrap();
        assert!(read.chars().count() <= 50_000, "{}", read.len());
        assert!(read.starts_with("1\tx") && read.contains(" left out here]\n"), "{read}");
        assert!(read.lines().last().unwrap().starts_with("1500\tx"));
    }

    #[test]
    fn a_line_without_an_end_does_not_fill_the_memory() {
        let content = format!("{}\nlast", "x".repeat(5_000_000));
        let read = read(content, json!({})).unwrap();
        assert!(read.len() < 3_000 && read.ends_with("\n2\tlast"), "{read}");
        assert!(read.contains("more characters in this line]"));
    }

    #[test]
    fn binary_files_are_refused_by_name() {
        let refused = read(b"\x7fELF\0\0", json!({})).unwrap_err();
        assert_eq!(refused, "file is a binary file (6 bytes), no text");
        assert_eq!(read(b"caf\xe9\n", json!({})).unwrap(), "1\tcaf\u{FFFD}", "Latin-1 is text");
    }

    #[test]
    fn a_stop_ends_the_reading() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_path_buf();
        fs::write(path.join("file"), numbered(100_000)).unwrap();
        let places = Places { workdir: path, home: "/nowhere".into(), key_files: Vec::new() };
        let stop = CancellationToken::new();
        stop.cancel();
        let end = run(json!({"path": "file"}), &Workdir::open(&places).unwrap(), &stop);
        assert!(matches!(end, Err(ToolError::Stopped)), "{end:?}");
    }
}
