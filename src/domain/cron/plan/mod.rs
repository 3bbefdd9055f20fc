//! The due plan: what becomes of the slots of a job that have passed, and when it is due next.
//!
//! Every slot of a job's lattice ends in exactly one row, or in one row for a range of slots: a fire, or
//! slots that were not run, with the reason in words.

mod overlap;
mod passed;
#[cfg(test)]
mod tests;

use chrono::{NaiveDate, NaiveTime, TimeDelta, TimeZone};
use chrono_tz::Tz;

use super::{Definition, ExecutionState, How, JobId, Misfire, Overlap, Slots};
use crate::domain::Time;
use crate::domain::id::ExecutionId;
use crate::domain::schedule::{Lattice, Recurrence, Schedule};
use overlap::by_overlap;
pub use overlap::{Asked, Open, asked};
use passed::Passed;

/// A one-shot may be so late, and every slot of a job that comes more often than twice that.
pub const LEAST_GRACE: TimeDelta = TimeDelta::seconds(120);

/// No slot may be later than that and still run as itself.
pub const MOST_GRACE: TimeDelta = TimeDelta::seconds(7200);

/// A fire that is not later than that is on time: whoever waits for a slot needs a moment to take it.
pub const ON_TIME: TimeDelta = TimeDelta::seconds(10);

/// However many runs `misfire: all:n` asks for, no more than so many begin to wait at once.
pub const MOST_RUNS: u32 = 1000;

/// When the slots of a job lie, and up to where they are settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    /// The schedule.
    pub schedule: Schedule,
    /// Its zone and anchor.
    pub lattice: Lattice,
    /// How far the job's fires are set off from its slots.
    pub offset: TimeDelta,
}

/// Where a job stands on its course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// Every slot up to here is in a row.
    pub settled: Time,
    /// The next slot.
    pub next: Option<Time>,
    /// When the ticker must look at it: at its next slot, or at a day before that loses all its slots to
    /// a clock change; with the job's offset.
    pub due: Option<Time>,
}

/// What is known of a job when it is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts<'a> {
    /// When its slots lie.
    pub course: &'a Course,
    /// Up to where they are settled.
    pub settled: Time,
    /// What becomes of those that were missed.
    pub misfire: Misfire,
    /// What happens while an earlier run works.
    pub overlap: Overlap,
    /// How many runs are left of its `repeat`.
    pub runs_left: Option<u32>,
    /// Its executions that are not over.
    pub open: Open,
    /// Now, by the wall clock.
    pub now: Time,
}

/// What becomes of a due job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The rows, by their slots.
    pub rows: Vec<Row>,
    /// The executions that the fires replace: those that wait never begin, the others are stopped.
    pub replaced: Vec<ExecutionId>,
    /// Where the job stands then.
    pub ahead: Ahead,
}

/// What becomes of slots in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// They are taken: one run stands for them.
    Fire {
        /// The slots.
        slots: Slots,
        /// How it came to be.
        how: How,
    },
    /// They are not run.
    NotRun {
        /// The slots.
        slots: Slots,
        /// `skipped` or `missed`.
        state: ExecutionState,
        /// Why.
        why: String,
    },
}

impl Row {
    /// The row without its first slot; none if that was its only one.
    pub fn without_first(self, course: &Course) -> Option<Self> {
        let rest = |slots: Slots| {
            let first = course.schedule.next(slots.first, &course.lattice)?;
            (first <= slots.last).then_some(Slots {
                first,
                count: slots.count.saturating_sub(1).max(1),
                ..slots
            })
        };
        Some(match self {
            Self::Fire { slots, how } => Self::Fire { slots: rest(slots)?, how },
            Self::NotRun { slots, state, why } => Self::NotRun { slots: rest(slots)?, state, why },
        })
    }

    /// The slots.
    pub fn slots(&self) -> Slots {
        match self {
            Self::Fire { slots, .. } | Self::NotRun { slots, .. } => *slots,
        }
    }

    fn skipped(slots: Slots, why: impl Into<String>) -> Self {
        Self::NotRun { slots, state: ExecutionState::Skipped, why: why.into() }
    }
}

impl Plan {
    /// How many runs it takes.
    pub fn fires(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row, Row::Fire { .. })).count()
    }
}

impl Course {
    /// The course of a job whose schedule was read.
    pub fn new(definition: &Definition, schedule: Schedule, zone: Tz, anchor: Time) -> Self {
        let offset = offset(&definition.id, definition.jitter_seconds);
        Self { schedule, lattice: Lattice { zone, anchor }, offset }
    }

    /// Up to where a job's slots count as settled when it begins at `now`: a recurring job begins with its
    /// next slot, a one-shot is never left out, so that one in the past ends as missed.
    pub fn beginning(&self, now: Time) -> Time {
        match self.schedule.recurrence() {
            Recurrence::Recurring => now,
            Recurrence::Once => self
                .schedule
                .next(Time::MIN_UTC, &self.lattice)
                .and_then(|slot| slot.checked_sub_signed(TimeDelta::milliseconds(1)))
                .unwrap_or(now),
        }
    }

    /// Where a job stands whose slots are settled up to an instant.
    pub fn ahead(&self, settled: Time) -> Ahead {
        let next = self.schedule.next(settled, &self.lattice);
        let lost = next.and_then(|next| self.first_lost(settled, next));
        let due = lost.or(next).and_then(|at| at.checked_add_signed(self.offset));
        Ahead { settled, next, due }
    }

    /// Gives up every slot that has passed, as one row; then they are settled up to the time that it returns.
    pub fn give_up(&self, settled: Time, now: Time, why: &str) -> (Option<Row>, Time) {
        let until = self.passed_until(settled, now);
        let passed = Passed::of(self, settled, until);
        (passed.map(|passed| Row::skipped(passed.slots(), why)), until)
    }

    /// Up to where slots have passed: those of a job with an offset pass later.
    fn passed_until(&self, settled: Time, now: Time) -> Time {
        now.checked_sub_signed(self.offset).unwrap_or(now).max(settled)
    }

    /// The first instant in `(after, until)` at which a clock change has taken all slots of a day.
    fn first_lost(&self, after: Time, until: Time) -> Option<Time> {
        let lost = |until: Time| !self.schedule.swallowed(after, until, self.lattice.zone).is_empty();
        if !lost(until) {
            return None;
        }
        let (mut low, mut high) = (after.timestamp(), until.timestamp());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if lost(Time::from_timestamp(middle, 0)?) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Time::from_timestamp(high, 0)
    }

    /// A row for each day in `(after, until]` that lost all its slots to a clock change.
    fn lost_days(&self, after: Time, until: Time) -> Vec<Row> {
        let zone = self.lattice.zone;
        let days = self.schedule.swallowed(after, until, zone);
        let why = |day: NaiveDate| {
            format!(
                "the clock of {zone} has none of the times of {}: it was put forward",
                day.format("%-d %B %Y")
            )
        };
        days.into_iter().map(|day| Row::skipped(Slots::one(day_mark(day, zone)), why(day))).collect()
    }

    /// How late a slot may be to run as itself: half of what passes until the next one, within limits.
    fn grace(&self, slot: Time) -> TimeDelta {
        match self.schedule.period(slot, &self.lattice) {
            Some(period) => (period / 2).clamp(LEAST_GRACE, MOST_GRACE),
            None => LEAST_GRACE,
        }
    }
}

/// How far the fires of a job are set off from its slots: up to so many seconds, always the same.
pub fn offset(job: &JobId, jitter_seconds: u32) -> TimeDelta {
    // FNV-1a: the same on every machine and in every version.
    let hash = job.as_str().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let seconds = hash % (u64::from(jitter_seconds) + 1);
    TimeDelta::seconds(i64::try_from(seconds).unwrap_or(0))
}

/// Decides what becomes of the slots that have passed.
pub fn plan(facts: &Facts<'_>) -> Plan {
    let course = facts.course;
    let until = course.passed_until(facts.settled, facts.now);
    let mut rows = course.lost_days(facts.settled, until);
    let mut replaced = Vec::new();
    if let Some(passed) = Passed::of(course, facts.settled, until) {
        let (not_run, fires) = by_misfire(facts, &passed);
        rows.extend(not_run);
        let (fires, ended) = by_overlap(facts.overlap, &facts.open, fires);
        rows.extend(fires);
        replaced = ended;
    }
    rows.sort_by_key(|row| row.slots().first);
    let mut plan = Plan { rows, replaced, ahead: course.ahead(until) };
    let fires = u32::try_from(plan.fires()).unwrap_or(u32::MAX);
    if facts.runs_left.is_some_and(|left| left <= fires) {
        plan.ahead = Ahead { next: None, due: None, ..plan.ahead };
    }
    plan
}

/// What of the passed slots is given up, and what is to be run.
fn by_misfire(facts: &Facts<'_>, passed: &Passed<'_>) -> (Option<Row>, Vec<Row>) {
    let slots = passed.slots();
    if facts.runs_left == Some(0) {
        return (Some(Row::skipped(slots, "all runs of its repeat are used up")), Vec::new());
    }
    let (stale, fresh) = passed.split(facts.course.grace(slots.last));
    let late = |slots: Slots| Row::Fire { slots, how: passed.how(slots) };
    if facts.course.schedule.recurrence() == Recurrence::Once && stale.is_some() {
        return (Some(missed(slots, passed.until())), Vec::new());
    }
    match (facts.misfire, stale) {
        (Misfire::All(most), _) => {
            let left = facts.runs_left.unwrap_or(MOST_RUNS).min(MOST_RUNS);
            newest(passed, most.min(left), stale)
        }
        (_, None) => (None, vec![late(slots)]),
        (Misfire::Once, Some(_)) => (None, vec![Row::Fire { slots, how: How::CatchUp }]),
        (Misfire::Skip, Some(stale)) => {
            let why = "nobody could fire it then (misfire: skip)";
            (Some(Row::skipped(stale, why)), fresh.map(late).into_iter().collect())
        }
    }
}

/// The newest slots, each with a run of its own, and one row for those before them.
fn newest(passed: &Passed<'_>, most: u32, stale: Option<Slots>) -> (Option<Row>, Vec<Row>) {
    let runs = passed.newest(most);
    let is_stale = |slot: Time| stale.is_some_and(|stale| slot <= stale.last);
    let fires = runs.iter().map(|&slot| {
        let slots = Slots::one(slot);
        Row::Fire { slots, how: if is_stale(slot) { How::CatchUp } else { passed.how(slots) } }
    });
    let rest = runs.first().and_then(|&first| passed.before(first));
    let why = format!("only the newest {} of those that were missed run (misfire: all)", runs.len());
    (rest.map(|slots| Row::skipped(slots, why)), fires.collect())
}

fn missed(slots: Slots, until: Time) -> Row {
    let late = until - slots.last;
    let late = match (late.num_days(), late.num_hours(), late.num_minutes()) {
        (days @ 2.., _, _) => format!("{days} days"),
        (_, hours @ 2.., _) => format!("{hours} hours"),
        (_, _, minutes) => format!("{minutes} minutes"),
    };
    let why = format!("{late} late; what is due once runs up to {} minutes late", LEAST_GRACE.num_minutes());
    Row::NotRun { slots, state: ExecutionState::Missed, why }
}

/// An instant that stands for a day without slots: its beginning, or the last instant before a day that
/// the zone skips as a whole. No slot lies there.
fn day_mark(day: NaiveDate, zone: Tz) -> Time {
    let midnight = day.and_time(NaiveTime::MIN);
    match zone.from_local_datetime(&midnight).earliest() {
        Some(begins) => begins.to_utc(),
        None => {
            let before = midnight - TimeDelta::milliseconds(1);
            zone.from_local_datetime(&before).latest().map_or(before.and_utc(), |last| last.to_utc())
        }
    }
}
