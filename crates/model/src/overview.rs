//! Lists and pages of `gritstone serve`, as JSON.

use crate::{Difference, HistoryChange, Id, Machine, Reliability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`RunList`].
pub const SCHEMA_RUNS: &str = "gritstone/runs/1";
/// Name and version of the schema of [`OverviewView`].
pub const SCHEMA_OVERVIEW: &str = "gritstone/overview/1";
/// Name and version of the schema of [`SystemView`].
pub const SCHEMA_SYSTEM: &str = "gritstone/system/1";
/// Name and version of the schema of [`SearchView`].
pub const SCHEMA_SEARCH: &str = "gritstone/search/1";
/// Name and version of the schema of [`BenchmarksView`].
pub const SCHEMA_BENCHMARKS: &str = "gritstone/benchmarks/1";
/// Name and version of the schema of [`ChangesView`].
pub const SCHEMA_CHANGES: &str = "gritstone/changes/2";

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
    /// Elapsed time, s; null for an interrupted run.
    pub elapsed_s: Option<f64>,
    /// Display name of the measured system.
    pub machine: String,
    /// Identifier of the measured system.
    pub machine_id: String,
    /// Command that made it: `run`, `ab`, `noise` or `import`.
    pub kind: String,
    /// Benchmarks that it measured or tried to.
    pub benchmarks: u64,
    /// When its raw samples were pruned, RFC 3339, UTC; absent where it has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned: Option<String>,
}

/// A system with runs in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedSystem {
    pub id: String,
    pub name: String,
    /// Operating system and version, in its newest run.
    pub system: String,
    /// How many runs it has.
    pub runs: usize,
    pub newest: String,
    /// Start of that run, RFC 3339.
    pub started: String,
    /// Reliability of that run; null while it is not known.
    pub reliability: Option<Reliability>,
}

/// A change of level of a benchmark on a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    pub benchmark: Id,
    pub title: String,
    pub machine: String,
    /// Display name of the system.
    pub name: String,
    /// Linux release under which it changed.
    pub kernel: String,
    /// The last run of the level before; null where it is no longer among the newest.
    pub before: Option<String>,
    /// Changes with their dates.
    #[serde(flatten)]
    pub change: HistoryChange,
}

/// That a change is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acknowledged {
    /// By whom: a user of the machine of the store, or the name of a token.
    pub who: String,
    /// When, RFC 3339.
    pub at: String,
    pub note: String,
}

/// The commits between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitRange {
    /// Of the last run before.
    pub good: String,
    /// Of the first run after.
    pub bad: String,
    /// The page that shows them; null without a repository on the web.
    pub link: Option<String>,
}

/// Changes in one direction that begin with the same run of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeEvent {
    /// Identifier: that of a run which may have begun it, and `-worse` or `-better`. What is known in the store by an identifier keeps it.
    pub id: String,
    /// The first run of the new levels.
    pub run: String,
    /// Its start, RFC 3339.
    pub started: String,
    pub machine: String,
    /// Display name of the system.
    pub name: String,
    /// Whether the new levels are worse.
    pub worse: bool,
    /// Runs that may have begun it, in the order of time, by all of its benchmarks.
    #[serde(default)]
    pub may_begin: Vec<String>,
    /// The last run of the levels before; null where it is no longer among the newest.
    pub before: Option<String>,
    /// Facts of the system that differ between these two runs.
    pub differ_in: Vec<Difference>,
    /// Commits of these two runs; absent where they are not known, or the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<CommitRange>,
    /// Acknowledgment; null without one.
    pub acknowledged: Option<Acknowledged>,
    /// One for each benchmark.
    pub changes: Vec<Change>,
}

/// Changes, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesView {
    /// [`SCHEMA_CHANGES`].
    pub schema: String,
    pub events: Vec<ChangeEvent>,
}

/// A store at a glance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverviewView {
    /// [`SCHEMA_OVERVIEW`].
    pub schema: String,
    /// How many runs are stored.
    pub stored: usize,
    /// Changes, newest first; null while computed.
    pub events: Option<Vec<ChangeEvent>>,
    /// The newest runs, newest first.
    pub runs: Vec<ListedRun>,
    /// The systems, that with the newest run first.
    pub systems: Vec<ListedSystem>,
}

/// A fact of a system that is another since a run.
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

/// A system over its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemView {
    /// [`SCHEMA_SYSTEM`].
    pub schema: String,
    /// The system as its newest run has it.
    pub machine: Machine,
    /// Facts that changed, newest first.
    pub changes: Vec<FactChange>,
    /// Newest runs that were searched.
    pub examined: usize,
    /// Its runs, newest first.
    pub runs: Vec<ListedRun>,
}

/// A benchmark that was searched for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundBenchmark {
    pub id: Id,
    pub title: String,
}

impl FoundBenchmark {
    /// Whether a text is its id, or its id without family or variant, in letters of any size.
    #[must_use]
    pub fn is_named(&self, text: &str) -> bool {
        let stem = self.id.stem();
        let name = stem.split_once('/').map_or(stem, |(_, name)| name);
        let mut names = [self.id.as_str(), stem, name].into_iter();
        names.any(|name| name.eq_ignore_ascii_case(text.trim()))
    }
}

/// The benchmarks that a server has pages of.
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
    /// Runs, newest first: those of which id, label, date, system, facts of the system or compilers have the words.
    pub runs: Vec<ListedRun>,
    /// How many runs there are, those that are not listed included.
    pub found: usize,
}
