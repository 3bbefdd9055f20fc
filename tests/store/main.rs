//! The store: what it guarantees, over SQLite and beside a model.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod alerts;
mod approvals;
mod background;
mod background_model;
mod conformance;
mod conversations;
mod files;
mod given;
mod jobs;
mod jobs_model;
mod leases;
mod log;
mod model;
mod random;
mod reading;
mod resets;
mod resumes;
mod writer;
