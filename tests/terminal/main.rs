//! The terminal: taken, used and given back, seen from its other end.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod child;
mod console;
#[allow(dead_code, reason = "the tests of the store begin with more")]
#[path = "../store/given.rs"]
mod given;
mod guard;
mod input;
#[path = "../support/mod.rs"]
mod support;
