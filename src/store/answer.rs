//! Questions answered from what is kept, for an engine and for whoever reads a store without one.

use super::{Counts, Queries, Result, StoreError};
use crate::domain::Time;
use crate::domain::api::{Answer, EngineStatus, Overview, Query, SessionPage, SessionRow};
use crate::domain::document::document;
use crate::domain::filter::Filter;
use crate::domain::history::Entry;
use crate::domain::id::SessionId;
use crate::domain::queue::{BusyMode, Refusal};
use crate::domain::slash::ExportFormat;
use crate::domain::spending::Scope;

/// Answers a query from what is kept, at a time on whose day limits are told.
///
/// What only a running engine knows is left empty: the engine in an overview, the live part of a
/// conversation, when a turn last said something. Whoever knows it fills it in.
pub fn answer(queries: &dyn Queries, query: Query, at: Time) -> Result<Answer> {
    let mut answer = kept(queries, query)?;
    match &mut answer {
        Answer::Overview(overview) => overview.today = queries.today_of_all(at)?,
        Answer::Sessions(page) => tell_today(queries, &mut page.rows, at)?,
        Answer::Session(Some(row)) => tell_today(queries, std::slice::from_mut(row), at)?,
        _ => {}
    }
    Ok(answer)
}

/// Adds to rows what is used of their daily limits.
fn tell_today(queries: &dyn Queries, rows: &mut [SessionRow], at: Time) -> Result<()> {
    let scopes: Vec<Scope> = rows.iter().map(|row| Scope::of(&row.session.key)).collect();
    for (row, today) in rows.iter_mut().zip(queries.today_of(&scopes, at)?) {
        row.today = today;
    }
    Ok(())
}

fn kept(queries: &dyn Queries, query: Query) -> Result<Answer> {
    Ok(match query {
        Query::Overview => Answer::Overview(Box::new(overview(queries)?)),
        Query::Sessions { filter, after, limit } => {
            Answer::Sessions(queries.sessions(&Filter::parse(&filter), after.as_ref(), limit)?)
        }
        Query::History { limit } => Answer::Sessions(queries.session_history(limit)?),
        Query::Session { session } => Answer::Session(queries.session(&session)?.map(Box::new)),
        Query::SessionAt { key } => Answer::Session(queries.session_at(&key)?.map(Box::new)),
        Query::SessionsNamed { name, limit } => Answer::Sessions(named(queries, &name, limit)?),
        Query::Conversation { session, before, limit } => {
            Answer::Conversation(queries.conversation(&session, before, limit)?)
        }
        Query::SessionQueue { session } => Answer::Queue(queries.session_queue(&session)?),
        Query::Backlog { limit } => Answer::Queue(queries.backlog(limit)?),
        Query::Events { page, level, session, job: None, limit } => {
            Answer::Events(queries.events(page, level, session.as_ref(), limit)?)
        }
        Query::Events { page, level, job: Some(job), limit, .. } => {
            Answer::Events(queries.events_of_job(&job, page, level, limit)?)
        }
        Query::Search { words, limit } => Answer::Hits(queries.search(&words, limit)?),
        Query::Recovery { start, limit } => {
            Answer::Recovery(Box::new(queries.recovery(start.as_ref(), limit)?))
        }
        Query::Report { since } => Answer::Report(Box::new(queries.report(since)?)),
        Query::Processes { session, limit } => {
            Answer::Processes(queries.background(session.as_ref(), limit)?)
        }
        Query::Allowed { session, limit } => Answer::Allowed(queries.allowed(session.as_ref(), limit)?),
        Query::Alerts { limit } => Answer::Alerts(queries.alerts(limit)?),
        Query::HostConversations { limit } => Answer::HostConversations(queries.host_conversations(limit)?),
        Query::HostConversation { key } => {
            Answer::HostConversation(queries.host_conversation(&key)?.map(Box::new))
        }
        Query::Jobs(_) => {
            let why = "scheduled tasks are asked for together with their files: engine::answer_jobs_alone";
            return Err(StoreError::Database(why.to_owned()));
        }
        Query::Composer { key } => Answer::Composer(queries.composer(&key)?),
        Query::Export { session, format } => Answer::Document(export(queries, &session, format)?),
    })
}

fn overview(queries: &dyn Queries) -> Result<Overview> {
    let Counts { sessions, needs_you, running, asking, waiting, marked, max_cuts, last_event, gate } =
        queries.counts()?;
    let engine = EngineStatus {
        run: None,
        gate,
        held: queries.engine_hold()?,
        drain: None,
        agents: Default::default(),
        busy_mode: BusyMode::default(),
        max_queued: 0,
        store_trouble: None,
        cron: Default::default(),
    };
    let today = None;
    Ok(Overview {
        engine,
        sessions,
        needs_you,
        running,
        asking,
        waiting,
        marked,
        max_cuts,
        last_event,
        today,
    })
}

fn named(queries: &dyn Queries, name: &str, limit: usize) -> Result<SessionPage> {
    let mut rows = Vec::new();
    for session in queries.resolve_session(name, limit)? {
        rows.extend(queries.session(&session)?);
    }
    Ok(SessionPage { hits: rows.len(), total: rows.len(), rows })
}

fn export(queries: &dyn Queries, session: &SessionId, format: ExportFormat) -> Result<String> {
    let row = queries.session(session)?;
    let row = row.ok_or_else(|| StoreError::Refused(Refusal::NoSuchSession(session.to_string())))?;
    Ok(document(&row.session, &all_entries(queries, session)?, format))
}

fn all_entries(queries: &dyn Queries, session: &SessionId) -> Result<Vec<Entry>> {
    const PAGE: usize = 500;
    let mut pages = Vec::new();
    let mut before = None;
    loop {
        let page = queries.conversation(session, before, PAGE)?;
        before = page.entries.first().map(|entry| entry.id);
        let more = page.more_before && before.is_some();
        pages.push(page.entries);
        if !more {
            break;
        }
    }
    Ok(pages.into_iter().rev().flatten().collect())
}
