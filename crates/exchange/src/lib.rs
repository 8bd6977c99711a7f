//! A run to bytes that other programs read, and bytes of other programs to a run.
//!
//! Two things come in: a run as it is stored, with all samples ([`RunData`]), and what a reader sees of it ([`RunView`]). The bundle
//! is the first, whole, so that nothing is lost on the way; all other formats are for programs that know less than we do, and
//! a figure whose work was not done (`*`) is never handed to them as a figure.

mod anonymize;
mod atom;
mod bencher;
mod bundle;
mod ci_output;
mod csv_markdown;
mod exportable;
mod fleet;
mod foreign_run;
mod gbench;
mod github;
pub mod harness;
mod hyperfine;
pub mod limits;
mod openmetrics;
mod phoronix;
mod pr;
mod timings;
mod unixbench;
mod unpack;
mod xml;

pub use anonymize::{anonymous_run, anonymous_view};
pub use atom::atom;
pub use bencher::bencher;
pub use bundle::{SCHEMA_BUNDLE, read as read_bundle, write as write_bundle};
pub use ci_output::{github_annotations, github_summary, junit};
pub use csv_markdown::{csv, markdown};
pub use exportable::Exported;
pub use fleet::{csv as fleet_csv, openmetrics as fleet_openmetrics};
pub use foreign_run::name_machine;
pub use gbench::{read as read_gbench, write as gbench};
pub use github::github;
pub use hyperfine::{read as read_hyperfine, write as hyperfine};
pub use openmetrics::{openmetrics, scraped};
pub use phoronix::phoronix;
pub use pr::{pr_github_annotations, pr_gitlab_metrics, pr_junit, pr_markdown};
pub use timings::{
    Markup, Timing, csv as timings_csv, json as timings_json, table as timings_table,
};
pub use unixbench::read as read_unixbench;
pub use unpack::unpack;

use serde::Deserialize;
use serde::de::IgnoredAny;
use std::io::{BufRead, Read as _};

/// Why bytes are no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A line of a bundle, counted from 1, that is not as it was written.
    #[error("line {line}: {what}")]
    Line {
        /// Which line.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// The whole.
    #[error("{0}")]
    Whole(String),
}

impl ImportError {
    fn whole(what: impl Into<String>) -> Self {
        Self::Whole(what.into())
    }
}

/// What bytes seem to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `hyperfine --export-json`.
    Hyperfine,
    /// `--benchmark_format=json` of Google Benchmark.
    GoogleBenchmark,
    /// The report of UnixBench's `Run`.
    UnixBench,
}

/// A file that was opened: a run, or the text of something else.
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
            "no bundle, and larger than {} MiB, which is the limit of other files",
            limits::OTHER >> 20
        );
        return Err(ImportError::whole(what));
    }
    let text = String::from_utf8(text).map_err(|error| ImportError::whole(error.to_string()))?;
    Ok(Opened::Text(text))
}

/// Recognizes the program that wrote a text; `None` when it cannot be read.
#[must_use]
pub fn recognize(text: &str) -> Option<Origin> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Parts {
        context: Option<IgnoredAny>,
        benchmarks: Option<IgnoredAny>,
        results: Option<List>,
    }
    struct List;
    impl<'de> Deserialize<'de> for List {
        fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            <Vec<IgnoredAny>>::deserialize(from).map(|_| Self)
        }
    }
    let parts: Parts = serde_json::from_str(text).unwrap_or_default();
    if parts.context.is_some() && parts.benchmarks.is_some() {
        return Some(Origin::GoogleBenchmark);
    }
    if parts.results.is_some() {
        return Some(Origin::Hyperfine);
    }
    text.contains("BYTE UNIX Benchmarks")
        .then_some(Origin::UnixBench)
}

#[doc(no_inline)]
pub use gritstone_model::{RunData, RunView};
