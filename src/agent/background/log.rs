//! The output of a background process: a file that never holds more than so much, the newest.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::config::Secrets;

/// The most bytes of one output; where it grows beyond them the older half goes.
pub(super) const LOG_BYTES: u64 = 1024 * 1024;
/// Told where the older half went.
const DROPPED: &str = "[earlier output was dropped here]\n";

/// An output that is being written.
pub(super) struct Log {
    path: PathBuf,
    file: File,
    bytes: u64,
    most: u64,
}

impl Log {
    /// Begins an empty one.
    pub(super) fn begin(path: &Path, most: u64) -> io::Result<Self> {
        Ok(Self { path: path.to_path_buf(), file: empty(path)?, bytes: 0, most })
    }

    /// Adds to it, and drops the older half where it is too long now.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        if self.bytes > self.most { self.drop_older_half() } else { Ok(()) }
    }

    fn drop_older_half(&mut self) -> io::Result<()> {
        let all = fs::read(&self.path)?;
        let half = all.len() / 2;
        let newer = all.get(half..).unwrap_or_default();
        // From the beginning of a line, where there is one.
        let line = newer.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let kept = newer.get(line..).filter(|kept| !kept.is_empty()).unwrap_or(newer);
        let new = self.path.with_extension("new");
        let mut file = empty(&new)?;
        file.write_all(DROPPED.as_bytes())?;
        file.write_all(kept)?;
        fs::rename(&new, &self.path)?;
        (self.file, self.bytes) = (file, (DROPPED.len() + kept.len()) as u64);
        Ok(())
    }
}

/// A new file that only its owner reads.
pub(super) fn empty(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// The last lines of an output without keys, at most so many characters of them.
///
/// # Errors
/// Where the file can't be read.
pub fn newest_lines(path: &Path, most_chars: usize, secrets: &Secrets) -> io::Result<String> {
    let bytes = fs::read(path)?;
    let text = secrets.hide(String::from_utf8_lossy(&bytes).into_owned());
    let text = text.trim_end_matches('\n');
    let chars = text.chars().count();
    if chars <= most_chars {
        return Ok(text.to_owned());
    }
    let left_out = chars - most_chars;
    let tail: String = text.chars().skip(left_out).collect();
    Ok(format!("[{left_out} characters before this are left out]\n{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_flood_keeps_the_newest_and_never_more_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("3.log");
        let mut log = Log::begin(&path, 10_000).unwrap();
        for line in 0..20_000 {
            log.push(format!("line {line}\n").as_bytes()).unwrap();
            assert!(fs::metadata(&path).unwrap().len() <= 10_000);
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&format!("{DROPPED}line ")) && text.ends_with("line 19999\n"), "{text}");
        assert!(text.lines().count() > 300, "more than the newest half is kept: {}", text.lines().count());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let files: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(files.len(), 1, "nothing else is left");
    }

    #[test]
    fn an_endless_line_keeps_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("3.log");
        let mut log = Log::begin(&path, 1_000).unwrap();
        for _ in 0..1_000 {
            log.push(b"0123456789").unwrap();
            assert!(fs::metadata(&path).unwrap().len() <= 1_000);
        }
        assert!(fs::read_to_string(&path).unwrap().ends_with("0123456789"));
    }

    #[test]
    fn the_newest_lines_say_how_much_is_missing_before_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("3.log");
        fs::write(&path, "one\nt\u{fc}o\nthree\n\n").unwrap();
        let newest = |most| newest_lines(&path, most, &Secrets::of(["canary-one".to_owned()])).unwrap();
        assert_eq!(newest(100), "one\nt\u{fc}o\nthree");
        assert_eq!(newest(7), "[6 characters before this are left out]\no\nthree");
        fs::write(&path, "is canary-one\n").unwrap();
        assert_eq!(newest(7), "[5 characters before this are left out]\nhe key]");
    }
}
