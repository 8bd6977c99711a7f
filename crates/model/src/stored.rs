//! Contents of a store, as JSON: lists of runs, systems and benchmarks, and the pages of `gritstone serve` for them.

use crate::{ChangeEvent, Contention, Id, Machine, Reliability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`RunList`].
pub const SCHEMA_RUNS: &str = "gritstone/runs/1";
/// Name and version of the schema of [`OverviewView`].
pub const SCHEMA_OVERVIEW: &str = "gritstone/overview/2";
/// Name and version of the schema of [`SystemView`].
pub const SCHEMA_SYSTEM: &str = "gritstone/system/1";
/// Name and version of the schema of [`SearchView`].
pub const SCHEMA_SEARCH: &str = "gritstone/search/1";
/// Name and version of the schema of [`BenchmarksView`].
pub const SCHEMA_BENCHMARKS: &str = "gritstone/benchmarks/1";

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
    /// Reliability of that run; null while unknown.
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
    /// The newest runs, newest first.
    pub runs: Vec<ListedRun>,
    /// The systems; the one with the newest run first.
    pub systems: Vec<ListedSystem>,
}

/// A changed fact of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FactChange {
    pub fact: String,
    /// Old value; null if not recorded.
    pub before: Option<String>,
    /// New value; null if not recorded.
    pub after: Option<String>,
    /// The first run with it.
    pub run: String,
    /// Start of that run, RFC 3339.
    pub started: String,
}

/// A system and its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemView {
    /// [`SCHEMA_SYSTEM`].
    pub schema: String,
    /// The system as of its newest run.
    pub machine: Machine,
    /// Facts that changed, newest first.
    pub changes: Vec<FactChange>,
    /// Number of newest runs that were searched.
    pub examined: usize,
    /// Its runs, newest first.
    pub runs: Vec<ListedRun>,
}

/// A benchmark that matches a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundBenchmark {
    pub id: Id,
    pub title: String,
}

impl FoundBenchmark {
    /// Whether a text is its id, or its id without family or variant, ignoring case.
    pub fn is_named(&self, text: &str) -> bool {
        let stem = self.id.stem();
        let name = stem.split_once('/').map_or(stem, |(_, name)| name);
        let mut names = [self.id.as_str(), stem, name].into_iter();
        names.any(|name| name.eq_ignore_ascii_case(text.trim()))
    }
}

/// The benchmarks with a page on a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarksView {
    /// [`SCHEMA_BENCHMARKS`].
    pub schema: String,
    /// In the order of the catalog.
    pub benchmarks: Vec<FoundBenchmark>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchView {
    /// [`SCHEMA_SEARCH`].
    pub schema: String,
    pub query: String,
    pub benchmarks: Vec<FoundBenchmark>,
    pub systems: Vec<ListedSystem>,
    /// Runs with the words in id, label, date, system, facts of the system or compilers, newest first.
    pub runs: Vec<ListedRun>,
    /// Total number of matching runs.
    pub found: usize,
}
