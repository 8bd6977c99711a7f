//! What is measured: the entries of `catalogue/*.toml`, embedded, read and checked.
//!
//! The format is described in `catalogue/README.md`. A file is read (`raw`, with the place of every value),
//! judged by itself (`read`, `entry`, `work`), and then together with the others (`check`). A catalogue of the user's own is a folder
//! (`folder`) that is read by the same rules, beside ours (`own`).
//!
//! Must not know: how anything is measured, which programs there are, what was published.

mod check;
mod entry;
mod error;
pub mod folder;
mod load;
mod over;
mod own;
mod raw;
mod read;
mod work;

pub use error::Error;
use gritstone_model::{Benchmark, Family};
pub use own::{Own, OwnError, own};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Everything that can be measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    /// The families, in the order of their files.
    pub families: Vec<Family>,
    /// The entries and their variants, family by family, as they are written.
    pub benchmarks: Vec<Benchmark>,
}

/// The catalogue that was built in.
///
/// # Errors
/// The first fault in a file, with its place.
pub fn all() -> Result<Catalogue, Error> {
    load(FILES)
}

/// A catalogue made of all its files, each a path (`catalogue/byte.toml`) and a text.
///
/// # Errors
/// The first fault in a file or between files, with its place.
pub fn load(files: &[(&str, &str)]) -> Result<Catalogue, Error> {
    let mut read = Vec::new();
    for (name, text) in files {
        read.push(read::read(name, text)?);
    }
    over::expand(&mut read, true)?;
    check::sound(&read, true)?;
    let mut catalogue = Catalogue::default();
    for file in read {
        catalogue.families.push(file.family);
        catalogue
            .benchmarks
            .extend(file.rows.into_iter().map(|row| row.benchmark));
    }
    Ok(catalogue)
}

/// One file by itself. What it says of rows in other families is not judged: [`load`] does.
///
/// # Errors
/// The first fault, with its place.
pub fn parse(name: &str, text: &str) -> Result<(Family, Vec<Benchmark>), Error> {
    let mut file = [read::read(name, text)?];
    over::expand(&mut file, false)?;
    check::sound(&file, false)?;
    let [file] = file;
    let benchmarks = file.rows.into_iter().map(|row| row.benchmark).collect();
    Ok((file.family, benchmarks))
}
