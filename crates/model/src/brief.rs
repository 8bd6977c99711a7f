//! Input of the report of a run.

use crate::{Assessment, Benchmark, CompareView, RunView, ScoresView, Timeline};

#[derive(Clone, Debug, PartialEq)]
pub struct BriefParts {
    /// Reliability of the results.
    pub assessment: Assessment,
    /// Scores against the base.
    pub scores: ScoresView,
    pub base: RunView,
    /// The run compared with the base.
    pub baseline: CompareView,
    /// Printed systems with any of its benchmarks, in the order of listings.
    pub references: Vec<RunView>,
    /// Entries of the catalog, and of the custom catalog stored with the run.
    pub benchmarks: Vec<Benchmark>,
    /// Benchmarks that are drawn over the years.
    pub timelines: Vec<Timeline>,
}
