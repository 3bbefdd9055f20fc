//! A job that gets another id, with all that is known of it.

use super::super::{Tx, nothing_to};
use crate::domain::Time;
use crate::domain::alert::AlertKey;
use crate::domain::cron::{JobEvent, JobId};
use crate::store::Result;

impl Tx<'_> {
    pub(super) fn rename_job(&mut self, from: &JobId, to: &JobId, at: Time) -> Result<()> {
        let job = self.job_in_file(from)?;
        if self.kept_job(to)?.is_some() {
            return Err(nothing_to(format!("job {to} is known already")));
        }
        let name = job.definition.and_then(|definition| definition.name).unwrap_or_else(|| to.to_string());
        self.execute("UPDATE jobs SET id = ?2, name = ?3 WHERE id = ?1", (from, to, name))?;
        self.execute("UPDATE job_records SET job = ?2 WHERE job = ?1", (from, to))?;
        self.execute("UPDATE executions SET job = ?2 WHERE job = ?1", (from, to))?;
        if let (Ok(before), Ok(now)) = (from.session_key(), to.session_key()) {
            self.move_sessions(&before, &now)?;
        }
        for key in AlertKey::OF_JOBS {
            self.rename_alert(&key(from), &key(to), to)?;
        }
        self.tell_job(to, JobEvent::Renamed { from: from.clone() }, at)
    }
}
