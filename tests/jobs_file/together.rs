//! Several who change the file at once, some of whom know no lock.

use std::cell::Cell;
use std::fs;
use std::sync::Barrier;
use std::thread;

use switchboard::domain::cron::merge::{Edit, EditRefused};
use switchboard::store::jobs_file::{ChangeError, JobsFile};

use super::given::*;

#[test]
fn changes_of_different_jobs_at_once_are_all_kept() {
    let given = Given::file(OURS);
    let (writers, each) = (4, 6);
    let together = Barrier::new(writers);
    thread::scope(|scope| {
        for writer in 0..writers {
            let (given, together) = (&given, &together);
            scope.spawn(move || {
                // As another process has it: a file of its own, with a lock of its own.
                let file = JobsFile::new(given.file.path().to_owned());
                together.wait();
                for n in 0..each {
                    file.edit(&add(&format!("w{writer}-{n}"))).unwrap();
                }
            });
        }
    });
    let document = given.document();
    assert_eq!(document.entries().len(), 3 + writers * each);
    assert!(document.entries().iter().all(|entry| entry.record.is_ok()));
    assert!(given.text().starts_with(OURS.trim_end().strip_suffix("\n  ]\n}").unwrap()));
    assert_eq!(given.names(), ["jobs.json", "jobs.json.bak"]);
}

/// An editor that writes `text` after our reading and before our writing, once.
fn meanwhile(given: &Given, edit: &Edit, text: &str) -> Result<(), ChangeError> {
    let (calls, first) = (Cell::new(0), Cell::new(true));
    let outcome = given.file.change(|document| {
        calls.set(calls.get() + 1);
        if first.replace(false) {
            fs::write(given.file.path(), text).unwrap();
        }
        edit.apply(document)
    });
    assert_eq!(calls.get(), 2, "it is asked again");
    outcome.map(drop)
}

#[test]
fn what_an_editor_wrote_meanwhile_in_other_jobs_is_kept() {
    let given = Given::file(OURS);
    let edit = new_prompt(&given.document(), "health-check", "mine");
    let theirs =
        OURS.replace("0 10 * * 1", "0 11 * * 1").replace("  \"jobs\"", "  \"note\": \"theirs\",\n  \"jobs\"");
    meanwhile(&given, &edit, &theirs).unwrap();
    let text = given.text();
    assert!(
        text.contains("0 11 * * 1") && text.contains("\"prompt\": \"mine\"") && text.contains("theirs"),
        "{text}"
    );
    assert_eq!(fs::read_to_string(given.path("jobs.json.bak")).unwrap(), theirs);
}

#[test]
fn what_an_editor_wrote_meanwhile_in_the_same_job_is_shown_and_stays() {
    let given = Given::file(OURS);
    let edit = new_prompt(&given.document(), "health-check", "mine");
    let theirs = OURS.replace("*/30", "*/20");
    let error = meanwhile(&given, &edit, &theirs).unwrap_err();
    let ChangeError::Refused(EditRefused::Conflict(conflict)) = &error else { panic!("{error}") };
    assert!(conflict.base.contains("*/30") && conflict.mine.as_ref().unwrap().contains("mine"));
    assert!(conflict.theirs.as_ref().unwrap().contains("*/20"));
    assert_eq!(error.conflict(), Some(&id("health-check")));
    assert_eq!(given.text(), theirs);
}

#[test]
fn a_file_that_an_editor_broke_meanwhile_is_not_overwritten() {
    let given = Given::file(OURS);
    let edit = new_prompt(&given.document(), "health-check", "mine");
    let first = Cell::new(true);
    let outcome = given.file.change(|document| {
        if first.replace(false) {
            fs::write(given.file.path(), "{\"jobs\": [").unwrap();
        }
        edit.apply(document)
    });
    assert!(matches!(outcome, Err(ChangeError::Unreadable(_))), "{outcome:?}");
    assert_eq!(given.text(), "{\"jobs\": [");
}

#[test]
fn a_file_that_appears_meanwhile_is_not_overwritten() {
    let given = Given::nothing();
    meanwhile(&given, &add("b"), OURS).unwrap();
    assert_eq!(ids(&given.document()), ["daily-news-summary", "weekly-code-review", "health-check", "b"]);
}

#[test]
fn a_file_that_changes_all_the_time_is_given_up_visibly() {
    let given = Given::file(OURS);
    let count = Cell::new(0);
    let outcome = given.file.change(|document| {
        count.set(count.get() + 1);
        fs::write(given.file.path(), format!("{OURS}{}", " ".repeat(count.get()))).unwrap();
        add("b").apply(document)
    });
    assert!(matches!(outcome, Err(ChangeError::Busy)), "{outcome:?}");
    assert_eq!(given.names(), ["jobs.json"]);
}
