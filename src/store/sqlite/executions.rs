//! Executions as rows: read whole, with their claims and deliveries.

use rusqlite::Row;
use serde::Deserialize;

use super::columns::{from_json, kept_json, optional_time, time};
use crate::domain::Time;
use crate::domain::cron::{Claim, Delivery, DeliveryState, Execution, Slots, Target};
use crate::domain::id::RunId;

macro_rules! executions_where {
    ($condition:literal) => {
        concat!(
            "SELECT e.*,
                 (SELECT json_group_array(json_object('target', json(target), 'state', state, 'at', at, 'why', why))
                  FROM (SELECT * FROM deliveries WHERE execution = e.id ORDER BY place)) AS deliveries
             FROM executions e WHERE ",
            $condition
        )
    };
}
pub(super) use executions_where;

/// Reads a row of [`executions_where`].
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Execution> {
    let deliveries: Vec<KeptDelivery> = from_json(row, "deliveries")?;
    Ok(Execution {
        id: row.get("id")?,
        job: row.get("job")?,
        slots: slots(row)?,
        how: row.get("how")?,
        state: row.get("state")?,
        taken_at: time(row, "taken_at")?,
        began_at: optional_time(row, "began_at")?,
        ended_at: optional_time(row, "ended_at")?,
        why: row.get("why")?,
        attempt: row.get("attempt")?,
        claim: claim(row)?,
        session: row.get("session")?,
        turn: row.get("turn")?,
        output: row.get("output")?,
        deliveries: deliveries.into_iter().map(Delivery::from).collect(),
        cut_with: row.get::<_, Option<_>>("cut_with")?.map(RunId),
    })
}

/// Reads the claim from a row with all columns of `executions`.
pub(super) fn claim(row: &Row<'_>) -> rusqlite::Result<Option<Claim>> {
    let Some(owner) = kept_json(row, "owner")? else { return Ok(None) };
    Ok(Some(Claim {
        owner,
        token: row.get("token")?,
        since: time(row, "claimed_at")?,
        beat_at: time(row, "beat_at")?,
        expires_at: time(row, "expires_at")?,
    }))
}

/// Reads a delivery from a row with all columns of `deliveries`.
pub(super) fn delivery(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    Ok(Delivery {
        target: from_json(row, "target")?,
        state: row.get("state")?,
        at: time(row, "at")?,
        why: row.get("why")?,
    })
}

fn slots(row: &Row<'_>) -> rusqlite::Result<Option<Slots>> {
    let Some(first) = optional_time(row, "first_slot")? else { return Ok(None) };
    Ok(Some(Slots { first, last: time(row, "last_slot")?, count: row.get("slots")? }))
}

/// A delivery as SQLite makes JSON of its row.
#[derive(Deserialize)]
struct KeptDelivery {
    target: Target,
    state: DeliveryState,
    #[serde(with = "chrono::serde::ts_milliseconds")]
    at: Time,
    why: Option<String>,
}

impl From<KeptDelivery> for Delivery {
    fn from(KeptDelivery { target, state, at, why }: KeptDelivery) -> Self {
        Self { target, state, at, why }
    }
}
