//! What a change writes: its own bytes, whole or not at all, with owner, mode and link as they were.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use pretty_assertions::assert_eq;
use switchboard::domain::Time;
use switchboard::domain::cron::Definition;
use switchboard::domain::cron::document::{Document, NEW_FILE};
use switchboard::domain::cron::merge::{Edit, Firing};
use switchboard::store::jobs_file::{ChangeError, Reading};

use super::given::*;

/// The sample in many layouts, each with the same three jobs.
fn layouts(sample: &str) -> Vec<String> {
    let tabs: String = sample.lines().map(|line| line.replacen("  ", "\t", line.len()) + "\n").collect();
    let compact = serde_json::from_str::<serde_json::Value>(sample).unwrap().to_string();
    vec![
        sample.to_owned(),
        sample.trim_end().to_owned(),
        sample.replace('\n', "\r\n"),
        tabs,
        compact,
        format!("\u{feff}{sample}"),
        format!("\n\n {sample}\n\n"),
    ]
}

#[test]
fn a_change_that_changes_nothing_writes_nothing() {
    for sample in [OURS, HERMES, SHIPPED] {
        for text in layouts(sample) {
            let given = Given::file(&text);
            let stamp = given.file.stamp();
            let document = given.document();
            for entry in document.entries() {
                let base = document.record_text(entry).to_owned();
                let same = Edit::Change { id: entry.id.clone().unwrap(), base, to: definition(entry) };
                given.file.edit(&same).unwrap();
            }
            assert_eq!(given.text(), text);
            assert_eq!(given.file.stamp(), stamp);
            assert_eq!(given.names(), ["jobs.json"]);
        }
    }
}

#[test]
fn an_edit_changes_the_bytes_of_its_own_record_and_nothing_else() {
    for sample in [OURS, HERMES] {
        for text in layouts(sample) {
            let given = Given::file(&text);
            let before = given.document();
            let name = before.entries()[1].id.clone().unwrap();
            given.set_prompt(name.as_str(), "日本語で 🚀");
            let after = given.document();
            for place in [0, 2] {
                let record =
                    |document: &Document| document.record_text(&document.entries()[place]).to_owned();
                assert_eq!(record(&before), record(&after));
            }
            let (old, new) =
                (before.record_text(&before.entries()[1]), after.record_text(&after.entries()[1]));
            assert_eq!(text.replacen(old, new, 1), given.text());
            assert!(new.contains("\"日本語で 🚀\""), "other scripts are written as they are: {new}");
            assert_eq!(fs::read_to_string(given.path("jobs.json.bak")).unwrap(), text);
        }
    }
}

#[test]
fn a_pause_and_its_end_leave_hermes_record_as_hermes_would() {
    let given = Given::file(HERMES);
    let switch = |to| given.file.edit(&Edit::Switch { id: id("3f2a90b1c4de"), to }).unwrap();
    switch(Firing::Paused);
    let paused = HERMES.replacen("\"enabled\": true", "\"enabled\": false", 1);
    let paused = paused.replacen("\"state\": \"scheduled\"", "\"state\": \"paused\"", 1);
    assert_eq!(given.text(), paused);
    switch(Firing::On);
    assert_eq!(given.text(), HERMES);
}

#[test]
fn the_first_job_makes_the_file_for_its_owner_alone() {
    let given = Given::nothing();
    given.file.edit(&add("a")).unwrap();
    let record =
        "{\n      \"id\": \"a\",\n      \"schedule\": \"0 8 * * *\",\n      \"prompt\": \"look\"\n    }";
    assert_eq!(given.text(), NEW_FILE.replace("[]", &format!("[\n    {record}\n  ]")));
    assert_eq!(given.file.path().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(given.names(), ["jobs.json"]);
}

#[test]
fn a_removed_job_comes_back_byte_for_byte() {
    for text in layouts(HERMES) {
        let given = Given::file(&text);
        let document = given.document();
        for entry in document.entries() {
            let base = document.record_text(entry).to_owned();
            let remove = Edit::Remove { id: entry.id.clone().unwrap(), base };
            let removed = given.file.edit(&remove).unwrap().removed.unwrap();
            assert_eq!(given.document().entries().len(), 2);
            given.file.edit(&Edit::PutBack { removed }).unwrap();
            assert_eq!(given.text(), text);
        }
    }
}

#[test]
fn a_link_is_written_through_and_its_backup_stands_beside_the_link() {
    let given = Given::nothing();
    let repository = tempfile::tempdir().unwrap();
    let target = repository.path().join("tasks.json");
    fs::write(&target, OURS).unwrap();
    symlink(&target, given.file.path()).unwrap();
    given.set_prompt("health-check", "new");
    assert_eq!(fs::read_link(given.file.path()).unwrap(), target);
    assert!(fs::read_to_string(&target).unwrap().contains("\"prompt\": \"new\""));
    assert_eq!(given.names(), ["jobs.json", "jobs.json.bak"]);
    assert_eq!(fs::read_dir(repository.path()).unwrap().count(), 1, "nothing else appears in a repository");
}

#[test]
fn mode_and_owner_stay() {
    for mode in [0o600, 0o640, 0o664] {
        let given = Given::file(OURS);
        fs::set_permissions(given.file.path(), fs::Permissions::from_mode(mode)).unwrap();
        // Only the superuser can give a file away.
        let _ = std::os::unix::fs::chown(given.file.path(), Some(12345), Some(12345));
        let before = given.file.path().metadata().unwrap();
        given.set_prompt("health-check", "new");
        let after = given.file.path().metadata().unwrap();
        assert_eq!((after.uid(), after.gid(), after.mode()), (before.uid(), before.gid(), before.mode()));
    }
}

#[test]
fn the_version_before_each_change_is_kept() {
    let given = Given::file(OURS);
    for prompt in ["one", "two", "three"] {
        let before = given.text();
        given.set_prompt("health-check", prompt);
        assert_eq!(fs::read_to_string(given.path("jobs.json.bak")).unwrap(), before);
    }
    assert_eq!(given.names(), ["jobs.json", "jobs.json.bak"]);
}

#[test]
fn the_stored_copy_takes_the_place_of_an_unreadable_file_which_is_kept() {
    let cut = &OURS[..OURS.len() / 2];
    let given = Given::file(cut);
    for n in ["", "-2"] {
        fs::write(given.file.path(), cut).unwrap();
        let aside = given.file.take_stored_copy(OURS, Time::UNIX_EPOCH).unwrap().unwrap();
        assert_eq!(aside, given.path(&format!("jobs.json.bad-19700101T000000Z{n}")));
        assert_eq!(fs::read_to_string(aside).unwrap(), cut);
        assert_eq!(given.text(), OURS);
    }
    let repaired = given.file.take_stored_copy(HERMES, Time::UNIX_EPOCH);
    assert!(matches!(repaired, Err(ChangeError::Repaired)), "{repaired:?}");
    assert_eq!(given.text(), OURS);
    assert!(given.file.take_stored_copy("nonsense", Time::UNIX_EPOCH).is_err());
    let missing = Given::nothing();
    assert_eq!(missing.file.take_stored_copy(OURS, Time::UNIX_EPOCH).unwrap(), None);
    assert_eq!(missing.text(), OURS);
}

#[test]
fn a_disk_that_can_not_be_written_leaves_the_file_and_says_so() {
    let given = Given::file(OURS);
    let folder = given.folder.path().to_owned();
    fs::create_dir(given.path("jobs.json.lock")).unwrap();
    let error = given.file.edit(&add("b")).unwrap_err();
    assert!(error.to_string().starts_with(&folder.join("jobs.json").display().to_string()), "{error}");
    assert_eq!(given.text(), OURS);
}

#[test]
fn ten_thousand_jobs_are_changed_one_at_a_time() {
    let jobs: Vec<String> = (0..10_000)
        .map(|n| {
            format!("    {{ \"id\": \"job-{n}\", \"schedule\": \"{} 8 * * *\", \"prompt\": \"n\" }}", n % 60)
        })
        .collect();
    let text = format!("{{\n  \"jobs\": [\n{}\n  ]\n}}\n", jobs.join(",\n"));
    let given = Given::file(&text);
    assert!(given.document().entries().iter().all(|entry| entry.record.is_ok()));
    given.set_prompt("job-7777", "m");
    let changed = jobs[7777].replace("\"n\" }", "\"m\" }");
    assert_eq!(given.text(), text.replace(&jobs[7777], &changed));
}

/// Not a test of its own: the process that the next one kills.
#[test]
#[ignore = "it is killed by the test that starts it"]
fn a_writer_that_is_killed() {
    let path = std::env::var_os("KILLED_WRITER_FILE").unwrap();
    switchboard::failpoint::arm();
    let file = switchboard::store::jobs_file::JobsFile::new(path.into());
    file.edit(&add("b")).unwrap();
    panic!("it was not killed");
}

#[test]
fn a_kill_leaves_the_old_file_or_the_new_one() {
    for (point, written) in [("jobs-before-rename", false), ("jobs-after-rename", true)] {
        let given = Given::file(OURS);
        let mut writer = Command::new(std::env::current_exe().unwrap());
        writer.args(["--ignored", "--exact", "jobs_file::writing::a_writer_that_is_killed"]);
        writer
            .env("SWITCHBOARD_FAILPOINTS", format!("{point}=1"))
            .env("KILLED_WRITER_FILE", given.file.path());
        let ended = writer.output().unwrap();
        assert_eq!(ended.status.signal(), Some(9), "{}", String::from_utf8_lossy(&ended.stdout));
        let Reading::Read(document, _) = given.file.read() else { panic!("half a file at {point}") };
        assert_eq!(document.find(&id("b")).is_some(), written);
        assert_eq!(given.text() == OURS, !written);
        // Who comes next is not held up, and what the dead one left harms nobody.
        given.file.edit(&add("c")).unwrap();
        assert!(given.document().find(&id("c")).is_some());
    }
}

#[test]
fn a_definition_that_could_not_fire_is_refused_with_its_fault() {
    let given = Given::file(OURS);
    let document = given.document();
    let entry = &document.entries()[0];
    let to = Definition { schedule: "every 0m".to_owned(), ..definition(entry) };
    let edit = Edit::Change { id: to.id.clone(), base: document.record_text(entry).to_owned(), to };
    let error = given.file.edit(&edit).unwrap_err().to_string();
    assert!(error.starts_with("schedule \"every 0m\": "), "{error}");
    assert_eq!(given.text(), OURS);
}
