//! A history and a gate: the shapes of `--format json`.

use crate::names::names;
use crate::{Better, CommonChange, CompareRow, Difference, Id, Note, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the schema of [`HistoryView`].
pub const SCHEMA_HISTORY: &str = "gritstone/history/3";
/// Name and version of the schema of [`CheckView`].
pub const SCHEMA_CHECK: &str = "gritstone/check/3";

/// One benchmark over many runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryView {
    /// [`SCHEMA_HISTORY`].
    pub schema: String,
    pub id: Id,
    pub title: String,
    pub unit: Unit,
    pub better: Better,
    /// One for each system, version of the benchmark, directory, tuning and set of parameters; the one with the newest run last.
    pub series: Vec<HistorySeries>,
}

/// Runs that are comparable with each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistorySeries {
    /// Short name of the system.
    pub machine: String,
    pub name: String,
    /// Of the newest run.
    pub kernel: String,
    /// Compiler and flags of the program of the newest run.
    pub compiler: String,
    pub version: u32,
    /// Of the estimates.
    pub unit: Unit,
    /// Directory in which files were measured.
    #[serde(default)]
    pub dir: String,
    /// Settings that `--tune` held.
    #[serde(default, rename = "steady", skip_serializing_if = "Vec::is_empty")]
    pub tuned: Vec<String>,
    /// Parameters of workloads that override those of their catalog entries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Oldest first.
    pub points: Vec<HistoryPoint>,
    pub changes: Vec<HistoryChange>,
    /// Where the kernel, the compiler or Gritstone changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<HistoryMark>,
}

impl HistorySeries {
    /// Number of runs that are compared.
    pub fn compared(&self) -> usize {
        let points = self.points.iter();
        points.filter(|point| point.value.is_some()).count()
    }
}

/// A run whose kernel, compiler or version of Gritstone differs from that of the run before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryMark {
    /// Position of the run among the points, from 0.
    pub at: usize,
    pub differ_in: Vec<Difference>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryPoint {
    pub run: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// Start, RFC 3339.
    pub started: String,
    /// The measured commit; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    pub estimate: Option<f64>,
    pub interval: Option<[f64; 2]>,
    /// The value that is compared; null when a flag excludes it, or there is no result.
    pub value: Option<f64>,
    pub notes: Vec<Note>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryChange {
    /// The first run of the new level.
    pub run: String,
    /// Its start, RFC 3339.
    pub started: String,
    /// Position of that run among the points, from 0.
    pub at: usize,
    /// Level after over level before, above 1 when it became better.
    pub ratio: f64,
    pub interval: Option<[f64; 2]>,
    /// Positions of the first and the last run that may have begun it.
    pub between: [usize; 2],
    /// Runs of the new level.
    pub runs: usize,
    /// It came little by little, alone or with its neighbors of the same direction: a straight line explains the runs better than a
    /// step.
    #[serde(default)]
    pub drift: bool,
}

/// A run that the gate checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckView {
    /// [`SCHEMA_CHECK`].
    pub schema: String,
    pub base: String,
    pub run: String,
    /// The slowdown that is still allowed: 0.02 is 2%.
    pub max_slowdown: f64,
    /// The slowdown that each benchmark was required to detect (`--detect`); none by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detect: Option<f64>,
    pub differ_in: Vec<Difference>,
    /// The slowdown of nearly all benchmarks against a single run: of the program or of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common: Option<CommonChange>,
    /// Regressed where a benchmark is; else inconclusive where one is missing, none passed, or nearly all are slower; with `detect` also where one
    /// is inconclusive.
    pub outcome: CheckOutcome,
    /// One for each benchmark, the worst first.
    pub rows: Vec<CheckRow>,
    /// Benchmarks without a result in the run, which other runs of the same selection measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingBenchmark>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissingBenchmark {
    pub id: Id,
    /// Runs of the same selection that measured it.
    pub runs: usize,
    /// Why the run has no result; empty where it does not list the benchmark.
    pub notes: Vec<Note>,
}

/// One benchmark of the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRow {
    pub outcome: CheckOutcome,
    /// Start of the first regressed run, RFC 3339; null otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The first regressed run; null otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_run: Option<String>,
    /// Its commit; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_commit: Option<String>,
    /// The comparison that it rests on.
    #[serde(flatten)]
    pub row: CompareRow,
}

impl CheckRow {
    pub fn new(outcome: CheckOutcome, row: CompareRow) -> Self {
        Self { outcome, since: None, since_run: None, since_commit: None, row }
    }
}

names! {
    /// A fact that may change between the runs of a machine, and that `--same` holds.
    #[derive(PartialOrd, Ord)]
    pub enum SameFact {
        /// Release of the kernel.
        Kernel = "kernel",
        /// Compiler of each benchmark, with its flags.
        Compiler = "compiler",
        Microcode = "microcode",
        Mitigations = "mitigations",
        Libc = "libc",
        /// File system of the directory of file benchmarks.
        FileSystem = "file-system",
        /// Version of Gritstone.
        Gritstone = "gritstone",
    }
}

names! {
    #[derive(PartialOrd, Ord, Hash, JsonSchema)]
    pub enum CheckOutcome {
        /// The slowdown is below the allowed one.
        Passed = "passed",
        /// It may be above or below.
        Inconclusive = "inconclusive",
        /// The slowdown is above the allowed one.
        Regressed = "regressed",
    }
}
