//! Questions about scheduled tasks: what the store keeps, and what lies in the home's folders.

use chrono_tz::Tz;

use super::files::{as_file, raw_text};
use super::{alone, delivery, output, preflight, skill};
use crate::config::Home;
use crate::domain::Time;
use crate::domain::agent::Roster;
use crate::domain::api::{FileAndCopy, JobAnswer, JobFound, JobQuery, Parts};
use crate::domain::cron::{Definition, Fault};
use crate::store::{Readers, StoreError};

/// Answers a question about scheduled tasks where no engine runs, from a store or where nothing is kept yet. A
/// job is as the file has it.
///
/// # Errors
/// Where the store or a document can't be read.
pub async fn answer_alone(
    readers: Option<&Readers>,
    home: &Home,
    agents: &Roster,
    zone: Tz,
    at: Time,
    query: JobQuery,
) -> Result<JobAnswer, StoreError> {
    match (query, readers) {
        (JobQuery::Detail { job }, _) => {
            let found = alone::find(readers, home, zone, at, job).await?;
            Ok(JobAnswer::Detail(Box::new(with_warnings(found, home, agents, zone, at).await?)))
        }
        (query, Some(readers)) => answer(readers, home, agents, zone, at, query).await,
        (query, None) => without_store(home, agents, zone, query).await,
    }
}

/// Answers a question about scheduled tasks. The ticker is the engine's to add.
///
/// # Errors
/// Where the store or a document can't be read.
pub(in crate::engine) async fn answer(
    readers: &Readers,
    home: &Home,
    agents: &Roster,
    zone: Tz,
    at: Time,
    query: JobQuery,
) -> Result<JobAnswer, StoreError> {
    Ok(match query {
        JobQuery::List { filter, limit } => {
            JobAnswer::List(Box::new(readers.read(move |store| store.jobs(&filter, limit, at)).await?))
        }
        JobQuery::Detail { job } => {
            let found = readers.read(move |store| store.job(&job, zone, at)).await?;
            JobAnswer::Detail(Box::new(with_warnings(found, home, agents, zone, at).await?))
        }
        JobQuery::History { job, before, limit } => JobAnswer::History(
            readers.read(move |store| store.executions(job.as_ref(), before, limit)).await?,
        ),
        JobQuery::Output { execution } => {
            let found = readers.read(move |store| store.execution(execution)).await?;
            JobAnswer::Output(match found.and_then(|execution| execution.output) {
                Some(path) => document(home, path).await?,
                None => None,
            })
        }
        JobQuery::Timeline { from, until, limit } => {
            JobAnswer::Timeline(readers.read(move |store| store.timeline(from, until, limit, zone)).await?)
        }
        JobQuery::Parts => JobAnswer::Parts(Box::new(parts(home, agents, zone).await?)),
        JobQuery::Missing { definition } => JobAnswer::Missing(missing(home, agents, definition).await?),
        JobQuery::Compare => JobAnswer::Compare(Box::new(compare(Some(readers), home).await?)),
    })
}

async fn without_store(
    home: &Home,
    agents: &Roster,
    zone: Tz,
    query: JobQuery,
) -> Result<JobAnswer, StoreError> {
    Ok(match query {
        JobQuery::List { .. } => JobAnswer::List(Box::default()),
        JobQuery::Detail { .. } => JobAnswer::Detail(Box::new(JobFound::None)),
        JobQuery::History { .. } => JobAnswer::History(Vec::new()),
        JobQuery::Output { .. } => JobAnswer::Output(None),
        JobQuery::Timeline { .. } => JobAnswer::Timeline(Vec::new()),
        JobQuery::Parts => JobAnswer::Parts(Box::new(parts(home, agents, zone).await?)),
        JobQuery::Missing { definition } => JobAnswer::Missing(missing(home, agents, definition).await?),
        JobQuery::Compare => JobAnswer::Compare(Box::new(compare(None, home).await?)),
    })
}

/// Adds what to know of the job that was found.
async fn with_warnings(
    mut found: JobFound,
    home: &Home,
    agents: &Roster,
    zone: Tz,
    at: Time,
) -> Result<JobFound, StoreError> {
    if let JobFound::One(detail) = &mut found
        && let Some(definition) = &detail.definition
    {
        detail.warnings = definition.warnings(detail.row.zone.parse().unwrap_or(zone), at);
        detail.warnings.extend(detail.row.missing_sources.iter().map(Definition::missing_source));
        let missing = missing(home, agents, definition.clone()).await?;
        detail.warnings.extend(missing.iter().map(Fault::to_string));
    }
    Ok(found)
}

/// What a job names and that is not there.
async fn missing(
    home: &Home,
    agents: &Roster,
    definition: Box<Definition>,
) -> Result<Vec<Fault>, StoreError> {
    let (home, agents) = (home.clone(), agents.clone());
    let look = move || preflight::missing(&home, &agents, &definition);
    tokio::task::spawn_blocking(look).await.map_err(|_| StoreError::Closed)
}

/// The file and the stored copy, as they stand.
async fn compare(readers: Option<&Readers>, home: &Home) -> Result<FileAndCopy, StoreError> {
    let records = match readers {
        Some(readers) => readers.read(|store| store.stored_records()).await?,
        None => Vec::new(),
    };
    let path = home.jobs_file();
    let file = tokio::task::spawn_blocking(move || raw_text(&path)).await.map_err(|_| StoreError::Closed)?;
    Ok(FileAndCopy { file, stored: (!records.is_empty()).then(|| as_file(&records)) })
}

async fn document(home: &Home, path: String) -> Result<Option<String>, StoreError> {
    let (home, of) = (home.clone(), path.clone());
    let read = tokio::task::spawn_blocking(move || output::read(&home, &of)).await;
    let read = read.map_err(|_| StoreError::Closed)?;
    read.map_err(|error| StoreError::Database(format!("{path} can't be read: {error}")))
}

async fn parts(home: &Home, agents: &Roster, zone: Tz) -> Result<Parts, StoreError> {
    let home = home.clone();
    let agents = agents.known.iter().map(|(name, known)| (name.to_string(), known.label.clone())).collect();
    let look = move || {
        let skills = skill::list(&home.skills());
        Parts {
            skills: skills.into_iter().map(|skill| (skill.name, skill.description)).collect(),
            scripts: skill::scripts(&home.scripts()),
            agents,
            targets: delivery::offered(),
            zone: zone.name().to_owned(),
        }
    };
    tokio::task::spawn_blocking(look).await.map_err(|_| StoreError::Closed)
}
