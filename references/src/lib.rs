//! Published results of reference systems, as data.
//!
//! Each document has a folder beside this crate: `document.toml` describes it, `machines.toml` its systems, and every other file is a
//! table. The build parses and checks the files, and embeds the result: [`all`]. README.md describes the format, and the reasons for every
//! doubtful number.

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

/// Name of the pseudo-document of measured systems.
pub const MEASURED: &str = "measured";

/// Identifiers and zstd-compressed bundles of the measured systems.
static BUNDLES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundles.rs"));

/// The zstd-compressed bundle of a measured system; none for a printed one.
pub fn bundle(id: &str) -> Option<&'static [u8]> {
    let bundle = BUNDLES.iter().find(|(name, _)| *name == id);
    bundle.map(|(_, bytes)| *bytes)
}

/// All references, as JSON.
static ALL: &str = include_str!(concat!(env!("OUT_DIR"), "/all.json"));

/// The embedded references, which the build has parsed and checked.
///
/// # Errors
/// When it is damaged.
pub fn all() -> Result<References, serde_json::Error> {
    serde_json::from_str(ALL)
}
