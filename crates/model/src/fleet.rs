//! What a fleet looks like to a reader: the shape of `gritstone fleet report --format json`.

use crate::{Better, Id, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the schema of [`FleetView`].
pub const SCHEMA_FLEET: &str = "gritstone/fleet/1";

/// Which node of which fleet a run measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetMember {
    /// Identifier of the fleet run; all its nodes have the same.
    pub fleet: String,
    pub node: String,
    /// Where the node stands: `partition`, `rack`, ..., as the plan of the fleet says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub place: BTreeMap<String, String>,
    /// How many nodes the fleet run has; null where its nodes were not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
}

/// How far a fleet run has come that lacks nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetProgress {
    /// Identifier of the fleet run.
    pub fleet: String,
    /// How many nodes it has.
    pub of: usize,
    /// Whether its measurement has ended, as far as is known.
    pub ended: bool,
    /// The nodes that are known: all, where its plan is.
    pub nodes: Vec<FleetNodeProgress>,
}

/// How far a node of a fleet run has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetNodeProgress {
    pub node: String,
    pub state: FleetNodeState,
    /// Its run, once it has one.
    pub run: Option<String>,
    pub why: Option<String>,
}

impl FleetNodeProgress {
    /// Whether it has no whole run.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.state != FleetNodeState::Done
    }
}

/// How a node of a fleet run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FleetNodeState {
    Failed,
    Measuring,
    Missing,
    Done,
}

/// The nodes of a fleet against each other.
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
    /// Check values that cannot be right, first: a wrong answer is worse than a slow one.
    pub wrong: Vec<FleetWrong>,
    /// What differs from the other nodes, the largest effect of the slowest node first.
    pub outliers: Vec<FleetOutlier>,
    /// Facts that slow nodes have more often than the others.
    pub common: Vec<FleetCommon>,
    /// Facts that divide the fleet into groups, of which one differs from the other nodes; the most certain first.
    pub groups: Vec<FleetDivision>,
    /// What changed on the fleet as a whole since earlier fleet runs.
    pub drifts: Vec<FleetDrift>,
    /// Earlier fleet runs of these nodes that were looked at.
    pub earlier: usize,
    /// Kinds of nodes: only nodes of one kind are compared with each other.
    pub kinds: Vec<FleetKind>,
    /// Distribution over nodes of what all benchmarks of a node share; null with few benchmarks.
    pub overall: Option<FleetSpread>,
    /// The same of each family.
    pub families: Vec<FleetFamily>,
    /// Distribution over nodes of each benchmark.
    pub benchmarks: Vec<FleetBenchmark>,
    pub nodes: Vec<FleetNode>,
}

/// Nodes that can be compared with each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetKind {
    pub model: String,
    /// How many nodes there are.
    pub nodes: usize,
    /// Whether they are enough to say which is not like the others.
    pub compared: bool,
}

/// A check value that is wrong, or that other nodes do not get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetWrong {
    pub node: String,
    pub run: String,
    pub id: Id,
    /// Operations that were asked for: the input of the workload.
    pub n: u64,
    /// CPU that computed it; null where the launch had several.
    pub cpu: Option<u32>,
    pub got: u64,
    pub right: u64,
    pub by: FleetProof,
}

/// How a check value is known to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FleetProof {
    /// By the closed form or the independent computation of the workload itself.
    Workload,
    /// By this many other nodes, which all agree.
    Nodes(usize),
}

/// What differs on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FleetScope {
    /// Everything, by the median over benchmarks.
    All,
    /// A family, beyond what is shared by everything.
    Family(String),
    /// One benchmark, beyond its family and everything.
    Benchmark(Id),
}

/// How far a node is from the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetEffect {
    /// Speed relative to the others, as a share: -0.18 is 18% slower.
    pub effect: f64,
    /// Its 95% interval.
    pub interval: [f64; 2],
    pub p: f64,
    /// Benjamini-Hochberg adjusted p, over all nodes and all of its level.
    pub p_adjusted: f64,
}

/// Something in which a node is not like the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetOutlier {
    pub node: String,
    pub about: FleetScope,
    #[serde(flatten)]
    pub effect: FleetEffect,
    /// Since when, by earlier fleet runs; null where no earlier one has the node.
    pub since: Option<FleetSince>,
    /// Start of the newest earlier fleet run in which another machine had the name of the node, RFC 3339: what that did is not compared.
    pub replaced: Option<String>,
    pub results: usize,
    /// Those of them that were measured with interference.
    pub interference: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetSince {
    /// Start of the first fleet run that has it, RFC 3339.
    pub first: String,
    /// Start of the last fleet run before it; null where the oldest one that was looked at has it already.
    pub before: Option<String>,
}

/// What changed on the fleet as a whole: half of its nodes at least.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetDrift {
    /// What changed: everything, or a family.
    pub about: FleetScope,
    /// Speed relative to before, as a share, by the median over nodes.
    pub effect: f64,
    /// Its 95% interval, of the nodes.
    pub interval: [f64; 2],
    pub since: FleetSince,
    /// Nodes that were measured before and after.
    pub nodes: usize,
}

/// A fact that slow nodes have more often than the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetCommon {
    /// Names and values; several where exactly the same nodes have them.
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
    /// Names; several where they divide it in the same way.
    pub facts: Vec<String>,
    /// The groups, by their values.
    pub groups: Vec<FleetGroup>,
}

/// Nodes with the same values of facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetGroup {
    /// A value of each fact.
    pub values: Vec<String>,
    /// How many nodes it has.
    pub nodes: usize,
    /// In what it differs from the nodes with another value; empty where it does not.
    pub differs: Vec<FleetGroupEffect>,
}

/// Something in which a group of nodes differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetGroupEffect {
    /// What differs: everything, or a family.
    pub about: FleetScope,
    /// How much, from node to node.
    #[serde(flatten)]
    pub effect: FleetEffect,
}

/// A fact of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FleetFact {
    pub name: String,
    pub value: String,
}

/// How far nodes are apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetSpread {
    pub nodes: usize,
    /// Robust standard deviation of the logarithm over nodes of a kind, one run or the mean of several each.
    pub sd: f64,
    /// Standard deviation between runs of a node; null where no node has several.
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
    /// Its distribution; null where no kind has enough nodes.
    pub spread: Option<FleetSpread>,
    /// Nodes on which it was measured with interference.
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
    /// Its kind, by its place in `kinds`.
    pub kind: usize,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub place: BTreeMap<String, String>,
    /// Benchmarks with a result that is compared.
    pub benchmarks: usize,
    pub interference: usize,
    /// Everything against the other nodes.
    pub overall: Option<FleetEffect>,
    /// Each family against the other nodes.
    pub families: BTreeMap<String, FleetEffect>,
}

/// What a health check says of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetVerdict {
    /// It is like the others.
    Passed,
    /// It is slower, or computes wrong values.
    Failed,
    /// It cannot be compared, or was measured with interference.
    Inconclusive,
}
