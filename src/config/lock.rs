//! The engine's lock: at most one engine on a home.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::thread;
use std::time::Duration;

use super::home::{Home, HomeError};
use crate::domain::Time;

/// Who only looks holds the lock for a moment: taking it is tried this often, with such pauses.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(10);

/// Held by the one engine that owns a home, until it is dropped or its process ends.
///
/// The truth is the operating system's lock on the home's folder, which nobody removes unnoticed, and
/// on the lock file. What stands in the file is only a hint for people: a leftover file, an empty or
/// half-written one, or a process id that something else has now mean nothing.
#[derive(Debug)]
pub struct EngineLock {
    _folder: File,
    _file: File,
}

impl EngineLock {
    /// Takes the lock, or tells who holds it.
    pub fn take(home: &Home, at: Time) -> Result<Self, LockError> {
        let folder = File::open(home.root()).map_err(|source| HomeError::of(home.root(), source))?;
        lock_folder(home, &folder)?;
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
        Ok(Self { _folder: folder, _file: file })
    }

    /// Tells who holds the lock, if anyone does, and leaves it as it is.
    pub fn look(home: &Home) -> Result<(), LockError> {
        let unusable = |source| LockError::Home(HomeError::of(home.root(), source));
        let folder = match File::open(home.root()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(unusable)?,
        };
        match folder.try_lock_shared() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(LockError::Held(hint(home))),
            Err(TryLockError::Error(source)) => Err(unusable(source)),
        }
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

fn lock_folder(home: &Home, folder: &File) -> Result<(), LockError> {
    for _ in 0..TRIES {
        match folder.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(source)) => return Err(HomeError::of(home.root(), source).into()),
        }
    }
    Err(LockError::Held(hint(home)))
}

/// What the lock file tells of the owner; it may be gone.
fn hint(home: &Home) -> Option<Owner> {
    owner(&mut File::open(home.lock_file()).ok()?)
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
