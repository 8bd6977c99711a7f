//! What is measured: the entries of `catalogue/*.toml`, embedded, read and checked.
//!
//! The format is described in `catalogue/README.md`. A file is read (`read`), entry by entry (`entry`), each judged by itself
//! (`check`), and then together with the others (`cross_checks`). A catalog of the user's own is a folder (`folder`) that is read by the
//! same rules, beside ours (`own`). Suites select among them (`suite`), and profiles weight them (`profile`).

mod chapters;
mod check;
mod cross_checks;
mod custom;
mod entry;
mod error;
mod facts;
pub mod folder;
mod profile;
mod read;
mod suite;
mod timeline;

pub use chapters::chapters;
pub use cross_checks::{Catalogue, load};
pub use custom::{Own, OwnError, own};
pub use error::Error;
pub use facts::facts;
pub use profile::profiles;
pub use suite::{Suite, suites};
pub use timeline::timelines;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The catalog that was built in, which the build has read and checked.
///
/// # Errors
/// When it is damaged.
pub fn all() -> Result<Catalogue, serde_json::Error> {
    serde_json::from_str(ALL)
}
