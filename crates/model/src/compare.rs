//! A comparison: the type of `--format json`.

use crate::names::names;
use crate::{Better, Explanation, Flag, Id, Note, Subject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`CompareView`].
pub const SCHEMA_COMPARE: &str = "gritstone/compare/3";

names! {
    #[derive(Default, Hash, JsonSchema)]
    pub enum Verdict {
        /// The other is better.
        Faster = "faster",
        /// The other is worse.
        Slower = "slower",
        /// The interval is inside the margin.
        Same = "same",
        /// The interval is too wide, or there is none.
        #[default]
        Inconclusive = "inconclusive",
    }
}

/// A difference between two sides of a comparison: system, kernel, compiler, settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    pub what: String,
    /// Its value on the base.
    pub base: String,
    /// Its value on the other.
    pub other: String,
}

/// One run or system against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareView {
    /// [`SCHEMA_COMPARE`].
    pub schema: String,
    /// Identifier of the run, or of each run of the side, separated by commas.
    pub base: String,
    /// See `base`.
    pub other: String,
    /// Runs of the base and of the other; more than one if medians are compared.
    #[serde(default = "one_each", skip_serializing_if = "is_one_each")]
    pub runs: [usize; 2],
    /// Display name of each: machine and operating system.
    pub base_name: String,
    /// Display name of each: machine and operating system.
    pub other_name: String,
    pub differ_in: Vec<Difference>,
    /// Difference within which two results count as the same: 0.01 is 1%.
    pub margin: f64,
    /// Source of the variance between runs that the intervals include; null unless launches were compared with launches.
    #[serde(default)]
    pub between_run: Option<VarianceSource>,
    /// Change that nearly all benchmarks share; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common: Option<CommonChange>,
    /// Sums by family, those with differences first; with several families, the last is over all benchmarks.
    #[serde(default)]
    pub sums: Vec<CompareSum>,
    /// One for each benchmark of either side: differences by size, inconclusive, the same, without a ratio, and without a result on one
    /// side.
    pub rows: Vec<CompareRow>,
}

fn one_each() -> [usize; 2] {
    [1; 2]
}

fn is_one_each(runs: &[usize; 2]) -> bool {
    *runs == one_each()
}

/// A similar change of nearly all benchmarks of a comparison: of the machine, or of something that all of them use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommonChange {
    /// Number of benchmarks in the median.
    pub rows: usize,
    /// Above 1 if the other run is better.
    pub ratio: f64,
}

/// Source of the run effects, over the benchmarks of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VarianceSource {
    /// Benchmarks with a run effect.
    pub rows: usize,
    /// Those of them with the default.
    pub default: usize,
    /// Fewest and most runs that the others were learned from; null without others.
    pub runs: Option<[usize; 2]>,
    /// Standard deviation of the logarithm for the default, by the scatter of the benchmarks of this comparison.
    pub default_sd: f64,
    /// Whether `default_sd` is assumed instead: the benchmarks of two systems differ by more than run effects.
    #[serde(default)]
    pub assumed: bool,
}

/// Standard deviation of the run effect on ln(estimate) of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowVariance {
    pub estimate: f64,
    /// Runs that it was learned from; 0 for the default.
    pub runs: usize,
}

/// Counts of verdicts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareSum {
    /// First part of their identifiers; null over all benchmarks.
    pub family: Option<String>,
    pub rows: usize,
    /// Benchmarks that are better on the other side.
    pub faster: usize,
    pub slower: usize,
    /// Benchmarks without a difference beyond the margin.
    pub same: usize,
    pub inconclusive: usize,
    pub without_ratio: usize,
    /// Geometric mean of the ratios, above 1 if the other side is better; null if none counts.
    pub mean: Option<f64>,
    /// Geometric means of the ends of their intervals, valid if the errors of all benchmarks are fully correlated; null if one has no
    /// interval.
    pub interval: Option<[f64; 2]>,
    /// Benchmarks in the mean: without sizes, scores and doubtful ones, and between two runs without those with interference.
    pub of: usize,
}

/// One benchmark of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareRow {
    pub id: Id,
    pub title: String,
    /// Above 1: the other is better, in any unit. Null if they are not comparable.
    pub ratio: Option<f64>,
    /// Its interval, adjusted for the variance between runs of the system; null without one.
    pub interval: Option<[f64; 2]>,
    /// Verdict; null without a ratio.
    pub verdict: Option<Verdict>,
    /// p value, before and after Holm's adjustment over the benchmarks.
    #[serde(default)]
    pub p: Option<f64>,
    #[serde(default)]
    pub p_adjusted: Option<f64>,
    /// Minimum detectable effect of such runs (power 95%), as a share, if inconclusive or in a gate; null otherwise, and if no effect is detectable:
    /// interference on a side, or too few launches for the number of benchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<f64>,
    /// Explanation by the counters; null without one, and if neither side is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// The compared quantity: the estimate, the cycles, or a time of the reference workload.
    pub compared: Subject,
    /// Run effect on this benchmark; null if no launches were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_run: Option<RowVariance>,
    /// Unit of `base` and `other`.
    pub unit: String,
    /// Which of these values are better.
    #[serde(default)]
    pub better: Better,
    /// The result of the base.
    pub base: Option<f64>,
    /// The result of the other.
    pub other: Option<f64>,
    /// Notes of both sides, and why the benchmark is not comparable.
    pub notes: Vec<Note>,
    /// Several copies of it, one for each number on either side; empty if a side has none at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CompareCopies>,
    /// Percentiles of both sides, for operations timed one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<ComparePercentile>,
}

impl CompareRow {
    /// The work is in doubt: the row is shown without a conclusion. A doubt about another quantity, such as process time, does not count.
    pub fn in_doubt(&self) -> bool {
        let doubts = [Some(Flag::Invalid), Some(Flag::NotComparable)];
        self.notes.iter().any(|note| {
            let concerns = note.about == Subject::Estimate || note.about.concerns(self.compared);
            doubts.contains(&note.flag()) && concerns
        })
    }
}

/// A number of simultaneous copies, compared by wall time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareCopies {
    pub copies: u32,
    /// Unit of `total`, that of the base.
    pub unit: String,
    pub total: CompareFigure,
    /// Total relative to that number times one copy.
    pub efficiency: CompareFigure,
    pub notes: Vec<Note>,
}

/// A percentile of the operations of a benchmark, in its unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparePercentile {
    /// `p50`, `p90`, `p99` or `p99.9`.
    pub name: String,
    #[serde(flatten)]
    pub figure: CompareFigure,
}

/// A result of one side against that of the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareFigure {
    /// The result of the base.
    pub base: Option<f64>,
    /// The result of the other.
    pub other: Option<f64>,
    /// Above 1: the other is better. Null if they are not comparable.
    pub ratio: Option<f64>,
    /// Its interval, as for the benchmark.
    pub interval: Option<[f64; 2]>,
    /// p value; null without a test.
    pub p: Option<f64>,
    /// The same, adjusted over all comparisons: benchmarks and copies.
    pub p_adjusted: Option<f64>,
    pub verdict: Verdict,
}
