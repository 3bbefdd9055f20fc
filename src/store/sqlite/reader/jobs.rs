//! Scheduled tasks.

#![allow(unused_imports)]
use super::Reader;
use std::collections::BTreeSet;

use chrono_tz::Tz;

use crate::domain::Time;
use crate::domain::api::{FileTrouble, JobFound, JobsPage, TimelineRow};
use crate::domain::cron::{Claim, ClaimKey, Counting, Delivery, DeliveryState, Execution, JobId};
use crate::domain::id::ExecutionId;
use crate::domain::turn::Begun;
use crate::store::*;

impl JobQueries for Reader<'_> {
    fn jobs(&self, _filter: &str, _limit: usize, _at: Time) -> Result<JobsPage> {
        Err(crate::store::StoreError::Closed)
    }

    fn job(&self, _wanted: &str, _zone: Tz, _at: Time) -> Result<JobFound> {
        Err(crate::store::StoreError::Closed)
    }

    fn stored_records(&self) -> Result<Vec<String>> {
        Err(crate::store::StoreError::Closed)
    }

    fn executions(
        &self,
        _job: Option<&JobId>,
        _before: Option<ExecutionId>,
        _limit: usize,
    ) -> Result<Vec<Execution>> {
        Err(crate::store::StoreError::Closed)
    }

    fn execution(&self, _id: ExecutionId) -> Result<Option<Execution>> {
        Err(crate::store::StoreError::Closed)
    }

    fn open_claims(&self) -> Result<Vec<(ClaimKey, Claim)>> {
        Err(crate::store::StoreError::Closed)
    }

    fn pending_deliveries(&self, _limit: usize) -> Result<Vec<(ExecutionId, usize, Delivery)>> {
        Err(crate::store::StoreError::Closed)
    }

    fn timeline(&self, _from: Time, _until: Time, _limit: usize, _zone: Tz) -> Result<Vec<TimelineRow>> {
        Err(crate::store::StoreError::Closed)
    }

    fn newest_outputs(&self, _jobs: &[JobId]) -> Result<Vec<(JobId, String)>> {
        Err(crate::store::StoreError::Closed)
    }

    fn next_due(&self) -> Result<NextDue> {
        Err(crate::store::StoreError::Closed)
    }
}
