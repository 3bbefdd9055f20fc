//! What is seen: the operator's screen.
//!
//! [`app`] is its state.

pub mod app;
