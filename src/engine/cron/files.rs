//! `jobs.json` in the hands of the engine: what stands in it is taken over, and commands are written to it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono_tz::Tz;
use tokio::time::sleep;

use crate::config::Home;
use crate::domain::Time;
use crate::domain::api::FileTrouble;
use crate::domain::cron::document::{Document, Entry};
use crate::domain::cron::merge::Edit;
use crate::domain::cron::record::Imported;
use crate::domain::cron::{Fault, JobId};
use crate::engine::shared::{JOBS_WAIT, Shared};
use crate::store::jobs_file::{JobsFile, Reading};
use crate::store::{JobsSeen, SeenFile, SeenRecord, StoreError, Transitions};

/// What could not be taken over is read again after this long.
const AGAIN: Duration = Duration::from_secs(5);

/// The file, and what is still to be written to it.
pub(super) struct Files {
    pub(super) file: JobsFile,
    /// Readings and changes come one after the other, so that the store follows the file's own order.
    turn: tokio::sync::Mutex<()>,
    /// What operators did to the file that the store does not know yet.
    by_operator: Mutex<ByOperator>,
}

/// What can't be told from the file alone: who took a job out, and that a new one is an old one.
#[derive(Debug, Clone, Default)]
struct ByOperator {
    removed: BTreeSet<JobId>,
    /// Ids before and after.
    renamed: Vec<(JobId, JobId)>,
}

impl Files {
    pub(super) fn new(home: &Home) -> Self {
        Self {
            file: JobsFile::new(home.jobs_file()),
            turn: tokio::sync::Mutex::default(),
            by_operator: Mutex::default(),
        }
    }

    /// Waits until nobody else reads or changes the file.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Remembers what an operator's edit did that can't be told from the file alone, until the file is taken
    /// over. The caller has its turn.
    pub(super) fn note(&self, edit: &Edit) {
        let mut by_operator = self.by_operator();
        if let Edit::Remove { id, .. } = edit {
            by_operator.removed.insert(id.clone());
        }
        by_operator.renamed.extend(edit.rename().map(|(from, to)| (from.clone(), to.clone())));
    }

    fn by_operator(&self) -> MutexGuard<'_, ByOperator> {
        self.by_operator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows the file for as long as the engine runs: each change is taken over.
pub(super) async fn follow(shared: Arc<Shared>) {
    let mut watch = shared.cron.files.file.watch();
    loop {
        // What changed between the last reading and the watch is seen by this one.
        match take_over(&shared).await {
            Ok(()) => watch.changed().await,
            Err(StoreError::Closed) => return,
            Err(error) => {
                tracing::warn!(%error, "jobs.json is not taken over yet");
                sleep(AGAIN).await;
            }
        }
    }
}

/// Reads the file and takes it over, before anything fires.
pub(super) async fn read(shared: &Shared) {
    if let Err(error) = take_over(shared).await {
        tracing::error!(%error, "jobs.json is not taken over: the stored copy fires");
    }
}

async fn take_over(shared: &Shared) -> Result<(), StoreError> {
    let _turn = shared.cron.files.turn().await;
    synced(shared).await
}

/// Takes over what stands in the file, with what operators did to it. The caller has its turn.
pub(super) async fn synced(shared: &Shared) -> Result<(), StoreError> {
    write_what_waits(shared).await?;
    let (file, zone, at) = (shared.cron.files.file.clone(), shared.settings.timezone, shared.now());
    let read = tokio::task::spawn_blocking(move || seen(&file.read(), zone, at)).await;
    match read.map_err(|_| StoreError::Closed)? {
        Ok(seen) => {
            let ByOperator { removed, renamed } = shared.cron.files.by_operator().clone();
            let seen = JobsSeen { removed, ..seen };
            let step = move |store: &mut dyn Transitions| {
                renamed.iter().try_for_each(|(from, to)| carry_along(store, from, to, seen.at))?;
                store.sync_jobs(&seen)
            };
            shared.store.write_within(JOBS_WAIT, step).await?;
            *shared.cron.files.by_operator() = ByOperator::default();
            Ok(())
        }
        Err(trouble) => {
            shared.store.write_within(JOBS_WAIT, move |store| store.jobs_unreadable(&trouble, at)).await
        }
    }
}

/// What is known of a job goes with it to its new id. Where that can't be, one job is gone and one is new.
fn carry_along(store: &mut dyn Transitions, from: &JobId, to: &JobId, at: Time) -> Result<(), StoreError> {
    match store.rename_job(from, to, at) {
        Err(StoreError::Refused(refusal)) => {
            tracing::warn!(%from, %to, %refusal, "the history of a job that was renamed stays with its old id");
            Ok(())
        }
        done => done,
    }
}

/// Pauses and their ends that only the store knows are written as soon as the file can be read, by whichever
/// engine that is.
async fn write_what_waits(shared: &Shared) -> Result<(), StoreError> {
    let waiting = shared.store.read(|queries| queries.unwritten_switches()).await?;
    for (job, to) in waiting {
        let (file, id) = (shared.cron.files.file.clone(), job.clone());
        let written = tokio::task::spawn_blocking(move || file.edit(&Edit::Switch { id, to })).await;
        match written {
            Ok(Ok(_)) => {}
            Ok(Err(crate::store::jobs_file::ChangeError::Refused(refused))) => {
                tracing::warn!(%job, %refused, "what was paused or resumed is known to the store alone");
            }
            Ok(Err(_)) | Err(_) => break,
        }
    }
    Ok(())
}

fn seen(reading: &Reading, zone: Tz, at: Time) -> Result<JobsSeen, FileTrouble> {
    match reading {
        Reading::Missing => {
            Ok(JobsSeen { records: Vec::new(), file: SeenFile::Missing, removed: BTreeSet::new(), zone, at })
        }
        Reading::Unreadable(unreadable) => Err(FileTrouble::from(unreadable)),
        Reading::Read(document, _) => {
            let records = document.entries().iter().map(|entry| record(document, entry, zone, at)).collect();
            Ok(JobsSeen { records, file: SeenFile::Read, removed: BTreeSet::new(), zone, at })
        }
    }
}

/// A record of the file with what it means and what is wrong with it.
pub(super) fn record(document: &Document, entry: &Entry, zone: Tz, at: Time) -> SeenRecord {
    let faults = match &entry.record {
        Err(faults) => faults.clone(),
        Ok(record) => match record.definition.clone().check() {
            Err(faults) => faults,
            Ok(job) => job.zone_in_use(zone, at).err().into_iter().collect(),
        },
    };
    let (definition, imported) = match &entry.record {
        Ok(record) => (Some(Box::new(record.definition.clone())), record.imported.clone()),
        Err(_) => (None, Imported::default()),
    };
    SeenRecord {
        definition,
        imported,
        text: document.record_text(entry).to_owned(),
        id: entry.id.clone(),
        faults: faults.iter().map(Fault::to_string).collect(),
    }
}

/// The text of the file, for whoever compares it; what is no UTF-8 in it is replaced.
pub(super) fn raw_text(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The stored records as a file of their own.
pub(super) fn as_file(records: &[String]) -> String {
    match records {
        [] => crate::domain::cron::document::NEW_FILE.to_owned(),
        records => format!("{{\n  \"jobs\": [\n    {}\n  ]\n}}\n", records.join(",\n    ")),
    }
}
