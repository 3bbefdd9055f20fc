//! A job as it is kept: read at the start of a transition, changed by the rules, kept at its end.

use chrono_tz::Tz;
use rusqlite::types::Type;
use rusqlite::{Row, params};

use super::super::super::columns::{Millis, json, kept_json, optional_time, time};
use super::super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::alert::{by_cron_event, by_job_event};
use crate::domain::cron::plan::{Ahead, Open, Row as PlanRow};
use crate::domain::cron::{
    Change, CronEvent, Definition, ExecutionState, How, JobEvent, JobId, JobStanding, OpenRuns, Paused, Slots,
};
use crate::domain::event::EventKind;
use crate::domain::id::ExecutionId;
use crate::domain::queue::Gate;
use crate::store::Result;

/// A job inside a transition.
pub(super) struct KeptJob {
    pub(super) n: i64,
    pub(super) id: JobId,
    pub(super) standing: JobStanding,
    /// What its record means; none: it can't be understood.
    pub(super) definition: Option<Definition>,
}

macro_rules! jobs_where {
    ($condition:literal) => {
        concat!(
            "SELECT j.*, r.definition FROM jobs j JOIN job_records r ON r.n = j.record WHERE ",
            $condition
        )
    };
}
pub(super) use jobs_where;

impl Tx<'_> {
    pub(super) fn kept_job(&self, id: &JobId) -> Result<Option<KeptJob>> {
        self.first(jobs_where!("j.id = ?1"), (id,), read)
    }

    /// A job that is in the file, or the refusal that there is none.
    pub(super) fn job_in_file(&self, id: &JobId) -> Result<KeptJob> {
        let job = self.kept_job(id)?.filter(|job| job.standing.vanished_at.is_none());
        job.ok_or_else(|| nothing_to(format!("there is no job {id} in jobs.json")))
    }

    /// Keeps how a job stands, as completed if nothing of it is left to do; its rank follows from it.
    pub(super) fn save_job(&mut self, job: &mut KeptJob, at: Time) -> Result<()> {
        let open = OpenRuns::from(&self.open_executions(&job.id)?);
        if let Some(news) = job.standing.complete_if_done(open, at) {
            self.tell_job(&job.id, news, at)?;
        }
        let JobStanding { schedule, zone, anchor, ahead, trouble, paused, failures, runs, .. } =
            &job.standing;
        let Ahead { settled, next, due } = ahead;
        self.execute(
            "UPDATE jobs SET schedule = ?2, zone = ?3, anchor = ?4, settled = ?5, next = ?6, due = ?7,
                 trouble = ?8, paused_since = ?9, paused_why = ?10, failures = ?11, runs = ?12,
                 completed_at = ?13, vanished_at = ?14, rank = ?15
             WHERE n = ?1",
            params![
                job.n,
                schedule,
                zone.name(),
                Millis(*anchor),
                Millis(*settled),
                next.map(Millis),
                due.map(Millis),
                json(trouble)?,
                paused.as_ref().map(|paused| Millis(paused.since)),
                paused.as_ref().and_then(|paused| paused.why.as_deref()),
                failures,
                runs,
                job.standing.completed_at.map(Millis),
                job.standing.vanished_at.map(Millis),
                job.standing.state(open).rank(),
            ],
        )?;
        Ok(())
    }

    /// Keeps what a change left behind, and tells of it.
    pub(super) fn keep_change(&mut self, job: &JobId, change: Change, at: Time) -> Result<()> {
        for row in change.rows {
            self.keep_row(job, row, at)?;
        }
        for news in change.news {
            self.tell_job(job, news, at)?;
        }
        Ok(())
    }

    /// Keeps what became of slots, and tells of it. None: the first of them was taken before, by a clock
    /// that went back since; no slot is taken twice.
    pub(super) fn keep_row(&mut self, job: &JobId, row: PlanRow, at: Time) -> Result<Option<ExecutionId>> {
        let (slots, how, state, why) = match row {
            PlanRow::Fire { slots, how } => (slots, how, ExecutionState::Waiting, None),
            PlanRow::NotRun { slots, state, why } => (slots, How::Late, state, Some(why)),
        };
        let Slots { first, last, count } = slots;
        let fires = state == ExecutionState::Waiting;
        let taken = "SELECT 1 FROM executions WHERE job = ?1 AND first_slot = ?2";
        if self.first(taken, (job, Millis(first)), |_| Ok(()))?.is_some() {
            return Ok(None);
        }
        let execution = ExecutionId(self.insert(
            "INSERT INTO executions
                 (job, first_slot, last_slot, slots, how, state, counts, taken_at, ended_at, why)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, iif(?7, NULL, ?8), ?9)",
            params![job, Millis(first), Millis(last), count, how, state, fires, Millis(at), why],
        )?);
        let news = match why {
            None => JobEvent::Fired { execution, slots: Some(slots), how, gate: Gate::Open },
            Some(why) => JobEvent::NotRun { execution, slots, state, why },
        };
        self.tell_job(job, news, at)?;
        Ok(Some(execution))
    }

    /// Ends the fires of a job that still wait: they never begin.
    pub(super) fn drop_waiting(&mut self, job: &JobId, why: &str, at: Time) -> Result<()> {
        for execution in self.open_executions(job)?.waiting() {
            self.drop_fire(job, execution, why, at)?;
        }
        Ok(())
    }

    /// Ends a fire that still waits.
    pub(super) fn drop_fire(
        &mut self,
        job: &JobId,
        execution: ExecutionId,
        why: &str,
        at: Time,
    ) -> Result<()> {
        self.execute(
            "UPDATE executions SET state = 'skipped', ended_at = ?2, why = ?3
             WHERE id = ?1 AND state = 'waiting'",
            (execution, Millis(at), why),
        )?;
        let news =
            JobEvent::RunEnded { execution, state: ExecutionState::Skipped, why: Some(why.to_owned()) };
        self.tell_job(job, news, at)
    }

    pub(super) fn open_executions(&self, job: &JobId) -> Result<Open> {
        let found = self.rows(
            "SELECT id, state, how FROM executions
             WHERE job = ?1 AND state IN ('waiting', 'claimed', 'running') ORDER BY id",
            (job,),
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let mut open = Open::default();
        for (id, state, how) in found {
            match (state, how) {
                (ExecutionState::Waiting, How::RunNow) => open.asked.push(id),
                (ExecutionState::Waiting, _) => open.fired.push(id),
                _ => open.busy.push(id),
            }
        }
        Ok(open)
    }

    /// How many runs of a job wait for the next day.
    fn held_runs(&self, job: &JobId) -> Result<usize> {
        self.only(
            "SELECT count(*) FROM executions
             WHERE job = ?1 AND state = 'waiting' AND state IN ('waiting', 'claimed', 'running')
                 AND why IS NOT NULL",
            (job,),
            |row| row.get(0),
        )
    }

    pub(super) fn tell_job(&mut self, job: &JobId, what: JobEvent, at: Time) -> Result<()> {
        let alerts = by_job_event(job, &what, self.held_runs(job)?);
        self.tell(EventKind::Job { job: job.clone(), what }, at)?;
        self.change_alerts(alerts, at)
    }

    pub(super) fn tell_cron(&mut self, what: CronEvent, at: Time) -> Result<()> {
        let alert = by_cron_event(&what);
        self.tell(EventKind::Cron(what), at)?;
        self.change_alerts(alert, at)
    }
}

/// Reads a row of [`jobs_where`].
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<KeptJob> {
    Ok(KeptJob {
        n: row.get("n")?,
        id: row.get("id")?,
        standing: standing(row)?,
        definition: kept_json(row, "definition")?,
    })
}

/// Reads how a job stands from a row with all columns of `jobs`.
pub(in crate::store::sqlite) fn standing(row: &Row<'_>) -> rusqlite::Result<JobStanding> {
    let zone: String = row.get("zone")?;
    let zone: Tz = zone
        .parse()
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))?;
    let paused = match optional_time(row, "paused_since")? {
        Some(since) => Some(Paused { since, why: row.get("paused_why")? }),
        None => None,
    };
    Ok(JobStanding {
        schedule: row.get("schedule")?,
        zone,
        anchor: time(row, "anchor")?,
        ahead: Ahead {
            settled: time(row, "settled")?,
            next: optional_time(row, "next")?,
            due: optional_time(row, "due")?,
        },
        trouble: kept_json(row, "trouble")?.unwrap_or_default(),
        paused,
        failures: row.get("failures")?,
        runs: row.get("runs")?,
        completed_at: optional_time(row, "completed_at")?,
        vanished_at: optional_time(row, "vanished_at")?,
    })
}
