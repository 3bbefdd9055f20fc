//! Scheduled tasks as simply as they can be said: lists in memory, with the domain's decisions.

use std::collections::{BTreeMap, BTreeSet};

use chrono_tz::Tz;

use switchboard::domain::Time;
use switchboard::domain::alert::{
    AlertChange, AlertKey, by_cron_event, by_failures, by_job_event, by_nobodys_records, held_job,
};
use switchboard::domain::api::{
    EventPage, FileTrouble, JobDetail, JobFound, JobRow, JobState, JobsFileState, JobsPage, TickerState,
    TimelineRow,
};
use switchboard::domain::background::{StoppedBy, Which};
use switchboard::domain::cron::merge::Firing;
use switchboard::domain::cron::plan::{Open, Row};
use switchboard::domain::cron::{
    CLAIM_LIFE, COMPLETED_SHOWN, Change, Claim, ClaimKey, Counting, CronEvent, Definition, Delivery,
    DeliveryState, Execution, ExecutionState, How, JobEvent, JobId, JobStanding, OpenRuns, Overlap,
    RanElsewhere, SessionMode, Slots, Telling, deliveries, ran_elsewhere,
};
use switchboard::domain::event::{Event, EventKind, Level};
use switchboard::domain::id::{ExecutionId, KeyParts, RunId, SessionKey};
use switchboard::domain::marker::Clearing;
use switchboard::domain::queue::{Gate, Refusal};
use switchboard::domain::schedule::Schedule;
use switchboard::domain::session::{Beginning, EndReason};
use switchboard::domain::spending::Scope;
use switchboard::domain::turn::{Begun, TurnState};
use switchboard::store::*;

use super::model::Model;

#[derive(Debug, Clone, Default)]
pub(crate) struct Jobs {
    jobs: BTreeMap<JobId, Job>,
    unowned: Vec<(usize, SeenRecord)>,
    executions: Vec<Execution>,
    file: JobsFileState,
    zone: Option<Tz>,
    read_at: Option<Time>,
    last_pass: Option<Time>,
    missing_since: Option<Time>,
    ran_elsewhere: RanElsewhere,
    made: i64,
}

impl Jobs {
    /// The agent that a job's record names.
    pub(crate) fn agent_of(&self, id: &str) -> Option<String> {
        self.jobs.get(&id.parse::<JobId>().ok()?)?.definition()?.agent.clone()
    }

    pub(crate) fn cut_with(&self, run: &RunId) -> Vec<JobId> {
        let cut = self.executions.iter().filter(|it| it.cut_with.as_ref() == Some(run));
        cut.map(|it| it.job.clone()).collect()
    }
}

#[derive(Debug, Clone)]
struct Job {
    standing: JobStanding,
    record: SeenRecord,
    place: Option<usize>,
}

impl Job {
    fn definition(&self) -> Option<&Definition> {
        self.record.definition.as_deref()
    }

    fn said(&self) -> std::result::Result<&Definition, &[String]> {
        said(&self.record)
    }

    fn name(&self, id: &JobId) -> String {
        self.definition().and_then(|it| it.name.clone()).unwrap_or_else(|| id.to_string())
    }

    /// Its slots to come, from an instant on.
    fn slots(&self, from: Time) -> impl Iterator<Item = Time> {
        self.definition().into_iter().flat_map(move |definition| self.standing.slots(definition, from))
    }

    fn overlap(&self) -> Overlap {
        self.definition().map_or(Overlap::Skip, |definition| definition.overlap)
    }
}

fn said(record: &SeenRecord) -> std::result::Result<&Definition, &[String]> {
    match &record.definition {
        Some(definition) if record.faults.is_empty() => Ok(definition),
        _ => Err(&record.faults),
    }
}

fn nothing<T>(why: String) -> Result<T> {
    Err(StoreError::Refused(Refusal::NothingTo(why)))
}

fn is_busy(execution: &&Execution) -> bool {
    matches!(execution.state, ExecutionState::Claimed | ExecutionState::Running)
}

impl Model {
    fn tell_job(&mut self, job: &JobId, what: JobEvent, at: Time) {
        let is_held = |run: &&Execution| run.job == *job && run.held().is_some();
        let held = self.jobs.executions.iter().filter(is_held).count();
        let alerts = by_job_event(job, &what, held);
        self.tell(None, EventKind::Job { job: job.clone(), what }, at);
        self.change_alerts(alerts, at);
    }

    fn tell_cron(&mut self, what: CronEvent, at: Time) {
        let alert = by_cron_event(&what);
        self.tell(None, EventKind::Cron(what), at);
        self.change_alerts(alert, at);
    }

    fn change_alerts(&mut self, changes: impl IntoIterator<Item = AlertChange>, at: Time) {
        for change in changes {
            match change {
                AlertChange::Raise(new) => self.raise(&new, at),
                AlertChange::Resolve(key) => drop(self.resolve(&key, at)),
                AlertChange::Recover { key, words } => self.recover(&key, &words, at),
            }
        }
    }

    fn job_mut(&mut self, id: &JobId) -> &mut Job {
        self.jobs.jobs.get_mut(id).unwrap()
    }

    fn in_file(&self, id: &JobId) -> Result<Job> {
        match self.jobs.jobs.get(id) {
            Some(job) if job.standing.vanished_at.is_none() => Ok(job.clone()),
            _ => nothing(format!("there is no job {id} in jobs.json")),
        }
    }

    fn of_job<'a>(&'a self, id: &'a JobId) -> impl DoubleEndedIterator<Item = &'a Execution> {
        self.jobs.executions.iter().filter(move |execution| execution.job == *id)
    }

    fn open(&self, id: &JobId) -> Open {
        let ids = |fits: fn(&&Execution) -> bool| self.of_job(id).filter(fits).map(|it| it.id).collect();
        Open {
            fired: ids(|it| it.state == ExecutionState::Waiting && it.how != How::RunNow),
            asked: ids(|it| it.state == ExecutionState::Waiting && it.how == How::RunNow),
            busy: ids(is_busy),
        }
    }

    fn open_of(&self, id: &JobId) -> OpenRuns {
        OpenRuns::from(&self.open(id))
    }

    fn replace(&mut self, id: &JobId, replaced: Vec<ExecutionId>, at: Time) -> Vec<ExecutionId> {
        let busy = self.open(id).busy;
        let (stopped, dropped): (Vec<_>, Vec<_>) = replaced.into_iter().partition(|it| busy.contains(it));
        for execution in dropped {
            self.drop_fire(id, execution, "a newer fire replaces it (overlap: replace)", at);
        }
        stopped
    }

    fn settle_job(&mut self, id: &JobId, at: Time) {
        let open = self.open_of(id);
        if let Some(news) = self.job_mut(id).standing.complete_if_done(open, at) {
            self.tell_job(id, news, at);
        }
    }

    fn keep_change(&mut self, id: &JobId, change: Change, at: Time) {
        for row in change.rows {
            self.keep_row(id, row, at);
        }
        for news in change.news {
            self.tell_job(id, news, at);
        }
    }

    fn add(
        &mut self,
        job: &JobId,
        slots: Option<Slots>,
        how: How,
        state: ExecutionState,
        at: Time,
    ) -> ExecutionId {
        self.jobs.made += 1;
        let id = ExecutionId(self.jobs.made);
        self.jobs.executions.push(Execution {
            id,
            job: job.clone(),
            slots,
            how,
            state,
            taken_at: at,
            began_at: None,
            ended_at: state.is_over().then_some(at),
            why: None,
            attempt: 1,
            claim: None,
            session: None,
            turn: None,
            output: None,
            deliveries: Vec::new(),
            cut_with: None,
        });
        id
    }

    fn keep_row(&mut self, job: &JobId, row: Row, at: Time) -> bool {
        let first = row.slots().first;
        if self.of_job(job).any(|it| it.slots.is_some_and(|slots| slots.first == first)) {
            return false;
        }
        match row {
            Row::Fire { slots, how } => {
                let execution = self.add(job, Some(slots), how, ExecutionState::Waiting, at);
                self.tell_job(
                    job,
                    JobEvent::Fired { execution, slots: Some(slots), how, gate: Gate::Open },
                    at,
                );
            }
            Row::NotRun { slots, state, why } => {
                let execution = self.add(job, Some(slots), How::Late, state, at);
                self.execution_mut(execution).why = Some(why.clone());
                self.tell_job(job, JobEvent::NotRun { execution, slots, state, why }, at);
            }
        }
        true
    }

    fn execution_mut(&mut self, id: ExecutionId) -> &mut Execution {
        self.jobs.executions.iter_mut().find(|it| it.id == id).unwrap()
    }

    fn drop_fire(&mut self, job: &JobId, execution: ExecutionId, why: &str, at: Time) {
        let fire = self.execution_mut(execution);
        fire.state = ExecutionState::Skipped;
        fire.ended_at = Some(at);
        fire.why = Some(why.to_owned());
        let (state, why) = (ExecutionState::Skipped, Some(why.to_owned()));
        self.tell_job(job, JobEvent::RunEnded { execution, state, why }, at);
    }

    fn drop_waiting(&mut self, job: &JobId, why: &str, at: Time) {
        for execution in self.open(job).waiting() {
            self.drop_fire(job, execution, why, at);
        }
    }

    fn held(&self, key: &ClaimKey) -> Option<&Execution> {
        let is_held = |it: &&Execution| {
            it.id == key.execution && it.claim.as_ref().is_some_and(|claim| claim.token == key.token)
        };
        self.jobs.executions.iter().filter(is_busy).find(is_held)
    }

    fn give(&mut self, id: ExecutionId, claim: &NewClaim) -> Claimed {
        let execution = self.execution_mut(id);
        execution.claim = Some(Claim {
            owner: claim.owner.clone(),
            token: claim.token.clone(),
            since: claim.at,
            beat_at: claim.at,
            expires_at: claim.at + CLAIM_LIFE,
        });
        let execution = execution.clone();
        let definition = self.jobs.jobs[&execution.job].definition().unwrap().clone();
        Claimed { execution, definition }
    }

    fn over(&mut self, id: ExecutionId, state: ExecutionState, why: Option<String>, at: Time) -> JobId {
        let execution = self.execution_mut(id);
        execution.state = state;
        execution.ended_at = Some(at);
        execution.why.clone_from(&why);
        let job = execution.job.clone();
        self.tell_job(&job, JobEvent::RunEnded { execution: id, state, why }, at);
        job
    }

    fn end_run_background(&mut self, id: ExecutionId, at: Time) -> Result<()> {
        let Some(session) = self.execution_mut(id).session.clone() else { return Ok(()) };
        self.stop_background(&session, Which::All, StoppedBy::RunEnded, at).map(|_| ())
    }

    fn deliver(&mut self, job: &JobId, id: ExecutionId, deliveries: &[Delivery]) {
        self.execution_mut(id).deliveries = deliveries.to_vec();
        for Delivery { target, state, at, why } in deliveries {
            if *state != DeliveryState::Pending {
                let (target, words) = (target.clone(), why.clone());
                self.tell_job(job, JobEvent::Delivery { execution: id, target, state: *state, words }, *at);
            }
        }
    }

    fn count_end(&mut self, job: &JobId, state: ExecutionState, why: Option<&str>, at: Time) {
        let failures = self.job_mut(job).standing.failures;
        if let Some(news) = self.job_mut(job).standing.run_ended(state) {
            self.tell_job(job, news, at);
        }
        let now = self.job_mut(job).standing.failures;
        self.change_alerts(by_failures(job, failures, now, why), at);
        self.settle_job(job, at);
    }

    fn left_over(
        &self,
        execution: &Execution,
        dead: bool,
    ) -> std::result::Result<bool, (ExecutionState, String)> {
        let claim = execution.claim.as_ref().unwrap();
        let gone = match dead {
            true => "the engine died".to_owned(),
            false => {
                format!(
                    "no sign of life since {} of {}",
                    claim.beat_at.format("%H:%M:%S UTC"),
                    claim.holder()
                )
            }
        };
        if execution.state == ExecutionState::Claimed {
            let again = format!("{gone} before it began, for the second time");
            return if execution.attempt == 1 {
                Ok(false)
            } else {
                Err((ExecutionState::Interrupted, again))
            };
        }
        match execution.turn.map(|turn| self.turn_state(turn)) {
            Some(TurnState::Done | TurnState::Failed) => Ok(true),
            Some(TurnState::Interrupted) => Err((ExecutionState::Interrupted, gone)),
            Some(TurnState::Running) | None => Err((ExecutionState::Unknown, gone)),
        }
    }

    fn job_row(&self, id: &JobId, job: &Job) -> JobRow {
        let standing = &job.standing;
        let runs: Vec<&Execution> = self
            .of_job(id)
            .rev()
            .filter(|it| it.began_at.is_some() && it.ended_at.is_some())
            .take(12)
            .collect();
        let took = |run: &&Execution| (run.ended_at.unwrap() - run.began_at.unwrap()).num_milliseconds();
        JobRow {
            id: Some(id.clone()),
            place: job.place.unwrap_or_default(),
            name: job.name(id),
            state: standing.state(self.open_of(id)),
            paused: standing.paused.clone(),
            schedule: job.definition().map_or_else(|| standing.schedule.clone(), |it| it.schedule.clone()),
            words: standing.schedule.parse::<Schedule>().map(|it| it.words()).unwrap_or_default(),
            zone: standing.zone.name().to_owned(),
            next: standing.ahead.next,
            running_since: self
                .of_job(id)
                .filter(|it| it.state == ExecutionState::Running)
                .filter_map(|it| it.began_at)
                .min(),
            last: self.of_job(id).next_back().cloned(),
            last_run: runs.iter().copied().find(|run| run.state.verdict().is_some()).cloned(),
            failures: standing.failures,
            runs_left: standing.runs_left(job.definition().and_then(|it| it.repeat)),
            durations: runs.iter().rev().filter_map(|run| u64::try_from(took(run)).ok()).collect(),
            missing_sources: job
                .definition()
                .map(|it| it.missing_sources(|source| self.in_file(source).is_ok()))
                .unwrap_or_default(),
        }
    }

    pub(crate) fn job_ids(&self) -> Vec<JobId> {
        self.jobs.jobs.keys().cloned().collect()
    }
}

impl JobTransitions for Model {
    fn sync_jobs(&mut self, seen: &JobsSeen) -> Result<Synced> {
        let zone_moved = self.jobs.zone != Some(seen.zone);
        self.jobs.zone = Some(seen.zone);
        let (mut synced, mut unowned, mut met) = (Synced::default(), Vec::new(), BTreeSet::new());
        let mut elsewhere = Vec::new();
        let mut gone: BTreeMap<JobId, ()> = self
            .jobs
            .jobs
            .iter()
            .filter(|(_, job)| job.place.is_some())
            .map(|(id, _)| (id.clone(), ()))
            .collect();
        for (place, record) in seen.records.iter().enumerate() {
            let Some(id) = record.id.clone().filter(|id| met.insert(id.clone())) else {
                unowned.push((place, record.clone()));
                continue;
            };
            gone.remove(&id);
            let Some(job) = self.jobs.jobs.get_mut(&id) else {
                let (standing, change) =
                    JobStanding::first_seen(said(record), &record.imported, seen.zone, seen.at);
                let job = Job { standing, record: record.clone(), place: Some(place) };
                self.jobs.jobs.insert(id.clone(), job);
                self.keep_change(&id, change, seen.at);
                self.settle_job(&id, seen.at);
                synced.appeared += 1;
                continue;
            };
            let was_there = job.place.replace(place).is_some();
            let same = was_there && (&job.record.text, &job.record.faults) == (&record.text, &record.faults);
            if !same && was_there && ran_elsewhere(&job.record.text, &record.text) {
                elsewhere.push(id.clone());
            }
            let by_zone = zone_moved && record.definition.as_ref().is_some_and(|it| it.timezone.is_none());
            if same && !by_zone {
                continue;
            }
            let before = std::mem::replace(&mut job.record, record.clone());
            let mut standing = job.standing.clone();
            let change = standing.seen_again(before.definition.as_deref(), job.said(), seen.zone, seen.at);
            job.standing = standing;
            let unusable = !job.standing.trouble.is_empty();
            self.keep_change(&id, change, seen.at);
            if unusable {
                self.drop_waiting(&id, "its record could not be used any more", seen.at);
            }
            self.settle_job(&id, seen.at);
            if was_there {
                synced.changed += 1;
            } else {
                synced.appeared += 1;
            }
        }
        let mut gone_with_file = 0;
        let since = self.jobs.missing_since;
        for id in self.job_ids() {
            let standing = &self.jobs.jobs[&id].standing;
            let back = matches!(seen.file, SeenFile::Read) && !met.contains(&id) && !gone.contains_key(&id);
            if back && since.is_some_and(|since| standing.vanished_at >= Some(since)) && standing.is_missed()
            {
                self.tell_job(&id, JobEvent::Vanished, seen.at);
            }
            if !gone.contains_key(&id) {
                continue;
            }
            let job = self.job_mut(&id);
            job.place = None;
            let before = job.record.definition.clone();
            let news = seen.news_of_gone(&id, &job.standing);
            gone_with_file += usize::from(news == JobEvent::VanishedWithFile);
            let change = job.standing.vanish(before.as_deref(), news, seen.at);
            self.keep_change(&id, change, seen.at);
            self.drop_waiting(&id, "it is gone from jobs.json", seen.at);
            synced.vanished += 1;
        }
        let others = self.jobs.unowned != unowned;
        let news = others || synced != Synced::default();
        if others {
            let broken = unowned.iter().map(|(place, record)| (*place, &record.faults[..]));
            self.change_alerts([by_nobodys_records(broken)], seen.at);
        }
        self.jobs.unowned = unowned;
        let was_a_scheduler = self.jobs.ran_elsewhere.is_a_scheduler();
        self.jobs.ran_elsewhere.pass_to(seen.at);
        if was_a_scheduler && !self.jobs.ran_elsewhere.is_a_scheduler() {
            self.resolve_alert(&AlertKey::other_scheduler(), seen.at)?;
        }
        if let Some((job, others)) = elsewhere.split_first() {
            let looks = self.jobs.ran_elsewhere.note(seen.at);
            let ran = CronEvent::RanElsewhere { job: job.clone(), others: others.len(), looks };
            self.tell_cron(ran, seen.at);
        }
        let file = match seen.file {
            SeenFile::Read => JobsFileState::Read { at: seen.at },
            SeenFile::Missing => JobsFileState::Missing,
        };
        let other = std::mem::discriminant(&file) != std::mem::discriminant(&self.jobs.file);
        self.jobs.missing_since = match file {
            JobsFileState::Missing => Some(since.unwrap_or(seen.at)),
            _ => None,
        };
        self.jobs.file = file;
        self.jobs.read_at = Some(seen.at);
        if gone_with_file > 0 {
            self.tell_cron(CronEvent::FileMissing { jobs: gone_with_file }, seen.at);
        } else if news || other {
            let there = || self.jobs.jobs.values().filter(|job| job.standing.vanished_at.is_none());
            let jobs = there().filter(|job| job.standing.trouble.is_empty()).count();
            let in_error = there().count() - jobs + self.jobs.unowned.len();
            self.tell_cron(CronEvent::FileRead { jobs, in_error }, seen.at);
        }
        Ok(synced)
    }

    fn rename_job(&mut self, from: &JobId, to: &JobId, at: Time) -> Result<()> {
        self.in_file(from)?;
        if self.jobs.jobs.contains_key(to) {
            return nothing(format!("job {to} is known already"));
        }
        let job = self.jobs.jobs.remove(from).unwrap();
        self.jobs.jobs.insert(to.clone(), job);
        for execution in self.jobs.executions.iter_mut().filter(|it| it.job == *from) {
            execution.job = to.clone();
        }
        self.move_sessions(&from.session_key().unwrap(), &to.session_key().unwrap());
        for key in AlertKey::OF_JOBS {
            self.rename_alert(&key(from), &key(to), to);
        }
        self.tell_job(to, JobEvent::Renamed { from: from.clone() }, at);
        Ok(())
    }

    fn jobs_unreadable(&mut self, trouble: &FileTrouble, at: Time) -> Result<()> {
        let since = match &self.jobs.file {
            JobsFileState::Unreadable { trouble: known, .. } if known == trouble => return Ok(()),
            JobsFileState::Unreadable { since, .. } => *since,
            JobsFileState::Missing | JobsFileState::Read { .. } => at,
        };
        let (trouble, stored_at) = (trouble.clone(), self.jobs.read_at);
        let why = trouble.why.clone();
        self.jobs.file = JobsFileState::Unreadable { since, trouble, stored_at };
        let understood = |job: &&Job| job.place.is_some() && job.definition().is_some();
        let unowned = self.jobs.unowned.iter().filter(|(_, record)| record.definition.is_some());
        let stored = self.jobs.jobs.values().filter(understood).count() + unowned.count();
        self.tell_cron(CronEvent::FileUnreadable { why, stored }, at);
        Ok(())
    }

    fn fire_due(&mut self, tick: &Tick) -> Result<Ticked> {
        let mut ticked = Ticked { fired: 0, due: 0, replaced: Vec::new(), next: None };
        if self.gate() == Gate::Open {
            let last = self.jobs.last_pass.replace(tick.at);
            if let Some(from) = last.filter(|last| tick.at < *last - chrono::TimeDelta::seconds(60)) {
                for id in self.job_ids() {
                    let slots = self.of_job(&id).filter_map(|it| it.slots);
                    let in_rows = slots.map(|slots| slots.last).filter(|last| *last <= from).max();
                    let job = self.job_mut(&id);
                    let ahead = job.standing.ahead;
                    if ahead.settled > tick.at && (ahead.due.is_some() || job.standing.paused.is_some()) {
                        let definition = job.record.definition.clone();
                        if let Some(definition) = definition {
                            job.standing.clock_went_back(&definition, in_rows, from, tick.at);
                        }
                        self.settle_job(&id, tick.at);
                    }
                }
                self.tell_cron(CronEvent::ClockWentBack { from }, tick.at);
            }
            let mut due: Vec<(Time, JobId)> = self
                .jobs
                .jobs
                .iter()
                .filter_map(|(id, job)| {
                    Some((job.standing.ahead.due.filter(|due| *due <= tick.at)?, id.clone()))
                })
                .collect();
            due.sort();
            due.truncate(tick.limit);
            ticked.due = due.len();
            for (_, id) in due {
                let open = self.open(&id);
                let job = self.job_mut(&id);
                let definition = job.record.definition.clone().unwrap();
                let plan = job.standing.fire(&definition, open, tick.at).unwrap();
                ticked.replaced.extend(self.replace(&id, plan.replaced, tick.at));
                for row in plan.rows {
                    let fires = matches!(row, Row::Fire { .. });
                    ticked.fired += usize::from(self.keep_row(&id, row, tick.at) && fires);
                }
                self.settle_job(&id, tick.at);
            }
        }
        ticked.next = self.next_due()?.slot;
        Ok(ticked)
    }

    fn run_job_now(&mut self, id: &JobId, counting: Counting, at: Time) -> Result<RunAsked> {
        let job = self.in_file(id)?;
        let Some(definition) = job.definition().filter(|_| job.standing.trouble.is_empty()) else {
            return nothing(format!("job {id} can't be used: {}", job.standing.trouble.join("; ")));
        };
        let open = self.open(id);
        let in_the_way = open.busy.iter().copied().chain(open.waiting()).next();
        if definition.overlap == Overlap::Skip
            && let Some(execution) = in_the_way
        {
            if self.execution_mut(execution).held().is_some() {
                let lifts = self.reached(&Scope::Job(id.clone()), at);
                if lifts.is_some() {
                    self.let_go(&Scope::Job(id.clone()), at);
                }
                self.execution_mut(execution).why = None;
                self.tell_job(id, JobEvent::LetGo { execution }, at);
                return Ok(RunAsked { execution, replaced: Vec::new(), lifts });
            }
            let claim = self.execution_mut(execution).claim.clone();
            let holder = claim.map_or(", which has not begun".to_owned(), |claim| {
                format!(", claimed by {} {} s ago", claim.holder(), (at - claim.since).num_seconds())
            });
            return nothing(format!("job {id} has run {execution} already{holder} (overlap: skip)"));
        }
        let replaced = match definition.overlap {
            Overlap::Replace => {
                self.replace(id, open.waiting().chain(open.busy.iter().copied()).collect(), at)
            }
            _ => Vec::new(),
        };
        if counting == Counting::Counts {
            self.job_mut(id).standing.count_run(definition);
        }
        let execution = self.add(id, None, How::RunNow, ExecutionState::Waiting, at);
        let fired = JobEvent::Fired { execution, slots: None, how: How::RunNow, gate: self.gate() };
        self.tell_job(id, fired, at);
        self.settle_job(id, at);
        Ok(RunAsked { execution, replaced, lifts: self.reached(&Scope::Job(id.clone()), at) })
    }

    fn withdraw_execution(&mut self, execution: ExecutionId, at: Time) -> Result<()> {
        let waits = |it: &&Execution| it.id == execution && it.state == ExecutionState::Waiting;
        let Some(job) = self.jobs.executions.iter().find(waits).map(|it| it.job.clone()) else {
            return nothing(format!("run {execution} does not wait any more"));
        };
        self.drop_fire(&job, execution, "the operator withdrew it before it began", at);
        self.settle_job(&job, at);
        Ok(())
    }

    fn claim_execution(&mut self, claim: &NewClaim) -> Result<Option<Claimed>> {
        if self.gate() != Gate::Open || self.open_claims()?.len() >= claim.max_parallel {
            return Ok(None);
        }
        let may_begin = |it: &&Execution| {
            let due = self.jobs.jobs[&it.job].standing.ahead.due.is_some_and(|due| due <= claim.at);
            it.state == ExecutionState::Waiting
                && (it.how != How::RunNow || !due)
                && (self.jobs.jobs[&it.job].overlap() == Overlap::Allow || self.open(&it.job).busy.is_empty())
        };
        let waiting: Vec<Execution> = self.jobs.executions.iter().filter(may_begin).cloned().collect();
        for it in waiting {
            if self.may_spend(&it, claim.at) {
                let kept = self.execution_mut(it.id);
                (kept.state, kept.why) = (ExecutionState::Claimed, None);
                return Ok(Some(self.give(it.id, claim)));
            }
        }
        Ok(None)
    }

    fn begin_execution(&mut self, claim: &ClaimKey, at: Time) -> Result<Held> {
        let Some(job) =
            self.held(claim).filter(|it| it.state == ExecutionState::Claimed).map(|it| it.job.clone())
        else {
            return Ok(Held::Lost);
        };
        let execution = self.execution_mut(claim.execution);
        execution.state = ExecutionState::Running;
        execution.began_at = Some(at);
        self.tell_job(&job, JobEvent::RunBegan { execution: claim.execution }, at);
        Ok(Held::Ours)
    }

    fn begin_run_turn(&mut self, run: &RunTurn) -> Result<Option<Begun>> {
        let Some(execution) = self.held(&run.claim).cloned() else { return Ok(None) };
        let at = run.message.at;
        let mut key = run.message.to.clone();
        if self.at_key(&key).is_some_and(|own| self.is_taken(&own)) {
            let thread = execution.id.to_string();
            key = SessionKey::build(KeyParts { thread_id: Some(&thread), ..key.parts() }).unwrap();
        }
        if run.session == SessionMode::Fresh
            && let Some(old) = self.at_key(&key)
        {
            let fresh = &run.message.fresh;
            self.stop_background(&old, Which::All, StoppedBy::Reset, at)?;
            self.end_session(&old, EndReason::SessionReset, Clearing::New, fresh, at);
            self.make(&key, fresh, Some(old), None, Beginning::Fresh, at);
        }
        let message = NewMessage { to: key, ..run.message.clone() };
        let Some(begun) = self.accept_message(&message)?.begun else {
            return nothing("no turn begins now: the engine is on hold or stops".to_owned());
        };
        let kept = self.execution_mut(execution.id);
        kept.session = Some(begun.session.clone());
        kept.turn = Some(begun.turn);
        let (session, turn) = (begun.session.clone(), begun.turn);
        self.tell_job(
            &execution.job,
            JobEvent::AgentBegan { execution: execution.id, run_session: session, turn },
            at,
        );
        Ok(Some(begun))
    }

    fn beat_execution(&mut self, claim: &ClaimKey, at: Time) -> Result<Held> {
        if self.held(claim).is_none() {
            return Ok(Held::Lost);
        }
        let held = self.execution_mut(claim.execution).claim.as_mut().unwrap();
        held.beat_at = at;
        held.expires_at = at + CLAIM_LIFE;
        Ok(Held::Ours)
    }

    fn end_execution(&mut self, end: &ExecutionEnd) -> Result<Held> {
        let id = end.claim.execution;
        if self.held(&end.claim).is_none() {
            return Ok(Held::Lost);
        }
        self.end_run_background(id, end.at)?;
        let job = self.over(id, end.state, end.why.clone(), end.at);
        let execution = self.execution_mut(id);
        execution.output.clone_from(&end.output);
        execution.cut_with.clone_from(&end.cut_with);
        self.deliver(&job, id, &end.deliveries);
        self.count_end(&job, end.state, end.why.as_deref(), end.at);
        Ok(Held::Ours)
    }

    fn tell_cron(&mut self, what: CronEvent, at: Time) -> Result<()> {
        self.tell_cron(what, at);
        Ok(())
    }

    fn settle_delivery(
        &mut self,
        execution: ExecutionId,
        place: usize,
        state: DeliveryState,
        words: Option<&str>,
        post: Option<&Post>,
        at: Time,
    ) -> Result<()> {
        let found = self.jobs.executions.iter_mut().find(|it| it.id == execution);
        let job = found.as_ref().map(|it| it.job.clone());
        let delivery = found.and_then(|it| it.deliveries.get_mut(place));
        let Some(delivery) = delivery.filter(|it| it.state == DeliveryState::Pending) else {
            return nothing(format!("run {execution} has no delivery {place} that is still to be made"));
        };
        delivery.state = state;
        delivery.at = at;
        delivery.why = words.filter(|_| state != DeliveryState::Delivered).map(str::to_owned);
        let (target, words) = (delivery.target.clone(), words.map(str::to_owned));
        let (job, what) = (job.unwrap(), JobEvent::Delivery { execution, target, state, words });
        match post {
            Some(post) => self.post(post, EventKind::Job { job, what }, at),
            None => self.tell_job(&job, what, at),
        }
        Ok(())
    }

    fn free_executions(&mut self, dead: &BTreeSet<ClaimKey>, heir: &NewClaim) -> Result<Vec<Claimed>> {
        let mut inherited = Vec::new();
        for (key, claim) in self.open_claims()? {
            let is_dead = dead.contains(&key);
            if !is_dead && claim.expires_at > heir.at {
                continue;
            }
            let execution = self.execution_mut(key.execution).clone();
            match self.left_over(&execution, is_dead) {
                Ok(true) => inherited.push(self.give(execution.id, heir)),
                Ok(false) => {
                    let kept = self.execution_mut(execution.id);
                    kept.state = ExecutionState::Waiting;
                    kept.attempt += 1;
                    kept.claim = None;
                    self.tell_job(&execution.job, JobEvent::Restored { execution: execution.id }, heir.at);
                }
                Err((state, why)) => {
                    let job = self.over(execution.id, state, Some(why.clone()), heir.at);
                    let lived =
                        self.sign_of_life(&claim.owner.run).map_or(claim.beat_at, |at| at.max(claim.beat_at));
                    let began = execution.began_at.unwrap_or(claim.since);
                    let kept = self.execution_mut(execution.id);
                    kept.ended_at = Some(lived.max(began).min(heir.at));
                    kept.cut_with = Some(claim.owner.run.clone());
                    self.end_run_background(execution.id, heir.at)?;
                    let targets = self.jobs.jobs[&job].definition().map(|it| it.deliver_to.clone());
                    let why_not = Err("it left no output document");
                    let made = deliveries(&targets.unwrap_or_default(), &Telling::Deliver, why_not, heir.at);
                    self.deliver(&job, execution.id, &made);
                    self.count_end(&job, state, Some(&why), heir.at);
                }
            }
        }
        Ok(inherited)
    }

    fn pause_job(&mut self, id: &JobId, why: Option<&str>, at: Time) -> Result<()> {
        self.in_file(id)?;
        match self.job_mut(id).standing.pause(why, at) {
            Some(news) => self.tell_job(id, news, at),
            None => return nothing(format!("job {id} is paused already")),
        }
        Ok(())
    }

    fn resume_job(&mut self, id: &JobId, at: Time) -> Result<()> {
        let definition = self.in_file(id)?.record.definition;
        match self.job_mut(id).standing.resume(definition.as_deref(), at) {
            Some(change) => self.keep_change(id, change, at),
            None => return nothing(format!("job {id} is not paused")),
        }
        self.settle_job(id, at);
        Ok(())
    }

    fn prune_jobs(&mut self, before: Time, keep: usize) -> Result<usize> {
        let mut forgotten = 0;
        for id in self.job_ids() {
            let gone = self.jobs.jobs[&id].standing.vanished_at.is_some_and(|at| at < before);
            if gone && self.open(&id).busy.is_empty() {
                self.jobs.jobs.remove(&id);
                self.jobs.executions.retain(|it| it.job != id);
                for key in AlertKey::OF_JOBS {
                    self.resolve(&key(&id), before);
                }
                forgotten += 1;
                continue;
            }
            let kept: Vec<ExecutionId> = self.of_job(&id).rev().take(keep).map(|it| it.id).collect();
            let count = self.jobs.executions.len();
            self.jobs.executions.retain(|it| it.job != id || !it.state.is_over() || kept.contains(&it.id));
            forgotten += count - self.jobs.executions.len();
        }
        Ok(forgotten)
    }
}

impl JobQueries for Model {
    fn jobs(&self, filter: &str, limit: usize, at: Time) -> Result<JobsPage> {
        let mut rows: Vec<JobRow> = self.jobs.jobs.iter().map(|(id, job)| self.job_row(id, job)).collect();
        rows.retain(
            |row| !matches!(row.state, JobState::Completed { at: done } if done < at - COMPLETED_SHOWN),
        );
        rows.retain(|row| {
            let missed = |id: &JobId| self.waits_for_a_person(&AlertKey::vanished_job(id));
            !matches!(row.state, JobState::Vanished { .. }) || row.id.as_ref().is_some_and(missed)
        });
        rows.sort_by_key(|row| (row.state.rank(), row.next, row.id.clone()));
        let unowned = self.jobs.unowned.iter().map(|(place, record)| JobRow {
            id: None,
            place: *place,
            name: format!("record {}", place + 1),
            state: JobState::Error { faults: record.faults.clone() },
            paused: None,
            schedule: String::new(),
            words: String::new(),
            zone: String::new(),
            next: None,
            running_since: None,
            last: None,
            last_run: None,
            failures: 0,
            runs_left: None,
            durations: Vec::new(),
            missing_sources: Vec::new(),
        });
        let mut rows: Vec<JobRow> = unowned.chain(rows).collect();
        let total = rows.len();
        rows.retain(|row| {
            let id = row.id.as_ref().map(JobId::as_str).unwrap_or_default();
            let state = format!("state:{}", row.state.word());
            [id, &row.name, &state].iter().any(|text| text.to_lowercase().contains(filter))
        });
        let hits = rows.len();
        rows.truncate(limit);
        let ticker = TickerState { next: self.next_due()?.slot, ..TickerState::default() };
        Ok(JobsPage { rows, hits, total, file: self.jobs.file.clone(), ticker })
    }

    fn job(&self, wanted: &str, _zone: Tz, at: Time) -> Result<JobFound> {
        let Some((id, job)) = self.jobs.jobs.iter().find(|(id, _)| id.as_str() == wanted) else {
            return Ok(JobFound::None);
        };
        let row = self.job_row(id, job);
        Ok(JobFound::One(Box::new(JobDetail {
            row,
            definition: job.record.definition.clone(),
            record: job.record.text.clone(),
            next: job.slots(at).take(5).collect(),
            warnings: Vec::new(),
            history: self.of_job(id).rev().take(50).cloned().collect(),
            today: self.today(&Scope::Job(id.clone()), at),
        })))
    }

    fn gone_since(&self, job: &JobId) -> Result<Option<Time>> {
        Ok(self.jobs.jobs.get(job).and_then(|job| job.standing.vanished_at))
    }

    fn stored_records(&self) -> Result<Vec<String>> {
        let owned = self.jobs.jobs.values().filter_map(|job| Some((job.place?, &job.record)));
        let mut all: Vec<(usize, &SeenRecord)> =
            owned.chain(self.jobs.unowned.iter().map(|(place, record)| (*place, record))).collect();
        all.sort_by_key(|(place, _)| *place);
        Ok(all.into_iter().map(|(_, record)| record.text.clone()).collect())
    }

    fn unwritten_switches(&self) -> Result<Vec<(JobId, Firing)>> {
        let switch = |(id, job): (&JobId, &Job)| {
            let paused = job.standing.paused.is_some();
            let differs = job.standing.vanished_at.is_none() && job.definition()?.enabled == paused;
            differs.then(|| (id.clone(), if paused { Firing::Paused } else { Firing::On }))
        };
        Ok(self.jobs.jobs.iter().filter_map(switch).collect())
    }

    fn executions(
        &self,
        job: Option<&JobId>,
        before: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Execution>> {
        let wanted = |it: &&Execution| {
            job.is_none_or(|job| it.job == *job) && before.is_none_or(|before| it.id < before)
        };
        Ok(self.jobs.executions.iter().rev().filter(wanted).take(limit).cloned().collect())
    }

    fn events_of_job(&self, job: &JobId, page: EventPage, level: Level, limit: usize) -> Result<Vec<Event>> {
        let mut events = self.events(page, level, None, usize::MAX)?;
        events.retain(|event| event.kind.job() == Some(job));
        Ok(events.split_off(events.len().saturating_sub(limit)))
    }

    fn execution(&self, id: ExecutionId) -> Result<Option<Execution>> {
        Ok(self.jobs.executions.iter().find(|it| it.id == id).cloned())
    }

    fn open_claims(&self) -> Result<Vec<(ClaimKey, Claim)>> {
        let key = |it: &Execution| {
            let claim = it.claim.clone().unwrap();
            (ClaimKey { execution: it.id, token: claim.token.clone() }, claim)
        };
        Ok(self.jobs.executions.iter().filter(is_busy).map(key).collect())
    }

    fn pending_deliveries(&self, limit: usize) -> Result<Vec<(ExecutionId, usize, Delivery)>> {
        let all = self.jobs.executions.iter().flat_map(|it| {
            it.deliveries.iter().enumerate().map(|(place, delivery)| (it.id, place, delivery.clone()))
        });
        Ok(all.filter(|(.., delivery)| delivery.state == DeliveryState::Pending).take(limit).collect())
    }

    fn timeline(&self, from: Time, until: Time, limit: usize, _zone: Tz) -> Result<Vec<TimelineRow>> {
        let there = |(_, job): &(&JobId, &Job)| job.standing.vanished_at.is_none();
        let mut jobs: Vec<(&JobId, &Job)> = self.jobs.jobs.iter().filter(there).collect();
        jobs.sort_by_key(|(id, job)| (job.standing.ahead.next.is_none(), job.standing.ahead.next, *id));
        let row = |(id, job): (&JobId, &Job)| {
            let mut past: Vec<(Time, ExecutionState)> = self
                .of_job(id)
                .rev()
                .filter(|it| it.taken_at >= from && it.taken_at < until)
                .map(|it| (it.taken_at, it.state))
                .take(limit)
                .collect();
            past.reverse();
            TimelineRow {
                job: id.clone(),
                name: job.name(id),
                state: job.standing.state(self.open_of(id)),
                firing: job.standing.firing(),
                slots: job.slots(from).take_while(|slot| *slot < until).take(limit).collect(),
                past,
            }
        };
        Ok(jobs.into_iter().take(limit).map(row).collect())
    }

    fn newest_outputs(&self, jobs: &[JobId]) -> Result<Vec<(JobId, String)>> {
        let newest = |job: &JobId| {
            let worked = |it: &&Execution| it.state == ExecutionState::Succeeded && it.output.is_some();
            self.of_job(job).rev().find(worked).and_then(|it| Some((job.clone(), it.output.clone()?)))
        };
        Ok(jobs.iter().filter_map(newest).collect())
    }

    fn next_due(&self) -> Result<NextDue> {
        let waits = |it: &&Execution| it.state == ExecutionState::Waiting;
        Ok(NextDue {
            slot: self.jobs.jobs.values().filter_map(|job| job.standing.ahead.due).min(),
            waiting: self.jobs.executions.iter().filter(waits).count(),
            busy: self.jobs.executions.iter().filter(is_busy).count(),
        })
    }
}

impl Model {
    /// A run that a daily limit holds says so; one that an operator asked for lets its job go for the day.
    fn may_spend(&mut self, run: &Execution, at: Time) -> bool {
        let scope = Scope::Job(run.job.clone());
        let Some(reached) = self.reached(&scope, at) else {
            return true;
        };
        if run.slots.is_none() {
            self.let_go(&scope, at);
            self.tell_job(&run.job, JobEvent::LetGo { execution: run.id }, at);
            return true;
        }
        let why = format!("held: {} is reached", reached.words());
        if run.why.as_ref() != Some(&why) {
            self.execution_mut(run.id).why = Some(why.clone());
            let until = self.rules().unwrap().next_day(at);
            self.tell_job(&run.job, JobEvent::Held { execution: run.id, why, until }, at);
            let own = run.job.session_key().unwrap();
            if !self.is_spent(&own) {
                self.raise_alert(&held_job(&run.job, reached), at).unwrap();
            }
        }
        false
    }

    pub(crate) fn next_day_of_jobs(&self, at: Time) -> Option<Time> {
        let held = |run: &Execution| run.state == ExecutionState::Waiting && run.why.is_some();
        let rules = self.rules().filter(|_| self.jobs.executions.iter().any(held))?;
        Some(rules.next_day(at))
    }
}
