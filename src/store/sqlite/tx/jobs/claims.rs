//! Claims: a fire is given to one worker, and every later write must carry that claim's token.

use rusqlite::params;

use super::super::super::columns::{Millis, json};
use super::super::super::executions::{self, executions_where};
use super::super::super::spent;
use super::super::Tx;
use super::kept::KeptJob;
use crate::domain::Time;
use crate::domain::alert::held_job;
use crate::domain::cron::{CLAIM_LIFE, ClaimKey, Execution, JobEvent, JobId};
use crate::domain::id::ExecutionId;
use crate::domain::queue::Gate;
use crate::domain::spending::{Reached, Rules, Scope};
use crate::store::{Claimed, Held, NewClaim, Result};

/// Who wants a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AskedFor {
    BySchedule,
    ByOperator,
}

impl Tx<'_> {
    pub(super) fn claim_execution(&mut self, claim: &NewClaim) -> Result<Option<Claimed>> {
        let busy: usize =
            self.only("SELECT count(*) FROM executions WHERE state IN ('claimed', 'running')", (), |row| {
                row.get(0)
            })?;
        if busy >= claim.max_parallel || self.gate()? != Gate::Open {
            return Ok(None);
        }
        let mut before = ExecutionId(0);
        while let Some((execution, job, asked_for)) = self.next_that_may_begin(before, claim.at)? {
            if self.may_spend(execution, &job, asked_for, claim.at)? {
                self.execute(
                    "UPDATE executions SET state = 'claimed', why = NULL WHERE id = ?1",
                    (execution,),
                )?;
                return self.give(execution, &job, claim);
            }
            before = execution;
        }
        Ok(None)
    }

    /// The first after `before` of those that wait and whose job lets them begin.
    fn next_that_may_begin(
        &self,
        before: ExecutionId,
        at: Time,
    ) -> Result<Option<(ExecutionId, JobId, AskedFor)>> {
        self.first(
            "SELECT e.id, e.job, e.first_slot IS NOT NULL FROM executions e JOIN jobs j ON j.id = e.job
             WHERE e.state = 'waiting' AND e.id > ?2
                 AND (e.first_slot IS NOT NULL OR j.due IS NULL OR j.due > ?1)
                 AND (j.overlap = 'allow' OR NOT EXISTS (
                     SELECT 1 FROM executions b WHERE b.job = e.job AND b.state IN ('claimed', 'running')))
             ORDER BY e.id LIMIT 1",
            (Millis(at), before),
            |row| {
                let asked_for = if row.get(2)? { AskedFor::BySchedule } else { AskedFor::ByOperator };
                Ok((row.get(0)?, row.get(1)?, asked_for))
            },
        )
    }

    /// Whether the daily limits let a run begin. One that an operator asked for lets its job go for the day;
    /// any other waits, and says why.
    fn may_spend(
        &mut self,
        execution: ExecutionId,
        job: &JobId,
        asked_for: AskedFor,
        at: Time,
    ) -> Result<bool> {
        let Some((rules, reached)) = self.limit_of_job(job, at)? else { return Ok(true) };
        if asked_for == AskedFor::ByOperator {
            self.let_go(&rules, &Scope::Job(job.clone()), at)?;
            self.tell_job(job, JobEvent::LetGo { execution }, at)?;
            return Ok(true);
        }
        let why = format!("held: {} is reached", reached.words());
        let news = self
            .execute("UPDATE executions SET why = ?2 WHERE id = ?1 AND why IS NOT ?2", (execution, &why))?;
        if news > 0 {
            let until = rules.next_day(at);
            self.tell_job(job, JobEvent::Held { execution, why, until }, at)?;
            self.raise_held(job, reached, at)?;
        }
        Ok(false)
    }

    /// The daily limit that a job has reached, with all of them.
    pub(super) fn limit_of_job(&self, job: &JobId, at: Time) -> Result<Option<(Rules, Reached)>> {
        let Some(rules) = self.spending()? else { return Ok(None) };
        let reached = spent::reached(self.connection, &rules, &Scope::Job(job.clone()), at)?;
        Ok(reached.map(|reached| (rules, reached)))
    }

    /// A job is held by a limit: its session has an alert where it is held too.
    fn raise_held(&mut self, job: &JobId, reached: Reached, at: Time) -> Result<()> {
        let own = match job.session_key() {
            Ok(key) => self.standing_at(&key)?,
            Err(_) => None,
        };
        match own.and_then(|own| own.spent) {
            Some(_) => Ok(()),
            None => self.raise_alert(&held_job(job, reached), at),
        }
    }

    /// When the next day begins, where a run waits for it.
    pub(in super::super) fn next_day_of_jobs(&self, at: Time) -> Result<Option<Time>> {
        let held = self.first(
            "SELECT 1 FROM executions WHERE state = 'waiting' AND why IS NOT NULL LIMIT 1",
            (),
            |_| Ok(()),
        )?;
        Ok(held.and(self.spending()?).map(|rules| rules.next_day(at)))
    }

    /// Gives an execution to a worker.
    pub(super) fn give(
        &mut self,
        execution: ExecutionId,
        job: &JobId,
        claim: &NewClaim,
    ) -> Result<Option<Claimed>> {
        let Some(mut kept) = self.kept_job(job)? else { return Ok(None) };
        self.execute(
            "UPDATE executions SET owner = ?2, token = ?3, claimed_at = ?4, beat_at = ?4, expires_at = ?5
             WHERE id = ?1",
            params![
                execution,
                json(&claim.owner)?,
                claim.token,
                Millis(claim.at),
                Millis(claim.at + CLAIM_LIFE)
            ],
        )?;
        self.save_job(&mut kept, claim.at)?;
        let KeptJob { definition: Some(definition), .. } = kept else { return Ok(None) };
        let execution = self.execution(execution)?;
        Ok(execution.map(|execution| Claimed { execution, definition }))
    }

    pub(super) fn begin_execution(&mut self, claim: &ClaimKey, at: Time) -> Result<Held> {
        let begun = self.first(
            "UPDATE executions SET state = 'running', began_at = ?3
             WHERE id = ?1 AND token = ?2 AND state = 'claimed' RETURNING job",
            (claim.execution, &claim.token, Millis(at)),
            |row| row.get::<_, JobId>(0),
        )?;
        let Some(job) = begun else { return Ok(Held::Lost) };
        self.tell_job(&job, JobEvent::RunBegan { execution: claim.execution }, at)?;
        Ok(Held::Ours)
    }

    pub(super) fn beat_execution(&mut self, claim: &ClaimKey, at: Time) -> Result<Held> {
        let renewed = self.execute(
            "UPDATE executions SET beat_at = ?3, expires_at = ?4
             WHERE id = ?1 AND token = ?2 AND state IN ('claimed', 'running')",
            (claim.execution, &claim.token, Millis(at), Millis(at + CLAIM_LIFE)),
        )?;
        Ok(if renewed > 0 { Held::Ours } else { Held::Lost })
    }

    /// The execution of a claim that is still its owner's.
    pub(super) fn held(&self, claim: &ClaimKey) -> Result<Option<Execution>> {
        let execution = self.execution(claim.execution)?;
        Ok(execution.filter(|execution| {
            !execution.state.is_over()
                && execution.claim.as_ref().is_some_and(|held| held.token == claim.token)
        }))
    }

    pub(super) fn execution(&self, id: ExecutionId) -> Result<Option<Execution>> {
        self.first(executions_where!("id = ?1"), (id,), executions::read)
    }
}
