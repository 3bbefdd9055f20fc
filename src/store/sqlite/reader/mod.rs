//! The queries over SQLite.

/// What holds the session `s`: a daily limit before all else.
macro_rules! held_by {
    () => {
        "iif(s.spent IS NULL, s.hold_reason, 'spent') AS hold_reason"
    };
}

mod alerts;
mod conversation;
mod engine;
mod events;
mod host_conversations;
mod jobs;
mod queue;
mod recovery;
mod report;
mod search;
mod sessions;

use rusqlite::{Connection, Params, Row};

use super::{columns, spent, sql};
use crate::domain::Time;
use crate::domain::alert::Alert;
use crate::domain::api::{
    AllowedRow, ComposerMemory, ConversationPage, EngineHold, EventPage, Hit, ProcessRow, QueueRow,
    RecoveryPage, Report, SessionCursor, SessionPage, SessionRow,
};
use crate::domain::approval::Approval;
use crate::domain::background::BackgroundProcess;
use crate::domain::conversation::HostConversation;
use crate::domain::event::{Event, Level};
use crate::domain::filter::Filter;
use crate::domain::history::{Excerpt, Summary};
use crate::domain::id::{ApprovalId, ItemId, MessageId, RunId, SessionId, SessionKey, TurnId};
use crate::domain::process::ChildProcess;
use crate::domain::queue::Item;
use crate::domain::spending::{Reached, Scope, Today};
use crate::store::{Counts, Queries, Result};

/// Reads what is committed.
pub(super) struct Reader<'c> {
    connection: &'c Connection,
}

impl<'c> Reader<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection }
    }

    fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        sql::first(self.connection, sql, params, read)
    }

    fn only<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        sql::only(self.connection, sql, params, read)
    }

    fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        sql::rows(self.connection, sql, params, read)
    }
}

/// The table of contents: each query is written in the file of its subject.
impl Queries for Reader<'_> {
    fn counts(&self) -> Result<Counts> {
        self.counts()
    }

    fn sessions(&self, filter: &Filter, after: Option<&SessionCursor>, limit: usize) -> Result<SessionPage> {
        self.sessions(filter, after, limit)
    }

    fn session_history(&self, limit: usize) -> Result<SessionPage> {
        self.session_history(limit)
    }

    fn session(&self, id: &SessionId) -> Result<Option<SessionRow>> {
        self.session(id)
    }

    fn live_session(&self, key: &SessionKey) -> Result<Option<SessionId>> {
        self.live_session(key)
    }

    fn session_at(&self, key: &SessionKey) -> Result<Option<SessionRow>> {
        self.session_at(key)
    }

    fn resolve_session(&self, wanted: &str, limit: usize) -> Result<Vec<SessionId>> {
        self.resolve_session(wanted, limit)
    }

    fn conversation(
        &self,
        session: &SessionId,
        before: Option<MessageId>,
        limit: usize,
    ) -> Result<ConversationPage> {
        self.conversation(session, before, limit)
    }

    fn history_before(&self, turn: TurnId, limit: usize) -> Result<Excerpt> {
        self.history_before(turn, limit)
    }

    fn summary(&self, session: &SessionId) -> Result<Option<Summary>> {
        self.summary(session)
    }

    fn limit_reached(&self, session: &SessionId, at: Time) -> Result<Option<Reached>> {
        let Some(rules) = spent::rules(self.connection)? else { return Ok(None) };
        let key: Option<SessionKey> =
            self.first("SELECT key FROM sessions WHERE id = ?1", (session,), |row| row.get(0))?;
        let Some(key) = key else { return Ok(None) };
        spent::reached(self.connection, &rules, &Scope::of(&key), at)
    }

    fn today_of(&self, scopes: &[Scope], at: Time) -> Result<Vec<Option<Today>>> {
        spent::today_of(self.connection, scopes, at)
    }

    fn today_of_all(&self, at: Time) -> Result<Option<Today>> {
        spent::today_of_all(self.connection, at)
    }

    fn item(&self, id: ItemId) -> Result<Option<Item>> {
        self.item(id)
    }

    fn session_queue(&self, session: &SessionId) -> Result<Vec<QueueRow>> {
        self.session_queue(session)
    }

    fn backlog(&self, limit: usize) -> Result<Vec<QueueRow>> {
        self.backlog(limit)
    }

    fn events(
        &self,
        page: EventPage,
        level: Level,
        session: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<Event>> {
        self.events(page, level, session, limit)
    }

    fn search(&self, words: &str, limit: usize) -> Result<Vec<Hit>> {
        self.search(words, limit)
    }

    fn recovery(&self, start: Option<&RunId>, limit: usize) -> Result<RecoveryPage> {
        self.recovery(start, limit)
    }

    fn report(&self, since: Option<Time>) -> Result<Report> {
        self.report(since)
    }

    fn host_conversations(&self, limit: usize) -> Result<Vec<HostConversation>> {
        self.host_conversations(limit)
    }

    fn host_conversation(&self, key: &SessionKey) -> Result<Option<HostConversation>> {
        self.host_conversation(key)
    }

    fn alerts(&self, limit: usize) -> Result<Vec<Alert>> {
        self.alerts(limit)
    }

    fn alerts_to_tell(&self, limit: usize) -> Result<Vec<Alert>> {
        self.alerts_to_tell(limit)
    }

    fn composer(&self, key: &SessionKey) -> Result<ComposerMemory> {
        self.composer(key)
    }

    fn approval(&self, id: ApprovalId) -> Result<Option<Approval>> {
        self.first("SELECT * FROM approvals WHERE id = ?1", (id,), columns::approval)
    }

    fn denied_in(&self, turn: TurnId) -> Result<Vec<Approval>> {
        let mut asked =
            self.rows("SELECT * FROM approvals WHERE turn = ?1 ORDER BY id", (turn,), columns::approval)?;
        asked.retain(Approval::is_denied);
        Ok(asked)
    }

    fn allowed(&self, session: Option<&SessionId>, limit: usize) -> Result<Vec<AllowedRow>> {
        self.allowed(session, limit)
    }

    fn processes(&self) -> Result<Vec<(SessionId, ChildProcess)>> {
        self.processes()
    }

    fn background(&self, session: Option<&SessionId>, limit: usize) -> Result<Vec<ProcessRow>> {
        self.background(session, limit)
    }

    fn live_background(&self) -> Result<Vec<ProcessRow>> {
        self.live_background()
    }

    fn told_in(&self, session: &SessionId, turn: TurnId) -> Result<Vec<BackgroundProcess>> {
        self.told_in(session, turn)
    }

    fn engine_hold(&self) -> Result<Option<EngineHold>> {
        self.engine_hold()
    }
}

/// How SQLite would find what a question asks for.
#[cfg(test)]
fn plan(sql: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("state.db");
    let (connection, _) = super::open::open_writer(&path).unwrap();
    let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let given = vec![rusqlite::types::Null; explained.parameter_count()];
    let steps = explained.query_map(rusqlite::params_from_iter(given), |row| row.get("detail")).unwrap();
    steps.collect::<rusqlite::Result<Vec<String>>>().unwrap().join("\n")
}
