//! Scheduled tasks, as screens and the engine read them.

use chrono_tz::Tz;
use rusqlite::Row;

use super::super::columns::{Millis, kept_json, optional_time, time};
use super::super::executions::{self, executions_where};
use super::super::sql::at_most;
use super::super::tx::job_standing;
use super::Reader;
use crate::domain::Time;
use crate::domain::alert::AlertKey;
use crate::domain::api::{
    EventPage, FileTrouble, JobDetail, JobFound, JobRow, JobState, JobsFileState, JobsPage, TickerState,
    TimelineRow,
};
use crate::domain::cron::merge::Firing;
use crate::domain::cron::{
    COMPLETED_SHOWN, Claim, ClaimKey, Definition, Delivery, Execution, JobId, JobStanding, OpenRuns,
};
use crate::domain::event::{Event, Level};
use crate::domain::id::ExecutionId;
use crate::domain::schedule::Schedule;
use crate::domain::spending::Scope;
use crate::store::{JobQueries, NextDue, Queries, Result};

/// So many executions are told with a job.
const HISTORY: usize = 50;
/// So many durations are told with a job.
const DURATIONS: usize = 12;
/// So many candidates of an ambiguous name are told.
const CANDIDATES: usize = 20;

/// A job as it is kept, with its record.
struct Found {
    id: JobId,
    place: Option<usize>,
    name: String,
    standing: JobStanding,
    open: OpenRuns,
    definition: Option<Definition>,
    record: String,
}

macro_rules! jobs_where {
    ($condition:literal) => {
        concat!(
            "SELECT j.*, r.place, r.definition, r.text,
                 (SELECT count(*) FROM executions WHERE job = j.id AND state = 'waiting'
                      AND state IN ('waiting', 'claimed', 'running')) AS waiting,
                 (SELECT count(*) FROM executions WHERE job = j.id AND state IN ('claimed', 'running')
                      AND state IN ('waiting', 'claimed', 'running')) AS busy
             FROM jobs j JOIN job_records r ON r.n = j.record WHERE ",
            $condition
        )
    };
}

/// A job that is gone from the file is listed, and found by a part of its name, while a run of it goes on, and as
/// long as somebody has yet to know of it: while its alert waits for a person. `$alert` is what the key of such an
/// alert begins with.
macro_rules! there_or_missed {
    ($alert:literal) => {
        concat!(
            "(vanished_at IS NULL OR EXISTS (SELECT 1 FROM alerts WHERE key = ",
            $alert,
            " || jobs.id AND resolved_at IS NULL AND acknowledged_at IS NULL)
             OR EXISTS (SELECT 1 FROM executions WHERE job = jobs.id AND state IN ('claimed', 'running')
                 AND state IN ('waiting', 'claimed', 'running')))"
        )
    };
}

impl JobQueries for Reader<'_> {
    fn jobs(&self, filter: &str, limit: usize, at: Time) -> Result<JobsPage> {
        let filter = filter.trim().to_lowercase();
        let mut rows = self.unowned_records()?;
        let listed = self.listed(at)?;
        let total = rows.len() + listed;
        rows.retain(|row| fits(&filter, &[&row.name], row.state.word()));
        let unowned = rows.len();
        rows.truncate(limit);
        let room = limit - rows.len();
        let (hits, shown) = if filter.is_empty() {
            (listed, self.listed_jobs(&filter, room, at)?)
        } else {
            let mut found = self.listed_jobs(&filter, usize::MAX, at)?;
            let hits = found.len();
            found.truncate(room);
            (hits, found)
        };
        for n in shown {
            let found = self.first(jobs_where!("j.n = ?1"), (n,), found)?;
            rows.extend(found.map(|found| self.row(&found)).transpose()?);
        }
        let ticker = TickerState { next: self.next_due()?.slot, ..TickerState::default() };
        Ok(JobsPage { rows, hits: unowned + hits, total, file: self.file_state()?, ticker })
    }

    fn job(&self, wanted: &str, zone: Tz, at: Time) -> Result<JobFound> {
        let wanted = wanted.trim();
        let exact = self.first(jobs_where!("j.id = ?1"), (wanted,), found)?;
        let mut candidates = match exact {
            Some(exact) => vec![exact],
            None => self.candidates(
                concat!(
                    "SELECT n FROM jobs WHERE name = ?1 AND ",
                    there_or_missed!("?3"),
                    " ORDER BY id LIMIT ?2"
                ),
                wanted,
            )?,
        };
        if candidates.is_empty() && !wanted.is_empty() {
            candidates = self.candidates(
                concat!(
                    "SELECT n FROM jobs WHERE substr(id, 1, length(?1)) = ?1 AND ",
                    there_or_missed!("?3"),
                    " ORDER BY id LIMIT ?2"
                ),
                wanted,
            )?;
        }
        if candidates.len() > 1 {
            return Ok(JobFound::Several {
                candidates: candidates.into_iter().map(|found| found.id).collect(),
            });
        }
        match candidates.pop() {
            Some(found) => Ok(JobFound::One(Box::new(self.detail(found, zone, at)?))),
            None => Ok(JobFound::None),
        }
    }

    fn gone_since(&self, job: &JobId) -> Result<Option<Time>> {
        let gone = "SELECT vanished_at FROM jobs WHERE id = ?1 AND vanished_at IS NOT NULL";
        self.first(gone, (job,), |row| time(row, "vanished_at"))
    }

    fn stored_records(&self) -> Result<Vec<String>> {
        self.rows("SELECT text FROM job_records WHERE place IS NOT NULL ORDER BY place", (), |row| row.get(0))
    }

    fn unwritten_switches(&self) -> Result<Vec<(JobId, Firing)>> {
        self.rows(
            "SELECT j.id, j.paused_since IS NOT NULL AS paused
             FROM jobs AS j JOIN job_records AS r ON r.n = j.record
             WHERE j.vanished_at IS NULL AND r.definition ->> '$.enabled' = (j.paused_since IS NOT NULL)
             ORDER BY j.id",
            (),
            |row| Ok((row.get(0)?, if row.get(1)? { Firing::Paused } else { Firing::On })),
        )
    }

    fn executions(
        &self,
        job: Option<&JobId>,
        before: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Execution>> {
        let (before, limit) = (before.unwrap_or(ExecutionId(i64::MAX)), at_most(limit));
        match job {
            Some(job) => self.rows(
                executions_where!("e.job = ?1 AND e.id < ?2 ORDER BY e.id DESC LIMIT ?3"),
                (job, before, limit),
                executions::read,
            ),
            None => self.rows(
                executions_where!("e.id < ?1 ORDER BY e.id DESC LIMIT ?2"),
                (before, limit),
                executions::read,
            ),
        }
    }

    fn events_of_job(&self, job: &JobId, page: EventPage, level: Level, limit: usize) -> Result<Vec<Event>> {
        self.events_of_job(job, page, level, limit)
    }

    fn execution(&self, id: ExecutionId) -> Result<Option<Execution>> {
        self.first(executions_where!("e.id = ?1"), (id,), executions::read)
    }

    fn open_claims(&self) -> Result<Vec<(ClaimKey, Claim)>> {
        let claims = self.rows(
            "SELECT * FROM executions WHERE state IN ('claimed', 'running') ORDER BY id",
            (),
            |row| Ok((row.get("id")?, executions::claim(row)?)),
        )?;
        let key = |(execution, claim): (ExecutionId, Option<Claim>)| {
            let claim = claim?;
            Some((ClaimKey { execution, token: claim.token.clone() }, claim))
        };
        Ok(claims.into_iter().filter_map(key).collect())
    }

    fn pending_deliveries(&self, limit: usize) -> Result<Vec<(ExecutionId, usize, Delivery)>> {
        self.rows(
            "SELECT * FROM deliveries WHERE state = 'pending' ORDER BY execution, place LIMIT ?1",
            (at_most(limit),),
            |row| Ok((row.get("execution")?, row.get("place")?, executions::delivery(row)?)),
        )
    }

    fn timeline(&self, from: Time, until: Time, limit: usize, _zone: Tz) -> Result<Vec<TimelineRow>> {
        let jobs = self.rows(
            jobs_where!("j.vanished_at IS NULL ORDER BY j.next IS NULL, j.next, j.id LIMIT ?1"),
            (at_most(limit),),
            found,
        )?;
        jobs.into_iter().map(|found| self.timeline_of(found, from, until, limit)).collect()
    }

    fn newest_outputs(&self, jobs: &[JobId]) -> Result<Vec<(JobId, String)>> {
        let newest = |job: &JobId| {
            let output = self.first(
                "SELECT output FROM executions WHERE job = ?1 AND state = 'succeeded' AND output IS NOT NULL
                 ORDER BY id DESC LIMIT 1",
                (job,),
                |row| row.get(0),
            );
            Ok(output?.map(|output| (job.clone(), output)))
        };
        jobs.iter().filter_map(|job| newest(job).transpose()).collect()
    }

    fn next_due(&self) -> Result<NextDue> {
        self.only(
            "SELECT (SELECT min(due) FROM jobs WHERE due IS NOT NULL) AS due,
                 (SELECT count(*) FROM executions WHERE state = 'waiting') AS waiting,
                 (SELECT count(*) FROM executions WHERE state IN ('claimed', 'running')) AS busy",
            (),
            |row| {
                Ok(NextDue {
                    slot: optional_time(row, "due")?,
                    waiting: row.get("waiting")?,
                    busy: row.get("busy")?,
                })
            },
        )
    }
}

impl Reader<'_> {
    /// Jobs by a query for their numbers, given a name, a limit and what the keys of vanished jobs begin with.
    fn candidates(&self, numbers: &str, wanted: &str) -> Result<Vec<Found>> {
        let given = (wanted, at_most(CANDIDATES), AlertKey::VANISHED_JOB);
        let numbers: Vec<i64> = self.rows(numbers, given, |row| row.get(0))?;
        let found = numbers.into_iter().map(|n| self.first(jobs_where!("j.n = ?1"), (n,), found));
        found.filter_map(Result::transpose).collect()
    }

    /// How many jobs a list without a filter has: those completed long ago, and those that are known to be
    /// gone and have no run, are not in it.
    fn listed(&self, at: Time) -> Result<usize> {
        self.only(
            concat!(
                "SELECT count(*) FROM jobs WHERE (completed_at IS NULL OR completed_at >= ?1 OR rank <> ?2) AND ",
                there_or_missed!("?3")
            ),
            (Millis(at - COMPLETED_SHOWN), JobState::Completed { at }.rank(), AlertKey::VANISHED_JOB),
            |row| row.get(0),
        )
    }

    /// Those that fit a filter among the first jobs of the list; at most so many are looked at.
    fn listed_jobs(&self, filter: &str, limit: usize, at: Time) -> Result<Vec<i64>> {
        let found = self.rows(
            concat!(
                "SELECT id, name, rank, n FROM jobs
                 WHERE (completed_at IS NULL OR completed_at >= ?1 OR rank <> ?2) AND ",
                there_or_missed!("?4"),
                " ORDER BY rank, next, id LIMIT ?3"
            ),
            (
                Millis(at - COMPLETED_SHOWN),
                JobState::Completed { at }.rank(),
                at_most(limit),
                AlertKey::VANISHED_JOB,
            ),
            |row| {
                let names = [row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?];
                let n = row.get(3)?;
                Ok(if fits(filter, &names, word_of_rank(row.get(2)?)) { Some(n) } else { None })
            },
        )?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Records of the file that no job has.
    fn unowned_records(&self) -> Result<Vec<JobRow>> {
        self.rows("SELECT place, faults FROM job_records WHERE job IS NULL ORDER BY place", (), |row| {
            let place: usize = row.get("place")?;
            let faults = kept_json(row, "faults")?.unwrap_or_default();
            Ok(JobRow {
                id: None,
                place,
                name: format!("record {}", place + 1),
                state: JobState::Error { faults },
                paused: None,
                schedule: String::new(),
                words: String::new(),
                zone: String::new(),
                next: None,
                running_since: None,
                last: None,
                last_run: None,
                failures: 0,
                runs_left: None,
                durations: Vec::new(),
                missing_sources: Vec::new(),
            })
        })
    }

    fn row(&self, found: &Found) -> Result<JobRow> {
        let Found { id, standing, definition, .. } = found;
        let schedule = standing.schedule.parse::<Schedule>();
        let repeat = definition.as_ref().and_then(|definition| definition.repeat);
        let mut runs = self.rows(
            executions_where!(
                "e.job = ?1 AND e.began_at IS NOT NULL AND e.ended_at IS NOT NULL ORDER BY e.id DESC LIMIT ?2"
            ),
            (id, at_most(DURATIONS)),
            executions::read,
        )?;
        let took = |run: &Execution| {
            let took = run.ended_at? - run.began_at?;
            u64::try_from(took.num_milliseconds()).ok()
        };
        let durations = runs.iter().rev().filter_map(took).collect();
        let missing_sources = match definition {
            Some(definition) => self.missing_sources(definition)?,
            None => Vec::new(),
        };
        let judged = runs.iter().position(|run| run.state.verdict().is_some());
        Ok(JobRow {
            id: Some(id.clone()),
            place: found.place.unwrap_or_default(),
            name: found.name.clone(),
            state: standing.state(found.open),
            paused: standing.paused.clone(),
            schedule: definition.as_ref().map_or_else(|| standing.schedule.clone(), |it| it.schedule.clone()),
            words: schedule.map(|schedule| schedule.words()).unwrap_or_default(),
            zone: standing.zone.name().to_owned(),
            next: standing.ahead.next,
            running_since: self.running_since(found)?,
            last: self.executions(Some(id), None, 1)?.pop(),
            last_run: judged.map(|index| runs.swap_remove(index)),
            failures: standing.failures,
            runs_left: standing.runs_left(repeat),
            durations,
            missing_sources,
        })
    }

    fn running_since(&self, found: &Found) -> Result<Option<Time>> {
        if found.open.busy == 0 {
            return Ok(None);
        }
        let since = "SELECT min(began_at) AS began_at FROM executions WHERE job = ?1 AND state = 'running'";
        self.only(since, (&found.id,), |row| optional_time(row, "began_at"))
    }

    /// The jobs whose output a job reads that are not in the file.
    fn missing_sources(&self, definition: &Definition) -> Result<Vec<JobId>> {
        let there = |job: &JobId| {
            let found = "SELECT 1 FROM jobs WHERE id = ?1 AND vanished_at IS NULL";
            self.first(found, (job,), |_| Ok(())).map(|found| found.is_some())
        };
        let mut missing = Vec::new();
        for job in &definition.context_from {
            if !there(job)? {
                missing.push(job.clone());
            }
        }
        Ok(missing)
    }

    fn detail(&self, found: Found, _zone: Tz, at: Time) -> Result<JobDetail> {
        let row = self.row(&found)?;
        let next = found.definition.as_ref().map(|definition| found.standing.next_slots(definition, at));
        let history = self.executions(Some(&found.id), None, HISTORY)?;
        let definition = found.definition.map(Box::new);
        let (record, next) = (found.record, next.unwrap_or_default());
        let today = self.today_of(&[Scope::Job(found.id)], at)?.pop().flatten();
        Ok(JobDetail { row, definition, record, next, warnings: Vec::new(), history, today })
    }

    fn timeline_of(&self, found: Found, from: Time, until: Time, limit: usize) -> Result<TimelineRow> {
        let mut past = self.rows(
            "SELECT taken_at, state FROM executions
             WHERE job = ?1 AND taken_at >= ?2 AND taken_at < ?3 ORDER BY id DESC LIMIT ?4",
            (&found.id, Millis(from), Millis(until), at_most(limit)),
            |row| Ok((time(row, "taken_at")?, row.get("state")?)),
        )?;
        past.reverse();
        let slots = |definition| found.standing.slots(definition, from).take_while(|slot| *slot < until);
        let slots = found.definition.iter().flat_map(slots).take(limit).collect();
        let state = found.standing.state(found.open);
        let firing = found.standing.firing();
        Ok(TimelineRow { job: found.id, name: found.name, state, firing, slots, past })
    }

    fn file_state(&self) -> Result<JobsFileState> {
        self.only("SELECT * FROM jobs_file", (), |row| {
            let read_at = optional_time(row, "read_at")?;
            let state: String = row.get("state")?;
            let trouble = kept_json::<FileTrouble>(row, "trouble")?;
            Ok(match (state.as_str(), optional_time(row, "since")?, trouble, read_at) {
                ("unreadable", Some(since), Some(trouble), stored_at) => {
                    JobsFileState::Unreadable { since, trouble, stored_at }
                }
                ("read", _, _, Some(at)) => JobsFileState::Read { at },
                _ => JobsFileState::Missing,
            })
        })
    }
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        id: row.get("id")?,
        place: row.get("place")?,
        name: row.get("name")?,
        standing: job_standing(row)?,
        open: OpenRuns { waiting: row.get("waiting")?, busy: row.get("busy")? },
        definition: kept_json(row, "definition")?,
        record: row.get("text")?,
    })
}

/// Whether a job's names or its state have a filter in them, which is in lower case.
fn fits(filter: &str, names: &[&str], state: &str) -> bool {
    filter.is_empty()
        || names.iter().any(|name| name.to_lowercase().contains(filter))
        || format!("state:{state}").contains(filter)
}

fn word_of_rank(rank: u8) -> &'static str {
    match rank {
        0 => "error",
        1 => "fails",
        2 => "vanished",
        3 => "runs",
        4 => "waits",
        5 => "scheduled",
        6 => "paused",
        _ => "completed",
    }
}
