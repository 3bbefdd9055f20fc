//! Alerts: those that are open, and those that the alert command tells next.

use super::super::columns;
use super::super::sql::at_most;
use super::Reader;
use crate::domain::alert::Alert;
use crate::store::Result;

impl Reader<'_> {
    pub(super) fn alerts(&self, limit: usize) -> Result<Vec<Alert>> {
        self.rows(
            "SELECT * FROM alerts WHERE resolved_at IS NULL ORDER BY raised_at DESC, key LIMIT ?1",
            (at_most(limit),),
            columns::alert,
        )
    }

    pub(super) fn alerts_to_tell(&self, limit: usize) -> Result<Vec<Alert>> {
        self.rows(
            "SELECT * FROM alerts WHERE to_tell = 1
             ORDER BY news <= told_news, tried_at, raised_at, key LIMIT ?1",
            (at_most(limit),),
            columns::alert,
        )
    }
}
