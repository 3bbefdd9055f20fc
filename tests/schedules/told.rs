//! What is told of a schedule: its meaning in words, and its traps.

use super::{at, schedule, zone};
use pretty_assertions::assert_eq;

#[test]
fn a_schedule_says_in_words_what_it_means() {
    for (text, words) in [
        ("0 8 * * *", "at 08:00 every day"),
        ("0 8 * * 1-5", "at 08:00 on weekdays"),
        ("*/30 * * * *", "every 30 minutes"),
        ("0,30 * * * *", "every 30 minutes"),
        ("0 9 15 * 1", "at 09:00 on the 15th of the month or on Mondays"),
        ("0 10 * * 1", "at 10:00 on Mondays"),
        ("15 3 * * *", "at 03:15 every day"),
        ("* * * * *", "every minute"),
        ("0 * * * *", "every hour"),
        ("17 * * * *", "every hour at minute 17"),
        ("*/40 * * * *", "at minutes 0 and 40 of every hour"),
        ("0 6,18 * * *", "at 06:00 and 18:00 every day"),
        ("30 4,10,16,22 * * *", "at 04:30, 10:30, 16:30 and 22:30 every day"),
        ("0 */2 * * *", "every 2 hours"),
        ("18 */3 * * *", "every 3 hours at minute 18"),
        ("0 7-22 * * *", "every hour from 07:00 to 22:00"),
        ("0 1-23/2 * * *", "every 2 hours from 01:00 to 23:00"),
        ("0 22-4 * * *", "every hour from 00:00 to 04:00 and from 22:00 to 23:00"),
        ("* */8 * * *", "every minute of the hours 0, 8 and 16"),
        ("*/15 9-17 * * 1-5", "every 15 minutes from 09:00 to 17:45 on weekdays"),
        ("20,50 7-19 * * 1-5", "at minutes 20 and 50 of the hours 7 to 19 on weekdays"),
        ("0 10 * * 0,6", "at 10:00 on weekends"),
        ("0 9 * * 1-4", "at 09:00 on Mondays to Thursdays"),
        ("0 0 1 1 *", "at 00:00 on the 1st of January"),
        ("0 0 29 2 *", "at 00:00 on the 29th of February"),
        ("0 9 * 6-8 *", "at 09:00 every day in June to August"),
        ("0 9 15 1 1", "at 09:00 on the 15th of the month or on Mondays in January"),
        ("0 9 1,15 * *", "at 09:00 on the 1st and the 15th of the month"),
        ("0 9 */2 * 1", "at 09:00 on Mondays, but only on every 2nd day from the 1st of the month"),
        ("0 9 L * *", "at 09:00 on the last day of the month"),
        ("0 12 * * SUN#2", "at 12:00 on the 2nd Sunday of the month"),
        ("0 0 * * 7L", "at 00:00 on the last Sunday of the month"),
        ("quartz: 30 0 12 1 1 ? 2027", "at 12:00:30 on the 1st of January in 2027"),
        ("quartz: 0 0 9 15W * ?", "at 09:00 on the weekday nearest the 15th of the month"),
        (
            "quartz: 0 0 9 LW 3,6 ? 2027-2030",
            "at 09:00 on the last weekday of March and June in 2027 to 2030",
        ),
        ("every 30 minutes", "every 30 minutes"),
        ("every 60m", "every hour"),
        ("every 24h", "every 24 hours"),
        ("every 14d", "every 14 days"),
        ("in 30m", "once, after 30 minutes"),
        ("in 1h", "once, after 1 hour"),
        ("2026-12-24T18:00", "once, on 24 Dec 2026 at 18:00"),
        ("2026-12-24T18:00:05+01:00", "once, on 24 Dec 2026 at 18:00:05 +01:00"),
    ] {
        assert_eq!(schedule(text).words(), words, "{text}");
    }
}

/// The warnings in a zone during the year 2026.
fn warnings(text: &str, in_zone: &str) -> Vec<String> {
    let warnings = schedule(text).warnings(zone(in_zone), at("2026-01-01T00:00:00Z"));
    warnings.iter().map(|warning| warning.words()).collect()
}

#[test]
fn the_traps_of_fields_are_told() {
    for (text, told) in [
        ("0 9 15 * 1", "both day fields are set: cron takes this as OR"),
        (
            "* */8 * * *",
            "the minute is *: every minute of the hours 0, 8 and 16; for once in each write 0 */8 * * *",
        ),
        ("0 9 31 * *", "months without a 31st have no run on it; L is the last day of any month"),
        ("0 9 30 2,3 *", "months without a 30th have no run on it; L is the last day of any month"),
        ("0 9 29 * *", "months without a 29th have no run on it; L is the last day of any month"),
        ("0 9 29 2 *", "29 February comes in leap years only"),
        ("*/40 * * * *", "minute */40 begins anew each hour: the last step of the hour is shorter"),
        ("0 */5 * * *", "hour */5 begins anew each day: the last step of the day is shorter"),
        ("0 9 */2 * *", "day of month */2 begins anew each month: the last step of the month is shorter"),
        ("0 9 1 */5 *", "month */5 begins anew each year: the last step of the year is shorter"),
        ("0 9 * * */2", "day of week */2 begins anew each week: the last step of the week is shorter"),
    ] {
        assert_eq!(warnings(text, "UTC"), [told], "{text}");
    }
    for text in [
        "0 9 * * *",
        "*/15 * * * *",
        "0 9 31 1,3 *",
        "0 9 1-31 * *",
        "0 9 L * *",
        "* * * * *",
        "*/60 * * * *",
        "every 24h",
    ] {
        assert_eq!(warnings(text, "UTC"), [""; 0], "{text}");
    }
}

#[test]
fn the_clock_changes_of_the_next_year_are_foretold() {
    for (text, gap, twice) in [
        (
            "30 2 * * *",
            "on 29 Mar 2026 the clocks jump over 02:30: it runs at 03:00 instead",
            "on 25 Oct 2026 the clocks go back and 02:30 comes twice: it runs the first time only",
        ),
        (
            "*/30 2 * * *",
            "on 29 Mar 2026 the clocks jump over 02:00: this slot is left out",
            "on 25 Oct 2026 the clocks go back and 02:00 comes twice: it runs both times",
        ),
    ] {
        assert_eq!(warnings(text, "Europe/Berlin"), [gap, twice], "{text}");
    }
    for text in ["0 9 * * *", "*/30 * * * *", "30 2 * * 1", "every 1h", "every 7h"] {
        assert_eq!(warnings(text, "Europe/Berlin"), [""; 0], "{text}");
    }
    let nuuk = "on 28 Mar 2026 the clocks jump over 23:30: it runs on 29 Mar 2026 at 00:00 instead";
    assert_eq!(warnings("30 23 28 3 *", "America/Nuuk"), [nuuk]);
    let moves = "an interval is elapsed time: its time of day moves when the clocks change on 29 Mar 2026";
    assert_eq!(warnings("every 24h", "Europe/Berlin"), [moves]);
    let twice = "on 25 Oct 2026 the clocks go back and 02:30 comes twice: it runs the first time only";
    assert_eq!(warnings("2026-10-25T02:30", "Europe/Berlin"), [twice]);
    assert_eq!(warnings("2026-10-25T02:30+01:00", "Europe/Berlin"), [""; 0]);
}
