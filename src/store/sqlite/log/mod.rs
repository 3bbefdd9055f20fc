//! The write-ahead log, looked at before SQLite opens it.
//!
//! SQLite goes on from the longest beginning of the log that its sums prove, up to the last whole commit
//! there, and says nothing of what stands behind. That is right for what a crash leaves; it is silent too
//! where commits that had been acknowledged were damaged. What tells one from the other:
//!
//! - A commit is acknowledged when the log is synced behind its last frame, and only then is the next one
//!   written. A crash can spoil one transaction, the last. So what stands behind a commit's last frame, written
//!   since the log last began anew, proves that this commit was acknowledged.
//! - A killed process leaves a beginning of what it wrote: its last transaction has no last frame. Only a
//!   machine that stops may keep a later frame of it and lose an earlier one. So a last frame behind the
//!   damage, with nothing behind it, is either that or an acknowledged commit: the log alone can't tell.
//! - In the index beside the log SQLite notes how far it is committed, after the sync. What the index says
//!   of this same log may be old but is never too much: up to there all was acknowledged.
//!
//! What is found behind the last commit is taken out of the way by beginning the log anew, else the next
//! examination would take it for something that was written after the commits of today.

mod format;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use self::format::{Frame, Log};
use super::open::beside;
use crate::domain::Time;
use crate::domain::damage::{FoundLog, Lost};

/// What a log was found to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing stands behind its last commit.
    Whole,
    /// What was never acknowledged stands there.
    Remains,
    /// What was acknowledged is lost, or may be.
    Damaged(Lost),
    /// Damaged in a part that was moved into the store's file already: the two together are no state that
    /// ever was.
    Mixed,
}

/// Examines the log of the store at `path`, whose pages have `page_size` bytes. Changes nothing.
pub(super) fn examine(path: &Path, page_size: usize) -> io::Result<Found> {
    let file = beside(path, "-wal");
    let Some(log) = Log::read(&file, page_size)? else { return Ok(Found::Whole) };
    let acknowledged = log.acknowledged(&beside(path, "-shm"))?.unwrap_or(0);
    let kept = log.frames[..log.sound].iter().rposition(|frame| frame.commits).map_or(0, |last| last + 1);
    let Some(lost) = lost(&log, kept, acknowledged) else {
        let remains = log.frames[kept..].iter().any(|frame| frame.current);
        return Ok(if remains { Found::Remains } else { Found::Whole });
    };
    if is_mixed(path, &file, &log.frames, kept, page_size)? {
        return Ok(Found::Mixed);
    }
    Ok(Found::Damaged(lost))
}

/// What is lost behind the first `kept` frames, of which `acknowledged` are known to have been so.
fn lost(log: &Log, kept: usize, acknowledged: usize) -> Option<Lost> {
    let behind = log.frames.iter().enumerate().skip(kept).filter(|(_, frame)| frame.current);
    let last = behind.clone().map(|(place, _)| place).next_back();
    let commits = behind.filter(|(_, frame)| frame.commits).map(|(place, _)| place);
    let proven = commits.clone().filter(|place| *place < acknowledged || Some(*place) < last).count();
    let proven = u32::try_from(proven).unwrap_or(u32::MAX);
    match (proven, acknowledged > kept, commits.count()) {
        (0, true, _) => Some(Lost::AtLeast(1)),
        (1.., _, _) => Some(Lost::AtLeast(proven)),
        (0, false, 1..) => Some(Lost::PerhapsOne),
        (0, false, 0) => None,
    }
}

/// Whether the file holds a page as a lost frame had it while a kept frame stands before it with an older
/// one: a checkpoint had come further than what can still be read.
fn is_mixed(path: &Path, log: &Path, frames: &[Frame], kept: usize, page_size: usize) -> io::Result<bool> {
    let (store, log) = (File::open(path)?, File::open(log)?);
    let newest: HashMap<u32, usize> =
        frames[..kept].iter().enumerate().map(|(place, frame)| (frame.page, place)).collect();
    let mut pages = [vec![0; page_size], vec![0; page_size], vec![0; page_size]];
    let [kept_page, lost_page, stored] = &mut pages;
    for (place, frame) in frames.iter().enumerate().skip(kept).filter(|(_, frame)| frame.current) {
        let Some(before) = newest.get(&frame.page) else { continue };
        let at = u64::from(frame.page.saturating_sub(1)) * page_size as u64;
        match store.read_exact_at(stored, at) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
            other => other?,
        }
        log.read_exact_at(lost_page, Log::place_of(place, page_size))?;
        log.read_exact_at(kept_page, Log::place_of(*before, page_size))?;
        if stored == lost_page && stored != kept_page {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Keeps a copy of the log of the store at `path` as it was found, named by when it was last written.
pub(super) fn keep(path: &Path) -> FoundLog {
    match copy(&beside(path, "-wal")) {
        Ok(copy) => FoundLog::Copied(copy.display().to_string()),
        Err(error) => FoundLog::NotCopied(error.to_string()),
    }
}

fn copy(log: &Path) -> io::Result<PathBuf> {
    let written: Time = log.metadata()?.modified()?.into();
    let copy = beside(log, &format!(".corrupt-{}", written.format("%Y%m%dT%H%M%SZ")));
    let unfinished = beside(&copy, ".new");
    fs::copy(log, &unfinished)?;
    File::open(&unfinished)?.sync_all()?;
    fs::rename(&unfinished, &copy)?;
    Ok(copy)
}
