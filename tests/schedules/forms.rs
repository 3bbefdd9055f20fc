//! The forms of a schedule: what each means, what is refused and what is said then.

use super::{at, refused, schedule, slots, zone};
use chrono_tz::Tz;
use pretty_assertions::assert_eq;
use switchboard::domain::schedule::{Hermes, Lattice, Part, Recurrence, Schedule, parse_zone};

/// What a text is read as, in its canonical form.
fn read(text: &str) -> String {
    schedule(text).to_string()
}

#[test]
fn spoken_schedules_are_cron() {
    for (spoken, cron) in [
        ("daily at 7am", "0 7 * * *"),
        ("weekdays at 9:30", "30 9 * * 1-5"),
        ("monday, wednesday 21:00", "0 21 * * 1,3"),
        ("Monday, Wednesday at 9am", "0 9 * * 1,3"),
        ("weekends 10am", "0 10 * * 0,6"),
        ("every day at noon", "0 12 * * *"),
        ("every day at midnight", "0 0 * * *"),
        ("every monday 9am", "0 9 * * 1"),
        ("on mon and Thurs at 12:15 AM", "15 0 * * 1,4"),
        ("every weekday at 12pm", "0 12 * * 1-5"),
        ("Sundays 0:05", "5 0 * * 0"),
        ("daily 7:45 pm", "45 19 * * *"),
    ] {
        assert_eq!(read(spoken), cron, "{spoken}");
    }
}

#[test]
fn a_spoken_time_that_is_none_is_refused() {
    for (text, why) in [
        ("weekdays at 13am", "the hours of am and pm are 1 to 12"),
        ("daily at 0pm", "the hours of am and pm are 1 to 12"),
        ("daily at 24:00", "the day has the hours 0 to 23"),
        ("daily at 7:60", "this is no time of day"),
        ("daily at 7:5", "this is no time of day"),
        ("daily at 9am and 5pm", "this is no time of day"),
        ("daily at 9", "is it in the morning or the evening"),
        ("every monday", "it is missing"),
        ("daily", "it is missing"),
    ] {
        let error = refused(text);
        assert_eq!((error.part, error.why.as_str()), (Part::TimeOfDay, why), "{text}");
    }
}

#[test]
fn what_to_write_for_an_hour_alone_names_that_hour() {
    for (text, hint) in [
        ("weekdays at 8", "write 8:00, 8am or 8pm"),
        ("daily at 12", "write 12:00, 12am or 12pm"),
        ("daily at 21", "write 21:00"),
        ("daily at 0", "write 0:00"),
    ] {
        assert!(refused(text).to_string().ends_with(hint), "{text}: {}", refused(text));
    }
}

#[test]
fn intervals_and_delays_are_whole_minutes() {
    for (text, canonical) in [
        ("every 2h", "every 2h"),
        ("every 15 minutes", "every 15m"),
        ("every hour", "every 1h"),
        ("Every Day", "every 1d"),
        ("30m", "every 30m"),
        ("1h30m", "every 90m"),
        ("every 1 hour 30 min", "every 90m"),
        ("every 2 weeks", "every 14d"),
        ("every 60m", "every 1h"),
        ("in 30m", "in 30m"),
        ("in 2 hours", "in 2h"),
        ("once in 2 hours", "in 2h"),
    ] {
        assert_eq!(read(text), canonical, "{text}");
    }
}

#[test]
fn lengths_under_a_minute_with_a_sign_or_out_of_range_are_refused() {
    for (text, why) in [
        ("every 0m", "it is less than one minute"),
        ("every 0h", "it is less than one minute"),
        ("every -5m", "a length has no sign"),
        ("in -5m", "a length has no sign"),
        ("every 0.4m", "a length is counted in whole units"),
        ("1.5h", "a length is counted in whole units"),
        ("every 400000d", "it is longer than 400 years"),
        ("every 99999999999d", "it is longer than 400 years"),
        ("every 99999999999999999999d", "it is longer than 400 years"),
        ("every 9223372036854775807w", "it is longer than 400 years"),
        ("every 90s", "the shortest unit is the minute"),
        ("every 2 months", "months and years differ in length"),
        ("every 5", "the unit is missing"),
        ("every 5 fortnights", "\"fortnights\" is no unit"),
        ("every", "it is missing"),
        ("in", "it is missing"),
        ("+1m", "a length has no sign"),
        ("-1m", "a length has no sign"),
    ] {
        let error = refused(text);
        assert_eq!((error.part, error.why.as_str()), (Part::Length, why), "{text}");
    }
}

#[test]
fn an_interval_counts_from_its_anchor_and_never_from_the_end_of_a_run() {
    let lattice = Lattice { zone: Tz::UTC, anchor: at("2026-09-01T10:00:00Z") };
    let every = schedule("every 15m");
    let next = |after| every.next(at(after), &lattice).unwrap();
    assert_eq!(next("2026-09-01T10:05:30Z"), at("2026-09-01T10:15:00Z"));
    assert_eq!(next("2026-09-01T10:15:00Z"), at("2026-09-01T10:30:00Z"));
    assert_eq!(next("2026-09-02T10:14:59.999Z"), at("2026-09-02T10:15:00Z"));
    // A clock that was set back.
    assert_eq!(next("2026-08-31T00:00:00Z"), at("2026-09-01T10:15:00Z"));
    let day =
        std::iter::successors(Some(lattice.anchor), |&slot| every.next(slot + super::minutes(5), &lattice));
    assert_eq!(day.take_while(|&slot| slot < at("2026-09-02T10:00:00Z")).count(), 96);
}

#[test]
fn instants_are_taken_with_their_offset_or_on_the_clock_of_the_zone() {
    for (text, canonical, slot) in [
        ("2026-12-24T18:00", "2026-12-24T18:00", "2026-12-24T18:00:00+01:00"),
        ("2026-12-24 18:00+01:00", "2026-12-24T18:00+01:00", "2026-12-24T18:00:00+01:00"),
        ("once at 2026-12-24 18:00:30", "2026-12-24T18:00:30", "2026-12-24T18:00:30+01:00"),
        ("once 2026-12-24T18:00:00Z", "2026-12-24T18:00+00:00", "2026-12-24T19:00:00+01:00"),
        ("2026-12-24T18:00:00.123456-0530", "2026-12-24T18:00:00.123-05:30", "2026-12-25T00:30:00.123+01:00"),
    ] {
        assert_eq!(read(text), canonical, "{text}");
        assert_eq!(slots(text, zone("Europe/Berlin"), at("2026-06-01T00:00:00Z"), 2), [slot], "{text}");
    }
    // The rules of its date, not those of today.
    let told = slots("2026-04-01T09:00", zone("America/New_York"), at("2026-03-01T12:00:00-05:00"), 2);
    assert_eq!(told, ["2026-04-01T09:00:00-04:00"]);
}

#[test]
fn an_instant_that_is_none_is_refused() {
    for (text, why) in [
        ("2026-02-30T09:00", "there is no such date"),
        ("2026-12-24T24:00", "there is no such time of day"),
        ("2026-12-24T23:59:60", "there is no such time of day"),
        ("2026-12-24", "the time of day is missing"),
        ("2026-12-24T18:00+25:00", "the offset from UTC is wrong"),
        ("once at noon", "a date begins with the year"),
    ] {
        let error = refused(text);
        assert_eq!((error.part, error.why.as_str()), (Part::Instant, why), "{text}");
    }
}

#[test]
fn a_local_time_that_the_clock_jumps_over_is_refused_in_that_zone_only() {
    let (text, from) = ("2026-03-29T02:30", at("2026-01-01T00:00:00Z"));
    let error = schedule(text).check(zone("Europe/Berlin"), from).unwrap_err();
    let told = "date and time \"2026-03-29T02:30\": the clocks of Europe/Berlin jump over this time; write 2026-03-29T03:00 or later";
    assert_eq!(error.to_string(), told);
    assert_eq!(schedule(text).check(Tz::UTC, from), Ok(()));
    assert_eq!(schedule("2026-03-29T02:30+01:00").check(zone("Europe/Berlin"), from), Ok(()));
}

#[test]
fn cron_fields_take_names_ranges_lists_steps_and_marks() {
    for (text, canonical) in [
        ("0 9 * * MON-FRI", "0 9 * * 1-5"),
        ("0 9 * * mon,WED", "0 9 * * 1,3"),
        ("0 9 * jan,Mar *", "0 9 * 1,3 *"),
        ("0 2 * * 7", "0 2 * * 0"),
        ("45 4 * * 6-7", "45 4 * * 0,6"),
        ("0 9 * * SUN-TUE", "0 9 * * 0-2"),
        ("0 9 * * FRI-MON", "0 9 * * 0,1,5,6"),
        ("0 9 * * FRI-SUN", "0 9 * * 0,5,6"),
        ("0 9 * * FRI-SUN/2", "0 9 * * 0,5"),
        ("* * * * 1-7/2", "* * * * 0,1,3,5"),
        ("30 12 * * */7", "30 12 * * */7"),
        ("0 22-4 * * *", "0 0-4,22,23 * * *"),
        ("0 9 25-5 * *", "0 9 1-5,25-31 * *"),
        ("0 0 * NOV-FEB *", "0 0 * 1,2,11,12 *"),
        ("7/30 * * * *", "7,37 * * * *"),
        ("0 1/4 * * *", "0 1-21/4 * * *"),
        ("*/60 8-21 * * *", "*/60 8-21 * * *"),
        ("*/15,7 * * * *", "*/15,7 * * * *"),
        ("0,15,30,45 * * * *", "0-45/15 * * * *"),
        ("09,39 * * * *", "9,39 * * * *"),
        (" 0  8\t* * * ", "0 8 * * *"),
        ("0 9 ? * 1", "0 9 * * 1"),
        ("0 0 1-31 * 4", "0 0 1-31 * 4"),
        ("0 12 * * SUN#2", "0 12 * * 0#2"),
        ("0 12 * * 1#1,1#3,5", "0 12 * * 5,1#1,1#3"),
        ("0 0 * * 7L", "0 0 * * 0L"),
        ("0 0 L * *", "0 0 L * *"),
        ("0 0 1,L * *", "0 0 1,L * *"),
        ("@daily", "0 0 * * *"),
        ("@Midnight", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
    ] {
        assert_eq!(read(text), canonical, "{text}");
    }
}

#[test]
fn what_is_no_cron_is_refused_with_the_field_and_a_hint() {
    for (text, told) in [
        ("60 * * * *", "minute \"60\": 60 is out of range; write 0 to 59"),
        ("0 24 * * *", "hour \"24\": 24 is out of range; write 0 to 23, midnight is 0"),
        ("0 0 0 * *", "day of month \"0\": 0 is out of range; write 1 to 31"),
        ("0 0 * 13 *", "month \"13\": 13 is out of range; write 1 to 12 or JAN to DEC"),
        (
            "0 0 * * 8",
            "day of week \"8\": 8 is out of range; write 0 to 7 (0 and 7 are Sunday) or SUN to SAT",
        ),
        (
            "0 0 * * MO",
            "day of week \"MO\": \"MO\" is no value of this field; write 0 to 7 (0 and 7 are Sunday) or SUN to SAT",
        ),
        ("-5 * * * *", "minute \"-5\": a value is missing; write 0 to 59"),
        (
            "1,,2 * * * *",
            "minute \"1,,2\": an item of the list is empty; write one value between two commas, as in 1,2",
        ),
        ("*/0 * * * *", "minute \"*/0\": a step of 0 stands still; write 1 or more"),
        (
            "*/90 * * * *",
            "minute \"*/90\": a step of minutes begins anew each hour; write an interval: every 90m",
        ),
        ("0 */48 * * *", "hour \"*/48\": a step of hours begins anew each day; write an interval: every 48h"),
        ("/5 * * * *", "minute \"/5\": a step needs a range before it; write */5"),
        ("5* * * * *", "minute \"5*\": `*` stands alone or before a step; write * or */2"),
        (
            "0 22-4/3 * * *",
            "hour \"22-4/3\": where a step goes on after the wrap is not defined; write two items: 22-23/3,0-4/3",
        ),
        (
            "0 0 * * 5#3,5L",
            "day of week \"5#3,5L\": # and L in one list are read in different ways by different programs; make two jobs",
        ),
        ("0 0 * * L5", "day of week \"L5\": L stands behind the day; write 5L"),
        (
            "0 0 * * L",
            "day of week \"L\": L needs the day whose last one is meant; write 5L for the last Friday",
        ),
        (
            "0 0 * * 5#6",
            "day of week \"5#6\": after # stands which one of the month; write 1 to 5, as in 1#2",
        ),
        (
            "0 0 15W * *",
            "day of month \"15W\": W is no part of five-field cron; write it as Quartz does: quartz: 0 0 9 15W * ?",
        ),
        (
            "0 0 L-3 * *",
            "day of month \"L-3\": days before the last one can't be counted; write L for the last day",
        ),
        (
            "@reboot",
            "schedule \"@reboot\": a start of the machine is no time; write a time, or `in 1m` for once, soon",
        ),
        (
            "@often",
            "schedule \"@often\": this nickname is not known; write @hourly, @daily, @weekly, @monthly or @yearly",
        ),
        (
            "35 10 * * * 3",
            "schedule \"35 10 * * * 3\": 6 fields found where cron has five; write `quartz: …` if it is a Quartz expression, or drop the seconds",
        ),
        (
            "* 12,13 16 11 2 2021",
            "schedule \"* 12,13 16 11 2 2021\": 6 fields found where cron has five; write `quartz: …` if it is a Quartz expression, or drop the seconds",
        ),
        (
            "0 8 * * * /usr/bin/backup",
            "schedule \"0 8 * * * /usr/bin/backup\": 6 fields found where cron has five; keep the five fields and drop the user and the command behind them",
        ),
        (
            "0 8 * * * root ls -l",
            "schedule \"0 8 * * * root ls -l\": 8 fields found where cron has five; keep the five fields and drop the user and the command behind them",
        ),
        (
            "0 8 * *",
            "schedule \"0 8 * *\": 4 fields found where cron has five; write minute, hour, day of month, month and day of week, as in 0 8 * * *",
        ),
        (
            "CRON_TZ=Asia/Tokyo 0 9 * * *",
            "schedule \"CRON_TZ=Asia/Tokyo 0 9 * * *\": the time zone is no part of the schedule; drop \"Asia/Tokyo\" here and set the job's \"timezone\" to it",
        ),
        ("0 ＊ * * *", "hour \"＊\": ＊ is the full-width form of a sign; write the plain *"),
        (
            "0\u{a0}8 * * *",
            "schedule \"0\\u{a0}8 * * *\": a blank of another kind is in it (U+00A0); type plain blanks",
        ),
        ("0 9 * * 1–5", "day of week \"1–5\": – is a dash (U+2013); write the plain -"),
        (
            "0 8 * * *\n0 9 * * *",
            "schedule \"0 8 * * *\\n0 9 * * *\": it has more than one line; write one schedule in one line",
        ),
        (
            "tomorrow",
            "schedule \"tomorrow\": this is no schedule; write for example daily at 7am, every 2h, in 30m, 2026-12-24T18:00 or 0 8 * * *",
        ),
        (
            "",
            "schedule \"\": 0 fields found where cron has five; write minute, hour, day of month, month and day of week, as in 0 8 * * *",
        ),
    ] {
        assert_eq!(refused(text).to_string(), told, "{text}");
    }
}

#[test]
fn a_refused_text_is_not_repeated_without_end() {
    let text = "0 8 * * * ".to_owned() + &"x".repeat(10_000);
    assert!(refused(&text).to_string().chars().count() < 300);
}

#[test]
fn quartz_counts_its_own_way_and_only_behind_its_prefix() {
    for (text, canonical, slot) in [
        ("quartz: 0 30 9 ? * MON-FRI", "quartz: 0 30 9 ? * 2-6", "2026-03-02T09:30:00+00:00"),
        ("quartz: 0 0 12 1 1 ? 2027", "quartz: 0 0 12 1 1 ? 2027", "2027-01-01T12:00:00+00:00"),
        ("quartz: 0 0 9 ? * 6#3", "quartz: 0 0 9 ? * 6#3", "2026-03-20T09:00:00+00:00"),
        ("Quartz:0 0 9 ? * 1", "quartz: 0 0 9 ? * 1", "2026-03-08T09:00:00+00:00"),
        ("quartz: 0 0 9 ? * L", "quartz: 0 0 9 ? * 7", "2026-03-07T09:00:00+00:00"),
        ("quartz: 0 0 9 ? * 6L", "quartz: 0 0 9 ? * 6L", "2026-03-27T09:00:00+00:00"),
        ("quartz: 0 0 9 15W * ?", "quartz: 0 0 9 15W * ?", "2026-03-16T09:00:00+00:00"),
        ("quartz: 0 0 9 LW 5 ?", "quartz: 0 0 9 LW 5 ?", "2026-05-29T09:00:00+00:00"),
        ("quartz: 30 0/20 9 * * ?", "quartz: 30 0-40/20 9 * * ?", "2026-03-02T09:00:30+00:00"),
        ("quartz: 0 0 9 1 * ? 2028/2", "quartz: 0 0 9 1 * ? ", "2028-01-01T09:00:00+00:00"),
    ] {
        let read = read(text);
        assert!(read.starts_with(canonical), "{text}: {read}");
        assert_eq!(slots(text, Tz::UTC, at("2026-03-01T12:00:00Z"), 1), [slot], "{text}");
    }
    let seconds = slots("quartz: 30 0/20 9 * * ?", Tz::UTC, at("2026-03-02T09:00:29Z"), 4);
    let wanted = ["09:00:30", "09:20:30", "09:40:30"].map(|time| format!("2026-03-02T{time}+00:00"));
    assert_eq!(seconds[..3], wanted);
    assert_eq!(seconds[3], "2026-03-03T09:00:30+00:00");
}

#[test]
fn what_quartz_would_not_read_is_refused() {
    for (text, part, why) in [
        ("quartz: * 0 9 * * ?", Part::Second, "slots must be at least a minute apart"),
        ("quartz: 0,30 0 9 * * ?", Part::Second, "slots must be at least a minute apart"),
        ("quartz: 0 0 9 1 * 2", Part::DayOfWeek, "Quartz reads one day field only"),
        ("quartz: 0 0 9 ? * ?", Part::DayOfWeek, "both day fields are `?`"),
        ("quartz: 0 9 * * ?", Part::Schedule, "5 fields found where Quartz has six or seven"),
        ("quartz: 0 0 9 ? * 0", Part::DayOfWeek, "0 is out of range"),
        ("quartz: 0 0 9 L,LW * ?", Part::DayOfMonth, "L and LW in one list are not supported"),
        ("quartz: 0 0 9 32W * ?", Part::DayOfMonth, "32 is out of range"),
        ("quartz: 0 0 9 1 * ? 2100", Part::Year, "\"2100\" is no year, range of years or step of years"),
        (
            "quartz: 0 0 9 1 * ? 2030-2028",
            Part::Year,
            "\"2030-2028\" is no year, range of years or step of years",
        ),
    ] {
        let error = refused(text);
        assert_eq!((error.part, error.why.as_str()), (part, why), "{text}");
    }
}

#[test]
fn dates_that_never_come_are_refused_once_at_the_check() {
    let from = at("2026-02-07T00:00:00Z");
    for text in ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "quartz: 0 0 12 1 1 ? 2025"] {
        assert!(schedule(text).check(Tz::UTC, from).is_err(), "{text}");
        assert_eq!(slots(text, Tz::UTC, from, 1), [""; 0], "{text}");
    }
    assert_eq!(schedule("quartz: 0 0 12 1 1 ? 2027").check(Tz::UTC, from), Ok(()));
    assert!(schedule("quartz: 0 0 12 1 1 ? 2027").check(Tz::UTC, at("2027-01-01T12:00:00Z")).is_err());
    assert_eq!(schedule("0 0 29 2 *").check(Tz::UTC, at("2096-03-01T00:00:00Z")), Ok(()));
    // Or: the Mondays come.
    assert_eq!(schedule("0 0 30 2 1").check(Tz::UTC, from), Ok(()));
}

#[test]
fn both_day_fields_are_joined_by_or_unless_one_begins_with_a_star() {
    let days = |text| -> Vec<String> {
        let slots = slots(text, Tz::UTC, at("2026-06-01T00:00:00Z"), 6);
        slots.iter().map(|slot| slot[8..10].to_owned()).collect()
    };
    assert_eq!(days("0 9 15 * 1"), ["01", "08", "15", "22", "29", "06"]);
    assert_eq!(days("0 9 1-7 * 1"), ["01", "02", "03", "04", "05", "06"]);
    assert_eq!(days("0 9 */2 * 1"), ["01", "15", "29", "13", "27", "03"]);
    assert_eq!(days("0 9 1-3 * */2"), ["02", "02", "01", "02", "01", "03"]);
    assert_eq!(days("0 9 */2 * 1#1"), ["01", "03", "07", "05", "07", "01"]);
    assert_eq!(days("0 9 L * 1#1"), ["01", "30", "06", "31", "03", "31"]);
    assert_eq!(days("0 9 L * *"), ["30", "31", "31", "30", "31", "30"]);
}

#[test]
fn an_edited_schedule_moves_the_next_slot() {
    let saturday = at("2026-08-22T07:00:30+02:00");
    let told = slots("0 7 * * 1-5", zone("Europe/Berlin"), saturday, 1);
    assert_eq!(told, ["2026-08-24T07:00:00+02:00"]);
}

#[test]
fn a_slot_just_taken_is_not_the_next_one() {
    let thirteen = at("2026-08-22T13:00:00Z");
    for after in [thirteen, thirteen + chrono::TimeDelta::milliseconds(14)] {
        assert_eq!(slots("0 13 * * *", Tz::UTC, after, 1), ["2026-08-23T13:00:00+00:00"]);
    }
}

#[test]
fn only_instants_and_delays_come_once() {
    let lattice = Lattice { zone: Tz::UTC, anchor: at("2026-09-01T10:00:00Z") };
    for (text, recurrence, period) in [
        ("0 * * * *", Recurrence::Recurring, Some(60)),
        ("0 9 * * 1-5", Recurrence::Recurring, Some(24 * 60)),
        ("every 90m", Recurrence::Recurring, Some(90)),
        ("in 90m", Recurrence::Once, None),
        ("2026-12-24T18:00", Recurrence::Once, None),
    ] {
        assert_eq!(schedule(text).recurrence(), recurrence, "{text}");
        let period = period.map(super::minutes);
        assert_eq!(schedule(text).period(at("2026-09-02T09:00:00Z"), &lattice), period, "{text}");
    }
}

#[test]
fn what_hermes_keeps_is_read_and_a_zero_interval_is_refused() {
    let from = Schedule::from_hermes;
    assert_eq!(from(Hermes::Cron { expr: "0 8 * * *" }), Ok(schedule("0 8 * * *")));
    assert_eq!(from(Hermes::Interval { minutes: 90 }), Ok(schedule("every 90m")));
    let once = from(Hermes::Once { run_at: "2026-09-30T09:00:00.123456+00:00" });
    assert_eq!(once, Ok(schedule("2026-09-30T09:00:00.123+00:00")));
    for minutes in [0, -5, i64::MIN, i64::MAX] {
        assert_eq!(from(Hermes::Interval { minutes }).unwrap_err().part, Part::Length);
    }
    assert!(from(Hermes::Cron { expr: "every 5m" }).is_err());
    assert!(from(Hermes::Once { run_at: "soon" }).is_err());
}

#[test]
fn a_zone_is_known_by_its_old_name_and_an_unknown_one_is_answered_with_the_nearest() {
    assert_eq!(parse_zone("US/Eastern").unwrap().name(), "US/Eastern");
    let told = "there is no time zone \"Europe/Berln\", did you mean Europe/Berlin?; write an IANA name such as Europe/Berlin";
    assert_eq!(parse_zone("Europe/Berln").unwrap_err().to_string(), told);
    assert_eq!(parse_zone("").unwrap_err().nearest, None);
}
