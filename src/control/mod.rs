//! The wire: how an engine is reached.
//!
//! [`Client`] is the one interface that the console and the command line know. Three ways
//! implement it: in process, over the socket, and over the store alone while no engine runs.

mod client;
mod host;
mod in_process;
mod owner;
pub mod protocol;
mod reach;
mod read_only;
mod server;
mod socket;
mod store_only;
mod together;

pub use client::*;
pub use host::{Ended, Host, HostError};
pub use in_process::InProcess;
pub use reach::reach;
pub use read_only::ReadOnly;
pub use server::{Bound, Server, ServerError};
pub use socket::SocketClient;
pub use store_only::StoreOnly;
