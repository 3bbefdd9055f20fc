//! One change at a time, across processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// A change takes a few milliseconds: the lock is tried this often, with such pauses.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// Takes the lock of a jobs file. It ends when the answer is dropped, or its process ends. The lock file stays:
/// who removed it would let in two.
pub(super) fn take(path: &Path) -> io::Result<File> {
    let beside = path.with_added_extension("lock");
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&beside)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    let held = format!("another program has held {} for five seconds", beside.display());
    Err(io::Error::new(io::ErrorKind::ResourceBusy, held))
}
