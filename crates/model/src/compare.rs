//! What a comparison looks like to a reader: the shape of `--format json`.

use crate::{Explanation, Flag, Id, Note, Subject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`CompareView`].
pub const SCHEMA_COMPARE: &str = "gritstone/compare/2";

/// What a comparison of one row says.
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
    /// In words.
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

/// In what two sides of a comparison differ: machine, kernel, compiler, settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Name of the fact.
    pub what: String,
    /// Its value on the base.
    pub base: String,
    /// Its value on the other.
    pub other: String,
}

/// One run or machine against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareView {
    /// [`SCHEMA_COMPARE`].
    pub schema: String,
    /// Name of the base.
    pub base: String,
    /// Name of the other.
    pub other: String,
    /// A name of each for people: machine and system.
    pub base_name: String,
    /// A name of each for people: machine and system.
    pub other_name: String,
    /// What is not the same on both sides.
    pub differ_in: Vec<Difference>,
    /// Ratio within which two figures count as the same: 0.01 is 1%.
    pub margin: f64,
    /// Where the variance between runs was taken from that the intervals have in them; null when no launches were compared with
    /// launches.
    #[serde(default)]
    pub between_run: Option<VarianceSource>,
    /// What moved all benchmarks of a class alike; empty where fewer than three earlier runs say what runs differ by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<CompareShift>,
    /// What the rows come to by family, those with differences first; where there are several families, the last is over all rows.
    #[serde(default)]
    pub sums: Vec<CompareSum>,
    /// One for each benchmark that either side has, what matters first: differences by their size, what cannot be told, what is the same,
    /// what has no ratio, and what a side has no figure of.
    pub rows: Vec<CompareRow>,
}

/// The common shift of one run against another, of benchmarks of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareShift {
    /// Times or core cycles.
    pub compared: Subject,
    /// Whether it is of the benchmarks that the processor bounds, or of the others.
    pub processor_bound: bool,
    /// The percentile beyond the median that it is of; absent where it is of results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<String>,
    /// How many benchmarks it is the median of.
    pub rows: usize,
    /// Above 1 where the other run is better.
    pub ratio: f64,
    /// Its interval at 95%, with the variance of such shifts between earlier runs.
    pub interval: [f64; 2],
    /// Of no shift.
    pub p: f64,
    /// Whether it is more than runs of the system differ by (p below 0.2%). If not, it is taken out of the ratios of the rows.
    pub different: bool,
}

/// Where the variance between runs was taken from, over the rows of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VarianceSource {
    /// Rows that were compared with it.
    pub rows: usize,
    /// Those of them with the default.
    pub default: usize,
    /// Fewest and most runs that it was learned from, of the others; null where there are none.
    pub runs: Option<[usize; 2]>,
    /// Default standard deviation of the logarithm, of core cycles.
    pub default_cycles: f64,
    /// The same of times.
    pub default_times: f64,
}

/// Standard deviation of ln(estimate) between runs of a benchmark: of what all benchmarks of a run share only where that is not known apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowVariance {
    /// Of core cycles; null where these are not an alternative.
    pub cycles: Option<f64>,
    /// Of the estimate.
    pub estimate: f64,
    /// Runs that it was learned from; 0 where it is what is stated.
    pub runs: usize,
}

/// Rows of a comparison in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareSum {
    /// First part of their identifiers; null where it is over all rows.
    pub family: Option<String>,
    /// How many there are.
    pub rows: usize,
    /// Those that are better on the other side.
    pub faster: usize,
    /// Those that are worse.
    pub slower: usize,
    /// Those without a difference beyond the margin.
    pub same: usize,
    /// Those with a ratio that tells nothing.
    pub inconclusive: usize,
    /// Those without a ratio.
    pub without_ratio: usize,
    /// Geometric mean of the ratios, above 1 when the other side is better; null where none counts.
    pub mean: Option<f64>,
    /// Geometric means of the ends of their intervals, which is what holds when all rows err together; null where a row has none.
    pub interval: Option<[f64; 2]>,
    /// Rows in the mean: no sizes and no ratings, none in doubt, and of two runs none that was disturbed.
    pub of: usize,
}

/// One row of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareRow {
    /// Which benchmark.
    pub id: Id,
    /// Heading of its row.
    pub title: String,
    /// Above 1: the other is better, whatever the unit. Null where they cannot be compared.
    pub ratio: Option<f64>,
    /// Its interval, adjusted for the machine's variance between runs; null when there is none.
    pub interval: Option<[f64; 2]>,
    /// What it says; null without a ratio.
    pub verdict: Option<Verdict>,
    /// p value before and after holding the false-discovery rate over the rows.
    #[serde(default)]
    pub p: Option<f64>,
    /// Benjamini-Hochberg adjusted p.
    #[serde(default)]
    pub p_adjusted: Option<f64>,
    /// Where it cannot be told, the smallest change that such runs would have shown 95 times in 100, as a share; null elsewhere, and where
    /// they would have shown none: a side was disturbed, or the launches are too few for so many rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<f64>,
    /// What the counters say of it; null where they say nothing, and where neither is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// What was compared: the estimate, the cycles, or a time of the reference workload.
    pub compared: Subject,
    /// What runs of this benchmark differ by, by which cycles or times were chosen; null where no launches were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_run: Option<RowVariance>,
    /// Unit of `base` and `other`.
    pub unit: String,
    /// The figure of the base.
    pub base: Option<f64>,
    /// The figure of the other.
    pub other: Option<f64>,
    /// Notes of both sides, and why the row cannot be compared.
    pub notes: Vec<Note>,
    /// Several copies of it, one for each number that either side has; empty where a side has none at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CompareCopies>,
    /// Percentiles that both sides have, of operations that were timed one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<ComparePercentile>,
}

impl CompareRow {
    /// Whether the work behind what was compared is in doubt: such a row is shown, but nothing is concluded from it. A doubt about
    /// another figure of the row, such as its process time, does not count.
    #[must_use]
    pub fn in_doubt(&self) -> bool {
        let doubts = [Some(Flag::Invalid), Some(Flag::NotComparable)];
        self.notes.iter().any(|note| {
            let concerns = note.about == Subject::Estimate || note.about.concerns(self.compared);
            doubts.contains(&note.flag()) && concerns
        })
    }
}

/// So many copies at once, compared as the clock had them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareCopies {
    /// How many.
    pub copies: u32,
    /// Unit of `total`, that of the base.
    pub unit: String,
    /// What they do together.
    pub total: CompareFigure,
    /// That over so many times what one does.
    pub efficiency: CompareFigure,
    /// Notes of both sides.
    pub notes: Vec<Note>,
}

/// A percentile of the operations of a row, in the unit of the row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparePercentile {
    /// `p50`, `p90`, `p99` or `p99.9`.
    pub name: String,
    /// What comes of it. The false-discovery rate is held over all percentiles of the comparison beyond the median, whose p is that of
    /// the row.
    #[serde(flatten)]
    pub figure: CompareFigure,
}

/// One figure of one side against that of the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareFigure {
    /// The figure of the base.
    pub base: Option<f64>,
    /// The figure of the other.
    pub other: Option<f64>,
    /// Above 1: the other is better. Null where they cannot be compared.
    pub ratio: Option<f64>,
    /// Its interval, as of the row.
    pub interval: Option<[f64; 2]>,
    /// p value; null where nothing is concluded.
    pub p: Option<f64>,
    /// The same, adjusted over all that is compared, rows and copies.
    pub p_adjusted: Option<f64>,
    /// What it says.
    pub verdict: Verdict,
}
