//! Reset policies: when a session's memory is archived by time, and what stands against it.
//!
//! A reset keeps the key and makes a new id. It is decided lazily, when a message arrives, against
//! the *stored* times, before they are touched; nothing is reset by a timer. [`decide`] is the one
//! place that decides, [`forecast`] tells a screen beforehand.

mod boundary;
mod decision;
mod forecast;
mod guard;
mod policy;
mod told;

pub use boundary::*;
pub use decision::*;
pub use forecast::*;
pub use guard::*;
pub use policy::*;
pub use told::*;
