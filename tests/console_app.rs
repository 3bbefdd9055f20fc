//! The screen's state, told as stories: a state, keys and messages, the state after them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

mod console_app {
    mod alerts;
    mod anything;
    mod approvals;
    mod conversation;
    mod cron;
    mod editor;
    mod keys;
    mod leaving;
    mod lists;
    mod queue;
    mod recovery;
    mod resets;
    mod writing;
}
