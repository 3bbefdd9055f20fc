//! What is true: types and decisions.
//!
//! Pure: the time is an argument, randomness is an argument, nothing here touches a file, a
//! database, a clock or a task. Every rule that another room applies is decided here.

pub mod agent;
pub mod alert;
pub mod api;
pub mod approval;
pub mod background;
pub mod changes;
pub mod conversation;
pub mod cron;
pub mod damage;
pub mod document;
pub mod event;
pub mod filter;
pub mod history;
pub mod id;
pub mod json;
pub mod marker;
pub mod nearest;
pub mod plan;
pub mod process;
pub mod queue;
pub mod recovery;
pub mod remark;
pub mod reset;
pub mod sanitize;
pub mod schedule;
pub mod session;
pub mod slash;
pub mod spending;
pub mod talk;
pub mod took;
pub mod turn;

/// An instant. Stored and sent as milliseconds since 1970 in UTC; shown in the operator's zone.
pub type Time = chrono::DateTime<chrono::Utc>;
