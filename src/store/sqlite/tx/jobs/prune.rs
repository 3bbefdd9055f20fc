//! What is forgotten: tombstones, and executions that nobody looks at any more.

use super::super::super::columns::Millis;
use super::super::super::sql::at_most;
use super::super::Tx;
use crate::domain::Time;
use crate::domain::alert::AlertKey;
use crate::domain::cron::JobId;
use crate::domain::id::ExecutionId;
use crate::store::Result;

impl Tx<'_> {
    pub(super) fn prune_jobs(&mut self, before: Time, keep: usize) -> Result<usize> {
        let gone: Vec<JobId> = self.rows(
            "SELECT id FROM jobs WHERE vanished_at IS NOT NULL AND vanished_at < ?1 AND NOT EXISTS (
                 SELECT 1 FROM executions WHERE job = jobs.id AND state IN ('claimed', 'running'))",
            (Millis(before),),
            |row| row.get(0),
        )?;
        for job in &gone {
            self.forget_executions(job, ExecutionId(i64::MAX))?;
            self.execute("DELETE FROM job_records WHERE job = ?1", (job,))?;
            self.execute("DELETE FROM jobs WHERE id = ?1", (job,))?;
            for key in AlertKey::OF_JOBS {
                self.resolve_alert(&key(job), before)?;
            }
        }
        let mut forgotten = gone.len();
        let jobs: Vec<JobId> = self.rows("SELECT id FROM jobs", (), |row| row.get(0))?;
        for job in jobs {
            let oldest = self.first(
                "SELECT id FROM executions WHERE job = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2",
                (&job, at_most(keep)),
                |row| row.get(0),
            )?;
            if let Some(newest_to_go) = oldest {
                forgotten += self.forget_executions(&job, newest_to_go)?;
            }
        }
        Ok(forgotten)
    }

    /// Forgets the executions of a job up to one that are over; with their deliveries.
    fn forget_executions(&mut self, job: &JobId, up_to: ExecutionId) -> Result<usize> {
        self.execute(
            "DELETE FROM deliveries WHERE execution IN (SELECT id FROM executions WHERE job = ?1 AND id <= ?2
                 AND state NOT IN ('waiting', 'claimed', 'running'))",
            (job, up_to),
        )?;
        self.execute(
            "DELETE FROM executions WHERE job = ?1 AND id <= ?2
                 AND state NOT IN ('waiting', 'claimed', 'running')",
            (job, up_to),
        )
    }
}
