//! `/cron`: scheduled tasks by slash command.

use std::sync::Arc;

use super::commands;
use crate::domain::Time;
use crate::domain::api::{
    Answer, JobAnswer, JobCommand, JobDetail, JobFound, JobQuery, JobRow, JobsPage, Query, Reply, slot_words,
};
use crate::domain::cron::{Counting, Definition, JobId, set_field};
use crate::domain::queue::{Refusal, Source};
use crate::domain::schedule::{Lattice, Schedule};
use crate::domain::slash::CronSlash;
use crate::engine::queries;
use crate::engine::shared::{Shared, refusal};

/// So many rows a list shows.
const ROWS: usize = 50;
/// So many slots `/cron next` shows.
const SLOTS: usize = 5;

pub(in crate::engine) async fn slash(
    shared: &Arc<Shared>,
    command: CronSlash,
    source: Source,
) -> Result<Reply, Refusal> {
    let change = match command {
        CronSlash::List(filter) => return list(shared, filter).await,
        CronSlash::History(job) => return history(shared, &job).await,
        CronSlash::Next(wanted) => return next(shared, &wanted).await,
        CronSlash::Editor => return editor(None, source),
        CronSlash::EditorOf(job) => return editor(Some(id(&find(shared, &job).await?)?), source),
        CronSlash::Add { schedule, prompt } => add(shared, schedule, prompt).await?,
        CronSlash::Set { job, field, value } => set(shared, &job, &field, &value).await?,
        CronSlash::Pause { job, why } => JobCommand::Pause { job: id(&find(shared, &job).await?)?, why },
        CronSlash::Resume(job) => JobCommand::Resume { job: id(&find(shared, &job).await?)? },
        CronSlash::Run(job) => {
            JobCommand::Run { job: id(&find(shared, &job).await?)?, counting: Counting::Beside }
        }
        CronSlash::Remove(job) => JobCommand::Remove { job: id(&find(shared, &job).await?)? },
    };
    match commands::carry_out(shared, change).await? {
        Reply::JobConflict { .. } => Err(Refusal::NothingTo(
            "the job was changed on disk at the same moment: nothing was written, try again".to_owned(),
        )),
        reply => Ok(reply),
    }
}

fn editor(job: Option<JobId>, source: Source) -> Result<Reply, Refusal> {
    match source {
        Source::Console => Ok(Reply::JobEditor { job }),
        _ => Err(Refusal::ScreenOnly("cron".to_owned())),
    }
}

/// The change that makes a job of a schedule and a prompt.
async fn add(shared: &Shared, schedule: String, prompt: String) -> Result<JobCommand, Refusal> {
    let id = new_id(shared, &prompt).await?;
    let definition = Definition { prompt: Some(prompt), ..Definition::new(id, schedule) };
    Ok(JobCommand::Save { base: None, definition: Box::new(definition) })
}

/// An id of some words that no job has.
pub(super) async fn new_id(shared: &Shared, words: &str) -> Result<JobId, Refusal> {
    let JobsPage { rows, .. } = jobs(shared, String::new(), usize::MAX).await?;
    let taken = |id: &JobId| rows.iter().any(|row| row.id.as_ref() == Some(id));
    Ok(JobId::from_words(words, taken))
}

/// The change that sets one field of a job.
async fn set(shared: &Shared, job: &str, field: &str, value: &str) -> Result<JobCommand, Refusal> {
    let found = find(shared, job).await?;
    let Some(mut definition) = found.definition else {
        let why = "its record can't be used: repair it in the editor or in the file".to_owned();
        return Err(Refusal::NothingTo(format!("job {job}: {why}")));
    };
    set_field(&mut definition, field, value).map_err(|fault| Refusal::NothingTo(fault.to_string()))?;
    Ok(JobCommand::Save { base: Some(found.record), definition })
}

async fn list(shared: &Shared, filter: String) -> Result<Reply, Refusal> {
    let page = jobs(shared, filter, ROWS).await?;
    let mut lines: Vec<String> = page.rows.iter().map(|row| line(row, shared.now())).collect();
    match (page.total, page.rows.len()) {
        (0, _) => lines.push("no jobs; /cron add makes one, or copy a jobs.json to the home".to_owned()),
        (total, shown) if shown < total => lines.push(format!("{shown} of {total}")),
        _ => {}
    }
    Ok(Reply::Shown { title: "scheduled tasks".to_owned(), text: lines.join("\n") })
}

fn line(row: &JobRow, now: Time) -> String {
    let next = row.next.map(|at| format!(", next {}", row.slot_words(at, now))).unwrap_or_default();
    let failures = match row.failures {
        0 => String::new(),
        failures => {
            let why = row.last_run.as_ref().and_then(|run| run.why.as_deref());
            format!(", failed {failures} in a row{}", why.map(|why| format!(": {why}")).unwrap_or_default())
        }
    };
    format!("{}  {}: {}{next}{failures}", row.name, row.state_words(), row.words)
}

async fn history(shared: &Shared, job: &str) -> Result<Reply, Refusal> {
    let found = find(shared, job).await?;
    let now = shared.now();
    let mut lines: Vec<String> = Vec::new();
    for execution in &found.history {
        let due = execution.slots.map_or(execution.taken_at, |slots| slots.first);
        lines.push(format!("{}  {}", shared.show_time(due), execution.words(now)));
    }
    if lines.is_empty() {
        lines.push("it has not fired yet".to_owned());
    }
    Ok(Reply::Shown { title: format!("runs of {}, newest first", found.row.name), text: lines.join("\n") })
}

/// The next slots of a job; of a schedule where no job has that name.
async fn next(shared: &Shared, wanted: &str) -> Result<Reply, Refusal> {
    let (title, mut lines, notes) = match found(shared, wanted).await? {
        JobFound::One(detail) => {
            let slots = detail.next.iter().map(|slot| detail.row.slot_words(*slot, shared.now())).collect();
            (format!("{}: {}", detail.row.name, detail.row.words), slots, detail.warnings)
        }
        JobFound::Several { candidates } => return Err(several(wanted, &candidates)),
        JobFound::None => slots_of(shared, wanted)?,
    };
    lines.extend(notes.into_iter().map(|note| format!("! {note}")));
    Ok(Reply::Shown { title, text: lines.join("\n") })
}

type Slots = (String, Vec<String>, Vec<String>);

fn slots_of(shared: &Shared, text: &str) -> Result<Slots, Refusal> {
    let (zone, now) = (shared.settings.timezone, shared.now());
    let refused = |why: String| Refusal::NothingTo(format!("no job {text:?}, and no schedule: {why}"));
    let schedule: Schedule = text.parse().map_err(|error| refused(format!("{error}")))?;
    schedule.check(zone, now).map_err(|error| refused(error.to_string()))?;
    let at = Lattice { zone, anchor: now };
    let notes = schedule.warnings(zone, now).iter().map(|warning| warning.words()).collect();
    let slots = schedule.slots(now, &at).take(SLOTS).map(|slot| slot_words(slot, zone, now)).collect();
    Ok((schedule.words(), slots, notes))
}

pub(super) async fn find(shared: &Shared, wanted: &str) -> Result<JobDetail, Refusal> {
    match found(shared, wanted).await? {
        JobFound::One(detail) => Ok(*detail),
        JobFound::None => Err(Refusal::NothingTo(format!("there is no job {wanted:?}; /cron lists them"))),
        JobFound::Several { candidates } => Err(several(wanted, &candidates)),
    }
}

fn several(wanted: &str, candidates: &[JobId]) -> Refusal {
    let names: Vec<&str> = candidates.iter().map(JobId::as_str).collect();
    Refusal::NothingTo(format!("{wanted:?} could be {}: write more of it", names.join(", ")))
}

fn id(detail: &JobDetail) -> Result<JobId, Refusal> {
    let place = detail.row.place + 1;
    let nameless =
        || Refusal::NothingTo(format!("record {place} of jobs.json has no id: give it one in the file"));
    detail.row.id.clone().ok_or_else(nameless)
}

async fn found(shared: &Shared, job: &str) -> Result<JobFound, Refusal> {
    match ask(shared, JobQuery::Detail { job: job.to_owned() }).await? {
        JobAnswer::Detail(found) => Ok(*found),
        _ => Err(another_kind()),
    }
}

async fn jobs(shared: &Shared, filter: String, limit: usize) -> Result<JobsPage, Refusal> {
    match ask(shared, JobQuery::List { filter, limit }).await? {
        JobAnswer::List(page) => Ok(*page),
        _ => Err(another_kind()),
    }
}

async fn ask(shared: &Shared, query: JobQuery) -> Result<JobAnswer, Refusal> {
    match queries::answer(shared, Query::Jobs(query)).await.map_err(refusal)? {
        Answer::Jobs(answer) => Ok(answer),
        _ => Err(another_kind()),
    }
}

fn another_kind() -> Refusal {
    Refusal::NothingTo("the engine gave an answer of another kind".to_owned())
}
