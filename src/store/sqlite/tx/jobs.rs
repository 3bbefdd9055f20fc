//! Scheduled tasks.

#![allow(unused_imports)]
use super::Tx;
use std::collections::BTreeSet;

use chrono_tz::Tz;

use crate::domain::Time;
use crate::domain::api::{FileTrouble, JobFound, JobsPage, TimelineRow};
use crate::domain::cron::{Claim, ClaimKey, Counting, Delivery, DeliveryState, Execution, JobId};
use crate::domain::id::ExecutionId;
use crate::domain::turn::Begun;
use crate::store::*;

impl JobTransitions for Tx<'_> {
    fn sync_jobs(&mut self, _seen: &JobsSeen) -> Result<Synced> {
        Err(crate::store::StoreError::Closed)
    }

    fn jobs_unreadable(&mut self, _trouble: &FileTrouble, _at: Time) -> Result<()> {
        Err(crate::store::StoreError::Closed)
    }

    fn fire_due(&mut self, _tick: &Tick) -> Result<Ticked> {
        Err(crate::store::StoreError::Closed)
    }

    fn run_job_now(&mut self, _job: &JobId, _counting: Counting, _at: Time) -> Result<ExecutionId> {
        Err(crate::store::StoreError::Closed)
    }

    fn claim_execution(&mut self, _claim: &NewClaim) -> Result<Option<Claimed>> {
        Err(crate::store::StoreError::Closed)
    }

    fn begin_execution(&mut self, _claim: &ClaimKey, _at: Time) -> Result<Held> {
        Err(crate::store::StoreError::Closed)
    }

    fn begin_run_turn(&mut self, _turn: &RunTurn) -> Result<Option<Begun>> {
        Err(crate::store::StoreError::Closed)
    }

    fn beat_execution(&mut self, _claim: &ClaimKey, _at: Time) -> Result<Held> {
        Err(crate::store::StoreError::Closed)
    }

    fn end_execution(&mut self, _end: &ExecutionEnd) -> Result<Held> {
        Err(crate::store::StoreError::Closed)
    }

    fn settle_delivery(
        &mut self,
        _execution: ExecutionId,
        _place: usize,
        _state: DeliveryState,
        _words: Option<&str>,
        _at: Time,
    ) -> Result<()> {
        Err(crate::store::StoreError::Closed)
    }

    fn free_executions(&mut self, _dead: &BTreeSet<ClaimKey>, _heir: &NewClaim) -> Result<Vec<Claimed>> {
        Err(crate::store::StoreError::Closed)
    }

    fn pause_job(&mut self, _job: &JobId, _why: Option<&str>, _at: Time) -> Result<()> {
        Err(crate::store::StoreError::Closed)
    }

    fn resume_job(&mut self, _job: &JobId, _at: Time) -> Result<()> {
        Err(crate::store::StoreError::Closed)
    }

    fn prune_jobs(&mut self, _before: Time, _keep: usize) -> Result<usize> {
        Err(crate::store::StoreError::Closed)
    }
}
