//! Contents of a store, as JSON: lists of runs and systems, and their overview.

use crate::{ChangeEvent, Contention, Reliability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`RunList`].
pub const SCHEMA_RUNS: &str = "gritstone/runs/1";
/// Name and version of the schema of [`OverviewView`].
pub const SCHEMA_OVERVIEW: &str = "gritstone/overview/2";

/// Output of `runs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunList {
    /// [`SCHEMA_RUNS`].
    pub schema: String,
    /// Newest first.
    pub runs: Vec<ListedRun>,
}

/// One line of `runs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedRun {
    pub id: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// Start, RFC 3339.
    pub started: String,
    /// Elapsed time, s; null for a run that has not ended.
    pub elapsed_s: Option<f64>,
    /// Whether a process is measuring it; absent after its end, and where this is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measuring: Option<bool>,
    /// Display name of the measured system.
    pub machine: String,
    /// Identifier of the measured system.
    pub machine_id: String,
    /// Command that made it: `run`, `ab`, `noise` or `import`.
    pub kind: String,
    /// Number of its benchmarks.
    pub benchmarks: u64,
    /// When its raw samples were pruned, RFC 3339, UTC; absent if it has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<String>,
}

/// A system with runs in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedSystem {
    pub id: String,
    pub name: String,
    /// Operating system and version of its newest run.
    pub system: String,
    /// Number of its runs.
    pub runs: usize,
    pub newest: String,
    /// Start of that run, RFC 3339.
    pub started: String,
    /// Reliability of its newest ended run, sides of trials excluded; null while unknown.
    pub reliability: Option<Reliability>,
    /// Contention during that run; null if unknown.
    #[serde(default)]
    pub contention: Option<Contention>,
}

/// Trends of the families of benchmarks on a system over its newest runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemTrend {
    pub machine: String,
    /// Display name of the system.
    pub name: String,
    pub families: Vec<FamilyTrend>,
}

/// A family of benchmarks over the newest runs of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FamilyTrend {
    pub family: String,
    pub benchmarks: usize,
    /// Benchmarks with a change of level in these runs.
    pub changed: usize,
    /// Speed after over speed before these changes: geometric mean over all benchmarks, 1 without a change.
    pub ratio: f64,
    /// Speed of each run, oldest first: geometric mean over benchmarks, each relative to its median.
    pub speeds: Vec<f64>,
}

/// The days before the newest run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recent {
    pub days: u32,
    /// RFC 3339, UTC; empty without runs.
    pub since: String,
}

/// Overview of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverviewView {
    /// [`SCHEMA_OVERVIEW`].
    pub schema: String,
    /// Number of stored runs.
    pub stored: usize,
    /// The days that count as recent.
    pub recent: Recent,
    /// Changes, newest first; null while computed.
    pub events: Option<Vec<ChangeEvent>>,
    /// The system with the newest run first; empty while computed.
    pub trends: Vec<SystemTrend>,
    /// The newest runs but sides of trials, newest first.
    pub runs: Vec<ListedRun>,
    /// The systems; the one with the newest run first.
    pub systems: Vec<ListedSystem>,
}
