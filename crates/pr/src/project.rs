//! `gritstone-pr.toml` of a repository: read as a file of a foreign directory.

use anyhow::{Context as _, Result, ensure};
use gritstone_model::decode_text;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// In the root of the repository.
pub const FILE: &str = "gritstone-pr.toml";
/// Bytes.
const MAX_SIZE: u64 = 64 << 10;

/// Defaults of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Project {
    pub harness: Option<String>,
    /// Pointer of the values of the `json` harness.
    pub values: Option<String>,
    /// Program and arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// For the shell.
    pub build: Option<String>,
    /// Builds of each side.
    pub layouts: Option<usize>,
    #[serde(default)]
    pub carry: Vec<PathBuf>,
    pub budget: Option<String>,
    pub harness_time: Option<String>,
    pub max_slowdown: Option<String>,
    /// Allowed slowdown by benchmark.
    #[serde(default)]
    pub margins: BTreeMap<String, String>,
}

impl Project {
    /// Nothing where there is no file.
    ///
    /// # Errors
    /// When it is a link, too large, or not such a file.
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join(FILE);
        let Ok(found) = fs::symlink_metadata(&path) else {
            return Ok(Self::default());
        };
        ensure!(found.is_file(), "{} is not a regular file", path.display());
        ensure!(found.len() <= MAX_SIZE, "{} is larger than {MAX_SIZE} bytes", path.display());
        let mut bytes = vec![];
        let what = || format!("cannot read {}", path.display());
        let file = File::open(&path).with_context(what)?;
        file.take(MAX_SIZE).read_to_end(&mut bytes).with_context(what)?;
        let text = decode_text(bytes).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }
}
