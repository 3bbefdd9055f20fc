//! `jobs.json` on a disk: read in every shape, changed without touching anything else, never overwritten.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod jobs_file {
    mod given;
    mod layouts;
    mod reading;
    mod together;
    mod watching;
    mod writing;
}
