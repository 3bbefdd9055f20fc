//! Deliveries: where a result goes, and what became of it there.

use rusqlite::params;

use super::super::super::columns::{Millis, from_json, json};
use super::super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::cron::{Delivery, DeliveryState, JobEvent, JobId, Target};
use crate::domain::event::EventKind;
use crate::domain::id::ExecutionId;
use crate::store::{Post, Result};

impl Tx<'_> {
    pub(super) fn add_deliveries(
        &mut self,
        job: &JobId,
        execution: ExecutionId,
        deliveries: &[Delivery],
    ) -> Result<()> {
        for (place, Delivery { target, state, at, why }) in deliveries.iter().enumerate() {
            self.execute(
                "INSERT INTO deliveries (execution, place, target, state, at, why)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![execution, place, json(target)?, state, Millis(*at), why],
            )?;
            if *state != DeliveryState::Pending {
                let (target, words) = (target.clone(), why.clone());
                self.tell_job(job, JobEvent::Delivery { execution, target, state: *state, words }, *at)?;
            }
        }
        Ok(())
    }

    pub(super) fn settle_delivery(
        &mut self,
        execution: ExecutionId,
        place: usize,
        state: DeliveryState,
        words: Option<&str>,
        post: Option<&Post>,
        at: Time,
    ) -> Result<()> {
        let why = words.filter(|_| state != DeliveryState::Delivered);
        let settled = self.first(
            "UPDATE deliveries SET state = ?3, at = ?4, why = ?5
             WHERE execution = ?1 AND place = ?2 AND state = 'pending' RETURNING target,
                 (SELECT job FROM executions WHERE id = ?1)",
            params![execution, place, state, Millis(at), why],
            |row| Ok((from_json::<Target>(row, "target")?, row.get::<_, JobId>(1)?)),
        )?;
        let Some((target, job)) = settled else {
            return Err(nothing_to(format!(
                "run {execution} has no delivery {place} that is still to be made"
            )));
        };
        let words = words.map(str::to_owned);
        let news = JobEvent::Delivery { execution, target, state, words };
        match post {
            Some(post) => self.post(post, EventKind::Job { job, what: news }, at),
            None => self.tell_job(&job, news, at),
        }
    }
}
