//! What the file holds: taken over record by record, each with what it changes for its job.

use std::collections::{BTreeMap, HashSet};

use rusqlite::params;

use super::super::super::columns::{Millis, json, kept_json, optional_time};
use super::super::Tx;
use super::kept::KeptJob;
use crate::domain::Time;
use crate::domain::alert::{AlertKey, by_nobodys_records};
use crate::domain::api::FileTrouble;
use crate::domain::cron::{CronEvent, JobEvent, JobId, JobStanding, Overlap, RanElsewhere, ran_elsewhere};
use crate::store::{JobsSeen, Result, SeenFile, SeenRecord, Synced};

/// A record of the stored copy.
struct Stored {
    n: i64,
    /// Its place in the file; none: its job is gone from there.
    place: Option<usize>,
    text: String,
    faults: String,
}

impl Stored {
    fn says(&self, record: &SeenRecord, faults: &str) -> bool {
        self.text == record.text && self.faults == faults
    }
}

/// The stored copy: records by their jobs, and those that are nobody's.
#[derive(Default)]
struct Copy {
    owned: BTreeMap<JobId, Stored>,
    unowned: Vec<Stored>,
}

/// A record of the file with its place and its faults as they are kept.
struct Placed<'a> {
    place: usize,
    record: &'a SeenRecord,
    faults: String,
}

impl Tx<'_> {
    pub(super) fn sync_jobs(&mut self, seen: &JobsSeen) -> Result<Synced> {
        let Copy { mut owned, unowned } = self.stored_copy()?;
        let zone_moved = self.note_zone(seen)?;
        let (mut synced, mut nobodys, mut met) = (Synced::default(), Vec::new(), HashSet::new());
        let (mut gone_with_file, mut elsewhere, missing_since) = (0, Vec::new(), self.missing_since()?);
        for (place, record) in seen.records.iter().enumerate() {
            let placed = Placed { place, record, faults: json(&record.faults)? };
            let Some(id) = record.id.as_ref().filter(|id| met.insert(*id)) else {
                nobodys.push(placed);
                continue;
            };
            match owned.remove(id) {
                None => self.first_seen(id, &placed, seen, &mut synced)?,
                Some(before) => {
                    let same = before.place.is_some() && before.says(record, &placed.faults);
                    let by_zone =
                        zone_moved && record.definition.as_ref().is_some_and(|it| it.timezone.is_none());
                    if !same && before.place.is_some() && ran_elsewhere(&before.text, &record.text) {
                        elsewhere.push(id.clone());
                    }
                    if !same || by_zone {
                        self.seen_again(id, &before, &placed, seen, &mut synced)?;
                    } else if before.place != Some(place) {
                        self.execute("UPDATE job_records SET place = ?2 WHERE n = ?1", (before.n, place))?;
                    }
                }
            }
        }
        for (id, before) in owned {
            if before.place.is_none() {
                self.still_gone(&id, missing_since, seen)?;
                continue;
            }
            let news = self.vanish(&id, before.n, seen)?;
            gone_with_file += usize::from(news == Some(JobEvent::VanishedWithFile));
            synced.vanished += 1;
        }
        let news = self.keep_unowned(&unowned, &nobodys, seen.at)?;
        self.note_elsewhere(&elsewhere, seen.at)?;
        self.note_read(seen, gone_with_file, news || synced != Synced::default())?;
        Ok(synced)
    }

    pub(super) fn jobs_unreadable(&mut self, trouble: &FileTrouble, at: Time) -> Result<()> {
        let text = json(trouble)?;
        let news = self.execute(
            "UPDATE jobs_file SET since = iif(state = 'unreadable', since, ?1), state = 'unreadable',
                 trouble = ?2
             WHERE state <> 'unreadable' OR trouble IS NOT ?2",
            (Millis(at), text),
        )?;
        if news == 0 {
            return Ok(());
        }
        let stored = self.only(
            "SELECT count(*) FROM job_records WHERE place IS NOT NULL AND definition IS NOT NULL",
            (),
            |row| row.get(0),
        )?;
        let kind = CronEvent::FileUnreadable { why: trouble.why.clone(), stored };
        self.tell_cron(kind, at)
    }

    fn stored_copy(&self) -> Result<Copy> {
        let mut copy = Copy::default();
        let found =
            self.rows("SELECT n, place, job, text, faults FROM job_records ORDER BY n", (), |row| {
                let stored =
                    Stored { n: row.get(0)?, place: row.get(1)?, text: row.get(3)?, faults: row.get(4)? };
                Ok((row.get::<_, Option<JobId>>(2)?, stored))
            })?;
        for (job, stored) in found {
            match job {
                Some(job) => drop(copy.owned.insert(job, stored)),
                None => copy.unowned.push(stored),
            }
        }
        Ok(copy)
    }

    /// Notes the zone of jobs that name none; returns whether it is another one than before.
    fn note_zone(&mut self, seen: &JobsSeen) -> Result<bool> {
        let zone = seen.zone.name();
        Ok(self.execute("UPDATE jobs_file SET zone = ?1 WHERE zone IS NOT ?1", (zone,))? > 0)
    }

    /// Notes that another program ran these jobs, by what it wrote into the file.
    fn note_elsewhere(&mut self, jobs: &[JobId], at: Time) -> Result<()> {
        let before: RanElsewhere = self
            .only("SELECT ran_elsewhere FROM jobs_file", (), |row| kept_json(row, "ran_elsewhere"))?
            .unwrap_or_default();
        let mut ran = before.clone();
        ran.pass_to(at);
        if before.is_a_scheduler() && !ran.is_a_scheduler() {
            self.resolve_alert(&AlertKey::other_scheduler(), at)?;
        }
        if let Some((job, others)) = jobs.split_first() {
            let looks = ran.note(at);
            let ran = CronEvent::RanElsewhere { job: job.clone(), others: others.len(), looks };
            self.tell_cron(ran, at)?;
        }
        if ran != before {
            self.execute("UPDATE jobs_file SET ran_elsewhere = ?1", (json(&ran)?,))?;
        }
        Ok(())
    }

    /// Notes that the file was read, and tells of it if that is news.
    fn note_read(&mut self, seen: &JobsSeen, gone_with_file: usize, changed: bool) -> Result<()> {
        let state = match seen.file {
            SeenFile::Read => "read",
            SeenFile::Missing => "missing",
        };
        let was = self.only("SELECT state FROM jobs_file", (), |row| row.get::<_, String>(0))?;
        self.execute(
            "UPDATE jobs_file SET state = ?1, read_at = ?2, trouble = NULL, since = NULL,
                 missing_since = CASE WHEN ?1 = 'missing' THEN ifnull(missing_since, ?2) END",
            (state, Millis(seen.at)),
        )?;
        if gone_with_file > 0 {
            return self.tell_cron(CronEvent::FileMissing { jobs: gone_with_file }, seen.at);
        }
        if !changed && was == state {
            return Ok(());
        }
        let (jobs, in_error) = self.only(
            "SELECT (SELECT count(*) FROM jobs WHERE vanished_at IS NULL AND trouble = '[]'),
                 (SELECT count(*) FROM jobs WHERE vanished_at IS NULL AND trouble <> '[]')
                     + (SELECT count(*) FROM job_records WHERE job IS NULL)",
            (),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        self.tell_cron(CronEvent::FileRead { jobs, in_error }, seen.at)
    }

    fn first_seen(
        &mut self,
        id: &JobId,
        placed: &Placed<'_>,
        seen: &JobsSeen,
        synced: &mut Synced,
    ) -> Result<()> {
        let imported = &placed.record.imported;
        let (standing, change) = JobStanding::first_seen(placed.record.said(), imported, seen.zone, seen.at);
        let record = self.add_record(Some(id), placed)?;
        let n = self.insert(
            "INSERT INTO jobs (id, record, name, schedule, zone, anchor, settled, overlap, trouble, rank)
             VALUES (?1, ?2, ?3, '', '', 0, 0, ?4, '[]', 0)",
            (id, record, name(id, placed.record), overlap(placed.record)),
        )?;
        let mut job = KeptJob { n, id: id.clone(), standing, definition: None };
        self.keep_change(id, change, seen.at)?;
        self.save_job(&mut job, seen.at)?;
        synced.appeared += 1;
        Ok(())
    }

    fn seen_again(
        &mut self,
        id: &JobId,
        before: &Stored,
        placed: &Placed<'_>,
        seen: &JobsSeen,
        synced: &mut Synced,
    ) -> Result<()> {
        let Some(mut job) = self.kept_job(id)? else { return Ok(()) };
        let change =
            job.standing.seen_again(job.definition.as_ref(), placed.record.said(), seen.zone, seen.at);
        self.execute(
            "UPDATE job_records SET place = ?2, text = ?3, definition = ?4, faults = ?5 WHERE n = ?1",
            params![before.n, placed.place, placed.record.text, definition(placed.record)?, placed.faults],
        )?;
        self.execute(
            "UPDATE jobs SET name = ?2, overlap = ?3 WHERE n = ?1",
            (job.n, name(id, placed.record), overlap(placed.record)),
        )?;
        self.keep_change(id, change, seen.at)?;
        if !job.standing.trouble.is_empty() {
            self.drop_waiting(id, "its record could not be used any more", seen.at)?;
        }
        self.save_job(&mut job, seen.at)?;
        match before.place {
            Some(_) => synced.changed += 1,
            None => synced.appeared += 1,
        }
        Ok(())
    }

    /// Since when there is no file.
    fn missing_since(&self) -> Result<Option<Time>> {
        self.only("SELECT missing_since FROM jobs_file", (), |row| optional_time(row, "missing_since"))
    }

    /// A job is not in the file, as before. One that went with the whole file is missed as soon as that is back.
    fn still_gone(&mut self, id: &JobId, missing_since: Option<Time>, seen: &JobsSeen) -> Result<()> {
        let Some(since) = missing_since.filter(|_| seen.file == SeenFile::Read) else { return Ok(()) };
        let Some(job) = self.kept_job(id)? else { return Ok(()) };
        if job.standing.vanished_at >= Some(since) && job.standing.is_missed() {
            self.tell_job(id, JobEvent::Vanished, seen.at)?;
        }
        Ok(())
    }

    fn vanish(&mut self, id: &JobId, record: i64, seen: &JobsSeen) -> Result<Option<JobEvent>> {
        let at = seen.at;
        let Some(mut job) = self.kept_job(id)? else { return Ok(None) };
        let news = seen.news_of_gone(id, &job.standing);
        self.execute("UPDATE job_records SET place = NULL WHERE n = ?1", (record,))?;
        let change = job.standing.vanish(job.definition.as_ref(), news.clone(), at);
        self.keep_change(id, change, at)?;
        self.drop_waiting(id, "it is gone from jobs.json", at)?;
        self.save_job(&mut job, at)?;
        Ok(Some(news))
    }

    /// Keeps the records that no job has, if they are others than before; returns whether they are.
    fn keep_unowned(&mut self, before: &[Stored], now: &[Placed<'_>], at: Time) -> Result<bool> {
        let same = |(stored, placed): (&Stored, &Placed<'_>)| {
            stored.place == Some(placed.place) && stored.says(placed.record, &placed.faults)
        };
        if before.len() == now.len() && before.iter().zip(now).all(same) {
            return Ok(false);
        }
        self.execute("DELETE FROM job_records WHERE job IS NULL", ())?;
        for placed in now {
            self.add_record(None, placed)?;
        }
        let broken = now.iter().map(|placed| (placed.place, &placed.record.faults[..]));
        self.change_alerts([by_nobodys_records(broken)], at)?;
        Ok(true)
    }

    fn add_record(&mut self, job: Option<&JobId>, placed: &Placed<'_>) -> Result<i64> {
        self.insert(
            "INSERT INTO job_records (place, job, text, definition, faults) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![placed.place, job, placed.record.text, definition(placed.record)?, placed.faults],
        )
    }
}

fn definition(record: &SeenRecord) -> Result<Option<String>> {
    record.definition.as_ref().map(json).transpose()
}

fn name(id: &JobId, record: &SeenRecord) -> String {
    let own = record.definition.as_ref().and_then(|definition| definition.name.clone());
    own.unwrap_or_else(|| id.to_string())
}

fn overlap(record: &SeenRecord) -> Overlap {
    record.definition.as_ref().map_or(Overlap::Skip, |definition| definition.overlap)
}
