//! Runs in files: bundles and the formats of other programs, compressed or not.

use anyhow::{Context, Result, bail, ensure};
use gritstone_exchange::harness::HarnessFile;
use gritstone_exchange::{self as exchange, Opened};
use gritstone_model::{Flag, Measurement, RunData, RunView};
use jiff::Timestamp;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Widest half-width of a result of a reference system, relative.
const MAX_HALF_WIDTH: f64 = 0.2;

/// A run of a file.
pub struct FileRun {
    pub run: RunData,
    pub origin: FileOrigin,
}

/// Origin of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOrigin {
    Bundle,
    /// Output of another program.
    Foreign,
}

/// Reads a run in any supported format; of a directory, the files that one program wrote.
///
/// # Errors
/// Names the file and the fault in it.
pub fn read(path: &Path) -> Result<FileRun> {
    let foreign = |run| FileRun { run, origin: FileOrigin::Foreign };
    let read = match path.is_dir() {
        true => directory(path).map(foreign),
        false => open(path).and_then(|opened| match opened {
            Opened::Run(run) => Ok(FileRun { run: *run, origin: FileOrigin::Bundle }),
            Opened::Text(text) => self::foreign(text, path).map(foreign),
        }),
    };
    read.with_context(|| path.display().to_string())
}

/// # Errors
/// When the file cannot be read, is too large, or is a damaged bundle.
pub(crate) fn open(path: &Path) -> Result<Opened> {
    let file = File::open(path).context("cannot read it")?;
    Ok(exchange::open(BufReader::new(file))?)
}

/// The run of a bundle in memory, compressed or not.
///
/// # Errors
/// When it is damaged or too large.
pub fn bundle(bytes: &[u8]) -> Result<RunData> {
    Ok(exchange::read_bundle(exchange::unpack(bytes)?)?)
}

/// Parses the text of the file `path`, which is no bundle, with the files beside it if its program writes several.
///
/// # Errors
/// When no format matches, or the text is damaged.
pub(crate) fn foreign(text: String, path: &Path) -> Result<RunData> {
    let parts = exchange::recognize(&text).map_or(&[][..], |format| format.parts());
    let file = |path: &Path, text| HarnessFile {
        path: match parts {
            [] => PathBuf::new(),
            _ => path.to_owned(),
        },
        text,
    };
    let mut files = vec![file(path, text)];
    for part in parts {
        let beside = path.with_file_name(part);
        if beside != path && beside.is_file() {
            files.push(file(&beside, read_text(&beside)?));
        }
    }
    Ok(exchange::import(&files, modified(path)?)?)
}

/// The run in the files of a directory.
fn directory(root: &Path) -> Result<RunData> {
    let is_part = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        exchange::tree_parts().iter().any(|part| name == *part)
    };
    let (mut files, mut size) = (vec![], 0);
    for path in json_files(root)?.into_iter().filter(is_part) {
        let text = read_text(&path)?;
        size += text.len() as u64;
        ensure!(
            size <= exchange::limits::UNPACKED,
            "its files are larger than {} MiB",
            exchange::limits::UNPACKED >> 20
        );
        files.push(HarnessFile { path, text });
    }
    let newest = files.iter().map(|file| modified(&file.path));
    let newest = newest.collect::<Result<Vec<_>>>()?.into_iter().max();
    let newest = newest.with_context(|| {
        let parts = exchange::tree_parts().join(", ");
        format!("not a run, but a directory without {parts}")
    })?;
    Ok(exchange::import(&files, newest)?)
}

fn read_text(path: &Path) -> Result<String> {
    match open(path).with_context(|| path.display().to_string())? {
        Opened::Text(text) => Ok(text),
        Opened::Run(_) => bail!("{} is a bundle", path.display()),
    }
}

/// All JSON files below a directory, in order of their paths.
///
/// # Errors
/// When a directory cannot be read.
pub fn json_files(root: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (vec![], vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        let what = || format!("cannot read {}", folder.display());
        for entry in std::fs::read_dir(&folder).with_context(what)? {
            let entry = entry.with_context(what)?;
            let kind = entry.file_type().with_context(what)?;
            match entry.path() {
                path if kind.is_dir() => folders.push(path),
                path if kind.is_file() && path.extension().is_some_and(|e| e == "json") => {
                    files.push(path);
                }
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Modification time of a file, used as the time of measurement.
fn modified(path: &Path) -> Result<Timestamp> {
    Ok(Timestamp::try_from(std::fs::metadata(path)?.modified()?)?)
}

/// A reference system is a complete, valid run of suite `standard` or more, with nine results in ten within ±20%.
///
/// # Errors
/// When the run is not.
pub fn check_reference(run: &RunData, view: &RunView) -> Result<()> {
    let settings = &run.info.settings;
    ensure!(
        settings.suite.as_deref() == Some("standard") && settings.trial.is_none(),
        "a reference system is a run of suite standard: measure one with gritstone run"
    );
    ensure!(run.info.elapsed_s.is_some(), "the run was interrupted: gritstone run --resume");
    let all = view.results.len();
    let bad = |r: &&Measurement| r.estimate().is_none() || r.flags().contains(&Flag::Invalid);
    if let Some(bad) = view.results.iter().find(bad) {
        bail!("{} has no valid result, and a reference system has all of them", bad.id);
    }
    let narrow = |r: &&Measurement| {
        let half =
            r.interval().zip(r.value()).map(|([low, high], value)| (high - low) / 2.0 / value);
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

/// The home directory, which is removed from shared texts.
pub fn home() -> Option<String> {
    std::env::var("HOME").ok()
}
