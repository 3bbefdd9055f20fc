//! What ten thousand jobs cost: to read and check them all, to find their next slots, and to save one edit;
//! and what a store of a hundred thousand costs at each look of the ticker and for each fire. All that the
//! store does here is on the disk before it counts.
//!
//!     cargo bench --bench jobs

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "support/kept_jobs.rs"]
mod kept_jobs;

use chrono_tz::Tz;
use divan::{Bencher, counter::ItemsCount};
use switchboard::domain::Time;
use switchboard::domain::cron::Job;
use switchboard::domain::cron::document::Document;
use switchboard::domain::cron::merge::Edit;
use switchboard::domain::schedule::Lattice;
use switchboard::store::jobs_file::JobsFile;
use switchboard::store::sqlite::Database;
use switchboard::store::{JobQueries, JobsSeen, Tick};
use tempfile::TempDir;

const JOBS: usize = 10_000;
const KEPT: usize = 100_000;
const DUE: usize = 1_000;

fn main() {
    divan::main();
}

/// Read, checked, and each with its next slot: what a start does.
#[divan::bench(args = ["ours", "hermes"])]
fn start(bencher: Bencher<'_, '_>, shape: &str) {
    bencher.counter(ItemsCount::new(JOBS)).with_inputs(|| file(shape)).bench_local_values(|text| {
        let document = Document::parse(text).unwrap();
        let jobs = jobs(&document);
        assert_eq!(jobs.iter().filter_map(next).count(), JOBS);
        jobs
    });
}

#[divan::bench(args = ["ours", "hermes"])]
fn read(bencher: Bencher<'_, '_>, shape: &str) {
    bencher
        .counter(ItemsCount::new(JOBS))
        .with_inputs(|| file(shape))
        .bench_local_values(|text| Document::parse(text).unwrap());
}

#[divan::bench]
fn check(bencher: Bencher<'_, '_>) {
    let document = Document::parse(ours()).unwrap();
    bencher.counter(ItemsCount::new(JOBS)).bench_local(|| jobs(&document));
}

#[divan::bench]
fn next_slots(bencher: Bencher<'_, '_>) {
    let jobs = jobs(&Document::parse(ours()).unwrap());
    bencher.counter(ItemsCount::new(JOBS)).bench_local(|| jobs.iter().filter_map(next).max());
}

/// One edit, until it is on the disk.
#[divan::bench]
fn save(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = JobsFile::new(folder.path().join("jobs.json"));
    let text = ours();
    std::fs::write(file.path(), &text).unwrap();
    let document = Document::parse(text).unwrap();
    let entry = &document.entries()[JOBS / 2];
    let mut to = entry.record.clone().unwrap().definition;
    let mut base = document.record_text(entry).to_owned();
    let mut round = 0;
    bencher.bench_local(|| {
        round += 1;
        to.prompt = Some(format!("round {round}"));
        let edit = Edit::Change { id: to.id.clone(), base: base.clone(), to: to.clone() };
        base = switchboard::domain::cron::record::edit(&base, &to);
        file.edit(&edit).unwrap()
    });
}

/// The same file, read again: nothing has changed.
#[divan::bench(sample_count = 20)]
fn sync_unchanged(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let seen = kept_jobs::seen(JOBS, 0);
    let mut store = kept_jobs::filled(&folder.path().join("state.db"), &seen);
    bencher.counter(ItemsCount::new(JOBS)).bench_local(|| store.step(|t| t.sync_jobs(&seen)).unwrap());
}

/// A look at a hundred thousand jobs of which none is due.
#[divan::bench(sample_count = 1000)]
fn tick_none_due(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = kept_jobs::filled(&folder.path().join("state.db"), &kept_jobs::seen(KEPT, 0));
    let tick = tick("2026-08-21T08:30:00Z");
    bencher.bench_local(|| store.step(|t| t.fire_due(&tick)).unwrap().0.next);
}

/// A look at a hundred thousand jobs of which a thousand are due: all of them begin to wait.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn tick_thousand_due(bencher: Bencher<'_, '_>) {
    let seen = kept_jobs::seen(KEPT, DUE);
    bencher.counter(ItemsCount::new(DUE)).with_inputs(|| due_store(&seen)).bench_local_refs(|(_, store)| {
        assert_eq!(store.step(|t| t.fire_due(&tick("2026-08-21T09:00:00Z"))).unwrap().0.fired, DUE);
    });
}

/// A thousand fires, each claimed in a commit of its own.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn claim_thousand(bencher: Bencher<'_, '_>) {
    let seen = kept_jobs::seen(KEPT, DUE);
    let fired = || {
        let (folder, mut store) = due_store(&seen);
        store.step(|t| t.fire_due(&tick("2026-08-21T09:00:00Z"))).unwrap();
        (folder, store)
    };
    bencher.counter(ItemsCount::new(DUE)).with_inputs(fired).bench_local_refs(|(_, store)| {
        for n in 0..DUE {
            let claim = kept_jobs::claim(&n.to_string());
            assert!(store.step(|t| t.claim_execution(&claim)).unwrap().0.is_some());
        }
    });
}

/// A page of a list of a hundred thousand jobs, with and without a filter.
#[divan::bench(args = ["", "job-77777"], sample_count = 20)]
fn list(bencher: Bencher<'_, '_>, filter: &str) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = kept_jobs::filled(&folder.path().join("state.db"), &kept_jobs::seen(KEPT, DUE));
    let now = kept_jobs::at("2026-08-21T08:30:00Z");
    bencher.bench_local(|| store.queries().jobs(filter, 50, now).unwrap());
}

fn due_store(seen: &JobsSeen) -> (TempDir, Database) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = kept_jobs::filled(&folder.path().join("state.db"), seen);
    (folder, store)
}

fn tick(at: &str) -> Tick {
    Tick { at: kept_jobs::at(at), zone: Tz::UTC, limit: usize::MAX }
}

fn jobs(document: &Document) -> Vec<Job> {
    let records = document.entries().iter().map(|entry| entry.record.as_ref().unwrap());
    records.map(|record| record.definition.clone().check().unwrap()).collect()
}

fn next(job: &Job) -> Option<Time> {
    let now = Time::from_timestamp(1_790_000_000, 0)?;
    let zone = job.zone.unwrap_or(Tz::Europe__Berlin);
    job.schedule.next(now, &Lattice { zone, anchor: now })
}

fn file(shape: &str) -> String {
    if shape == "hermes" { hermes() } else { ours() }
}

const SCHEDULES: [&str; 6] =
    ["0 8 * * *", "*/30 * * * *", "every 15 minutes", "weekdays at 9:30", "0 10 * * 1", "30 6 1,15 * *"];

fn ours() -> String {
    let record = |n: usize| {
        format!(
            r#"    {{
      "id": "job-{n}",
      "schedule": "{}",
      "timezone": "Europe/Berlin",
      "description": "Look at the service and tell what needs a person",
      "prompt": "Sum up in ten lines what happened since yesterday: merged, broken, decided.",
      "skill": "health-checker",
      "deliver_to": {{ "platform": "telegram", "chat_id": "-100123", "thread_id": "7" }},
      "repeat": 5
    }}"#,
            SCHEDULES[n % SCHEDULES.len()]
        )
    };
    format!("{{\n  \"jobs\": [\n{}\n  ]\n}}\n", (0..JOBS).map(record).collect::<Vec<_>>().join(",\n"))
}

/// As Hermes writes them, with all of its fields.
fn hermes() -> String {
    let sample: serde_json::Value =
        serde_json::from_str(include_str!("../tests/jobs_file/samples/hermes.json")).unwrap();
    let record = |n: usize| {
        let mut job = sample["jobs"][0].clone();
        job["id"] = format!("job-{n}").into();
        serde_json::to_string_pretty(&job).unwrap()
    };
    format!("{{\"jobs\": [{}]}}", (0..JOBS).map(record).collect::<Vec<_>>().join(",\n"))
}
