//! What ten thousand jobs cost: to read and check them all, to find their next slots, and to save one edit.
//!
//!     cargo bench --bench jobs

#![allow(clippy::unwrap_used, missing_docs)]

use chrono_tz::Tz;
use divan::{Bencher, counter::ItemsCount};
use switchboard::domain::Time;
use switchboard::domain::cron::Job;
use switchboard::domain::cron::document::Document;
use switchboard::domain::cron::merge::Edit;
use switchboard::domain::schedule::Lattice;
use switchboard::store::jobs_file::JobsFile;

const JOBS: usize = 10_000;

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
