//! Slots that have passed: the first, the last, how many, and which may still run as themselves.

use chrono::TimeDelta;
use std::iter;

use super::{Course, LEAST_GRACE, ON_TIME};
use crate::domain::Time;
use crate::domain::cron::{How, Slots};
use crate::domain::schedule::Schedule;

/// So many slots of a cron expression are counted one by one: a job of every minute that was off for 69
/// days. A longer range has its true first and last slot, and this count, which says "at least".
const COUNTED: u32 = 100_000;

/// The slots of a course in `(after, until]`, at least one.
pub(super) struct Passed<'a> {
    course: &'a Course,
    until: Time,
    slots: Slots,
}

impl<'a> Passed<'a> {
    pub(super) fn of(course: &'a Course, after: Time, until: Time) -> Option<Self> {
        let first = next(course, after).filter(|&slot| slot <= until)?;
        Some(Self { course, until, slots: range(course, first, until) })
    }

    pub(super) fn slots(&self) -> Slots {
        self.slots
    }

    pub(super) fn until(&self) -> Time {
        self.until
    }

    /// How a fire for these slots comes to be that is not a catch-up.
    pub(super) fn how(&self, slots: Slots) -> How {
        if slots.count == 1 && self.until - slots.last <= ON_TIME { How::OnTime } else { How::Late }
    }

    /// The slots that are too late, and those that are not. `grace` is that of the last one; the ones
    /// before it are late by more than a whole period, so only the least grace can still hold for them.
    pub(super) fn split(&self, grace: TimeDelta) -> (Option<Slots>, Option<Slots>) {
        if self.until - self.slots.last > grace {
            return (Some(self.slots), None);
        }
        let least = self.until - LEAST_GRACE - TimeDelta::milliseconds(1);
        let first = match next(self.course, least) {
            Some(first) if first <= self.slots.last => first.max(self.slots.first),
            _ => self.slots.last,
        };
        (self.before(first), Some(range(self.course, first, self.slots.last)))
    }

    /// The slots before one of them.
    pub(super) fn before(&self, slot: Time) -> Option<Slots> {
        let until = slot - TimeDelta::milliseconds(1);
        (self.slots.first <= until).then(|| range(self.course, self.slots.first, until))
    }

    /// The newest ones, at most so many, in their order.
    pub(super) fn newest(&self, most: u32) -> Vec<Time> {
        let most = most.max(1) as usize;
        let Slots { first, last, .. } = self.slots;
        let mut back = TimeDelta::minutes(i64::try_from(most).unwrap_or(i64::MAX));
        loop {
            let from = last.checked_sub_signed(back).filter(|from| *from > first);
            let begin = from.and_then(|from| next(self.course, from)).unwrap_or(first);
            let slots: Vec<Time> = walk(self.course, begin, last).collect();
            if slots.len() >= most || from.is_none() {
                return slots[slots.len().saturating_sub(most)..].to_vec();
            }
            back = back * 2;
        }
    }
}

fn next(course: &Course, after: Time) -> Option<Time> {
    course.schedule.next(after, &course.lattice)
}

/// The slots from one on, up to an instant.
fn walk(course: &Course, first: Time, until: Time) -> impl Iterator<Item = Time> + '_ {
    iter::successors(Some(first), |slot| next(course, *slot)).take_while(move |slot| *slot <= until)
}

/// The slots from one on, up to an instant that is not before it.
fn range(course: &Course, first: Time, until: Time) -> Slots {
    if let Schedule::Every(length) = &course.schedule {
        let periods = (until - first).num_milliseconds() / length.duration().num_milliseconds().max(1);
        let last = i32::try_from(periods).ok().and_then(|n| first.checked_add_signed(length.duration() * n));
        let count = u32::try_from(periods).unwrap_or(u32::MAX).saturating_add(1);
        return Slots { first, last: last.unwrap_or(until), count };
    }
    let mut slots = Slots { first, last: first, count: 0 };
    for slot in walk(course, first, until).take(COUNTED as usize) {
        slots = Slots { last: slot, count: slots.count + 1, ..slots };
    }
    if slots.count == COUNTED {
        slots.last = last(course, slots.last, until);
    }
    slots
}

/// The last slot up to an instant, sought by halving: `slot` is one that is not after it.
fn last(course: &Course, slot: Time, until: Time) -> Time {
    let passes = |after: i64| {
        let after = Time::from_timestamp_millis(after)?;
        next(course, after).filter(|slot| *slot <= until)
    };
    let (mut low, mut high, mut last) = (slot.timestamp_millis(), until.timestamp_millis(), slot);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match passes(middle) {
            Some(found) => (low, last) = (middle, found),
            None => high = middle,
        }
    }
    passes(low).unwrap_or(last)
}
