//! Clock changes: gaps, times that come twice, days that a zone skips.

use super::{at, schedule, slots, zone};
use pretty_assertions::assert_eq;

#[track_caller]
fn assert_slots(text: &str, in_zone: &str, from: &str, wanted: &[&str]) {
    assert_eq!(slots(text, zone(in_zone), at(from), wanted.len()), wanted, "{text} in {in_zone}");
}

#[test]
fn a_time_of_day_stays_the_same_over_a_clock_change() {
    assert_slots("0 9 * * 1-5", "Europe/Berlin", "2026-10-23T09:00:00+02:00", &["2026-10-26T09:00:00+01:00"]);
    assert_slots("0 9 * * 1-5", "Europe/Berlin", "2027-03-26T09:00:00+01:00", &["2027-03-29T09:00:00+02:00"]);
}

#[test]
fn a_fixed_time_in_a_gap_runs_once_at_the_first_instant_after_it() {
    let (gap, next) = ("2026-03-08T03:00:00-04:00", "2026-03-09");
    for (text, time) in [("30 2 * * *", "02:30"), ("0 2 * * *", "02:00"), ("quartz: 0 30 2 * * ?", "02:30")] {
        let next = format!("{next}T{time}:00-04:00");
        assert_slots(text, "America/New_York", "2026-03-07T12:00:00-05:00", &[gap, &next]);
    }
    // Several times in one gap, and one right behind it, are one run.
    assert_slots(
        "0,30 2,3 * * *",
        "America/New_York",
        "2026-03-08T01:00:00-05:00",
        &[gap, "2026-03-08T03:30:00-04:00"],
    );
    assert_slots(
        "0 1-23/2 * * *",
        "America/New_York",
        "2026-03-08T01:00:00-05:00",
        &[gap, "2026-03-08T05:00:00-04:00"],
    );
    assert_slots(
        "0 0-22/2 * * *",
        "America/New_York",
        "2026-03-08T00:00:00-05:00",
        &[gap, "2026-03-08T04:00:00-04:00"],
    );
}

#[test]
fn a_gap_over_midnight_moves_a_fixed_time_to_the_next_day() {
    assert_slots(
        "30 23 * * 6",
        "America/Nuuk",
        "2026-03-28T12:00:00-02:00",
        &["2026-03-29T00:00:00-01:00", "2026-04-04T23:30:00-01:00"],
    );
}

#[test]
fn a_fixed_time_that_comes_twice_runs_in_the_first_pass_only() {
    let wanted = ["2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"];
    assert_slots("30 1 * * *", "America/New_York", "2026-10-31T12:00:00-04:00", &wanted);
    // Asked between the passes.
    assert_slots("30 1 * * *", "America/New_York", "2026-11-01T01:10:00-05:00", &wanted[1..]);
    assert_slots(
        "0 0-23 * * *",
        "America/New_York",
        "2026-11-01T01:00:00-04:00",
        &["2026-11-01T02:00:00-05:00"],
    );
}

#[test]
fn a_job_with_a_star_follows_elapsed_time_through_both_changes() {
    assert_slots(
        "*/30 * * * *",
        "America/New_York",
        "2026-03-08T01:00:00-05:00",
        &["2026-03-08T01:30:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-08T03:30:00-04:00"],
    );
    assert_slots(
        "*/30 * * * *",
        "America/New_York",
        "2026-11-01T00:30:00-04:00",
        &[
            "2026-11-01T01:00:00-04:00",
            "2026-11-01T01:30:00-04:00",
            "2026-11-01T01:00:00-05:00",
            "2026-11-01T01:30:00-05:00",
            "2026-11-01T02:00:00-05:00",
        ],
    );
    // The earlier times of the second pass lie ahead of the later ones of the first.
    assert_slots(
        "20 * * * *",
        "Europe/Berlin",
        "2026-10-25T02:40:00+02:00",
        &["2026-10-25T02:20:00+01:00", "2026-10-25T03:20:00+01:00"],
    );
    assert_slots(
        "*/30 2 * * *",
        "Europe/Berlin",
        "2026-03-28T02:30:00+01:00",
        &["2026-03-30T02:00:00+02:00"],
    );
    assert_slots(
        "5 */1 * * *",
        "Australia/Lord_Howe",
        "2026-10-04T01:05:00+10:30",
        &["2026-10-04T03:05:00+11:00"],
    );
}

#[test]
fn a_day_that_a_zone_skips_has_no_slot() {
    for text in ["0 4 * * *", "0 */24 * * *", "30 23 * * *", "0 0 * * *"] {
        let told = slots(text, zone("Pacific/Apia"), at("2011-12-29T23:45:00-10:00"), 1);
        assert!(told[0].starts_with("2011-12-31T"), "{text}: {told:?}");
    }
    assert_slots("0 4 30 12 *", "Pacific/Apia", "2011-06-01T00:00:00Z", &["2012-12-30T04:00:00+14:00"]);
}

#[test]
fn a_day_whose_slots_the_clock_jumped_over_is_told_once() {
    let berlin = zone("Europe/Berlin");
    let swallowed = |text: &str, after: &str, until: &str| {
        let days = schedule(text).swallowed(at(after), at(until), berlin);
        days.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let (before, gap_end, after) =
        ("2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00");
    assert_eq!(swallowed("*/30 2 * * *", before, after), ["2026-03-29"]);
    assert_eq!(swallowed("*/30 2 * * *", before, gap_end), ["2026-03-29"]);
    assert_eq!(swallowed("*/30 2 * * *", gap_end, after), [""; 0]);
    assert_eq!(swallowed("*/30 2 * * *", before, "2026-03-29T01:59:59+01:00"), [""; 0]);
    // One slot of the day is left; a fixed time runs after the gap; these days have none anyway.
    assert_eq!(swallowed("*/30 2,5 * * *", before, after), [""; 0]);
    assert_eq!(swallowed("30 2 * * *", before, after), [""; 0]);
    assert_eq!(swallowed("*/30 2 * * 1", before, after), [""; 0]);
    assert_eq!(swallowed("every 30m", before, after), [""; 0]);
    assert_eq!(swallowed("*/30 2 * * *", "2020-01-01T00:00:00Z", "2026-01-01T00:00:00Z").len(), 6);
}

#[test]
fn a_day_that_a_zone_skips_is_told_for_fixed_times_too() {
    let (apia, from, until) =
        (zone("Pacific/Apia"), at("2011-12-29T12:00:00-10:00"), at("2011-12-31T12:00:00+14:00"));
    for text in ["0 4 * * *", "*/10 * * * *"] {
        let days = schedule(text).swallowed(from, until, apia);
        assert_eq!(days, ["2011-12-30".parse().unwrap()], "{text}");
    }
}
