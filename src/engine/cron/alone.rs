//! Scheduled tasks where no engine runs: `jobs.json` is what counts, and the store tells what was.

use chrono_tz::Tz;

use super::edits::{Edits, Taker, refused};
use super::files::record;
use crate::config::Home;
use crate::domain::Time;
use crate::domain::api::{JobCommand, JobDetail, JobFound, JobRow, Reply};
use crate::domain::cron::document::{Document, Entry};
use crate::domain::cron::merge::{Edit, Firing};
use crate::domain::cron::record::read as read_record;
use crate::domain::cron::{JobId, JobStanding, OpenRuns};
use crate::domain::queue::Refusal;
use crate::domain::schedule::Schedule;
use crate::engine::commands::done;
use crate::store::jobs_file::{JobsFile, Reading};
use crate::store::{Readers, SeenRecord, StoreError};

/// Carries out a command about scheduled tasks on the file alone; none: it needs an engine.
pub async fn change(home: &Home, zone: Tz, at: Time, command: JobCommand) -> Option<Result<Reply, Refusal>> {
    let file = JobsFile::new(home.jobs_file());
    let edits = Edits { file: &file, zone, at, taker: Taker::Next(home) };
    Some(match command {
        JobCommand::Save { base, definition } => edits.save(base, *definition).await,
        JobCommand::Remove { job } => edits.remove(job).await,
        JobCommand::PutBack { removed } => edits.put_back(*removed).await,
        JobCommand::Pause { job, why } => {
            let lost = why.map_or("", |_| "; why is not kept: only an engine keeps that");
            switch(&edits, &job, Firing::Paused, lost).await
        }
        JobCommand::Resume { job } => switch(&edits, &job, Firing::On, "").await,
        JobCommand::Run { .. } | JobCommand::StopRun { .. } | JobCommand::TakeStoredCopy => return None,
    })
}

/// Writes to the file whether a job fires.
async fn switch(edits: &Edits<'_>, job: &JobId, to: Firing, lost: &str) -> Result<Reply, Refusal> {
    let written = edits.record_of(job).await?;
    let was = written.and_then(|record| read_record(&record, Some(job.as_str())).ok());
    let fires = was.map(|was| if was.definition.enabled { Firing::On } else { Firing::Paused });
    let words = match (to, fires) {
        (Firing::Paused, Some(Firing::Paused)) => {
            return Err(Refusal::NothingTo(format!("job {job} is paused already")));
        }
        (Firing::On, Some(Firing::On)) => {
            return Err(Refusal::NothingTo(format!("job {job} is not paused")));
        }
        (Firing::Paused, _) => format!("job {job} paused"),
        (Firing::On, _) => format!("job {job} goes on"),
    };
    let edited = edits.edited(Edit::Switch { id: job.clone(), to }).await?;
    edited.map_err(|error| refused(&error))?;
    Ok(done(&format!("{words}{lost}{}", edits.taken_over().await?)))
}

/// What a name of a job leads to: in the file, else in the store.
///
/// # Errors
/// Where the store can't be read.
pub(super) async fn find(
    readers: Option<&Readers>,
    home: &Home,
    zone: Tz,
    at: Time,
    wanted: String,
) -> Result<JobFound, StoreError> {
    let file = JobsFile::new(home.jobs_file());
    let read = tokio::task::spawn_blocking(move || file.read()).await.map_err(|_| StoreError::Closed)?;
    let stored = async |name: String| match readers {
        Some(readers) => readers.read(move |store| store.job(&name, zone, at)).await,
        None => Ok(JobFound::None),
    };
    let Reading::Read(document, _) = read else { return stored(wanted).await };
    match named(&document, &wanted).as_slice() {
        [] => stored(wanted).await,
        [job] => {
            let known = match stored(job.to_string()).await? {
                JobFound::One(detail) if detail.row.id.as_ref() == Some(job) => Some(*detail),
                _ => None,
            };
            let found = as_written(&document, job, known, zone, at);
            Ok(found.map_or(JobFound::None, |detail| JobFound::One(Box::new(detail))))
        }
        several => Ok(JobFound::Several { candidates: several.to_vec() }),
    }
}

/// The jobs of the file that a name leads to: its id, else its name, else a beginning of the id.
fn named(document: &Document, wanted: &str) -> Vec<JobId> {
    let wanted = wanted.trim();
    let mut found = those(document, |id, _| id.as_str() == wanted);
    if found.is_empty() {
        found = those(document, |_, name| name == Some(wanted));
    }
    if found.is_empty() && !wanted.is_empty() {
        found = those(document, |id, _| id.as_str().starts_with(wanted));
    }
    found
}

/// The jobs whose id and name fit.
fn those(document: &Document, fits: impl Fn(&JobId, Option<&str>) -> bool) -> Vec<JobId> {
    let name = |entry: &Entry| entry.record.as_ref().ok().and_then(|record| record.definition.name.clone());
    let ids = document.entries().iter().filter_map(|entry| Some((entry.id.as_ref()?, name(entry))));
    ids.filter(|(id, name)| fits(id, name.as_deref())).map(|(id, _)| id.clone()).collect()
}

/// A job as the file has it now, with what the store knows of it. A record that no engine has read as it stands is
/// looked at as at its first sight.
fn as_written(
    document: &Document,
    job: &JobId,
    stored: Option<JobDetail>,
    zone: Tz,
    at: Time,
) -> Option<JobDetail> {
    let entry = document.find(job)?;
    let seen = record(document, entry, zone, at);
    if let Some(stored) = stored.as_ref().filter(|stored| stored.record == seen.text) {
        return Some(stored.clone());
    }
    let (mut standing, _) = JobStanding::first_seen(seen.said(), &seen.imported, zone, at);
    standing.failures = stored.as_ref().map_or(0, |stored| stored.row.failures);
    let mut row = row(&seen, entry.place, &standing, stored.as_ref().map(|stored| &stored.row))?;
    if let Some(definition) = &seen.definition {
        row.missing_sources = definition.missing_sources(|job| document.find(job).is_some());
    }
    let next = seen.definition.as_deref().map(|definition| standing.next_slots(definition, at));
    Some(JobDetail {
        row,
        definition: seen.definition,
        record: seen.text,
        next: next.unwrap_or_default(),
        warnings: Vec::new(),
        today: stored.as_ref().and_then(|stored| stored.today.clone()),
        history: stored.map(|stored| stored.history).unwrap_or_default(),
    })
}

fn row(seen: &SeenRecord, place: usize, standing: &JobStanding, stored: Option<&JobRow>) -> Option<JobRow> {
    let id = seen.id.clone()?;
    let definition = seen.definition.as_deref();
    let schedule = definition.map_or(standing.schedule.as_str(), |definition| &definition.schedule);
    Some(JobRow {
        place,
        name: definition.and_then(|definition| definition.name.clone()).unwrap_or_else(|| id.to_string()),
        id: Some(id),
        state: standing.state(OpenRuns::default()),
        paused: standing.paused.clone(),
        schedule: schedule.to_owned(),
        words: schedule.parse().map(|schedule: Schedule| schedule.words()).unwrap_or_default(),
        zone: standing.zone.name().to_owned(),
        next: standing.ahead.next,
        running_since: None,
        last: stored.and_then(|row| row.last.clone()),
        last_run: stored.and_then(|row| row.last_run.clone()),
        failures: standing.failures,
        runs_left: definition.and_then(|definition| standing.runs_left(definition.repeat)),
        durations: stored.map(|row| row.durations.clone()).unwrap_or_default(),
        missing_sources: Vec::new(),
    })
}
