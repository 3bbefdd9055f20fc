//! The command line, as an operator or a script uses it, and the wire under it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

#[path = "commandline/wire.rs"]
mod wire;
