//! What holds for every schedule, judged by a slow walk along the clock and by two other libraries.

use std::collections::BTreeSet;
use std::str::FromStr;

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveDateTime, Offset, TimeDelta, TimeZone, Timelike};
use chrono_tz::Tz;
use croner::parser::CronParser;
use proptest::prelude::*;
use switchboard::domain::Time;
use switchboard::domain::schedule::{Lattice, Schedule};

use super::{at, schedule};

/// A field as text, and what it means.
#[derive(Debug, Clone)]
struct Field {
    text: String,
    values: BTreeSet<u32>,
}

impl Field {
    fn star(&self) -> bool {
        self.text.starts_with('*')
    }
}

fn item(min: u32, max: u32) -> impl Strategy<Value = Field> {
    let values = |first: u32, last: u32, step: u32| (first..=last).step_by(step as usize).collect();
    prop_oneof![
        3 => (min..=max).prop_map(move |value| Field { text: value.to_string(), values: values(value, value, 1) }),
        1 => (min..=max, min..=max).prop_map(move |(a, b)| {
            let (a, b) = (a.min(b), a.max(b));
            Field { text: format!("{a}-{b}"), values: values(a, b, 1) }
        }),
        1 => (min..=max, min..=max, 1..=7_u32).prop_map(move |(a, b, step)| {
            let (a, b) = (a.min(b), a.max(b));
            Field { text: format!("{a}-{b}/{step}"), values: values(a, b, step) }
        }),
        1 => (1..=7_u32).prop_map(move |step| Field { text: format!("*/{step}"), values: values(min, max, step) }),
    ]
}

fn field(min: u32, max: u32, star_weight: u32) -> impl Strategy<Value = Field> {
    let list = prop::collection::vec(item(min, max), 1..4).prop_map(|items| {
        let texts: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
        Field { text: texts.join(","), values: items.into_iter().flat_map(|item| item.values).collect() }
    });
    let star = Field { text: "*".to_owned(), values: (min..=max).collect() };
    prop_oneof![star_weight => Just(star), 4 => list]
}

/// Five fields without marks.
#[derive(Debug, Clone)]
struct Fields {
    minute: Field,
    hour: Field,
    day: Field,
    month: Field,
    weekday: Field,
}

impl Fields {
    fn text(&self) -> String {
        let Self { minute, hour, day, month, weekday } = self;
        [minute, hour, day, month, weekday].map(|field| field.text.clone()).join(" ")
    }

    fn follows_elapsed_time(&self) -> bool {
        self.minute.star() || self.hour.star()
    }

    fn match_day(&self, date: NaiveDate) -> bool {
        let day = self.day.values.contains(&date.day());
        let number = date.weekday().num_days_from_sunday();
        let weekday = self.weekday.values.iter().any(|value| value % 7 == number);
        let joined = if self.day.star() || self.weekday.star() { day && weekday } else { day || weekday };
        joined && self.month.values.contains(&date.month())
    }

    fn matches(&self, wall: NaiveDateTime) -> bool {
        wall.second() == 0
            && self.minute.values.contains(&wall.minute())
            && self.hour.values.contains(&wall.hour())
            && self.match_day(wall.date())
    }
}

fn fields() -> impl Strategy<Value = Fields> {
    let parts = (field(0, 59, 2), field(0, 23, 3), field(1, 31, 12), field(1, 12, 20), field(0, 7, 12));
    parts.prop_map(|(minute, hour, day, month, weekday)| Fields { minute, hour, day, month, weekday })
}

/// The slow opinion: looks at the wall clock every minute and asks of each minute that it shows, or
/// jumps over, whether the fields match.
fn walked(fields: &Fields, after: Time, until: Time, zone: Tz) -> Option<Time> {
    let wall_at = |at: Time| at.with_timezone(&zone).naive_local();
    let mut now = (after - TimeDelta::days(3)).with_second(0).unwrap().with_nanosecond(0).unwrap();
    let mut latest = wall_at(now);
    while now + TimeDelta::minutes(1) <= until {
        now += TimeDelta::minutes(1);
        let wall = wall_at(now);
        let comes = if fields.follows_elapsed_time() {
            fields.matches(wall)
        } else {
            let newly_reached = std::iter::successors(Some(latest + TimeDelta::minutes(1)), |wall| {
                Some(*wall + TimeDelta::minutes(1))
            });
            let skipped = |date: NaiveDate| {
                let midnight = date.and_hms_opt(0, 0, 0).unwrap();
                latest < midnight && midnight + Days::new(1) <= wall
            };
            newly_reached
                .take_while(|reached| *reached <= wall)
                .any(|reached| fields.matches(reached) && !skipped(reached.date()))
        };
        latest = latest.max(wall);
        if comes && now > after {
            return Some(now);
        }
    }
    None
}

fn zones() -> impl Strategy<Value = Tz> {
    let known = [
        Tz::Europe__Berlin,
        Tz::America__New_York,
        Tz::Australia__Lord_Howe,
        Tz::America__Nuuk,
        Tz::Africa__Cairo,
        Tz::Pacific__Apia,
        Tz::America__Sao_Paulo,
        Tz::Africa__Casablanca,
        Tz::America__St_Johns,
        Tz::Antarctica__Troll,
    ];
    prop_oneof![prop::sample::select(known.to_vec()), prop::sample::select(&chrono_tz::TZ_VARIANTS[..])]
}

fn instants() -> impl Strategy<Value = Time> {
    (at("1985-01-01T00:00:00Z").timestamp()..at("2037-01-01T00:00:00Z").timestamp())
        .prop_map(|seconds| DateTime::from_timestamp(seconds, 0).unwrap())
}

/// The next hour at whose end the zone has another offset; the instant itself if there is none soon.
fn near_change(from: Time, zone: Tz) -> Time {
    let offset = |at: Time| zone.offset_from_utc_datetime(&at.naive_utc()).fix();
    let hours = (0..400 * 24).map(|hour| from + TimeDelta::hours(hour));
    hours.into_iter().find(|&at| offset(at) != offset(at + TimeDelta::hours(1))).unwrap_or(from)
}

fn assert_first_as_walked(fields: &Fields, after: Time, zone: Tz) -> Result<(), TestCaseError> {
    let text = fields.text();
    let next = schedule(&text).next(after, &Lattice { zone, anchor: after });
    let horizon = after + TimeDelta::days(2);
    let seen = next.filter(|&next| next <= horizon);
    let walked = walked(fields, after, seen.unwrap_or(horizon), zone);
    prop_assert_eq!(seen, walked, "{} in {} after {}", text, zone, after.with_timezone(&zone));
    Ok(())
}

/// A text of any form.
fn texts() -> impl Strategy<Value = String> {
    let cron = fields().prop_map(|fields| fields.text()).boxed();
    let marked = (
        field(0, 59, 1),
        field(0, 23, 1),
        prop_oneof!["L", "1,L", "\\*/3,L"],
        field(1, 12, 3),
        prop_oneof!["\\*", "[0-7]#[1-5]", "[0-7]L", "1,[2-7]#[1-5]", "\\*/2"],
    )
        .prop_map(|(minute, hour, day, month, week)| {
            format!("{} {} {day} {} {week}", minute.text, hour.text, month.text)
        });
    let quartz = (
        0..60,
        field(0, 59, 1),
        field(0, 23, 1),
        prop_oneof![
            ("([1-9]|1[0-9]|L|LW|[1-9]W|L,[1-9]W|\\*/2)", "\\?"),
            ("\\?", "([1-7]|[1-7]#[1-5]|[1-7]L|2-6|L|MON-FRI|\\*)"),
            ("\\*", "\\?"),
        ],
        field(1, 12, 3),
        prop_oneof!["", " 2027", " 2027-2031", " \\*/2", " 2090,2027,2028"],
    )
        .prop_map(|(second, minute, hour, (day, week), month, year)| {
            format!("quartz: {second} {} {} {day} {} {week}{year}", minute.text, hour.text, month.text)
        });
    let spoken = "(daily|weekdays|weekends|monday,? wed|every sunday) (at )?([1-9]am|1[0-2]:[0-5][0-9] ?pm|[01]?[0-9]:[0-5][0-9]|noon|midnight)";
    let length = "(every |in |once in |)[1-9][0-9]{0,3} ?(m|h|d|w|minutes|hours|days)";
    let instant = "(once at |once |)20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])[T ](0[0-9]|1[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,6})?)?(Z|\\+01:00|-0930)?";
    prop_oneof![3 => cron, 1 => marked, 2 => quartz, 1 => spoken, 1 => length, 1 => instant]
}

/// Text that comes near a schedule.
fn nearly() -> impl Strategy<Value = String> {
    let words = "(\\*|\\?|L|W|#|/|-|,|[0-9]{1,20}|mon|FRI|jan|every|in|once|at|quartz:|@daily|am|pm|m|h|:|T|\\+|\\.|é|＊| |\t){0,24}";
    prop_oneof![Just(String::new()).prop_union(Just("every".to_owned())), words, any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_next_slot_near_a_clock_change_is_the_one_that_a_walk_meets_first(
        fields in fields(), from in instants(), zone in zones(), minutes in -30 * 60..6 * 60_i64, seconds in 0..60_i64,
    ) {
        let after = near_change(from, zone) + TimeDelta::minutes(minutes) + TimeDelta::seconds(seconds);
        assert_first_as_walked(&fields, after, zone)?;
    }

    #[test]
    fn slots_follow_each_other_and_each_is_the_first_after_the_one_before(
        fields in fields(), from in instants(), zone in zones(), hours in -6..1_i64,
    ) {
        let mut after = near_change(from, zone) + TimeDelta::hours(hours);
        let at = Lattice { zone, anchor: after };
        let schedule = schedule(&fields.text());
        for _ in 0..4 {
            assert_first_as_walked(&fields, after, zone)?;
            let Some(next) = schedule.next(after, &at) else { break };
            prop_assert!(next > after);
            prop_assert_eq!(schedule.period(after, &at), Some(next - after));
            after = next;
        }
    }
}

proptest! {
    #[test]
    fn what_a_schedule_prints_is_read_as_the_same_schedule(text in texts()) {
        let read = schedule(&text);
        let printed = read.to_string();
        prop_assert_eq!(&schedule(&printed), &read, "{} printed as {}", text, printed);
        prop_assert!(!read.words().is_empty());
    }

    #[test]
    fn no_text_breaks_the_reader(text in nearly(), zone in zones()) {
        let Ok(schedule) = text.parse::<Schedule>() else { return Ok(()) };
        prop_assert_eq!(schedule.to_string().parse::<Schedule>(), Ok(schedule.clone()));
        for from in [Time::MIN_UTC, at("2026-03-29T00:59:00Z"), Time::MAX_UTC] {
            let lattice = Lattice { zone, anchor: from };
            let _ = (schedule.check(zone, from), schedule.warnings(zone, from), schedule.words());
            let _ = (schedule.next(from, &lattice), schedule.period(from, &lattice), schedule.swallowed(from, from, zone));
        }
    }

    #[test]
    fn no_search_goes_on_for_more_than_400_years(text in texts(), from in instants(), zone in zones()) {
        let (schedule, lattice) = (schedule(&text), Lattice { zone, anchor: from });
        if let Some(next) = schedule.next(from, &lattice) {
            prop_assert!(next > from);
            prop_assert!(next.year() <= from.year() + 401, "{}", next);
        }
    }

    #[test]
    fn an_interval_stays_on_its_lattice(count in 1..5000_i64, anchor in instants(), after in instants()) {
        let (schedule, lattice) = (schedule(&format!("every {count}m")), Lattice { zone: Tz::UTC, anchor });
        let (next, period) = (schedule.next(after, &lattice).unwrap(), TimeDelta::minutes(count));
        prop_assert!(next > after && next > anchor);
        prop_assert_eq!((next - anchor).num_seconds() % period.num_seconds(), 0);
        prop_assert!(next - period <= after.max(anchor));
    }

    #[test]
    fn croner_agrees_on_every_expression(fields in fields(), from in instants()) {
        let both = fields.day.star() || fields.weekday.star();
        let judge = CronParser::builder().dom_and_dow(both).build().parse(&fields.text()).unwrap();
        let next = schedule(&fields.text()).next(from, &Lattice { zone: Tz::UTC, anchor: from });
        let judged = judge.find_next_occurrence(&from.naive_utc(), false).ok();
        let judged = judged.filter(|next| next.year() <= from.year() + 400);
        prop_assert_eq!(next.map(|next| next.naive_utc()), judged, "{}", fields.text());
    }

    #[test]
    fn cron_agrees_where_its_dialect_means_the_same(
        fields in fields(), from in instants(), days in prop::sample::subsequence(vec!["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"], 1..7),
    ) {
        let Fields { minute, hour, day, month, .. } = &fields;
        // It joins both day fields by AND and counts days from 1, so one field is `*` and days have names.
        let (of_month, of_week) = if from.timestamp() % 2 == 0 { (day.text.clone(), "*".to_owned()) } else { ("*".to_owned(), days.join(",")) };
        let text = format!("{} {} {of_month} {} {of_week}", minute.text, hour.text, month.text);
        let judge = cron::Schedule::from_str(&format!("0 {text}")).unwrap();
        let next = schedule(&text).next(from, &Lattice { zone: Tz::UTC, anchor: from });
        let next = next.filter(|next| next.year() < 2100);
        prop_assert_eq!(next, judge.after(&from).next(), "{}", text);
    }
}
