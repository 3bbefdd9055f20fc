//! Scheduled tasks: what `jobs.json` says of them.
//!
//! A [`Definition`] is what the record of a job means, and a [`Job`] a definition that was checked.

mod answer;
mod delivery;
pub mod document;
mod elsewhere;
mod event;
mod execution;
mod fault;
mod fields;
mod id;
mod job;
pub mod merge;
pub mod plan;
pub mod record;
mod standing;
mod target;
mod undone;
pub mod unreadable;

pub use answer::{SILENT, is_silent, lets_agent_sleep};
pub use delivery::{Telling, deliveries};
pub use elsewhere::{RanElsewhere, SCHEDULER_FROM, ran_elsewhere};
pub use event::{CronEvent, JobEvent, begins};
pub use execution::{
    CLAIM_LIFE, Claim, ClaimKey, Counting, Delivery, DeliveryState, Execution, ExecutionState, How, Owner,
    RunVerdict, Slots,
};
pub use fault::Fault;
pub use fields::{FIELDS, Field, set_field};
pub use id::{JobId, JobIdError};
pub use job::{Definition, Job, Misfire, Overlap, SessionMode, WordError, no_task_by};
pub use standing::{COMPLETED_SHOWN, Change, FLAGGED_FROM, JobStanding, OpenRuns, Paused, Said};
pub use target::{ALL, CONSOLE, LOCAL, ORIGIN, Target, TargetError};
pub use undone::undone;
