//! What a schedule means while it is typed.

use chrono_tz::Tz;

use crate::domain::Time;
use crate::domain::cron::Definition;
use crate::domain::sanitize::one_line;
use crate::domain::schedule::{Lattice, Recurrence, Schedule, parse_zone};

/// So many slots are shown.
const SLOTS: usize = 5;

/// What a schedule means.
#[derive(Debug, Clone, PartialEq)]
pub enum Insight {
    /// None is typed yet.
    Nothing,
    /// It is refused; safe to show.
    Fault(String),
    /// It is one.
    Due {
        /// In words.
        words: String,
        /// What to know about it.
        warnings: Vec<String>,
        /// The next slots.
        next: Vec<Time>,
        /// The zone of its times.
        zone: Tz,
        /// As it is written, where that is not as it is typed.
        written: Option<String>,
    },
}

/// What it depends on.
pub(super) struct Meaning<'a> {
    pub(super) schedule: &'a str,
    pub(super) zone: Option<&'a str>,
    pub(super) default_zone: Tz,
    pub(super) now: Time,
    /// The job as it was, with its next slots.
    pub(super) was: Option<(&'a Definition, &'a [Time])>,
    /// How many runs are left of its `repeat`.
    pub(super) runs_left: Option<u32>,
}

pub(super) fn of(meaning: &Meaning<'_>) -> Insight {
    if meaning.schedule.is_empty() {
        return Insight::Nothing;
    }
    // A zone that is none has a fault of its own.
    let zone = meaning.zone.and_then(|name| parse_zone(name).ok()).unwrap_or(meaning.default_zone);
    match read(meaning, zone) {
        Ok(insight) => insight,
        Err(why) => Insight::Fault(one_line(&why).into_owned()),
    }
}

fn read(meaning: &Meaning<'_>, zone: Tz) -> Result<Insight, String> {
    let now = meaning.now;
    let schedule: Schedule = meaning.schedule.parse().map_err(|error| format!("{error}"))?;
    schedule.check(zone, now).map_err(|error| error.to_string())?;
    let unchanged = meaning
        .was
        .filter(|(was, _)| was.schedule == meaning.schedule && was.timezone.as_deref() == meaning.zone);
    let lattice = Lattice { zone, anchor: now };
    let mut next: Vec<Time> = match unchanged {
        // What counts from an anchor goes on counting from it.
        Some((_, next)) if !next.is_empty() => next.to_vec(),
        _ => schedule.slots(now, &lattice).take(SLOTS).collect(),
    };
    if next.is_empty() && schedule.recurrence() == Recurrence::Once && unchanged.is_none() {
        return Err("it is past already: a job that is due once needs a time to come".to_owned());
    }
    next.truncate(meaning.runs_left.map_or(SLOTS, |left| left as usize));
    let written = match (&schedule, next.first()) {
        // What counts from now is written as what it comes to.
        (Schedule::In(_), Some(at)) if unchanged.is_none() => {
            Some(at.with_timezone(&zone).format("%Y-%m-%dT%H:%M:%S%:z").to_string())
        }
        _ => None,
    };
    let warnings = schedule.warnings(zone, now).iter().map(|warning| warning.words()).collect();
    Ok(Insight::Due { words: schedule.words(), warnings, next, zone, written })
}

/// The job as it is written.
pub(super) fn as_written(insight: &Insight, definition: &Definition) -> Definition {
    let schedule = match insight {
        Insight::Due { written: Some(written), .. } => written.clone(),
        _ => definition.schedule.clone(),
    };
    Definition { schedule, ..definition.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Time {
        "2026-11-29T13:02:20Z".parse().unwrap()
    }

    fn told(schedule: &str) -> Insight {
        let meaning = Meaning {
            schedule,
            zone: None,
            default_zone: Tz::Europe__Berlin,
            now: now(),
            was: None,
            runs_left: None,
        };
        of(&meaning)
    }

    #[test]
    fn a_delay_is_written_as_the_instant_that_it_comes_to() {
        let Insight::Due { written, next, .. } = told("in 30m") else { panic!() };
        assert_eq!(written.as_deref(), Some("2026-11-29T14:32:20+01:00"));
        let again: Schedule = written.unwrap().parse().unwrap();
        let lattice = Lattice { zone: Tz::Asia__Tokyo, anchor: now() };
        assert_eq!(again.next(now(), &lattice), Some(next[0]));
    }

    #[test]
    fn what_is_past_is_refused_and_what_is_kept_keeps_its_anchor() {
        assert!(matches!(told("2020-01-01T10:00"), Insight::Fault(why) if why.contains("past already")));
        let was = Definition::new("a".parse().unwrap(), "every 30m".to_owned());
        let slots = ["2026-11-29T13:17:00Z".parse().unwrap()];
        let meaning = |schedule| Meaning {
            schedule,
            zone: None,
            default_zone: Tz::UTC,
            now: now(),
            was: Some((&was, &slots[..])),
            runs_left: None,
        };
        let Insight::Due { next, .. } = of(&meaning("every 30m")) else { panic!() };
        assert_eq!(next, slots);
        let Insight::Due { next, .. } = of(&meaning("every 20m")) else { panic!() };
        assert_eq!(next[0], "2026-11-29T13:22:20Z".parse::<Time>().unwrap());
    }
}
