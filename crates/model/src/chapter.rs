//! The chapters of a performance brief: what a document shows, exhibit by exhibit, for another machine.

use serde::{Deserialize, Serialize};

/// A section of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    pub title: String,
    /// What it measures and how.
    pub text: String,
    #[serde(default, rename = "exhibit")]
    pub exhibits: Vec<Exhibit>,
}

/// A table or a figure, with the systems of the document and a run in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exhibit {
    /// Its number in the document: `table 2.1`.
    pub place: String,
    pub title: String,
    /// Short name of the document.
    pub document: String,
    pub form: Form,
    /// Selectors, in the order of the exhibit.
    pub benchmarks: Vec<String>,
    /// Identifier of the system that ratios are to.
    #[serde(default)]
    pub reference: Option<String>,
    /// Variant at which the document's own ratios stand.
    #[serde(default)]
    pub printed: Option<String>,
    /// What is not as in the document, and why.
    #[serde(default)]
    pub text: Option<String>,
}

/// How an exhibit is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A row for each benchmark, a column for each system.
    Table,
    /// A row for each system and benchmark: minimum, maximum, median, mean.
    Statistics,
    /// A row for each benchmark: times relative to the reference.
    Ratios,
    /// A row for each pair of benchmarks, of which the second has the first in it: both, and what is left.
    Elements,
    /// Numbers on axes, one for each unit.
    Bars,
    /// Throughput relative to the reference, on one axis.
    Relative,
    /// The curve that each benchmark ends in.
    Curve,
    /// CPUs in use along the curve that each benchmark ends in.
    Cpus,
    /// CPU time of both ends of a network over the curve that each benchmark ends in.
    Shares,
    /// Transactions by their number.
    Transactions,
    /// Text alone.
    Words,
}
