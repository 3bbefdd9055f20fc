//! Questions answered: what is kept, and what running turns say right now.

use super::cron;
use super::shared::Shared;
use crate::domain::api::{Answer, JobAnswer, JobQuery, Overview, Query, SessionRow};
use crate::store::{self, Queries, StoreError};

pub(super) async fn answer(shared: &Shared, query: Query) -> Result<Answer, StoreError> {
    match query {
        Query::Overview => overview(shared).await,
        Query::Jobs(query) => jobs(shared, query).await.map(Answer::Jobs),
        Query::Search { words, limit } => shared.store.search(words, limit).await.map(Answer::Hits),
        Query::Conversation { ref session, before: None, .. } => {
            // What is not kept yet is read first: the page may then hold some of it already, which
            // the offsets tell, but nothing can fall between the two.
            let live = shared.live.of_session(session);
            let (unkept, doing) = live.map(|turn| (turn.unkept(), turn.doing())).unwrap_or_default();
            let mut answer = kept(shared, query).await?;
            if let Answer::Conversation(page) = &mut answer {
                (page.live, page.doing) = (unkept, doing);
            }
            Ok(answer)
        }
        query => {
            let mut answer = kept(shared, query).await?;
            match &mut answer {
                Answer::Sessions(page) => page.rows.iter_mut().for_each(|row| complete(shared, row)),
                Answer::Session(Some(row)) => complete(shared, row),
                Answer::Recovery(page) => page.pass_to(shared.now()),
                _ => {}
            }
            Ok(answer)
        }
    }
}

async fn jobs(shared: &Shared, query: JobQuery) -> Result<JobAnswer, StoreError> {
    let (readers, home) = (shared.store.readers(), shared.cron.home());
    let (agents, zone) = (shared.agents.roster(), shared.settings.timezone);
    let mut answer = cron::answer(readers, home, &agents, zone, shared.now(), query).await?;
    if let JobAnswer::List(page) = &mut answer {
        page.ticker = shared.cron.ticker();
    }
    Ok(answer)
}

async fn kept(shared: &Shared, query: Query) -> Result<Answer, StoreError> {
    let now = shared.now();
    shared.store.read(move |queries| store::answer(queries, query, now)).await
}

async fn overview(shared: &Shared) -> Result<Answer, StoreError> {
    let now = shared.now();
    let kept = move |queries: &dyn Queries| Ok((queries.counts()?, queries.today_of_all(now)?));
    let (counts, today) = shared.store.read(kept).await?;
    Ok(Answer::Overview(Box::new(Overview {
        engine: shared.status(),
        sessions: counts.sessions,
        needs_you: counts.needs_you,
        running: counts.running,
        asking: counts.asking,
        waiting: counts.waiting,
        marked: counts.marked,
        max_cuts: counts.max_cuts,
        last_event: counts.last_event,
        today,
    })))
}

/// Adds to a row what only a running engine knows.
fn complete(shared: &Shared, row: &mut SessionRow) {
    row.forecast = shared.forecast(row);
    if let Some(turn) = &mut row.turn {
        turn.last_output_at = shared.live.of(turn.turn).map(|live| live.last_output_at());
    }
}
