//! Scheduled tasks, as a screen is told of them.

use chrono::TimeDelta;
use switchboard::domain::Time;
use switchboard::domain::api::{
    FileAndCopy, FileTrouble, JobAnswer, JobDetail, JobFound, JobQuery, JobRow, JobState, JobsFileState,
    JobsPage, Parts, TickerState, TimelineRow,
};
use switchboard::domain::cron::merge::Firing;
use switchboard::domain::cron::record;
use switchboard::domain::cron::{
    Definition, Delivery, DeliveryState, Execution, ExecutionState, Fault, How, JobId, Paused, Slots, Target,
};
use switchboard::domain::id::{ExecutionId, SessionId};
use switchboard::domain::json::Layout;
use switchboard::domain::schedule::{Lattice, Schedule};

/// The jobs of a home, and what is known of each.
#[derive(Clone)]
pub struct Jobs {
    pub now: Time,
    pub details: Vec<JobDetail>,
    pub file: JobsFileState,
    pub ticker: TickerState,
    pub parts: Parts,
    pub compared: FileAndCopy,
    pub output: Option<String>,
}

impl Jobs {
    /// No jobs, and no file.
    pub fn none(now: Time) -> Self {
        Self {
            now,
            details: Vec::new(),
            file: JobsFileState::Missing,
            ticker: TickerState::default(),
            parts: parts(),
            compared: FileAndCopy::default(),
            output: None,
        }
    }

    pub fn row(&mut self, job: &str) -> &mut JobRow {
        &mut self.detail(job).row
    }

    pub fn detail(&mut self, job: &str) -> &mut JobDetail {
        let is = |detail: &&mut JobDetail| detail.row.id.as_ref().is_some_and(|id| id.as_str() == job);
        self.details.iter_mut().find(is).unwrap()
    }

    pub fn answer(&self, query: &JobQuery) -> JobAnswer {
        match query {
            JobQuery::List { limit, .. } => {
                let rows: Vec<JobRow> =
                    self.details.iter().map(|detail| detail.row.clone()).take(*limit).collect();
                JobAnswer::List(Box::new(JobsPage {
                    hits: rows.len(),
                    total: rows.len(),
                    rows,
                    file: self.file.clone(),
                    ticker: self.ticker.clone(),
                }))
            }
            JobQuery::Detail { job } => {
                let found = self
                    .details
                    .iter()
                    .find(|detail| detail.row.id.as_ref().is_some_and(|id| id.as_str() == job));
                let found = found.cloned().map_or(JobFound::None, |mut detail| {
                    detail.history.truncate(50);
                    JobFound::One(Box::new(detail))
                });
                JobAnswer::Detail(Box::new(found))
            }
            JobQuery::History { job, before, limit } => {
                let detail = self.details.iter().find(|detail| detail.row.id == *job);
                let runs = detail.map(|detail| detail.history.clone()).unwrap_or_default();
                let earlier = runs.into_iter().filter(|run| before.is_none_or(|before| run.id < before));
                JobAnswer::History(earlier.take(*limit).collect())
            }
            JobQuery::Output { .. } => JobAnswer::Output(self.output.clone()),
            JobQuery::Timeline { from, until, limit } => JobAnswer::Timeline(
                self.details.iter().filter_map(|detail| self.lane(detail, *from, *until, *limit)).collect(),
            ),
            JobQuery::Parts => JobAnswer::Parts(Box::new(self.parts.clone())),
            JobQuery::Missing { definition } => JobAnswer::Missing(self.missing(definition)),
            JobQuery::Compare => JobAnswer::Compare(Box::new(self.compared.clone())),
        }
    }

    /// A skill or script that is not among the parts, and every folder outside `/srv`.
    fn missing(&self, job: &Definition) -> Vec<Fault> {
        let skill = |name: &&String| !self.parts.skills.iter().any(|(known, _)| known == *name);
        let script = |name: &&String| !self.parts.scripts.contains(name);
        let folder = |path: &&String| !path.starts_with("/srv");
        let gone = |field: &'static str| {
            move |name: &String| Fault::new(field, &format!("{name:?}"), "it is not there")
        };
        let skills = job.skills.iter().filter(skill).map(gone("skill"));
        let scripts = job.script.iter().filter(script).map(gone("script"));
        skills.chain(scripts).chain(job.workdir.iter().filter(folder).map(gone("workdir"))).collect()
    }

    fn lane(&self, detail: &JobDetail, from: Time, until: Time, limit: usize) -> Option<TimelineRow> {
        let row = &detail.row;
        let zone = row.zone.parse().ok()?;
        let schedule: Schedule = row.schedule.parse().ok()?;
        let lattice = Lattice { zone, anchor: from };
        let firing = if row.paused.is_some() { Firing::Paused } else { Firing::On };
        let first = schedule.next(self.now.max(from), &lattice).filter(|_| firing == Firing::On);
        let slots = std::iter::successors(first, |slot| schedule.next(*slot, &lattice));
        let past = detail.history.iter().rev().filter(|run| run.taken_at >= from);
        Some(TimelineRow {
            job: row.id.clone()?,
            name: row.name.clone(),
            state: row.state.clone(),
            firing,
            slots: slots.take_while(|slot| *slot < until).take(limit).collect(),
            past: past.map(|run| (run.taken_at, run.state)).collect(),
        })
    }
}

pub fn id(job: &str) -> JobId {
    job.parse().unwrap()
}

/// What there is to pick from.
pub fn parts() -> Parts {
    let pair = |name: &str, about: &str| (name.to_owned(), about.to_owned());
    Parts {
        skills: vec![
            pair("ai-news-summarizer", "reads the feeds and sums them up"),
            pair("code-review-assistant", "reviews open pull requests"),
            pair("server-health-checker", "checks disks, load and services"),
        ],
        scripts: vec!["check.sh".to_owned(), "nightly/dump.sh".to_owned()],
        agents: vec![pair("default", "practice agent, offline")],
        targets: vec![
            pair("local", "the document in output/"),
            pair("console", "a notice here, and the text"),
        ],
        zone: "Europe/Berlin".to_owned(),
    }
}

/// A job that waits for its next slot and never ran.
pub fn job(place: usize, name: &str, schedule: &str, now: Time) -> JobDetail {
    let definition = Definition {
        description: Some(format!("What {name} is for")),
        ..Definition::new(id(name), schedule.to_owned())
    };
    let read: Schedule = schedule.parse().unwrap();
    let zone = chrono_tz::Tz::Europe__Berlin;
    let lattice = Lattice { zone, anchor: now };
    let next: Vec<Time> =
        std::iter::successors(read.next(now, &lattice), |slot| read.next(*slot, &lattice)).take(5).collect();
    let row = JobRow {
        id: Some(id(name)),
        place,
        name: name.to_owned(),
        state: JobState::Scheduled,
        paused: None,
        schedule: schedule.to_owned(),
        words: read.words(),
        zone: zone.name().to_owned(),
        next: next.first().copied(),
        running_since: None,
        last: None,
        last_run: None,
        failures: 0,
        runs_left: None,
        durations: Vec::new(),
        missing_sources: Vec::new(),
    };
    let record = record::write(&definition, &Layout::inline(" "));
    let warnings = read.warnings(zone, now).iter().map(|warning| warning.words()).collect();
    JobDetail {
        row,
        definition: Some(Box::new(definition)),
        record,
        next,
        warnings,
        history: Vec::new(),
        today: None,
    }
}

/// A run of a job that was taken at its slot and took so many seconds.
pub fn run(number: i64, job: &str, slot: Time, state: ExecutionState, seconds: i64) -> Execution {
    let began = slot + TimeDelta::seconds(1);
    Execution {
        id: ExecutionId(number),
        job: id(job),
        slots: Some(Slots::one(slot)),
        how: How::OnTime,
        state,
        taken_at: slot,
        began_at: Some(began),
        ended_at: state.is_over().then_some(began + TimeDelta::seconds(seconds)),
        why: None,
        attempt: 1,
        claim: None,
        session: Some(SessionId::new(slot, u32::try_from(number).unwrap())),
        turn: None,
        output: Some(format!("output/{job}/{number}.md")),
        deliveries: vec![delivery("console", DeliveryState::Delivered)],
        cut_with: None,
    }
}

pub fn delivery(target: &str, state: DeliveryState) -> Delivery {
    let target = Target::list(target).unwrap().remove(0);
    Delivery { target, state, at: "2026-11-29T13:00:00Z".parse().unwrap(), why: None }
}

/// Puts runs into a job, the newest first.
pub fn with_runs(mut detail: JobDetail, runs: Vec<Execution>) -> JobDetail {
    let running = runs.iter().filter(|run| run.state == ExecutionState::Running);
    detail.row.running_since = running.filter_map(|run| run.began_at).min();
    detail.row.last = runs.first().cloned();
    detail.row.last_run = runs.iter().find(|run| run.state.verdict().is_some()).cloned();
    let took = |run: &Execution| Some((run.ended_at? - run.began_at?).num_milliseconds().unsigned_abs());
    detail.row.durations = runs.iter().rev().filter_map(took).collect();
    detail.history = runs;
    detail
}

/// The jobs of the drawings: one that fails, one that is paused, two that work, one that runs, and a bad record.
pub fn at_work(now: Time) -> Jobs {
    let ago = |minutes: i64| now - TimeDelta::minutes(minutes);
    let half_hour = |n: i64| {
        let last = now - TimeDelta::seconds(now.timestamp() % 1800);
        last - TimeDelta::minutes(30 * n)
    };
    let failed = |number: i64, n: i64, seconds: i64| Execution {
        why: Some("exit 2".to_owned()),
        ..run(number, "health-check", half_hour(n), ExecutionState::Failed, seconds)
    };
    let late = Execution {
        how: How::Late,
        taken_at: half_hour(3) + TimeDelta::minutes(4),
        ..run(7, "health-check", half_hour(3), ExecutionState::Succeeded, 2)
    };
    let mut health = with_runs(
        job(0, "health-check", "*/30 * * * *", now),
        vec![
            failed(10, 0, 3),
            failed(9, 1, 3),
            failed(8, 2, 4),
            late,
            run(6, "health-check", half_hour(4), ExecutionState::Succeeded, 1),
        ],
    );
    health.row.state = JobState::Flagged;
    health.row.failures = 3;
    if let Some(definition) = &mut health.definition {
        definition.skills = vec!["server-health-checker".to_owned()];
        definition.deliver_to = Target::list("telegram:123456789").unwrap();
        health.record = record::write(definition, &Layout::inline(" "));
    }
    let mut backup = job(1, "backup", "15 3 * * *", now);
    let skipped = Execution {
        slots: Some(Slots { first: ago(60 * 35), last: ago(60 * 11), count: 2 }),
        began_at: None,
        ended_at: Some(ago(60 * 11)),
        session: None,
        output: None,
        deliveries: Vec::new(),
        why: Some("paused".to_owned()),
        ..run(5, "backup", ago(60 * 11), ExecutionState::Skipped, 0)
    };
    backup = with_runs(backup, vec![skipped]);
    backup.row.state = JobState::Paused;
    backup.row.paused = Some(Paused { since: ago(60 * 40), why: Some("the disk is full".to_owned()) });
    let news = with_runs(
        job(2, "daily-news-summary", "0 8 * * *", now),
        vec![
            Execution {
                deliveries: vec![delivery("telegram:-100890", DeliveryState::NotConfigured)],
                ..run(4, "daily-news-summary", ago(360), ExecutionState::Succeeded, 72)
            },
            run(2, "daily-news-summary", ago(1800), ExecutionState::Succeeded, 40),
        ],
    );
    let review = with_runs(
        job(3, "weekly-code-review", "0 10 * * MON", now),
        vec![run(3, "weekly-code-review", ago(60 * 150), ExecutionState::Succeeded, 242)],
    );
    let mut digest = with_runs(
        job(4, "mail-digest", "0 8 * * MON-FRI", now),
        vec![run(11, "mail-digest", ago(3), ExecutionState::Running, 0)],
    );
    digest.row.state = JobState::Running;
    let mut bad = job(5, "typo", "0 8 * * *", now);
    bad.definition = None;
    bad.row.id = None;
    bad.row.next = None;
    bad.row.words = String::new();
    bad.row.schedule = "0 8 * *".to_owned();
    bad.row.name = "record 6".to_owned();
    bad.row.state = JobState::Error {
        faults: vec![
            "schedule \"0 8 * *\": has 4 fields; write five: minute hour day month weekday".to_owned(),
        ],
    };
    let mut details = vec![bad, health, digest, news, review, backup];
    let next = details.iter().filter_map(|detail| detail.row.next).min();
    details[5].row.next = None;
    Jobs {
        details,
        file: JobsFileState::Read { at: ago(11) },
        ticker: TickerState { last_pass: Some(ago(0)), last_error: None, next },
        output: Some("# health-check\n\nexit 2: disk /srv is full\n".to_owned()),
        ..Jobs::none(now)
    }
}

/// The same jobs from the stored copy: the file has lost a comma.
pub fn unreadable(now: Time) -> Jobs {
    let mut jobs = at_work(now);
    jobs.details.remove(0);
    let line = |number: usize, text: &str| (number, text.to_owned());
    jobs.file = JobsFileState::Unreadable {
        since: now - TimeDelta::minutes(4),
        trouble: FileTrouble {
            place: Some((14, 7)),
            why: "\",\" or \"}\" expected".to_owned(),
            excerpt: vec![
                line(13, "      \"schedule\": \"0 8 * * *\""),
                line(14, "      \"timezone\": \"Europe/Berlin\","),
            ],
            hint: Some("perhaps a comma is missing at the end of line 13".to_owned()),
        },
        stored_at: Some(now - TimeDelta::minutes(11)),
    };
    jobs.compared = FileAndCopy {
        file: Some("{ \"jobs\": [\n  { \"id\": \"a\"\n  }\n] }\n".to_owned()),
        stored: Some(
            "{ \"jobs\": [\n  { \"id\": \"a\",\n    \"schedule\": \"0 8 * * *\" }\n] }\n".to_owned(),
        ),
    };
    jobs
}
