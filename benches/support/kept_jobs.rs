//! A store full of jobs.

use std::collections::BTreeSet;
use std::path::Path;

use chrono_tz::Tz;
use switchboard::domain::Time;
use switchboard::domain::cron::record::Imported;
use switchboard::domain::cron::{Definition, Owner};
use switchboard::domain::id::RunId;
use switchboard::domain::process::ProcessIdentity;
use switchboard::store::sqlite::Database;
use switchboard::store::{JobsSeen, NewClaim, SeenFile, SeenRecord};

/// The times of the bench.
pub(crate) fn at(text: &str) -> Time {
    text.parse().unwrap()
}

/// What a file of so many jobs holds, of which `due` are due at nine and the others at ten.
pub(crate) fn seen(jobs: usize, due: usize) -> JobsSeen {
    let record = |n: usize| {
        let schedule = if n < due { "0 9 * * *" } else { "0 10 * * *" };
        let mut definition = Definition::new(format!("job-{n}").parse().unwrap(), schedule.to_owned());
        definition.prompt = Some("Read what came in and tell what matters. ".repeat(10));
        SeenRecord {
            text: serde_json::to_string(&definition).unwrap(),
            id: Some(definition.id.clone()),
            definition: Some(Box::new(definition)),
            imported: Imported::default(),
            faults: Vec::new(),
        }
    };
    let records = (0..jobs).map(record).collect();
    JobsSeen {
        records,
        file: SeenFile::Read,
        removed: BTreeSet::new(),
        zone: Tz::UTC,
        at: at("2026-08-21T08:00:00Z"),
    }
}

/// A store that has taken them over.
pub(crate) fn filled(path: &Path, seen: &JobsSeen) -> Database {
    let mut store = Database::open(path).unwrap();
    store.step(|t| t.sync_jobs(seen)).unwrap();
    store
}

/// A worker that asks for work, whatever runs beside it.
pub(crate) fn claim(token: &str) -> NewClaim {
    let process = ProcessIdentity { pid: 7, boot: "b".to_owned(), started: 1 };
    let owner = Owner { run: RunId("run-1".to_owned()), host: "anvil".to_owned(), process };
    NewClaim { owner, token: token.to_owned(), max_parallel: usize::MAX, at: at("2026-08-21T09:00:00Z") }
}
