//! The transitions over SQLite. Each runs inside a transaction that its caller commits.

mod alerts;
mod approvals;
mod background;
mod conversations;
mod drafts;
mod engine;
mod events;
mod history;
mod holds;
mod items;
mod jobs;
mod messages;
mod output;
mod posts;
mod processes;
mod recovery;
mod reset;
mod sessions;
mod spending;
mod standing;
mod turns;
mod visibility;

pub(super) use jobs::job_standing;
pub(super) use standing::{hold, spent};

use rusqlite::{Connection, Params, Row};
use std::cell::OnceCell;
use std::sync::Arc;

use super::sql;
use crate::domain::Time;
use crate::domain::agent::AgentName;
use crate::domain::alert::{Acknowledgement, Alert, AlertKey, NewAlert};
use crate::domain::api::Direction;
use crate::domain::approval::{Approval, Ending};
use crate::domain::background::{BackgroundProcess, Ended, StoppedBy, Which};
use crate::domain::event::{Event, EventKind};
use crate::domain::id::{ApprovalId, ItemId, ProcessNumber, RunId, SessionId, SessionKey, TurnId};
use crate::domain::process::{ChildProcess, Fate};
use crate::domain::queue::{BusyMode, PutBack, Refusal, Source};
use crate::domain::spending::Rules;
use crate::domain::turn::{Output, StopCause, TurnEnd};
use crate::store::{
    Accepted, LeftBehind, NewApproval, NewBackground, NewGate, NewMessage, NewRun, Opened, Result, Stopped,
    StoreError, Transitions,
};

/// An open transaction, with the events that its steps have told so far.
pub(super) struct Tx<'c> {
    connection: &'c Connection,
    told: &'c mut Vec<Arc<Event>>,
    /// The limits of the run, once they were read.
    rules: OnceCell<Option<Rules>>,
}

impl<'c> Tx<'c> {
    /// Steps on `connection`, whose transaction is open; their events go to the end of `told`.
    pub(super) fn new(connection: &'c Connection, told: &'c mut Vec<Arc<Event>>) -> Self {
        Self { connection, told, rules: OnceCell::new() }
    }

    fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        sql::execute(self.connection, sql, params)
    }

    fn insert(&self, sql: &str, params: impl Params) -> Result<i64> {
        sql::insert(self.connection, sql, params)
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

fn nothing_to(what: impl Into<String>) -> StoreError {
    Refusal::NothingTo(what.into()).into()
}

fn out_of_place(why: impl Into<String>) -> StoreError {
    Refusal::ItemPlace(why.into()).into()
}

/// The table of contents: each transition is written in the file of its subject.
impl Transitions for Tx<'_> {
    fn open_run(&mut self, run: &NewRun) -> Result<Opened> {
        self.open_run(run)
    }

    fn close_run(&mut self, run: &RunId, at: Time) -> Result<()> {
        self.close_run(run, at)
    }

    fn open_session(&mut self, key: &SessionKey, fresh: &SessionId, at: Time) -> Result<SessionId> {
        self.open_session(key, fresh, at)
    }

    fn accept_message(&mut self, message: &NewMessage) -> Result<Accepted> {
        self.accept_message(message)
    }

    fn append_turn(&mut self, turn: TurnId, output: &[Output], at: Time) -> Result<()> {
        self.append_turn(turn, output, at)
    }

    fn finish_turn(&mut self, end: &TurnEnd) -> Result<bool> {
        self.finish_turn(end)
    }

    fn request_stop(
        &mut self,
        session: &SessionId,
        turn: Option<TurnId>,
        cause: StopCause,
        at: Time,
    ) -> Result<Stopped> {
        self.request_stop(session, turn, cause, at)
    }

    fn reset_session(
        &mut self,
        key: &SessionKey,
        fresh: &SessionId,
        title: Option<&str>,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>> {
        self.reset_session(key, fresh, title, at)
    }

    fn carry_over(&mut self, from: &SessionId, at: Time) -> Result<Vec<ItemId>> {
        self.carry_over(from, at)
    }

    fn switch_session(
        &mut self,
        key: &SessionKey,
        wanted: &SessionId,
        at: Time,
    ) -> Result<Option<LeftBehind>> {
        self.switch_session(key, wanted, at)
    }

    fn release_queue(&mut self, session: &SessionId, by: &str, at: Time) -> Result<()> {
        self.release_queue(session, by, at)
    }

    fn probe_queues(&mut self, at: Time) -> Result<Option<Time>> {
        self.probe_queues(at)
    }

    fn set_gate(&mut self, gate: &NewGate, at: Time) -> Result<()> {
        self.set_gate(gate, at)
    }

    fn move_item(&mut self, item: ItemId, direction: Direction, at: Time) -> Result<()> {
        self.move_item(item, direction, at)
    }

    fn edit_item(&mut self, item: ItemId, was: &str, text: &str, at: Time) -> Result<()> {
        self.edit_item(item, was, text, at)
    }

    fn drop_item(&mut self, item: ItemId, at: Time) -> Result<PutBack> {
        self.drop_item(item, at)
    }

    fn restore_items(&mut self, items: &[PutBack], at: Time) -> Result<()> {
        self.restore_items(items, at)
    }

    fn switch_lane(&mut self, item: ItemId, at: Time) -> Result<()> {
        self.switch_lane(item, at)
    }

    fn clear_queue(&mut self, session: &SessionId, at: Time) -> Result<Vec<PutBack>> {
        self.clear_queue(session, at)
    }

    fn set_title(&mut self, session: &SessionId, title: &str, at: Time) -> Result<Option<String>> {
        self.set_title(session, title, at)
    }

    fn set_busy_mode(&mut self, session: &SessionId, mode: Option<BusyMode>, at: Time) -> Result<()> {
        self.set_busy_mode(session, mode, at)
    }

    fn choose_model(&mut self, session: &SessionId, model: Option<&str>, at: Time) -> Result<()> {
        self.choose_model(session, model, at)
    }

    fn choose_agent(&mut self, session: &SessionId, agent: Option<&AgentName>, at: Time) -> Result<()> {
        self.choose_agent(session, agent, at)
    }

    fn hide_turns(&mut self, session: &SessionId, count: usize, at: Time) -> Result<Vec<TurnId>> {
        self.hide_turns(session, count, at)
    }

    fn show_turns(&mut self, session: &SessionId, turns: &[TurnId], at: Time) -> Result<()> {
        self.show_turns(session, turns, at)
    }

    fn retry(&mut self, session: &SessionId, source: Source, at: Time) -> Result<Accepted> {
        self.retry(session, source, at)
    }

    fn note_look(&mut self, at: Time) -> Result<()> {
        self.note_look(at)
    }

    fn save_draft(&mut self, key: &SessionKey, text: &str, at: Time) -> Result<()> {
        self.save_draft(key, text, at)
    }

    fn remember_draft(&mut self, key: &SessionKey, text: &str, at: Time) -> Result<()> {
        self.remember_draft(key, text, at)
    }

    fn set_agent_state(&mut self, key: &SessionKey, state: &str) -> Result<()> {
        self.set_agent_state(key, state)
    }

    fn record(&mut self, session: Option<&SessionId>, kind: EventKind, at: Time) -> Result<()> {
        self.record(session, kind, at)
    }

    fn suspend_session(&mut self, session: &SessionId, at: Time) -> Result<()> {
        self.suspend_session(session, at)
    }

    fn unsuspend_session(&mut self, session: &SessionId, at: Time) -> Result<usize> {
        self.unsuspend_session(session, at)
    }

    fn stamp_run(&mut self, at: Time) -> Result<()> {
        self.stamp_run(at)
    }

    fn keep_process(&mut self, child: &ChildProcess, at: Time) -> Result<()> {
        self.keep_process(child, at)
    }

    fn keep_background(&mut self, new: &NewBackground, at: Time) -> Result<BackgroundProcess> {
        self.keep_background(new, at)
    }

    fn stop_background(
        &mut self,
        session: &SessionId,
        which: Which,
        by: StoppedBy,
        at: Time,
    ) -> Result<Vec<BackgroundProcess>> {
        self.stop_background(session, which, by, at)
    }

    fn end_background(
        &mut self,
        session: &SessionId,
        number: ProcessNumber,
        ended: &Ended,
        at: Time,
    ) -> Result<bool> {
        self.end_background(session, number, ended, at)
    }

    fn prune_background(&mut self, before: Time, limit: usize) -> Result<usize> {
        self.prune_background(before, limit)
    }

    fn ask_approval(&mut self, new: &NewApproval, at: Time) -> Result<Approval> {
        self.ask_approval(new, at)
    }

    fn settle_approval(&mut self, approval: ApprovalId, ending: &Ending, at: Time) -> Result<Approval> {
        self.settle_approval(approval, ending, at)
    }

    fn disallow(&mut self, session: &SessionId, prefix: &str, at: Time) -> Result<()> {
        self.disallow(session, prefix, at)
    }

    fn settle_process(&mut self, child: &ChildProcess, fate: &Fate, at: Time) -> Result<()> {
        self.settle_process(child, fate, at)
    }

    fn raise_alert(&mut self, new: &NewAlert, at: Time) -> Result<()> {
        self.raise_alert(new, at)
    }

    fn resolve_alert(&mut self, key: &AlertKey, at: Time) -> Result<bool> {
        self.resolve_alert(key, at)
    }

    fn acknowledge_alert(&mut self, key: &AlertKey, what: Acknowledgement, at: Time) -> Result<Alert> {
        self.acknowledge_alert(key, what, at)
    }

    fn alert_told(
        &mut self,
        key: &AlertKey,
        raised_at: Time,
        news: u32,
        failure: Option<&str>,
        at: Time,
    ) -> Result<()> {
        self.alert_told(key, raised_at, news, failure, at)
    }

    fn prune_alerts(&mut self, before: Time) -> Result<usize> {
        self.prune_alerts(before)
    }

    fn prune_approvals(&mut self, before: Time, limit: usize) -> Result<usize> {
        self.prune_approvals(before, limit)
    }

    fn prune_events(&mut self, before: Time, limit: usize) -> Result<usize> {
        self.prune_events(before, limit)
    }
}
