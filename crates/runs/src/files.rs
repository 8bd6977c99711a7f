//! Runs in files: bundles and the formats of other programs, compressed or not.

use anyhow::{Context, Result, anyhow, bail, ensure};
use gritstone_exchange::{self as exchange, Opened, Origin};
use gritstone_model::{Flag, Measurement, RunData, RunView};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Widest half-width of a result of a reference system, relative.
const MAX_HALF_WIDTH: f64 = 0.2;

/// Reads a run in any supported format.
///
/// # Errors
/// Names the file, and what is wrong with it.
pub fn read(path: &Path) -> Result<RunData> {
    let run = match open(path)? {
        Opened::Run(run) => Ok(*run),
        Opened::Text(text) => foreign(&text, path),
    };
    run.with_context(|| path.display().to_string())
}

/// # Errors
/// When the file cannot be read, is too large, or is a damaged bundle.
pub(crate) fn open(path: &Path) -> Result<Opened> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    exchange::open(BufReader::new(file)).with_context(|| path.display().to_string())
}

/// The run of a bundle in memory, compressed or not.
///
/// # Errors
/// When it is damaged or too large.
pub fn bundle(bytes: &[u8]) -> Result<RunData> {
    Ok(exchange::read_bundle(exchange::unpack(bytes)?)?)
}

/// Parses the text of the file `path`, which is no bundle.
///
/// # Errors
/// When no format matches, or the text is damaged.
pub(crate) fn foreign(text: &str, path: &Path) -> Result<RunData> {
    let Some(origin) = exchange::recognize(text) else {
        return Err(anyhow!(
            "not a run: `gritstone export` writes one; JSON of hyperfine and Google Benchmark and reports of UnixBench can be imported too"
        ));
    };
    Ok(match origin {
        Origin::Hyperfine => exchange::read_hyperfine(text, &written(path)?)?,
        Origin::GoogleBenchmark => exchange::read_gbench(text, &written(path)?)?,
        Origin::UnixBench => exchange::read_unixbench(text, &written(path)?)?,
    })
}

/// Modification time of a file, which stands for the time of measurement.
fn written(path: &Path) -> Result<String> {
    let time = std::fs::metadata(path)?.modified()?;
    Ok(jiff::Timestamp::try_from(time)?.to_string())
}

/// A reference system is a complete, valid run of suite `standard` or more, with nine results in ten within ±20%.
///
/// # Errors
/// When the run is not.
pub fn check_reference(run: &RunData, view: &RunView) -> Result<()> {
    let settings = &run.info.settings;
    ensure!(
        settings.suite.as_deref() == Some("standard") && settings.trial.is_none(),
        "a reference system is a run of suite standard: gritstone run"
    );
    ensure!(
        run.info.elapsed_s.is_some(),
        "the run was interrupted: gritstone run --resume"
    );
    let all = view.results.len();
    let bad = |r: &&Measurement| r.estimate().is_none() || r.flags().contains(&Flag::Invalid);
    if let Some(bad) = view.results.iter().find(bad) {
        bail!(
            "{} has no valid result, and a reference system has all of them",
            bad.id
        );
    }
    let narrow = |r: &&Measurement| {
        let half = r
            .interval()
            .zip(r.value())
            .map(|([low, high], value)| (high - low) / 2.0 / value);
        half.is_none_or(|half| half <= MAX_HALF_WIDTH)
    };
    let narrow = view.results.iter().filter(narrow).count();
    ensure!(
        narrow * 10 >= all * 9,
        "{} of {all} results are wider than ±20%: measure on a quieter machine (gritstone doctor)",
        all - narrow
    );
    Ok(())
}

/// The home directory, which is removed from what is shared.
pub fn home() -> Option<String> {
    std::env::var("HOME").ok()
}
