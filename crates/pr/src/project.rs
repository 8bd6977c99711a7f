//! Reads `gritstone-pr.toml` of a repository, which is untrusted.

use anyhow::{Context as _, Result, ensure};
use gritstone_model::decode_text;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Name of the file, in the root of the repository.
pub const FILE: &str = "gritstone-pr.toml";
/// Most bytes of it.
const MAX_SIZE: u64 = 64 << 10;

/// Defaults for options of `gritstone pr` in a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Project {
    pub harness: Option<String>,
    /// JSON pointer to the values of harness `json`.
    pub values: Option<String>,
    /// Program and arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// Shell command.
    pub build: Option<String>,
    /// Builds per side.
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
    /// Returns defaults if there is no file.
    ///
    /// # Errors
    /// When it is a link, too large, or invalid.
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
