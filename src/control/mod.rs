//! The wire: how an engine is reached.
//!
//! [`Client`] is the one interface that the console and the command line know. Three ways
//! implement it: in process, over the socket, and over the store alone while no engine runs.

mod client;
pub mod protocol;
mod read_only;
mod server;
mod socket;

pub use client::*;
pub use read_only::ReadOnly;
pub use server::{Server, ServerError};
pub use socket::SocketClient;
