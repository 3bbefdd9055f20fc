//! What happened since a time, counted over ranges of indexes.

use super::super::columns::{Millis, from_json, optional_time};
use super::Reader;
use crate::domain::Time;
use crate::domain::api::Report;
use crate::domain::event::EventKind;
use crate::domain::id::Seq;
use crate::domain::session::Usage;
use crate::domain::turn::{StopCause, TurnState};
use crate::store::Result;

/// The turns that ended at an event or later, by how they ended.
const ENDED: &str = "
    SELECT t.state, t.end_cause, count(*) AS turns, sum(i.source = 'recovery') AS resumed,
        sum(t.input_tokens) AS input, sum(t.output_tokens) AS output,
        sum(t.cache_read_tokens) AS cache_read, sum(t.cache_write_tokens) AS cache_write,
        sum(t.cost) AS cost
    FROM turns t JOIN items i ON i.id = t.item
    WHERE t.ended_seq IS NOT NULL AND t.ended_seq >= ?1 GROUP BY t.state, t.end_cause";

/// What was put aside, refused or given up, out of the index of warnings.
const WARNED: &str = "
    SELECT coalesce(sum(event = 'superseded'), 0) AS replaced, coalesce(sum(event = 'refused'), 0) AS refused,
        coalesce(sum(event = 'cleared'), 0) AS cleared, coalesce(sum(event = 'queue_held'), 0) AS held,
        coalesce(sum(event = 'session_marked' AND marker = 'suspended'), 0) AS given_up,
        coalesce(sum(event = 'approval_settled' AND decision = 'timed_out'), 0) AS unanswered,
        coalesce(sum(event = 'approval_settled' AND decision = 'nobody_to_ask'), 0) AS not_asked
    FROM (SELECT json_extract(kind, '$.event') AS event, json_extract(kind, '$.marker.marker') AS marker,
              json_extract(kind, '$.verdict.decision') AS decision
          FROM events WHERE level >= 2 AND seq >= ?1)";

/// What was told of runs and of slots, out of the index of what was told of jobs.
const OF_JOBS: &str = "
    SELECT kind FROM events INDEXED BY job_events
    WHERE job IS NOT NULL AND seq >= ?1 AND json_extract(kind, '$.what') IN ('run_ended', 'not_run', 'fired')";

impl Reader<'_> {
    /// `since` none: since a console was last looked at.
    pub(super) fn report(&self, since: Option<Time>) -> Result<Report> {
        let looked = || self.only("SELECT looked_at FROM house", (), |row| optional_time(row, "looked_at"));
        let Some(since) = since.map_or_else(looked, |since| Ok(Some(since)))? else {
            return Ok(Report::default());
        };
        let mut report = Report { since: Some(since), ..Report::default() };
        let first = self.first_event_since(since)?;
        self.count_turns(&mut report, first)?;
        self.only(WARNED, (first,), |row| {
            report.replaced = row.get("replaced")?;
            report.refused = row.get("refused")?;
            report.cleared = row.get("cleared")?;
            report.held = row.get("held")?;
            report.given_up = row.get("given_up")?;
            report.unanswered = row.get("unanswered")?;
            report.not_asked = row.get("not_asked")?;
            Ok(())
        })?;
        for event in self.rows(OF_JOBS, (first,), |row| from_json::<EventKind>(row, "kind"))? {
            if let EventKind::Job { what, .. } = event {
                report.jobs.count(&what);
            }
        }
        (report.starts, report.after_crash) = self.only(
            "SELECT count(*), coalesce(sum(json_extract(exit, '$.exit') = 'unclean'), 0)
             FROM runs WHERE started_at >= ?1",
            (Millis(since),),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok(report)
    }

    fn count_turns(&self, report: &mut Report, first: Seq) -> Result<()> {
        let ended = self.rows(ENDED, (first,), |row| {
            let usage = Usage {
                input: row.get("input")?,
                output: row.get("output")?,
                cache_read: row.get("cache_read")?,
                cache_write: row.get("cache_write")?,
                cost: row.get("cost")?,
            };
            let how: (TurnState, Option<StopCause>) = (row.get("state")?, row.get("end_cause")?);
            Ok((how, row.get::<_, usize>("turns")?, row.get::<_, usize>("resumed")?, usage))
        })?;
        for ((state, cause), turns, resumed, usage) in ended {
            report.resumed += resumed;
            report.usage.add(&usage);
            *match (state, cause) {
                (TurnState::Done | TurnState::Running, _) => &mut report.answered,
                (TurnState::Failed, _) => &mut report.failed,
                (
                    TurnState::Interrupted,
                    Some(StopCause::Crash | StopCause::Shutdown | StopCause::HandleLost),
                ) => &mut report.cut_off,
                (TurnState::Interrupted, _) => &mut report.stopped,
            } += turns;
        }
        Ok(())
    }

    /// The first event at a time or later. Numbers grow with time, so halving finds it: an index by time
    /// would be one more page to write in every commit.
    fn first_event_since(&self, since: Time) -> Result<Seq> {
        let (mut low, mut high): (i64, i64) = self.only(
            "SELECT coalesce((SELECT min(seq) FROM events), 0), coalesce((SELECT max(seq) FROM events), 0) + 1",
            (),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        while low < high {
            let middle = low + (high - low) / 2;
            let found = self.first(
                "SELECT seq, at FROM events WHERE seq >= ?1 ORDER BY seq LIMIT 1",
                (middle,),
                |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Millis>(1)?.0)),
            )?;
            match found {
                Some((seq, at)) if at < since => low = seq + 1,
                _ => high = middle,
            }
        }
        Ok(Seq(low))
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::{ENDED, OF_JOBS, WARNED};

    #[test]
    fn a_report_reads_from_the_first_event_on_and_nothing_that_was_told_before() {
        for (question, found) in [
            (OF_JOBS, "SEARCH events USING INDEX job_events (seq>?)"),
            (WARNED, "SEARCH events USING INDEX"),
            (ENDED, "SEARCH t USING INDEX"),
        ] {
            let plan = plan(question);
            assert!(plan.contains(found), "{plan}");
        }
    }
}
