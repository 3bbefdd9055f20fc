//! What restart recovery did: the history of starts, and the sessions of one of them.

use chrono::TimeDelta;
use rusqlite::{Params, Row};

use super::super::columns::{kept_json, named_marker, optional_time, outcome, time};
use super::super::sql::at_most;
use super::Reader;
use crate::domain::api::{RecoveryPage, RecoveryRow, StartRow};
use crate::domain::event::excerpt;
use crate::domain::id::{RunId, SessionKey, TurnId};
use crate::domain::recovery::{Aftermath, Due, RecoveryState, Verdict};
use crate::domain::turn::Outcome;
use crate::store::Result;

macro_rules! starts {
    ($which:literal) => {
        concat!(
            "SELECT n, id, pid, version, started_at, ended_at, exit, guard, in_row,
                 (SELECT count(*) FROM recoveries WHERE run = n
                      AND json_extract(verdict, '$.verdict') = 'pending') AS pending,
                 (SELECT count(*) FROM recoveries WHERE run = n AND turn IS NOT NULL) AS resumed,
                 (SELECT count(*) FROM recoveries WHERE run = n
                      AND json_extract(verdict, '$.verdict') = 'owes_nothing') AS owed_nothing,
                 (SELECT count(*) FROM recoveries WHERE run = n
                      AND json_extract(verdict, '$.verdict') = 'suspend') AS given_up,
                 (SELECT json_group_array(job) FROM (
                      SELECT job FROM executions WHERE cut_with = (
                          SELECT before.id FROM runs before WHERE before.n = runs.n - 1)
                      ORDER BY id)) AS cut_jobs
             FROM runs ",
            $which
        )
    };
}

macro_rules! sessions {
    ($verdict:literal, $from:literal) => {
        concat!(
            "SELECT s.id, s.key, s.title, s.marker, s.marker_reason, s.marker_since, s.last_error,
                 s.resume_place IS NOT NULL AS due, ",
            held_by!(),
            ", s.running_turn, now.began_at AS running_since,
                 resume.id AS resume, resume.state AS turn_state, resume.error, resume.end_cause,
                 h.freshness_seconds, ",
            $verdict,
            $from,
            " LEFT JOIN turns now ON now.id = s.running_turn CROSS JOIN house h "
        )
    };
}

/// What a start decided.
const JUDGED: &str = concat!(
    sessions!(
        "r.verdict, r.cuts AS counted, r.message, r.tool, r.cleared, r.ended_at AS closed_at ",
        "FROM recoveries r JOIN sessions s ON s.id = r.session LEFT JOIN turns resume ON resume.id = r.turn"
    ),
    "WHERE r.run = ?1 ORDER BY r.id LIMIT ?2"
);

/// The sessions that carry a marker and were not given it by this start. What was cut off is told by the
/// start that marked them; what a drain cut since is their last turn.
const MARKED: &str = concat!(
    sessions!(
        "NULL AS verdict, s.cuts AS counted, r.tool, NULL AS cleared, NULL AS closed_at,
             coalesce(r.message,
                 (SELECT i.text FROM turns t JOIN items i ON i.id = t.item
                  WHERE t.id = s.last_turn AND t.state <> 'done' AND i.source <> 'recovery'
                      AND s.marker = 'resume_pending')) AS message ",
        "FROM sessions s LEFT JOIN recoveries r ON r.session = s.id AND r.ended_at IS NULL
             LEFT JOIN turns resume ON resume.id IS NULL"
    ),
    "WHERE s.marker IS NOT NULL AND s.ended_at IS NULL AND NOT EXISTS (
         SELECT 1 FROM recoveries WHERE session = s.id AND ended_at IS NULL AND run = ?1)
     ORDER BY s.marker, s.last_activity_at, s.id LIMIT ?2"
);

impl Reader<'_> {
    pub(super) fn recovery(&self, start: Option<&RunId>, limit: usize) -> Result<RecoveryPage> {
        let starts = self.rows(starts!("ORDER BY n DESC LIMIT ?1"), (at_most(limit),), numbered_start)?;
        let chosen = match start {
            Some(run) => self.first(starts!("WHERE id = ?1"), (run,), numbered_start)?,
            None => self.first(starts!("ORDER BY n DESC LIMIT 1"), (), numbered_start)?,
        };
        let mut sessions = Vec::new();
        if let Some((n, _)) = &chosen {
            let newest: i64 = self.only("SELECT max(n) FROM runs", (), |row| row.get(0))?;
            sessions = self.recovery_rows(JUDGED, (n, at_most(limit)))?;
            if *n == newest {
                sessions.extend(self.recovery_rows(MARKED, (n, at_most(limit - sessions.len().min(limit))))?);
            }
        }
        let (max_cuts, boot_guard_starts) =
            self.only("SELECT max_cuts, guard_starts FROM house", (), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(RecoveryPage {
            starts: starts.into_iter().map(|(_, start)| start).collect(),
            chosen: chosen.map(|(_, start)| start),
            sessions,
            max_cuts,
            boot_guard_starts,
            died: None,
        })
    }

    fn recovery_rows(&self, sql: &str, params: impl Params) -> Result<Vec<RecoveryRow>> {
        self.rows(sql, params, recovery_row)
    }
}

fn numbered_start(row: &Row<'_>) -> rusqlite::Result<(i64, StartRow)> {
    let start = StartRow {
        run: RunId(row.get("id")?),
        pid: row.get("pid")?,
        version: row.get("version")?,
        started_at: time(row, "started_at")?,
        ended_at: optional_time(row, "ended_at")?,
        exit: kept_json(row, "exit")?,
        guard: kept_json(row, "guard")?.unwrap_or_default(),
        in_row: row.get("in_row")?,
        pending: row.get("pending")?,
        resumed: row.get("resumed")?,
        owed_nothing: row.get("owed_nothing")?,
        given_up: row.get("given_up")?,
        cut_jobs: kept_json(row, "cut_jobs")?.unwrap_or_default(),
    };
    Ok((row.get("n")?, start))
}

fn recovery_row(row: &Row<'_>) -> rusqlite::Result<RecoveryRow> {
    let key: SessionKey = row.get("key")?;
    let title: Option<String> = row.get("title")?;
    let marker = named_marker(row)?;
    let running = row.get::<_, Option<TurnId>>("running_turn")?;
    let closed_at = optional_time(row, "closed_at")?;
    let verdict: Option<Verdict> = kept_json(row, "verdict")?;
    let freshness = TimeDelta::seconds(row.get("freshness_seconds")?);
    let unjudged = marker.filter(|_| verdict.is_none());
    let cleared = kept_json(row, "cleared")?;
    let aftermath = Aftermath {
        resume: resume(row)?,
        running: running
            .map(|turn| Ok::<_, rusqlite::Error>((turn, time(row, "running_since")?)))
            .transpose()?,
        ended: closed_at.map(|at| (cleared, at)),
        marker,
        due: if row.get("due")? { Due::Yes } else { Due::No },
        hold: row.get("hold_reason")?,
        unjudged_until: unjudged.and_then(|marker| marker.since().checked_add_signed(freshness)),
    };
    let message: Option<String> = row.get("message")?;
    Ok(RecoveryRow {
        session: row.get("id")?,
        name: title.unwrap_or_else(|| key.parts().chat_id.to_owned()),
        key,
        verdict,
        cuts: row.get("counted")?,
        message: message.as_deref().map(excerpt),
        tool: row.get("tool")?,
        marker,
        last_error: row.get("last_error")?,
        state: RecoveryState::of(&aftermath),
    })
}

fn resume(row: &Row<'_>) -> rusqlite::Result<Option<(TurnId, Outcome)>> {
    let Some(turn) = row.get("resume")? else { return Ok(None) };
    Ok(Some((turn, outcome(row)?)))
}
