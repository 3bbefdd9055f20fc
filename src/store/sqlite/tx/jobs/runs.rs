//! Runs: the turn in which a job's agent works, and the end with what is to be delivered.

use rusqlite::params;

use super::super::super::columns::Millis;
use super::super::sessions::NewSession;
use super::super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::alert::by_failures;
use crate::domain::background::{StoppedBy, Which};
use crate::domain::cron::{ClaimKey, ExecutionState, JobEvent, JobId, SessionMode};
use crate::domain::id::{ExecutionId, KeyParts, SessionId, SessionKey};
use crate::domain::marker::Clearing;
use crate::domain::queue::Refusal;
use crate::domain::session::{Beginning, EndReason};
use crate::domain::turn::Begun;
use crate::store::{ExecutionEnd, Held, NewMessage, Result, RunTurn};

impl Tx<'_> {
    pub(super) fn begin_run_turn(&mut self, run: &RunTurn) -> Result<Option<Begun>> {
        let Some(execution) = self.held(&run.claim)? else { return Ok(None) };
        let at = run.message.at;
        let key = self.key_for_run(&run.message.to, execution.id)?;
        if run.session == SessionMode::Fresh {
            self.empty_memory(&key, &run.message)?;
        }
        let message = NewMessage { to: key, ..run.message.clone() };
        let Some(begun) = self.accept_message(&message)?.begun else {
            return Err(nothing_to("no turn begins now: the engine is on hold or stops"));
        };
        self.execute(
            "UPDATE executions SET session = ?2, turn = ?3 WHERE id = ?1",
            (execution.id, &begun.session, begun.turn),
        )?;
        let news = JobEvent::AgentBegan {
            execution: execution.id,
            run_session: begun.session.clone(),
            turn: begun.turn,
        };
        self.tell_job(&execution.job, news, at)?;
        Ok(Some(begun))
    }

    /// The job's own key; while another run of the job works there, a thread of it.
    fn key_for_run(&self, key: &SessionKey, execution: ExecutionId) -> Result<SessionKey> {
        let taken = self.standing_at(key)?.is_some_and(|own| own.running.is_some() || own.waiting() > 0);
        if !taken {
            return Ok(key.clone());
        }
        let thread = execution.to_string();
        SessionKey::build(KeyParts { thread_id: Some(&thread), ..key.parts() })
            .map_err(|error| Refusal::NothingTo(error.to_string()).into())
    }

    /// Ends what is live under a key and makes the session that follows it.
    fn empty_memory(&mut self, key: &SessionKey, message: &NewMessage) -> Result<()> {
        let Some(mut old) = self.standing_at(key)? else { return Ok(()) };
        self.stop_live_background(&mut old, StoppedBy::Reset, message.at)?;
        self.end_session(&mut old, EndReason::SessionReset, Clearing::New, &message.fresh, message.at)?;
        let new = NewSession {
            previous: Some(&old.id),
            beginning: Beginning::Fresh,
            ..NewSession::of(key, &message.fresh)
        };
        self.make_session(&new, message.at).map(|_| ())
    }

    pub(super) fn end_execution(&mut self, end: &ExecutionEnd) -> Result<Held> {
        let ClaimKey { execution, token } = &end.claim;
        let ended = self.first(
            "UPDATE executions SET state = ?3, ended_at = ?4, why = ?5, output = ?6, cut_with = ?7
             WHERE id = ?1 AND token = ?2 AND state IN ('claimed', 'running') RETURNING job, session",
            params![execution, token, end.state, Millis(end.at), end.why, end.output, end.cut_with],
            |row| Ok((row.get::<_, JobId>(0)?, row.get::<_, Option<SessionId>>(1)?)),
        )?;
        let Some((job, session)) = ended else { return Ok(Held::Lost) };
        self.end_run_background(session.as_ref(), end.at)?;
        let news = JobEvent::RunEnded { execution: *execution, state: end.state, why: end.why.clone() };
        self.tell_job(&job, news, end.at)?;
        self.add_deliveries(&job, *execution, &end.deliveries)?;
        self.count_end(&job, end.state, end.why.as_deref(), end.at)?;
        Ok(Held::Ours)
    }

    /// Nothing that a run left in the background outlives it.
    pub(super) fn end_run_background(&mut self, session: Option<&SessionId>, at: Time) -> Result<()> {
        let Some(session) = session else { return Ok(()) };
        if self.live_background_of(session)?.is_empty() {
            return Ok(());
        }
        self.stop_background(session, Which::All, StoppedBy::RunEnded, at).map(|_| ())
    }

    /// Counts the end of a run for the health of its job.
    pub(super) fn count_end(
        &mut self,
        id: &JobId,
        state: ExecutionState,
        why: Option<&str>,
        at: Time,
    ) -> Result<()> {
        let Some(mut job) = self.kept_job(id)? else { return Ok(()) };
        let failures = job.standing.failures;
        if let Some(news) = job.standing.run_ended(state) {
            self.tell_job(id, news, at)?;
        }
        self.change_alerts(by_failures(id, failures, job.standing.failures, why), at)?;
        self.save_job(&mut job, at)
    }
}
