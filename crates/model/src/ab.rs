//! Results of a trial: the type of `gritstone ab --format json`.

use crate::{Better, Compiled, Counts, Explanation, Id, Note, Unit, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`AbView`].
pub const SCHEMA_AB: &str = "gritstone/ab/3";

/// Sides whose launches were interleaved, benchmark by benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbView {
    /// [`SCHEMA_AB`].
    pub schema: String,
    /// Identifier of the A/B test.
    pub trial: String,
    /// Display name of the system.
    pub machine: String,
    /// The sides; of two, the first is the base.
    pub sides: Vec<AbSide>,
    /// Whether both sides are known to be the same.
    pub same: bool,
    /// Ratio within which two sides count as the same: 0.01 is 1%.
    pub margin: f64,
    /// Accepted share of false positives.
    pub level: f64,
    /// Builds of each side with different code layouts, which are the units of the test; absent for one build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layouts: Option<usize>,
    /// One for each benchmark or command that was measured on all sides.
    pub rows: Vec<AbRow>,
    /// Start-up overhead of a process, ns; null when only benchmarks of the catalog were measured.
    pub start_up_ns: Option<f64>,
}

impl AbView {
    /// True if something was measured.
    pub fn has_estimate(&self) -> bool {
        let mut figures = self.rows.iter().flat_map(|row| &row.figures);
        figures.any(|figure| figure.estimate.is_some())
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbSide {
    /// `a`, `b` and so on.
    pub side: String,
    /// The run with its launches.
    pub run: String,
    /// The label of that run.
    pub label: Option<String>,
    pub what: String,
    /// Compiled programs; null without a compiler.
    pub compiled: Option<Compiled>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbRow {
    pub id: Id,
    pub title: String,
    pub unit: Unit,
    #[serde(default)]
    pub better: Better,
    /// Overrides the margin of the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// One for each side.
    pub figures: Vec<AbFigure>,
    /// Of two sides, the second against the first; of more, all against the best, nearest first.
    pub comparisons: Vec<AbComparison>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The result of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbFigure {
    /// `a`, `b` and so on.
    pub side: String,
    /// Null when there is none.
    pub estimate: Option<f64>,
    /// 95% CI of this result alone; null with too few launches.
    pub interval: Option<[f64; 2]>,
    pub range: Option<[f64; 2]>,
    pub launches: usize,
    pub samples: usize,
    /// User time of one operation, s; null below 100 ticks of work.
    pub user_s: Option<f64>,
    /// System time of one operation, s; null below 100 ticks of work.
    pub system_s: Option<f64>,
    /// Both together, s; more accurate than either.
    pub cpu_s: Option<f64>,
    /// Largest peak memory of a process, KiB; null for benchmarks of the catalog.
    pub peak_kb: Option<u64>,
    /// Counts per operation: median over launches.
    #[serde(default, skip_serializing_if = "Counts::is_empty")]
    pub counters: Counts<f64>,
    /// Accepted exit statuses other than 0; negative for a signal.
    pub statuses: Vec<i32>,
    /// Failed executions, which have no time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// Whether the estimate is only an upper bound: the start-up time of the shell hides shorter commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    pub notes: Vec<Note>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbComparison {
    /// The side in the denominator.
    pub base: String,
    /// The side in the numerator.
    pub other: String,
    /// Number of compared pairs.
    pub pairs: usize,
    /// Launches of the base, and of the other, with a busy SMT sibling.
    #[serde(rename = "crowded")]
    pub contended: [usize; 2],
    /// Whether these differ by more than chance (p below 0.01): then no pair is dropped, and means are compared.
    #[serde(rename = "crowded_differ")]
    pub contention_differs: bool,
    /// Dropped pairs with such a launch.
    pub left_out: usize,
    /// Above 1: the other is better. Null without a pair, or if a side is too short to be measured.
    pub ratio: Option<f64>,
    /// Its interval, simultaneous over all interim analyses; null before the first.
    pub interval: Option<[f64; 2]>,
    /// p value, adjusted for the interim analyses.
    pub p: Option<f64>,
    /// The same, adjusted for the number of comparisons.
    pub p_adjusted: Option<f64>,
    pub verdict: Verdict,
    /// Minimum detectable effect of this number of pairs (power 95%), as a share.
    pub smallest: Option<f64>,
    /// Explanation by the counters; null without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    #[serde(default)]
    pub notes: Vec<Note>,
}
