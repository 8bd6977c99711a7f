//! The chapters of a performance brief, for another machine.

use serde::{Deserialize, Serialize};

/// A section of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    pub title: String,
    /// Subject and method.
    pub text: String,
    #[serde(default, rename = "exhibit")]
    pub exhibits: Vec<Exhibit>,
}

/// A table or a figure with the systems of the document and a run.
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
    /// Identifier of the reference system of ratios.
    pub reference: Option<String>,
    /// Variant with the document's own ratios.
    pub printed: Option<String>,
    /// Departures from the document, with reasons.
    pub text: Option<String>,
}

/// Form of an exhibit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A row for each benchmark, a column for each system.
    Table,
    /// A row for each system and benchmark: minimum, maximum, median, mean.
    Statistics,
    /// A row for each benchmark: times relative to the reference.
    Ratios,
    /// A row for each pair of benchmarks, the second of which includes the first: both, and the difference.
    Elements,
    /// Numbers on axes, one for each unit.
    Bars,
    /// Throughput relative to the reference, on one axis.
    Relative,
    /// The curve of each benchmark.
    Curve,
    /// CPUs in use along the curve of each benchmark.
    Cpus,
    /// CPU time of both ends of a network along the curve of each benchmark.
    Shares,
    /// Transactions by number.
    Transactions,
    /// Text only.
    Words,
}
