//! From times on a wall clock to instants, and through the changes of the clock.
//!
//! A job of fixed times runs once where the clock jumps over its time, at the first instant after
//! the gap, and once where the time comes twice, in the first pass. A job that follows elapsed time
//! has no slot in a gap and one in each pass. A day that a zone skips as a whole has no slot.

use chrono::{FixedOffset, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeDelta, TimeZone};
use chrono_tz::{GapInfo, Tz};

use super::cron::{Cron, Pace};
use crate::domain::Time;

const INSTANT: TimeDelta = TimeDelta::nanoseconds(1);

impl Cron {
    /// The first slot after an instant.
    pub(super) fn next(&self, after: Time, zone: Tz) -> Option<Time> {
        let wall = wall_clock(after, zone)?;
        let later = |instant: &Time| *instant > after;
        if self.pace() == Pace::Fixed {
            return self.walls(wall).filter_map(|wall| first_pass(wall, zone)).find(later);
        }
        let ahead = self.walls(wall).find_map(|wall| shown(wall, zone).into_iter().flatten().find(later));
        // In the first pass of a time that comes twice, earlier times of the wall clock lie ahead.
        let again = clock_goes_back(after, zone).and_then(|back| {
            let from = wall_clock(back, zone)?.checked_sub_signed(INSTANT)?;
            let not_before = |instant: &Time| *instant >= back;
            self.walls(from).find_map(|wall| shown(wall, zone).into_iter().flatten().find(not_before))
        });
        ahead.into_iter().chain(again).min()
    }

    /// The days on which the clock jumps over every slot, with no run at the end of the gap, where the gap
    /// ends after one instant and not after another.
    pub(super) fn swallowed(&self, after: Time, until: Time, zone: Tz) -> Vec<NaiveDate> {
        let dates = wall_clock(after, zone).zip(wall_clock(until, zone));
        let Some((first, last)) = dates.map(|(after, until)| (after.date(), until.date())) else {
            return Vec::new();
        };
        let days = std::iter::successors(self.next_day(first), |day| self.next_day(day.succ_opt()?));
        let passes = |day: &NaiveDate| {
            let gap_end = self.swallowing_gap(*day, zone);
            gap_end.is_some_and(|end| after < end && end <= until)
        };
        days.take_while(|&day| day <= last).filter(passes).collect()
    }

    /// The end of the gap that swallows all slots of a day.
    fn swallowing_gap(&self, day: NaiveDate, zone: Tz) -> Option<Time> {
        let before = day.and_time(NaiveTime::MIN).checked_sub_signed(INSTANT)?;
        let mut slots = self.walls(before).take_while(|wall| wall.date() == day).peekable();
        let end = gap(*slots.peek()?, zone)?.end;
        let comes = |wall: NaiveDateTime| match self.pace() {
            Pace::Fixed => first_pass(wall, zone).is_some(),
            Pace::Elapsed => gap(wall, zone).is_none(),
        };
        (!slots.any(comes)).then_some(end)
    }

    /// The times on the wall clock after this one.
    fn walls(&self, after: NaiveDateTime) -> impl Iterator<Item = NaiveDateTime> {
        std::iter::successors(self.next_wall(after), |&wall| self.next_wall(wall))
    }
}

/// What the wall clock shows; none at the calendar's end.
pub(super) fn wall_clock(at: Time, zone: Tz) -> Option<NaiveDateTime> {
    at.naive_utc().checked_add_offset(offset(at, zone))
}

/// The first instant at which the wall clock has reached a time; none on a day that is skipped as a whole.
pub(in crate::domain) fn first_pass(wall: NaiveDateTime, zone: Tz) -> Option<Time> {
    match zone.from_local_datetime(&wall) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at.to_utc()),
        LocalResult::None => {
            let gap = gap(wall, zone)?;
            let (begin, end) = (gap.wall_begin, wall_clock(gap.end, zone)?);
            let midnight = wall.date().and_time(NaiveTime::MIN);
            let next_midnight = wall.date().succ_opt()?.and_time(NaiveTime::MIN);
            let day_is_skipped = begin <= midnight && next_midnight <= end;
            (!day_is_skipped).then_some(gap.end)
        }
    }
}

/// The instants at which the wall clock shows a time: none, one or two, in their order.
fn shown(wall: NaiveDateTime, zone: Tz) -> [Option<Time>; 2] {
    match zone.from_local_datetime(&wall) {
        LocalResult::None => [None, None],
        LocalResult::Single(at) => [Some(at.to_utc()), None],
        LocalResult::Ambiguous(first, second) => [Some(first.to_utc()), Some(second.to_utc())],
    }
}

/// A gap of the wall clock.
pub(super) struct Gap {
    /// The first time that is never shown.
    pub(super) wall_begin: NaiveDateTime,
    /// The first instant after the gap.
    pub(super) end: Time,
}

/// The gap into which a time on the wall clock falls.
pub(super) fn gap(wall: NaiveDateTime, zone: Tz) -> Option<Gap> {
    if !matches!(zone.from_local_datetime(&wall), LocalResult::None) {
        return None;
    }
    let gap = GapInfo::new(&wall, &zone)?;
    let (wall_begin, _) = gap.begin?;
    Some(Gap { wall_begin, end: gap.end?.to_utc() })
}

/// The instant at which the clock goes back, if the time that it shows now will then come again.
fn clock_goes_back(now: Time, zone: Tz) -> Option<Time> {
    match zone.from_local_datetime(&wall_clock(now, zone)?) {
        LocalResult::Ambiguous(first, second) if first == now => change_between(now, second.to_utc(), zone),
        _ => None,
    }
}

/// The first instant with another offset than at `from`, where the one of `until` is another.
pub(super) fn change_between(from: Time, until: Time, zone: Tz) -> Option<Time> {
    let before = offset(from, zone);
    if offset(until, zone) == before {
        return None;
    }
    let (mut low, mut high) = (from.timestamp(), until.timestamp());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if offset(Time::from_timestamp(middle, 0)?, zone) == before {
            low = middle;
        } else {
            high = middle;
        }
    }
    Time::from_timestamp(high, 0)
}

pub(super) fn offset(at: Time, zone: Tz) -> FixedOffset {
    zone.offset_from_utc_datetime(&at.naive_utc()).fix()
}
