//! A new version in the place of the old one: whole or not at all, with its owner and mode.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::config::files::{Replacement, folder_of, free_name, identity, sync_folder};
use crate::domain::Time;
use crate::failpoint;

/// What came of a writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The new version is on the disk.
    Written,
    /// The file is not as it was read: nothing was written.
    ChangedMeanwhile,
}

/// Writes `text`, if the file still is `before` (none: missing). That version is kept beside it as `.bak`.
pub(super) fn replace(path: &Path, before: Option<&str>, text: &str) -> io::Result<Outcome> {
    let target = target(path)?;
    let new = prepare(&target, text)?;
    let backup = path.with_added_extension("bak");
    let kept = before.filter(|_| !is_same(&backup, &target)).map(|_| keep(path, &target)).transpose()?;
    failpoint::pass("jobs-before-rename");
    if !is_still(&target, before)? {
        return Ok(Outcome::ChangedMeanwhile);
    }
    if let Some(kept) = kept {
        kept.persist(backup)?;
        sync_folder(folder_of(path))?;
    }
    new.take_place()?;
    failpoint::pass("jobs-after-rename");
    Ok(Outcome::Written)
}

/// Keeps an unreadable file under a name of its own, and puts `text` in its place. The answer is that name.
pub(super) fn put_aside_and_replace(path: &Path, text: &str, at: Time) -> io::Result<PathBuf> {
    let target = target(path)?;
    let new = prepare(&target, text)?;
    let aside = free_name(path, "bad", at);
    keep(path, &target)?.persist_noclobber(&aside)?;
    sync_folder(folder_of(path))?;
    new.take_place()?;
    Ok(aside)
}

/// The file itself: a symbolic link is written through.
fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::read_link(path).is_err() => {
            Ok(path.to_path_buf())
        }
        target => target,
    }
}

/// The new version on the disk, with the owner and the mode of the old one.
fn prepare(target: &Path, text: &str) -> io::Result<Replacement> {
    let old = match fs::metadata(target) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if old.is_some() {
        // Its author may have forbidden writing; a new file in its place would go round that.
        fs::OpenOptions::new().append(true).open(target)?;
    }
    let new = Replacement::of(target, text.as_bytes())?;
    if let Some(old) = old {
        let fresh = new.file().metadata()?;
        if (fresh.uid(), fresh.gid()) != (old.uid(), old.gid()) {
            fchown(new.file(), Some(old.uid()), Some(old.gid()))?;
        }
        new.file().set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
        new.file().sync_all()?;
    }
    Ok(new)
}

/// The version before, under a name of its own for now: the same file where the disk can give it two names (so that
/// an editor that still has it open writes there), else a copy.
fn keep(path: &Path, target: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = folder_of(path);
    let linked = tempfile::Builder::new().prefix(".jobs.json.").make_in(folder, |name| {
        fs::hard_link(target, name)?;
        fs::File::open(name)
    });
    linked.or_else(|_| {
        let mut copy = tempfile::Builder::new().prefix(".jobs.json.").tempfile_in(folder)?;
        io::copy(&mut fs::File::open(target)?, &mut copy)?;
        copy.as_file().sync_all()?;
        Ok(copy)
    })
}

/// Whether two names are of one file, as they are after a change that got no further.
fn is_same(backup: &Path, target: &Path) -> bool {
    let file = |path| fs::metadata(path).ok().map(|found| identity(&found));
    file(backup).is_some_and(|backup| file(target) == Some(backup))
}

fn is_still(target: &Path, before: Option<&str>) -> io::Result<bool> {
    match (fs::read(target), before) {
        (Ok(bytes), Some(before)) => Ok(bytes == before.as_bytes()),
        (Ok(_), None) => Ok(false),
        (Err(error), before) if error.kind() == io::ErrorKind::NotFound => Ok(before.is_none()),
        (Err(error), _) => Err(error),
    }
}
