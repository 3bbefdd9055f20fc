//! The engine's lock: at most one engine on a home.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;

use super::home::{Home, HomeError};
use crate::domain::Time;

/// Held by the one engine that owns a home, until it is dropped or its process ends.
///
/// The truth is the operating system's lock on the open file. What stands in the file is only a
/// hint for people: a leftover file, an empty or half-written one, or a process id that something
/// else has now mean nothing.
#[derive(Debug)]
pub struct EngineLock {
    _file: File,
}

impl EngineLock {
    /// Takes the lock, or tells who holds it.
    pub fn take(home: &Home, at: Time) -> Result<Self, LockError> {
        let path = home.lock_file();
        let unusable = |source| LockError::Home(HomeError::of(&path, source));
        let opened =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = opened.map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LockError::Held(owner(&mut file))),
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        write_owner(&mut file, at).map_err(unusable)?;
        Ok(Self { _file: file })
    }
}

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another engine holds it.
    #[error("an engine already runs for this home{}; `switchboard` attaches to it, `switchboard stop` stops it", told(.0))]
    Held(Option<Owner>),
    /// The lock file can't be used.
    #[error(transparent)]
    Home(#[from] HomeError),
}

/// Who holds a lock, as far as its file tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The process.
    pub pid: u32,
    /// Since when.
    pub since: Time,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {} since {}", self.pid, self.since.format("%Y-%m-%d %H:%M:%S UTC"))
    }
}

fn told(owner: &Option<Owner>) -> String {
    owner.map(|owner| format!(": {owner}")).unwrap_or_default()
}

fn write_owner(file: &mut File, at: Time) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{} {}", std::process::id(), at.to_rfc3339())
}

fn owner(file: &mut File) -> Option<Owner> {
    let mut text = String::new();
    file.take(200).read_to_string(&mut text).ok()?;
    let (pid, since) = text.strip_suffix('\n')?.split_once(' ')?;
    let since = chrono::DateTime::parse_from_rfc3339(since).ok()?.to_utc();
    Some(Owner { pid: pid.parse().ok()?, since })
}
