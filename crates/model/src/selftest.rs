//! What runs of one machine against each other look like to a reader: the shape of `gritstone noise --format json`.

use crate::{Difference, Id, Note, OwnCatalogue, Subject, Unit, VarianceSource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`SelftestView`].
pub const SCHEMA_SELFTEST: &str = "gritstone/selftest/2";

/// A against A: several runs of one machine, between which nothing was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelftestView {
    /// [`SCHEMA_SELFTEST`].
    pub schema: String,
    /// What a person calls the machine.
    pub machine: String,
    /// The runs, in the order of time.
    pub runs: Vec<SelftestRun>,
    /// What is not the same in all of them, against the first: then this is no trial of the same against the same.
    pub differ_in: Vec<Difference>,
    /// One for each row that all runs have.
    pub rows: Vec<SelftestRow>,
    /// Rows that are not, though their figures can differ.
    pub left_out: Vec<LeftOut>,
    /// Every run compared with every other.
    pub pairs: PairsView,
    /// Median over rows of the standard deviation between runs; null without a row.
    pub median: Option<CriterionView>,
    /// 90th percentile over rows of the same.
    pub p90: Option<CriterionView>,
    /// How often the interval of one run holds the center of all runs, in the unit of the row.
    pub raw_held: ShareView,
    /// The same in core cycles.
    pub paced_held: ShareView,
    /// Whether no criterion failed.
    pub passed: bool,
    /// The catalog of the user's own that some rows are of.
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

/// A row that does not count, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Which benchmark.
    pub id: Id,
    /// Why.
    #[serde(flatten)]
    pub why: Note,
}

/// One row over all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelftestRow {
    /// Which benchmark.
    pub id: Id,
    /// Heading of its row.
    pub title: String,
    /// Unit of the figure.
    pub unit: Unit,
    /// Center of the runs.
    pub center: f64,
    /// As the clock has it.
    pub raw: ScatterView,
    /// In core cycles; null where a launch had no cycle probe.
    pub paced: Option<ScatterView>,
    /// Which of the two counts, and is compared: cycles where the processor bounds the row, else the estimate.
    pub counted: Subject,
    /// Smallest change of this row alone, as a share, that `compare` would call one between two such runs in 95 of 100
    /// cases; null where launches are too few for any.
    pub smallest: Option<f64>,
    /// Pairs of runs in which the row was compared.
    pub pairs: usize,
    /// Those of them that were called faster or slower.
    pub different: usize,
    /// Runs in which others used the machine during this row.
    pub disturbed: usize,
}

/// How figures of one row differ, as shares of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScatterView {
    /// Standard deviation of ln(figure) between runs: the coefficient of variation.
    pub between: f64,
    /// Its interval at 95%.
    pub interval: [f64; 2],
    /// Half-width of the interval that a single run prints: the median over runs.
    pub within: Option<f64>,
}

/// All comparisons of one run with another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairsView {
    /// Pairs of figures that were compared.
    pub compared: usize,
    /// Those that were called faster or slower.
    pub different: usize,
    /// Those with a p of .01 or less, before it is adjusted for the number of rows.
    pub below_one_percent: usize,
    /// The share that may be called different: 0.01.
    pub rate: f64,
    /// Probability of so many or more, if they are called different at just that rate.
    pub p: f64,
    /// Whether `p` is .01 or more.
    pub passed: bool,
    /// Where the scatter between runs was taken from, each way once.
    pub between_run: Vec<VarianceSource>,
}

/// A number that has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionView {
    /// The number.
    pub value: f64,
    /// Its interval at 95%.
    pub interval: [f64; 2],
    /// What it should be at most.
    pub limit: f64,
    /// Whether the lower end of the interval is at most the limit.
    pub passed: bool,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareView {
    /// So many.
    pub part: usize,
    /// Of so many.
    pub of: usize,
}
