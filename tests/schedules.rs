//! Schedules: what people write, what it means, and when it comes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "schedules/cases.rs"]
mod cases;
#[path = "schedules/clocks.rs"]
mod clocks;
#[path = "schedules/forms.rs"]
mod forms;
#[path = "schedules/properties.rs"]
mod properties;
#[path = "schedules/told.rs"]
mod told;

use chrono::{DateTime, TimeDelta};
use chrono_tz::Tz;
use switchboard::domain::Time;
use switchboard::domain::schedule::{Lattice, Schedule, ScheduleError, parse_zone};

/// Reads a schedule that is right.
fn schedule(text: &str) -> Schedule {
    text.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// Why a schedule is refused.
fn refused(text: &str) -> ScheduleError {
    match text.parse::<Schedule>() {
        Ok(schedule) => panic!("{text:?} was read as {schedule}"),
        Err(error) => error,
    }
}

fn zone(name: &str) -> Tz {
    parse_zone(name).unwrap()
}

fn at(text: &str) -> Time {
    DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

/// The slots after an instant, which is the anchor too, as the wall clock of the zone shows them.
fn slots(text: &str, zone: Tz, from: Time, count: usize) -> Vec<String> {
    let (schedule, lattice) = (schedule(text), Lattice { zone, anchor: from });
    let following = std::iter::successors(Some(from), |&after| schedule.next(after, &lattice));
    following.skip(1).take(count).map(|slot| slot.with_timezone(&zone).to_rfc3339()).collect()
}

fn minutes(count: i64) -> TimeDelta {
    TimeDelta::minutes(count)
}
