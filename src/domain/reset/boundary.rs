//! The daily boundary on a wall clock that is changed twice a year.

use chrono::{Days, NaiveDate, TimeZone};
use chrono_tz::{GapInfo, Tz};

use crate::domain::Time;

/// The first daily boundary after an instant: `at_hour` (0–23) on the wall clock of `zone`.
///
/// A calendar day has at most one. An hour that does not exist counts as the first instant after
/// the gap; of an hour that comes twice the first counts. None beyond the calendar's end.
pub fn next_boundary(after: Time, at_hour: u8, zone: Tz) -> Option<Time> {
    let day = after.with_timezone(&zone).date_naive();
    // The day's own may be over, and the next day's too: a clock set back over midnight shows the day again.
    (0..=2)
        .filter_map(|days| boundary_of(day.checked_add_days(Days::new(days))?, at_hour, zone))
        .find(|&at| at > after)
}

/// The boundary of a calendar day; none where a gap has moved the day before's into this day.
fn boundary_of(day: NaiveDate, at_hour: u8, zone: Tz) -> Option<Time> {
    let at = first_instant(day, at_hour, zone)?;
    let before = first_instant(day.pred_opt()?, at_hour, zone);
    let date = |at: Time| at.with_timezone(&zone).date_naive();
    before.is_none_or(|before| date(before) != date(at)).then_some(at)
}

fn first_instant(day: NaiveDate, hour: u8, zone: Tz) -> Option<Time> {
    let wall = day.and_hms_opt(hour.into(), 0, 0)?;
    let exists = zone.from_local_datetime(&wall).earliest();
    Some(exists.or_else(|| GapInfo::new(&wall, &zone)?.end)?.to_utc())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{DateTime, TimeDelta, Timelike};
    use proptest::prelude::*;

    fn at(text: &str) -> Time {
        DateTime::parse_from_rfc3339(text).unwrap().to_utc()
    }

    /// The boundaries that follow one after the other, as the wall clock shows them.
    fn boundaries(from: &str, at_hour: u8, zone: Tz, count: usize) -> Vec<String> {
        let following = std::iter::successors(Some(at(from)), |&after| next_boundary(after, at_hour, zone));
        following.skip(1).take(count).map(|at| at.with_timezone(&zone).to_rfc3339()).collect()
    }

    #[test]
    fn an_hour_that_does_not_exist_is_the_first_instant_after_the_gap() {
        for (zone, from, at_hour, told) in [
            (
                Tz::Europe__Berlin,
                "2026-03-28T12:00:00+01:00",
                2,
                ["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"],
            ),
            (
                Tz::America__Chicago,
                "2026-03-07T12:00:00-06:00",
                2,
                ["2026-03-08T03:00:00-05:00", "2026-03-09T02:00:00-05:00"],
            ),
            // A gap of half an hour.
            (
                Tz::Australia__Lord_Howe,
                "2026-10-03T12:00:00+10:30",
                2,
                ["2026-10-04T02:30:00+11:00", "2026-10-05T02:00:00+11:00"],
            ),
            // A day that begins at one o'clock.
            (
                Tz::Africa__Cairo,
                "2026-04-23T12:00:00+02:00",
                0,
                ["2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"],
            ),
        ] {
            assert_eq!(boundaries(from, at_hour, zone, 2), told, "{zone}");
        }
    }

    #[test]
    fn of_an_hour_that_comes_twice_the_first_counts_and_the_day_has_no_other() {
        for (zone, from, at_hour, told) in [
            (
                Tz::Europe__Berlin,
                "2026-10-24T12:00:00+02:00",
                2,
                ["2026-10-25T02:00:00+02:00", "2026-10-26T02:00:00+01:00"],
            ),
            (
                Tz::America__Chicago,
                "2026-10-31T12:00:00-05:00",
                1,
                ["2026-11-01T01:00:00-05:00", "2026-11-02T01:00:00-06:00"],
            ),
            // Half past one to two comes twice, two o'clock once.
            (
                Tz::Australia__Lord_Howe,
                "2026-04-04T12:00:00+11:00",
                2,
                ["2026-04-05T02:00:00+10:30", "2026-04-06T02:00:00+10:30"],
            ),
            // The last hour of the day comes twice.
            (
                Tz::Africa__Cairo,
                "2026-10-29T12:00:00+03:00",
                23,
                ["2026-10-29T23:00:00+03:00", "2026-10-30T23:00:00+02:00"],
            ),
        ] {
            assert_eq!(boundaries(from, at_hour, zone, 2), told, "{zone}");
        }
    }

    #[test]
    fn the_second_pass_of_an_hour_is_no_boundary() {
        let between = at("2026-10-25T02:30:00+02:00");
        let next = next_boundary(between, 2, Tz::Europe__Berlin);
        assert_eq!(next, Some(at("2026-10-26T02:00:00+01:00")));
    }

    #[test]
    fn a_midnight_that_comes_twice_counts_once() {
        // In St. John's the clocks went back from 00:01 to 23:01 of the day before.
        let told = boundaries("2010-11-06T23:30:00-02:30", 0, Tz::America__St_Johns, 2);
        assert_eq!(told, ["2010-11-07T00:00:00-02:30", "2010-11-08T00:00:00-03:30"]);
        let again_before_midnight = at("2010-11-06T23:30:00-03:30");
        let next = next_boundary(again_before_midnight, 0, Tz::America__St_Johns);
        assert_eq!(next, Some(at("2010-11-08T00:00:00-03:30")));
    }

    #[test]
    fn a_zone_without_changes_has_its_hour_every_day() {
        let told = boundaries("2026-03-28T23:30:00+07:00", 4, Tz::Asia__Bangkok, 3);
        let days = ["2026-03-29", "2026-03-30", "2026-03-31"];
        assert_eq!(told, days.map(|day| format!("{day}T04:00:00+07:00")));
    }

    #[test]
    fn the_boundary_lies_strictly_after_the_instant() {
        let four = at("2026-05-18T04:00:00+07:00");
        let just_before = four - TimeDelta::milliseconds(1);
        assert_eq!(next_boundary(just_before, 4, Tz::Asia__Bangkok), Some(four));
        assert_eq!(next_boundary(four, 4, Tz::Asia__Bangkok), Some(four + TimeDelta::days(1)));
    }

    #[test]
    fn a_gap_over_midnight_gives_no_day_two_boundaries() {
        // In Nuuk the clocks go from 23:00 to midnight: Saturday's boundary comes on Sunday.
        let nuuk = boundaries("2026-03-28T12:00:00-02:00", 23, Tz::America__Nuuk, 2);
        assert_eq!(nuuk, ["2026-03-29T00:00:00-01:00", "2026-03-30T23:00:00-01:00"]);
        // In Apia there was no 30 December 2011.
        let apia = boundaries("2011-12-29T12:00:00-10:00", 4, Tz::Pacific__Apia, 2);
        assert_eq!(apia, ["2011-12-31T00:00:00+14:00", "2012-01-01T04:00:00+14:00"]);
    }

    #[test]
    fn at_the_end_of_the_calendar_there_is_no_boundary() {
        assert_eq!(next_boundary(Time::MAX_UTC, 4, Tz::UTC), None);
        next_boundary(Time::MIN_UTC, 4, Tz::UTC);
    }

    /// The slow opinion: looks at the wall clock every minute, and never asks when an hour is. The
    /// boundary is where the clock first shows the hour or more on a day that has had none.
    fn walked(after: Time, until: Time, at_hour: u8, zone: Tz) -> Option<Time> {
        let minute = TimeDelta::minutes(1);
        let start = after - TimeDelta::days(3);
        let mut now = start.with_second(0)?.with_nanosecond(0)?;
        let (mut latest, mut had) = (now.with_timezone(&zone).naive_local(), None);
        while now < until {
            now += minute;
            let wall = now.with_timezone(&zone).naive_local();
            if wall <= latest {
                continue;
            }
            // The clock may have jumped over the hour of the day before as well.
            let crossed = [wall.date().pred_opt()?, wall.date()]
                .into_iter()
                .filter_map(|day| day.and_hms_opt(at_hour.into(), 0, 0))
                .any(|hour| latest < hour && hour <= wall);
            latest = wall;
            if crossed && had != Some(wall.date()) {
                had = Some(wall.date());
                if now > after {
                    return Some(now);
                }
            }
        }
        None
    }

    fn zones() -> impl Strategy<Value = Tz> {
        prop_oneof![
            Just(Tz::Europe__Berlin),
            Just(Tz::America__Chicago),
            Just(Tz::Asia__Bangkok),
            Just(Tz::Australia__Lord_Howe),
            Just(Tz::Africa__Cairo),
            Just(Tz::America__Nuuk),
            prop::sample::select(&chrono_tz::TZ_VARIANTS[..]),
        ]
    }

    /// Any second of fifty years, or one near the weeks of 2026 in which clocks are changed.
    fn instants() -> impl Strategy<Value = Time> {
        let second = |from: &str, to: &str| at(from).timestamp()..at(to).timestamp();
        prop_oneof![
            second("1985-01-01T00:00:00Z", "2035-01-01T00:00:00Z"),
            second("2026-03-06T00:00:00Z", "2026-03-10T00:00:00Z"),
            second("2026-03-26T00:00:00Z", "2026-04-06T00:00:00Z"),
            second("2026-04-21T00:00:00Z", "2026-04-26T00:00:00Z"),
            second("2026-10-02T00:00:00Z", "2026-10-06T00:00:00Z"),
            second("2026-10-23T00:00:00Z", "2026-11-03T00:00:00Z"),
        ]
        .prop_map(|seconds| DateTime::from_timestamp(seconds, 0).unwrap())
    }

    proptest! {
        #[test]
        fn the_boundary_is_where_a_walk_along_the_wall_clock_meets_it(
            after in instants(), at_hour in 0u8..24, zone in zones(),
        ) {
            let next = next_boundary(after, at_hour, zone).unwrap();
            prop_assert_eq!(walked(after, next, at_hour, zone), Some(next));
        }

        #[test]
        fn two_boundaries_never_lie_on_one_calendar_day(
            after in instants(), at_hour in 0u8..24, zone in zones(),
        ) {
            let first = next_boundary(after, at_hour, zone).unwrap();
            let second = next_boundary(first, at_hour, zone).unwrap();
            let day = |at: Time| at.with_timezone(&zone).date_naive();
            prop_assert!(first < second && day(first) < day(second), "{first} {second}");
        }
    }
}
