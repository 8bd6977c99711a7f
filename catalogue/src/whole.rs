//! All files together. The build reads those of Gritstone, and the binary has what came out: no start reads TOML.

use crate::error::Error;
use crate::read::File;
use crate::{check, over, read};
use gritstone_model::{Benchmark, Family};
use serde::{Deserialize, Serialize};

/// Everything that can be measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    /// The families, in the order of their files.
    pub families: Vec<Family>,
    /// The entries and their variants, family by family, as they are written.
    pub benchmarks: Vec<Benchmark>,
}

/// A catalog made of all its files, each a path (`catalogue/byte.toml`) and a text.
///
/// # Errors
/// The first fault in a file or between files, with its place.
pub fn load(files: &[(&str, &str)]) -> Result<Catalogue, Error> {
    let mut read = files
        .iter()
        .map(|(name, text)| read::read(name, text))
        .collect::<Result<Vec<_>, _>>()?;
    over::expand(&mut read, true)?;
    check::sound(&read, true)?;
    Ok(Catalogue::of(read))
}

impl Catalogue {
    /// What these files hold, once it is sound.
    pub(crate) fn of(files: Vec<File<'_>>) -> Self {
        let mut catalogue = Self::default();
        for file in files {
            catalogue.families.push(file.family);
            let benchmarks = file.rows.into_iter().map(|row| row.benchmark);
            catalogue.benchmarks.extend(benchmarks);
        }
        catalogue
    }
}
