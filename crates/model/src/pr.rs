//! Two revisions of a repository, compared by its own benchmarks: the type of `gritstone pr --format json`.

use crate::names::names;
use crate::{Better, CheckOutcome, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`PrView`].
pub const SCHEMA_PR: &str = "gritstone/pr/1";

/// Base and head, whose launches were interleaved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrView {
    /// [`SCHEMA_PR`].
    pub schema: String,
    pub base: PrSide,
    pub head: PrSide,
    /// The harness that was executed.
    pub harness: String,
    pub quantity: PrQuantity,
    /// Means of counting, if a count is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<PrCounter>,
    /// The executed command, without the harness's own options.
    pub command: Vec<String>,
    /// Allowed slowdown of benchmarks without a margin: 0.02 is 2%.
    pub max_slowdown: f64,
    /// Probability of a false regression over all benchmarks, and accepted share of false positives among the verdicts.
    pub level: f64,
    /// Whether a command built each side.
    #[serde(default)]
    pub built: bool,
    /// Builds of each side that differ by the layout of their code; if there are several, they are the units of the test.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub layouts: usize,
    /// Launches of each side.
    pub rounds: usize,
    /// Measuring time of a benchmark in each launch.
    pub harness_time_s: f64,
    pub elapsed_s: f64,
    /// Time limit of measuring.
    pub budget_s: f64,
    pub outcome: CheckOutcome,
    /// Why base and head were not compared, or not to the end: one of them does not build or measures nothing, they print different
    /// output, or the user interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The executable files of both builds are identical byte for byte, so that nothing was measured.
    pub identical: bool,
    /// One for each benchmark of both sides: regressions first, then by verdict.
    pub rows: Vec<PrRow>,
    /// Benchmarks of only one side.
    pub unmatched: Vec<PrUnmatched>,
    /// Benchmarks that no side measures, and those that the first launches did not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_value: Vec<PrWithoutValue>,
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_one(layouts: &usize) -> bool {
    *layouts == 1
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrSide {
    /// Name given by the user, or how it was found.
    pub revision: String,
    pub commit: String,
    /// Whether it includes uncommitted changes.
    pub modified: bool,
    /// First failure of its harness, although other benchmarks or launches have values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl PrSide {
    /// A commit whose harness did not fail.
    pub fn new(revision: &str, commit: &str) -> Self {
        Self {
            revision: revision.to_owned(),
            commit: commit.to_owned(),
            modified: false,
            failure: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrRow {
    /// Harness and benchmark: `google-benchmark/sum/8`.
    pub id: String,
    /// The harness's name of the benchmark.
    pub name: String,
    pub unit: String,
    pub better: Better,
    pub verdict: Verdict,
    /// Slower by more than its margin, with the error controlled over all benchmarks.
    pub regressed: bool,
    /// Allowed slowdown.
    pub margin: f64,
    /// Speed of the head as a multiple of the base's.
    pub ratio: Option<f64>,
    /// 99% interval of the ratio over all interim analyses.
    pub interval: Option<[f64; 2]>,
    /// p adjusted for interim analyses and for the number of benchmarks.
    pub p_adjusted: Option<f64>,
    /// Minimum detectable effect: the slowdown that would have been a regression in 95 of 100 trials like this one.
    pub smallest: Option<f64>,
    pub pairs: usize,
    /// Largest difference between counts of one side, as a share; null for times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Launches without a value.
    pub failed: usize,
    /// Median over launches.
    pub base: Option<f64>,
    /// Median over launches.
    pub head: Option<f64>,
}

impl PrRow {
    /// Whether the counts of each side are so close that no test was needed.
    pub fn is_exact(&self) -> bool {
        self.spread.is_some() && self.p_adjusted.is_none() && self.interval.is_some()
    }

    /// Slower by an estimate beyond its margin, without enough evidence over all benchmarks.
    pub fn is_uncertain(&self) -> bool {
        let beyond = self.ratio.is_some_and(|ratio| ratio < 1.0 / (1.0 + self.margin));
        self.verdict == Verdict::Slower && beyond && !self.regressed
    }
}

/// Compared quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PrQuantity {
    #[default]
    Time,
    Instructions,
}

/// Means of counting instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrCounter {
    /// The counter of the processor, in user mode.
    PerfEvent,
    Valgrind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrUnmatched {
    pub name: String,
    /// The side that has it.
    pub only: PrSideName,
    /// Reason for which the other has no value, if its harness gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A benchmark that neither side measures, or that the first launches did not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrWithoutValue {
    pub name: String,
    /// The side that has the benchmark; null: both.
    pub only: Option<PrSideName>,
    pub why: String,
}

names! {
    #[derive(JsonSchema)]
    pub enum PrSideName {
        Base = "base",
        Head = "head",
    }
}
