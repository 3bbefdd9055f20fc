//! Scheduled tasks: `jobs.json`, slots, claims, runs, outputs and deliveries, on a clock that stands still.

mod changing;
mod firing;
mod runs;
mod scripts;
mod starts;
mod ticker;
mod year;

use std::fs;
use std::path::Path;

use chrono::{TimeZone, Utc};
use std::sync::Arc;
use switchboard::domain::Time;
use switchboard::domain::api::{
    Answer, Command, JobAnswer, JobCommand, JobDetail, JobFound, JobQuery, JobsPage, Query, Reply,
};
use switchboard::domain::cron::{
    Counting, CronEvent, Definition, Execution, ExecutionState, JobEvent, JobId,
};
use switchboard::domain::event::{Event, EventKind};
use switchboard::domain::id::ExecutionId;
use switchboard::domain::queue::Refusal;

use crate::support::executable::write_program;
use crate::support::world::{Setup, World};

/// A job whose agent is told "look".
pub(crate) fn job(id: &str, schedule: &str) -> Definition {
    let job = Definition::new(id.parse().unwrap(), schedule.to_owned());
    Definition { prompt: Some("look".to_owned()), timezone: Some("UTC".to_owned()), ..job }
}

/// A time on the day on which every test begins.
pub(crate) fn at(hour: u32, minute: u32) -> Time {
    Utc.with_ymd_and_hms(2026, 11, 30, hour, minute, 0).unwrap()
}

/// An engine with these jobs.
pub(crate) async fn world_with(jobs: &[Definition]) -> World {
    world_set_up(Setup::default(), jobs).await
}

/// The same, set up otherwise.
pub(crate) async fn world_set_up(setup: Setup, jobs: &[Definition]) -> World {
    let world = World::new(setup).await;
    for job in jobs {
        world.save(job.clone()).await.unwrap();
    }
    world.settled().await;
    world
}

pub(crate) fn write(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    write_program(&path, text.as_bytes());
}

impl World {
    /// Writes a job as an operator does.
    pub(crate) async fn save(&self, definition: Definition) -> Result<Reply, Refusal> {
        self.job_command(JobCommand::Save { base: None, definition: Box::new(definition) }).await
    }

    pub(crate) async fn job_command(&self, command: JobCommand) -> Result<Reply, Refusal> {
        self.engine.command(Command::Job(command)).await
    }

    /// The refusal of a command, in words.
    pub(crate) async fn refused(&self, command: JobCommand) -> String {
        self.job_command(command).await.unwrap_err().to_string()
    }

    /// Runs a job now and gives its run.
    pub(crate) async fn run_now(&mut self, job: &str) -> ExecutionId {
        let command = JobCommand::Run { job: job.parse().unwrap(), counting: Counting::Beside };
        let Reply::Done { words, .. } = self.job_command(command).await.unwrap() else { panic!("no reply") };
        ExecutionId(words.rsplit(' ').next().unwrap().parse().unwrap())
    }

    pub(crate) async fn job_query(&self, query: JobQuery) -> JobAnswer {
        match self.engine.query(Query::Jobs(query)).await.unwrap() {
            Answer::Jobs(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn jobs(&self) -> JobsPage {
        match self.job_query(JobQuery::List { filter: String::new(), limit: 100 }).await {
            JobAnswer::List(page) => *page,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn job(&self, job: &str) -> JobDetail {
        match self.job_query(JobQuery::Detail { job: job.to_owned() }).await {
            JobAnswer::Detail(found) => match *found {
                JobFound::One(detail) => *detail,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// The next slot of a job.
    pub(crate) async fn next_slot(&self, job: &str) -> Option<Time> {
        self.job(job).await.row.next
    }

    /// A job's executions, oldest first.
    pub(crate) async fn executions(&self, job: &str) -> Vec<Execution> {
        let job: JobId = job.parse().unwrap();
        match self.job_query(JobQuery::History { job: Some(job), before: None, limit: 500 }).await {
            JobAnswer::History(mut executions) => {
                executions.reverse();
                executions
            }
            other => panic!("{other:?}"),
        }
    }

    /// A job's executions as words, oldest first: `on_time 12:30 succeeded`.
    pub(crate) async fn told(&self, job: &str) -> Vec<String> {
        self.executions(job).await.iter().map(told).collect()
    }

    pub(crate) async fn output(&self, execution: ExecutionId) -> Option<String> {
        match self.job_query(JobQuery::Output { execution }).await {
            JobAnswer::Output(text) => text,
            other => panic!("{other:?}"),
        }
    }

    /// The next event of a job that fits.
    pub(crate) async fn job_event(&mut self, fits: impl Fn(&JobEvent) -> bool) -> Arc<Event> {
        self.event(|kind| matches!(kind, EventKind::Job { what, .. } if fits(what))).await
    }

    /// The end of the next run.
    pub(crate) async fn run_ended(&mut self) -> (ExecutionState, Option<String>) {
        let event = self.job_event(|what| matches!(what, JobEvent::RunEnded { .. })).await;
        match &event.kind {
            EventKind::Job { what: JobEvent::RunEnded { state, why, .. }, .. } => (*state, why.clone()),
            other => panic!("{other:?}"),
        }
    }

    /// Waits until the file was read.
    pub(crate) async fn file_read(&mut self) {
        self.event(|kind| matches!(kind, EventKind::Cron(CronEvent::FileRead { .. }))).await;
    }

    /// Waits until the ticker waits for the next slot that the store knows.
    pub(crate) async fn settled(&self) {
        loop {
            let page = self.jobs().await;
            let next = page.rows.iter().filter_map(|row| row.next).min();
            if page.ticker.last_pass.is_some() && page.ticker.next == next {
                return;
            }
            self.a_moment().await;
        }
    }
}

fn told(execution: &Execution) -> String {
    let how = serde_json::to_value(execution.how).unwrap();
    let slots = match &execution.slots {
        None => "now".to_owned(),
        Some(slots) if slots.count == 1 => slots.first.format("%H:%M").to_string(),
        Some(slots) => {
            format!("{}-{} ({})", slots.first.format("%H:%M"), slots.last.format("%H:%M"), slots.count)
        }
    };
    format!("{} {slots} {}", how.as_str().unwrap(), execution.state)
}
