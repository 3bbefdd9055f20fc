//! Scheduled tasks from the command line.

use serde_json::Value;

use crate::support::program::{Place, Serve};

const JOBS: &str = r#"{ "jobs": [
  { "id": "disk", "schedule": "every 30 minutes", "prompt": "Look at the disk" },
  { "id": "disk-report", "schedule": "0 8 * * 1", "timezone": "Europe/Berlin", "name": "Monday report", "prompt": "Report" },
  { "id": "later", "schedule": "0 25 * * *", "prompt": "x" }
] }
"#;

fn job(place: &Place, id: &str) -> Value {
    place.json(&["cron", "show", id]).remove(0)
}

fn last_run(place: &Place, id: &str) -> Value {
    place.json(&["cron", "history", id]).remove(0)
}

/// Starts an engine and waits until it knows the jobs: it serves before it has read the file.
fn serve_jobs(place: &Place) -> Serve {
    place.write("jobs.json", JOBS.as_bytes());
    let engine = place.serve(&[]);
    while !place.json(&["cron", "list"]).iter().any(|row| row["jobs_file"]["file"] == "read") {}
    engine
}

#[test]
fn check_tells_file_line_field_and_value_of_what_is_wrong_and_the_next_slots_of_the_rest() {
    let place = Place::new();
    assert_eq!(place.done(&["cron", "check"]), "there is no jobs.json in this home: no jobs\n");
    place.write("jobs.json", JOBS.as_bytes());
    let list = place.run(&["cron", "list"]);
    assert!(list.err.contains("`switchboard cron check` reads jobs.json"), "{}", list.err);
    let run = place.run(&["cron", "check"]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("jobs.json:4: later: schedule \"0 25 * * *\": "), "{}", run.out);
    let disk = run.out.split("disk-report").next().unwrap();
    assert!(disk.starts_with("disk: every 30 minutes"), "{disk}");
    assert_eq!(disk.lines().filter(|line| line.starts_with("  2")).count(), 5, "{disk}");
    let json = place.run(&["cron", "check", "--json"]);
    let told: Value = serde_json::from_str(json.out.lines().last().unwrap()).unwrap();
    assert_eq!((told["id"].as_str(), told["line"].as_u64()), (Some("later"), Some(4)));
    assert_eq!(told["faults"].as_array().unwrap().len(), 1);
}

#[test]
fn check_warns_of_what_a_job_names_and_that_is_not_there() {
    let place = Place::new();
    std::fs::create_dir_all(place.home().join("skills/mail")).unwrap();
    place.write("skills/mail/SKILL.md", b"read");
    let jobs = r#"{ "jobs": [
      { "id": "a", "schedule": "@daily", "prompt": "x", "skill": "mail" },
      { "id": "b", "schedule": "@daily", "prompt": "x", "skill": "gone", "script": "gone.sh", "workdir": "/nowhere" }
    ] }"#;
    place.write("jobs.json", jobs.as_bytes());
    let checked = place.json(&["cron", "check"]);
    assert_eq!(checked[0]["warnings"], serde_json::json!([]));
    let told: Vec<&str> = checked[1]["warnings"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    for (told, begin) in
        told.iter().zip(["skill \"gone\": ", "script \"gone.sh\": ", "workdir \"/nowhere\": "])
    {
        assert!(told.starts_with(begin), "{told}");
    }
}

#[test]
fn check_waits_for_no_pipe_and_takes_a_link_to_nothing_for_no_missing_file() {
    let place = Place::new();
    place.write("elsewhere", b"");
    std::os::unix::fs::symlink("/nowhere", place.home().join("jobs.json")).unwrap();
    let run = place.run(&["cron", "check"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("can't be read: it is a link to nothing"), "{}", run.err);
    let folder = place.home().display().to_string();
    assert!(place.run(&["cron", "check", &folder]).err.contains("can't be read: it is no file"));
}

#[test]
fn check_tells_line_and_column_of_a_file_that_is_no_json() {
    let place = Place::new();
    place.write("jobs.json", b"{ \"jobs\": [\n  { \"id\": \"a\" \"schedule\": \"@daily\" }\n] }");
    let run = place.run(&["cron", "check"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("jobs.json: line 2 column 15"), "{}", run.err);
}

#[test]
fn without_an_engine_jobs_are_changed_in_the_file_and_count_from_the_next_start() {
    let place = Place::new();
    assert_eq!(place.run(&["cron", "add", "0 25 * * *", "x"]).code, 1);
    assert!(!place.home().exists(), "a refusal makes nothing");
    let later = "; no engine runs: it counts from the next start\n";
    let added = place.done(&["cron", "add", "every 2h", "Look at the disk", "--name", "Disk"]);
    assert_eq!(added, format!("job look-at-the-disk saved{later}"));
    let file = || std::fs::read_to_string(place.home().join("jobs.json")).unwrap();
    assert!(file().contains("\"look-at-the-disk\""), "{}", file());
    let again = place.done(&["cron", "add", "0 8 * * *", "Look at the disk", "--timezone", "UTC"]);
    assert_eq!(again, format!("job look-at-the-disk-2 saved{later}"), "its id is its own");
    assert_eq!(job(&place, "Disk")["row"]["words"], "every 2 hours");
    let twice = ["cron", "add", "0 8 * * *", "x", "--id", "twice", "--repeat", "2"];
    place.done(&twice);
    assert_eq!(job(&place, "twice")["next"].as_array().unwrap().len(), 2);
    place.done(&["cron", "remove", "twice"]);
    let ambiguous = place.run(&["cron", "show", "look"]);
    assert!(ambiguous.err.contains("look-at-the-disk, look-at-the-disk-2"), "{}", ambiguous.err);

    let edited = place.run(&["cron", "edit", "Disk", "--schedule", "0 9 * * *", "--skills", "gone"]);
    assert_eq!(edited.out, format!("job look-at-the-disk saved{later}"));
    assert!(edited.err.starts_with("! skill \"gone\": there is no "), "{}", edited.err);
    let paused = place.done(&["cron", "pause", "look-at-the-disk-2", "--why", "later"]);
    assert!(paused.contains("; why is not kept: only an engine keeps that; no engine runs"), "{paused}");
    assert_eq!(job(&place, "look-at-the-disk-2")["row"]["state"]["state"], "paused");
    assert!(place.run(&["cron", "pause", "look-at-the-disk-2"]).err.contains("is paused already"));
    place.done(&["cron", "resume", "look-at-the-disk-2"]);
    assert!(!job(&place, "look-at-the-disk-2")["row"]["next"].is_null());

    for (what, why) in [
        (&["cron", "run", "Disk"][..], "no engine runs for this home"),
        (&["cron", "edit", "Disk", "--id", "disk"], "a job gets another id only while an engine runs"),
        (&["cron", "add", "0 25 * * *", "x"], "schedule \"0 25 * * *\": "),
        (&["cron", "add", "2020-01-01T00:00", "x"], "is past, by "),
        (&["cron", "remove", "nothing"], "there is no job \"nothing\""),
    ] {
        let run = place.run(what);
        assert!(run.code == 1 && run.err.contains(why), "{what:?}: {run:?}");
    }
    assert!(place.run(&["--read-only", "cron", "remove", "Disk"]).err.contains("read-only"));
    let removed = place.done(&["cron", "remove", "look-at-the-disk-2"]);
    assert_eq!(removed, format!("job look-at-the-disk-2 removed from jobs.json{later}"));

    let _engine = place.serve(&[]);
    while !place.json(&["cron", "list"]).iter().any(|row| row["jobs_file"]["file"] == "read") {}
    let rows = place.json(&["cron", "list"]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(job(&place, "Disk")["row"]["schedule"], "0 9 * * *");
}

#[test]
fn without_an_engine_an_edit_is_of_what_stands_in_the_file_not_of_what_the_last_engine_read() {
    let place = Place::new();
    let engine = serve_jobs(&place);
    engine.kill();
    let by_hand = JOBS.replace("\"Report\"", "\"By hand\"");
    place.write("jobs.json", by_hand.as_bytes());
    place.done(&["cron", "edit", "Monday report", "--schedule", "0 7 * * 1"]);
    let file = std::fs::read_to_string(place.home().join("jobs.json")).unwrap();
    assert_eq!(file, by_hand.replace("0 8 * * 1", "0 7 * * 1"));
}

#[test]
fn a_job_is_made_changed_paused_run_and_taken_out() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    assert!(place.done(&["cron", "list"]).starts_with("no jobs; "));
    place.done(&["cron", "add", "every 2h", "Look at the disk", "--timeout-minutes", "5"]);
    let made = job(&place, "look-at-the-disk");
    assert_eq!(made["row"]["words"], "every 2 hours");
    assert_eq!(made["definition"]["timeout_minutes"], 5);
    assert_eq!(made["next"].as_array().unwrap().len(), 5);

    place.done(&["cron", "edit", "look", "--schedule", "0 8 * * *", "--timeout-minutes", ""]);
    let edited = job(&place, "look-at-the-disk");
    assert_eq!(edited["row"]["schedule"], "0 8 * * *");
    assert_eq!(edited["definition"]["timeout_minutes"], Value::Null);

    place.done(&["cron", "pause", "look", "--why", "the disk is new"]);
    let paused = job(&place, "look-at-the-disk");
    assert_eq!(paused["row"]["state"]["state"], "paused");
    let list = place.done(&["cron", "list"]);
    assert!(list.contains(" paused ") && list.contains("the disk is new"), "{list}");
    place.done(&["cron", "resume", "look"]);

    assert!(place.done(&["cron", "run", "look", "--wait"]).ends_with(" succeeded\n"));
    let run = last_run(&place, "look-at-the-disk");
    assert_eq!((run["state"].as_str(), &run["slots"]), (Some("succeeded"), &Value::Null));
    let document = place.done(&["cron", "output", &run["id"].to_string()]);
    assert!(document.contains("Look at the disk"), "{document}");
    let after = job(&place, "look-at-the-disk");
    assert_eq!(after["next"][0], edited["next"][0], "a run beside the slots moves none");

    place.done(&["cron", "remove", "look"]);
    let gone = place.run(&["cron", "pause", "look-at-the-disk"]);
    assert!(gone.code == 1 || job(&place, "look-at-the-disk")["row"]["state"]["state"] == "vanished");
    let file = std::fs::read_to_string(place.home().join("jobs.json")).unwrap();
    assert!(!file.contains("disk"), "{file}");
}

#[test]
fn another_scheduler_on_the_same_file_is_an_alert_and_the_doctor_warns_of_it() {
    let place = Place::new();
    let job = |more: &str| {
        format!(r#"{{ "jobs": [{{ "id": "a", "schedule": "0 0 1 1 *", "prompt": "x"{more} }}] }}"#)
    };
    place.write("jobs.json", job("").as_bytes());
    let engine = place.serve(&[]);
    while job_is_unknown(&place, "a") {}
    let warned = || place.done(&["doctor"]).contains("two schedulers on one file fire each job twice");
    for look in 1..=3 {
        assert!(!warned());
        let ran = format!(", \"last_run_at\": \"2026-11-2{look}T08:00:00Z\"");
        place.write("jobs.json", job(&ran).as_bytes());
        let told = || {
            place.done(&["events"]).matches("another program wrote into jobs.json that it ran job a").count()
        };
        while told() < look {}
    }
    assert_eq!(place.json(&["alerts"])[0]["key"], "scheduler");
    assert!(warned());
    drop(engine);
    assert!(warned(), "also where no engine runs");
}

/// A job `hangs`, whose agent says nothing for as long as the file `hang` is there.
fn with_a_job_that_hangs(idle_seconds: u32) -> Place {
    let place = Place::new();
    let settings = format!(
        "[agent]\nbackend = \"command\"\n[agent.command]\nargv = [\"sh\", \"-c\", \"while test -e hang; do sleep 0.1; done; echo done\"]\n\
         [cron]\nidle_timeout_seconds = {idle_seconds}\n"
    );
    place.write("config.toml", settings.as_bytes());
    place.write("jobs.json", br#"{ "jobs": [{ "id": "hangs", "schedule": "0 0 1 1 *", "prompt": "x" }] }"#);
    place.write("hang", b"");
    place
}

/// Waits until the run of the job `hangs` is in that state.
fn wait_for_run(place: &Place, state: &str) -> Value {
    loop {
        let run = place.json(&["cron", "history", "hangs"]).into_iter().next();
        if let Some(run) = run.filter(|run| run["state"] == state) {
            return run;
        }
    }
}

#[test]
fn a_run_whose_worker_hangs_ends_by_itself_and_its_job_is_free() {
    let place = with_a_job_that_hangs(1);
    let _engine = place.serve(&[]);
    while job_is_unknown(&place, "hangs") {}
    let run = place.run(&["cron", "run", "hangs", "--wait"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.ends_with(" timed_out: no progress for 1 s\n"), "{run:?}");
    std::fs::remove_file(place.home().join("hang")).unwrap();
    assert_eq!(place.run(&["cron", "run", "hangs", "--wait"]).code, 0, "its job is free");
    let history = place.json(&["cron", "history", "hangs"]);
    let states: Vec<&str> = history.iter().filter_map(|run| run["state"].as_str()).collect();
    assert_eq!(states, ["succeeded", "timed_out"]);
}

#[test]
fn a_run_that_is_killed_with_its_engine_is_delivered_as_a_failure_and_told_by_the_next_start() {
    let place = with_a_job_that_hangs(600);
    let engine = place.serve(&[]);
    while job_is_unknown(&place, "hangs") {}
    place.done(&["cron", "run", "hangs"]);
    while wait_for_run(&place, "running")["turn"].is_null() {}
    engine.kill();
    let _engine = place.serve(&[]);
    let run = wait_for_run(&place, "interrupted");
    assert_eq!(run["why"], "the engine died");
    while wait_for_run(&place, "interrupted")["deliveries"][0]["state"] != "delivered" {}
    let recovery = place.done(&["recovery"]);
    assert!(recovery.contains("1 run of a job was cut off and is not repeated: hangs."), "{recovery}");
    let told = place.done(&["events"]);
    assert!(told.contains("to console: delivered: the engine died"), "{told}");
    assert_eq!(place.json(&["cron", "history", "hangs"]).len(), 1, "it is not run again");
}

fn job_is_unknown(place: &Place, id: &str) -> bool {
    place.run(&["cron", "show", id]).code != 0
}

#[test]
fn a_job_is_named_by_a_unique_beginning_or_a_name_and_an_ambiguous_one_is_refused_with_the_candidates() {
    let place = Place::new();
    let _engine = serve_jobs(&place);
    assert_eq!(job(&place, "Monday report")["row"]["id"], "disk-report");
    assert_eq!(job(&place, "disk")["row"]["id"], "disk", "a whole id is no beginning of another");
    let run = place.run(&["cron", "pause", "dis"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("\"dis\" fits several jobs: disk, disk-report"), "{}", run.err);
    let run = place.run(&["cron", "run", "nothing"]);
    assert!(run.err.contains("there is no job \"nothing\""), "{}", run.err);
}

#[test]
fn what_can_not_be_a_job_is_refused_with_the_field_and_nothing_is_written() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    for (arguments, told) in [
        (["cron", "add", "0 25 * * *", "x"].as_slice(), "schedule"),
        (&["cron", "add", "@daily", "x", "--workdir", "here"], "workdir \"here\": must be an absolute path"),
        (&["cron", "add", "@daily"], "prompt: missing"),
        (&["cron", "add", "2020-01-01T00:00", "x"], "past"),
        (&["cron", "edit", "x"], "nothing to change"),
    ] {
        let run = place.run(arguments);
        assert_eq!(run.code, 1, "{arguments:?}");
        assert!(run.err.contains(told), "{arguments:?}: {}", run.err);
    }
    assert!(!place.home().join("jobs.json").exists());
}

#[test]
fn slash_cron_does_the_same() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    place.done(&["send", "/cron add \"weekdays at 9:30\" Sum it up"]);
    assert!(place.done(&["send", "/cron"]).contains("sum-it-up  scheduled: at 09:30 on weekdays"));
    place.done(&["send", "/cron edit sum overlap queue"]);
    assert_eq!(job(&place, "sum")["definition"]["overlap"], "queue");
    place.done(&["send", "/cron pause sum for now"]);
    assert_eq!(job(&place, "sum")["row"]["paused"]["why"], "for now");
    place.done(&["send", "/cron resume sum"]);
    place.done(&["cron", "run", "sum", "--wait"]);
    assert!(place.done(&["send", "/cron history sum"]).contains("ok, run now"));
    place.done(&["send", "/cron run sum"]);
    assert!(place.done(&["send", "/cron next every 2h"]).lines().count() >= 5);
    let editor = place.run(&["send", "/cron add"]);
    assert_eq!(editor.code, 1);
    place.done(&["send", "/cron remove sum"]);
    assert!(!std::fs::read_to_string(place.home().join("jobs.json")).unwrap().contains("sum-it-up"));
}

#[test]
fn a_list_says_that_the_file_cannot_be_read_with_an_engine_and_without_one() {
    let place = Place::new();
    let broken: &[u8] = b"{ \"jobs\": [\n  { \"id\": \"a\" \"schedule\": \"@daily\" }\n] }";
    place.write("jobs.json", broken);
    let told = |jobs: usize| {
        let run = place.run(&["cron", "list"]);
        assert!(run.err.contains("jobs.json is unreadable since"), "{}", run.err);
        assert!(run.err.contains("line 2 column 15"), "{}", run.err);
        let rows = place.json(&["cron", "list"]);
        assert_eq!(rows.len(), jobs.max(1), "{rows:?}");
        for row in rows {
            assert_eq!(row["jobs_file"]["file"], "unreadable", "{row}");
            assert_eq!(row["jobs_file"]["trouble"]["place"], serde_json::json!([2, 15]), "{row}");
            assert_eq!(row["id"].is_null(), jobs == 0, "{row}");
        }
    };
    told(0);
    let engine = serve_jobs(&place);
    assert_eq!(place.json(&["cron", "list"]).len(), 3);
    drop(engine);
    place.write("jobs.json", broken);
    told(3);
}

#[test]
fn a_place_where_nothing_arrives_is_told_when_a_job_is_made_checked_and_shown() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    let add = ["cron", "add", "@daily", "look", "--id", "far", "--deliver-to", "telegram:-100,console"];
    let warning = "telegram is not configured: the text stays in output/far/";
    let run = place.run(&add);
    assert_eq!((run.code, run.err), (0, format!("! {warning}\n")));
    assert!(place.done(&["cron", "check"]).contains(&format!("  ! {warning}\n")));
    assert!(place.done(&["cron", "show", "far"]).contains(&format!("! {warning}\n")));
    assert_eq!(job(&place, "far")["warnings"][0], warning);
}

#[test]
fn a_job_that_reads_from_one_that_is_not_there_is_told_when_it_is_made_listed_shown_and_checked() {
    let place = Place::new();
    let _engine = place.serve(&[]);
    let warning = "context_from names never, and there is no such job: its output is left out";
    let run = place.run(&["cron", "add", "@daily", "look", "--id", "reader", "--context-from", "never"]);
    assert_eq!((run.code, run.err), (0, format!("! {warning}\n")));
    assert!(place.done(&["cron", "list"]).contains(warning));
    assert!(place.done(&["cron", "show", "reader"]).contains(&format!("! {warning}\n")));
    assert!(place.done(&["cron", "check"]).contains(&format!("  ! {warning}\n")));
    place.done(&["cron", "add", "@daily", "look", "--id", "never"]);
    assert_eq!(job(&place, "reader")["warnings"], serde_json::json!([]));
    for told in [&["cron", "list"][..], &["cron", "check"]] {
        assert!(!place.done(told).contains("context_from"), "{told:?}");
    }
}
