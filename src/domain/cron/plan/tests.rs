use super::*;
use proptest::prelude::*;

fn at(text: &str) -> Time {
    text.parse().unwrap()
}

fn course(schedule: &str, zone: Tz) -> Course {
    let definition = Definition::new("a".parse().unwrap(), schedule.to_owned());
    Course::new(&definition, schedule.parse().unwrap(), zone, at("2026-01-01T00:00:00Z"))
}

fn facts<'a>(course: &'a Course, settled: &str, now: &str) -> Facts<'a> {
    Facts {
        course,
        settled: at(settled),
        misfire: Misfire::Once,
        overlap: Overlap::Skip,
        runs_left: None,
        open: Open::default(),
        now: at(now),
    }
}

/// The rows in short: `fire on_time 09:00`, `fire catch_up 09:00-11:00 x3`, `skipped 09:00: why`.
fn told(plan: &Plan) -> Vec<String> {
    let clock = |at: Time| at.format("%H:%M").to_string();
    let slots = |slots: Slots| match slots.count {
        1 => clock(slots.first),
        count => format!("{}-{} x{count}", clock(slots.first), clock(slots.last)),
    };
    let row = |row: &Row| match row {
        Row::Fire { slots: taken, how } => format!("{how:?} {}", slots(*taken)),
        Row::NotRun { slots: given_up, state, why } => format!("{state} {}: {why}", slots(*given_up)),
    };
    plan.rows.iter().map(row).collect()
}

fn daily() -> Course {
    course("0 9 * * *", Tz::UTC)
}

fn ids(ids: &[i64]) -> Vec<ExecutionId> {
    ids.iter().copied().map(ExecutionId).collect()
}

fn minutely() -> Course {
    course("* * * * *", Tz::UTC)
}

#[test]
fn a_slot_within_its_grace_runs_and_one_beyond_it_is_caught_up() {
    let daily = daily();
    for (now, rows) in [
        ("2026-03-01T09:00:00Z", vec!["OnTime 09:00"]),
        ("2026-03-01T09:00:10Z", vec!["OnTime 09:00"]),
        ("2026-03-01T09:00:11Z", vec!["Late 09:00"]),
        ("2026-03-01T11:00:00Z", vec!["Late 09:00"]),
        ("2026-03-01T11:00:01Z", vec!["CatchUp 09:00"]),
        ("2026-03-01T20:00:00Z", vec!["CatchUp 09:00"]),
        ("2026-03-03T09:00:05Z", vec!["CatchUp 09:00-09:00 x3"]),
    ] {
        let plan = plan(&facts(&daily, "2026-03-01T08:00:00Z", now));
        assert_eq!(told(&plan), rows, "{now}");
        let next = plan.ahead.next.unwrap();
        assert!(next > at(now), "strictly later");
        assert_eq!((plan.ahead.settled, plan.ahead.due), (at(now), Some(next)));
    }
}

#[test]
fn the_grace_is_half_the_period_within_two_minutes_and_two_hours() {
    for (schedule, grace) in
        [("every 1m", 120), ("every 3m", 120), ("every 10m", 300), ("every 4h", 7200), ("every 2d", 7200)]
    {
        let course = course(schedule, Tz::UTC);
        assert_eq!(course.grace(at("2026-01-03T00:00:00Z")), TimeDelta::seconds(grace), "{schedule}");
    }
}

#[test]
fn a_backlog_is_one_run_that_counts_its_slots() {
    let plan = plan(&facts(&minutely(), "2026-03-01T08:00:00Z", "2026-03-01T10:30:20Z"));
    assert_eq!(told(&plan), ["CatchUp 08:01-10:30 x150"]);
    assert_eq!(plan.ahead.next, Some(at("2026-03-01T10:31:00Z")));
}

#[test]
fn a_job_that_skips_what_was_missed_still_runs_what_is_not_late() {
    let minutely = minutely();
    let skip = |now| Facts { misfire: Misfire::Skip, ..facts(&minutely, "2026-03-01T08:00:00Z", now) };
    assert_eq!(
        told(&plan(&skip("2026-03-01T10:30:20Z"))),
        ["skipped 08:01-10:28 x148: nobody could fire it then (misfire: skip)", "Late 10:29-10:30 x2",]
    );
    let daily = daily();
    let late =
        Facts { misfire: Misfire::Skip, ..facts(&daily, "2026-03-01T08:00:00Z", "2026-03-01T12:00:00Z") };
    assert_eq!(told(&plan(&late)), ["skipped 09:00: nobody could fire it then (misfire: skip)"]);
}

#[test]
fn the_newest_of_a_backlog_run_in_order_where_several_are_asked_for() {
    let daily = daily();
    let all = |most, runs_left| Facts {
        misfire: Misfire::All(most),
        runs_left,
        ..facts(&daily, "2026-03-01T08:00:00Z", "2026-03-05T09:00:01Z")
    };
    assert_eq!(
        told(&plan(&all(2, None))),
        [
            "skipped 09:00-09:00 x3: only the newest 2 of those that were missed run (misfire: all)",
            "CatchUp 09:00",
            "OnTime 09:00",
        ]
    );
    assert_eq!(told(&plan(&all(9, None))).len(), 5);
    let last = plan(&all(9, Some(1)));
    assert_eq!(last.fires(), 1);
    assert_eq!((last.ahead.next, last.ahead.due), (None, None));
}

#[test]
fn a_one_shot_runs_up_to_two_minutes_late_and_is_missed_after_that() {
    let once = course("2026-03-01T09:00", Tz::UTC);
    let settled = once.beginning(at("2026-03-01T12:00:00Z"));
    assert_eq!(settled, at("2026-03-01T08:59:59.999Z"));
    for (now, row) in [
        ("2026-03-01T09:00:03Z", "OnTime 09:00"),
        ("2026-03-01T09:02:00Z", "Late 09:00"),
        ("2026-03-01T09:02:01Z", "missed 09:00: 2 minutes late; what is due once runs up to 2 minutes late"),
        ("2026-03-01T14:00:00Z", "missed 09:00: 5 hours late; what is due once runs up to 2 minutes late"),
        ("2026-03-08T09:00:00Z", "missed 09:00: 7 days late; what is due once runs up to 2 minutes late"),
    ] {
        let plan = plan(&Facts { settled, ..facts(&once, "2026-03-01T00:00:00Z", now) });
        assert_eq!((told(&plan), plan.ahead.next), (vec![row.to_owned()], None), "{now}");
    }
}

#[test]
fn a_slot_that_comes_while_an_earlier_run_works_goes_by_the_overlap_rule() {
    let daily = daily();
    let at_nine = |overlap, fired: &[i64], busy: &[i64]| {
        let open = Open { fired: ids(fired), asked: ids(&[3]), busy: ids(busy) };
        plan(&Facts { overlap, open, ..facts(&daily, "2026-03-01T08:00:00Z", "2026-03-01T09:00:00Z") })
    };
    for (overlap, waiting, busy, row) in [
        (Overlap::Skip, &[][..], &[1][..], "skipped 09:00: the run before still works (overlap: skip)"),
        (Overlap::Skip, &[1], &[], "skipped 09:00: the run before has not begun yet (overlap: skip)"),
        (Overlap::Skip, &[], &[], "OnTime 09:00"),
        (Overlap::Queue, &[], &[1], "OnTime 09:00"),
        (Overlap::Queue, &[2], &[1], "skipped 09:00: a run waits already (overlap: queue)"),
        (Overlap::Allow, &[2], &[1], "OnTime 09:00"),
        (Overlap::Replace, &[2], &[1], "OnTime 09:00"),
    ] {
        let plan = at_nine(overlap, waiting, busy);
        assert_eq!(told(&plan), [row], "{overlap} {waiting:?} {busy:?}");
        let replaced = if overlap == Overlap::Replace { ids(&[2, 3, 1]) } else { Vec::new() };
        assert_eq!(plan.replaced, replaced);
    }
}

#[test]
fn a_run_that_is_asked_for_goes_by_the_overlap_rule_too() {
    let by = |overlap, fired: &[i64], busy: &[i64]| {
        asked(overlap, &Open { fired: ids(fired), asked: Vec::new(), busy: ids(busy) })
    };
    let waits = |replaced: &[i64]| Asked::Waits { replaced: ids(replaced) };
    assert_eq!(by(Overlap::Skip, &[], &[]), waits(&[]));
    assert_eq!(by(Overlap::Skip, &[2], &[1]), Asked::Refused(ExecutionId(1)));
    assert_eq!(by(Overlap::Skip, &[2], &[]), Asked::Refused(ExecutionId(2)));
    assert_eq!(by(Overlap::Replace, &[2], &[1]), waits(&[2, 1]));
    for overlap in [Overlap::Queue, Overlap::Allow] {
        assert_eq!(by(overlap, &[2], &[1]), waits(&[]));
    }
}

#[test]
fn a_used_up_repeat_has_no_next_slot() {
    let daily = daily();
    let left = |runs_left| {
        let facts = facts(&daily, "2026-03-01T08:00:00Z", "2026-03-03T10:00:00Z");
        plan(&Facts { runs_left: Some(runs_left), ..facts })
    };
    assert_eq!((left(1).fires(), left(1).ahead.next), (1, None));
    assert!(left(2).ahead.next.is_some(), "a catch-up counts once");
    assert_eq!(told(&left(0)), ["skipped 09:00-09:00 x3: all runs of its repeat are used up"]);
}

#[test]
fn a_job_with_jitter_is_set_off_by_always_the_same() {
    let mut definition = Definition::new("news".parse().unwrap(), "0 9 * * *".to_owned());
    definition.jitter_seconds = 600;
    let schedule = || definition.schedule.parse().unwrap();
    let course = Course::new(&definition, schedule(), Tz::UTC, at("2026-01-01T00:00:00Z"));
    assert_eq!(course.offset, TimeDelta::seconds(89), "of this id, for ever");
    let ahead = course.ahead(at("2026-03-01T08:00:00Z"));
    assert_eq!(ahead.next, Some(at("2026-03-01T09:00:00Z")));
    assert_eq!(ahead.due, Some(at("2026-03-01T09:01:29Z")));
    let early = plan(&facts(&course, "2026-03-01T08:00:00Z", "2026-03-01T09:01:28Z"));
    assert_eq!((early.rows.len(), early.ahead.next), (0, ahead.next));
    let due = plan(&facts(&course, "2026-03-01T08:00:00Z", "2026-03-01T09:01:29Z"));
    assert_eq!(told(&due), ["OnTime 09:00"]);
    for seconds in [0, 1, 59] {
        assert!(offset(&"x".parse().unwrap(), seconds) <= TimeDelta::seconds(seconds.into()));
    }
}

#[test]
fn a_day_that_loses_its_slots_to_a_clock_change_has_a_row_on_the_day() {
    let berlin = course("*/30 2 * * *", Tz::Europe__Berlin);
    let ahead = berlin.ahead(at("2026-03-28T01:30:00Z"));
    assert_eq!(ahead.next, Some(at("2026-03-30T00:00:00Z")));
    assert_eq!(ahead.due, Some(at("2026-03-29T01:00:00Z")), "when the clock is put forward");
    let plan = plan(&facts(&berlin, "2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z"));
    assert_eq!(
        told(&plan),
        [
            "skipped 23:00: the clock of Europe/Berlin has none of the times of 29 March 2026: it was put forward"
        ]
    );
    assert_eq!(plan.ahead.due, Some(at("2026-03-30T00:00:00Z")), "it is told once");
    // A day that a zone skips as a whole is no slot's day either.
    let apia = course("0 0 * * *", Tz::Pacific__Apia);
    let skipped = super::plan(&facts(&apia, "2011-12-29T12:00:00Z", "2011-12-30T10:00:00Z"));
    assert_eq!(skipped.rows.len(), 2, "{:?}", told(&skipped));
    assert!(skipped.rows[0].slots().first < skipped.rows[1].slots().first);
}

#[test]
fn a_minutely_job_that_was_off_for_years_is_caught_up_in_bounded_steps() {
    let plan = plan(&facts(&minutely(), "2020-01-01T00:00:00Z", "2026-03-01T10:30:20Z"));
    let slots = plan.rows[0].slots();
    assert_eq!((slots.first, slots.last), (at("2020-01-01T00:01:00Z"), at("2026-03-01T10:30:00Z")));
    assert_eq!(slots.count, 100_000, "at least");
    let every = course("every 1m", Tz::UTC);
    let plan = super::plan(&facts(&every, "2026-01-01T00:00:00Z", "2029-01-01T00:00:00Z"));
    let slots = plan.rows[0].slots();
    assert_eq!((slots.count, slots.last), (1_578_240, at("2029-01-01T00:00:00Z")), "counted by division");
}

fn schedules() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "* * * * *",
            "*/7 * * * *",
            "0 9 * * *",
            "30 2 * * *",
            "*/30 1-3 * * *",
            "0 16 * * 5",
            "every 1m",
            "every 15m",
            "every 7h",
            "2026-03-29T02:10",
            "in 30h",
        ][..],
    )
}

proptest! {
    #[test]
    fn every_slot_between_two_passes_is_in_exactly_one_row(
        schedule in schedules(),
        zone in prop::sample::select(&[Tz::UTC, Tz::Europe__Berlin, Tz::America__New_York][..]),
        jitter in prop::sample::select(&[0_u32, 30, 4000][..]),
        passes in prop::collection::vec(prop_oneof![1..180_i64, 1..20_000_i64, 1..400_000_i64], 1..12),
        misfire in prop::sample::select(&[Misfire::Once, Misfire::Skip, Misfire::All(3)][..]),
        overlap in prop::sample::select(&[Overlap::Skip, Overlap::Queue, Overlap::Allow, Overlap::Replace][..]),
        busy in any::<bool>(),
        repeat in prop::option::of(1..4_u32),
    ) {
        let begin = at("2026-03-28T00:00:00Z");
        let mut definition = Definition::new("a".parse().unwrap(), schedule.to_owned());
        definition.jitter_seconds = jitter;
        let course = Course::new(&definition, schedule.parse().unwrap(), zone, begin);
        let settled = course.beginning(begin);
        let (mut ahead, mut now, mut rows, mut runs_left) = (course.ahead(settled), begin, Vec::new(), repeat);
        for seconds in passes {
            now += TimeDelta::seconds(seconds);
            if ahead.due.is_none_or(|due| due > now) {
                continue;
            }
            let busy = if busy { vec![ExecutionId(1)] } else { Vec::new() };
            let facts = Facts {
                course: &course, settled: ahead.settled, misfire, overlap, runs_left, now,
                open: Open { busy, ..Open::default() },
            };
            let plan = plan(&facts);
            if let Some(next) = plan.ahead.next {
                prop_assert!(plan.rows.iter().all(|row| row.slots().last < next), "strictly later");
                prop_assert!(plan.ahead.due.unwrap() > now);
            }
            runs_left = runs_left.map(|left| left - u32::try_from(plan.fires()).unwrap());
            ahead = plan.ahead;
            rows.extend(plan.rows);
        }
        let lost = |row: &&Row| matches!(row, Row::NotRun { why, .. } if why.contains("put forward"));
        rows.retain(|row| !lost(&row));
        // Every slot, walked one by one, against what the rows say of their ranges.
        let mut slots = std::iter::successors(course.schedule.next(settled, &course.lattice), |slot| {
            course.schedule.next(*slot, &course.lattice)
        }).take_while(|slot| *slot <= ahead.settled).peekable();
        for row in &rows {
            let Slots { first, last, count } = row.slots();
            let of_row: Vec<Time> = std::iter::from_fn(|| slots.next_if(|slot| *slot <= last)).collect();
            prop_assert_eq!(of_row.first(), Some(&first));
            prop_assert_eq!(of_row.last(), Some(&last));
            prop_assert_eq!(of_row.len(), count as usize);
        }
        prop_assert_eq!(slots.next(), None);
        let fires = rows.iter().filter(|row| matches!(row, Row::Fire { .. })).count();
        prop_assert!(repeat.is_none_or(|most| fires <= most as usize), "a catch-up counts once");
    }
}
