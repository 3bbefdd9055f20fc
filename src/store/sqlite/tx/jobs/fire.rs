//! Slots: taken when they are due, given up while a job is paused, and runs that an operator asks for.

use chrono::TimeDelta;

use super::super::super::columns::Millis;
use super::super::super::sql::at_most;
use super::super::{Tx, nothing_to};
use super::kept::{self, KeptJob, jobs_where};
use crate::domain::Time;
use crate::domain::cron::plan::{Asked, Course, Open, Row, asked};
use crate::domain::cron::{Claim, Counting, CronEvent, Execution, ExecutionState, How, JobEvent, JobId};
use crate::domain::id::ExecutionId;
use crate::domain::queue::Gate;
use crate::domain::spending::Scope;
use crate::store::{Result, RunAsked, StoreError, Tick, Ticked};

/// A clock that is set by a little, as by the network, strands nothing.
const CLOCK_MAY_GO_BACK: TimeDelta = TimeDelta::seconds(60);

impl Tx<'_> {
    pub(super) fn fire_due(&mut self, tick: &Tick) -> Result<Ticked> {
        let mut ticked = Ticked { fired: 0, due: 0, replaced: Vec::new(), next: None };
        if self.gate()? == Gate::Open {
            self.note_pass(tick.at)?;
            let due = self.rows(
                jobs_where!("j.due <= ?1 ORDER BY j.due, j.id LIMIT ?2"),
                (Millis(tick.at), at_most(tick.limit)),
                kept::read,
            )?;
            ticked.due = due.len();
            for job in due {
                self.fire(job, tick.at, &mut ticked)?;
            }
        }
        ticked.next = self.next_due()?;
        Ok(ticked)
    }

    fn fire(&mut self, mut job: KeptJob, at: Time, ticked: &mut Ticked) -> Result<()> {
        let open = self.open_executions(&job.id)?;
        let plan = match &job.definition {
            Some(definition) => job.standing.fire(definition, open.clone(), at),
            None => None,
        };
        let Some(plan) = plan else {
            // Its schedule was read when its record was taken over.
            job.standing.ahead.due = None;
            return self.save_job(&mut job, at);
        };
        ticked.replaced.extend(self.replace(&job.id, plan.replaced, &open, at)?);
        let course = job.definition.as_ref().and_then(|definition| job.standing.course(definition));
        for row in plan.rows {
            let fires = matches!(row, Row::Fire { .. });
            let kept = self.keep_rest(&job.id, row, course.as_ref(), at)?;
            ticked.fired += usize::from(fires && kept.is_some());
        }
        self.save_job(&mut job, at)
    }

    /// Ends what a newer run replaces and has not begun; the rest is to be stopped.
    fn replace(
        &mut self,
        job: &JobId,
        replaced: Vec<ExecutionId>,
        open: &Open,
        at: Time,
    ) -> Result<Vec<ExecutionId>> {
        let (busy, waiting): (Vec<_>, Vec<_>) = replaced.into_iter().partition(|it| open.busy.contains(it));
        for execution in waiting {
            self.drop_fire(job, execution, "a newer fire replaces it (overlap: replace)", at)?;
        }
        Ok(busy)
    }

    /// Keeps a row without those of its first slots that have one, from before the clock went back.
    fn keep_rest(
        &mut self,
        job: &JobId,
        row: Row,
        course: Option<&Course>,
        at: Time,
    ) -> Result<Option<ExecutionId>> {
        let mut rest = Some(row);
        while let Some(row) = rest {
            if let Some(kept) = self.keep_row(job, row.clone(), at)? {
                return Ok(Some(kept));
            }
            rest = course.and_then(|course| row.without_first(course));
        }
        Ok(None)
    }

    /// Notes that a pass was made. Where the clock went back since the pass before, the slots that are
    /// stranded ahead of it are computed anew.
    fn note_pass(&mut self, at: Time) -> Result<()> {
        let last = self.only("SELECT last_pass FROM jobs_file", (), |row| row.get::<_, Option<Millis>>(0))?;
        self.execute("UPDATE jobs_file SET last_pass = ?1", (Millis(at),))?;
        let Some(Millis(from)) = last.filter(|last| at < last.0 - CLOCK_MAY_GO_BACK) else { return Ok(()) };
        let stranded = self.rows(
            jobs_where!("j.settled > ?1 AND (j.due IS NOT NULL OR j.paused_since IS NOT NULL)"),
            (Millis(at),),
            kept::read,
        )?;
        for mut job in stranded {
            let last_in_row = self.last_in_row(&job.id, from)?;
            if let Some(definition) = &job.definition {
                job.standing.clock_went_back(definition, last_in_row, from, at);
            }
            self.save_job(&mut job, at)?;
        }
        self.tell_cron(CronEvent::ClockWentBack { from }, at)
    }

    /// The last slot up to an instant that a row of a job stands for. What lies behind it is of a clock that
    /// was ahead another time.
    fn last_in_row(&self, job: &JobId, until: Time) -> Result<Option<Time>> {
        let last = "SELECT max(last_slot) FROM executions WHERE job = ?1 AND last_slot <= ?2";
        let last = self.only(last, (job, Millis(until)), |row| row.get::<_, Option<Millis>>(0))?;
        Ok(last.map(|last| last.0))
    }

    fn next_due(&self) -> Result<Option<Time>> {
        let next = "SELECT min(due) FROM jobs WHERE due IS NOT NULL";
        Ok(self.only(next, (), |row| row.get::<_, Option<Millis>>(0))?.map(|due| due.0))
    }

    pub(super) fn run_job_now(&mut self, id: &JobId, counting: Counting, at: Time) -> Result<RunAsked> {
        let mut job = self.job_in_file(id)?;
        let Some(definition) = job.definition.as_ref().filter(|_| job.standing.trouble.is_empty()) else {
            let why = job.standing.trouble.join("; ");
            return Err(nothing_to(format!("job {id} can't be used: {why}")));
        };
        let open = self.open_executions(id)?;
        let replaced = match asked(definition.overlap, &open) {
            Asked::Waits { replaced } => self.replace(id, replaced, &open, at)?,
            Asked::Refused(execution) => return self.let_held_go(id, execution, at),
        };
        if counting == Counting::Counts {
            job.standing.count_run(definition);
        }
        let execution = ExecutionId(self.insert(
            "INSERT INTO executions (job, how, state, counts, taken_at) VALUES (?1, ?2, 'waiting', ?3, ?4)",
            (id, How::RunNow, counting == Counting::Counts, Millis(at)),
        )?);
        let fired = JobEvent::Fired { execution, slots: None, how: How::RunNow, gate: self.gate()? };
        self.tell_job(id, fired, at)?;
        self.save_job(&mut job, at)?;
        let lifts = self.limit_of_job(id, at)?.map(|(_, reached)| reached);
        Ok(RunAsked { execution, replaced, lifts })
    }

    /// Lets a run go that waits for the next day, where another is asked for and it is in the way.
    fn let_held_go(&mut self, id: &JobId, execution: ExecutionId, at: Time) -> Result<RunAsked> {
        let found = self.execution(execution)?;
        if found.as_ref().is_none_or(|found| found.held().is_none()) {
            return Err(in_its_way(id, execution, found.and_then(|found| found.claim), at));
        }
        let limit = self.limit_of_job(id, at)?;
        if let Some((rules, _)) = &limit {
            self.let_go(rules, &Scope::Job(id.clone()), at)?;
        }
        self.execute("UPDATE executions SET why = NULL WHERE id = ?1", (execution,))?;
        self.tell_job(id, JobEvent::LetGo { execution }, at)?;
        Ok(RunAsked { execution, replaced: Vec::new(), lifts: limit.map(|(_, reached)| reached) })
    }

    pub(super) fn withdraw_execution(&mut self, execution: ExecutionId, at: Time) -> Result<()> {
        let waiting = self.execution(execution)?.filter(|it| it.state == ExecutionState::Waiting);
        let Some(Execution { job, .. }) = waiting else {
            return Err(nothing_to(format!("run {execution} does not wait any more")));
        };
        self.drop_fire(&job, execution, "the operator withdrew it before it began", at)?;
        match self.kept_job(&job)? {
            Some(mut job) => self.save_job(&mut job, at),
            None => Ok(()),
        }
    }

    pub(super) fn pause_job(&mut self, id: &JobId, why: Option<&str>, at: Time) -> Result<()> {
        let mut job = self.job_in_file(id)?;
        let Some(news) = job.standing.pause(why, at) else {
            return Err(nothing_to(format!("job {id} is paused already")));
        };
        self.tell_job(id, news, at)?;
        self.save_job(&mut job, at)
    }

    pub(super) fn resume_job(&mut self, id: &JobId, at: Time) -> Result<()> {
        let mut job = self.job_in_file(id)?;
        let Some(change) = job.standing.resume(job.definition.as_ref(), at) else {
            return Err(nothing_to(format!("job {id} is not paused")));
        };
        self.keep_change(id, change, at)?;
        self.save_job(&mut job, at)
    }
}

fn in_its_way(id: &JobId, execution: ExecutionId, claim: Option<Claim>, at: Time) -> StoreError {
    let holder = claim.map_or(", which has not begun".to_owned(), |claim| {
        let seconds = (at - claim.since).num_seconds().max(0);
        format!(", claimed by {} {seconds} s ago", claim.holder())
    });
    nothing_to(format!("job {id} has run {execution} already{holder} (overlap: skip)"))
}
