//! The wire: how an engine is reached.
//!
//! [`Client`] is the one interface that the console and the command line know. Three ways
//! implement it: in process, over the socket, and over the store alone while no engine runs.

mod client;

pub use client::*;
