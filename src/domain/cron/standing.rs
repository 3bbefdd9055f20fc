//! How a job stands between its fires, and what each thing that happens to it does to that.

use chrono::TimeDelta;
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use std::{iter, mem};

use super::merge::Firing;
use super::plan::{Ahead, Course, Facts, Open, Plan, Row, plan};
use super::record::Imported;
use super::{Definition, ExecutionState, Fault, JobEvent, RunVerdict};
use crate::domain::Time;
use crate::domain::api::JobState;
use crate::domain::schedule::{Schedule, parse_zone};

/// At so many failures in a row a job is flagged.
pub const FLAGGED_FROM: u32 = 3;

/// So long a job that has done all its runs stays in the list.
pub const COMPLETED_SHOWN: TimeDelta = TimeDelta::days(7);

/// So many slots to come are told with a job.
const SLOTS_TOLD: usize = 5;

/// A clock that was ahead by more than that was wrong: what it took of the time to come holds no longer.
const AHEAD_HOLDS: TimeDelta = TimeDelta::days(1);

/// How a job stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStanding {
    /// The schedule that its next slot was computed from, as typed.
    pub schedule: String,
    /// The zone that its next slot was computed from.
    pub zone: Tz,
    /// Its first sight, from which intervals count.
    pub anchor: Time,
    /// Where it stands on its course; nothing is ahead while none of its slots is taken.
    pub ahead: Ahead,
    /// Why it can't be used; empty: it can.
    pub trouble: Vec<String>,
    /// Since when none of its slots is taken, by the will of a person.
    pub paused: Option<Paused>,
    /// Failures in a row.
    pub failures: u32,
    /// How many runs of its `repeat` are used up.
    pub runs: u32,
    /// When all its runs were done.
    pub completed_at: Option<Time>,
    /// Since when it is gone from the file.
    pub vanished_at: Option<Time>,
}

/// A pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// Since when.
    pub since: Time,
    /// Why, where that is known.
    pub why: Option<String>,
}

/// How many executions of a job are not over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenRuns {
    /// Those that wait for a worker.
    pub waiting: usize,
    /// Those that a worker has.
    pub busy: usize,
}

impl From<&Open> for OpenRuns {
    fn from(open: &Open) -> Self {
        Self { waiting: open.waiting().count(), busy: open.busy.len() }
    }
}

/// What a change of a job's standing leaves behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// What became of slots that will not be run.
    pub rows: Vec<Row>,
    /// What is to be told, in order.
    pub news: Vec<JobEvent>,
}

/// A job as the file has it now: what it means, or what is wrong with it.
pub type Said<'a> = Result<&'a Definition, &'a [String]>;

impl JobStanding {
    /// A job at its first sight. `zone` is that of jobs that name none. What another scheduler wrote of its
    /// runs is taken over, but never as a slot that is still to be run.
    pub fn first_seen(said: Said<'_>, imported: &Imported, zone: Tz, at: Time) -> (Self, Change) {
        let nowhere = Ahead { settled: at, next: None, due: None };
        let mut job = Self {
            schedule: String::new(),
            zone,
            anchor: at,
            ahead: nowhere,
            trouble: Vec::new(),
            paused: None,
            failures: 0,
            runs: 0,
            completed_at: None,
            vanished_at: None,
        };
        let news = match usable(said, zone, at) {
            Ok((definition, schedule, zone)) => {
                job.schedule.clone_from(&definition.schedule);
                job.zone = zone;
                let course = Course::new(definition, schedule, zone, at);
                job.paused = (!definition.enabled).then(|| Paused {
                    since: imported.paused_at.unwrap_or(at),
                    why: imported.paused_reason.clone(),
                });
                job.runs = imported.completed.unwrap_or(0);
                let settled = course.beginning(at).max(imported.last_run_at.unwrap_or(Time::MIN_UTC).min(at));
                job.go_on(definition, &course, settled);
                if imported.state.as_deref() == Some("completed") {
                    job.completed_at = Some(imported.last_run_at.unwrap_or(at).min(at));
                    job.ahead = Ahead { next: None, due: None, ..job.ahead };
                }
                JobEvent::Appeared { next: job.ahead.next }
            }
            Err(faults) => job.can_not_be_used(faults),
        };
        (job, Change { rows: Vec::new(), news: vec![news] })
    }

    /// Its record is another one, or it is back. `before` is what the record before meant.
    pub fn seen_again(&mut self, before: Option<&Definition>, said: Said<'_>, zone: Tz, at: Time) -> Change {
        let (definition, schedule, zone) = match usable(said, zone, at) {
            Ok(usable) => usable,
            Err(faults) => return self.became_unusable(before, faults, at),
        };
        let mut change = Change::default();
        let was_back = self.vanished_at.take().is_some();
        let was_in_error = !mem::take(&mut self.trouble).is_empty();
        let same_schedule = self.schedule == definition.schedule;
        let moved = !same_schedule || self.zone != zone;
        let away = match (was_back, was_in_error, moved) {
            (true, _, _) => Some("it was gone from jobs.json"),
            (_, true, _) => Some("its record could not be used"),
            (_, _, true) => Some("its schedule was changed before it was due"),
            _ => None,
        };
        let mut settled = self.ahead.settled;
        if let Some(why) = away {
            let old = self.course(before.unwrap_or(definition));
            if let (Some(old), None) = (old, self.completed_at) {
                let (row, until) = old.give_up(settled, at, &self.pause_or(why));
                change.rows.extend(row);
                settled = until;
            }
        }
        if !same_schedule {
            self.schedule.clone_from(&definition.schedule);
            if matches!(schedule, Schedule::In(_)) {
                self.anchor = at;
            }
        }
        self.zone = zone;
        let course = Course::new(definition, schedule, zone, self.anchor);
        let repeat = before.map(|before| before.repeat);
        if moved {
            self.completed_at = None;
            settled = course.beginning(at);
        } else if repeat.is_some_and(|repeat| repeat != definition.repeat)
            && self.completed_at.take().is_some()
        {
            settled = settled.max(at);
        }
        let was_enabled = match before {
            Some(before) if !was_in_error => before.enabled,
            _ => self.paused.is_none(),
        };
        let news = (was_enabled != definition.enabled)
            .then(|| self.follow_switch(definition, &course, &mut settled, &mut change.rows, at))
            .flatten();
        self.go_on(definition, &course, settled);
        change.news.push(match was_back {
            true => JobEvent::Appeared { next: self.ahead.next },
            false => JobEvent::Changed { next: self.ahead.next },
        });
        change.news.extend(news.map(|news| match news {
            JobEvent::Resumed { .. } => JobEvent::Resumed { next: self.ahead.next },
            other => other,
        }));
        change
    }

    /// Whether anything of it is missed when it goes: it has runs to come, or once had.
    pub fn is_missed(&self) -> bool {
        self.completed_at.is_none() && !self.schedule.is_empty()
    }

    /// It is gone from the file; `news` says how.
    pub fn vanish(&mut self, before: Option<&Definition>, news: JobEvent, at: Time) -> Change {
        let mut change = self.park(before, "it is gone from jobs.json", at);
        self.vanished_at = Some(at);
        change.news.push(news);
        change
    }

    /// None of its slots is taken any more. None: it is paused already.
    pub fn pause(&mut self, why: Option<&str>, at: Time) -> Option<JobEvent> {
        if self.paused.is_some() {
            return None;
        }
        let why = why.map(str::to_owned);
        self.paused = Some(Paused { since: at, why: why.clone() });
        self.ahead = Ahead { next: None, due: None, ..self.ahead };
        Some(JobEvent::Paused { why })
    }

    /// Its slots are taken again from now on. None: it was not paused.
    pub fn resume(&mut self, definition: Option<&Definition>, at: Time) -> Option<Change> {
        let why = self.pause_or("");
        self.paused.take()?;
        let mut change = Change::default();
        if let (Some(definition), None) = (definition, self.completed_at)
            && let Some(course) = self.course(definition)
        {
            let (row, settled) = course.give_up(self.ahead.settled, at, &why);
            change.rows.extend(row);
            self.go_on(definition, &course, settled);
        }
        change.news.push(JobEvent::Resumed { next: self.ahead.next });
        Some(change)
    }

    /// Takes the slots that have passed.
    pub fn fire(&mut self, definition: &Definition, open: Open, now: Time) -> Option<Plan> {
        let course = self.course(definition)?;
        let plan = plan(&Facts {
            course: &course,
            settled: self.ahead.settled,
            misfire: definition.misfire,
            overlap: definition.overlap,
            runs_left: self.runs_left(definition.repeat),
            open,
            now,
        });
        self.ahead = plan.ahead;
        self.runs = self.runs.saturating_add(u32::try_from(plan.fires()).unwrap_or(u32::MAX));
        Some(plan)
    }

    /// An operator asked for a run that counts for `repeat`.
    pub fn count_run(&mut self, definition: &Definition) {
        self.runs = self.runs.saturating_add(1);
        if self.runs_left(definition.repeat) == Some(0) {
            self.ahead = Ahead { next: None, due: None, ..self.ahead };
        }
    }

    /// The clock went back, behind the slots that were settled: what comes is computed anew, from the first
    /// slot on that no row stands for. `last_in_row` is the last slot that one of its rows stands for: a run
    /// may stand for many, and none of them is run again. But a clock that was far ahead may have taken a
    /// year in one row; then the job goes on at its next slot, and only the first slot of a row, by which the
    /// store knows it, is not taken again.
    pub fn clock_went_back(
        &mut self,
        definition: &Definition,
        last_in_row: Option<Time>,
        from: Time,
        at: Time,
    ) {
        // One that was first seen by the wrong clock counts from now, not from a day to come.
        self.anchor = self.anchor.min(at);
        if let Some(course) = self.course(definition) {
            let beginning = course.beginning(at).min(at);
            let in_rows = last_in_row.filter(|_| from - at <= AHEAD_HOLDS);
            self.go_on(definition, &course, in_rows.map_or(beginning, |last| last.max(beginning)));
        }
    }

    /// A run ended.
    pub fn run_ended(&mut self, state: ExecutionState) -> Option<JobEvent> {
        match state.verdict()? {
            RunVerdict::Failed => {
                self.failures = self.failures.saturating_add(1);
                (self.failures == FLAGGED_FROM).then_some(JobEvent::Flagged { failures: self.failures })
            }
            RunVerdict::Worked => {
                (mem::take(&mut self.failures) >= FLAGGED_FROM).then_some(JobEvent::Recovered)
            }
        }
    }

    /// Ends as completed when nothing is ahead and no execution of it is open.
    pub fn complete_if_done(&mut self, open: OpenRuns, at: Time) -> Option<JobEvent> {
        if !self.takes_slots() || self.ahead.next.is_some() || open != OpenRuns::default() {
            return None;
        }
        self.completed_at = Some(at);
        Some(JobEvent::Completed)
    }

    /// How many runs are left of `repeat`.
    pub fn runs_left(&self, repeat: Option<u32>) -> Option<u32> {
        repeat.map(|times| times.saturating_sub(self.runs))
    }

    /// Its slots that are still to be taken, without those before `from`: no more than it has runs left.
    pub fn slots(&self, definition: &Definition, from: Time) -> impl Iterator<Item = Time> {
        let course = self.ahead.next.and_then(|_| self.course(definition));
        let left = self.runs_left(definition.repeat);
        // Where they are counted, those before `from` are counted too.
        let mut after = match left {
            Some(_) => self.ahead.settled,
            None => self.ahead.settled.max(from - TimeDelta::milliseconds(1)),
        };
        let all = iter::from_fn(move || {
            let course = course.as_ref()?;
            after = course.schedule.next(after, &course.lattice)?;
            Some(after)
        });
        all.take(left.map_or(usize::MAX, |left| left as usize)).skip_while(move |slot| *slot < from)
    }

    /// The next of them from now on, as many as are told with a job. Those that were missed may take some of the runs
    /// that are left, one for many.
    pub fn next_slots(&self, definition: &Definition, now: Time) -> Vec<Time> {
        let mut settled = self.clone();
        if definition.repeat.is_some() && self.ahead.next.is_some() {
            settled.fire(definition, Open::default(), now - TimeDelta::milliseconds(1));
        }
        settled.slots(definition, now).take(SLOTS_TOLD).collect()
    }

    /// Its state in a list, by its executions that are not over.
    pub fn state(&self, open: OpenRuns) -> JobState {
        if let Some(at) = self.vanished_at {
            return if open.busy > 0 { JobState::RunsOn { at } } else { JobState::Vanished { at } };
        }
        if !self.trouble.is_empty() {
            return JobState::Error { faults: self.trouble.clone() };
        }
        match (open, self.completed_at, &self.paused) {
            _ if self.failures >= FLAGGED_FROM => JobState::Flagged,
            (OpenRuns { busy: 1.., .. }, ..) => JobState::Running,
            (OpenRuns { waiting: 1.., .. }, ..) => JobState::Waiting,
            (_, Some(at), _) => JobState::Completed { at },
            (_, None, Some(_)) => JobState::Paused,
            (_, None, None) => JobState::Scheduled,
        }
    }

    /// Whether it is paused, whatever else it does.
    pub fn firing(&self) -> Firing {
        if self.paused.is_some() { Firing::Paused } else { Firing::On }
    }

    /// When its slots lie; none if its schedule can't be read.
    pub fn course(&self, definition: &Definition) -> Option<Course> {
        let schedule = self.schedule.parse().ok()?;
        Some(Course::new(definition, schedule, self.zone, self.anchor))
    }

    /// Whether its slots are taken when they come.
    fn takes_slots(&self) -> bool {
        self.trouble.is_empty()
            && self.paused.is_none()
            && self.completed_at.is_none()
            && self.vanished_at.is_none()
    }

    /// Goes on from an instant up to which all is settled.
    fn go_on(&mut self, definition: &Definition, course: &Course, settled: Time) {
        self.ahead = course.ahead(settled);
        if !self.takes_slots() || self.runs_left(definition.repeat) == Some(0) {
            self.ahead = Ahead { next: None, due: None, ..self.ahead };
        }
    }

    /// Follows `enabled` where the file changed it. A pause that only the store knows stays, as it is written
    /// to the file before that is read; what a record says that could not be used counts once it can be.
    fn follow_switch(
        &mut self,
        now: &Definition,
        course: &Course,
        settled: &mut Time,
        rows: &mut Vec<Row>,
        at: Time,
    ) -> Option<JobEvent> {
        if !now.enabled {
            return self.pause(None, at);
        }
        let why = self.pause_or("");
        self.paused.take()?;
        if self.completed_at.is_none() {
            let (row, until) = course.give_up(*settled, at, &why);
            rows.extend(row);
            *settled = until;
        }
        Some(JobEvent::Resumed { next: None })
    }

    fn became_unusable(&mut self, before: Option<&Definition>, faults: Vec<String>, at: Time) -> Change {
        let was_back = self.vanished_at.take().is_some();
        if self.trouble == faults && !was_back {
            return Change::default();
        }
        let mut change = self.park(before, "its record could not be used", at);
        change.news.push(self.can_not_be_used(faults));
        change
    }

    fn can_not_be_used(&mut self, faults: Vec<String>) -> JobEvent {
        let why = faults.join("; ");
        self.trouble = faults;
        self.ahead = Ahead { next: None, due: None, ..self.ahead };
        JobEvent::InError { why }
    }

    /// Takes no slot any more; those that have passed are given up.
    fn park(&mut self, before: Option<&Definition>, why: &str, at: Time) -> Change {
        let mut change = Change::default();
        let open = self.completed_at.is_none() && self.trouble.is_empty();
        if let Some(course) = before.filter(|_| open).and_then(|before| self.course(before)) {
            let (row, until) = course.give_up(self.ahead.settled, at, &self.pause_or(why));
            change.rows.extend(row);
            self.ahead.settled = until;
        }
        self.ahead = Ahead { next: None, due: None, ..self.ahead };
        change
    }

    /// The reason that slots were not run: the pause, where there is one.
    fn pause_or(&self, why: &str) -> String {
        match &self.paused {
            Some(Paused { why: Some(why), .. }) => format!("paused: {why}"),
            Some(Paused { why: None, .. }) => "paused".to_owned(),
            None => why.to_owned(),
        }
    }
}

/// A definition with its schedule and zone, if they can be used.
fn usable<'a>(said: Said<'a>, zone: Tz, at: Time) -> Result<(&'a Definition, Schedule, Tz), Vec<String>> {
    let definition = said.map_err(|faults| match faults {
        [] => vec!["its record can't be understood".to_owned()],
        faults => faults.to_vec(),
    })?;
    let fault = |field: &str, value: &str, why: &dyn std::fmt::Display| {
        vec![Fault::new(field, &format!("{value:?}"), why).to_string()]
    };
    let zone = match definition.timezone.as_deref() {
        Some(name) => parse_zone(name).map_err(|error| fault("timezone", name, &error))?,
        None => zone,
    };
    let text = definition.schedule.as_str();
    let schedule: Schedule = text.parse().map_err(|error| fault("schedule", text, &error))?;
    schedule.check(zone, at).map_err(|error| fault("schedule", text, &error))?;
    Ok((definition, schedule, zone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cron::Misfire;

    #[test]
    fn the_slots_to_come_of_a_counted_job_are_those_that_are_left_when_the_missed_ones_are_settled() {
        let at = |text: &str| -> Time { format!("2026-11-30T{text}:00Z").parse().unwrap() };
        let left = |repeat, misfire| {
            let definition = Definition {
                repeat,
                misfire,
                ..Definition::new("a".parse().unwrap(), "0 * * * *".to_owned())
            };
            let seen = JobStanding::first_seen(Ok(&definition), &Imported::default(), Tz::UTC, at("10:30"));
            seen.0.next_slots(&definition, at("15:45"))
        };
        let hours = |all: &[&str]| all.iter().map(|hour| at(hour)).collect::<Vec<_>>();
        assert_eq!(left(Some(3), Misfire::Once), hours(&["16:00", "17:00"]), "one run catches up");
        assert_eq!(left(Some(3), Misfire::Skip), hours(&["16:00", "17:00", "18:00"]), "none does");
        assert_eq!(left(Some(3), Misfire::All(9)), hours(&[]), "the missed ones use it up");
        assert_eq!(left(None, Misfire::Once).len(), 5);
    }
}
