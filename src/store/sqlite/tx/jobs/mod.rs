//! Scheduled tasks: their records, their slots, their runs.

mod claims;
mod deliveries;
mod fire;
mod free;
mod kept;
mod prune;
mod rename;
mod runs;
mod sync;

pub(in crate::store::sqlite) use kept::standing as job_standing;

use std::collections::BTreeSet;

use super::Tx;
use crate::domain::Time;
use crate::domain::api::FileTrouble;
use crate::domain::cron::{ClaimKey, Counting, CronEvent, DeliveryState, JobId};
use crate::domain::id::ExecutionId;
use crate::domain::turn::Begun;
use crate::store::{
    Claimed, ExecutionEnd, Held, JobTransitions, JobsSeen, NewClaim, Post, Result, RunAsked, RunTurn, Synced,
    Tick, Ticked,
};

/// The table of contents: each transition is written in the file of its subject.
impl JobTransitions for Tx<'_> {
    fn sync_jobs(&mut self, seen: &JobsSeen) -> Result<Synced> {
        self.sync_jobs(seen)
    }

    fn rename_job(&mut self, from: &JobId, to: &JobId, at: Time) -> Result<()> {
        self.rename_job(from, to, at)
    }

    fn jobs_unreadable(&mut self, trouble: &FileTrouble, at: Time) -> Result<()> {
        self.jobs_unreadable(trouble, at)
    }

    fn fire_due(&mut self, tick: &Tick) -> Result<Ticked> {
        self.fire_due(tick)
    }

    fn run_job_now(&mut self, job: &JobId, counting: Counting, at: Time) -> Result<RunAsked> {
        self.run_job_now(job, counting, at)
    }

    fn withdraw_execution(&mut self, execution: ExecutionId, at: Time) -> Result<()> {
        self.withdraw_execution(execution, at)
    }

    fn claim_execution(&mut self, claim: &NewClaim) -> Result<Option<Claimed>> {
        self.claim_execution(claim)
    }

    fn begin_execution(&mut self, claim: &ClaimKey, at: Time) -> Result<Held> {
        self.begin_execution(claim, at)
    }

    fn begin_run_turn(&mut self, turn: &RunTurn) -> Result<Option<Begun>> {
        self.begin_run_turn(turn)
    }

    fn beat_execution(&mut self, claim: &ClaimKey, at: Time) -> Result<Held> {
        self.beat_execution(claim, at)
    }

    fn end_execution(&mut self, end: &ExecutionEnd) -> Result<Held> {
        self.end_execution(end)
    }

    fn settle_delivery(
        &mut self,
        execution: ExecutionId,
        place: usize,
        state: DeliveryState,
        words: Option<&str>,
        post: Option<&Post>,
        at: Time,
    ) -> Result<()> {
        self.settle_delivery(execution, place, state, words, post, at)
    }

    fn tell_cron(&mut self, what: CronEvent, at: Time) -> Result<()> {
        self.tell_cron(what, at)
    }

    fn free_executions(&mut self, dead: &BTreeSet<ClaimKey>, heir: &NewClaim) -> Result<Vec<Claimed>> {
        self.free_executions(dead, heir)
    }

    fn pause_job(&mut self, job: &JobId, why: Option<&str>, at: Time) -> Result<()> {
        self.pause_job(job, why, at)
    }

    fn resume_job(&mut self, job: &JobId, at: Time) -> Result<()> {
        self.resume_job(job, at)
    }

    fn prune_jobs(&mut self, before: Time, keep: usize) -> Result<usize> {
        self.prune_jobs(before, keep)
    }
}
