//! Formats of `gritstone export`: a file for each, which has its name on the command line. The bundle (`jsonl`) is imported too.

mod bmf;
pub(crate) mod csv;
mod gbench;
mod gha;
mod hyperfine;
pub(crate) mod markdown;
pub(crate) mod openmetrics;
mod phoronix;

use crate::bundle;
use crate::exportable::Exported;
use gritstone_model::{RunData, RunView};

/// In the order of the help; the first is the default.
pub static EXPORT_FORMATS: &[ExportFormat] = &[
    ExportFormat {
        name: "jsonl",
        help: "JSON Lines with all samples: the complete run",
        write: Writer::Run(bundle::write),
    },
    results("csv", "CSV table: every result, with flags as words", csv::write),
    results("markdown", "Markdown table: every result, with flags and notes", markdown::write),
    results("gbench", "Google Benchmark JSON for compare.py, a repetition a launch", gbench::write),
    results("bmf", "Bencher Metric Format: estimate and interval", bmf::write),
    results("gha", "customSmallerIsBetter of github-action-benchmark: rates as times", gha::write),
    results("openmetrics", "OpenMetrics text, for Prometheus", openmetrics::write),
    results("hyperfine", "JSON of hyperfine: each sample, in s per operation", hyperfine::write),
    results("phoronix", "XML of the Phoronix Test Suite, with each launch", phoronix::write),
];

/// A format of `gritstone export`.
#[derive(Debug)]
pub struct ExportFormat {
    /// On the command line.
    pub name: &'static str,
    pub help: &'static str,
    pub write: Writer,
}

/// A function, by its input.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// The stored run.
    Run(fn(&RunData) -> String),
    /// Its results, with the launches behind them.
    Results(fn(&RunData, &RunView) -> Exported),
}

const fn results(
    name: &'static str,
    help: &'static str,
    write: fn(&RunData, &RunView) -> Exported,
) -> ExportFormat {
    ExportFormat { name, help, write: Writer::Results(write) }
}
