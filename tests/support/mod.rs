//! Helpers that the behaviour tests share.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

pub mod alerts;
pub mod chat_server;
pub mod clock;
pub mod executable;
pub mod files;
pub mod jobs;
pub mod models;
pub mod program;
pub mod pty;
pub mod recovered;
pub mod screen;
pub mod scripted;
pub mod vt;
pub mod world;
