//! Settings with their documentation, the home folder, the key map.

mod settings;

pub use settings::*;
