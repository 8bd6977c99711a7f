//! A fleet report: the type of `gritstone fleet report --format json`.

use crate::{Better, Id, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the schema of [`FleetView`].
pub const SCHEMA_FLEET: &str = "gritstone/fleet/1";

/// Node and fleet of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetMember {
    /// Identifier of the fleet run; all its nodes have the same.
    pub fleet: String,
    pub node: String,
    /// Rack, partition, ... of the node, by the plan of the fleet.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub place: BTreeMap<String, String>,
    /// Number of nodes of the fleet run; null if unknown to its nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
}

/// Progress of a fleet run without all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetProgress {
    /// Identifier of the fleet run.
    pub fleet: String,
    /// Number of its nodes.
    pub of: usize,
    /// Whether its measurement has ended, as far as known.
    pub ended: bool,
    /// Known nodes: all if the plan is here.
    pub nodes: Vec<FleetNodeProgress>,
}

/// Progress of a node of a fleet run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetNodeProgress {
    pub node: String,
    pub state: FleetNodeState,
    /// Its run, if it has one.
    pub run: Option<String>,
    pub why: Option<String>,
}

impl FleetNodeProgress {
    /// Whether it has no complete run.
    pub fn is_missing(&self) -> bool {
        self.state != FleetNodeState::Done
    }
}

/// State of a node of a fleet run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FleetNodeState {
    Failed,
    Measuring,
    Missing,
    Done,
}

/// The nodes of a fleet compared with each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetView {
    /// [`SCHEMA_FLEET`].
    pub schema: String,
    /// Identifier of the fleet run, or the words that named its runs.
    pub fleet: String,
    /// Start of the first run, RFC 3339.
    pub started: String,
    /// Start of the last one.
    pub last: String,
    /// False discovery rate of each level of `outliers`.
    pub level: f64,
    /// Difference within which a node is like the others: 0.01 is 1%.
    pub margin: f64,
    /// Wrong check values, first: a wrong result is worse than a slow one.
    pub wrong: Vec<FleetWrong>,
    /// Differences from the other nodes, the largest effect of the slowest node first.
    pub outliers: Vec<FleetOutlier>,
    /// Facts that slow nodes have more often than the others.
    pub common: Vec<FleetCommon>,
    /// Facts that divide the fleet into groups, one of which differs from the other nodes; the most significant first.
    pub groups: Vec<FleetDivision>,
    /// Changes of the whole fleet since earlier fleet runs.
    pub drifts: Vec<FleetDrift>,
    /// Examined earlier fleet runs of these nodes.
    pub earlier: usize,
    /// Kinds of nodes: only nodes of one kind are compared with each other.
    pub kinds: Vec<FleetKind>,
    /// Distribution over nodes of the common effect on all benchmarks of a node; null with few benchmarks.
    pub overall: Option<FleetSpread>,
    /// The same of each family.
    pub families: Vec<FleetFamily>,
    /// Distribution over nodes of each benchmark.
    pub benchmarks: Vec<FleetBenchmark>,
    pub nodes: Vec<FleetNode>,
}

/// Nodes that are comparable with each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetKind {
    pub model: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Whether there are enough for a comparison.
    pub compared: bool,
}

/// A wrong check value, or one that other nodes do not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetWrong {
    pub node: String,
    pub run: String,
    pub id: Id,
    /// Requested operations: the input of the workload.
    pub n: u64,
    /// CPU that computed it; null if the launch had several.
    pub cpu: Option<u32>,
    pub got: u64,
    pub right: u64,
    pub by: FleetProof,
}

/// Evidence of a wrong check value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FleetProof {
    /// The closed form or the independent computation of the workload itself.
    Workload,
    /// This many other nodes, which all agree.
    Nodes(usize),
}

/// Scope of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FleetScope {
    /// All benchmarks, by their median.
    All,
    /// A family, beyond the effect on all.
    Family(String),
    /// One benchmark, beyond the effects on its family and on all.
    Benchmark(Id),
}

/// Difference of a node from the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetEffect {
    /// Speed relative to the others, as a share: -0.18 is 18% slower.
    pub effect: f64,
    /// Its 95% interval.
    pub interval: [f64; 2],
    pub p: f64,
    /// Benjamini-Hochberg adjusted p, over all nodes and the whole level.
    pub p_adjusted: f64,
}

/// A difference of a node from the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetOutlier {
    pub node: String,
    pub about: FleetScope,
    #[serde(flatten)]
    pub effect: FleetEffect,
    /// Onset, by earlier fleet runs; null if none has the node.
    pub since: Option<FleetSince>,
    /// Start of the newest earlier fleet run in which another machine had the name of the node, RFC 3339; its results are not compared.
    pub replaced: Option<String>,
    pub results: usize,
    /// Results with interference.
    pub interference: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetSince {
    /// Start of the first fleet run with it, RFC 3339.
    pub first: String,
    /// Start of the last fleet run before it; null if the oldest examined one has it.
    pub before: Option<String>,
}

/// A change of the whole fleet: of at least half of its nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetDrift {
    /// Scope: all benchmarks, or a family.
    pub about: FleetScope,
    /// Speed relative to before, as a share, by the median over nodes.
    pub effect: f64,
    /// Its 95% interval, over the nodes.
    pub interval: [f64; 2],
    pub since: FleetSince,
    /// Nodes that were measured before and after.
    pub nodes: usize,
}

/// A fact that slow nodes have more often than the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetCommon {
    /// Names and values; several if exactly the same nodes have them.
    pub facts: Vec<FleetFact>,
    /// Slow nodes that have it.
    pub slow: usize,
    pub of_slow: usize,
    /// Other nodes that have it.
    pub others: usize,
    pub of_others: usize,
    /// p of Fisher's exact test, one-sided, adjusted over all facts.
    pub p_adjusted: f64,
}

/// Facts that divide the fleet into groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetDivision {
    /// Names; several if they divide it in the same way.
    pub facts: Vec<String>,
    /// The groups, by their values.
    pub groups: Vec<FleetGroup>,
}

/// Nodes with the same values of facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetGroup {
    /// A value of each fact.
    pub values: Vec<String>,
    /// Number of its nodes.
    pub nodes: usize,
    /// Differences from the nodes with another value; empty without any.
    pub differs: Vec<FleetGroupEffect>,
}

/// A difference of a group of nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetGroupEffect {
    /// Scope: all benchmarks, or a family.
    pub about: FleetScope,
    /// The effect, over nodes.
    #[serde(flatten)]
    pub effect: FleetEffect,
}

/// A fact of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FleetFact {
    pub name: String,
    pub value: String,
}

/// Scatter between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetSpread {
    pub nodes: usize,
    /// Robust standard deviation of the logarithm over nodes of a kind, each with one run or the mean of several.
    pub sd: f64,
    /// Standard deviation between runs of a node; null if no node has several.
    pub between_runs: Option<f64>,
    /// Minimum detectable effect on one node (power 95%), as a share.
    pub smallest: f64,
    pub outliers: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetFamily {
    pub family: String,
    pub benchmarks: usize,
    #[serde(flatten)]
    pub spread: FleetSpread,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetBenchmark {
    pub id: Id,
    /// Unit of `quantiles`.
    pub unit: Unit,
    pub better: Better,
    /// Minimum, 5th percentile, quartiles and median, 95th percentile and maximum of the estimates of the nodes.
    pub quantiles: [f64; 7],
    /// Its distribution; null if no kind has enough nodes.
    pub spread: Option<FleetSpread>,
    /// Nodes with interference.
    pub interference: usize,
    /// Nodes without a valid result.
    pub without_result: usize,
    /// Nodes with another version or program, which are not compared.
    pub other_work: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetNode {
    pub node: String,
    /// Its runs, oldest first.
    pub runs: Vec<String>,
    /// Its kind, as index into `kinds`.
    pub kind: usize,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub place: BTreeMap<String, String>,
    /// Benchmarks with a compared result: those of four nodes of its kind, by the same program and version.
    pub benchmarks: usize,
    /// Benchmarks of these with interference.
    pub interference: usize,
    /// Benchmarks compared on other nodes of its kind whose result here is invalid, or of another program or version.
    #[serde(default)]
    pub without_result: usize,
    /// All benchmarks against the other nodes.
    pub overall: Option<FleetEffect>,
    /// Each family against the other nodes.
    pub families: BTreeMap<String, FleetEffect>,
}

/// Verdict of a health check on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetVerdict {
    /// It is like the others.
    Passed,
    /// It is slower, or computes wrong values.
    Failed,
    /// It is not comparable, or had interference.
    Inconclusive,
}
