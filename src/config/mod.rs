//! Settings with their documentation, the home folder, its lock and its log.
//!
//! Every setting is declared once in [`TABLE`], and in [`OVERRIDES`] what can be set anew for a name;
//! checking, the commented default file and the documentation are made from them.

mod document;
pub mod files;
mod home;
mod load;
mod lock;
pub mod log;
mod overrides;
mod receipt;
mod secrets;
mod setting;
mod settings;
mod table;
mod take;

pub use document::*;
pub use home::*;
pub use load::*;
pub use lock::*;
pub use overrides::*;
pub use receipt::*;
pub use secrets::*;
pub use setting::*;
pub use settings::*;
pub use table::*;
