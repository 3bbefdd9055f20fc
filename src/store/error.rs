//! What can go wrong with a store.

use std::io;
use std::path::PathBuf;

use crate::domain::queue::Refusal;

/// Why a transition or query was not carried out. Nothing of it was kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The rules say no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database is locked, its disk full or unwritable; it was tried for a while.
    #[error("{why}")]
    Unavailable {
        /// What the database said, for a person.
        why: String,
    },
    /// The file is no database of ours.
    #[error("{}: {problem}; it was left as it is: move it away or restore it, or name another home with --home", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The file was written by a newer program.
    #[error("{}: written by a newer switchboard (schema {found}, this one knows {known}); it was left as it is: update switchboard", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// The file can't be opened or made.
    #[error("{}: {source}{}", path.display(), way_out(source))]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A statement failed in a way that no retry mends.
    #[error("the store failed: {0}")]
    Database(String),
    /// The writer has ended: the engine stops.
    #[error("the store is closed")]
    Closed,
}

fn way_out(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "; give yourself permission to read and write it",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space",
        io::ErrorKind::ReadOnlyFilesystem => "; mount its disk to be written",
        io::ErrorKind::ResourceBusy => "; another program holds it: end that program and try again",
        io::ErrorKind::Other => "; `switchboard doctor` tells more of the home",
        _ => "",
    }
}
