//! Scheduled tasks that agents make: by the same way as `cron add`, with a row that says in which turn.

use std::sync::Arc;

use super::commands;
use super::slash::{find, new_id};
use crate::agent::{NewJob, no_task_with_key};
use crate::domain::api::{JobCommand, JobDetail, Reply};
use crate::domain::cron::{Definition, JobEvent, JobId, no_task_by};
use crate::domain::event::EventKind;
use crate::domain::id::{SessionId, TurnId};
use crate::domain::queue::Refusal;
use crate::engine::shared::Shared;
use crate::engine::slash::read;

/// So many slots the agent is told.
const SLOTS: usize = 3;

/// Makes a task for a turn's agent, and answers it.
pub(in crate::engine) async fn make(shared: Arc<Shared>, session: SessionId, turn: TurnId, new: NewJob) {
    let made = match saved(&shared, &session, new.what.clone()).await {
        Ok(job) => {
            note(&shared, session, turn, job.clone()).await;
            Ok(told(&shared, job).await)
        }
        Err(refusal) => Err(refusal.to_string()),
    };
    new.answer(made);
}

async fn saved(shared: &Arc<Shared>, session: &SessionId, definition: Definition) -> Result<JobId, Refusal> {
    let of = session.clone();
    let row = read(shared, move |queries| queries.session(&of)).await?;
    if let Some(why) = row.and_then(|row| no_task_by(row.session.key.parts().chat_type)) {
        return Err(Refusal::NothingTo(why.to_owned()));
    }
    if let Some(why) = no_task_with_key(&definition) {
        return Err(Refusal::NothingTo(why.to_owned()));
    }
    let id = new_id(shared, definition.id.as_str()).await?;
    let definition = Box::new(Definition { id: id.clone(), ..definition });
    match commands::carry_out(shared, JobCommand::Save { base: None, definition }).await? {
        Reply::JobConflict { .. } => Err(Refusal::NothingTo(
            "another task of that id was made at the same moment: try again".to_owned(),
        )),
        _ => Ok(id),
    }
}

async fn note(shared: &Shared, session: SessionId, turn: TurnId, job: JobId) {
    let (kind, at) = (EventKind::Job { job, what: JobEvent::MadeByAgent { turn } }, shared.now());
    let kept = shared.store.write(move |store| store.record(Some(&session), kind.clone(), at)).await;
    if let Err(error) = kept {
        tracing::warn!(%turn, %error, "that an agent made a scheduled task is not in the log");
    }
}

/// What the agent is told of its task.
async fn told(shared: &Shared, job: JobId) -> String {
    match find(shared, job.as_str()).await {
        Ok(JobDetail { row, next, .. }) => {
            let now = shared.now();
            let slots: Vec<String> = next.iter().take(SLOTS).map(|at| row.slot_words(*at, now)).collect();
            format!("scheduled task {job} is made: {}; next: {}", row.words, slots.join(", "))
        }
        Err(_) => format!("scheduled task {job} is made"),
    }
}
