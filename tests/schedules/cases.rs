//! The rows of cases.tsv: schedules from the configurations, reports and files of many users.

use super::{at, refused, schedule, slots, zone};
use chrono_tz::Tz;
use pretty_assertions::assert_eq;
use switchboard::domain::schedule::Schedule;

/// Rows that are not one expression in one zone; what is asked of each is a test of its own below.
const TOLD_IN_WORDS: [&str; 3] = ["every 60m / every 30m / every 15m", "every 14d", "2026-06-22T20:07:00"];

struct Row {
    text: String,
    zone: &'static str,
    from: &'static str,
    next: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    include_str!("cases.tsv").lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let text = columns[0].replace("<TAB>", "\t");
        Row { text, zone: columns[1], from: columns[2], next: columns[3] }
    })
}

/// The first instants of a column that begins with RFC 3339 times.
fn times(column: &str) -> Vec<String> {
    let words = column.split([' ', ';']).filter(|word| word.contains('T') && word.len() > 20);
    words.map(str::to_owned).collect()
}

#[test]
fn every_row_has_the_slots_that_it_asks_for() {
    let mut seen = 0;
    for row in rows().filter(|row| !TOLD_IN_WORDS.contains(&&*row.text)) {
        let wanted = times(row.next);
        if wanted.is_empty() || row.from.is_empty() {
            continue;
        }
        seen += 1;
        let found = slots(&row.text, zone(row.zone), at(row.from), wanted.len());
        assert_eq!(found, wanted, "{:?}", row.text);
    }
    assert_eq!(seen, 63, "a row was passed over");
}

#[test]
fn rows_that_never_come_are_refused() {
    let mut seen = 0;
    for row in rows().filter(|row| row.next.contains("REFUSED") || row.next.starts_with("DIALECT")) {
        let read = row.text.parse::<Schedule>();
        let checked = read.and_then(|schedule| {
            let from = if row.from.is_empty() { "2026-01-01T00:00:00Z" } else { row.from };
            schedule.check(Tz::UTC, at(from))
        });
        assert!(checked.is_err(), "{:?}", row.text);
        seen += 1;
    }
    assert_eq!(seen, 7, "a row was passed over");
}

#[test]
fn rows_without_a_zone_count_from_the_first_sight() {
    let from = at("2026-09-01T10:00:00Z");
    let told = |text| slots(text, Tz::UTC, from, 3);
    assert_eq!(
        told("30m"),
        ["2026-09-01T10:30:00+00:00", "2026-09-01T11:00:00+00:00", "2026-09-01T11:30:00+00:00"]
    );
    assert_eq!(told("in 30m"), ["2026-09-01T10:30:00+00:00"]);
    assert_eq!(
        told("every hour"),
        ["2026-09-01T11:00:00+00:00", "2026-09-01T12:00:00+00:00", "2026-09-01T13:00:00+00:00"]
    );
    for (text, minutes) in [("every 60m", 60), ("every 30m", 30), ("every 15m", 15)] {
        let slot = (from + super::minutes(minutes)).to_rfc3339();
        assert_eq!(slots(text, Tz::UTC, from, 1), [slot], "{text}");
    }
}

#[test]
fn an_interval_of_days_is_elapsed_time() {
    let told = slots("every 14d", zone("America/New_York"), at("2026-03-06T08:00:00-05:00"), 3);
    let wanted = ["2026-03-20T09:00:00-04:00", "2026-04-03T09:00:00-04:00", "2026-04-17T09:00:00-04:00"];
    assert_eq!(told, wanted);
}

#[test]
fn a_local_time_belongs_to_the_zone_of_the_job() {
    let told = slots("2026-06-22T20:07:00", zone("Asia/Shanghai"), at("2026-06-22T10:00:00Z"), 2);
    assert_eq!(told, ["2026-06-22T20:07:00+08:00"]);
}

#[test]
fn a_sign_before_a_length_is_answered_with_the_forms_that_exist() {
    assert!(refused("+1m").hint.contains("`in 1m`"));
    assert_eq!(schedule("in 1m").to_string(), "in 1m");
}
