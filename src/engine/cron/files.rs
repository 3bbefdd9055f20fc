//! `jobs.json` in the hands of the engine: what stands in it is taken over, and commands are written to it.

use std::path::Path;
use std::sync::Arc;
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
use crate::engine::shared::Shared;
use crate::store::jobs_file::{JobsFile, Reading};
use crate::store::{JobsSeen, SeenFile, SeenRecord, StoreError};

/// What could not be taken over is read again after this long.
const AGAIN: Duration = Duration::from_secs(5);

/// The file, and what is still to be written to it.
pub(super) struct Files {
    pub(super) file: JobsFile,
    /// Readings and changes come one after the other, so that the store follows the file's own order.
    turn: tokio::sync::Mutex<()>,
}

impl Files {
    pub(super) fn new(home: &Home) -> Self {
        Self { file: JobsFile::new(home.jobs_file()), turn: tokio::sync::Mutex::default() }
    }

    /// Waits until nobody else reads or changes the file.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
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
    synced(shared, None).await
}

/// Takes over what stands in the file, from which an operator has just `removed` a job. The caller has its turn.
pub(super) async fn synced(shared: &Shared, removed: Option<JobId>) -> Result<(), StoreError> {
    write_what_waits(shared).await?;
    let (file, zone, at) = (shared.cron.files.file.clone(), shared.settings.timezone, shared.now());
    let read = tokio::task::spawn_blocking(move || seen(&file.read(), zone, at)).await;
    match read.map_err(|_| StoreError::Closed)? {
        Ok(seen) => {
            let seen = JobsSeen { removed, ..seen };
            shared.store.write(move |store| store.sync_jobs(&seen)).await.map(|_| ())
        }
        Err(trouble) => shared.store.write(move |store| store.jobs_unreadable(&trouble, at)).await,
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
            Ok(JobsSeen { records: Vec::new(), file: SeenFile::Missing, removed: None, zone, at })
        }
        Reading::Unreadable(unreadable) => Err(FileTrouble::from(unreadable)),
        Reading::Read(document, _) => {
            let records = document.entries().iter().map(|entry| record(document, entry, zone, at)).collect();
            Ok(JobsSeen { records, file: SeenFile::Read, removed: None, zone, at })
        }
    }
}

fn record(document: &Document, entry: &Entry, zone: Tz, at: Time) -> SeenRecord {
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
