//! What the columns of jobs and runs say.

use chrono::{Datelike, DurationRound, TimeDelta, Timelike};
use chrono_tz::Tz;

use super::{Detail, Job};
use crate::console::app::Model;
use crate::console::app::words::{age, clock, count, running, took as span};
use crate::domain::Time;
use crate::domain::api::{JobRow, JobState};
use crate::domain::cron::{Delivery, DeliveryState, Execution, ExecutionState, How, Overlap, Paused, Slots};
use crate::domain::queue::Gate;

/// From so many days on a day without its year could be one of this year's.
const YEAR_FROM_DAYS: i64 = 300;

/// An instant to come as the operator reads it: `14:30`, `Mon 08:00` within a week, `24 Dec 08:00`, with the year
/// where that could be meant of this one.
pub fn slot(model: &Model, at: Time) -> String {
    slot_in(model, at, model.zone)
}

/// The same on the clock of a zone.
pub fn slot_in(model: &Model, at: Time, zone: Tz) -> String {
    let (local, now) = (at.with_timezone(&zone), model.as_of().with_timezone(&zone));
    let clock = local.format(clock_of(at));
    match (local.date_naive() - now.date_naive()).num_days() {
        0 => clock.to_string(),
        1..7 => format!("{} {clock}", local.format("%a")),
        YEAR_FROM_DAYS.. if local.year() != now.year() => format!("{} {clock}", local.format("%-d %b %Y")),
        _ => format!("{} {clock}", local.format("%-d %b")),
    }
}

/// How the clock is written at an instant: with seconds where it has some.
pub fn clock_of(at: Time) -> &'static str {
    if at.second() == 0 { "%H:%M" } else { "%H:%M:%S" }
}

/// Whether an instant is so near that its distance is told by the second.
pub fn counts_down(model: &Model, at: Time) -> bool {
    (1..60).contains(&(at - model.as_of()).num_seconds())
}

/// How far an instant to come is, by the minute of the clock that is shown: `in 28 min`, `in 4 h 58 min`,
/// `in 17 h`, `in 7 d`.
pub fn distance(model: &Model, at: Time) -> String {
    if counts_down(model, at) {
        return format!("in {} s", (at - model.as_of()).num_seconds());
    }
    match minutes_until(model, at) {
        ..1 => "now".to_owned(),
        minutes @ 1..60 => format!("in {minutes} min"),
        minutes @ 60..600 if minutes % 60 > 0 => format!("in {} h {} min", minutes / 60, minutes % 60),
        minutes @ 60..2880 => format!("in {} h", minutes / 60),
        minutes => format!("in {} d", minutes / 1440),
    }
}

/// The same, finer: `in 18 h 58 min`, `in 7 d 19 h`.
pub fn fine_distance(model: &Model, at: Time) -> String {
    let minutes = minutes_until(model, at);
    let two = |large: i64, unit: &str, small: i64, of: &str| match small {
        0 => format!("in {large} {unit}"),
        _ => format!("in {large} {unit} {small} {of}"),
    };
    match minutes {
        ..60 => distance(model, at),
        60..1440 => two(minutes / 60, "h", minutes % 60, "min"),
        _ => two(minutes / 1440, "d", minutes % 1440 / 60, "h"),
    }
}

/// Minutes, from the minute that the clock shows.
fn minutes_until(model: &Model, at: Time) -> i64 {
    let now = model.as_of();
    let shown = now.duration_trunc(TimeDelta::minutes(1)).unwrap_or(now);
    (at - shown).num_minutes()
}

/// How a job stands and what became of its last run, in one column.
pub fn standing(model: &Model, job: &Job) -> String {
    match (&job.row.state, &job.row.paused) {
        (JobState::Paused | JobState::RunsOn { .. }, _) | (_, None) => of_state(model, &job.row),
        (_, Some(_)) => format!("paused, {}", of_state(model, &job.row)),
    }
}

/// The same, whether it is paused or not.
pub(super) fn of_state(model: &Model, row: &JobRow) -> String {
    match &row.state {
        JobState::Error { faults } => match faults.split_first() {
            Some((first, [])) => format!("error: {first}"),
            Some((first, rest)) => format!("{} faults: {first}", rest.len() + 1),
            None => "error".to_owned(),
        },
        JobState::Flagged => {
            let why = row.last_run.as_ref().and_then(|run| run.why.as_deref());
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            format!("failed {} in a row{why}", row.failures)
        }
        JobState::Running => runs(model, row),
        JobState::RunsOn { .. } => format!("removed, still {}", runs(model, row)),
        JobState::Waiting => match row.held() {
            Some(why) => format!("waits, {why}"),
            None => format!("waits {}", waits_for_engine(model)),
        },
        JobState::Scheduled => match (&row.last, &row.last_run) {
            (Some(last), Some(run)) if last.state.was_not_run() => {
                format!("{}, then {}", outcome(model, run), outcome(model, last))
            }
            (Some(last), _) if !last.deliveries.is_empty() && last.undone().is_none() => {
                format!("{}, to {}", outcome(model, last), deliveries(last))
            }
            (Some(last), _) => outcome(model, last),
            (None, _) => "never ran".to_owned(),
        },
        JobState::Paused => paused(model, row),
        JobState::Completed { at } => format!("completed {}", ago(model, *at)),
        JobState::Vanished { at } => format!("gone from the file {}", ago(model, *at)),
    }
}

/// `runs 3 min`, `begins`.
fn runs(model: &Model, row: &JobRow) -> String {
    let since = row.running_since;
    since.map_or("begins".to_owned(), |since| format!("runs {}", running(model.as_of() - since)))
}

/// `paused: the disk is full`, `paused 2 h`.
fn paused(model: &Model, row: &JobRow) -> String {
    match &row.paused {
        Some(Paused { why: Some(why), .. }) => format!("paused: {why}"),
        Some(Paused { since, why: None }) => format!("paused {}", age(model.as_of() - *since)),
        None => "paused".to_owned(),
    }
}

fn ago(model: &Model, at: Time) -> String {
    match age(model.as_of() - at).as_str() {
        "now" => "just now".to_owned(),
        span => format!("{span} ago"),
    }
}

/// What became of an execution, in a few words: `ok in 1 min 12 s`, `failed: exit 2`, `skipped: paused`.
pub fn outcome(model: &Model, run: &Execution) -> String {
    let why = run.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let took = took(model, run).map(|took| format!(" in {took}")).unwrap_or_default();
    match run.state {
        ExecutionState::Succeeded => format!("ok{took}{why}"),
        ExecutionState::Running | ExecutionState::Claimed | ExecutionState::Waiting => {
            state(run.state).to_owned()
        }
        ExecutionState::Skipped | ExecutionState::Missed => match run.slots {
            Some(Slots { count: many @ 2.., .. }) => {
                format!("{} {}{why}", state(run.state), count(many as usize, "slot"))
            }
            _ => format!("{}{why}", state(run.state)),
        },
        _ => format!("{}{why}", state(run.state)),
    }
}

/// What a run that has not begun waits for.
pub fn waits_for(model: &Model, detail: &Detail, run: &Execution) -> Option<&'static str> {
    if run.state != ExecutionState::Waiting {
        return None;
    }
    let goes_on =
        |other: &Execution| matches!(other.state, ExecutionState::Claimed | ExecutionState::Running);
    let overlap = detail.definition.as_ref().map_or(Overlap::Skip, |written| written.overlap);
    let behind =
        overlap != Overlap::Allow && detail.runs.iter().any(|other| other.id < run.id && goes_on(other));
    Some(if behind { "for the end of the run before" } else { waits_for_engine(model) })
}

/// What a run waits for that has no other of its job before it.
pub(super) fn waits_for_engine(model: &Model) -> &'static str {
    match model.overview.as_ref().map(|overview| overview.engine.gate) {
        Some(Gate::Held) => "for the end of the engine's hold",
        Some(Gate::Stopping) => "for the next start",
        Some(Gate::Open) | None => "for a worker",
    }
}

/// The word of a state.
pub fn state(state: ExecutionState) -> &'static str {
    match state {
        ExecutionState::Waiting => "waits",
        ExecutionState::Claimed => "begins",
        ExecutionState::Running => "runs",
        ExecutionState::Succeeded => "ok",
        ExecutionState::Failed => "failed",
        ExecutionState::TimedOut => "timed out",
        ExecutionState::Interrupted => "cut off",
        ExecutionState::Unknown => "unknown",
        ExecutionState::Skipped => "skipped",
        ExecutionState::Missed => "missed",
        ExecutionState::BlockedConfig => "blocked",
    }
}

/// How long a run took, or takes: `3.1 s`, `1 min 12 s`; none: it never began.
pub fn took(model: &Model, run: &Execution) -> Option<String> {
    let began = run.began_at?;
    match run.ended_at {
        Some(ended) => Some(span(ended - began)),
        None => Some(running(model.as_of() - began)),
    }
}

/// When a run was due, or the slots that were not run: `14:00`, `13:00 to 14:30`.
pub fn due(model: &Model, run: &Execution) -> String {
    match run.slots {
        None => clock(model, run.taken_at),
        Some(Slots { first, count: 1, .. }) => clock(model, first),
        Some(Slots { first, last, .. }) => format!("{} to {}", clock(model, first), clock(model, last)),
    }
}

/// How a run came to be: `on time`, `4 min late`, `catches up 3 slots`, `run by hand`.
pub fn how(run: &Execution) -> String {
    if run.state.was_not_run() {
        return String::new();
    }
    match (run.how, run.slots) {
        (How::RunNow, _) => "by hand".to_owned(),
        (How::CatchUp, Some(slots)) => format!("for {}", count(slots.count as usize, "slot")),
        (How::CatchUp, None) => "catches up".to_owned(),
        (How::Late, Some(slots)) => format!("{} late", late(run.taken_at - slots.last)),
        (How::Late, None) => "late".to_owned(),
        (How::OnTime, _) => String::new(),
    }
}

fn late(by: TimeDelta) -> String {
    match by.num_seconds() {
        seconds @ ..60 => format!("{} s", seconds.max(0)),
        _ => age(by),
    }
}

/// What became of a run's result: `console, telegram:-100 not set up`.
pub fn deliveries(run: &Execution) -> String {
    run.deliveries.iter().map(delivery).collect::<Vec<_>>().join(", ")
}

fn delivery(delivery: &Delivery) -> String {
    let target = &delivery.target;
    let why = delivery.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    match delivery.state {
        DeliveryState::Delivered => target.to_string(),
        DeliveryState::Pending => format!("{target} pending"),
        DeliveryState::Suppressed => format!("{target} silent"),
        DeliveryState::NotConfigured => format!("{target} not set up"),
        DeliveryState::Failed => format!("{target} FAILED{why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_told_as_finely_as_it_matters() {
        assert_eq!(span(TimeDelta::milliseconds(3140)), "3.1 s");
        assert_eq!(span(TimeDelta::seconds(72)), "1 min 12 s");
        assert_eq!(span(TimeDelta::minutes(125)), "2 h 05 min");
        assert_eq!(late(TimeDelta::seconds(59)), "59 s");
        assert_eq!(late(TimeDelta::minutes(4)), "4 min");
    }
}
