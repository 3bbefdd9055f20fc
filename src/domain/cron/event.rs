//! What happens to scheduled tasks, as the log tells it.

use serde::{Deserialize, Serialize};

use super::elsewhere::SCHEDULER_FROM;
use super::execution::{DeliveryState, ExecutionState, How, Slots};
use super::{JobId, Target};
use crate::domain::Time;
use crate::domain::event::{Level, count};
use crate::domain::id::{ExecutionId, SessionId, TurnId};
use crate::domain::queue::Gate;

/// Something that happened to one job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum JobEvent {
    /// It was seen in the file for the first time, or again after it had been away.
    Appeared {
        /// Its next slot.
        next: Option<Time>,
    },
    /// An agent made it.
    MadeByAgent {
        /// The turn in which it did.
        turn: TurnId,
    },
    /// Its record is another one now.
    Changed {
        /// Its next slot.
        next: Option<Time>,
    },
    /// Its record can't be used.
    InError {
        /// What is wrong with it.
        why: String,
    },
    /// It is not in the file any more; its state is kept for a while.
    Vanished,
    /// The whole file is gone, and it with it; its state is kept for a while.
    VanishedWithFile,
    /// It is not in the file any more, and nothing of it was to come: it had done all its runs, or could never
    /// be used.
    Gone,
    /// An operator took it out; its state is kept for a while.
    Removed,
    /// An operator gave it another id: what is known of it went with it.
    Renamed {
        /// Its id before.
        from: JobId,
    },
    /// No slot of it is taken any more.
    Paused {
        /// Why.
        why: Option<String>,
    },
    /// Its slots are taken again.
    Resumed {
        /// Its next slot.
        next: Option<Time>,
    },
    /// A run waits: a daily limit is reached.
    Held {
        /// The execution.
        execution: ExecutionId,
        /// Which limit.
        why: String,
        /// When the next day begins.
        until: Time,
    },
    /// An operator asked for a run at a daily limit: it and the job's slots go on today.
    LetGo {
        /// The execution.
        execution: ExecutionId,
    },
    /// A slot was taken, or an operator asked for a run: it waits for a worker.
    Fired {
        /// The execution.
        execution: ExecutionId,
        /// The slots that it stands for.
        slots: Option<Slots>,
        /// How it came to be.
        how: How,
        /// Whether it could begin at once.
        #[serde(default)]
        gate: Gate,
    },
    /// Slots were not run.
    NotRun {
        /// The record of it.
        execution: ExecutionId,
        /// The slots.
        slots: Slots,
        /// `skipped` or `missed`.
        state: ExecutionState,
        /// Why.
        why: String,
    },
    /// A run began.
    RunBegan {
        /// The execution.
        execution: ExecutionId,
    },
    /// A run's agent began to work.
    AgentBegan {
        /// The execution.
        execution: ExecutionId,
        /// The session of the run; as JSON this stands beside the event's own `session`.
        run_session: SessionId,
        /// The turn.
        turn: TurnId,
    },
    /// A fire whose run never began waits again.
    Restored {
        /// The execution.
        execution: ExecutionId,
    },
    /// A run ended.
    RunEnded {
        /// The execution.
        execution: ExecutionId,
        /// How.
        state: ExecutionState,
        /// Why, where it did not succeed; else what of its work was not done.
        why: Option<String>,
    },
    /// A result was delivered, or not.
    Delivery {
        /// The execution.
        execution: ExecutionId,
        /// Where to.
        target: Target,
        /// How that went.
        state: DeliveryState,
        /// Why, where it was not delivered; the first words of the text, where the console has it.
        words: Option<String>,
    },
    /// It failed again and again.
    Flagged {
        /// How often in a row.
        failures: u32,
    },
    /// It worked again after it had been flagged.
    Recovered,
    /// All its runs are done.
    Completed,
}

impl JobEvent {
    /// How much it matters.
    pub fn level(&self) -> Level {
        match self {
            Self::InError { .. } | Self::Flagged { .. } => Level::Error,
            Self::RunEnded { state, why, .. } => match state {
                ExecutionState::Failed
                | ExecutionState::TimedOut
                | ExecutionState::BlockedConfig
                | ExecutionState::Unknown => Level::Error,
                ExecutionState::Interrupted => Level::Warn,
                ExecutionState::Succeeded if why.is_some() => Level::Warn,
                _ => Level::Info,
            },
            Self::Delivery { state: DeliveryState::Failed, .. } => Level::Error,
            Self::Vanished
            | Self::VanishedWithFile
            | Self::NotRun { .. }
            | Self::Restored { .. }
            | Self::Held { .. }
            | Self::Delivery { state: DeliveryState::NotConfigured, .. } => Level::Warn,
            _ => Level::Info,
        }
    }

    /// The event in one line of words, of the job `job`. Foreign text in it is not sanitized yet.
    pub fn words(&self, job: &JobId) -> String {
        let clock = |at: Time| at.format("%Y-%m-%d %H:%M UTC").to_string();
        let next = |next: &Option<Time>| match next {
            Some(at) => format!("next {}", clock(*at)),
            None => "no next slot".to_owned(),
        };
        let slots = |slots: &Slots| match slots.count {
            1 => format!("slot {}", clock(slots.first)),
            many => format!(
                "{} from {} to {}",
                count(many as usize, "slot"),
                clock(slots.first),
                clock(slots.last)
            ),
        };
        match self {
            Self::Appeared { next: at } => format!("job {job} is in jobs.json; {}", next(at)),
            Self::MadeByAgent { turn } => format!("job {job} was made by the agent in turn {turn}"),
            Self::Changed { next: at } => format!("job {job} was changed; {}", next(at)),
            Self::InError { why } => format!("job {job} can't be used: {why}"),
            Self::Vanished => format!("job {job} is gone from jobs.json; its state is kept for 30 days"),
            Self::VanishedWithFile => {
                format!("job {job} is gone with jobs.json; its state is kept for 30 days")
            }
            Self::Gone => format!("job {job} is gone from jobs.json; nothing of it was to come"),
            Self::Removed => format!("job {job} was taken out of jobs.json; its state is kept for 30 days"),
            Self::Renamed { from } => format!("job {job} was job {from} until now"),
            Self::Paused { why: Some(why) } => format!("job {job} paused: {why}"),
            Self::Paused { why: None } => format!("job {job} paused"),
            Self::Resumed { next: at } => format!("job {job} goes on; {}", next(at)),
            Self::Held { execution, why, until } => {
                format!("job {job}: run {execution} waits until {}: {why}", clock(*until))
            }
            Self::LetGo { execution } => {
                format!("job {job}: run {execution} goes on, and its slots run today, whatever its limit")
            }
            Self::Fired { execution, slots: Some(taken), how, .. } => {
                let how = match how {
                    How::OnTime | How::RunNow => "",
                    How::Late => ", late",
                    How::CatchUp => ", to catch up",
                };
                format!("job {job} fires{how}: {}, run {execution}", slots(taken))
            }
            Self::Fired { execution, slots: None, gate, .. } => {
                format!("job {job} {}: run {execution}", begins(*gate))
            }
            Self::NotRun { slots: given_up, state, why, .. } => {
                format!("job {job} {state}: {}: {why}", slots(given_up))
            }
            Self::RunBegan { execution } => format!("job {job} runs: run {execution}"),
            Self::AgentBegan { execution, run_session, turn } => {
                format!("job {job}, run {execution}: turn {turn} in session {run_session}")
            }
            Self::Restored { execution } => {
                format!("job {job}, run {execution} had not begun when its engine died: it waits again")
            }
            Self::RunEnded { execution, state, why: Some(why) } => {
                format!("job {job}, run {execution} {state}: {why}")
            }
            Self::RunEnded { execution, state, why: None } => format!("job {job}, run {execution} {state}"),
            Self::Delivery { execution, target, state, words } => {
                let words = words.as_ref().map(|words| format!(": {words}")).unwrap_or_default();
                format!("job {job}, run {execution} to {target}: {}{words}", state.as_str())
            }
            Self::Flagged { failures } => format!("job {job} failed {failures} times in a row"),
            Self::Recovered => format!("job {job} works again"),
            Self::Completed => format!("job {job} has done all its runs"),
        }
    }
}

/// When a run that an operator asked for begins.
pub fn begins(gate: Gate) -> &'static str {
    match gate {
        Gate::Open => "runs now",
        Gate::Held => "runs when the engine's hold is released",
        Gate::Stopping => "runs at the next start, as the engine stops",
    }
}

/// Something that happened to `jobs.json` or to the ticker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum CronEvent {
    /// The file was read, and is another one than before.
    FileRead {
        /// Jobs that can be used.
        jobs: usize,
        /// Records that can't.
        in_error: usize,
    },
    /// There is no file any more.
    FileMissing {
        /// How many jobs went with it that are missed.
        jobs: usize,
    },
    /// The file can't be read: the stored copy goes on firing.
    FileUnreadable {
        /// What is wrong, and where.
        why: String,
        /// Jobs in the stored copy.
        stored: usize,
    },
    /// Another program wrote into the file that it ran jobs.
    RanElsewhere {
        /// One of them.
        job: JobId,
        /// How many others.
        others: usize,
        /// The how-manieth look within a week that found that.
        looks: usize,
    },
    /// The stored copy was written over the unreadable file.
    CopyTaken {
        /// Where the unreadable one is kept.
        kept_as: String,
    },
    /// The clock went back: next slots were computed anew.
    ClockWentBack {
        /// The time of the pass before.
        from: Time,
    },
    /// No pass of the ticker succeeded for too long.
    TickerLate {
        /// Why, as far as it is known.
        why: String,
    },
    /// The ticker died or hung, and was started anew.
    TickerRestarted {
        /// Why.
        why: String,
    },
    /// The ticker works again.
    TickerRecovered,
}

impl CronEvent {
    /// How much it matters.
    pub fn level(&self) -> Level {
        match self {
            Self::FileMissing { .. }
            | Self::FileUnreadable { .. }
            | Self::TickerLate { .. }
            | Self::TickerRestarted { .. } => Level::Error,
            Self::FileRead { in_error: 1.., .. }
            | Self::RanElsewhere { .. }
            | Self::CopyTaken { .. }
            | Self::ClockWentBack { .. } => Level::Warn,
            Self::FileRead { .. } | Self::TickerRecovered => Level::Info,
        }
    }

    /// The event in one line of words. Foreign text in it is not sanitized yet.
    pub fn words(&self) -> String {
        match self {
            Self::FileRead { jobs, in_error: 0 } => format!("jobs.json read: {}", count(*jobs, "job")),
            Self::FileRead { jobs, in_error } => {
                format!("jobs.json read: {}, {} in error", count(*jobs, "job"), count(*in_error, "record"))
            }
            Self::FileMissing { jobs } => {
                format!(
                    "jobs.json is gone, and with it {}; their state is kept for 30 days",
                    count(*jobs, "job")
                )
            }
            Self::FileUnreadable { why, stored } => {
                format!("jobs.json is unreadable: {why}; {} of the stored copy go on", count(*stored, "job"))
            }
            Self::RanElsewhere { job, others, looks } => {
                let others =
                    if *others == 0 { String::new() } else { format!(" and {}", count(*others, "other")) };
                let ran = format!("another program wrote into jobs.json that it ran job {job}{others}");
                match looks {
                    SCHEDULER_FROM.. => format!(
                        "{ran}, as it does again and again: two schedulers on one file fire each job twice, \
                         so one of them must end"
                    ),
                    _ => ran,
                }
            }
            Self::CopyTaken { kept_as } => {
                format!("the stored copy is jobs.json now; the unreadable one is kept as {kept_as}")
            }
            Self::ClockWentBack { from } => {
                format!(
                    "the clock went back from {}: next slots computed anew",
                    from.format("%Y-%m-%d %H:%M UTC")
                )
            }
            Self::TickerLate { why } => format!("the ticker is late: {why}"),
            Self::TickerRestarted { why } => format!("the ticker is started anew: {why}"),
            Self::TickerRecovered => "the ticker works again".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::Event;
    use crate::domain::event::EventKind;
    use crate::domain::id::Seq;

    fn every_job_event() -> Vec<JobEvent> {
        let (execution, slots) = (ExecutionId(1), Slots::one(Time::UNIX_EPOCH));
        let why = || "why".to_owned();
        vec![
            JobEvent::Appeared { next: Some(Time::UNIX_EPOCH) },
            JobEvent::Changed { next: None },
            JobEvent::InError { why: why() },
            JobEvent::Vanished,
            JobEvent::VanishedWithFile,
            JobEvent::Gone,
            JobEvent::Removed,
            JobEvent::Renamed { from: "before".parse().unwrap() },
            JobEvent::Paused { why: Some(why()) },
            JobEvent::Resumed { next: None },
            JobEvent::Fired { execution, slots: Some(slots), how: How::CatchUp, gate: Gate::Open },
            JobEvent::Fired { execution, slots: None, how: How::RunNow, gate: Gate::Held },
            JobEvent::NotRun { execution, slots, state: ExecutionState::Missed, why: why() },
            JobEvent::RunBegan { execution },
            JobEvent::AgentBegan {
                execution,
                run_session: SessionId::new(Time::UNIX_EPOCH, 1),
                turn: TurnId(3),
            },
            JobEvent::Restored { execution },
            JobEvent::Held { execution, why: why(), until: Time::UNIX_EPOCH },
            JobEvent::LetGo { execution },
            JobEvent::RunEnded { execution, state: ExecutionState::Failed, why: Some(why()) },
            JobEvent::Delivery {
                execution,
                target: Target::platform("local"),
                state: DeliveryState::Delivered,
                words: None,
            },
            JobEvent::Flagged { failures: 3 },
            JobEvent::Recovered,
            JobEvent::Completed,
        ]
    }

    #[test]
    fn what_happens_to_a_job_is_the_same_after_it_went_over_the_wire() {
        let job: JobId = "a".parse().unwrap();
        for what in every_job_event() {
            let kind = EventKind::Job { job: job.clone(), what };
            let session = Some(SessionId::new(Time::UNIX_EPOCH, 2));
            let event = Event { seq: Seq(1), at: Time::UNIX_EPOCH, session, kind };
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        }
    }

    #[test]
    fn what_happens_to_the_file_and_the_ticker_is_the_same_after_it_went_over_the_wire() {
        for what in [
            CronEvent::FileRead { jobs: 1, in_error: 2 },
            CronEvent::FileMissing { jobs: 3 },
            CronEvent::FileUnreadable { why: "why".to_owned(), stored: 3 },
            CronEvent::RanElsewhere { job: "a".parse().unwrap(), others: 2, looks: 3 },
            CronEvent::CopyTaken { kept_as: "jobs.json.bad".to_owned() },
            CronEvent::ClockWentBack { from: Time::UNIX_EPOCH },
            CronEvent::TickerLate { why: "why".to_owned() },
            CronEvent::TickerRestarted { why: "why".to_owned() },
            CronEvent::TickerRecovered,
        ] {
            let event =
                Event { seq: Seq(1), at: Time::UNIX_EPOCH, session: None, kind: EventKind::Cron(what) };
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        }
    }
}
