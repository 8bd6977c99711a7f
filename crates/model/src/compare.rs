//! A comparison: the shape of `--format json`.

use crate::{Better, Explanation, Flag, Id, Note, Subject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`CompareView`].
pub const SCHEMA_COMPARE: &str = "gritstone/compare/3";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The other is better.
    Faster,
    /// The other is worse.
    Slower,
    /// The interval is inside the margin.
    Same,
    /// The interval is too wide, or there is none.
    #[default]
    Inconclusive,
}

impl Verdict {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
        }
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
    /// Runs of the base and of the other; more than one where medians are compared.
    #[serde(default = "one_each", skip_serializing_if = "is_one_each")]
    pub runs: [usize; 2],
    /// Display name of each: machine and operating system.
    pub base_name: String,
    /// Display name of each: machine and operating system.
    pub other_name: String,
    pub differ_in: Vec<Difference>,
    /// Difference within which two results count as the same: 0.01 is 1%.
    pub margin: f64,
    /// Source of the variance between runs that the intervals include; null when no launches were compared with launches.
    #[serde(default)]
    pub between_run: Option<VarianceSource>,
    /// What nearly all benchmarks did alike; absent where they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common: Option<CommonChange>,
    /// Benchmarks summed up by family, those with differences first; with several families, the last is over all benchmarks.
    #[serde(default)]
    pub sums: Vec<CompareSum>,
    /// One for each benchmark that either side has: differences by their size, inconclusive, the same, without a ratio, and without a
    /// result on one side.
    pub rows: Vec<CompareRow>,
}

fn one_each() -> [usize; 2] {
    [1; 2]
}

fn is_one_each(runs: &[usize; 2]) -> bool {
    *runs == one_each()
}

/// A change of nearly all benchmarks of a comparison by about the same: of the machine, or of something that all of them use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommonChange {
    /// Benchmarks that it is the median of.
    pub rows: usize,
    /// Above 1 where the other run is better.
    pub ratio: f64,
}

/// Source of the effects of runs, over the benchmarks of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VarianceSource {
    /// Benchmarks that were compared with it.
    pub rows: usize,
    /// Those of them with the default.
    pub default: usize,
    /// Fewest and most runs that it was learned from, of the others; null where there are none.
    pub runs: Option<[usize; 2]>,
    /// Standard deviation of the logarithm that holds for the default, as the benchmarks of this comparison scatter.
    pub default_sd: f64,
}

/// Standard deviation of the effect of a run on ln(estimate) of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowVariance {
    pub estimate: f64,
    /// Runs that it was learned from; 0 for the default.
    pub runs: usize,
}

/// Verdicts of a comparison, counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareSum {
    /// First part of their identifiers; null over all benchmarks.
    pub family: Option<String>,
    pub rows: usize,
    /// Those that are better on the other side.
    pub faster: usize,
    pub slower: usize,
    /// Those without a difference beyond the margin.
    pub same: usize,
    pub inconclusive: usize,
    pub without_ratio: usize,
    /// Geometric mean of the ratios, above 1 when the other side is better; null where none counts.
    pub mean: Option<f64>,
    /// Geometric means of the ends of their intervals, which hold when all benchmarks err together; null when one has no
    /// interval.
    pub interval: Option<[f64; 2]>,
    /// Benchmarks in the mean: no sizes, no scores, none in doubt, and of two runs none with interference.
    pub of: usize,
}

/// One benchmark of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareRow {
    pub id: Id,
    pub title: String,
    /// Above 1: the other is better, whatever the unit. Null where they cannot be compared.
    pub ratio: Option<f64>,
    /// Its interval, adjusted for the variance between runs of the system; null when there is none.
    pub interval: Option<[f64; 2]>,
    /// Verdict; null without a ratio.
    pub verdict: Option<Verdict>,
    /// p value, before and after Holm's adjustment over the benchmarks.
    #[serde(default)]
    pub p: Option<f64>,
    #[serde(default)]
    pub p_adjusted: Option<f64>,
    /// Minimum detectable effect of such runs (power 95%), as a share, when inconclusive; null otherwise, and when no effect is
    /// detectable: interference on a side, or too few launches for the number of benchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<f64>,
    /// Explanation by the counters; null where they give none, and where neither is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// The compared quantity: the estimate, the cycles, or a time of the reference workload.
    pub compared: Subject,
    /// Effect of a run on this benchmark; null where no launches were compared.
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
    /// Several copies of it, one for each number that either side has; empty where a side has none at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CompareCopies>,
    /// Percentiles that both sides have, of operations that were timed one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<ComparePercentile>,
}

impl CompareRow {
    /// The work is in doubt: the row is shown without a conclusion. A doubt about another quantity, such as process
    /// time, does not count.
    #[must_use]
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
    /// Total over that number times one copy.
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

/// One result of one side against that of the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareFigure {
    /// The result of the base.
    pub base: Option<f64>,
    /// The result of the other.
    pub other: Option<f64>,
    /// Above 1: the other is better. Null where they cannot be compared.
    pub ratio: Option<f64>,
    /// Its interval, as for the benchmark.
    pub interval: Option<[f64; 2]>,
    /// p value; null where nothing is concluded.
    pub p: Option<f64>,
    /// The same, adjusted over all that is compared: benchmarks and copies.
    pub p_adjusted: Option<f64>,
    pub verdict: Verdict,
}
