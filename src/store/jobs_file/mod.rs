//! `jobs.json` on the disk. Nothing else in the house opens it.
//!
//! Reading never writes. A change reads, changes and writes under a lock that holds across processes; what an
//! editor that knows no lock wrote meanwhile is read again and changed instead.

mod lock;
mod stamp;
mod watch;
mod write;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::Time;
use crate::domain::cron::JobId;
use crate::domain::cron::document::{Document, NEW_FILE};
use crate::domain::cron::merge::{Edit, EditRefused, Merged};
use crate::domain::cron::unreadable::Unreadable;
use crate::domain::sanitize::one_line;

pub use stamp::Stamp;
pub use watch::Watch;

/// So often a change begins anew because the file changed between its reading and its writing.
const TRIES: usize = 20;

/// The file of a home's scheduled tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobsFile {
    path: PathBuf,
}

/// What reading the file gives. Missing is not unreadable: a missing file is no jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// There is no such file.
    Missing,
    /// It is there, and can't be read.
    Unreadable(Unreadable),
    /// It was read.
    Read(Document, Stamp),
}

impl JobsFile {
    /// The file at a path. It need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads it. A file that is written to meanwhile is read again.
    pub fn read(&self) -> Reading {
        let mut before = self.stamp();
        for _ in 0..TRIES {
            let reading = self.read_once();
            let after = self.stamp();
            if before == after {
                return reading;
            }
            before = after;
        }
        self.read_once()
    }

    /// What tells that the file is another one, without reading it; none while it is missing.
    pub fn stamp(&self) -> Option<Stamp> {
        fs::metadata(&self.path).ok().map(|metadata| Stamp::of(&metadata))
    }

    /// Carries out a change to one job. When this returns it is on the disk.
    pub fn edit(&self, edit: &Edit) -> Result<Merged, ChangeError> {
        self.change(|document| edit.apply(document))
    }

    /// Changes the file: `change` gives its new text. It is asked again if the file changed meanwhile. The
    /// version before is kept as `jobs.json.bak`. Refused while the file is unreadable.
    pub fn change(
        &self,
        change: impl Fn(&Document) -> Result<Merged, EditRefused>,
    ) -> Result<Merged, ChangeError> {
        let _lock = lock::take(&self.path).map_err(|source| self.failed(source))?;
        for _ in 0..TRIES {
            let reading = self.read();
            let (document, before) = match &reading {
                Reading::Read(document, _) => (document, Some(document.text())),
                Reading::Missing => (&Document::parse(NEW_FILE)?, None),
                Reading::Unreadable(unreadable) => return Err(unreadable.clone().into()),
            };
            let merged = change(document)?;
            if merged.text == document.text() {
                return Ok(merged);
            }
            // What can't be read again is never written.
            Document::parse(merged.text.as_str())?;
            match write::replace(&self.path, before, &merged.text) {
                Ok(write::Outcome::Written) => return Ok(merged),
                Ok(write::Outcome::ChangedMeanwhile) => {}
                Err(source) => return Err(self.failed(source)),
            }
        }
        Err(ChangeError::Busy)
    }

    /// Puts the stored copy in the place of an unreadable file, which is kept as `jobs.json.bad-<time>`; the
    /// answer is where. Refused if the file can be read by now.
    pub fn take_stored_copy(&self, text: &str, at: Time) -> Result<Option<PathBuf>, ChangeError> {
        Document::parse(text)?;
        let _lock = lock::take(&self.path).map_err(|source| self.failed(source))?;
        match self.read() {
            Reading::Read(..) => Err(ChangeError::Repaired),
            Reading::Missing => match write::replace(&self.path, None, text) {
                Ok(write::Outcome::Written) => Ok(None),
                Ok(write::Outcome::ChangedMeanwhile) => Err(ChangeError::Busy),
                Err(source) => Err(self.failed(source)),
            },
            Reading::Unreadable(_) => write::put_aside_and_replace(&self.path, text, at)
                .map(Some)
                .map_err(|source| self.failed(source)),
        }
    }

    /// Watches the file. A watch needs a runtime to be awaited.
    pub fn watch(&self) -> Watch {
        Watch::of(self.clone())
    }

    fn read_once(&self) -> Reading {
        match fs::metadata(&self.path) {
            // A pipe would never end.
            Ok(metadata) if !metadata.is_file() => {
                Reading::Unreadable(Unreadable::whole("it is no file: move it away"))
            }
            Ok(metadata) => match fs::read(&self.path) {
                Ok(bytes) => match Document::read(bytes) {
                    Ok(document) => Reading::Read(document, Stamp::of(&metadata)),
                    Err(unreadable) => Reading::Unreadable(unreadable),
                },
                Err(error) if error.kind() == io::ErrorKind::NotFound => Reading::Missing,
                Err(error) => Reading::Unreadable(unreadable(&error)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(&self.path) {
                Ok(to) => {
                    let to = to.to_string_lossy();
                    Reading::Unreadable(Unreadable::whole(format!(
                        "it is a symbolic link to {}, which is not there",
                        one_line(&to)
                    )))
                }
                Err(_) => Reading::Missing,
            },
            Err(error) => Reading::Unreadable(unreadable(&error)),
        }
    }

    fn failed(&self, source: io::Error) -> ChangeError {
        ChangeError::Disk { path: self.path.clone(), source }
    }
}

fn unreadable(error: &io::Error) -> Unreadable {
    let out = match error.kind() {
        io::ErrorKind::PermissionDenied => "; give yourself permission to read it",
        _ => "",
    };
    Unreadable::whole(format!("{error}{out}"))
}

/// Why the file was not changed. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The change can't be carried out.
    #[error(transparent)]
    Refused(#[from] EditRefused),
    /// The file can't be read, so nothing is written.
    #[error("jobs.json is unreadable, so nothing is written to it: {0}; repair it, or take the stored copy")]
    Unreadable(#[from] Unreadable),
    /// The file can be read by now.
    #[error("jobs.json can be read again: the stored copy is not needed")]
    Repaired,
    /// Something else changes it all the time.
    #[error("jobs.json changes all the time: end the program that writes to it and try again")]
    Busy,
    /// The disk says no.
    #[error("{}: {source}{}", path.display(), way_out(source))]
    Disk {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl ChangeError {
    /// The job that the change would have overwritten, if that is why.
    pub fn conflict(&self) -> Option<&JobId> {
        match self {
            Self::Refused(EditRefused::Conflict(conflict)) => Some(&conflict.id),
            _ => None,
        }
    }
}

fn way_out(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "; give yourself permission to write it and its folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space",
        io::ErrorKind::ReadOnlyFilesystem => "; mount its disk to be written",
        _ => "",
    }
}
