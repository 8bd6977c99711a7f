//! Published results of reference systems, as data.
//!
//! Each document has a folder beside this crate: `document.toml` says what it is, `machines.toml` what was measured,
//! and every other file is a table. The build reads and checks the files, and embeds what came out: [`all`].
//! README.md has the shape of the files, and the reasoning behind every figure that is marked doubtful.

mod error;
mod lookup;
mod printed;
mod read;
mod shape;
mod table;
mod view;

pub use error::Error;
pub use lookup::LookupError;
pub use printed::{Cell, Command, Distribution, Document, References, Seconds, Value};

/// The document of the systems that were measured with Gritstone, not printed.
pub const MEASURED: &str = "measured";

/// The runs of these systems with all their samples: identifier, and bundle in the format of zstd.
static BUNDLES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundles.rs"));

/// The bundle of a measured system, in the format of zstd; none of a system that was printed.
#[must_use]
pub fn bundle(id: &str) -> Option<&'static [u8]> {
    let bundle = BUNDLES.iter().find(|(of, _)| *of == id);
    bundle.map(|(_, bytes)| *bytes)
}

/// All of them, as they were read.
static ALL: &str = include_str!(concat!(env!("OUT_DIR"), "/all.json"));

/// What is embedded, which the build has read and checked.
///
/// # Errors
/// When it is damaged.
pub fn all() -> Result<References, serde_json::Error> {
    serde_json::from_str(ALL)
}
