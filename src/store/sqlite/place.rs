//! Where the files of an open store are: what is written into a file without a name is lost.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::open::beside;
use crate::config::files::{Identity, identity};
use crate::failpoint;
use crate::store::{Result, StoreError};

/// The file of an open store and its log, and which ones they were when it was opened.
pub(super) struct Place {
    file: (PathBuf, Identity),
    log: (PathBuf, Identity),
}

impl Place {
    /// Of the store that was just opened at `path`.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        // SQLite keeps the log beside the file that a link leads to.
        let path = fs::canonicalize(path)?;
        let log = beside(&path, "-wal");
        let (file_is, log_is) = (stands_at(&path)?, stands_at(&log)?);
        Ok(Self { file: (path, file_is), log: (log, log_is) })
    }

    /// [`StoreError::Unavailable`] if one of them was removed or replaced.
    pub(super) fn check(&self) -> Result<()> {
        if failpoint::disk_is_full(&self.file.0) {
            return Err(StoreError::Unavailable { why: "database or disk is full".to_owned() });
        }
        self.check_file()?;
        check(&self.log, "put the same file back, or stop the engine, which saves all that was kept")
    }

    /// The same of the file alone.
    pub(super) fn check_file(&self) -> Result<()> {
        check(&self.file, "put the same file back, or stop the engine and restore a copy")
    }
}

fn check((path, opened): &(PathBuf, Identity), way_out: &str) -> Result<()> {
    if stands_at(path).ok() == Some(*opened) {
        return Ok(());
    }
    let path = path.display();
    let why = format!("{path} was removed or replaced while the engine runs: {way_out}");
    Err(StoreError::Unavailable { why })
}

fn stands_at(path: &Path) -> io::Result<Identity> {
    fs::metadata(path).map(|found| identity(&found))
}
