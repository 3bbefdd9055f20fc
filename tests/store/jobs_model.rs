//! Scheduled tasks of the model.
#![allow(unused_imports)]
use super::model::Model;
use std::collections::BTreeSet;

use chrono_tz::Tz;

use switchboard::domain::Time;
use switchboard::domain::api::{FileTrouble, JobFound, JobsPage, TimelineRow};
use switchboard::domain::cron::{Claim, ClaimKey, Counting, Delivery, DeliveryState, Execution, JobId};
use switchboard::domain::id::ExecutionId;
use switchboard::domain::turn::Begun;
use switchboard::store::*;

impl JobTransitions for Model {
    fn sync_jobs(&mut self, _seen: &JobsSeen) -> Result<Synced> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn jobs_unreadable(&mut self, _trouble: &FileTrouble, _at: Time) -> Result<()> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn fire_due(&mut self, _tick: &Tick) -> Result<Ticked> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn run_job_now(&mut self, _job: &JobId, _counting: Counting, _at: Time) -> Result<ExecutionId> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn claim_execution(&mut self, _claim: &NewClaim) -> Result<Option<Claimed>> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn begin_execution(&mut self, _claim: &ClaimKey, _at: Time) -> Result<Held> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn begin_run_turn(&mut self, _turn: &RunTurn) -> Result<Option<Begun>> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn beat_execution(&mut self, _claim: &ClaimKey, _at: Time) -> Result<Held> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn end_execution(&mut self, _end: &ExecutionEnd) -> Result<Held> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn settle_delivery(
        &mut self,
        _execution: ExecutionId,
        _place: usize,
        _state: DeliveryState,
        _words: Option<&str>,
        _at: Time,
    ) -> Result<()> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn free_executions(&mut self, _dead: &BTreeSet<ClaimKey>, _heir: &NewClaim) -> Result<Vec<Claimed>> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn pause_job(&mut self, _job: &JobId, _why: Option<&str>, _at: Time) -> Result<()> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn resume_job(&mut self, _job: &JobId, _at: Time) -> Result<()> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn prune_jobs(&mut self, _before: Time, _keep: usize) -> Result<usize> {
        Err(switchboard::store::StoreError::Closed)
    }
}

impl JobQueries for Model {
    fn jobs(&self, _filter: &str, _limit: usize, _at: Time) -> Result<JobsPage> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn job(&self, _wanted: &str, _zone: Tz, _at: Time) -> Result<JobFound> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn stored_records(&self) -> Result<Vec<String>> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn executions(
        &self,
        _job: Option<&JobId>,
        _before: Option<ExecutionId>,
        _limit: usize,
    ) -> Result<Vec<Execution>> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn execution(&self, _id: ExecutionId) -> Result<Option<Execution>> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn open_claims(&self) -> Result<Vec<(ClaimKey, Claim)>> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn pending_deliveries(&self, _limit: usize) -> Result<Vec<(ExecutionId, usize, Delivery)>> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn timeline(&self, _from: Time, _until: Time, _limit: usize, _zone: Tz) -> Result<Vec<TimelineRow>> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn newest_outputs(&self, _jobs: &[JobId]) -> Result<Vec<(JobId, String)>> {
        Err(switchboard::store::StoreError::Closed)
    }

    fn next_due(&self) -> Result<NextDue> {
        Err(switchboard::store::StoreError::Closed)
    }
}
