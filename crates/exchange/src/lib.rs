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
mod hyperfine;
mod openmetrics;
mod phoronix;
mod timings;
mod unixbench;
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
pub use timings::{
    Markup, Timing, csv as timings_csv, json as timings_json, table as timings_table,
};
pub use unixbench::read as read_unixbench;

use serde_json::Value;

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
    /// A bundle of ours.
    Bundle,
    /// `hyperfine --export-json`.
    Hyperfine,
    /// `--benchmark_format=json` of Google Benchmark.
    GoogleBenchmark,
    /// The report of UnixBench's `Run`.
    UnixBench,
}

/// Recognizes what a text is by its beginning; `None` when it is nothing that can be read.
#[must_use]
pub fn recognize(text: &str) -> Option<Origin> {
    let json = |text| serde_json::from_str::<Value>(text).unwrap_or_default();
    let first = text.lines().next().unwrap_or("");
    if json(first).get("schema").is_some() {
        return Some(Origin::Bundle);
    }
    let whole = json(text);
    if whole.get("context").is_some() && whole.get("benchmarks").is_some() {
        return Some(Origin::GoogleBenchmark);
    }
    if whole.get("results").is_some_and(Value::is_array) {
        return Some(Origin::Hyperfine);
    }
    text.contains("BYTE UNIX Benchmarks")
        .then_some(Origin::UnixBench)
}

#[doc(no_inline)]
pub use gritstone_model::{RunData, RunView};
