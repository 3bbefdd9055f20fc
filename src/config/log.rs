//! The log: one file a day in `logs/`, and standard error for an engine without a screen.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use chrono::{NaiveDate, Utc};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::home::{Home, HomeError};
use super::secrets::Secrets;
use super::settings::{Keys, LogConfig};
use crate::domain::event::Level;
use crate::domain::sanitize::many_lines;

/// Lines that wait to be written. Room for more is megabytes that are filled at every start.
const LINES_WAITING: usize = 8192;

/// Where the log goes beside the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlsoTo {
    /// Nowhere: a screen is up.
    Nothing,
    /// To standard error.
    Stderr,
}

/// Writes what is left of the log when it is dropped.
#[derive(Debug)]
pub struct LogGuard {
    _workers: [WorkerGuard; 2],
}

/// Begins to log. Lines are written by threads of their own from bounded buffers: where a disk or a
/// reader is too slow, lines are dropped rather than the program held up.
pub fn start(home: &Home, config: &LogConfig, keys: &Keys, also: AlsoTo) -> Result<LogGuard, HomeError> {
    Secrets::read(keys);
    let clean = |to: NonBlocking| move || Clean { to: to.clone() };
    let mut files = DailyFiles { folder: home.logs(), keep: config.keep_files, open: None };
    files.today().map_err(|source| HomeError::of(&home.logs(), source))?;
    let lines = || NonBlockingBuilder::default().buffered_lines_limit(LINES_WAITING);
    let (to_file, file_worker) = lines().finish(files);
    let (to_stderr, stderr_worker) = lines().finish(io::stderr());
    let file_layer = fmt::layer().with_ansi(false).log_internal_errors(false).with_writer(clean(to_file));
    let stderr_layer = (also == AlsoTo::Stderr)
        .then(|| fmt::layer().with_ansi(false).log_internal_errors(false).with_writer(clean(to_stderr)));
    let filter =
        Targets::new().with_target("switchboard", filter(config.level)).with_default(LevelFilter::WARN);
    // A second start in one process (a test's) keeps the first log.
    let _ = tracing_subscriber::registry().with(filter).with(file_layer).with(stderr_layer).try_init();
    Ok(LogGuard { _workers: [file_worker, stderr_worker] })
}

fn filter(level: Level) -> LevelFilter {
    match level {
        Level::Debug => LevelFilter::DEBUG,
        Level::Info => LevelFilter::INFO,
        Level::Warn => LevelFilter::WARN,
        Level::Error => LevelFilter::ERROR,
    }
}

/// Makes whatever is written harmless for the terminal that shows it, and takes the keys out of it that are known by
/// then.
struct Clean<W> {
    to: W,
}

impl<W: Write> Write for Clean<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = Secrets::known().hide(String::from_utf8_lossy(bytes).into_owned());
        self.to.write_all(many_lines(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// One file a day, readable by its owner alone (which `tracing_appender::rolling` can't do); the
/// oldest are deleted.
struct DailyFiles {
    folder: PathBuf,
    keep: usize,
    open: Option<(NaiveDate, File)>,
}

impl DailyFiles {
    fn today(&mut self) -> io::Result<&mut File> {
        let today = Utc::now().date_naive();
        let open = match self.open.take() {
            Some((day, file)) if day == today => (day, file),
            _ => {
                let path = self.folder.join(format!("switchboard.{today}.log"));
                let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
                self.delete_oldest();
                (today, file)
            }
        };
        Ok(&mut self.open.insert(open).1)
    }

    fn delete_oldest(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        let is_log = |name: &str| name.starts_with("switchboard.") && name.ends_with(".log");
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_log(name))
            .collect();
        names.sort();
        let surplus = names.len().saturating_sub(self.keep);
        for name in names.iter().take(surplus) {
            // A file that stays is tried again tomorrow.
            let _ = std::fs::remove_file(self.folder.join(name));
        }
    }
}

impl Write for DailyFiles {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.today()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.open.as_mut().map_or(Ok(()), |(_, file)| file.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_keeps_the_newest_files_private_and_deletes_the_oldest() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        for name in ["switchboard.2001-01-01.log", "switchboard.2001-01-02.log", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let mut files = DailyFiles { folder: folder.path().to_path_buf(), keep: 2, open: None };
        files.write_all(b"a line\n").unwrap();
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names.len(), 3, "{names:?}");
        assert_eq!(names[0], "notes.txt");
        assert_eq!(names[1], "switchboard.2001-01-02.log");
        let today = folder.path().join(&names[2]);
        assert_eq!(std::fs::read_to_string(&today).unwrap(), "a line\n");
        assert_eq!(today.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    fn written(line: &str) -> String {
        let mut clean = Clean { to: Vec::new() };
        clean.write_all(line.as_bytes()).unwrap();
        String::from_utf8(clean.to).unwrap()
    }

    #[test]
    fn a_line_of_the_log_holds_no_control_sequence() {
        assert_eq!(written("a \u{1b}[2J b \u{202e} c\n"), "a \u{241b}[2J b <U+202E> c\n");
    }

    #[test]
    fn the_log_hides_what_a_turn_has_read_since_it_began() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let keys = Keys { files: vec![file.path().to_path_buf()], ..Keys::default() };
        for key in ["canary-log-77c1", "canary-log-77c2"] {
            std::fs::write(file.path(), key).unwrap();
            Secrets::read(&keys);
            assert_eq!(written(&format!("says {key}\n")), "says [the key]\n");
        }
    }
}
