//! The catalog: the entries of `catalogue/*.toml`, embedded, parsed and checked.
//!
//! The format is described in `catalogue/README.md`. A file is read (`read`) entry by entry (`entry`), each is checked alone (`check`),
//! then together with the others (`cross_checks`). A custom catalog is a folder (`folder`) that is read by the same rules beside ours
//! (`custom`). Suites select benchmarks (`suite`), and profiles weight them (`profile`).

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
pub use custom::{CustomBenchmarks, CustomCatalogError, check_custom};
pub use error::Error;
pub use facts::facts;
pub use profile::profiles;
pub use suite::{Suite, suites};
pub use timeline::timelines;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The built-in catalog, which the build has parsed and checked.
///
/// # Errors
/// When it is damaged.
pub fn all() -> Result<Catalogue, serde_json::Error> {
    serde_json::from_str(ALL)
}
