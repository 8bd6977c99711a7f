//! Import and export of runs.
//!
//! Input is a stored run with all samples ([`RunData`]) or its view ([`RunView`]). The bundle contains the complete stored run; all other
//! formats are for programs with less data, and never contain an invalid result (`!`) as a value.

mod anonymize;
mod atom;
mod bundle;
mod ci_output;
mod export;
mod exportable;
mod fleet;
mod foreign_run;
pub mod harness;
mod import;
mod junit;
pub mod limits;
mod pr;
mod private_texts;
mod share;
mod stored_unit;
mod timings;
mod trial_side;
mod unpack;
mod xml;

pub use anonymize::{anonymous_run, anonymous_view};
pub use atom::atom;
pub use bundle::{SCHEMA_BUNDLE, read as read_bundle, write as write_bundle};
pub use ci_output::{GateOutput, check_output};
pub use export::openmetrics::scraped;
pub use export::{EXPORT_FORMATS, ExportFormat, Writer};
pub use exportable::Exported;
pub use fleet::{csv as fleet_csv, openmetrics as fleet_openmetrics};
pub use foreign_run::parse_time;
pub use import::{contents, name_machine, set_start};
pub use pr::{pr_failure, pr_output};
pub use share::share_markdown;
pub use timings::{Markup, csv as timings_csv, json as timings_json, table as timings_table};
pub use trial_side::{RoundLaunch, SideBenchmark, trial_side};
pub use unpack::unpack;

use gritstone_model::decode_text;
use harness::{Format, HarnessError, HarnessFile, Shape};
use jiff::Timestamp;
use std::io::{BufRead, Read as _};

/// Why bytes cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// An invalid or changed line of a bundle, counted from 1.
    #[error("line {line}: {what}")]
    Line { line: usize, what: String },
    #[error("{0}")]
    Whole(String),
}

impl ImportError {
    fn whole(what: impl Into<String>) -> Self {
        Self::Whole(what.into())
    }
}

impl From<HarnessError> for ImportError {
    fn from(error: HarnessError) -> Self {
        Self::Whole(error.to_string())
    }
}

/// An opened file: a run, or other text.
pub enum Opened {
    /// The run of a bundle.
    Run(Box<RunData>),
    /// Anything else.
    Text(String),
}

/// Opens a file in any format, compressed or not, within [`limits`].
///
/// # Errors
/// When it is damaged or too large.
pub fn open(from: impl BufRead) -> Result<Opened, ImportError> {
    let unreadable = |error: std::io::Error| ImportError::whole(error.to_string());
    let mut from = unpack(from).map_err(unreadable)?;
    if from.fill_buf().map_err(unreadable)?.starts_with(UTF8_MARK) {
        from.consume(UTF8_MARK.len());
    }
    let mut text = vec![];
    let line = (&mut from).take(limits::HEAD_LINE + 1);
    { line }.read_until(b'\n', &mut text).map_err(unreadable)?;
    if bundle::is_head(&text) {
        return Ok(Opened::Run(Box::new(bundle::read_after(&text, from)?)));
    }
    let rest = (limits::OTHER + 1).saturating_sub(text.len() as u64);
    from.take(rest).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > limits::OTHER {
        let what = format!(
            "not a bundle, and larger than {} MiB, the limit of other files",
            limits::OTHER >> 20
        );
        return Err(ImportError::whole(what));
    }
    let text = decode_text(text).map_err(|error| ImportError::whole(error.to_string()))?;
    match bundle::is_head(text.lines().next().unwrap_or_default().as_bytes()) {
        true => Ok(Opened::Run(Box::new(bundle::read(text.as_bytes())?))),
        false => Ok(Opened::Text(text)),
    }
}

const UTF8_MARK: &[u8] = "\u{feff}".as_bytes();

/// The program that wrote a file, if recognized.
pub fn recognize(text: &str) -> Option<Box<dyn Format>> {
    let shape = Shape::new(text);
    harness::formats().find(|format| format.recognizes(&shape))
}

/// Names of the files that programs leave in a directory.
pub fn tree_parts() -> Vec<&'static str> {
    harness::formats().flat_map(|format| format.parts()).copied().collect()
}

/// The run in the output of another program; `modified` is its start unless the files have one.
///
/// # Errors
/// Names the apparent type of the first file and the fault, or the benchmarks without a value if none has one.
pub fn import(files: &[HarnessFile], modified: Timestamp) -> Result<RunData, ImportError> {
    let first = files.first().map_or("", |file| &file.text);
    let format = recognize(first).ok_or_else(|| {
        let titles: Vec<&str> = harness::formats().map(|format| format.title()).collect();
        ImportError::whole(format!(
            "not a run, but {}: a run is a bundle of `gritstone export`, or output of {}",
            Shape::new(first).describe(),
            titles.join(", ")
        ))
    })?;
    let foreign = format.parse(files)?;
    let text: String = files.iter().map(|file| file.text.as_str()).collect();
    import::import(format.title(), foreign, &text, modified)
}

#[doc(no_inline)]
pub use gritstone_model::{RunData, RunView};
