//! The summary of a job of GitHub Actions.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

const VARIABLE: &str = "GITHUB_STEP_SUMMARY";

fn file() -> Option<PathBuf> {
    let file = std::env::var_os(VARIABLE).filter(|file| !file.is_empty());
    file.map(PathBuf::from)
}

/// Fails where [`append`] would, before anything is measured.
pub fn check() -> Result<()> {
    file().map_or(Ok(()), |file| gritstone_runs::output_file::check(&file).context(VARIABLE))
}

/// Appends to the file that the environment names, if it names one.
pub fn append(text: &str) -> Result<()> {
    let Some(file) = file() else {
        return Ok(());
    };
    let opened = File::options().append(true).create(true).open(&file);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {} ({VARIABLE})", file.display()))
}
