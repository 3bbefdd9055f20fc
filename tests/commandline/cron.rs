//! Scheduled tasks without a screen.

use crate::support::program::Place;

#[test]
fn cron_next_prints_slots_for_scripts_and_tells_people_what_they_mean() {
    let place = Place::new();
    let next = ["cron", "next", "0 9 15 * 1", "--timezone", "Europe/Berlin", "--count", "3"];
    let from = ["--from", "2026-11-29T14:00:00+01:00"];
    let run = place.run(&[&next[..], &from].concat());
    let slots = "2026-11-30T09:00:00+01:00\n2026-12-07T09:00:00+01:00\n2026-12-14T09:00:00+01:00\n";
    let told =
        "at 09:00 on the 15th of the month or on Mondays\n! both day fields are set: cron takes this as OR\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, slots, told));
    assert!(!place.home().exists());
}

#[test]
fn cron_next_tells_a_program_all_of_it_in_one_line() {
    let place = Place::new();
    let asked = ["cron", "next", "0 9 15 * 1", "--timezone", "Europe/Berlin", "--count", "1"];
    let told = place.json(&[&asked[..], &["--from", "2026-11-29T14:00:00+01:00"]].concat()).remove(0);
    assert_eq!(told["slots"][0], "2026-11-30T09:00:00+01:00");
    assert_eq!(told["words"], "at 09:00 on the 15th of the month or on Mondays");
    assert_eq!(
        (told["zone"].as_str(), told["warnings"].as_array().unwrap().len()),
        (Some("Europe/Berlin"), 1)
    );
}

#[test]
fn a_field_of_another_kind_is_wrong_usage() {
    let place = Place::new();
    for (option, value, why) in [
        ("--repeat", "abc", "must be a whole number"),
        ("--enabled", "maybe", "must be yes or no"),
        ("--session", "x", "must be fresh or keep"),
        ("--misfire", "never", "once, skip or all:N"),
    ] {
        let run = place.run(&["cron", "add", "30m", "look", option, value]);
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains(option) && run.err.contains(why), "{}", run.err);
    }
}

#[test]
fn cron_next_refuses_what_never_comes_and_what_is_no_schedule() {
    let place = Place::new();
    for (schedule, told) in [
        (
            "0 0 30 2 *",
            "day of month \"0 0 30 2 *\": this date never comes; write a day that its months have",
        ),
        ("2020-01-01T00:00", "2020-01-01T00:00 has no slot after Sun 2026-11-29 13:00 UTC"),
        (
            "-5m",
            "length \"-5m\": a length has no sign; write `in 5m` for once, `every 5m` for again and again",
        ),
    ] {
        let run =
            place.run(&["cron", "next", schedule, "--timezone", "UTC", "--from", "2026-11-29T13:00:00Z"]);
        assert_eq!((run.code, run.out, run.err), (1, String::new(), format!("switchboard: {told}\n")));
    }
    let run = place.run(&["cron", "next", "0 8 * * *", "--timezone", "Europe/Berln"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("did you mean Europe/Berlin?"), "{}", run.err);
    assert_eq!(place.run(&["cron", "next", "0 8 * * *", "--from", "tomorrow"]).code, 2);
}
