//! What is read, what is not, and that missing is not unreadable.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use switchboard::domain::cron::Target;
use switchboard::store::jobs_file::{ChangeError, JobsFile, Reading};

use super::given::*;

fn unreadable(given: &Given) -> String {
    match given.file.read() {
        Reading::Unreadable(unreadable) => unreadable.to_string(),
        other => panic!("read: {other:?}"),
    }
}

#[test]
fn the_samples_of_both_shapes_and_the_shipped_one_are_read_whole() {
    for (sample, names) in [
        (OURS, ["daily-news-summary", "weekly-code-review", "health-check"]),
        (HERMES, ["3f2a90b1c4de", "9b01c7e5aa10", "c0ffee00d00d"]),
        (SHIPPED, ["health-check", "morning-summary", "weekly-review"]),
    ] {
        let document = Given::file(sample).document();
        assert_eq!(ids(&document), names);
        for entry in document.entries() {
            let record = entry.record.clone().unwrap();
            assert_eq!(record.warnings, Vec::<String>::new());
            record.definition.check().unwrap();
        }
    }
}

#[test]
fn hermes_runs_come_along_as_the_state_to_begin_with() {
    let document = Given::file(HERMES).document();
    let records: Vec<_> = document.entries().iter().map(|entry| entry.record.clone().unwrap()).collect();
    let [news, disk, certificate] = records.as_slice() else { panic!() };
    assert_eq!(news.imported.completed, Some(41));
    assert_eq!(news.imported.next_run_at.unwrap().to_rfc3339(), "2026-08-24T05:00:00+00:00");
    assert_eq!(news.definition.deliver_to[0].to_string(), "telegram:-1001234567890:17");
    assert_eq!((news.definition.repeat, disk.definition.repeat), (None, Some(100)));
    assert_eq!(disk.imported.paused_reason.as_deref(), Some("the disk is being replaced"));
    assert!(news.definition.enabled && !disk.definition.enabled && disk.definition.no_agent);
    assert_eq!(disk.definition.deliver_to[1], Target::platform("local"));
    assert_eq!(certificate.definition.schedule, "2026-12-24T18:00:00+01:00");
}

#[test]
fn a_missing_file_is_no_jobs_and_an_unreadable_one_is_not() {
    let given = Given::nothing();
    assert_eq!(given.file.read(), Reading::Missing);
    assert_eq!(JobsFile::new(given.path("nowhere/jobs.json")).read(), Reading::Missing);
    assert!(given.names().is_empty(), "reading makes nothing");

    symlink(given.path("gone.json"), given.file.path()).unwrap();
    assert!(unreadable(&given).contains("symbolic link to"), "{}", unreadable(&given));

    let given = Given::nothing();
    fs::create_dir(given.file.path()).unwrap();
    assert_eq!(unreadable(&given), "it is no file: move it away");

    for (text, told) in [
        ("", "line 1 column 1, the file is empty"),
        ("null", "line 1 column 1, no list of jobs"),
        (
            "{\"jobs\":[{\"id\":\"a\",\"schedule\":\"0 8 * * *\"",
            "line 1 column 42, the file ends inside an object",
        ),
    ] {
        assert_eq!(unreadable(&Given::file(text)), told);
    }
}

#[test]
fn a_file_without_permission_is_unreadable_with_the_way_out() {
    let given = Given::file(OURS);
    fs::set_permissions(given.file.path(), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(given.file.path()).is_ok() {
        // The superuser reads everything; nothing can be shown then.
        return;
    }
    assert!(unreadable(&given).ends_with("give yourself permission to read it"), "{}", unreadable(&given));
}

#[test]
fn nothing_is_written_to_an_unreadable_file() {
    let cut = "{\"jobs\":[{\"id\":\"a\",\"schedule\":\"0 8 * * *\"";
    let given = Given::file(cut);
    let error = given.file.edit(&add("b")).unwrap_err();
    assert!(matches!(error, ChangeError::Unreadable(_)), "{error}");
    assert!(error.to_string().contains("line 1 column 42"), "{error}");
    assert_eq!(given.text(), cut);
    assert_eq!(given.names(), ["jobs.json"]);
}

#[test]
fn a_byte_order_mark_and_raw_control_characters_are_read() {
    let text = "\u{feff}[{\"id\":\"a\",\"schedule\":\"@daily\",\"prompt\":\"one\n\ttwo 日本 🚀\"}]";
    let document = Given::file(text).document();
    let record = document.entries()[0].record.clone().unwrap();
    assert_eq!(record.definition.prompt.as_deref(), Some("one\n\ttwo 日本 🚀"));
    assert_eq!(record.warnings.len(), 1, "{:?}", record.warnings);
}

#[test]
fn one_bad_record_harms_no_other() {
    let good = OURS.trim_end().strip_suffix("]\n}").unwrap().trim_end();
    for bad in [
        r#"{"job_id":"x"}"#,
        r#"{"id":"x","schedule":7}"#,
        r#"{"id":"x","schedule":{"kind":"interval"}}"#,
        r#"{"id":"x","schedule":{"kind":"cron"}}"#,
        r#"{"id":"x","schedule":{"kind":"weekly"}}"#,
        r#"{"id":"x","schedule":{"kind":"interval","minutes":0}}"#,
        r#"{"id":"health-check","schedule":"@daily"}"#,
        r#"{"id":"../x","schedule":"@daily"}"#,
        "{\"id\":\"x\ny\",\"schedule\":\"@daily\"}",
        r#"{"id":"x","schedule":"\ud83d"}"#,
        r#"{"schedule":"@daily"}"#,
        "[]",
        "null",
    ] {
        let document = Given::file(&format!("{good},\n{bad}]}}")).document();
        let good: Vec<bool> = document.entries().iter().map(|entry| entry.record.is_ok()).collect();
        assert_eq!(good, [true, true, true, false], "{bad}");
    }
    let imported = r#"{"id":"x","schedule":"@daily","next_run_at":"soon","last_run_at":"2026-13-99"}"#;
    let document = Given::file(&format!("{good},\n{imported}]}}")).document();
    assert_eq!(document.entries()[3].record.as_ref().unwrap().warnings.len(), 2);
}
