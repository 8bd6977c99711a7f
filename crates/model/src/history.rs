//! What one figure over many runs, and a run held against a gate, look like to a reader: the shape of `--format json`.

use crate::{Better, CompareRow, Difference, Id, Note, Subject, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the schema of [`HistoryView`].
pub const SCHEMA_HISTORY: &str = "gritstone/history/2";
/// Name and version of the schema of [`CheckView`].
pub const SCHEMA_CHECK: &str = "gritstone/check/2";

/// One benchmark over many runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryView {
    /// [`SCHEMA_HISTORY`].
    pub schema: String,
    /// Which benchmark.
    pub id: Id,
    /// Heading of its row.
    pub title: String,
    /// Unit of the estimates.
    pub unit: Unit,
    /// Which way is good.
    pub better: Better,
    /// One for each machine, kernel of the system, compiler, version of the benchmark, directory, steadying and set of parameters; the one
    /// with the newest run last.
    pub series: Vec<HistorySeries>,
}

/// Runs that may be held against each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistorySeries {
    /// Short name of the machine.
    pub machine: String,
    /// What a person calls it.
    pub name: String,
    /// Release of the kernel of the system.
    pub kernel: String,
    /// Compiler and flags of the program.
    pub compiler: String,
    /// Version of the benchmark.
    pub version: u32,
    /// Directory in which files were measured.
    #[serde(default)]
    pub dir: String,
    /// What was steadied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady: Vec<String>,
    /// Parameters of kernels that were given in place of their entries' own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// In what changes are looked for: the estimate, or cycles for rows that the processor bounds.
    pub compared: Subject,
    /// Oldest first.
    pub points: Vec<HistoryPoint>,
    /// Where the figure changed.
    pub changes: Vec<HistoryChange>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryPoint {
    /// Which run.
    pub run: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// Start, RFC 3339.
    pub started: String,
    /// The figure.
    pub estimate: Option<f64>,
    /// Its interval.
    pub interval: Option<[f64; 2]>,
    /// What is compared, where it counts; null where a flag forbids it, or there is no figure.
    pub value: Option<f64>,
    /// What did not hold.
    pub notes: Vec<Note>,
}

/// A change of level, which an interleaved comparison may confirm.
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
    /// Its interval.
    pub interval: Option<[f64; 2]>,
    /// Fewer than ten runs show it, each beyond four robust standard deviations of those before.
    #[serde(default)]
    pub suspected: bool,
}

/// A run held against a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckView {
    /// [`SCHEMA_CHECK`].
    pub schema: String,
    /// What it is held against.
    pub base: String,
    /// The run.
    pub run: String,
    /// The slowdown that is still allowed: 0.02 is 2%.
    pub max_slowdown: f64,
    /// What is not the same on both sides.
    pub differ_in: Vec<Difference>,
    /// What came out: the worst of the rows.
    pub outcome: CheckOutcome,
    /// One for each benchmark, the worst first.
    pub rows: Vec<CheckRow>,
}

/// One row of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRow {
    /// What came out.
    pub outcome: CheckOutcome,
    /// Start of the run since which it is regressed, RFC 3339; null where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The comparison that it rests on.
    #[serde(flatten)]
    pub row: CompareRow,
}

/// What a gate says.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum CheckOutcome {
    /// The slowdown is surely below what is allowed.
    Passed,
    /// It may be above and may be below.
    Inconclusive,
    /// It is surely above.
    Regressed,
}

impl CheckOutcome {
    /// In words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Inconclusive => "inconclusive",
            Self::Regressed => "regressed",
        }
    }
}
