//! What runs of one machine against each other look like to a reader: the shape of `gritstone noise --format json`.

use crate::{Difference, Id, Note, OwnCatalogue, Subject, Unit, VarianceSource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`SelftestView`].
pub const SCHEMA_SELFTEST: &str = "gritstone/selftest/2";

/// A/A test: several runs of one system, between which nothing was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelftestView {
    /// [`SCHEMA_SELFTEST`].
    pub schema: String,
    /// Display name of the system.
    pub machine: String,
    /// The runs, in the order of time.
    pub runs: Vec<SelftestRun>,
    /// Differences from the first run: with any, this is not an A/A test.
    pub differ_in: Vec<Difference>,
    /// One for each benchmark that all runs have.
    pub rows: Vec<SelftestRow>,
    /// Benchmarks that are not counted, although their results can differ.
    pub left_out: Vec<LeftOut>,
    /// Every run compared with every other.
    pub pairs: PairsView,
    /// Median over benchmarks of the standard deviation between runs; null without a benchmark.
    pub median: Option<CriterionView>,
    /// 90th percentile over benchmarks of the same.
    pub p90: Option<CriterionView>,
    /// How often the interval of one run contains the center of all runs, in the unit of the benchmark.
    pub raw_held: ShareView,
    /// The same in core cycles.
    pub paced_held: ShareView,
    /// Whether no criterion failed.
    pub passed: bool,
    /// The custom catalog that some benchmarks are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<OwnCatalogue>,
}

/// One of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelftestRun {
    /// Identifier.
    pub id: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// Start, RFC 3339.
    pub started: String,
}

/// A benchmark that does not count, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Identifier of the benchmark.
    pub id: Id,
    /// Why.
    #[serde(flatten)]
    pub why: Note,
}

/// One benchmark over all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelftestRow {
    /// Identifier of the benchmark.
    pub id: Id,
    /// Title of the benchmark.
    pub title: String,
    /// Unit of the result.
    pub unit: Unit,
    /// Center of the runs.
    pub center: f64,
    /// By wall time.
    pub raw: ScatterView,
    /// In core cycles; null where a launch had no cycle probe.
    pub paced: Option<ScatterView>,
    /// Which of the two is compared: cycles for processor-bound benchmarks, else the estimate.
    pub counted: Subject,
    /// Minimum detectable effect between two such runs of this benchmark alone (power 95%), as a share; null with too
    /// few launches.
    pub smallest: Option<f64>,
    /// Pairs of runs in which the benchmark was compared.
    pub pairs: usize,
    /// Those of them with the verdict faster or slower.
    pub different: usize,
    /// Runs with interference during this benchmark.
    pub disturbed: usize,
}

/// Spread of the results of one benchmark, as shares of the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScatterView {
    /// Standard deviation of ln(estimate) between runs: the coefficient of variation.
    pub between: f64,
    /// Its interval at 95%.
    pub interval: [f64; 2],
    /// Half-width of the interval that a single run prints: the median over runs.
    pub within: Option<f64>,
}

/// All comparisons of one run with another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairsView {
    /// Pairs of results that were compared.
    pub compared: usize,
    /// Those with the verdict faster or slower.
    pub different: usize,
    /// Those with a p of .01 or less, before adjustment for the number of benchmarks.
    pub below_one_percent: usize,
    /// The share that may be called different: 0.01.
    pub rate: f64,
    /// Probability of at least this number, at exactly that rate.
    pub p: f64,
    /// Whether `p` is .01 or more.
    pub passed: bool,
    /// Source of the variance between runs, each once.
    pub between_run: Vec<VarianceSource>,
}

/// A number that has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionView {
    /// The number.
    pub value: f64,
    /// Its interval at 95%.
    pub interval: [f64; 2],
    /// Upper limit.
    pub limit: f64,
    /// Whether the lower end of the interval is at most the limit.
    pub passed: bool,
}

/// A count and its total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareView {
    /// The count.
    pub part: usize,
    /// The total.
    pub of: usize,
}
